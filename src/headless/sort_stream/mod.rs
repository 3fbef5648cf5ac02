//! Sort of more keys than the memory holds: chunks are sorted on the device and kept as runs, which are merged on the host.
//!
//! ```text
//!   keys, values ─► chunk ─► sort ─► run ─┐
//!   keys, values ─► chunk ─► sort ─► run ─┼─► merge of up to 64 ─► keys, values
//!   …                                     ┘
//! ```
//!
//! Reading, sorting and writing of chunks overlap. Keys that fit the device together are sorted at once. A single chunk is
//! no run: it goes to the sinks at once.

mod at_once;
mod blocks;
mod merge;
pub(super) mod order;
mod progress;
mod room;
mod rounds;
mod runs;

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

use super::scan_stream::StreamError;
use super::stages::Stages;
use super::{Gpu, GpuBuffer, scratch_range};
use crate::device::{BufferRange, Recorder};
use crate::error::Result;
use crate::reading::read_full;
use crate::sort::{SortBuffers, SortConfig, SortPlan};
use at_once::AtOnce;
use merge::Nothing;
use order::{KeyBits, KeyOrder};
use progress::Meter;
pub use progress::{SortPhase, SortProgress};
use room::{CHUNKS, Room};
use rounds::{Merging, of_temporary, write_to};
use runs::{Run, SAMPLE_DISTANCE, limit_samples};

/// Memory besides chunks, blocks and samples: the staging buffer, and what allocators keep.
const FIXED_SIZE: u64 = 24 << 20;
/// The least memory, bytes.
const MIN_MEMORY: u64 = FIXED_SIZE + (16 << 20);
/// Which part of the memory the samples of runs may have.
const SAMPLES_PART: u64 = 32;
/// Bytes of the only chunk that are written at a time.
const WRITTEN_SIZE: usize = 8 << 20;

/// Inputs and options of [`Gpu::sort_stream`].
pub struct SortStream<'a> {
    /// The keys.
    pub keys: &'a mut (dyn Read + Send),
    /// Their values, of pairs.
    pub values: Option<&'a mut (dyn Read + Send)>,
    /// Receives the sorted keys; `None` for those of an argsort.
    pub sorted_keys: Option<&'a mut (dyn Write + Send)>,
    /// Receives the values, or the indices: of u32, and of more than 2^32 keys of u64.
    pub sorted_values: Option<&'a mut (dyn Write + Send)>,
    /// Number of keys, if known: for few keys the memory is smaller.
    pub count: Option<u64>,
    /// Limit of the memory on host and device together, bytes; at least 40 MiB.
    pub memory_size: Option<u64>,
    /// Most bytes of the keys in a chunk; by default as many as fit.
    pub chunk_size: Option<u64>,
    /// Makes an empty temporary file, which is removed when it is closed. Runs take as many bytes as keys and values, and
    /// of an index 8 where `count` is not known.
    pub temporary: &'a mut (dyn FnMut() -> io::Result<File> + Send),
    /// Is called as the sort proceeds: by chunks, and by blocks of merges.
    pub progress: Option<&'a mut (dyn FnMut(SortProgress) + Send)>,
}

/// A sort in chunks: its plan, and the sizes of its memory.
struct ChunkedSort {
    plan: Arc<SortPlan>,
    /// Bytes of a key, and of a value on the device.
    sizes: [u64; 2],
    /// Keys of a whole chunk.
    capacity: u64,
}

struct SortChunk {
    /// Keys and values, on the host and on the device.
    staging: [GpuBuffer; 2],
    buffers: [GpuBuffer; 2],
    count: u64,
    /// Whether it has all keys.
    is_only: bool,
}

impl Gpu {
    /// Sorts keys, and permutes their values likewise, from sources to sinks; there may be more than host and device hold.
    /// The form of the configuration has no effect. Returns the number of keys.
    ///
    /// `count` keys that fit the device, and `memory_size`, with their values and the scratch are sorted at once. Others are
    /// sorted in chunks, which are written to a temporary file and merged, up to 64 at a time, on all cores of the host.
    ///
    /// # Errors
    /// [`StreamError::Read`], of kind `UnexpectedEof` if a source ends within a key or a value, or the values before or
    /// after the keys, of kind `InvalidData` if there are not `count` keys; [`StreamError::Write`];
    /// [`StreamError::Temporary`]; [`StreamError::Memory`]; those of [`Gpu::sort_words`]. The sinks may have a part of the
    /// result then.
    pub fn sort_stream(&self, config: SortConfig, stream: SortStream<'_>) -> Result<u64, StreamError> {
        match config.key_size() {
            4 => self.sort_stream_of::<u32>(config, stream),
            _ => self.sort_stream_of::<u64>(config, stream),
        }
    }

