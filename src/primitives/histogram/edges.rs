//! Edges of bins on the host, as `numpy.histogram` has them.

use crate::error::{Error, Result, in_range, refuse_if};
use crate::histogram::HistogramConfig;
use crate::primitives::{ElementType, F16};

/// The edges of `bins` bins of equal widths from `low` to `high`, equal to the bit to the edges that `numpy.histogram`
/// returns for elements of the type: the numbers of `numpy.linspace`, for f32 and f16 rounded to the type; numpy has the
/// edges for `ml_dtypes.bfloat16` in f64.
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
        _ => edge,
    };
    let reason = "the range of a histogram is beyond the numbers of its type; give edges of your own";
    let are_held = round(low).is_finite() && round(high).is_finite();
    refuse_if(low.is_finite() && high.is_finite() && !are_held, reason)?;
    let reason = "the range of a histogram is from a finite number to a greater one, at a finite distance";
    refuse_if(!(range > 0.0 && range.is_finite()), reason)?;
    let step = range / f64::from(bins);
    let edge = |index| if index == bins { high } else { f64::from(index) * step + low };
    let edges: Vec<_> = (0..=bins).map(|index| round(edge(index))).collect();
    let reason = "the range has too few numbers for so many bins; take fewer bins or a wider range";
    refuse_if(!edges.is_sorted_by(|edge, next| edge < next), reason)?;
    Ok(edges)
}

/// The edges in the words of elements of the type, of 8 and 16 bits the words of u32, i32 or f32, of 64 bits two each, low
/// word first, as plans take them. Each is rounded up to the next number of the type, and the last one down: that changes no
/// count. An edge beyond the numbers of the type becomes the last of them. Integers of 64 bits are compared with edges as
/// f64, as numpy does: several that are the same f64 are in one bin.
///
/// A bin that begins above the greatest integer of the type can have no values, nor can later bins: their edges are left
/// out, so that the words of fewer edges are returned, for a plan of as many bins.
///
/// # Errors
/// [`Error::OutOfRange`] for fewer than 2 edges, or more than [`HistogramConfig::MAX_BINS`] + 1;
/// [`Error::InvalidEdge`] for a NaN, or an edge below the one before it.
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
    let words_of = |bits: u64| [bits as u32, (bits >> 32) as u32].into_iter().take(element.words() as usize);
    let (least, greatest): (i128, i128) = match element {
        ElementType::F32 => {
            let words = begins.iter().map(|&begin| round_up(begin).to_bits());
            return Ok(words.chain([(-round_up(-last)).to_bits()]).collect());
        }
        ElementType::F64 => return Ok(edges.iter().map(|edge| edge.to_bits()).flat_map(words_of).collect()),
        ElementType::U64 => (0, u64::MAX.into()),
        ElementType::I64 => (i64::MIN.into(), i64::MAX.into()),
        ElementType::I32 => (i32::MIN.into(), i32::MAX.into()),
        _ => (0, u32::MAX.into()),
    };
    // The first integer that is `reached` as f64, or the one after the greatest.
    let first = |is_reached: &dyn Fn(f64) -> bool| {
        let (mut low, mut high) = (least, greatest + 1);
        while low < high {
            let middle = (low + high) >> 1;
            if is_reached(middle as f64) { high = middle } else { low = middle + 1 }
        }
        low
    };
    let last = first(&|number| number > *last) - 1;
    let possible = begins.iter().map(|begin| first(&|number| number >= *begin));
    let mut numbers: Vec<_> = possible.take_while(|&begin| begin <= greatest).collect();
    if numbers.is_empty() || last < least {
        // No value is in range.
        numbers = vec![greatest, least];
    } else {
        numbers.push(if numbers.len() < begins.len() { greatest } else { last });
    }
    Ok(numbers.into_iter().flat_map(|number| words_of(number as u64)).collect())
}

/// The least f32 that is not below `value`.
fn round_up(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) < value { nearest.next_up() } else { nearest }
}

#[cfg(test)]
mod tests;
