//! The three figures of a topic: throughput by count, comparison of algorithms, and their samples.

use maud::{Markup, html};

use super::chart::{self, Scale, Style, WIDTH, cut, is_drawable, one, short};
use super::topics::{Roof, Series, Topic};
use crate::harness::report::Measurement;
use crate::harness::statistics::quantile;
use crate::harness::units::{duration, scaled};

/// Maximum series in a figure; tables show all.
pub const MAX_SERIES: usize = 24;
/// Left and right end of a plot.
const LEFT: f64 = 62.0;
const RIGHT: f64 = WIDTH - 18.0;
/// Left and right end of rows, leaving room for half a tick label.
const ENDS: [f64; 2] = [20.0, WIDTH - 20.0];
/// Height of a row: a series's name, and its data below.
const ROW: f64 = 48.0;
/// Maximum characters of a name in a row, beside a number.
const NAME_LENGTH: usize = 40;

/// The figures for which `topic` has data.
pub fn figures(topic: &Topic<'_>) -> Markup {
    let drawn = &topic.series[..topic.series.len().min(MAX_SERIES)];
    let count = topic.shown_count;
    let mut rows: Vec<_> = drawn.iter().filter_map(|series| Some((series, series.at(count)?))).collect();
    rows.sort_by(|(_, a), (_, b)| b.copy_percent.total_cmp(&a.copy_percent));
    html! {
        div class="figures" {
            @if drawn.iter().any(|series| series.points.len() > 1) { (throughput(topic, drawn)) }
            (beside_one_another(topic, &rows))
            (samples(topic, &rows))
        }
        @if rows.len() < drawn.len() {
            p class="quiet" {
                (drawn.len() - rows.len()) " of " (drawn.len()) " were not measured at " (elements(count))
                "; the table has all."
            }
        }
        @if topic.series.len() > MAX_SERIES {
            p class="quiet" {
                "Figures show the " (MAX_SERIES) " fastest of " (topic.series.len()) "; the table has all."
            }
        }
    }
}

/// Throughput by count, both logarithmic, with the copy as roofline.
fn throughput(topic: &Topic<'_>, drawn: &[Series<'_>]) -> Markup {
    const HEIGHT: f64 = 300.0;
    const TOP: f64 = 26.0;
    const BOTTOM: f64 = HEIGHT - 46.0;

    let points = drawn.iter().flat_map(|series| &series.points);
    let roof_points = || topic.roofs.iter().flat_map(|roof| roof.kernel.iter().chain(&roof.transfer));
    let counts = points.clone().map(|point| point.element_count as f64);
    let counts = counts.chain(roof_points().map(|[count, _]| *count));
    let x = Scale::log(counts, [LEFT, RIGHT]);
    let rates = points.map(|point| point.elements_per_second);
    let rates = rates.chain(roof_points().map(|[_, rate]| *rate));
    let y = Scale::log(rates, [BOTTOM, TOP]);
    let powers = x.powers_of_two();
    let x_ticks: Vec<_> = powers
        .into_iter()
        .map(|power| (x.position(2.0_f64.powi(power)), chart::power_of_two(power)))
        .collect();
    let title = format!("{}: elements per second against elements, beside a copy", topic.name);
    let drawing = html! {
        @for tick in y.ticks() {
            line class="grid" x1=(one(LEFT)) x2=(one(RIGHT)) y1=(one(y.position(tick))) y2=(one(y.position(tick))) {}
            text class="quiet" x=(one(LEFT - 6.0)) y=(one(y.position(tick) + 5.0)) text-anchor="end" { (rate_tick(tick)) }
        }
        (chart::bottom_axis(&x_ticks, [LEFT, RIGHT], [TOP, BOTTOM], "elements"))
        text class="quiet" x="0" y="14" { "elements/s" }
        @for roof in &topic.roofs { (roof_lines(roof, x, y)) }
        @for series in drawn { (series_line(series, x, y)) }
    };
    html! {
        figure {
            (chart::drawing(HEIGHT, &title, &drawing))
            ul class="legend" {
                @for series in drawn { li { (series.style.swatch()) (series.name) } }
                @for roof in &topic.roofs {
                    li { (roof_swatch(roof, "roof")) "copy kernel, 100 %" (roof.name) }
                    @if !roof.transfer.is_empty() {
                        li { (roof_swatch(roof, "roof transfer")) "vkCmdCopyBuffer" (roof.name) }
                    }
                }
            }
            figcaption { "Throughput, both axes logarithmic. A line that touches the copy takes as long as copying the elements." }
        }
    }
}

fn rate_tick(rate: f64) -> String {
    let (value, prefix) = match rate {
        rate if !(1.0..1e15).contains(&rate) => (rate, ""),
        rate if rate < 1e3 => (rate, ""),
        rate if rate < 1e6 => (rate / 1e3, " k"),
        rate if rate < 1e9 => (rate / 1e6, " M"),
        rate if rate < 1e12 => (rate / 1e9, " G"),
        rate => (rate / 1e12, " T"),
    };
    format!("{}{prefix}", short(value))
}

