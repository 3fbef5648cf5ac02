//! Merge: two sorted arrays into one, stable, keys alone or with values.
//!
//! Equals a stable sort of `a` followed by `b`, such as `np.sort(np.concatenate((a, b)), kind='stable')`: of equal keys the
//! keys of `a` come first. Keys are in the order of a [sort](crate::sort), ascending or descending; floats in
//! [`MergeConfig::order`]. That the arrays are sorted is not checked: otherwise the result holds some of their keys, in an
//! unspecified order.

use std::ffi::CStr;
use std::fmt;

use super::arguments::Arguments;
use super::level_args::{LevelArgs, Workgroups, small_workgroup};
use super::packed::{self, Extent, PackedForm};
use super::plan::{Algorithm, Buffers, Checked, Counts, Plan, Primitive, Recordable, configuration};
use super::tuning::{self, KernelShape, TunedPart};
use super::{
    Choice, CountPair, ElementType, FloatOrder, Functions, ScratchCursor, Tiles, check_subgroups, wide,
    write_subgroups,
};
use crate::device::{
    AddressRange, Barrier, BufferRange, Capabilities, Device, Pipeline, PipelineOptions, Recorder, push,
};
use crate::error::{PolicyConflict, Result, at_most, in_range, refuse_if, within};
use crate::kernels;

/// Plan of a merge.
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::merge::{MergeBuffers, MergeConfig, MergePlan};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let (a, b) = (gpu.allocate_with(&[1, 3])?, gpu.allocate_with(&[0, 3, 4])?);
/// let merged = gpu.allocate(20)?;
/// let plan = MergePlan::new(gpu.device(), MergeConfig::keys(ElementType::U32))?;
/// // Direct counts need no scratch.
/// let buffers = MergeBuffers::new(a.addresses(), b.addresses(), merged.addresses());
/// // SAFETY: the memory is this device's, and alive until `submit` has waited.
/// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, (2, 3))) }?;
/// assert_eq!(gpu.read(&merged, 5)?, [0, 1, 3, 3, 4]);
/// # Ok::<(), subsweep::Error>(())
/// ```
pub type MergePlan = Plan<Merge>;

/// Configuration of a [`MergePlan`].
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::merge::MergeConfig;
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let keys = MergeConfig::keys(ElementType::U32);
/// assert_eq!(gpu.merge(keys, &[1u32, 3], &[0, 3])?, [0, 1, 3, 3]);
///
/// // With a value for each key; of equal keys the keys of the first slice come first.
/// let merged = gpu.merge_pairs(keys.values(1), (&[1u32, 3], &[10u32, 11]), (&[0, 3], &[20, 21]))?;
/// assert_eq!(merged, (vec![0, 1, 3, 3], vec![20, 10, 11, 21]));
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MergeConfig {
    element: ElementType,
    /// That compare elements of theirs, words of any type.
    functions: Option<&'static Functions>,
    words_per_value: u32,
    is_descending: bool,
    order: FloatOrder,
    has_large_counts: bool,
    has_indirect_count: bool,
    policy: Option<MergePolicy>,
}

impl MergeConfig {
    /// Maximum size of a value, words: 16 KiB.
    pub const MAX_VALUE_WORDS: u32 = 1 << 12;

    /// Merges keys of `element`, in ascending order.
    pub const fn keys(element: ElementType) -> Self {
        let (functions, words_per_value, is_descending) = (None, 0, false);
        let (order, has_large_counts, has_indirect_count, policy) = (FloatOrder::Total, false, false, None);
        Self {
            element,
            functions,
            words_per_value,
            is_descending,
            order,
            has_large_counts,
            has_indirect_count,
            policy,
        }
    }

    /// Merges elements that a function of the caller compares: `bool less(Words a, Words b, Words data)`. Keys are elements, words
    /// of any type on slices.
    pub const fn custom(functions: &'static Functions) -> Self {
        Self { functions: Some(functions), ..Self::keys(ElementType::U32) }
    }

