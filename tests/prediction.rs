//! The table of `docs/prediction.md` follows exactly from the counts of `tests/codegen` and `docs/codegen.md` and from
//! the rates, by the page's formulas. A failure prints the right table.

use std::collections::HashMap;

/// Attained fractions of published rates: of the bandwidth by a copy, and of the issue rate by a kernel.
const COPY: f64 = 0.9;
const ISSUE: f64 = 0.85;
/// Mean number of lanes in the fullest of 32 banks.
const CONFLICT: f64 = 3.5;

const NVIDIA: &str = include_str!("codegen/nvidia-ampere.txt");
/// A device, the codegen table that represents it, and the compiler of CUB for it.
const DEVICES: [(&str, &str, &str); 7] = [
    ("RTX 4090", NVIDIA, "ptxas, sm_89"),
    ("RTX 5080", NVIDIA, "ptxas, sm_120"),
    ("H100 SXM", NVIDIA, "ptxas, sm_90"),
    ("RX 7900 XTX", include_str!("codegen/amd-rdna3.txt"), ""),
    ("Arc A770", include_str!("codegen/intel-dg2.txt"), ""),
    ("Apple M1", include_str!("codegen/apple-m1.txt"), ""),
    ("Adreno 740", include_str!("codegen/adreno-740.txt"), ""),
];

/// A sort or a scan.
struct Work {
    name: &'static str,
    kernel: &'static str,
    /// The heading in the table of peers.
    heading: &'static str,
    /// Bytes of traffic per element.
    element_size: f64,
    passes: f64,
    value_words: f64,
}

const WORKS: [Work; 3] = [
    Work {
        name: "keys",
        kernel: "sort/onesweep:key1",
        heading: "**u32 keys, one 8-bit pass**",
        element_size: 36.0,
        passes: 4.0,
        value_words: 0.0,
    },
    Work {
        name: "pairs",
        kernel: "sort/onesweep:key1_value1",
        heading: "**u32 keys with 4-byte values, one 8-bit pass**",
        element_size: 68.0,
        passes: 4.0,
        value_words: 1.0,
    },
    Work {
        name: "scan",
        kernel: "scan/chained:u32x1",
        heading: "**scan of u32**",
        element_size: 8.0,
        passes: 1.0,
        value_words: 0.0,
    },
];

/// The rows of the table whose header starts with `heading`.
fn table<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let lines = page.lines().skip_while(|line| !line.starts_with(heading)).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|'));
    rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("'{text}' is not a number"))
}

/// Formats a rate as in the table.
fn format_rate(rate: f64) -> String {
    if rate >= 10.0 { format!("{rate:.1}") } else { format!("{rate:.2}") }
}

/// A kernel's counts from a codegen table.
struct Counted {
    workgroup: f64,
    items: f64,
    lanes: f64,
    /// Instructions of the main path per item.
    instructions: f64,
}

impl Counted {
    /// `suffix` ends the name in the line of the main path.
    fn new(codegen: &str, kernel: &str, suffix: &str) -> Self {
        let mut lines = codegen.lines();
        let line = lines.find(|line| line.split_whitespace().next() == Some(kernel)).expect(kernel);
        let main_path = lines
            .filter_map(|line| line.strip_prefix("main path: ")?.strip_prefix(kernel)?.strip_prefix(", "))
            .find_map(|line| {
                let (name, counts) = line.split_once(": ")?;
                name.strip_suffix(suffix)?.split_once(" x ").zip(counts.split_once(' '))
            });
        let ((workgroup, items), (instructions, _)) = main_path.expect(kernel);
        let (workgroup, items) = (number(workgroup), number(items));
        let lanes = line.split_whitespace().nth(1).map(number).expect(kernel);
        Self { workgroup, items, lanes, instructions: number(instructions) / items }
    }

    fn shape(&self) -> String {
        format!("{} × {} / {}", self.workgroup, self.items, self.lanes)
    }

    /// Shared memory accesses per key: with bank conflicts by digit, and without.
    fn shared_accesses(&self, has_masks: bool, value_words: f64) -> [String; 2] {
        let tables = 256.0 * (self.workgroup / self.lanes) / (self.workgroup * self.items);
        let masks = if has_masks { 1.0 } else { 0.0 };
        let in_order = 1.0 + value_words + (4.0 + masks) * tables;
        [format!("{}", 5.0 + 3.0 * masks + value_words), format!("{in_order:.1}")]
    }
}

/// Tile shape and main path of a library, from the table of peers.
fn peer(work: &Work, name: &str, compiler: &str) -> (&'static str, &'static str) {
    let rows = table(include_str!("../docs/codegen.md"), "| kernel | compiler");
    let row = rows
        .iter()
        .skip_while(|row| row[0] != work.heading)
        .find(|row| row[0] == name && row[1].starts_with(compiler))
        .unwrap_or_else(|| panic!("docs/codegen.md has no {name} by {compiler} under {}", work.heading));
    (row[2], row[4])
}