    fn sort_stream_of<K: KeyBits>(
        &self,
        config: SortConfig,
        stream: SortStream<'_>,
    ) -> Result<u64, StreamError> {
        let SortStream {
            keys,
            mut values,
            mut sorted_keys,
            mut sorted_values,
            count,
            memory_size,
            chunk_size,
            temporary,
            progress,
        } = stream;
        let given = memory_size.unwrap_or(u64::MAX);
        if given < MIN_MEMORY {
            return Err(StreamError::Memory { needed: MIN_MEMORY, given });
        }
        // Samples of runs, and of the runs that they are merged into.
        let sample_size = (given - FIXED_SIZE) / SAMPLES_PART;
        let memory_size = given - FIXED_SIZE - 2 * sample_size;
        let max_size = chunk_size.unwrap_or(u64::MAX);
        let room = Room::new(self, config, memory_size, max_size);
        if let Some((plan, count)) = room.at_once(count)? {
            let mut meter = Meter::new(progress, Some(count.saturating_mul(room.item_size())));
            let at_once = AtOnce::new(self, plan, room.sizes, count)?;
            at_once.run(keys, values, [sorted_keys, sorted_values], &mut meter)?;
            return Ok(count);
        }
        let (plan, capacity) = room.chunks(count)?;
        let sort = ChunkedSort { plan, sizes: room.sizes, capacity };
        let order = KeyOrder::new(config.key_type(), config.is_descending(), config.bit_range());
        let has_indices = config.begins_as_indices();
        // Where the count is not known, indices in runs are wide.
        let is_wide = count.is_none_or(|count| count > 1 << 32);
        let value_size = if has_indices { if is_wide { 8 } else { 4 } } else { config.value_size() };
        let sizes = [sort.sizes[0], value_size];

        let scratch = self.allocate_scratch(sort.plan.scratch_requirements(sort.capacity).size)?;
        let size = count.map(|count| count.saturating_mul(sort.sizes[0] + sort.sizes[1]));
        let mut meter = Meter::new(progress, size);
        let (mut read, mut drained, mut runs) = (0, 0, Vec::<Run>::new());
        let mut file = None;
        Stages {
            fill: |chunk: &mut SortChunk| {
                let filled = sort.fill(chunk, keys, &mut values)?;
                chunk.is_only = read == 0 && chunk.count < sort.capacity;
                read += chunk.count;
                if count.is_some_and(|count| read > count || read < count && !filled) {
                    let error = io::Error::new(io::ErrorKind::InvalidData, "it has another number of keys");
                    return Err(StreamError::Read(error));
                }
                // More keys than the algorithm takes are no chunks of it.
                if sort.plan.max_count() < SortPlan::MAX_COUNT {
                    sort.plan.check_count(read)?;
                }
                Ok(filled)
            },
            // Long work is split into submissions, each of which is waited for.
            start: |_: &mut SortChunk| Ok(()),
            wait: |chunk: &mut SortChunk| sort.sort(self, chunk, &scratch),
            drain: |chunk: &mut SortChunk| {
                let (count, base) = (chunk.count as usize, drained);
                drained += chunk.count;
                let [key_bytes, value_bytes] = chunk.staging.each_mut().map(GpuBuffer::mapped);
                let key_bytes = &key_bytes[..count * size_of::<K>()];
                let value_bytes = &value_bytes[..count * sort.sizes[1] as usize];
                let size = (key_bytes.len() + value_bytes.len()) as u64;
                if chunk.is_only {
                    meter.add(size);
                    meter.begin(SortPhase::Writing, size);
                    for (sink, bytes) in [(&mut sorted_keys, key_bytes), (&mut sorted_values, value_bytes)] {
                        for bytes in bytes.chunks(WRITTEN_SIZE) {
                            write_to(sink, bytes).map_err(StreamError::Write)?;
                            meter.add(bytes.len() as u64);
                        }
                    }
                    return Ok(());
                }
                if file.is_none() {
                    file = Some(Arc::new(temporary().map_err(of_temporary)?));
                }
                let file = file.as_ref().expect("it was just made");
                let start = runs.last().map_or(0, Run::end);
                let distance = runs.last().map_or(SAMPLE_DISTANCE, Run::distance);
                let mut run = Run::new(file, start, count as u64, sizes, distance);
                let keys: &[K] = bytemuck::cast_slice(key_bytes);
                let written = run.write_keys(0, keys, &order).and_then(|()| match has_indices {
                    true => run.write_indices(bytemuck::cast_slice(value_bytes), base),
                    false => run.write_values(0, value_bytes),
                });
                runs.push(run);
                meter.add(size);
                limit_samples(&mut runs, sample_size / size_of::<u64>() as u64);
                written.map_err(of_temporary)
            },
        }
        .run(sort.chunks(self)?)?;
        // Runs alone keep their file, so that a round frees it.
        drop((scratch, file));
        if runs.is_empty() {
            return Ok(read);
        }
        let merging =
            Merging { order, sizes, memory_size, is_narrowed: has_indices && is_wide && read <= 1 << 32 };
        let ended = match value_size {
            0 => merging.run::<K, Nothing>(runs, sorted_keys, sorted_values, temporary, &mut meter),
            4 => merging.run::<K, u32>(runs, sorted_keys, sorted_values, temporary, &mut meter),
            _ => merging.run::<K, u64>(runs, sorted_keys, sorted_values, temporary, &mut meter),
        };
        ended.map(|()| read)
    }
}

