//! Functions of a caller; none of the operators commutes.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::Error;
use subsweep::device::BufferRange;
use subsweep::headless::{Gpu, ScanInputs, SelectInputs, TopKRows};
use subsweep::histogram::HistogramConfig;
use subsweep::reduce::{ReduceConfig, ReducePolicy, ReduceRuns};
use subsweep::scan::{ScanBuffers, ScanConfig, ScanKind, ScanPlan, ScanPolicy, SegmentsBy};
use subsweep::select::{SelectAlgorithm, SelectConfig, SelectPolicy};
use subsweep::sort::{SortAlgorithm, SortBuffers, SortConfig, SortPolicy, ValueSize};
use subsweep::top_k::TopKConfig;
use subsweep::{ElementType, FunctionModule, Functions};

use super::cases::clean_trial;
use super::passes::rig::random;
use subsweep::kernels::fixture;

/// The functions of a fixture, of elements of `words` words, in the modules of these kernels.
macro_rules! functions {
    ($name:literal, $words:literal, data: $data:literal, [$($kernel:literal),* $(,)?]
        $(, $with:ident($number:literal))*) => {{
        static MODULES: &[FunctionModule] = &[$(
            // SAFETY: the build has compiled the module for Vulkan 1.2, from an include that follows the rules.
            unsafe { FunctionModule::new($kernel, fixture(concat!($name, ".", $kernel))) }
        ),*];
        // SAFETY: as above.
        static FUNCTIONS: Functions = unsafe { Functions::new($name, $words, MODULES).with_data($data)$(.$with($number))* };
        &FUNCTIONS
    }};
}

pub mod comparisons;

/// An operator, in all kernels that combine.
macro_rules! operator {
    ($name:literal, $words:literal $(, $with:ident($number:literal))*) => {
        functions!(
            $name,
            $words,
            data: 0,
            [
                "scan/reduce:words32x1",
                "scan/downsweep:words32x1",
                "scan/reduce:words32x1_segmented",
                "scan/downsweep:words32x1_segmented",
                "reduce/reduce:words32",
                "reduce/segments:words32",
            ]
            $(, $with($number))*
        )
    };
}

fn trial(gpu: &Arc<Gpu>, name: &str, run: fn(&Gpu) -> Result<(), Failed>) -> Trial {
    clean_trial(gpu, format!("functions: {name}"), run)
}

/// Functions that combine elements.
pub fn operators(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = |name, run| trial(gpu, name, run);
    vec![
        trial("products of matrices", |gpu| {
            scans(gpu, operator!("matrix", 4), [1, 0, 0, 1], |_, words| words, multiply)
        }),
        trial("brackets in the bicyclic monoid", |gpu| {
            scans(gpu, operator!("bicyclic", 2), [0, 0], |_, [a, b]| [a % 3, b % 3], match_brackets)
        }),
        trial("affine maps of more than four words", |gpu| {
            scans(gpu, operator!("affine", 6), [1, 0, 0, 1, 0, 0], |_, words| words, compose)
        }),
        trial("segments of brackets, in either direction, from an initial value", |gpu| {
            segments(gpu, operator!("bicyclic", 2), |[a, b]| [a % 3, b % 3], match_brackets)
        }),
        trial("segments of affine maps", |gpu| segments(gpu, operator!("affine", 6), |words| words, compose)),
        trial("reductions of matrices", |gpu| {
            reductions(gpu, operator!("matrix", 4), [1, 0, 0, 1], |words| words, multiply)
        }),
        trial("reductions of brackets", |gpu| {
            reductions(gpu, operator!("bicyclic", 2), [0, 0], |[a, b]| [a % 3, b % 3], match_brackets)
        }),
        trial("reductions of affine maps", |gpu| {
            reductions(gpu, operator!("affine", 6), [1, 0, 0, 1, 0, 0], |words| words, compose)
        }),
    ]
}

/// Functions around those that combine.
pub fn stages(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = |name, run| trial(gpu, name, run);
    vec![
        trial("scans of elements that transform computes, to results of store", scans_of_lines),
        trial("reductions of elements that transform computes, to results of store", reductions_of_lines),
        trial("means and variances, of all numbers, of rows, segments and keys", moments),
    ]
}

