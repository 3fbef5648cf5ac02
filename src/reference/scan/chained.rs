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

/// `glsl/scan/chained.comp`: scans each tile from what earlier ones have told, here one tile after the other. The
/// workgroups of tiles that are `silent` tell nothing.
pub fn chained<E: Element>(
    shape: &Shape,
    exclusive: bool,
    source: &[E],
    destination: &mut [E],
    tiles: Tiles,
    silent: impl Fn(usize) -> bool,
) -> Counts {
    let mut counts = Counts::default();
    let mut told = vec![Told::Nothing; tiles.tile_count];
    let range = |tile| tiles.range(tile, shape.tile_items::<E>());
    for tile in 0..tiles.tile_count {
        let up = TileUp::new(shape, &source[range(tile)]);
        let mut before = LookBack { end: tile, carry: E::IDENTITY };
        while before.end > 0 {
            let Some(silent) = before.go_on(&told, shape.workgroup.lanes, &mut counts) else { break };
            counts.fallbacks += 1;
            let total = TileUp::new(shape, &source[range(silent)]).total;
            told[silent] = Told::Total(total);
            before = LookBack { end: silent, carry: total.combine(before.carry) };
        }
        if !silent(tile) {
            told[tile] = Told::Prefix(before.carry.combine(up.total));
        }
        up.down(&mut destination[range(tile)], exclusive, before.carry);
    }
    counts
}
