//! Values of constants under a specialization, and sizes of types in bytes.

use super::{Id, Instruction, Module, decoration, opcode};
use std::collections::HashMap;

/// Constants and types of a module under values of its specialization constants.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Scalar constants of 32 bits and less that could be computed; of wider ones, the first word.
    values: HashMap<Id, u32>,
    /// Of types that have a size.
    bytes: HashMap<Id, u64>,
}

impl Sizes {
    /// Reads a module; `specialized` has the values that constants are given, by their `SpecId`. Where a type has no explicit
    /// layout its members are packed: no driver can do with less.
    pub fn new(module: &Module, specialized: impl Fn(u32) -> Option<u32>) -> Self {
        Self::of_known(module, |spec_id, default| Some(specialized(spec_id).unwrap_or(default)))
    }

    /// As [`Self::new`]; `specialized` also has the default of a constant, and none for one whose value is unknown.
    pub fn of_known(module: &Module, specialized: impl Fn(u32, u32) -> Option<u32>) -> Self {
        let mut sizes = Self::default();
        let mut composites: HashMap<Id, &[Id]> = HashMap::new();
        let mut offsets = HashMap::new();
        // Whatever a declaration names is declared before it.
        for i in module.instructions().take_while(|i| i.opcode != opcode::FUNCTION) {
            match (i.opcode, i.operands) {
                (opcode::MEMBER_DECORATE, [of, member, decoration::OFFSET, offset, ..]) => {
                    offsets.insert((*of, *member as usize), u64::from(*offset));
                }
                (opcode::CONSTANT_COMPOSITE | opcode::SPEC_CONSTANT_COMPOSITE, [_, id, parts @ ..]) => {
                    composites.insert(*id, parts);
                }
                (opcode::CONSTANT_NULL, [_, id]) => drop(sizes.values.insert(*id, 0)),
                (opcode::SPEC_CONSTANT_OP, [of, id, op, operands @ ..]) => {
                    let value = match (*op, operands) {
                        (opcode::COMPOSITE_EXTRACT, [composite, index]) => composites
                            .get(composite)
                            .and_then(|parts| sizes.value(*parts.get(*index as usize)?)),
                        // Elsewhere a whole number of 32 bits, or of truth values.
                        _ if sizes.bytes.get(of) == Some(&4) => {
                            let word = |id: &Id| sizes.value(*id).filter(|_| module.is_word(*id));
                            folded(*op, &operands.iter().map(word).collect::<Vec<_>>())
                        }
                        _ => None,
                    };
                    value.and_then(|value| sizes.values.insert(*id, value));
                }
                (_, [_, id, ..]) if is_scalar_constant(&i) => {
                    let value = module.constant(*id).and_then(|value| {
                        match module.decoration(*id, decoration::SPEC_ID) {
                            Some(spec_id) => specialized(spec_id, value),
                            None => Some(value),
                        }
                    });
                    value.and_then(|value| sizes.values.insert(*id, value));
                }
                (_, [id, ..]) => {
                    sizes.size_of(module, &i, &offsets).and_then(|size| sizes.bytes.insert(*id, size));
                }
                _ => {}
            }
        }
        sizes
    }

    /// Value of a scalar constant; none if it could not be computed.
    pub fn value(&self, constant: Id) -> Option<u32> {
        self.values.get(&constant).copied()
    }

    /// The bytes of a type; none where it has no size, or one that could not be computed.
    pub fn bytes(&self, of: Id) -> Option<u64> {
        self.bytes.get(&of).copied()
    }

