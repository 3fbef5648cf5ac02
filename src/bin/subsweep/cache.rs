//! What drivers have compiled, kept from run to run under the user's cache folder.
//!
//! ```text
//!   pipelines/NAME.bin   MAGIC, checksum of what follows, identity, data of a VkPipelineCache
//!   shaders/WIDTH/       Mesa's own shader cache, for LP_NATIVE_VECTOR_WIDTH=WIDTH
//! ```
//!
//! Nothing here fails a command: without a cache a run compiles everything.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use subsweep::Result;
use subsweep::headless::{Candidate, Gpu, WorkOptions};
use subsweep::vk::{Capabilities, Device};
use tempfile::NamedTempFile;

const MAGIC: &[u8] = b"subsweep pipelines 1\n";

/// Bytes of the header of a `VkPipelineCache`'s data.
const VULKAN_HEADER_SIZE: usize = 32;

/// Gives Mesa a shader cache for the width of lavapipe's vectors, unless the user named one: Mesa's own does not tell
/// widths apart, and runs code of one at another.
///
/// # Safety
/// No other thread of the process is running.
pub unsafe fn separate_shader_caches() {
    let is_set = |name| std::env::var_os(name).is_some();
    let Some(width) = std::env::var_os("LP_NATIVE_VECTOR_WIDTH") else { return };
    if is_set("MESA_SHADER_CACHE_DIR") || is_set("MESA_SHADER_CACHE_DISABLE") {
        return;
    }
    let folder = folder().map(|folder| folder.join("shaders").join(shader_cache_name(&width)));
    let (name, value) = match folder.filter(|folder| fs::create_dir_all(folder).is_ok()) {
        Some(folder) => ("MESA_SHADER_CACHE_DIR", folder.into_os_string()),
        None => ("MESA_SHADER_CACHE_DISABLE", "true".into()),
    };
    // SAFETY: as the caller promises.
    unsafe { std::env::set_var(name, value) };
}

/// Of a width that may hold whatever an environment can.
fn shader_cache_name(width: &OsString) -> String {
    width.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// `SUBSWEEP_CACHE`, as for the scripts in `tools/`, or the user's cache folder.
fn folder() -> Option<PathBuf> {
    match std::env::var_os("SUBSWEEP_CACHE").filter(|folder| !folder.is_empty()) {
        Some(folder) => Some(folder.into()),
        None => Some(dirs::cache_dir()?.join("subsweep")),
    }
}

/// A device whose pipelines are kept for the next run.
pub struct CachedGpu {
    gpu: Gpu,
    file: Option<CacheFile>,
}

impl CachedGpu {
    /// Opens `candidate`, with what its driver compiled in earlier runs if `is_cached`.
    ///
    /// # Errors
    /// Those of [`Gpu::open_candidate`].
    pub fn open(candidate: Candidate, is_cached: bool) -> Result<Self> {
        let file = CacheFile::new(candidate.capabilities().filter(|_| is_cached));
        let pipeline_cache_data = file.as_ref().map(CacheFile::read).unwrap_or_default();
        let loaded_size = pipeline_cache_data.len();
        let work = WorkOptions { pipeline_cache_data, ..WorkOptions::default() };
        let gpu = Gpu::open_candidate(candidate, work)?;
        Ok(Self { gpu, file: file.map(|file| CacheFile { loaded_size, ..file }) })
    }
}

impl Deref for CachedGpu {
    type Target = Gpu;

    fn deref(&self) -> &Gpu {
        &self.gpu
    }
}

impl Drop for CachedGpu {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            file.save(self.gpu.device());
        }
    }
}

/// The file of one device, driver build and number of lanes.
#[derive(Debug)]
struct CacheFile {
    path: PathBuf,
    /// Device and driver in words: a file that was renamed or is of another build is not taken.
    identity: String,
    /// Bytes that the driver was given.
    loaded_size: usize,
}

impl CacheFile {
    fn new(capabilities: Option<&Capabilities>) -> Option<Self> {
        let Capabilities { identity, subgroup_size: lanes, .. } = capabilities?;
        let (device, driver) = (identity.device_uuid_text(), identity.driver_uuid_text());
        let words =
            format!("{device} {driver} {lanes} lanes, {}, {}\n", identity.name, identity.driver_text());
        let name = format!("{device}-{:016x}.bin", hash(words.as_bytes()));
        Some(Self { path: folder()?.join("pipelines").join(name), identity: words, loaded_size: 0 })
    }

    /// The data for the driver; none where the file is missing, damaged or of something else.
    fn read(&self) -> Vec<u8> {
        let bytes = fs::read(&self.path).unwrap_or_default();
        self.parse(&bytes).unwrap_or_default().to_vec()
    }

    fn parse<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let (checksum, content) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
        let is_whole = hash(content) == u64::from_le_bytes(*checksum);
        content.strip_prefix(self.identity.as_bytes()).filter(|_| is_whole)
    }

    fn save(&self, device: &Device) {
        let Ok(data) = device.pipeline_cache_data() else { return };
        if is_worth_keeping(data.len(), self.loaded_size) {
            // A full disk or a folder of somebody else's takes nothing from what the command has done.
            let _ = self.write(&data);
        }
    }

    /// Writes all of it or nothing.
    fn write(&self, data: &[u8]) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let content = [self.identity.as_bytes(), data].concat();
        let mut file = NamedTempFile::new_in(folder)?;
        for piece in [MAGIC, &hash(&content).to_le_bytes(), &content] {
            file.write_all(piece)?;
        }
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Whether a driver has added anything to its header and to what it was given. lavapipe and SwiftShader never do.
fn is_worth_keeping(size: usize, loaded_size: usize) -> bool {
    size > VULKAN_HEADER_SIZE.max(loaded_size)
}

/// FNV-1a: it finds what a disk has lost, not what somebody forged.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &Path, identity: &str) -> CacheFile {
        CacheFile { path: folder.join("pipelines/one.bin"), identity: identity.into(), loaded_size: 0 }
    }

    #[test]
    fn data_is_read_back_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(folder.path(), "a device\n");
        assert!(file.read().is_empty());
        file.write(b"compiled").unwrap();
        assert_eq!(file.read(), b"compiled");
        file.write(b"compiled again").unwrap();
        assert_eq!(file.read(), b"compiled again");
        let names: Vec<_> = fs::read_dir(folder.path().join("pipelines")).unwrap().collect();
        assert_eq!(names.len(), 1, "nothing temporary is left");

        let whole = fs::read(&file.path).unwrap();
        for end in 0..whole.len() {
            assert_eq!(file.parse(&whole[..end]), None, "cut at {end}");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            assert_eq!(file.parse(&damaged), None, "changed at {at}");
        }
    }

    #[test]
    fn data_of_another_driver_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        file(folder.path(), "driver 1\n").write(b"compiled").unwrap();
        assert!(file(folder.path(), "driver 2\n").read().is_empty());
    }

    #[test]
    fn a_driver_that_keeps_nothing_has_no_file() {
        assert!(!is_worth_keeping(0, 0));
        assert!(!is_worth_keeping(VULKAN_HEADER_SIZE, 0));
        assert!(is_worth_keeping(VULKAN_HEADER_SIZE + 1, 0));
        assert!(!is_worth_keeping(5000, 5000));
        assert!(is_worth_keeping(5001, 5000));
    }

    #[test]
    fn each_width_has_a_folder() {
        let name = |width: &str| shader_cache_name(&width.into());
        assert_eq!((name("256"), name("../5")), ("256".to_owned(), "___5".to_owned()));
    }
}
