//! The verdicts of a comparison, shown before the measurements.

use maud::{Markup, html};

use super::super::comparison::{CaseComparison, Comparison, Side, Verdict};
use super::super::units::{duration, interval};
use super::table::scrolled;

/// Differences, verdicts by group and, collapsed, by case.
pub fn verdicts(comparisons: &[Comparison]) -> Markup {
    html! {
        @for comparison in comparisons { (verdict(comparison)) }
    }
}

fn verdict(comparison: &Comparison) -> Markup {
    let Comparison { base, new, tolerance_percent, .. } = comparison;
    html! {
        section class="verdicts" {
            h2 { (side(base)) " → " (side(new)) }
            @for (label, one) in [("base", base), ("new", new)] {
                @if !one.complete { p class="warning" { "The " (label) " is incomplete: its run ended before its last case." } }
            }
            (differences(comparison))
            (groups(comparison))
            p class="quiet" {
                "The ratio is the new time over the base's: below 1 is faster. By bootstrap, at 95 %: "
                "SAME is within " (tolerance_percent) " %, FASTER and SLOWER beyond, AMBIGUOUS what could be either, and UNSTEADY is not judged."
                @if let Some(drift) = comparison.drift {
                    " On this machine the copies took " (format!("{drift:.2}")) " times as long in the new run; verdicts allow for that."
                }
            }
            @let few = comparison.undecidable().count();
            @if few > 0 {
                p class="warning" { (few) " of too few samples for a verdict, which takes six blocks in both reports" }
            }
            @let unsteady = comparison.unsteady_count();
            @if unsteady > 0 {
                p class="warning" { (unsteady) " UNSTEADY: the clock changed while they were measured, so that they are not judged" }
            }
            @if let [first, ..] = &comparison.wrong_in_new[..] {
                p class="warning" { (comparison.wrong_in_new.len()) " WRONG in the new report, such as " code { (first) } }
            }
            (cases(&comparison.cases))
            @for (label, ids) in [("base", &comparison.only_in_base), ("new report", &comparison.only_in_new)] {
                @if let [first, ..] = &ids[..] {
                    p class="quiet" { (ids.len()) " in the " (label) " alone, such as " code { (first) } }
                }
            }
        }
    }
}

fn side(side: &Side) -> Markup {
    html! { (side.report) ": " (side.device) }
}

fn differences(comparison: &Comparison) -> Markup {
    if comparison.differences.is_empty() {
        return html! { p { "The same device, driver, machine, build, policies and samples." } };
    }
    let rows = html! {
        @for difference in &comparison.differences {
            tr {
                th scope="row" { (difference.what) }
                td class="words" { (difference.base) }
                td class="words" { (difference.new) }
            }
        }
    };
    let headings = ["", "base", "new"].map(|name| (name, false));
    scrolled(None, Some("What they differ in"), &headings, [rows])
}

fn groups(comparison: &Comparison) -> Markup {
    let mut headings = vec![("group", false)];
    headings.extend(Verdict::ALL.map(|verdict| (verdict.name(), true)));
    headings.extend([("geometric mean", true), ("95 % interval", true), ("verdict", false)]);
    let rows = html! {
        @for group in comparison.rows() {
            tr {
                th scope="row" { (group.name) }
                @for verdict in Verdict::ALL { td class="number" { (group.verdicts.get(&verdict).unwrap_or(&0)) } }
                td class="number" { (format!("{:.3}", group.geometric_mean_ratio)) }
                td class="number" { (interval(group.ratio_interval)) }
                td class=(group.verdict.name().to_lowercase()) { (group.verdict.name()) }
            }
        }
    };
    scrolled(None, Some("Verdicts"), &headings, [rows])
}

fn cases(cases: &[CaseComparison]) -> Markup {
    let headings = ["case", "base", "new", "ratio", "95 % interval", "verdict"].map(|name| (name, false));
    let rows = html! {
        @for case in cases {
            tr {
                th scope="row" class="work" { (case.id) }
                td class="number" { (duration(case.base_ns)) }
                td class="number" { (duration(case.new_ns)) }
                td class="number" { (format!("{:.3}", case.ratio)) }
                td class="number" { (interval(case.ratio_interval)) }
                td class=(case.verdict.name().to_lowercase()) { (case.verdict.name()) }
            }
        }
    };
    html! {
        details {
            summary { "Every case" }
            (scrolled(None, None, &headings, [rows]))
        }
    }
}
