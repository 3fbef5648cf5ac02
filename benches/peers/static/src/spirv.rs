//! SPIR-V modules and their shared memory.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::tool::run;

/// A specialization constant: its id and its value.
pub type Constants = Vec<(u32, u32)>;

/// Bytes of shared memory of a workgroup that the module declares with these constants.
pub fn shared_memory(module: &Path, constants: &Constants, work: &Path) -> Result<u32> {
    let (set, folded) = (work.join("set.spv"), work.join("folded.spv"));
    let bytes: Vec<_> =
        with_constants(words(module)?, constants).iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(&set, bytes).with_context(|| set.display().to_string())?;
    let arguments = ["--freeze-spec-const", "--fold-spec-const-op-composite", "--unify-const", "-O"];
    let mut arguments: Vec<_> = arguments.map(String::from).into();
    arguments.extend([set.display().to_string(), "-o".into(), folded.display().to_string()]);
    run("spirv-opt", &arguments)?;
    workgroup_bytes(&words(&folded)?)
}

/// The module with these values as defaults of its specialization constants.
fn with_constants(mut words: Vec<u32>, constants: &Constants) -> Vec<u32> {
    let mut values = HashMap::new();
    for at in instructions(&words) {
        if let [_, id, SPEC_ID, number, ..] = words[at..] {
            let value = constants.iter().find(|(of, _)| *of == number);
            if words[at] & 0xffff == OP_DECORATE {
                values.extend(value.map(|(_, value)| (id, *value)));
            }
        }
    }
    for at in instructions(&words) {
        let opcode = words[at] & 0xffff;
        if !(OP_SPEC_CONSTANT_TRUE..=OP_SPEC_CONSTANT).contains(&opcode) {
            continue;
        }
        let Some(&value) = values.get(&words[at + 2]) else { continue };
        if opcode == OP_SPEC_CONSTANT {
            words[at + 3] = value;
        } else {
            let opcode = if value == 0 { OP_SPEC_CONSTANT_FALSE } else { OP_SPEC_CONSTANT_TRUE };
            words[at] = words[at] & !0xffff | opcode;
        }
    }
    words
}

/// Word offset of each instruction.
fn instructions(words: &[u32]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 5;
    while at < words.len() {
        found.push(at);
        at += (words[at] >> 16).max(1) as usize;
    }
    found
}

/// The words of a module.
pub fn words(module: &Path) -> Result<Vec<u32>> {
    let bytes = std::fs::read(module).with_context(|| module.display().to_string())?;
    let words: Vec<_> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    if words.first() != Some(&0x0723_0203) {
        bail!("{} is no SPIR-V module", module.display());
    }
    Ok(words)
}

const OP_TYPE_BOOL: u32 = 20;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_TYPE_VECTOR: u32 = 23;
const OP_TYPE_ARRAY: u32 = 28;
const OP_TYPE_STRUCT: u32 = 30;
const OP_TYPE_POINTER: u32 = 32;
const OP_CONSTANT: u32 = 43;
const OP_SPEC_CONSTANT_TRUE: u32 = 48;
const OP_SPEC_CONSTANT_FALSE: u32 = 49;
const OP_SPEC_CONSTANT: u32 = 50;
const OP_VARIABLE: u32 = 59;
const OP_DECORATE: u32 = 71;
const SPEC_ID: u32 = 1;
const WORKGROUP: u32 = 4;

fn workgroup_bytes(words: &[u32]) -> Result<u32> {
    // By id: the size of a type, the value of a constant, the pointee of a pointer.
    let (mut sizes, mut values, mut pointees) = (HashMap::new(), HashMap::new(), HashMap::new());
    let mut total = 0;
    for at in instructions(words) {
        let (count, opcode) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        let Some(operands) = words.get(at + 1..at + count) else { bail!("a module that ends too early") };
        let size = |id: &u32, sizes: &HashMap<u32, u32>| sizes.get(id).copied().unwrap_or(0);
        match (opcode, operands) {
            (OP_TYPE_BOOL, [id, ..]) => _ = sizes.insert(*id, 4),
            (OP_TYPE_INT | OP_TYPE_FLOAT, [id, bits, ..]) => _ = sizes.insert(*id, bits / 8),
            (OP_TYPE_VECTOR, [id, of, count]) => _ = sizes.insert(*id, size(of, &sizes) * count),
            (OP_TYPE_ARRAY, [id, of, count]) => {
                let count = values.get(count).context("an array of a length that is not constant")?;
                sizes.insert(*id, size(of, &sizes) * count);
            }
            (OP_TYPE_STRUCT, [id, members @ ..]) => {
                let total = members.iter().map(|member| size(member, &sizes)).sum();
                sizes.insert(*id, total);
            }
            (OP_TYPE_POINTER, [id, WORKGROUP, of]) => _ = pointees.insert(*id, *of),
            (OP_CONSTANT, [_, id, value, ..]) => _ = values.insert(*id, *value),
            (OP_VARIABLE, [pointer, _, WORKGROUP, ..]) => total += size(&pointees[pointer], &sizes),
            _ => {}
        }
    }
    Ok(total)
}
