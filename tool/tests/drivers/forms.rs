//! Forms of a sort and of a segmented sort: double buffers, out of place, and out of place over a destroyed input; and
//! in every form sorts that discard their keys.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::AddressRange;
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::sort::{
    SegmentedSortBuffers, SegmentedSortConfig, SortAlgorithm, SortBuffers, SortConfig, SortPolicy, ValueSize,
};
use subsweep::{Count, ElementType, Error};
use subsweep_tool::harness::{PolicyName, SortCase};

use super::cases::clean_trial;
use super::passes::rig::{POISON, random};
use super::segmented::small_policy;

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = |form: Form| {
        let sorts = move |gpu: &Gpu| {
            SortAlgorithm::ALL.into_iter().try_for_each(|algorithm| sorts(gpu, form, algorithm))
        };
        clean_trial(gpu, format!("forms: {form:?}"), sorts)
    };
    let forms = [Form::InPlace, Form::DoubleBuffer, Form::OutOfPlace, Form::DestroysInput];
    let of_segments = |form: Form| {
        clean_trial(gpu, format!("forms: segments, {form:?}"), move |gpu| segmented_sorts(gpu, form))
    };
    let packed = clean_trial(gpu, "forms: packed keys at any address".into(), packed_keys);
    forms.map(trial).into_iter().chain(forms.map(of_segments)).chain([packed]).collect()
}

/// Sorts of keys of 8 and 16 bits whose first and last words belong in part to others, with each algorithm; of 16 bits also
/// such as differ in one byte alone, which take one pass and the copy.
fn packed_keys(gpu: &Gpu) -> Result<(), Failed> {
    const GUARD: u8 = 0xa5;
    for algorithm in SortAlgorithm::ALL {
        for (element, offset, kept) in
            [(ElementType::U8, 1, 0xff), (ElementType::U8, 3, 0xf0), (ElementType::U16, 2, 0xff)]
        {
            let size = element.size();
            let config = SortConfig::keys(element);
            let config = config.policy(SortPolicy::tuned(algorithm, gpu.capabilities(), &config));
            let plan = gpu.plan(config)?;
            for count in [2, 3, 1001, 9001].into_iter().filter(|&count| count <= plan.max_count()) {
                let count = count as usize;
                let random = (0..count as u32).map(|index| index.wrapping_mul(0x9e37_79b9) >> 16);
                let mut keys: Vec<u16> = random.map(|key| key as u16 & kept | 0x0500).collect();
                let bytes = |keys: &[u16]| -> Vec<u8> {
                    keys.iter().flat_map(|key| key.to_le_bytes().into_iter().take(size)).collect()
                };
                let mut memory = vec![GUARD; (offset + count * size).next_multiple_of(4) + 4];
                let range = offset..offset + count * size;
                memory[range.clone()].copy_from_slice(&bytes(&keys));
                let buffer = gpu.allocate(memory.len() as u64)?;
                gpu.upload(&buffer, 0, &memory)?;
                let scratch = gpu.allocate(plan.scratch_requirements(count as u64).size)?;
                let address = buffer.addresses().address + offset as u64;
                let buffers =
                    SortBuffers::new(AddressRange::new(address, range.len() as u64), scratch.range());
                // SAFETY: the memory is this device's, and alive until `submit` has waited.
                unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, count as u64)) }?;
                keys.sort_unstable_by_key(|key| if size == 1 { key & 0xff } else { *key });
                memory[range].copy_from_slice(&bytes(&keys));
                let got: Vec<u32> = gpu.read(&buffer, memory.len() / 4)?;
                let got = bytemuck::cast_slice::<u32, u8>(&got);
                assert_eq!(got, memory, "{}, {count} of {element} at {offset}", algorithm.name());
            }
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    /// Only keys that are discarded, since other tests sort the others in place.
    InPlace,
    DoubleBuffer,
    OutOfPlace,
    DestroysInput,
}

