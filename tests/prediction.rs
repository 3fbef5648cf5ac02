//! The prediction on paper: its table follows from its own columns by the formulas above it.

use std::collections::HashMap;

/// Shares of what is published: of the bandwidth by a copy, and of the issue rate by a kernel.
const COPY: f64 = 0.9;
const ISSUE: f64 = 0.85;
/// Lanes in the fullest of 32 banks.
const CONFLICT: f64 = 3.5;

/// The rows of the table whose heading begins so.
fn table<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let lines = page.lines().skip_while(|line| !line.starts_with(heading)).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|'));
    rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// As the table has it.
fn told(rate: f64) -> String {
    if rate >= 10.0 { format!("{rate:.1}") } else { format!("{rate:.2}") }
}

/// Shared accesses of a key: by digit, and in order.
fn shared_accesses(shape: &str, has_masks: bool, value_words: f64) -> [f64; 2] {
    let numbers: Vec<f64> = shape.split(['×', '/']).map(|one| one.trim().parse().unwrap()).collect();
    let [workgroup, items, lanes] = numbers[..] else { panic!("{shape}") };
    let tables = 256.0 * (workgroup / lanes) / (workgroup * items);
    let masks = if has_masks { 1.0 } else { 0.0 };
    [5.0 + 3.0 * masks + value_words, 1.0 + value_words + (4.0 + masks) * tables]
}

#[test]
fn the_predictions_follow_from_the_rates_and_the_counts() {
    let page = include_str!("../docs/prediction.md");
    let devices: HashMap<_, Vec<f64>> = table(page, "| device | units")
        .into_iter()
        .map(|row| (row[0], row[1..6].iter().map(|text| number(text).expect(text)).collect()))
        .collect();
    assert_eq!(devices.len(), 7);
    let rows = table(page, "| device | work");
    assert!(devices.keys().all(|device| rows.iter().any(|row| row[0] == *device)));
    for row in &rows {
        let [device, work, way, shape, instructions, by_digit, in_order, bytes, issue, shared, prediction] =
            row[..]
        else {
            panic!("{row:?}")
        };
        let [units, lanes, clock, bandwidth, words] = devices[device][..] else { panic!("{device}") };
        let (element_size, passes, value_words) = match work {
            "keys" => (36.0, 4.0, 0.0),
            "pairs" => (68.0, 4.0, 1.0),
            "scan" => (8.0, 1.0, 0.0),
            _ => panic!("{work}"),
        };
        let rate = units * clock / passes;
        let by_bytes = COPY * bandwidth / element_size;
        let by_issue = rate * lanes / number(instructions).expect(instructions);
        let accesses = number(by_digit).zip(number(in_order));
        let by_shared = accesses.map(|(by_digit, in_order)| rate * words / (CONFLICT * by_digit + in_order));
        if let (Some(kind), Some((by_digit, in_order))) = (way.strip_prefix("ours, "), accesses) {
            let counted = shared_accesses(shape, kind == "masks", value_words);
            assert_eq!(counted[0], by_digit, "{row:?}");
            assert!((counted[1] - in_order).abs() < 0.051, "{counted:?}: {row:?}");
        }
        assert_eq!([bytes, issue], [told(by_bytes), told(by_issue)], "{row:?}");
        assert_eq!(shared, by_shared.map_or("–".to_owned(), told), "{row:?}");
        let bounds =
            [(by_bytes, "bytes"), (ISSUE * by_issue, "issue"), (by_shared.unwrap_or(f64::MAX), "shared")];
        let (least, by) = bounds.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        assert_eq!(prediction, format!("{}, {by}", told(least)), "{row:?}");
    }
}
