//! Elements of 8 and 16 bits, which are packed in memory: several in a word, at any address that their type allows.
//!
//! ```text
//!   packed source ── unpack ──► words ── the primitive, of 32 bits ──► words ── pack ──► packed result
//!   └──────────────── the caller's ─┘    └──────────────── scratch ─────────┘
//! ```
//!
//! A plan of such elements has the primitive of the unpacked type, and a kernel before and after it, unless the primitive
//! [takes them as they are](Primitive::takes_packed): see `glsl/common/packed.glsl`. Its table of arguments says which of them are packed. No feature of the device is needed. What that
//! takes of memory and commands is said once, at [`Plan::cmd_record`].

use super::arguments::{Argument, Arguments, Memory, Role};
use super::plan::{Buffers, CheckedMemory, Counts, Max, Plan, Primitive, Recordable, checked};
use super::scan::ScanOperator;
use super::scratch::{ScratchCursor, ScratchRequirements};
use super::{Count, ElementType, FloatOrder};
use crate::device::{
    Access, AddressRange, Barrier, Capabilities, Device, MAX_WATCHED, Pipeline, PipelineOptions, Recorder,
    push,
};
use crate::error::Result;
use crate::kernels::{self, Define};

/// Whether kernels may read and write elements of 8 or 16 bits as they are.
pub(super) const fn has_access(capabilities: &Capabilities, element: ElementType) -> bool {
    match element.bits() {
        8 => capabilities.enabled.storage_buffer8_bit_access,
        16 => capabilities.enabled.storage_buffer16_bit_access,
        _ => false,
    }
}

/// The define of kernels that read and write keys of a type as they are.
pub(super) const fn key_define(key: ElementType) -> Define {
    if key.is_packed() { ("KEY_BITS", key.bits()) } else { ("KEY_WORDS", key.words()) }
}

/// What an unpacked word has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Content {
    /// The same number; packed modulo 2^8 or 2^16, or, of floats, rounded.
    Number,
    /// The same number; packed as the least or the greatest of the type where it is beyond them.
    Saturated,
    /// The key's order in the low bits, and the key in the high ones.
    Key(FloatOrder),
}

/// A packed type, and what its unpacked words have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PackedForm {
    pub(super) element: ElementType,
    content: Content,
}

impl PackedForm {
    /// Elements by value; `None` unless they are packed.
    pub(super) const fn numbers(element: ElementType) -> Option<Self> {
        Self::new(element, Content::Number)
    }

    /// The form of elements, or results, of an operator; `None` unless they are packed.
    pub(super) const fn by(element: Option<ElementType>, operator: Option<ScanOperator>) -> Option<Self> {
        match (element, operator) {
            (Some(element), Some(ScanOperator::Min | ScanOperator::Max)) => {
                Self::new(element, Content::Saturated)
            }
            (Some(element), _) => Self::numbers(element),
            (None, _) => None,
        }
    }

    /// The form of elements that are moved alone: nothing is converted.
    pub(super) const fn as_bits(self) -> Self {
        let element = if self.element.bits() == 8 { ElementType::U8 } else { ElementType::U16 };
        Self { element, content: Content::Number }
    }

    /// The form by which it is unpacked.
    fn unpacking(self) -> Self {
        match self.content {
            Content::Saturated => Self { content: Content::Number, ..self },
            Content::Number | Content::Key(_) => self,
        }
    }

    /// The form of an element; `None` unless it is packed.
    pub(super) const fn new(element: ElementType, content: Content) -> Option<Self> {
        if element.is_packed() { Some(Self { element, content }) } else { None }
    }

    /// The specialization of `glsl/common/packed.glsl`.
    pub(super) fn constants(self) -> [(&'static str, u32); 3] {
        let numbers = match self.element {
            ElementType::I8 | ElementType::I16 => 1,
            ElementType::F16 => 2,
            ElementType::Bf16 => 3,
            _ => 0,
        };
        let form = match self.content {
            Content::Number => 0,
            Content::Saturated => 1,
            Content::Key(FloatOrder::Total) => 2,
            Content::Key(FloatOrder::Numpy) => 3,
        };
        [("PACKED_BITS", self.element.bits()), ("PACKED_NUMBERS", numbers), ("PACKED_FORM", form)]
    }
}

/// Elements that a recording writes: `ceil((first + second) / divisor) * times - minus`, where a count may be on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    counts: [Count; 2],
    divisor: u32,
    times: u32,
    minus: u32,
}

impl Extent {
    /// As many as a count.
    pub(super) const fn new(count: Count) -> Self {
        Self { counts: [count, Count::Direct(0)], divisor: 1, times: 1, minus: 0 }
    }

