//! Edges of bins on the host, as `numpy.histogram` has them.

use crate::error::{Error, Result, in_range};
use crate::histogram::HistogramConfig;
use crate::primitives::ElementType;

/// The edges of `bins` bins of equal widths from `low` to `high`, equal to the bit to those that `numpy.histogram` returns
/// for elements of the type: those of `numpy.linspace`, for f32 rounded to f32.
///
/// # Errors
/// [`Error::OutOfRange`] for 0 or more than [`HistogramConfig::MAX_BINS`] bins; [`Error::Unsupported`] for a range that is
/// empty or not finite, or too narrow for so many bins.
pub fn even_edges(element: ElementType, bins: u32, [low, high]: [f64; 2]) -> Result<Vec<f64>> {
    in_range("bins of a histogram", bins, 1..=HistogramConfig::MAX_BINS)?;
    let range = high - low;
    // Numbers that f32 does not hold are no edges of f32.
    let round = |edge: f64| if element == ElementType::F32 { f64::from(edge as f32) } else { edge };
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

/// The edges in the words of elements of the type, as plans take them. Each is rounded up to the next number of the type,
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
    Error::Unsupported { reason: "a histogram takes u32, i32 and f32; convert the values first" };

/// The least f32 that is not below `value`.
fn round_up(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) < value { nearest.next_up() } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [ElementType; 3] = [ElementType::U32, ElementType::I32, ElementType::F32];

    fn bits(edges: &[f64]) -> Vec<u64> {
        edges.iter().map(|edge| edge.to_bits()).collect()
    }

    /// Values of `numpy.histogram_bin_edges`, numpy 2.4.
    #[test]
    fn even_edges_are_those_of_numpy() {
        let edges = |element, bins, range| bits(&even_edges(element, bins, range).unwrap());
        let u32 = ElementType::U32;
        assert_eq!(
            edges(u32, 3, [0.0, 1.0]),
            bits(&[0.0, 0.333_333_333_333_333_3, 0.666_666_666_666_666_6, 1.0])
        );
        assert_eq!(edges(u32, 3, [0.1, 0.7]), bits(&[0.1, 0.3, 0.5, 0.7]));
        let f32 = [0.1f32, 0.3, 0.5, 0.7].map(f64::from);
        assert_eq!(edges(ElementType::F32, 3, [0.1, 0.7]), bits(&f32));
        let least = f64::from_bits(1);
        let refused = even_edges(u32, 3, [0.0, least]);
        assert!(matches!(refused, Err(Error::Unsupported { reason }) if reason.contains("too few numbers")));
        assert_eq!(edges(u32, 3, [0.0, 3.0 * least]), bits(&[0.0, least, 2.0 * least, 3.0 * least]));
    }

    #[test]
    fn invalid_ranges_and_edges_are_refused() {
        for element in TYPES {
            for range in [[1.0, 1.0], [1.0, 0.0], [f64::NAN, 1.0], [0.0, f64::INFINITY], [-1e308, 1e308]] {
                assert!(matches!(even_edges(element, 1, range), Err(Error::Unsupported { .. })), "{range:?}");
            }
            for bins in [0, HistogramConfig::MAX_BINS + 1] {
                assert!(matches!(even_edges(element, bins, [0.0, 1e9]), Err(Error::OutOfRange { .. })));
            }
            for edges in [&[][..], &[1.0], &vec![0.0; HistogramConfig::MAX_BINS as usize + 2]] {
                assert!(matches!(edge_words(element, edges), Err(Error::OutOfRange { .. })));
            }
            let index_of = |edges: &[f64]| match edge_words(element, edges) {
                Err(Error::InvalidEdge { index, .. }) => Some(index),
                _ => None,
            };
            assert_eq!(index_of(&[1.0, f64::NAN]), Some(1));
            assert_eq!(index_of(&[1.0, 2.0, 1.5]), Some(2));
            assert_eq!(index_of(&[1.0, 1.0, 1.0]), None);
        }
        assert_eq!(edge_words(ElementType::F64, &[0.0, 1.0]), Err(UNSUPPORTED_TYPE));
    }

    #[test]
    fn edges_are_rounded_to_the_type_without_a_change_of_counts() {
        let words = |element, edges: &[f64]| edge_words(element, edges).unwrap();
        let (u32, i32, f32) = (ElementType::U32, ElementType::I32, ElementType::F32);
        assert_eq!(words(u32, &[-1.5, 0.5, 2.0, 2.5]), [0, 1, 2, 2]);
        assert_eq!(words(i32, &[-1.5, 0.5, 2.0, 2.5]), [u32::MAX, 1, 2, 2]);
        assert_eq!(words(i32, &[-1e10, 1e10]), [i32::MIN as u32, i32::MAX as u32]);
        // No value is in range: the first edge is above the last.
        for edges in [[0.25, 0.75], [-3.0, -2.0], [5e9, 6e9]] {
            let words = words(u32, &edges);
            assert!(words.len() == 2 && words[0] > words[1], "{words:?}");
        }
        // Bins beyond the numbers of the type.
        assert_eq!(words(u32, &[7.0, 4_294_967_295.0, 4_294_967_295.5, 5e9]), [7, u32::MAX, u32::MAX]);
        let (up, down) = (0.1f32.to_bits(), 0.1f32.next_down().to_bits());
        assert!(f64::from(0.1f32) > 0.1);
        assert_eq!(words(f32, &[0.1, 0.1]), [up, down]);
        let infinite = [f32::NEG_INFINITY.to_bits(), f32::INFINITY.to_bits(), f32::MAX.to_bits()];
        assert_eq!(words(f32, &[f64::NEG_INFINITY, 1e300, 1e300]), infinite);
        assert_eq!(words(f32, &[-1e300, -1e300]), [f32::MIN.to_bits(), f32::NEG_INFINITY.to_bits()]);
    }
}