impl ChunkedSort {
    fn chunks(&self, gpu: &Gpu) -> Result<Vec<SortChunk>> {
        let chunk = |_| {
            let sizes = self.sizes.map(|size| size * self.capacity);
            let [keys, values] = sizes.map(|size| gpu.memory.allocate_staging(size));
            let [device_keys, device_values] = sizes.map(|size| gpu.allocate(size));
            Ok(SortChunk {
                staging: [keys?, values?],
                buffers: [device_keys?, device_values?],
                count: 0,
                is_only: false,
            })
        };
        (0..CHUNKS).map(chunk).collect()
    }

    /// Reads keys, and as many values. Returns whether there are any.
    fn fill(
        &self,
        chunk: &mut SortChunk,
        mut keys: &mut (dyn Read + Send),
        values: &mut Option<&mut (dyn Read + Send)>,
    ) -> Result<bool, StreamError> {
        let [key_size, value_size] = self.sizes;
        let [key_bytes, value_bytes] = chunk.staging.each_mut().map(GpuBuffer::mapped);
        let early = |what| StreamError::Read(io::Error::new(io::ErrorKind::UnexpectedEof, what));
        let size = read_full(&mut keys, &mut key_bytes[..(self.capacity * key_size) as usize]);
        let size = size.map_err(StreamError::Read)? as u64;
        if !size.is_multiple_of(key_size) {
            return Err(early("it ends within a key"));
        }
        chunk.count = size / key_size;
        if let Some(values) = values {
            let needed = (chunk.count * value_size) as usize;
            if read_full(values, &mut value_bytes[..needed]).map_err(StreamError::Read)? < needed {
                return Err(early("there are fewer values than keys"));
            }
            if chunk.count == 0 && read_full(values, &mut [0]).map_err(StreamError::Read)? > 0 {
                return Err(early("there are more values than keys"));
            }
        }
        Ok(chunk.count > 0)
    }

    fn sort(&self, gpu: &Gpu, chunk: &SortChunk, scratch: &Option<GpuBuffer>) -> Result<()> {
        let sized = |buffers: &[GpuBuffer; 2]| {
            let ranges = [buffers[0].range(), buffers[1].range()];
            [ranges[0].slice(0, self.sizes[0] * chunk.count), ranges[1].slice(0, self.sizes[1] * chunk.count)]
        };
        let (staged, on_device) = (sized(&chunk.staging), sized(&chunk.buffers));
        let buffers = SortBuffers::new(on_device[0].addresses(), scratch_range(scratch))
            .values(on_device[1].addresses());
        let copy = |sources: [BufferRange; 2], destinations: [BufferRange; 2]| {
            let record = |recorder: &mut Recorder<'_>| {
                sources.into_iter().zip(destinations).for_each(|(from, to)| recorder.copy(from, to));
                Ok(())
            };
            // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
            unsafe { gpu.submit(record) }
        };
        copy(staged, on_device)?;
        // SAFETY: as above.
        unsafe { gpu.submit(|recorder| self.plan.record(recorder, &buffers, chunk.count)) }?;
        copy(on_device, staged)?;
        Ok(())
    }
}
