//! The rows of the matrix, and the parent that runs each in a process of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use subsweep::harness::{Effort, Layout};

/// A driver and a lane count, and who watches.
pub struct Row {
    pub name: &'static str,
    driver: Driver,
    /// Lanes that the driver must turn out to have.
    lanes: u32,
    pub watch: Watch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// The system's validation layer, with synchronisation validation.
    Usual,
    /// The newer layer that set-up unpacks, with GPU-assisted validation as well: it looks at every address that a
    /// kernel touches. Its checks take the driver long to compile, so the cases are fewer.
    Bounds,
}

enum Driver {
    /// Mesa's, with the width of its vectors in bits, which sets the lanes.
    Lavapipe {
        vector_width: u32,
    },
    SwiftShader,
}

pub const ROWS: [Row; 5] = [
    Row { name: "lavapipe-4", driver: Driver::Lavapipe { vector_width: 128 }, lanes: 4, watch: Watch::Usual },
    Row { name: "lavapipe-8", driver: Driver::Lavapipe { vector_width: 256 }, lanes: 8, watch: Watch::Usual },
    Row {
        name: "lavapipe-16",
        driver: Driver::Lavapipe { vector_width: 512 },
        lanes: 16,
        watch: Watch::Usual,
    },
    Row { name: "swiftshader-4", driver: Driver::SwiftShader, lanes: 4, watch: Watch::Usual },
    Row {
        name: "lavapipe-8-bounds",
        driver: Driver::Lavapipe { vector_width: 256 },
        lanes: 8,
        watch: Watch::Bounds,
    },
];

/// For the newer layer; synchronisation validation is asked for by the tests themselves.
const BOUNDS_SETTINGS: &str = "\
khronos_validation.gpuav_enable = true
khronos_validation.gpuav_buffer_address_oob = true
";

/// What the child's line about its device begins with.
pub const DEVICE_LINE: &str = "device";

/// Counts of trials.
#[derive(Default)]
struct Counts {
    passed: u32,
    failed: u32,
    skipped: u32,
}

