//! The rows of the matrix: driver, subgroup size, validation, and share of the cases.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use libtest_mimic::Arguments;
use subsweep::Error;
use subsweep::device::Capabilities;
use subsweep::headless::{DeviceSelector, Instance};
use subsweep_tool::harness::{BufferLayout, Effort};

use super::children::{self, Missing, is_full, is_gate_on, only_driver};
use super::passes::rig::Selection;
use super::reduced::Lists;

/// A driver at one subgroup size, under one kind of validation.
pub struct DriverRow {
    name: &'static str,
    driver: Driver,
    /// Subgroup size that the driver must report; 0 for any.
    lanes: u32,
    pub watch: Watch,
    share: Share,
}

/// Which cases a row runs in the short suite; all of them would take hours, most of that in the driver's compiler. In
/// the full suite rows of up to 16 lanes run the full table, one of them with products of parameters and large inputs;
/// the row with GPU-assisted validation runs a part of it. At 32 lanes `verify`'s cases run in small tiles, and at more
/// the lane-sensitive ones alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    /// The cases of `verify --quick`.
    Quick,
    /// Of the groups of the quick cases one in this many, and one in half as many of those that wait for other workgroups
    /// or may.
    PartOfQuick(usize),
    /// This part of the groups that `verify` has besides the quick cases, and the lane-sensitive ones.
    Specializations(usize),
    /// The cases of kernels that depend on the subgroup size, at their smallest tile shapes.
    LaneSensitive,
}

/// The validation of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// The system's validation layer, with synchronisation validation.
    Usual,
    /// The newer layer that tools/setup unpacks, with GPU-assisted validation as well: it checks every address that a
    /// kernel accesses. The checks take long to compile, so the cases are fewer.
    Bounds,
    /// As [`Self::Bounds`], and checks shared memory for races, which takes three times as long to compile.
    Races,
    /// Runs only the reproducer of this bug, since all other results are wrong.
    Bug(&'static str),
}

enum Driver {
    /// Mesa's CPU driver; the vector width in bits sets the subgroup size.
    Lavapipe {
        vector_width: u32,
        build: Mesa,
    },
    SwiftShader,
    /// The driver of this machine's GPU.
    Gpu,
}

enum Mesa {
    Installed,
    /// The newer version that tools/setup unpacks.
    Newer,
    /// The build by tools/setup with `lavapipe-wide.patch`, which supports more than 16 lanes.
    Wide,
}

const fn lavapipe(name: &'static str, build: Mesa, lanes: u32, watch: Watch, share: Share) -> DriverRow {
    DriverRow { name, driver: Driver::Lavapipe { vector_width: 32 * lanes, build }, lanes, watch, share }
}

impl DriverRow {
    /// Whether this row injects every fault. Faults do not depend on the driver: one row suffices, and this one
    /// compiles fast.
    pub fn has_faults(&self) -> bool {
        self.name == "lavapipe-8"
    }

    /// Whether this row runs trials of host code, which do not depend on the driver and compile many pipelines.
    pub fn has_host_trials(&self) -> bool {
        self.has_faults() || is_full() && self.has_calls()
    }

    /// Whether this row runs the group of cases of this name.
    pub fn takes(&self, name: &str, depends_on_progress: bool, matches_digits: bool) -> bool {
        // The share depends only on the name, so that rows with different groups agree.
        let part_of = |count: usize| {
            name.bytes().fold(0, |hash: usize, byte| hash.wrapping_mul(31) ^ usize::from(byte)) % count
        };
        match self.share {
            _ if is_full() => true,
            Share::Quick | Share::LaneSensitive => true,
            Share::PartOfQuick(one_in) => part_of(if depends_on_progress { one_in / 2 } else { one_in }) == 0,
            // Pipelines compile twice as fast at 4 lanes as at 16: two thirds run there.
            Share::Specializations(part) => matches_digits || part_of(3) / 2 == part,
        }
    }

    /// Whether this row runs sorts by shared masks: the row of shared specializations with enough lanes for them.
    pub fn has_shared_masks(&self) -> bool {
        self.lanes == 16 && self.has_specializations_alone()
    }

    /// Whether this row runs only the lane-sensitive cases. Compilation time grows with the lanes.
    pub fn is_lane_sensitive_alone(&self) -> bool {
        self.share == Share::LaneSensitive && (self.lanes > 32 || !is_full())
    }

    /// Whether this row runs only the cases that `verify` has besides the quick ones, in small tiles.
    pub fn has_specializations_alone(&self) -> bool {
        matches!(self.share, Share::Specializations(_)) && !is_full()
    }

    /// Whether this row checks each kernel against its pass model: in the short suite where kernels compile fastest,
    /// and under GPU-assisted validation.
    pub fn has_passes(&self) -> bool {
        let is_chosen = match (self.watch, &self.driver) {
            (Watch::Bounds | Watch::Races, _) | (_, Driver::SwiftShader | Driver::Gpu) => true,
            _ => is_full() && !self.is_lane_sensitive_alone() || self.has_others_alone(),
        };
        is_chosen && !matches!(self.watch, Watch::Bug(_))
    }

