//! The twin of `glsl/scan/chained.comp` and `glsl/common/look_back.glsl`.

use super::{Shape, TileUp};
use crate::reference::{Element, Tiles, lanes};

/// What a tile has told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told<E> {
    /// `NOT_READY`.
    Nothing,
    /// `AGGREGATE`: its own total.
    Total(E),
    /// `PREFIX`: that of the tile and all before it.
    Prefix(E),
}

/// What the kernel counts where it is built to: `COUNTED`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Windows of tiles that were looked at.
    pub windows: u32,
    /// Tiles that were summed up in their workgroup's place.
    pub fallbacks: u32,
}

/// Where a look-back has come to: tiles in `end..` are in `carry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookBack<E> {
    /// The first tile that is taken in.
    pub end: usize,
    /// What they come to.
    pub carry: E,
}

impl<E: Element> LookBack<E> {
    /// `look_back`: goes on until it comes to a prefix, or to a tile that has told nothing, which it returns.
    pub fn go_on(&mut self, told: &[Told<E>], lanes: usize, counts: &mut Counts) -> Option<usize> {
        loop {
            counts.windows += 1;
            // What would lie before tile 0 is nothing.
            let seen: Vec<_> = (0..lanes)
                .map(|lane| match (self.end + lane).checked_sub(lanes) {
                    Some(tile) => told[tile],
                    None => Told::Total(E::IDENTITY),
                })
                .collect();
            let prefix = seen.iter().rposition(|told| matches!(told, Told::Prefix(_)));
            let behind_silent =
                seen.iter().rposition(|told| matches!(told, Told::Nothing)).map_or(0, |lane| lane + 1);
            let is_stuck = behind_silent > prefix.unwrap_or(0);
            let first = behind_silent.max(prefix.unwrap_or(0));
            let value = |(lane, told): (usize, &Told<E>)| match *told {
                Told::Total(value) | Told::Prefix(value) if lane >= first => value,
                _ => E::IDENTITY,
            };
            let values: Vec<_> = seen.iter().enumerate().map(value).collect();
            self.carry = lanes::reduce(&values).combine(self.carry);
            self.end = (self.end + first).saturating_sub(lanes);
            if is_stuck {
                return Some(self.end - 1);
            }
            if prefix.is_some() || self.end == 0 {
                return None;
            }
        }
    }
}

/// Tiles whose totals are added up before they go on, with `FIXED_TREE`.
pub const GROUP_TILES: usize = 32;

/// Where a subgroup stands in the fixed tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk<E> {
    /// The first tile that is not taken in.
    pub tile: usize,
    /// What comes before its group.
    pub before_group: E,
    /// What the group's tiles before it come to.
    pub in_group: E,
    /// The totals of the chunk that begins with it, as far as they are told.
    pub chunk: Vec<Option<E>>,
}

impl<E: Element> Walk<E> {
    /// `walk_towards`: begins at the last group up to that of `tile` of which `groups` tell what comes before it.
    pub fn towards(tile: usize, groups: &[Option<E>], lanes: usize) -> Self {
        let last = tile / GROUP_TILES;
        let (group, before_group) =
            (1..=last).rev().find_map(|group| Some((group, groups[group]?))).unwrap_or((0, E::IDENTITY));
        let in_group = E::IDENTITY;
        Self { tile: group * GROUP_TILES, before_group, in_group, chunk: vec![None; lanes] }
    }

    /// `walk_on`: takes in all tiles before `end`, or goes as far as one that has told nothing, which it returns. Tells
    /// `groups` on the way, if it does.
    pub fn go_on(
        &mut self,
        end: usize,
        told: &[Told<E>],
        groups: &mut [Option<E>],
        tells_groups: bool,
        counts: &mut Counts,
    ) -> Option<usize> {
        let lanes = self.chunk.len();
        while self.tile < end {
            counts.windows += 1;
            let left_in_group = GROUP_TILES - self.tile % GROUP_TILES;
            let chunk = left_in_group.min(end - self.tile).min(lanes);
            for (lane, total) in self.chunk[..chunk].iter_mut().enumerate() {
                if let (None, Told::Total(told)) = (&total, told[self.tile + lane]) {
                    *total = Some(told);
                }
            }
            if let Some(lane) = self.chunk[..chunk].iter().position(Option::is_none) {
                return Some(self.tile + lane);
            }
            let totals: Vec<_> =
                self.chunk.iter_mut().map(|total| total.take().unwrap_or(E::IDENTITY)).collect();
            self.in_group = self.in_group.combine(lanes::reduce(&totals));
            self.tile += chunk;
            if chunk == left_in_group {
                self.before_group = self.before_group.combine(self.in_group);
                self.in_group = E::IDENTITY;
                if tells_groups {
                    groups[self.tile / GROUP_TILES] = Some(self.before_group);
                }
            }
        }
        None
    }
}

/// `glsl/scan/chained.comp`: scans each tile from what earlier ones have told, here one tile after the other. The
/// workgroups of tiles that are `silent` tell nothing. `FIXED_TREE` is `fixed_tree`.
pub fn chained<E: Element>(
    shape: &Shape,
    exclusive: bool,
    fixed_tree: bool,
    source: &[E],
    destination: &mut [E],
    tiles: Tiles,
    silent: impl Fn(usize) -> bool,
) -> Counts {
    let mut counts = Counts::default();
    let mut told = vec![Told::Nothing; tiles.tile_count];
    let mut groups = vec![None; tiles.tile_count.div_ceil(GROUP_TILES)];
    let lanes = shape.workgroup.lanes;
    let range = |tile| tiles.range(tile, shape.tile_items::<E>());
    let total_of = |tile| TileUp::new(shape, &source[range(tile)]).total;
    for tile in 0..tiles.tile_count {
        let up = TileUp::new(shape, &source[range(tile)]);
        let carry = if fixed_tree {
            if !silent(tile) {
                told[tile] = Told::Total(up.total);
            }
            let mut walk = Walk::towards(tile, &groups, lanes);
            while let Some(stuck) = walk.go_on(tile, &told, &mut groups, !silent(tile), &mut counts) {
                counts.fallbacks += 1;
                let total = total_of(stuck);
                told[stuck] = Told::Total(total);
                walk.chunk[stuck - walk.tile] = Some(total);
            }
            walk.before_group.combine(walk.in_group)
        } else {
            let mut before = LookBack { end: tile, carry: E::IDENTITY };
            while before.end > 0 {
                let Some(stuck) = before.go_on(&told, lanes, &mut counts) else { break };
                counts.fallbacks += 1;
                let total = total_of(stuck);
                told[stuck] = Told::Total(total);
                before = LookBack { end: stuck, carry: total.combine(before.carry) };
            }
            if !silent(tile) {
                told[tile] = Told::Prefix(before.carry.combine(up.total));
            }
            before.carry
        };
        up.down(&mut destination[range(tile)], exclusive, carry);
    }
    counts
}