impl Form {
    fn apply(self, config: SortConfig) -> SortConfig {
        match self {
            Self::InPlace => config.in_place(),
            Self::DoubleBuffer => config.double_buffer(),
            Self::OutOfPlace => config.out_of_place(),
            Self::DestroysInput => config.destroys_input(),
        }
    }

    /// Whether the trial sorts in this form with keys that are discarded, or that are part of the result.
    fn takes(self, discards_keys: bool) -> bool {
        self != Self::InPlace || discards_keys
    }

    fn is_result_in_input(self) -> bool {
        matches!(self, Self::InPlace | Self::DoubleBuffer)
    }
}

/// Sorts by bits that take no pass, an odd number and an even number of passes; aligned and misaligned; by direct and
/// indirect counts; and of a single key.
fn sorts(gpu: &Gpu, form: Form, algorithm: SortAlgorithm) -> Result<(), Failed> {
    let radix_bits = algorithm.radix_bits();
    let keys = SortConfig::keys(ElementType::U32);
    let pairs = SortConfig::pairs(ElementType::U32, ValueSize::B8).descending();
    let wide = SortConfig::pairs(ElementType::U32, ValueSize::of::<[u32; 3]>()).descending();
    let indexed = SortConfig::keys_and_indices(ElementType::U32);
    let policy = SortCase::keys_of_u32(algorithm, PolicyName::Small).policy(gpu.capabilities());
    let most = match algorithm {
        SortAlgorithm::SingleWorkgroup => policy.tile_items(),
        _ => 3 * policy.tile_items() + 5,
    };
    for (config, discards_keys, bits, count, misalignment) in [
        (keys, false, 0..3 * radix_bits, most, 4),
        (keys, false, 0..2 * radix_bits, most, 0),
        (pairs, false, 4..4 + radix_bits, most, 12),
        (pairs, true, 4..4 + radix_bits, most, 12),
        (pairs, false, 0..32, most - 1, 0),
        (pairs, false, 7..7, most, 0),
        (keys, false, 0..32, 1, 8),
        (indexed, false, 0..2 * radix_bits, most, 4),
        (indexed, true, 0..3 * radix_bits, most, 4),
        (indexed, false, 7..7, most, 0),
        (wide, false, 0..3 * radix_bits, most, 4),
        (wide, false, 0..2 * radix_bits, most - 1, 0),
        (wide, true, 4..4 + radix_bits, most, 12),
        (wide, false, 7..7, most, 8),
        (wide, false, 0..32, 1, 0),
    ] {
        if !form.takes(discards_keys) {
            continue;
        }
        let config = if discards_keys { config.discards_keys() } else { config };
        let config = form.apply(config.bits(bits.clone()).indirect_count()).policy(policy);
        let plan = gpu.plan(config)?;
        for is_indirect in [false, true] {
            let memory = Memory::new(gpu, &config, count, misalignment)?;
            let counts = gpu.allocate(misalignment + 4)?;
            gpu.upload(&counts, misalignment, &[count])?;
            let recorded = match is_indirect {
                false => Count::Direct(count.into()),
                true => Count::Indirect { address: counts.range().address + misalignment, max: count },
            };
            let scratch = gpu.allocate(plan.scratch_requirements(count.into()).size.max(4))?;
            let buffers = memory.buffers(form, &scratch);
            // SAFETY: the memory lives until `submit` has waited.
            unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, recorded)) }?;
            let (input, output) = memory.read(gpu)?;
            let is_in_input = form.is_result_in_input() && !plan.is_result_in_alt(u64::from(count));
            let (result, other) = if is_in_input { (input, output) } else { (output, input) };
            let mut expected = memory.input();
            memory.sort(&mut expected, 0..count as usize, &bits);
            let what = format!("{} {form:?}, bits {bits:?} of {count}, {is_indirect}", algorithm.name());
            if discards_keys {
                // A single pass from input to output writes no keys.
                let is_one_pass = form == Form::OutOfPlace && bits.len() <= radix_bits as usize;
                assert!(
                    !is_one_pass || result.0.iter().all(|&key| key == POISON),
                    "{what}: keys are written"
                );
                expected.0.clone_from(&result.0);
            }
            assert!(result == expected, "{what}: a wrong result");
            assert!(form != Form::OutOfPlace || memory.is_input(&other), "{what}: the input changed");
        }
    }
    Ok(())
}

