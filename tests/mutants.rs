//! The table `tools/mutants.txt`: each deliberate fault applies exactly once, and every kernel source has one.
//! `tools/mutants` runs the faults.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../xtask/src/mutants/table.rs"]
#[expect(dead_code, reason = "xtask runs the checks")]
mod table;

use table::Fault;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn faults() -> Vec<Fault> {
    table::parse(include_str!("../tools/mutants.txt")).expect("a table of faults")
}

#[test]
fn every_fault_applies_once() {
    let mut names = BTreeSet::new();
    for fault in faults() {
        let Fault { name, file, .. } = &fault;
        let path = Path::new(ROOT).join(file);
        let source = fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {file}: {error}"));
        assert_eq!(fault.apply(&source).err(), None);
        assert!(names.insert(name.clone()), "{name} occurs twice");
    }
    assert!(names.len() >= 80, "{} faults", names.len());
}

#[test]
fn a_fault_that_does_not_apply_once_is_refused() {
    let fault = faults().swap_remove(0);
    let old = &fault.old;
    let refusal = |fault: &Fault, source: &str| fault.apply(source).err();
    assert_eq!(refusal(&fault, old), None);
    assert!(refusal(&fault, "").is_some_and(|why| why.contains("has 0 times")));
    assert!(refusal(&fault, &format!("{old}\n{old}")).is_some_and(|why| why.contains("has 2 times")));
    let idle = Fault { new: old.clone(), ..fault.clone() };
    assert!(refusal(&idle, old).is_some_and(|why| why.ends_with("changes nothing")));
}

#[test]
fn a_line_that_is_no_fault_is_refused() {
    let parse = |line: &str| table::parse(&format!("# Faults.\n[src/lib.rs] 8: scan, lib\n\n{line}\n"));
    let [fault] = &parse("a-name: old\\n    text ==>").unwrap()[..] else { panic!("one fault") };
    assert_eq!((&*fault.old, &*fault.new, fault.checks.len()), ("old\n    text", "", 2));
    assert_eq!(fault.checks[0].words.as_deref(), Some("scan"));
    let [fault] = &parse("a-name {races: sort}: a ==> b").unwrap()[..] else { panic!("one fault") };
    assert_eq!((&*fault.checks[0].text, &*fault.new), ("races: sort", "b"));
    for (line, why) in [
        ("a-name: old", "not a fault: a-name: old"),
        ("a-name {races: sort: a ==> b", "not a fault: a-name {races: sort: a ==> b"),
        ("a-name {64: sort}: a ==> b", "a-name: not a check: 64: sort"),
    ] {
        assert_eq!(parse(line).unwrap_err(), why);
    }
}

#[test]
fn rows_are_started_by_their_argument() {
    let starts = include_str!("../xtask/src/mutants/checks.rs").contains(".args([\"--child\", row])");
    assert!(starts && include_str!("common/children.rs").contains("Some(\"--child\")"));
}

#[test]
fn every_kernel_source_has_a_fault() {
    let files: BTreeSet<_> = faults().into_iter().map(|fault| fault.file).collect();
    let mut folders = vec![PathBuf::from("glsl")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(Path::new(ROOT).join(&folder)).expect("a folder of the package") {
            let path = folder.join(entry.expect("an entry").file_name());
            let name = path.to_string_lossy().replace('\\', "/");
            // These includes only define types and enable extensions: with a fault, no kernel would compile.
            let is_exempt =
                ["words", "extensions"].iter().any(|stem| name == format!("glsl/common/{stem}.glsl"));
            if !is_exempt && (name.ends_with(".comp") || name.ends_with(".glsl")) {
                assert!(files.contains(&name), "no fault in {name}");
            } else if Path::new(ROOT).join(&path).is_dir() {
                folders.push(path);
            }
        }
    }
}