/// Functions that read elements; and refusals.
pub fn readers(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = |name, run| trial(gpu, name, run);
    vec![
        trial("selections and partitions by a function of the caller", selections),
        trial("argsorts by keys that a function of the caller computes", computed_keys),
        trial("elements move by keys that a function of the caller computes", moved_elements),
        trial("histograms of values that a function of the caller computes", computed_histograms),
        trial("top-k by keys that a function of the caller computes", computed_top_k),
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

/// Fails at the first element that is not the expected one.
fn expect<const N: usize>(case: &str, got: &[u32], expected: &[[u32; N]]) -> Result<(), Failed> {
    let (got, count) = (got.as_chunks::<N>().0, expected.len());
    match (0..count).find(|&i| got.get(i) != Some(&expected[i])) {
        None => Ok(()),
        Some(i) => {
            let (got, expected) = (got.get(i), expected[i]);
            Err(format!("{case}: [{i}] of {count} is {got:?}, not {expected:?}").into())
        }
    }
}

/// Compares inclusive and exclusive scans, by the default policy and over several levels of small tiles, with a loop.
fn scans<const N: usize>(
    gpu: &Gpu,
    operator: &'static Functions,
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
                expect(&format!("{kind:?}, {policy}"), &values, &expected)?;
            }
        }
    }
    Ok(())
}

/// Compares inclusive and exclusive segmented scans, in either direction and from an initial value, with a loop.
fn segments<const N: usize>(
    gpu: &Gpu,
    operator: &'static Functions,
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
            expect(&format!("{kind:?}, reverse: {is_reverse}"), &values, &expected)?;
        }
    }
    Ok(())
}

