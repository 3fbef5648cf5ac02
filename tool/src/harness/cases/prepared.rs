//! A case without its memory on a device: plan, operands, recording and oracle. The sizes of arguments are from the plan's
//! table.

use std::sync::Arc;

use super::{Case, CountFrom};
use crate::harness::expected::{Expected, PackedForm};
use crate::harness::layout::{Arrangement, POISON, Span};
use crate::harness::look_back::LookBackCounts;
use subsweep::arguments::{Argument, Memory, Role};
use subsweep::device::{AddressRange, Barrier, BufferRange, Recorder};
use subsweep::error::Result;
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::{Count, Counts, ElementType, Plan, Primitive};

/// A plan, the memory of its recording, and the oracle.
pub struct Prepared {
    /// The policy in use, as text.
    pub(in crate::harness) policy: String,
    /// Bytes of elements that the algorithm reads and writes, without auxiliary data.
    pub(in crate::harness) traffic_size: u64,
    pub(in crate::harness) needs: Needs,
    /// The plan's table.
    pub(in crate::harness) arguments: Vec<Argument>,
    pub(in crate::harness) bind: Box<Bind>,
    pub(in crate::harness) expected: Box<Oracle>,
    /// Counts the look-back of one more run, where a kernel with counters exists.
    pub(in crate::harness) look_back: Option<Box<LookBack>>,
}

