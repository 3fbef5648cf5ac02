//! Tables: the box and the headings of all, and the table of a topic, a row per measurement.

use maud::{Markup, html};

use super::topics::{Series, Topic};
use crate::harness::report::Measurement;
use crate::harness::units::{duration, scaled};

/// The name of a column, and whether its cells are numbers.
pub type Heading<'n> = (&'n str, bool);

/// A table that scrolls in a box of its own, which the keyboard reaches if it has a label. Each of `groups` has rows.
pub fn scrolled(
    label: Option<&str>,
    caption: Option<&str>,
    headings: &[Heading<'_>],
    groups: impl IntoIterator<Item = Markup>,
) -> Markup {
    html! {
        div class="scroll" role=[label.map(|_| "region")] aria-label=[label] tabindex=[label.map(|_| "0")] {
            table {
                @if let Some(caption) = caption { caption { (caption) } }
                thead {
                    tr {
                        @for (name, is_number) in headings {
                            th scope="col" class=[is_number.then_some("number")] { (name) }
                        }
                    }
                }
                @for rows in groups { tbody { (rows) } }
            }
        }
    }
}

/// The table of a topic, initially collapsed.
pub fn table(topic: &Topic<'_>) -> Markup {
    let count: usize = topic.series.iter().map(|series| series.points.len()).sum();
    let has_look_back =
        topic.series.iter().flat_map(|series| &series.points).any(|point| point.look_back.is_some());
    let mut headings = vec![("algorithm", false)];
    headings.extend(COLUMNS.map(|(name, _)| (name, true)));
    headings.extend(has_look_back.then_some(("look-back", false)));
    headings.push(("policy", false));
    let rows = html! {
        @for series in &topic.series {
            @for point in &series.points { (row(series, point, has_look_back)) }
        }
    };
    html! {
        details {
            summary { "Table: " (count) @if count == 1 { " measurement" } @else { " measurements" } }
            (scrolled(Some(&format!("Measurements of {}", topic.name)), None, &headings, [rows]))
        }
    }
}

type Column = (&'static str, fn(&Measurement) -> String);

const COLUMNS: [Column; 17] = [
    ("elements", |m| m.element_count.to_string()),
    ("median", |m| duration(m.time.median_ns)),
    ("95 % interval", |m| m.time.median_interval_ns.map(duration).join(" – ")),
    ("IQR", |m| duration(m.time.iqr_ns)),
    ("min", |m| duration(m.time.min_ns)),
    ("p95", |m| duration(m.time.p95_ns)),
    ("elements/s", |m| scaled(m.elements_per_second)),
    ("bytes/s", |m| scaled(m.bytes_per_second)),
    ("% of copy", |m| format!("{:.1}", m.copy_percent)),
    ("copy bytes/s", |m| scaled(m.copy_bytes_per_second)),
    ("record", |m| known(m.record.map(|time| duration(time.median_ns)))),
    ("end to end", |m| known(m.end_to_end.map(|time| duration(time.median_ns)))),
    ("dispatches", |m| known(m.recorded.map(|recorded| recorded.dispatches.to_string()))),
    ("barriers", |m| known(m.recorded.map(|recorded| recorded.barriers.to_string()))),
    ("samples", |m| m.sample_count.to_string()),
    ("clock", |m| if m.steady { "steady" } else { "unsteady" }.to_owned()),
    ("runs each", |m| m.runs_per_sample.to_string()),
];

fn known(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

fn row(series: &Series<'_>, point: &Measurement, has_look_back: bool) -> Markup {
    html! {
        tr title=(point.id) {
            th scope="row" { (series.name) }
            @for (_, cell) in COLUMNS { td class="number" { (cell(point)) } }
            @if has_look_back { td { @if let Some(counts) = &point.look_back { (counts) } } }
            td class="words" { (point.policy) }
        }
    }
}
