//! Custom operators; none of them commutes.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::Error;
use subsweep::headless::{Gpu, ScanInputs};
use subsweep::reduce::{ReduceConfig, ReducePolicy, ReduceRuns};
use subsweep::scan::{CustomOperator, ScanConfig, ScanKind, ScanPolicy, SegmentsBy};

use super::cases::clean_trial;
use super::passes::rig::random;
use subsweep::kernels::fixture;

/// The operator of a fixture, on elements of `words` words.
macro_rules! custom {
    ($name:literal, $words:literal) => {{
        // SAFETY: the build has compiled the modules for Vulkan 1.2, from an include that follows the rules.
        static OPERATOR: CustomOperator = unsafe {
            CustomOperator::new(
                $name,
                $words,
                fixture(concat!($name, ".reduce")),
                fixture(concat!($name, ".downsweep")),
            )
            .with_segments(
                $name,
                fixture(concat!($name, ".reduce_segmented")),
                fixture(concat!($name, ".downsweep_segmented")),
            )
            .with_reduction(
                $name,
                fixture(concat!($name, ".reduction")),
                fixture(concat!($name, ".reduction_segments")),
            )
        };
        &OPERATOR
    }};
}

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = |name: &str, run: fn(&Gpu) -> Result<(), Failed>| {
        clean_trial(gpu, format!("custom scan: {name}"), run)
    };
    vec![
        trial("products of matrices", |gpu| {
            scans(gpu, custom!("matrix", 4), [1, 0, 0, 1], |_, words| words, multiply)
        }),
        trial("brackets in the bicyclic monoid", |gpu| {
            scans(gpu, custom!("bicyclic", 2), [0, 0], |_, [a, b]| [a % 3, b % 3], match_brackets)
        }),
        trial("affine maps of more than four words", |gpu| {
            scans(gpu, custom!("affine", 6), [1, 0, 0, 1, 0, 0], |_, words| words, compose)
        }),
        trial("segments of brackets, in either direction, from an initial value", |gpu| {
            segments(gpu, custom!("bicyclic", 2), |[a, b]| [a % 3, b % 3], match_brackets)
        }),
        trial("segments of affine maps", |gpu| segments(gpu, custom!("affine", 6), |words| words, compose)),
        trial("reductions of matrices", |gpu| {
            reductions(gpu, custom!("matrix", 4), [1, 0, 0, 1], |words| words, multiply)
        }),
        trial("reductions of brackets", |gpu| {
            reductions(gpu, custom!("bicyclic", 2), [0, 0], |[a, b]| [a % 3, b % 3], match_brackets)
        }),
        trial("reductions of affine maps", |gpu| {
            reductions(gpu, custom!("affine", 6), [1, 0, 0, 1, 0, 0], |words| words, compose)
        }),
        trial("modules of other kernels are refused", refusals),
    ]
}

fn multiply(a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
    let cell = |row: usize, column: usize| {
        a[2 * row].wrapping_mul(b[column]).wrapping_add(a[2 * row + 1].wrapping_mul(b[2 + column]))
    };
    [cell(0, 0), cell(0, 1), cell(1, 0), cell(1, 1)]
}

fn match_brackets([a, b]: [u32; 2], [c, d]: [u32; 2]) -> [u32; 2] {
    let matched = b.min(c);
    [a + c - matched, b + d - matched]
}

/// The composition: the first map, then the second.
fn compose(a: [u32; 6], b: [u32; 6]) -> [u32; 6] {
    let matrix = |map: [u32; 6]| [map[0], map[1], map[2], map[3]];
    let [x, y, z, w] = multiply(matrix(b), matrix(a));
    let translation = |row: usize| {
        let there = b[2 * row].wrapping_mul(a[4]).wrapping_add(b[2 * row + 1].wrapping_mul(a[5]));
        there.wrapping_add(b[4 + row])
    };
    [x, y, z, w, translation(0), translation(1)]
}

