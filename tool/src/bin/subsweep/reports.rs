//! Output of a report in several formats, each to a file of its own.

use anyhow::Result;
use subsweep_tool::harness::Report;
use subsweep_tool::harness::page::{Titled, page};

use crate::files::{Destination, Job, Output};

/// A format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The complete report; the only format that is read back.
    Json,
    /// The measurements as CSV.
    Csv,
    /// Tables as Markdown.
    Markdown,
    /// An HTML page with figures.
    Html,
}

impl Format {
    /// The option that selects the format.
    const fn option(self) -> &'static str {
        match self {
            Self::Json => "--json",
            Self::Csv => "--csv",
            Self::Markdown => "--markdown",
            Self::Html => "--html",
        }
    }

    fn render(self, report: &Report) -> Result<Vec<u8>> {
        Ok(match self {
            Self::Json => report.to_json()?,
            Self::Csv => report.to_csv().into_bytes(),
            Self::Markdown => report.to_markdown().into_bytes(),
            Self::Html => page(&[Titled { title: report.command.join(" "), report }], None).into_bytes(),
        })
    }
}

/// Prepared destinations of a report.
#[derive(Debug)]
pub struct Reports(Vec<(Format, Output)>);

impl Reports {
    /// Prepares all destinations that are given, as outputs of a job with its inputs.
    ///
    /// # Errors
    /// A destination cannot be written, or is an input, or two formats share one.
    pub fn prepare(mut job: Job<'_>, destinations: &[(Format, &Option<Destination>)]) -> Result<Self> {
        let given = destinations.iter().filter(|(_, file)| file.is_some()).map(|(format, _)| *format);
        for (format, file) in destinations {
            job = job.output(format.option(), *file);
        }
        let outputs = job.checked()?.prepare()?.0;
        Ok(Self(given.zip(outputs).collect()))
    }

    /// Whether a report goes to standard output, which then takes no other text.
    pub fn have_stdout(&self) -> bool {
        self.0.iter().any(|(_, output)| output.is_stdout())
    }

    /// Writes an intermediate report in every format, so that an interrupted run keeps its measurements.
    ///
    /// # Errors
    /// A destination cannot be written.
    pub fn update(&self, report: &Report) -> Result<()> {
        for (format, output) in &self.0 {
            output.update(|| format.render(report))?;
        }
        Ok(())
    }

    /// Writes the final report in every format.
    ///
    /// # Errors
    /// The first error of a destination.
    pub fn commit(self, report: &Report) -> Result<()> {
        self.commit_rendered(|format| format.render(report))
    }

    /// Writes the output of `render` for each format.
    ///
    /// # Errors
    /// The first error of a destination.
    pub fn commit_rendered(self, render: impl Fn(Format) -> Result<Vec<u8>>) -> Result<()> {
        let mut ended = Ok(());
        for (format, output) in self.0 {
            ended = ended.and(render(format).and_then(|bytes| Ok(output.commit_report(&bytes)?)));
        }
        ended
    }
}
