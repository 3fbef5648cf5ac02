//! A segmented sort of all keys in the form of their order, of which the first of each row are taken.

use super::config::{TopKBuffers, TopKConfig};
use super::policy::TopKPolicy;
use super::{ScratchCursor, TopK};
use crate::device::{AddressRange, Barrier, BufferRange, Device, Pipeline, Recorder, push};
use crate::error::Result;
use crate::kernels;
use crate::primitives::arguments::size_if;
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use crate::primitives::plan::{Algorithm, Checked};
use crate::primitives::{Count, ElementType, ScratchRange};
use crate::sort::{SegmentedSortBuffers, SegmentedSortConfig, SegmentedSortPlan, SortBuffers, SortConfig};

/// Bytes of the indirect counts of keys and of results.
const COUNTS_SIZE: u64 = 8;
/// Dispatches over rows: the orders, and up to two that take the first of each row.
const ROW_DISPATCHES: u64 = 3;

#[derive(Debug)]
pub(super) struct BySort {
    config: TopKConfig,
    workgroup_size: u32,
    tile_items: u32,
    orders: Pipeline,
    sort: SegmentedSortPlan,
    take: Pipeline,
    /// Brings the taken ones into the order of their columns.
    by_index: Option<SegmentedSortPlan>,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ScratchLayout {
    level_args: u64,
    counts: ScratchRange,
    orders: ScratchRange,
    sorted: ScratchRange,
    begins: ScratchRange,
    /// Of unequal rows.
    ends: ScratchRange,
    sort: ScratchRange,
    /// Indices of the first keys, and where the indices of each row begin.
    top: ScratchRange,
    top_begins: ScratchRange,
    by_index: ScratchRange,
}

impl BySort {
    pub(super) fn new(device: &Device, config: &TopKConfig, policy: &TopKPolicy) -> Result<Self> {
        let unsigned = config.element.unsigned();
        let plan = |sort: SortConfig, has_ranges: bool| {
            let sort = if config.has_indirect_count { sort.indirect_count() } else { sort };
            let sort = SegmentedSortConfig::new(sort);
            SegmentedSortPlan::declare(device, if has_ranges { sort.ranges() } else { sort })
        };
        let is_by_index = !config.is_sorted && config.k > 1;
        let is_unequal = config.is_unequal();
        let unequal = ("UNEQUAL", is_unequal.into());
        let items = [("ITEMS_PER_INVOCATION", policy.items_per_invocation), unequal];
        let key = config.key_define();
        Ok(Self {
            config: *config,
            workgroup_size: policy.workgroup_size,
            tile_items: policy.tile_items(),
            orders: policy.pipeline(
                device,
                config.kernel(kernels::TOP_K_ORDERS.module(&key))?,
                &[&items[..], &config.order_constants()].concat(),
            )?,
            sort: plan(SortConfig::keys_and_indices(unsigned), is_unequal)?,
            take: policy.pipeline(
                device,
                config.kernel(kernels::TOP_K_TAKE.module(&key))?,
                &[config.value_constant(), unequal],
            )?,
            // Slots without a result have the greatest index, and stay the last.
            by_index: is_by_index.then(|| plan(SortConfig::keys(ElementType::U32), false)).transpose()?,
            level_args: LevelArgsWriter::new(device, policy.subgroup_size, config.has_indirect_count)?,
        })
    }

    /// Maximum number of rows.
    pub(super) fn max_count(&self) -> u64 {
        self.sort.max_count() / u64::from(self.config.columns)
    }

    pub(super) fn row_traffic_size(&self) -> u64 {
        let (columns, k) = (u64::from(self.config.columns), u64::from(self.config.k));
        let by_index = self.by_index.as_ref().map_or(0, |sort| sort.traffic_size([k]) + 8 * k);
        let moved = 2 * (self.config.keys_size() + k * self.config.value_size());
        let taken = 4 * k + moved + self.config.indices_size();
        let orders_size = columns * self.config.element.size() as u64;
        self.config.row_size() + orders_size + self.sort.traffic_size([columns]) + by_index + taken
    }

    /// Workgroups of the `index`-th dispatch over rows.
    fn workgroups(
        &self,
        recorder: &mut Recorder<'_>,
        (scratch, layout): (BufferRange, &ScratchLayout),
        count: Count,
        index: u64,
    ) -> Result<(Workgroups, u32)> {
        let chunks = match index {
            0 => self.config.columns.div_ceil(self.tile_items),
            _ => self.config.k.div_ceil(self.workgroup_size),
        };
        let grid = TileGrid { tile_items: 1, column_count: chunks };
        let level_args = (scratch, layout.level_args + LevelArgs::size(index));
        Ok((Workgroups::new(recorder, self.level_args.as_ref(), count, grid, level_args)?, chunks))
    }

