//! Embeds the kernels: as committed in `glsl/precompiled`, or with `compile-shaders` as compiled here.
//!
//! Both ways yield a manifest and its modules, which are embedded alike: deflated, to a quarter of their size.

use miniz_oxide::deflate::compress_to_vec;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "src/kernels/access.rs"]
#[cfg_attr(
    not(feature = "compile-shaders"),
    expect(dead_code, reason = "a plain build reads accesses but derives none")
)]
mod access;
#[cfg(feature = "compile-shaders")]
#[path = "src/kernels/compile.rs"]
mod compile;
#[path = "src/kernels/embedded.rs"]
#[expect(dead_code, reason = "the crate decodes")]
mod embedded;
#[path = "src/kernels/generate.rs"]
mod generate;
#[path = "src/kernels/hash.rs"]
mod hash;
#[path = "src/kernels/list.rs"]
mod list;
#[path = "src/kernels/manifest.rs"]
mod manifest;
#[cfg(not(feature = "compile-shaders"))]
#[path = "src/kernels/precompiled.rs"]
mod precompiled;
#[path = "src/kernels/sources.rs"]
mod sources;
#[cfg(feature = "compile-shaders")]
#[path = "src/kernels/spirv/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the crate reads more of foreign modules")]
mod spirv;
#[cfg(feature = "compile-shaders")]
#[path = "src/threads.rs"]
mod threads;
#[cfg(feature = "compile-shaders")]
#[path = "src/kernels/uses.rs"]
#[expect(dead_code, reason = "the crate checks modules by the rest")]
mod uses;

fn main() {
    if let Err(message) = build() {
        // Cargo shows these lines alone, and fails.
        for line in message.lines() {
            println!("cargo::error={line}");
        }
    }
}

fn build() -> Result<(), String> {
    println!("cargo::rerun-if-changed=glsl");
    let root = folder_of("CARGO_MANIFEST_DIR")?;
    let out = folder_of("OUT_DIR")?;
    let glsl = root.join("glsl");

    #[cfg(not(feature = "compile-shaders"))]
    let (manifest, modules) = precompiled::modules(&glsl)?;
    #[cfg(feature = "compile-shaders")]
    let (manifest, modules) = compile::modules(&glsl)?;
    #[cfg(feature = "compile-shaders")]
    {
        let fixtures = out.join("fixtures");
        clear(&fixtures)?;
        fs::create_dir_all(&fixtures).map_err(|error| format!("{}: {error}", fixtures.display()))?;
        // The published package is without these and the examples.
        let sources = root.join("src/kernels/fixtures");
        if sources.exists() {
            compile::fixtures(&glsl, &sources, &fixtures)?;
        }
        write(&out.join("fixtures.rs"), fixtures_table(&fixtures)?.as_bytes())?;
        let examples = out.join("examples");
        clear(&examples)?;
        for example in ["fused", "particles", "splats"] {
            let shaders = root.join("examples").join(example).join("shaders");
            if shaders.exists() {
                compile::example(&glsl, &shaders, &examples.join(example))?;
            }
        }
        println!("cargo::rustc-env=SUBSWEEP_EXAMPLES_OUT={}", examples.display());
    }

    write(&out.join("glsl.rs"), sources_table(&glsl)?.as_bytes())?;
    embed(&manifest, &modules, &out)
}

/// The table of the sources below a folder, with their paths, as an expression.
fn sources_table(glsl: &Path) -> Result<String, String> {
    let explain = |error| format!("{}: {error}", glsl.display());
    let mut rows = Vec::new();
    for folder in fs::read_dir(glsl).map_err(explain)? {
        let folder = folder.map_err(explain)?.path();
        if !folder.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&folder).map_err(explain)? {
            let path = entry.map_err(explain)?.path();
            if path.extension().is_some_and(|extension| extension == "glsl" || extension == "comp") {
                let name = path.strip_prefix(glsl).map_err(|error| error.to_string())?;
                let name = name.to_string_lossy().replace('\\', "/");
                rows.push(format!("({name:?}, include_str!({:?}))", path.display().to_string()));
            }
        }
    }
    rows.sort();
    Ok(format!("&[{}]", rows.join(", ")))
}

/// The table of the modules in a folder, as an expression.
#[cfg(feature = "compile-shaders")]
fn fixtures_table(folder: &Path) -> Result<String, String> {
    let explain = |error| format!("{}: {error}", folder.display());
    let mut rows = Vec::new();
    for entry in fs::read_dir(folder).map_err(explain)? {
        let path = entry.map_err(explain)?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = format!(
            "&Aligned {{ words: [], bytes: *include_bytes!({:?}) }}.bytes",
            path.display().to_string()
        );
        rows.push(format!("({name:?}, {bytes})"));
    }
    rows.sort();
    Ok(format!("&[{}]", rows.join(", ")))
}

/// How thoroughly modules are deflated, of 10.
const DEFLATE_LEVEL: u8 = 6;

/// Embeds the parsed text of the manifest, so that builds with and without `compile-shaders` embed the same.
fn embed(manifest: &manifest::Manifest, modules: &[Vec<u8>], out: &Path) -> Result<(), String> {
    let text = manifest.write();
    let manifest = manifest::Manifest::parse(&text).map_err(|why| format!("manifest.txt, {why}"))?;
    let (folder, deflated_folder) = (out.join("precompiled"), out.join("deflated"));
    clear(&folder)?;
    clear(&deflated_folder)?;
    write(&folder.join("manifest.txt"), text.as_bytes())?;
    for (kernel, module) in manifest.kernels.iter().zip(modules) {
        let path = list::module_path(&kernel.name);
        write(&folder.join(&path), module)?;
        let words = module.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect::<Vec<_>>();
        let word_count = words.len() as u32;
        let deflated = compress_to_vec(&embedded::encode(&words), DEFLATE_LEVEL);
        write(&deflated_folder.join(&path), &[&word_count.to_le_bytes(), &deflated[..]].concat())?;
    }
    println!("cargo::rustc-env=SUBSWEEP_SHADER_OUT={}", folder.display());
    write(&out.join("push_constants.rs"), generate::push_constants(&manifest)?.as_bytes())?;
    write(&out.join("kernels.rs"), generate::rust(&manifest, "deflated").as_bytes())
}

/// Removes a folder of an earlier build, whose modules may have gone since.
fn clear(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}

fn folder_of(variable: &str) -> Result<PathBuf, String> {
    env::var_os(variable).map(PathBuf::from).ok_or_else(|| format!("{variable} is not set"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let explain = |error| format!("{}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(explain)?;
    }
    fs::write(path, bytes).map_err(explain)
}
