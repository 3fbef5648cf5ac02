//! Access analysis: the loads, stores and atomics of a kernel through each push-constant pointer.
//!
//! GLSL's `readonly` and `writeonly` do not bind a kernel's accesses and are ignored. Instead, every load of a
//! pointer from the push-constant block is a *root*, and roots propagate forward: through bit casts,
//! arithmetic, composites, selections, phis, variables and calls, and through the base of an access chain,
//! never its indices. The address of an access then has the set of roots that it may come from, and all of them
//! are marked.
//!
//! An access that cannot be traced is an error. *Untraced* is a pointer without a root, such as one loaded from
//! memory, and a value that may be either an address with a root or another value that is not constant.
//! Arithmetic is exempt: an address combined with another value is that address with an offset.

use super::super::access::KernelAccess;
use super::graph::{Graph, MAX_MEMBERS, ROUNDED, Roots, UNTRACED};
use super::{Id, Instruction, Module, Type, opcode, storage};
use std::collections::HashMap;

/// The access through each member of the push-constant block; none for members that are not pointers.
pub fn accesses(module: &Module) -> Result<Vec<KernelAccess>, String> {
    Ok(by_member(traced_accesses(module)?))
}

/// As [`accesses`], of a kernel whose functions of a caller may read by addresses from memory as well.
pub fn accesses_with_functions(module: &Module) -> Result<Vec<KernelAccess>, String> {
    Ok(by_member(traced(module, true)?))
}

fn by_member(traced: Traced<'_>) -> Vec<KernelAccess> {
    let mut accesses = vec![KernelAccess::NONE; traced.member_count];
    for (device_access, roots) in traced.accesses {
        for (member, all) in accesses.iter_mut().enumerate() {
            if roots & (1 << member) != 0 {
                *all = all.union(device_access.access);
            }
        }
    }
    accesses
}

/// The accesses of a kernel through device addresses, each with the members of the push-constant block that its address
/// may come from.
pub(super) struct Traced<'m> {
    pub member_count: usize,
    pub accesses: Vec<(DeviceAccess<'m>, Roots)>,
}

pub(super) fn traced_accesses(module: &Module) -> Result<Traced<'_>, String> {
    traced(module, false)
}

fn traced(module: &Module, may_read_others: bool) -> Result<Traced<'_>, String> {
    let mut flow = Flow {
        module,
        graph: Graph::new(module.bound()),
        variables: HashMap::new(),
        block: None,
        push_roots: HashMap::new(),
        parameters: parameters(module)?,
        function: None,
        device_accesses: Vec::new(),
    };
    for instruction in module.instructions() {
        flow.visit(&instruction)?;
    }
    flow.resolve(may_read_others)
}

struct Flow<'m> {
    module: &'m Module,
    graph: Graph,
    /// The variable or parameter that a pointer to invocation or workgroup memory points into. It is one node
    /// of the graph: a store to any part reaches a load of every part.
    variables: HashMap<Id, Id>,
    /// The push-constant block.
    block: Option<Id>,
    /// The device addresses within the part of the block that a pointer points to.
    push_roots: HashMap<Id, Roots>,
    /// The parameters of each function.
    parameters: HashMap<Id, Vec<Id>>,
    /// The current function; its node is its result.
    function: Option<Id>,
    device_accesses: Vec<DeviceAccess<'m>>,
}

/// An access through a device address.
pub(super) struct DeviceAccess<'m> {
    pub instruction: Instruction<'m>,
    pointer: Id,
    access: KernelAccess,
}

fn parameters(module: &Module) -> Result<HashMap<Id, Vec<Id>>, String> {
    let mut parameters: HashMap<Id, Vec<Id>> = HashMap::new();
    let mut function = 0;
    for i in module.instructions() {
        match i.opcode {
            opcode::FUNCTION => function = i.operand(1)?,
            opcode::FUNCTION_PARAMETER => parameters.entry(function).or_default().push(i.operand(1)?),
            _ => {}
        }
    }
    Ok(parameters)
}

