//! The table `tools/mutants.txt`: each deliberate fault applies exactly once, and every kernel source has one.
//! `tools/mutants` runs the faults.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const TABLE: &str = include_str!("../tools/mutants.txt");
const TOOL: &str = include_str!("../tools/mutants");
const CHILDREN: &str = include_str!("common/children.rs");

struct Fault {
    name: String,
    file: String,
    checks: String,
    old: String,
    new: String,
}

/// The text of a line between two delimiters, and the rest after the second.
fn between<'a>(line: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    line.strip_prefix(open)?.split_once(close)
}

/// The table, parsed as by `tools/mutants`.
fn faults() -> Vec<Fault> {
    let (mut file, mut file_checks) = ("", "");
    let mut faults = Vec::new();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(head) = between(line, "[", "] ") {
            (file, file_checks) = head;
            continue;
        }
        let end = line.find([':', ' ']).unwrap_or_else(|| panic!("no fault: {line}"));
        let (name, rest) = line.split_at(end);
        let (checks, rest) = between(rest, " {", "}").unwrap_or((file_checks, rest));
        let rest = rest.strip_prefix(": ").unwrap_or_else(|| panic!("no fault: {line}"));
        let (old, new) = rest.split_once(" ==>").unwrap_or_else(|| panic!("no fault: {line}"));
        let text = |text: &str| text.strip_prefix(' ').unwrap_or(text).replace("\\n", "\n");
        let (name, file, checks) = (name.to_owned(), file.to_owned(), checks.to_owned());
        faults.push(Fault { name, file, checks, old: text(old), new: text(new) });
    }
    faults
}

/// The reason why a fault does not apply to `source`, or `None`.
fn refusal(Fault { name, file, old, new, .. }: &Fault, source: &str) -> Option<String> {
    match source.matches(old).count() {
        1 => (old == new).then(|| format!("{name} changes nothing")),
        count => Some(format!("{name}: {file} has {count} times: {old}")),
    }
}

#[test]
fn every_fault_applies_once() {
    let mut names = BTreeSet::new();
    for fault in faults() {
        let Fault { name, file, .. } = &fault;
        let path = Path::new(ROOT).join(file);
        let source = fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {file}: {error}"));
        assert_eq!(refusal(&fault, &source), None);
        assert!(names.insert(name.clone()), "{name} occurs twice");
    }
    assert!(names.len() >= 80, "{} faults", names.len());
}

#[test]
fn a_fault_that_does_not_apply_once_is_refused() {
    let first = || faults().swap_remove(0);
    let old = first().old;
    assert_eq!(refusal(&first(), &old), None);
    assert!(refusal(&first(), "").is_some_and(|why| why.contains("has 0 times")));
    assert!(refusal(&first(), &format!("{old}\n{old}")).is_some_and(|why| why.contains("has 2 times")));
    let idle = Fault { new: old.clone(), ..first() };
    assert!(refusal(&idle, &old).is_some_and(|why| why.ends_with("changes nothing")));
}

#[test]
fn every_check_is_known() {
    // As tests/common/children.rs names the argument.
    assert!(TOOL.contains("--child \"$row\"") && CHILDREN.contains("Some(\"--child\")"));
    for Fault { name, checks, .. } in faults() {
        for check in checks.split(", ") {
            let kind = check.split(':').next().unwrap_or(check);
            assert!(TOOL.contains(&format!("[{kind}]=")), "{name}: {check}");
        }
    }
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
