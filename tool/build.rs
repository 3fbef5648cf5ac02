//! The commit and the compiler, for reports.

use std::env;
use std::process::Command;
#[cfg(not(feature = "compile-shaders"))]
use std::{fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=SUBSWEEP_RUSTC={}", rust_compiler().unwrap_or_default());
    // Not in a developer's builds, which would begin anew for every commit.
    #[cfg(not(feature = "compile-shaders"))]
    if let Some(hash) = env::var_os("CARGO_MANIFEST_DIR").and_then(|root| git_hash(Path::new(&root))) {
        println!("cargo::rustc-env=SUBSWEEP_GIT_HASH={hash}");
    }
}

/// `rustc 1.95.0 (…)`.
fn rust_compiler() -> Option<String> {
    output_of(Command::new(env::var_os("RUSTC")?).arg("--version"))
}

/// The commit of the sources: from the note of `cargo package`, or the checkout's HEAD.
#[cfg(not(feature = "compile-shaders"))]
fn git_hash(root: &Path) -> Option<String> {
    // Cargo reruns the script in every build for a watched file that does not exist.
    let watch = |path: &Path| {
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    };
    let note = root.join(".cargo_vcs_info.json");
    watch(&note);
    if let Ok(note) = fs::read_to_string(note) {
        let (_, behind) = note.split_once("\"sha1\": \"")?;
        return behind.split_once('"').map(|(hash, _)| hash.to_owned());
    }
    // Not the commit of a repository around this folder.
    root.parent()?.join(".git").exists().then_some(())?;
    let git = |arguments: &[&str]| output_of(Command::new("git").current_dir(root).args(arguments));
    // Each existing one of these changes with every commit: the log, the branch of HEAD, or HEAD itself.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["logs/HEAD", "HEAD"].into_iter().chain(branch.as_deref()) {
        watch(&root.join(git(&["rev-parse", "--git-path", name])?));
    }
    git(&["rev-parse", "HEAD"])
}

/// The standard output of a successful command, trimmed.
fn output_of(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
