//! Arrays of more than 2^32 elements in little memory, on lavapipe: there the address of a buffer is one of the host, and
//! pages that nothing has written read as zeros, and take no memory.

use std::ptr;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::AddressRange;
use subsweep::headless::Gpu;
use subsweep::merge::{MergeBuffers, MergeConfig};
use subsweep::run_length::{RunLengthBuffers, RunLengthConfig};
use subsweep::search::{SearchBuffers, SearchConfig};
use subsweep::select::{Comparison, Operands, SelectBuffers, SelectConfig};
use subsweep::{Count, ElementType};

use super::cases::clean_trials;
use super::passes::rig::random;

/// A search, and, in the full suite, what takes minutes.
pub fn trials(gpu: &Arc<Gpu>, is_full: bool) -> Vec<Trial> {
    let trial = clean_trials(gpu, "beyond 2^32");
    let search = trial("positions in a sorted array", positions);
    if !is_full {
        return vec![search];
    }
    vec![
        search,
        trial("elements are selected with values and indices", selection),
        trial("a partition in three has parts that begin there", partition),
        trial("a run may be as long", run_lengths),
        trial("a merge", merge),
    ]
}

/// Zeros, of which few are written.
pub struct Zeros {
    address: *mut libc::c_void,
    size: usize,
    is_folded: bool,
}

impl Zeros {
    /// `size` bytes.
    pub fn new(size: u64) -> Result<Self, Failed> {
        let size = usize::try_from(size)?;
        // SAFETY: a new mapping, wherever there is room.
        let address = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error().into());
        }
        Ok(Self { address, size, is_folded: false })
    }

    /// The memory, as a device sees it whose addresses are the host's.
    pub fn range(&self) -> AddressRange {
        AddressRange::new(self.address as u64, self.size as u64)
    }

    fn word(&self, index: u64) -> *mut u32 {
        let index = usize::try_from(index).expect("64-bit addresses");
        assert!(index < self.size / 4, "{index} of {} bytes", self.size);
        // SAFETY: within the mapping.
        unsafe { self.address.cast::<u32>().add(index) }
    }

    pub fn set(&mut self, index: u64, word: u32) {
        // SAFETY: mapped memory, which no one else uses.
        unsafe { self.word(index).write(word) }
    }

    /// `count` words from `first`.
    pub fn words(&self, first: u64, count: usize) -> Vec<u32> {
        // SAFETY: mapped memory, which no one writes.
        (first..).take(count).map(|index| unsafe { self.word(index).read() }).collect()
    }

    /// `count` numbers of 64 bits, from number `first`.
    pub fn numbers(&self, first: u64, count: usize) -> Vec<u64> {
        bytemuck::pod_collect_to_vec(&self.words(2 * first, 2 * count))
    }

    /// Gives the first bytes, as many whole windows as are within `size`, the memory of one window of `window_size`, so that
    /// they may all be written. A page is a divisor of its size.
    fn fold(&mut self, size: u64, window_size: u64) -> Result<(), Failed> {
        // SAFETY: a name.
        let file = unsafe { libc::memfd_create(c"window".as_ptr(), libc::MFD_CLOEXEC) };
        let window_size = usize::try_from(window_size)?;
        // SAFETY: the file that was made.
        let mut is_mapped = file >= 0 && unsafe { libc::ftruncate(file, window_size as libc::off_t) } == 0;
        for window in 0..(size as usize).min(self.size) / window_size {
            // SAFETY: a part of the mapping, of which nothing is borrowed, is mapped anew.
            let mapped = is_mapped.then(|| unsafe {
                libc::mmap(
                    self.address.byte_add(window * window_size),
                    window_size,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED | libc::MAP_FIXED,
                    file,
                    0,
                )
            });
            is_mapped = mapped.is_some_and(|mapped| mapped != libc::MAP_FAILED);
        }
        let error = std::io::Error::last_os_error();
        self.is_folded = true;
        // SAFETY: the mappings keep the memory.
        unsafe { libc::close(file) };
        if is_mapped { Ok(()) } else { Err(error.into()) }
    }
}

impl Drop for Zeros {
    fn drop(&mut self) {
        // SAFETY: the mapping, with all that was mapped into it.
        unsafe { libc::munmap(self.address, self.size) };
        // Windows count as if each had memory of its own: the peak that the row reports begins anew.
        if self.is_folded {
            std::fs::write("/proc/self/clear_refs", "5").ok();
        }
    }
}

const BORDER: u64 = 1 << 32;
/// A part of the last tile.
const COUNT: u64 = BORDER + (1 << 20) + 3;

/// Indices around both ends, around 2^32, and between.
fn chosen_indices() -> Vec<u64> {
    let spread = (1..250).map(|step| step * (COUNT / 250));
    let ends = [0, 1, BORDER - 2, BORDER - 1, BORDER, BORDER + 2, COUNT - 2, COUNT - 1];
    let mut places: Vec<_> = spread.chain(ends).collect();
    places.sort_unstable();
    places
}