    /// Records the dispatch that takes the first of each row of `sorted`, rows of `sorted_count` indices: to the result, or
    /// to `all_indices` as they are.
    fn take(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &TopKBuffers,
        layout: &ScratchLayout,
        count: Count,
        (index, sorted, sorted_count, all_indices): (u64, AddressRange, u32, AddressRange),
    ) -> Result<()> {
        recorder.phase(c"take");
        if matches!(count, Count::Direct(_)) {
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        }
        let (workgroups, chunk_count) = self.workgroups(recorder, (buffers.scratch, layout), count, index)?;
        let is_result = all_indices.size == 0;
        let of_result = |range| if is_result { range } else { AddressRange::NONE };
        let push = push::TopKTake {
            keys: of_result(buffers.source),
            sorted,
            top_keys: of_result(buffers.destination),
            top_indices: of_result(buffers.destination_indices),
            all_indices,
            indirect_rows: count.indirect(),
            row_count: count.max() as u32,
            column_count: self.config.columns,
            sorted_count,
            chunk_count,
            k: self.config.k,
            values: of_result(buffers.source_values),
            top_values: of_result(buffers.destination_values),
            segments: buffers.segments,
            ks: buffers.ks,
            key_count: buffers.key_count(&self.config),
        };
        workgroups.dispatch(recorder, &self.take, &push)
    }
}

impl Algorithm<TopK> for BySort {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let level_args = self.level_args.as_ref().map(LevelArgsWriter::pipeline);
        let sorts = std::iter::once(&self.sort).chain(&self.by_index).flat_map(SegmentedSortPlan::pipelines);
        level_args.into_iter().chain([&self.orders, &self.take]).chain(sorts)
    }

    fn layout(&self, cursor: &mut ScratchCursor, rows: u64) -> ScratchLayout {
        let key_count = rows.saturating_mul(self.config.columns.into());
        let is_indirect = self.level_args.is_some();
        let level_args = LevelArgs::size(if is_indirect { ROW_DISPATCHES } else { 0 });
        let level_args = cursor.take("level arguments", level_args);
        let mut take = |name, size| cursor.array(name, size);
        let counts = take("counts of keys and results", if is_indirect { COUNTS_SIZE } else { 0 });
        let key_size = self.config.element.size() as u64;
        let orders = take("orders of the keys", key_count.saturating_mul(key_size));
        let sorted = take("sorted indices", key_count.saturating_mul(4));
        let begins = take("begins of rows", rows.saturating_mul(4));
        let ends = take("ends of rows", size_if(self.config.is_unequal(), rows.saturating_mul(4)));
        let sort = take("scratch of the sort", self.sort.scratch_requirements((key_count, rows)).size);
        let top_count = if self.by_index.is_some() { rows.saturating_mul(self.config.k.into()) } else { 0 };
        let by_index =
            self.by_index.as_ref().map_or(0, |sort| sort.scratch_requirements((top_count, rows)).size);
        ScratchLayout {
            level_args,
            counts,
            orders,
            sorted,
            begins,
            ends,
            sort,
            top: take("indices of the result", top_count.saturating_mul(4)),
            top_begins: take("begins of the result", size_if(top_count > 0, rows.saturating_mul(4))),
            by_index: take("scratch of the sort of the result", by_index),
        }
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, TopK, ScratchLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let scratch = buffers.scratch;
        let TopKConfig { columns, k, .. } = self.config;
        let rows = count.max();
        recorder.check_workgroups(rows * u64::from(columns.div_ceil(self.tile_items)))?;
        let counts = layout.counts.addresses(scratch);
        let counted = |index: u64, max: u64| match count {
            Count::Direct(_) => Count::Direct(max),
            // Fits: `check_count` has found it.
            Count::Indirect { .. } => {
                Count::Indirect { address: counts.address + 4 * index, max: max as u32 }
            }
        };
        let [orders, sorted, begins, ends, top, top_begins] =
            [layout.orders, layout.sorted, layout.begins, layout.ends, layout.top, layout.top_begins]
                .map(|array| array.addresses(scratch));
        recorder.phase(c"orders");
        let (workgroups, chunk_count) = self.workgroups(recorder, (scratch, layout), count, 0)?;
        let push = push::TopKOrders {
            keys: buffers.source,
            orders,
            begins,
            top_begins,
            counts,
            indirect_rows: count.indirect(),
            row_count: rows as u32,
            column_count: columns,
            chunk_count,
            k,
            ends,
            segments: buffers.segments,
            ks: buffers.ks,
            key_count: buffers.key_count(&self.config),
        };
        workgroups.dispatch(recorder, &self.orders, &push)?;
        // By indirect counts, the sort has a barrier before it reads what was written.
        if matches!(count, Count::Direct(_)) {
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        }
        let keys = SortBuffers::new(orders, layout.sort.range(scratch)).values(sorted);
        let key_count = counted(0, rows * u64::from(columns));
        self.sort.record(recorder, &SegmentedSortBuffers::ranges(keys, begins, ends), (key_count, count))?;
        let Some(by_index) = &self.by_index else {
            let none = AddressRange::NONE;
            return self.take(recorder, buffers, layout, count, (1, sorted, columns, none));
        };
        self.take(recorder, buffers, layout, count, (1, sorted, columns, top))?;
        // The sort has a barrier before it reads keys; the begins were written before the other sort.
        let keys = SortBuffers::new(top, layout.by_index.range(scratch));
        let top_count = counted(1, rows * u64::from(k));
        by_index.record(recorder, &SegmentedSortBuffers::new(keys, top_begins), (top_count, count))?;
        self.take(recorder, buffers, layout, count, (2, top, k, AddressRange::NONE))
    }
}
