//! Sorts that are C or C++ libraries, from a folder of shared libraries: vulkan_radix_sort and Fuchsia's. See ../README.md.
//!
//! Both record into the caller's command buffer. Declarations follow vulkan_radix_sort's `vk_radix_sort.h` 0.4.0 and
//! Fuchsia's `radix_sort_vk.h` of 2021.

mod fuchsia;
mod vulkan_radix_sort;

use std::path::Path;

use anyhow::{Context as _, Result};
use libloading::Library;

use crate::native::Native;
use crate::subject::Implementer;

/// What is in the libraries of a folder: sorts, known by their functions.
pub fn open<'n>(folder: &Path, native: &'n Native) -> Result<Vec<Box<dyn Implementer + 'n>>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    let extension = std::env::consts::DLL_EXTENSION;
    let mut found: Vec<Box<dyn Implementer + 'n>> = Vec::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|of| of == extension)) {
        // SAFETY: the user names the library, and so trusts what it does when it is loaded.
        let library = unsafe { Library::new(path) }.with_context(|| path.display().to_string())?;
        let has = |name: &str| {
            // SAFETY: the symbol is not used.
            unsafe { library.get::<*const ()>(name.as_bytes()) }.is_ok()
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().replace(' ', "-");
        let opened: Result<Box<dyn Implementer + 'n>> = if has("vrdxCreateSorter") {
            vulkan_radix_sort::VulkanRadixSort::new(library, name, native).map(|sort| Box::new(sort) as _)
        } else if has("radix_sort_vk_create") {
            fuchsia::Fuchsia::new(library, name, native).map(|sort| Box::new(sort) as _)
        } else {
            eprintln!("vulkan: {} has no sort that is known here", path.display());
            continue;
        };
        match opened {
            Ok(sort) => found.push(sort),
            Err(error) => eprintln!("vulkan: {} is left out: {error:#}", path.display()),
        }
    }
    Ok(found)
}
