//! The instructions of a specialized kernel that may be executed: sparse conditional constant propagation.
//!
//! Source: Wegman and Zadeck, "Constant Propagation with Conditional Branches", ACM TOPLAS 13, 1991.

use super::sizes::{Sizes, folded};
use super::{Id, Instruction, Module, Type, opcode};
use std::collections::{HashMap, HashSet};

/// The positions of the instructions in blocks that `constants` do not rule out. Every function counts as called.
pub(super) fn reachable(module: &Module, constants: &Sizes) -> HashSet<usize> {
    let flow = Propagation::new(module, constants);
    let mut block = None;
    let in_reachable = |i: &Instruction<'_>| {
        if i.opcode == opcode::LABEL {
            block = i.operands.first().copied();
        }
        block.is_some_and(|block| flow.is_reached(block))
    };
    module.instructions().filter(in_reachable).map(|i| i.position).collect()
}

/// A value that an instruction has had so far: one, or different ones. Without an entry it has had none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    One(u32),
    Any,
}

/// The blocks of a specialized module that may be executed, and the branches that may be taken. A branch back to the head of
/// a loop may take both sides, whatever its condition: without it the loop would be none, and its breaks would lead nowhere.
pub(super) struct Propagation<'m> {
    module: &'m Module,
    constants: &'m Sizes,
    /// The heads of loops.
    heads: HashSet<Id>,
    /// The results of all instructions in blocks.
    results: HashSet<Id>,
    values: HashMap<Id, Value>,
    /// Branches that may be taken, from block to block.
    edges: HashSet<(Id, Id)>,
    blocks: HashSet<Id>,
}

