//! Generates the Rust that `kernels.rs` includes, from a manifest. Part of `build.rs`, with and without
//! `compile-shaders`.

use super::list::{family, is_of_family, module_path};
use super::manifest::{Kernel, Manifest, PushConstant};
use std::fmt::Write as _;

/// The text of `kernels.rs`, for modules in the folder `folder` of `OUT_DIR`.
pub fn rust(manifest: &Manifest, folder: &str) -> String {
    let mut text = String::new();
    write_rust(&mut text, manifest, folder).expect("a String takes every write");
    text
}

/// The text of `push_constants.rs`: a struct for each block, and the families that have it.
///
/// # Errors
/// If the modules of a family differ in their blocks, or a member is not as the struct writes it: a pointer or a `uint`,
/// behind the one before.
pub fn push_constants(manifest: &Manifest) -> Result<String, String> {
    // Families with different attributes do not share a struct.
    let mut blocks: Vec<(Vec<String>, (&str, String))> = Vec::new();
    for (name, modules) in families(manifest) {
        let block = block_of(modules[0])?;
        for other in &modules[1..] {
            if block_of(other)? != block {
                return Err(format!(
                    "{}: push constants differ from those of {}",
                    other.name, modules[0].name
                ));
            }
        }
        let block = (attribute(modules[0]), block);
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

/// The attribute of the items of a kernel's family: those with counters have a feature.
fn attribute(kernel: &Kernel) -> &'static str {
    if kernel.defines.iter().any(|define| define == "COUNTED") {
        "#[cfg(feature = \"counters\")] "
    } else {
        ""
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
        writeln!(to, "{}pub static {name}: Family = Family {{ modules: &[", attribute(modules[0]))?;
        for kernel in modules {
            write_kernel(to, kernel, folder)?;
        }
        writeln!(to, "] }};")?;
    }
    writeln!(to, "/// All families.")?;
    writeln!(to, "pub static FAMILIES: &[&Family] = &[")?;
    for (name, modules) in &families {
        writeln!(to, "    {}&{name},", attribute(modules[0]))?;
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

#[cfg(test)]
mod tests {
    use super::super::KernelAccess;
    use super::*;

    /// A kernel and its push constants: name, offset and size.
    type Pushed<'a> = (&'a str, &'a [(&'a str, u32, u32)]);

    fn manifest(kernels: &[Pushed<'_>]) -> Manifest {
        let push = |&(name, offset, size): &(&str, u32, u32)| PushConstant {
            name: name.to_owned(),
            offset,
            size,
            access: (size == 8 && name != "bound").then_some(KernelAccess::READ),
        };
        let kernel = |&(name, block): &Pushed<'_>| Kernel {
            name: name.to_owned(),
            push_constants: block.iter().map(push).collect(),
            ..Kernel::default()
        };
        Manifest { kernels: kernels.iter().map(kernel).collect(), ..Manifest::default() }
    }

    fn is_refused(kernels: &[Pushed<'_>], why: &str) {
        let refused = push_constants(&manifest(kernels));
        assert!(refused.as_ref().is_err_and(|refused| refused.contains(why)), "{refused:?}");
    }

    #[test]
    fn families_of_one_block_share_a_struct() {
        let block: &[_] = &[("keys", 0, 8), ("shift", 8, 4), ("bound", 16, 8)];
        let written = push_constants(&manifest(&[
            ("sort/count:key1", block),
            ("sort/count:key2", block),
            ("a/b_c", block),
        ]));
        let expected = "push_constants! {\n    struct SortCount for [SORT_COUNT, A_B_C] { keys: AddressRange, shift: u32, bound: [u32; 2] }\n}\n";
        assert_eq!(written.as_deref(), Ok(expected));
    }

    #[test]
    fn kernels_with_counters_are_for_the_harness() {
        let block: &[_] = &[("keys", 0, 8)];
        let mut manifest = manifest(&[("a/plain", block), ("a/counted", block)]);
        manifest.kernels[1].defines = vec!["COUNTED".to_owned()];
        let written = push_constants(&manifest).expect("both blocks are written");
        assert!(written.contains("    struct APlain for [A_PLAIN] {"), "{written}");
        assert!(
            written.contains("    #[cfg(feature = \"counters\")] struct ACountedCounted for"),
            "{written}"
        );
        let text = rust(&manifest, "modules");
        assert!(
            text.contains("#[cfg(feature = \"counters\")] pub static A_COUNTED_COUNTED: Family"),
            "{text}"
        );
        assert!(text.contains("    #[cfg(feature = \"counters\")] &A_COUNTED_COUNTED,\n"), "{text}");
        assert!(text.contains("\npub static A_PLAIN: Family"), "{text}");
    }

    #[test]
    fn a_block_that_no_struct_writes_is_refused() {
        is_refused(&[("a/b", &[("keys", 0, 8), ("shift", 12, 4)])], "a/b: push constant shift is neither");
        is_refused(&[("a/b", &[("pair", 0, 16)])], "a/b: push constant pair is neither");
        let different: [Pushed<'_>; 2] = [("a/b:c", &[("keys", 0, 8)]), ("a/b:d", &[("key", 0, 8)])];
        is_refused(&different, "a/b:d: push constants differ from those of a/b:c");
    }
}
