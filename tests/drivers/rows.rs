//! The drivers and lane counts of the matrix, and who watches each.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::Arguments;
use subsweep::device::Capabilities;
use subsweep::harness::{Effort, Layout};

use super::children::{self, Missing, is_full, is_gate_on, only_driver};
use super::passes::rig::Selection;
use super::reduced::Lists;

/// A driver and a lane count, and who watches.
pub struct Row {
    name: &'static str,
    driver: Driver,
    /// Lanes that the driver must turn out to have.
    lanes: u32,
    pub watch: Watch,
    share: Share,
}

/// Which cases a row runs in the short suite; all of them would take hours, most of that in the driver's compiler. In the
/// full suite rows of up to 16 lanes run the full table, one of them with products of parameters and large inputs; the
/// watched row runs what is worth watching of it. At 32 lanes `verify`'s cases run in small tiles, and at more the
/// lane-sensitive ones alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    /// Those of `verify --quick`.
    Quick,
    /// A third of the groups, and those that wait for other workgroups or that a driver chooses by itself.
    PartOfQuick,
    /// Of what `verify` has besides, this half of the groups; and the lane-sensitive ones.
    Specializations(usize),
    /// Those of the kernels that depend on the lanes, at their smallest shapes.
    LaneSensitive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// The system's validation layer, with synchronisation validation.
    Usual,
    /// The newer layer that set-up unpacks, with GPU-assisted validation as well: it looks at every address that a
    /// kernel touches. Its checks take the driver long to compile, so the cases are fewer.
    Bounds,
    /// Nothing runs but the reproducer of this bug, which leaves nothing else right.
    Bug(&'static str),
}

enum Driver {
    /// Mesa's, with the width of its vectors in bits, which sets the lanes.
    Lavapipe {
        vector_width: u32,
        build: Mesa,
    },
    SwiftShader,
}

enum Mesa {
    Installed,
    /// The newer one that set-up unpacks.
    Newer,
    /// The one that set-up builds with `lavapipe-wide.patch`, which executes more than 16 lanes.
    Wide,
}

const fn lavapipe(name: &'static str, build: Mesa, lanes: u32, watch: Watch, share: Share) -> Row {
    Row { name, driver: Driver::Lavapipe { vector_width: 32 * lanes, build }, lanes, watch, share }
}

impl Row {
    /// Whether every fault is tried. What fails is not the driver's doing: one will do, and this one compiles fast.
    pub fn has_faults(&self) -> bool {
        self.name == "lavapipe-8"
    }

    /// Whether this row runs what is the host's doing, on whatever driver, and costs it many pipelines.
    pub fn has_host_trials(&self) -> bool {
        is_full() || self.has_faults()
    }

    /// Whether this row runs the group of cases of this name, whose work may depend on the progress of other workgroups, or
    /// match digits.
    pub fn takes(&self, name: &str, depends_on_progress: bool, matches_digits: bool) -> bool {
        // By the name alone: rows whose devices have other groups, too, share these in the same way.
        let part_of = |count: usize| {
            name.bytes().fold(0, |hash: usize, byte| hash.wrapping_mul(31) ^ usize::from(byte)) % count
        };
        match self.share {
            _ if is_full() => true,
            Share::Quick | Share::LaneSensitive => true,
            Share::PartOfQuick => depends_on_progress || part_of(3) == 0,
            Share::Specializations(part) => matches_digits || part_of(2) == part,
        }
    }

    /// Whether this row is the one, of those that share specializations, with enough lanes to match digits by masks in shared
    /// memory.
    pub fn has_shared_masks(&self) -> bool {
        self.lanes == 16 && self.has_specializations_alone()
    }

    /// Whether this row runs the lane-sensitive cases alone. The more lanes, the longer compiling takes.
    pub fn is_lane_sensitive_alone(&self) -> bool {
        self.share == Share::LaneSensitive && (self.lanes > 32 || !is_full())
    }

    /// Whether this row runs what `verify` has besides the quick cases, with small tiles in place of those of the default
    /// size.
    pub fn has_specializations_alone(&self) -> bool {
        matches!(self.share, Share::Specializations(_)) && !is_full()
    }

    /// Whether this row runs kernels by themselves, too: in the short suite where they compile the fastest, and where every
    /// access is watched.
    pub fn has_passes(&self) -> bool {
        let is_chosen = match (self.watch, &self.driver) {
            (Watch::Bounds, _) | (_, Driver::SwiftShader) => true,
            _ => is_full() && !self.is_lane_sensitive_alone() || self.has_doubles_alone(),
        };
        is_chosen && !matches!(self.watch, Watch::Bug(_))
    }

    /// Whether only kernels of doubles are run by themselves, which SwiftShader has not.
    pub fn has_doubles_alone(&self) -> bool {
        self.share == Share::Specializations(0) && !is_full()
    }

    /// Whether this row runs what a program calls, too, such as sorts of slices.
    pub fn has_calls(&self) -> bool {
        let is_chosen = matches!(self.share, Share::Quick | Share::PartOfQuick) && self.watch == Watch::Usual;
        is_chosen || is_full() && self.has_passes() && self.share != Share::LaneSensitive
    }

    /// Whether this row runs products of parameters and large inputs in the full suite. One will do, which compiles fast.
    pub fn has_products(&self) -> bool {
        self.has_faults()
    }