fn roof_lines(roof: &Roof, x: Scale, y: Scale) -> Markup {
    let path = |points: &[[f64; 2]]| {
        let position = |&[count, rate]: &[f64; 2]| [x.position(count), y.position(rate)];
        chart::line_through(&with_width(points.iter().map(position).collect()))
    };
    let dashes = roof.style.dashes();
    html! {
        path class={ "roof " (dashes) } d=(path(&roof.kernel)) { title { "copy kernel" (roof.name) } }
        @if !roof.transfer.is_empty() {
            path class={ "roof transfer " (dashes) } d=(path(&roof.transfer)) { title { "vkCmdCopyBuffer" (roof.name) } }
        }
    }
}

/// Replaces a single point by a short line.
fn with_width(mut positions: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    if let [[x, y]] = positions[..] {
        positions = vec![[x - 12.0, y], [x + 12.0, y]];
    }
    positions
}

fn roof_swatch(roof: &Roof, class: &str) -> Markup {
    html! {
        svg viewBox="0 0 38 16" aria-hidden="true" { path class={ (class) " " (roof.style.dashes()) } d="M1,8H37" {} }
    }
}

fn series_line(series: &Series<'_>, x: Scale, y: Scale) -> Markup {
    let points: Vec<_> = series
        .points
        .iter()
        .filter(|point| is_drawable(point.elements_per_second) && point.element_count > 0)
        .map(|point| ([x.position(point.element_count as f64), y.position(point.elements_per_second)], point))
        .collect();
    let positions: Vec<_> = points.iter().map(|(position, _)| *position).collect();
    html! {
        @if positions.len() > 1 {
            path class={ "line " (series.style.colour()) " " (series.style.dashes()) } d=(chart::line_through(&positions)) {}
        }
        @for ([x, y], point) in points { (series.style.mark(x, y, &in_words(series, point))) }
    }
}

fn in_words(series: &Series<'_>, point: &Measurement) -> String {
    format!(
        "{}: {} elements in {}, {}/s, {:.1} % of the copy",
        series.name,
        point.element_count,
        duration(point.time.median_ns),
        scaled(point.elements_per_second),
        point.copy_percent
    )
}