    setters! {
        /// Moves a value of `words_per_value` 32-bit words, 1 to [`Self::MAX_VALUE_WORDS`], with each key; 0 for none.
        values(words_per_value: u32) => words_per_value = words_per_value;
        /// The arrays are sorted from the greatest key to the least, and so is the result.
        descending() => is_descending = true;
        /// Sets the order of floats, in which the arrays are sorted; by default [`FloatOrder::Total`].
        order(order: FloatOrder) => order = order;
        /// Takes 2^32 keys and more.
        ///
        #[doc = example!()]
        /// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
        /// use subsweep::merge::{MergeBuffers, MergeConfig};
        ///
        /// let gpu = Gpu::open(GpuOptions::default())?;
        /// let (a, b) = (gpu.allocate_with(&[1, 3, 7])?, gpu.allocate_with(&[2, 3])?);
        /// let plan = gpu.plan(MergeConfig::keys(ElementType::U32).large_counts())?;
        /// let merged = gpu.allocate(20)?;
        /// let buffers = MergeBuffers::new(a.addresses(), b.addresses(), merged.addresses());
        /// // SAFETY: the memory is this device's, and alive until `submit` has waited.
        /// unsafe { gpu.submit(|recorder| plan.record(recorder, &buffers, (3, 2))) }?;
        /// assert_eq!(gpu.read(&merged, 5)?, [1, 2, 3, 3, 7]);
        /// # Ok::<(), subsweep::Error>(())
        /// ```
        large_counts() => has_large_counts = true;
        /// Supports indirect counts, [`Count::Indirect`](crate::Count::Indirect), of `a`, `b` or both, which need scratch.
        indirect_count() => has_indirect_count = true;
        /// Sets the policy; by default [`MergePolicy::choose`] chooses it.
        policy(policy: MergePolicy) => policy = Some(policy);
    }

    /// Sets [`Self::large_counts`] if `count` keys of both arrays require it.
    pub const fn large_counts_for(self, count: u64) -> Self {
        if count > MergePlan::MAX_COUNT { self.large_counts() } else { self }
    }

    /// Type of the keys; none of elements of functions.
    pub const fn element_type(&self) -> Option<ElementType> {
        if self.functions.is_some() { None } else { Some(self.element) }
    }

    /// Size of a key, or of an element of functions, bytes.
    pub const fn key_size(&self) -> u64 {
        match self.functions {
            Some(functions) => functions.element_size(),
            None => self.element.size() as u64,
        }
    }

    /// Bytes of a key in shared memory, and of its position, where values or elements follow it.
    const fn shared_item_size(&self) -> u32 {
        let key = if self.functions.is_some() { 0 } else { self.element.size() as u32 };
        if self.moved_words() > 0 { key + 2 } else { key }
    }

    /// Words of a key that move by positions, as the words of a value do.
    const fn moved_words(&self) -> u32 {
        match self.functions {
            Some(functions) => functions.element_words().saturating_add(self.words_per_value),
            None => self.words_per_value,
        }
    }

    /// Size of a value, bytes; 0 without values.
    pub const fn value_size(&self) -> u64 {
        self.words_per_value as u64 * 4
    }

    /// Whether the order is descending.
    pub const fn is_descending(&self) -> bool {
        self.is_descending
    }

    fn check(&self, _: &Capabilities) -> Result<()> {
        let reason = "a merge by a function has the order of its less; swap a and b there";
        let has_order = self.is_descending || self.order != FloatOrder::Total;
        refuse_if(self.functions.is_some() && has_order, reason)?;
        in_range("words per value of a merge", self.words_per_value, 0..=Self::MAX_VALUE_WORDS)
    }
}

configuration!(
    MergeConfig,
    MergePolicy of Merge,
    |config| Self { element: config.element.unpacked(), ..*config }
);

/// The memory of one recording. Without values, their ranges are ignored.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct MergeBuffers {
    /// Sorted keys.
    pub a: AddressRange,
    /// Sorted keys.
    pub b: AddressRange,
    /// The keys of both, sorted.
    pub destination: AddressRange,
    /// The values of `a`.
    pub a_values: AddressRange,
    /// The values of `b`.
    pub b_values: AddressRange,
    /// The values of both, in the order of their keys.
    pub destination_values: AddressRange,
    /// What a function of the caller reads besides, of any size; none by default.
    pub functions_data: AddressRange,
    /// Scratch of [`MergePlan::scratch_requirements`].
    pub scratch: BufferRange,
}

impl MergeBuffers {
    /// Keys alone, without scratch, which indirect counts need, and keys of 8 and 16 bits without the feature.
    pub const fn new(a: AddressRange, b: AddressRange, destination: AddressRange) -> Self {
        let none = AddressRange::NONE;
        let (a_values, b_values, destination_values, functions_data) = (none, none, none, none);
        let scratch = BufferRange::NONE;
        Self { a, b, destination, a_values, b_values, destination_values, functions_data, scratch }
    }

