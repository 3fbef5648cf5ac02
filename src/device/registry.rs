//! Registry of the pipelines of a device, which creates each only once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::pipeline::{PipelineOptions, Shared};
use crate::kernels::Kernel;

/// Key of a pipeline: everything that its code depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Address of the `'static` kernel, unique to it.
    kernel: usize,
    /// IDs and values of specialization constants, by ascending ID.
    constants: Vec<(u32, u32)>,
    subgroup_size: Option<u32>,
    requires_full_subgroups: bool,
}

impl Key {
    /// `subgroup_size` is the required subgroup size, if any.
    pub(super) fn new(
        kernel: &'static Kernel,
        options: PipelineOptions<'_>,
        subgroup_size: Option<u32>,
        requires_full_subgroups: bool,
    ) -> Self {
        // Constant 0 is the workgroup size, in every kernel.
        let mut constants = vec![(0, options.workgroup_size)];
        constants.extend(options.constants.iter().map(|&(name, value)| {
            let constant = kernel.spec_constants.iter().find(|constant| constant.name == name);
            let constant = constant.unwrap_or_else(|| panic!("{} has no constant {name}", kernel.name));
            (constant.id, value)
        }));
        constants.sort_unstable();
        Self { kernel: std::ptr::from_ref(kernel).addr(), constants, subgroup_size, requires_full_subgroups }
    }

    pub(super) fn constants(&self) -> &[(u32, u32)] {
        &self.constants
    }

    pub(super) fn subgroup_size(&self) -> Option<u32> {
        self.subgroup_size
    }

    pub(super) fn requires_full_subgroups(&self) -> bool {
        self.requires_full_subgroups
    }
}

/// Numbers of pipelines of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PipelineCounts {
    /// Successful calls of `vkCreateComputePipelines`.
    pub created: u64,
    /// Pipelines with at least one recorded dispatch. CPU drivers compile at the first dispatch.
    pub dispatched: u64,
}

/// The live pipelines of one device.
#[derive(Debug, Default)]
pub(super) struct Registry {
    pipelines: Mutex<HashMap<Key, Weak<Shared>>>,
    created: AtomicU64,
    dispatched: AtomicU64,
}

impl Registry {
    /// The pipeline of `key`, created by `make` if there is none.
    pub(super) fn get_or_insert(&self, key: Key, make: impl FnOnce(Key) -> Shared) -> Arc<Shared> {
        let mut pipelines = self.pipelines();
        if let Some(shared) = pipelines.get(&key).and_then(Weak::upgrade) {
            return shared;
        }
        let shared = Arc::new(make(key.clone()));
        pipelines.insert(key, Arc::downgrade(&shared));
        shared
    }

    /// Removes the pipeline of `key` after its last reference was dropped, unless another thread has created a new one.
    pub(super) fn remove(&self, key: &Key) {
        let mut pipelines = self.pipelines();
        if pipelines.get(key).is_some_and(|shared| shared.strong_count() == 0) {
            pipelines.remove(key);
        }
    }

    pub(super) fn count_created(&self) {
        self.created.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_dispatched(&self) {
        self.dispatched.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> PipelineCounts {
        PipelineCounts {
            created: self.created.load(Ordering::Relaxed),
            dispatched: self.dispatched.load(Ordering::Relaxed),
        }
    }

    /// The map stays valid if a holder of the lock panics.
    fn pipelines(&self) -> MutexGuard<'_, HashMap<Key, Weak<Shared>>> {
        self.pipelines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
