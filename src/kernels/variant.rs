//! Modules compiled by a caller from the library's own sources, with a custom operator.

use super::spirv::{self, Module, Type, opcode, storage};
use super::{Kernel, Spirv};

impl Kernel {
    /// A kernel with the host interface of `model` and another module.
    ///
    /// # Safety
    /// `spirv` is a valid module for Vulkan 1.2, aligned as words, with that interface.
    pub(crate) const unsafe fn variant(
        name: &'static str,
        spirv: &'static [u8],
        model: &'static Kernel,
    ) -> Self {
        Self { name, spirv: Spirv::Plain(spirv), hash: 0, ..*model }
    }

    /// Whether the module has the declarations and accesses of `model`, and an array in shared memory of
    /// elements of `element_words` words, head flags included; `None` for a kernel without shared memory.
    pub(crate) fn is_variant_of(&self, model: &Self, element_words: Option<u32>) -> bool {
        let Spirv::Plain(bytes) = self.spirv else { return false };
        bytemuck::try_cast_slice(bytes).is_ok_and(|words| {
            let module = Module::new(words.to_vec());
            module.and_then(|module| is_like(&module, model, element_words)).unwrap_or(false)
        })
    }
}

fn is_like(module: &Module, model: &Kernel, element_words: Option<u32>) -> Result<bool, String> {
    let found = spirv::reflect(module)?;
    let accesses = spirv::accesses(module)?;
    let same_members = found.push_constants.len() == model.push_constants.len()
        && model.push_constants.iter().zip(&found.push_constants).enumerate().all(
            |(index, (expected, member))| {
                let access = member.pointer.then(|| accesses.get(index).copied().unwrap_or_default());
                (expected.offset, expected.size, expected.access) == (member.offset, member.size, access)
            },
        );
    let same_constants = found
        .spec_constants
        .iter()
        .all(|constant| model.spec_constants.iter().any(|expected| expected.id == constant.id));
    Ok(same_members
        && same_constants
        && found.workgroup_size_id == model.workgroup_size_id
        && shared_element_words(module) == element_words)
}

/// Words of an element of the only array in shared memory.
fn shared_element_words(module: &Module) -> Option<u32> {
    let is_shared = |i: &spirv::Instruction<'_>| {
        i.opcode == opcode::VARIABLE && i.operands.get(2) == Some(&storage::WORKGROUP)
    };
    let mut shared = module.instructions().filter(is_shared);
    let (variable, None) = (shared.next()?, shared.next()) else { return None };
    let Type::Pointer { to, .. } = module.type_of(*variable.operands.get(1)?)? else { return None };
    let Type::Array { of, .. } = module.type_by_id(*to)? else { return None };
    words_of(module, *of)
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
