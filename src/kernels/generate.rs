//! Generates the Rust that `kernels.rs` includes, from a manifest. Part of `build.rs`, with and without
//! `compile-shaders`.

use super::list::{family, is_of_family, module_path};
use super::manifest::{Kernel, Manifest};
use std::fmt::Write as _;

/// The text of `kernels.rs`, for modules in the folder `folder` of `OUT_DIR`.
pub fn rust(manifest: &Manifest, folder: &str) -> String {
    let mut text = String::new();
    write_rust(&mut text, manifest, folder).expect("a String takes every write");
    text
}

fn write_rust(to: &mut String, manifest: &Manifest, folder: &str) -> std::fmt::Result {
    writeln!(to, "/// The compiler of the embedded modules.")?;
    writeln!(to, "pub const COMPILER: &str = {:?};", manifest.compiler)?;
    let mut families: Vec<(String, Vec<&Kernel>)> = Vec::new();
    for kernel in &manifest.kernels {
        let name = family(&kernel.name, &kernel.defines);
        match families.iter_mut().find(|(other, _)| *other == name) {
            Some((_, modules)) => modules.push(kernel),
            None => families.push((name, vec![kernel])),
        }
    }
    for (name, modules) in &families {
        writeln!(to, "/// The modules of `{}`.", modules[0].name.split(':').next().unwrap_or_default())?;
        writeln!(to, "pub static {name}: Family = Family {{ modules: &[")?;
        for kernel in modules {
            write_kernel(to, kernel, folder)?;
        }
        writeln!(to, "] }};")?;
    }
    writeln!(to, "/// All families.")?;
    writeln!(to, "pub static FAMILIES: &[&Family] = &[")?;
    for (name, _) in &families {
        writeln!(to, "    &{name},")?;
    }
    writeln!(to, "];")
}

fn write_kernel(to: &mut String, kernel: &Kernel, folder: &str) -> std::fmt::Result {
    let path = format!("/{folder}/{}", module_path(&kernel.name));
    writeln!(to, "&Kernel {{")?;
    writeln!(to, "    name: {:?},", kernel.name)?;
    writeln!(
        to,
        "    spirv: &Aligned {{ words: [], bytes: *include_bytes!(concat!(env!(\"OUT_DIR\"), {path:?})) }}.bytes,"
    )?;
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
    writeln!(to, "    ],\n}},")
}
