//! Reading a report back. It may come from another build, another machine or another hand, so it is held to what
//! [`Report`] says of it before a number in it is used.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde_json::error::Category;

use super::{DeviceReport, Measurement, Report, Summary, VerifiedCase};
use crate::printable::printable;

/// Why no report was read. One line, which says what to do; of which file, the caller knows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// Not JSON, or not all of it.
    #[error(
        "cannot be parsed as JSON ({what} at line {line}, column {column}); \
         check that it is complete, or write it again with --json"
    )]
    Json {
        /// What is wrong.
        what: String,
        /// Where, from 1.
        line: usize,
        /// Where in the line, in bytes.
        column: usize,
    },
    /// JSON of something else.
    #[error(
        "is JSON, but no report ({what} at line {line}, column {column}); \
         name a file that verify or bench wrote with --json"
    )]
    NotReport {
        /// What is wrong.
        what: String,
        /// Where, from 1.
        line: usize,
        /// Where in the line, in bytes.
        column: usize,
    },
    /// JSON of something else that is an array.
    #[error(
        "is a JSON array, but no inspection ({what} at line {line}, column {column}); \
         name a file that inspect wrote with --json"
    )]
    NotInspection {
        /// What is wrong.
        what: String,
        /// Where, from 1.
        line: usize,
        /// Where in the line, in bytes.
        column: usize,
    },
    /// Another layout.
    #[error(
        "is a report of schema {found}, and this build reads {}; use the build that wrote it",
        Report::SCHEMA
    )]
    Schema {
        /// The version of its layout.
        found: u32,
    },
    /// A case with an unknown end, or an end without its reason.
    #[error(
        "has a case that ended unheard of ({place}); it was changed or damaged: write it again with --json"
    )]
    Outcome {
        /// The case, as `devices[0].verified[3]`.
        place: String,
    },
    /// A case that was measured twice: nobody knows which counts.
    #[error("has a case twice ({place}); it was changed or damaged: measure again")]
    Repeated {
        /// The second, as `devices[0].measured[3]`.
        place: String,
    },
    /// A measurement of nothing.
    #[error("has no samples in {place}; it was changed or damaged: measure again")]
    NoSamples {
        /// The field, as `devices[0].measured[3].samples_ns`.
        place: String,
    },
    /// Samples that are not summed up.
    #[error("has samples and no summary of them in {place}; it was changed or damaged: measure again")]
    NoSummary {
        /// The field.
        place: String,
    },
    /// A time that nothing takes.
    #[error("has a time of {value} ns in {place}; it was changed or damaged: measure again")]
    NoTime {
        /// The field.
        place: String,
        /// What stands there.
        value: f64,
    },
    /// A number that does not follow from those that it was made of.
    #[error(
        "contradicts itself: {place} is {found}, and by its samples {expected}; \
         it was changed or damaged: measure again"
    )]
    Contradiction {
        /// The field.
        place: String,
        /// What stands there.
        found: f64,
        /// What should, but for rounding.
        expected: f64,
    },
}

impl Report {
    /// Reads what [`Report::to_json`] wrote, in this build or in another of the same [`Report::SCHEMA`].
    ///
    /// Fields that this build does not know are skipped: within a schema, fields are only added, and only such as
    /// nobody must know. What is known must be there, and right: every outcome is one of three, no case of a device
    /// was measured twice, every time is finite and not negative, and every summary and every rate follows from its
    /// samples. Memory is taken in proportion to `json`, at most 24 times its length, and stack for no nesting but a
    /// report's own.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_json(json: &[u8]) -> Result<Self, ReportError> {
        /// What a report of any schema has.
        #[derive(Deserialize)]
        struct Versioned {
            schema: u32,
        }

        let Versioned { schema } = serde_json::from_slice(json).map_err(of_parser)?;
        if schema != Self::SCHEMA {
            return Err(ReportError::Schema { found: schema });
        }
        let report: Self = serde_json::from_slice(json).map_err(of_parser)?;
        for (index, device) in report.devices.iter().enumerate() {
            device.check(&format!("devices[{index}]"))?;
        }
        Ok(report)
    }
}

impl ReportError {
    /// What the parser says, as of a report.
    pub(crate) fn of_parser(error: serde_json::Error) -> Self {
        of_parser(error)
    }
}

fn of_parser(error: serde_json::Error) -> ReportError {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let what = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
    // It may quote the file at any length.
    let what = printable(what.as_bytes(), 160);
    match error.classify() {
        Category::Data => ReportError::NotReport { what, line, column },
        Category::Io | Category::Syntax | Category::Eof => ReportError::Json { what, line, column },
    }
}

impl DeviceReport {
    fn check(&self, place: &str) -> Result<(), ReportError> {
        for (index, case) in self.verified.iter().enumerate() {
            case.check(&format!("{place}.verified[{index}]"))?;
        }
        let mut ids = BTreeSet::new();
        for (index, measurement) in self.measured.iter().enumerate() {
            let place = format!("{place}.measured[{index}]");
            measurement.check(&place)?;
            if !ids.insert(&measurement.id) {
                return Err(ReportError::Repeated { place });
            }
        }
        Ok(())
    }
}

