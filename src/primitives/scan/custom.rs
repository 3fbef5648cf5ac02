//! Operators that a caller writes.

use crate::error::{Error, Result};
use crate::kernels::{self, Kernel};

#[doc = include_str!("../../../docs/custom-operators.md")]
#[derive(Debug)]
pub struct CustomOperator {
    element_words: u32,
    reduce: Kernel,
    downsweep: Kernel,
}

impl CustomOperator {
    /// The most words of an element.
    pub const MAX_ELEMENT_WORDS: u32 = 16;

    /// An operator on elements of `element_words` words of 32 bits, 1 to 16, with the modules that were compiled for
    /// it: `reduce` from `glsl/scan/reduce.comp`, `downsweep` from `glsl/scan/downsweep.comp`. `name` is for reports.
    ///
    /// # Safety
    /// Both modules are valid for Vulkan 1.2, and were compiled from this version's sources with `OPERATOR_CUSTOM`, and
    /// with an include that keeps to what is said above: its `ELEMENT_WORDS` is `element_words`, it touches no memory,
    /// and it has no barriers and no subgroup operations. Devices that they are used on have what they need beyond what
    /// [`DeviceRequirements`](crate::vk::DeviceRequirements) asks for, such as doubles. A plan refuses modules that are
    /// not of this shape, but cannot know what else is in them.
    pub const unsafe fn new(
        name: &'static str,
        element_words: u32,
        reduce: &'static [u8],
        downsweep: &'static [u8],
    ) -> Self {
        // SAFETY: the modules differ from the library's own in what an element is, says the caller.
        unsafe {
            Self {
                element_words,
                reduce: Kernel::variant(name, reduce, &kernels::SCAN_REDUCE_WORDS32X1),
                downsweep: Kernel::variant(name, downsweep, &kernels::SCAN_DOWNSWEEP_WORDS32X1),
            }
        }
    }

    /// Words of 32 bits of an element.
    pub const fn element_words(&self) -> u32 {
        self.element_words
    }

    pub(super) const fn kernels(&'static self) -> (&'static Kernel, &'static Kernel) {
        (&self.reduce, &self.downsweep)
    }

    /// Whether the modules are what they should be, as far as their declarations tell.
    pub(super) fn check(&self) -> Result<()> {
        if !(1..=Self::MAX_ELEMENT_WORDS).contains(&self.element_words) {
            return Err(Error::Unsupported { reason: "a custom operator's elements are of 1 to 16 words" });
        }
        let same = |kernel: &Kernel, model| kernel.is_variant_of(model, self.element_words);
        if same(&self.reduce, &kernels::SCAN_REDUCE_WORDS32X1)
            && same(&self.downsweep, &kernels::SCAN_DOWNSWEEP_WORDS32X1)
        {
            return Ok(());
        }
        Err(Error::Unsupported {
            reason: "a custom operator's modules are compiled from glsl/scan/reduce.comp and downsweep.comp of this \
                     version, with OPERATOR_CUSTOM and an include whose ELEMENT_WORDS was given",
        })
    }
}

/// One is the same as another if it is that very static.
impl PartialEq for CustomOperator {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for CustomOperator {}

impl std::hash::Hash for CustomOperator {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::hash(self, state);
    }
}
