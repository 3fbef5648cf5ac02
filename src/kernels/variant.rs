//! Modules compiled by a caller from the library's own sources, with functions of the caller.

use super::spirv::{self, Module, Type, opcode, storage};
use super::{Kernel, KernelAccess, Spirv};

impl Kernel {
    /// A kernel with the host interface of `model` and a module that has functions of the caller.
    ///
    /// # Safety
    /// `spirv` is a valid module for Vulkan 1.2, aligned as words, with that interface, followed by the pointer to the
    /// functions' data.
    pub(crate) const unsafe fn with_functions(spirv: &'static [u8], model: &'static Kernel) -> Self {
        Self { spirv: Spirv::Plain(spirv), hash: 0, has_functions: true, ..*model }
    }

    /// Whether the module is the library's kernel of this name, compiled with functions of elements of `element_words` words.
    pub(crate) fn is_sound(&self, element_words: u32) -> bool {
        let Spirv::Plain(bytes) = self.spirv else { return false };
        bytemuck::try_cast_slice(bytes)
            .is_ok_and(|words| check_functions(words, super::named(self.name), element_words).is_ok())
    }
}

/// Fails, with the reason, unless a module is that kernel, compiled with functions of elements of `element_words` words.
#[doc(hidden)]
pub fn check_functions(module: &[u32], model: &Kernel, element_words: u32) -> Result<(), String> {
    let module = &Module::new(module.to_vec())?;
    if module.version() > 0x10500 {
        return Err("it is for a later Vulkan than 1.2".to_owned());
    }
    let found = spirv::reflect(module)?;
    let accesses = spirv::accesses_with_functions(module)?;
    let access_of = |index: usize| accesses.get(index).copied().unwrap_or_default();
    let data = model.push_constants.len();
    if found.push_constants.len() != data + 1 || !found.push_constants[data].pointer {
        return Err("its push constants differ from the FUNCTIONS kernel's".to_owned());
    }
    for (index, (expected, member)) in model.push_constants.iter().zip(&found.push_constants).enumerate() {
        let access = member.pointer.then(|| access_of(index));
        // A function may leave out what the library's own code reads.
        let is_allowed = match (expected.access, access) {
            (Some(expected), Some(access)) => expected.union(access) == expected,
            (expected, access) => expected == access,
        };
        if (expected.offset, expected.size) != (member.offset, member.size) || !is_allowed {
            return Err(format!("its accesses to push.{} differ from the kernel's", expected.name));
        }
    }
    if KernelAccess::READ.union(access_of(data)) != KernelAccess::READ {
        return Err("it writes to data".to_owned());
    }
    let is_known = |id| model.spec_constants.iter().any(|expected| expected.id == id);
    if let Some(constant) = found.spec_constants.iter().find(|constant| !is_known(constant.id)) {
        return Err(format!("it has the specialization constant {}, which the kernel has not", constant.id));
    }
    if found.workgroup_size_id != model.workgroup_size_id {
        return Err("its workgroup size is not specialized as the kernel's".to_owned());
    }
    match super::uses::shared_words(model.name, element_words) {
        Some(words) if !shared_element_words(module).any(|found| found == words) => {
            Err(format!("its elements are not of {element_words} words"))
        }
        _ => Ok(()),
    }
}

/// Words of an element of each array in shared memory; a module that no optimiser has seen may have some that nothing uses.
fn shared_element_words(module: &Module) -> impl Iterator<Item = u32> {
    let is_shared = |i: &spirv::Instruction<'_>| {
        i.opcode == opcode::VARIABLE && i.operands.get(2) == Some(&storage::WORKGROUP)
    };
    module.instructions().filter(is_shared).filter_map(|variable| {
        let Type::Pointer { to, .. } = module.type_of(*variable.operands.get(1)?)? else { return None };
        let Type::Array { of, .. } = module.type_by_id(*to)? else { return None };
        words_of(module, *of)
    })
}

/// 32-bit words of a type that consists of them.
fn words_of(module: &Module, id: spirv::Id) -> Option<u32> {
    match module.type_by_id(id)? {
        scalar if scalar.scalar_size() == Some(4) => Some(1),
        Type::Vector { count, .. } => Some(*count),
        Type::Array { length, .. } => module.constant(*length),
        Type::Struct(members) => members.iter().map(|member| words_of(module, *member)).sum(),
        _ => None,
    }
}
