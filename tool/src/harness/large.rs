//! More elements than 32 bits count, or than the oracle has time for: results are checked by what they must be.
//!
//! The words of the input are a function of their index. A scan is compared with sums made piece by piece. A sort is right if
//! its keys ascend and are the keys of the input, of which a sum of 64-bit hashes is compared. A selection is compared piece by
//! piece with what is selected of each piece of the input.

use std::fmt;

use super::threads::in_threads;
use super::verify::{Failure, Outcome};
use super::workload::Mismatch;
use subsweep::ElementType;
use subsweep::device::Recorder;
use subsweep::error::Result;
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::scan::{ScanBuffers, ScanConfig};
use subsweep::select::{Comparison, Operands, SelectBuffers, SelectConfig};
use subsweep::sort::{SortBuffers, SortConfig};

/// Words of a piece, which the host makes or checks at a time.
const PIECE: u64 = 1 << 22;
/// Pieces in host memory at a time.
const BATCH: usize = 16;
/// Elements below are selected.
const BELOW: u32 = 0xa000_0000;

/// A work on u32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LargeWork {
    /// A sort of keys, with large counts.
    Sort,
    /// A scan in place.
    ScanInPlace,
    /// A scan out of place.
    Scan,
    /// A selection, with large counts.
    Select,
}

/// A work on any number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LargeCase {
    work: LargeWork,
    count: u64,
}

/// What a large case gave.
#[derive(Debug)]
pub struct LargeResult {
    /// Whether the result is right.
    pub outcome: Outcome,
    /// GPU time; `None` where the device has no timestamps.
    pub time_ns: Option<f64>,
}

impl LargeCase {
    /// A sort, scans and a selection of `count` elements.
    pub fn all(count: u64) -> Vec<Self> {
        [LargeWork::Sort, LargeWork::ScanInPlace, LargeWork::Scan, LargeWork::Select]
            .map(|work| Self { work, count })
            .into()
    }

    /// Bytes of the arrays on the device, without scratch other than a sort's.
    pub fn size(&self) -> u64 {
        match self.work {
            LargeWork::Sort | LargeWork::Scan | LargeWork::Select => 8 * self.count,
            LargeWork::ScanInPlace => 4 * self.count,
        }
    }

    /// Runs once, and checks the result.
    ///
    /// # Errors
    /// Only errors that are [`Error::is_fatal`](subsweep::Error::is_fatal).
    pub fn verify(&self, gpu: &Gpu) -> Result<LargeResult> {
        let ended = match self.work {
            LargeWork::Sort => sort(gpu, self.count),
            LargeWork::ScanInPlace => scan(gpu, self.count, true),
            LargeWork::Scan => scan(gpu, self.count, false),
            LargeWork::Select => select(gpu, self.count),
        };
        let (outcome, time_ns) = match ended {
            Ok((None, time_ns)) => (Outcome::Pass, time_ns),
            Ok((Some(mismatch), time_ns)) => {
                (Outcome::Fail(Failure::Wrong { run: 1, seed: 0, mismatch }), time_ns)
            }
            Err(error) => (Outcome::of_error(error)?, None),
        };
        Ok(LargeResult { outcome, time_ns })
    }
}

impl fmt::Display for LargeCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let work = match self.work {
            LargeWork::Sort => "sort:keys",
            LargeWork::ScanInPlace => "scan:inclusive;place=in",
            LargeWork::Scan => "scan:inclusive;place=out",
            LargeWork::Select => "select:less",
        };
        write!(f, "large:{work};type=u32;n={}", self.count)
    }
}

/// The first wrong word, and the GPU time.
type Checked = (Option<Mismatch>, Option<f64>);

