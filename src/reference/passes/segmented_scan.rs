//! Models of `glsl/common/segmented.glsl` and `glsl/scan/heads.glsl`: what makes a pass of a scan one of segments.

use crate::reference::Element;

/// A value, and whether a segment begins at it or at any of the values that it stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Headed<E> {
    /// What is combined within a segment.
    pub value: E,
    /// Whether it replaces what came before it.
    pub is_head: bool,
}

impl<E: Element> Element for Headed<E> {
    const IDENTITY: Self = Self { value: E::IDENTITY, is_head: false };

    fn combine(self, later: Self) -> Self {
        let value = if later.is_head { later.value } else { self.value.combine(later.value) };
        Self { value, is_head: self.is_head || later.is_head }
    }
}

/// What says where segments begin: `HEADS`, in the order of its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Heads {
    /// A word for each row.
    Flags,
    /// A word for each row.
    Keys32,
    /// Two words for each row.
    Keys64,
    /// A bit for each row.
    Bits,
    /// A word for each row, which is a tile of the level below.
    Tiles,
}

impl Heads {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Flags, Self::Keys32, Self::Keys64, Self::Bits, Self::Tiles];

    /// Whether a boundary lies before `row`, which is not the first.
    fn begins_at(self, words: &[u32], row: usize) -> bool {
        match self {
            Self::Flags | Self::Tiles => words[row] != 0,
            Self::Keys32 => words[row] != words[row - 1],
            Self::Keys64 => words[2 * row..2 * row + 2] != words[2 * row - 2..2 * row],
            Self::Bits => words[row / 32] >> (row % 32) & 1 == 1,
        }
    }

    /// Of each of `row_count` rows, whether it is the first of a segment, with `is_reverse` from the last row on.
    pub fn of(self, words: &[u32], row_count: usize, is_reverse: bool) -> Vec<bool> {
        let head = |row: usize| {
            let boundary = row + usize::from(is_reverse);
            boundary > 0 && boundary < row_count && self.begins_at(words, boundary)
        };
        (0..row_count).map(head).collect()
    }

    /// The result of a row, whose segment begins with `initial`, from the scan of [`Headed`] rows. In an exclusive
    /// scan nothing of its segment comes before a head; but a tile that holds a head may begin in an earlier segment.
    pub fn result<E: Element>(self, initial: E, scanned: Headed<E>, is_head: bool, exclusive: bool) -> E {
        let begins = exclusive && is_head && self != Self::Tiles;
        if begins { initial } else { initial.combine(scanned.value) }
    }
}

/// `mark_segments.comp`: sets the bits of rows that are among `offsets`.
pub fn mark_segments(offsets: &[u32], heads: &mut [u32], row_count: u32) {
    for &row in offsets.iter().filter(|&&row| row < row_count) {
        heads[row as usize / 32] |= 1 << (row % 32);
    }
}
