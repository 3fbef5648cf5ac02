//! Configuration of a structure sort, its policy, and the memory of a recording.

use std::fmt;

use super::StructureSort;
use super::key::Key;
use crate::device::{AddressRange, BufferRange, Capabilities};
use crate::error::{PolicyConflict, Result, in_range, refuse_if, within};
use crate::primitives::arguments::{Arguments, Role, size_if};
use crate::primitives::plan::{Buffers, configuration};
use crate::primitives::tuning::{self, TunedPart};
use crate::primitives::{Choice, Count, Functions, check_subgroups, check_workgroup};

/// What a recording writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Output {
    /// The structures, in place.
    InPlace,
    /// The structures, elsewhere.
    OutOfPlace,
    /// The indices of an argsort.
    Indices,
}

/// What structures are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SortBy {
    Key(Key),
    Function(&'static Functions),
}

/// Configuration of a [`StructureSortPlan`](super::StructureSortPlan): structures of one size, sorted by some of their fields,
/// or by a function of the caller. The sort is stable.
///
#[doc = example!()]
/// use subsweep::ElementType::{F32, U32};
/// use subsweep::headless::{Gpu, GpuOptions};
/// use subsweep::sort::{Direction::*, Key, StructureSortConfig};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let key = Key::fields([(U32, 0, Ascending), (F32, 4, Descending)]);
/// let config = StructureSortConfig::structures(12, key);
/// let half = 0.5f32.to_bits();
/// let mut particles = [[7, half, 10], [3, 0, 11], [7, half, 12], [3, half, 13]];
/// gpu.sort_structures(config, &mut particles)?;
/// assert_eq!(particles, [[3, half, 13], [3, 0, 11], [7, half, 10], [7, half, 12]]);
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StructureSortConfig {
    pub(super) structure_size: u32,
    pub(super) by: SortBy,
    pub(super) output: Output,
    pub(super) has_indirect_count: bool,
    pub(super) policy: Option<StructureSortPolicy>,
}

impl StructureSortConfig {
    /// Maximum size of a structure, bytes: 1 MiB.
    pub const MAX_STRUCTURE_SIZE: u32 = 1 << 20;

    /// Sorts structures of `structure_size` bytes, a multiple of 4 up to [`Self::MAX_STRUCTURE_SIZE`], in place.
    pub const fn structures(structure_size: u32, key: Key) -> Self {
        Self::new(structure_size, SortBy::Key(key), Output::InPlace)
    }

    /// Argsort: writes the permutation that sorts the structures, as u32 indices; the structures are unchanged.
    pub const fn argsort(structure_size: u32, key: Key) -> Self {
        Self::new(structure_size, SortBy::Key(key), Output::Indices)
    }

    /// Sorts structures, the elements of `functions`, in place by a function of the caller, a strict weak order as of
    /// [`slice::sort_by`]: `bool less(Words a, Words b, Words data)`. Where it is no such order, the result is some of the
    /// structures.
    pub const fn custom(functions: &'static Functions) -> Self {
        Self::new(functions.element_words() * 4, SortBy::Function(functions), Output::InPlace)
    }

    /// Argsort of structures by a function of the caller, as [`Self::custom`].
    pub const fn custom_argsort(functions: &'static Functions) -> Self {
        Self::new(functions.element_words() * 4, SortBy::Function(functions), Output::Indices)
    }

    const fn new(structure_size: u32, by: SortBy, output: Output) -> Self {
        Self { structure_size, by, output, has_indirect_count: false, policy: None }
    }

    setters! {
        /// Sorts from [`StructureSortBuffers::structures`] to [`StructureSortBuffers::sorted`]; the input is unchanged. Saves
        /// a copy of the structures, and an array of them in scratch. Not for an argsort.
        out_of_place() => output = Output::OutOfPlace;
        /// Supports indirect counts, [`Count::Indirect`].
        indirect_count() => has_indirect_count = true;
        /// Sets the policy; by default [`StructureSortPolicy::choose`] chooses it.
        policy(policy: StructureSortPolicy) => policy = Some(policy);
    }

    /// Size of a structure, bytes.
    pub const fn structure_size(&self) -> u64 {
        self.structure_size as u64
    }

    /// The key; none of a sort by a function of the caller.
    pub const fn key(&self) -> Option<&Key> {
        match &self.by {
            SortBy::Key(key) => Some(key),
            SortBy::Function(_) => None,
        }
    }

    /// Whether it is an argsort, which does not change the structures.
    pub const fn is_argsort(&self) -> bool {
        matches!(self.output, Output::Indices)
    }

    /// The same sort in place.
    #[cfg(feature = "headless")]
    pub(crate) const fn in_place(self) -> Self {
        match self.output {
            Output::OutOfPlace => Self { output: Output::InPlace, ..self },
            Output::InPlace | Output::Indices => self,
        }
    }

    fn check(&self, _: &Capabilities) -> Result<()> {
        in_range("bytes of a structure", self.structure_size, 4..=Self::MAX_STRUCTURE_SIZE)?;
        let reason = "a structure has a multiple of 4 bytes; pad it, numpy by align=True";
        refuse_if(!self.structure_size.is_multiple_of(4), reason)?;
        self.key().map_or(Ok(()), |key| key.check(self.structure_size))
    }
}

// Structures are words.
configuration!(StructureSortConfig, StructureSortPolicy of StructureSort, |config| *config);