fn sort(gpu: &Gpu, count: u64) -> Result<Checked> {
    let plan = gpu.plan(SortConfig::keys(ElementType::U32).large_counts())?;
    plan.check_count(count)?;
    let keys = gpu.allocate(4 * count)?;
    let scratch = gpu.allocate(plan.scratch_requirements(count).size)?;
    let hash_of_input = sum(upload(gpu, &keys, count, |words| sum(words.iter().map(|&word| hash(word))))?);
    let buffers = SortBuffers::new(keys.range().addresses(), scratch.range());
    let time_ns = submit(gpu, |recorder| plan.record(recorder, &buffers, count))?;
    let mut last = 0;
    let mut hash_of_result = 0u64;
    let mismatch = check(
        gpu,
        &keys,
        count,
        |first, words| {
            let is_descending = |pair: &[u32]| pair[0] > pair[1];
            let descent = words.windows(2).position(is_descending).map(|index| {
                let [expected, got] = [words[index], words[index + 1]];
                Mismatch { what: "ascending keys", index: first + index as u64 + 1, expected, got }
            });
            (descent, words[0], words[words.len() - 1], sum(words.iter().map(|&word| hash(word))))
        },
        |first, (descent, least, most, hash)| {
            let border = (least < last).then_some(Mismatch {
                what: "ascending keys",
                index: first,
                expected: last,
                got: least,
            });
            last = most;
            hash_of_result = hash_of_result.wrapping_add(hash);
            border.or(descent)
        },
    )?;
    let is_other = hash_of_result != hash_of_input;
    let other_keys = is_other.then_some(Mismatch {
        what: "sum of hashes of the sorted keys",
        index: 0,
        expected: hash_of_input as u32,
        got: hash_of_result as u32,
    });
    Ok((mismatch.or(other_keys), time_ns))
}

fn scan(gpu: &Gpu, count: u64, in_place: bool) -> Result<Checked> {
    let config = ScanConfig::inclusive(ElementType::U32);
    let plan = gpu.plan(if in_place { config } else { config.out_of_place() })?;
    plan.check_count(count)?;
    let source = gpu.allocate(4 * count)?;
    let result = if in_place { None } else { Some(gpu.allocate(4 * count)?) };
    let result = result.as_ref().unwrap_or(&source);
    let scratch = gpu.allocate(plan.scratch_requirements(count).size)?;
    let sums = upload(gpu, &source, count, |words| words.iter().copied().fold(0, u32::wrapping_add))?;
    let carries: Vec<u32> = sums
        .iter()
        .scan(0u32, |carry, sum| Some(std::mem::replace(carry, carry.wrapping_add(*sum))))
        .collect();
    let [from, to] = [&source, result].map(|buffer| buffer.range().addresses());
    let buffers = ScanBuffers::new(from, to, scratch.range());
    let time_ns = submit(gpu, |recorder| plan.record(recorder, &buffers, count))?;
    let mismatch = check(
        gpu,
        result,
        count,
        |first, words| {
            let mut expected = carries[(first / PIECE) as usize];
            words.iter().zip(first..).find_map(|(&got, index)| {
                expected = expected.wrapping_add(word(index));
                (got != expected).then_some(Mismatch { what: "result", index, expected, got })
            })
        },
        |_, mismatch| mismatch,
    )?;
    Ok((mismatch, time_ns))
}

fn select(gpu: &Gpu, count: u64) -> Result<Checked> {
    let plan = gpu.plan(SelectConfig::compare(ElementType::U32, Comparison::Less).large_counts())?;
    plan.check_count(count)?;
    let [source, result] = [gpu.allocate(4 * count)?, gpu.allocate(4 * count)?];
    let result_count = gpu.allocate(8)?;
    let scratch = gpu.allocate(plan.scratch_requirements(count).size)?;
    let selected = |words: Vec<u32>| words.into_iter().filter(|&word| word < BELOW);
    let sizes = upload(gpu, &source, count, |words| selected(words.to_vec()).count())?;
    let [from, to, counts] = [&source, &result, &result_count].map(|buffer| buffer.range().addresses());
    let buffers = SelectBuffers::new(from, to, counts, scratch.range()).operands(Operands::host(&[BELOW])?);
    let time_ns = submit(gpu, |recorder| plan.record(recorder, &buffers, count))?;
    let total = sum(sizes.iter().map(|&size| size as u64));
    let (counted, mut first, mut sizes) = (gpu.read(&result_count, 2)?, 0, sizes.into_iter());
    for (index, expected) in [total as u32, (total >> 32) as u32].into_iter().enumerate() {
        let (index, got) = (index as u64, counted[index]);
        if got != expected {
            let what = "number of selected elements";
            return Ok((Some(Mismatch { what, index, expected, got }), time_ns));
        }
    }
    for batch in pieces(0..count) {
        let read = batch.into_iter().zip(&mut sizes).map(|(piece, size)| -> Result<_> {
            let (begin, words) = (first, gpu.read_from(&result, 4 * first, size)?);
            first += size as u64;
            Ok((piece, begin, words))
        });
        let read = read.collect::<Result<Vec<_>>>()?;
        let wrong = in_threads(read, |(piece, begin, got): (_, u64, Vec<u32>)| {
            let mut compared = (begin..).zip(selected(words(piece)).zip(got));
            compared.find(|(_, (expected, got))| expected != got)
        });
        if let Some((index, (expected, got))) = wrong.into_iter().flatten().next() {
            return Ok((Some(Mismatch { what: "selected elements", index, expected, got }), time_ns));
        }
    }
    Ok((None, time_ns))
}

