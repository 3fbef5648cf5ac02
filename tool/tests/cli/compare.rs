//! `compare`: reports in, verdicts out, without a device.

use ::subsweep_tool::harness::{Measurement, Report, Summary, VerifiedCase};

use super::*;

/// The smallest set of cases, each with a copy beside it.
const FILTER: &str = "scan*columns=1*policy=default*n=65536;";

/// A report of `bench` with synthetic samples: `factor` times as long, a hundredth apart.
fn steady(report: &[u8], factor: f64) -> Vec<u8> {
    let mut report = Report::from_json(report).unwrap();
    for measured in report.devices.iter_mut().flat_map(|device| &mut device.measured) {
        measured.samples_ns = (0..20).map(|at| factor * 1e6 * (1.0 + f64::from(at % 3) / 100.0)).collect();
        measured.sample_count = 20;
        measured.block_lengths = vec![2; 10];
        sum_up(measured);
    }
    report.to_json().unwrap()
}

/// Recomputes all values that follow from the samples.
fn sum_up(measured: &mut Measurement) {
    measured.time = Summary::from_samples(&measured.samples_ns, &measured.block_lengths);
    let seconds = measured.time.median_ns / 1e9;
    measured.elements_per_second = measured.element_count as f64 / seconds;
    measured.bytes_per_second = measured.traffic_size as f64 / seconds;
    measured.copy_percent = 100.0 * measured.copy.median_ns / measured.time.median_ns;
}

fn bench(more: &[&str]) -> Vec<u8> {
    let arguments = ["bench", "--quick", "--filter", FILTER, "--json", "-"];
    let ended = run(&mut subsweep(arguments.iter().chain(more)));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    // Other tests disturb the clock.
    let mut report = Report::from_json(&ended.stdout).unwrap();
    report.devices.iter_mut().flat_map(|device| &mut device.measured).for_each(|one| one.steady = true);
    report.to_json().unwrap()
}

/// Runs `compare` without any driver.
fn compare(arguments: &[&str]) -> Ended {
    run(without_drivers(&mut subsweep([&["compare"], arguments].concat())))
}

/// Compares with a limit of 10 %.
fn gate(base: &str, new: &str) -> Ended {
    compare(&[base, new, "--fail-on-regression", "10"])
}

