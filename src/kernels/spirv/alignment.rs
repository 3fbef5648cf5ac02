//! Alignment that a specialized kernel requires of its addresses.

use super::flow::traced_accesses;
use super::graph::ROUNDED;
use super::reachable::reachable;
use super::sizes::Sizes;
use super::{Instruction, Module, opcode};

/// Of each member of the push-constant block the largest alignment, in bytes, that a load or store through it declares; 1
/// without any. Accesses that `constants` rule out do not count, nor do those at an address that the kernel rounds down.
pub fn alignments(module: &Module, constants: &Sizes) -> Result<Vec<u32>, String> {
    let traced = traced_accesses(module)?;
    let reachable = reachable(module, constants);
    let mut alignments = vec![1; traced.member_count];
    for (access, roots) in traced.accesses {
        if !reachable.contains(&access.instruction.position) || roots & ROUNDED != 0 {
            continue;
        }
        let declared = declared_alignment(&access.instruction);
        for (member, alignment) in alignments.iter_mut().enumerate() {
            if roots & (1 << member) != 0 {
                *alignment = declared.max(*alignment);
            }
        }
    }
    Ok(alignments)
}

/// The literal after the memory operands of an access; 1 without one.
fn declared_alignment(i: &Instruction<'_>) -> u32 {
    /// The bit of memory operands that states that an alignment follows.
    const ALIGNED: u32 = 2;
    let operands = match i.opcode {
        opcode::LOAD => i.from(3),
        opcode::STORE => i.from(2),
        _ => &[],
    };
    match operands {
        [mask, alignment, ..] if mask & ALIGNED != 0 => *alignment,
        _ => 1,
    }
}
