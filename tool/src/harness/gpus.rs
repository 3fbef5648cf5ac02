//! Compile-only GPUs: Mesa's drivers over `drm-shim`, which answers the kernel's ioctls. They compile and run nothing.
//!
//! `tools/setup gpus` unpacks the drivers with the glibc that they were built for. A driver opens its device only in a
//! process that was started by that glibc's loader with the shim of the device preloaded: [`CompileOnlyGpu::command`].
//!
//! ```text
//!   root/usr/lib/x86_64-linux-gnu/   loader, libraries, drivers and shims, from Debian's packages
//!   intel/                           Intel's shim, which Debian does not package
//!   icd/                             a manifest for each driver
//! ```

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};

/// A GPU with a compiler and without hardware.
#[derive(Debug, PartialEq, Eq)]
pub struct CompileOnlyGpu {
    /// The name that `--device gpu:NAME` takes.
    pub name: &'static str,
    /// The architecture in its vendor's words, and the product or chip that the shim emulates.
    pub what: &'static str,
    /// The driver, and its shader compiler.
    pub driver: &'static str,
    /// The manifest's name without its extension; also part of the name of the driver's library.
    manifest: &'static str,
    /// The shim's folder, relative to the folder of GPUs, and its file name.
    shim: (&'static str, &'static str),
    /// Environment variables that select the chip for driver and shim.
    environment: &'static [(&'static str, &'static str)],
}

/// The reason why a compile-only GPU cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSetUp {
    /// Mesa's drivers and shims are for another system.
    #[error("gpu:{name} compiles on Linux (x86-64) only")]
    Elsewhere {
        /// The GPU's name.
        name: &'static str,
    },
    /// A file is missing.
    #[error("gpu:{name} is not set up ({} is missing); run tools/setup gpus{}", missing.display(), note(missing))]
    Missing {
        /// The GPU's name.
        name: &'static str,
        /// The first file that was not found.
        missing: PathBuf,
    },
    /// The path of the folder of GPUs contains a separator of path lists.
    #[error("gpu:{name}: loaders cannot take ':' or ';' in {}; set SUBSWEEP_GPUS_DIR to another folder", folder.display())]
    Separator {
        /// The GPU's name.
        name: &'static str,
        /// The folder.
        folder: PathBuf,
    },
}

/// A note about Intel's shim: Debian has every other shim, and the set-up continues without it.
fn note(missing: &Path) -> &'static str {
    if missing.ends_with(INTEL_SHIM) { ", which names what it needs to build Intel's shim" } else { "" }
}

const LIBRARIES: &str = "root/usr/lib/x86_64-linux-gnu";
const INTEL: &str = "intel";
const INTEL_SHIM: &str = "libintel_noop_drm_shim.so";
const LOADER: &str = "ld-linux-x86-64.so.2";

/// A Mesa driver, and the shim for its devices.
struct Driver {
    name: &'static str,
    manifest: &'static str,
    shim: (&'static str, &'static str),
}

const NVK: Driver = Driver {
    name: "NVK (compiler: NAK)",
    manifest: "nouveau",
    shim: (LIBRARIES, "libnouveau_noop_drm_shim.so"),
};
const RADV: Driver = Driver {
    name: "RADV (compiler: ACO)",
    manifest: "radeon",
    shim: (LIBRARIES, "libamdgpu_noop_drm_shim.so"),
};
const ANV: Driver = Driver { name: "ANV (compiler: brw)", manifest: "intel", shim: (INTEL, INTEL_SHIM) };
const TURNIP: Driver = Driver {
    name: "Turnip (compiler: ir3)",
    manifest: "freedreno",
    shim: (LIBRARIES, "libfreedreno_noop_drm_shim.so"),
};
const HONEYKRISP: Driver = Driver {
    name: "Honeykrisp (compiler: agx)",
    manifest: "asahi",
    shim: (LIBRARIES, "libasahi_noop_drm_shim.so"),
};

const fn gpu(
    driver: Driver,
    name: &'static str,
    what: &'static str,
    environment: &'static [(&'static str, &'static str)],
) -> CompileOnlyGpu {
    let Driver { name: driver, manifest, shim } = driver;
    CompileOnlyGpu { name, what, driver, manifest, shim, environment }
}

/// NVK's opt-in to hardware that it does not support yet, or no longer.
const UNSUPPORTED_HARDWARE: (&str, &str) = ("NVK_I_WANT_A_BROKEN_VULKAN_DRIVER", "1");