/// Compares reductions of all rows, over several levels, and of segments with a loop.
fn reductions<const N: usize>(
    gpu: &Gpu,
    operator: &'static Functions,
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

/// Random lines of 20 characters, of which some are brackets, and the brackets of each, by characters.
fn lines(count: usize) -> (Vec<u32>, Vec<[u32; 2]>) {
    let words: Vec<u32> =
        random(count, 5 * count).iter().map(|word| (word & 0x0707_0707) + 0x2626_2626).collect();
    let line = |(index, line): (usize, &[u32])| {
        let mut unmatched = [0, 0];
        for character in line.iter().flat_map(|word| word.to_le_bytes()).filter(|_| index % 11 != 5) {
            match character {
                b'(' => unmatched[1] += 1,
                b')' if unmatched[1] > 0 => unmatched[1] -= 1,
                b')' => unmatched[0] += 1,
                _ => {}
            }
        }
        unmatched
    };
    let brackets = words.chunks(5).enumerate().map(line).collect();
    (words, brackets)
}

/// The brackets that are counted, and the number of the first line.
const LINE_DATA: [u32; 2] = [u32::from_le_bytes(*b"()  "), 70];

fn line_result([closing, opening]: [u32; 2], index: usize) -> [u32; 3] {
    [closing, opening, 70 + index as u32]
}

/// Scans in both directions, of one run, of segments and of rows, by the default policy and over several levels of small tiles.
fn scans_of_lines(gpu: &Gpu) -> Result<(), Failed> {
    let nesting = operator!("nesting", 2, with_source(5), with_result(3), with_data(2));
    let small = ScanPolicy::tiled(gpu.capabilities().max_subgroup_size.max(32), 4, 4);
    let tile = small.tile_items() as usize;
    for (count, segments) in [
        (0, None),
        (1, None),
        (tile, None),
        (tile * tile + 3, None),
        (3 * tile + 7, Some(SegmentsBy::Flags)),
        (3 * tile + 7, Some(SegmentsBy::FixedSize(13))),
        (7 * tile + 7, Some(SegmentsBy::FixedSize(3 * tile as u32 + 1))),
    ] {
        let (words, brackets) = lines(count);
        let starts = random(count, count);
        let begins: Vec<bool> = (0..count)
            .map(|row| match segments {
                None => row == 0,
                Some(SegmentsBy::FixedSize(length)) => row.is_multiple_of(length as usize),
                Some(_) => row == 0 || starts[row].is_multiple_of(50),
            })
            .collect();
        let flags: Vec<u32> = begins.iter().map(|&begins| begins.into()).collect();
        for (kind, is_reverse) in [
            (ScanKind::Inclusive, false),
            (ScanKind::Exclusive, false),
            (ScanKind::Inclusive, true),
            (ScanKind::Exclusive, true),
        ] {
            let mut expected = vec![[0; 3]; count];
            let mut sum = [3, 4];
            for at in 0..count {
                let row = if is_reverse { count - 1 - at } else { at };
                let is_first = if is_reverse { at == 0 || begins[row + 1] } else { begins[row] };
                let before = if is_first { [3, 4] } else { sum };
                sum = match_brackets(before, brackets[row]);
                expected[row] = line_result(if kind == ScanKind::Inclusive { sum } else { before }, row);
            }
            let config = ScanConfig::custom(kind, nesting);
            let config = if is_reverse { config.reverse() } else { config };
            let config = segments.map_or(config, |by| config.segments(by));
            for policy in [None, Some(small)] {
                let config = policy.map_or(config, |policy| config.policy(policy));
                let is_flagged = segments == Some(SegmentsBy::Flags);
                let segments = if is_flagged { &flags[..] } else { &[] };
                let inputs = ScanInputs { initial: Some(&[3, 4]), segments };
                // SAFETY: the two words that the functions read.
                let got =
                    unsafe { gpu.scan_computed(config, &words, inputs, bytemuck::cast_slice(&LINE_DATA)) }?;
                expect(&format!("{config:?}"), &got, &expected)?;
            }
        }
    }
    let config = ScanConfig::custom(ScanKind::Inclusive, nesting);
    let refused = gpu.scan(config, &mut [0u32; 10]);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
    // SAFETY: a call without data is refused.
    let refused = unsafe { gpu.scan_computed(config, &[0u32; 10], ScanInputs::default(), &[]) };
    assert!(matches!(refused, Err(Error::RangeTooSmall { what: "functions_data", .. })), "{refused:?}");
    // SAFETY: as above.
    let refused = unsafe { gpu.scan_computed(config, &[0u32; 11], ScanInputs::default(), &[0; 8]) };
    assert!(matches!(refused, Err(Error::PartialElement { .. })), "{refused:?}");
    let memory = gpu.allocate_with(&[0u32; 40])?;
    let buffers =
        ScanBuffers::in_place(memory.addresses(), BufferRange::NONE).functions_data(memory.addresses());
    let refused = ScanPlan::new(gpu.device(), config)?.commands(&buffers, 2);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
    Ok(())
}

/// Reductions of all lines over several levels, of segments, and of rows of lines.
fn reductions_of_lines(gpu: &Gpu) -> Result<(), Failed> {
    let nesting = operator!("nesting", 2, with_source(5), with_result(3), with_data(2));
    let config = ReduceConfig::custom(nesting);
    let default = ReducePolicy::choose(gpu.capabilities(), &config).policy;
    for count in [0, 1, 129, 5000, 128 * 128 + 1] {
        let (words, brackets) = lines(count);
        let reduced = |rows: &[[u32; 2]], index| {
            line_result(rows.iter().fold([0, 0], |total, &line| match_brackets(total, line)), index)
        };
        let check = |config, offsets: &[u32], expected: Vec<[u32; 3]>| {
            // SAFETY: the two words that the functions read.
            let got =
                unsafe { gpu.reduce_computed(config, &words, offsets, bytemuck::cast_slice(&LINE_DATA)) }?;
            assert_eq!(got, expected.concat(), "{config:?} of {count}");
            Ok::<_, Failed>(())
        };
        for policy in [default, default.with_packs(1)] {
            check(config.policy(policy), &[], vec![reduced(&brackets, 0)])?;
        }
        let offsets: Vec<_> =
            [0, 0, 3, 37, 1000, 1003, 4_000, u32::MAX].map(|begin| begin.min(count as u32)).into();
        let end = |index: usize| offsets.get(index + 1).map_or(count, |&end| end as usize);
        let segment = |index: usize| reduced(&brackets[offsets[index] as usize..end(index)], index);
        check(config.runs(ReduceRuns::Offsets), &offsets, (0..offsets.len()).map(segment).collect())?;
        for length in [7, 300, 5000] {
            let rows = brackets.chunks(length).enumerate().map(|(index, row)| reduced(row, index));
            check(config.along_rows(length as u32), &[], rows.collect())?;
        }
    }
    // SAFETY: refused before any word is read.
    let refused = unsafe { gpu.reduce_computed(config, &[0u32; 10], &[], &[]) };
    assert!(matches!(refused, Err(Error::RangeTooSmall { what: "functions_data", .. })), "{refused:?}");
    Ok(())
}

/// Compares with two passes in f64.
fn moments(gpu: &Gpu) -> Result<(), Failed> {
    let config = ReduceConfig::custom(operator!("moments", 3, with_source(1), with_result(2)));
    let numbers: Vec<f32> =
        random(1, 20_011).iter().map(|word| (word % 10_000) as f32 / 16.0 - 100.0).collect();
    let check = |got: &[f32], numbers: &[f32]| {
        let mean = numbers.iter().map(|&number| f64::from(number)).sum::<f64>() / numbers.len() as f64;
        let squares = numbers.iter().map(|&number| (f64::from(number) - mean).powi(2));
        let variance = squares.sum::<f64>() / numbers.len() as f64;
        // Some 20 roundings of numbers to 525.
        let is_near = |got: f32, of: f64, scale: f64| (f64::from(got) - of).abs() <= 2e-6 * scale;
        assert!(
            is_near(got[0], mean, 525.0) && is_near(got[1], variance, 525.0 * 525.0),
            "{got:?} are not {mean} and {variance}"
        );
    };
    check(&gpu.reduce(config, &numbers)?, &numbers);
    let keys: Vec<u32> = (0..numbers.len() as u32).map(|index| index / 700).collect();
    let rows = gpu.reduce(config.along_rows(700), &numbers)?;
    let (unique, by_key) = gpu.reduce_by_key(config.runs(ReduceRuns::Keys32), &keys, &numbers)?;
    let offsets: Vec<u32> = unique.iter().map(|key| key * 700).collect();
    let segments = gpu.reduce_segments(config.runs(ReduceRuns::Offsets), &numbers, &offsets)?;
    for (index, row) in numbers.chunks(700).enumerate() {
        for got in [&rows, &by_key, &segments] {
            check(&got[2 * index..][..2], row);
        }
    }
    assert_eq!(gpu.reduce(config, &[0f32; 0])?, [0.0, 0.0]);
    Ok(())
}

fn select_kernels() -> [&'static Functions; 2] {
    let above =
        functions!("above", 3, data: 2, ["select/count:key1", "select/compact:key1", "select/chained:key1"]);
    let even =
        functions!("even", 1, data: 0, ["select/count:key1", "select/compact:key1", "select/chained:key1"]);
    [above, even]
}

/// Compares selections and partitions, with indices and values, by each algorithm, with a loop.
fn selections(gpu: &Gpu) -> Result<(), Failed> {
    let [above, even] = select_kernels();
    let plane = [0.5f32, -1.0, 0.25, 3.0];
    let coefficients = gpu.allocate_with(&plane.map(f32::to_bits))?;
    let address = coefficients.addresses().address;
    let data = address.to_ne_bytes();
    let is_above = |index: usize, point: &[f32; 3]| {
        let products: Vec<_> = point.iter().zip(plane).map(|(a, b)| a * b).collect();
        (products[0] + products[1]) + products[2] > plane[3] || index.is_multiple_of(11)
    };
    for algorithm in [SelectAlgorithm::Chained, SelectAlgorithm::ReduceThenScan] {
        for count in [0, 1, 5_000, 70_001] {
            // Small whole numbers, so that no driver's rounding matters.
            let numbers: Vec<f32> =
                random(count, 3 * count).iter().map(|word| (word % 64) as f32 - 32.0).collect();
            let points = numbers.as_chunks::<3>().0;
            let of = |config: SelectConfig| {
                config.policy(SelectPolicy::tuned(algorithm, gpu.capabilities(), &config))
            };
            let inputs = SelectInputs::of_bytes(bytemuck::cast_slice(&numbers));
            let refused = gpu.select(SelectConfig::custom(above), &inputs);
            assert!(
                matches!(refused, Err(Error::RangeTooSmall { what: "functions_data", .. })),
                "{refused:?}"
            );
            // SAFETY: the address of four words that live.
            let inputs = unsafe { inputs.functions_data(&data) };
            let got = gpu.select(of(SelectConfig::custom(above).indices()), &inputs)?;
            let kept = |wanted| (0..count).filter(move |&i| is_above(i, &points[i]) == wanted);
            let indices: Vec<u32> = kept(true).map(|i| i as u32).collect();
            let expected: Vec<f32> = kept(true).flat_map(|i| points[i]).collect();
            assert_eq!((got.elements::<f32>()?, got.indices), (expected, indices), "{count}, {algorithm:?}");

            let words = random(count + 1, count);
            let values: Vec<u32> = (0..count as u32).collect();
            let inputs = SelectInputs::new(&words).values(&values);
            let config = SelectConfig::custom(even).values(1);
            let got = gpu.select(of(config), &inputs)?;
            let pairs = || words.iter().zip(&values);
            let (evens, their_values): (Vec<u32>, Vec<u32>) =
                pairs().filter(|(word, _)| **word % 2 == 0).unzip();
            assert_eq!((got.elements::<u32>()?, got.values::<u32>()?), (evens, their_values), "{count}");
            if algorithm == SelectAlgorithm::ReduceThenScan {
                let got = gpu.select(of(config.partition()), &inputs)?;
                let mut parted = words.clone();
                parted.sort_by_key(|word| word % 2);
                assert_eq!(got.elements::<u32>()?, parted, "{count}");
            }
        }
    }
    Ok(())
}

fn distances() -> &'static Functions {
    functions!(
        "distance",
        5,
        data: 3,
        [
            "sort/digit_histogram:key1_bins",
            "sort/onesweep:key1_value1",
            "sort/single_workgroup:key1_value1",
            "sort/digit_histogram:key2_bins",
            "sort/onesweep:key2_value1",
            "sort/single_workgroup:key2_value1",
            "top_k/rows:key1",
            "top_k/select:key1",
            "top_k/orders:key1",
            "top_k/take:key1",
            "top_k/rows:key2",
            "top_k/select:key2",
            "top_k/orders:key2",
            "top_k/take:key2",
            "histogram/count",
            "histogram/count:wide",
        ]
    )
}

