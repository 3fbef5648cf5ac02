//! The figures of docs/results.md match the records in `benches/record`; `tools/figures` writes them.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use subsweep_tool::harness::{Measurement, Report};

/// The report `name` of `benches/record`.
fn record(name: &str) -> Report {
    let path =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(format!("benches/record/{name}.json"));
    let json = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Report::from_json(&json).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The only measurement whose id contains all of `parts`; `None` if there is none.
fn find_one<'r>(report: &'r Report, parts: &[&str]) -> Option<&'r Measurement> {
    let measured = report.devices.iter().flat_map(|device| &device.measured);
    let mut found = measured.filter(|m| parts.iter().all(|part| m.id.contains(part)));
    let (one, other) = (found.next(), found.next());
    assert!(other.is_none(), "{parts:?}");
    one
}

/// The only measurement whose id contains all of `parts`.
fn find<'r>(report: &'r Report, parts: &[&str]) -> &'r Measurement {
    find_one(report, parts).unwrap_or_else(|| panic!("{parts:?}"))
}

/// Millions of elements per second, and percent of the copy.
fn rate(measured: &Measurement) -> String {
    let millions = measured.elements_per_second / 1e6;
    let digits = if millions < 10.0 { 2 } else { usize::from(millions < 100.0) };
    format!("{millions:.digits$} ({:.1})", measured.copy_percent)
}

fn row(text: &mut String, name: &str, cells: impl IntoIterator<Item = String>) {
    let _ = write!(text, "| {name} |");
    cells.into_iter().for_each(|cell| text.push_str(&format!(" {cell} |")));
    text.push('\n');
}

const MATRIX: [(&str, &str); 5] = [
    ("lavapipe 22.3.6, 4 lanes", "lavapipe-22.3.6-4-lanes"),
    ("8 lanes", "lavapipe-22.3.6-8-lanes"),
    ("16 lanes", "lavapipe-22.3.6-16-lanes"),
    ("lavapipe 25.0.7, 8 lanes", "lavapipe-25.0.7-8-lanes"),
    ("SwiftShader, 4 lanes", "swiftshader-4-lanes"),
];

fn drivers() -> String {
    let reports = MATRIX.map(|(_, name)| record(name));
    let mut text = String::new();
    row(&mut text, "M/s (% copy)", MATRIX.map(|(name, _)| name.to_owned()));
    text.push_str("|---|---|---|---|---|---|\n");
    let scan = ["scan:", "columns=1;", "algorithm=reduce-then-scan;", "policy=default;", "n=1048576;"];
    let gigabytes = |rate: f64| format!("{:.1}", rate / 1e9);
    let copies = reports.iter().map(|report| gigabytes(find(report, &scan).copy_bytes_per_second));
    row(&mut text, "copy kernel, 4 MiB, GB/s read + write", copies);
    let transfers = reports.iter().map(|report| {
        let measured = find(report, &scan);
        let size = measured.element_count * measured.element_size;
        gigabytes(2.0 * size as f64 / (measured.transfer.expect("copies are timed").median_ns / 1e9))
    });
    row(&mut text, "`vkCmdCopyBuffer`, 4 MiB, GB/s read + write", transfers);
    for (name, parts) in [
        ("scan of 2^20", &scan[..]),
        ("the same by `chained`", &["scan:", "algorithm=chained;", "n=1048576;"]),
        ("scan of 2^20 rows of 4", &["scan:", "columns=4;", "policy=default;", "n=1048576;"]),
        ("scan of 2^20, seed", &["scan:", "columns=1;", "policy=seed;", "n=1048576;"]),
    ] {
        row(&mut text, name, reports.iter().map(|report| rate(find(report, parts))));
    }
    for algorithm in ["onesweep", "radix-8bit", "radix-4bit", "radix-2bit"] {
        let way = format!("algorithm={algorithm};policy=default;");
        let parts = ["sort:keys:type=u32;", &way, "n=65536;input=uniform"];
        let name = format!("sort of 2^16, `{algorithm}`");
        row(&mut text, &name, reports.iter().map(|report| rate(find(report, &parts))));
    }
    text
}

fn largest_sort() -> String {
    let report = record("lavapipe-22.3.6-8-lanes-4194304-keys");
    let measured = find(&report, &["sort:keys:type=u32;policy=chosen;", "n=4194304;"]);
    format!("2^22 u32 keys on lavapipe 22.3.6 at 8 lanes: {} M/s (% copy).\n", rate(measured))
}