/// Compares inclusive and exclusive scans, by the default policy and over several levels of small tiles, with a loop.
fn scans<const N: usize>(
    gpu: &Gpu,
    operator: &'static CustomOperator,
    identity: [u32; N],
    element: fn(usize, [u32; N]) -> [u32; N],
    combine: fn([u32; N], [u32; N]) -> [u32; N],
) -> Result<(), Failed> {
    let small = ScanPolicy::tiled(gpu.capabilities().max_subgroup_size.max(32), 4, 4);
    for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
        let config = ScanConfig::custom(kind, operator);
        let default = ScanPolicy::choose(gpu.capabilities(), &config).policy;
        for policy in [default, small] {
            let tile = policy.tile_items() as usize;
            for count in [1, tile - 1, tile, tile + 1, 3 * tile + 7, small.tile_items().pow(2) as usize + 1] {
                let words = random(count, count * N);
                let elements = words.as_chunks::<N>().0.iter().enumerate();
                let elements: Vec<[u32; N]> = elements.map(|(i, words)| element(i, *words)).collect();
                let mut sum = identity;
                let mut expected = Vec::new();
                for &element in &elements {
                    let before = sum;
                    sum = combine(sum, element);
                    expected.push(if kind == ScanKind::Inclusive { sum } else { before });
                }
                let mut values = elements.into_flattened();
                gpu.scan(config.policy(policy), &mut values)?;
                let (got, _) = values.as_chunks::<N>();
                if let Some(i) = (0..count).find(|&i| got[i] != expected[i]) {
                    let (got, expected) = (got[i], expected[i]);
                    return Err(
                        format!("{kind:?}, {policy}: [{i}] of {count} is {got:?}, not {expected:?}").into()
                    );
                }
            }
        }
    }
    Ok(())
}

/// Compares inclusive and exclusive segmented scans, in either direction and from an initial value, with a loop.
fn segments<const N: usize>(
    gpu: &Gpu,
    operator: &'static CustomOperator,
    element: fn([u32; N]) -> [u32; N],
    combine: fn([u32; N], [u32; N]) -> [u32; N],
) -> Result<(), Failed> {
    let small = ScanPolicy::tiled(gpu.capabilities().max_subgroup_size.max(32), 4, 4);
    let tile = small.tile_items() as usize;
    for (kind, is_reverse) in [
        (ScanKind::Inclusive, false),
        (ScanKind::Exclusive, true),
        (ScanKind::Inclusive, true),
        (ScanKind::Exclusive, false),
    ] {
        let config = ScanConfig::custom(kind, operator).policy(small);
        let config = if is_reverse { config.reverse() } else { config };
        let rows = config.along_rows(13);
        let config = config.segments(SegmentsBy::Offsets);
        for count in [1, tile + 1, tile * 5 + 3, tile * 3 + 10, tile * tile + 1] {
            let words = random(count, (count + 1) * N);
            let mut elements: Vec<[u32; N]> =
                words.as_chunks::<N>().0.iter().map(|words| element(*words)).collect();
            let initial = elements.pop().expect("one more than is scanned");
            // Short segments, then one longer than a tile; or all of one size.
            let of_rows = count % 2 == 0;
            let is_start = |row: &usize| match of_rows {
                true => row.is_multiple_of(13),
                false => row % 13 == 7 && *row < count / 3,
            };
            let starts: Vec<_> = (0..count).filter(is_start).collect();
            let mut expected = vec![initial; count];
            let begins = std::iter::once(0).chain(starts.iter().copied());
            let ends = starts.iter().copied().chain([count]);
            for (begin, end) in begins.zip(ends) {
                let mut sum = initial;
                let order: Vec<_> =
                    if is_reverse { (begin..end).rev().collect() } else { (begin..end).collect() };
                for row in order {
                    let before = sum;
                    sum = combine(sum, elements[row]);
                    expected[row] = if kind == ScanKind::Inclusive { sum } else { before };
                }
            }
            let starts: Vec<_> = starts.iter().map(|&row| row as u32).collect();
            let mut values = elements.into_flattened();
            let segments = if of_rows { &[][..] } else { &starts };
            let inputs = ScanInputs { initial: Some(&initial), segments };
            gpu.scan_with(if of_rows { rows } else { config }, &mut values, inputs)?;
            let (got, _) = values.as_chunks::<N>();
            if let Some(i) = (0..count).find(|&i| got[i] != expected[i]) {
                let (got, expected) = (got[i], expected[i]);
                return Err(format!(
                    "{kind:?}, reverse: {is_reverse}: [{i}] of {count} is {got:?}, not {expected:?}"
                )
                .into());
            }
        }
    }
    Ok(())
}

