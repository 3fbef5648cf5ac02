//! Which push-constant pointers a kernel reads, writes or uses atomically, from its instructions.
//!
//! GLSL's `readonly` and `writeonly` do not bind what a kernel stores or loads through, so they are not asked. Instead every
//! load of a pointer from the push-constant block is a *root*, and roots flow forward to a fixpoint: through bit casts,
//! arithmetic, composites, selections, phis, variables and calls, and through the base of an access chain, never its
//! indices. Whatever an access goes through then has the set of roots that it may come from, and all of them are marked.
//!
//! What cannot be traced is refused rather than left out. A value is *untraced* if it is a pointer without a root, one loaded
//! from memory say; or if a phi, selection or variable may hold either an address with a root or some other value that is no
//! constant. An access through an untraced pointer is an error. Sums are trusted to be an address and a count.

use super::{Id, Instruction, Module, Type, opcode, storage};
use crate::access::Access;
use std::collections::{HashMap, HashSet};

/// A set of push-constant members, one bit each, and [`UNTRACED`].
type Roots = u64;

const UNTRACED: Roots = 1 << 63;

/// What is done through each member of the push-constant block; nothing, for a member that is no pointer.
pub fn accesses(module: &Module) -> Result<Vec<Access>, String> {
    let mut flow = Flow::new(module);
    flow.collect()?;
    flow.solve();
    flow.find_untraced();
    flow.solve();
    flow.resolve()
}

struct Flow<'m> {
    module: &'m Module,
    /// By id; for a variable, of its content. Nodes beyond the module's bound are values that have no id.
    roots: Vec<Roots>,
    edges: Vec<(Id, Id)>,
    /// Nodes that hold one of several values, not a value computed from them.
    choices: HashSet<Id>,
    /// Constants and undefined values: no memory lies behind them.
    neutral: HashSet<Id>,
    /// The variable or parameter that a pointer to invocation or workgroup memory points into.
    variables: HashMap<Id, Id>,
    /// The push-constant block.
    block: Option<Id>,
    /// The pointers that a pointer into the push-constant block points to.
    push_roots: HashMap<Id, Roots>,
    parameters: HashMap<Id, Vec<Id>>,
    function: Id,
    through: Vec<Through>,
}

/// An access through a device address.
struct Through {
    pointer: Id,
    access: Access,
    opcode: u32,
    position: usize,
}

impl<'m> Flow<'m> {
    fn new(module: &'m Module) -> Self {
        Self {
            module,
            roots: vec![0; module.bound() as usize],
            edges: Vec::new(),
            choices: HashSet::new(),
            neutral: HashSet::new(),
            variables: HashMap::new(),
            block: None,
            push_roots: HashMap::new(),
            parameters: HashMap::new(),
            function: 0,
            through: Vec::new(),
        }
    }

    fn collect(&mut self) -> Result<(), String> {
        let mut function = 0;
        for i in self.module.instructions() {
            match i.opcode {
                opcode::FUNCTION => function = i.operand(1)?,
                opcode::FUNCTION_PARAMETER => self
                    .parameters
                    .entry(function)
                    .or_default()
                    .push(i.operand(1)?),
                _ => {}
            }
        }
        for i in self.module.instructions() {
            self.visit(i)?;
        }
        Ok(())
    }