const AXIS: [u32; 3] = [3, 0x1001, 0x10_0000];

/// The keys of `distance.glsl`, of 32 or 64 bits.
fn distance_keys(words: &[u32], is_wide: bool) -> Vec<u64> {
    let key = |(index, point): (usize, &[u32])| {
        let distance = (0..3).fold(0u32, |sum, w| sum.wrapping_add(point[w].wrapping_mul(AXIS[w])));
        match is_wide {
            true => u64::from(distance) << 32 | u64::from(point[4].wrapping_add(index as u32)),
            false => u64::from(distance),
        }
    };
    words.chunks(5).enumerate().map(key).collect()
}

/// Compares histograms of computed values with a loop: of several tiles, with weights, and by atomics in device memory.
fn computed_histograms(gpu: &Gpu) -> Result<(), Failed> {
    let axis = bytemuck::cast_slice(&AXIS);
    for element in [ElementType::U32, ElementType::U64] {
        let is_wide = element == ElementType::U64;
        let max = if is_wide { 2f64.powi(63) } else { 2f64.powi(31) };
        for (count, bins) in [(0, 4), (1, 4), (30_001, 37), (5_003, 60_000)] {
            let words = random(count, 5 * count);
            let weights = random(count + 7, count);
            let edges: Vec<f64> =
                (0..=bins).map(|edge| (f64::from(edge) / f64::from(bins) * max).ceil()).collect();
            let whole: Vec<u64> = edges.iter().map(|&edge| edge as u64).collect();
            let mut expected = [vec![0u32; bins as usize], vec![0u32; bins as usize]];
            for (key, weight) in distance_keys(&words, is_wide).into_iter().zip(&weights) {
                let after = whole.partition_point(|&edge| edge <= key);
                if after > 0 && key <= whole[bins as usize] {
                    let bin = (after - 1).min(bins as usize - 1);
                    expected[0][bin] += 1;
                    expected[1][bin] = expected[1][bin].wrapping_add(*weight);
                }
            }
            for is_weighted in [false, true] {
                for config in [HistogramConfig::even(element, bins), HistogramConfig::by_edges(element, bins)]
                {
                    let config = config.computed(distances());
                    let (config, weights) =
                        if is_weighted { (config.weighted(), &weights[..]) } else { (config, &[][..]) };
                    // SAFETY: the three words that the function reads.
                    let got = unsafe { gpu.histogram_computed(config, &words, weights, &edges, axis) }?;
                    assert!(got == expected[usize::from(is_weighted)], "{config:?} of {count}");
                }
            }
        }
    }
    let config = HistogramConfig::even(ElementType::U32, 4).computed(distances());
    // SAFETY: calls that are refused.
    let refuse = |config: HistogramConfig| unsafe {
        gpu.histogram_computed(config, &[0u32; 10], &[], &[0.0, 1.0, 2.0, 3.0, 4.0], &[]).unwrap_err()
    };
    assert!(matches!(refuse(config), Error::RangeTooSmall { what: "functions_data", .. }));
    assert!(matches!(refuse(config.columns(2)), Error::Unsupported { .. }));
    let of_bytes = HistogramConfig::even(ElementType::U8, 4).computed(distances());
    assert!(matches!(refuse(of_bytes), Error::Unsupported { .. }));
    assert!(matches!(refuse(HistogramConfig::even(ElementType::U32, 4)), Error::Unsupported { .. }));
    Ok(())
}

