use super::hash::fnv1a;
use super::spirv::{self, Module};
use super::*;
use std::collections::BTreeMap;

fn module(kernel: &Kernel) -> Module {
    Module::new(kernel.words().into_owned()).unwrap_or_else(|why| panic!("{}: {why}", kernel.name))
}

#[test]
fn the_kernel_table_matches_the_modules() {
    for kernel in all() {
        let module = module(kernel);
        let found = spirv::reflect(&module).expect(kernel.name);
        assert_eq!(found.workgroup_size_id, kernel.workgroup_size_id, "{}", kernel.name);
        for constant in found.spec_constants {
            let listed = kernel.spec_constants.iter().find(|listed| listed.id == constant.id);
            assert_eq!(listed.map(|listed| listed.default), Some(constant.default), "{}", kernel.name);
        }
        // The optimiser may remove a block that is never read.
        let accesses = spirv::accesses(&module).expect(kernel.name);
        for (index, listed) in kernel.push_constants.iter().enumerate() {
            if let Some(member) = found.push_constants.get(index) {
                assert_eq!((member.offset, member.size), (listed.offset, listed.size), "{}", kernel.name);
                assert_eq!(member.pointer, listed.access.is_some(), "{}", kernel.name);
            }
            let access = accesses.get(index).copied().unwrap_or_default();
            assert_eq!(access, listed.access.unwrap_or_default(), "{} of {}", listed.name, kernel.name);
        }
    }
}

/// Exceptions from the rules of [`spirv::rules`]: a source, the number in any of its modules, and the reason.
const PRODUCTS: [(&str, usize, &str); 5] = [
    ("reduce/reduce", 1, "the index of a tile's partial result: a workgroup has one"),
    (
        "reduce/segments",
        2,
        "the index of an element: a segment has fewer than 64 rows of a level, of up to 64 columns",
    ),
    ("sort/digit_histogram", 3, "the index of a portion's histogram: a pass has few portions"),
    ("sort/merge_runs", 1, "the position of an index: a sort has fewer than 2^32 elements"),
    ("top_k/take", 2, "the indices of a result and of a key: a sort has fewer than 2^32 keys"),
];
const WORDS_OF_BALLOTS: [(&str, usize, &str); 3] = [
    ("sort/chunk_bucket", 1, "a chunk has 32 lanes"),
    ("sort/onesweep", 2, "SHARED_MASKS requires subgroups of up to 32 lanes"),
    ("sort/scatter", 2, "SHARED_MASKS requires subgroups of up to 32 lanes"),
];

#[test]
fn kernels_keep_the_rules_that_no_driver_shows() {
    let (mut products, mut words) = (BTreeMap::new(), BTreeMap::new());
    for kernel in all() {
        // With `SUBSWEEP_KERNELS`, modules with deliberate faults.
        let module = Module::new(crate::device::module_of(kernel).into_owned()).expect(kernel.name);
        let broken = spirv::rules::broken(&module);
        assert!(broken.addresses.is_empty(), "{}: {:?}", kernel.name, broken.addresses);
        assert!(broken.subgroup_indices.is_empty(), "{}: {:?}", kernel.name, broken.subgroup_indices);
        assert!(broken.long_operations.is_empty(), "{}: {:?}", kernel.name, broken.long_operations);
        let source = kernel.name.split(':').next().expect("a first part");
        for (counts, broken) in [(&mut products, broken.products), (&mut words, broken.words_of_ballots)] {
            if !broken.is_empty() {
                let count: &mut usize = counts.entry(source).or_default();
                *count = broken.len().max(*count);
            }
        }
    }
    let listed = |list: &[(&'static str, usize, &str)]| {
        list.iter().map(|&(source, count, _)| (source, count)).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(products, listed(&PRODUCTS));
    assert_eq!(words, listed(&WORDS_OF_BALLOTS));
}

/// The race detector does not see accesses in a loop header.
#[test]
fn no_kernel_accesses_shared_memory_in_a_loop_header() {
    for kernel in all() {
        assert_eq!(spirv::loop_header_accesses(&module(kernel)).as_deref(), Ok(&[][..]), "{}", kernel.name);
    }
}

#[test]
fn every_kernel_can_be_pruned() {
    for kernel in all() {
        let module = module(kernel);
        let pruned = spirv::pruned::pruned(&module, &spirv::sizes::Sizes::new(&module, |_| None));
        assert!(pruned.is_some(), "{}", kernel.name);
    }
}

#[test]
fn a_specialization_constant_has_one_id_in_all_kernels() {
    let (mut ids, mut names) = (BTreeMap::new(), BTreeMap::new());
    for kernel in all() {
        for SpecConstant { name, id, .. } in kernel.spec_constants {
            assert_eq!(ids.entry(name).or_insert(id), &id, "{name} of {}", kernel.name);
            assert_eq!(names.entry(id).or_insert(name), &name, "constant {id} of {}", kernel.name);
        }
    }
}

/// Every program that embeds the library carries these bytes, which the page for embedders states.
#[test]
fn embedded_modules_take_at_most_1800000_bytes() {
    let size = |kernel: &Kernel| match kernel.spirv {
        Spirv::Deflated(bytes) | Spirv::Plain(bytes) => bytes.len(),
    };
    let embedded: usize = all().map(size).sum();
    assert!(embedded <= 1_800_000, "{embedded} bytes");
    let feature = if cfg!(feature = "textbook") { "| `textbook` |" } else { "| none |" };
    let stated = format!(" {:.2} MB |", embedded as f64 / 1e6);
    let page = include_str!("../../docs/embedding.md");
    let is_stated = page.lines().any(|row| row.starts_with(feature) && row.contains(&stated));
    // Another compiler's modules have other sizes, and those that count steps are a feature of tests.
    let is_other = cfg!(any(feature = "compile-shaders", feature = "counters"));
    assert!(is_stated || is_other, "{feature}{stated}");
}

#[test]
fn hashes_are_of_the_embedded_bytes() {
    for kernel in all() {
        let bytes = kernel.words().iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        assert_eq!(kernel.hash, fnv1a(bytes), "{}", kernel.name);
    }
}
