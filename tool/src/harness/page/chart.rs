//! Drawing primitives of figures: scales, ticks, marks and lines.
//!
//! Handwritten SVG instead of a plotting library: such libraries lack axes of powers of two, colours from a style sheet
//! for light and dark, and text measured by the browser.

use maud::{Markup, html};

use crate::harness::units::three_digits;

/// The width of every figure, in user units. On a phone, text of 15 units is still 11 pixels high.
pub const WIDTH: f64 = 480.0;

/// The scale of an axis.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// The least and greatest value; their logarithms on a logarithmic scale.
    low: f64,
    high: f64,
    /// Their positions in the figure.
    from: f64,
    to: f64,
    is_log: bool,
}

impl Scale {
    /// A logarithmic scale of `values`, with a margin on both sides. Values that are not positive and finite are
    /// ignored.
    pub fn log(values: impl IntoIterator<Item = f64>, [from, to]: [f64; 2]) -> Self {
        let logs = values.into_iter().filter(|&value| is_drawable(value)).map(f64::log10);
        let [low, high] = range(logs).unwrap_or([0.0, 0.0]);
        // At least a factor of 2, else there are no ticks.
        let room = (0.15 - (high - low) / 2.0).max(0.04 * (high - low));
        Self { low: low - room, high: high + room, from, to, is_log: true }
    }

    /// A linear scale from `low` to `high`; `low < high`.
    pub fn linear([low, high]: [f64; 2], [from, to]: [f64; 2]) -> Self {
        Self { low, high, from, to, is_log: false }
    }

    /// The position of `value`, clamped to the ends of the scale. `value` is not NaN.
    pub fn position(&self, value: f64) -> f64 {
        let value = if self.is_log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let part = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + (self.to - self.from) * part
    }

    /// Exponents of the powers of two to label, as many as fit.
    pub fn powers_of_two(&self) -> Vec<i32> {
        let per_power = 2.0_f64.log10();
        let [first, last] = [(self.low / per_power).ceil() as i32, (self.high / per_power).floor() as i32];
        let step = ((last - first) / 6 + 1).max(1);
        // Multiples of the step, so that adjacent figures have the same labels.
        let first = first + (step - first.rem_euclid(step)) % step;
        (first..=last).step_by(step as usize).collect()
    }

    /// A few round values.
    pub fn ticks(&self) -> Vec<f64> {
        if !self.is_log {
            return linear_ticks(self.low, self.high);
        }
        let decades = self.high - self.low;
        let digits: &[f64] = match decades {
            decades if decades > 3.0 => &[1.0],
            decades if decades > 1.6 => &[1.0, 3.0],
            _ => &[1.0, 2.0, 5.0],
        };
        let step = (decades / 7.0).ceil().max(1.0) as usize;
        let exponents = (self.low.floor() as i32..=self.high.ceil() as i32).step_by(step);
        let values =
            exponents.flat_map(|exponent| digits.iter().map(move |digit| digit * 10.0_f64.powi(exponent)));
        values.filter(|value| (self.low..=self.high).contains(&value.log10())).collect()
    }
}

/// Whether a logarithmic scale can show a value.
pub fn is_drawable(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

fn range(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    values.fold(None, |range, value| match range {
        None => Some([value; 2]),
        Some([low, high]) => Some([low.min(value), high.max(value)]),
    })
}

fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 4.0;
    let unit = 10.0_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * unit).into_iter().find(|&step| step >= rough);
    let step = step.unwrap_or(10.0 * unit);
    let first = (low / step).ceil() as i64;
    (first..=(high / step).floor() as i64).map(|tick| tick as f64 * step).collect()
}

/// The style of a series: colour and mark shape, and dashes with hollow marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Index of colour and mark shape.
    pub hue: usize,
    /// Index of dashes.
    pub dash: usize,
}

impl Style {
    const COLOURS: usize = 8;
    const DASHES: usize = 4;

    /// The CSS class of the colour.
    pub fn colour(self) -> String {
        format!("c{}", self.hue % Self::COLOURS)
    }

    /// The CSS class of the dashes.
    pub fn dashes(self) -> String {
        // When colours wrap around, the next dashes are used.
        format!("d{}", (self.dash + self.hue / Self::COLOURS) % Self::DASHES)
    }

    fn is_hollow(self) -> bool {
        self.dash % 2 == 1
    }

    /// A mark at a position, with a tooltip.
    pub fn mark(self, x: f64, y: f64, title: &str) -> Markup {
        let class = if self.is_hollow() { "mark hollow" } else { "mark" };
        html! { path class={ (class) " " (self.colour()) } d=(self.outline(x, y)) { title { (title) } } }
    }