/// Compares reductions of all rows, over several levels, and of segments with a loop.
fn reductions<const N: usize>(
    gpu: &Gpu,
    operator: &'static CustomOperator,
    identity: [u32; N],
    element: fn([u32; N]) -> [u32; N],
    combine: fn([u32; N], [u32; N]) -> [u32; N],
) -> Result<(), Failed> {
    let config = ReduceConfig::custom(operator);
    let default = ReducePolicy::choose(gpu.capabilities(), &config).policy;
    for count in [0, 1, 100, 129, 5000, 128 * 128 + 1] {
        let words = random(count, count * N);
        let elements: Vec<[u32; N]> = words.as_chunks::<N>().0.iter().map(|words| element(*words)).collect();
        let values = elements.concat();
        let expected = elements.iter().fold(identity, |total, &element| combine(total, element));
        for policy in [default, default.with_packs(1)] {
            let got = gpu.reduce(config.policy(policy), &values)?;
            assert_eq!(got, expected, "{count} elements, {policy}");
        }
        let offsets: Vec<_> =
            [0, 0, 3, 37, 1000, 1003, 16_000, u32::MAX].map(|begin| begin.min(count as u32)).into();
        let got = gpu.reduce_segments(config.runs(ReduceRuns::Offsets), &values, &offsets)?;
        for (index, got) in got.as_chunks::<N>().0.iter().enumerate() {
            let end = offsets.get(index + 1).map_or(count, |&end| end as usize);
            let rows = &elements[offsets[index] as usize..end];
            let expected = rows.iter().fold(identity, |total, &element| combine(total, element));
            assert_eq!(*got, expected, "segment {index} of {count} elements");
        }
        // Few lanes a row, a workgroup, and several; the last row is short.
        for length in [7, 300, 5000] {
            let got = gpu.reduce(config.along_rows(length as u32), &values)?;
            let expected: Vec<_> = elements
                .chunks(length)
                .flat_map(|row| row.iter().fold(identity, |total, &element| combine(total, element)))
                .collect();
            assert_eq!(got, expected, "rows of {length} of {count} elements");
        }
    }
    Ok(())
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let refuse = |operator: &'static CustomOperator| {
        let refused = gpu.scan(ScanConfig::custom(ScanKind::Inclusive, operator), &mut [0u32; 16]);
        assert!(matches!(refused, Err(Error::Unsupported { .. } | Error::OutOfRange { .. })), "{refused:?}");
    };
    // A wrong element size, modules of another kernel, and empty modules.
    refuse(custom!("matrix", 2));
    refuse(custom!("matrix", 17));
    let other = |reduce, downsweep| -> &'static CustomOperator {
        // SAFETY: a plan refuses them before they reach a device.
        Box::leak(Box::new(unsafe { CustomOperator::new("other", 4, reduce, downsweep) }))
    };
    refuse(other(fixture("matrix.downsweep"), fixture("matrix.reduce")));
    refuse(other(fixture("spilling"), fixture("spilling")));
    refuse(other(b"", b""));
    // SAFETY: a plan refuses it before it reaches a device.
    static PLAIN: CustomOperator =
        unsafe { CustomOperator::new("plain", 4, fixture("matrix.reduce"), fixture("matrix.downsweep")) };
    let of_segments = ScanConfig::custom(ScanKind::Inclusive, &PLAIN).segments(SegmentsBy::Flags);
    let inputs = ScanInputs { initial: None, segments: &[0; 4] };
    let refused = gpu.scan_with(of_segments, &mut [0u32; 16], inputs);
    assert!(
        matches!(refused, Err(Error::Unsupported { reason }) if reason.contains("with_segments")),
        "{refused:?}"
    );
    let refused = gpu.reduce(ReduceConfig::custom(&PLAIN), &[0u32; 16]);
    assert!(
        matches!(refused, Err(Error::Unsupported { reason }) if reason.contains("with_reduction")),
        "{refused:?}"
    );
    for operator in [custom!("matrix", 2), custom!("matrix", 17)] {
        let refused = gpu.reduce(ReduceConfig::custom(operator), &[0u32; 34]);
        assert!(matches!(refused, Err(Error::Unsupported { .. } | Error::OutOfRange { .. })), "{refused:?}");
    }
    let config = ScanConfig::custom(ScanKind::Inclusive, custom!("matrix", 4));
    let of_columns = gpu.scan(config.columns(2), &mut [0u32; 16]);
    assert!(matches!(of_columns, Err(Error::Unsupported { .. })), "{of_columns:?}");
    let of_doubles = gpu.scan(config, &mut [0f64; 16]);
    assert!(matches!(of_doubles, Err(Error::ElementMismatch { .. })), "{of_doubles:?}");
    let ragged = gpu.scan(config, &mut [0u32; 15]);
    assert_eq!(ragged, Err(Error::RowLengthMismatch { value_count: 15, columns: 4 }));
    Ok(())
}