/// Submits a run, and returns its GPU time.
fn submit(gpu: &Gpu, record: impl FnOnce(&mut Recorder<'_>) -> Result<()>) -> Result<Option<f64>> {
    // SAFETY: the callers' buffers are this device's, live until this has waited, and are used by nothing else.
    unsafe { gpu.submit(record) }
}

/// The word of the input at an index.
fn word(index: u64) -> u32 {
    let mixed = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
}

/// A hash of a word. Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
fn hash(word: u32) -> u64 {
    let mixed = (u64::from(word) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

fn sum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::wrapping_add)
}

/// The words at these indices.
fn words(indices: std::ops::Range<u64>) -> Vec<u32> {
    indices.map(word).collect()
}

/// The pieces of a range, in batches.
fn pieces(range: std::ops::Range<u64>) -> impl Iterator<Item = Vec<std::ops::Range<u64>>> {
    let std::ops::Range { start, end } = range;
    let piece = move |first| first..end.min(first + PIECE);
    (start..end)
        .step_by(PIECE as usize * BATCH)
        .map(move |batch| (batch..end).step_by(PIECE as usize).take(BATCH).map(piece).collect())
}

/// Writes the input to `buffer`, and returns what `look` gives of each piece.
fn upload<T: Send>(
    gpu: &Gpu,
    buffer: &GpuBuffer,
    count: u64,
    look: impl Fn(&[u32]) -> T + Sync,
) -> Result<Vec<T>> {
    let mut seen = Vec::new();
    for batch in pieces(0..count) {
        let first = batch[0].start;
        let made = in_threads(batch, |piece| {
            let words = words(piece);
            (look(&words), words)
        });
        for ((looked, words), first) in made.into_iter().zip((first..).step_by(PIECE as usize)) {
            gpu.upload(buffer, 4 * first, &words)?;
            seen.push(looked);
        }
    }
    Ok(seen)
}

/// Reads `buffer`, and returns the first mismatch that `judge` finds in what `look` gives of each piece, in order.
fn check<T: Send>(
    gpu: &Gpu,
    buffer: &GpuBuffer,
    count: u64,
    look: impl Fn(u64, &[u32]) -> T + Sync,
    mut judge: impl FnMut(u64, T) -> Option<Mismatch>,
) -> Result<Option<Mismatch>> {
    for batch in pieces(0..count) {
        let read = |piece: std::ops::Range<u64>| -> Result<_> {
            let words = gpu.read_from(buffer, 4 * piece.start, (piece.end - piece.start) as usize)?;
            Ok((piece.start, words))
        };
        let read = batch.into_iter().map(read).collect::<Result<Vec<_>>>()?;
        let looked = in_threads(read, |(first, words)| (first, look(first, &words)));
        if let Some(mismatch) = looked.into_iter().find_map(|(first, looked)| judge(first, looked)) {
            return Ok(Some(mismatch));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_up_the_range() {
        for end in [0, 1, PIECE, PIECE + 1, PIECE * BATCH as u64, PIECE * BATCH as u64 * 2 + 5] {
            let all: Vec<_> = pieces(0..end).collect();
            assert!(all.iter().all(|batch| batch.len() <= BATCH));
            let mut next = 0;
            for piece in all.into_iter().flatten() {
                assert!(piece.start == next && piece.end - piece.start <= PIECE);
                next = piece.end;
            }
            assert_eq!(next, end);
        }
    }

    #[test]
    fn other_keys_have_another_sum() {
        let keys = words(0..1_000);
        let hashes = |keys: &[u32]| sum(keys.iter().map(|&key| hash(key)));
        let sorted = {
            let mut keys = keys.clone();
            keys.sort_unstable();
            keys
        };
        assert_eq!(hashes(&sorted), hashes(&keys));
        let mut lost = sorted.clone();
        lost[500] = lost[499];
        assert_ne!(hashes(&lost), hashes(&keys));
        // A pair of words with the same sum is no match.
        let mut moved = sorted;
        (moved[1], moved[2]) = (moved[1] - 1, moved[2] + 1);
        assert_ne!(hashes(&moved), hashes(&keys));
    }
}
