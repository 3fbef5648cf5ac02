//! Shapes of a part, measured one after the other on one input.

use std::sync::Arc;
use std::time::Duration;

use super::{BenchGroup, BenchOptions, CopyRoof, Measured, Outcome};
use crate::harness::cases::{Case, Known};
use subsweep::error::Result;
use subsweep::internal::can_be_row;
use subsweep::tuning::{KernelShape, TunedPart};

/// Measures shapes. The input and the right result are computed once, and every shape is compared with it.
pub struct ShapeBench<'g> {
    roof: &'g CopyRoof<'g>,
    part: TunedPart,
    case: Case,
    known: Arc<Known>,
}

impl<'g> ShapeBench<'g> {
    /// Some samples: half a second of work on a GPU would be as many shapes less.
    const OPTIONS: BenchOptions = BenchOptions {
        block_count: 1,
        samples_per_block: 5,
        end_to_end_count: 0,
        min_sample: Duration::from_millis(4),
        budget: Duration::from_millis(200),
        has_cold_cache: false,
        slow_down: 1.0,
    };

    /// For shapes of `part` that `case` is measured with.
    pub fn new(roof: &'g CopyRoof<'g>, part: TunedPart, case: Case) -> Self {
        Self { roof, part, case, known: Arc::default() }
    }

    /// Verifies and measures a shape: the outcome of one that is wrong or refused.
    ///
    /// # Errors
    /// Fatal errors of the device.
    pub fn measure(&self, shape: KernelShape) -> Result<Measured> {
        if !can_be_row(self.part, &shape, self.roof.gpu().capabilities()) {
            let reason = "offsets of 64 bits, for which a row of the table has room, do not fit";
            return Ok(Err(Outcome::NotSupported(reason.to_owned())));
        }
        let case = self.case.clone().with_shape(self.part, shape);
        if !case.has_its_shape(self.roof.gpu().capabilities()) {
            let reason = "the policy takes other tiles, or another algorithm";
            return Ok(Err(Outcome::NotSupported(reason.to_owned())));
        }
        let mut group = BenchGroup::of_known(self.roof, &case, Self::OPTIONS, self.known.clone())?;
        group.measure_block()?;
        group.finish()?;
        Ok(group.measured().remove(0))
    }
}
