//! A run on lavapipe: results are right, and the reports have the ids of `bench --preset peers`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

use subsweep_tool::harness::{BenchScale, Effort, Report, peer_bench_cases};

/// Elements, and their binary logarithm.
const COUNT: (u64, &str) = (1 << 10, "10");

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_subsweep-peers-vulkan"))
}

/// The cases of a report of one device, all of them measured.
fn ids(folder: &Path, name: &str) -> BTreeSet<String> {
    let json = fs::read(folder.join(format!("{name}.json"))).unwrap();
    let report = Report::from_json(&json).unwrap();
    assert!(report.complete && report.devices.len() == 1, "{name}");
    let device = &report.devices[0];
    assert!(device.gpu_timestamps && device.verified.is_empty(), "{name}: {:?}", device.verified);
    assert!(
        device.measured.iter().all(|one| one.block_lengths.len() == 2 && one.sample_count >= 2),
        "{name}"
    );
    device.measured.iter().map(|one| one.id.clone()).collect()
}

#[test]
fn reports_have_the_ids_of_the_preset() {
    let folder: PathBuf = env::temp_dir().join(format!("subsweep-peers-vulkan-{}", process::id()));
    let output =
        program().args(["--sizes", COUNT.1, "--rounds", "2", "--json"]).arg(&folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let [ours, lampshade] = ["subsweep", "lampshade"].map(|name| ids(&folder, name));
    fs::remove_dir_all(&folder).unwrap();
    let preset = peer_bench_cases(BenchScale { effort: Effort::Normal, is_gpu: false });
    let of_count = |mut case: subsweep_tool::harness::Case| {
        case.count = COUNT.0;
        case.id()
    };
    let preset: BTreeSet<_> = preset.into_iter().map(of_count).collect();
    assert!(ours.len() == 4 && ours == lampshade && ours.is_subset(&preset), "{ours:?} {lampshade:?}");
    assert_eq!(text.lines().filter(|line| line.contains("| lampshade | ")).count(), 4, "{text}");
}

#[test]
fn usage_is_one_line() {
    for arguments in
        [&["--sizes", "29"][..], &["--sizes", ""], &["--rounds", "0"], &["--max"], &["--what", "1"]]
    {
        let output = program().args(arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.starts_with("usage: ") && error.lines().count() == 1, "{error}");
    }
}
