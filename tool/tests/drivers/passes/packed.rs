//! Pass checks of the kernels of packed elements: every type and form, at every address that it allows.

use libtest_mimic::Failed;
use subsweep::ElementType;
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;
use subsweep_tool::reference::packed;

use super::Check;
use super::rig::{Alignment, GUARD, POISON, Rig, Selection, Value, random, sizes};

const WORKGROUP_SIZE: u32 = 64;
const UNITS: u32 = 2;

/// A specialization of `glsl/common/packed.glsl`.
#[derive(Debug, Clone, Copy)]
struct Form {
    element: ElementType,
    /// `PACKED_FORM`: numbers, saturated numbers, keys, keys in numpy's order.
    form: u32,
}

impl Form {
    /// Every type by value, and every other form.
    fn all() -> impl Iterator<Item = Self> {
        use ElementType::{Bf16, F16, I8, I16, U8, U16};
        let few = [(F16, 0), (I8, 1), (Bf16, 3), (U8, 0), (I16, 2), (F16, 3), (U16, 1), (Bf16, 0), (U8, 2)];
        let all = [U8, I8, U16, I16, F16, Bf16]
            .into_iter()
            .flat_map(|element| (0..4).map(move |form| (element, form)));
        let others = all.filter(move |one| !few.contains(one));
        few.into_iter().chain(others).map(|(element, form)| Self { element, form })
    }

