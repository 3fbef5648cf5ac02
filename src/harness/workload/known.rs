//! Inputs and expected results, computed once for all cases of a work, count and input.

use std::cell::OnceCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::Expected;
use super::prepared::Prepared;
use crate::harness::cases::Case;
use crate::headless::GpuBuffer;

/// The input of cases that differ in algorithm and policy alone, and their expected result.
#[derive(Default)]
pub(in crate::harness) struct Known {
    input: OnceCell<Rc<Arrays>>,
    /// With a hash of the operands that it is for: those of some cases depend on the policy.
    exact: OnceCell<(u64, Rc<Expectation>)>,
}

/// The elements, or a sort's keys; and a sort's values.
pub(super) type Arrays = [Vec<u32>; 2];

/// An expected result.
pub(super) struct Expectation {
    pub result: Expected,
    /// Of a sort.
    pub values: Vec<u32>,
    /// The right bits of both on the device: of an exact result the expected ones, otherwise those of the first run that
    /// was checked on the host.
    pub on_device: OnceCell<[Option<GpuBuffer>; 2]>,
}

impl Known {
    /// The input of `case`.
    pub(super) fn input(&self, case: &Case) -> Rc<Arrays> {
        self.input.get_or_init(|| Rc::new(case.generate())).clone()
    }

    /// The expected result for this input and operands. It is computed anew for each case if it is not exact: the bound
    /// of a float depends on the algorithm.
    pub(super) fn expectation(
        &self,
        prepared: &Prepared,
        operands_hash: u64,
        input: &Arrays,
    ) -> Rc<Expectation> {
        if let Some((_, expectation)) = self.exact.get().filter(|(hash, _)| *hash == operands_hash) {
            return expectation.clone();
        }
        let (result, values) = (prepared.expected)(&input[0]);
        let expectation = Rc::new(Expectation { result, values, on_device: OnceCell::new() });
        if expectation.result.is_exact() {
            let _ = self.exact.set((operands_hash, expectation.clone()));
        }
        expectation
    }
}

/// A hash of operands.
pub(super) fn hash_of(operands: &[Vec<u32>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    operands.hash(&mut hasher);
    hasher.finish()
}
