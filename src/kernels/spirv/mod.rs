//! A reader of SPIR-V: reflects push constants, analyses accesses through pointers, and finds the interface of
//! foreign modules.
//!
//! Part of `build.rs`, under `compile-shaders`, and of the crate. Numbers are from the SPIR-V
//! specification, version 1.6. Modules are mostly glslang's, but the reader and its index panic on no input.

pub mod alignment;
mod flow;
mod graph;
#[cfg(test)]
mod heads;
pub mod opcode;
pub mod pruned;
mod reachable;
mod reflect;
#[cfg(test)]
pub mod rules;
pub mod sizes;
#[cfg(all(test, feature = "compile-shaders"))]
mod tests;

pub use flow::{accesses, accesses_with_functions};
#[cfg(test)]
pub use heads::loop_header_accesses;
pub use reflect::reflect;

use std::collections::HashMap;
use std::ops::Range;

/// An SSA id.
pub type Id = u32;

/// A module, split into instructions, with an index of its declarations.
#[derive(Clone, Debug, Default)]
pub struct Module {
    words: Vec<u32>,
    instructions: Vec<Range<usize>>,
    types: HashMap<Id, Type>,
    /// The type of each value.
    type_of: HashMap<Id, Id>,
    /// The first word of each scalar constant, and of each specialization constant's default.
    constants: HashMap<Id, u32>,
    /// The first literal of each decoration, or 0, by target and decoration.
    decorations: HashMap<(Id, u32), u32>,
}

/// A type, reduced to its layout and addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Bool,
    Int {
        bits: u32,
        is_signed: bool,
    },
    Float {
        bits: u32,
    },
    /// A vector, or a matrix as a vector of columns.
    Vector {
        of: Id,
        count: u32,
    },
    Array {
        of: Id,
        length: Id,
    },
    RuntimeArray {
        of: Id,
    },
    Struct(Vec<Id>),
    Pointer {
        storage: u32,
        to: Id,
    },
    Image {
        /// 1 with a sampler, 2 as storage.
        sampled: u32,
        is_buffer: bool,
    },
    Sampler,
    SampledImage,
    Other,
}

impl Type {
    /// The size of an integer or float in bytes.
    pub fn scalar_size(&self) -> Option<u32> {
        match self {
            Self::Int { bits, .. } | Self::Float { bits } => Some(bits / 8),
            _ => None,
        }
    }
}

/// Storage classes.
pub mod storage {
    pub const UNIFORM_CONSTANT: u32 = 0;
    pub const UNIFORM: u32 = 2;
    pub const WORKGROUP: u32 = 4;
    pub const PRIVATE: u32 = 6;
    pub const FUNCTION: u32 = 7;
    pub const PUSH_CONSTANT: u32 = 9;
    pub const STORAGE_BUFFER: u32 = 12;
    pub const PHYSICAL: u32 = 5349;
}

/// Decorations.
pub mod decoration {
    pub const SPEC_ID: u32 = 1;
    pub const BUFFER_BLOCK: u32 = 3;
    pub const ARRAY_STRIDE: u32 = 6;
    pub const BUILT_IN: u32 = 11;
    pub const ALIASED: u32 = 20;
    pub const BINDING: u32 = 33;
    pub const DESCRIPTOR_SET: u32 = 34;
    pub const OFFSET: u32 = 35;
}

/// The number of the built-in `WorkgroupSize`, which decorates a constant.
const WORKGROUP_SIZE: u32 = 25;

/// An instruction: its opcode and its operands.
#[derive(Clone, Copy, Debug)]
pub struct Instruction<'a> {
    pub opcode: u32,
    pub operands: &'a [u32],
    /// The offset in the module, in words.
    pub position: usize,
}

impl Instruction<'_> {
    /// A mandatory operand.
    pub fn operand(&self, index: usize) -> Result<u32, String> {
        let operand = self.operands.get(index).copied();
        operand.ok_or_else(|| self.describe("is too short"))
    }

    /// The operands from `index` on.
    pub fn from(&self, index: usize) -> &[u32] {
        self.operands.get(index..).unwrap_or_default()
    }

    /// A sentence about this instruction, with the byte offset that `spirv-dis --offsets` prints.
    pub fn describe(&self, what: &str) -> String {
        format!("{} at byte {:#010x} {what}", opcode::name(self.opcode), 4 * self.position)
    }
}

impl Module {
    const HEADER: usize = 5;

    /// Reads a module in the byte order of its words.
    pub fn new(words: Vec<u32>) -> Result<Self, String> {
        if words.first() != Some(&0x0723_0203) || words.len() < Self::HEADER {
            return Err("the SPIR-V header is missing".to_owned());
        }
        let mut module = Self { words, ..Self::default() };
        let mut position = Self::HEADER;
        while let Some(first) = module.words.get(position) {
            let end = position + (first >> 16) as usize;
            if end == position || end > module.words.len() {
                return Err(format!("the instruction at byte {:#010x} has an invalid length", 4 * position));
            }
            module.instructions.push(position..end);
            position = end;
        }
        module.index()?;
        Ok(module)
    }

    /// The words of the module.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The SPIR-V version in the header: 1.4 is 0x10400.
    pub fn version(&self) -> u32 {
        self.words[1]
    }

