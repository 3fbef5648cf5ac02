//! Generates the Rust that `kernels.rs` includes, from a manifest. Part of `build.rs`, with and without
//! `compile-shaders`.

use super::list::{family, feature, is_of_family, module_path};
use super::manifest::{Kernel, Manifest, PushConstant};
use std::fmt::Write as _;

/// The text of `kernels.rs`, for deflated modules in the folder `folder` of `OUT_DIR`.
pub fn rust(manifest: &Manifest, folder: &str) -> String {
    let mut text = String::new();
    write_rust(&mut text, manifest, folder).expect("a String takes every write");
    text
}

/// The text of `push_constants.rs`: a struct for each block, and the families that have it.
///
/// # Errors
/// If the modules of a family differ in their blocks, or a member is not as the struct writes it: a pointer or a `uint`,
/// after the one before.
pub fn push_constants(manifest: &Manifest) -> Result<String, String> {
    // Families with different attributes do not share a struct.
    let mut blocks: Vec<(Vec<String>, (String, String))> = Vec::new();
    for (name, modules) in families(manifest) {
        let block = block_of(modules[0])?;
        for other in &modules[1..] {
            if block_of(other)? != block {
                return Err(format!(
                    "{}: push constants differ from the push constants of {}",
                    other.name, modules[0].name
                ));
            }
        }
        let block = (attribute(&modules), block);
        match blocks.iter_mut().find(|(_, other)| *other == block) {
            Some((families, _)) => families.push(name),
            None => blocks.push((vec![name], block)),
        }
    }
    let structs = blocks.iter().map(|(families, (attribute, block))| {
        let words = families[0].split('_').map(|word| word[..1].to_owned() + &word[1..].to_lowercase());
        format!(
            "    {attribute}struct {} for [{}] {{ {block} }}\n",
            words.collect::<String>(),
            families.join(", ")
        )
    });
    Ok(format!("push_constants! {{\n{}}}\n", structs.collect::<String>()))
}

/// The fields of a kernel's push constants, as Rust.
fn block_of(kernel: &Kernel) -> Result<String, String> {
    let mut end = 0u32;
    let field = |push: &PushConstant| {
        let (size, of) = match (push.access, push.size) {
            (Some(_), _) => (8, "AddressRange"),
            (None, 8) => (8, "[u32; 2]"),
            (None, _) => (4, "u32"),
        };
        let offset = end.next_multiple_of(size);
        end = offset + size;
        if (push.offset, push.size) == (offset, size) {
            return Ok(format!("{}: {of}", push.name));
        }
        Err(format!("{}: push constant {} is neither a pointer nor one or two uint", kernel.name, push.name))
    };
    Ok(kernel.push_constants.iter().map(field).collect::<Result<Vec<_>, _>>()?.join(", "))
}

/// The attribute of an item that is for these kernels alone: the feature that all of them need, if there is one.
fn attribute(kernels: &[&Kernel]) -> String {
    let mut features = kernels.iter().map(|kernel| feature(&kernel.name, &kernel.defines));
    match features.next() {
        Some(Some(first)) if features.all(|other| other == Some(first)) => {
            format!("#[cfg(feature = {first:?})] ")
        }
        _ => String::new(),
    }
}

/// The families, in the order of their first modules.
fn families(manifest: &Manifest) -> Vec<(String, Vec<&Kernel>)> {
    let mut families: Vec<(String, Vec<&Kernel>)> = Vec::new();
    for kernel in &manifest.kernels {
        let name = family(&kernel.name, &kernel.defines);
        match families.iter_mut().find(|(other, _)| *other == name) {
            Some((_, modules)) => modules.push(kernel),
            None => families.push((name, vec![kernel])),
        }
    }
    families
}

fn write_rust(to: &mut String, manifest: &Manifest, folder: &str) -> std::fmt::Result {
    writeln!(to, "/// The compiler of the embedded modules.")?;
    writeln!(to, "pub const COMPILER: &str = {:?};", manifest.compiler)?;
    let families = families(manifest);
    for (name, modules) in &families {
        writeln!(to, "/// The modules of `{}`.", modules[0].name.split(':').next().unwrap_or_default())?;
        writeln!(to, "{}pub static {name}: Family = Family {{ modules: &[", attribute(modules))?;
        for kernel in modules {
            write_kernel(to, kernel, folder)?;
        }
        writeln!(to, "] }};")?;
    }
    writeln!(to, "/// All families.")?;
    writeln!(to, "pub static FAMILIES: &[&Family] = &[")?;
    for (name, modules) in &families {
        writeln!(to, "    {}&{name},", attribute(modules))?;
    }
    writeln!(to, "];")
}

fn write_kernel(to: &mut String, kernel: &Kernel, folder: &str) -> std::fmt::Result {
    let path = format!("/{folder}/{}", module_path(&kernel.name));
    writeln!(to, "{}&Kernel {{", attribute(&[kernel]))?;
    writeln!(to, "    name: {:?},", kernel.name)?;
    let bytes = format!("include_bytes!(concat!(env!(\"OUT_DIR\"), {path:?}))");
    writeln!(to, "    spirv: Spirv::Deflated({bytes}),")?;
    writeln!(to, "    defines: &[")?;
    for define in kernel.defines.iter().filter(|define| !is_of_family(define)) {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        writeln!(to, "        ({name:?}, {value}),")?;
    }
    writeln!(to, "    ],")?;
    writeln!(to, "    hash: {:#018x},", kernel.hash)?;
    writeln!(to, "    workgroup_size_id: {:?},", kernel.workgroup_size_id)?;
    writeln!(to, "    push_constants: &[")?;
    for push in &kernel.push_constants {
        let access = push.access.map_or_else(
            || "None".to_owned(),
            |a| {
                format!("Some(KernelAccess {{ read: {}, write: {}, atomic: {} }})", a.read, a.write, a.atomic)
            },
        );
        let (name, offset, size) = (&push.name, push.offset, push.size);
        writeln!(
            to,
            "        PushConstant {{ name: {name:?}, offset: {offset}, size: {size}, access: {access} }},"
        )?;
    }
    writeln!(to, "    ],")?;
    writeln!(to, "    spec_constants: &[")?;
    for constant in &kernel.spec_constants {
        let (name, id, default) = (&constant.name, constant.id, constant.default);
        writeln!(to, "        SpecConstant {{ name: {name:?}, id: {id}, default: {default} }},")?;
    }
    writeln!(to, "    ],\n    has_functions: false,\n}},")
}

#[cfg(test)]
mod tests;