/// The memory of one recording.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct StructureSortBuffers {
    /// The structures; sorted in place, unless the configuration says otherwise.
    pub structures: AddressRange,
    /// The sorted structures of a sort [out of place](StructureSortConfig::out_of_place).
    pub sorted: AddressRange,
    /// The permutation of an [argsort](StructureSortConfig::argsort), u32.
    pub indices: AddressRange,
    /// What a function of the caller reads besides, of any size; none by default.
    pub functions_data: AddressRange,
    /// Scratch of [`StructureSortPlan::scratch_requirements`](super::StructureSortPlan::scratch_requirements).
    pub scratch: BufferRange,
}

impl StructureSortBuffers {
    /// Buffers of a sort in place.
    pub const fn new(structures: AddressRange, scratch: BufferRange) -> Self {
        let none = AddressRange::NONE;
        Self { structures, sorted: none, indices: none, functions_data: none, scratch }
    }

    setters! {
        /// Sets the range of the sorted structures.
        sorted(sorted: AddressRange) => sorted = sorted;
        /// Sets the range of the permutation.
        indices(indices: AddressRange) => indices = indices;
        /// Sets what a function of the caller reads besides, its `data`.
        functions_data(data: AddressRange) => functions_data = data;
    }
}

impl Buffers<StructureSort> for StructureSortBuffers {
    fn arguments(
        &mut self,
        config: &StructureSortConfig,
        count: &mut Count,
        table: &mut Arguments<'_>,
    ) -> Result<()> {
        let is_of = |output| config.output == output;
        let reason = "the plan takes no range of sorted structures; make it with out_of_place";
        refuse_if(!is_of(Output::OutOfPlace) && self.sorted.size > 0, reason)?;
        let reason = "the plan writes no indices; make it for an argsort";
        refuse_if(!is_of(Output::Indices) && self.indices.size > 0, reason)?;
        let size = |size: u64| count.max().saturating_mul(size);
        let (structures_size, indices_size) = (size(config.structure_size()), size(4));
        let role = if is_of(Output::InPlace) { Role::ReadWrite } else { Role::Read };
        table.count("count", count)?;
        table.addresses("structures", role, &mut self.structures, structures_size)?;
        table.write("sorted", &mut self.sorted, size_if(is_of(Output::OutOfPlace), structures_size))?;
        table.write("indices", &mut self.indices, size_if(is_of(Output::Indices), indices_size))?;
        let functions = match config.by {
            SortBy::Key(_) => None,
            SortBy::Function(functions) => Some(functions),
        };
        Functions::read_data(functions, &mut self.functions_data, table)?;
        table.scratch(&mut self.scratch)
    }
}

/// Policy of a structure sort: the tiles of the kernel that makes keys, or by a function of the caller of the merges. The sorts
/// and the gather have their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StructureSortPolicy {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Structures per invocation, at most 32; a power of two of a sort by a function of the caller.
    pub items_per_invocation: u32,
}

impl StructureSortPolicy {
    /// Chooses the policy for a device.
    pub fn choose(capabilities: &Capabilities, config: &StructureSortConfig) -> Choice<Self> {
        if config.key().is_none() {
            let tuned = tuning::shape_of(capabilities, TunedPart::Merge, [1, 0]);
            let workgroup_size = capabilities.max_workgroup_invocations.min(tuned.workgroup_size);
            let fitting = Self::tiled(workgroup_size, 1).merge_shared_size();
            let items = (capabilities.shared_memory_size / fitting).clamp(1, tuned.items);
            return Choice {
                policy: Self::tiled(workgroup_size, 1 << items.ilog2()),
                reason: "the tiles of a merge, whose indices are twice in shared memory",
            };
        }
        let tuned = tuning::shape_of(capabilities, TunedPart::Gather, [1, 0]);
        Choice {
            policy: Self::tiled(
                capabilities.max_workgroup_invocations.min(tuned.workgroup_size),
                tuned.items,
            ),
            reason: "the tiles of a gather, which reads as the kernel of the keys does",
        }
    }

    /// A policy with `workgroup_size` invocations and `items_per_invocation` structures for each.
    pub const fn tiled(workgroup_size: u32, items_per_invocation: u32) -> Self {
        Self { workgroup_size, items_per_invocation }
    }

    /// Structures per workgroup.
    pub const fn tile_items(&self) -> u32 {
        self.workgroup_size * self.items_per_invocation
    }

    /// Shared memory of a merge, bytes.
    const fn merge_shared_size(&self) -> u32 {
        8 * self.tile_items() + 8
    }

    fn check(&self, config: &StructureSortConfig, capabilities: &Capabilities) -> Result<()> {
        check_workgroup(self.workgroup_size, capabilities)?;
        // Compilers do not unroll longer loops.
        PolicyConflict::check_range("items_per_invocation", self.items_per_invocation, 1..=32)?;
        if config.key().is_some() {
            return Ok(());
        }
        check_subgroups(self.workgroup_size, None, capabilities)?;
        PolicyConflict::check(
            self.items_per_invocation.is_power_of_two(),
            "an invocation merges a power of two of structures",
        )?;
        within("bytes of shared memory", self.merge_shared_size(), capabilities.shared_memory_size)
    }
}

impl fmt::Display for StructureSortPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workgroup_size, items_per_invocation } = self;
        write!(f, "structure sort: workgroup {workgroup_size}, {items_per_invocation} items per invocation")
    }
}
