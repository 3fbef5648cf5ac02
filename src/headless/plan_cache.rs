//! LRU cache of plans.

use std::sync::{Arc, Mutex};

use super::lock;
use crate::error::Result;

/// Capacity of the cache of a primitive. Pipelines take memory, on CPU drivers some megabytes each.
const MAX_PLANS: usize = 32;

/// Plans by configuration, the most recently used one last.
pub(super) struct PlanCache<C, P>(Mutex<Vec<(C, Arc<P>)>>);

impl<C, P> Default for PlanCache<C, P> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<C: PartialEq, P> PlanCache<C, P> {
    /// The plan of this configuration, created by `make` if it is not cached.
    pub(super) fn get(&self, config: C, make: impl FnOnce() -> Result<P>) -> Result<Arc<P>> {
        if let Some(plan) = find(&mut lock(&self.0), &config) {
            return Ok(plan);
        }
        // Created without the lock: other threads may create other plans. If two create the same one, the first is
        // kept.
        let plan = Arc::new(make()?);
        // Dropped after the lock is released.
        let mut _evicted = None;
        let mut plans = lock(&self.0);
        if let Some(first) = find(&mut plans, &config) {
            return Ok(first);
        }
        if plans.len() == MAX_PLANS {
            _evicted = Some(plans.remove(0));
        }
        plans.push((config, Arc::clone(&plan)));
        Ok(plan)
    }
}

/// Finds the plan of this configuration and marks it as most recently used.
fn find<C: PartialEq, P>(plans: &mut [(C, Arc<P>)], config: &C) -> Option<Arc<P>> {
    let index = plans.iter().position(|(other, _)| other == config)?;
    plans[index..].rotate_left(1);
    plans.last().map(|(_, plan)| Arc::clone(plan))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_recently_used_plans_are_cached() {
        let cache = PlanCache::<usize, usize>::default();
        let made = |config| {
            let mut made = false;
            let plan = cache.get(config, || {
                made = true;
                Ok(config)
            });
            assert_eq!(*plan.unwrap(), config);
            made
        };
        assert!((0..MAX_PLANS).all(made));
        assert!(!made(0));
        // Evicts 1, the least recently used.
        assert!(made(MAX_PLANS));
        assert!(!made(0) && !made(2) && !made(MAX_PLANS));
        assert!(made(1));
    }

    #[test]
    fn a_failed_plan_is_not_cached() {
        let cache = PlanCache::<usize, usize>::default();
        assert!(cache.get(1, || Err(crate::Error::NoDevice)).is_err());
        assert_eq!(*cache.get(1, || Ok(2)).unwrap(), 2);
    }
}
