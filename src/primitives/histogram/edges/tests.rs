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
    let f16 = [0.099_975_585_937_5, 0.300_048_828_125, 0.5, 0.700_195_312_5];
    assert_eq!(edges(ElementType::F16, 3, [0.1, 0.7]), bits(&f16));
    // numpy promotes ml_dtypes.bfloat16 and a number of Python to f64.
    assert_eq!(edges(ElementType::Bf16, 3, [0.1, 0.7]), bits(&[0.1, 0.3, 0.5, 0.7]));
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
    // Of 64 bits: integers whose f64 is the edge, of which 2^53 + 1 is rounded down to even.
    let (u64, i64) = (ElementType::U64, ElementType::I64);
    let wide = |element, edges: &[f64]| -> Vec<u64> {
        words(element, edges)
            .as_chunks()
            .0
            .iter()
            .map(|&[low, high]| u64::from(low) | u64::from(high) << 32)
            .collect()
    };
    let two53 = 1 << 53;
    assert_eq!(wide(u64, &[-1.0, two53 as f64, (two53 + 2) as f64]), [0, two53, two53 + 2]);
    assert_eq!(wide(u64, &[0.0, two53 as f64]), [0, two53 + 1]);
    assert_eq!(wide(u64, &[1e18, 1e19, 2e19, 3e19]), [10u64.pow(18) - 64, 10u64.pow(19) - 1024, u64::MAX]);
    assert_eq!(wide(i64, &[-2.5, f64::INFINITY]), [-2i64 as u64, i64::MAX as u64]);
    assert_eq!(wide(ElementType::F64, &[-0.5, 0.1]), [(-0.5f64).to_bits(), 0.1f64.to_bits()]);
}
