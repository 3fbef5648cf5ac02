//! As much of SPIR-V as it takes to say what a kernel's push constants are and what it does through its pointers.
//!
//! Part of `build.rs`, under `compile-shaders`; in the crate it exists for its tests. Numbers are those of the
//! SPIR-V specification, version 1.5; a module is one that glslang made, but nothing here panics on another.

mod flow;
mod graph;
#[cfg(test)]
mod heads;
pub mod opcode;
mod reflect;
#[cfg(all(test, feature = "compile-shaders"))]
mod tests;

pub use flow::accesses;
#[cfg(test)]
pub use heads::unwatched;
pub use reflect::reflect;

use std::collections::HashMap;
use std::ops::Range;

/// An SSA id.
pub type Id = u32;

/// A module, split into instructions, with its declarations indexed.
#[derive(Debug, Default)]
pub struct Module {
    words: Vec<u32>,
    instructions: Vec<Range<usize>>,
    types: HashMap<Id, Type>,
    /// The type of each value.
    type_of: HashMap<Id, Id>,
    /// The first word of each scalar constant; of a specialization constant, its default.
    constants: HashMap<Id, u32>,
}

/// A type, as far as layouts and addresses need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Bool,
    /// An integer or float of so many bytes.
    Scalar(u32),
    /// A vector, or a matrix of its columns.
    Vector {
        of: Id,
        count: u32,
    },
    Array {
        of: Id,
        length: Id,
    },
    Struct(Vec<Id>),
    Pointer {
        storage: u32,
        to: Id,
    },
    Other,
}

/// Storage classes.
pub mod storage {
    pub const WORKGROUP: u32 = 4;
    pub const PRIVATE: u32 = 6;
    pub const FUNCTION: u32 = 7;
    pub const PUSH_CONSTANT: u32 = 9;
    pub const PHYSICAL: u32 = 5349;
}

/// One instruction: its number and the words after the first.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'a> {
    pub opcode: u32,
    pub operands: &'a [u32],
    /// Where it stands in the module, in words.
    pub position: usize,
}

impl Instruction<'_> {
    /// An operand that the specification says is there.
    pub fn operand(&self, index: usize) -> Result<u32, String> {
        let operand = self.operands.get(index).copied();
        operand.ok_or_else(|| self.describe("is too short"))
    }

    /// The operands from `index` on.
    pub fn from(&self, index: usize) -> &[u32] {
        self.operands.get(index..).unwrap_or_default()
    }

    /// A sentence about this instruction; its place is what `spirv-dis --offsets` prints.
    pub fn describe(&self, what: &str) -> String {
        format!("{} at byte {:#010x} {what}", opcode::name(self.opcode), 4 * self.position)
    }
}

impl Module {
    const HEADER: usize = 5;

    /// Reads a module in the byte order of its words.
    pub fn new(words: Vec<u32>) -> Result<Self, String> {
        if words.first() != Some(&0x0723_0203) || words.len() < Self::HEADER {
            return Err("this is no SPIR-V".to_owned());
        }
        let mut module = Self { words, ..Self::default() };
        let mut position = Self::HEADER;
        while let Some(first) = module.words.get(position) {
            let end = position + (first >> 16) as usize;
            if end == position || end > module.words.len() {
                return Err(format!("the instruction at word {position} has no sound length"));
            }
            module.instructions.push(position..end);
            position = end;
        }
        module.index()?;
        Ok(module)
    }

    /// The tool that wrote the module, by its registered number and version.
    pub fn generator(&self) -> u32 {
        self.words[2]
    }

    /// One more than the greatest id.
    pub fn bound(&self) -> u32 {
        self.words[3]
    }

    /// All instructions, in order.
    pub fn instructions(&self) -> impl Iterator<Item = Instruction<'_>> {
        self.instructions.iter().map(|range| Instruction {
            opcode: self.words[range.start] & 0xffff,
            operands: &self.words[range.start + 1..range.end],
            position: range.start,
        })
    }

    /// A type by its id.
    pub fn type_by_id(&self, id: Id) -> Option<&Type> {
        self.types.get(&id)
    }

    /// The type of a value.
    pub fn type_of(&self, value: Id) -> Option<&Type> {
        self.types.get(self.type_of.get(&value)?)
    }

    /// The storage class that a pointer points into; none if the value is no pointer.
    pub fn storage_of(&self, value: Id) -> Option<u32> {
        match self.type_of(value) {
            Some(Type::Pointer { storage, .. }) => Some(*storage),
            _ => None,
        }
    }

    /// The value of a scalar constant, or a specialization constant's default.
    pub fn constant(&self, id: Id) -> Option<u32> {
        self.constants.get(&id).copied()
    }

    /// Whether a type is, or has in it, a device address.
    pub fn holds_pointer(&self, id: Id) -> bool {
        match self.types.get(&id) {
            Some(Type::Pointer { storage, .. }) => *storage == storage::PHYSICAL,
            Some(Type::Array { of, .. }) => self.holds_pointer(*of),
            Some(Type::Struct(members)) => members.iter().any(|member| self.holds_pointer(*member)),
            _ => false,
        }
    }

    /// The types of the members of a block, given the block's variable.
    pub fn block_members(&self, variable: Id) -> Result<&[Id], String> {
        let block = match self.type_of(variable) {
            Some(Type::Pointer { to, .. }) => self.types.get(to),
            _ => None,
        };
        match block {
            Some(Type::Struct(members)) => Ok(members),
            _ => Err(format!("the push-constant block %{variable} is no structure")),
        }
    }

    fn index(&mut self) -> Result<(), String> {
        let (mut types, mut type_of, mut constants) = (HashMap::new(), HashMap::new(), HashMap::new());
        for instruction in self.instructions() {
            if let Some(declared) = declared_type(&instruction)? {
                types.insert(instruction.operand(0)?, declared);
                continue;
            }
            // Only a result type is a type as the first operand: names and decorations of types stand before them.
            match instruction.operands {
                [of, result, value @ ..] if types.contains_key(of) => {
                    type_of.insert(*result, *of);
                    let value = constant_value(instruction.opcode, value);
                    constants.extend(value.map(|value| (*result, value)));
                }
                _ => {}
            }
        }
        (self.types, self.type_of, self.constants) = (types, type_of, constants);
        Ok(())
    }
}

fn declared_type(i: &Instruction<'_>) -> Result<Option<Type>, String> {
    Ok(Some(match i.opcode {
        opcode::TYPE_BOOL => Type::Bool,
        opcode::TYPE_INT | opcode::TYPE_FLOAT => Type::Scalar(i.operand(1)? / 8),
        opcode::TYPE_VECTOR | opcode::TYPE_MATRIX => Type::Vector { of: i.operand(1)?, count: i.operand(2)? },
        opcode::TYPE_ARRAY => Type::Array { of: i.operand(1)?, length: i.operand(2)? },
        opcode::TYPE_STRUCT => Type::Struct(i.from(1).to_vec()),
        opcode::TYPE_POINTER => Type::Pointer { storage: i.operand(1)?, to: i.operand(2)? },
        opcode::TYPE_VOID..=opcode::TYPE_FORWARD_POINTER => Type::Other,
        _ => return Ok(None),
    }))
}

fn constant_value(opcode: u32, value: &[u32]) -> Option<u32> {
    match opcode {
        opcode::CONSTANT_TRUE | opcode::SPEC_CONSTANT_TRUE => Some(1),
        opcode::CONSTANT_FALSE | opcode::SPEC_CONSTANT_FALSE => Some(0),
        opcode::CONSTANT | opcode::SPEC_CONSTANT => value.first().copied(),
        _ => None,
    }
}
