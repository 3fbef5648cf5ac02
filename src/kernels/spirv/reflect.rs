//! The push-constant block and the specialization constants of a module.

use super::{Id, Module, Type, opcode, storage};
use std::collections::HashMap;

/// What a host has to know of a module before it can run it.
#[derive(Debug)]
pub struct Reflection {
    pub push_constants: Vec<Member>,
    /// Ascending in their ids.
    pub spec_constants: Vec<Constant>,
    /// The specialization constant that is `gl_WorkGroupSize.x`.
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
    /// The bits of its default.
    pub default: u32,
}

const SPEC_ID: u32 = 1;
const ARRAY_STRIDE: u32 = 6;
const MATRIX_STRIDE: u32 = 7;
const BUILT_IN: u32 = 11;
const OFFSET: u32 = 35;
const WORKGROUP_SIZE: u32 = 25;

/// Reflects a module.
pub fn reflect(module: &Module) -> Result<Reflection, String> {
    let marks = Marks::new(module)?;
    let mut spec_constants = Vec::new();
    for ((id, _), spec_id) in marks
        .decorations
        .iter()
        .filter(|((_, decoration), _)| *decoration == SPEC_ID)
    {
        spec_constants.push(Constant {
            name: marks.names.get(id).cloned().unwrap_or_default(),
            id: *spec_id,
            default: module
                .constant(*id)
                .ok_or_else(|| format!("specialization constant {spec_id} is no scalar"))?,
        });
    }
    spec_constants.sort_by_key(|constant| constant.id);
    Ok(Reflection {
        push_constants: push_constants(module, &marks)?,
        spec_constants,
        workgroup_size_id: workgroup_size_id(module, &marks),
    })
}

fn workgroup_size_id(module: &Module, marks: &Marks) -> Option<u32> {
    let (size, _) = marks
        .decorations
        .iter()
        .find(|((_, decoration), value)| *decoration == BUILT_IN && **value == WORKGROUP_SIZE)?
        .0;
    let composite = module
        .instructions()
        .find(|i| i.opcode == opcode::SPEC_CONSTANT_COMPOSITE && i.operands.get(1) == Some(size))?;
    marks
        .decorations
        .get(&(*composite.operands.get(2)?, SPEC_ID))
        .copied()
}

fn push_constants(module: &Module, marks: &Marks) -> Result<Vec<Member>, String> {
    let mut blocks = module.instructions().filter(|i| {
        i.opcode == opcode::VARIABLE && i.operands.get(2) == Some(&storage::PUSH_CONSTANT)
    });
    let Some(block) = blocks.next() else {
        return Ok(Vec::new());
    };
    let block = match module.type_of(block.operand(1)?) {
        Some(Type::Pointer { to, .. }) => *to,
        _ => return Err("the push-constant block is no variable".to_owned()),
    };
    let Some(Type::Struct(members)) = module.type_by_id(block) else {
        return Err("the push-constant block is no structure".to_owned());
    };
    let member = |(index, of): (u32, &Id)| {
        Ok(Member {
            name: marks
                .member_names
                .get(&(block, index))
                .cloned()
                .unwrap_or_default(),
            offset: marks.member(block, index, OFFSET)?,
            size: marks.size(module, *of, marks.member(block, index, MATRIX_STRIDE).ok())?,
            pointer: module.holds_pointer(*of),
        })
    };
    (0..).zip(members).map(member).collect()
}

/// Names and decorations.
#[derive(Default)]
struct Marks {
    names: HashMap<Id, String>,
    member_names: HashMap<(Id, u32), String>,
    decorations: HashMap<(Id, u32), u32>,
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
                    marks
                        .member_names
                        .insert((operand(0)?, operand(1)?), string(instruction.from(2)));
                }
                opcode::DECORATE => {
                    let value = instruction.operands.get(2).copied().unwrap_or_default();
                    marks.decorations.insert((operand(0)?, operand(1)?), value);
                }
                opcode::MEMBER_DECORATE => {
                    let value = instruction.operands.get(3).copied().unwrap_or_default();
                    marks
                        .member_decorations
                        .insert((operand(0)?, operand(1)?, operand(2)?), value);
                }
                _ => {}
            }
        }
        Ok(marks)
    }

    fn member(&self, of: Id, index: u32, decoration: u32) -> Result<u32, String> {
        let value = self
            .member_decorations
            .get(&(of, index, decoration))
            .copied();
        value.ok_or_else(|| {
            format!("member {index} of the structure %{of} lacks decoration {decoration}")
        })
    }

    /// The bytes of a type in an explicit layout; a matrix's stride stands at the member that holds it.
    fn size(&self, module: &Module, id: Id, matrix_stride: Option<u32>) -> Result<u32, String> {
        let unsized_type = || format!("the type %{id} has no size in a push-constant block");
        match module.type_by_id(id) {
            Some(Type::Scalar(size)) => Ok(*size),
            Some(Type::Pointer {
                storage: storage::PHYSICAL,
                ..
            }) => Ok(8),
            Some(Type::Vector { of, count }) => match (module.type_by_id(*of), matrix_stride) {
                (Some(Type::Vector { .. }), Some(stride)) => Ok(count * stride),
                (Some(Type::Scalar(size)), _) => Ok(count * size),
                _ => Err(unsized_type()),
            },
            Some(Type::Array { length, .. }) => {
                let stride = self
                    .decorations
                    .get(&(id, ARRAY_STRIDE))
                    .ok_or_else(unsized_type)?;
                Ok(module.constant(*length).ok_or_else(unsized_type)? * stride)
            }
            Some(Type::Struct(members)) => {
                let mut end = 0;
                for (index, of) in (0..).zip(members) {
                    let stride = self.member(id, index, MATRIX_STRIDE).ok();
                    end =
                        end.max(self.member(id, index, OFFSET)? + self.size(module, *of, stride)?);
                }
                Ok(end)
            }
            _ => Err(unsized_type()),
        }
    }
}

/// A literal string: bytes in words, the lowest first, ended by a zero.
fn string(words: &[u32]) -> String {
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take_while(|byte| *byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
