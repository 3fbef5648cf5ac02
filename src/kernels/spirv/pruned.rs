//! A module without the blocks that its specialization constants rule out, for drivers that execute them.

use super::reachable::{Propagation, result_of};
use super::sizes::Sizes;
use super::{Id, Instruction, Module, opcode};
use std::collections::{HashMap, HashSet};

/// The words of a module of glslang in which a branch that always takes one side is a jump there, and blocks that are never
/// reached are absent. The constants stay, and are to be specialized as before. None if it has a loop that would lose its
/// branch back.
///
/// Loops and selections that stay name blocks, which stay, too: where they end, as `OpUnreachable`, and where a loop
/// continues, as a branch back. The phis of such a loop take their own value from that block, which is never reached.
///
/// Not every module may be pruned: glslang has no branch out of a selection but to its end, and decorates ids alone, not
/// groups of them.
pub fn pruned(module: &Module, constants: &Sizes) -> Option<Vec<u32>> {
    let flow = Propagation::new(module, constants);
    let mut pruning = Pruning { module, flow, named: HashMap::new(), jumps: HashMap::new() };
    pruning.read()?;
    Some(pruning.words())
}

struct Pruning<'m> {
    module: &'m Module,
    flow: Propagation<'m>,
    /// The blocks that loops and selections name, if they are never reached; with the head of the loop that continues
    /// there.
    named: HashMap<Id, Option<Id>>,
    /// The blocks that end with a branch that takes one side, and that side.
    jumps: HashMap<Id, Id>,
}

impl Pruning<'_> {
    fn read(&mut self) -> Option<()> {
        let (mut block, mut selection_end) = (0, None);
        // The loops so far that are not yet seen to have a branch back.
        let mut open = HashSet::new();
        for i in self.module.instructions() {
            match (i.opcode, i.operands) {
                (opcode::LABEL, [label, ..]) => (block, selection_end) = (*label, None),
                _ if !self.flow.is_reached(block) => continue,
                (opcode::SELECTION_MERGE, [end, ..]) => selection_end = Some(*end),
                (opcode::LOOP_MERGE, [end, next, ..]) => {
                    self.name(*end, None);
                    if self.flow.is_reached(*next) {
                        open.insert(block);
                    } else {
                        self.name(*next, Some(block));
                    }
                }
                (opcode::BRANCH, [to, ..]) => {
                    open.remove(to);
                }
                (opcode::BRANCH_CONDITIONAL, [_, a, b, ..]) => match self.flow.only_side(block, [*a, *b]) {
                    Some(to) => drop(self.jumps.insert(block, to)),
                    None => {
                        selection_end.into_iter().for_each(|end| self.name(end, None));
                        open.remove(a);
                        open.remove(b);
                    }
                },
                (opcode::SWITCH, _) => selection_end.into_iter().for_each(|end| self.name(end, None)),
                _ => {}
            }
        }
        open.is_empty().then_some(())
    }

    fn name(&mut self, block: Id, continued: Option<Id>) {
        if !self.flow.is_reached(block) {
            self.named.insert(block, continued);
        }
    }

    fn words(&self) -> Vec<u32> {
        let (mut body, mut absent) = (Vec::new(), HashSet::new());
        let (mut block, mut is_kept) = (0, true);
        let functions = self.module.instructions().skip_while(|i| i.opcode != opcode::FUNCTION);
        for i in functions {
            match (i.opcode, i.operands) {
                (opcode::LABEL, [label, ..]) => {
                    (block, is_kept) = (*label, self.flow.is_reached(*label));
                    match self.named.get(label) {
                        None if !is_kept => {
                            absent.insert(*label);
                        }
                        None => append(&mut body, i.opcode, i.operands),
                        Some(continued) => {
                            append(&mut body, i.opcode, i.operands);
                            match continued {
                                Some(head) => append(&mut body, opcode::BRANCH, &[*head]),
                                None => append(&mut body, opcode::UNREACHABLE, &[]),
                            }
                        }
                    }
                }
                (opcode::FUNCTION | opcode::FUNCTION_PARAMETER | opcode::FUNCTION_END, _) => {
                    append(&mut body, i.opcode, i.operands);
                }
                _ if is_kept => self.append_kept(&mut body, block, &i),
                _ => absent.extend(result_of(self.module, &i)),
            }
        }
        let is_of_absent = |i: &Instruction<'_>| {
            matches!(i.opcode, opcode::NAME | opcode::DECORATE)
                && i.operands.first().is_some_and(|target| absent.contains(target))
        };
        let mut words = self.module.words()[..Module::HEADER].to_vec();
        let declarations = self.module.instructions().take_while(|i| i.opcode != opcode::FUNCTION);
        for i in declarations.filter(|i| !is_of_absent(i)) {
            append(&mut words, i.opcode, i.operands);
        }
        words.extend(body);
        words
    }

    fn append_kept(&self, words: &mut Vec<u32>, block: Id, i: &Instruction<'_>) {
        match (i.opcode, self.jumps.get(&block), i.operands) {
            (opcode::SELECTION_MERGE, Some(_), _) => {}
            (opcode::BRANCH_CONDITIONAL, Some(to), _) => append(words, opcode::BRANCH, &[*to]),
            (opcode::PHI, _, [of, result, operands @ ..]) => {
                let (pairs, _) = operands.as_chunks::<2>();
                let taken = pairs.iter().filter(|[_, from]| self.flow.is_taken(*from, block)).copied();
                let continues = self.named.iter().filter(|(_, head)| **head == Some(block));
                let operands = taken.chain(continues.map(|(next, _)| [*result, *next])).flatten();
                append(words, i.opcode, &[*of, *result].into_iter().chain(operands).collect::<Vec<_>>());
            }
            _ => append(words, i.opcode, i.operands),
        }
    }
}

fn append(words: &mut Vec<u32>, opcode: u32, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | opcode);
    words.extend_from_slice(operands);
}
