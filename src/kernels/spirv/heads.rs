//! Accesses in loop headers: the validation layer's race detection skips the first block of every loop, its
//! header; there it sees neither accesses to shared memory nor barriers.

use super::{Instruction, Module, opcode, storage};

/// The barriers and accesses to shared memory in the loop headers of a kernel, a sentence each.
pub fn loop_header_accesses(module: &Module) -> Result<Vec<String>, String> {
    let (mut found, mut block) = (Vec::new(), Vec::new());
    for i in module.instructions() {
        match i.opcode {
            opcode::LABEL => block.clear(),
            opcode::LOOP_MERGE => found.append(&mut block),
            opcode::CONTROL_BARRIER => block.push(i.describe("is in the header of a loop")),
            _ if touches_shared_memory(module, &i)? => {
                block.push(i.describe("accesses shared memory in the header of a loop"));
            }
            _ => {}
        }
    }
    Ok(found)
}

fn touches_shared_memory(module: &Module, i: &Instruction<'_>) -> Result<bool, String> {
    let pointers = match i.opcode {
        opcode::STORE | opcode::ATOMIC_STORE => &[i.operand(0)?][..],
        opcode::COPY_MEMORY | opcode::COPY_MEMORY_SIZED => &[i.operand(0)?, i.operand(1)?],
        opcode::LOAD
        | opcode::ATOMIC_LOAD
        | opcode::ATOMIC_EXCHANGE..=opcode::ATOMIC_XOR
        | opcode::ATOMIC_F_MIN
        | opcode::ATOMIC_F_MAX
        | opcode::ATOMIC_F_ADD => &[i.operand(2)?],
        _ => &[],
    };
    Ok(pointers.iter().any(|pointer| module.storage_of(*pointer) == Some(storage::WORKGROUP)))
}
