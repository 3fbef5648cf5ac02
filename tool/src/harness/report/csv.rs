//! A report's measurements as CSV (RFC 4180).

use super::{DeviceReport, Measurement, Report, Summary};

/// A column: its name, which with its unit is the name in the JSON report, and its cell.
type Column = (&'static str, fn(&DeviceReport, &Measurement) -> String);

const COLUMNS: [Column; 33] = [
    ("device", |d, _| d.name.clone()),
    ("driver", |d, _| d.description.driver.name.clone()),
    ("driver_info", |d, _| d.description.driver.info.clone()),
    ("cold_cache", |d, _| d.cold_cache.to_string()),
    ("id", |_, m| m.id.clone()),
    ("group", |_, m| m.group.clone()),
    ("policy", |_, m| m.policy.clone()),
    ("element_count", |_, m| m.element_count.to_string()),
    ("element_size", |_, m| m.element_size.to_string()),
    ("traffic_size", |_, m| m.traffic_size.to_string()),
    ("elements_per_second", |_, m| m.elements_per_second.to_string()),
    ("bytes_per_second", |_, m| m.bytes_per_second.to_string()),
    ("copy_percent", |_, m| m.copy_percent.to_string()),
    ("copy_bytes_per_second", |_, m| m.copy_bytes_per_second.to_string()),
    ("runs_per_sample", |_, m| m.runs_per_sample.to_string()),
    ("sample_count", |_, m| m.sample_count.to_string()),
    ("steady", |_, m| m.steady.to_string()),
    ("median_ns", |_, m| m.time.median_ns.to_string()),
    ("median_low_ns", |_, m| m.time.median_interval_ns[0].to_string()),
    ("median_high_ns", |_, m| m.time.median_interval_ns[1].to_string()),
    ("iqr_ns", |_, m| m.time.iqr_ns.to_string()),
    ("min_ns", |_, m| m.time.min_ns.to_string()),
    ("p95_ns", |_, m| m.time.p95_ns.to_string()),
    ("copy_median_ns", |_, m| m.copy.median_ns.to_string()),
    ("transfer_median_ns", |_, m| median(m.transfer)),
    ("record_median_ns", |_, m| median(m.record)),
    ("end_to_end_median_ns", |_, m| median(m.end_to_end)),
    ("dispatches", |_, m| known(m.recorded.map(|counts| counts.dispatches))),
    ("barriers", |_, m| known(m.recorded.map(|counts| counts.barriers))),
    ("transfers", |_, m| known(m.recorded.map(|counts| counts.transfers))),
    ("look_back_windows", |_, m| known(m.look_back.map(|counts| counts.windows))),
    ("look_back_spins", |_, m| known(m.look_back.map(|counts| counts.spins))),
    ("look_back_fallbacks", |_, m| known(m.look_back.map(|counts| counts.fallbacks))),
];

fn known(count: Option<u32>) -> String {
    count.map(|count| count.to_string()).unwrap_or_default()
}

fn median(time: Option<Summary>) -> String {
    time.map(|time| time.median_ns.to_string()).unwrap_or_default()
}

impl Report {
    /// The measurements as CSV with a header line: one line each, with summaries of the samples. Unknown values are
    /// empty.
    pub fn to_csv(&self) -> String {
        let mut csv = COLUMNS.map(|(name, _)| name).join(",") + "\r\n";
        for device in &self.devices {
            for measurement in &device.measured {
                let cells = COLUMNS.map(|(_, cell)| quoted(&cell(device, measurement)));
                csv += &(cells.join(",") + "\r\n");
            }
        }
        csv
    }
}

fn quoted(cell: &str) -> String {
    match cell.contains(['"', ',', '\r', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::report::sample;

    #[test]
    fn each_measurement_has_a_line_of_as_many_cells_as_there_are_names() {
        let mut report = sample();
        report.devices[0].name = "a \"quick\", new\ndevice".to_owned();
        let csv = report.to_csv();
        let count: usize = report.devices.iter().map(|device| device.measured.len()).sum();
        let rows = parse(&csv);
        assert_eq!(rows.len(), 1 + count);
        assert!(rows.iter().all(|row| row.len() == COLUMNS.len()), "{csv}");
        let first = &report.devices[0].measured[0];
        assert_eq!(rows[1][0], report.devices[0].name);
        assert_eq!(rows[1][4], first.id);
        assert_eq!(rows[1][17].parse(), Ok(first.time.median_ns));
    }

    /// Parses RFC 4180.
    fn parse(csv: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut cell, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
        let mut rest = csv.chars().peekable();
        while let Some(character) = rest.next() {
            match (character, is_quoted) {
                ('"', true) if rest.peek() == Some(&'"') => cell.extend(rest.next()),
                ('"', _) => is_quoted = !is_quoted,
                (',', false) => row.push(std::mem::take(&mut cell)),
                ('\r', false) => {}
                ('\n', false) => {
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                (character, _) => cell.push(character),
            }
        }
        rows
    }
}
