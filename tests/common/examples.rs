//! The examples that cargo has built with the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// A command that starts an example.
///
/// # Panics
/// If the example is not built, or older than its sources: `cargo test` builds examples, but `cargo test --test NAME` does
/// not.
pub fn example(name: &str) -> Command {
    let test = std::env::current_exe().expect("the path of the test");
    let folder =
        test.parent().and_then(Path::parent).expect("tests are in the folder of a profile").join("examples");
    let program = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    let again = format!("cargo build --example {name} with the features of the tests builds it");
    let built = modified(&program).unwrap_or_else(|| panic!("there is no {}: {again}", program.display()));
    // Cargo's dependency file of the example.
    let notes = fs::read_to_string(folder.join(name).with_extension("d")).expect("cargo's list of sources");
    for source in sources(&notes) {
        let is_fresh = modified(&source).is_some_and(|changed| changed <= built);
        assert!(is_fresh, "{} is missing or newer than the example: {again}", source.display());
    }
    Command::new(program)
}

/// The paths after `program: `, with escaped spaces.
fn sources(notes: &str) -> Vec<PathBuf> {
    let (_, paths) = notes.trim().split_once(": ").expect("a program and its sources");
    let paths = paths.replace("\\ ", "\0");
    paths.split(' ').map(|path| path.replace('\0', " ").into()).collect()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}
