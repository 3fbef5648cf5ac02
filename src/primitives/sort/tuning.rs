//! Tuning of sorts: the shapes of the tuning room that fit a device together.

use super::policy::TileShape;
use crate::device::Capabilities;
use crate::primitives::tuning::{self, KernelShape, TunedPart};

/// Tuning of sorts on a device, for a key and a value size.
#[derive(Debug, Clone, Copy)]
pub(super) struct SortTuning {
    pub(super) onesweep: KernelShape,
    /// Of onesweep's tiles for few keys, up to `few_tiles` of them.
    pub(super) few: KernelShape,
    pub(super) radix_8bit: KernelShape,
    /// Of radix-4bit, radix-2bit and the single workgroup.
    pub(super) counted: KernelShape,
    /// Of the workgroup that sorts more keys than the single workgroup of `counted`, if it holds more.
    pub(super) large_workgroup: KernelShape,
    pub(super) histogram: KernelShape,
}

impl SortTuning {
    /// The tuning of a device, for keys and values of so many words.
    pub(super) fn new(capabilities: &Capabilities, words: [u32; 2]) -> Self {
        let tuning = |shape_of: fn(&Capabilities, TunedPart, [u32; 2]) -> KernelShape| {
            let shape = |part| shape_of(capabilities, part, words);
            Self {
                onesweep: shape(TunedPart::Onesweep),
                few: shape(TunedPart::OnesweepFew),
                radix_8bit: shape(TunedPart::Radix8Bit),
                counted: shape(TunedPart::CountedSort),
                large_workgroup: shape(TunedPart::LargeWorkgroupSort),
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
        let few = Some(of_few_keys(self.few, &self.onesweep)).filter(|shape| shape.few_tiles > 0);
        let matched = [self.onesweep, self.radix_8bit].iter().chain(&few).all(|shape| {
            let KernelShape { matching, subgroup_size, .. } = *shape;
            tile(shape).check_matched(8, 2, matching, subgroup_size, capabilities).is_ok()
        });
        let large = tile(&self.large_workgroup).check_single(self.counted.subgroup_size, capabilities);
        matched
            && large.is_ok()
            && tile(&self.counted).check(4, self.counted.subgroup_size, capabilities).is_ok()
    }
}

/// Onesweep's tiles for few keys, ranked as its others.
const fn of_few_keys(few: KernelShape, onesweep: &KernelShape) -> KernelShape {
    KernelShape { matching: onesweep.matching, subgroup_size: onesweep.subgroup_size, ..few }
}

/// The tile of a shape.
pub(super) const fn tile(shape: &KernelShape) -> TileShape {
    TileShape { workgroup_size: shape.workgroup_size, items_per_invocation: shape.items }
}

/// Whether a row of the table can have the shape for a part: it must fit with 64-bit offsets.
pub fn can_be_row(part: TunedPart, shape: &KernelShape, capabilities: &Capabilities) -> bool {
    let KernelShape { matching, subgroup_size, .. } = match part {
        TunedPart::OnesweepFew => {
            of_few_keys(*shape, &tuning::shape_of(capabilities, TunedPart::Onesweep, [1, 0]))
        }
        _ => *shape,
    };
    match part {
        TunedPart::Onesweep | TunedPart::OnesweepFew | TunedPart::Radix8Bit => {
            tile(shape).check_matched(8, 2, matching, subgroup_size, capabilities).is_ok()
        }
        _ => true,
    }
}