/// Compares selections of computed keys with a sort of each row: in subgroups, of one tile, of several levels of tiles, of rows of unequal
/// lengths, and by a sort of all keys.
fn computed_top_k(gpu: &Gpu) -> Result<(), Failed> {
    let axis = bytemuck::cast_slice(&AXIS);
    for element in [ElementType::U32, ElementType::U64] {
        let is_wide = element == ElementType::U64;
        for (rows, columns, k) in [(5, 9, 6), (7, 300, 20), (2, 30_001, 100), (2, 9_000, 5_000)] {
            let words = random(rows, 5 * rows * columns);
            let keys = distance_keys(&words, is_wide);
            for (is_smallest, is_sorted) in [(false, true), (true, true), (true, false)] {
                let config = match is_smallest {
                    true => TopKConfig::smallest(element, columns as u32, k as u32),
                    false => TopKConfig::largest(element, columns as u32, k as u32),
                };
                let config = config.computed(distances());
                let config = if is_sorted { config } else { config.unsorted() };
                let selected = |row: &[u64]| {
                    let mut best: Vec<usize> = (0..row.len()).collect();
                    match is_smallest {
                        true => best.sort_by_key(|&column| row[column]),
                        false => best.sort_by_key(|&column| std::cmp::Reverse(row[column])),
                    }
                    best.truncate(k);
                    if !is_sorted {
                        best.sort_unstable();
                    }
                    best.into_iter().map(|column| (row[column], column as u32)).collect::<Vec<_>>()
                };
                let run = |config: TopKConfig, begins: TopKRows<'_>| -> Result<Vec<(u64, u32)>, Error> {
                    // SAFETY: the three words that the function reads.
                    let of_words =
                        |config| unsafe { gpu.top_k_computed::<u32, u32>(config, &words, begins, axis) };
                    // SAFETY: as above.
                    let of_pairs =
                        |config| unsafe { gpu.top_k_computed::<u64, u32>(config, &words, begins, axis) };
                    let (keys, columns) = match is_wide {
                        true => of_pairs(config)?,
                        false => of_words(config)
                            .map(|(keys, columns)| (keys.into_iter().map(u64::from).collect(), columns))?,
                    };
                    Ok(keys.into_iter().zip(columns).collect())
                };
                let expected: Vec<_> = keys.chunks(columns).flat_map(selected).collect();
                let got = run(config, TopKRows::default())?;
                assert!(got == expected, "{config:?} of {rows} rows");
                // Short rows, an empty one, and longer ones; by tiles and by a sort.
                let segments: Vec<u32> = match (rows, k) {
                    (7, _) => vec![0, 5, 5, 30, 330, 630, 900, 1200, 1500, 1800],
                    (_, 5_000) => vec![4000, 4000, 4009, 9100, 9101],
                    _ => vec![],
                };
                if !segments.is_empty() {
                    let ends = segments.iter().skip(1).map(|&end| end as usize).chain([keys.len()]);
                    let of_row = |(&begin, end): (&u32, usize)| selected(&keys[begin as usize..end]);
                    let expected: Vec<_> = segments.iter().zip(ends).flat_map(of_row).collect();
                    let rows = TopKRows { segments: &segments, ks: &[] };
                    assert!(run(config.segments(), rows)? == expected, "{config:?} of segments");
                }
            }
        }
    }
    let config = TopKConfig::largest(ElementType::U32, 2, 1).computed(distances());
    // SAFETY: a call that is refused.
    let refused = unsafe { gpu.top_k_computed::<u32, u32>(config, &[0; 10], TopKRows::default(), &[]) };
    assert!(matches!(refused, Err(Error::RangeTooSmall { what: "functions_data", .. })), "{refused:?}");
    Ok(())
}