    /// Whether tiles of the default size give way to small ones, which compile in a third of the time.
    pub fn has_small_tiles_alone(&self) -> bool {
        self.has_specializations_alone() || self.share == Share::LaneSensitive
    }

    /// How many of the cases there are at all.
    pub fn effort(&self) -> Effort {
        match self.watch {
            Watch::Bug(_) => Effort::Quick,
            Watch::Usual if self.has_small_tiles_alone() => Effort::Normal,
            Watch::Usual | Watch::Bounds if is_full() => Effort::Full,
            Watch::Usual | Watch::Bounds => Effort::Quick,
        }
    }

    /// Whether its cases are those of `verify --quick`, all of them.
    pub fn has_quick_cases(&self) -> bool {
        self.has_faults() && self.effort() == Effort::Quick
    }

    /// Whether this row runs the lane-sensitive cases beside those of [`Self::effort`].
    pub fn has_lane_sensitive_besides(&self) -> bool {
        self.has_small_tiles_alone() && !self.is_lane_sensitive_alone()
    }

    /// In how many of its specializations each kernel is tried alone. What is watched, and what has many lanes, takes
    /// seconds to compile.
    pub fn passes(&self) -> Selection {
        match (is_full(), self.watch) {
            (true, Watch::Usual) if self.share != Share::LaneSensitive => Selection::Full,
            (true, _) | (false, Watch::Usual | Watch::Bug(_)) => Selection::Short,
            (false, Watch::Bounds) => Selection::One,
        }
    }
}

impl children::Row for Row {
    type Together = Lists;

    const ALL: &'static [Self] = &[
        // Those that take longest come first, so that the last do not run alone.
        lavapipe("lavapipe-8", Mesa::Installed, 8, Watch::Usual, Share::Quick),
        lavapipe("lavapipe-8-bounds", Mesa::Installed, 8, Watch::Bounds, Share::Quick),
        lavapipe("lavapipe-wide-32", Mesa::Wide, 32, Watch::Usual, Share::LaneSensitive),
        lavapipe("lavapipe-25-8", Mesa::Newer, 8, Watch::Usual, Share::Quick),
        lavapipe("lavapipe-4", Mesa::Installed, 4, Watch::Usual, Share::Specializations(0)),
        lavapipe("lavapipe-16", Mesa::Installed, 16, Watch::Usual, Share::Specializations(1)),
        lavapipe("lavapipe-wide-128", Mesa::Wide, 128, Watch::Usual, Share::LaneSensitive),
        Row {
            name: "swiftshader-4",
            driver: Driver::SwiftShader,
            lanes: 4,
            watch: Watch::Usual,
            share: Share::PartOfQuick,
        },
        lavapipe("lavapipe-wide-64", Mesa::Wide, 64, Watch::Usual, Share::LaneSensitive),
        lavapipe("lavapipe-32", Mesa::Installed, 32, Watch::Bug("LANES_END_AT_16"), Share::Quick),
        lavapipe("lavapipe-25-32", Mesa::Newer, 32, Watch::Bug("LANES_END_AT_16"), Share::Quick),
    ];

    fn name(&self) -> &'static str {
        self.name
    }

    /// A pipeline takes 5 s to compile at 64 lanes, and 20 s at 128. Another version of a driver is as good as the same one
    /// for finding a kernel's faults; the row of 32 lanes is of that version, too.
    fn is_of_full_suite(&self) -> bool {
        let is_newer = matches!(self.driver, Driver::Lavapipe { build: Mesa::Newer, .. });
        (self.lanes > 32 || is_newer) && !matches!(self.watch, Watch::Bug(_))
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
        }?;
        if let Driver::Lavapipe { vector_width, .. } = self.driver {
            environment.push(("LP_NATIVE_VECTOR_WIDTH", vector_width.to_string().into()));
        }
        if self.watch == Watch::Bounds {
            let layer = path_in("SUBSWEEP_VALIDATION_DIR");
            let layer =
                layer.ok_or_else(|| missing("the newer validation layer", is_gate_on(&["debian 12"])))?;
            let settings = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/drivers/bounds_settings.txt");
            environment.push(("VK_LAYER_PATH", layer.into()));
            // What is watched is five times as long, and runs for a moment: LLVM's optimizations cost more than they save.
            environment.push(("GALLIVM_PERF", "nopt".into()));
            environment.push(("VK_LAYER_SETTINGS_PATH", settings.into()));
        }
        let mut command = Command::new(executable);
        command.envs(environment);
        Ok(command)
    }

    fn ending(&self) -> String {
        format!(" {} lanes", self.lanes)
    }

    fn run(&self, arguments: &Arguments) -> ExitCode {
        super::run_row(self, arguments)
    }
}

/// What a variable of `tools/env` names, if it is there.
fn path_in(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.exists())
}

impl Watch {
    pub fn layout(self) -> Layout {
        match self {
            Self::Usual | Self::Bug(_) => Layout::Guarded,
            Self::Bounds => Layout::Separate,
        }
    }

    /// How much of its device a row takes.
    pub fn limit(self) -> fn(&mut Capabilities) {
        match self {
            Self::Usual | Self::Bug(_) => |_| {},
            // The layer notes in shared memory who touched each word of it, and silently does not where that would
            // be more than the device has.
            Self::Bounds => |capabilities| capabilities.shared_memory_size /= 2,
        }
    }
}
