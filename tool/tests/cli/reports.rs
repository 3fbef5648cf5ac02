//! `bench --json`, `--csv`, `--markdown` and `--html`: valid combinations, and the content of each.

use ::subsweep_tool::harness::Report;

use super::*;

const NAMES: [(&str, &str); 4] = [
    ("--json", "report.json"),
    ("--csv", "report.csv"),
    ("--markdown", "report.md"),
    ("--html", "report.html"),
];

/// `bench` with every format, each in a file of `folder`.
fn bench_into(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = subsweep(["bench"]);
    command.args(arguments);
    for (option, name) in NAMES {
        command.args([option, &folder.argument(name)]);
    }
    command
}

fn text(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.read(name)).expect("a report in UTF-8")
}

#[test]
fn every_format_has_the_same_measurements() {
    let folder = Folder::new();
    let filter = "scan*columns=1*place=out*n=65536;";
    let ended = run(&mut bench_into(&folder, &["--quick", "--filter", filter]));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(folder.names(), ["report.csv", "report.html", "report.json", "report.md"]);
    let report = Report::from_json(&folder.read("report.json")).unwrap();
    let (csv, markdown, html) =
        (text(&folder, "report.csv"), text(&folder, "report.md"), text(&folder, "report.html"));
    let device = &report.devices[0];
    assert!(csv.contains(&device.name) || csv.contains(&format!("\"{}\"", device.name)), "{csv}");
    assert!(html.contains(&device.name), "{html}");
    assert!(!device.measured.is_empty() && report.complete);
    assert_eq!(csv.lines().count(), 1 + device.measured.len());
    assert_eq!(html.matches("<tr title=").count(), device.measured.len());
    for measurement in &device.measured {
        assert!(csv.contains(&measurement.id) && html.contains(&measurement.id), "{}", measurement.id);
        assert!(csv.contains(&format!(",{},", measurement.time.median_ns)), "{csv}");
        assert!(markdown.contains(&format!("| {} | 65536 |", measurement.policy)), "{markdown}");
    }
    assert!(!html.contains("incomplete") && !markdown.contains("incomplete"));
}

#[test]
fn one_format_may_take_standard_output() {
    for (option, start) in
        [("--csv", "device,driver,"), ("--markdown", "# subsweep bench"), ("--html", "<!DOCTYPE html>")]
    {
        let arguments = ["bench", "--quick", "--filter", "scan:*policy=seed*n=65536;", option, "-"];
        let ended = run(&mut subsweep(arguments));
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(ended.stdout.starts_with(start.as_bytes()), "{option}");
        // The table goes to standard error.
        assert!(ended.stderr.contains("1 measured, 0 wrong"), "{}", ended.stderr);
    }
}

#[test]
fn two_formats_do_not_share_a_file() {
    let folder = Folder::new();
    let [here, there] = ["report", "./report"].map(|name| folder.argument(name));
    let refused = |arguments: &[&str], what: &str| {
        let mut command = subsweep(["bench", "--quick"].iter().chain(arguments));
        run(without_drivers(&mut command)).refused(2, what);
    };
    refused(
        &["--json", "-", "--html", "-"],
        "standard output is written once; name a file with --json or --html",
    );
    refused(&["--csv", "-", "--markdown", "/dev/stdout"], "standard output is written once");
    refused(&["--csv", &here, "--html", &there], "--csv and --html name the same file; give each its own");
    assert!(folder.names().is_empty());
    folder.file("report", "before");
    refused(&["--json", &here, "--markdown", &there], "--json and --markdown name the same file");
    refused(&["--html", &folder.argument("nowhere/page.html")], "no file can be made in its directory");
    assert_eq!(folder.read("report"), b"before");
}

#[test]
fn an_interrupted_run_keeps_its_measurements_in_every_format() {
    let folder = Folder::new();
    let mut command = bench_into(&folder, &["--full", "--filter", "scan*columns=1"]);
    // The page is written last.
    kill_once(&mut command, || folder.path("report.html").exists());
    let report = Report::from_json(&folder.read("report.json")).unwrap();
    assert!(!report.complete && !report.devices[0].measured.is_empty());
    for name in ["report.md", "report.html"] {
        assert!(text(&folder, name).contains("This report is incomplete"), "{name}");
    }
    assert!(text(&folder, "report.csv").lines().count() > 1);
}
