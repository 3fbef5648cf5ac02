//! Push constants as typed structs, checked against the GLSL at compile time.
//!
//! A struct declared by [`push_constants!`] names its families of kernels; its fields are compared at compile time with the block
//! that the build reflected from their SPIR-V. Pointers are [`AddressRange`]s: the kernel receives the address, and the
//! recorder the range.

use super::buffer::AddressRange;
use crate::kernels::{Family, Field};

/// The minimum of `maxPushConstantsSize`, bytes.
const MAX_SIZE: usize = 128;
/// Maximum number of pointers in a block.
const MAX_POINTERS: usize = MAX_SIZE / 8;

/// Values for the push-constant block of one or several kernels.
///
/// # Safety
/// [`Self::block`] has the fields of every kernel of [`Self::FAMILIES`], in their order, at their offsets, and pointers
/// where they have pointers. `push_constants!` checks this.
pub unsafe trait PushConstants {
    /// Families of kernels with this block.
    const FAMILIES: &'static [&'static Family];

    /// Writes the values in the layout of the kernels.
    fn block(&self) -> PushBlock;
}

/// Bytes of a push-constant block, and the ranges of its pointers. Allocates nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct PushBlock {
    bytes: Bytes,
    size: usize,
    ranges: [AddressRange; MAX_POINTERS],
    range_count: usize,
}

#[derive(Debug, Clone, Copy)]
struct Bytes([u8; MAX_SIZE]);

impl Default for Bytes {
    fn default() -> Self {
        Self([0; MAX_SIZE])
    }
}

impl PushBlock {
    /// Appends a field at its natural alignment, as the compile-time check assumes.
    ///
    /// # Panics
    /// Beyond 128 bytes.
    pub fn push(&mut self, field: impl PushField) {
        field.append(self);
    }

    fn append_bytes(&mut self, bytes: &[u8]) {
        let offset = self.size.next_multiple_of(bytes.len());
        self.bytes.0[offset..offset + bytes.len()].copy_from_slice(bytes);
        self.size = offset + bytes.len();
    }

    /// The layout by [`Self::push`] of fields, each of a name, a size and whether it is a pointer.
    #[allow(dead_code, reason = "used in `const` alone, which compilers before 1.89 do not count")]
    pub(crate) const fn fields<const N: usize>(fields: [(&'static str, u32, bool); N]) -> [Field; N] {
        let mut laid_out = [Field { name: "", offset: 0, size: 0, pointer: false }; N];
        let (mut index, mut end) = (0, 0u32);
        while index < N {
            let (name, size, pointer) = fields[index];
            let offset = end.next_multiple_of(size);
            laid_out[index] = Field { name, offset, size, pointer };
            end = offset + size;
            index += 1;
        }
        laid_out
    }

    /// The bytes of the block.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes.0[..self.size]
    }

    /// The ranges of the pointers, in the order of the block.
    pub fn ranges(&self) -> &[AddressRange] {
        &self.ranges[..self.range_count]
    }
}

/// A type of push-constant fields.
pub trait PushField: Copy {
    /// Size and alignment in the block, bytes.
    const SIZE: u32;
    /// Whether the field is a pointer in the kernel.
    const IS_POINTER: bool;

    /// Appends the value to `block`.
    fn append(self, block: &mut PushBlock);
}

impl PushField for u32 {
    const SIZE: u32 = 4;
    const IS_POINTER: bool = false;

    fn append(self, block: &mut PushBlock) {
        block.append_bytes(&self.to_ne_bytes());
    }
}

impl PushField for AddressRange {
    const SIZE: u32 = 8;
    const IS_POINTER: bool = true;

    fn append(self, block: &mut PushBlock) {
        block.append_bytes(&self.address.to_ne_bytes());
        block.ranges[block.range_count] = self;
        block.range_count += 1;
    }
}

/// Declares a struct for the push-constant block of the families named, checked against their SPIR-V at compile time.
macro_rules! push_constants {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident for [$($family:ident),+ $(,)?] {
            $($(#[$field_meta:meta])* $field:ident: $type:ty),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        $vis struct $name {
            $($(#[$field_meta])* pub $field: $type),+
        }

        // SAFETY: the `const` below compares the fields with the kernels' blocks.
        unsafe impl $crate::device::PushConstants for $name {
            const FAMILIES: &'static [&'static $crate::kernels::Family] = &[$(&$crate::kernels::$family),+];

            fn block(&self) -> $crate::device::PushBlock {
                let mut block = $crate::device::PushBlock::default();
                $(block.push(self.$field);)+
                block
            }
        }

        const _: () = {
            use $crate::device::{PushBlock, PushField};
            let fields = [$((stringify!($field), <$type>::SIZE, <$type>::IS_POINTER)),+];
            let fields = PushBlock::fields(fields);
            $($crate::kernels::assert_layout(&$crate::kernels::$family, &fields);)+
        };
    };
}
pub(crate) use push_constants;
