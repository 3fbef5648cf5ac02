//! Compile-only GPUs, by `--device gpu:NAME`, and comparison of inspections.

use ::subsweep_tool::harness::gpus::CompileOnlyGpu;
use ::subsweep_tool::harness::{PipelineSet, PlanConfig};
use ::subsweep::headless::{Gpu, GpuOptions};
use ::subsweep::scan::ScanConfig;
use ::subsweep::sort::SortConfig;
use ::subsweep::kernels::{self, Kernel};
use ::subsweep::ElementType;

use super::*;

/// A GPU of each of the five drivers; the driver (Honeykrisp by its first name, as in the bindings); its names for
/// instructions and registers.
const DRIVERS: [(&str, &str, &str, &str); 5] = [
    ("nvidia-ampere", "MESA_NVK", "Instruction count", "Number of GPRs"),
    ("amd-rdna3", "MESA_RADV", "Instructions", "VGPRs"),
    ("intel-dg2", "INTEL_OPEN_SOURCE_MESA", "Instructions", "Max live registers"),
    ("adreno-740", "MESA_TURNIP", "Instruction Count", "Registers used"),
    ("apple-m1", "MESA_AGXV", "Instructions", "GPRs"),
];

/// The module of a kernel, as a file has it.
fn bytes_of(kernel: &Kernel) -> Vec<u8> {
    bytemuck::cast_slice(&kernel.words()).to_vec()
}

/// Whether a GPU is set up. A missing one is reported, and fails where drivers are required, except for Intel's, whose
/// shim must be built.
fn is_here(name: &str) -> bool {
    let gpu = CompileOnlyGpu::find(name).unwrap_or_else(|| panic!("{name}"));
    match gpu.check() {
        Ok(()) => true,
        Err(error) => {
            assert!(!is_gate_on(&["debian 12"]) || name.starts_with("intel-"), "{error}");
            let _ = writeln!(std::io::stderr(), "SKIPPED: {error}");
            false
        }
    }
}

/// A run without any GPU set up.
fn without_gpus(arguments: &[&str]) -> Ended {
    run(without_drivers(&mut subsweep(arguments)).env("SUBSWEEP_GPUS_DIR", "/nowhere"))
}

#[cfg(target_os = "linux")] // Elsewhere none can be set up.
#[test]
fn gpus_are_listed_with_what_is_set_up() {
    for arguments in [&["--list-gpus"][..], &["inspect", "--list-gpus"], &["sort", "--list-gpus"]] {
        let table = without_gpus(arguments).text();
        assert_eq!(table.lines().count(), CompileOnlyGpu::all().len() + 1, "{table}");
        for (gpu, line) in CompileOnlyGpu::all().iter().zip(table.lines().skip(1)) {
            let parts = line.starts_with(gpu.name) && line.contains(gpu.what) && line.contains(gpu.driver);
            assert!(parts && line.ends_with("  no: run tools/setup gpus"), "{line}");
        }
    }
}

#[cfg(target_os = "linux")] // Elsewhere none can be set up.
#[test]
fn a_gpu_that_is_not_set_up_is_refused_with_what_to_run() {
    for command in ["inspect", "devices"] {
        let ended = without_gpus(&[command, "--device", "gpu:intel-dg2"]);
        ended.refused(3, "gpu:intel-dg2 is not set up (/nowhere/");
        assert!(ended.stderr.contains("run tools/setup gpus"), "{}", ended.stderr);
        let ended = without_gpus(&[command, "--device", "gpu:all", "--json"]);
        ended.refused_with_words(3, "gpu:nvidia-turing is not set up (/nowhere/");
        let devices: Value = serde_json::from_slice(&ended.stdout).unwrap();
        let names = devices.as_array().unwrap().iter().map(|device| device["gpu"].as_str().unwrap());
        assert!(names.eq(CompileOnlyGpu::all().iter().map(|gpu| gpu.name)), "{devices}");
        for device in devices.as_array().unwrap() {
            assert!(device["reason"].as_str().unwrap().contains("run tools/setup gpus"), "{device}");
        }
    }
}

#[test]
fn commands_that_run_kernels_take_no_compile_only_gpu() {
    let folder = Folder::new();
    let input = folder.file("keys", bytes(&[3, 1, 2]));
    for arguments in [
        &["scan", &input, "--type", "u32"][..],
        &["sort", &input, "--type", "u32"],
        &["verify", "--quick"],
        &["bench", "--quick"],
    ] {
        let words = format!(
            "gpu: devices only compile, and {} has to run; name a device of subsweep devices",
            arguments[0]
        );
        for device in ["gpu:apple-m1", "gpu:all"] {
            without_gpus(&[arguments, &["--device", device]].concat()).refused(2, &words);
        }
        let mut command = subsweep(arguments);
        run(without_drivers(command.env("SUBSWEEP_DEVICE", "gpu:apple-m1"))).refused(2, &words);
    }
    without_gpus(&["compare", "a", "--device", "gpu:apple-m1"]).refused(2, "compare opens no device");
}

