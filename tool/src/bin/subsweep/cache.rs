//! Pipeline and shader caches of drivers, kept between runs in the user's cache folder.
//!
//! ```text
//!   pipelines/NAME.bin   MAGIC, checksum of what follows, identity, data of a VkPipelineCache
//!   shaders/WIDTH/       Mesa's own shader cache, for LP_NATIVE_VECTOR_WIDTH=WIDTH
//! ```
//!
//! Nothing here fails a command: without a cache a run compiles everything.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use subsweep::ash::vk;
use subsweep::device::{Capabilities, Device, DeviceIdentity};
use subsweep::headless::{Candidate, Gpu, WorkOptions};
use subsweep::kernels::hash::fnv1a;
use subsweep_tool::harness::gpus::cache_folder;

use crate::files::output::{self, OutputProblem};

const MAGIC: &[u8] = b"subsweep pipelines 1\n";

/// Bytes of `VkPipelineCacheHeaderVersionOne`: its size and version, vendor, device, and `pipelineCacheUUID`.
const VULKAN_HEADER_SIZE: usize = 32;

/// Gives Mesa a shader cache of its own for each width of lavapipe's vectors, or disables it if not `is_cached`,
/// unless the user set one. Mesa's cache ignores the width and would run code of one width at another. Without a set
/// width nothing changes.
///
/// # Safety
/// No other thread of the process is running.
pub unsafe fn separate_shader_caches(is_cached: bool) {
    let is_set = |name| std::env::var_os(name).is_some();
    // An empty variable sets no width.
    let width = std::env::var_os("LP_NATIVE_VECTOR_WIDTH").filter(|width| !width.is_empty());
    let Some(width) = width else { return };
    if is_set("MESA_SHADER_CACHE_DIR") || is_set("MESA_SHADER_CACHE_DISABLE") {
        return;
    }
    let folder = cache_folder().filter(|_| is_cached);
    let folder = folder.map(|folder| folder.join("shaders").join(shader_cache_name(&width)));
    let (name, value) = match folder.filter(|folder| fs::create_dir_all(folder).is_ok()) {
        Some(folder) => ("MESA_SHADER_CACHE_DIR", folder.into_os_string()),
        None => ("MESA_SHADER_CACHE_DISABLE", "true".into()),
    };
    // SAFETY: as the caller promises.
    unsafe { std::env::set_var(name, value) };
}

