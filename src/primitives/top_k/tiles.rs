//! Selection by tiles: of each tile of a row, then of the selected keys of its tiles, until a row has one tile.
//!
//! A row of more than one tile is divided into tiles of equal extents, but for one key: at least half a tile, and so at
//! least k keys. Every tile has k results then, which are the row of the next dispatch, and the number of tiles is halved
//! at least.

use super::config::{TopKBuffers, TopKConfig};
use super::policy::{TopKPolicy, top_items};
use super::{ScratchCursor, TopK};
use crate::device::{AddressRange, Barrier, Device, Pipeline, Recorder, push};
use crate::error::{Result, at_most};
use crate::kernels;
use crate::primitives::Count;
use crate::primitives::level_args::{LevelArgs, LevelArgsWriter, TileGrid, Workgroups};
use crate::primitives::plan::{Algorithm, Checked};

#[derive(Debug)]
pub(super) struct ByTiles {
    config: TopKConfig,
    tile_items: u32,
    /// Of all dispatches but the last, whose results need no order.
    inner: Option<Pipeline>,
    last: Pipeline,
    /// For indirect counts.
    level_args: Option<LevelArgsWriter>,
}

/// A dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Level {
    /// Keys of a row.
    columns: u32,
    /// Tiles of a row.
    tiles: u32,
}

fn levels(columns: u32, k: u32, tile_items: u32) -> impl Iterator<Item = Level> {
    let level = move |columns: u32| Level { columns, tiles: columns.div_ceil(tile_items) };
    let next = move |last: &Level| (last.tiles > 1).then(|| level(last.tiles * k));
    std::iter::successors(Some(level(columns)), next)
}

/// Offsets of the arrays in scratch.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScratchLayout {
    level_args: u64,
    /// Keys and columns that the first dispatch selects, and the second; later ones take turns.
    selected: [[u64; 2]; 2],
}

impl ByTiles {
    pub(super) fn new(device: &Device, config: &TopKConfig, policy: &TopKPolicy) -> Result<Self> {
        // Values move in the last dispatch alone.
        let pipeline = |is_sorted: bool, words_per_value: (&'static str, u32)| {
            let shape = [
                ("ITEMS_PER_INVOCATION", policy.items_per_invocation),
                ("RADIX_BITS", policy.radix_bits),
                ("TOP_ITEMS", top_items(config.k, is_sorted)),
                ("SORTED", is_sorted.into()),
                ("UNEQUAL", config.is_unequal().into()),
                words_per_value,
            ];
            let constants = [&shape[..], &config.order_constants()].concat();
            let kernel = config.kernel(kernels::TOP_K_SELECT.module(&config.key_define()))?;
            policy.pipeline(device, kernel, &constants)
        };
        let has_inner = config.columns > policy.tile_items();
        Ok(Self {
            config: *config,
            tile_items: policy.tile_items(),
            inner: has_inner.then(|| pipeline(false, ("WORDS_PER_VALUE", 0))).transpose()?,
            last: pipeline(config.is_sorted, config.value_constant())?,
            level_args: LevelArgsWriter::new(device, policy.subgroup_size, config.has_indirect_count)?,
        })
    }

    fn levels(&self) -> impl Iterator<Item = Level> {
        levels(self.config.columns, self.config.k, self.tile_items)
    }

    /// Bytes of the selected keys and columns of a level, which is not the last.
    fn selected_sizes(&self, level: Level, rows: u64) -> [u64; 2] {
        let count = rows.saturating_mul(u64::from(level.tiles) * u64::from(self.config.k));
        [count.saturating_mul(self.config.element.size() as u64), count.saturating_mul(4)]
    }

    pub(super) fn row_traffic_size(&self) -> u64 {
        let key_size = self.config.element.size() as u64;
        let of_level = |(index, level): (usize, Level)| {
            let [keys, indices] = match level.tiles {
                1 => [self.config.keys_size(), self.config.indices_size()],
                _ => self.selected_sizes(level, 1),
            };
            let key_size = if index > 0 { key_size } else { self.config.source_size() };
            // The columns of selected keys are read.
            u64::from(level.columns) * key_size + keys + indices * if index > 0 { 2 } else { 1 }
        };
        let values_size = u64::from(self.config.k) * self.config.value_size();
        self.levels().enumerate().map(of_level).sum::<u64>() + 2 * values_size
    }
}

impl Algorithm<TopK> for ByTiles {
    type Layout = ScratchLayout;

    fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        let level_args = self.level_args.as_ref().map(LevelArgsWriter::pipeline);
        level_args.into_iter().chain(&self.inner).chain([&self.last])
    }

    fn layout(&self, cursor: &mut ScratchCursor, rows: u64) -> ScratchLayout {
        let level_count = if self.level_args.is_some() { self.levels().count() as u64 } else { 0 };
        let level_args = cursor.take("level arguments", LevelArgs::size(level_count));
        let mut inner = self.levels().filter(|level| level.tiles > 1);
        let selected = [(); 2].map(|()| {
            let [keys, indices] = inner.next().map_or([0; 2], |level| self.selected_sizes(level, rows));
            [cursor.take("selected keys", keys), cursor.take("columns of selected keys", indices)]
        });
        ScratchLayout { level_args, selected }
    }

    fn record(&self, recorder: &mut Recorder<'_>, given: Checked<'_, TopK, ScratchLayout>) -> Result<()> {
        let Checked { buffers, layout, count } = given;
        let TopKBuffers { source, destination, destination_indices, scratch, .. } = *buffers;
        let tiles = u64::from(self.config.columns.div_ceil(self.tile_items));
        // Kernels number tiles by 32 bits.
        at_most(count.max(), u64::from(u32::MAX) / tiles, "2^32 - 1 tiles of this policy")?;
        recorder.check_workgroups(count.max() * tiles)?;
        let (mut keys, mut indices) = (source, AddressRange::NONE);
        for (index, level) in self.levels().enumerate() {
            let is_last = level.tiles == 1;
            let [top_keys, top_indices] = match is_last {
                true => [destination, destination_indices],
                false => {
                    let sizes = self.selected_sizes(level, count.max());
                    let part = |part: usize| scratch.slice(layout.selected[index % 2][part], sizes[part]);
                    [part(0).addresses(), part(1).addresses()]
                }
            };
            recorder.phase(if is_last { c"select of rows" } else { c"select of tiles" });
            if index > 0 && matches!(count, Count::Direct(_)) {
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
            }
            // The barrier to an indirect dispatch orders the selected keys as well.
            let level_args = (scratch, layout.level_args + LevelArgs::size(index as u64));
            let grid = TileGrid { tile_items: 1, column_count: level.tiles };
            let workgroups = Workgroups::new(recorder, self.level_args.as_ref(), count, grid, level_args)?;
            let of_last = |range| if is_last { range } else { AddressRange::NONE };
            let push = push::TopKSelect {
                keys,
                indices,
                top_keys,
                top_indices,
                indirect_rows: count.indirect(),
                row_count: count.max() as u32,
                column_count: level.columns,
                tile_count: level.tiles,
                k: self.config.k,
                values: of_last(buffers.source_values),
                top_values: of_last(buffers.destination_values),
                value_columns: self.config.columns,
                segments: buffers.segments,
                ks: buffers.ks,
                key_count: buffers.key_count(&self.config),
                level: index as u32,
                result_count: level.tiles * self.config.k,
            };
            let pipeline = if is_last { &self.last } else { self.inner.as_ref().unwrap_or(&self.last) };
            workgroups.dispatch(recorder, pipeline, &push)?;
            (keys, indices) = (top_keys, top_indices);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