#[test]
fn reports_are_compared_case_by_case() {
    let folder = Folder::new();
    let measured = bench(&[]);
    let base = folder.file("base.json", steady(&measured, 1.0));
    let same = folder.file("same.json", steady(&measured, 1.01));
    let slower = folder.file("slower.json", steady(&measured, 1.2));
    let faster = folder.file("faster.json", steady(&measured, 0.8));
    let ids: Vec<_> =
        Report::from_json(&measured).unwrap().devices[0].measured.iter().map(|m| m.id.clone()).collect();
    assert!(!ids.is_empty());
    for (new, verdict, code) in [(&same, "SAME", 0), (&slower, "SLOWER", 1), (&faster, "FASTER", 0)] {
        let json = folder.argument("comparison.json");
        let ended = compare(&[&base, new, "--fail-on-regression", "10", "--json", &json]);
        assert_eq!(ended.code, code, "{}", ended.stderr);
        let text = String::from_utf8(ended.stdout).unwrap();
        assert!(
            text.starts_with(&format!("base  {base}: ")) && text.contains(&format!("\nnew   {new}: ")),
            "{text}"
        );
        assert!(text.contains("the same device, driver, machine, build, policies and samples"), "{text}");
        let document: Value = serde_json::from_slice(&folder.read("comparison.json")).unwrap();
        let comparison = &document["comparisons"][0];
        for field in comparison.as_object().unwrap().keys() {
            assert!(include_str!("../../../docs/reports.md").contains(&format!("`{field}`")), "{field}");
        }
        assert_eq!(document["comparison_schema"], 1);
        assert_eq!(comparison["drift"], 1.0);
        let cases = comparison["cases"].as_array().unwrap();
        let found: Vec<_> = cases.iter().map(|case| case["id"].as_str().unwrap()).collect();
        assert_eq!(found, ids);
        for case in cases {
            assert_eq!(case["verdict"], verdict, "{case}");
        }
        // A line for each case, one for their group, one above it, and one that explains SAME.
        assert_eq!(text.matches(verdict).count(), ids.len() + 2 + usize::from(verdict == "SAME"), "{text}");
        assert_eq!(comparison["groups"][0]["verdict"], verdict);
        if code == 1 {
            let words = format!(
                "subsweep: {0} of {0} cases are slower by more than 10 %, at most 1.20 times: ",
                ids.len()
            );
            assert!(ended.stderr.starts_with(&words), "{}", ended.stderr);
            assert_eq!(ended.stderr.lines().count(), 1);
        }
    }
    // As an editor may save it.
    let marked = folder.file("marked.json", [&b"\xef\xbb\xbf"[..], &folder.read("same.json")].concat());
    assert_eq!(gate(&base, &marked).code, 0);
    // Slower, but within 25 %.
    assert_eq!(compare(&[&base, &slower, "--fail-on-regression", "25"]).code, 0);
    assert_eq!(compare(&[&base, &slower, "--tolerance", "25", "--fail-on-regression", "10"]).code, 1);
    // The base with each of the others; with the report on standard output the text goes to standard error.
    let ended = compare(&[&base, &same, &slower, "--json", "-"]);
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(document["comparisons"].as_array().unwrap().len(), 2);
    assert!(ended.stderr.contains("SLOWER"), "{}", ended.stderr);
    // The page has the verdicts, and both reports.
    let html = folder.argument("comparison.html");
    assert_eq!(compare(&[&base, &slower, "--html", &html]).code, 0);
    let page = String::from_utf8(folder.read("comparison.html")).unwrap();
    for part in ["SLOWER", "geometric mean", ">base: ", "→ slower: ", &ids[0], "<svg"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // And one from standard input.
    let mut command = subsweep(["compare", "-", &same]);
    let ended = run_with(without_drivers(&mut command), &steady(&measured, 1.0));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

#[test]
fn an_artificial_slow_down_is_a_regression() {
    let folder = Folder::new();
    let base = folder.file("base.json", bench(&[]));
    // More than the noise of any machine.
    let new = folder.file("new.json", bench(&["--slow-down", "100000"]));
    let ended = compare(&[&base, &new, "--fail-on-regression", "20"]);
    ended.refused_with_words(1, "cases are slower by more than 20 %");
}

fn failed(id: String) -> VerifiedCase {
    let reason = Some("result[1] is 2\nexpected 3".into());
    VerifiedCase { id, outcome: "fail".into(), reason, wrong: None, reproduce: None }
}

/// The gate also fails on cases and devices that are missing.
#[test]
fn wrong_or_missing_cases_are_printed_and_fail_the_gate() {
    let folder = Folder::new();
    let measured = steady(&bench(&[]), 1.0);
    let base = folder.file("base.json", &measured);
    let changed = |name, change: fn(&mut Report)| {
        let mut report = Report::from_json(&measured).unwrap();
        change(&mut report);
        folder.file(name, report.to_json().unwrap())
    };
    let wrong = changed("wrong.json", |report| {
        let device = &mut report.devices[0];
        device.measured.push(Measurement { id: "odd:n=1".into(), ..device.measured[0].clone() });
        device.verified.push(failed(device.measured.remove(0).id));
    });
    let ended = compare(&[&base, &wrong]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let text = String::from_utf8(ended.stdout).unwrap();
    assert!(
        text.contains("1 WRONG in the new report, such as scan:") && text.contains("1 in the base alone"),
        "{text}"
    );
    gate(&base, &wrong).refused_with_words(1, "1 of the base's cases gave a wrong result, such as scan:");
    let cut_short = changed("cut.json", |report| report.complete = false);
    assert_eq!(compare(&[&base, &cut_short]).code, 0);
    gate(&base, &cut_short).refused_with_words(2, "cut.json: is not complete");
    gate(&cut_short, &base).refused_with_words(2, "cut.json: is not complete");
    let all_wrong = changed("all.json", |report| {
        let device = &mut report.devices[0];
        device.verified = device.measured.drain(..).map(|measured| failed(measured.id)).collect();
    });
    gate(&base, &all_wrong).refused_with_words(1, "of the base's cases gave a wrong result, such as scan:");
    let fewer = changed("fewer.json", |report| drop(report.devices[0].measured.pop()));
    gate(&base, &fewer)
        .refused_with_words(2, "the new report has no time for 1 of the base's cases, such as scan:");
    // Too few samples for a verdict, however much slower.
    let few = changed("few.json", |report| {
        for measured in &mut report.devices[0].measured {
            measured.block_lengths = vec![20];
            sum_up(measured);
        }
    });
    let slow = folder.file("slow.json", steady(&measured, 10.0));
    assert_eq!(gate(&base, &slow).code, 1);
    gate(&few, &slow).refused_with_words(2, "have too few samples");
    // A wrong result comes before missing cases.
    let wrong_and_cut = changed("both.json", |report| {
        let device = &mut report.devices[0];
        device.verified.push(failed(device.measured.remove(0).id));
        report.complete = false;
    });
    gate(&base, &wrong_and_cut).refused_with_words(1, "1 of the base's cases gave a wrong result");
    let two = changed("two.json", |report| {
        let mut other = report.devices[0].clone();
        other.name = "other\u{1b}[2J".into();
        other.description.device_uuid = "-".into();
        report.devices.push(other);
    });
    let text = String::from_utf8(compare(&[&two, &base]).stdout).unwrap();
    assert!(
        text.contains(r"two.json: other\u{1b}[2J") && text.contains("nothing to compare with: "),
        "{text}"
    );
    gate(&two, &base)
        .refused_with_words(2, r"base.json: lacks the base's device other\u{1b}[2J; measure it as well");
    assert_eq!(gate(&base, &two).code, 0);
}

/// Several devices are compared with devices of the same driver; a single device with any.
#[test]
fn a_gate_pairs_devices_by_driver() {
    let folder = Folder::new();
    let measured = steady(&bench(&[]), 1.0);
    let with = |name, others: &[&str]| {
        let mut report = Report::from_json(&measured).unwrap();
        for id in others {
            let mut other = report.devices[0].clone();
            other.description.device_uuid = (*id).into();
            other.description.driver.id = (*id).into();
            other.name = (*id).into();
            report.devices.push(other);
        }
        folder.file(name, report.to_json().unwrap())
    };
    let (base, other) = (with("base.json", &["RADV"]), with("other.json", &["NVK"]));
    assert_eq!(compare(&[&base, &other]).code, 0);
    assert_eq!(gate(&base, &base).code, 0);
    gate(&base, &other).refused_with_words(2, "other.json: has no device of the driver of RADV, but NVK");
    // Devices of one report differ by design; the first with times is the base.
    let mut report = Report::from_json(&folder.read("base.json")).unwrap();
    assert_eq!(compare(&[&base, "--fail-on-regression", "10"]).code, 0);
    let device = &mut report.devices[0];
    device.verified = device.measured.drain(..).map(|measured| failed(measured.id)).collect();
    let wrong_first = folder.file("first.json", report.to_json().unwrap());
    let ended = compare(&[&wrong_first, "--fail-on-regression", "10"]);
    ended.refused_with_words(1, "of the base's cases gave a wrong result");
    report.devices.truncate(1);
    let wrong_alone = folder.file("alone.json", report.to_json().unwrap());
    compare(&[&wrong_alone, &base]).refused(2, "alone.json: has no measurements");
}

/// Noise in which each case is ambiguous, but all together are slower; of two reports the worse is named.
#[test]
fn cases_are_slower_together() {
    let folder = Folder::new();
    let measured = bench(&[]);
    let noisy = |name, factor: f64, step: u32| {
        let mut report = Report::from_json(&measured).unwrap();
        let device = &mut report.devices[0];
        let first = device.measured.swap_remove(0);
        device.measured = (0..40)
            .map(|at| {
                let mut one = Measurement { id: format!("{};case={at}", first.id), ..first.clone() };
                // The same ten times in every case, in another order of rounds.
                let time = |round: u32| 0.4 + 1.2 * f64::from((step * round + at) % 10) / 9.0;
                one.samples_ns = (0..10).map(|round| factor * 1e6 * time(round)).collect();
                one.sample_count = 10;
                one.block_lengths = vec![1; 10];
                sum_up(&mut one);
                one
            })
            .collect();
        folder.file(name, report.to_json().unwrap())
    };
    let (base, slower, slowest) =
        (noisy("base.json", 1.0, 3), noisy("slower.json", 1.5, 7), noisy("slowest.json", 1.7, 9));
    let words = "40 cases are slower together by more than 20 %, though none for certain, 1.70 times: scan:inclusive in ";
    for reports in [[&base, &slower, &slowest], [&base, &slowest, &slower]] {
        let arguments = [&reports.map(String::as_str)[..], &["--fail-on-regression", "20"]].concat();
        compare(&arguments).refused_with_words(1, &format!("{words}{slowest}"));
    }
    assert_eq!(compare(&[&slower, &base, "--fail-on-regression", "20"]).code, 0);
}

#[test]
fn reports_that_cannot_be_compared_are_refused() {
    let folder = Folder::new();
    let whole = bench(&[]);
    let good = folder.file("good.json", &whole);
    let text = String::from_utf8(whole.clone()).unwrap();
    let mut alone = Report::from_json(&whole).unwrap();
    alone.devices[0].measured.iter_mut().for_each(|measured| measured.id += ";other=1");
    let other = folder.file("other.json", alone.to_json().unwrap());
    alone.devices[0].measured.clear();
    let empty = folder.file("empty.json", alone.to_json().unwrap());
    let cut = folder.file("cut.json", &whole[..whole.len() / 2]);
    let future = folder.file("future.json", text.replacen("\"schema\": 2", "\"schema\": 3", 1));
    let damaged = folder.file("damaged.json", text.replacen("\"median_ns\": ", "\"median_ns\": 1", 1));
    let table = folder.file("table.npy", b"\x93NUMPY\x01\0");
    let nowhere = folder.argument("nowhere.json");
    for (arguments, words) in [
        (&[&good[..], &cut][..], "cut.json: cannot be parsed as JSON"),
        (&[&future, &good], "future.json: is a report of schema 3, and this build reads 2"),
        (&[&good, &damaged], "damaged.json: contradicts itself"),
        (&[&good, &table], "table.npy: cannot be parsed as JSON"),
        (&[&good, &nowhere], "nowhere.json: cannot be opened"),
        (&[&good, &empty], "empty.json: has no measurements"),
        (&[&good, &other], "the reports have no case in common"),
        (&[&good], "there is one report of one device"),
        (&["-", "-"], "standard input is read once; name a file for REPORT"),
        (&[&good, &good, "--json", &good], "good.json: is also the input"),
        (&[&good, &good, "--json", &nowhere, "--html", &nowhere], "--json and --html name the same file"),
        (&[&good, &good, "--tolerance", "-1"], "it is a number of percent from 0"),
        (&[&good, &good, "--fail-on-regression", "NaN"], "it is a number of percent from 0"),
        (&[&good, &good, "--device", "0"], "compare opens no device"),
        (&[&good, &good, "--algorithm", "onesweep"], "leave --algorithm and --policy out"),
        (&[], "were not provided"),
    ] {
        compare(arguments).refused(2, words);
    }
    assert_eq!(folder.read("good.json"), whole);
}

#[test]
fn a_report_of_a_peer_is_compared_as_times_over_ours() {
    let folder = Folder::new();
    let ours = folder.file("ours.json", include_bytes!("../../src/harness/report/sample.json"));
    let cub = folder.file("cub.json", include_bytes!("cub.json"));
    let ended = compare(&[&ours, &cub]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let text = String::from_utf8(ended.stdout).unwrap();
    let (_, table) = text.split_once("CUB's time over ours").expect("a table of ratios");
    let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let rows: Vec<_> = lines.filter(|words| words.len() == 2 && words[0].contains('=')).collect();
    let works = [
        "type=u32;columns=1;algorithm=reduce-then-scan;policy=default;place=out;misalign=0;input=uniform",
        "type=u32;policy=chosen;bits=0:32;misalign=0;input=uniform",
    ];
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), works, "{table}");
    assert_eq!(rows[0][1], "0.01", "{table}");
    // The other way about there is no such table.
    let ended = compare(&[&cub, &ours]);
    assert!(ended.code == 0 && !String::from_utf8(ended.stdout).unwrap().contains("time over ours"));
}
