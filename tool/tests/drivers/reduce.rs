//! The parts of reductions, and their results and refusals.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{AddressRange, Capabilities, Device};
use subsweep::headless::Gpu;
use subsweep::reduce::{ReduceBuffers, ReduceByKeyAlgorithm, ReduceConfig, ReducePolicy, ReduceRuns};
use subsweep::scan::ScanOperator;
use subsweep::sort::TileShape;
use subsweep::{Count, ElementType, Error};
use subsweep_tool::harness::PlanConfig;

use super::cases::clean_trials;
use super::embedding::contract::{COUNT, Room, Subject};
use super::faults::work::{Opened, SMALL, SPLIT, WHOLE, cold, warm};
use super::passes;
use super::primitive::{Primitive, bits, outcome};
use super::refused::{Refused, assert_unsupported};

pub const PRIMITIVE: Primitive = Primitive {
    check: passes::reduce::check,
    default_plans,
    subjects,
    phases: &[
        cold("planning a reduction", |opened| {
            let config = ReduceConfig::sum(ElementType::U32).runs(ReduceRuns::Keys32).indirect_count();
            Ok(opened.gpu.plan(config).map(drop))
        }),
        warm("reducing", WHOLE, reducing),
        warm("reducing in several submissions", SPLIT, reducing),
        warm("reducing by key", WHOLE, reducing_by_key),
    ],
};

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "reduce");
    vec![
        trial("slices of any type are reduced", slices),
        trial("the first NaN, and the first of equals", first_of_equals),
        trial("mismatched ranges are refused", refusals),
        trial("counts of 0 have results", empty),
    ]
}

fn default_plans(capabilities: &Capabilities) -> Vec<PlanConfig> {
    let mut configs = Vec::new();
    for (element, operator) in [
        (ElementType::F32, ScanOperator::Add),
        (ElementType::I64, ScanOperator::Min),
        (ElementType::F64, ScanOperator::Add),
    ] {
        if operator.needs_float64(element) && !capabilities.enabled.shader_float64 {
            continue;
        }
        let config = ReduceConfig::new(operator, element);
        configs.extend([config, config.columns(3), config.indirect_count()]);
        configs.extend(ReduceRuns::ALL.map(|runs| config.runs(runs)));
        configs.extend([ReduceConfig::argmin, ReduceConfig::argminmax].map(|of| of(element)));
        configs.extend([config.along_rows(40), config.along_rows(1 << 16)]);
    }
    configs.into_iter().map(PlanConfig::from).collect()
}

fn subjects(device: &Device, room: Room) -> subsweep::Result<Vec<Subject>> {
    let [first, second, third, fourth] = [0, 1, 2, 3].map(|index| room.array(index));
    let sum = ReduceConfig::sum(ElementType::U32);
    let all = ReduceBuffers::new(first, second, room.scratch);
    let of_segments = all.segments(third);
    // The number of runs follows as many keys as there may be.
    let keys = AddressRange::new(second.address, second.size - 4 * u64::from(COUNT) / 2);
    let by_key = ReduceBuffers::new(first, keys, room.scratch).keys(
        third,
        AddressRange::new(fourth.address, fourth.size),
        AddressRange::new(keys.address + keys.size, 4),
    );
    let half = u64::from(COUNT) / 2;
    let of_key = |algorithm| {
        let config = sum.runs(ReduceRuns::Keys32);
        config.policy(ReducePolicy::tuned(algorithm, device.capabilities(), &config))
    };
    let [segments, chained] = ReduceByKeyAlgorithm::ALL.map(of_key);
    let mut subjects = Vec::new();
    for (name, config, buffers, count) in [
        ("a reduction", sum, all, COUNT.into()),
        ("an index", ReduceConfig::argmax(ElementType::F32).columns(2), all, half),
        ("both indices", ReduceConfig::argminmax(ElementType::F32).columns(2), all, half),
        (
            "both indices along rows",
            ReduceConfig::argminmax(ElementType::F32).along_rows(5000),
            all,
            COUNT.into(),
        ),
        ("a reduction along rows", sum.along_rows(40), all, COUNT.into()),
        ("a reduction along long rows", sum.along_rows(5000), all, COUNT.into()),
        ("a reduction of segments", sum.runs(ReduceRuns::Offsets), of_segments, COUNT.into()),
        ("a reduction of ranges", sum.runs(ReduceRuns::Ranges), all.ranges(third, fourth), COUNT.into()),
        ("a reduction by key", segments, by_key, half),
        ("a reduction by key in a single pass", chained, by_key, half),
    ] {
        let indirect = room.count_up_to(count as u32);
        let recordings = [(config, Count::Direct(count)), (config.indirect_count(), indirect)];
        subjects.extend(Subject::all(device, name, buffers, recordings)?);
    }
    Ok(subjects)
}

