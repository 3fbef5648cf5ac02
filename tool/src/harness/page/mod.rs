//! Reports as one self-contained HTML page without scripts.
//!
//! The rule of this folder: the page is a function of reports only, without access to devices or files. `topics` groups
//! measurements, `figures` and `table` show a group, [`verdicts`] shows a comparison, `chart` has the drawing
//! primitives, and `style.css` has all colours.

mod chart;
mod figures;
mod table;
mod topics;
mod verdicts;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::report::{DeviceReport, Host, Report, Tool};
use super::units::scaled;
use topics::{Subject, Topic};
pub use verdicts::verdicts;

/// A report and its title.
#[derive(Debug, Clone)]
pub struct Titled<'r> {
    /// The title that distinguishes it from other reports, such as its file; for a single report, its tool.
    pub title: String,
    /// The report.
    pub report: &'r Report,
}

/// The page of one or several reports, in shared figures; `preface` precedes the measurements.
pub fn page(reports: &[Titled<'_>], preface: Option<Markup>) -> String {
    let subjects = topics::subjects(reports);
    let topics = topics::topics(&subjects);
    let title = title(&subjects);
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content="subsweep";
                title { (title) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                main {
                    h1 { (title) }
                    @for titled in reports { (about(titled, reports.len() > 1)) }
                    (how(&subjects))
                    @if let Some(preface) = preface { (preface) }
                    @if topics.is_empty() { p { strong { "Nothing was measured." } } }
                    @if topics.len() > 1 { (overview(&subjects, &topics)) }
                    @for (at, topic) in topics.iter().enumerate() { (section(at, topic)) }
                    (not_measured(&subjects))
                }
            }
        }
    };
    // HTML allows no control characters except white space; a report's names may contain any.
    document.into_string().replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t'), "\u{fffd}")
}

fn title(subjects: &[Subject<'_>]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for Subject { device, .. } in subjects {
        if !names.contains(&device.name.as_str()) {
            names.push(&device.name);
        }
    }
    match names[..] {
        [] => "subsweep".to_owned(),
        [name] => format!("Scans and radix sorts on {name}"),
        [ref names @ .., last] => format!("Scans and radix sorts on {} and {last}", names.join(", ")),
    }
}

/// The origin of a report.
fn about(titled: &Titled<'_>, is_one_of_many: bool) -> Markup {
    let Report { tool, host, command, complete, devices, .. } = titled.report;
    html! {
        @if is_one_of_many { h2 { (titled.title) } }
        @if !complete {
            p class="warning" role="note" {
                "This report is incomplete: the run ended, or still runs, before all that was asked for was measured."
            }
        }
        div class="cards" {
            @for device in devices { (device_card(device)) }
            (host_card(host, tool, command))
        }
    }
}

fn device_card(device: &DeviceReport) -> Markup {
    let description = &device.description;
    let (driver, subgroups) = (&description.driver, &description.subgroups);
    html! {
        section class="card" {
            h3 { (device.name) }
            dl {
                dt { "type" } dd { (description.device_type) }
                dt { "driver" } dd { (driver.name) @if !driver.info.is_empty() { ", " (driver.info) } }
                dt { "version" } dd { (driver.version) " (" (driver.id) ")" }
                dt { "Vulkan" } dd { (description.api_version) ", conformance " (description.conformance_version) }
                dt { "subgroup" }
                dd {
                    (subgroups.size) " lanes"
                    @if subgroups.min_size < subgroups.max_size {
                        " of " (subgroups.min_size) " to " (subgroups.max_size)
                    }
                }
                dt { "clock" } dd { @if device.gpu_timestamps { "GPU timestamps" } @else { "wall clock: no timestamps" } }
                @if device.cold_cache {
                    dt { "caches" } dd { "emptied before each run" }
                }
                @if !description.workarounds.is_empty() {
                    dt { "workarounds" } dd { (description.workarounds.join(", ")) }
                }
                @if let Some(verdict) = &device.self_test { dt { "self-test" } dd { (verdict) } }
            }
        }
    }
}

