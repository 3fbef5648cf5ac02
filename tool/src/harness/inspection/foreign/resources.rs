//! Sizes of the resources of a foreign module, in bytes.

use subsweep::kernels::spirv::sizes::Sizes;
use subsweep::kernels::spirv::{Id, Module, Type, decoration, opcode, storage};

/// Bytes of shared memory in the variables that are used; none where it could not be computed.
pub(super) fn shared_memory(module: &Module, sizes: &Sizes, is_used: impl Fn(Id) -> bool) -> Option<u64> {
    let (mut sum, mut largest_block) = (0u64, 0);
    for (variable, to) in variables(module, storage::WORKGROUP).filter(|(variable, _)| is_used(*variable)) {
        let size = sizes.bytes(to)?;
        if module.decoration(variable, decoration::ALIASED).is_some() {
            // Aliased blocks share their memory.
            largest_block = size.max(largest_block);
        } else {
            sum = sum.saturating_add(size);
        }
    }
    Some(sum.saturating_add(largest_block))
}

/// Bytes of the block of push constants that is used, 0 without one; none where it could not be computed.
pub(super) fn push_constants(module: &Module, sizes: &Sizes, is_used: impl Fn(Id) -> bool) -> Option<u64> {
    let used = variables(module, storage::PUSH_CONSTANT).filter(|(variable, _)| is_used(*variable));
    used.map(|(_, block)| sizes.bytes(block)).try_fold(0, |largest, size| Some(size?.max(largest)))
}

/// Variables of a storage class outside functions, with the types that they hold.
fn variables(module: &Module, class: u32) -> impl Iterator<Item = (Id, Id)> {
    module.instructions().filter_map(move |i| match (i.opcode, i.operands) {
        (opcode::VARIABLE, [pointer, variable, of, ..]) if *of == class => {
            match module.type_by_id(*pointer) {
                Some(Type::Pointer { to, .. }) => Some((*variable, *to)),
                _ => None,
            }
        }
        _ => None,
    })
}