impl VerifiedCase {
    fn check(&self, place: &str) -> Result<(), ReportError> {
        match (self.outcome.as_str(), &self.reason) {
            ("pass", None) | ("fail" | "not supported", Some(_)) => Ok(()),
            _ => Err(ReportError::Outcome { place: place.to_owned() }),
        }
    }
}

impl Measurement {
    fn check(&self, place: &str) -> Result<(), ReportError> {
        let Self { element_count, element_size, traffic_size, time, copy, .. } = *self;
        time.check(&self.samples_ns, place, ["time", "samples_ns"])?;
        copy.check(&self.copy_samples_ns, place, ["copy", "copy_samples_ns"])?;
        for (names, summary, samples) in [
            (["transfer", "transfer_samples_ns"], &self.transfer, &self.transfer_samples_ns),
            (["record", "record_samples_ns"], &self.record, &self.record_samples_ns),
            (["end_to_end", "end_to_end_samples_ns"], &self.end_to_end, &self.end_to_end_samples_ns),
        ] {
            match summary {
                Some(summary) => summary.check(samples, place, names)?,
                None if samples.is_empty() => {}
                None => return Err(ReportError::NoSummary { place: format!("{place}.{}", names[0]) }),
            }
        }
        let in_blocks: u64 = self.block_lengths.iter().copied().map(u64::from).sum();
        if !self.block_lengths.is_empty() && in_blocks != self.samples_ns.len() as u64 {
            let place = format!("{place}.block_lengths");
            let expected = self.samples_ns.len() as f64;
            return Err(ReportError::Contradiction { place, found: in_blocks as f64, expected });
        }
        if self.runs_per_sample == 0 {
            return Err(ReportError::NoSamples { place: format!("{place}.runs_per_sample") });
        }
        let per_second = |amount: f64, time: Summary| amount / (time.median_ns / 1e9);
        let copied_size = 2.0 * element_count as f64 * element_size as f64;
        for (name, found, expected) in [
            ("elements_per_second", self.elements_per_second, per_second(element_count as f64, time)),
            ("bytes_per_second", self.bytes_per_second, per_second(traffic_size as f64, time)),
            ("copy_percent", self.copy_percent, 100.0 * copy.median_ns / time.median_ns),
            ("copy_bytes_per_second", self.copy_bytes_per_second, per_second(copied_size, copy)),
        ] {
            agree(format_args!("{place}.{name}"), found, expected, expected)?;
        }
        Ok(())
    }
}

impl Summary {
    /// Holds a summary to its samples, of which there must be one; both by their names in a measurement.
    fn check(&self, samples: &[f64], place: &str, names: [&str; 2]) -> Result<(), ReportError> {
        let [own_name, samples_name] = names;
        if samples.is_empty() {
            return Err(ReportError::NoSamples { place: format!("{place}.{samples_name}") });
        }
        for (index, &value) in samples.iter().enumerate() {
            if !(0.0..=f64::MAX).contains(&value) {
                return Err(ReportError::NoTime { place: format!("{place}.{samples_name}[{index}]"), value });
            }
        }
        let expected = Self::without_interval(samples);
        if expected.median_ns == 0.0 {
            // Nothing is done in no time.
            return Err(ReportError::NoTime { place: format!("{place}.{own_name}.median_ns"), value: 0.0 });
        }
        let largest = samples.iter().copied().fold(0.0, f64::max);
        for (name, found, expected) in [
            ("median_ns", self.median_ns, expected.median_ns),
            ("iqr_ns", self.iqr_ns, expected.iqr_ns),
            ("min_ns", self.min_ns, expected.min_ns),
            ("p95_ns", self.p95_ns, expected.p95_ns),
        ] {
            agree(format_args!("{place}.{own_name}.{name}"), found, expected, largest)?;
        }
        // Another build may draw other samples anew: the interval is held to what holds for any.
        let [low, high] = self.median_interval_ns;
        let is_possible = |end: f64| end >= expected.min_ns && end <= largest;
        for (end, is_right) in [(low, low <= self.median_ns), (high, high >= self.median_ns)] {
            if !is_right || !is_possible(end) {
                let place = format!("{place}.{own_name}.median_interval_ns");
                return Err(ReportError::Contradiction { place, found: end, expected: self.median_ns });
            }
        }
        Ok(())
    }
}

/// Holds `found` to `expected`, but for the rounding of numbers as large as `largest`.
fn agree(place: fmt::Arguments<'_>, found: f64, expected: f64, largest: f64) -> Result<(), ReportError> {
    const ROUNDING: f64 = 1e-9;
    if expected.is_finite() && (found - expected).abs() <= ROUNDING * largest {
        Ok(())
    } else {
        Err(ReportError::Contradiction { place: place.to_string(), found, expected })
    }
}

#[cfg(test)]
mod tests;