    /// Whether the pass checks run only kernels that SwiftShader does not support: of doubles, and of keys of 8 and 16 bits.
    pub fn has_others_alone(&self) -> bool {
        self.share == Share::Specializations(0) && !is_full()
    }

    /// Whether this row runs no cases, and the pass checks of the widest modules alone: they have all barriers.
    pub fn has_widest_modules_alone(&self) -> bool {
        self.watch == Watch::Races && !is_full()
    }

    /// Whether this row runs trials of the public functions, such as sorts of slices: in the short suite where kernels
    /// compile fastest.
    pub fn has_calls(&self) -> bool {
        match is_full() {
            true => self.has_passes() && self.share != Share::LaneSensitive,
            false => matches!(self.driver, Driver::SwiftShader | Driver::Gpu),
        }
    }

    /// Whether this row runs products of parameters and large inputs in the full suite. One row suffices.
    pub fn has_products(&self) -> bool {
        self.has_faults()
    }

    /// Whether small tiles replace tiles of the default size. Small tiles compile in a third of the time.
    pub fn has_small_tiles_alone(&self) -> bool {
        self.has_specializations_alone() || self.share == Share::LaneSensitive
    }

    /// The part of the case table from which the row's cases are taken.
    pub fn effort(&self) -> Effort {
        match self.watch {
            Watch::Bug(_) => Effort::Quick,
            Watch::Usual if self.has_small_tiles_alone() => Effort::Normal,
            _ if is_full() => Effort::Full,
            _ => Effort::Quick,
        }
    }

    /// Whether this row runs all cases of `verify --quick`, and no other.
    pub fn has_quick_cases(&self) -> bool {
        self.has_faults() && self.effort() == Effort::Quick
    }

    /// Whether this row runs the lane-sensitive cases in addition to the cases of [`Self::effort`].
    pub fn has_lane_sensitive_additionally(&self) -> bool {
        self.has_small_tiles_alone() && !self.is_lane_sensitive_alone()
    }

    /// How many specializations of each kernel the pass checks run. A pipeline takes seconds to compile under
    /// GPU-assisted validation and at many lanes.
    pub fn passes(&self) -> Selection {
        match (is_full(), self.watch) {
            (true, Watch::Usual) if self.share != Share::LaneSensitive => Selection::Full,
            (true, _) | (false, Watch::Usual | Watch::Bug(_)) => Selection::Short,
            (false, Watch::Bounds | Watch::Races) => Selection::One,
        }
    }
}

impl children::MatrixRow for DriverRow {
    type Together = Lists;

