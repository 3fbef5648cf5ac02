//! vulkan_radix_sort, in place.

use std::ffi::c_void;
use std::rc::Rc;

use anyhow::{Result, ensure};
use ash::vk;
use libloading::Library;
use subsweep_tool::harness::Mismatch;

use crate::native::{Native, NativeBuffer};
use crate::subject::{Implementation, Implementer, Subject, Task};
use crate::work::{Columns, Work};

/// `VrdxSorter`.
type Sorter = *mut c_void;

/// `VrdxSorterCreateInfo`.
#[repr(C)]
struct CreateInfo {
    physical_device: vk::PhysicalDevice,
    device: vk::Device,
    pipeline_cache: vk::PipelineCache,
}

/// `VrdxSorterStorageRequirements`.
#[repr(C)]
#[derive(Default)]
struct StorageRequirements {
    size: u64,
    usage: u32,
}

type Create = unsafe extern "C" fn(*const CreateInfo, *mut Sorter) -> vk::Result;
type Destroy = unsafe extern "C" fn(Sorter);
type Requirements = unsafe extern "C" fn(Sorter, u32, *mut StorageRequirements);
type Sort = unsafe extern "C" fn(
    vk::CommandBuffer,
    Sorter,
    u32,
    vk::Buffer,
    u64,
    vk::Buffer,
    u64,
    vk::QueryPool,
    u32,
);
type SortPairs = unsafe extern "C" fn(
    vk::CommandBuffer,
    Sorter,
    u32,
    vk::Buffer,
    u64,
    vk::Buffer,
    u64,
    vk::Buffer,
    u64,
    vk::QueryPool,
    u32,
);

/// The library and a sorter.
pub struct VulkanRadixSort<'n> {
    native: &'n Native,
    sorter: Sorter,
    destroy: Destroy,
    requirements: Requirements,
    pairs_requirements: Requirements,
    sort: Sort,
    sort_pairs: SortPairs,
    implementation: Implementation,
    /// Holds the functions.
    _library: Library,
}

impl<'n> VulkanRadixSort<'n> {
    pub fn new(library: Library, version: String, native: &'n Native) -> Result<Self> {
        let lanes = native.device().capabilities().subgroup_size;
        // One subgroup of its workgroup of 512 sums up the sums of all.
        ensure!(lanes >= 32, "it takes subgroups of 32 lanes or more, and these have {lanes}");
        let device = native.device().raw().handle();
        let info = CreateInfo {
            physical_device: native.physical_device(),
            device,
            pipeline_cache: vk::PipelineCache::null(),
        };
        let mut sorter = std::ptr::null_mut();
        // SAFETY: the functions are declared as in the library's header, and stay loaded with it; the device has push
        // descriptors and synchronization2, which the caller's features include.
        unsafe {
            let create = *library.get::<Create>(b"vrdxCreateSorter")?;
            let sort = Self {
                native,
                destroy: *library.get(b"vrdxDestroySorter")?,
                requirements: *library.get(b"vrdxGetSorterStorageRequirements")?,
                pairs_requirements: *library.get(b"vrdxGetSorterKeyValueStorageRequirements")?,
                sort: *library.get(b"vrdxCmdSort")?,
                sort_pairs: *library.get(b"vrdxCmdSortKeyValue")?,
                sorter: {
                    create(&raw const info, &raw mut sorter).result()?;
                    sorter
                },
                implementation: Implementation {
                    name: "vulkan_radix_sort",
                    version,
                    compiler: "its own modules".to_owned(),
                },
                _library: library,
            };
            Ok(sort)
        }
    }
}

impl Drop for VulkanRadixSort<'_> {
    fn drop(&mut self) {
        // SAFETY: the sorter is the library's, and all work with it was waited for.
        unsafe { (self.destroy)(self.sorter) };
    }
}

impl Implementer for VulkanRadixSort<'_> {
    fn implementation(&self) -> &Implementation {
        &self.implementation
    }

    fn subject<'s>(&'s self, task: &Task) -> Result<Option<Box<dyn Subject + 's>>> {
        let requirements = match task.work {
            Work::Keys => self.requirements,
            Work::Pairs => self.pairs_requirements,
            Work::Scan { .. } => return Ok(None),
        };
        let count = u32::try_from(task.case.count)?;
        let mut needs = StorageRequirements::default();
        // SAFETY: the sorter is alive.
        unsafe { requirements(self.sorter, count, &raw mut needs) };
        ensure!(needs.size > 0, "no storage for {count} keys");
        let Columns { keys, values } = &task.input;
        let column = |words: &Vec<u32>| {
            let buffers = || {
                anyhow::Ok([self.native.upload(words)?, self.native.allocate(size_of_val(&**words) as u64)?])
            };
            (!words.is_empty()).then(buffers).transpose()
        };
        let columns = [column(keys)?, column(values)?].into_iter().flatten().collect();
        let storage = self.native.allocate(needs.size)?;
        let expected = task.expected.clone();
        Ok(Some(Box::new(Sorted { library: self, count, columns, storage, expected })))
    }
}

/// A sort of keys, or of pairs.
struct Sorted<'s> {
    library: &'s VulkanRadixSort<'s>,
    count: u32,
    /// Keys, and values if there are any: pristine and sorted.
    columns: Vec<[NativeBuffer<'s>; 2]>,
    storage: NativeBuffer<'s>,
    expected: Rc<Columns>,
}

impl Subject for Sorted<'_> {
    fn times(&mut self, run_count: u32) -> Result<Vec<f64>> {
        let VulkanRadixSort { native, sorter, sort, sort_pairs, .. } = self.library;
        let restored: Vec<_> = self.columns.iter().map(|[pristine, sorted]| (pristine, sorted)).collect();
        let buffers: Vec<_> = self.columns.iter().map(|[_, sorted]| sorted.range().buffer).collect();
        let (storage, count, no_pool) = (self.storage.range().buffer, self.count, vk::QueryPool::null());
        let record = |command_buffer| {
            // SAFETY: the command buffer is recording; the buffers have the sizes that the sorter requires.
            unsafe {
                match buffers[..] {
                    [keys, values] => {
                        sort_pairs(command_buffer, *sorter, count, keys, 0, values, 0, storage, 0, no_pool, 0)
                    }
                    _ => sort(command_buffer, *sorter, count, buffers[0], 0, storage, 0, no_pool, 0),
                }
            }
        };
        // SAFETY: the sorter and the buffers live as long as this.
        unsafe { native.times(run_count, &restored, record) }
    }

    fn mismatch(&mut self) -> Result<Option<Mismatch>> {
        let mut columns = Vec::new();
        for [_, sorted] in &self.columns {
            columns.push(self.library.native.download(sorted, self.count as usize)?);
        }
        let mut columns = columns.into_iter();
        let [keys, values] = [(); 2].map(|()| columns.next().unwrap_or_default());
        Ok(self.expected.mismatch(&Columns { keys, values }))
    }

    fn policy(&self) -> String {
        "its own tuning".to_owned()
    }
}
