//! Reflection of the push-constant block and the specialization constants.

use super::{Id, Instruction, Module, Type, decoration, opcode, storage};
use std::collections::HashMap;

/// The interface between a module and the host.
#[derive(Debug)]
pub struct Reflection {
    pub push_constants: Vec<Member>,
    /// Ascending by id.
    pub spec_constants: Vec<Constant>,
    /// The id of the specialization constant that is `gl_WorkGroupSize.x`.
    pub workgroup_size_id: Option<u32>,
}

/// A member of the push-constant block; its name is empty in a stripped module.
#[derive(Debug)]
pub struct Member {
    pub name: String,
    pub offset: u32,
    pub size: u32,
    pub pointer: bool,
}

/// A specialization constant; its name is empty in a stripped module.
#[derive(Debug)]
pub struct Constant {
    pub name: String,
    pub id: u32,
    /// The bits of the default.
    pub default: u32,
}

impl Reflection {
    /// Offset, size and being a pointer, of each member of the push-constant block: all that a stripped module
    /// has.
    pub fn layout(&self) -> Vec<(u32, u32, bool)> {
        let members = self.push_constants.iter();
        members.map(|member| (member.offset, member.size, member.pointer)).collect()
    }
}

/// Reflects a module.
pub fn reflect(module: &Module) -> Result<Reflection, String> {
    let marks = Marks::new(module)?;
    let mut spec_constants = Vec::new();
    for (spec_id, id) in module.spec_constants() {
        spec_constants.push(Constant {
            name: marks.names.get(&id).cloned().unwrap_or_default(),
            id: spec_id,
            default: module
                .constant(id)
                .ok_or_else(|| format!("specialization constant {spec_id} is not a scalar"))?,
        });
    }
    spec_constants.sort_by_key(|constant| constant.id);
    Ok(Reflection {
        push_constants: push_constants(module, &marks)?,
        spec_constants,
        workgroup_size_id: module
            .workgroup_size()
            .and_then(|[x, ..]| module.decoration(x, decoration::SPEC_ID)),
    })
}

fn push_constants(module: &Module, marks: &Marks) -> Result<Vec<Member>, String> {
    let is_block = |i: &Instruction<'_>| {
        i.opcode == opcode::VARIABLE && i.operands.get(2) == Some(&storage::PUSH_CONSTANT)
    };
    let Some(variable) = module.instructions().find(is_block) else {
        return Ok(Vec::new());
    };
    let variable = variable.operand(1)?;
    let Some(Type::Pointer { to: block, .. }) = module.type_of(variable) else {
        return Err(format!("the push-constant block %{variable} is not a variable"));
    };
    let member = |(index, of): (u32, &Id)| {
        Ok(Member {
            name: marks.member_names.get(&(*block, index)).cloned().unwrap_or_default(),
            offset: marks.member(*block, index, decoration::OFFSET)?,
            size: size(module, *of)?,
            pointer: module.holds_pointer(*of),
        })
    };
    (0..).zip(module.block_members(variable)?).map(member).collect()
}

/// Names of ids and members, and decorations of members.
#[derive(Default)]
struct Marks {
    names: HashMap<Id, String>,
    member_names: HashMap<(Id, u32), String>,
    member_decorations: HashMap<(Id, u32, u32), u32>,
}

impl Marks {
    fn new(module: &Module) -> Result<Self, String> {
        let mut marks = Self::default();
        for instruction in module.instructions() {
            let operand = |index| instruction.operand(index);
            match instruction.opcode {
                opcode::NAME => {
                    marks.names.insert(operand(0)?, string(instruction.from(1)));
                }
                opcode::MEMBER_NAME => {
                    marks.member_names.insert((operand(0)?, operand(1)?), string(instruction.from(2)));
                }
                opcode::MEMBER_DECORATE => {
                    let value = instruction.operands.get(3).copied().unwrap_or_default();
                    marks.member_decorations.insert((operand(0)?, operand(1)?, operand(2)?), value);
                }
                _ => {}
            }
        }
        Ok(marks)
    }

    fn member(&self, of: Id, index: u32, decoration: u32) -> Result<u32, String> {
        let value = self.member_decorations.get(&(of, index, decoration)).copied();
        value.ok_or_else(|| format!("member {index} of the structure %{of} lacks decoration {decoration}"))
    }
}

/// The size of a member in bytes. Types without a plain equivalent on the host are errors: matrices,
/// structures, booleans.
fn size(module: &Module, id: Id) -> Result<u32, String> {
    let scalar_size = |id| module.type_by_id(id).and_then(Type::scalar_size);
    let size = match module.type_by_id(id) {
        Some(Type::Pointer { storage: storage::PHYSICAL, .. }) => Some(8),
        Some(Type::Vector { of, count }) => scalar_size(*of).map(|size| count * size),
        Some(Type::Array { length, .. }) => {
            let stride = module.decoration(id, decoration::ARRAY_STRIDE);
            module.constant(*length).zip(stride).map(|(length, stride)| length * stride)
        }
        _ => scalar_size(id),
    };
    size.ok_or_else(|| {
        "a push constant is neither a number, vector or pointer, nor an array of these".to_owned()
    })
}

/// A literal string: bytes in words, lowest byte first, ended by a zero.
fn string(words: &[u32]) -> String {
    let bytes: Vec<u8> =
        words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