    /// As many as two counts have together.
    pub(super) const fn of_both(first: Count, second: Count) -> Self {
        Self { counts: [first, second], ..Self::new(first) }
    }

    /// As many as a count in device memory that the recording writes, up to `max`.
    pub(super) fn written(count: AddressRange, max: u64) -> Self {
        let max = u32::try_from(max).unwrap_or(u32::MAX);
        Self::new(Count::Indirect { address: count.address, max })
    }

    /// One for each `divisor` of the count, and one for the rest.
    pub(super) const fn per(self, divisor: u32) -> Self {
        Self { divisor, ..self }
    }

    /// Their number, of counts of the host.
    fn known(self) -> u64 {
        let Self { counts: [first, second], divisor, times, minus } = self;
        let rows = first.max().saturating_add(second.max()).div_ceil(divisor.into());
        rows.saturating_mul(times.into()).saturating_sub(minus.into())
    }

    /// Rows of `times` elements each, less `minus` elements.
    pub(super) const fn rows(self, times: u32, minus: u32) -> Self {
        Self { times, minus, ..self }
    }
}

/// Packed elements of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packed {
    pub(super) form: PackedForm,
    /// Of a result: the elements that are written; `None` for all.
    pub(super) extent: Option<Extent>,
}

/// The kernels of a plan's packed elements.
#[derive(Debug)]
pub(crate) struct Packing {
    unpack: Vec<(PackedForm, Pipeline)>,
    pack: Vec<(PackedForm, Pipeline)>,
}

/// An argument whose elements are unpacked before the primitive, or packed after it.
#[derive(Debug, Clone, Copy)]
struct Move {
    packed: Packed,
    role: Role,
    elements: AddressRange,
    words: AddressRange,
}

/// A part of a move, in one dispatch.
struct Part {
    elements: AddressRange,
    words: AddressRange,
    extent: Extent,
    chunk: u32,
    count: u32,
}

impl Part {
    /// The push constants, which are the same for both kernels.
    fn push(&self) -> push::PackedUnpack {
        let number = |count: Count| u32::try_from(count.max()).unwrap_or(u32::MAX);
        let Extent { counts: [first, second], divisor, times, minus } = self.extent;
        push::PackedUnpack {
            elements: self.elements,
            words: self.words,
            first_indirect: first.indirect(),
            second_indirect: second.indirect(),
            first: number(first),
            second: number(second),
            divisor,
            times,
            minus,
            chunk: self.chunk,
            count: self.count,
        }
    }
}

impl Move {
    /// Elements of a dispatch.
    const CHUNK: u64 = 1 << 30;

    /// The parts of the move.
    fn parts(self) -> impl Iterator<Item = Part> {
        let size = self.packed.form.element.size() as u64;
        let all = self.elements.size / size;
        let is_indirect = |extent: &Extent| extent.counts.iter().any(|count| count.is_indirect());
        let (indirect, count) = match self.packed.extent {
            Some(extent) if is_indirect(&extent) => (Some(extent), all),
            Some(extent) => (None, extent.known().min(all)),
            None => (None, all),
        };
        (0..count.div_ceil(Self::CHUNK)).map(move |chunk| {
            let first = chunk * Self::CHUNK;
            let count = (count - first).min(Self::CHUNK);
            let slice = |range: AddressRange, size: u64| {
                AddressRange::new(range.address + first * size, count * size)
            };
            let (elements, words) = (slice(self.elements, size), slice(self.words, 4));
            let whole = Extent::new(Count::Direct(count));
            let (chunk, extent) = indirect.map_or((0, whole), |extent| (chunk as u32, extent));
            Part { elements, words, extent, chunk, count: count as u32 }
        })
    }
}

impl Packing {
    /// More than any table has.
    const MAX_MOVES: usize = 6;
    /// Quads that an invocation unpacks, and words that it packs.
    const UNITS_PER_INVOCATION: u32 = 4;

    /// The kernels for the packed arguments of a configuration.
    pub(crate) fn declare<P: Primitive>(device: &Device, config: &P::Config) -> Result<Self> {
        let mut forms: [Vec<PackedForm>; 2] = Default::default();
        visit::<P>(config, Max::<P>::default(), &mut |argument, Packed { form, .. }| {
            let uses = [(argument.role.is_read(), form.unpacking()), (argument.role.is_result(), form)];
            for (forms, (is_used, form)) in forms.iter_mut().zip(uses) {
                if is_used && !forms.contains(&form) {
                    forms.push(form);
                }
            }
        })?;
        Self::of_forms(device, forms)
    }

