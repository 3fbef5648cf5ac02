//! Sort of more keys than the memory holds: chunks are sorted on the device and kept as runs, which are merged on the device,
//! or where that is a CPU, on the host.
//!
//! ```text
//!   keys, values ─► chunk ─► sort ─► run ─┐
//!   keys, values ─► chunk ─► sort ─► run ─┼─► merge of up to 64 ─► keys, values
//!   …                                     ┘
//! ```
//!
//! One chunk is read and copied to the device while the one before is sorted there, and the one before that is copied back and
//! written. Keys that fit the device together are a single chunk. A single chunk is no run: it goes to the sinks at once.
//!
//! [`merge_parts`] merges what is sorted in memory, such as what other ranks have sent.

mod blocks;
mod device_merge;
mod merge;
mod order;
#[cfg(feature = "mpi")]
mod parts;
mod progress;
mod room;
mod rounds;
mod runs;

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

use super::copies::Copies;
use super::scan_stream::StreamError;
use super::stages::Stages;
use super::{Gpu, GpuBuffer, scratch_range};
use crate::error::{Result, refuse_if};
use crate::reading::read_full;
use crate::sort::{SortBuffers, SortConfig, SortPlan};
use device_merge::DeviceMerge;
use order::KeyBits;
pub(crate) use order::KeyOrder;
#[cfg(feature = "mpi")]
pub(crate) use parts::merge_parts;
use progress::Meter;
pub use progress::{SortPhase, SortProgress};
use room::{CHUNKS, Room};
use rounds::{Merging, of_temporary, write_to};
use runs::{KEYS, Run, SAMPLE_DISTANCE, VALUES, limit_samples};

/// Memory besides chunks, blocks and samples: staging buffers, and what allocators keep.
const FIXED_SIZE: u64 = (8 << 20) + 3 * Copies::SIZE;
/// The least memory, bytes.
const MIN_MEMORY: u64 = FIXED_SIZE + (8 << 20);
/// Which part of the memory the samples of runs may have.
const SAMPLES_PART: u64 = 32;

/// Inputs and options of [`Gpu::sort_stream`].
pub struct SortStream<'a> {
    /// The keys.
    pub keys: &'a mut (dyn Read + Send),
    /// Their values, of pairs.
    pub values: Option<&'a mut (dyn Read + Send)>,
    /// Receives the sorted keys; `None` for an argsort.
    pub sorted_keys: Option<&'a mut (dyn Write + Send)>,
    /// Receives the values, or the indices: of u32, and of more than 2^32 keys of u64.
    pub sorted_values: Option<&'a mut (dyn Write + Send)>,
    /// Number of keys, if known: for few keys the memory is smaller.
    pub count: Option<u64>,
    /// Limit of the memory on host and device together, bytes; at least 28 MiB.
    pub memory_size: Option<u64>,
    /// Most bytes of the keys in a chunk; by default as many as fit.
    pub chunk_size: Option<u64>,
    /// Whether arrays are copied, and runs merged on the device; by default where that is no CPU, whose memory is the host's. Runs
    /// of keys that are compared by some of their bits are merged on the host.
    pub as_on_gpu: Option<bool>,
    /// Makes an empty temporary file, which is removed when it is closed. Runs take as many bytes as keys and values, and
    /// of an index 8 where `count` is not known.
    pub temporary: &'a mut (dyn FnMut() -> io::Result<File> + Send),
    /// Is called as the sort proceeds: by chunks, and by blocks of merges.
    pub progress: Option<&'a mut (dyn FnMut(SortProgress) + Send)>,
}

/// Sorts chunks.
struct ChunkSort<'g> {
    gpu: &'g Gpu,
    plan: Arc<SortPlan>,
    /// Bytes of a key, and of a value on the device.
    sizes: [u64; 2],
    /// Keys of a whole chunk.
    capacity: u64,
    scratch: Option<GpuBuffer>,
    is_staged: bool,
}

/// Keys and values on the device.
type Arrays = [GpuBuffer; 2];

struct SortChunk {
    buffers: Arrays,
    count: u64,
    /// Whether it has all keys.
    is_only: bool,
}

/// Keys, and values of pairs.
struct Sources<'a> {
    keys: &'a mut (dyn Read + Send),
    values: Option<&'a mut (dyn Read + Send)>,
}

/// Of keys, and of values or indices.
type Sinks<'a> = [Option<&'a mut (dyn Write + Send)>; 2];

