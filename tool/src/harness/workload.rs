//! A case on a device: plan, memory and input, ready to run any number of times.
//!
//! ```text
//!   | guard | pristine input | guard | source | guard | destination | guard | values | guard | scratch | guard |
//! ```
//!
//! Source, destination, values and scratch are initially poisoned. The source is restored from the pristine input
//! before each run, and so are a sort's values, whose pristine copy follows the keys. The other operands of the
//! primitive follow the scratch. With an indirect count the ranges have room for more rows than the count; the rows
//! beyond it keep the poison. Guards detect stores outside of the ranges on every driver. [`BufferLayout::Separate`]
//! gives each range a buffer instead.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::cases::{Case, Expectation, Ready, Record, Spans};
use super::comparer::{Comparer, Reference};
use super::expected::Expected;
use super::layout::{Arrangement, BufferLayout, GUARD, POISON, Span, broken_guard, gaps};
use super::look_back::LookBackCounts;
use subsweep::device::{AddressRange, BufferRange, CommandCounts, Recorder};
use subsweep::error::Result;
use subsweep::headless::{Gpu, GpuBuffer};

/// A plan, its memory on a device, and the input.
pub struct Workload<'g> {
    gpu: &'g Gpu,
    memories: Vec<GpuBuffer>,
    ready: Ready,
    record: Box<Record>,
    spans: Spans,
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
    /// Errors of the plan, and [`OutOfDeviceMemory`](subsweep::Error::OutOfDeviceMemory).
    pub fn new(gpu: &'g Gpu, case: &Case, layout: BufferLayout) -> Result<Self> {
        let ready = Ready::new(case, case.plan(gpu)?, Arc::default())?;
        Self::with_ready(gpu, case, layout, ready)
    }

    /// Creates the memory of a case, and compiles the pipelines that its recording binds.
    ///
    /// # Errors
    /// [`OutOfDeviceMemory`](subsweep::Error::OutOfDeviceMemory), and the errors of `vkCreateComputePipelines`.
    pub(super) fn with_ready(gpu: &'g Gpu, case: &Case, layout: BufferLayout, ready: Ready) -> Result<Self> {
        let mut arrangement = Arrangement::new(layout, gpu.capabilities().max_allocation_size);
        let spans = ready.prepared.reserve(&mut arrangement, case);
        let memories = arrangement.allocate(gpu)?;
        let workload = Self {
            gpu,
            record: ready.prepared.recording(&|name| spans.range(name, &memories))?,
            memories,
            ready,
            spans,
            recorded: Cell::default(),
            first_result: RefCell::default(),
        };
        Recorder::compile(gpu.device(), |recorder| workload.record(recorder))?;
        workload.fill_memories()?;
        for (name, words) in &workload.ready.prepared.needs.operands {
            if let Some(span) = workload.spans.get(name) {
                workload.upload(span, words)?;
            }
        }
        Ok(workload)
    }

    /// Writes guards, poison and the pristine input.
    fn fill_memories(&self) -> Result<()> {
        for memory in &self.memories {
            self.fill(memory.range(), GUARD)?;
        }
        let Spans { source, destination, values, scratch, .. } = self.spans;
        for span in [source, destination, values, scratch] {
            if span.count > 0 {
                self.fill(self.range(span), POISON)?;
            }
        }
        for (span, words) in
            [self.spans.pristine, self.spans.pristine_values].into_iter().zip(&*self.ready.input)
        {
            self.upload(span, words)?;
        }
        Ok(())
    }

    fn range(&self, span: Span) -> BufferRange {
        span.range(&self.memories)
    }

    fn upload(&self, span: Span, words: &[u32]) -> Result<()> {
        self.gpu.upload(&self.memories[span.memory], span.first * 4, words)
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
        let scanned = Span { count: self.spans.pristine.count, ..self.spans.source };
        self.submit(|recorder| {
            recorder.copy(self.range(self.spans.pristine), self.range(scanned));
            if self.spans.destination != self.spans.source {
                recorder.fill(self.range(self.spans.destination), POISON);
            }
            if self.spans.pristine_values.count > 0 {
                let sorted = Span { count: self.spans.pristine_values.count, ..self.spans.values };
                recorder.copy(self.range(self.spans.pristine_values), self.range(sorted));
            } else if self.spans.values.count > 0 {
                recorder.fill(self.range(self.spans.values), POISON);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The pristine input on the device, values included. No command writes it.
    pub(super) fn pristine(&self) -> BufferRange {
        let count = self.spans.pristine.count + self.spans.pristine_values.count;
        Span { count, ..self.spans.pristine }.range(&self.memories)
    }

    /// Runs once; returns the GPU time in nanoseconds, if the device has timestamps.
    ///
    /// # Errors
    /// Errors of recording and submitting.
    pub fn run(&self) -> Result<Option<f64>> {
        self.submit(|recorder| {
            self.record(recorder)?;
            self.recorded.set(recorder.counts());
            Ok(())
        })
    }

    /// Times `run_count` runs in as few submissions as possible. Before each `prepare` records the copies, from one range to
    /// another, that restore what a run replaces, and whatever else it wants. Returns the nanoseconds of each.
    ///
    /// # Errors
    /// Errors of [`Self::run`], and of `prepare`.
    pub fn time(
        &self,
        run_count: u32,
        prepare: impl Fn(&mut Recorder<'_>, &[[BufferRange; 2]]) -> Result<()>,
    ) -> Result<Vec<f64>> {
        let mut replaced = Vec::new();
        if self.spans.destination == self.spans.source && self.spans.source.count > 0 {
            replaced.push([self.range(self.spans.pristine), self.range(self.spans.source)]);
        }
        if self.spans.pristine_values.count > 0 {
            replaced.push([self.range(self.spans.pristine_values), self.range(self.spans.values)]);
        }
        let prepare = |recorder: &mut Recorder<'_>| {
            prepare(recorder, &replaced)?;
            Ok(!replaced.is_empty())
        };
        let record = |recorder: &mut Recorder<'_>| {
            self.record(recorder)?;
            self.recorded.set(recorder.counts());
            Ok(())
        };
        // SAFETY: the workload owns the memory and the plan, which live until this has waited.
        unsafe { self.gpu.submit_runs(run_count, prepare, record) }
    }

    /// Runs once with upload of the input and download of the result.
    ///
    /// # Errors
    /// Errors of [`Self::run`].
    pub fn run_end_to_end(&self) -> Result<()> {
        for (span, words) in [self.spans.source, self.spans.values].into_iter().zip(&*self.ready.input) {
            self.upload(span, words)?;
        }
        self.run()?;
        for (span, count) in [
            (self.spans.destination, self.spans.pristine.count),
            (self.spans.values, self.spans.values.count),
        ] {
            let words = self.gpu.read_from(&self.memories[span.memory], span.first * 4, count as usize)?;
            std::hint::black_box(words);
        }
        Ok(())
    }

    /// Records a run without submitting it; returns the wall-clock time in nanoseconds.
    ///
    /// # Errors
    /// Errors of the plan.
    pub(super) fn time_recording(&self) -> Result<f64> {
        // SAFETY: all memory is of this device and lives as long as the workload.
        unsafe { self.gpu.time_recording(|recorder| self.record(recorder)) }
    }

    /// Commands of the last run: the commands of the plan, and the copies that bring back a result in the alternate buffers.
    pub fn recorded(&self) -> CommandCounts {
        self.recorded.get()
    }

    fn record(&self, recorder: &mut Recorder<'_>) -> Result<()> {
        (self.record)(recorder)
    }

    /// Look-back statistics of a chained scan, from one more run with counters. `None` for other work, a single tile,
    /// and elements or alignments without a counting kernel.
    ///
    /// # Errors
    /// Errors of creating the pipelines, recording and submitting.
    pub fn look_back(&self) -> Result<Option<LookBackCounts>> {
        match &self.ready.prepared.look_back {
            Some(look_back) => look_back(self.gpu, &|name| self.spans.range(name, &self.memories)),
            None => Ok(None),
        }
    }

    fn submit(&self, record: impl FnOnce(&mut Recorder<'_>) -> Result<()>) -> Result<Option<f64>> {
        // SAFETY: the workload owns the memory and the plan, which live until `submit` has waited.
        unsafe { self.gpu.submit(record) }
    }

    /// The range of the result.
    pub fn destination(&self) -> AddressRange {
        self.range(self.spans.destination).addresses()
    }

    /// The policy in use, as text.
    pub fn policy(&self) -> &str {
        &self.ready.prepared.policy
    }

    /// Bytes of elements that the algorithm reads and writes, without auxiliary data.
    pub fn traffic_size(&self) -> u64 {
        self.ready.prepared.traffic_size
    }

    /// As [`Self::check`], on the device as far as it can be: all memory is compared there, and read back only if a word
    /// differs, or to check the first of several results that may be rounded.
    ///
    /// # Errors
    /// Errors of Vulkan.
    pub(super) fn verify(&self, comparer: &Comparer<'_>) -> Result<Option<Mismatch>> {
        let Expectation { result, values, on_device } = &**self.ready.expectation();
        if on_device.get().is_none() && result.is_exact() {
            let _ = on_device.set([filled(self.gpu, result.words())?, filled(self.gpu, values)?]);
        }
        let mut difference = None;
        if let Some(right) = on_device.get() {
            difference = comparer.first_difference(&self.references(right))?;
            if difference.is_none() {
                return Ok(None);
            }
        }
        let mismatch = self.check()?;
        // Of results that may be rounded any NaN equals any NaN, which the device does not know.
        if let (None, Some(index), true) = (&mismatch, difference, result.is_exact()) {
            let what = "result as the device reads it";
            return Ok(Some(Mismatch { what, index: index.into(), expected: 0, got: 0 }));
        }
        if mismatch.is_none() && on_device.get().is_none() {
            let _ = on_device.set(self.copy_of_results()?);
        }
        Ok(mismatch)
    }

    /// Every array that [`Self::check`] looks at, with what it must equal.
    fn references(&self, [result, values]: &[Option<GpuBuffer>; 2]) -> Vec<(BufferRange, Reference)> {
        let expectation = self.ready.expectation();
        let result_count = expectation.result.word_count() as u64;
        let mut references = Vec::new();
        let mut compare = |span: Span, reference| {
            if span.count > 0 {
                references.push((self.range(span), reference));
            }
        };
        for (span, count, right) in [
            (self.spans.destination, result_count, result),
            (self.spans.values, expectation.values.len() as u64, values),
        ] {
            if let Some(right) = right {
                compare(span.split_at(count).0, Reference::Array(right.range()));
            }
        }
        let pristine = Reference::Array(self.range(self.spans.pristine));
        if self.spans.destination != self.spans.source {
            compare(self.spans.source.split_at(self.spans.pristine.count).0, pristine);
        }
        for (span, count) in
            [(self.spans.destination, result_count), (self.spans.values, expectation.values.len() as u64)]
        {
            compare(span.split_at(count).1, Reference::Word(POISON));
        }
        for (memory, buffer) in self.memories.iter().enumerate() {
            let size = (buffer.range().size / 4) as usize;
            for gap in gaps(size, self.spans.all().filter(|span| span.memory == memory)) {
                let span = Span { memory, first: gap.start as u64, count: gap.len() as u64 };
                compare(span, Reference::Word(GUARD));
            }
        }
        references
    }

    /// Copies of the result and the values on the device.
    fn copy_of_results(&self) -> Result<[Option<GpuBuffer>; 2]> {
        let expectation = self.ready.expectation();
        let copy = |span: Span, count: usize| {
            if count == 0 {
                return Ok(None);
            }
            let source = span.split_at(count as u64).0.range(&self.memories);
            let copy = self.gpu.allocate(source.size)?;
            self.submit(|recorder| {
                recorder.copy(source, copy.range());
                Ok(())
            })?;
            Ok(Some(copy))
        };
        Ok([
            copy(self.spans.destination, expectation.result.word_count())?,
            copy(self.spans.values, expectation.values.len())?,
        ])
    }

    /// Reads all memory back and checks the result against the oracle, the source for changes, and every guard.
    ///
    /// # Errors
    /// Errors of Vulkan. A wrong result is not an error but the first mismatch.
    pub fn check(&self) -> Result<Option<Mismatch>> {
        let image = |memory: &GpuBuffer| self.gpu.read(memory, (memory.range().size / 4) as usize);
        let images = self.memories.iter().map(image).collect::<Result<Vec<_>>>()?;
        let words = |span: Span| &images[span.memory][span.words()];
        let Expectation { result: expected, values: expected_values, .. } = &**self.ready.expectation();
        let (result, beyond) = words(self.spans.destination).split_at(expected.word_count());
        if let Some(mismatch) = expected.mismatch(result) {
            return Ok(Some(mismatch));
        }
        let (values, beyond_values) = words(self.spans.values).split_at(expected_values.len());
        if let Some(mismatch) = first_mismatch("values", values, expected_values) {
            return Ok(Some(mismatch));
        }
        if let Some(again) = expected.of_another_run(result) {
            let mut first = self.first_result.borrow_mut();
            if let Some(mismatch) = first.get_or_insert(again).mismatch(result) {
                return Ok(Some(Mismatch { what: "result of another run", ..mismatch }));
            }
        }
        let [input, _] = &*self.ready.input;
        let (source, _) = words(self.spans.source).split_at(input.len());
        if self.spans.destination != self.spans.source
            && let Some(mismatch) = first_mismatch("source", source, input)
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
        let broken = images.iter().enumerate().find_map(|(memory, image)| {
            let index = broken_guard(image, self.spans.all().filter(|span| span.memory == memory))?;
            Some(Mismatch { what: "guard", index: index as u64, expected: GUARD, got: image[index] })
        });
        Ok(broken)
    }
}

fn first_mismatch(what: &'static str, got: &[u32], expected: &[u32]) -> Option<Mismatch> {
    let index = got.iter().zip(expected).position(|(got, expected)| got != expected)?;
    Some(Mismatch { what, index: index as u64, expected: expected[index], got: got[index] })
}

/// A buffer with these words; none for no words.
fn filled(gpu: &Gpu, words: &[u32]) -> Result<Option<GpuBuffer>> {
    if words.is_empty() { Ok(None) } else { gpu.allocate_with(words).map(Some) }
}