    const ALL: &'static [Self] = &[
        DriverRow { name: "gpu", driver: Driver::Gpu, lanes: 0, watch: Watch::Usual, share: Share::Quick },
        // The longest rows start first, so that none runs alone at the end.
        DriverRow {
            name: "swiftshader-4",
            driver: Driver::SwiftShader,
            lanes: 4,
            watch: Watch::Usual,
            share: Share::PartOfQuick(6),
        },
        lavapipe("lavapipe-8-bounds", Mesa::Installed, 8, Watch::Bounds, Share::PartOfQuick(2)),
        lavapipe("lavapipe-8", Mesa::Installed, 8, Watch::Usual, Share::Quick),
        lavapipe("lavapipe-8-races", Mesa::Installed, 8, Watch::Races, Share::Quick),
        lavapipe("lavapipe-wide-32", Mesa::Wide, 32, Watch::Usual, Share::LaneSensitive),
        lavapipe("lavapipe-25-8", Mesa::Newer, 8, Watch::Usual, Share::Quick),
        lavapipe("lavapipe-4", Mesa::Installed, 4, Watch::Usual, Share::Specializations(0)),
        lavapipe("lavapipe-16", Mesa::Installed, 16, Watch::Usual, Share::Specializations(1)),
        lavapipe("lavapipe-wide-128", Mesa::Wide, 128, Watch::Usual, Share::LaneSensitive),
        lavapipe("lavapipe-wide-64", Mesa::Wide, 64, Watch::Usual, Share::LaneSensitive),
        lavapipe("lavapipe-32", Mesa::Installed, 32, Watch::Bug("LANES_END_AT_16"), Share::Quick),
        lavapipe("lavapipe-25-32", Mesa::Newer, 32, Watch::Bug("LANES_END_AT_16"), Share::Quick),
    ];

    fn name(&self) -> &'static str {
        self.name
    }

    /// A pipeline takes 5 s to compile at 64 lanes, and 20 s at 128. A second version of a driver finds few other
    /// faults; the row of 32 lanes uses that version, too. In the full suite the row that checks for races as well
    /// replaces the one that checks addresses alone.
    fn is_of_suite(&self) -> bool {
        let is_newer = matches!(self.driver, Driver::Lavapipe { build: Mesa::Newer, .. });
        match self.watch {
            Watch::Bug(_) => true,
            Watch::Bounds => !is_full(),
            Watch::Usual | Watch::Races => is_full() || self.lanes <= 32 && !is_newer,
        }
    }

    /// A machine without a GPU lacks that row. Where the devices cannot be listed, the row fails.
    fn is_here(&self) -> bool {
        let has_gpu = || -> subsweep::Result<bool> {
            let candidates = Arc::new(Instance::new(false)?).candidates()?;
            let best = &candidates[DeviceSelector::Best.position(&candidates)?];
            Ok(best.capabilities().is_some_and(|capabilities| !capabilities.is_cpu()))
        };
        match (&self.driver, has_gpu) {
            (Driver::Gpu, has_gpu) => {
                has_gpu().unwrap_or_else(|error| !matches!(error, Error::NoLoader { .. } | Error::NoDevice))
            }
            _ => true,
        }
    }

    fn has_large_inputs(&self) -> bool {
        self.has_products()
    }

    fn command(&self, executable: &Path) -> Result<Command, Missing> {
        let missing = |what: &str, is_failure| Missing {
            what: format!("{what} is missing; tools/setup test installs it"),
            is_failure,
        };
        let installed = |manifest: Option<PathBuf>, is_failure| match manifest {
            Some(manifest) => Ok(only_driver(&manifest)),
            None => Err(missing("the driver", is_failure)),
        };
        if matches!(self.watch, Watch::Bug(_)) && !cfg!(feature = "compile-shaders") {
            let what = "its reproducer comes with the feature compile-shaders".to_owned();
            return Err(Missing { what, is_failure: false });
        }
        let mut environment = match self.driver {
            Driver::Lavapipe { build: Mesa::Installed, .. } => {
                installed(children::mesa_manifest("lvp"), is_gate_on(&["debian 12", "ubuntu"]))
            }
            Driver::Lavapipe { build: Mesa::Newer, .. } => children::mesa25("lvp"),
            Driver::Lavapipe { build: Mesa::Wide, .. } => {
                let manifest = path_in("SUBSWEEP_WIDE_DIR").map(|folder| folder.join("lvp_icd.json"));
                installed(manifest.filter(|manifest| manifest.exists()), is_gate_on(&["debian 12"]))
            }
            Driver::SwiftShader => installed(path_in("SUBSWEEP_SWIFTSHADER_ICD"), is_gate_on(&["debian 12"])),
            Driver::Gpu if self.is_here() => Ok(Vec::new()),
            Driver::Gpu => Err(Missing { what: "this machine has no GPU".to_owned(), is_failure: true }),
        }?;
        if let Driver::Lavapipe { vector_width, .. } = self.driver {
            environment.push(("LP_NATIVE_VECTOR_WIDTH", vector_width.to_string().into()));
        }
        if let Some(settings) = self.watch.layer_settings() {
            let layer = path_in("SUBSWEEP_VALIDATION_DIR");
            let layer =
                layer.ok_or_else(|| missing("the newer validation layer", is_gate_on(&["debian 12"])))?;
            environment.push(("VK_LAYER_PATH", layer.into()));
            // Instrumented kernels are five times as long and run briefly: LLVM's optimizations cost more than they
            // save.
            environment.push(("GALLIVM_PERF", "nopt".into()));
            environment.push(("VK_LAYER_SETTINGS_PATH", settings.into()));
        }
        let mut command = Command::new(executable);
        command.envs(environment);
        Ok(command)
    }

    fn ending(&self) -> String {
        if self.lanes == 0 { " lanes".to_owned() } else { format!(" {} lanes", self.lanes) }
    }

    fn run(&self, arguments: &Arguments) -> ExitCode {
        super::run_row(self, arguments)
    }
}

/// The path in an environment variable of `tools/env`, if it exists.
fn path_in(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.exists())
}

impl Watch {
    pub fn layout(self) -> BufferLayout {
        match self {
            Self::Usual | Self::Bug(_) => BufferLayout::Guarded,
            Self::Bounds | Self::Races => BufferLayout::Separate,
        }
    }

    /// The settings of GPU-assisted validation.
    pub fn layer_settings(self) -> Option<&'static str> {
        match self {
            Self::Usual | Self::Bug(_) => None,
            Self::Bounds => Some(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/drivers/bounds_settings.txt")),
            Self::Races => Some(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/drivers/races_settings.txt")),
        }
    }

    /// The row's reduction of its device's limits.
    pub fn limit(self) -> fn(&mut Capabilities) {
        match self {
            Self::Usual | Self::Bounds | Self::Bug(_) => |_| {},
            // The layer tracks the accesses to shared memory in shared memory, and disables the check without a message
            // where the limit would be exceeded.
            Self::Races => |capabilities| capabilities.shared_memory_size /= 2,
        }
    }
}
