//! Access analysis and reflection of the kernels in `src/kernels/fixtures`, one for each flow of an address.

use super::pruned::pruned;
use super::rules::broken;
use super::sizes::Sizes;
use super::{Id, Module, accesses, loop_header_accesses, reflect};
use std::collections::BTreeSet;
use std::path::Path;

fn module(file: &str) -> Module {
    let path = Path::new(concat!(env!("OUT_DIR"), "/fixtures")).join(file);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Module::new(bytes.chunks_exact(4).map(word).collect()).expect("glslang makes valid modules")
}

/// `member access`, for each pointer of the block.
fn table_of(module: &Module, fixture: &str) -> Result<String, String> {
    let members = reflect(&self::module(&format!("{fixture}.named.spv")))?.push_constants;
    let accesses = accesses(module)?;
    assert_eq!(members.len(), accesses.len());
    let rows = members.iter().zip(accesses).filter(|(member, _)| member.pointer);
    Ok(rows.map(|(member, access)| format!("{} {access}", member.name)).collect::<Vec<_>>().join(", "))
}

fn table(fixture: &str) -> Result<String, String> {
    table_of(&module(&format!("{fixture}.spv")), fixture)
}

#[track_caller]
fn check(fixture: &str, expected: &str) {
    assert_eq!(table(fixture).as_deref(), Ok(expected));
}

