//! Edges of bins on the host, as `numpy.histogram` has them.

use crate::error::{Error, Result, in_range};
use crate::histogram::HistogramConfig;
use crate::primitives::{Bf16, ElementType, F16};

/// The edges of `bins` bins of equal widths from `low` to `high`, equal to the bit to those that `numpy.histogram` returns
/// for elements of the type: those of `numpy.linspace`, for f32, f16 and bf16 rounded to the type.
///
/// # Errors
/// [`Error::OutOfRange`] for 0 or more than [`HistogramConfig::MAX_BINS`] bins; [`Error::Unsupported`] for a range that is
/// empty or not finite, or too narrow for so many bins.
pub fn even_edges(element: ElementType, bins: u32, [low, high]: [f64; 2]) -> Result<Vec<f64>> {
    in_range("bins of a histogram", bins, 1..=HistogramConfig::MAX_BINS)?;
    let range = high - low;
    // Numbers that a type of floats does not hold are no edges of it.
    let round = |edge: f64| match element {
        ElementType::F32 => f64::from(edge as f32),
        ElementType::F16 => F16::from_f64(edge).to_f32().into(),
        ElementType::Bf16 => Bf16::from_f64(edge).to_f32().into(),
        _ => edge,
    };
    if !(range > 0.0 && range.is_finite() && round(low).is_finite() && round(high).is_finite()) {
        return Err(Error::Unsupported {
            reason: "the range of a histogram is from a finite number to a greater one, at a finite distance",
        });
    }
    let step = range / f64::from(bins);
    let edge = |index| if index == bins { high } else { f64::from(index) * step + low };
    let edges: Vec<_> = (0..=bins).map(|index| round(edge(index))).collect();
    if edges.is_sorted_by(|edge, next| edge < next) {
        return Ok(edges);
    }
    Err(Error::Unsupported {
        reason: "the range has too few numbers for so many bins; take fewer bins or a wider range",
    })
}

/// The edges in the words of elements of the type, of 8 and 16 bits those of u32, i32 or f32, as plans take them. Each is rounded up to the next number of the type,
/// and the last one down: that changes no count. An edge beyond the numbers of the type becomes the last of them.
///
/// A bin that begins above the greatest integer of the type can have no values, nor can later bins: their edges are left
/// out, so that fewer words than edges are returned, for a plan of as many bins.
///
/// # Errors
/// [`Error::OutOfRange`] for fewer than 2 edges, or more than [`HistogramConfig::MAX_BINS`] + 1;
/// [`Error::InvalidEdge`] for a NaN, or an edge below the one before it; [`Error::Unsupported`] for a type of 64 bits.
pub fn edge_words(element: ElementType, edges: &[f64]) -> Result<Vec<u32>> {
    let edge_count = u32::try_from(edges.len()).unwrap_or(u32::MAX);
    in_range("edges of a histogram", edge_count, 2..=HistogramConfig::MAX_BINS + 1)?;
    let invalid = |index: usize, what| Err(Error::InvalidEdge { index: index as u64, what });
    if let Some(index) = edges.iter().position(|edge| edge.is_nan()) {
        return invalid(index, "is not a number; leave it out");
    }
    if let Some(index) = edges.windows(2).position(|pair| pair[1] < pair[0]) {
        return invalid(index + 1, "is below the one before it; sort the edges");
    }
    let (last, begins) = edges.split_last().expect("there are two or more");
    let element = element.unpacked();
    if element == ElementType::F32 {
        let words = begins.iter().map(|&begin| round_up(begin).to_bits());
        return Ok(words.chain([(-round_up(-last)).to_bits()]).collect());
    }
    let (least, greatest) = match element {
        ElementType::U32 => (0.0, f64::from(u32::MAX)),
        ElementType::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        _ => return Err(UNSUPPORTED_TYPE),
    };
    let word = |whole: f64| whole.clamp(least, greatest) as i64 as u32;
    // No value is in range.
    if *last < least || begins[0] > greatest {
        return Ok([word(greatest), word(least)].into());
    }
    let possible = begins.iter().map(|begin| begin.ceil()).take_while(|&begin| begin <= greatest);
    let mut words: Vec<_> = possible.map(word).collect();
    words.push(word(if words.len() < begins.len() { greatest } else { last.floor() }));
    Ok(words)
}

/// The error for a type of 64 bits.
pub(super) const UNSUPPORTED_TYPE: Error =
    Error::Unsupported { reason: "a histogram takes types of 8, 16 and 32 bits; convert the values first" };

/// The least f32 that is not below `value`.
fn round_up(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) < value { nearest.next_up() } else { nearest }
}

#[cfg(test)]
mod tests;