fn reducing(opened: &Opened) -> Result<subsweep::Result<()>, Failed> {
    let sum = SMALL.iter().fold(0, |sum: u32, word| sum.wrapping_add(*word));
    outcome(opened.gpu.reduce(ReduceConfig::sum(ElementType::U32), &SMALL), &[sum])
}

fn reducing_by_key(opened: &Opened) -> Result<subsweep::Result<()>, Failed> {
    let keys: Vec<_> = (0..SMALL.len() as u32).map(|row| row / 3).collect();
    let config = ReduceConfig::new(ScanOperator::Xor, ElementType::U32).runs(ReduceRuns::Keys32);
    let expected: Vec<_> = SMALL.chunks(3).map(|run| run.iter().fold(0, |all, word| all ^ word)).collect();
    let unique: Vec<_> = (0..expected.len() as u32).collect();
    outcome(opened.gpu.reduce_by_key(config, &keys, &SMALL), &(unique, expected))
}

fn slices(gpu: &Gpu) -> Result<(), Failed> {
    let sum = |element| ReduceConfig::sum(element);
    assert_eq!(gpu.reduce(sum(ElementType::U32), &[1u32, 2, u32::MAX])?, [2]);
    let table = [1.5f32, -2.0, 0.25, 4.0, 5.0, 6.0];
    assert_eq!(gpu.reduce(sum(ElementType::F32).columns(3), &table)?, [5.5, 3.0, 6.25]);
    let product = ReduceConfig::new(ScanOperator::Mul, ElementType::I64).columns(2);
    assert_eq!(gpu.reduce(product, &[3i64, -1, 5, 7])?, [15, -7]);
    // The sum of -0 is 0, as in numpy, of full tiles and of others.
    for count in [1, 5, 4096] {
        let zero = gpu.reduce(sum(ElementType::F32), &vec![-0.0f32; count])?;
        assert_eq!(bits(&zero), [0], "{count}");
    }
    let of_segments = sum(ElementType::U32).runs(ReduceRuns::Offsets);
    assert_eq!(gpu.reduce_segments(of_segments, &[1u32, 2, 3, 4], &[1, 1, 3])?, [0, 5, 4]);
    assert_eq!(gpu.reduce_segments(of_segments, &[1u32, 2], &[])?, [0u32; 0]);
    assert_eq!(gpu.reduce_segments(of_segments, &vec![1u32; 5000], &[])?, [0u32; 0]);
    for (offsets, index, earliest) in [(&[2, 0][..], 1, 2), (&[0, 3, 2], 2, 3), (&[0, 5], 1, 0)] {
        let begin = offsets[index].into();
        let refused = gpu.reduce_segments(of_segments, &[1u32, 2, 3, 4], offsets);
        let index = index as u64;
        let expected = Error::SegmentOutOfOrder { index, begin, earliest, latest: 4 };
        assert_eq!(refused, Err(expected), "{offsets:?}");
    }
    let ranges = sum(ElementType::U32).runs(ReduceRuns::Ranges);
    assert_eq!(gpu.reduce_segments(ranges, &[1u32, 2, 3, 4], &[2, 0, 1, 4, 3, 0])?, [7, 6, 0]);
    let odd = gpu.reduce_segments(ranges, &[1u32, 2, 3, 4], &[0, 2, 4]);
    assert!(matches!(odd, Err(Error::Unsupported { reason }) if reason.contains("as many ends")), "{odd:?}");
    // The bits of a segment do not depend on the rows after it.
    let values: Vec<f32> =
        passes::reduce::fractions_of_f32(7, 70_000).into_iter().map(f32::from_bits).collect();
    let first_of = |count: usize, end: u32| -> subsweep::Result<u32> {
        let sums = sum(ElementType::F32).runs(ReduceRuns::Offsets);
        Ok(gpu.reduce_segments(sums, &values[..count], &[0, end])?[0].to_bits())
    };
    for (end, counts) in [(31, [31, 32]), (64, [64, 65]), (1024, [1024, 70_000]), (65_536, [65_536, 65_537])]
    {
        let [few, more] = counts.map(|count| first_of(count, end));
        assert_eq!(few?, more?, "{end} rows of {counts:?}");
    }
    let by_key = ReduceConfig::new(ScanOperator::Max, ElementType::I32).runs(ReduceRuns::Keys64);
    let keys = [7u64 << 40, 7 << 40, 7, 7 << 40];
    let reduced = gpu.reduce_by_key(by_key, &keys, &[1i32, 3, -2, 4])?;
    assert_eq!(reduced, (vec![7 << 40, 7, 7 << 40], vec![3, -2, 4]));
    let mismatched = gpu.reduce(sum(ElementType::U32), &[1.0f32]);
    assert!(matches!(mismatched, Err(Error::ElementMismatch { .. })), "{mismatched:?}");
    let ragged = gpu.reduce(sum(ElementType::U32).columns(2), &[1u32, 2, 3]);
    assert_eq!(ragged, Err(Error::RowLengthMismatch { value_count: 3, columns: 2 }));
    let short = gpu.reduce_by_key(by_key, &keys[..2], &[1i32, 2, 3]);
    assert_eq!(short, Err(Error::ValueCountMismatch { key_count: 3, value_count: 2 }));
    let argmin = ReduceConfig::argmin(ElementType::U32);
    for refused in [
        gpu.reduce(argmin, &[1u32]).map(drop),
        gpu.reduce(by_key, &[1i32]).map(drop),
        gpu.reduce_to_index(sum(ElementType::U32), &[1u32]).map(drop),
        gpu.reduce_by_key(by_key, &[1u32], &[1i32]).map(drop),
        gpu.reduce_to_index(argmin.runs(ReduceRuns::Offsets), &[1u32]).map(drop),
        gpu.reduce(ReduceConfig::new(ScanOperator::And, ElementType::F32), &[1.0f32]).map(drop),
    ] {
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
    }
    Ok(())
}