type SeriesRow<'s, 'r> = (&'s Series<'r>, &'s Measurement);

/// The name of a row, and its number at the right end.
fn row_words(at: usize, name: &str, number: &str) -> Markup {
    let y = at as f64 * ROW + 15.0;
    html! {
        text class="over" x="0" y=(one(y)) { (cut(name, NAME_LENGTH)) title { (name) } }
        text class="over" x=(one(WIDTH)) y=(one(y)) text-anchor="end" { (number) }
    }
}

/// The vertical centre of a row's data.
fn row_middle(at: usize) -> f64 {
    at as f64 * ROW + 33.0
}

/// A vertical line across a row's data, below its text.
fn band_line(class: &str, x: f64, middle: f64) -> Markup {
    html! { line class=(class) x1=(one(x)) x2=(one(x)) y1=(one(middle - 12.0)) y2=(one(middle + 12.0)) {} }
}

/// Each algorithm at the shown count, in percent of the copy, with its interval.
fn beside_one_another(topic: &Topic<'_>, rows: &[SeriesRow<'_, '_>]) -> Markup {
    let rows: Vec<_> = rows.iter().filter(|(_, point)| is_drawable(point.copy_percent)).collect();
    let interval =
        |point: &Measurement| point.time.median_interval_ns.map(|end| 100.0 * point.copy.median_ns / end);
    let percents = rows.iter().flat_map(|(_, point)| interval(point).into_iter().chain([point.copy_percent]));
    let scale = Scale::log(percents.chain([100.0]), ENDS);
    let ticks: Vec<_> =
        scale.ticks().into_iter().map(|tick| (scale.position(tick), html! { (short(tick)) })).collect();
    let bottom = rows.len() as f64 * ROW + 2.0;
    let title = format!("{}: percent of the copy at {} elements", topic.name, topic.shown_count);
    let drawing = html! {
        (chart::bottom_axis(&ticks, ENDS, [0.0, bottom], "% of the copy"))
        @for (at, (series, point)) in rows.iter().enumerate() {
            @let y = row_middle(at);
            @let [low, high] = interval(point).map(|end| scale.position(end));
            (band_line("roof", scale.position(100.0), y))
            (row_words(at, &series.name, &format!("{}/s, {:.1} %", scaled(point.elements_per_second), point.copy_percent)))
            line class="grid" x1=(one(ENDS[0])) x2=(one(ENDS[1])) y1=(one(y)) y2=(one(y)) {}
            @if low.is_finite() && high.is_finite() {
                line class={ "whisker " (series.style.colour()) } x1=(one(low)) x2=(one(high)) y1=(one(y)) y2=(one(y)) {}
            }
            (series.style.mark(scale.position(point.copy_percent), y, &in_words(series, point)))
        }
    };
    html! {
        figure {
            (chart::drawing(bottom + 46.0, &title, &drawing))
            figcaption {
                "Beside one another at " (elements(topic.shown_count)) ": % of the copy, logarithmic; whiskers are "
                "intervals of 95 %. The thick line is the copy."
            }
        }
    }
}

/// Every sample of each algorithm at the shown count, over its median; nothing where reports have summaries only.
fn samples(topic: &Topic<'_>, rows: &[SeriesRow<'_, '_>]) -> Markup {
    /// Samples beyond these ratios are only counted: they would compress the scale.
    const FARTHEST: [f64; 2] = [0.5, 2.5];

    let rows: Vec<_> =
        rows.iter().filter_map(|(series, point)| Some((series, Spread::new(point)?))).collect();
    if rows.is_empty() {
        return html! {};
    }
    let all = || rows.iter().flat_map(|(_, spread)| &spread.samples).copied();
    let low = all().fold(0.95, f64::min).max(FARTHEST[0]);
    let high = all().fold(1.05, f64::max).min(FARTHEST[1]);
    let room = 0.03 * (high - low);
    let scale = Scale::linear([low - room, high + room], ENDS);
    let ticks: Vec<_> =
        scale.ticks().into_iter().map(|tick| (scale.position(tick), html! { (short(tick)) })).collect();
    let bottom = rows.len() as f64 * ROW + 2.0;
    let title = format!("{}: samples at {} elements, over their medians", topic.name, topic.shown_count);
    let drawing = html! {
        (chart::bottom_axis(&ticks, ENDS, [0.0, bottom], "time over its median"))
        @for (at, (series, spread)) in rows.iter().enumerate() {
            (band_line("axis", scale.position(1.0), row_middle(at)))
            (row_words(at, &series.name, &spread.in_words([low, high])))
            (spread.drawing(series.style, scale, row_middle(at), [low, high]))
        }
    };
    html! {
        figure {
            (chart::drawing(bottom + 46.0, &title, &drawing))
            figcaption {
                "Samples at " (elements(topic.shown_count)) " over the median of each, the first ones above; the box "
                "holds the middle half."
            }
        }
    }
}

/// Samples over their median.
struct Spread {
    /// In order of time.
    samples: Vec<f64>,
    /// The first and the third quartile.
    quartiles: [f64; 2],
}

impl Spread {
    fn new(point: &Measurement) -> Option<Self> {
        let over_median = point.samples_ns.iter().map(|sample| sample / point.time.median_ns);
        let samples: Vec<_> = over_median.filter(|sample| sample.is_finite()).collect();
        let mut sorted = samples.clone();
        sorted.sort_by(f64::total_cmp);
        let quartiles = (!sorted.is_empty()).then(|| [0.25, 0.75].map(|q| quantile(&sorted, q)))?;
        Some(Self { samples, quartiles })
    }

    fn in_words(&self, [low, high]: [f64; 2]) -> String {
        let beyond = self.samples.iter().filter(|sample| !(low..=high).contains(sample)).count();
        let beyond = if beyond > 0 { format!(", {beyond} beyond") } else { String::new() };
        format!("{} samples{beyond}", self.samples.len())
    }

    fn drawing(&self, style: Style, scale: Scale, y: f64, [low, high]: [f64; 2]) -> Markup {
        /// Half the height of the samples.
        const HALF: f64 = 6.0;
        let count = self.samples.len();
        let mut dots = String::new();
        for (at, &sample) in self.samples.iter().enumerate() {
            if (low..=high).contains(&sample) {
                let part = if count > 1 { at as f64 / (count - 1) as f64 } else { 0.5 };
                dots += &format!("M{:.1},{:.1}h0", scale.position(sample), y - HALF + 2.0 * HALF * part);
            }
        }
        let [left, right] = self.quartiles.map(|quartile| scale.position(quartile));
        html! {
            rect class={ "box " (style.colour()) } x=(one(left)) y=(one(y - HALF - 3.0))
                width=(one((right - left).max(1.0))) height=(one(2.0 * HALF + 6.0)) {}
            @if !dots.is_empty() { path class={ "dots " (style.colour()) } d=(dots) {} }
        }
    }
}

/// A count with its unit, as a power of two if it is one.
pub fn elements(count: u64) -> Markup {
    html! {
        @if count.is_power_of_two() && count > 1 { "2" sup { (count.trailing_zeros()) } } @else { (count) }
        @if count == 1 { " element" } @else { " elements" }
    }
}
