//! Push constants as typed structs that cannot drift from the GLSL.
//!
//! A struct made by [`push_constants!`] names the kernels that it is for; its fields are compared with the block that
//! the build reflected from their SPIR-V, at compile time. Pointers are given as [`AddressRange`]s: the address goes
//! to the kernel, the range to the recorder, so that one cannot be told without the other.

use super::buffer::AddressRange;
use crate::kernels::{Field, Kernel};

/// The bytes that every Vulkan device takes.
const MAX_SIZE: usize = 128;
/// The pointers that fit in them.
const MAX_POINTERS: usize = MAX_SIZE / 8;

/// Values for the push-constant block of one or several kernels.
///
/// # Safety
/// [`Self::block`] has the fields of every kernel of [`Self::KERNELS`], in their order, at their offsets, and pointers
/// where they have pointers. `push_constants!` proves it.
pub unsafe trait PushConstants {
    /// The kernels whose block this is.
    const KERNELS: &'static [&'static Kernel];

    /// Lays the values out as the kernels read them.
    fn block(&self) -> PushBlock;
}

/// A push-constant block, laid out, and the ranges that its pointers stand for. Lives on the stack.
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
    /// Appends a field at its natural alignment, which is where the compile-time check has found it.
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

    /// Where [`Self::push`] would put fields of these names, sizes and pointer-ness.
    #[allow(dead_code, reason = "used in `const` alone, which compilers before 1.89 do not count")]
    pub(crate) const fn fields<const N: usize>(fields: [(&'static str, u32, bool); N]) -> [Field; N] {
        let mut placed = [Field { name: "", offset: 0, size: 0, pointer: false }; N];
        let (mut index, mut end) = (0, 0u32);
        while index < N {
            let (name, size, pointer) = fields[index];
            let offset = end.next_multiple_of(size);
            placed[index] = Field { name, offset, size, pointer };
            end = offset + size;
            index += 1;
        }
        placed
    }

    /// The block as the kernel reads it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes.0[..self.size]
    }

    /// What each pointer stands for, in the order of the block.
    pub fn ranges(&self) -> &[AddressRange] {
        &self.ranges[..self.range_count]
    }
}

/// A type that may stand in a push-constant block.
pub trait PushField: Copy {
    /// Its size in the block, bytes, which is its alignment too.
    const SIZE: u32;
    /// Whether the kernel sees a pointer.
    const IS_POINTER: bool;

    /// Appends itself to `block`.
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

/// Declares a struct for the push-constant block of the kernels named, checked against their SPIR-V at compile time.
macro_rules! push_constants {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident for [$($kernel:ident),+ $(,)?] {
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
            const KERNELS: &'static [&'static $crate::kernels::Kernel] = &[$(&$crate::kernels::$kernel),+];

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
            $($crate::kernels::assert_layout(&$crate::kernels::$kernel, &fields);)+
        };
    };
}
pub(crate) use push_constants;
