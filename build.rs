//! Embeds the kernels: as committed in `glsl/precompiled`, or with `compile-shaders` as compiled here.
//!
//! Either way ends in a manifest and its modules, and everything after that is one route.

use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "src/kernels/access.rs"]
mod access;
#[cfg(feature = "compile-shaders")]
#[path = "src/kernels/compile.rs"]
mod compile;
#[path = "src/kernels/generate.rs"]
mod generate;
#[path = "src/kernels/list.rs"]
mod list;
#[path = "src/kernels/manifest.rs"]
mod manifest;
#[cfg(not(feature = "compile-shaders"))]
#[path = "src/kernels/precompiled.rs"]
mod precompiled;
#[cfg(feature = "compile-shaders")]
#[path = "src/kernels/spirv/mod.rs"]
mod spirv;

/// The manifest, and the modules of its kernels in the same order.
type Modules = (manifest::Manifest, Vec<Vec<u8>>);

fn main() {
    if let Err(message) = build() {
        for line in message.lines() {
            println!("cargo::error={line}");
        }
    }
}

fn build() -> Result<(), String> {
    println!("cargo::rerun-if-changed=glsl");
    let glsl = variable("CARGO_MANIFEST_DIR")?.join("glsl");
    let out = variable("OUT_DIR")?;
    #[cfg(feature = "compile-shaders")]
    let (manifest, modules) = compile::modules(&glsl)?;
    #[cfg(not(feature = "compile-shaders"))]
    let (manifest, modules) = precompiled::modules(&glsl)?;

    // What is embedded is what the manifest's text says, so that no build can know more than a plain one does.
    let text = manifest.write();
    let manifest =
        manifest::Manifest::parse(&text).map_err(|why| format!("manifest.txt, {why}"))?;
    let folder = out.join("precompiled");
    write(&folder.join("manifest.txt"), text.as_bytes())?;
    for (kernel, module) in manifest.kernels.iter().zip(&modules) {
        write(&folder.join(list::module_path(&kernel.name)), module)?;
    }
    println!("cargo::rustc-env=SUBSWEEP_SHADER_OUT={}", folder.display());
    write(
        &out.join("kernels.rs"),
        generate::rust(&manifest, "precompiled").as_bytes(),
    )
}

fn variable(name: &str) -> Result<PathBuf, String> {
    env::var_os(name)
        .map(PathBuf::from)
        .ok_or_else(|| format!("{name} is not set: build.rs is run by cargo"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let explain = |error| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(explain)?;
    }
    fs::write(path, bytes).map_err(explain)
}

/// A file below `glsl/`, by its path with forward slashes.
fn read(glsl: &Path, path: &str) -> Result<Vec<u8>, String> {
    fs::read(glsl.join(path)).map_err(|error| format!("glsl/{path}: {error}"))
}

fn read_text(glsl: &Path, path: &str) -> Result<String, String> {
    String::from_utf8(read(glsl, path)?).map_err(|_| format!("glsl/{path} is not UTF-8"))
}

fn rows(glsl: &Path) -> Result<Vec<list::Row>, String> {
    list::parse(&read_text(glsl, "kernels.txt")?).map_err(|why| format!("glsl/kernels.txt, {why}"))
}