    fn outline(self, x: f64, y: f64) -> String {
        let at = |points: &[[f64; 2]]| {
            let points = points.iter().map(|[dx, dy]| format!("{:.1},{:.1}", x + dx, y + dy));
            format!("M{}Z", points.collect::<Vec<_>>().join("L"))
        };
        match self.hue % 5 {
            0 => format!("M{:.1},{y:.1}a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0Z", x - 4.5),
            1 => at(&[[-4.0, -4.0], [4.0, -4.0], [4.0, 4.0], [-4.0, 4.0]]),
            2 => at(&[[0.0, -5.5], [5.0, 3.5], [-5.0, 3.5]]),
            3 => at(&[[0.0, -5.8], [5.8, 0.0], [0.0, 5.8], [-5.8, 0.0]]),
            _ => at(&[[-5.0, -3.5], [5.0, -3.5], [0.0, 5.5]]),
        }
    }

    /// The sample in a legend.
    pub fn swatch(self) -> Markup {
        html! {
            svg viewBox="0 0 38 16" aria-hidden="true" {
                path class={ "line " (self.colour()) " " (self.dashes()) } d="M1,8H37" {}
                path class={ (if self.is_hollow() { "mark hollow" } else { "mark" }) " " (self.colour()) }
                    d=(self.outline(19.0, 8.0)) {}
            }
        }
    }
}

/// A path through positions.
pub fn line_through(positions: &[[f64; 2]]) -> String {
    let positions: Vec<_> = positions.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
    format!("M{}", positions.join("L"))
}

/// A figure's drawing, `height` units high, with a description.
pub fn drawing(height: f64, title: &str, content: &Markup) -> Markup {
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label=(title) {
            title { (title) }
            (content)
        }
    }
}

/// A horizontal axis at height `y`, with a label and a grid line up to `top` at each tick.
pub fn bottom_axis(
    ticks: &[(f64, Markup)],
    [left, right]: [f64; 2],
    [top, y]: [f64; 2],
    name: &str,
) -> Markup {
    html! {
        @for (x, label) in ticks {
            line class="grid" x1=(one(*x)) x2=(one(*x)) y1=(one(top)) y2=(one(y)) {}
            text class="quiet" x=(one(*x)) y=(one(y + 18.0)) text-anchor="middle" { (label) }
        }
        line class="axis" x1=(one(left)) x2=(one(right)) y1=(one(y)) y2=(one(y)) {}
        text class="quiet" x=(one((left + right) / 2.0)) y=(one(y + 38.0)) text-anchor="middle" { (name) }
    }
}

/// `2` with an exponent.
pub fn power_of_two(exponent: i32) -> Markup {
    html! { "2" tspan dy="-5" font-size="12" { (exponent) } }
}

/// A coordinate with one decimal, a tenth of a pixel.
pub fn one(value: f64) -> String {
    format!("{value:.1}")
}

/// A tick's label, without trailing zeros.
pub fn short(value: f64) -> String {
    let text = if (1e-3..1e6).contains(&value.abs()) { format!("{value:.3}") } else { three_digits(value) };
    match text.contains(['.']) && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// `text` cut to `count` characters. Keeps start and end, which distinguish more than the middle.
pub fn cut(text: &str, count: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= count {
        return text.to_owned();
    }
    let (head, tail) = ((count - 1) / 2, count / 2);
    let [start, end] = [&characters[..head], &characters[characters.len() - tail..]];
    start.iter().chain(&['…']).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_scale_has_room_for_whatever_it_is_given() {
        for values in [vec![], vec![1.0], vec![0.0, f64::NAN, f64::INFINITY, -1.0], vec![1e-300, 1e300]] {
            let scale = Scale::log(values.iter().copied(), [10.0, 20.0]);
            for value in values {
                let position = scale.position(value);
                assert!((10.0..=20.0).contains(&position), "{value}: {position}");
            }
            assert!(scale.powers_of_two().len() <= 8 && scale.ticks().len() <= 10, "{scale:?}");
        }
        let scale = Scale::log([256.0, 65_536.0], [0.0, 100.0]);
        assert_eq!(scale.powers_of_two(), [8, 10, 12, 14, 16]);
        assert!(
            scale.position(256.0) < scale.position(4096.0)
                && scale.position(4096.0) < scale.position(65_536.0)
        );
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(Scale::log([3.0, 60.0], [0.0, 1.0]).ticks(), [5.0, 10.0, 20.0, 50.0]);
        assert_eq!(Scale::log([1e6, 1e10], [0.0, 1.0]).ticks().len(), 5);
        let ticks: Vec<_> = Scale::linear([0.8, 1.6], [0.0, 1.0]).ticks().into_iter().map(short).collect();
        assert_eq!(ticks, ["0.8", "1", "1.2", "1.4", "1.6"]);
    }

    #[test]
    fn cut_text_has_an_ellipsis() {
        assert_eq!(cut("vkCmdFüll", 9), "vkCmdFüll");
        assert_eq!(cut("vkCmdFüll", 8), "vkC…Füll");
    }
}
