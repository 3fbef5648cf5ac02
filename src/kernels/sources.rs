//! The files below `glsl/` that a build reads. Part of `build.rs`.

use super::list::{self, KernelRow};
use super::manifest::Manifest;
use std::fs;
use std::path::Path;

/// A manifest, and the modules of its kernels in the same order.
pub type Modules = (Manifest, Vec<Vec<u8>>);

/// Reads a file below `glsl/`, by its path with forward slashes.
pub fn read(glsl: &Path, path: &str) -> Result<Vec<u8>, String> {
    fs::read(glsl.join(path)).map_err(|error| format!("glsl/{path}: {error}"))
}

/// Reads a text below `glsl/`.
pub fn read_text(glsl: &Path, path: &str) -> Result<String, String> {
    String::from_utf8(read(glsl, path)?).map_err(|_| format!("glsl/{path} is not UTF-8"))
}

/// The rows of `kernels.txt`.
pub fn rows(glsl: &Path) -> Result<Vec<KernelRow>, String> {
    list::parse(&read_text(glsl, "kernels.txt")?).map_err(|why| format!("glsl/kernels.txt, {why}"))
}
