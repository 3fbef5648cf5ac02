//! `glsl/precompiled` and the precompiled modules of an example match their sources.
//!
//! `SUBSWEEP_BLESS=1` replaces them by the modules of this build.

#![cfg(feature = "compile-shaders")]

use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

const BUILT: &str = env!("SUBSWEEP_SHADER_OUT");
const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/glsl/precompiled");
const BUILT_EXAMPLES: &str = env!("SUBSWEEP_EXAMPLES_OUT");
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
const MANIFEST: &str = "manifest.txt";

#[test]
fn committed_modules_match_the_build() -> Result<()> {
    expect_fresh(Path::new(BUILT), Path::new(COMMITTED))
}

#[test]
fn committed_modules_of_the_examples_match_the_build() -> Result<()> {
    let mut count = 0;
    for example in fs::read_dir(EXAMPLES)? {
        let example = example?;
        let committed = example.path().join("shaders/precompiled");
        if committed.exists() {
            expect_fresh(&Path::new(BUILT_EXAMPLES).join(example.file_name()), &committed)?;
            count += 1;
        }
    }
    ensure!(count == 3, "{count} examples have modules");
    Ok(())
}

fn expect_fresh(built: &Path, committed: &Path) -> Result<()> {
    let built = files(built)?;
    if env::var_os("SUBSWEEP_BLESS").is_some_and(|value| value == "1") {
        return bless(&built, committed);
    }
    let stale = || format!("{} is stale: run tools/precompile", committed.display());
    compare(&built, &files(committed)?).with_context(stale)
}

/// The refusal of the built files after a change by `doctor`.
fn refusal(doctor: impl FnOnce(&mut Files) -> Result<()>) -> Result<String> {
    let built = files(Path::new(BUILT))?;
    let mut doctored = built.clone();
    compare(&built, &doctored)?;
    doctor(&mut doctored)?;
    match compare(&built, &doctored) {
        Ok(()) => bail!("the change was not reported"),
        Err(why) => Ok(why.to_string()),
    }
}

#[test]
fn a_doctored_module_is_refused() -> Result<()> {
    let why = refusal(|files| {
        let module = files.get_mut(Path::new("probe/copy.spv")).context("a module")?;
        *module.last_mut().context("an empty module")? ^= 1;
        Ok(())
    });
    // Two compilers of unknown version may differ, and generate other instructions.
    let is_known = !table(&files(Path::new(BUILT))?)?.1.contains("unknown");
    ensure!(why.is_err() || is_known, "an unknown compiler is treated as a known one");
    ensure!(!is_known || why? == "probe/copy.spv differs, by the same compiler");
    let why = refusal(|files| {
        files.remove(Path::new("probe/copy.spv")).context("a module")?;
        Ok(())
    });
    ensure!(why? == "a module is missing or new");
    Ok(())
}

#[test]
fn a_doctored_manifest_is_refused() -> Result<()> {
    let rewrite = |from: &'static str, to: &'static str| {
        refusal(move |files| {
            let manifest = files.get_mut(Path::new(MANIFEST)).context("a manifest")?;
            let text = String::from_utf8(manifest.clone())?;
            ensure!(text.contains(from), "the manifest has no {from}");
            *manifest = text.replacen(from, to, 1).into_bytes();
            Ok(())
        })
    };
    ensure!(rewrite("push destination 8 8 write", "push destination 8 8 read")?.contains("built:     push"));
    ensure!(rewrite("constant WORKGROUP_SIZE 0 1", "constant WORKGROUP_SIZE 1 1")?.contains("built: "));
    ensure!(rewrite("workgroup 0\n", "")?.contains("built: "));
    Ok(())
}

/// Compares two sets of modules. The interface must match; instructions must match only for the same compiler.
fn compare(built: &Files, committed: &Files) -> Result<()> {
    let (ours, our_compiler) = table(built)?;
    let (theirs, their_compiler) = table(committed)?;
    for (ours, theirs) in ours.iter().zip(&theirs) {
        ensure!(ours == theirs, "built:     {ours}\ncommitted: {theirs}");
    }
    ensure!(ours.len() == theirs.len(), "a line of the manifest is missing or new");
    ensure!(built.keys().eq(committed.keys()), "a module is missing or new");

    // Two compilers of unknown version may differ.
    let same_compiler = our_compiler == their_compiler && !our_compiler.contains("unknown");
    for (path, ours) in built.iter().filter(|(path, _)| *path != Path::new(MANIFEST)) {
        let theirs = &committed[path];
        if ours != theirs {
            println!("{}: {} bytes built, {} bytes committed", path.display(), ours.len(), theirs.len());
            ensure!(!same_compiler, "{} differs, by the same compiler", path.display());
        }
    }
    Ok(())
}

/// The lines of a manifest without hashes, and the compiler.
fn table(files: &Files) -> Result<(Vec<String>, String)> {
    let text = files.get(Path::new(MANIFEST)).context("there is no manifest")?;
    let mut compiler = String::new();
    let mut lines = Vec::new();
    for line in String::from_utf8(text.clone())?.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["compiler", ..] => compiler = line.to_owned(),
            ["kernel", name, _hash, ref defines @ ..] => {
                lines.push(format!("kernel {name} {}", defines.join(" ")))
            }
            _ => lines.push(line.to_owned()),
        }
    }
    Ok((lines, compiler))
}

fn bless(built: &Files, to: &Path) -> Result<()> {
    let committed = if to.exists() { files(to)? } else { Files::new() };
    for path in committed.keys().filter(|path| !built.contains_key(*path)) {
        fs::remove_file(to.join(path))?;
    }
    // Unchanged files keep their modification time, so that no build runs for them.
    for (path, bytes) in built.iter().filter(|(path, bytes)| committed.get(*path) != Some(bytes)) {
        let to = to.join(path);
        fs::create_dir_all(to.parent().context("a file lies in a folder")?)?;
        fs::write(to, bytes)?;
    }
    Ok(())
}

/// Contents by path.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files(root: &Path) -> Result<Files> {
    let mut files = Files::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(root)?.to_owned(), fs::read(&path)?);
            }
        }
    }
    if files.is_empty() {
        bail!("{} is empty", root.display());
    }
    Ok(files)
}
