//! Rules of the kernels that no driver of the tests can show to be broken: each lacks the memory, the lanes, or the layout
//! of subgroups on which a broken rule matters.
//!
//! * The words of an address are joined only by `advance` of `glsl/common/address.glsl`: the low word is a sum with a
//!   carry, and the high word takes that carry and the high word of every product.
//! * No 32-bit product of a push constant and another variable reaches an address.
//! * A ballot or a mask of lanes is used whole: one of its words has 32 lanes.
//! * The index of a subgroup is `gl_SubgroupID`, not a quotient of the index of an invocation.
//! * No subgroup operation has integers of 64 bits. MoltenVK and KosmicKrisp advertise `shaderSubgroupExtendedTypes`, but the
//!   functions of Metal's SIMD groups have none of these (MoltenVK issue 1698, SPIRV-Cross issues 2007 and 2538).

use super::{Id, Instruction, Module, Type, decoration, opcode, storage};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Instructions that only these rules look for.
mod instruction {
    pub const I_ADD_CARRY: u32 = 149;
    pub const U_MUL_EXTENDED: u32 = 151;
    pub const GROUP_NON_UNIFORM_ELECT: u32 = 333;
    pub const GROUP_NON_UNIFORM_BALLOT: u32 = 339;
    pub const GROUP_NON_UNIFORM_QUAD_SWAP: u32 = 366;
}

/// Built-ins.
mod built_in {
    pub const LOCAL_INVOCATION_INDEX: u32 = 29;
    pub const SUBGROUP_SIZE: u32 = 36;
    pub const SUBGROUP_MASKS: std::ops::RangeInclusive<u32> = 4416..=4420;
}

/// Broken rules of a kernel.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Broken {
    /// Addresses that are not advanced in 64 bits, a sentence each.
    pub addresses: BTreeSet<String>,
    /// Products of 32 bits with a push constant, which reach an address.
    pub products: BTreeSet<Id>,
    /// Ballots and masks of lanes that are not used whole, by the instruction.
    pub words_of_ballots: BTreeSet<Id>,
    /// Subgroup operations on integers of 64 bits.
    pub long_operations: BTreeSet<Id>,
    /// Quotients and remainders of the index of an invocation by the subgroup size.
    pub subgroup_indices: BTreeSet<Id>,
}

/// Checks an optimised module, in which all calls are inlined and variables are values.
pub fn broken(module: &Module) -> Broken {
    let with_result = module.instructions().filter_map(|i| match i.operands {
        [of, result, ..] if module.type_of.get(result) == Some(of) => Some((*result, i)),
        _ => None,
    });
    let definitions = with_result.collect();
    let rules = Rules { module, definitions };
    let mut broken = Broken::default();
    rules.addresses(&mut broken);
    rules.ballots(&mut broken);
    rules.long_operations(&mut broken);
    rules.subgroup_indices(&mut broken);
    broken
}

struct Rules<'m> {
    module: &'m Module,
    /// The instruction of each result.
    definitions: HashMap<Id, Instruction<'m>>,
}

/// The terms of the low word of an address.
#[derive(Default)]
struct Terms {
    /// Sums with a carry, products, and addresses, whose other words the high word must have.
    sums: Vec<Id>,
    products: Vec<Id>,
    addresses: Vec<Id>,
    /// Values that are none of these.
    others: Vec<Id>,
}

