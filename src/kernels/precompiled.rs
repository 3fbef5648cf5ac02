//! The committed modules, rejected if they are stale. Part of `build.rs`.

use super::hash::fnv1a;
use super::list::{KernelRow, module_path};
use super::manifest::{self, Manifest};
use super::sources::{Modules, read, read_text, rows};
use std::fs;
use std::path::Path;

const REMEDY: &str = "run tools/precompile, or build with --features compile-shaders";

/// The manifest and modules of `glsl/precompiled`.
pub fn modules(glsl: &Path) -> Result<Modules, String> {
    let rows = rows(glsl)?;
    current(glsl, &rows).map_err(|why| format!("{why}: {REMEDY}"))
}

fn current(glsl: &Path, rows: &[KernelRow]) -> Result<Modules, String> {
    let text = read_text(glsl, "precompiled/manifest.txt")?;
    let manifest = Manifest::parse(&text).map_err(|why| format!("glsl/precompiled/manifest.txt, {why}"))?;
    for source in &manifest.sources {
        if manifest::text_hash(&read_text(glsl, &source.path)?) != source.hash {
            return Err(format!("glsl/{} changed since glsl/precompiled was made", source.path));
        }
    }
    same_list(rows, &manifest)?;
    nothing_extra(glsl, &manifest)?;
    let mut modules = Vec::new();
    for kernel in &manifest.kernels {
        let path = format!("precompiled/{}", module_path(&kernel.name));
        let module = read(glsl, &path)?;
        if fnv1a(module.iter().copied()) != kernel.hash {
            return Err(format!("glsl/{path} is not the module that its manifest describes"));
        }
        modules.push(module);
    }
    Ok((manifest, modules))
}

fn same_list(rows: &[KernelRow], manifest: &Manifest) -> Result<(), String> {
    let named = |name: &str| manifest.kernels.iter().find(|kernel| kernel.name == name);
    for row in rows {
        match named(&row.name) {
            None => {
                return Err(format!("glsl/precompiled lacks {} of glsl/kernels.txt", row.name));
            }
            Some(kernel) if kernel.defines != row.defines => {
                return Err(format!("glsl/kernels.txt changed the defines of {}", row.name));
            }
            Some(_) => {}
        }
    }
    if !rows.iter().map(|row| &row.name).eq(manifest.kernels.iter().map(|kernel| &kernel.name)) {
        return Err("glsl/kernels.txt lost or moved a row since glsl/precompiled was made".to_owned());
    }
    Ok(())
}

/// Rejects modules in no manifest, which would look as if they were in use.
fn nothing_extra(glsl: &Path, manifest: &Manifest) -> Result<(), String> {
    let known: Vec<_> = manifest.kernels.iter().map(|kernel| module_path(&kernel.name)).collect();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let explain = |error| format!("glsl/precompiled/{folder}: {error}");
        for entry in fs::read_dir(glsl.join("precompiled").join(&folder)).map_err(explain)? {
            let entry = entry.map_err(explain)?;
            let path = format!("{folder}{}", entry.file_name().to_string_lossy());
            if entry.file_type().map_err(explain)?.is_dir() {
                folders.push(format!("{path}/"));
            } else if path.ends_with(".spv") && !known.contains(&path) {
                return Err(format!("glsl/precompiled/{path} is in no manifest"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
