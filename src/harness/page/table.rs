//! The table of a topic: a row per measurement.

use maud::{Markup, html};

use super::topics::{Series, Topic};
use crate::harness::report::Measurement;
use crate::harness::units::{duration, scaled};

/// The table, initially collapsed.
pub fn table(topic: &Topic<'_>) -> Markup {
    let count: usize = topic.series.iter().map(|series| series.points.len()).sum();
    let has_look_back =
        topic.series.iter().flat_map(|series| &series.points).any(|point| point.look_back.is_some());
    html! {
        details {
            summary { "Table: " (count) @if count == 1 { " measurement" } @else { " measurements" } }
            div class="scroll" role="region" aria-label={ "Measurements of " (topic.name) } tabindex="0" {
                table {
                    thead {
                        tr {
                            th scope="col" { "algorithm" }
                            @for column in COLUMNS { th scope="col" class="number" { (column) } }
                            @if has_look_back { th scope="col" { "look-back" } }
                            th scope="col" { "policy" }
                        }
                    }
                    tbody {
                        @for series in &topic.series {
                            @for point in &series.points { (row(series, point, has_look_back)) }
                        }
                    }
                }
            }
        }
    }
}

const COLUMNS: [&str; 16] = [
    "elements",
    "median",
    "95 % interval",
    "IQR",
    "min",
    "p95",
    "elements/s",
    "bytes/s",
    "% of copy",
    "copy bytes/s",
    "record",
    "end to end",
    "dispatches",
    "barriers",
    "samples",
    "runs each",
];

fn row(series: &Series<'_>, point: &Measurement, has_look_back: bool) -> Markup {
    let time = point.time;
    let [low, high] = time.median_interval_ns.map(duration);
    let known = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let cells = [
        point.element_count.to_string(),
        duration(time.median_ns),
        format!("{low} – {high}"),
        duration(time.iqr_ns),
        duration(time.min_ns),
        duration(time.p95_ns),
        scaled(point.elements_per_second),
        scaled(point.bytes_per_second),
        format!("{:.1}", point.copy_percent),
        scaled(point.copy_bytes_per_second),
        known(point.record.map(|time| duration(time.median_ns))),
        known(point.end_to_end.map(|time| duration(time.median_ns))),
        known(point.recorded.map(|recorded| recorded.dispatches.to_string())),
        known(point.recorded.map(|recorded| recorded.barriers.to_string())),
        point.samples_ns.len().to_string(),
        point.runs_per_sample.to_string(),
    ];
    html! {
        tr title=(point.id) {
            th scope="row" { (series.name) }
            @for cell in cells { td class="number" { (cell) } }
            @if has_look_back { td { @if let Some(counts) = &point.look_back { (counts) } } }
            td class="words" { (point.policy) }
        }
    }
}