#[test]
fn compilers_of_five_vendors_report_statistics() {
    for (name, driver, instructions, registers) in DRIVERS.into_iter().filter(|(name, ..)| is_here(name)) {
        let device = format!("gpu:{name}");
        // The variable selects the device as the option does.
        let mut command = subsweep(["inspect", "--filter", "scan/reduce:u32x1", "--json"]);
        let devices = run(command.env("SUBSWEEP_DEVICE", &device)).json();
        let [device] = &devices.as_array().unwrap()[..] else { panic!("{devices}") };
        assert_eq!((&device["gpu"], &device["reason"]), (&json!(name), &Value::Null));
        assert_eq!(device["driver"]["id"], driver);
        let pipelines = device["pipelines"].as_array().unwrap();
        assert!(!pipelines.is_empty());
        for pipeline in pipelines {
            assert_eq!(pipeline["kernel"], "scan/reduce:u32x1");
            let summary = &pipeline["summary"];
            let statistics = pipeline["executables"][0]["statistics"].as_array().unwrap();
            let reported = |name: &str| {
                let found = statistics.iter().find(|statistic| statistic["name"] == name);
                found.unwrap_or_else(|| panic!("{name}: {pipeline}"))["value"].as_u64().unwrap()
            };
            assert_eq!(summary["instructions"], reported(instructions), "{pipeline}");
            assert_eq!(summary["registers"], reported(registers), "{pipeline}");
            assert!(reported(instructions) > 0 && reported(registers) > 0, "{pipeline}");
            assert_eq!(summary["spills"], 0, "{pipeline}");
            // ANV reports no occupancy.
            let workgroups = summary["workgroups"].as_u64();
            assert_eq!(workgroups.is_some_and(|count| count > 0), driver != "INTEL_OPEN_SOURCE_MESA");
        }
    }
}

/// Tries a driver from Debian, and Intel's, whose shim is in another folder.
#[test]
#[cfg(unix)]
fn the_path_of_gpus_may_have_spaces_but_no_separators_of_lists() {
    for name in ["apple-m1", "intel-dg2"].into_iter().filter(|name| is_here(name)) {
        let device = format!("gpu:{name}");
        let devices = |link: &str, cache: bool| {
            let gpus = std::env::var_os("SUBSWEEP_GPUS_DIR").map_or_else(
                || ::subsweep_tool::harness::gpus::cache_folder().unwrap().join("gpus"),
                PathBuf::from,
            );
            let folder = Folder::new();
            std::fs::create_dir(folder.path(link)).unwrap();
            std::os::unix::fs::symlink(std::path::absolute(gpus).unwrap(), folder.path(link).join("gpus"))
                .unwrap();
            let mut command = subsweep(["devices", "--device", &device, "--json"]);
            if cache {
                command.env_remove("SUBSWEEP_GPUS_DIR").env("SUBSWEEP_CACHE", folder.path(link));
            } else {
                command.env("SUBSWEEP_GPUS_DIR", folder.path(link).join("gpus"));
            }
            run(&mut command)
        };
        for cache in [false, true] {
            assert_eq!(devices("my own gpus", cache).json()[0]["gpu"], json!(name));
            for link in ["a:b", "a;b"] {
                let ended = devices(link, cache);
                ended.refused(3, &format!("gpu:{name}: loaders cannot take ':' or ';' in /"));
                assert!(ended.stderr.ends_with("; set SUBSWEEP_GPUS_DIR to another folder\n"), "{ended:?}");
            }
        }
    }
}

#[test]
fn several_gpus_are_printed_in_the_given_order() {
    let names = ["apple-m1", "nvidia-turing", "amd-gcn5"];
    if !names.into_iter().all(is_here) {
        return;
    }
    let device = names.map(|name| format!("gpu:{name}")).join(",");
    let arguments = ["inspect", "--filter", "scan/scan_tiles", "--device", &device];
    let devices = run(&mut subsweep(arguments.iter().chain(&["--json"]))).json();
    let found: Vec<_> =
        devices.as_array().unwrap().iter().map(|device| device["gpu"].as_str().unwrap()).collect();
    assert_eq!(found, names);
    let table = run(&mut subsweep(arguments)).text();
    let blocks: Vec<_> = table.split("\n\n").collect();
    for (block, name) in blocks.iter().zip(names) {
        assert!(block.starts_with(&format!("gpu:{name}: ")) && block.contains("scan/scan_tiles"), "{table}");
    }
    // A pipeline that one GPU lacks is no failure, but one that all lack is.
    let ended = run(&mut subsweep(["inspect", "--filter", "no such kernel", "--device", &device]));
    ended.refused_with_words(2, "gpu:apple-m1: no pipeline's name has 'no such kernel' in it");
}