fn textbook() -> String {
    let report = record("lavapipe-22.3.6-8-lanes-textbook");
    let mut scans: Vec<&Measurement> = report.devices[0].measured.iter().collect();
    scans.retain(|measured| measured.id.starts_with("scan:") && measured.element_count == 1 << 16);
    scans.sort_by(|a, b| b.copy_percent.total_cmp(&a.copy_percent));
    let mut text = String::new();
    text.push_str("| scan of u32 | bytes per u32 | dispatches | 2^12 | 2^16 |\n|---|---|---|---|---|\n");
    for scan in scans {
        let way = scan.id.split(';').find(|part| part.starts_with("algorithm=")).expect("an algorithm");
        let small = find(&report, &["scan:", &format!(";{way};"), ";n=4096;"]);
        let cells = [
            format!("{:.0}", scan.traffic_size as f64 / scan.element_count as f64),
            scan.recorded.expect("commands are counted").dispatches.to_string(),
            format!("{:.1}", small.copy_percent),
            format!("{:.1}", scan.copy_percent),
        ];
        row(&mut text, &format!("`{}`", &way["algorithm=".len()..]), cells);
    }
    text
}

fn tutorial_13() -> String {
    let reports = MATRIX.map(|(_, name)| record(&format!("{name}-tutorial-13")));
    let mut text = String::new();
    row(&mut text, "times as fast, 2^16 u32", MATRIX.map(|(name, _)| name.to_owned()));
    text.push_str("|---|---|---|---|---|---|\n");
    for (claim, faster, slower) in [
        ("4 bits over 2, the tutorial's chunks", "radix-4bit;policy=seed;", "radix-2bit;policy=seed;"),
        ("4 bits over 2, tuned", "radix-4bit;policy=default;", "radix-2bit;policy=default;"),
        ("packed over bin by bin, 4 bits", "radix-4bit;policy=seed;", "radix-4bit;policy=seed-bin-by-bin;"),
        ("packed over bin by bin, 2 bits", "radix-2bit;policy=seed;", "radix-2bit;policy=seed-bin-by-bin;"),
    ] {
        let ratio = |report: &Report| {
            let [slower, faster] =
                [slower, faster].map(|way| find(report, &[way, ";n=65536;"]).time.median_ns);
            format!("{:.2}", slower / faster)
        };
        row(&mut text, claim, reports.iter().map(ratio));
    }
    text
}

/// CUB's time over ours on an H200, and ours, where there is one of both.
fn beside_cub() -> String {
    const ROWS: [(&str, &[&str]); 33] = [
        ("sort of u32 keys", &["sort:keys:type=u32;policy=chosen;bits=0:32;misalign=0;n="]),
        ("sort of u32 keys, double buffer", &["sort:keys:type=u32;", "result=double-buffer;"]),
        ("sort of u32 keys, bits 8 to 32", &["sort:keys:type=u32;", "bits=8:32;"]),
        ("sort of f32 keys", &["sort:keys:type=f32;"]),
        ("sort of u64 keys", &["sort:keys:type=u64;"]),
        ("sort of u32 pairs, values of 4 bytes", &["sort:pairs4:"]),
        ("sort of u32 pairs, values of 8 bytes", &["sort:pairs8:"]),
        ("segmented sort, 0 to 24 keys", &["segmented_sort:", "segments=short;"]),
        ("segmented sort, 33 to 64 keys", &["segmented_sort:", "segments=medium;"]),
        ("segmented sort, a power law", &["segmented_sort:", "segments=power-law;"]),
        ("scan of u32, single pass", &["scan:", "type=u32;", "algorithm=chained;"]),
        ("scan of u32, reduce-then-scan", &["scan:", "type=u32;", "algorithm=reduce-then-scan;"]),
        ("scan of u64, reduce-then-scan", &["scan:", "type=u64;", "algorithm=reduce-then-scan;"]),
        ("select by comparison", &["select:by=less;type=u32;policy"]),
        ("select by flags of 8 bits", &["select:by=flags8;"]),
        ("unique", &["select:by=unique;"]),
        ("partition", &["select:by=less;type=u32;parts=2;"]),
        ("reduce, u32 sum", &["reduce:all:type=u32;op=add;"]),
        ("reduce, argmin of f32", &["reduce:all:type=f32;op=argmin;"]),
        ("segmented reduce, rows of 40", &["reduce:rows:", "length=40;"]),
        ("segmented reduce, segments by offsets", &["reduce:offsets:"]),
        ("reduce by key, f32 sums, runs of 2", &["reduce:keys32:"]),
        ("histogram of f32, 256 bins", &["histogram:even:", "bins=256;", "input=uniform"]),
        ("the same, equal values", &["histogram:even:", "bins=256;", "input=constant-0x0"]),
        ("run lengths, runs of 2", &["run_length:encode:", "mean=2;"]),
        ("run lengths, runs of 100", &["run_length:encode:", "mean=100;"]),
        ("runs of more than one element", &["run_length:non-trivial:"]),
        ("merge of u32", &["merge:keys:type=u32;"]),
        ("merge of u32 with values of 4 bytes", &["merge:pairs:type=u32;"]),
        ("merge of u64", &["merge:keys:type=u64;"]),
        ("difference of f32", &["difference:type=f32;"]),
        ("search, needles in no order", &["search:lower:", "sorted=n;", "input=uniform"]),
        ("search, needles in order", &["search:lower:", "sorted=n;", "input=sorted"]),
    ];
    let [ours, cub, lacking] = ["h200-peers", "h200-cub", "h200-cub-2"].map(record);
    let mut text = String::new();
    let counts = [16, 20, 24, 26];
    let names = counts.map(|bits| format!("2^{bits}"));
    row(&mut text, "CUB's time over ours (ours, µs)", names);
    text.push_str("|---|---|---|---|---|\n");
    for (name, parts) in ROWS {
        let cells = counts.map(|bits| {
            let count = format!("n={};", 1u64 << bits);
            let parts = [parts, &[count.as_str()]].concat();
            let of = |report| find_one(report, &parts).map(|one| one.time.median_ns);
            let Some(ours) = of(&ours) else { return "–".to_owned() };
            let digits = usize::from(ours < 1e5);
            match of(&lacking).or_else(|| of(&cub)) {
                Some(cub) => format!("{:.2} ({:.digits$})", cub / ours, ours / 1e3),
                None => format!("– ({:.digits$})", ours / 1e3),
            }
        });
        row(&mut text, name, cells);
    }
    text
}