#[track_caller]
fn check_refused(fixture: &str, why: &str) {
    let error = table(fixture).expect_err("it cannot be traced");
    assert!(error.contains(why), "{error}");
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn loads_and_stores_are_distinguished() {
    check("copied", "source read, destination write, unused none");
}

#[test]
fn a_store_through_readonly_is_a_write() {
    check("readonly_store", "destination write");
}

#[test]
fn atomics_are_distinguished_from_plain_accesses() {
    check(
        "atomics",
        "loaded atomic-read, stored atomic-write, added atomic, swapped atomic, exchanged atomic",
    );
}

#[test]
fn an_offset_keeps_the_address_and_a_count_is_none() {
    check("moved", "counts read, source read, destination write");
}

#[test]
fn both_sides_of_a_choice_are_marked() {
    check("selected", "even atomic, odd write, either atomic, left read, right read");
}

#[test]
fn a_loop_carries_a_pointer() {
    check("looped", "source read, sum write");
}

#[test]
fn an_index_is_no_address() {
    check("indexed", "indices read, destination write");
}

#[test]
fn an_array_holds_every_pointer_put_into_it() {
    check("array", "first write, second write, other read");
}

#[test]
fn shared_memory_passes_an_address_on() {
    check("shared_address", "destination write");
}

#[test]
fn a_broadcast_passes_an_address_on() {
    check("broadcast", "counts read, destination write");
}

#[test]
fn a_constant_beside_an_address_is_no_other_memory() {
    check("or_null", "destination write");
}

#[test]
fn calls_pass_and_return_pointers() {
    check("called", "source read, destination write");
    let named = module("called.named.spv");
    assert_eq!(table_of(&named, "called").as_deref(), Ok("source read, destination write"));
}

#[test]
fn an_address_from_memory_is_refused() {
    check_refused("pointer_from_memory", "OpStore at byte 0x");
    check_refused("pointer_from_memory", "accesses an address that comes from no push constant");
    check_refused("address_from_memory", "accesses an address that comes from no push constant");
}

#[test]
fn an_address_that_is_only_sometimes_a_push_constant_is_refused() {
    check_refused("perhaps_from_memory", "that may come from no push constant");
}

#[test]
fn an_address_that_is_not_declared_as_one_is_refused() {
    check_refused("address_in_words", "that comes from no push constant");
}

#[test]
fn shared_memory_in_a_loop_header_is_reported() {
    let found = loop_header_accesses(&module("loop_head.spv")).expect("a valid module");
    let count = |what: &str| found.iter().filter(|found| found.starts_with(what)).count();
    assert_eq!((count("OpControlBarrier "), count("OpLoad "), count("OpStore ")), (2, 1, 1), "{found:?}");
    assert_eq!(loop_header_accesses(&module("race.spv")).as_deref(), Ok(&[][..]));
}

#[test]
fn a_block_is_reflected_by_name_and_by_layout() {
    let named = reflect(&module("block.named.spv")).expect("a block");
    let stripped = reflect(&module("block.spv")).expect("a block");
    assert_eq!(named.layout(), stripped.layout());
    let rows: Vec<_> =
        named.push_constants.iter().map(|m| (m.name.as_str(), m.offset, m.size, m.pointer)).collect();
    assert_eq!(
        rows,
        [
            ("scalar", 0, 4, false),
            ("pair", 8, 8, false),
            ("words", 16, 8, true),
            ("array", 24, 12, false),
            ("pointers", 40, 16, true),
            ("last", 56, 4, false),
        ]
    );
}

#[test]
fn specialization_constants_are_reflected_with_their_defaults() {
    let reflection = reflect(&module("block.named.spv")).expect("constants");
    let rows: Vec<_> = reflection.spec_constants.iter().map(|c| (c.name.as_str(), c.id, c.default)).collect();
    assert_eq!(rows, [("ITEMS", 1, 16), ("", 2, 1), ("WIDE", 5, 1), ("SCALE", 7, 1.5_f32.to_bits())]);
    assert_eq!(reflection.workgroup_size_id, Some(2));
}

#[test]
fn an_array_of_pointers_has_the_accesses_of_all() {
    check("block", "words write, pointers read");
}

#[test]
fn an_invalid_module_is_refused() {
    for words in [vec![], vec![0x0723_0203], vec![1, 2, 3, 4, 5], vec![0x0723_0203, 0, 0, 9, 0, 0x0009_003d]]
    {
        assert!(Module::new(words).is_err());
    }
}

#[test]
fn a_broken_rule_is_reported() {
    let broken = broken(&module("broken_rules.spv"));
    let ends: Vec<_> = broken
        .addresses
        .iter()
        .map(|sentence| {
            sentence.split_once(" at byte ").and_then(|(_, rest)| rest.split_once(' ')).map(|(_, end)| end)
        })
        .collect();
    let expected = ["is added to an address in 32 bits", "loses its carry", "loses its high word"];
    for what in expected {
        assert_eq!(ends.iter().filter(|end| **end == Some(what)).count(), 1, "{what}: {broken:?}");
    }
    assert_eq!(ends.len(), 3, "{broken:?}");
    let counts =
        [&broken.products, &broken.words_of_ballots, &broken.long_operations, &broken.subgroup_indices];
    assert_eq!(counts.map(|ids| ids.len()), [1, 2, 1, 1], "{broken:?}");
    let advance = super::rules::broken(&module("advance.spv"));
    assert_eq!(advance.addresses.len(), 0, "{advance:?}");
}

/// Checks that branches, loops and selections name blocks, that each loop is repeated by one branch, and that a phi has a
/// value for each block before its own.
fn check_flow(module: &Module) {
    use super::opcode;
    let (mut block, mut blocks, mut named) = (0, Vec::new(), BTreeSet::new());
    let (mut edges, mut heads, mut phis) = (BTreeSet::new(), Vec::new(), Vec::new());
    for i in module.instructions() {
        let names = match i.opcode {
            opcode::LABEL => {
                block = i.operands[0];
                blocks.push(block);
                continue;
            }
            opcode::PHI => {
                phis.push((block, i.from(3).iter().step_by(2).copied().collect::<BTreeSet<_>>()));
                continue;
            }
            opcode::SELECTION_MERGE => &i.operands[..1],
            opcode::LOOP_MERGE => {
                heads.push(block);
                &i.operands[..2]
            }
            opcode::BRANCH => i.operands,
            opcode::BRANCH_CONDITIONAL => &i.operands[1..3],
            _ => continue,
        };
        named.extend(names);
        if matches!(i.opcode, opcode::BRANCH | opcode::BRANCH_CONDITIONAL) {
            edges.extend(names.iter().map(|to| (block, *to)));
        }
    }
    assert!(named.iter().all(|name| blocks.contains(name)), "an absent block is named");
    let at = |label: &Id| blocks.iter().position(|other| other == label);
    for head in &heads {
        let back = edges.iter().filter(|(from, to)| to == head && at(from) >= at(head)).count();
        assert_eq!(back, 1, "the loop of block {head}");
    }
    assert!(!phis.is_empty(), "a loop has phis");
    for (block, sources) in phis {
        let before = edges.iter().filter(|(_, to)| *to == block).map(|(from, _)| *from);
        assert_eq!(sources, before.collect(), "a phi of block {block}");
    }
}

/// The marks that a pruned fixture stores, and how often.
fn stored_under(constants: &[(u32, u32)]) -> Vec<u32> {
    let value = |id| constants.iter().find(|(other, _)| *other == id).map(|(_, value)| *value);
    let pruned = |module: &Module| pruned(module, &Sizes::new(module, value)).expect("all loops stay");
    let once = Module::new(pruned(&module("pruned.spv"))).expect("a module");
    assert_eq!(once.words(), pruned(&once), "there is more to prune");
    check_flow(&once);
    let stores = once.instructions().filter(|i| i.opcode == super::opcode::STORE);
    stores.filter_map(|i| once.constant(*i.operands.get(1)?)).filter(|value| *value > 1000).collect()
}

#[test]
fn what_constants_rule_out_is_pruned() {
    assert_eq!(stored_under(&[]), [1001, 1004, 1005, 1006]);
    assert_eq!(stored_under(&[(1, 0)]), [1002, 1004, 1005, 1006, 1007]);
    assert_eq!(stored_under(&[(1, 0), (2, 3)]), [1002, 1003, 1004, 1005, 1006, 1007]);
    // The last loop ends by a return alone.
    assert_eq!(stored_under(&[(3, 1)]), [1001, 1004, 1005]);
    assert_eq!(stored_under(&[(1, 0), (3, 1)]), [1002, 1004, 1005]);
}