#[test]
fn a_compile_only_gpu_prints_its_limits_and_policies() {
    if !is_here("apple-m1") {
        return;
    }
    let arguments = ["devices", "--device", "gpu:apple-m1"];
    let devices = run(&mut subsweep(arguments.iter().chain(&["--json"]))).json();
    let [device] = &devices.as_array().unwrap()[..] else { panic!("{devices}") };
    assert_eq!((&device["gpu"], &device["usable"]), (&json!("apple-m1"), &json!(true)));
    // The self-test would run kernels.
    assert!(device["self_test"].is_null(), "{device}");
    for policy in ["scan", "scan_u64", "sort", "sort_pairs", "sort_u64"] {
        assert!(!device["policies"][policy]["policy"].as_str().unwrap().is_empty(), "{device}");
    }
    let text = run(&mut subsweep(arguments.iter().chain(&["--policies"]))).text();
    assert!(text.starts_with("gpu:apple-m1: Apple M1"), "{text}");
    for label in ["compile-only", "workgroups", "sort of pairs", "sort of u64", "scan of u64"] {
        assert!(text.contains(label), "{label}: {text}");
    }
    assert!(!text.contains("self-test"), "{text}");
}

/// Inspects a kernel as a foreign module, with the constants of a pipeline of ours.
#[test]
fn a_module_of_a_kernel_has_the_statistics_of_the_kernel() {
    if !is_here("nvidia-ampere") {
        return;
    }
    let gpu = ["--device", "gpu:nvidia-ampere", "--json"];
    let devices = run(&mut subsweep(["inspect", "--filter", "scan/scan_tiles"].iter().chain(&gpu))).json();
    let ours = &devices[0]["pipelines"][0];
    let kernel = kernels::SCAN_SCAN_TILES.module(&[]);
    let mut constants = Vec::new();
    for word in ours["specialization"].as_str().unwrap().split(' ') {
        let (name, value) = word.split_once('=').unwrap();
        let constant = kernel.spec_constants.iter().find(|constant| constant.name == name);
        let id = constant.map_or(0, |constant| constant.id);
        constants.extend(["--constant".to_owned(), format!("{id}={value}")]);
    }
    let (folder, module) = (Folder::new(), bytes_of(kernel));
    let file = folder.file("scan_tiles.spv", &module);
    let arguments = ["inspect", "--spirv", &file].map(str::to_owned).into_iter().chain(constants);
    let devices = run(&mut subsweep(arguments.chain(gpu.map(str::to_owned)))).json();
    let theirs = &devices[0]["pipelines"][0];
    assert_eq!((&theirs["kernel"], &theirs["lanes"]), (&json!(file), &json!(32)));
    assert!(theirs["specialization"].as_str().unwrap().starts_with("main 0="), "{theirs}");
    assert_eq!(theirs["summary"], ours["summary"]);
    let arguments = ["inspect", "--spirv", "-"].iter().chain(&gpu);
    let devices = run_with(&mut subsweep(arguments), &module).json();
    assert_eq!(devices[0]["pipelines"][0]["kernel"], "standard input");
    run(&mut subsweep(["inspect", "--spirv", &file, "--lanes", "64"].iter().chain(&gpu)))
        .refused(2, "--lanes 64: the device has subgroups of 32 to 32 lanes");
    run(&mut subsweep(["inspect", "--spirv", &file, "--constant", "0=1000000"].iter().chain(&gpu))).refused(
        2,
        "scan_tiles.spv: takes 1000000 invocations along a dimension of a workgroup, and the device has 1024 at most",
    );
}