/// Compares elements that are sorted by keys computed from them, in one workgroup and by passes, with a sort of the host.
fn moved_elements(gpu: &Gpu) -> Result<(), Failed> {
    let config = SortConfig::pairs(ElementType::U32, ValueSize::of::<[u32; 5]>()).computed(distances());
    let plan = gpu.plan(config.out_of_place().discards_keys())?;
    for count in [300, 70_001] {
        let words = random(count, 5 * count);
        let mut expected: Vec<_> = words.chunks_exact(5).collect();
        expected.sort_by_key(|point| {
            (0..3).fold(0u32, |sum, w| sum.wrapping_add(point[w].wrapping_mul(AXIS[w])))
        });
        let (points, data) = (gpu.allocate_with(&words)?, gpu.allocate_with(&AXIS)?);
        let (keys, sorted) = (gpu.allocate(4 * count as u64)?, gpu.allocate(20 * count as u64)?);
        let scratch = gpu.allocate(plan.scratch_requirements(count as u64).size)?;
        // Elements are keys and values: both are only read.
        let buffers = SortBuffers::new(points.addresses(), scratch.range())
            .values(points.addresses())
            .output(keys.addresses(), sorted.addresses())
            .functions_data(data.addresses());
        // SAFETY: the memory lives until `submit` has waited, and data are what the function reads.
        unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, count as u64)) }?;
        assert!(gpu.read(&sorted, 5 * count)? == expected.concat(), "{count}");
    }
    Ok(())
}