impl Gpu {
    /// Sorts keys, and permutes their values likewise, from sources to sinks; there may be more than host and device hold.
    /// The form of the configuration has no effect. Returns the number of keys.
    ///
    /// `count` keys that fit the device, and `memory_size`, with their values and the scratch are sorted at once. Others, and those whose
    /// `count` is not known, with values of up to 8 bytes, are
    /// sorted in chunks, which are written to a temporary file and merged, up to 64 at a time: on the device, or by all cores
    /// of the host ([`SortStream::as_on_gpu`]).
    ///
    /// # Errors
    /// [`StreamError::Read`], of kind `UnexpectedEof` if a source ends within a key or a value, or the values before or
    /// after the keys, of kind `InvalidData` if there are not `count` keys; [`StreamError::Write`];
    /// [`StreamError::Temporary`]; [`StreamError::Memory`]; the errors of [`Gpu::sort_bytes`]. The sinks may have a part of the
    /// result then.
    pub fn sort_stream(&self, config: SortConfig, stream: SortStream<'_>) -> Result<u64, StreamError> {
        match config.key_size() {
            1 => self.sort_stream_of::<u8>(config, stream),
            2 => self.sort_stream_of::<u16>(config, stream),
            4 => self.sort_stream_of::<u32>(config, stream),
            _ => self.sort_stream_of::<u64>(config, stream),
        }
    }

    fn sort_stream_of<K: KeyBits>(
        &self,
        config: SortConfig,
        stream: SortStream<'_>,
    ) -> Result<u64, StreamError> {
        let SortStream { keys, values, sorted_keys, sorted_values, count, temporary, .. } = stream;
        // Without values there are none to read.
        let values = values.filter(|_| config.value_size() > 0);
        let (sources, mut sinks) = (Sources { keys, values }, [sorted_keys, sorted_values]);
        let as_on_gpu = stream.as_on_gpu.unwrap_or(!self.capabilities().is_cpu());
        let given = stream.memory_size.unwrap_or(u64::MAX);
        if given < MIN_MEMORY {
            return Err(StreamError::Memory { needed: MIN_MEMORY, given });
        }
        // Samples of runs, and of the runs that they are merged into.
        let sample_size = (given - FIXED_SIZE) / SAMPLES_PART;
        let memory_size = given - FIXED_SIZE - 2 * sample_size;
        let room = Room::new(self, config, memory_size, stream.chunk_size.unwrap_or(u64::MAX));
        let size = count.map(|count| count.saturating_mul(room.item_size()));
        if let Some((plan, count)) = room.at_once(count)? {
            let sort = ChunkSort::new(self, plan, room.sizes, count, as_on_gpu)?;
            sort.run_at_once(sources, &mut sinks, &mut Meter::new(stream.progress, size))?;
            return Ok(count);
        }
        let reason = "a sort in chunks, or of keys whose count is not given, takes values of 4 or 8 bytes; for larger ones use an argsort";
        refuse_if(config.moves_values_once(), reason)?;
        let (plan, capacity) = room.chunks(count)?;
        let order = KeyOrder::new(&config);
        let has_indices = config.begins_as_indices();
        // Where the count is not known, indices in runs are wide.
        let is_wide = count.is_none_or(|count| count > 1 << 32);
        let value_size = if has_indices { if is_wide { 8 } else { 4 } } else { config.value_size() };
        let sizes = [room.sizes[0], value_size];
        // Before anything is sorted: its plan may be an error.
        let on_device = DeviceMerge::new(self, &config, sizes, memory_size, as_on_gpu)?;
        let mut meter = Meter::new(stream.progress, size);
        let runs = Runs { order, sizes, has_indices, max_samples: sample_size / size_of::<u64>() as u64 };
        let sort = ChunkSort::new(self, plan, room.sizes, capacity, as_on_gpu)?;
        let (runs, read) = sort.run::<K>(sources, count, &runs, &mut sinks, temporary, &mut meter)?;
        // Merges have the memory of the chunks, and of their copies.
        drop(sort);
        if !runs.is_empty() {
            let is_narrowed = has_indices && is_wide && read <= 1 << 32;
            let merging = Merging { on_device, order, sizes, memory_size, is_narrowed };
            merging.run::<K>(runs, sinks, temporary, &mut meter)?;
        }
        Ok(read)
    }
}

/// How runs are kept.
struct Runs {
    order: KeyOrder,
    /// Bytes of a key, and of a value.
    sizes: [u64; 2],
    has_indices: bool,
    max_samples: u64,
}

