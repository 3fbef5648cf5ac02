//! The instructions of a specialized kernel that may be executed: sparse conditional constant propagation.
//!
//! Source: Wegman and Zadeck, "Constant Propagation with Conditional Branches", ACM TOPLAS 13, 1991.

use super::sizes::{Sizes, folded};
use super::{Id, Instruction, Module, opcode};
use std::collections::{HashMap, HashSet};

/// The positions of the instructions in blocks that `constants` do not rule out. Every function counts as called.
pub(super) fn reachable(module: &Module, constants: &Sizes) -> HashSet<usize> {
    let body: Vec<_> = module.instructions().skip_while(|i| i.opcode != opcode::FUNCTION).collect();
    let results = body.iter().filter(|i| i.opcode != opcode::FUNCTION_PARAMETER);
    let mut flow = Propagation {
        module,
        constants,
        results: results.filter_map(|i| result_of(module, i)).collect(),
        values: HashMap::new(),
        edges: HashSet::new(),
        blocks: HashSet::new(),
    };
    loop {
        let before = (flow.values.clone(), flow.edges.len(), flow.blocks.len());
        flow.pass(&body);
        if (&before.0, before.1, before.2) == (&flow.values, flow.edges.len(), flow.blocks.len()) {
            break;
        }
    }
    let mut block = None;
    let in_reachable = |i: &&Instruction<'_>| {
        if i.opcode == opcode::LABEL {
            block = i.operands.first().copied();
        }
        block.is_some_and(|block| flow.blocks.contains(&block))
    };
    body.iter().filter(in_reachable).map(|i| i.position).collect()
}

/// A value that an instruction has had so far: one, or different ones. Without an entry it has had none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    One(u32),
    Any,
}

struct Propagation<'m> {
    module: &'m Module,
    constants: &'m Sizes,
    /// The results of all instructions in blocks.
    results: HashSet<Id>,
    values: HashMap<Id, Value>,
    /// Branches that may be taken, from block to block.
    edges: HashSet<(Id, Id)>,
    blocks: HashSet<Id>,
}

impl Propagation<'_> {
    /// Evaluates the blocks that are reachable so far, in order.
    fn pass(&mut self, body: &[Instruction<'_>]) {
        let (mut block, mut is_entry) = (0, false);
        for i in body {
            match (i.opcode, i.operands) {
                (opcode::FUNCTION, _) => is_entry = true,
                (opcode::LABEL, [label, ..]) => {
                    block = *label;
                    if std::mem::take(&mut is_entry) {
                        self.blocks.insert(block);
                    }
                }
                _ if !self.blocks.contains(&block) => {}
                (opcode::BRANCH, [to, ..]) => self.branch(block, *to),
                (opcode::BRANCH_CONDITIONAL, [condition, if_true, if_false, ..]) => {
                    match self.value(*condition) {
                        Some(Value::One(value)) => {
                            self.branch(block, if value == 0 { *if_false } else { *if_true });
                        }
                        Some(Value::Any) => {
                            self.branch(block, *if_true);
                            self.branch(block, *if_false);
                        }
                        None => {}
                    }
                }
                // The literals between the labels are no labels of blocks, or add some.
                (opcode::SWITCH, [_, targets @ ..]) => {
                    targets.iter().for_each(|to| self.branch(block, *to));
                }
                _ => {
                    let Some(result) = result_of(self.module, i) else { continue };
                    let Some(value) = self.evaluated(i.opcode, block, i.from(2)) else { continue };
                    let had = self.values.entry(result).or_insert(value);
                    if *had != value {
                        *had = Value::Any;
                    }
                }
            }
        }
    }

    fn branch(&mut self, from: Id, to: Id) {
        self.edges.insert((from, to));
        self.blocks.insert(to);
    }

    /// The value of a constant or of a result; none of a result that has had none.
    fn value(&self, id: Id) -> Option<Value> {
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
                let taken = pairs.iter().filter(|[_, from]| self.edges.contains(&(*from, block)));
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
fn result_of(module: &Module, i: &Instruction<'_>) -> Option<Id> {
    match i.operands {
        [of, result, ..] if module.type_of.get(result) == Some(of) => Some(*result),
        _ => None,
    }
}