    fn visit(&mut self, i: Instruction<'_>) -> Result<(), String> {
        match i.opcode {
            opcode::UNDEF
            | opcode::CONSTANT_TRUE..=opcode::CONSTANT_NULL
            | opcode::SPEC_CONSTANT_TRUE..=opcode::SPEC_CONSTANT_OP => {
                self.neutral.insert(i.operand(1)?);
            }
            opcode::VARIABLE => self.variable(i)?,
            opcode::FUNCTION => self.function = i.operand(1)?,
            opcode::FUNCTION_END => self.function = 0,
            _ if self.function == 0 => {}
            opcode::FUNCTION_PARAMETER => {
                let parameter = i.operand(1)?;
                self.choices.insert(parameter);
                if self.module.storage_of(parameter).is_some_and(is_variable) {
                    self.variables.insert(parameter, parameter);
                }
            }
            opcode::FUNCTION_CALL => self.call(i)?,
            opcode::RETURN_VALUE => {
                self.choices.insert(self.function);
                self.edge(i.operand(0)?, self.function);
            }
            opcode::LOAD => {
                let value = self.load(i, i.operand(2)?, Access::READ)?;
                self.edge(value, i.operand(1)?);
            }
            opcode::STORE => self.store(i, i.operand(0)?, i.operand(1)?, Access::WRITE)?,
            opcode::COPY_MEMORY | opcode::COPY_MEMORY_SIZED => {
                let value = self.load(i, i.operand(1)?, Access::READ)?;
                self.store(i, i.operand(0)?, value, Access::WRITE)?;
            }
            opcode::ATOMIC_LOAD => {
                let value = self.load(i, i.operand(2)?, Access::ATOMIC_READ)?;
                self.edge(value, i.operand(1)?);
            }
            opcode::ATOMIC_STORE | opcode::ATOMIC_FLAG_CLEAR => {
                let pointer = i.operand(0)?;
                let value = i.operands.get(3).copied().unwrap_or_else(|| self.node(0));
                self.store(i, pointer, value, Access::ATOMIC_WRITE)?;
            }
            opcode::ATOMIC_EXCHANGE..=opcode::ATOMIC_XOR
            | opcode::ATOMIC_FLAG_TEST_AND_SET
            | opcode::ATOMIC_F_MIN
            | opcode::ATOMIC_F_MAX
            | opcode::ATOMIC_F_ADD => self.atomic(i)?,
            opcode::ACCESS_CHAIN
            | opcode::IN_BOUNDS_ACCESS_CHAIN
            | opcode::PTR_ACCESS_CHAIN
            | opcode::IN_BOUNDS_PTR_ACCESS_CHAIN => self.access_chain(i)?,
            opcode::COPY_OBJECT => self.access_chain(i)?,
            opcode::SELECT => self.choose(i, i.from(3).iter().copied())?,
            opcode::PHI => self.choose(i, i.from(2).iter().step_by(2).copied())?,
            opcode::COMPOSITE_EXTRACT | opcode::VECTOR_EXTRACT_DYNAMIC => {
                self.edge(i.operand(2)?, i.operand(1)?)
            }
            opcode::COMPOSITE_INSERT | opcode::VECTOR_INSERT_DYNAMIC | opcode::VECTOR_SHUFFLE => {
                self.edge(i.operand(2)?, i.operand(1)?);
                self.edge(i.operand(3)?, i.operand(1)?);
            }
            opcode::BITCAST
            | opcode::CONVERT_PTR_TO_U
            | opcode::CONVERT_U_TO_PTR
            | opcode::COMPOSITE_CONSTRUCT
            | opcode::COPY_LOGICAL
            | opcode::PTR_EQUAL
            | opcode::PTR_NOT_EQUAL
            | opcode::PTR_DIFF => self.compute(i, i.from(2))?,
            opcode::LINE
            | opcode::NO_LINE
            | opcode::CONTROL_BARRIER
            | opcode::MEMORY_BARRIER
            | opcode::LOOP_MERGE..=opcode::LIFETIME_STOP => {}
            opcode::EXT_INST => self.unknown(i, i.from(4))?,
            opcode::GROUP_NON_UNIFORM_BALLOT_BIT_COUNT
            | opcode::GROUP_NON_UNIFORM_I_ADD..=opcode::GROUP_NON_UNIFORM_LOGICAL_XOR => {
                self.unknown(i, i.from(4))?
            }
            _ => self.unknown(i, i.from(2))?,
        }
        Ok(())
    }

    fn variable(&mut self, i: Instruction<'_>) -> Result<(), String> {
        let (variable, class) = (i.operand(1)?, i.operand(2)?);
        if class == storage::PUSH_CONSTANT {
            let Some(Type::Pointer { to, .. }) = self.module.type_of(variable) else {
                return Err(describe(
                    &i,
                    "makes a push-constant block that is no variable",
                ));
            };
            self.push_roots.insert(variable, self.roots_of_block(*to)?);
            self.block = Some(variable);
        } else if is_variable(class) {
            self.choices.insert(variable);
            self.variables.insert(variable, variable);
        }
        Ok(())
    }

