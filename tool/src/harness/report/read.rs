//! Reads a report. The file is untrusted: the invariants of [`Report`] are checked before its numbers are used.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;

use super::{DeviceReport, Measurement, Report, Summary, VerifiedCase};
use subsweep::internal::printable;

/// Why no report was read: one line with advice. The caller adds the file's name.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// Not JSON, or truncated.
    #[error("cannot be parsed as JSON ({0}); check that it is complete, or write it again with --json")]
    Json(JsonProblem),
    /// JSON that is not a report.
    #[error("is JSON, but no report ({0}); name a file that verify or bench wrote with --json")]
    NotReport(JsonProblem),
    /// JSON that is not an inspection, which is an array.
    #[error("is a JSON array, but no inspection ({0}); name a file that inspect wrote with --json")]
    NotInspection(JsonProblem),
    /// Another schema version.
    #[error(
        "is a report of schema {found}, and this build reads {}; use the build that wrote it",
        Report::SCHEMA
    )]
    Schema {
        /// Its schema version.
        found: u32,
    },
    /// JSON that another command wrote.
    #[error(
        "is what {command} --json wrote, and no report; name a file that verify or bench wrote with --json"
    )]
    OtherCommand {
        /// The command.
        command: &'static str,
    },
    /// A case with an unknown outcome, or a failure without its reason.
    #[error(
        "has a case with an unknown outcome ({place}); it was changed or damaged: write it again with --json"
    )]
    Outcome {
        /// The case, as `devices[0].verified[3]`.
        place: String,
    },
    /// A case measured twice, which is ambiguous.
    #[error("has a case twice ({place}); it was changed or damaged: measure again")]
    Repeated {
        /// The second, as `devices[0].measured[3]`.
        place: String,
    },
    /// A measurement without samples.
    #[error("has no samples in {place}; it was changed or damaged: measure again")]
    NoSamples {
        /// The field, as `devices[0].measured[3].samples_ns`.
        place: String,
    },
    /// Samples without their summary.
    #[error("has samples and no summary of them in {place}; it was changed or damaged: measure again")]
    NoSummary {
        /// The field.
        place: String,
    },
    /// An impossible time.
    #[error("has a time of {value} ns in {place}; it was changed or damaged: measure again")]
    NoTime {
        /// The field.
        place: String,
        /// The value found.
        value: f64,
    },
    /// A number that contradicts the samples or the summary that it is derived from.
    #[error(
        "contradicts itself: {place} is {found}, and by its other numbers {expected}; \
         it was changed or damaged: measure again"
    )]
    Contradiction {
        /// The field.
        place: String,
        /// The value found.
        found: f64,
        /// The expected value, up to rounding.
        expected: f64,
    },
}

/// A problem of the parser.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} at line {line}, column {column}")]
pub struct JsonProblem {
    /// The problem.
    pub what: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, in bytes.
    pub column: usize,
}

impl Report {
    /// Reads a report of [`Report::to_json`], of this build or another with the same [`Report::SCHEMA`].
    ///
    /// Unknown fields are skipped: within a schema fields are only added, and only optional ones. Known fields must be
    /// present and consistent: every outcome is one of three, no case of a device was measured twice, every time is
    /// finite and not negative, and every summary and rate follows from its samples. The caller limits the length.
    ///
    /// # Errors
    /// The first problem found.
    pub fn from_json(json: &[u8]) -> Result<Self, ReportError> {
        /// The field common to reports of any schema, and fields that identify other commands' JSON.
        #[derive(Deserialize)]
        struct Versioned {
            schema: Option<u32>,
            comparison_schema: Option<IgnoredAny>,
            parts: Option<IgnoredAny>,
        }

        match serde_json::from_slice(json).map_err(ReportError::of_parser)? {
            Versioned { schema: Some(Self::SCHEMA), .. } => {}
            Versioned { schema: Some(found), .. } => return Err(ReportError::Schema { found }),
            Versioned { comparison_schema: Some(_), .. } => {
                return Err(ReportError::OtherCommand { command: "compare" });
            }
            Versioned { parts: Some(_), .. } => return Err(ReportError::OtherCommand { command: "tune" }),
            // The parser says what is missing.
            Versioned { schema: None, comparison_schema: None, parts: None } => {}
        }
        let mut report: Self = serde_json::from_slice(json).map_err(ReportError::of_parser)?;
        for (index, device) in report.devices.iter_mut().enumerate() {
            device.check(&format!("devices[{index}]"))?;
            for measurement in &mut device.measured {
                if !measurement.is_summary() {
                    measurement.sample_count = measurement.samples_ns.len() as u32;
                }
            }
        }
        Ok(report)
    }
}