    /// The generator: registered number and version of the tool that wrote the module.
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

    /// Whether a value is a truth value, or a number of 32 bits.
    pub fn is_word(&self, value: Id) -> bool {
        let of = self.type_of(value);
        matches!(of, Some(Type::Bool | Type::Int { bits: 32, .. } | Type::Float { bits: 32 }))
    }

    /// The storage class of a pointer; none if the value is not a pointer.
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

    /// The first literal of a decoration; none if the target lacks the decoration.
    pub fn decoration(&self, target: Id, decoration: u32) -> Option<u32> {
        self.decorations.get(&(target, decoration)).copied()
    }

    /// The scalar constants that can be specialized: `SpecId` and id.
    pub fn spec_constants(&self) -> impl Iterator<Item = (u32, Id)> {
        let decorations = self.decorations.iter();
        decorations
            .filter(|((_, of), _)| *of == decoration::SPEC_ID)
            .map(|((id, _), spec_id)| (*spec_id, *id))
    }

    /// The three components of the constant `WorkgroupSize`, if there is one.
    pub fn workgroup_size(&self) -> Option<[Id; 3]> {
        let is_size =
            |((_, of), value): &(&(Id, u32), &u32)| *of == decoration::BUILT_IN && **value == WORKGROUP_SIZE;
        let ((size, _), _) = self.decorations.iter().find(is_size)?;
        let composite = self.instructions().find(|i| {
            matches!(i.opcode, opcode::CONSTANT_COMPOSITE | opcode::SPEC_CONSTANT_COMPOSITE)
                && i.operands.get(1) == Some(size)
        })?;
        composite.from(2).try_into().ok()
    }

    /// Whether a type is or contains a device address.
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
            _ => Err(format!("the push-constant block %{variable} is not a structure")),
        }
    }

    fn index(&mut self) -> Result<(), String> {
        let (mut types, mut type_of) = (HashMap::new(), HashMap::new());
        let (mut constants, mut decorations) = (HashMap::new(), HashMap::new());
        for i in self.instructions() {
            if let Some(declared) = declared_type(&i)? {
                types.insert(i.operand(0)?, declared);
                continue;
            }
            if let Some(value) = constant_value(&i)? {
                constants.insert(i.operand(1)?, value);
            }
            if i.opcode == opcode::DECORATE {
                decorations.insert((i.operand(0)?, i.operand(1)?), literal(&i)?);
            }
            // A type as the first operand is the result type: names and decorations of types precede the types.
            match i.operands {
                [of, result, ..] if types.contains_key(of) => drop(type_of.insert(*result, *of)),
                _ => {}
            }
        }
        (self.types, self.type_of) = (types, type_of);
        (self.constants, self.decorations) = (constants, decorations);
        Ok(())
    }
}

fn declared_type(i: &Instruction<'_>) -> Result<Option<Type>, String> {
    /// `Dim` of a texel buffer.
    const BUFFER: u32 = 5;
    Ok(Some(match i.opcode {
        opcode::TYPE_BOOL => Type::Bool,
        opcode::TYPE_INT => Type::Int { bits: i.operand(1)?, is_signed: i.operand(2)? != 0 },
        opcode::TYPE_FLOAT => Type::Float { bits: i.operand(1)? },
        opcode::TYPE_VECTOR | opcode::TYPE_MATRIX => Type::Vector { of: i.operand(1)?, count: i.operand(2)? },
        opcode::TYPE_IMAGE => Type::Image { sampled: i.operand(6)?, is_buffer: i.operand(2)? == BUFFER },
        opcode::TYPE_SAMPLER => Type::Sampler,
        opcode::TYPE_SAMPLED_IMAGE => Type::SampledImage,
        opcode::TYPE_ARRAY => Type::Array { of: i.operand(1)?, length: i.operand(2)? },
        opcode::TYPE_RUNTIME_ARRAY => Type::RuntimeArray { of: i.operand(1)? },
        opcode::TYPE_STRUCT => Type::Struct(i.from(1).to_vec()),
        opcode::TYPE_POINTER => Type::Pointer { storage: i.operand(1)?, to: i.operand(2)? },
        opcode::TYPE_VOID..=opcode::TYPE_FORWARD_POINTER => Type::Other,
        _ => return Ok(None),
    }))
}

fn constant_value(i: &Instruction<'_>) -> Result<Option<u32>, String> {
    Ok(match i.opcode {
        opcode::CONSTANT_TRUE | opcode::SPEC_CONSTANT_TRUE => Some(1),
        opcode::CONSTANT_FALSE | opcode::SPEC_CONSTANT_FALSE => Some(0),
        opcode::CONSTANT | opcode::SPEC_CONSTANT => Some(i.operand(2)?),
        _ => None,
    })
}

/// The first literal of a decoration; 0 where one needs none.
fn literal(i: &Instruction<'_>) -> Result<u32, String> {
    use decoration::{ARRAY_STRIDE, BINDING, BUILT_IN, DESCRIPTOR_SET, SPEC_ID};
    match i.operand(1)? {
        SPEC_ID | ARRAY_STRIDE | BUILT_IN | BINDING | DESCRIPTOR_SET => i.operand(2),
        _ => Ok(i.operands.get(2).copied().unwrap_or_default()),
    }
}