    fn size_of(
        &self,
        module: &Module,
        i: &Instruction<'_>,
        offsets: &HashMap<(Id, usize), u64>,
    ) -> Option<u64> {
        match (i.opcode, i.operands) {
            (opcode::TYPE_BOOL, _) => Some(4),
            (opcode::TYPE_INT | opcode::TYPE_FLOAT, [_, bits, ..]) => Some(u64::from(bits / 8)),
            (opcode::TYPE_VECTOR | opcode::TYPE_MATRIX, [_, of, count]) => {
                Some(self.bytes(*of)?.saturating_mul((*count).into()))
            }
            (opcode::TYPE_ARRAY, [id, of, length]) => {
                let (element, length) = (self.bytes(*of)?, u64::from(self.value(*length)?));
                let stride = module.decoration(*id, decoration::ARRAY_STRIDE).map_or(element, u64::from);
                Some(stride.max(element).saturating_mul(length.checked_sub(1)?).saturating_add(element))
            }
            (opcode::TYPE_STRUCT, [id, members @ ..]) => {
                let (mut packed, mut end) = (0u64, 0);
                for (index, member) in members.iter().enumerate() {
                    let size = self.bytes(*member)?;
                    packed = packed.saturating_add(size);
                    end = offsets.get(&(*id, index)).map_or(packed, |at| at.saturating_add(size)).max(end);
                }
                Some(end)
            }
            (opcode::TYPE_POINTER, _) => Some(8),
            _ => None,
        }
    }
}

/// Result of an operation, one of `OpSpecConstantOp`'s, on numbers of 32 bits, and on truth values, which are 0 and 1.
pub(super) fn folded(op: u32, operands: &[Option<u32>]) -> Option<u32> {
    let value = |index: usize| operands.get(index).copied().flatten();
    let a = value(0)?;
    if operands.len() == 1 {
        return Some(match op {
            opcode::BITCAST | opcode::COPY_OBJECT | opcode::U_CONVERT | opcode::S_CONVERT => a,
            opcode::S_NEGATE => a.wrapping_neg(),
            opcode::LOGICAL_NOT => u32::from(a == 0),
            opcode::NOT => !a,
            _ => return None,
        });
    }
    let b = value(1)?;
    let [signed_a, signed_b] = [a, b].map(u32::cast_signed);
    Some(match op {
        opcode::I_ADD => a.wrapping_add(b),
        opcode::I_SUB => a.wrapping_sub(b),
        opcode::I_MUL => a.wrapping_mul(b),
        opcode::U_DIV => a.checked_div(b)?,
        opcode::S_DIV => signed_a.checked_div(signed_b)?.cast_unsigned(),
        opcode::U_MOD => a.checked_rem(b)?,
        opcode::S_REM => signed_a.checked_rem(signed_b)?.cast_unsigned(),
        opcode::LOGICAL_EQUAL | opcode::I_EQUAL => u32::from(a == b),
        opcode::LOGICAL_NOT_EQUAL | opcode::I_NOT_EQUAL => u32::from(a != b),
        opcode::LOGICAL_OR | opcode::BITWISE_OR => a | b,
        opcode::LOGICAL_AND | opcode::BITWISE_AND => a & b,
        opcode::SELECT => return if a == 0 { value(2) } else { Some(b) },
        opcode::U_GREATER_THAN => u32::from(a > b),
        opcode::S_GREATER_THAN => u32::from(signed_a > signed_b),
        opcode::U_GREATER_THAN_EQUAL => u32::from(a >= b),
        opcode::S_GREATER_THAN_EQUAL => u32::from(signed_a >= signed_b),
        opcode::U_LESS_THAN => u32::from(a < b),
        opcode::S_LESS_THAN => u32::from(signed_a < signed_b),
        opcode::U_LESS_THAN_EQUAL => u32::from(a <= b),
        opcode::S_LESS_THAN_EQUAL => u32::from(signed_a <= signed_b),
        opcode::SHIFT_RIGHT_LOGICAL => a.checked_shr(b)?,
        opcode::SHIFT_RIGHT_ARITHMETIC => signed_a.checked_shr(b)?.cast_unsigned(),
        opcode::SHIFT_LEFT_LOGICAL => a.checked_shl(b)?,
        opcode::BITWISE_XOR => a ^ b,
        _ => return None,
    })
}

fn is_scalar_constant(i: &Instruction<'_>) -> bool {
    matches!(
        i.opcode,
        opcode::CONSTANT
            | opcode::CONSTANT_TRUE
            | opcode::CONSTANT_FALSE
            | opcode::SPEC_CONSTANT
            | opcode::SPEC_CONSTANT_TRUE
            | opcode::SPEC_CONSTANT_FALSE
    )
}