/// Segments of every size class, of an odd number and an even number of passes, and of no bits: results are in the
/// output, which is unchanged before the first segment.
fn segmented_sorts(gpu: &Gpu, form: Form) -> Result<(), Failed> {
    let keys = SortConfig::keys(ElementType::U32);
    let pairs = SortConfig::pairs(ElementType::U32, ValueSize::B8).descending();
    let wide = SortConfig::pairs(ElementType::U32, ValueSize::of::<[u32; 3]>()).descending();
    let policy = small_policy(gpu);
    let [.., largest] = policy.workgroups.map(|shape| shape.tile_items());
    let begins = [3, 4, 4, 40, 40 + largest / 2, 40 + 2 * largest, 40 + 6 * largest, 41 + 6 * largest];
    let count = 60 + 6 * largest;
    let indexed = SortConfig::keys_and_indices(ElementType::U32);
    for (config, discards_keys, bits) in [
        (keys, false, 0..32),
        (keys, false, 3..20),
        (pairs, false, 4..12),
        (pairs, true, 4..12),
        (pairs, false, 7..7),
        (indexed, false, 0..32),
        (indexed, false, 3..20),
        (indexed, true, 3..20),
        (wide, false, 0..32),
        (wide, true, 3..20),
        (wide, false, 7..7),
    ] {
        if !form.takes(discards_keys) {
            continue;
        }
        let config = if discards_keys { config.discards_keys() } else { config };
        let config = SegmentedSortConfig::from(form.apply(config.bits(bits.clone()))).policy(policy);
        let plan = gpu.plan(config.indirect_count())?;
        for is_indirect in [false, true] {
            let memory = Memory::new(gpu, config.sort(), count, 4)?;
            let maximums = (u64::from(count), begins.len() as u64);
            let scratch = gpu.allocate(plan.scratch_requirements(maximums).size)?;
            let segments = gpu.allocate(4 * begins.len() as u64)?;
            gpu.upload(&segments, 0, &begins)?;
            let counts = gpu.allocate(8)?;
            gpu.upload(&counts, 0, &[count, begins.len() as u32])?;
            let address = counts.range().address;
            let recorded = match is_indirect {
                false => (Count::Direct(maximums.0), Count::Direct(maximums.1)),
                true => (
                    Count::Indirect { address, max: count },
                    Count::Indirect { address: address + 4, max: begins.len() as u32 },
                ),
            };
            let buffers =
                SegmentedSortBuffers::new(memory.buffers(form, &scratch), segments.range().addresses());
            // SAFETY: the memory lives until `submit` has waited.
            unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, recorded)) }?;
            let (input, output) = memory.read(gpu)?;
            let is_in_input = form.is_result_in_input();
            let (result, other) = if is_in_input { (input, output) } else { (output, input) };
            let mut expected = memory.input();
            for (begin, end) in begins.into_iter().zip(begins.into_iter().skip(1).chain([count])) {
                memory.sort(&mut expected, begin as usize..end as usize, &bits);
            }
            // Keys in no segment: the output is unchanged, and no indices are written.
            let first = begins[0] as usize;
            if !is_in_input {
                expected.0[..first].fill(POISON);
            }
            if !is_in_input || memory.value_size == 4 {
                expected.1.iter_mut().take(first).for_each(|value| value.fill(POISON));
            }
            let what = format!("{form:?}, bits {bits:?}, {is_indirect}");
            if discards_keys {
                expected.0.clone_from(&result.0);
            }
            assert!(result == expected, "{what}: a wrong result");
            assert!(form != Form::OutOfPlace || memory.is_input(&other), "{what}: the input changed");
        }
    }
    Ok(())
}

/// Keys, and the words of each value.
type Pairs = (Vec<u32>, Vec<Vec<u32>>);

