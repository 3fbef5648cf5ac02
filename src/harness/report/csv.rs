//! A report's measurements as CSV (RFC 4180).

use super::{DeviceReport, Measurement, Report, Summary};

/// The header line. Names and units are those of the JSON report.
const COLUMNS: [&str; 31] = [
    "device",
    "driver",
    "driver_info",
    "id",
    "group",
    "policy",
    "element_count",
    "element_size",
    "traffic_size",
    "elements_per_second",
    "bytes_per_second",
    "copy_percent",
    "copy_bytes_per_second",
    "runs_per_sample",
    "sample_count",
    "median_ns",
    "median_low_ns",
    "median_high_ns",
    "iqr_ns",
    "min_ns",
    "p95_ns",
    "copy_median_ns",
    "transfer_median_ns",
    "record_median_ns",
    "end_to_end_median_ns",
    "dispatches",
    "barriers",
    "transfers",
    "look_back_windows",
    "look_back_spins",
    "look_back_fallbacks",
];

impl Report {
    /// The measurements as CSV with a header line: one line each, with summaries of the samples. Unknown values are
    /// empty.
    pub fn to_csv(&self) -> String {
        let mut csv = COLUMNS.join(",") + "\r\n";
        for device in &self.devices {
            for measurement in &device.measured {
                let cells = cells(device, measurement).map(|cell| quoted(&cell));
                csv += &(cells.join(",") + "\r\n");
            }
        }
        csv
    }
}

fn cells(device: &DeviceReport, measurement: &Measurement) -> [String; COLUMNS.len()] {
    let Measurement { time, recorded, look_back, .. } = measurement;
    let [low, high] = time.median_interval_ns;
    let known = |count: Option<u32>| count.map(|count| count.to_string()).unwrap_or_default();
    let median = |time: Option<Summary>| time.map(|time| time.median_ns.to_string()).unwrap_or_default();
    [
        device.name.clone(),
        device.description.driver.name.clone(),
        device.description.driver.info.clone(),
        measurement.id.clone(),
        measurement.group.clone(),
        measurement.policy.clone(),
        measurement.element_count.to_string(),
        measurement.element_size.to_string(),
        measurement.traffic_size.to_string(),
        measurement.elements_per_second.to_string(),
        measurement.bytes_per_second.to_string(),
        measurement.copy_percent.to_string(),
        measurement.copy_bytes_per_second.to_string(),
        measurement.runs_per_sample.to_string(),
        measurement.samples_ns.len().to_string(),
        time.median_ns.to_string(),
        low.to_string(),
        high.to_string(),
        time.iqr_ns.to_string(),
        time.min_ns.to_string(),
        time.p95_ns.to_string(),
        measurement.copy.median_ns.to_string(),
        median(measurement.transfer),
        median(measurement.record),
        median(measurement.end_to_end),
        known(recorded.map(|counts| counts.dispatches)),
        known(recorded.map(|counts| counts.barriers)),
        known(recorded.map(|counts| counts.transfers)),
        known(look_back.map(|counts| counts.windows)),
        known(look_back.map(|counts| counts.spins)),
        known(look_back.map(|counts| counts.fallbacks)),
    ]
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
        assert_eq!(rows[1][3], first.id);
        assert_eq!(rows[1][15].parse(), Ok(first.time.median_ns));
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
