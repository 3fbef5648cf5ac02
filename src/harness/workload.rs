//! A case on a device: plan, memory and input, ready to run any number of times.
//!
//! ```text
//!   | guard | pristine input | guard | source | guard | destination | guard | values | guard | scratch | guard |
//! ```
//!
//! Source, destination, values and scratch are initially poisoned. The source is restored from the pristine input
//! before each run, and so are a sort's values, whose pristine copy follows the keys. The other operands of the
//! primitive follow the scratch. With an indirect count the ranges have room for more rows than the count; the rows
//! beyond it keep the poison. Guards detect stores outside of the ranges on every driver. [`Layout::Separate`] gives
//! each range a buffer instead.

mod prepared;

use std::cell::{Cell, RefCell};

use super::cases::{Case, CountFrom, ScanCase, Work};
use super::expected::Expected;
use super::keys;
use super::layout::{Arrangement, GUARD, Layout, Span, broken_guard};
use super::numbers::Numbers;
use super::operands::Operands;
use super::report::LookBackCounts;
use crate::device::{AddressRange, Barrier, BufferRange, CommandCounts, Recorder};
use crate::error::Result;
use crate::gather::GatherBuffers;
use crate::headless::{Gpu, GpuBuffer};
use crate::primitives::Count;
use crate::reference::oracle;
use crate::scan::{InitialValue, ScanBuffers};
use crate::sort::{SegmentedSortBuffers, SortBuffers};
use prepared::{Expectation, Job, Prepared};

const POISON: u32 = 0xdead_beef;

/// A plan, its memory on a device, and the input.
pub struct Workload<'g> {
    gpu: &'g Gpu,
    memories: Vec<GpuBuffer>,
    /// The elements, or a sort's keys.
    input: Vec<u32>,
    /// A sort's values.
    input_values: Vec<u32>,
    expectation: Expectation,
    job: Job,
    pristine: Span,
    /// Directly after `pristine`.
    pristine_values: Span,
    source: Span,
    destination: Span,
    values: Span,
    scratch: Span,
    /// Empty spans for operands that are not in device memory.
    operands: Operands<Span>,
    /// Commands of the last run.
    recorded: Cell<CommandCounts>,
    /// The result of the first run, where rounding depends on the device: later runs must agree.
    first_result: RefCell<Option<Expected>>,
}

/// A wrong word in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The array: `result`, `values`, `source`, `guard`.
    pub what: &'static str,
    /// Index of the first wrong word.
    pub index: u64,
    /// The expected word.
    pub expected: u32,
    /// The word found.
    pub got: u32,
}

impl<'g> Workload<'g> {
    /// Creates the plan, the memory and the input of `case`.
    ///
    /// # Errors
    /// Those of the plan, and [`OutOfDeviceMemory`](crate::Error::OutOfDeviceMemory).
    pub fn new(gpu: &'g Gpu, case: &Case, layout: Layout) -> Result<Self> {
        let Prepared {
            job,
            expectation,
            scratch,
            in_place,
            misalignment,
            room,
            row_size,
            values_size,
            values_misalignment,
            operands,
        } = Prepared::new(gpu, case)?;
        let word_count = case.count * row_size / 4;
        let moved_count = case.size() / 4 - word_count;
        let room = room * row_size / 4;
        let mut arrangement = Arrangement::new(layout, gpu.capabilities().max_allocation_size);
        let all_pristine = arrangement.reserve(word_count + moved_count, 0);
        let (pristine, pristine_values) = all_pristine.split_at(word_count);
        let source = arrangement.reserve(room, misalignment);
        let destination = if in_place { source } else { arrangement.reserve(room, misalignment) };
        let values = arrangement.reserve(values_size / 4, values_misalignment);
        let scratch = arrangement.reserve(scratch.size / 4, 0);
        let spans = operands.as_ref().each(|words| arrangement.reserve(words.len() as u64, misalignment));

        let memories = arrangement.allocate(gpu)?;
        let (count, seed) = (case.count as usize, case.seed());
        let (input, input_values) = match &case.work {
            Work::Scan(ScanCase { element, operator, columns, .. }) => {
                let numbers = Numbers { element: *element, operator: *operator, columns: *columns as usize };
                (numbers.generate(case.input, count, seed), Vec::new())
            }
            Work::Sort(sort) => {
                (keys::keys(sort.element, case.input, count, seed), keys::values(sort.values, count))
            }
            Work::SegmentedSort(sort) => {
                (keys::keys(sort.element, case.input, count, seed), keys::values(sort.values, count))
            }
            Work::Gather(gather) => (gather.source(case.count, seed), Vec::new()),
        };
        let workload = Self {
            gpu,
            memories,
            input,
            input_values,
            expectation,
            job,
            pristine,
            pristine_values,
            source,
            destination,
            values,
            scratch,
            operands: spans,
            recorded: Cell::default(),
            first_result: RefCell::default(),
        };
        workload.fill_memories()?;
        for (span, words) in workload.operands.clone().all().into_iter().zip(operands.all()) {
            workload.gpu.upload(&workload.memories[span.memory], span.first * 4, &words)?;
        }
        Ok(workload)
    }

