//! GPU-resident counts, from 0 to more than the maximum for which the recording is sized.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::scan::{ScanAlgorithm, ScanBuffers, ScanConfig, ScanPlan, ScanPolicy};
use subsweep::sort::{
    SegmentedSortBuffers, SegmentedSortConfig, SegmentedSortPlan, SortBuffers, SortConfig, ValueSize,
};
use subsweep::{Count, ElementType};

use super::cases::clean_trials;
use super::passes::rig::{Alignment, Memory, POISON, compare, random};
use super::primitive::run;
use super::refused::Refused;
use super::segmented::small_policy;

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "counts");
    vec![
        trial("a chained scan takes any count on the device", chained),
        trial("a segmented sort takes either count on the device", segmented_sort),
        trial("a segmented sort refuses undeclared, misaligned and overlapping counts", segmented_refusals),
    ]
}

/// Scratch of undefined contents, filled with poison.
fn poisoned(gpu: &Gpu, size: u64) -> Result<GpuBuffer, Failed> {
    let buffer = gpu.allocate(size)?;
    gpu.upload(&buffer, 0, &vec![POISON; size as usize / 4])?;
    Ok(buffer)
}

fn on_device(memory: &Memory<'_>, max: u32) -> Count {
    Count::Indirect { address: memory.range().address, max }
}

fn chained(gpu: &Gpu) -> Result<(), Failed> {
    let small = ScanPolicy::tiled(gpu.capabilities().max_subgroup_size.max(32), 4, 4);
    let small = small.with_algorithm(ScanAlgorithm::Chained);
    let tile = small.tile_items();
    let max = 70 * tile + 5;
    let input = random(4, max as usize);
    for (policy, is_reverse) in [(small, false), (small, true), (small.with_fixed_tree(), false)] {
        let config = ScanConfig::exclusive(ElementType::U32).out_of_place().indirect_count().policy(policy);
        let plan = ScanPlan::new(gpu.device(), if is_reverse { config.reverse() } else { config })?;
        let source = Memory::with_words(gpu, &input, Alignment::Quads)?;
        let scratch = poisoned(gpu, plan.scratch_requirements(max.into()).size)?;
        for stored in [0, 1, tile, tile + 1, 40 * tile + 7, max - 1, max, max + 1, u32::MAX] {
            let count = stored.min(max) as usize;
            let mut expected = vec![POISON; max as usize];
            let mut sum = 0u32;
            for i in 0..count {
                let index = if is_reverse { count - 1 - i } else { i };
                expected[index] = sum;
                sum = sum.wrapping_add(input[index]);
            }
            let count_memory = Memory::with_words(gpu, &[stored], Alignment::Words)?;
            let counts = [on_device(&count_memory, max), Count::Direct(count as u64)];
            for count in counts {
                let destination = Memory::poisoned(gpu, input.len(), Alignment::Quads)?;
                let buffers = ScanBuffers::new(source.range(), destination.range(), scratch.range());
                run(gpu, &plan, &buffers, count)?;
                let case = format!("{count:?} of value {stored} of {max}, {policy}, reverse: {is_reverse}");
                compare(&case, "destination", &destination, &expected)?;
            }
        }
    }
    Ok(())
}

fn segmented_sort(gpu: &Gpu) -> Result<(), Failed> {
    let policy = small_policy(gpu);
    let [.., large] = policy.max_extents();
    let max = 9 * large;
    let config = SegmentedSortConfig::new(SortConfig::pairs(ElementType::U32, ValueSize::B4));
    let plan = SegmentedSortPlan::new(gpu.device(), config.indirect_count().policy(policy))?;
    let keys = random(6, max as usize);
    let values: Vec<u32> = (0..max).collect();
    // Segments of every size class; the last one is long.
    let begins: Vec<u32> = vec![3, 5, 9, 9, 40, 200, large + 200, large + 300, 4 * large, 4 * large];
    let segment_max = begins.len() as u32;
    let segments = Memory::with_words(gpu, &begins, Alignment::Words)?;
    let scratch = poisoned(gpu, plan.scratch_requirements((max.into(), segment_max.into())).size)?;
    for stored in [0, 1, 250, 5 * large, max, max + 1, u32::MAX] {
        for stored_segments in [0, 1, 6, segment_max, segment_max + 1, u32::MAX] {
            let (count, segment_count) = (stored.min(max), stored_segments.min(segment_max));
            let mut expected = values.clone();
            let begins = &begins[..segment_count as usize];
            let ends = begins.iter().skip(1).copied().chain([count]);
            for (&begin, end) in begins.iter().zip(ends) {
                let (begin, end) = (begin.min(count) as usize, end.min(count) as usize);
                expected[begin..end].sort_by_key(|&index| keys[index as usize]);
            }
            let [count_memory, segment_count_memory] =
                [stored, stored_segments].map(|count| Memory::with_words(gpu, &[count], Alignment::Words));
            let (count_memory, segment_count_memory) = (count_memory?, segment_count_memory?);
            let both = [on_device(&count_memory, max), Count::Direct(count.into())];
            let segments_both =
                [on_device(&segment_count_memory, segment_max), Count::Direct(segment_count.into())];
            for (count, segment_count) in
                both.into_iter().flat_map(|count| segments_both.map(|segment_count| (count, segment_count)))
            {
                let keys_memory = Memory::with_words(gpu, &keys, Alignment::Words)?;
                let values_memory = Memory::with_words(gpu, &values, Alignment::Words)?;
                let sort = SortBuffers::new(keys_memory.range(), scratch.range());
                let buffers = SegmentedSortBuffers::new(sort.values(values_memory.range()), segments.range());
                run(gpu, &plan, &buffers, (count, segment_count))?;
                let case =
                    format!("{stored} keys of {count:?}, {stored_segments} segments of {segment_count:?}");
                assert!(values_memory.read()? == expected, "{case}: values");
                let sorted_keys = expected.iter().map(|&index| keys[index as usize]);
                assert!(keys_memory.read()?.into_iter().eq(sorted_keys), "{case}: keys");
            }
        }
    }
    Ok(())
}

fn segmented_refusals(gpu: &Gpu) -> Result<(), Failed> {
    let keys = SegmentedSortConfig::new(SortConfig::keys(ElementType::U32)).policy(small_policy(gpu));
    let refused = Refused::new(gpu)?;
    let [elements, segments] = [800, 804].map(|offset| refused.count(offset, 10));
    let sort = SortBuffers::new(refused.at(0, 40), refused.scratch(1024, 1 << 16));
    let buffers = SegmentedSortBuffers::new(sort, refused.at(400, 40));
    let ten = Count::Direct(10);
    for counts in [(elements, ten), (ten, elements), (elements, segments)] {
        refused.expect_direct_only(keys, buffers, counts);
    }
    Ok(())
}