/// Returns the figures as Markdown.
type Figures = fn() -> String;

fn is_blessed() -> bool {
    std::env::var_os("SUBSWEEP_BLESS").is_some_and(|value| value == "1")
}

/// The output of `compare`, as text and as HTML.
#[test]
fn comparison_of_two_driver_versions_matches_the_records() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let names = ["22.3.6", "25.0.7"].map(|version| format!("benches/record/lavapipe-{version}-8-lanes.json"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_subsweep"));
    let ended =
        command.arg("compare").args(names).arg("--html").arg(&page).current_dir(root).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    for (ending, bytes) in [("txt", ended.stdout), ("html", std::fs::read(&page).unwrap())] {
        let path = root.join(format!("benches/record/lavapipe-22.3.6-and-25.0.7.{ending}"));
        if is_blessed() {
            std::fs::write(&path, bytes).unwrap();
        } else {
            assert!(std::fs::read(&path).unwrap() == bytes, "{}: run tools/figures", path.display());
        }
    }
}

#[test]
fn figures_match_the_records() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("docs/results.md");
    let results = std::fs::read_to_string(&path).unwrap();
    let mut expected = results.clone();
    let all: [(&str, Figures); 5] = [
        ("beside CUB", beside_cub),
        ("drivers", drivers),
        ("largest sort", largest_sort),
        ("textbook", textbook),
        ("tutorial 13", tutorial_13),
    ];
    for (name, figures) in all {
        let (begin, end) = (format!("<!-- figures: {name} -->\n"), "<!-- end of figures -->\n");
        let from = expected.find(&begin).unwrap_or_else(|| panic!("{begin}")) + begin.len();
        let to = from + expected[from..].find(end).expect("figures end");
        expected.replace_range(from..to, &figures());
    }
    if is_blessed() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        assert!(
            results == expected,
            "the figures of docs/results.md do not match the records; run tools/figures"
        );
    }
}

/// Each figure of the site is one of docs/results.md.
#[test]
fn figures_of_the_site_are_those_of_the_results() {
    let docs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("docs");
    let [site, results] =
        ["site/index.html", "results.md"].map(|name| std::fs::read_to_string(docs.join(name)).unwrap());
    let numbers: Vec<_> = results.split(|letter: char| !(letter.is_ascii_digit() || letter == '.')).collect();
    let rows: Vec<Vec<&str>> = site
        .split("<tr>")
        .map(|row| row.split("<td>").skip(2).filter_map(|cell| cell.split("</td>").next()).collect())
        .filter(|cells: &Vec<_>| !cells.is_empty())
        .collect();
    assert!(rows.len() >= 6, "{rows:?}");
    for figure in rows.concat() {
        assert!(figure.parse::<f64>().is_ok(), "docs/site: {figure} is no number");
        assert!(numbers.contains(&figure), "docs/site has {figure}, which docs/results.md has not");
    }
}
