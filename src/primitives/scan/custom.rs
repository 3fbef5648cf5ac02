//! Operators that a caller writes.

use crate::error::{Error, Result};
use crate::kernels::{self, Kernel};

#[doc = include_str!("../../../docs/custom-operators.md")]
#[derive(Debug)]
pub struct CustomOperator {
    element_words: u32,
    reduce: Kernel,
    downsweep: Kernel,
    segmented: Option<(Kernel, Kernel)>,
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
    /// [`DeviceRequirements`](crate::device::DeviceRequirements) asks for, such as doubles. A plan refuses modules that are
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
                segmented: None,
            }
        }
    }

    /// The same, for scans of segments too: `reduce` and `downsweep` compiled with `HEADED` as well.
    ///
    /// # Safety
    /// That of [`Self::new`].
    pub const unsafe fn with_segments(
        mut self,
        name: &'static str,
        reduce: &'static [u8],
        downsweep: &'static [u8],
    ) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            self.segmented = Some((
                Kernel::variant(name, reduce, &kernels::SCAN_REDUCE_WORDS32X1_SEGMENTED),
                Kernel::variant(name, downsweep, &kernels::SCAN_DOWNSWEEP_WORDS32X1_SEGMENTED),
            ));
        }
        self
    }

    /// Words of 32 bits of an element.
    pub const fn element_words(&self) -> u32 {
        self.element_words
    }

    /// Those of a scan that passes [`Self::check`].
    pub(super) fn kernels(&'static self, is_segmented: bool) -> (&'static Kernel, &'static Kernel) {
        match &self.segmented {
            Some((reduce, downsweep)) if is_segmented => (reduce, downsweep),
            _ => (&self.reduce, &self.downsweep),
        }
    }

    /// Whether the modules are what they should be, as far as their declarations tell.
    pub(super) fn check(&self, is_segmented: bool) -> Result<()> {
        if !(1..=Self::MAX_ELEMENT_WORDS).contains(&self.element_words) {
            return Err(Error::Unsupported { reason: "a custom operator's elements are of 1 to 16 words" });
        }
        // A head is one word more.
        let shared_words = self.element_words + u32::from(is_segmented);
        let same = |kernel: &Kernel, model| kernel.is_variant_of(model, shared_words);
        let is_right = match (&self.segmented, is_segmented) {
            (None, true) => {
                return Err(Error::Unsupported {
                    reason: "the custom operator has no modules for segments: give it CustomOperator::with_segments",
                });
            }
            (Some((reduce, downsweep)), true) => {
                same(reduce, &kernels::SCAN_REDUCE_WORDS32X1_SEGMENTED)
                    && same(downsweep, &kernels::SCAN_DOWNSWEEP_WORDS32X1_SEGMENTED)
            }
            (_, false) => {
                same(&self.reduce, &kernels::SCAN_REDUCE_WORDS32X1)
                    && same(&self.downsweep, &kernels::SCAN_DOWNSWEEP_WORDS32X1)
            }
        };
        if is_right {
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