    setters! {
        /// Sets the values, and the memory of the merged ones.
        values(a_values: AddressRange, b_values: AddressRange, destination_values: AddressRange) =>
            a_values = a_values, b_values = b_values, destination_values = destination_values;
        /// Sets what a function of the caller reads besides, its `data`.
        functions_data(data: AddressRange) => functions_data = data;
        /// Sets the scratch.
        scratch(scratch: BufferRange) => scratch = scratch;
    }
}

impl Buffers<Merge> for MergeBuffers {
    fn arguments(
        &mut self,
        config: &MergeConfig,
        count: &mut CountPair,
        table: &mut Arguments<'_>,
    ) -> Result<()> {
        let (key_size, value_size) = (config.key_size(), config.value_size());
        let (a_count, b_count) = count.max();
        let sum = a_count.saturating_add(b_count);
        table.count("a_count", &mut count.first)?;
        table.count("b_count", &mut count.second)?;
        let form = PackedForm::numbers(config.element);
        table.up_to(form, Extent::new(count.first)).read(
            "a",
            &mut self.a,
            a_count.saturating_mul(key_size),
        )?;
        table.up_to(form, Extent::new(count.second)).read(
            "b",
            &mut self.b,
            b_count.saturating_mul(key_size),
        )?;
        table.read("a_values", &mut self.a_values, a_count.saturating_mul(value_size))?;
        table.read("b_values", &mut self.b_values, b_count.saturating_mul(value_size))?;
        table.up_to(form, Extent::of_both(count.first, count.second)).write(
            "destination",
            &mut self.destination,
            sum.saturating_mul(key_size),
        )?;
        table.write("destination_values", &mut self.destination_values, sum.saturating_mul(value_size))?;
        Functions::read_data(config.functions, &mut self.functions_data, table)?;
        table.scratch_if(count.first.is_indirect() || count.second.is_indirect(), &mut self.scratch)
    }
}

/// Words of values and elements that an invocation copies: `Workarounds::LOOPS_END_AT_65535` is of all its loops, and half is
/// left for the others.
const MAX_MOVED_WORDS: u32 = 1 << 15;

/// Bytes of shared memory besides each key's bytes: where a tile begins in `a`, where it ends, and a word where there are no positions.
const BEGINS_SIZE: u32 = 20;

/// Policy of a merge. A tile is `workgroup_size * items_per_invocation` keys of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MergePolicy {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Keys that an invocation merges one by one, an even number up to 64; with values, or elements of functions, at most 2^15
    /// words of these.
    pub items_per_invocation: u32,
    /// Keys, and words of values, that an invocation loads before it uses the first, up to 16.
    pub loads_in_flight: u32,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
}

impl MergePolicy {
    /// Chooses the policy for a device.
    pub fn choose(capabilities: &Capabilities, config: &MergeConfig) -> Choice<Self> {
        let tuned = tuning::shape_of(capabilities, TunedPart::Merge, [config.element.words(), 0]);
        Choice {
            policy: Self::of_shape(&tuned, capabilities, config),
            reason: "a tile of both arrays in shared memory, and few keys that an invocation merges one by one",
        }
    }

    /// The policy with a shape, whose items are keys.
    pub(crate) fn of_shape(tuned: &KernelShape, capabilities: &Capabilities, config: &MergeConfig) -> Self {
        let workgroup_size = capabilities.max_workgroup_invocations.min(tuned.workgroup_size);
        // As many as fit the shared memory of a small device.
        let room = capabilities.shared_memory_size.min(24 << 10) - BEGINS_SIZE;
        let item_size = workgroup_size * config.shared_item_size();
        let moved_items = MAX_MOVED_WORDS / config.moved_words().max(1);
        let items = (room / item_size.max(1)).min(tuned.items).min(moved_items) / 2 * 2;
        let KernelShape { loads_in_flight, subgroup_size, .. } = *tuned;
        Self { loads_in_flight, subgroup_size, ..Self::tiled(workgroup_size, items.max(2)) }
    }

    /// A policy with `workgroup_size` invocations and `items_per_invocation` keys for each.
    pub const fn tiled(workgroup_size: u32, items_per_invocation: u32) -> Self {
        Self { workgroup_size, items_per_invocation, loads_in_flight: 1, subgroup_size: None }
    }

    setters! {
        /// The policy with a required subgroup size.
        with_subgroup_size(size: u32) => subgroup_size = Some(size);
    }