/// Runs every row whose name contains `pattern` and that this machine has, with `arguments` for each, and sums up.
pub fn run_all(pattern: &str, arguments: &[String]) -> ExitCode {
    // `cargo test -- --list` and the like are answered by the tests of any one row.
    let filtered = !arguments.is_empty();
    let mut total = Counts::default();
    let rows: Vec<_> = ROWS.iter().filter(|row| row.name.contains(pattern)).collect();
    if rows.is_empty() {
        eprintln!("no row is named like {pattern}; --list-rows names them");
        return ExitCode::FAILURE;
    }
    println!("\nrunning {} driver rows", rows.len());
    for row in rows {
        match (row.driver.manifest(), row.watch.layer()) {
            (Some(manifest), Ok(layer)) => {
                run_row(row, &manifest, layer.as_deref(), arguments, &mut total, filtered);
            }
            (manifest, _) => {
                let what = if manifest.is_none() { "the driver" } else { "the newer validation layer" };
                if row.is_required() {
                    println!("row {:17} FAILED: {what} is missing; run tools/setup test", row.name);
                    total.failed += 1;
                } else {
                    println!("row {:17} SKIPPED: {what} is missing; tools/setup test installs it", row.name);
                    total.skipped += 1;
                }
            }
        }
    }
    // The counts are of the rows' trials, in the words of Rust's own test runner.
    println!(
        "\ntest result: {}. {} passed; {} failed; {} ignored; 0 measured; 0 filtered out\n",
        if total.failed == 0 { "ok" } else { "FAILED" },
        total.passed,
        total.failed,
        total.skipped
    );
    if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_row(
    row: &Row,
    manifest: &Path,
    layer: Option<&Path>,
    arguments: &[String],
    total: &mut Counts,
    filtered: bool,
) {
    // Mesa's shader cache does not tell vector widths apart: each row has a folder of its own.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(std::env::current_exe().expect("the test's own path"));
    command
        .args(["--row", row.name])
        .args(arguments)
        .env("VK_DRIVER_FILES", manifest)
        .env("VK_ICD_FILENAMES", manifest)
        .env("MESA_SHADER_CACHE_DIR", folder.path())
        .env_remove("SUBSWEEP_DEVICE")
        .stdin(Stdio::null());
    if let Driver::Lavapipe { vector_width } = row.driver {
        command.env("LP_NATIVE_VECTOR_WIDTH", vector_width.to_string());
    }
    if let Some(layer) = layer {
        let settings = folder.path().join("vk_layer_settings.txt");
        std::fs::write(&settings, BOUNDS_SETTINGS).expect("a file in a temporary folder");
        command.env("VK_LAYER_PATH", layer).env("VK_LAYER_SETTINGS_PATH", settings);
    }
    let start = Instant::now();
    let output = command.output().expect("the test starts itself again");
    let stdout = String::from_utf8_lossy(&output.stdout);

    let device = stdout
        .lines()
        .find_map(|line| line.strip_prefix(DEVICE_LINE)?.strip_prefix(": "))
        .unwrap_or("no device");
    let counts = stdout.lines().rev().find_map(Counts::parse);
    let has_lanes = device.ends_with(&format!(" {} lanes", row.lanes));
    let ran = counts.as_ref().is_some_and(|counts| counts.passed > 0);
    let ok = output.status.success() && has_lanes && (ran || filtered);
    let counts = counts.unwrap_or_default();
    println!(
        "row {:17} {}: {device}: {} passed, {} failed, {} skipped, {:.0} s",
        row.name,
        if ok { "ok" } else { "FAILED" },
        counts.passed,
        counts.failed,
        counts.skipped,
        start.elapsed().as_secs_f64()
    );
    if !ok {
        print!("{stdout}");
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        if !has_lanes {
            println!("row {} was to have {} lanes", row.name, row.lanes);
        }
    }
    total.passed += counts.passed;
    total.failed += counts.failed.max(u32::from(!ok));
    total.skipped += counts.skipped;
}

impl Counts {
    /// Reads the closing line of a Rust test runner.
    fn parse(line: &str) -> Option<Self> {
        let counts = line.strip_prefix("test result: ")?;
        let count = |what: &str| {
            let words = counts[..counts.find(what)?].trim_end();
            words.rsplit([' ', ';']).next()?.parse().ok()
        };
        Some(Self { passed: count("passed")?, failed: count("failed")?, skipped: count("ignored")? })
    }
}

impl Driver {
    /// The manifest that names the driver, where this machine has one.
    fn manifest(&self) -> Option<PathBuf> {
        match self {
            Self::Lavapipe { .. } => {
                let folders =
                    ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
                let names = [format!("lvp_icd.{}.json", std::env::consts::ARCH), "lvp_icd.json".to_owned()];
                let mut paths =
                    folders.iter().flat_map(|folder| names.iter().map(|name| Path::new(folder).join(name)));
                paths.find(|path| path.exists())
            }
            Self::SwiftShader => {
                std::env::var_os("SUBSWEEP_SWIFTSHADER_ICD").map(PathBuf::from).filter(|path| path.exists())
            }
        }
    }
}

impl Row {
    /// In the project's own gate nothing may be missing that the system has packages for.
    fn is_required(&self) -> bool {
        let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
        let is = |line: &str| release.lines().any(|found| found == line);
        let debian = is("ID=debian") && is("VERSION_ID=\"12\"");
        ci && match (&self.driver, self.watch) {
            (Driver::Lavapipe { .. }, Watch::Usual) => debian || is("ID=ubuntu"),
            (Driver::SwiftShader, _) | (_, Watch::Bounds) => debian,
        }
    }
}

impl Watch {
    pub fn effort(self) -> Effort {
        match self {
            Self::Usual => Effort::Normal,
            Self::Bounds => Effort::Quick,
        }
    }

    pub fn layout(self) -> Layout {
        match self {
            Self::Usual => Layout::Guarded,
            Self::Bounds => Layout::Separate,
        }
    }

    /// The folder of the validation layer, where it is not the system's: or none, because it is missing.
    fn layer(self) -> Result<Option<PathBuf>, ()> {
        match self {
            Self::Usual => Ok(None),
            Self::Bounds => {
                let folder = std::env::var_os("SUBSWEEP_VALIDATION_DIR").map(PathBuf::from);
                let has_layer = |folder: &PathBuf| folder.join("VkLayer_khronos_validation.json").exists();
                folder.filter(has_layer).map(Some).ok_or(())
            }
        }
    }
}