    /// The kernels that convert numbers without a plan: see [`Self::convert`].
    #[cfg(feature = "headless")]
    pub(crate) fn of_numbers(device: &Device, element: ElementType) -> Result<Self> {
        let forms: Vec<_> = PackedForm::numbers(element).into_iter().collect();
        Self::of_forms(device, [forms.clone(), forms])
    }

    /// Those that unpack, and those that pack.
    fn of_forms(device: &Device, [unpack, pack]: [Vec<PackedForm>; 2]) -> Result<Self> {
        let workgroup_size = device.capabilities().max_workgroup_invocations.min(256);
        let declared = |kernel, form: PackedForm| {
            let units = [("UNITS_PER_INVOCATION", Self::UNITS_PER_INVOCATION)];
            let constants = [&units[..], &form.constants()].concat();
            let options = PipelineOptions { workgroup_size, constants: &constants, subgroup_size: None };
            Ok((form, Pipeline::declare(device, kernel, options)?))
        };
        let unpack = unpack.into_iter().map(|form| declared(kernels::PACKED_UNPACK.module(&[]), form));
        let pack = pack.into_iter().map(|form| declared(kernels::PACKED_PACK.module(&[]), form));
        Ok(Self { unpack: unpack.collect::<Result<_>>()?, pack: pack.collect::<Result<_>>()? })
    }

    /// Records the conversion of elements to words at a multiple of 16 bytes, or of words to elements, without a plan, in
    /// the form of results.
    #[cfg(feature = "headless")]
    pub(crate) fn convert(
        &self,
        recorder: &mut Recorder<'_>,
        to_words: bool,
        elements: AddressRange,
        words: AddressRange,
    ) -> Result<()> {
        let form = self.pack[0].0;
        let all = Move { packed: Packed { form, extent: None }, role: Role::ReadWrite, elements, words };
        let convert = if to_words { Self::unpack } else { Self::pack };
        all.parts().try_for_each(|part| convert(self, recorder, form, part))
    }

