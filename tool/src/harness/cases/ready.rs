//! A case on the host, before it has memory on a device.

use std::sync::{Arc, OnceLock};

use super::known::{Arrays, Expectation, Known};
use super::prepared::Prepared;
use super::{Case, Planned};
use subsweep::error::Result;

/// A plan with input, operands and oracle.
pub(in crate::harness) struct Ready {
    pub(in crate::harness) prepared: Prepared,
    /// As memory holds it.
    pub(in crate::harness) input: Arc<Arrays>,
    /// The numbers of the input.
    numbers: Arc<Arrays>,
    known: Arc<Known>,
    expectation: OnceLock<Arc<Expectation>>,
}

impl Ready {
    /// Computes input and operands, as far as they are not known.
    ///
    /// # Errors
    /// Errors of [`PrimitiveCase::prepare`](crate::harness::cases::PrimitiveCase::prepare).
    pub fn new(case: &Case, plan: Planned, known: Arc<Known>) -> Result<Self> {
        let numbers = known.input(case);
        let prepared = plan(&known)?;
        let input = match prepared.needs.packed_source {
            Some(form) => Arc::new([form.packed(&numbers[0]), numbers[1].clone()]),
            None => Arc::clone(&numbers),
        };
        Ok(Self { prepared, input, numbers, known, expectation: OnceLock::new() })
    }

    /// Computes the expected result.
    pub fn expected(self) -> Self {
        self.expectation();
        self
    }

    /// The expected result; computed on first use.
    pub(in crate::harness) fn expectation(&self) -> &Arc<Expectation> {
        self.expectation.get_or_init(|| self.known.expectation(&self.prepared, &self.numbers))
    }
}
