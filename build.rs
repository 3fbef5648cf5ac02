//! Embeds the kernels: as committed in `glsl/precompiled`, or with `compile-shaders` as compiled here.
//!
//! Both ways yield a manifest and its modules, which are embedded alike.

use std::path::{Path, PathBuf};
use std::process::Command;
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
#[path = "src/kernels/generate.rs"]
mod generate;
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
#[expect(dead_code, reason = "the crate reads more of foreign modules")]
mod spirv;

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
    println!("cargo::rustc-env=SUBSWEEP_RUSTC={}", rust_compiler().unwrap_or_default());
    let root = folder_of("CARGO_MANIFEST_DIR")?;
    let out = folder_of("OUT_DIR")?;
    let glsl = root.join("glsl");

    #[cfg(not(feature = "compile-shaders"))]
    let (manifest, modules) = precompiled::modules(&glsl)?;
    // A build from source would compile every kernel again for a commit.
    #[cfg(not(feature = "compile-shaders"))]
    if let Some(hash) = git_hash(&root) {
        println!("cargo::rustc-env=SUBSWEEP_GIT_HASH={hash}");
    }
    #[cfg(feature = "compile-shaders")]
    let (manifest, modules) = compile::modules(&glsl)?;
    #[cfg(feature = "compile-shaders")]
    {
        compile::fixtures(&glsl, &root.join("src/kernels/fixtures"), &out.join("fixtures"))?;
        let examples = out.join("examples");
        clear(&examples)?;
        for example in ["particles", "splats"] {
            compile::example(&root.join("examples").join(example).join("shaders"), &examples.join(example))?;
        }
        println!("cargo::rustc-env=SUBSWEEP_EXAMPLES_OUT={}", examples.display());
    }

    embed(&manifest, &modules, &out)
}

/// Embeds the parsed text of the manifest, so that builds with and without `compile-shaders` embed the same.
fn embed(manifest: &manifest::Manifest, modules: &[Vec<u8>], out: &Path) -> Result<(), String> {
    let text = manifest.write();
    let manifest = manifest::Manifest::parse(&text).map_err(|why| format!("manifest.txt, {why}"))?;
    let folder = out.join("precompiled");
    clear(&folder)?;
    write(&folder.join("manifest.txt"), text.as_bytes())?;
    for (kernel, module) in manifest.kernels.iter().zip(modules) {
        write(&folder.join(list::module_path(&kernel.name)), module)?;
    }
    println!("cargo::rustc-env=SUBSWEEP_SHADER_OUT={}", folder.display());
    write(&out.join("push_constants.rs"), generate::push_constants(&manifest)?.as_bytes())?;
    write(&out.join("kernels.rs"), generate::rust(&manifest, "precompiled").as_bytes())
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
    root.join(".git").exists().then_some(())?;
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