const ALL: &[CompileOnlyGpu] = &[
    gpu(NVK, "nvidia-turing", "NVIDIA Turing, TU102", &[("NOUVEAU_CHIPSET", "162"), UNSUPPORTED_HARDWARE]),
    gpu(NVK, "nvidia-ampere", "NVIDIA Ampere, GA102", &[("NOUVEAU_CHIPSET", "172"), UNSUPPORTED_HARDWARE]),
    gpu(RADV, "amd-rdna2", "AMD RDNA 2, Navi 21", &[("AMDGPU_GPU_ID", "navi21")]),
    gpu(RADV, "amd-rdna3", "AMD RDNA 3, Navi 31", &[("AMDGPU_GPU_ID", "navi31")]),
    gpu(RADV, "amd-rdna4", "AMD RDNA 4, Navi 48", &[("AMDGPU_GPU_ID", "gfx1201")]),
    gpu(RADV, "amd-gcn5", "AMD GCN 5, Vega 10", &[("AMDGPU_GPU_ID", "vega10")]),
    gpu(ANV, "intel-tgl", "Intel Xe, Tiger Lake", &[("INTEL_STUB_GPU_PLATFORM", "tgl")]),
    gpu(ANV, "intel-dg2", "Intel Xe HPG, Arc A770M", &[("INTEL_STUB_GPU_PLATFORM", "dg2")]),
    gpu(ANV, "intel-lnl", "Intel Xe2, Lunar Lake", &[("INTEL_STUB_GPU_PLATFORM", "lnl")]),
    gpu(TURNIP, "adreno-630", "Qualcomm Adreno 630", &[("FD_GPU_ID", "630")]),
    gpu(TURNIP, "adreno-740", "Qualcomm Adreno 740", &[("FD_GPU_ID", "740")]),
    gpu(TURNIP, "adreno-830", "Qualcomm Adreno 830", &[("FD_GPU_ID", "830")]),
    gpu(HONEYKRISP, "apple-m1", "Apple M1, G13G", &[]),
];

/// Variables that would lead the Vulkan loader to other drivers, RADV to a device without the shim, or the program
/// loader to other libraries.
const CLEARED: [&str; 9] = [
    "VK_ICD_FILENAMES",
    "VK_ADD_DRIVER_FILES",
    "VK_LOADER_DRIVERS_SELECT",
    "VK_LOADER_DRIVERS_DISABLE",
    "VK_LOADER_DEVICE_SELECT",
    "VK_INSTANCE_LAYERS",
    "RADV_FORCE_FAMILY",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
];

impl CompileOnlyGpu {
    /// All compile-only GPUs, in the order of `--list-gpus`.
    pub const fn all() -> &'static [Self] {
        ALL
    }

    /// The GPU with this name, in any case.
    pub fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|gpu| gpu.name.eq_ignore_ascii_case(name))
    }

    /// Checks that all files of the GPU exist.
    ///
    /// # Errors
    /// [`NotSetUp`], with the first missing file.
    pub fn check(&self) -> Result<(), NotSetUp> {
        let (name, folder) = (self.name, folder().unwrap_or_default());
        if cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
            return Err(NotSetUp::Elsewhere { name });
        }
        if folder.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b':' | b';')) {
            return Err(NotSetUp::Separator { name, folder });
        }
        let missing = self.files().into_iter().map(|file| folder.join(file)).find(|file| !file.is_file());
        missing.map_or(Ok(()), |missing| Err(NotSetUp::Missing { name, missing }))
    }

    /// A command that starts `executable`, an ELF file for x86-64 Linux, in a process whose only Vulkan driver opens
    /// this GPU. Arguments of the executable are added to the command; no shell is involved.
    ///
    /// The shim accepts submissions and executes nothing. Mesa's shader cache is off, so that statistics come from
    /// the process's own compilation. Shim and driver write noise to standard error: see [`is_noise`].
    ///
    /// # Errors
    /// [`NotSetUp`].
    pub fn command(&self, executable: impl AsRef<OsStr>) -> Result<Command, NotSetUp> {
        self.check()?;
        let folder = folder().unwrap_or_default();
        let libraries = folder.join(LIBRARIES);
        let mut command = Command::new(libraries.join(LOADER));
        let mut path = libraries.into_os_string();
        path.push(":");
        path.push(folder.join(INTEL));
        command.arg("--library-path").arg(path);
        // The list of preloaded files is separated by spaces; a bare name is searched in the library path, which may
        // have them.
        command.arg("--preload").arg(self.shim.1).arg(executable);
        CLEARED.iter().for_each(|name| {
            command.env_remove(name);
        });
        command.env("VK_DRIVER_FILES", folder.join(self.manifest_path()));
        // Layers of the system may reorder devices, and are built for another C library.
        command.env("VK_LOADER_LAYERS_DISABLE", "~implicit~").env("MESA_SHADER_CACHE_DISABLE", "true");
        // NAK panics on unsupported code; its message has one line.
        command.env("RUST_BACKTRACE", "0");
        command.envs(self.environment.iter().copied());
        Ok(command)
    }

    fn manifest_path(&self) -> PathBuf {
        PathBuf::from("icd").join(self.manifest).with_extension("json")
    }

    /// The files that [`Self::command`] and the manifest name, relative to the folder.
    fn files(&self) -> [PathBuf; 4] {
        let libraries = Path::new(LIBRARIES);
        let driver = libraries.join(format!("libvulkan_{}.so", self.manifest));
        let (folder, shim) = self.shim;
        [libraries.join(LOADER), self.manifest_path(), driver, Path::new(folder).join(shim)]
    }
}