fn first_of_equals(gpu: &Gpu) -> Result<(), Failed> {
    let [argmin, argmax, both] = [ReduceConfig::argmin, ReduceConfig::argmax, ReduceConfig::argminmax];
    let of = |config: ReduceConfig, values: &[f32]| gpu.reduce_to_index(config, values);
    let element = ElementType::F32;
    assert_eq!(of(argmin(element), &[1.0, 0.0, -0.0, 0.0])?, [1]);
    assert_eq!(of(argmax(element), &[-0.0, 0.0, -1.0])?, [0]);
    assert_eq!(of(both(element), &[-0.0, 0.0, -1.0])?, [2, 0]);
    let mut values = vec![5.0f32; 9000];
    assert_eq!(of(argmin(element), &values)?, [0]);
    for last in [8999, 4098, 4097, 300] {
        values[last] = f32::NEG_INFINITY;
        assert_eq!(of(argmin(element), &values)?, [last as u32]);
    }
    values[7000] = f32::NAN;
    values[6000] = -f32::NAN;
    assert_eq!(of(argmin(element), &values)?, [6000]);
    assert_eq!(of(argmax(element), &values)?, [6000]);
    assert_eq!(of(both(element), &values)?, [6000, 6000]);
    assert_eq!(of(both(element).along_rows(3000), &values)?, [300, 1097, 0, 0, 0, 0]);
    let rows = [3u64, 9, 1 << 40, 9, 3, 1 << 40];
    assert_eq!(gpu.reduce_to_index(argmax(ElementType::U64).columns(2), &rows)?, [1, 2]);
    assert_eq!(gpu.reduce_to_index(argmin(ElementType::U64).columns(2), &rows)?, [0, 0]);
    assert_eq!(gpu.reduce_to_index(both(ElementType::U64).columns(2), &rows)?, [0, 0, 1, 2]);
    // As great as the padding of a tile.
    assert_eq!(gpu.reduce_to_index(argmin(ElementType::U32), &[u32::MAX; 3])?, [0]);
    assert_eq!(gpu.reduce_to_index(both(ElementType::U32), &[0, u32::MAX, 0])?, [0, 1]);
    assert_eq!(gpu.reduce_to_index::<u32>(both(ElementType::U32), &[])?, [u32::MAX; 2]);
    Ok(())
}

fn empty(gpu: &Gpu) -> Result<(), Failed> {
    // The words of a packed result are in the scratch.
    let has_scratch = |element: &ElementType| element.is_packed() || *element == ElementType::F64;
    for element in ElementType::ALL.into_iter().filter(|element| !has_scratch(element)) {
        assert_eq!(gpu.plan(ReduceConfig::sum(element))?.scratch_requirements(0).size, 0);
    }
    let of = |operator, element| ReduceConfig::new(operator, element).columns(3);
    assert_eq!(gpu.reduce::<u32>(of(ScanOperator::Add, ElementType::U32), &[])?, [0; 3]);
    assert_eq!(gpu.reduce::<f32>(of(ScanOperator::Min, ElementType::F32), &[])?, [f32::INFINITY; 3]);
    let zero = gpu.reduce::<f32>(of(ScanOperator::Add, ElementType::F32), &[])?;
    assert_eq!(bits(&zero), [0; 3]);
    assert_eq!(
        gpu.reduce_to_index::<i64>(ReduceConfig::argmin(ElementType::I64).columns(2), &[])?,
        [u32::MAX; 2]
    );
    let sum = ReduceConfig::sum(ElementType::U32);
    assert_eq!(gpu.reduce_segments::<u32>(sum.runs(ReduceRuns::Offsets), &[], &[0, 0])?, [0, 0]);
    assert_eq!(gpu.reduce_by_key::<u32, u32>(sum.runs(ReduceRuns::Keys32), &[], &[])?, (vec![], vec![]));
    Ok(())
}