/// Compares argsorts by computed keys, in one workgroup and by passes whose workgroups wait, stride and compute the keys of
/// stalled tiles again, with a sort of the host.
fn computed_keys(gpu: &Gpu) -> Result<(), Failed> {
    for (element, bits, is_descending) in [
        (ElementType::U32, 0..32, false),
        (ElementType::I32, 0..32, true),
        (ElementType::U32, 8..16, false),
        (ElementType::U64, 0..64, true),
    ] {
        for count in [0, 1, 300, 70_001] {
            let words = random(count, 5 * count);
            let keys = distance_keys(&words, element == ElementType::U64);
            let key = |index: usize| match element {
                ElementType::U64 => keys[index],
                ElementType::I32 => keys[index] ^ 1 << 31,
                _ => keys[index] >> bits.start & ((1 << bits.len()) - 1),
            };
            let config = SortConfig::argsort(element).bits(bits.clone()).computed(distances());
            let config = if is_descending { config.descending() } else { config };
            let mut expected: Vec<u32> = (0..count as u32).collect();
            match is_descending {
                false => expected.sort_by_key(|&index| key(index as usize)),
                true => expected.sort_by_key(|&index| std::cmp::Reverse(key(index as usize))),
            }
            let mut waiting = SortPolicy::tuned(SortAlgorithm::Onesweep, gpu.capabilities(), &config);
            waiting.few = None;
            waiting.look_back.spin_limit = 1;
            let mut striding = waiting;
            striding.max_workgroups = Some(3);
            let chosen = SortPolicy::choose(gpu.capabilities(), &config).policy;
            for policy in [chosen, waiting, striding] {
                let axis = bytemuck::cast_slice(&AXIS);
                // SAFETY: the three words that the function reads.
                let got = unsafe { gpu.argsort_computed(config.policy(policy), &words, axis) }?;
                assert!(got == expected, "{count} of {element}, descending: {is_descending}, {policy}");
            }
        }
    }
    Ok(())
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let refuse = |operator: &'static Functions| {
        let refused = gpu.scan(ScanConfig::custom(ScanKind::Inclusive, operator), &mut [0u32; 16]);
        assert!(matches!(refused, Err(Error::Functions { .. } | Error::OutOfRange { .. })), "{refused:?}");
    };
    // A wrong element size, modules of another kernel, and empty modules.
    refuse(operator!("matrix", 2));
    refuse(operator!("matrix", 17));
    let other = |reduce, downsweep| -> &'static Functions {
        // SAFETY: a plan refuses them before they reach a device.
        unsafe {
            let modules = vec![
                FunctionModule::new("scan/reduce:words32x1", reduce),
                FunctionModule::new("scan/downsweep:words32x1", downsweep),
            ];
            Box::leak(Box::new(Functions::new("other", 4, modules.leak())))
        }
    };
    refuse(other(fixture("matrix.scan/downsweep:words32x1"), fixture("matrix.scan/reduce:words32x1")));
    refuse(other(fixture("spilling"), fixture("spilling")));
    refuse(other(b"", b""));
    let plain = functions!("matrix", 4, data: 0, ["scan/reduce:words32x1", "scan/downsweep:words32x1"]);
    let lacks = |refused: subsweep::Result<()>, name: &str| {
        let is_named = matches!(refused, Err(Error::Functions { kernel, .. }) if kernel.starts_with(name));
        assert!(is_named, "{refused:?} does not name {name}");
    };
    let of_segments = ScanConfig::custom(ScanKind::Inclusive, plain).segments(SegmentsBy::Flags);
    let inputs = ScanInputs { initial: None, segments: &[0; 4] };
    let refused = gpu.scan_with(of_segments, &mut [0u32; 16], inputs);
    lacks(refused, "scan/reduce:words32x1_segmented");
    lacks(gpu.reduce(ReduceConfig::custom(plain), &[0u32; 16]).map(|_| ()), "reduce/reduce:words32");
    lacks(gpu.select(SelectConfig::custom(plain), &SelectInputs::new(&[0u32; 16])).map(|_| ()), "select/");
    lacks(
        // SAFETY: a plan refuses it.
        unsafe {
            gpu.argsort_computed(SortConfig::argsort(ElementType::U32).computed(plain), &[0u32; 16], &[])
        }
        .map(|_| ()),
        "sort/single_workgroup:key1_value1",
    );
    let carried = SortConfig::keys_and_indices(ElementType::U32).computed(distances());
    let refused = gpu.prepare_sort(carried, &mut [], &mut []).map(|_| ());
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
    for operator in [operator!("matrix", 2), operator!("matrix", 17)] {
        let refused = gpu.reduce(ReduceConfig::custom(operator), &[0u32; 34]);
        assert!(matches!(refused, Err(Error::Functions { .. } | Error::OutOfRange { .. })), "{refused:?}");
    }
    let config = ScanConfig::custom(ScanKind::Inclusive, operator!("matrix", 4));
    let of_columns = gpu.scan(config.columns(2), &mut [0u32; 16]);
    assert!(matches!(of_columns, Err(Error::Unsupported { .. })), "{of_columns:?}");
    let of_doubles = gpu.scan(config, &mut [0f64; 16]);
    assert!(matches!(of_doubles, Err(Error::ElementMismatch { .. })), "{of_doubles:?}");
    let ragged = gpu.scan(config, &mut [0u32; 15]);
    assert_eq!(ragged, Err(Error::PartialElement { size: 60, element_size: 16 }));
    Ok(())
}