/// A folder name for a width; the environment variable may hold any text.
fn shader_cache_name(width: &OsString) -> String {
    width.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// A device whose pipeline cache is saved when dropped.
pub struct CachedGpu {
    gpu: Gpu,
    file: Option<CacheFile>,
}

impl CachedGpu {
    /// Opens `candidate` with the pipeline cache data of earlier runs if `is_cached`.
    ///
    /// # Errors
    /// Errors of [`Gpu::open_candidate`].
    pub fn open(candidate: Candidate, is_cached: bool) -> subsweep::Result<Self> {
        Self::open_for(candidate, is_cached, WorkOptions::default())
    }

    /// As [`Self::open`], with options of its work.
    ///
    /// # Errors
    /// Errors of [`Gpu::open_candidate`].
    pub fn open_for(candidate: Candidate, is_cached: bool, work: WorkOptions) -> subsweep::Result<Self> {
        let file = CacheFile::new(candidate.capabilities().filter(|_| is_cached));
        let pipeline_cache_data = file.as_ref().map(CacheFile::read).unwrap_or_default();
        let is_read = !pipeline_cache_data.is_empty();
        let work = WorkOptions { pipeline_cache_data, ..work };
        let gpu = Gpu::open_candidate(candidate, work)?;
        // Data that the driver has rejected is replaced.
        let loaded =
            if is_read { gpu.device().pipeline_cache_data().unwrap_or_default() } else { Vec::new() };
        Ok(Self { gpu, file: file.map(|file| CacheFile { loaded_size: loaded.len(), ..file }) })
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

/// The cache file of one device, driver build and subgroup size.
#[derive(Debug)]
struct CacheFile {
    path: PathBuf,
    /// Device and driver as text; a file with another identity is ignored.
    identity: String,
    /// Expected header of the driver's data.
    header: [u8; VULKAN_HEADER_SIZE],
    /// Bytes of the driver's data before it compiled anything.
    loaded_size: usize,
}

impl CacheFile {
    fn new(capabilities: Option<&Capabilities>) -> Option<Self> {
        let capabilities = capabilities?;
        let (name, identity) = identity_of(capabilities);
        Some(Self {
            path: cache_folder()?.join("pipelines").join(format!("{name}.bin")),
            identity,
            header: vulkan_header(&capabilities.identity),
            loaded_size: 0,
        })
    }

    /// The data for the driver; empty where the file is missing, damaged or has another identity.
    fn read(&self) -> Vec<u8> {
        // Reading a named pipe would block until a writer opens it.
        let is_file = fs::metadata(&self.path).is_ok_and(|metadata| metadata.is_file());
        let bytes = is_file.then(|| self.bytes().ok()).flatten().unwrap_or_default();
        self.parse(&bytes).unwrap_or_default().to_vec()
    }

    /// The file; only its beginning if that is not this cache's, since a foreign file may be of any size.
    fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut file = File::open(&self.path)?;
        let mut bytes = vec![0; MAGIC.len() + size_of::<u64>() + self.identity.len()];
        file.read_exact(&mut bytes)?;
        if bytes.starts_with(MAGIC) && bytes.ends_with(self.identity.as_bytes()) {
            file.read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }

    fn parse<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let (checksum, content) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
        let is_whole = fnv1a(content.iter().copied()) == u64::from_le_bytes(*checksum);
        let data = content.strip_prefix(self.identity.as_bytes())?;
        (is_whole && data.starts_with(&self.header)).then_some(data)
    }

    fn save(&self, device: &Device) {
        let Ok(data) = device.pipeline_cache_data() else { return };
        if is_worth_keeping(data.len(), self.loaded_size) {
            // A failed write (full disk, folder of another user) must not fail the command.
            let _ = self.write(&data);
        }
    }

    /// Writes the whole file or nothing.
    fn write(&self, data: &[u8]) -> Result<(), OutputProblem> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(OutputProblem::Folder)?;
        let content = [self.identity.as_bytes(), data].concat();
        output::write_whole(&self.path, &[MAGIC, &fnv1a(content.iter().copied()).to_le_bytes(), &content])
    }
}

/// A device, its driver build and subgroup size: the name of a file, and a line of text.
pub fn identity_of(capabilities: &Capabilities) -> (String, String) {
    let Capabilities { identity, subgroup_size: lanes, .. } = capabilities;
    let (device, driver) = (identity.device_uuid_text(), identity.driver_uuid_text());
    let data = identity.pipeline_cache_uuid_text();
    let (name, version) = (&identity.name, identity.driver_text());
    let words = format!("{device} {driver} {data} {lanes} lanes, {name}, {version}\n");
    (format!("{device}-{:016x}", fnv1a(words.bytes())), words)
}

/// The header of all cache data that the device's driver accepts.
fn vulkan_header(identity: &DeviceIdentity) -> [u8; VULKAN_HEADER_SIZE] {
    let version = vk::PipelineCacheHeaderVersion::ONE.as_raw() as u32;
    let words = [VULKAN_HEADER_SIZE as u32, version, identity.vendor_id, identity.device_id];
    let (mut header, words) = ([0; VULKAN_HEADER_SIZE], words.map(u32::to_le_bytes));
    let (first, last) = header.split_at_mut(words.as_flattened().len());
    first.copy_from_slice(words.as_flattened());
    last.copy_from_slice(&identity.pipeline_cache_uuid);
    header
}

/// Whether a driver has added data. lavapipe and SwiftShader never do.
fn is_worth_keeping(size: usize, loaded_size: usize) -> bool {
    size > VULKAN_HEADER_SIZE.max(loaded_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &Path, identity: &str) -> CacheFile {
        CacheFile {
            path: folder.join("pipelines/one.bin"),
            identity: identity.into(),
            header: [7; VULKAN_HEADER_SIZE],
            loaded_size: 0,
        }
    }

    /// Data with the header of [`file`].
    fn compiled(text: &str) -> Vec<u8> {
        [&[7; VULKAN_HEADER_SIZE], text.as_bytes()].concat()
    }

    #[test]
    fn data_is_read_back_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(folder.path(), "a device\n");
        assert!(file.read().is_empty());
        for data in [compiled("once"), compiled("once again")] {
            file.write(&data).unwrap();
            assert_eq!(file.read(), data);
        }
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
    #[cfg(unix)]
    fn a_named_pipe_is_not_read_but_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(folder.path(), "a device\n");
        fs::create_dir_all(file.path.parent().unwrap()).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file.path).status().unwrap().success());
        assert!(file.read().is_empty());
        file.write(&compiled("once")).unwrap();
        assert_eq!(file.read(), compiled("once"));
    }

    #[test]
    fn a_foreign_file_is_not_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = file(folder.path(), "a device\n");
        fs::create_dir_all(file.path.parent().unwrap()).unwrap();
        // Sparse: it takes no room.
        File::create(&file.path).unwrap().set_len(1 << 40).unwrap();
        assert!(file.bytes().unwrap().len() < 100 && file.read().is_empty());
    }

    #[test]
    fn data_of_another_driver_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let one = file(folder.path(), "driver 1\n");
        one.write(&compiled("once")).unwrap();
        assert!(file(folder.path(), "driver 2\n").read().is_empty());
        assert!(CacheFile { header: [8; VULKAN_HEADER_SIZE], ..one }.read().is_empty());
        let cut = file(folder.path(), "driver 1\n");
        cut.write(&compiled("")[..VULKAN_HEADER_SIZE - 1]).unwrap();
        assert!(cut.read().is_empty());
    }

    #[test]
    fn the_header_is_vulkans() {
        let mut identity = DeviceIdentity::default();
        (identity.vendor_id, identity.device_id) = (0x1002, 0x73bf);
        identity.pipeline_cache_uuid = std::array::from_fn(|at| at as u8 + 1);
        let header = vulkan_header(&identity);
        assert_eq!(header[..16], [32, 0, 0, 0, 1, 0, 0, 0, 2, 0x10, 0, 0, 0xbf, 0x73, 0, 0]);
        assert_eq!(header[16..], identity.pipeline_cache_uuid);
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
