//! The drivers and lane counts of the matrix.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::Arguments;

use super::children::{self, Missing, is_gate_on, only_driver};

/// A driver and a lane count.
pub struct Row {
    name: &'static str,
    driver: Driver,
    /// Lanes that the driver must turn out to have.
    lanes: u32,
}

enum Driver {
    /// Mesa's, with the width of its vectors in bits, which sets the lanes.
    Lavapipe {
        vector_width: u32,
    },
    SwiftShader,
}

impl children::Row for Row {
    const ALL: &'static [Self] = &[
        Row { name: "lavapipe-4", driver: Driver::Lavapipe { vector_width: 128 }, lanes: 4 },
        Row { name: "lavapipe-8", driver: Driver::Lavapipe { vector_width: 256 }, lanes: 8 },
        Row { name: "lavapipe-16", driver: Driver::Lavapipe { vector_width: 512 }, lanes: 16 },
        Row { name: "swiftshader-4", driver: Driver::SwiftShader, lanes: 4 },
    ];

    fn name(&self) -> &'static str {
        self.name
    }

    fn environment(&self) -> Result<Vec<(&'static str, OsString)>, Missing> {
        let (manifest, is_failure) = match self.driver {
            Driver::Lavapipe { .. } => (children::mesa_manifest("lvp"), is_gate_on(&["debian 12", "ubuntu"])),
            Driver::SwiftShader => {
                let manifest = std::env::var_os("SUBSWEEP_SWIFTSHADER_ICD").map(PathBuf::from);
                (manifest.filter(|path| path.exists()), is_gate_on(&["debian 12"]))
            }
        };
        let what = "the driver is missing; tools/setup test installs it".to_owned();
        let mut environment = only_driver(&manifest.ok_or(Missing { what, is_failure })?);
        if let Driver::Lavapipe { vector_width } = self.driver {
            environment.push(("LP_NATIVE_VECTOR_WIDTH", vector_width.to_string().into()));
        }
        Ok(environment)
    }

    fn ending(&self) -> String {
        format!(" {} lanes", self.lanes)
    }

    fn run(&self, arguments: &Arguments) -> ExitCode {
        super::run_row(arguments)
    }
}
