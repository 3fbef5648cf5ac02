//! The drivers and lane counts of the matrix, and who watches each.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::Arguments;
use subsweep::harness::{Effort, Layout};
use subsweep::vk::Capabilities;

use super::children::{self, Missing, is_gate_on, only_driver};
use super::passes::rig::Selection;

/// A driver and a lane count, and who watches.
pub struct Row {
    name: &'static str,
    driver: Driver,
    /// Lanes that the driver must turn out to have.
    lanes: u32,
    pub watch: Watch,
    share: Share,
}

/// How much of the table of cases a row runs. All of it is worth hours, most of them the driver's compiler's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    Whole,
    /// Of the groups of cases, every third from this one on: these rows differ from one that runs the whole in their
    /// lanes or their version alone.
    Third(usize),
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
    /// Mesa's, the installed one or the newer that set-up unpacks, with the width of its vectors in bits, which sets
    /// the lanes.
    Lavapipe {
        vector_width: u32,
        is_newer: bool,
    },
    SwiftShader,
}

const fn lavapipe(name: &'static str, lanes: u32, watch: Watch, share: Share) -> Row {
    Row { name, driver: Driver::Lavapipe { vector_width: 32 * lanes, is_newer: false }, lanes, watch, share }
}

impl Row {
    /// Whether every fault is tried. What fails is not the driver's doing: one will do, and this one compiles fast.
    pub fn has_faults(&self) -> bool {
        self.name == "lavapipe-8"
    }

    /// Whether this row runs the group of cases that is the `index`-th by name.
    pub fn takes(&self, index: usize) -> bool {
        match self.share {
            Share::Third(first) if !is_full() => index % 3 == first,
            Share::Whole | Share::Third(_) => true,
        }
    }

    /// In how many of its specializations each kernel is tried alone. One that is watched takes seconds to compile.
    pub fn passes(&self) -> Selection {
        if is_full() && self.watch != Watch::Bounds { Selection::Full } else { Selection::Short }
    }
}

/// Whether every row is to run every case that there is, the product of all kinds with them: `SUBSWEEP_MATRIX=full`.
fn is_full() -> bool {
    std::env::var("SUBSWEEP_MATRIX").is_ok_and(|matrix| matrix == "full")
}

impl children::Row for Row {
    const ALL: &'static [Self] = &[
        // Those that take longest come first, so that the last do not run alone.
        Row {
            name: "swiftshader-4",
            driver: Driver::SwiftShader,
            lanes: 4,
            watch: Watch::Usual,
            share: Share::Whole,
        },
        lavapipe("lavapipe-8-bounds", 8, Watch::Bounds, Share::Whole),
        lavapipe("lavapipe-8", 8, Watch::Usual, Share::Whole),
        lavapipe("lavapipe-4", 4, Watch::Usual, Share::Third(0)),
        lavapipe("lavapipe-16", 16, Watch::Usual, Share::Third(1)),
        Row {
            name: "lavapipe-25-8",
            driver: Driver::Lavapipe { vector_width: 256, is_newer: true },
            lanes: 8,
            watch: Watch::Usual,
            share: Share::Third(2),
        },
        lavapipe("lavapipe-32", 32, Watch::Bug("LANES_END_AT_16"), Share::Whole),
        Row {
            name: "lavapipe-25-32",
            driver: Driver::Lavapipe { vector_width: 1024, is_newer: true },
            lanes: 32,
            watch: Watch::Bug("LANES_END_AT_16"),
            share: Share::Whole,
        },
    ];

    fn name(&self) -> &'static str {
        self.name
    }

    fn environment(&self) -> Result<Vec<(&'static str, OsString)>, Missing> {
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
            Driver::Lavapipe { is_newer: true, .. } => children::mesa25("lvp"),
            Driver::Lavapipe { is_newer: false, .. } => {
                installed(children::mesa_manifest("lvp"), is_gate_on(&["debian 12", "ubuntu"]))
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
            environment.push(("VK_LAYER_SETTINGS_PATH", settings.into()));
        }
        Ok(environment)
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
    pub fn effort(self) -> Effort {
        match self {
            Self::Usual if is_full() => Effort::Full,
            Self::Usual => Effort::Normal,
            Self::Bounds | Self::Bug(_) => Effort::Quick,
        }
    }

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