impl<'m> Flow<'m> {
    fn visit(&mut self, i: &Instruction<'m>) -> Result<(), String> {
        match i.opcode {
            opcode::UNDEF
            | opcode::CONSTANT_TRUE..=opcode::CONSTANT_NULL
            | opcode::SPEC_CONSTANT_TRUE..=opcode::SPEC_CONSTANT_OP => self.graph.constant(i.operand(1)?),
            opcode::VARIABLE => self.variable(i)?,
            opcode::FUNCTION => self.function = Some(i.operand(1)?),
            opcode::FUNCTION_END => self.function = None,
            _ if self.function.is_none() => {}

            opcode::LOAD => self.load(i, i.operand(2)?, KernelAccess::READ)?,
            opcode::STORE => self.store(i, i.operand(0)?, i.operand(1)?, KernelAccess::WRITE)?,
            opcode::COPY_MEMORY | opcode::COPY_MEMORY_SIZED => {
                let value = self.content(i, i.operand(1)?, KernelAccess::READ)?;
                self.store(i, i.operand(0)?, value, KernelAccess::WRITE)?;
            }
            opcode::ATOMIC_LOAD => self.load(i, i.operand(2)?, KernelAccess::ATOMIC_READ)?,
            opcode::ATOMIC_STORE => {
                self.store(i, i.operand(0)?, i.operand(3)?, KernelAccess::ATOMIC_WRITE)?
            }
            opcode::ATOMIC_EXCHANGE..=opcode::ATOMIC_XOR
            | opcode::ATOMIC_F_MIN
            | opcode::ATOMIC_F_MAX
            | opcode::ATOMIC_F_ADD => self.atomic(i)?,

            opcode::ACCESS_CHAIN
            | opcode::IN_BOUNDS_ACCESS_CHAIN
            | opcode::PTR_ACCESS_CHAIN
            | opcode::IN_BOUNDS_PTR_ACCESS_CHAIN
            | opcode::COPY_OBJECT => self.access_chain(i)?,
            opcode::SELECT => self.choose(i, i.from(3).iter())?,
            opcode::PHI => self.choose(i, i.from(2).iter().step_by(2))?,
            opcode::COMPOSITE_EXTRACT | opcode::VECTOR_EXTRACT_DYNAMIC => {
                self.graph.operand(i.operand(2)?, i.operand(1)?);
            }
            opcode::COMPOSITE_INSERT | opcode::VECTOR_INSERT_DYNAMIC | opcode::VECTOR_SHUFFLE => {
                self.graph.operand(i.operand(2)?, i.operand(1)?);
                self.graph.operand(i.operand(3)?, i.operand(1)?);
            }
            opcode::BITCAST
            | opcode::CONVERT_PTR_TO_U
            | opcode::CONVERT_U_TO_PTR
            | opcode::COMPOSITE_CONSTRUCT
            | opcode::COPY_LOGICAL
            | opcode::PTR_EQUAL
            | opcode::PTR_NOT_EQUAL
            | opcode::PTR_DIFF => self.compute(i, i.from(2))?,

            opcode::FUNCTION_PARAMETER => self.parameter(i)?,
            opcode::FUNCTION_CALL => self.call(i)?,
            opcode::RETURN_VALUE => {
                if let Some(function) = self.function {
                    self.graph.choice(i.operand(0)?, function);
                }
            }
            opcode::LINE
            | opcode::NO_LINE
            | opcode::CONTROL_BARRIER
            | opcode::MEMORY_BARRIER
            | opcode::LOOP_MERGE..=opcode::LIFETIME_STOP => {}

            opcode::BITWISE_AND => {
                let is_specialized = |id: &Id| self.module.spec_constants().any(|(_, other)| other == *id);
                let mask = |id: &Id| self.module.constant(*id).filter(|_| !is_specialized(id));
                match *i.operands {
                    // A byte within a word is no address.
                    [_, _, a, b] if [a, b].iter().filter_map(mask).any(|mask| mask < 4) => {}
                    [_, result, word, other] | [_, result, other, word]
                        if mask(&other).is_some_and(|mask| mask.is_multiple_of(4)) =>
                    {
                        self.graph.rounded(word, result);
                    }
                    _ => self.arithmetic(i, i.operands)?,
                }
            }

            // The result is followed by two words that are not values: a set and its instruction, or a scope
            // and its operation.
            opcode::EXT_INST
            | opcode::GROUP_NON_UNIFORM_BALLOT_BIT_COUNT
            | opcode::GROUP_NON_UNIFORM_I_ADD..=opcode::GROUP_NON_UNIFORM_LOGICAL_XOR => {
                self.arithmetic(i, i.from(4))?
            }
            _ => self.arithmetic(i, i.operands)?,
        }
        Ok(())
    }