    /// All pipelines.
    pub(crate) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.unpack.iter().chain(&self.pack).map(|(_, pipeline)| pipeline)
    }

    /// Allocates the unpacked words of each packed argument, in the order of the table.
    pub(super) fn allocate<P: Primitive>(config: &P::Config, max: Max<P>, cursor: &mut ScratchCursor) {
        let allocated = visit::<P>(config, max, &mut |argument, packed| {
            cursor.take(argument.name, words_size(argument, packed));
        });
        if allocated.is_err() {
            // No scratch range is large enough.
            cursor.take("more elements than 64-bit sizes", u64::MAX);
        }
    }

    /// Bytes that are read and written: elements and words, of each argument that is read and of each that is written.
    pub(super) fn traffic_size<P: Primitive>(config: &P::Config, max: Max<P>) -> u64 {
        let mut size: u64 = 0;
        let visited = visit::<P>(config, max, &mut |argument, packed| {
            let times = u64::from(argument.role.is_read()) + u64::from(argument.role.is_result());
            let of_one = argument.size.saturating_add(words_size(argument, packed));
            size = size.saturating_add(times.saturating_mul(of_one));
        });
        if visited.is_ok() { size } else { u64::MAX }
    }

    /// Checks the caller's memory; records the primitive on unpacked words, what unpacks them before it, and what packs its
    /// results after it.
    pub(super) fn record<P: Primitive>(
        &self,
        plan: &Plan<P>,
        algorithm: &dyn Recordable<P>,
        recorder: &mut Recorder<'_>,
        buffers: &P::Buffers,
        count: P::Count,
    ) -> Result<()> {
        let mut cursor = ScratchCursor::default();
        algorithm.allocate(&mut cursor, count.max());
        let (own_size, needed) = (cursor.size, plan.scratch_requirements(count.max()).size);
        let config = plan.config();
        let CheckedMemory { buffers: mut unpacked, scratch, .. } =
            checked::<P>(*buffers, config, count, (needed, true))?;
        let mut moves: [Option<Move>; Self::MAX_MOVES] = [None; _];
        let (mut next, mut offset) = (0, own_size);
        let mut unpack = |Argument { role, size, packed, .. }: Argument, memory: Memory<'_>| {
            match (memory, packed) {
                (Memory::Buffer(range), _) => *range = range.slice(0, own_size),
                (Memory::Addresses(range), Some(packed)) if size > 0 => {
                    let words_size = size / packed.form.element.size() as u64 * 4;
                    let words = scratch.slice(offset, words_size).addresses();
                    offset += words_size.next_multiple_of(ScratchRequirements::ALIGNMENT);
                    moves[next] = Some(Move { packed, role, elements: *range, words });
                    next += 1;
                    *range = words;
                }
                _ => {}
            }
            Ok(())
        };
        let mut visited_count = count;
        unpacked.arguments(config, &mut visited_count, &mut Arguments::new(needed, true, &mut unpack))?;

        recorder.plan(P::LABEL, |recorder| {
            // What it refuses it refuses before anything is recorded.
            let mut dry = Recorder::dry(recorder.device());
            algorithm.check_and_record(&mut dry, plan.unpacked_config(), &unpacked, count)?;

            let read = || moves.iter().flatten().filter(|each| each.role.is_read());
            recorder.phase(c"unpack");
            for part in read().flat_map(|each| each.parts().map(|part| (each.packed.form, part))) {
                self.unpack(recorder, part.0, part.1)?;
            }
            if read().next().is_some() {
                let (source, destination) = (Access::COMPUTE_WRITE, Access::COMPUTE);
                let words = scratch.slice(own_size, offset - own_size).addresses();
                recorder.barrier_before(Barrier { name: "unpacked elements", source, destination }, words);
            }
            let results = || moves.iter().flatten().filter(|each| each.role.is_result());
            recorder.watch(watched(results()));
            algorithm.check_and_record(recorder, plan.unpacked_config(), &unpacked, count)?;
            let is_ordered = recorder.is_ordered();
            recorder.phase(c"pack");
            if results().next().is_some() && !is_ordered {
                let (source, destination) = (plan.last_access(), Access::COMPUTE);
                recorder.barrier(Barrier { name: "elements to be packed", source, destination });
            }
            for (form, part) in results().flat_map(|each| each.parts().map(|part| (each.packed.form, part))) {
                self.pack(recorder, form, part)?;
            }
            Ok(())
        })
    }

    fn unpack(&self, recorder: &mut Recorder<'_>, form: PackedForm, part: Part) -> Result<()> {
        let pipeline = of_form(&self.unpack, form.unpacking());
        let tile_items = 4 * Self::UNITS_PER_INVOCATION * pipeline.specialization().workgroup_size;
        let workgroup_count = u64::from(part.count.div_ceil(tile_items));
        recorder.dispatch(pipeline, &part.push(), workgroup_count)
    }

    fn pack(&self, recorder: &mut Recorder<'_>, form: PackedForm, part: Part) -> Result<()> {
        let pipeline = of_form(&self.pack, form);
        let bytes = part.elements.address % 4 + part.elements.size;
        let tile_words = Self::UNITS_PER_INVOCATION * pipeline.specialization().workgroup_size;
        let workgroup_count = bytes.div_ceil(4).div_ceil(tile_words.into());
        recorder.dispatch(pipeline, &part.push(), workgroup_count)
    }
}

/// What kernels that pack results read: the words of each, and the counts of elements.
fn watched<'m>(results: impl Iterator<Item = &'m Move>) -> [AddressRange; MAX_WATCHED] {
    let mut ranges = [AddressRange::NONE; MAX_WATCHED];
    let read = results.flat_map(|each| {
        let counts = each.packed.extent.into_iter().flat_map(|extent| extent.counts.map(Count::indirect));
        counts.filter(|range| range.size > 0).chain([each.words])
    });
    ranges.iter_mut().zip(read).for_each(|(range, watched)| *range = watched);
    ranges
}

fn of_form(pipelines: &[(PackedForm, Pipeline)], form: PackedForm) -> &Pipeline {
    let pipeline = pipelines.iter().find(|(other, _)| *other == form);
    &pipeline.expect("the table has the same forms for any memory").1
}

/// Size of the unpacked words of an argument.
fn words_size(argument: Argument, packed: Packed) -> u64 {
    (argument.size / packed.form.element.size() as u64).saturating_mul(4)
}

/// Visits the packed arguments of a recording of up to `max` elements, in memory of which nothing is known.
fn visit<P: Primitive>(
    config: &P::Config,
    max: Max<P>,
    visit: &mut dyn FnMut(Argument, Packed),
) -> Result<()> {
    let mut count: P::Count = max.into();
    let mut visit = |argument: Argument, _: Memory<'_>| {
        if let Some(packed) = argument.packed {
            visit(argument, packed);
        }
        Ok(())
    };
    P::Buffers::unknown(config).arguments(config, &mut count, &mut Arguments::new(0, true, &mut visit))
}

#[cfg(test)]
mod tests;
