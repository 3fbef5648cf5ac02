//! Where a report is written: each of its formats in a place of its own.

use std::ffi::OsString;

use anyhow::Result;
use subsweep::harness::Report;
use subsweep::harness::page::{Titled, page};

use crate::error::Ended;
use crate::files::{Destination, Output, Source};

/// How a report is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// All of it; the only one that is read back.
    Json,
    /// Its numbers.
    Csv,
    /// Tables for people.
    Markdown,
    /// A page with figures.
    Html,
}

impl Format {
    /// The option that asks for it.
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

/// The places that a report goes to, ready to be written.
#[derive(Debug)]
pub struct Reports(Vec<(Format, Output)>);

impl Reports {
    /// Prepares all that are asked for; no file of `sources` is among them.
    ///
    /// # Errors
    /// A place that cannot be written, or one that two formats would have to share.
    pub fn prepare(places: &[(Format, &Option<OsString>)], sources: &[&Source]) -> Result<Self> {
        let asked = places.iter().filter_map(|(format, place)| Some((*format, (*place).clone()?.into())));
        let asked: Vec<(Format, Destination)> = asked.collect();
        for (at, (format, place)) in asked.iter().enumerate() {
            for (other_format, other) in &asked[..at] {
                let options = format!("{} and {}", other_format.option(), format.option());
                if *place == Destination::Stdout && *other == Destination::Stdout {
                    let text = format!("standard output takes one report; name a file for one of {options}");
                    return Err(Ended::usage(text).into());
                }
                if place.is_place_of(other) {
                    return Err(
                        Ended::usage(format!("{options} lead to one place; give each its own")).into()
                    );
                }
            }
        }
        let ready = asked
            .into_iter()
            .map(|(format, place)| Ok((format, Output::prepare(&place, format.option(), sources)?)));
        Ok(Self(ready.collect::<Result<_>>()?))
    }

    /// Whether one has taken standard output, which then has no room for anything else.
    pub fn have_stdout(&self) -> bool {
        self.0.iter().any(|(_, output)| output.is_stdout())
    }

    /// Writes a report that will be written again. All formats are: whoever ends the run has in each what was measured.
    ///
    /// # Errors
    /// Those of its places.
    pub fn update(&self, report: &Report) -> Result<()> {
        for (format, output) in &self.0 {
            output.update(|| format.render(report))?;
        }
        Ok(())
    }

    /// Writes a report for the last time, to every place that takes it.
    ///
    /// # Errors
    /// The first of those of its places.
    pub fn commit(self, report: &Report) -> Result<()> {
        self.commit_rendered(|format| format.render(report))
    }

    /// The same of what `render` makes in each format.
    ///
    /// # Errors
    /// The first of those of its places.
    pub fn commit_rendered(self, render: impl Fn(Format) -> Result<Vec<u8>>) -> Result<()> {
        let mut ended = Ok(());
        for (format, output) in self.0 {
            ended = ended.and(render(format).and_then(|bytes| Ok(output.commit_report(&bytes)?)));
        }
        ended
    }
}