impl<'g> ChunkSort<'g> {
    /// Allocates the scratch of chunks of `capacity` keys.
    fn new(
        gpu: &'g Gpu,
        plan: Arc<SortPlan>,
        sizes: [u64; 2],
        capacity: u64,
        is_staged: bool,
    ) -> Result<Self> {
        let scratch = gpu.allocate_scratch(plan.scratch_requirements(capacity).size)?;
        Ok(Self { gpu, plan, sizes, capacity, scratch, is_staged })
    }

    fn chunk(&self) -> Result<SortChunk> {
        let buffers = allocate_arrays(self.gpu, self.sizes, self.capacity)?;
        Ok(SortChunk { buffers, count: 0, is_only: false })
    }

    /// Sorts as many keys as a chunk has, which are all.
    fn run_at_once(
        &self,
        mut sources: Sources<'_>,
        sinks: &mut Sinks<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<(), StreamError> {
        let (mut chunk, mut copies) = (self.chunk()?, self.gpu.copies(self.is_staged)?);
        let is_whole = |keys: &mut (dyn Read + Send), count| Ok(count == self.capacity && is_at_end(keys)?);
        self.fill(&mut chunk, &mut sources, &mut copies, is_whole)?;
        if let Some(values) = sources.values
            && !is_at_end(values)?
        {
            return Err(early("there are more values than keys"));
        }
        if chunk.count > 0 {
            self.sort(&chunk)?;
        }
        self.write(&mut chunk, sinks, &mut copies, meter)
    }

    /// Sorts all chunks, `count` keys together if that is known. Returns their runs, unless there was one chunk, which goes to
    /// the sinks, and the number of keys.
    fn run<K: KeyBits>(
        &self,
        mut sources: Sources<'_>,
        count: Option<u64>,
        kept: &Runs,
        sinks: &mut Sinks<'_>,
        temporary: &mut (dyn FnMut() -> io::Result<File> + Send),
        meter: &mut Meter<'_>,
    ) -> Result<(Vec<Run<'static>>, u64), StreamError> {
        let (mut read, mut drained, mut runs) = (0, 0, Vec::<Run<'static>>::new());
        // Runs alone keep their file later, so that a round frees it.
        let mut file = None;
        let copies = || self.gpu.copies(self.is_staged);
        let [mut uploads, mut downloads] = [copies()?, copies()?];
        Stages {
            fill: |chunk: &mut SortChunk| {
                let is_right = |_: &mut (dyn Read + Send), chunk_count| {
                    let read = read + chunk_count;
                    Ok(count.is_none_or(|count| read == count || read < count && chunk_count > 0))
                };
                self.fill(chunk, &mut sources, &mut uploads, is_right)?;
                chunk.is_only = read == 0 && chunk.count < self.capacity;
                read += chunk.count;
                // More keys than the algorithm takes are no chunks of it.
                if self.plan.max_count() < SortPlan::MAX_COUNT {
                    self.plan.check_count(read)?;
                }
                Ok(chunk.count > 0)
            },
            // Long work is split into submissions, each of which is waited for.
            start: |_: &mut SortChunk| Ok(()),
            wait: |chunk: &mut SortChunk| self.sort(chunk),
            drain: |chunk: &mut SortChunk| {
                if chunk.is_only {
                    return self.write(chunk, sinks, &mut downloads, meter);
                }
                if file.is_none() {
                    file = Some(Arc::new(temporary().map_err(of_temporary)?));
                }
                let file = file.as_ref().expect("it was just made");
                let (start, distance) =
                    runs.last().map_or((0, SAMPLE_DISTANCE), |run| (run.end(), run.distance()));
                let mut run = Run::new(file, start, chunk.count, kept.sizes, distance);
                let base = kept.has_indices.then_some(drained);
                self.keep::<K>(chunk, &mut run, base, &kept.order, &mut downloads)?;
                drained += chunk.count;
                runs.push(run);
                limit_samples(&mut runs, kept.max_samples);
                meter.add(chunk.count * (self.sizes[KEYS] + self.sizes[VALUES]));
                Ok(())
            },
        }
        .run((0..CHUNKS).map(|_| self.chunk()).collect::<Result<_>>()?)?;
        Ok((runs, read))
    }

    /// Reads keys, and as many values, if the number of keys is right.
    fn fill(
        &self,
        chunk: &mut SortChunk,
        sources: &mut Sources<'_>,
        copies: &mut Copies,
        is_right: impl FnOnce(&mut (dyn Read + Send), u64) -> Result<bool, StreamError>,
    ) -> Result<(), StreamError> {
        let [keys, values] = &mut chunk.buffers;
        let mut upload = |to, size, mut source: &mut (dyn Read + Send)| {
            let read = |bytes: &mut [u8]| read_full(&mut source, bytes).map_err(StreamError::Read);
            // SAFETY: the chunk is this device's, and nothing else uses it.
            unsafe { copies.upload(to, size, read) }
        };
        let size = upload(keys, self.sizes[KEYS] * self.capacity, sources.keys)?;
        if !size.is_multiple_of(self.sizes[KEYS]) {
            return Err(early("it ends within a key"));
        }
        chunk.count = size / self.sizes[KEYS];
        if !is_right(sources.keys, chunk.count)? {
            let error = io::Error::new(io::ErrorKind::InvalidData, "it has another number of keys");
            return Err(StreamError::Read(error));
        }
        if let Some(source) = &mut sources.values {
            let size = self.sizes[VALUES] * chunk.count;
            if upload(values, size, source)? < size {
                return Err(early("there are fewer values than keys"));
            }
            if chunk.count == 0 && !is_at_end(source)? {
                return Err(early("there are more values than keys"));
            }
        }
        Ok(())
    }

    fn sort(&self, chunk: &SortChunk) -> Result<()> {
        let range = |array: usize| chunk.buffers[array].range().slice(0, self.sizes[array] * chunk.count);
        let [keys, values] = [KEYS, VALUES].map(|array| range(array).addresses());
        let buffers = SortBuffers::new(keys, scratch_range(&self.scratch)).values(values);
        // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
        unsafe { self.gpu.submit_plan(&self.plan, &buffers, chunk.count) }
    }

    /// Writes the only chunk to the sinks.
    fn write(
        &self,
        chunk: &mut SortChunk,
        sinks: &mut Sinks<'_>,
        copies: &mut Copies,
        meter: &mut Meter<'_>,
    ) -> Result<(), StreamError> {
        let size = chunk.count * (self.sizes[KEYS] + self.sizes[VALUES]);
        meter.add(size);
        meter.begin(SortPhase::Writing, size);
        for (array, sink) in sinks.iter_mut().enumerate() {
            let size = self.sizes[array] * chunk.count;
            if sink.is_none() {
                meter.add(size);
                continue;
            }
            let write = |_, bytes: &[u8]| -> Result<(), StreamError> {
                write_to(sink, bytes).map_err(StreamError::Write)?;
                meter.add(bytes.len() as u64);
                Ok(())
            };
            // SAFETY: the chunk is this device's, and its sort was waited for.
            unsafe { copies.download(&mut chunk.buffers[array], size, write) }?;
        }
        Ok(())
    }

    /// Writes a chunk to its run. With `base`, values are indices, each of which increases by it.
    fn keep<K: KeyBits>(
        &self,
        chunk: &mut SortChunk,
        run: &mut Run<'_>,
        base: Option<u64>,
        order: &KeyOrder,
        copies: &mut Copies,
    ) -> Result<(), StreamError> {
        let ([key_size, value_size], [keys, values]) = (self.sizes, &mut chunk.buffers);
        let write_keys = |offset: u64, bytes: &[u8]| {
            let keys: &[K] = bytemuck::cast_slice(bytes);
            run.write_keys(offset / key_size, keys, order).map_err(of_temporary)
        };
        // SAFETY: the chunk is this device's, and its sort was waited for.
        unsafe { copies.download(keys, key_size * chunk.count, write_keys) }?;
        let write_values = |offset: u64, bytes: &[u8]| {
            let written = match base {
                Some(base) => run.write_indices(offset / value_size, bytemuck::cast_slice(bytes), base),
                None => run.write_values(offset / value_size, bytes),
            };
            written.map_err(of_temporary)
        };
        // SAFETY: as above.
        unsafe { copies.download(values, value_size * chunk.count, write_values) }
    }
}

/// Arrays of `count` elements of these sizes.
fn allocate_arrays(gpu: &Gpu, sizes: [u64; 2], count: u64) -> Result<Arrays> {
    let [keys, values] = sizes.map(|size| gpu.allocate(size * count));
    Ok([keys?, values?])
}

fn is_at_end(mut source: &mut (dyn Read + Send)) -> Result<bool, StreamError> {
    Ok(read_full(&mut source, &mut [0]).map_err(StreamError::Read)? == 0)
}

fn early(what: &str) -> StreamError {
    StreamError::Read(io::Error::new(io::ErrorKind::UnexpectedEof, what))
}