    fn variable(&mut self, i: &Instruction<'m>) -> Result<(), String> {
        let (variable, class) = (i.operand(1)?, i.operand(2)?);
        if class == storage::PUSH_CONSTANT {
            let mut roots = 0;
            for (index, member) in (0..).zip(self.module.block_members(variable)?) {
                if index >= MAX_MEMBERS {
                    return Err(format!("the push-constant block has more than {MAX_MEMBERS} members"));
                }
                roots |= Roots::from(self.module.holds_pointer(*member)) << index;
            }
            self.push_roots.insert(variable, roots);
            self.block = Some(variable);
        } else if is_variable(class) {
            self.variables.insert(variable, variable);
        }
        Ok(())
    }

    /// The first index into the block selects a member; everywhere else a part has the roots of the whole.
    fn access_chain(&mut self, i: &Instruction<'m>) -> Result<(), String> {
        let (result, base) = (i.operand(1)?, i.operand(2)?);
        if let Some(&roots) = self.push_roots.get(&base) {
            let selected = match i.operands.get(3) {
                Some(index) if self.block == Some(base) => {
                    let member = self.module.constant(*index).filter(|member| *member < MAX_MEMBERS);
                    1 << member
                        .ok_or_else(|| i.describe("selects a push constant by a non-constant index"))?
                }
                _ => Roots::MAX,
            };
            self.push_roots.insert(result, roots & selected);
        } else if let Some(&variable) = self.variables.get(&base) {
            self.variables.insert(result, variable);
        } else {
            self.graph.operand(base, result);
        }
        Ok(())
    }

    fn load(&mut self, i: &Instruction<'m>, pointer: Id, access: KernelAccess) -> Result<(), String> {
        let value = self.content(i, pointer, access)?;
        self.graph.operand(value, i.operand(1)?);
        Ok(())
    }

    /// The result of a load.
    fn content(&mut self, i: &Instruction<'m>, pointer: Id, access: KernelAccess) -> Result<Id, String> {
        match self.module.storage_of(pointer) {
            Some(storage::PHYSICAL) => {
                self.device_accesses.push(DeviceAccess { instruction: *i, pointer, access });
                Ok(self.graph.source(0))
            }
            Some(storage::PUSH_CONSTANT) => match self.push_roots.get(&pointer) {
                Some(&roots) => Ok(self.graph.source(roots)),
                None => Err(i.describe("reads a push constant through an unknown pointer")),
            },
            Some(class) if is_variable(class) => self.variable_of(i, pointer),
            _ => Ok(self.graph.source(0)),
        }
    }

    fn store(
        &mut self,
        i: &Instruction<'m>,
        pointer: Id,
        value: Id,
        access: KernelAccess,
    ) -> Result<(), String> {
        match self.module.storage_of(pointer) {
            Some(storage::PHYSICAL) => {
                self.device_accesses.push(DeviceAccess { instruction: *i, pointer, access })
            }
            Some(class) if is_variable(class) => {
                let variable = self.variable_of(i, pointer)?;
                self.graph.choice(value, variable);
            }
            _ => {}
        }
        Ok(())
    }