impl<'m> Rules<'m> {
    fn definition(&self, id: Id) -> Option<Instruction<'m>> {
        self.definitions.get(&id).copied()
    }

    fn opcode(&self, id: Id) -> u32 {
        self.definition(id).map_or(0, |i| i.opcode)
    }

    fn is_constant(&self, id: Id) -> bool {
        matches!(
            self.opcode(id),
            opcode::UNDEF
                | opcode::CONSTANT_TRUE..=opcode::CONSTANT_NULL
                | opcode::SPEC_CONSTANT_TRUE..=opcode::SPEC_CONSTANT_OP
        )
    }

    /// The values among which a choice is made; none for other instructions.
    fn choices(&self, id: Id) -> Option<Vec<Id>> {
        let i = self.definition(id)?;
        match i.opcode {
            opcode::PHI => Some(i.from(2).iter().step_by(2).copied().collect()),
            opcode::SELECT => Some(i.from(3).to_vec()),
            _ => None,
        }
    }

    /// The composite and the index of an extracted component.
    fn extracted(&self, id: Id) -> Option<(Id, u32)> {
        match self.definition(id)? {
            Instruction { opcode: opcode::COMPOSITE_EXTRACT, operands: [_, _, composite, index], .. } => {
                Some((*composite, *index))
            }
            _ => None,
        }
    }

    /// Every pair of words that becomes a device address.
    fn addresses(&self, broken: &mut Broken) {
        let is_address = |i: &Instruction<'_>| {
            i.operands.get(1).is_some_and(|id| self.module.storage_of(*id) == Some(storage::PHYSICAL))
        };
        let casts = self.module.instructions().filter(|i| i.opcode == opcode::BITCAST && is_address(i));
        let mut to_do: Vec<Id> = casts.filter_map(|i| i.operands.get(2).copied()).collect();
        let (mut done, mut factors) = (HashSet::new(), Vec::new());
        while let Some(id) = to_do.pop() {
            if !done.insert(id) || self.is_constant(id) {
                continue;
            }
            if let Some(choices) = self.choices(id) {
                to_do.extend(choices);
                continue;
            }
            match self.definition(id) {
                Some(Instruction {
                    opcode: opcode::COMPOSITE_CONSTRUCT,
                    operands: [_, _, low, high],
                    ..
                }) => {
                    to_do.extend(self.joined(*low, *high, broken, &mut factors));
                }
                Some(Instruction { opcode: opcode::BITCAST | opcode::LOAD, .. }) => {}
                Some(i) => drop(broken.addresses.insert(i.describe("makes an address of other words"))),
                None => {}
            }
        }
        self.products(factors, &mut broken.products);
    }

    /// Checks the two words of an address; adds the factors of its products. Returns the addresses among its terms.
    fn joined(&self, low: Id, high: Id, broken: &mut Broken, factors: &mut Vec<Id>) -> Vec<Id> {
        let mut terms = Terms::default();
        self.add_terms(low, &mut terms, &mut HashSet::new());
        let of_high: HashSet<_> = self.sum(high).into_iter().filter_map(|id| self.extracted(id)).collect();
        for other in terms.others {
            let what = self.definition(other).map(|i| i.describe("is added to an address in 32 bits"));
            broken.addresses.extend(what);
        }
        for (parts, what) in [
            (&terms.sums, "loses its carry"),
            (&terms.products, "loses its high word"),
            (&terms.addresses, "is an address that loses its high word"),
        ] {
            let lost = parts.iter().filter(|part| !of_high.contains(&(**part, 1)));
            broken.addresses.extend(lost.filter_map(|part| Some(self.definition(*part)?.describe(what))));
        }
        let products = terms.products.into_iter().filter_map(|product| self.definition(product));
        factors.extend(products.flat_map(|product| product.from(2).to_vec()));
        terms.addresses
    }

    fn add_terms(&self, id: Id, terms: &mut Terms, seen: &mut HashSet<Id>) {
        if !seen.insert(id) || self.is_constant(id) {
            return;
        }
        let Some((composite, index)) = self.extracted(id) else {
            match (self.choices(id), self.definition(id)) {
                (Some(choices), _) => {
                    choices.into_iter().for_each(|choice| self.add_terms(choice, terms, seen));
                }
                // The word at or before an address: a mask borrows nothing from the high word.
                (
                    None,
                    Some(Instruction { opcode: opcode::BITWISE_AND, operands: [_, _, word, mask], .. }),
                ) if self.is_constant(*mask) => {
                    self.add_terms(*word, terms, seen);
                }
                (None, _) => terms.others.push(id),
            }
            return;
        };
        match (self.definition(composite), index) {
            (Some(Instruction { opcode: instruction::I_ADD_CARRY, operands: [_, _, a, b], .. }), 0) => {
                terms.sums.push(composite);
                [a, b].into_iter().for_each(|term| self.add_terms(*term, terms, seen));
            }
            (Some(Instruction { opcode: instruction::U_MUL_EXTENDED, .. }), 0) => {
                terms.products.push(composite)
            }
            (
                Some(Instruction {
                    opcode: opcode::BITCAST | opcode::LOAD | opcode::PHI | opcode::SELECT,
                    ..
                }),
                0,
            ) => {
                terms.addresses.push(composite);
            }
            _ => terms.others.push(id),
        }
    }

    /// The terms of a sum of 32 bits.
    fn sum(&self, id: Id) -> Vec<Id> {
        match self.definition(id) {
            Some(Instruction { opcode: opcode::I_ADD, operands: [_, _, a, b], .. }) => {
                let mut terms = self.sum(*a);
                terms.extend(self.sum(*b));
                terms
            }
            _ => vec![id],
        }
    }

    /// Products of 32 bits, of a push constant and another variable, in the factors of an advance.
    fn products(&self, factors: Vec<Id>, products: &mut BTreeSet<Id>) {
        // Of a vector a component.
        let mut to_do: Vec<(Id, Option<u32>)> = factors.into_iter().map(|factor| (factor, None)).collect();
        let mut done = HashSet::new();
        while let Some((id, component)) = to_do.pop() {
            if !done.insert((id, component)) {
                continue;
            }
            if let Some(choices) = self.choices(id) {
                to_do.extend(choices.into_iter().map(|choice| (choice, component)));
                continue;
            }
            if let Some((vector, index)) = self.extracted(id) {
                to_do.push((vector, Some(index)));
                continue;
            }
            match (self.definition(id), component) {
                (Some(i @ Instruction { opcode: opcode::COMPOSITE_CONSTRUCT, .. }), Some(index)) => {
                    to_do.extend(i.from(2).get(index as usize).map(|&part| (part, None)));
                }
                (
                    Some(Instruction {
                        opcode: opcode::I_ADD | opcode::I_SUB, operands: [_, _, a, b], ..
                    }),
                    None,
                ) => {
                    to_do.extend([(*a, None), (*b, None)]);
                }
                (Some(Instruction { opcode: opcode::I_MUL, operands: [_, _, a, b], .. }), None) => {
                    let is_variable = ![a, b].into_iter().any(|factor| self.is_constant(*factor));
                    if is_variable && [a, b].into_iter().any(|factor| self.is_of_push_constant(*factor)) {
                        products.insert(id);
                    }
                    to_do.extend([(*a, None), (*b, None)]);
                }
                _ => {}
            }
        }
    }

    /// Whether a value is a push constant, or a sum, product or quotient of one.
    fn is_of_push_constant(&self, id: Id) -> bool {
        match self.definition(id) {
            Some(Instruction { opcode: opcode::LOAD, operands: [_, _, pointer, ..], .. }) => {
                self.module.storage_of(*pointer) == Some(storage::PUSH_CONSTANT)
            }
            Some(Instruction {
                opcode: opcode::I_ADD | opcode::I_SUB | opcode::I_MUL | opcode::U_DIV,
                operands: [_, _, a, b],
                ..
            }) => [a, b].into_iter().any(|part| self.is_of_push_constant(*part)),
            _ => false,
        }
    }

    fn built_in(&self, variable: Id) -> Option<u32> {
        self.module.decoration(variable, decoration::BUILT_IN)
    }

    /// The built-in that an instruction loads.
    fn loaded_built_in(&self, id: Id) -> Option<u32> {
        match self.definition(id)? {
            Instruction { opcode: opcode::LOAD, operands: [_, _, variable, ..], .. } => {
                self.built_in(*variable)
            }
            _ => None,
        }
    }

    fn ballots(&self, broken: &mut Broken) {
        let is_mask =
            |built_in: Option<u32>| built_in.is_some_and(|it| built_in::SUBGROUP_MASKS.contains(&it));
        let is_vector = |id: Id| matches!(self.module.type_of(id), Some(Type::Vector { count: 4, .. }));
        let mut of_lanes = HashSet::new();
        let mut words = BTreeMap::<Id, BTreeSet<u32>>::new();
        let mut size = None;
        // To the fixpoint: a loop may carry a mask.
        while size != Some(of_lanes.len()) {
            size = Some(of_lanes.len());
            for i in self.module.instructions() {
                let [_, result, operands @ ..] = i.operands else { continue };
                let is_one = match i.opcode {
                    instruction::GROUP_NON_UNIFORM_BALLOT => true,
                    opcode::LOAD => is_mask(self.loaded_built_in(*result)),
                    opcode::PHI | opcode::SELECT | opcode::BITWISE_OR..=opcode::NOT | opcode::COPY_OBJECT => {
                        is_vector(*result) && operands.iter().any(|operand| of_lanes.contains(operand))
                    }
                    _ => false,
                };
                if is_one {
                    of_lanes.insert(*result);
                }
            }
        }
        for i in self.module.instructions() {
            match (i.opcode, i.operands) {
                (opcode::COMPOSITE_EXTRACT, [_, _, from, index]) if of_lanes.contains(from) => {
                    words.entry(*from).or_default().insert(*index);
                }
                // One word of a built-in, or some words of a ballot.
                (opcode::ACCESS_CHAIN, [_, result, from, ..]) if is_mask(self.built_in(*from)) => {
                    words.entry(*result).or_default();
                }
                (opcode::VECTOR_SHUFFLE | opcode::VECTOR_EXTRACT_DYNAMIC, [_, result, from, ..])
                    if of_lanes.contains(from) =>
                {
                    words.entry(*result).or_default();
                }
                _ => {}
            }
        }
        broken.words_of_ballots =
            words.into_iter().filter(|(_, words)| words.len() < 4).map(|(id, _)| id).collect();
    }

    fn long_operations(&self, broken: &mut Broken) {
        for i in self.module.instructions() {
            if let (
                instruction::GROUP_NON_UNIFORM_ELECT..=instruction::GROUP_NON_UNIFORM_QUAD_SWAP,
                [_, result, ..],
            ) = (i.opcode, i.operands)
                && self.is_long(self.module.type_of(*result))
            {
                broken.long_operations.insert(*result);
            }
        }
    }

    fn is_long(&self, kind: Option<&Type>) -> bool {
        match kind {
            Some(Type::Int { bits, .. }) => *bits == 64,
            Some(Type::Vector { of, .. }) => self.is_long(self.module.types.get(of)),
            _ => false,
        }
    }

    fn subgroup_indices(&self, broken: &mut Broken) {
        for i in self.module.instructions() {
            if let (opcode::U_DIV | opcode::U_MOD, [_, result, a, b]) = (i.opcode, i.operands)
                && self.loaded_built_in(*a) == Some(built_in::LOCAL_INVOCATION_INDEX)
                && self.loaded_built_in(*b) == Some(built_in::SUBGROUP_SIZE)
            {
                broken.subgroup_indices.insert(*result);
            }
        }
    }
}
