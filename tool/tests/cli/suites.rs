//! `verify` and `bench`: their tables and reports. The results themselves are tested by tool/tests/drivers.

use std::collections::HashSet;

use ::subsweep::scan::{ScanAlgorithm, WorkgroupScan};
use ::subsweep_tool::harness::Report;

use super::*;

fn report(bytes: &[u8]) -> Value {
    Report::from_json(bytes).expect("what is written is read back");
    let report: Value = serde_json::from_slice(bytes).unwrap();
    assert_eq!(report["schema"], 2);
    assert_eq!(report["complete"], true);
    assert_eq!(report["devices"].as_array().unwrap().len(), 1);
    report["devices"][0].clone()
}

/// Runs a command that writes its report to standard output: the report's device, and the words.
#[track_caller]
fn reported<A: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = A>) -> (Value, String) {
    let ended = run(subsweep(arguments).args(["--json", "-"]));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    (report(&ended.stdout), ended.stderr)
}

#[test]
fn cases_are_verified_and_counted() {
    let folder = Folder::new();
    let json = folder.file("report.json", "before");
    let mut command = subsweep(["verify", "--quick", "--filter", "columns=3*n=1;", "--json", &json]);
    let ended = run(&mut command);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let device = report(&folder.read("report.json"));
    let text = String::from_utf8(ended.stdout).unwrap();
    assert!(text.starts_with(&format!("0: {}", device["name"].as_str().unwrap())), "{text}");
    assert!(text.lines().any(|line| line.trim_start().starts_with("total ")), "{text}");
    let cases = device["verified"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let id = case["id"].as_str().unwrap();
        assert!(id.contains("columns=3") && id.contains("n=1;"), "{id}");
        assert_eq!(case["outcome"], "pass", "{id}");
    }
    assert_eq!(folder.names(), ["report.json"]);
}

#[test]
fn cases_are_listed() {
    let filter = ["verify", "--quick", "--filter", "scan*columns=3*chained"];
    let ended = run(&mut subsweep(filter.iter().chain(&["--list"])));
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("no case of --quick has 'scan*columns=3*chained' in its id"),
        "{}",
        ended.stderr
    );
    let refusals: [(&[&str], &str); 6] = [
        (
            &["--quick", "--policy", "seed", "--algorithm", "radix-2bit"],
            "there is no case of --algorithm radix-2bit and --policy seed; leave out --quick, which takes fewer cases",
        ),
        (
            &["--quick", "--algorithm", "strided", "--filter", "sort"],
            "there is no case of --algorithm strided; leave out --quick, which takes fewer cases",
        ),
        (
            &["--quick", "--algorithm", "chained", "--filter", "no such"],
            "no case of --quick and --algorithm chained has 'no such' in its id; ids",
        ),
        (
            &["--policy", "seed", "--filter", "no such"],
            "no case of --policy seed has 'no such' in its id; ids are like ",
        ),
        (
            &["--quick", "--waiting", "--policy", "seed", "--algorithm", "radix-2bit"],
            "there is no case of --waiting and --algorithm radix-2bit and --policy seed; leave out --quick",
        ),
        (
            &["--waiting", "--default-policies", "--filter", "policy=small"],
            "no case of --waiting and --default-policies has 'policy=small' in its id; ids are like ",
        ),
    ];
    for (arguments, words) in refusals {
        run(&mut subsweep(["verify", "--list"].iter().chain(arguments))).refused(2, words);
    }
    let ids = |arguments: &[&str]| {
        let listed = run(&mut subsweep(["verify", "--list"].iter().chain(arguments)));
        assert_eq!((listed.code, listed.stderr.as_str()), (0, ""), "{arguments:?}");
        String::from_utf8(listed.stdout).unwrap()
    };
    let (all, of_defaults) = (ids(&[]), ids(&["--default-policies"]));
    let all: HashSet<_> = all.lines().collect();
    assert!(of_defaults.lines().count() > 100 && of_defaults.lines().all(|id| all.contains(id)));
    assert!(!of_defaults.contains("policy=small"), "{of_defaults}");
    for other in [&["--policy", "seed"][..], &["--algorithm", "chained"], &["--large"]] {
        let both = ["verify", "--default-policies"].iter().chain(other);
        run(&mut subsweep(both)).refused(2, "cannot be used with");
    }
    let list = |arguments: &[&str]| {
        let ended = run(&mut subsweep(["verify", "--list"].iter().chain(arguments)));
        let text = ended.text();
        text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
    };
    let [quick, normal, full] = [list(&["--quick"]), list(&[]), list(&["--full"])];
    assert!(quick.is_subset(&normal) && normal.is_subset(&full));
    let chained = list(&["--quick", "--algorithm", "chained"]);
    assert!(!chained.is_empty() && chained.is_subset(&quick));
    assert!(chained.iter().all(|id| id.contains(";algorithm=chained;")));
    let refused = run(&mut subsweep(["verify", "--list", "--json", "-"]));
    assert_eq!(refused.code, 2);
}

