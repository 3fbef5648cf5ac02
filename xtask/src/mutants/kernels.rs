//! Kernels with a fault, compiled by the build script of the package, without a build of the package.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::copy::Copy;
use crate::process::Group;

/// The build script, and the folder of the modules that it has made of the sources without a fault.
pub struct BuildScript {
    program: PathBuf,
    embedded: PathBuf,
}

impl BuildScript {
    /// Of the messages of a build. The modules are copied: the build of a fault in host code may write others.
    pub fn find(messages: &[Value], copy: &Copy) -> Result<Self> {
        let package = format!("{}#subsweep@", copy.folder().display());
        let is_ours =
            |message: &&Value| message["package_id"].as_str().is_some_and(|id| id.contains(&package));
        let messages: Vec<_> = messages.iter().filter(is_ours).collect();
        let path = |is_meant: fn(&Value) -> bool, pointer| {
            let message = messages.iter().find(|message| is_meant(message));
            let path = message.and_then(|message| message.pointer(pointer)?.as_str());
            path.map(PathBuf::from).context("Cargo does not name the build script and its output")
        };
        let program = path(|message| message["target"]["kind"][0] == "custom-build", "/filenames/0")?;
        let out = path(|message| message["reason"] == "build-script-executed", "/out_dir")?;
        let embedded = copy.cache.join("embedded");
        clear(&embedded)?;
        copy_modules(&out, &embedded, |_, _| true)?;
        Ok(Self { program, embedded })
    }

    /// Compiles the kernels and fixtures that include `file` of `glsl/`, with `faulty` in its place, into the folder `modules`.
    /// Returns how many have changed, which alone stay, or None if one does not compile. The copy's sources are not touched:
    /// Cargo would build the package again for a newer file.
    pub fn compile(
        &self,
        copy: &Copy,
        file: &str,
        faulty: &str,
        modules: &Path,
        log: &Path,
    ) -> Result<Option<usize>> {
        let package = copy.cache.join("package");
        clear(&package)?;
        clear(modules)?;
        let glsl = sources(&copy.folder().join("glsl"))?;
        let files = including(&glsl, file);
        for (path, text) in &glsl {
            write(&package.join("glsl").join(path), if path == file { faulty } else { text })?;
        }
        let kernels = fs::read_to_string(copy.folder().join("glsl/kernels.txt"))?;
        write(&package.join("glsl/kernels.txt"), lines_of(&kernels, &files))?;
        for (path, text) in sources(&copy.folder().join("src/kernels/fixtures"))? {
            if path.ends_with(".comp") && files.iter().any(|file| includes(&text, file)) {
                write(&package.join("src/kernels/fixtures").join(path), text)?;
            }
        }
        let (mut script, output) = (copy.command(&self.program), File::create(log)?);
        script.current_dir(&package).stdout(output.try_clone()?).stderr(output);
        script.env("CARGO_MANIFEST_DIR", &package).env("OUT_DIR", package.join("out")).env("RUSTC", "rustc");
        Group::start(&mut script)?.wait()?;
        // It reports errors, but exits with 0.
        let has_errors = fs::read_to_string(log)?.lines().any(|line| line.starts_with("cargo::error"));
        if has_errors || !package.join("out/precompiled").exists() {
            return Ok(None);
        }
        let is_changed = |path: &Path, module: &[u8]| {
            !fs::read(self.embedded.join(path)).is_ok_and(|embedded| embedded == module)
        };
        copy_modules(&package.join("out"), modules, is_changed).map(Some)
    }
}

/// Copies the modules that are meant from the output of a build script, and returns their number.
fn copy_modules(out: &Path, to: &Path, is_meant: impl Fn(&Path, &[u8]) -> bool) -> Result<usize> {
    let mut count = 0;
    for folder in ["precompiled", "fixtures"].map(|name| out.join(name)) {
        for path in files_below(&folder, &["spv"])? {
            let (name, module) = (path.strip_prefix(&folder)?, fs::read(&path)?);
            if is_meant(name, &module) {
                write(&to.join(name), module)?;
                count += 1;
            }
        }
    }
    Ok(count)
}

/// The sources below a folder, by their paths there.
fn sources(folder: &Path) -> Result<Vec<(String, String)>> {
    let source = |path: PathBuf| {
        Ok((path.strip_prefix(folder)?.to_string_lossy().into_owned(), fs::read_to_string(&path)?))
    };
    files_below(folder, &["comp", "glsl"])?.into_iter().map(source).collect()
}

/// The files below a folder with one of these extensions; none if there is no folder.
fn files_below(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path, extensions)?);
        } else if path.extension().is_some_and(|extension| extensions.iter().any(|one| extension == *one)) {
            files.push(path);
        }
    }
    Ok(files)
}

fn includes(source: &str, path: &str) -> bool {
    source.contains(&format!("#include \"{path}\""))
}

/// The file and all that include it, directly or not.
fn including(sources: &[(String, String)], file: &str) -> BTreeSet<String> {
    let mut files = BTreeSet::from([file.to_owned()]);
    loop {
        let count = files.len();
        for (path, text) in sources {
            if files.iter().any(|file| includes(text, file)) {
                files.insert(path.clone());
            }
        }
        if files.len() == count {
            return files;
        }
    }
}

/// The lines of `glsl/kernels.txt` of these files.
fn lines_of(kernels: &str, files: &BTreeSet<String>) -> String {
    let stem = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    let lines = kernels.split_inclusive('\n');
    lines.filter(|line| files.contains(&(stem(line) + ".comp"))).collect()
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, bytes).with_context(|| path.display().to_string())
}

/// Makes an empty folder.
fn clear(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)
        .and_then(|()| fs::remove_dir_all(folder))
        .and_then(|()| fs::create_dir(folder))
        .with_context(|| folder.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_include_a_file_indirectly_are_compiled() {
        let sources = [
            ("scan/c.comp", "#include \"scan/b.glsl\"\n"),
            ("scan/b.glsl", "#include \"common/a.glsl\"\n"),
            ("common/a.glsl", ""),
            ("scan/d.comp", "#include \"scan/a.glsl\"\n"),
        ];
        let files =
            including(&sources.map(|(path, text)| (path.to_owned(), text.to_owned())), "common/a.glsl");
        assert_eq!(files.iter().collect::<Vec<_>>(), ["common/a.glsl", "scan/b.glsl", "scan/c.comp"]);
        let kernels = "# scan/c\nscan/c  -\nscan/d  -\nscan/c  wide  WIDE\n";
        assert_eq!(lines_of(kernels, &files), "scan/c  -\nscan/c  wide  WIDE\n");
    }
}
