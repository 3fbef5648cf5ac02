//! A case without its memory on a device: plan, operands, recording and oracle.

use std::sync::Arc;

use super::CountFrom;
use crate::harness::expected::Expected;
use crate::harness::look_back::LookBackCounts;
use subsweep::device::{AddressRange, BufferRange, Recorder};
use subsweep::error::Result;
use subsweep::headless::Gpu;
use subsweep::{Count, Plan, Primitive, ScratchRequirements};

/// A plan, the memory of its recording, and the oracle.
pub struct Prepared {
    /// The policy in use, as text.
    pub(in crate::harness) policy: String,
    /// Bytes of elements that the algorithm reads and writes, without auxiliary data.
    pub(in crate::harness) traffic_size: u64,
    pub(in crate::harness) needs: Needs,
    pub(in crate::harness) record: Box<Record>,
    pub(in crate::harness) expected: Box<Oracle>,
    /// Counts the look-back of one more run, where a kernel with counters exists.
    pub(in crate::harness) look_back: Option<Box<LookBack>>,
}

impl Prepared {
    /// A recording of `plan`, with the buffers and the count that `operands` takes from the memory.
    pub(in crate::harness) fn new<P: Primitive, C: Into<P::Count>>(
        traffic_size: u64,
        plan: Arc<Plan<P>>,
        needs: Needs,
        operands: impl Fn(&Ranges) -> (P::Buffers, C) + Send + Sync + 'static,
        expected: impl Fn(&[u32]) -> (Expected, Vec<u32>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            policy: plan.policy().to_string(),
            traffic_size,
            needs,
            record: Box::new(move |recorder, ranges| {
                let (buffers, count) = operands(ranges);
                plan.record(recorder, &buffers, count)
            }),
            expected: Box::new(expected),
            look_back: None,
        }
    }
}

/// Records a run.
type Record = dyn Fn(&mut Recorder<'_>, &Ranges) -> Result<()> + Send + Sync;

/// Computes the expected result, and the expected values of a sort, from the input.
type Oracle = dyn Fn(&[u32]) -> (Expected, Vec<u32>) + Send + Sync;

type LookBack = dyn Fn(&Gpu, &Ranges) -> Result<Option<LookBackCounts>> + Send + Sync;

/// Memory that a recording needs.
pub(in crate::harness) struct Needs {
    /// Rows that source and destination have room for.
    pub room: u64,
    /// Whether source and destination are the same range.
    pub in_place: bool,
    /// Offset of source, destination and operands from a multiple of 16, in bytes.
    pub misalignment: u32,
    /// Bytes of all values, or of an argsort's indices.
    pub values_size: u64,
    /// Offset of the values from a multiple of 16, in bytes.
    pub values_misalignment: u32,
    pub scratch_size: u64,
    pub operands: Operands,
}

impl Needs {
    /// Source and destination of `room` rows, without values.
    pub fn new(room: u64, misalignment: u32, scratch: ScratchRequirements, operands: Operands) -> Self {
        Self {
            room,
            in_place: false,
            misalignment,
            values_size: 0,
            values_misalignment: misalignment,
            scratch_size: scratch.size,
            operands,
        }
    }
}

/// The words of each operand, shared by the cases of a work.
pub(in crate::harness) type Contents = Vec<Arc<Vec<u32>>>;

/// Arrays that a recording only reads, beside its source.
#[derive(Default)]
pub(in crate::harness) struct Operands(pub Contents);

/// An array of [`Operands`].
#[derive(Clone, Copy)]
pub(in crate::harness) struct Operand(usize);

/// The count of a recording.
#[derive(Clone, Copy)]
pub(in crate::harness) struct CountOperand {
    /// The count, or the maximum of an indirect one.
    pub room: u64,
    indirect: Option<Operand>,
}

/// The memory of a recording.
pub(in crate::harness) struct Ranges {
    pub source: BufferRange,
    pub destination: BufferRange,
    pub values: BufferRange,
    pub scratch: BufferRange,
    pub operands: Vec<AddressRange>,
}

impl Operands {
    /// The count of `count` rows as the first array, if it is indirect.
    pub fn of_count(from: CountFrom, count: u64) -> (Self, CountOperand) {
        let mut operands = Self::default();
        let counted = operands.add_count(from, count);
        (operands, counted)
    }

    pub fn add(&mut self, words: impl Into<Arc<Vec<u32>>>) -> Operand {
        self.0.push(words.into());
        Operand(self.0.len() - 1)
    }

    /// Adds the count of `count` rows, if it is indirect.
    pub fn add_count(&mut self, from: CountFrom, count: u64) -> CountOperand {
        let word = match from {
            CountFrom::Host => None,
            CountFrom::Device => Some(count as u32),
            CountFrom::DeviceBeyond => Some(u32::MAX - 1),
        };
        CountOperand { room: from.room(count), indirect: word.map(|word| self.add(vec![word])) }
    }
}

impl Ranges {
    pub fn operand(&self, Operand(index): Operand) -> AddressRange {
        self.operands[index]
    }

    pub fn count(&self, CountOperand { room, indirect }: CountOperand) -> Count {
        match indirect {
            None => Count::Direct(room),
            Some(count) => Count::Indirect { address: self.operand(count).address, max: room as u32 },
        }
    }
}