    fn constants(self) -> [(&'static str, u32); 4] {
        let [bits, numbers, form] = constants(self.element, self.form);
        [("UNITS_PER_INVOCATION", UNITS), bits, numbers, form]
    }

    /// The word of an element.
    fn unpacked(self, bits: u16) -> u32 {
        let bits = if self.element.bits() == 8 { bits & 0xff } else { bits };
        let number = packed::unpacked(self.element, bits);
        let order = |is_numpy| u32::from(bits) << 16 | packed::rank(self.element, is_numpy, bits);
        match self.form {
            0 | 1 => number,
            form => order(form == 3),
        }
    }

    /// The element of a word.
    fn packed(self, word: u32) -> u16 {
        match self.form {
            0 | 1 => packed::packed(self.element, self.form == 1, word),
            _ => (word >> 16) as u16,
        }
    }
}

/// The specialization of `glsl/common/packed.glsl`.
pub fn constants(element: ElementType, form: u32) -> [(&'static str, u32); 3] {
    let numbers = match element {
        ElementType::I8 | ElementType::I16 => 1,
        ElementType::F16 => 2,
        ElementType::Bf16 => 3,
        _ => 0,
    };
    [("PACKED_BITS", element.bits()), ("PACKED_NUMBERS", numbers), ("PACKED_FORM", form)]
}

/// The check of a kernel of `glsl/packed/`, or of the gather of packed elements.
pub fn check(stem: &str) -> Option<Check> {
    match stem {
        "packed/unpack" => Some(unpack),
        "packed/pack" => Some(pack),
        "gather/packed" => Some(gather),
        _ => None,
    }
}

/// Elements before and after a kernel, of which the first begins at byte `offset`, between bytes of guard words.
fn elements_at(element: ElementType, offset: usize, before: &[u16], after: &[u16]) -> Value<'static> {
    let end = offset + before.len() * element.size();
    let [before, after] = [before, after].map(|elements| {
        let mut words = vec![GUARD; end.div_ceil(4) + 1];
        write(&mut words, offset, element.size(), elements);
        words
    });
    Value::changed(before, after).part(offset..end)
}

fn write(words: &mut [u32], offset: usize, size: usize, elements: &[u16]) {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
    for (bytes, element) in bytes[offset..].chunks_exact_mut(size).zip(elements) {
        bytes.copy_from_slice(&element.to_le_bytes()[..size]);
    }
}

/// Elements of which each kind occurs: of floats those around zero, infinities and NaNs as well.
fn elements(form: Form, count: usize) -> Vec<u16> {
    const EDGES: [u16; 16] = [
        0, 1, 0x7c00, 0x7c01, 0x7f80, 0x7f81, 0x7fff, 0x8000, 0x8001, 0xfc00, 0xff80, 0xffff, 0x3ff, 0x400,
        0x7f, 0x80,
    ];
    let element = |(index, word): (usize, u32)| match index % 3 {
        0 => EDGES[word as usize % EDGES.len()],
        _ => word as u16,
    };
    let mask = if form.element.bits() == 8 { 0xff } else { 0xffff };
    random(count, count).into_iter().enumerate().map(|each| element(each) & mask).collect()
}

/// Calls `run` with each byte at which elements may begin, a count, and whether a part of the count is on the device.
fn every_place(
    form: Form,
    tile: usize,
    mut run: impl FnMut(usize, usize, bool) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let size = form.element.size();
    let counts = [1, 2, 3, 4, 5, 7].into_iter().chain(sizes(tile));
    for (index, count) in counts.enumerate() {
        for offset in (0..4).step_by(size) {
            run(offset, count, (index + offset / size).is_multiple_of(2))?;
        }
    }
    Ok(())
}

/// The push constants of a run of `count` elements: `ceil((first + second) / 3) * 2 - 1`, or as many.
fn counted(count: usize, is_indirect: bool) -> [(&'static str, Value<'static>); 8] {
    let [first, second, divisor, times, minus] = match is_indirect {
        true if count % 2 == 1 => [u32::MAX as usize, count.div_ceil(2) * 3 - 1 - 1, 3, 2, 1],
        true => [u32::MAX as usize, count - 1, 1, 1, 0],
        false => [count, 0, 1, 1, 0],
    };
    [
        ("first_indirect", Value::input(vec![1]).only_if(is_indirect)),
        ("second_indirect", Value::Null),
        ("first", Value::Number(first)),
        ("second", Value::Number(second)),
        ("divisor", Value::Number(divisor)),
        ("times", Value::Number(times)),
        ("minus", Value::Number(minus)),
        ("chunk", Value::Number(0)),
    ]
}

fn unpack(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let tile = (4 * UNITS * WORKGROUP_SIZE) as usize;
    for form in selection.first(9, Form::all()) {
        let rig = Rig::new(gpu, kernel, WORKGROUP_SIZE, &form.constants())?;
        every_place(form, tile, |offset, count, is_indirect| {
            let input = elements(form, count + 3);
            let unpacked = input[..count].iter().map(|&bits| form.unpacked(bits)).chain([POISON; 3]);
            let values = [
                ("elements", elements_at(form.element, offset, &input, &input)),
                ("words", Value::output(unpacked.collect::<Vec<_>>()).at(Alignment::Quads)),
                // A count on the device is at most this.
                ("count", Value::Number(if is_indirect { count + 3 } else { count })),
            ];
            let case = format!("{}, {form:?}, {count} elements at {offset}, {is_indirect}", kernel.name);
            rig.check(&case, values.into_iter().chain(counted(count, is_indirect)), count.div_ceil(tile))
        })?;
    }
    Ok(())
}

fn pack(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    for form in selection.first(9, Form::all()) {
        let rig = Rig::new(gpu, kernel, WORKGROUP_SIZE, &form.constants())?;
        let tile_words = (UNITS * WORKGROUP_SIZE) as usize;
        let tile = tile_words * 4 / form.element.size();
        every_place(form, tile, |offset, count, is_indirect| {
            // Words of elements, and any others: floats between two, integers beyond the type, keys that no kernel has written.
            // Half of a unit more is a float in the middle, and from an infinity a NaN whose upper bits are an infinity's.
            let any = random(count + 1, count + 3);
            let half_unit = match form.element {
                ElementType::F16 => 0x1000,
                ElementType::Bf16 => 0x8000,
                _ => 0,
            };
            let word = |(bits, any): (u16, u32)| match any % 4 {
                1 => any,
                3 if form.form < 2 => form.unpacked(bits) | half_unit,
                _ => form.unpacked(bits),
            };
            let words: Vec<_> = elements(form, count + 3).into_iter().zip(any).map(word).collect();
            let before = vec![0x5555; count + 3];
            let packed: Vec<_> = words[..count].iter().map(|&word| form.packed(word)).collect();
            let after = [&packed[..], &before[count..]].concat();
            let values = [
                ("elements", elements_at(form.element, offset, &before, &after)),
                ("words", Value::input(words).at(Alignment::Quads)),
                ("count", Value::Number(if is_indirect { count + 3 } else { count })),
            ];
            let all_words = (offset + count * form.element.size()).div_ceil(4);
            let case = format!("{}, {form:?}, {count} elements at {offset}, {is_indirect}", kernel.name);
            let values = values.into_iter().chain(counted(count, is_indirect));
            rig.check(&case, values, all_words.div_ceil(tile_words))
        })?;
    }
    Ok(())
}

fn gather(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    for element in selection.first(2, [ElementType::U8, ElementType::Bf16]) {
        let form = Form { element, form: 0 };
        let constants = [("UNITS_PER_INVOCATION", UNITS), ("PACKED_BITS", element.bits())];
        let rig = Rig::new(gpu, kernel, WORKGROUP_SIZE, &constants)?;
        let tile_words = (UNITS * WORKGROUP_SIZE) as usize;
        every_place(form, tile_words * 4 / element.size(), |offset, count, is_indirect| {
            let input = elements(form, 2 * count + 1);
            let source_count = input.len() - 1;
            let indices: Vec<_> =
                random(count, count + 3).iter().map(|word| word % (source_count as u32 + 2)).collect();
            let before = vec![0x5555; count + 3];
            let gathered = indices[..count].iter().map(|&index| match index as usize {
                index if index < source_count => input[index],
                _ => 0,
            });
            let after: Vec<_> = gathered.chain(before[count..].iter().copied()).collect();
            let values = [
                ("source", elements_at(element, (offset + element.size()) % 4, &input, &input)),
                ("indices", Value::input(&indices)),
                ("destination", elements_at(element, offset, &before, &after)),
                ("indirect_count", Value::input(vec![count as u32]).only_if(is_indirect)),
                ("count", Value::Number(if is_indirect { count + 3 } else { count })),
                ("source_count", Value::Number(source_count)),
            ];
            let all_words = (offset + count * element.size()).div_ceil(4);
            let case = format!("{}, {element}, {count} elements at {offset}, {is_indirect}", kernel.name);
            rig.check(&case, values, all_words.div_ceil(tile_words))
        })?;
    }
    Ok(())
}

/// The check of `run_length/decode.comp` with PACKED.
pub fn decode(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    for element in selection.first(2, [ElementType::U8, ElementType::Bf16]) {
        let form = Form { element, form: 0 };
        let constants = [("ITEMS_PER_INVOCATION", 2 * UNITS), ("PACKED_BITS", element.bits())];
        let rig = Rig::new(gpu, kernel, WORKGROUP_SIZE, &constants)?;
        let tile = (2 * UNITS * WORKGROUP_SIZE) as usize;
        every_place(form, tile, |offset, count, is_indirect| {
            // More elements than fit, so that those after the last one stay as they are, or fewer.
            let lengths: Vec<_> = random(count, count + 3).iter().map(|draw| draw % 3).collect();
            let run_count = if is_indirect { count } else { count + 3 };
            let sums =
                lengths.iter().scan(0, |sum, length| Some(std::mem::replace(sum, *sum + length) + length));
            let input = elements(form, count + 3);
            let before = vec![0x5555; count + 3];
            let runs = input.iter().zip(&lengths).take(run_count);
            let decoded: Vec<_> = runs.flat_map(|(&value, &length)| vec![value; length as usize]).collect();
            let stored = decoded.len().min(count);
            let after = [&decoded[..stored], &before[stored..]].concat();
            let values = [
                ("ends", Value::input(sums.collect::<Vec<u32>>())),
                ("values", elements_at(element, (offset + element.size()) % 4, &input, &input)),
                ("elements", elements_at(element, offset, &before, &after)),
                ("element_count", Value::output(vec![decoded.len() as u32])),
                ("indirect_count", Value::input(vec![count as u32]).only_if(is_indirect)),
                ("run_count", Value::Number(count + 3)),
                ("capacity", Value::Number(count)),
            ];
            let case = format!("{}, {element}, {count} elements at {offset}, {is_indirect}", kernel.name);
            rig.check(&case, values, (offset / element.size() + count).div_ceil(tile))
        })?;
    }
    Ok(())
}
