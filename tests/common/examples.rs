//! The examples, as cargo has built them beside the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// An example, ready to be started.
///
/// # Panics
/// If it is not built, or older than what it is built from: `cargo test --test NAME` builds no examples, where `cargo test`
/// does.
pub fn example(name: &str) -> Command {
    let test = std::env::current_exe().expect("the test's own path");
    let folder =
        test.parent().and_then(Path::parent).expect("tests lie in a folder of a profile's").join("examples");
    let program = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    let again = format!("cargo build --example {name} with the features of the tests makes it");
    let built = modified(&program).unwrap_or_else(|| panic!("there is no {}: {again}", program.display()));
    // What cargo has noted beside it.
    let notes = fs::read_to_string(folder.join(name).with_extension("d")).expect("cargo's list of sources");
    for source in sources(&notes) {
        let is_fresh = modified(&source).is_some_and(|changed| changed <= built);
        assert!(is_fresh, "{} is gone or newer than the example: {again}", source.display());
    }
    Command::new(program)
}

/// The paths behind `program: `, of which spaces have a backslash before them.
fn sources(notes: &str) -> Vec<PathBuf> {
    let (_, paths) = notes.trim().split_once(": ").expect("a program and what it is made of");
    let paths = paths.replace("\\ ", "\0");
    paths.split(' ').map(|path| path.replace('\0', " ").into()).collect()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}