    /// One bit for each member with a pointer in it.
    fn roots_of_block(&self, block: Id) -> Result<Roots, String> {
        let Some(Type::Struct(members)) = self.module.type_by_id(block) else {
            return Err("the push-constant block is no structure".to_owned());
        };
        if members.len() > 63 {
            return Err(format!(
                "the push-constant block has {} members, more than 63",
                members.len()
            ));
        }
        let bit =
            |(index, member): (u32, &Id)| Roots::from(self.module.holds_pointer(*member)) << index;
        Ok((0..).zip(members).map(bit).sum())
    }

    /// Into the block the first index picks a member; elsewhere a part has the roots of the whole.
    fn access_chain(&mut self, i: Instruction<'_>) -> Result<(), String> {
        let (result, base) = (i.operand(1)?, i.operand(2)?);
        if let Some(&roots) = self.push_roots.get(&base) {
            let roots = match i.operands.get(3) {
                Some(index) if Some(base) == self.block => {
                    let index = self.module.constant(*index).filter(|index| *index < 63);
                    roots
                        & (1 << index
                            .ok_or_else(|| describe(&i, "picks a push constant by no constant"))?)
                }
                _ => roots,
            };
            self.push_roots.insert(result, roots);
        }
        if let Some(&variable) = self.variables.get(&base) {
            self.variables.insert(result, variable);
        }
        self.edge(base, result);
        Ok(())
    }

    fn call(&mut self, i: Instruction<'_>) -> Result<(), String> {
        let function = i.operand(2)?;
        let parameters = self.parameters.get(&function).cloned().unwrap_or_default();
        for (&argument, &parameter) in i.from(3).iter().zip(&parameters) {
            match self.variables.get(&argument).copied() {
                Some(variable) => {
                    self.edge(variable, parameter);
                    self.edge(parameter, variable);
                }
                None => self.edge(argument, parameter),
            }
        }
        self.edge(function, i.operand(1)?);
        Ok(())
    }

    fn atomic(&mut self, i: Instruction<'_>) -> Result<(), String> {
        let pointer = i.operand(2)?;
        let old = self.load(i, pointer, Access::ATOMIC)?;
        self.edge(old, i.operand(1)?);
        let values = match i.opcode {
            opcode::ATOMIC_COMPARE_EXCHANGE | opcode::ATOMIC_COMPARE_EXCHANGE_WEAK => i.from(6),
            _ => i.from(5),
        };
        for &value in values.iter().take(1) {
            self.store(i, pointer, value, Access::ATOMIC)?;
        }
        Ok(())
    }

    /// The node of the value that a load gives.
    fn load(&mut self, i: Instruction<'_>, pointer: Id, access: Access) -> Result<Id, String> {
        match self.module.storage_of(pointer) {
            Some(storage::PHYSICAL) => {
                self.note(i, pointer, access);
                Ok(self.node(0))
            }
            Some(storage::PUSH_CONSTANT) => {
                let roots = self.push_roots.get(&pointer).copied();
                Ok(self.node(
                    roots.ok_or_else(|| describe(&i, "reads push constants in an unknown way"))?,
                ))
            }
            Some(class) if is_variable(class) => self.variable_of(i, pointer),
            _ => Ok(self.node(0)),
        }
    }

    fn store(
        &mut self,
        i: Instruction<'_>,
        pointer: Id,
        value: Id,
        access: Access,
    ) -> Result<(), String> {
        match self.module.storage_of(pointer) {
            Some(storage::PHYSICAL) => self.note(i, pointer, access),
            Some(class) if is_variable(class) => {
                let variable = self.variable_of(i, pointer)?;
                self.edge(value, variable);
            }
            _ => {}
        }
        Ok(())
    }

