//! Retired words do not come back: each has a word of the field in its place.

use std::fs;
use std::path::{Path, PathBuf};

/// What no file may hold, as whole words in any case, and the word to use.
const RETIRED: [(&str, &str); 21] = [
    ("survey", "histogram of all digits"),
    ("keys_aside", "keys_alt"),
    ("values_aside", "values_alt"),
    ("list_tiles", "queue_tiles"),
    ("listed_tiles", "segment tile queue"),
    ("LevelsOnDevice", "LevelArgs"),
    ("wide_counts", "large_counts"),
    ("BeyondAddresses", "AddressOverflow"),
    ("RaggedTable", "RowLengthMismatch"),
    ("PolicyBeyondDevice", "PolicyExceedsLimits"),
    ("forget_plans", "clear the plan cache"),
    ("HandOver", "Crossover"),
    ("silent tile", "stalled tile"),
    ("silent tiles", "stalled tiles"),
    ("how it goes about it", "the policy in use"),
    ("of no matter", "undefined"),
    ("looks after", "owns"),
    ("tiles_on_device", "indirect_tiles"),
    ("levels_on_device", "level_args"),
    ("counts_on_device", "indirect_count"),
    ("those of", "the thing itself"),
];

/// Files with text in the folders that people read.
fn sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<_> = [
        "docs",
        "examples",
        "glsl",
        "hazards",
        "include",
        "packaging",
        "python",
        "src",
        "tests",
        "tool",
        "tools",
        "xtask",
    ]
    .iter()
    .map(|folder| root.join(folder))
    .collect();
    let pages =
        ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "build.rs"];
    let mut files: Vec<_> = pages.iter().map(|file| root.join(file)).collect();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("an entry of a folder").path()) {
            // An older checkout may have builds in folders of examples.
            if path.file_name() == Some("target".as_ref()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name() != Some("words.rs".as_ref()) {
                files.push(path);
            }
        }
    }
    files
}

/// The lines of `text` that hold `word`, in lower case, as a whole word.
fn lines_with(text: &str, word: &str) -> Vec<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let holds = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            let (before, after) = (line[..at].chars().next_back(), line[at + word.len()..].chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
    };
    let lines = text.lines().zip(1..);
    lines.filter(|(line, _)| holds(&line.to_lowercase())).map(|(_, number)| number).collect()
}

#[test]
fn retired_words_are_not_used() {
    let mut found = Vec::new();
    for path in sources() {
        // What is no text has no words.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (word, instead) in RETIRED {
            for line in lines_with(&text, &word.to_lowercase()) {
                found.push(format!("{}:{line}: '{word}'; write '{instead}'", path.display()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_retired_word_is_found_as_a_whole_word() {
    let text = "a survey\nsurveyed\nThe Survey: x_survey\n";
    assert_eq!(lines_with(text, "survey"), [1, 3]);
    assert!(lines_with(text, "silent tile").is_empty());
}
