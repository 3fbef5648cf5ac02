//! `docs/ADDING.md` names every file that a primitive needs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Most hand-written files that may name the page's example.
const MOST: usize = 23;

/// Files of the primitives that use the page's example.
const BUILT_ON_IT: [&str; 7] = [
    "src/primitives/sort/",
    "src/primitives/select/",
    "src/primitives/run_length/",
    "src/headless/run_length.rs",
    "tool/src/harness/cases/packed.rs",
    "tool/tests/drivers/slices.rs",
    "tests/capi/packed.c",
];

/// Whether a file is written by hand; reports, tables, modules and headers are written by tests and tools.
fn is_by_hand(path: &String) -> bool {
    path == "glsl/kernels.txt" || [".rs", ".comp", ".glsl", ".c"].iter().any(|end| path.ends_with(end))
}

#[test]
fn the_page_names_every_file_of_its_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/ADDING.md")).unwrap();
    let example = page.lines().next().and_then(|title| title.split_once(": ")).unwrap().1;
    let mut named = BTreeSet::new();
    for folder in ["src", "glsl", "tests", "tool"] {
        named_below(root, folder, example, &mut named);
    }
    named.retain(is_by_hand);
    named.retain(|path| !BUILT_ON_IT.iter().any(|other| path.starts_with(other)));
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(named, rows.map(str::to_owned).collect());
    assert!(!named.is_empty() && named.len() <= MOST, "{} files name {example}: {named:#?}", named.len());
}

/// Adds the paths below `folder` whose file contains the word.
fn named_below(root: &Path, folder: &str, word: &str, named: &mut BTreeSet<String>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            named_below(root, &path, word, named);
            continue;
        }
        // MPI has a function of a similar name.
        let text = fs::read(entry.path()).unwrap();
        if String::from_utf8_lossy(&text).to_lowercase().replace("all_gather", "").contains(word) {
            named.insert(path);
        }
    }
}
