//! The pipelines of a device, each of them once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::pipeline::{PipelineOptions, Shared};
use crate::kernels::Kernel;

/// Everything that tells two pipelines of one device apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The address of a `'static`, which no other kernel can have.
    kernel: usize,
    /// Ids and values, ascending in their ids.
    constants: Vec<(u32, u32)>,
    subgroup_size: Option<u32>,
    requires_full_subgroups: bool,
}

impl Key {
    /// `subgroup_size` is the one that the driver is asked for, if it is.
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

/// How many pipelines a device has had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PipelineCounts {
    /// Calls of `vkCreateComputePipelines` that made one.
    pub created: u64,
    /// Pipelines that a dispatch was recorded of, each counted once: drivers of CPUs compile then.
    pub dispatched: u64,
}

/// The pipelines of one device that somebody holds.
#[derive(Debug, Default)]
pub(super) struct Registry {
    pipelines: Mutex<HashMap<Key, Weak<Shared>>>,
    created: AtomicU64,
    dispatched: AtomicU64,
}

impl Registry {
    /// The pipeline of `key`, or the one that `make` makes for it.
    pub(super) fn get_or_insert(&self, key: Key, make: impl FnOnce(Key) -> Shared) -> Arc<Shared> {
        let mut pipelines = self.pipelines();
        if let Some(shared) = pipelines.get(&key).and_then(Weak::upgrade) {
            return shared;
        }
        let shared = Arc::new(make(key.clone()));
        pipelines.insert(key, Arc::downgrade(&shared));
        shared
    }

    /// The last reference to the pipeline of `key` is gone. Another thread may have made a new one meanwhile.
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

    /// The map stays whole if a holder panics.
    fn pipelines(&self) -> MutexGuard<'_, HashMap<Key, Weak<Shared>>> {
        self.pipelines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