/// The mean over a workgroup's subgroups of 32, of which the first has another count.
fn mean(workgroup: f64, first: f64, others: f64) -> String {
    let others = (workgroup / 32.0 - 1.0) * others;
    format!("{:.1}", (first + others) / (workgroup / 32.0))
}

/// Instructions of CUB's main path.
fn of_cub(work: &Work, compiler: &str) -> String {
    let (shape, main_path) = peer(work, "CUB", compiler);
    match main_path.split_once("; ") {
        Some((first, others)) => {
            mean(number(shape.split_once(" × ").unwrap().0), number(first), number(others))
        }
        None => main_path.to_owned(),
    }
}

/// Instructions of this library's main path.
fn of_ours(work: &Work, counted: &Counted, cub: &str) -> String {
    if cub.is_empty() || work.name != "scan" {
        return format!("{:.1}", counted.instructions);
    }
    let (_, main_path) = peer(work, "subsweep, single pass", "NAK, Ampere");
    let (first, others) = main_path.split_once("; ").expect("a first subgroup and others");
    assert_eq!(
        number(first),
        counted.instructions.round(),
        "docs/codegen.md has another main path of the scan"
    );
    mean(counted.workgroup, counted.instructions, number(others))
}

/// The right row. Numbers without a machine-readable source come from the row itself: Fuchsia's instructions, and the
/// shared accesses of CUB and of scans.
fn predicted(row: &[&str], rates: &[f64]) -> String {
    let [device, work, way, shape, instructions, by_digit, in_order, ..] = row[..] else { panic!("{row:?}") };
    let [units, lanes, clock, bandwidth, words] = rates[..] else { panic!("{device}") };
    let (_, codegen, cub) = DEVICES.iter().find(|(name, ..)| *name == device).expect(device);
    let work = WORKS.iter().find(|one| one.name == work).expect(work);
    let mut cells = [shape, instructions, by_digit, in_order].map(str::to_owned);
    match way {
        "ours" | "ours, masks" | "ours, ballots" => {
            let kind = way.strip_prefix("ours, ").map_or(", first subgroup", |kind| match kind {
                "masks" => ", by shared masks",
                _ => ", by ballots",
            });
            let counted = Counted::new(codegen, work.kernel, kind);
            [cells[0], cells[1]] = [counted.shape(), of_ours(work, &counted, cub)];
            if way != "ours" {
                [cells[2], cells[3]] = counted.shared_accesses(way == "ours, masks", work.value_words);
            }
        }
        "CUB" => cells[1] = of_cub(work, cub),
        "Fuchsia" => {}
        _ => panic!("{way}"),
    }
    let rate = units * clock / work.passes;
    let by_bytes = COPY * bandwidth / work.element_size;
    let by_issue = rate * lanes / number(&cells[1]);
    let by_shared = (way != "Fuchsia").then(|| {
        let [by_digit, in_order] = [number(&cells[2]), number(&cells[3])];
        rate * words / (CONFLICT * by_digit + in_order)
    });
    let bounds =
        [(by_bytes, "bytes"), (ISSUE * by_issue, "issue"), (by_shared.unwrap_or(f64::MAX), "shared")];
    let (least, by) = bounds.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let shared = by_shared.map_or("–".to_owned(), format_rate);
    let [bytes, issue, least] = [by_bytes, by_issue, least].map(format_rate);
    format!(
        "{device} | {} | {way} | {} | {bytes} | {issue} | {shared} | {least}, {by}",
        work.name,
        cells.join(" | ")
    )
}

#[test]
fn the_predictions_follow_from_the_rates_and_the_counts() {
    let page = include_str!("../docs/prediction.md");
    let rates: HashMap<_, Vec<f64>> = table(page, "| device | units")
        .into_iter()
        .map(|row| (row[0], row[1..6].iter().map(|text| number(text)).collect()))
        .collect();
    let rows = table(page, "| device | work");
    assert_eq!(rates.len(), DEVICES.len());
    for (device, ..) in DEVICES {
        for work in &WORKS {
            let is_ours = |row: &&Vec<&str>| row[..2] == [device, work.name] && row[2].starts_with("ours");
            assert!(rows.iter().any(|row| is_ours(&row)), "{device} lacks {}", work.name);
        }
    }
    let found: Vec<_> = rows.iter().map(|row| row.join(" | ")).collect();
    let predicted: Vec<_> = rows.iter().map(|row| predicted(row, &rates[row[0]])).collect();
    let lines: String = predicted.iter().map(|line| format!("| {line} |\n")).collect();
    assert!(found == predicted, "docs/prediction.md must have:\n{lines}");
}
