//! Tuning of sorts: the shapes of the tuning room that fit a device together, and the algorithm for many keys.

use super::policy::{SortAlgorithm, TileShape};
use crate::device::{Architecture, Capabilities};
use crate::primitives::Choice;
use crate::primitives::tuning::{self, KernelShape, TunedPart};

/// Tuning of sorts on a device, for a key and a value size.
#[derive(Debug, Clone, Copy)]
pub(super) struct SortTuning {
    pub(super) onesweep: KernelShape,
    pub(super) radix_8bit: KernelShape,
    /// Of radix-4bit, radix-2bit and the single workgroup.
    pub(super) counted: KernelShape,
    pub(super) histogram: KernelShape,
}

impl SortTuning {
    /// The tuning of a device, for keys and values of `key_words` and `value_words` words.
    pub(super) fn of(capabilities: &Capabilities, key_words: u32, value_words: u32) -> Self {
        let tuning = |shape_of: fn(&Capabilities, TunedPart, [u32; 2]) -> KernelShape| {
            let shape = |part| shape_of(capabilities, part, [key_words, value_words]);
            Self {
                onesweep: shape(TunedPart::Onesweep),
                radix_8bit: shape(TunedPart::Radix8Bit),
                counted: shape(TunedPart::CountedSort),
                histogram: shape(TunedPart::DigitHistogram),
            }
        };
        let tuned = tuning(tuning::shape_of);
        // The device may have lower limits than others of its architecture. A plan refuses a shape that a sweep tries.
        if tuned.fits(capabilities) || !capabilities.tuned.is_empty() {
            tuned
        } else {
            tuning(|capabilities, part, _| tuning::fallback(capabilities, part))
        }
    }

    fn fits(&self, capabilities: &Capabilities) -> bool {
        let matched = [self.onesweep, self.radix_8bit].iter().all(|shape| {
            let KernelShape { matching, subgroup_size, .. } = *shape;
            tile(shape).check_matched(8, 2, matching, subgroup_size, capabilities).is_ok()
        });
        matched && tile(&self.counted).check(4, self.counted.subgroup_size, capabilities).is_ok()
    }
}

/// The tile of a shape.
pub(super) const fn tile(shape: &KernelShape) -> TileShape {
    TileShape { workgroup_size: shape.workgroup_size, items_per_invocation: shape.items }
}

/// Minimum subgroup size at which ranking by match pays: each ballot is shared by as many keys.
const MATCHING_LANES: u32 = 16;

/// The algorithm for more keys than one workgroup holds.
pub(super) fn choose_algorithm(capabilities: &Capabilities) -> Choice<SortAlgorithm> {
    let (policy, reason) = match capabilities.architecture() {
        // Measured on lavapipe 22.3.6 at 8 lanes and on SwiftShader at 4 lanes: docs/results.md.
        Some(Architecture::Lavapipe) => (
            SortAlgorithm::Radix4Bit,
            "few keys take one dispatch; on a CPU digits of 4 bits need little scratch, and compile in a third of the \
             time",
        ),
        Some(Architecture::SwiftShader) => (
            SortAlgorithm::Radix8Bit,
            "few keys take one dispatch; SwiftShader sorts more by digits of 8 bits in half the time that 4 bits take",
        ),
        None if tuning::is_cpu(capabilities) || capabilities.subgroup_size < MATCHING_LANES => (
            SortAlgorithm::Radix4Bit,
            "few keys take one dispatch; on a CPU, or with few lanes, digits of 4 bits need little scratch, and \
             compile in a third of the time",
        ),
        _ => (
            SortAlgorithm::Onesweep,
            "few keys take one dispatch; onesweep moves more keys the fewest times, in one kernel per pass with a \
             bounded look-back",
        ),
    };
    Choice { policy, reason }
}

/// Whether a row of the table can have the shape for a part: it must fit with 64-bit offsets.
#[cfg(feature = "cli")]
pub(crate) fn can_be_row(part: TunedPart, shape: &KernelShape, capabilities: &Capabilities) -> bool {
    let KernelShape { matching, subgroup_size, .. } = *shape;
    match part {
        TunedPart::Onesweep | TunedPart::Radix8Bit => {
            tile(shape).check_matched(8, 2, matching, subgroup_size, capabilities).is_ok()
        }
        _ => true,
    }
}
