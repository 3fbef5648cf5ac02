//! Custom operators.

use crate::error::{Error, Result, in_range};
use crate::kernels::{self, Define, Kernel};

/// Kernels with the interfaces of a custom operator's modules.
const REDUCE: &Kernel = kernels::SCAN_REDUCE.module(&DEFINES);
const DOWNSWEEP: &Kernel = kernels::SCAN_DOWNSWEEP.module(&DEFINES);
const SEGMENTED_REDUCE: &Kernel = kernels::SCAN_REDUCE.module(&SEGMENTED);
const SEGMENTED_DOWNSWEEP: &Kernel = kernels::SCAN_DOWNSWEEP.module(&SEGMENTED);
const DEFINES: [Define; 2] = [("OPERATOR_WORDS32", 1), ("COLUMNS", 1)];
const REDUCTION: &Kernel = kernels::REDUCE_REDUCE.module(&[("OPERATOR_WORDS32", 1), ("COLUMNS", 4)]);
const REDUCTION_OF_SEGMENTS: &Kernel = kernels::REDUCE_SEGMENTS.module(&DEFINES);
const SEGMENTED: [Define; 3] = [("OPERATOR_WORDS32", 1), ("COLUMNS", 1), ("HEADED", 1)];

#[doc = include_str!("../../../docs/custom-operators.md")]
#[derive(Debug)]
pub struct CustomOperator {
    element_words: u32,
    reduce: Kernel,
    downsweep: Kernel,
    segmented: Option<(Kernel, Kernel)>,
    reduction: Option<(Kernel, Kernel)>,
}

impl CustomOperator {
    /// Maximum size of an element, words.
    pub const MAX_ELEMENT_WORDS: u32 = 16;

    /// An operator on elements of `element_words` 32-bit words, 1 to 16, with its modules: `reduce`, compiled from
    /// `glsl/scan/reduce.comp`, and `downsweep`, from `glsl/scan/downsweep.comp`. `name` is for reports.
    ///
    /// # Safety
    /// Both modules are valid for Vulkan 1.2 and were compiled from this version's sources with `OPERATOR_CUSTOM` and
    /// an include as described above: its `ELEMENT_WORDS` is `element_words`, and it has no memory accesses, barriers
    /// or subgroup operations. Devices support the features of the modules beyond
    /// [`DeviceRequirements`](crate::device::DeviceRequirements), such as doubles. A plan checks the interfaces of the
    /// modules, but not their code.
    pub const unsafe fn new(
        name: &'static str,
        element_words: u32,
        reduce: &'static [u8],
        downsweep: &'static [u8],
    ) -> Self {
        // SAFETY: the caller promises that the modules differ from the library's only in the element.
        unsafe {
            Self {
                element_words,
                reduce: Kernel::variant(name, reduce, REDUCE),
                downsweep: Kernel::variant(name, downsweep, DOWNSWEEP),
                segmented: None,
                reduction: None,
            }
        }
    }

    /// Adds modules for segmented scans: `reduce` and `downsweep`, compiled with `HEADED` as well.
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
                Kernel::variant(name, reduce, SEGMENTED_REDUCE),
                Kernel::variant(name, downsweep, SEGMENTED_DOWNSWEEP),
            ));
        }
        self
    }

    /// Adds modules for reductions: `reduce`, compiled from `glsl/reduce/reduce.comp`, and `segments`, from
    /// `glsl/reduce/segments.comp`.
    ///
    /// # Safety
    /// That of [`Self::new`], for both modules: the size of the elements of `segments` is not checked.
    pub const unsafe fn with_reduction(
        mut self,
        name: &'static str,
        reduce: &'static [u8],
        segments: &'static [u8],
    ) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            self.reduction = Some((
                Kernel::variant(name, reduce, REDUCTION),
                Kernel::variant(name, segments, REDUCTION_OF_SEGMENTS),
            ));
        }
        self
    }

    /// Size of an element, 32-bit words.
    pub const fn element_words(&self) -> u32 {
        self.element_words
    }

    /// The kernels of a scan that passes [`Self::check`].
    pub(super) fn kernels(&'static self, is_segmented: bool) -> (&'static Kernel, &'static Kernel) {
        match &self.segmented {
            Some((reduce, downsweep)) if is_segmented => (reduce, downsweep),
            _ => (&self.reduce, &self.downsweep),
        }
    }

    /// The kernels of a reduction that passes [`Self::check_reduction`]: of tiles and of segments.
    pub(in crate::primitives) fn reduction(&'static self) -> (&'static Kernel, &'static Kernel) {
        let (reduce, segments) = self.reduction.as_ref().expect("`check_reduction` has found it");
        (reduce, segments)
    }

    /// As [`Self::check`], of the modules for reductions.
    pub(in crate::primitives) fn check_reduction(&self) -> Result<()> {
        in_range("words per element of a custom operator", self.element_words, 1..=Self::MAX_ELEMENT_WORDS)?;
        let Some((reduce, segments)) = &self.reduction else {
            return Err(Error::Unsupported {
                reason: "the custom operator has no modules for reductions: give it CustomOperator::with_reduction",
            });
        };
        let is_valid = reduce.is_variant_of(REDUCTION, Some(self.element_words))
            && segments.is_variant_of(REDUCTION_OF_SEGMENTS, None);
        if is_valid {
            return Ok(());
        }
        Err(Error::Unsupported {
            reason: "a custom operator's modules for reductions are compiled from glsl/reduce/reduce.comp and \
                     segments.comp of this version, with OPERATOR_CUSTOM and an include whose ELEMENT_WORDS was given",
        })
    }

    /// Checks the interfaces of the modules.
    pub(super) fn check(&self, is_segmented: bool) -> Result<()> {
        in_range("words per element of a custom operator", self.element_words, 1..=Self::MAX_ELEMENT_WORDS)?;
        // With segments, shared elements have a head of one word.
        let shared_words = self.element_words + u32::from(is_segmented);
        let same = |kernel: &Kernel, model| kernel.is_variant_of(model, Some(shared_words));
        let is_valid = match (&self.segmented, is_segmented) {
            (None, true) => {
                return Err(Error::Unsupported {
                    reason: "the custom operator has no modules for segments: give it CustomOperator::with_segments",
                });
            }
            (Some((reduce, downsweep)), true) => {
                same(reduce, SEGMENTED_REDUCE) && same(downsweep, SEGMENTED_DOWNSWEEP)
            }
            (_, false) => same(&self.reduce, REDUCE) && same(&self.downsweep, DOWNSWEEP),
        };
        if is_valid {
            return Ok(());
        }
        Err(Error::Unsupported {
            reason: "a custom operator's modules are compiled from glsl/scan/reduce.comp and downsweep.comp of this \
                     version, with OPERATOR_CUSTOM and an include whose ELEMENT_WORDS was given",
        })
    }
}

/// Operators are equal if they are the same static.
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