    fn variable_of(&self, i: Instruction<'_>, pointer: Id) -> Result<Id, String> {
        let variable = self.variables.get(&pointer).copied();
        variable.ok_or_else(|| {
            describe(
                &i,
                "uses a pointer to a variable that an unknown instruction made",
            )
        })
    }

    fn note(&mut self, i: Instruction<'_>, pointer: Id, access: Access) {
        self.through.push(Through {
            pointer,
            access,
            opcode: i.opcode,
            position: i.position,
        });
    }

    fn choose(
        &mut self,
        i: Instruction<'_>,
        values: impl Iterator<Item = Id>,
    ) -> Result<(), String> {
        let result = i.operand(1)?;
        self.choices.insert(result);
        values.for_each(|value| self.edge(value, result));
        Ok(())
    }

    /// A truth value is no address, whatever was compared.
    fn compute(&mut self, i: Instruction<'_>, values: &[Id]) -> Result<(), String> {
        let result = i.operand(1)?;
        if self.module.type_of(result) != Some(&Type::Bool) {
            values
                .iter()
                .filter(|value| **value < self.module.bound())
                .for_each(|value| self.edges.push((*value, result)));
        }
        Ok(())
    }

    /// Arithmetic for the most part. Operands that are literals may be taken for ids, which can only add roots.
    fn unknown(&mut self, i: Instruction<'_>, operands: &[Id]) -> Result<(), String> {
        let is_address = |id: &Id| {
            self.module
                .storage_of(*id)
                .is_some_and(|c| c == storage::PHYSICAL || is_variable(c))
        };
        if operands.iter().any(is_address) {
            return Err(describe(
                &i,
                "takes a pointer, and src/kernels/spirv does not know what it does",
            ));
        }
        match i
            .operands
            .first()
            .and_then(|of| self.module.type_by_id(*of))
        {
            Some(_) => self.compute(i, operands),
            None => Ok(()),
        }
    }

    fn edge(&mut self, from: Id, to: Id) {
        self.edges.push((from, to));
    }

    fn node(&mut self, roots: Roots) -> Id {
        self.roots.push(roots);
        (self.roots.len() - 1) as Id
    }

    fn solve(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for &(from, to) in &self.edges {
                let (from, to) = (from as usize, to as usize);
                changed |= self.roots[from] & !self.roots[to] != 0;
                self.roots[to] |= self.roots[from];
            }
        }
    }

    fn find_untraced(&mut self) {
        for id in 0..self.module.bound() {
            let is_pointer = self.module.storage_of(id) == Some(storage::PHYSICAL);
            if is_pointer && self.roots[id as usize] == 0 && !self.neutral.contains(&id) {
                self.roots[id as usize] = UNTRACED;
            }
        }
        let mixed: Vec<Id> = self
            .edges
            .iter()
            .filter(|(from, to)| {
                self.choices.contains(to)
                    && self.roots[*to as usize] != 0
                    && self.roots[*from as usize] == 0
                    && !self.neutral.contains(from)
            })
            .map(|(_, to)| *to)
            .collect();
        mixed
            .into_iter()
            .for_each(|to| self.roots[to as usize] |= UNTRACED);
    }

    fn resolve(self) -> Result<Vec<Access>, String> {
        let mut accesses = vec![Access::NONE; 63];
        for Through {
            pointer,
            access,
            opcode,
            position,
        } in self.through
        {
            let roots = self.roots[pointer as usize];
            if roots == 0 || roots & UNTRACED != 0 {
                return Err(format!(
                    "instruction {opcode} at word {position} goes through a pointer that comes from no push constant, or not only"
                ));
            }
            for (index, all) in accesses
                .iter_mut()
                .enumerate()
                .filter(|(index, _)| roots & (1 << index) != 0)
            {
                let _ = index;
                *all = all.union(access);
            }
        }
        Ok(accesses)
    }
}

fn is_variable(class: u32) -> bool {
    matches!(
        class,
        storage::FUNCTION | storage::PRIVATE | storage::WORKGROUP
    )
}

fn describe(i: &Instruction<'_>, what: &str) -> String {
    format!("instruction {} at word {} {what}", i.opcode, i.position)
}