fn selection(gpu: &Gpu) -> Result<(), Failed> {
    let [mut elements, mut values] = [Zeros::new(4 * COUNT)?, Zeros::new(4 * COUNT)?];
    let [selected, selected_values] = [Zeros::new(4 * COUNT)?, Zeros::new(4 * COUNT)?];
    let indices = Zeros::new(8 * COUNT)?;
    let places = chosen_indices();
    for (number, &index) in (1..).zip(&places) {
        elements.set(index, number);
        values.set(index, !number);
    }
    let config = SelectConfig::compare(ElementType::U32, Comparison::NotEqual).values(1).indices();
    let plan = gpu.plan(config.large_counts_for(COUNT))?;
    let counts = gpu.allocate_with(&[u32::MAX; 2])?;
    let scratch = gpu.allocate(plan.scratch_requirements(COUNT).size)?;
    let buffers = SelectBuffers::new(elements.range(), selected.range(), counts.addresses(), scratch.range())
        .values(values.range(), selected_values.range())
        .indices(indices.range())
        .operands(Operands::host(&[0u32])?);
    // SAFETY: the memory is alive until `submit` has waited, and the device's addresses are the host's.
    unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, COUNT)) }?;
    assert_eq!(gpu.read(&counts, 2)?, [places.len() as u32, 0]);
    let mut expected: Vec<_> = (1..=places.len() as u32).chain([0]).collect();
    assert_eq!(selected.words(0, expected.len()), expected);
    expected.iter_mut().take(places.len()).for_each(|value| *value = !*value);
    assert_eq!(selected_values.words(0, expected.len()), expected);
    assert_eq!(indices.numbers(0, places.len()), places);
    Ok(())
}

/// Most indices are of the first part, so that the others begin beyond 2^32; the indices of the first part share the memory
/// of a window, which holds the index of one of its windows then. 2^32 is not a multiple of the window.
fn partition(gpu: &Gpu) -> Result<(), Failed> {
    const WINDOW: u64 = 3 << 20;
    let mut elements = Zeros::new(4 * COUNT)?;
    let mut indices = Zeros::new(8 * COUNT)?;
    let folded = COUNT - 1000 - (COUNT - 1000) % WINDOW;
    indices.fold(8 * folded, 8 * WINDOW)?;
    let places = chosen_indices();
    for (number, &index) in (0..).zip(&places) {
        elements.set(index, 1 + number % 2);
    }
    let [of_second, of_third] =
        [0, 1].map(|skip| places.iter().copied().skip(skip).step_by(2).collect::<Vec<_>>());
    let config = SelectConfig::compare(ElementType::U32, Comparison::Equal)
        .partition_in_three(Comparison::Equal)
        .without_elements()
        .indices();
    let plan = gpu.plan(config.large_counts())?;
    let counts = gpu.allocate_with(&[u32::MAX; 4])?;
    let scratch = gpu.allocate(plan.scratch_requirements(COUNT).size)?;
    let none = AddressRange::NONE;
    let buffers = SelectBuffers::new(elements.range(), none, counts.addresses(), scratch.range())
        .indices(indices.range())
        .operands(Operands::host(&[0u32, 1])?);
    // SAFETY: as above.
    unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, COUNT)) }?;
    let first_count = COUNT - places.len() as u64;
    assert_eq!(gpu.read(&counts, 4)?, [first_count as u32, 1, of_second.len() as u32, 0]);
    assert_eq!(indices.numbers(first_count, places.len()), [of_second, of_third].concat());
    // The position of an index in the first part.
    let position = |index: u64| index - places.partition_point(|&place| place < index) as u64;
    let rest = (first_count - folded) as usize;
    for (expected, index) in (folded..).zip(indices.numbers(folded, rest)) {
        assert_eq!((position(index), places.contains(&index)), (expected, false));
    }
    for (slot, index) in (0..WINDOW).zip(indices.numbers(0, WINDOW as usize)) {
        let found = position(index);
        assert!(index < COUNT && found < folded && found % WINDOW == slot, "{index} in {slot} of the window");
    }
    Ok(())
}

