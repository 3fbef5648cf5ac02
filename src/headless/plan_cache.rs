//! LRU cache of plans.

use std::any::Any;
use std::sync::{Arc, Mutex};

use super::lock;
use crate::error::Result;

/// Capacity of the cache. Pipelines take memory, on CPU drivers some megabytes each.
const MAX_PLANS: usize = 64;

/// Plans of all primitives by configuration, the most recently used one last: each is a `(C, Arc<P>)`.
#[derive(Default)]
pub(super) struct PlanCache(Mutex<Vec<Box<dyn Any + Send>>>);

impl PlanCache {
    /// The plan of this configuration, created by `make` if it is not cached.
    pub(super) fn get<C, P>(&self, config: C, make: impl FnOnce() -> Result<P>) -> Result<Arc<P>>
    where
        C: PartialEq + Send + 'static,
        P: Send + Sync + 'static,
    {
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
        plans.push(Box::new((config, Arc::clone(&plan))));
        Ok(plan)
    }
}

/// Finds the plan of this configuration and marks it as most recently used.
fn find<C: PartialEq + 'static, P: Send + Sync + 'static>(
    plans: &mut [Box<dyn Any + Send>],
    config: &C,
) -> Option<Arc<P>> {
    let of_config = |plan: &Box<dyn Any + Send>| {
        let (other, plan) = plan.downcast_ref::<(C, Arc<P>)>()?;
        (other == config).then(|| Arc::clone(plan))
    };
    let (index, plan) = plans.iter().enumerate().find_map(|(index, plan)| Some((index, of_config(plan)?)))?;
    plans[index..].rotate_left(1);
    Some(plan)
}

#[cfg(test)]
mod tests;
