//! Inputs and expected results, computed once for all cases of a work, count and input.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use super::Case;
use super::prepared::{Operands, Prepared};
use crate::harness::expected::Expected;
use subsweep::headless::GpuBuffer;

/// The input of cases that differ in algorithm and policy alone, and their expected result.
#[derive(Default)]
pub(in crate::harness) struct Known {
    input: OnceLock<Arc<Arrays>>,
    data: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// With its operands, which depend on the policy in some cases.
    exact: OnceLock<(Operands, Arc<Expectation>)>,
}

/// The elements, or a sort's keys; and a sort's values.
pub(in crate::harness) type Arrays = [Vec<u32>; 2];

/// An expected result.
pub(in crate::harness) struct Expectation {
    pub result: Expected,
    /// Of a sort.
    pub values: Vec<u32>,
    /// The right bits of both on the device: of an exact result the expected bits, otherwise the bits of the first run
    /// that was checked on the host.
    pub on_device: OnceLock<[Option<GpuBuffer>; 2]>,
}

impl Known {
    /// The input of `case`.
    pub(super) fn input(&self, case: &Case) -> Arc<Arrays> {
        self.input.get_or_init(|| Arc::new(case.generate())).clone()
    }

    /// What the operands and the oracle of these cases are made of, whatever their policies. `compute` gets the elements, or the
    /// keys, of [`Self::input`].
    pub(in crate::harness) fn data<T: Send + Sync + 'static>(
        &self,
        compute: impl FnOnce(&[u32]) -> T,
    ) -> Arc<T> {
        let compute = || -> Arc<dyn Any + Send + Sync> {
            Arc::new(compute(self.input.get().map_or(&[], |arrays| &arrays[0])))
        };
        let data = Arc::clone(self.data.get_or_init(compute));
        data.downcast().unwrap_or_else(|_| unreachable!("the data of one work is of one type"))
    }

    /// The expected result for this input and operands. It is computed anew for each case if it is not exact: the bound
    /// of a float depends on the algorithm.
    pub(super) fn expectation(&self, prepared: &Prepared, input: &Arrays) -> Arc<Expectation> {
        let operands = &prepared.needs.operands;
        if let Some((_, expectation)) = self.exact.get().filter(|(of, _)| of == operands) {
            return expectation.clone();
        }
        let (result, values) = (prepared.expected)(&input[0]);
        let result = result.packed(prepared.needs.packed_result);
        let values = prepared.joined(values);
        let expectation = Arc::new(Expectation { result, values, on_device: OnceLock::new() });
        if expectation.result.is_exact() {
            let _ = self.exact.set((operands.clone(), expectation.clone()));
        }
        expectation
    }
}

#[cfg(test)]
mod tests {
    use super::super::Needs;
    use super::*;

    #[test]
    fn an_expected_result_is_of_its_operands() {
        let known = Known::default();
        let expected = |first: u32| {
            let prepared = Prepared {
                policy: String::new(),
                traffic_size: 0,
                needs: Needs::new(0, 0, vec![("first", Arc::new(vec![first]))]),
                arguments: Vec::new(),
                bind: Box::new(|_| Ok(Box::new(|_| Ok(())))),
                expected: Box::new(move |input| (Expected::exact([&[first], input].concat()), Vec::new())),
                look_back: None,
            };
            known.expectation(&prepared, &[vec![7], Vec::new()])
        };
        let first = expected(1);
        assert!(Arc::ptr_eq(&first, &expected(1)));
        assert_eq!((first.result.words(), expected(2).result.words()), (&[1, 7][..], &[2, 7][..]));
    }

    #[test]
    fn data_is_computed_once() {
        let known = Known { input: OnceLock::from(Arc::new([vec![1, 2], Vec::new()])), ..Known::default() };
        assert_eq!(*known.data(|elements| elements.len()), 2);
        assert_eq!(*known.data(|_| 3usize), 2);
    }
}