#[test]
fn any_number_of_elements_is_verified() {
    let count = "4200007";
    let (device, words) = reported(["verify", "--large", count]);
    let ids = ["sort:keys", "scan:inclusive;place=in", "scan:inclusive;place=out", "select:less"]
        .map(|work| format!("large:{work};type=u32;n={count}"));
    let verified = device["verified"].as_array().unwrap();
    assert_eq!(verified.len(), ids.len());
    for (case, id) in verified.iter().zip(&ids) {
        assert_eq!((case["id"].as_str(), case["outcome"].as_str()), (Some(&id[..]), Some("pass")));
        assert!(words.contains(&format!("  {id}\n    pass")), "{words}");
    }
    let ended = run(&mut subsweep(["verify", "--large", "5", "--filter", "place=out"]));
    let text = String::from_utf8(ended.stdout).unwrap();
    assert!(
        ended.code == 0 && text.contains("place=out;type=u32;n=5\n    pass") && !text.contains("place=in"),
        "{text}"
    );
    let ended = run(&mut subsweep(["verify", "--large", "5", "--filter", "search"]));
    assert!(ended.code == 2 && ended.stderr.contains("ids are like large:sort:keys"), "{}", ended.stderr);
    run(without_drivers(&mut subsweep(["verify", "--large", "--quick"])))
        .refused(2, "cannot be used with '--quick'");
    run(without_drivers(&mut subsweep(["verify", "--large", "0"]))).refused(2, "0 is not in 1..=");
}

#[test]
fn a_first_look_ends_with_a_short_table() {
    let filter = "scan:inclusive:type=u32;*n=65537;";
    let (device, words) = reported(["verify", "--quick", "--measure", "--filter", filter]);
    assert_eq!(device["measured"].as_array().unwrap().len(), 3);
    let verified = device["verified"].as_array().unwrap().len();
    let lines: Vec<_> = words.lines().rev().take(7).map(str::trim_start).collect();
    let [pairs, keys, scan, head, counts, driver, name] = lines[..] else { panic!("{words}") };
    assert!(name.starts_with(&format!("device    {}", device["name"].as_str().unwrap())), "{name}");
    assert!(driver.starts_with("driver    "), "{driver}");
    assert_eq!(counts, format!("verified  {verified} passed, 0 failed, 0 not supported"));
    assert_eq!(head, "elements  elements/s  % of copy  copy bytes/s");
    let rows = [("scan, u32 sums", scan), ("sort, u32 keys", keys), ("sort, u32 pairs", pairs)];
    for ((what, row), measured) in rows.into_iter().zip(device["measured"].as_array().unwrap()) {
        let percent = measured["copy_percent"].as_f64().unwrap();
        assert!(row.starts_with(what) && row.contains(&format!(" {percent:.1}  ")), "{row}: {percent}");
    }
}

#[test]
fn algorithms_and_policies_select_cases() {
    let filter = ["verify", "--filter", "type=u32*input=two-valued"];
    let options = ["--algorithm", "radix-2bit", "--policy", "seed"];
    let (device, words) = reported(filter.iter().chain(&options));
    // The report is on standard output, so the table is on standard error.
    assert!(words.contains("sort:keys"), "{words}");
    for case in device["verified"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        assert!(id.contains(";algorithm=radix-2bit;policy=seed;"), "{id}");
    }
}

#[test]
fn cases_are_measured() {
    let folder = Folder::new();
    let json = folder.argument("report.json");
    let filter = "scan*type=u32;columns=1*algorithm=reduce-then-scan;policy=default*n=65536;";
    let ended = run(&mut subsweep(["bench", "--quick", "--filter", filter, "--json", &json]));
    let text = ended.text();
    assert!(text.contains(" 65536 ") && text.contains("1 measured, 0 wrong, 0 not supported"), "{text}");
    let device = report(&folder.read("report.json"));
    let measured = &device["measured"][0];
    assert_eq!(measured["element_count"], 65_536);
    // The algorithm's summary: 12 bytes an element.
    assert_eq!(measured["traffic_size"], 12 * 65_536);
    assert!(measured["time"]["median_ns"].as_f64().unwrap() > 0.0);
    assert!(measured["samples_ns"].as_array().unwrap().len() >= 10);
}