impl<'m> Propagation<'m> {
    pub(super) fn new(module: &'m Module, constants: &'m Sizes) -> Self {
        let body: Vec<_> = module.instructions().skip_while(|i| i.opcode != opcode::FUNCTION).collect();
        let results = body.iter().filter(|i| i.opcode != opcode::FUNCTION_PARAMETER);
        let mut block = 0;
        let head = |i: &Instruction<'_>| {
            if let (opcode::LABEL, [label, ..]) = (i.opcode, i.operands) {
                block = *label;
            }
            (i.opcode == opcode::LOOP_MERGE).then_some(block)
        };
        let mut flow = Self {
            module,
            constants,
            heads: body.iter().filter_map(head).collect(),
            results: results.filter_map(|i| result_of(module, i)).collect(),
            values: HashMap::new(),
            edges: HashSet::new(),
            blocks: HashSet::new(),
        };
        while flow.pass(&body) {}
        flow
    }

    /// Whether a block may be executed.
    pub(super) fn is_reached(&self, block: Id) -> bool {
        self.blocks.contains(&block)
    }

    /// Whether a branch from one block to another may be taken.
    pub(super) fn is_taken(&self, from: Id, to: Id) -> bool {
        self.edges.contains(&(from, to))
    }

    /// The side that a conditional branch of a reached block always takes; none if it takes either, or both are one block.
    pub(super) fn only_side(&self, block: Id, [a, b]: [Id; 2]) -> Option<Id> {
        match [a, b].map(|to| self.is_taken(block, to)) {
            [true, false] => Some(a),
            [false, true] => Some(b),
            _ => None,
        }
    }

    /// Evaluates the blocks that are reachable so far, in order. Returns whether that told anything new.
    fn pass(&mut self, body: &[Instruction<'_>]) -> bool {
        let (mut block, mut is_entry, mut is_new) = (0, false, false);
        let mut begun = HashSet::new();
        for i in body {
            match (i.opcode, i.operands) {
                (opcode::FUNCTION, _) => is_entry = true,
                (opcode::LABEL, [label, ..]) => {
                    block = *label;
                    begun.insert(block);
                    if std::mem::take(&mut is_entry) {
                        is_new |= self.blocks.insert(block);
                    }
                }
                _ if !self.blocks.contains(&block) => {}
                (opcode::BRANCH, [to, ..]) => is_new |= self.branch(block, *to),
                (opcode::BRANCH_CONDITIONAL, [condition, if_true, if_false, ..]) => {
                    let sides = [*if_true, *if_false];
                    let is_back = sides.iter().any(|to| self.heads.contains(to) && begun.contains(to));
                    let taken = match self.value(*condition) {
                        None => &[],
                        Some(Value::One(0)) if !is_back => &sides[1..],
                        Some(Value::One(_)) if !is_back => &sides[..1],
                        Some(_) => &sides[..],
                    };
                    taken.iter().for_each(|to| is_new |= self.branch(block, *to));
                }
                (opcode::SWITCH, [selector, otherwise, cases @ ..]) => {
                    is_new |= self.branch(block, *otherwise);
                    let is_wide = matches!(self.module.type_of(*selector), Some(Type::Int { bits: 64, .. }));
                    let labels = cases.chunks_exact(if is_wide { 3 } else { 2 }).filter_map(<[_]>::last);
                    labels.for_each(|to| is_new |= self.branch(block, *to));
                }
                _ => {
                    let Some(result) = result_of(self.module, i) else { continue };
                    let Some(value) = self.evaluated(i.opcode, block, i.from(2)) else { continue };
                    // One value, then any: each changes at most twice.
                    let had = self.values.get(&result).copied();
                    let merged = if had.is_none_or(|had| had == value) { value } else { Value::Any };
                    is_new |= had != Some(merged);
                    self.values.insert(result, merged);
                }
            }
        }
        is_new
    }

    /// Returns whether the branch was not taken before.
    fn branch(&mut self, from: Id, to: Id) -> bool {
        self.blocks.insert(to);
        self.edges.insert((from, to))
    }

    /// The value of a constant or of a result; none of a result that has had none. Any of those that are no words.
    fn value(&self, id: Id) -> Option<Value> {
        if !self.module.is_word(id) {
            return Some(Value::Any);
        }
        match self.constants.value(id) {
            Some(value) => Some(Value::One(value)),
            None if self.results.contains(&id) => self.values.get(&id).copied(),
            None => Some(Value::Any),
        }
    }

    /// The value of an instruction's result; none as long as an operand has none.
    fn evaluated(&self, op: u32, block: Id, operands: &[Id]) -> Option<Value> {
        match (op, operands) {
            (opcode::PHI, _) => {
                let (pairs, _) = operands.as_chunks::<2>();
                let taken = pairs.iter().filter(|[_, from]| self.is_taken(*from, block));
                let values = taken.filter_map(|[value, _]| self.value(*value));
                values.reduce(|a, b| if a == b { a } else { Value::Any })
            }
            (opcode::SELECT, [condition, if_true, if_false]) => match self.value(*condition)? {
                Value::One(0) => self.value(*if_false),
                Value::One(_) => self.value(*if_true),
                Value::Any => Some(Value::Any),
            },
            (opcode::LOGICAL_AND | opcode::LOGICAL_OR, [a, b]) => {
                let deciding = Some(Value::One(u32::from(op == opcode::LOGICAL_OR)));
                let (a, b) = (self.value(*a), self.value(*b));
                match (a, b) {
                    _ if a == deciding || b == deciding => deciding,
                    (Some(Value::One(a)), Some(Value::One(b))) => {
                        folded(op, &[Some(a), Some(b)]).map(Value::One)
                    }
                    (Some(_), Some(_)) => Some(Value::Any),
                    _ => None,
                }
            }
            (opcode::S_NEGATE..=opcode::S_REM | opcode::LOGICAL_EQUAL..=opcode::NOT, _) => {
                let values: Option<Vec<_>> = operands.iter().map(|id| self.value(*id)).collect();
                let known = |value: &Value| match value {
                    Value::One(value) => Some(*value),
                    Value::Any => None,
                };
                let values: Vec<_> = values?.iter().map(known).collect();
                Some(folded(op, &values).map_or(Value::Any, Value::One))
            }
            _ => Some(Value::Any),
        }
    }
}

/// The result of an instruction that has one and its type.
pub(super) fn result_of(module: &Module, i: &Instruction<'_>) -> Option<Id> {
    match i.operands {
        [of, result, ..] if module.type_of.get(result) == Some(of) => Some(*result),
        _ => None,
    }
}