fn refusals(gpu: &Gpu) -> Result<(), Failed> {
    let refused = Refused::new(gpu)?;
    let at = |offset, size| refused.at(offset, size);
    let scratch = refused.scratch(2048, 1024);
    let reduce = |config, buffers, count: Count| refused.record(config, buffers, count);
    let sum = ReduceConfig::sum(ElementType::U32).columns(2);
    let ten = Count::Direct(10);
    let keys = ReduceConfig::sum(ElementType::U32).runs(ReduceRuns::Keys64);
    let on_keys =
        ReduceBuffers::new(at(0, 40), at(512, 40), scratch).keys(at(128, 80), at(640, 80), at(768, 4));
    let sizes = |segments, destination, unique_keys, run_count| {
        [
            ("segments", segments),
            ("segment_ends", 0),
            ("destination", destination),
            ("unique_keys", unique_keys),
            ("run_count", run_count),
        ]
    };
    let plain = ReduceBuffers::new(at(0, 80), at(512, 8), scratch);
    for (config, buffers, source_size, sizes) in
        [(keys, on_keys, 40, sizes(80, 40, 80, 4)), (sum, plain, 80, sizes(0, 8, 0, 0))]
    {
        let read = [("count", 0), ("functions_data", 0), ("source", source_size)];
        let scratch_size = gpu.plan(config)?.scratch_requirements(10).size;
        let all = [&read[..], &sizes, &[("scratch", scratch_size)]].concat();
        refused.expect_sizes(config, buffers, ten, &all);
    }
    assert_unsupported(reduce(sum, on_keys, ten), "");
    assert_unsupported(reduce(sum, plain.segments(at(128, 8)), ten), "");
    let (begins, ranges) = (at(128, 16), ReduceConfig::sum(ElementType::U32).runs(ReduceRuns::Ranges));
    let few = reduce(ranges, plain.ranges(begins, at(640, 12)), ten);
    assert_eq!(few, Err(Error::RangeTooSmall { what: "segment_ends", needed: 16, got: 12 }));
    assert_unsupported(reduce(ranges.runs(ReduceRuns::Offsets), plain.ranges(begins, begins), ten), "ranges");
    refused.expect_direct_only(sum, plain, refused.count(1024, 10));
    let many = Count::Direct(1 << 32);
    for config in [keys, ReduceConfig::argmin(ElementType::U32)] {
        let too_many = reduce(config, plain, many);
        assert!(matches!(too_many, Err(Error::TooManyElements { .. })), "{too_many:?}");
    }
    let columns = [0, 65].map(|columns| sum.columns(columns));
    refused.expect(columns, |error| matches!(error, Error::OutOfRange { .. }));
    let policy = ReducePolicy::choose(gpu.capabilities(), &sum).policy;
    let heads = |workgroup_size, items_per_invocation| {
        policy.with_heads(TileShape { workgroup_size, items_per_invocation })
    };
    let policies = [policy.with_packs(0), policy.with_packs(33), policy.with_subgroup_size(3)];
    let configs = policies.map(|policy| sum.policy(policy));
    refused.expect(configs, |error| matches!(error, Error::InvalidPolicy { .. }));
    let policies = [policy, heads(128, 0), heads(128, 33), heads(0, 8)];
    let configs = policies.map(|policy| keys.policy(policy));
    let is_of_heads =
        |error: &Error| matches!(error, Error::InvalidPolicy { .. }) && error.to_string().contains("heads");
    refused.expect(configs, is_of_heads);
    let config = ReduceConfig::sum(ElementType::F32).runs(ReduceRuns::Keys64);
    let rounded = ReducePolicy::tuned(ReduceByKeyAlgorithm::Chained, gpu.capabilities(), &config);
    let column = keys.policy(rounded);
    assert_eq!(refused.plan(column), Ok(()));
    refused.expect([config.policy(rounded), column.columns(2)], |error| {
        matches!(error, Error::InvalidPolicy { .. }) && error.to_string().contains("one column")
    });
    // No other reduction has these kernels.
    assert_eq!(refused.plan(sum.policy(heads(0, 8))), Ok(()));
    Ok(())
}