impl ReportError {
    /// The parser's error as an error about a report.
    pub(crate) fn of_parser(error: serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let what = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
        // The message may quote any length of the file.
        let problem = JsonProblem { what: printable(what.as_bytes(), 160), line, column };
        match error.classify() {
            Category::Data => Self::NotReport(problem),
            Category::Io | Category::Syntax | Category::Eof => Self::Json(problem),
        }
    }
}

impl DeviceReport {
    fn check(&self, path: &str) -> Result<(), ReportError> {
        for (index, case) in self.verified.iter().enumerate() {
            case.check(&format!("{path}.verified[{index}]"))?;
        }
        let mut ids = BTreeSet::new();
        for (index, measurement) in self.measured.iter().enumerate() {
            let path = format!("{path}.measured[{index}]");
            measurement.check(&path)?;
            if !ids.insert(&measurement.id) {
                return Err(ReportError::Repeated { place: path });
            }
        }
        Ok(())
    }
}

impl VerifiedCase {
    fn check(&self, path: &str) -> Result<(), ReportError> {
        match (self.outcome.as_str(), &self.reason) {
            ("pass", None) | ("fail" | "not supported", Some(_)) => Ok(()),
            _ => Err(ReportError::Outcome { place: path.to_owned() }),
        }
    }
}

impl Measurement {
    /// Whether the samples were left out.
    fn is_summary(&self) -> bool {
        self.samples_ns.is_empty() && self.sample_count > 0
    }

    fn check(&self, path: &str) -> Result<(), ReportError> {
        let is_summary = self.is_summary();
        self.time.check(&self.samples_ns, is_summary, path, ["time", "samples_ns"])?;
        self.copy.check(&self.copy_samples_ns, is_summary, path, ["copy", "copy_samples_ns"])?;
        for (names, summary, samples) in [
            (["transfer", "transfer_samples_ns"], &self.transfer, &self.transfer_samples_ns),
            (["record", "record_samples_ns"], &self.record, &self.record_samples_ns),
            (["end_to_end", "end_to_end_samples_ns"], &self.end_to_end, &self.end_to_end_samples_ns),
        ] {
            match summary {
                Some(summary) => summary.check(samples, is_summary, path, names)?,
                None if samples.is_empty() => {}
                None => return Err(ReportError::NoSummary { place: format!("{path}.{}", names[0]) }),
            }
        }
        if let Some(empty) = self.block_lengths.iter().position(|&length| length == 0) {
            return Err(ReportError::NoSamples { place: format!("{path}.block_lengths[{empty}]") });
        }
        let in_blocks: u64 = self.block_lengths.iter().copied().map(u64::from).sum();
        let counted = if is_summary { u64::from(self.sample_count) } else { self.samples_ns.len() as u64 };
        if !self.block_lengths.is_empty() && in_blocks != counted {
            let path = format!("{path}.block_lengths");
            let expected = counted as f64;
            return Err(ReportError::Contradiction { place: path, found: in_blocks as f64, expected });
        }
        let sample_count = self.samples_ns.len() as u32;
        if !is_summary && ![0, sample_count].contains(&self.sample_count) {
            let path = format!("{path}.sample_count");
            let [found, expected] = [self.sample_count, sample_count].map(f64::from);
            return Err(ReportError::Contradiction { place: path, found, expected });
        }
        if self.runs_per_sample == 0 {
            return Err(ReportError::NoSamples { place: format!("{path}.runs_per_sample") });
        }
        let found = [
            ("elements_per_second", self.elements_per_second),
            ("bytes_per_second", self.bytes_per_second),
            ("copy_percent", self.copy_percent),
            ("copy_bytes_per_second", self.copy_bytes_per_second),
        ];
        for ((name, found), expected) in found.into_iter().zip(self.rates()) {
            agree(format_args!("{path}.{name}"), found, expected, expected)?;
        }
        Ok(())
    }
}