    /// Writes guards, poison and the pristine input.
    fn fill_memories(&self) -> Result<()> {
        for memory in &self.memories {
            self.fill(memory.range(), GUARD)?;
        }
        for span in [self.source, self.destination, self.values, self.scratch] {
            if span.count > 0 {
                self.fill(span.range(&self.memories), POISON)?;
            }
        }
        for (span, words) in [(self.pristine, &self.input), (self.pristine_values, &self.input_values)] {
            self.gpu.upload(&self.memories[span.memory], span.first * 4, words)?;
        }
        Ok(())
    }

    fn fill(&self, range: BufferRange, word: u32) -> Result<()> {
        self.submit(|recorder| {
            recorder.fill(range, word);
            Ok(())
        })?;
        Ok(())
    }

    /// Restores the input on the device. Scratch keeps the contents of the last run.
    ///
    /// # Errors
    /// Errors of Vulkan.
    pub fn restore(&self) -> Result<()> {
        if self.source.count == 0 {
            return Ok(());
        }
        let scanned = Span { count: self.pristine.count, ..self.source };
        self.submit(|recorder| {
            recorder.copy(self.pristine.range(&self.memories), scanned.range(&self.memories));
            if self.destination != self.source {
                recorder.fill(self.destination.range(&self.memories), POISON);
            }
            if self.pristine_values.count > 0 {
                let sorted = Span { count: self.pristine_values.count, ..self.values };
                recorder.copy(self.pristine_values.range(&self.memories), sorted.range(&self.memories));
            } else if self.values.count > 0 {
                recorder.fill(self.values.range(&self.memories), POISON);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The pristine input on the device, values included. No command writes it.
    pub(super) fn pristine(&self) -> BufferRange {
        let count = self.pristine.count + self.pristine_values.count;
        Span { count, ..self.pristine }.range(&self.memories)
    }

    /// Runs once; returns the GPU time in nanoseconds, if the device has timestamps.
    ///
    /// # Errors
    /// Those of recording and submitting.
    pub fn run(&self) -> Result<Option<f64>> {
        self.submit(|recorder| {
            self.record(recorder)?;
            self.recorded.set(recorder.counts());
            Ok(())
        })
    }

    /// Runs once with upload of the input and download of the result.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub fn run_end_to_end(&self) -> Result<()> {
        for (span, words) in [(self.source, &self.input), (self.values, &self.input_values)] {
            self.gpu.upload(&self.memories[span.memory], span.first * 4, words)?;
        }
        self.run()?;
        for (span, count) in [(self.destination, self.pristine.count), (self.values, self.values.count)] {
            let words = self.gpu.read_from(&self.memories[span.memory], span.first * 4, count as usize)?;
            std::hint::black_box(words);
        }
        Ok(())
    }

    /// Records a run without submitting it; returns the wall-clock time in nanoseconds.
    ///
    /// # Errors
    /// Those of the plan.
    pub(super) fn time_recording(&self) -> Result<f64> {
        // SAFETY: all memory is of this device and lives as long as the workload.
        unsafe { self.gpu.time_recording(|recorder| self.record(recorder)) }
    }

    /// Commands of the last run: those of the plan, and the copies that bring back a result in the alternate buffers.
    pub fn recorded(&self) -> CommandCounts {
        self.recorded.get()
    }

    fn record(&self, recorder: &mut Recorder<'_>) -> Result<()> {
        let scratch = match self.scratch.count {
            0 => BufferRange::NONE,
            _ => self.scratch.range(&self.memories),
        };
        let source = self.source.range(&self.memories).addresses();
        let destination = self.destination();
        let operands = self.operands.clone().each(|span| span.range(&self.memories).addresses());
        match &self.job {
            Job::Scan { plan, initial, count_from } => {
                let room = self.source.count * 4 / plan.config().row_size();
                let initial = match initial {
                    InitialValue::Device(_) => InitialValue::Device(operands.initial),
                    known => *known,
                };
                let count = count(*count_from, operands.count, room);
                let buffers = ScanBuffers::new(source, destination, scratch);
                plan.record(recorder, &buffers.initial(initial).segments(operands.segments), count)
            }
            Job::Sort { plan, count_from } => {
                let room = self.source.count * 4 / plan.config().key_size();
                let values = self.values.range(&self.memories);
                let count = count(*count_from, operands.count, room);
                let mut buffers = SortBuffers::new(source, scratch).values(values.addresses());
                if !plan.config().is_double_buffered() {
                    return plan.record(recorder, &buffers, count);
                }
                let scratch_size = plan.scratch_requirements(room).size;
                let keys_offset = scratch_size.next_multiple_of(16);
                let keys_alt = scratch.slice(keys_offset, source.size);
                let values_offset = keys_offset + source.size.next_multiple_of(16);
                let values_alt = scratch.slice(values_offset, values.size);
                buffers.scratch = scratch.slice(0, scratch_size);
                let buffers = buffers.alternates(keys_alt.addresses(), values_alt.addresses());
                plan.record(recorder, &buffers, count)?;
                if plan.is_result_in_alt(room) {
                    recorder.barrier(Barrier::COMPUTE_TO_TRANSFER);
                    let pairs = [(keys_alt, self.source), (values_alt, self.values)];
                    for (alternate, span) in pairs.into_iter().filter(|(alternate, _)| alternate.size > 0) {
                        recorder.copy(alternate, span.range(&self.memories));
                    }
                }
                Ok(())
            }
            Job::SegmentedSort { plan, count_from, .. } => {
                let buffers = SegmentedSortBuffers::new(source, operands.segments, scratch);
                let buffers = buffers.values(self.values.range(&self.memories).addresses());
                let room = self.source.count * 4 / plan.config().sort().key_size();
                let segment_room = operands.segments.size / 4;
                // The segment count follows the key count.
                let of_segments = AddressRange::new(operands.count.address + 4, 4);
                let segment_count = count(*count_from, of_segments, segment_room);
                let count = count(*count_from, operands.count, room);
                plan.record(recorder, &buffers, (count, segment_count))
            }
            Job::Gather { plan, count_from } => {
                let room = self.destination.count * 4 / plan.config().element_size();
                // The elements only, without the room after them.
                let source = AddressRange::new(source.address, self.pristine.count * 4);
                let buffers = GatherBuffers::new(source, operands.indices, destination).scratch(scratch);
                plan.record(recorder, &buffers, count(*count_from, operands.count, room))
            }
        }
    }

    /// Look-back statistics of a chained scan, from one more run with counters. `None` for other work, a single tile,
    /// and elements or alignments without a counting kernel.
    ///
    /// # Errors
    /// Those of creating the pipelines, recording and submitting.
    pub fn look_back(&self) -> Result<Option<LookBackCounts>> {
        let Job::Scan { plan, .. } = &self.job else { return Ok(None) };
        let (source, destination) = (self.source.range(&self.memories).addresses(), self.destination());
        let count = self.source.count * 4 / plan.config().row_size();
        let is_aligned = source.is_aligned(16) && destination.is_aligned(16);
        if count <= plan.policy().tile_items().into() || !is_aligned {
            return Ok(None);
        }
        let Some(counted) = plan.counted()? else { return Ok(None) };
        let buffers = ScanBuffers::new(source, destination, self.scratch.range(&self.memories));
        let counts = self.gpu.allocate(16)?;
        self.gpu.upload(&counts, 0, &[0; 4])?;
        let mut look_backs = 0;
        self.submit(|recorder| {
            look_backs = counted.record(recorder, &buffers, counts.range().addresses(), count)?;
            Ok(())
        })?;
        let mut words = [0; 4];
        self.gpu.download(&counts, &mut words)?;
        let [windows, spins, fallbacks, longest] = words;
        Ok(Some(LookBackCounts { look_backs, windows, longest, spins, fallbacks }))
    }

    fn submit(&self, record: impl FnOnce(&mut Recorder<'_>) -> Result<()>) -> Result<Option<f64>> {
        // SAFETY: the workload owns the memory and the plan, which live until `submit` has waited.
        unsafe { self.gpu.submit(record) }
    }

    /// The range of the result.
    pub fn destination(&self) -> AddressRange {
        self.destination.range(&self.memories).addresses()
    }

    /// The policy in use, as text.
    pub fn policy(&self) -> String {
        match &self.job {
            Job::Scan { plan, .. } => plan.policy().to_string(),
            Job::Sort { plan, .. } => plan.policy().to_string(),
            Job::SegmentedSort { plan, .. } => plan.policy().to_string(),
            Job::Gather { plan, .. } => plan.policy().to_string(),
        }
    }

    /// Bytes of elements that the algorithm reads and writes, without auxiliary data.
    pub fn traffic_size(&self) -> u64 {
        let size = self.pristine.count * 4;
        match &self.job {
            Job::Scan { plan, .. } => plan.traffic_size(size / plan.config().row_size()),
            Job::Sort { plan, .. } => plan.traffic_size(size / plan.config().key_size()),
            Job::SegmentedSort { plan, begins, .. } => {
                let count = size / plan.config().sort().key_size();
                let ends = begins.iter().skip(1).map(|&begin| u64::from(begin)).chain([count]);
                plan.traffic_size(begins.iter().zip(ends).map(|(&begin, end)| end - u64::from(begin)))
            }
            Job::Gather { plan, .. } => plan.traffic_size(size / plan.config().element_size()),
        }
    }

    /// Reads all memory back and checks the result against the oracle, the source for changes, and every guard.
    ///
    /// # Errors
    /// Errors of Vulkan. A wrong result is not an error but the first mismatch.
    pub fn check(&self) -> Result<Option<Mismatch>> {
        let image = |memory: &GpuBuffer| self.gpu.read(memory, (memory.range().size / 4) as usize);
        let images = self.memories.iter().map(image).collect::<Result<Vec<_>>>()?;
        let words = |span: Span| &images[span.memory][span.words()];
        let (expected, expected_values) = match &self.expectation {
            Expectation::Scan(scan) => (scan.of(&self.input), Vec::new()),
            Expectation::Sort(sort) => {
                let sorted = sort.of(&self.input);
                (Expected::exact(sorted.keys), sorted.values)
            }
            Expectation::SegmentedSort { sort, begins } => {
                let sorted = sort.of_segments(&self.input, begins, POISON);
                (Expected::exact(sorted.keys), sorted.values)
            }
            Expectation::Gather { words, indices } => {
                (Expected::exact(oracle::gather(&self.input, *words, indices)), Vec::new())
            }
        };
        let (result, beyond) = words(self.destination).split_at(self.pristine.count as usize);
        if let Some(mismatch) = expected.mismatch(result) {
            return Ok(Some(mismatch));
        }
        let (values, beyond_values) = words(self.values).split_at(expected_values.len());
        if let Some(mismatch) = first_mismatch("values", values, &expected_values) {
            return Ok(Some(mismatch));
        }
        if let Some(again) = expected.of_another_run(result) {
            let mut first = self.first_result.borrow_mut();
            if let Some(mismatch) = first.get_or_insert(again).mismatch(result) {
                return Ok(Some(Mismatch { what: "result of another run", ..mismatch }));
            }
        }
        let (source, _) = words(self.source).split_at(self.input.len());
        if self.destination != self.source
            && let Some(mismatch) = first_mismatch("source", source, &self.input)
        {
            return Ok(Some(mismatch));
        }
        let all_beyond = [
            ("result beyond the count", result.len(), beyond),
            ("values beyond the count", values.len(), beyond_values),
        ];
        for (what, first, beyond) in all_beyond {
            if let Some(index) = beyond.iter().position(|&word| word != POISON) {
                let (index, got) = ((first + index) as u64, beyond[index]);
                return Ok(Some(Mismatch { what, index, expected: POISON, got }));
            }
        }
        let operands = self.operands.clone().all();
        let all_pristine = [self.pristine, self.pristine_values];
        let written = [self.source, self.destination, self.values, self.scratch];
        let spans = all_pristine.into_iter().chain(written).chain(operands);
        let broken = images.iter().enumerate().find_map(|(memory, image)| {
            let index = broken_guard(image, spans.clone().filter(|span| span.memory == memory))?;
            Some(Mismatch { what: "guard", index: index as u64, expected: GUARD, got: image[index] })
        });
        Ok(broken)
    }
}

/// The count of `room` rows, or an indirect count at `on_device`.
fn count(from: CountFrom, on_device: AddressRange, room: u64) -> Count {
    match from {
        CountFrom::Host => Count::Host(room),
        CountFrom::Device | CountFrom::DeviceBeyond => {
            Count::Device { address: on_device.address, max: room as u32 }
        }
    }
}

fn first_mismatch(what: &'static str, got: &[u32], expected: &[u32]) -> Option<Mismatch> {
    let index = got.iter().zip(expected).position(|(got, expected)| got != expected)?;
    Some(Mismatch { what, index: index as u64, expected: expected[index], got: got[index] })
}