#[test]
fn sorts_are_measured_by_what_they_move() {
    // A pass reads keys twice and writes them once, and values once each; the histogram reads the keys once.
    for (work, element_size, moved) in [
        ("sort:keys:type=u32;algorithm=radix-4bit", 4, 4 + 8 * 3 * 4),
        ("sort:keys:type=u32;algorithm=radix-2bit", 4, 4 + 16 * 3 * 4),
        ("sort:pairs4:type=u32;algorithm=radix-4bit", 8, 4 + 8 * (3 * 4 + 2 * 4)),
        ("sort:keys:type=u64;algorithm=radix-4bit", 8, 8 + 16 * 3 * 8),
    ] {
        let filter = format!("{work};policy=default*n=65536;input=uniform");
        let measured = reported(["bench", "--filter", &filter]).0["measured"].clone();
        assert_eq!(measured.as_array().unwrap().len(), 1, "{work}");
        assert_eq!(measured[0]["traffic_size"], moved * 65_536, "{work}");
        assert_eq!(measured[0]["element_size"], element_size, "{work}");
    }
}

/// The commands that the documentation of `SortPlan::cmd_sort` states.
#[test]
fn commands_are_counted_and_shown() {
    // One workgroup needs no barrier. Otherwise a histogram precedes the passes and a copy follows them; a pass counts,
    // scans and scatters in three dispatches, each after a barrier, and the first of all waits for a fill.
    for (work, dispatches, barriers, transfers) in [
        ("keys:type=u32;policy=chosen;bits=0:32*n=256;", 1, 0, 0),
        ("keys:type=u32;algorithm=single-workgroup;policy=default*n=4096;", 1, 0, 0),
        ("keys:type=u32;algorithm=radix-4bit;policy=default*n=65536;", 26, 26, 1),
        ("keys:type=u32;algorithm=radix-2bit;policy=seed*n=65536;", 50, 50, 1),
    ] {
        let filter = format!("sort:*{work}input=uniform");
        let (device, words) = reported(["bench", "--filter", &filter]);
        let recorded = &device["measured"][0]["recorded"];
        let counts = ["dispatches", "barriers", "transfers"].map(|name| recorded[name].as_u64().unwrap());
        assert_eq!(counts, [dispatches, barriers, transfers], "{work}");
        let lines: Vec<_> = words.lines().collect();
        let head = "  record  end to end  dispatches  barriers";
        assert!(lines.iter().any(|line| line.ends_with(head)), "{words}");
        let columns = format!("  {dispatches:>10}  {barriers:>8}");
        // Other tests disturb the clock.
        let row = |line: &&str| line.trim_end_matches("  unsteady").ends_with(&columns);
        assert!(lines.iter().any(row), "{words}");
        let is_row = |line: &&&str| line.starts_with("    ") && line.contains(|c: char| c.is_ascii_digit());
        let width = |line: &&str| line.trim_end_matches("  unsteady").chars().count();
        let width = lines.iter().filter(is_row).map(width).max().unwrap();
        assert!(width <= 100, "{words}");
    }
}