fn host_card(host: &Host, tool: &Tool, command: &[String]) -> Markup {
    html! {
        section class="card" {
            h3 { "subsweep " (tool.version) }
            dl {
                dt { "command" } dd { code { "subsweep " (command.join(" ")) } }
                @if let Some(hash) = &tool.git_hash { dt { "commit" } dd { code { (hash) } } }
                dt { "kernels by" } dd { (tool.shader_compiler) }
                dt { "host" }
                dd { (host.os) @if let Some(kernel) = &host.kernel { " " (kernel) } ", " (host.architecture) }
                dt { "processor" }
                dd {
                    @if let Some(processor) = &host.processor { (processor) ", " }
                    (host.threads) @if host.threads == 1 { " thread" } @else { " threads" }
                }
            }
        }
    }
}

fn how(subjects: &[Subject<'_>]) -> Markup {
    let has_clock = |is_gpu: bool| subjects.iter().any(|subject| subject.device.gpu_timestamps == is_gpu);
    html! {
        p {
            "Each case was held to a plain loop on the CPU before and after it was measured, and cases that do the same to "
            "the same elements took their samples by turns, between copies of these elements by a kernel and by "
            code { "vkCmdCopyBuffer" } ". Times are medians of "
            @match (has_clock(true), has_clock(false)) {
                (true, true) => { "GPU time, or of wall-clock time where the device has no timestamps" }
                (false, true) => { "wall-clock time" }
                _ => { "GPU time" }
            }
            " with intervals of 95 % by bootstrap, and " strong { "% of the copy" }
            " is how long the copying kernel took in the same run over how long the case took: 100 % is what memory allows."
        }
    }
}

/// The fastest variant of each topic on each device, at the topic's shown count.
fn overview(subjects: &[Subject<'_>], topics: &[Topic<'_>]) -> Markup {
    let fastest = |topic: &Topic<'_>| -> Vec<usize> {
        let of_subject = |subject| topic.series.iter().position(|series| series.subject == subject);
        (0..subjects.len()).filter_map(of_subject).collect()
    };
    let rows_of_topic = |(at, topic): (usize, &Topic<'_>)| {
        let fastest = fastest(topic);
        let (work, parameters) = topic.parts();
        html! {
            @for (row, &index) in fastest.iter().enumerate() {
                @let series = &topic.series[index];
                tr {
                    @if row == 0 {
                        th class="work" scope="rowgroup" rowspan=(fastest.len()) {
                            a href={ "#topic-" (at) } { (work) " " (parameters) }
                        }
                    }
                    td { (series.name) }
                    @if let Some(point) = series.at(topic.shown_count).or(series.points.last().copied()) {
                        td class="number" { (point.element_count) }
                        td class="number" { (scaled(point.elements_per_second)) }
                        td class="number" { (format!("{:.1}", point.copy_percent)) }
                    }
                }
            }
        }
    };
    let headings =
        [("work", false), ("fastest", false), ("elements", true), ("elements/s", true), ("% of copy", true)];
    let groups = topics.iter().enumerate().map(rows_of_topic);
    html! {
        h2 { "At a glance" }
        (table::scrolled(Some("The fastest of each kind of work"), None, &headings, groups))
    }
}

fn section(at: usize, topic: &Topic<'_>) -> Markup {
    let (work, parameters) = topic.parts();
    html! {
        section {
            h2 id={ "topic-" (at) } {
                (work)
                @if !parameters.is_empty() { small class="parameters" { (parameters) } }
            }
            (figures::figures(topic))
            (table::table(topic))
        }
    }
}

/// The failed and unsupported cases.
fn not_measured(subjects: &[Subject<'_>]) -> Markup {
    let cases = subjects.iter().flat_map(|subject| {
        let verified = subject.device.verified.iter();
        verified.filter(|case| case.outcome != "pass").map(move |case| (subject, case))
    });
    let failed: Vec<_> = cases.collect();
    let headings = ["case", "device", "outcome", "reason"].map(|name| (name, false));
    let rows = html! {
        @for (subject, case) in &failed {
            tr {
                th scope="row" { (case.id) }
                td { (subject.name) }
                td { @if case.outcome == "fail" { strong { "WRONG" } } @else { (case.outcome) } }
                td class="words" { (case.reason.as_deref().unwrap_or_default()) }
            }
        }
    };
    html! {
        @if !failed.is_empty() {
            h2 { "Wrong or not supported" }
            (table::scrolled(Some("Cases that were wrong or are not supported"), None, &headings, [rows]))
        }
    }
}

#[cfg(test)]
mod tests;
