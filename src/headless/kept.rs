//! The plans that a device keeps from call to call.

use std::sync::{Arc, Mutex};

use super::lock;
use crate::error::Result;

/// How many plans of a primitive are kept: those that were used last. Pipelines take memory, on CPU drivers some megabytes
/// each.
const MAX_PLANS: usize = 32;

/// Plans by configuration, the one used last at the end.
pub(super) struct Kept<C, P>(Mutex<Vec<(C, Arc<P>)>>);

impl<C, P> Default for Kept<C, P> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<C: PartialEq, P> Kept<C, P> {
    /// The plan of this configuration, or the one that `make` makes.
    pub(super) fn get(&self, config: C, make: impl FnOnce() -> Result<P>) -> Result<Arc<P>> {
        if let Some(plan) = find(&mut lock(&self.0), &config) {
            return Ok(plan);
        }
        // Unlocked meanwhile: other threads make other plans, and of two that make the same one the first is kept.
        let plan = Arc::new(make()?);
        // Dropped behind the lock.
        let mut _forgotten = None;
        let mut plans = lock(&self.0);
        if let Some(first) = find(&mut plans, &config) {
            return Ok(first);
        }
        if plans.len() == MAX_PLANS {
            _forgotten = Some(plans.remove(0));
        }
        plans.push((config, Arc::clone(&plan)));
        Ok(plan)
    }
}

/// The plan of this configuration, now the one used last.
fn find<C: PartialEq, P>(plans: &mut [(C, Arc<P>)], config: &C) -> Option<Arc<P>> {
    let index = plans.iter().position(|(other, _)| other == config)?;
    plans[index..].rotate_left(1);
    plans.last().map(|(_, plan)| Arc::clone(plan))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plans_used_last_are_kept() {
        let kept = Kept::<usize, usize>::default();
        let made = |config| {
            let mut made = false;
            let plan = kept.get(config, || {
                made = true;
                Ok(config)
            });
            assert_eq!(*plan.unwrap(), config);
            made
        };
        assert!((0..MAX_PLANS).all(made));
        assert!(!made(0));
        // In place of 1, which has not been used for longest.
        assert!(made(MAX_PLANS));
        assert!(!made(0) && !made(2) && !made(MAX_PLANS));
        assert!(made(1));
    }

    #[test]
    fn what_fails_is_not_kept() {
        let kept = Kept::<usize, usize>::default();
        assert!(kept.get(1, || Err(crate::Error::NoDevice)).is_err());
        assert_eq!(*kept.get(1, || Ok(2)).unwrap(), 2);
    }
}
