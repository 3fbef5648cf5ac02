//! Fuchsia's radix sort, between two buffers. A pair is a word of 64 bits, its key the upper half.

use std::ffi::c_void;
use std::rc::Rc;

use anyhow::{Result, bail, ensure};
use ash::vk;
use libloading::Library;
use subsweep_tool::harness::Mismatch;

use crate::native::{Native, NativeBuffer};
use crate::subject::{Implementation, Implementer, Subject, Task};
use crate::work::{Columns, Work};

/// `radix_sort_vk_t *`.
type Sorter = *mut c_void;
/// `radix_sort_vk_target_t const *`.
type Target = *const c_void;

/// `radix_sort_vk_memory_requirements_t`, bytes.
#[repr(C)]
#[derive(Default)]
struct MemoryRequirements {
    keyval_size: u64,
    keyvals_size: u64,
    keyvals_alignment: u64,
    internal_size: u64,
    internal_alignment: u64,
    indirect_size: u64,
    indirect_alignment: u64,
}

/// `radix_sort_vk_sort_info_t`.
#[repr(C)]
struct SortInfo {
    ext: *mut c_void,
    key_bits: u32,
    count: u32,
    keyvals_even: vk::DescriptorBufferInfo,
    keyvals_odd: vk::DescriptorBufferInfo,
    internal: vk::DescriptorBufferInfo,
}

type AutoDetect = unsafe extern "C" fn(*const vk::PhysicalDeviceProperties, u32) -> Target;
type Create = unsafe extern "C" fn(vk::Device, *const c_void, vk::PipelineCache, Target) -> Sorter;
type Destroy = unsafe extern "C" fn(Sorter, vk::Device, *const c_void);
type Requirements = unsafe extern "C" fn(Sorter, u32, *mut MemoryRequirements);
type Sort = unsafe extern "C" fn(
    Sorter,
    *const SortInfo,
    vk::Device,
    vk::CommandBuffer,
    *mut vk::DescriptorBufferInfo,
);

/// The library.
pub struct Fuchsia<'n> {
    native: &'n Native,
    create: Create,
    destroy: Destroy,
    requirements: Requirements,
    sort: Sort,
    /// For keys and for pairs, with its name.
    targets: [(String, Target); 2],
    implementation: Implementation,
    /// Holds the functions.
    _library: Library,
}

impl<'n> Fuchsia<'n> {
    pub fn new(library: Library, version: String, native: &'n Native) -> Result<Self> {
        let targets = [target(&library, native, 1)?, target(&library, native, 2)?];
        // SAFETY: the functions are declared as in the library's header, and stay loaded with it.
        unsafe {
            Ok(Self {
                native,
                create: *library.get(b"radix_sort_vk_create")?,
                destroy: *library.get(b"radix_sort_vk_destroy")?,
                requirements: *library.get(b"radix_sort_vk_get_memory_requirements")?,
                sort: *library.get(b"radix_sort_vk_sort")?,
                targets,
                implementation: Implementation {
                    name: "Fuchsia",
                    version,
                    compiler: "its own modules".to_owned(),
                },
                _library: library,
            })
        }
    }
}

/// The target for the device and for words of `dwords`, with its name: that which the library chooses for its vendor. Of another
/// vendor that for as many lanes, for a target works with no other number.
fn target(library: &Library, native: &Native, dwords: u32) -> Result<(String, Target)> {
    const VENDORS: [u32; 4] = [0x10de, 0x1002, 0x8086, 0x13b5];
    let properties = native.properties();
    if VENDORS.contains(&properties.vendor_id) {
        // SAFETY: the function is declared as in the library's header.
        let target = unsafe {
            let detect = *library.get::<AutoDetect>(b"radix_sort_vk_target_auto_detect")?;
            detect(&raw const properties, dwords)
        };
        ensure!(!target.is_null(), "no target for the device");
        return Ok(("its own target".to_owned(), target));
    }
    let name = match native.device().capabilities().subgroup_size {
        4 => "bifrost4",
        8 => "bifrost8",
        32 => "sm35",
        64 => "gcn3",
        lanes => bail!("no target of {lanes} lanes"),
    };
    let symbol = format!("{name}_u{}_target", 32 * dwords);
    // SAFETY: the symbol is a target, whose address is all that is used.
    let target = unsafe { *library.get::<Target>(symbol.as_bytes())? };
    Ok((format!("target {name}"), target))
}