    fn atomic(&mut self, i: &Instruction<'m>) -> Result<(), String> {
        let pointer = i.operand(2)?;
        self.load(i, pointer, KernelAccess::ATOMIC)?;
        let value = match i.opcode {
            opcode::ATOMIC_COMPARE_EXCHANGE | opcode::ATOMIC_COMPARE_EXCHANGE_WEAK => i.operand(6)?,
            opcode::ATOMIC_I_INCREMENT | opcode::ATOMIC_I_DECREMENT => return Ok(()),
            _ => i.operand(5)?,
        };
        self.store(i, pointer, value, KernelAccess::ATOMIC)
    }

    fn variable_of(&self, i: &Instruction<'m>, pointer: Id) -> Result<Id, String> {
        let variable = self.variables.get(&pointer).copied();
        variable.ok_or_else(|| i.describe("accesses a variable through a pointer that cannot be traced"))
    }

    fn parameter(&mut self, i: &Instruction<'m>) -> Result<(), String> {
        let parameter = i.operand(1)?;
        if self.module.storage_of(parameter).is_some_and(is_variable) {
            self.variables.insert(parameter, parameter);
        }
        Ok(())
    }

    /// All calls of a function share its parameters and result.
    fn call(&mut self, i: &Instruction<'m>) -> Result<(), String> {
        let function = i.operand(2)?;
        let parameters = self.parameters.get(&function).map_or(&[][..], Vec::as_slice);
        for (&argument, &parameter) in i.from(3).iter().zip(parameters) {
            if let Some(&variable) = self.variables.get(&argument) {
                self.graph.choice(variable, parameter);
                self.graph.choice(parameter, variable);
            } else {
                self.graph.choice(argument, parameter);
            }
        }
        self.graph.operand(function, i.operand(1)?);
        Ok(())
    }

    fn choose<'a>(
        &mut self,
        i: &Instruction<'m>,
        values: impl Iterator<Item = &'a Id>,
    ) -> Result<(), String> {
        let result = i.operand(1)?;
        values.for_each(|value| self.graph.choice(*value, result));
        Ok(())
    }

    /// A boolean result is never an address.
    fn compute(&mut self, i: &Instruction<'m>, values: &[Id]) -> Result<(), String> {
        let result = i.operand(1)?;
        if self.module.type_of(result) != Some(&Type::Bool) {
            let values = values.iter().filter(|value| self.module.type_of(**value).is_some());
            values.for_each(|value| self.graph.operand(*value, result));
        }
        Ok(())
    }

    /// Arithmetic and all other instructions. A literal operand may be mistaken for an id, which can only add
    /// roots.
    fn arithmetic(&mut self, i: &Instruction<'m>, operands: &[Id]) -> Result<(), String> {
        if operands.iter().any(|operand| self.module.storage_of(*operand).is_some()) {
            return Err(i.describe("takes a pointer in an unknown way"));
        }
        match i.operands.first().and_then(|first| self.module.type_by_id(*first)) {
            Some(_) => self.compute(i, operands),
            None => Ok(()),
        }
    }

    fn resolve(self, may_read_others: bool) -> Result<Traced<'m>, String> {
        let Self { module, graph, block, device_accesses, .. } = self;
        let pointers = (0..module.bound()).filter(|id| module.storage_of(*id) == Some(storage::PHYSICAL));
        let roots = graph.solve(pointers);
        let members = block.map_or(Ok(&[][..]), |block| module.block_members(block))?;
        let mut accesses = Vec::new();
        for access in device_accesses {
            let roots = roots.get(&access.pointer).copied().unwrap_or(0);
            let is_other = roots & UNTRACED != 0 || roots == 0;
            if is_other && may_read_others && access.access == KernelAccess::READ {
                continue;
            }
            if is_other {
                let never = roots & !(UNTRACED | ROUNDED) == 0;
                let what = if never { "comes" } else { "may come" };
                let what = format!("accesses an address that {what} from no push constant");
                return Err(access.instruction.describe(&what));
            }
            accesses.push((access, roots));
        }
        Ok(Traced { member_count: members.len(), accesses })
    }
}

/// Whether a storage class is memory of an invocation or workgroup: only the kernel itself can store an address
/// there.
fn is_variable(class: u32) -> bool {
    matches!(class, storage::FUNCTION | storage::PRIVATE | storage::WORKGROUP)
}
