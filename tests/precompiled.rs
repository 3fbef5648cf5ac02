//! The modules in `glsl/precompiled` are what their sources give.
//!
//! With `SUBSWEEP_BLESS=1` they are made so, from what this build compiled.

#![cfg(feature = "compile-shaders")]

#[path = "../src/kernels/access.rs"]
mod access;
#[path = "../src/kernels/list.rs"]
mod list;
#[path = "../src/kernels/manifest.rs"]
mod manifest;

use anyhow::{Context as _, Result, ensure};
use manifest::Manifest;
use std::path::{Path, PathBuf};
use std::{env, fs};

const BUILT: &str = env!("SUBSWEEP_SHADER_OUT");
const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/glsl/precompiled");
const REMEDY: &str = "run tools/precompile";

#[test]
fn committed_modules_are_what_this_build_compiles() -> Result<()> {
    let built = manifest(Path::new(BUILT))?;
    if env::var_os("SUBSWEEP_BLESS").is_some_and(|value| value == "1") {
        return bless(&built);
    }
    let committed = manifest(Path::new(COMMITTED)).context(REMEDY)?;
    ensure!(
        built.sources == committed.sources,
        "the sources changed: {REMEDY}"
    );
    let table = |manifest: &Manifest| {
        let mut kernels = manifest.kernels.clone();
        kernels.iter_mut().for_each(|kernel| kernel.hash = 0);
        kernels
    };
    for (ours, theirs) in table(&built).iter().zip(&table(&committed)) {
        ensure!(
            ours == theirs,
            "reflection of {} changed: {REMEDY}\nbuilt     {ours:#?}\ncommitted {theirs:#?}",
            ours.name
        );
    }
    ensure!(
        built.kernels.len() == committed.kernels.len(),
        "the list of kernels changed: {REMEDY}"
    );
    for kernel in &built.kernels {
        let path = list::module_path(&kernel.name);
        let (ours, theirs) = (
            fs::read(Path::new(BUILT).join(&path))?,
            fs::read(Path::new(COMMITTED).join(&path))?,
        );
        if ours == theirs {
            continue;
        }
        println!(
            "{path}: {} bytes built, {} bytes committed",
            ours.len(),
            theirs.len()
        );
        ensure!(
            built.compiler != committed.compiler,
            "{path} differs, and its compiler does not: {REMEDY}"
        );
    }
    Ok(())
}

fn manifest(folder: &Path) -> Result<Manifest> {
    let path = folder.join("manifest.txt");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    Manifest::parse(&text).map_err(|why| anyhow::anyhow!("{}, {why}", path.display()))
}

fn bless(built: &Manifest) -> Result<()> {
    if Path::new(COMMITTED).exists() {
        fs::remove_dir_all(COMMITTED)?;
    }
    let modules = built
        .kernels
        .iter()
        .map(|kernel| PathBuf::from(list::module_path(&kernel.name)));
    for path in modules.chain([PathBuf::from("manifest.txt")]) {
        let to = Path::new(COMMITTED).join(&path);
        fs::create_dir_all(to.parent().context("a file lies in a folder")?)?;
        fs::copy(Path::new(BUILT).join(&path), to)?;
    }
    Ok(())
}