/// Input and output arrays.
struct Memory {
    count: u32,
    /// Bytes of a value; 0, 4 for indices, or more of pairs.
    value_size: u64,
    misalignment: u64,
    keys: [GpuBuffer; 2],
    values: [GpuBuffer; 2],
}

impl Memory {
    /// Uploads the input, and poison to the output.
    fn new(gpu: &Gpu, config: &SortConfig, count: u32, misalignment: u64) -> Result<Self, Error> {
        let value_size = config.value_size();
        let allocate = |word_count: u32| gpu.allocate(misalignment + 4 * u64::from(word_count.max(1)));
        let value_words = count * (value_size / 4) as u32;
        let memory = Self {
            count,
            value_size,
            misalignment,
            keys: [allocate(count)?, allocate(count)?],
            values: [allocate(value_words)?, allocate(value_words)?],
        };
        let (keys, values) = memory.input();
        gpu.upload(&memory.keys[0], misalignment, &keys)?;
        gpu.upload(&memory.keys[1], misalignment, &vec![POISON; keys.len()])?;
        let poison = vec![POISON; value_words as usize];
        // Indices are not read.
        let values = if value_size > 4 { values.concat() } else { poison.clone() };
        gpu.upload(&memory.values[0], misalignment, &values)?;
        gpu.upload(&memory.values[1], misalignment, &poison)?;
        Ok(memory)
    }

    /// The keys and values before the sort, indices among the values.
    fn input(&self) -> Pairs {
        let count = if self.value_size > 0 { self.count } else { 0 };
        let value = |index: u32| (0..self.value_size as u32 / 4).map(|word| index ^ word << 20).collect();
        (random(5, self.count as usize), (0..count).map(value).collect())
    }

    /// Whether these are keys and values before the sort; indices are not in memory then.
    fn is_input(&self, (keys, values): &Pairs) -> bool {
        let input = self.input();
        *keys == input.0 && (self.value_size == 4 || *values == input.1)
    }

    /// Sorts a part stably by `bits`; pairs descending.
    fn sort(&self, (keys, values): &mut Pairs, part: Range<usize>, bits: &Range<u32>) {
        let digits = |&index: &usize| u64::from(keys[index]) & ((1 << bits.end) - (1 << bits.start));
        let mut order: Vec<usize> = part.clone().collect();
        if self.value_size > 4 {
            order.sort_by_key(|index| Reverse(digits(index)));
        } else {
            order.sort_by_key(digits);
        }
        let sorted: Vec<_> = order.iter().map(|&index| keys[index]).collect();
        keys[part.clone()].copy_from_slice(&sorted);
        if self.value_size > 0 {
            let sorted: Vec<_> = order.iter().map(|&index| values[index].clone()).collect();
            values[part].clone_from_slice(&sorted);
        }
    }

    fn buffers(&self, form: Form, scratch: &GpuBuffer) -> SortBuffers {
        let range = |memory: &GpuBuffer, size: u64| {
            AddressRange::new(memory.range().address + self.misalignment, size * u64::from(self.count))
        };
        let [keys, keys_alt] = self.keys.each_ref().map(|memory| range(memory, 4));
        let [values, values_alt] = self.values.each_ref().map(|memory| range(memory, self.value_size));
        let buffers = SortBuffers::new(keys, scratch.range()).values(values);
        if form == Form::InPlace { buffers } else { buffers.alternates(keys_alt, values_alt) }
    }

    /// The input arrays and the output.
    fn read(&self, gpu: &Gpu) -> Result<(Pairs, Pairs), Error> {
        let read = |index: usize| -> Result<Pairs, Error> {
            let words_per_value = self.value_size as usize / 4;
            let value_words = words_per_value * self.count as usize;
            let words = gpu.read_from(&self.values[index], self.misalignment, value_words)?;
            let values = words.chunks(words_per_value.max(1)).map(<[u32]>::to_vec);
            Ok((gpu.read_from(&self.keys[index], self.misalignment, self.count as usize)?, values.collect()))
        };
        Ok((read(0)?, read(1)?))
    }
}
