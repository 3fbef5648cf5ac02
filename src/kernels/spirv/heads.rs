//! Whether a kernel can be watched for races: the validation layer's race detection leaves out the first block of every
//! loop, its header, where it neither sees an access to shared memory nor that a barrier ends what went before.

use super::{Instruction, Module, opcode, storage};

/// What the headers of a kernel's loops do to shared memory, a sentence each; nothing, where all of it is watched.
pub fn unwatched(module: &Module) -> Result<Vec<String>, String> {
    let (mut unwatched, mut block) = (Vec::new(), Vec::new());
    for i in module.instructions() {
        match i.opcode {
            opcode::LABEL => block.clear(),
            opcode::LOOP_MERGE => unwatched.append(&mut block),
            opcode::CONTROL_BARRIER => block.push(i.describe("stands in the first block of a loop")),
            _ if touches_shared_memory(module, &i)? => {
                block.push(i.describe("goes to shared memory in the first block of a loop"));
            }
            _ => {}
        }
    }
    Ok(unwatched)
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
