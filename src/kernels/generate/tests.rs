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
    assert!(written.contains("    #[cfg(feature = \"counters\")] struct ACountedCounted for"), "{written}");
    let text = rust(&manifest, "modules");
    assert!(text.contains("#[cfg(feature = \"counters\")] pub static A_COUNTED_COUNTED: Family"), "{text}");
    assert!(text.contains("    #[cfg(feature = \"counters\")] &A_COUNTED_COUNTED,\n"), "{text}");
    assert!(text.contains("\npub static A_PLAIN: Family"), "{text}");
}

#[test]
fn a_module_of_a_feature_is_embedded_with_it_alone() {
    let block: &[_] = &[("keys", 0, 8)];
    let mut manifest = manifest(&[("a/b:c", block), ("a/b:d", block), ("scan/strided", block)]);
    manifest.kernels[1].defines = vec!["WORKGROUP_SCAN_BRENT_KUNG".to_owned()];
    let text = rust(&manifest, "modules");
    let attribute = "#[cfg(feature = \"textbook\")] ";
    assert!(text.contains("\npub static A_B: Family"), "{text}");
    assert!(text.contains("\n&Kernel {\n    name: \"a/b:c\""), "{text}");
    assert!(text.contains(&format!("\n{attribute}&Kernel {{\n    name: \"a/b:d\"")), "{text}");
    assert!(text.contains(&format!("\n{attribute}pub static SCAN_STRIDED: Family")), "{text}");
    assert!(text.contains(&format!("    {attribute}&SCAN_STRIDED,\n")), "{text}");
}

#[test]
fn a_block_that_no_struct_writes_is_refused() {
    is_refused(&[("a/b", &[("keys", 0, 8), ("shift", 12, 4)])], "a/b: push constant shift is neither");
    is_refused(&[("a/b", &[("pair", 0, 16)])], "a/b: push constant pair is neither");
    let different: [Pushed<'_>; 2] = [("a/b:c", &[("keys", 0, 8)]), ("a/b:d", &[("key", 0, 8)])];
    is_refused(&different, "a/b:d: push constants differ from the push constants of a/b:c");
}
