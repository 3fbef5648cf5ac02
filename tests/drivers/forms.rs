//! Forms of a sort: double buffers, out of place, and out of place over a destroyed input.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::AddressRange;
use subsweep::harness::{PolicyName, SortCase};
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::sort::{SortAlgorithm, SortBuffers, SortConfig, SortPlan, ValueSize};
use subsweep::{Count, ElementType, Error};

use super::cases::clean_trial;
use super::passes::rig::random;

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = |form: Form| {
        let sorts = move |gpu: &Gpu| {
            SortAlgorithm::ALL.into_iter().try_for_each(|algorithm| sorts(gpu, form, algorithm))
        };
        clean_trial(gpu, format!("forms: {form:?}"), sorts)
    };
    [Form::DoubleBuffer, Form::OutOfPlace, Form::DestroysInput].map(trial).into()
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    DoubleBuffer,
    OutOfPlace,
    DestroysInput,
}

impl Form {
    fn of(self, config: SortConfig) -> SortConfig {
        match self {
            Self::DoubleBuffer => config.double_buffer(),
            Self::OutOfPlace => config.out_of_place(),
            Self::DestroysInput => config.destroys_input(),
        }
    }
}

/// Sorts by bits that take no pass, an odd number and an even number of passes; aligned and misaligned; by direct and
/// indirect counts; and of a single key.
fn sorts(gpu: &Gpu, form: Form, algorithm: SortAlgorithm) -> Result<(), Failed> {
    let radix_bits = algorithm.radix_bits();
    let keys = SortConfig::keys(ElementType::U32);
    let pairs = SortConfig::pairs(ElementType::U32, ValueSize::B8).descending();
    let policy = SortCase::keys_of_u32(algorithm, PolicyName::Small).policy(gpu.capabilities());
    let most = match algorithm {
        SortAlgorithm::SingleWorkgroup => policy.tile_items(),
        _ => 3 * policy.tile_items() + 5,
    };
    for (config, bits, count, misalignment) in [
        (keys, 0..3 * radix_bits, most, 4),
        (keys, 0..2 * radix_bits, most, 0),
        (pairs, 4..4 + radix_bits, most, 12),
        (pairs, 0..32, most - 1, 0),
        (pairs, 7..7, most, 0),
        (keys, 0..32, 1, 8),
    ] {
        let config = form.of(config.bits(bits.clone()).indirect_count()).policy(policy);
        let plan = gpu.plan(config)?;
        for is_indirect in [false, true] {
            let run = Run { plan: &plan, count, misalignment, is_indirect };
            let (input, output) = run.run(gpu)?;
            let what = format!("{} {form:?}, bits {bits:?} of {count}, {is_indirect}", algorithm.name());
            assert!(output == run.expected(&bits), "{what}: a wrong result");
            assert!(form != Form::OutOfPlace || input == run.input(), "{what}: the input changed");
        }
    }
    Ok(())
}

/// Keys and values.
type Pairs = (Vec<u32>, Vec<u64>);

struct Run<'p> {
    plan: &'p SortPlan,
    count: u32,
    misalignment: u64,
    is_indirect: bool,
}

impl Run<'_> {
    fn input(&self) -> Pairs {
        let value_count = if self.plan.config().value_size() > 0 { self.count } else { 0 };
        (random(5, self.count as usize), (0..value_count.into()).map(|value| value << 20).collect())
    }

    /// The stable sort by `bits`; descending for pairs.
    fn expected(&self, bits: &Range<u32>) -> Pairs {
        let (keys, values) = self.input();
        let part = |&index: &usize| u64::from(keys[index]) & ((1 << bits.end) - (1 << bits.start));
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(part);
        if !values.is_empty() {
            order.sort_by_key(|index| Reverse(part(index)));
        }
        let values = order.iter().filter_map(|&index| values.get(index).copied());
        (order.iter().map(|&index| keys[index]).collect(), values.collect())
    }

    /// Sorts, and returns the input arrays and the result.
    fn run(&self, gpu: &Gpu) -> Result<(Pairs, Pairs), Failed> {
        let plan = self.plan;
        let (keys, values) = self.input();
        let value_words: &[u32] = bytemuck::cast_slice(&values);
        let allocate = |word_count: usize| gpu.allocate(self.misalignment + 4 * word_count.max(1) as u64);
        let [keys_in, keys_out] = &[allocate(keys.len())?, allocate(keys.len())?];
        let [values_in, values_out] = &[allocate(value_words.len())?, allocate(value_words.len())?];
        let counts = &allocate(1)?;
        gpu.upload(keys_in, self.misalignment, &keys)?;
        gpu.upload(values_in, self.misalignment, value_words)?;
        gpu.upload(counts, self.misalignment, &[self.count])?;
        let range = |memory: &GpuBuffer, size: usize| {
            AddressRange::new(memory.range().address + self.misalignment, size as u64)
        };
        let scratch = gpu.allocate(plan.scratch_requirements(self.count.into()).size.max(4))?;
        let (keys_size, values_size) = (4 * keys.len(), 8 * values.len());
        let buffers = SortBuffers::new(range(keys_in, keys_size), scratch.range())
            .values(range(values_in, values_size))
            .alternates(range(keys_out, keys_size), range(values_out, values_size));
        let count = match self.is_indirect {
            false => Count::Direct(self.count.into()),
            true => Count::Indirect { address: range(counts, 4).address, max: self.count },
        };
        // SAFETY: the memory lives until `submit` has waited.
        unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, count)) }?;
        let read = |keys_memory: &GpuBuffer, values_memory: &GpuBuffer| -> Result<Pairs, Error> {
            let words = gpu.read_from(values_memory, self.misalignment, 2 * values.len())?;
            let values = words.chunks(2).map(|word| u64::from(word[0]) | u64::from(word[1]) << 32);
            Ok((gpu.read_from(keys_memory, self.misalignment, keys.len())?, values.collect()))
        };
        let (input, output) = (read(keys_in, values_in)?, read(keys_out, values_out)?);
        let is_in_input = plan.config().is_double_buffered() && !plan.is_result_in_alt(self.count.into());
        Ok(if is_in_input { (output, input) } else { (input, output) })
    }
}