#[test]
fn the_textbook_preset_compares_every_scan_algorithm() {
    let folder = Folder::new();
    let json = folder.argument("report.json");
    let ended = run(&mut subsweep(["bench", "--quick", "--preset", "textbook", "--json", &json]));
    let text = ended.text();
    let device = report(&folder.read("report.json"));
    let measured = device["measured"].as_array().unwrap();
    // The expected table, by the report.
    let find = |algorithm: ScanAlgorithm, count: &str| {
        let parts = [format!(";algorithm={algorithm};"), format!(";n={count};")];
        let is_it = |case: &&Value| {
            let id = case["id"].as_str().unwrap();
            parts.iter().all(|part| id.contains(part))
        };
        measured.iter().find(is_it).expect("every algorithm at every count")
    };
    let mut table = text.lines().skip_while(|line| !line.starts_with("  elements"));
    let counts: Vec<_> = table.next().expect("a head").split_whitespace().skip(1).collect();
    assert_eq!(counts, ["4096", "65536"]);
    let rows: Vec<_> = table.take_while(|line| !line.is_empty()).collect();
    let (mut names, mut before) = (Vec::new(), f64::INFINITY);
    for row in rows {
        let cells: Vec<_> = row.split_whitespace().collect();
        let algorithm = ScanAlgorithm::from_name(cells[0]).expect("an algorithm's name");
        let percents: Vec<_> =
            counts.iter().map(|count| find(algorithm, count)["copy_percent"].as_f64().unwrap()).collect();
        let expected: Vec<_> = percents.iter().map(|percent| format!("{percent:.1}")).collect();
        assert_eq!(cells[1..], expected, "{row}");
        assert!(percents[1] <= before, "{text}");
        before = percents[1];
        names.push(algorithm.name());
    }
    // Traffic by the summaries, for 2^16 elements: the first of 16 doubling steps moves twice as much as each other, and
    // strided steps add nothing to the first element, the first two, the first four, …
    for (algorithm, moved) in [
        (ScanAlgorithm::ReduceThenScan(WorkgroupScan::BrentKung), 12 << 16),
        (ScanAlgorithm::ScanThenPropagate, 16 << 16),
        (ScanAlgorithm::Chained, 8 << 16),
        (ScanAlgorithm::BlockDoubling, (8 + 15 * 4) << 16),
        (ScanAlgorithm::Strided, ((16 * 12) << 16) - 4 * 65_535),
    ] {
        assert_eq!(find(algorithm, "65536")["traffic_size"], moved, "{algorithm}");
    }
    let mut all = ScanAlgorithm::ALL.map(ScanAlgorithm::name).to_vec();
    let is_scan = |case: &&Value| case["id"].as_str().unwrap().starts_with("scan:");
    assert_eq!(measured.iter().filter(is_scan).count(), all.len() * counts.len());
    let claims = text.lines().skip_while(|line| !line.starts_with("  times as fast")).skip(1);
    let claims = claims.take_while(|line| !line.is_empty());
    let ratios: Vec<_> =
        claims.flat_map(str::split_whitespace).filter_map(|word| word.parse::<f64>().ok()).collect();
    assert!(ratios.len() >= 9 * counts.len() && !ratios.contains(&0.0), "{text}");
    all.sort();
    names.sort();
    assert_eq!(names, all);
}

#[test]
fn the_claims_of_tutorial_13_are_measured() {
    let folder = Folder::new();
    let json = folder.argument("report.json");
    let preset = ["bench", "--quick", "--preset", "tutorial-13", "--json", &json];
    let ended = run(&mut subsweep(preset.iter().chain(&["--filter", "n=4096;"])));
    let text = ended.text();
    let device = report(&folder.read("report.json"));
    let measured = device["measured"].as_array().unwrap();
    assert_eq!(measured.len(), 6);
    let median = |part: &str| {
        let is_it = |case: &&Value| case["id"].as_str().unwrap().contains(part);
        let case = measured.iter().find(is_it).expect("every sort that is compared");
        case["time"]["median_ns"].as_f64().unwrap()
    };
    for (claim, faster, slower) in [
        ("4 bits over 2, seed", "radix-4bit;policy=seed;", "radix-2bit;policy=seed;"),
        ("4 bits over 2, tuned", "radix-4bit;policy=default;", "radix-2bit;policy=default;"),
        ("packed over bin by bin, 4 bits", "radix-4bit;policy=seed;", "radix-4bit;policy=seed-bin-by-bin;"),
        ("packed over bin by bin, 2 bits", "radix-2bit;policy=seed;", "radix-2bit;policy=seed-bin-by-bin;"),
    ] {
        let row = text.lines().find_map(|line| line.trim_start().strip_prefix(claim)).expect(claim);
        assert_eq!(row.trim(), format!("{:.2}", median(slower) / median(faster)), "{text}");
    }
}