/// A folder of GPUs with a script as the loader, which replaces the child.
#[cfg(unix)]
fn gpus_by(script: &str) -> Folder {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = Folder::new();
    let libraries = "root/usr/lib/x86_64-linux-gnu";
    for name in [libraries, "icd"] {
        std::fs::create_dir_all(folder.path(name)).unwrap();
    }
    for driver in ["asahi", "nouveau"] {
        folder.file(&format!("icd/{driver}.json"), "");
        folder.file(&format!("{libraries}/lib{driver}_noop_drm_shim.so"), "");
        folder.file(&format!("{libraries}/libvulkan_{driver}.so"), "");
    }
    let loader = folder.file(&format!("{libraries}/ld-linux-x86-64.so.2"), format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(loader, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

#[test]
#[cfg(unix)]
fn the_exit_of_a_child_is_reported() {
    let children = |script: &str, arguments: &[&str]| {
        let gpus = gpus_by(script);
        run(without_drivers(&mut subsweep(arguments)).env("SUBSWEEP_GPUS_DIR", gpus.path("")))
    };
    let one = ["inspect", "--device", "gpu:apple-m1"];
    for (script, code, what) in [
        ("echo 'subsweep: not so' >&2; exit 1", 1, "gpu:apple-m1: not so"),
        ("echo 'subsweep: gpu:apple-m1 will not' >&2; exit 2", 2, "subsweep: gpu:apple-m1 will not"),
        ("exit 3", 3, "gpu:apple-m1: its process ended with exit status: 3"),
        ("exit 4", 4, "gpu:apple-m1: its process ended with exit status: 4"),
        ("exit 101", 4, "gpu:apple-m1: its process ended with exit status: 101"),
        ("exit 126", 4, "gpu:apple-m1: its loader does not start (126); run tools/setup gpus"),
        ("exit 127", 4, "gpu:apple-m1: its loader does not start (127); run tools/setup gpus"),
        ("kill -KILL $$", 4, "gpu:apple-m1: its driver crashed (signal: 9 (SIGKILL))"),
    ] {
        children(script, &one).refused(code, what);
        // A single child's output is printed as it is; with several GPUs the output includes the reason.
        let printing = format!("printf '[half'; {script}");
        for arguments in [&one[..], &[&one[..], &["--json"]].concat()] {
            let ended = children(&printing, arguments);
            ended.refused_with_words(code, what);
            assert_eq!(ended.stdout, b"[half", "{ended:?}");
        }
        let ended = children(script, &["inspect", "--device", "gpu:apple-m1,gpu:nvidia-turing"]);
        ended.refused_with_words(code, what);
        let reason = what.trim_start_matches("subsweep: ").trim_start_matches("gpu:apple-m1: ");
        assert!(String::from_utf8_lossy(&ended.stdout).contains(&format!("\n  {reason}\n")), "{ended:?}");
    }
    let folder = Folder::new();
    let file = folder.file("module.spv", bytes_of(kernels::SCAN_SCAN_TILES.module(&[])));
    children("kill -SEGV $$", &[&one[..], &["--spirv", &file]].concat()).refused(
        4,
        "gpu:apple-m1: its driver crashed (signal: 11 (SIGSEGV)); check the module with spirv-val",
    );
    for command in [&["devices"][..], &["inspect", "--json"], &["tune", "sort", "--json", "-"]] {
        let ended = children("printf ' [{\\n'", &[command, &["--device", "gpu:apple-m1"]].concat());
        assert_eq!((ended.code, &ended.stdout[..], ended.stderr.as_str()), (0, &b" [{\n"[..], ""));
    }
}

/// A loader that does not start suggests the set-up; other errors are printed as they are. Neither stops the other
/// GPUs.
#[test]
#[cfg(unix)]
fn a_child_that_does_not_start_says_why() {
    use std::os::unix::fs::PermissionsExt as _;

    let loader = "root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2";
    let inspect = |gpus: &Folder, device: &str| {
        let mut command = subsweep(["inspect", "--json", "--device", device]);
        without_drivers(&mut command).env("SUBSWEEP_GPUS_DIR", gpus.path(""));
        command
    };
    let (one, two) = ("gpu:apple-m1", "gpu:apple-m1,gpu:nvidia-turing");
    let start = "gpu:apple-m1: its loader does not start (";
    let check = |gpus: &Folder, cause: &str| {
        let ended = run(&mut inspect(gpus, one));
        ended.refused(3, &format!("{start}{cause}"));
        assert!(ended.stderr.ends_with("); run tools/setup gpus\n"), "{}", ended.stderr);
        let ended = run(&mut inspect(gpus, two));
        ended.refused_with_words(3, start);
        let devices: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(devices.as_array().unwrap().len(), 2, "{devices}");
    };
    let gpus = gpus_by("exit 0");
    gpus.file(loader, "\x7fELF, and no more");
    check(&gpus, "Exec format error");
    gpus.file(loader, "#!/nowhere/sh\n");
    check(&gpus, "No such file or directory");
    std::fs::set_permissions(gpus.path(loader), std::fs::Permissions::from_mode(0o644)).unwrap();
    check(&gpus, "Permission denied");

    // Too few descriptors for the pipes of a child.
    let gpus = gpus_by("exit 0");
    let mut limited = Command::new("sh");
    let script = "ulimit -n 5; exec \"$0\" \"$@\"";
    let program = env!("CARGO_BIN_EXE_subsweep");
    limited.args(["-c", script, program, "inspect", "--device", two]).stdin(Stdio::null());
    without_drivers(&mut limited).env("SUBSWEEP_GPUS_DIR", gpus.path("")).env_remove("SUBSWEEP_DEVICE");
    let ended = run(&mut limited);
    ended.refused_with_words(
        4,
        "gpu:apple-m1: its process does not start (Too many open files (os error 24))",
    );
    assert_eq!(String::from_utf8_lossy(&ended.stdout).matches("its process does not start").count(), 2);
}

#[test]
#[cfg(unix)]
fn a_child_without_a_device_says_what_to_run() {
    let gpus = gpus_by("shift 4; exec \"$@\"");
    for driver in ["asahi", "nouveau"] {
        gpus.file(&format!("icd/{driver}.json"), "{}");
    }
    for arguments in [&["inspect"][..], &["devices"], &["tune", "sort"]] {
        let mut command = subsweep([arguments, &["--device", "gpu:apple-m1"]].concat());
        run(command.env("SUBSWEEP_GPUS_DIR", gpus.path("")))
            .refused(3, "subsweep: gpu:apple-m1: its driver finds no device; run tools/setup gpus again");
    }
    std::fs::remove_file(gpus.path("root/usr/lib/x86_64-linux-gnu/libvulkan_asahi.so")).unwrap();
    let mut command = subsweep(["devices", "--device", "gpu:apple-m1"]);
    run(command.env("SUBSWEEP_GPUS_DIR", gpus.path(""))).refused(3, "libvulkan_asahi.so is missing); run");
}

/// The child processes of a process.
#[cfg(target_os = "linux")]
fn children_of(parent: u32) -> Vec<u32> {
    let ids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // After the name, which may contain anything: the state and the parent.
        let found = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse() == Ok(parent);
        found.then_some(id)
    });
    ids.collect()
}

#[test]
#[cfg(target_os = "linux")]
fn a_child_ends_with_its_parent() {
    let (folder, module) = (Folder::new(), bytes_of(kernels::SCAN_SCAN_TILES.module(&[])));
    let pipe = folder.argument("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // The child is this program, and waits for a module that never comes.
    let gpus = gpus_by(&format!("shift 4; exec \"$@\" <>'{pipe}'"));
    let file = folder.file("module.spv", &module);
    for signal in ["-KILL", "-TERM"] {
        let mut command = subsweep(["inspect", "--spirv", &file, "--device", "gpu:apple-m1"]);
        without_drivers(&mut command).env("SUBSWEEP_GPUS_DIR", gpus.path(""));
        let mut parent = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let program = |id| std::fs::read_link(format!("/proc/{id}/exe")).ok();
        let is_started =
            |id: &u32| program(*id).as_deref() == Some(Path::new(env!("CARGO_BIN_EXE_subsweep")));
        let until = |wanted: &dyn Fn() -> bool| {
            let begun = std::time::Instant::now();
            while !wanted() {
                assert!(begun.elapsed().as_secs() < 20, "{signal}");
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        };
        until(&|| children_of(parent.id()).iter().any(is_started));
        let children = children_of(parent.id());
        let id = parent.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        parent.wait().unwrap();
        // A process that has ended has no executable, even before it is reaped.
        until(&|| children.iter().all(|id| program(*id).is_none()));
    }
}

/// A module from a pipe can be read only once, and every child needs it.
#[test]
#[cfg(unix)]
fn a_module_from_a_pipe_reaches_every_child() {
    let folder = Folder::new();
    let module = &bytes_of(kernels::SCAN_CHAINED.module(&[("OPERATOR_WORDS32", 1), ("COLUMNS", 1)]));
    assert!(module.len() > 1 << 16, "more than a pipe holds");
    let file = folder.file("module.spv", module);
    let gpus = gpus_by(&format!("cmp - {file} && echo the same"));
    let inspect = |path: &str, device: &str| {
        let mut command = subsweep(["inspect", "--spirv", path, "--device", device]);
        without_drivers(command.env("SUBSWEEP_GPUS_DIR", gpus.path("")));
        command
    };
    let (one, two) = ("gpu:apple-m1", "gpu:apple-m1,gpu:nvidia-turing");
    for (device, expected) in [(one, "the same\n"), (two, "the same\n\nthe same\n")] {
        for path in ["-", "/dev/stdin"] {
            assert_eq!(run_with(&mut inspect(path, device), module).text(), expected);
        }
        let pipe = folder.argument("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| std::fs::write(&pipe, module).unwrap());
            run(&mut inspect(&pipe, device))
        });
        assert_eq!(ended.text(), expected);
        std::fs::remove_file(&pipe).unwrap();
    }
    run_with(&mut inspect("-", two), b"no module").refused(2, "standard input: is no SPIR-V module");
    // A child that does not read its input ends normally.
    let not_reading = gpus_by("echo ended");
    let ended = run_with(inspect("-", one).env("SUBSWEEP_GPUS_DIR", not_reading.path("")), module);
    assert_eq!(ended.text(), "ended\n");
}

#[test]
fn invalid_modules_are_refused_before_a_device_is_opened() {
    let folder = Folder::new();
    let module = &bytes_of(kernels::SCAN_SCAN_TILES.module(&[]))[..];
    let whole = folder.file("whole.spv", module);
    let turned: Vec<u8> = module.chunks_exact(4).flat_map(|word| word.iter().rev().copied()).collect();
    let mut future = module.to_vec();
    future[4..8].copy_from_slice(&0x2_0000u32.to_ne_bytes());
    let mut bound = module.to_vec();
    bound[12..16].copy_from_slice(&u32::MAX.to_ne_bytes());
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
    let header = [0x0723_0203, 0x1_0500, 0, 10, 0];
    for (name, bytes, what) in [
        ("empty.spv", Vec::new(), "it does not begin with SPIR-V's magic number"),
        ("text.spv", b"; SPIR-V".to_vec(), "it does not begin with SPIR-V's magic number"),
        ("turned.spv", turned, "its bytes are in another order"),
        ("odd.spv", module[..module.len() - 1].to_vec(), "its length is not a multiple of 4 bytes"),
        ("head.spv", module[..16].to_vec(), "it ends in its header"),
        ("future.spv", future, "its version is not 1.0 to 1.6"),
        ("bound.spv", bound, "its bound on ids is 0 or above"),
        ("short.spv", module[..module.len() - 4].to_vec(), "is cut off or damaged: "),
        ("half.spv", module[..module.len() / 8 * 4].to_vec(), "is cut off or damaged: "),
        (
            "zero.spv",
            words(&[&header[..], &[0]].concat()),
            "is cut off or damaged: the instruction at byte 0x00000014 has",
        ),
        // The end of a function without its begin.
        ("none.spv", words(&[&header[..], &[0x1_0038]].concat()), "has no entry point for compute"),
    ] {
        let file = folder.file(name, bytes);
        let ended = without_gpus(&["inspect", "--spirv", &file]);
        ended.refused(2, what);
        assert!(ended.stderr.contains(name), "{}", ended.stderr);
        // The error is printed once, not by each child.
        without_gpus(&["inspect", "--spirv", &file, "--device", "gpu:all"]).refused(2, what);
    }
    let nowhere = folder.argument("nowhere.spv");
    for (arguments, what) in [
        (&["--spirv", &nowhere][..], "nowhere.spv: cannot be opened"),
        (&["--spirv", &folder.argument("")], "is a directory"),
        (&["--spirv", &whole, "--entry", "other"], "has no entry point 'other' for compute; it has main"),
        (&["--spirv", &whole, "--constant", "99=1"], "has no specialization constant 99; it has 0, "),
        (&["--spirv", &whole, "--constant", "0=-1"], "without a sign for constant 0, and not '-1'"),
        (&["--spirv", &whole, "--constant", "0=0x100000000"], "for constant 0, and not '0x100000000'"),
        (&["--spirv", &whole, "--constant", "0"], "such as 0=256"),
        (&["--spirv", &whole, "--constant", "0=0"], "has workgroups without invocations"),
        (&["--spirv", &whole, "--policy", "seed"], "leave --algorithm and --policy out"),
        (&["--spirv", &whole, "--filter", "scan"], "cannot be used with"),
        (&["--lanes", "32"], "were not provided"),
    ] {
        without_gpus(&[&["inspect"], arguments].concat()).refused(2, what);
    }
}

/// Pipelines outside the filter are not compiled. Drivers of the CPU report no statistics, but pipelines are counted.
#[test]
fn only_filtered_pipelines_are_compiled() {
    let gpu = Gpu::open(GpuOptions::default()).unwrap();
    let device = gpu.device();
    let plans = [
        PlanConfig::from(ScanConfig::inclusive(ElementType::U32)),
        PlanConfig::from(SortConfig::keys(ElementType::U32)),
        PlanConfig::from(SortConfig::keys(ElementType::U32)),
    ];
    let before = device.pipeline_counts().created;
    let mut set = PipelineSet::new(device, &plans).unwrap();
    let declared = set.len();
    let names: Vec<_> = set.names().collect();
    assert!(names.is_sorted() && names.iter().any(|name| name.starts_with("scan/reduce")), "{names:?}");
    set.retain(|name| name.starts_with("scan/reduce"));
    let wanted = set.len();
    assert!(0 < wanted && wanted < declared, "{wanted} of {declared}");
    assert_eq!(device.pipeline_counts().created, before);
    let begun = std::sync::atomic::AtomicUsize::new(0);
    let ended = set.compile(device, |name| {
        assert!(name.starts_with("scan/reduce"), "{name}");
        begun.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    });
    // The device was created without pipeline statistics.
    assert!(matches!(ended, Err(::subsweep::Error::Unsupported { .. })), "{ended:?}");
    assert_eq!(begun.into_inner(), wanted);
    assert_eq!(device.pipeline_counts().created - before, wanted as u64);
}

/// An inspection of one device with these pipelines: kernel, specialization and instructions.
fn inspection(gpu: Option<&str>, pipelines: &[(&str, &str, u64)]) -> String {
    let pipelines: Vec<_> = pipelines
        .iter()
        .map(|(kernel, specialization, instructions)| {
            json!({
                "kernel": kernel, "specialization": specialization, "lanes": 32, "executables": [],
                "summary": { "registers": 40, "spills": instructions / 1000, "instructions": instructions },
            })
        })
        .collect();
    let device = json!({
        "index": 0, "gpu": gpu, "name": "A GPU", "reason": null, "pipelines": pipelines, "not_supported": [],
    });
    json!([device]).to_string()
}

#[test]
fn inspections_are_compared_pipeline_by_pipeline() {
    let folder = Folder::new();
    let base = inspection(
        Some("apple-m1"),
        &[
            ("sort/a", "WORKGROUP_SIZE=256 X=1", 2000),
            ("sort/b", "WORKGROUP_SIZE=256", 100),
            ("sort/c", "WORKGROUP_SIZE=256 Y=1", 100),
            ("sort/old", "WORKGROUP_SIZE=256", 100),
            ("sort/older", "WORKGROUP_SIZE=256", 100),
        ],
    );
    let new = inspection(
        Some("apple-m1"),
        &[
            ("sort/a", "WORKGROUP_SIZE=256 X=1", 500),
            ("sort/b", "WORKGROUP_SIZE=256", 100),
            ("sort/c", "WORKGROUP_SIZE=512 Y=1", 100),
            ("sort/fresh", "WORKGROUP_SIZE=256", 100),
        ],
    );
    let (base, new) = (folder.file("base.json", base), folder.file("new.json", new));
    let json = folder.argument("comparison.json");
    let compare =
        |arguments: &[&str]| run(without_drivers(&mut subsweep([&["compare"], arguments].concat())));
    let text = compare(&[&base, &new, "--json", &json]).text();
    assert!(text.starts_with(&format!("base  {base}: gpu:apple-m1, A GPU\nnew   {new}: ")), "{text}");
    let line = |start: &str| {
        let found = text.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("{start}: {text}"))
    };
    assert!(line("* sort/a").contains("2000 → 500") && line("* sort/a").contains("2 → 0"), "{text}");
    assert!(!line("  sort/b").contains('→'), "{text}");
    assert!(line("* sort/c").ends_with("512 Y=1 (was 256), 32 lanes"), "{text}");
    assert!(
        text.contains("3 pipelines in both, 2 changed (*); fewer instructions in 1, more in 0, 0.630 times")
    );
    assert!(text.contains("; 1 → 0 spill\n"), "{text}");
    assert!(text.contains("2 in the base one alone, such as sort/old WORKGROUP_SIZE=256"), "{text}");
    assert!(text.contains("1 in the new one alone, such as sort/fresh WORKGROUP_SIZE=256"), "{text}");
    let document: Value = serde_json::from_slice(&folder.read("comparison.json")).unwrap();
    assert_eq!(document["inspection_comparison_schema"], 1);
    let comparison = &document["comparisons"][0];
    assert_eq!(comparison["pipelines"][0]["changed"], json!(["spills", "instructions"]));
    assert_eq!(comparison["pipelines"][2]["changed"], json!(["specialization"]));
    let documented = include_str!("../../../docs/reports.md");
    for object in [comparison, &comparison["pipelines"][0], &comparison["pipelines"][0]["base"]["summary"]] {
        for field in object.as_object().unwrap().keys() {
            assert!(documented.contains(&format!("`{field}`")), "{field}");
        }
    }
    // A single inspection with two devices, and a device without a counterpart.
    let other = inspection(Some("amd-gcn5"), &[("sort/a", "WORKGROUP_SIZE=64", 50)]);
    let both: Vec<Value> = [std::fs::read_to_string(&base).unwrap(), other]
        .iter()
        .flat_map(|one| serde_json::from_str::<Vec<Value>>(one).unwrap())
        .collect();
    let both = folder.file("both.json", serde_json::to_vec(&both).unwrap());
    let ended = compare(&[&both]);
    assert!(String::from_utf8_lossy(&ended.stdout).contains("gpu:amd-gcn5"), "{}", ended.stderr);
    let ended = compare(&[&base, &both]);
    let words = "nothing to compare with: ";
    assert!(String::from_utf8_lossy(&ended.stdout).contains(words), "{}", ended.stderr);
}

/// Foreign modules are named after their files. In the second pair the driver reports no spills.
#[test]
fn two_modules_are_paired_under_any_names() {
    let folder = Folder::new();
    let of = |kernel, instructions| inspection(None, &[(kernel, "main 0=64", instructions)]);
    let without_spills = |text: String| text.replace("\"spills\":", "\"cycles\":");
    for (name, [base, new], spills) in [
        ("with_spills", [of("a.spv", 900), of("b.spv", 1800)], "; 0 → 1 spill\n"),
        ("without_spills", [of("a.spv", 900), of("b.spv", 1800)].map(without_spills), "geometric mean\n"),
    ] {
        let base = folder.file(&format!("{name}-base.json"), base);
        let new = folder.file(&format!("{name}-new.json"), new);
        let table = run(without_drivers(&mut subsweep(["compare", &base, &new]))).text();
        let row = table.lines().find(|line| line.starts_with("* a.spv → b.spv "));
        assert!(row.is_some_and(|row| row.contains("900 → 1800")), "{table}");
        assert!(table.contains("1 pipeline in both, 1 changed (*)") && table.contains(spills), "{table}");
        assert_eq!(table.contains(" spill\n"), name == "with_spills", "{table}");
    }
}

#[test]
fn inspections_that_cannot_be_compared_are_refused() {
    let folder = Folder::new();
    let good = folder.file("good.json", inspection(None, &[("sort/a", "WORKGROUP_SIZE=256", 9)]));
    let others = ["sort/b", "sort/c"].map(|kernel| (kernel, "WORKGROUP_SIZE=256", 9));
    let strange = folder.file("strange.json", inspection(None, &others));
    let empty = folder.file("empty.json", "[]");
    let list = folder.file("list.json", r#"[{"index": 0, "name": "x", "usable": true}]"#);
    let cut = folder.file("cut.json", r#"[{"index": 0,"#);
    let report = folder.file("report.json", include_str!("../../src/harness/report/sample.json"));
    for (arguments, words) in [
        (&[&good[..], &report][..], "report.json is a report and "),
        (&[&report, &good], "compare like with like"),
        (&[&good], "there is one inspection of one device"),
        (&[&good, &empty], "empty.json: has no pipelines"),
        (&[&good, &list], "list.json: is a JSON array, but no inspection (missing field"),
        (&[&good, &cut], "cut.json: cannot be parsed as JSON"),
        (&[&good, &strange], "the inspections have no pipeline in common"),
        (&[&good, &good, "--html", "x.html"], "leave --html out"),
        (&[&good, &good, "--tolerance", "5"], "inspections have no times; leave --tolerance out"),
        (&[&good, &good, "--fail-on-regression", "5"], "leave --fail-on-regression out"),
        (&[&good, &good, "--json", &good], "good.json: is also the input"),
    ] {
        run(without_drivers(&mut subsweep([&["compare"], arguments].concat()))).refused(2, words);
    }
}

/// Pipelines that RADV has compiled are kept and loaded again. Results are wrong, as the shim executes nothing.
#[test]
#[cfg(unix)]
fn pipelines_that_radv_has_compiled_are_kept_whole_or_not_at_all() {
    use std::os::unix::fs::MetadataExt as _;

    let name = "amd-rdna2";
    if !is_here(name) {
        return;
    }
    let gpu = CompileOnlyGpu::find(name).unwrap();
    let folder = Folder::new();
    let chained =
        "scan:inclusive:type=u32;columns=1;algorithm=chained;policy=small;*;n=1027;input=distinguishing";
    let others = "scan:exclusive:type=u32;columns=1;algorithm=reduce-then-scan;policy=default;*;n=65;*";
    let verify = |cases: &str, options: &[&str]| {
        let mut command = gpu.command(env!("CARGO_BIN_EXE_subsweep")).unwrap();
        command.args(["verify", "--device", "driver:radv", "--filter", cases]).args(options);
        command.env_remove("SUBSWEEP_DEVICE").env("SUBSWEEP_CACHE", folder.path("")).stdin(Stdio::null());
        let ended = run(&mut command);
        assert_eq!(ended.code, 1, "{}", ended.stderr);
    };
    // The only file: its path, its content and its inode, which changes when the file is replaced.
    let kept = || {
        let files: Vec<_> = std::fs::read_dir(folder.path("pipelines")).expect("a folder").collect();
        let [Ok(file)] = &files[..] else { panic!("{files:?}") };
        (file.path(), read(&file.path()), file.metadata().unwrap().ino())
    };
    verify(chained, &["--no-pipeline-cache"]);
    assert_eq!(folder.names(), Vec::<String>::new());

    verify(chained, &[]);
    let first = kept();
    verify(chained, &[]);
    assert!(kept() == first, "RADV has compiled again what was kept");

    let mut damaged = first.1.clone();
    damaged[first.1.len() / 2] ^= 1;
    std::fs::write(&first.0, &damaged).unwrap();
    verify(chained, &["--no-pipeline-cache"]);
    assert_eq!(kept().1, damaged);
    verify(chained, &[]);
    let again = kept();
    assert_ne!(again.1, damaged);
    verify(chained, &[]);
    assert!(kept() == again, "RADV has not taken what was written anew");

    // RADV's cache entries are padded, so a few bytes more are no new pipeline.
    verify(others, &[]);
    assert!(kept().0 == first.0 && kept().1.len() > first.1.len() + 1000, "other pipelines are added");
}
