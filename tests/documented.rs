//! Every public configuration and plan of a primitive has an example in its documentation; `cargo test --doc` runs them.

use std::fs;
use std::path::Path;

/// Opens an example; see `src/lib.rs`.
const FENCE: &str = "#[doc = example!()]";

/// The public configurations and plans of a source, each with whether its documentation has an example.
fn documented_types(source: &str) -> Vec<(&str, bool)> {
    let mut types = Vec::new();
    let mut has_example = false;
    for line in source.lines().map(str::trim_start) {
        let item = ["pub struct ", "pub enum ", "pub type "].iter().find_map(|item| line.strip_prefix(item));
        let name = item.and_then(|item| item.split(|c: char| !c.is_alphanumeric()).next());
        if let Some(name) = name.filter(|name| name.ends_with("Config") || name.ends_with("Plan")) {
            types.push((name, has_example));
        }
        has_example = line == FENCE || has_example && (line.starts_with("///") || line.starts_with("#["));
    }
    types
}

/// Adds the types without an example below `folder`; returns the number of all types.
fn check_below(folder: &Path, missing: &mut Vec<String>) -> usize {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry of a folder").path());
    paths.fold(0, |count, path| {
        if path.is_dir() {
            return count + check_below(&path, missing);
        }
        let source = fs::read_to_string(&path).expect("a source is text");
        let types = documented_types(&source);
        let without = types.iter().filter(|(_, has_example)| !has_example);
        missing.extend(without.map(|(name, _)| format!("{}: {name}", path.display())));
        count + types.len()
    })
}

#[test]
fn every_configuration_and_plan_has_an_example() {
    let mut missing = Vec::new();
    let count = check_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/primitives"), &mut missing);
    assert_eq!(count, 27, "a type more or less");
    assert!(missing.is_empty(), "no example begins with {FENCE}:\n{}", missing.join("\n"));
}

#[test]
fn a_type_without_an_example_is_found() {
    let source = format!(
        "/// Has one.\n{FENCE}\n/// ```\n#[derive(Debug)]\npub struct AConfig {{\n}}\n\n/// Has none.\npub type BPlan = Plan<B>;\n"
    );
    assert_eq!(documented_types(&source), [("AConfig", true), ("BPlan", false)]);
}