/// Records a run.
pub(in crate::harness) type Record = dyn Fn(&mut Recorder<'_>) -> Result<()>;

/// The range of an argument, by its name.
pub(in crate::harness) type RangeOf<'a> = dyn Fn(&str) -> BufferRange + 'a;

/// The recording with each argument in its range.
type Bind = dyn Fn(&RangeOf<'_>) -> Result<Box<Record>> + Send + Sync;

/// Computes the expected result, and the expected words of each of [`Needs::values`], from the input.
type Oracle = dyn Fn(&[u32]) -> (Expected, Vec<Vec<u32>>) + Send + Sync;

type LookBack = dyn Fn(&Gpu, &RangeOf<'_>) -> Result<Option<LookBackCounts>> + Send + Sync;

/// Arguments that are only read, beside the source: the name of each, and its words, which the cases of a work share.
pub(in crate::harness) type Operands = Vec<(&'static str, Arc<Vec<u32>>)>;

/// Memory that a recording needs, by the names of arguments.
pub(in crate::harness) struct Needs {
    /// Rows that source and destination have room for.
    pub room: u64,
    /// The input of the case.
    pub source: &'static str,
    /// Its result.
    pub destination: &'static str,
    /// Whether source and destination are the same range.
    pub in_place: bool,
    /// Offset of source, destination and operands from a multiple of 16, in bytes; the offset of operands, and
    /// of words, is rounded down to a multiple of 4.
    pub misalignment: u32,
    /// The values of a sort, or further results, one after another.
    pub values: &'static [&'static str],
    /// Offset of the values from a multiple of 16, in bytes.
    pub values_misalignment: u32,
    /// Results in the scratch that are copied to other arguments at the end.
    pub copied: &'static [[&'static str; 2]],
    pub operands: Operands,
    /// Of an input of packed elements.
    pub packed_source: Option<PackedForm>,
    /// Of a result of packed elements.
    pub packed_result: Option<PackedForm>,
}

impl Needs {
    /// With source and result of an element type.
    pub fn elements(self, element: ElementType) -> Self {
        let form = PackedForm::new(element);
        Self { packed_source: form, packed_result: form, ..self }
    }

    /// Source and destination of `room` rows, without values.
    pub fn new(room: u64, misalignment: u32, operands: Operands) -> Self {
        Self {
            room,
            source: "source",
            destination: "destination",
            in_place: false,
            misalignment,
            values: &[],
            values_misalignment: misalignment,
            copied: &[],
            operands,
            packed_source: None,
            packed_result: None,
        }
    }
}

/// The memory of a recording, and its input.
pub(in crate::harness) struct Spans {
    pub pristine: Span,
    /// Directly after `pristine`.
    pub pristine_values: Span,
    pub source: Span,
    pub destination: Span,
    pub values: Span,
    pub scratch: Span,
    /// Of each argument, by its name.
    pub arguments: Vec<(&'static str, Span)>,
    /// Bytes before source and destination in their first words, by the names of the arguments.
    pub offsets: [(&'static str, u64); 2],
}

impl Spans {
    /// The range of an argument; none of one that is not accessed.
    pub fn range(&self, name: &str, memories: &[GpuBuffer]) -> BufferRange {
        let offset = self.offsets.iter().find(|offset| offset.0 == name).map_or(0, |offset| offset.1);
        self.get(name).map_or(BufferRange::NONE, |span| {
            let range = span.range(memories);
            range.slice(offset, range.size - offset)
        })
    }

    pub fn get(&self, name: &str) -> Option<Span> {
        let mut spans = self.arguments.iter().filter(|argument| argument.0 == name);
        spans.next().map(|argument| argument.1).filter(|span| span.count > 0)
    }

    /// All memory; parts of it more than once.
    pub fn all(&self) -> impl Iterator<Item = Span> {
        let all =
            [self.pristine, self.pristine_values, self.source, self.destination, self.values, self.scratch];
        all.into_iter().chain(self.arguments.iter().map(|argument| argument.1))
    }
}

impl CountFrom {
    /// The count of a recording of `count` rows, and the operand of an indirect one.
    pub(super) fn operand(self, name: &'static str, count: u64) -> (Count, Operands) {
        let word = match self {
            Self::Host => return (Count::Direct(count), Vec::new()),
            Self::Device => count as u32,
            Self::DeviceBeyond => u32::MAX - 1,
        };
        let max = self.room(count) as u32;
        (Count::Indirect { address: 0, max }, vec![(name, Arc::new(vec![word]))])
    }
}

/// The scratch, and results in it, each at a multiple of 16 bytes.
const IN_SCRATCH: [&str; 3] = ["scratch", "keys_alt", "values_alt"];

impl Prepared {
    /// A recording of `plan`. Addresses in `buffers` and `count` are replaced; sizes only if they are 0.
    pub(in crate::harness) fn new<P>(
        traffic_size: u64,
        plan: Arc<Plan<P>>,
        mut buffers: P::Buffers,
        count: impl Into<P::Count>,
        mut needs: Needs,
        expected: impl Fn(&[u32]) -> (Expected, Vec<Vec<u32>>) + Send + Sync + 'static,
    ) -> Result<Self>
    where
        P: Primitive<Buffers: Send + Sync + 'static, Count: Send + Sync + 'static>,
    {
        let mut count = count.into();
        for form in [&mut needs.packed_source, &mut needs.packed_result].into_iter().flatten() {
            *form = form.misaligned(needs.misalignment);
        }
        plan.visit_arguments(&mut buffers, &mut count, &mut |argument, memory| {
            let operand = needs.operands.iter().find(|operand| operand.0 == argument.name);
            if let (Memory::Addresses(range), Some((_, words))) = (memory, operand) {
                range.size = size_of_val(&words[..]) as u64;
            }
            Ok(())
        })?;
        let mut arguments = plan.arguments(&buffers, count)?;
        // Also where the recording does not access it.
        let scratch = arguments.iter_mut().find(|argument| argument.role == Role::Scratch);
        scratch.into_iter().for_each(|scratch| scratch.size = plan.scratch_requirements(count.max()).size);
        let policy = plan.policy().to_string();
        let bind = move |range_of: &RangeOf<'_>| -> Result<Box<Record>> {
            let (plan, mut buffers, mut count) = (Arc::clone(&plan), buffers, count);
            plan.visit_arguments(&mut buffers, &mut count, &mut |argument, memory| {
                let range = range_of(argument.name);
                match memory {
                    Memory::Addresses(given) => {
                        let size = if given.size > 0 { given.size } else { argument.size.min(range.size) };
                        *given = AddressRange::new(range.address, size);
                    }
                    Memory::Buffer(given) => *given = range,
                }
                Ok(())
            })?;
            Ok(Box::new(move |recorder| plan.record(recorder, &buffers, count)))
        };
        let (bind, expected) = (Box::new(bind), Box::new(expected));
        Ok(Self { policy, traffic_size, needs, arguments, bind, expected, look_back: None })
    }

    /// Bytes of an argument; 0 if the table lacks it.
    fn size(&self, name: &str) -> u64 {
        self.arguments.iter().find(|argument| argument.name == name).map_or(0, |argument| argument.size)
    }

    /// Words of an argument.
    fn word_count(&self, name: &str) -> u64 {
        self.size(name).div_ceil(4)
    }

    /// Reserves the memory of `case`.
    pub(in crate::harness) fn reserve(&self, arrangement: &mut Arrangement, case: &Case) -> Spans {
        let needs = &self.needs;
        let offsets =
            [needs.packed_source, needs.packed_result].map(|form| form.map_or(0, PackedForm::offset));
        let words = |rows: u64| (offsets[0] + rows * case.work.parameters().row_size()).div_ceil(4);
        let (count, room) = (words(case.count), words(needs.room));
        let values = case.count * case.work.parameters().moved_size() / 4;
        let pristine = arrangement.reserve(count + values, 0);
        let (pristine, pristine_values) = pristine.split_at(count);
        let source = arrangement.reserve(room, needs.misalignment);
        let result_count = (offsets[1] + self.size(needs.destination)).div_ceil(4);
        let destination = match needs.in_place {
            true => source,
            false => arrangement.reserve(room.max(result_count), needs.misalignment),
        };
        let mut arguments = vec![(needs.source, source), (needs.destination, destination)];
        let mut reserve_all = |names: &[&'static str], alignment: u64, misalignment| {
            let (mut parts, mut end) = (Vec::new(), 0u64);
            for &name in names {
                let (first, count) = (end.next_multiple_of(alignment), self.word_count(name));
                parts.push((name, first, count));
                end = if count > 0 { first + count } else { end };
            }
            let all = arrangement.reserve(end, misalignment);
            let part = |(name, first, count)| (name, Span { first: all.first + first, count, ..all });
            arguments.extend(parts.into_iter().map(part));
            all
        };
        let values = reserve_all(needs.values, 1, needs.values_misalignment);
        let scratch = reserve_all(&IN_SCRATCH, 4, 0);
        let operand = |(name, words): &(_, Arc<Vec<u32>>)| {
            (*name, arrangement.reserve(words.len() as u64, needs.misalignment))
        };
        arguments.extend(needs.operands.iter().map(operand));
        let offsets = [(needs.source, offsets[0]), (needs.destination, offsets[1])];
        Spans { pristine, pristine_values, source, destination, values, scratch, arguments, offsets }
    }

    /// The recording, and the copies at its end.
    pub(in crate::harness) fn recording(&self, range_of: &RangeOf<'_>) -> Result<Box<Record>> {
        let record = (self.bind)(range_of)?;
        let copies: Vec<_> = self.needs.copied.iter().map(|names| names.map(range_of)).collect();
        Ok(Box::new(move |recorder| {
            record(recorder)?;
            if !copies.is_empty() {
                recorder.barrier(Barrier::COMPUTE_TO_TRANSFER);
            }
            copies.iter().for_each(|&[source, destination]| recorder.copy(source, destination));
            Ok(())
        }))
    }

    /// The values as one array, with poison after each that is shorter than the argument, the last excepted.
    pub(super) fn joined(&self, values: Vec<Vec<u32>>) -> Vec<u32> {
        let (mut words, mut end) = (Vec::new(), 0);
        for (name, value) in self.needs.values.iter().zip(values) {
            assert!(words.len() <= end, "{name} is after results that are larger than their arguments");
            words.resize(end, POISON);
            words.extend(value);
            end += self.word_count(name) as usize;
        }
        words
    }
}
