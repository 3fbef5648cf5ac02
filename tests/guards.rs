//! `docs/GUARDS.md` lists every canary, and only canaries that exist.

use std::fs;
use std::path::Path;

const GUARDS: &str = include_str!("../docs/GUARDS.md");
const CANARIES: usize = 4;

fn source(path: &str) -> String {
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&whole).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The cells of the table's rows, without its header.
fn rows() -> Vec<Vec<&'static str>> {
    let table = GUARDS.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rows = table.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// The texts between backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether a source has a test function of this name, or a trial of this title.
fn has_canary(source: &str, name: &str) -> bool {
    let is_test = source.split("fn ").zip(source.split("fn ").skip(1)).any(|(before, function)| {
        function.starts_with(&format!("{name}(")) && before.trim_end().ends_with(']')
    });
    is_test || source.contains(&format!("\"{name}\""))
}

#[test]
fn every_canary_of_the_table_exists() {
    let rows = rows();
    assert!(rows.len() > 15, "{} guards", rows.len());
    for row in rows {
        assert_eq!(row.len(), CANARIES + 1, "{row:?}");
        let mut canary_count = 0;
        for group in row[CANARIES].split(';') {
            // Text after the file's name is a remark.
            let Some((names, file)) = group.split_once(" in `") else { continue };
            let (path, _) = file.split_once('`').expect("a file ends with a backtick");
            let source = source(path);
            for name in code(names) {
                assert!(has_canary(&source, name), "{path} has no canary `{name}` of the guard: {}", row[0]);
                canary_count += 1;
            }
        }
        assert!(canary_count > 0, "the guard has no canary: {}", row[0]);
    }
}

#[test]
fn every_canary_is_in_the_table() {
    let canaries = source("tool/tests/drivers/canaries.rs");
    let names = canaries.split("trial(\"").skip(1).filter_map(|rest| rest.split('"').next());
    let names: Vec<_> = names.collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        assert!(GUARDS.contains(&format!("`{name}`")), "docs/GUARDS.md does not name the canary `{name}`");
    }
}

#[test]
fn every_known_bug_is_in_the_table() {
    for bug in subsweep::device::DRIVER_BUGS {
        assert!(GUARDS.contains(&format!("`{}`", bug.name)), "docs/GUARDS.md does not name {}", bug.name);
    }
}
