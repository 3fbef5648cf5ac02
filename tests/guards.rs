//! `docs/GUARDS.md` names no probe that is gone, and leaves none out.

use std::fs;
use std::path::Path;

const GUARDS: &str = include_str!("../docs/GUARDS.md");
const PROVED: usize = 4;

fn source(path: &str) -> String {
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&whole).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The cells of the table's rows, without its head.
fn rows() -> Vec<Vec<&'static str>> {
    let table = GUARDS.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rows = table.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// What stands between backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The name of a test, or the words of a trial.
fn has_probe(source: &str, name: &str) -> bool {
    let is_test = source.split("fn ").zip(source.split("fn ").skip(1)).any(|(before, function)| {
        function.starts_with(&format!("{name}(")) && before.trim_end().ends_with(']')
    });
    is_test || source.contains(&format!("\"{name}\""))
}

#[test]
fn every_probe_of_the_table_is_there() {
    let rows = rows();
    assert!(rows.len() > 15, "{} guards", rows.len());
    for row in rows {
        assert_eq!(row.len(), PROVED + 1, "{row:?}");
        let mut probe_count = 0;
        for group in row[PROVED].split(';') {
            // What comes behind a file is said about its probes.
            let Some((names, file)) = group.split_once(" in `") else { continue };
            let (path, _) = file.split_once('`').expect("a file ends with a backtick");
            let source = source(path);
            for name in code(names) {
                assert!(has_probe(&source, name), "{path} has no probe `{name}` of the guard: {}", row[0]);
                probe_count += 1;
            }
        }
        assert!(probe_count > 0, "no probe proves the guard awake: {}", row[0]);
    }
}

#[test]
fn every_armed_trial_is_in_the_table() {
    let armed = source("tests/drivers/armed.rs");
    let names = armed.split("trial(\"").skip(1).filter_map(|rest| rest.split('"').next());
    let names: Vec<_> = names.collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        assert!(GUARDS.contains(&format!("`{name}`")), "docs/GUARDS.md does not name the probe `{name}`");
    }
}

#[test]
fn every_known_bug_is_in_the_table() {
    for bug in subsweep::device::DRIVER_BUGS {
        assert!(GUARDS.contains(&format!("`{}`", bug.name)), "docs/GUARDS.md does not name {}", bug.name);
    }
}