impl Summary {
    /// Checks a summary against its samples, at least one, or by itself if they were left out; `names` are the fields of
    /// both in a measurement.
    fn check(
        &self,
        samples: &[f64],
        is_summary: bool,
        path: &str,
        names: [&str; 2],
    ) -> Result<(), ReportError> {
        let [own_name, samples_name] = names;
        if samples.is_empty() {
            return match is_summary {
                true => self.check_alone(&format!("{path}.{own_name}")),
                false => Err(ReportError::NoSamples { place: format!("{path}.{samples_name}") }),
            };
        }
        for (index, &value) in samples.iter().enumerate() {
            if !(0.0..=f64::MAX).contains(&value) {
                return Err(ReportError::NoTime { place: format!("{path}.{samples_name}[{index}]"), value });
            }
        }
        let expected = Self::without_interval(samples);
        if expected.median_ns == 0.0 {
            // A median of 0 is impossible.
            return Err(ReportError::NoTime { place: format!("{path}.{own_name}.median_ns"), value: 0.0 });
        }
        let largest = samples.iter().copied().fold(0.0, f64::max);
        for (name, found, expected) in [
            ("median_ns", self.median_ns, expected.median_ns),
            ("iqr_ns", self.iqr_ns, expected.iqr_ns),
            ("min_ns", self.min_ns, expected.min_ns),
            ("p95_ns", self.p95_ns, expected.p95_ns),
        ] {
            agree(format_args!("{path}.{own_name}.{name}"), found, expected, largest)?;
        }
        // Another build may resample differently: check only what holds for any interval.
        let [low, high] = self.median_interval_ns;
        let is_possible = |end: f64| end >= expected.min_ns && end <= largest;
        for (end, is_right) in [(low, low <= self.median_ns), (high, high >= self.median_ns)] {
            if !is_right || !is_possible(end) {
                let path = format!("{path}.{own_name}.median_interval_ns");
                return Err(ReportError::Contradiction { place: path, found: end, expected: self.median_ns });
            }
        }
        Ok(())
    }
}

impl Summary {
    /// Checks that the times are possible together.
    fn check_alone(&self, path: &str) -> Result<(), ReportError> {
        let Self { median_ns, iqr_ns, min_ns, p95_ns, median_interval_ns: [low, high] } = *self;
        for (name, value) in
            [("iqr_ns", iqr_ns), ("min_ns", min_ns), ("median_ns", median_ns), ("p95_ns", p95_ns)]
        {
            if !(0.0..=f64::MAX).contains(&value) || name == "median_ns" && value == 0.0 {
                return Err(ReportError::NoTime { place: format!("{path}.{name}"), value });
            }
        }
        let ends = [("median_interval_ns", low, high), ("min_ns", min_ns, p95_ns)];
        for (name, low, high) in ends {
            if !(low <= median_ns && median_ns <= high && high <= f64::MAX) {
                let found = if low <= median_ns { high } else { low };
                let place = format!("{path}.{name}");
                return Err(ReportError::Contradiction { place, found, expected: median_ns });
            }
        }
        Ok(())
    }
}

/// Checks that `found` equals `expected` up to the rounding of numbers as large as `largest`.
fn agree(path: fmt::Arguments<'_>, found: f64, expected: f64, largest: f64) -> Result<(), ReportError> {
    const ROUNDING: f64 = 1e-9;
    if expected.is_finite() && (found - expected).abs() <= ROUNDING * largest {
        Ok(())
    } else {
        Err(ReportError::Contradiction { place: path.to_string(), found, expected })
    }
}

#[cfg(test)]
mod tests;