impl Implementer for Fuchsia<'_> {
    fn implementation(&self) -> &Implementation {
        &self.implementation
    }

    fn subject<'s>(&'s self, task: &Task) -> Result<Option<Box<dyn Subject + 's>>> {
        let Columns { keys, values } = &task.input;
        let words = match task.work {
            Work::Keys => keys.clone(),
            Work::Pairs => values.iter().zip(keys).flat_map(|(value, key)| [*value, *key]).collect(),
            Work::Scan { .. } => return Ok(None),
        };
        let count = u32::try_from(task.case.count)?;
        ensure!(count < 1 << 30, "it sorts fewer than 2^30 keys");
        let device = self.native.device().raw().handle();
        let (target_name, target) = &self.targets[usize::from(task.work == Work::Pairs)];
        // SAFETY: the device is alive and has all features.
        let sorter = unsafe { (self.create)(device, std::ptr::null(), vk::PipelineCache::null(), *target) };
        ensure!(!sorter.is_null(), "it makes no sorter for the device");
        let sorter = OwnedSorter { library: self, raw: sorter };
        let mut needs = MemoryRequirements::default();
        // SAFETY: the sorter is alive.
        unsafe { (self.requirements)(sorter.raw, count, &raw mut needs) };
        Ok(Some(Box::new(Sorted {
            count,
            policy: target_name.clone(),
            word_count: words.len(),
            pristine: self.native.upload(&words)?,
            even: self.native.allocate(needs.keyvals_size)?,
            odd: self.native.allocate(needs.keyvals_size)?,
            internal: self.native.allocate(needs.internal_size)?,
            result_is_odd: false,
            expected: task.expected.clone(),
            sorter,
        })))
    }
}

/// A sorter, destroyed on drop.
struct OwnedSorter<'s> {
    library: &'s Fuchsia<'s>,
    raw: Sorter,
}

impl Drop for OwnedSorter<'_> {
    fn drop(&mut self) {
        let device = self.library.native.device().raw().handle();
        // SAFETY: the sorter is the library's, and all work with it was waited for.
        unsafe { (self.library.destroy)(self.raw, device, std::ptr::null()) };
    }
}

/// A sort of keys, or of pairs.
struct Sorted<'s> {
    sorter: OwnedSorter<'s>,
    policy: String,
    count: u32,
    word_count: usize,
    pristine: NativeBuffer<'s>,
    even: NativeBuffer<'s>,
    odd: NativeBuffer<'s>,
    internal: NativeBuffer<'s>,
    result_is_odd: bool,
    expected: Rc<Columns>,
}

impl Subject for Sorted<'_> {
    fn times(&mut self, run_count: u32) -> Result<Vec<f64>> {
        let OwnedSorter { library: Fuchsia { native, sort, .. }, raw: sorter } = self.sorter;
        let of = |buffer: &NativeBuffer<'_>| {
            let range = buffer.range();
            vk::DescriptorBufferInfo { buffer: range.buffer, offset: 0, range: range.size }
        };
        let info = SortInfo {
            ext: std::ptr::null_mut(),
            key_bits: 32,
            count: self.count,
            keyvals_even: of(&self.even),
            keyvals_odd: of(&self.odd),
            internal: of(&self.internal),
        };
        let mut result = vk::DescriptorBufferInfo::default();
        let device = native.device().raw().handle();
        let record = |command_buffer| {
            // SAFETY: the command buffer is recording; the buffers have the sizes that the sorter requires.
            unsafe { sort(sorter, &raw const info, device, command_buffer, &raw mut result) };
        };
        // SAFETY: the sorter and the buffers live as long as this.
        let times = unsafe { native.times(run_count, &[(&self.pristine, &self.even)], record) }?;
        self.result_is_odd = result.buffer == self.odd.range().buffer;
        Ok(times)
    }

    fn mismatch(&mut self) -> Result<Option<Mismatch>> {
        let sorted = if self.result_is_odd { &self.odd } else { &self.even };
        let words = self.sorter.library.native.download(sorted, self.word_count)?;
        let got = if self.word_count == self.count as usize {
            Columns { keys: words, values: Vec::new() }
        } else {
            let column = |of: usize| words.iter().skip(of).step_by(2).copied().collect();
            Columns { keys: column(1), values: column(0) }
        };
        Ok(self.expected.mismatch(&got))
    }

    fn policy(&self) -> String {
        self.policy.clone()
    }
}