    /// Keys per tile.
    pub const fn tile_items(&self) -> u32 {
        self.workgroup_size.saturating_mul(self.items_per_invocation)
    }

    fn check(&self, config: &MergeConfig, capabilities: &Capabilities) -> Result<()> {
        check_subgroups(self.workgroup_size, self.subgroup_size, capabilities)?;
        PolicyConflict::check_range("items_per_invocation", self.items_per_invocation, 2..=64)?;
        PolicyConflict::check_multiple(
            "items_per_invocation",
            self.items_per_invocation,
            2,
            "the positions in a word",
        )?;
        PolicyConflict::check_range("loads_in_flight", self.loads_in_flight, 1..=16)?;
        PolicyConflict::check(
            self.items_per_invocation * config.moved_words() <= MAX_MOVED_WORDS,
            "an invocation copies at most 2^15 words of values and elements; take fewer items per invocation",
        )?;
        // Positions in a tile have 16 bits.
        PolicyConflict::check_range("the number of keys in a tile", self.tile_items(), 1..=0xffff)?;
        let shared_size = self.tile_items() * config.shared_item_size() + BEGINS_SIZE;
        within("bytes of shared memory", shared_size, capabilities.shared_memory_size)
    }
}

impl fmt::Display for MergePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workgroup_size, items_per_invocation, loads_in_flight, subgroup_size } = self;
        write!(f, "merge: workgroup {workgroup_size}, {items_per_invocation} items per invocation")?;
        if *loads_in_flight > 1 {
            write!(f, ", {loads_in_flight} loads in flight")?;
        }
        write_subgroups(f, *subgroup_size)
    }
}

/// The primitive of a [`MergePlan`], and its only algorithm.
///
/// | memory | bytes | first access | last access |
/// |---|---|---|---|
/// | `a`, `b` | `a_count.saturating_mul(key_size)`, `b_count.saturating_mul(key_size)` | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `a_values`, `b_values` | `a_count.saturating_mul(value_size)`, `b_count.saturating_mul(value_size)` | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `destination` | `(a_count + b_count) * key_size` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | `destination_values` | `(a_count + b_count) * value_size` | COMPUTE_SHADER write | COMPUTE_SHADER write |
/// | indirect counts | 4 each | COMPUTE_SHADER read | COMPUTE_SHADER read |
/// | `scratch` | 32 for indirect counts, else none; [more](Plan::cmd_record) for 8 and 16 bits without the feature | COMPUTE_SHADER write | COMPUTE_SHADER, DRAW_INDIRECT read |
///
/// Keys of 8 and 16 bits are taken as they are where the device has enabled `storageBuffer8BitAccess` or
/// `storageBuffer16BitAccess`. Ranges that are only read may overlap each other. One dispatch; for an indirect count, another one and a barrier before
/// it. No keys at all record nothing. At most 2^32 - 1 keys together, or with large counts and direct ones 2^32 - 1 tiles; and the
/// workgroups of a two-dimensional dispatch. The
/// result is in `destination` and `destination_values`; its count is the sum of both counts, and is not written.
#[derive(Debug)]
pub struct Merge {
    tile_items: u32,
    merge: Pipeline,
    /// For indirect counts.
    args: Option<Pipeline>,
}

impl Primitive for Merge {
    type Config = MergeConfig;
    type Policy = MergePolicy;
    type Buffers = MergeBuffers;
    type Count = CountPair;

    const LABEL: &'static CStr = c"subsweep merge";

    fn declare(device: &Device, config: &MergeConfig, policy: &MergePolicy) -> Result<Self> {
        let MergePolicy { workgroup_size, items_per_invocation, loads_in_flight, subgroup_size } = *policy;
        let constants = [
            ("ITEMS_PER_INVOCATION", items_per_invocation),
            ("KEY_NUMBERS", config.element.key_numbers(config.order)),
            ("DESCENDING", config.is_descending.into()),
            ("WORDS_PER_VALUE", config.words_per_value),
            ("WIDE_OFFSETS", config.has_large_counts.into()),
            ("LOADS_IN_FLIGHT", loads_in_flight),
        ];
        let defines = [packed::key_define(config.element), ("ROUNDS", 1)];
        let (defines, constants) = match loads_in_flight {
            // Functions are compiled into the kernel of any number of loads.
            1 if config.functions.is_none() => (&defines[..1], &constants[..5]),
            _ => (&defines[..], &constants[..]),
        };
        let kernel = kernels::MERGE_MERGE.module(defines);
        let kernel = Functions::kernel_with(config.functions, kernel)?;
        let options = PipelineOptions { workgroup_size, constants, subgroup_size };
        let merge = Pipeline::declare(device, kernel, options)?;
        let options =
            PipelineOptions { workgroup_size: small_workgroup(device), constants: &[], subgroup_size };
        let args = || Pipeline::declare(device, kernels::MERGE_ARGS.module(&[]), options);
        let args = config.has_indirect_count.then(args).transpose()?;
        Ok(Self { tile_items: policy.tile_items(), merge, args })
    }

