//! A report as Markdown, for issues: a table for each group of cases.

use super::{DeviceReport, Measurement, Report, Summary};
use crate::harness::units::{duration, scaled};

impl Report {
    /// The measurements as Markdown: a heading for each device, a table for each group of cases measured together, and
    /// the cases that could not be measured.
    pub fn to_markdown(&self) -> String {
        let Self { tool, host, command, .. } = self;
        let hash = tool.git_hash.as_ref().map(|hash| format!(" ({hash})")).unwrap_or_default();
        let processor = host.processor.as_deref().unwrap_or(&host.architecture);
        let mut text = format!(
            "# subsweep {}\n\nsubsweep {}{hash} on {}, {} {}\n",
            escaped(&command.join(" ")),
            tool.version,
            escaped(processor),
            host.os,
            host.kernel.as_deref().map(escaped).unwrap_or_default()
        );
        if !self.complete {
            text +=
                "\n**This report is incomplete: the run ended, or still runs, before all was measured.**\n";
        }
        for device in &self.devices {
            text += &section(device);
        }
        text
    }
}

fn section(device: &DeviceReport) -> String {
    let driver = &device.description.driver;
    let clock = if device.gpu_timestamps { "GPU time" } else { "wall-clock time" };
    let clock = if device.cold_cache { format!("{clock}, cold caches") } else { clock.to_owned() };
    let mut text = format!(
        "\n## {}\n\n{} {}, {} lanes; {clock}, intervals of 95 %; % of the speed of copying the elements in the same run\n",
        escaped(&device.name),
        escaped(&driver.name),
        escaped(&driver.info),
        device.description.subgroups.size
    );
    let mut group = None;
    for measurement in &device.measured {
        if group != Some(&measurement.group) {
            text += &format!("\n### {}\n\n{HEAD}", escaped(&measurement.group));
            group = Some(&measurement.group);
        }
        text += &row(measurement);
    }
    let failed = || device.verified.iter().filter(|case| case.outcome != "pass");
    if failed().next().is_some() {
        text += "\n### Not measured\n\n";
    }
    for case in failed() {
        let reason = case.reason.as_deref().unwrap_or("no reason given");
        text += &format!("* {}: {}: {}\n", escaped(&case.id), escaped(&case.outcome), escaped(reason));
    }
    text
}

const HEAD: &str = "\
| policy | elements | median | 95 % | IQR | least | p95 | elements/s | bytes/s | % copy | record | end to end | dispatches | barriers | samples | clock |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|
";

fn row(measurement: &Measurement) -> String {
    let time = measurement.time;
    let [low, high] = time.median_interval_ns.map(duration);
    let [dispatches, barriers] = match measurement.recorded {
        Some(counts) => [counts.dispatches, counts.barriers].map(|count| count.to_string()),
        None => [(); 2].map(|()| "-".to_owned()),
    };
    let median = |time: Option<Summary>| time.map_or("-".to_owned(), |time| duration(time.median_ns));
    format!(
        "| {} | {} | {} | {low} to {high} | {} | {} | {} | {} | {} | {:.1} | {} | {} | {dispatches} | {barriers} | {} | {} |\n",
        escaped(&measurement.policy),
        measurement.element_count,
        duration(time.median_ns),
        duration(time.iqr_ns),
        duration(time.min_ns),
        duration(time.p95_ns),
        scaled(measurement.elements_per_second),
        scaled(measurement.bytes_per_second),
        measurement.copy_percent,
        median(measurement.record),
        median(measurement.end_to_end),
        measurement.sample_count,
        if measurement.steady { "" } else { "unsteady" }
    )
}

/// Escapes Markdown's special characters, and puts the text on one line.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            character if character.is_control() => escaped.push(' '),
            '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '#' | '&' | '~' => {
                escaped.extend(['\\', character]);
            }
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use crate::harness::report::sample;

    #[test]
    fn each_measurement_has_a_row_as_wide_as_the_head() {
        let mut report = sample();
        report.complete = false;
        report.devices[0].measured[0].policy = "a|b *c*\n<d>".to_owned();
        let text = report.to_markdown();
        assert!(text.contains("incomplete") && text.contains("| a\\|b \\*c\\* \\<d\\> |"), "{text}");
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let rows: Vec<_> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert!(rows.iter().all(|row| cells(row) == 17), "{text}");
        for device in &report.devices {
            for measurement in &device.measured {
                assert!(text.contains(&format!("| {} |", measurement.element_count)), "{text}");
            }
        }
    }
}
