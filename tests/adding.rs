//! `docs/ADDING.md` names every file that a primitive needs, and `docs/TYPES.md` every one that an element type does.

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
    let ends = [".rs", ".comp", ".glsl", ".c", ".hpp", ".py"];
    path == "glsl/kernels.txt" || ends.iter().any(|end| path.ends_with(end))
}

/// The files of a page's rows.
fn rows(page: &str) -> BTreeSet<String> {
    let files = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    files.map(str::to_owned).collect()
}

#[test]
fn the_page_of_types_names_every_file_of_brain_floats() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/TYPES.md")).unwrap();
    let of_packed = page.split("\n## ").find(|section| section.starts_with("A type of 1 or 2 bytes"));
    let (mut named, mut rows) = (BTreeSet::new(), rows(of_packed.expect("the section of packed types")));
    for folder in ["src", "glsl", "include", "python/subsweep", "tool/src"] {
        for word in ["bf16", "bfloat16", "brain"] {
            named_below(root, folder, word, &mut named);
        }
    }
    // Tests are found by what fails; one file has the word in its unit tests alone.
    let is_of_test = |path: &String| path.contains("/tests") || path == "tool/src/table/structures.rs";
    named.retain(|path| is_by_hand(path) && !is_of_test(path));
    rows.retain(|path| !is_of_test(path));
    assert!(named == rows && named.len() > 25, "{:#?}", named.symmetric_difference(&rows));
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
    assert_eq!(named, rows(&page));
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