    fn takes_packed(capabilities: &Capabilities, config: &MergeConfig, _: &MergePolicy) -> bool {
        packed::has_access(capabilities, config.element)
    }

    fn algorithms(&self) -> impl Iterator<Item = &dyn Recordable<Self>> {
        std::iter::once(self as _)
    }

    fn check_count(&self, config: &MergeConfig, (a, b): (u64, u64)) -> Result<()> {
        let what =
            if config.has_large_counts { "one merge of this policy" } else { "a merge without large counts" };
        at_most(a.saturating_add(b), self.max_count(config), what)
    }
}

impl Merge {
    fn max_count(&self, config: &MergeConfig) -> u64 {
        match config.has_large_counts {
            true => u64::from(u32::MAX) * u64::from(self.tile_items),
            false => MergePlan::MAX_COUNT,
        }
    }
}

impl Algorithm<Merge> for Merge {
    /// Offset of the arguments of an indirect dispatch.
    type Layout = u64;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        std::iter::once(&self.merge).chain(&self.args)
    }

    fn layout(&self, cursor: &mut ScratchCursor, _: (u64, u64)) -> u64 {
        cursor.take("dispatch arguments", if self.args.is_some() { LevelArgs::size(1) } else { 0 })
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, Merge, u64>) -> Result<()> {
        let Checked { buffers, layout: args, count } = given;
        let MergeBuffers { a, b, destination, a_values, b_values, destination_values, .. } = *buffers;
        let scratch = buffers.scratch;
        let (a_count, b_count) = count.max();
        let sum = a_count.saturating_add(b_count);
        let tile_count = Tiles::new(sum, self.tile_items)?.count.into();
        recorder.check_workgroups(tile_count)?;
        let workgroups = match &self.args {
            Some(pipeline) if (count.first.is_indirect() || count.second.is_indirect()) => {
                at_most(sum, MergePlan::MAX_COUNT, "a merge with an indirect count")?;
                let args = LevelArgs(scratch.slice(*args, LevelArgs::size(1)));
                recorder.phase(c"args");
                let push = push::MergeArgs {
                    indirect_a_count: count.first.indirect(),
                    indirect_b_count: count.second.indirect(),
                    args: args.0.addresses(),
                    // They fit, as their sum does.
                    a_count: a_count as u32,
                    b_count: b_count as u32,
                    tile_items: self.tile_items,
                    max_row: recorder.device().capabilities().max_workgroup_count[0],
                };
                recorder.dispatch(pipeline, &push, 1)?;
                recorder.barrier(Barrier::COMPUTE_TO_INDIRECT);
                Workgroups::Device(args)
            }
            _ => Workgroups::Host(tile_count),
        };
        recorder.phase(c"merge");
        let push = push::MergeMerge {
            a,
            b,
            destination,
            a_values,
            b_values,
            destination_values,
            // Both counts, in place of the tiles of a level.
            indirect_counts: workgroups.indirect_tiles(),
            a_count: wide(a_count),
            b_count: wide(b_count),
        };
        workgroups.dispatch(recorder, &self.merge, &push)
    }
}

impl MergePlan {
    /// Maximum number of keys of both arrays together without [`MergeConfig::large_counts`].
    pub const MAX_COUNT: u64 = u32::MAX as u64;

    /// Maximum number of keys of a recording: [`Self::MAX_COUNT`], with [`MergeConfig::large_counts`] 2^32 - 1 tiles.
    pub fn max_count(&self) -> u64 {
        self.primitive.max_count(self.config())
    }

    /// Bytes that a recording of `count` keys of both arrays together reads and writes: keys and values once each. Does not
    /// include what a function of the caller reads.
    pub fn traffic_size(&self, count: u64) -> u64 {
        let config = self.unpacked_config();
        let own = count.saturating_mul(2 * (config.key_size() + config.value_size()));
        own.saturating_add(self.packing_size((count, 0)))
    }
}