/// Whether a line of standard error is a shim's message about an ioctl that it does not know, or a driver's about its
/// conformance.
pub fn is_noise(line: &str) -> bool {
    ["DRM_SHIM: ", "Unknown DRM_IOCTL", "Unknown drm_"].iter().any(|start| line.starts_with(start))
        || line.contains("is not a conformant Vulkan implementation")
}

/// `SUBSWEEP_CACHE`, as for the scripts in `tools/`, or `subsweep/` in the user's cache folder; none if both are unset.
pub fn cache_folder() -> Option<PathBuf> {
    set("SUBSWEEP_CACHE").or_else(|| Some(choose_native_strategy().ok()?.cache_dir().join("subsweep")))
}

/// A path from an environment variable that is not empty.
fn set(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// `SUBSWEEP_GPUS_DIR`, or `gpus/` in [`cache_folder`].
fn folder() -> Option<PathBuf> {
    let folder = set("SUBSWEEP_GPUS_DIR").or_else(|| Some(cache_folder()?.join("gpus")))?;
    // The Vulkan loader resolves relative paths of manifests against another folder.
    std::path::absolute(folder).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_no_two_are_alike() {
        for (at, gpu) in ALL.iter().enumerate() {
            assert_eq!(CompileOnlyGpu::find(&gpu.name.to_uppercase()), Some(gpu));
            assert!(
                ALL[..at].iter().all(|other| other.name != gpu.name && other.what != gpu.what),
                "{gpu:?}"
            );
            // `--device` reads a comma as a list, and `all` as all GPUs.
            assert!(!gpu.name.contains(',') && gpu.name != "all", "{gpu:?}");
        }
        assert_eq!(CompileOnlyGpu::find("nvidia"), None);
    }

    #[test]
    fn a_gpu_without_files_says_what_to_run() {
        let error = |name, missing: &str| NotSetUp::Missing { name, missing: missing.into() }.to_string();
        assert_eq!(
            error("apple-m1", "/gpus/icd/asahi.json"),
            "gpu:apple-m1 is not set up (/gpus/icd/asahi.json is missing); run tools/setup gpus"
        );
        assert_eq!(
            error("intel-dg2", "/gpus/intel/libintel_noop_drm_shim.so"),
            "gpu:intel-dg2 is not set up (/gpus/intel/libintel_noop_drm_shim.so is missing); run tools/setup gpus, \
             which names what it needs to build Intel's shim"
        );
    }

    #[test]
    fn messages_of_shims_are_recognized() {
        for line in [
            "DRM_SHIM: unhandled core DRM ioctl 0x2D (0xc00c642d)",
            "Unknown DRM_IOCTL_MSM_GET_PARAM 21",
            "Unknown drm_i915_query_item id=5",
            "WARNING: radv is not a conformant Vulkan implementation, testing use only.",
        ] {
            assert!(is_noise(line), "{line}");
        }
        assert!(!is_noise("subsweep: no pipeline's name has 'x' in it"));
    }
}