/// lavapipe with vectors of 1024 bits is broken: results are wrong, and the exit code is 1. Only scans run, as a sort
/// would write to wrong offsets.
#[test]
fn wrong_results_end_with_1() {
    let broken = |command: &str, filter: &str| {
        let arguments =
            [command, "--quick", "--filter", filter, "--json", "-", "--device", "driver:llvmpipe"];
        let mut command = subsweep(arguments);
        command.env("LP_NATIVE_VECTOR_WIDTH", "1024").env("MESA_SHADER_CACHE_DISABLE", "true");
        run(&mut command)
    };
    let measured =
        broken("bench", "scan*type=u32;columns=1*algorithm=reduce-then-scan;policy=default*n=65536;");
    if measured.code == 3 && measured.stderr.contains("no Vulkan device") {
        eprintln!("SKIPPED: no lavapipe, which can be broken");
        return;
    }
    assert_eq!(measured.code, 1, "{}", measured.stderr);
    assert!(measured.stderr.contains("0 measured, 1 wrong, 0 not supported"), "{}", measured.stderr);
    let verified = broken("verify", "scan:exclusive*algorithm=reduce-then-scan;policy=default;*n=65537;");
    assert_eq!(verified.code, 1, "{}", verified.stderr);
    let cases = report(&verified.stdout)["verified"].clone();
    let cases = cases.as_array().unwrap();
    let failed = cases.iter().filter(|case| case["outcome"] == "fail").count();
    let verdict = format!("{failed} of {} cases gave a wrong result", cases.len());
    assert!(failed > 0 && verified.stderr.contains(&verdict), "{verdict}: {}", verified.stderr);

    // Cases that do not use lanes are right all the same.
    let unfit = broken("verify", "words=1;*n=1;");
    assert_eq!(unfit.code, 1, "{}", unfit.stderr);
    assert!(unfit.stderr.contains("fails the self-test, though its cases gave no wrong"), "{}", unfit.stderr);

    // The printed command reproduces the failure.
    let failure = cases.iter().find(|case| case["wrong"]["what"] == "result").expect("a result is wrong");
    let wrong = &failure["wrong"];
    assert_ne!(wrong["got"], wrong["expected"]);
    let words = format!("run {}: result[{}] is {} ", wrong["run"], wrong["index"], wrong["got"]);
    let reason = failure["reason"].as_str().unwrap();
    assert!(reason.starts_with(&words) && reason.ends_with(&format!("; seed {}", wrong["seed"])), "{reason}");
    let again = failure["reproduce"].as_str().unwrap();
    assert!(verified.stderr.contains(&format!("    again: {again}\n")), "{}", verified.stderr);
    let script = format!("{} --json -", again.replacen("subsweep", env!("CARGO_BIN_EXE_subsweep"), 1));
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env_remove("SUBSWEEP_DEVICE").stdin(Stdio::null());
    command.env("LP_NATIVE_VECTOR_WIDTH", "1024").env("MESA_SHADER_CACHE_DISABLE", "true");
    let ended = run(&mut command);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let cases = report(&ended.stdout)["verified"].clone();
    let is_it = |case: &Value| case["id"] == failure["id"] && case["outcome"] == "fail";
    assert!(cases.as_array().unwrap().iter().any(is_it), "{cases}");
}

#[test]
fn an_old_report_is_kept_without_a_device() {
    let folder = Folder::new();
    let old = folder.file("report.json", "before");
    let mut command = subsweep(["verify", "--quick", "--json", &old]);
    run(without_drivers(&mut command)).refused(3, "no Vulkan device");
    assert_eq!(folder.read("report.json"), b"before");
    assert_eq!(folder.names(), ["report.json"]);
}

#[test]
fn a_report_of_an_interrupted_run_is_marked_incomplete() {
    let folder = Folder::new();
    let json = folder.file("report.json", "before");
    let mut command = subsweep(["verify", "--full", "--json", &json]);
    kill_once(&mut command, || folder.read("report.json") != b"before");
    let report: Value = serde_json::from_slice(&folder.read("report.json")).unwrap();
    assert_eq!(report["complete"], false);
    assert!(!report["devices"][0]["verified"].as_array().unwrap().is_empty());
}

#[test]
fn devices_run_in_the_given_order() {
    let filter = ["verify", "--quick", "--filter", "sort*n=257;input=uniform", "--json", "-"];
    let ended = run(&mut subsweep(filter.iter().chain(&["--device", "0, 0"])));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let [first, second] = &report["devices"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!(first["device_uuid"], second["device_uuid"]);
    let ended = run(&mut subsweep(filter.iter().chain(&["--device", "0,no such device"])));
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("no such device"), "{}", ended.stderr);
    let keys = run_with(&mut subsweep(["sort", "-", "--type", "u32", "--device", "0,0"]), &[0; 8]);
    keys.refused(2, "lists several");
}

#[test]
fn a_closed_reader_does_not_change_the_verdict() {
    let folder = Folder::new();
    let json = folder.argument("report.json");
    let mut command = subsweep(["verify", "--quick", "--filter", "columns=1*n=1;", "--json", &json]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stderr, b"");
    assert!(!report(&folder.read("report.json"))["verified"].as_array().unwrap().is_empty());
}