fn run_lengths(gpu: &Gpu) -> Result<(), Failed> {
    let mut elements = Zeros::new(4 * COUNT)?;
    let [values, counts, offsets] = [Zeros::new(4 * COUNT)?, Zeros::new(8 * COUNT)?, Zeros::new(8 * COUNT)?];
    // The run between has more than 2^32 elements.
    let begins = [0, 5, 6, BORDER + 10, BORDER + 11, COUNT - 1];
    for index in [5, BORDER + 10, COUNT - 1] {
        elements.set(index, 7);
    }
    let plan = gpu.plan(RunLengthConfig::encode(ElementType::U32).offsets().large_counts())?;
    let run_count = gpu.allocate_with(&[u32::MAX; 2])?;
    let scratch = gpu.allocate(plan.scratch_requirements(COUNT).size)?;
    let [of_elements, of_values, of_counts] = [&elements, &values, &counts].map(Zeros::range);
    let buffers =
        RunLengthBuffers::new(of_elements, of_values, of_counts, run_count.addresses(), scratch.range())
            .offsets(offsets.range());
    // SAFETY: as above.
    unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, Count::Direct(COUNT))) }?;
    assert_eq!(gpu.read(&run_count, 2)?, [begins.len() as u32, 0]);
    assert_eq!(values.words(0, 7), [0, 7, 0, 7, 0, 7, 0]);
    assert_eq!(offsets.numbers(0, 6), begins);
    let ends = begins[1..].iter().chain(&[COUNT]);
    let lengths: Vec<_> = begins.iter().zip(ends).map(|(begin, end)| end - begin).collect();
    assert_eq!(counts.numbers(0, 7), [&lengths[..], &[0]].concat());
    Ok(())
}

/// Keys beyond 2^32.
const TAIL: u64 = 5003;
/// Keys of each array, at its end, that are not 0.
const LARGE: usize = 2500;

/// Sorted keys that are not 0, many of them equal.
fn large_keys(seed: usize) -> Vec<u32> {
    let mut keys: Vec<_> = random(seed, LARGE).into_iter().map(|word| 1 + word % 1000).collect();
    keys.sort_unstable();
    keys
}

fn positions(gpu: &Gpu) -> Result<(), Failed> {
    let large = large_keys(1);
    let needles: Vec<u32> = random(2, 997).into_iter().map(|word| word % 1003).chain([0, u32::MAX]).collect();
    let needle_memory = gpu.allocate_with(&needles)?;
    let memory = gpu.allocate(8 * needles.len() as u64)?;
    // Borders of the low words: that many keys, one more, and one less; and three times as many.
    for count in [BORDER - 1, BORDER, BORDER + 1, BORDER + TAIL, 3 * BORDER + 1000] {
        let mut sorted = Zeros::new(4 * count)?;
        (count - LARGE as u64..).zip(&large).for_each(|(index, &key)| sorted.set(index, key));
        for (config, is_upper) in
            [SearchConfig::lower_bound, SearchConfig::upper_bound].into_iter().zip([false, true])
        {
            let plan = gpu.plan(config(ElementType::U32).large_counts())?;
            let buffers = SearchBuffers::new(sorted.range(), needle_memory.addresses(), memory.addresses());
            // SAFETY: the memory is alive until `submit` has waited, and the device's addresses are the host's.
            unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, (count, needles.len() as u64))) }?;
            let mut found = vec![0u64; needles.len()];
            gpu.download(&memory, &mut found)?;
            for (needle, found) in needles.iter().zip(found) {
                let before = large.partition_point(|key| key < needle || is_upper && key == needle) as u64;
                let zeros = count - LARGE as u64;
                let expected = if *needle > 0 || is_upper { zeros + before } else { 0 };
                assert_eq!(found, expected, "{needle} in {count} keys");
            }
        }
    }
    Ok(())
}

/// All zeros of the result share the memory of a window, but the last.
fn merge(gpu: &Gpu) -> Result<(), Failed> {
    const WINDOW: u64 = 4 << 20;
    let counts = [BORDER + TAIL, 3000];
    let large = [large_keys(3), large_keys(4)];
    let [mut a, mut b] = [Zeros::new(4 * counts[0])?, Zeros::new(4 * counts[1])?];
    for ((keys, count), large) in [&mut a, &mut b].into_iter().zip(counts).zip(&large) {
        (count - LARGE as u64..).zip(large).for_each(|(index, &key)| keys.set(index, key));
    }
    let total = counts[0] + counts[1];
    let mut merged = Zeros::new(4 * total)?;
    let zero_count = total - 2 * LARGE as u64;
    let folded = zero_count - zero_count % WINDOW;
    merged.fold(4 * folded, 4 * WINDOW)?;
    (0..WINDOW).chain(folded..total).for_each(|index| merged.set(index, u32::MAX));
    let plan = gpu.plan(MergeConfig::keys(ElementType::U32).large_counts())?;
    let buffers = MergeBuffers::new(a.range(), b.range(), merged.range());
    // SAFETY: as above.
    unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, (counts[0], counts[1]))) }?;
    let mut expected = large.concat();
    expected.sort_unstable();
    assert!(merged.words(0, WINDOW as usize).iter().all(|&key| key == 0));
    assert!(merged.words(folded, (zero_count - folded) as usize).iter().all(|&key| key == 0));
    assert_eq!(merged.words(zero_count, expected.len()), expected);
    Ok(())
}
