//! Models of `glsl/common/segmented.glsl` and `glsl/scan/heads.glsl`: segmented elements and head flags.

use crate::reference::Element;

/// A value with a head flag, set if a segment begins at it or at any value combined into it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Headed<E> {
    /// The value, combined within a segment.
    pub value: E,
    /// Whether it replaces earlier values.
    pub is_head: bool,
}

impl<E: Element> Element for Headed<E> {
    const IDENTITY: Self = Self { value: E::IDENTITY, is_head: false };

    fn combine(self, later: Self) -> Self {
        let value = if later.is_head { later.value } else { self.value.combine(later.value) };
        Self { value, is_head: self.is_head || later.is_head }
    }
}

/// The form of head flags: `HEADS`, in the order of its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Heads {
    /// A word for each row, nonzero at a head.
    Flags,
    /// A key of one word for each row; a segment is a run of equal keys.
    Keys32,
    /// A key of two words for each row.
    Keys64,
    /// A bit for each row.
    Bits,
    /// A word for each row, which is a tile of the level below.
    Tiles,
}

impl Heads {
    /// All forms.
    pub const ALL: [Self; 5] = [Self::Flags, Self::Keys32, Self::Keys64, Self::Bits, Self::Tiles];

    /// Whether a boundary precedes `row`, which is not the first.
    fn begins_at(self, words: &[u32], row: usize) -> bool {
        match self {
            Self::Flags | Self::Tiles => words[row] != 0,
            Self::Keys32 => words[row] != words[row - 1],
            Self::Keys64 => words[2 * row..2 * row + 2] != words[2 * row - 2..2 * row],
            Self::Bits => words[row / 32] >> (row % 32) & 1 == 1,
        }
    }

    /// The head flags of `row_count` rows, in a forward scan or with `is_reverse` in a reverse one.
    pub fn head_flags(self, words: &[u32], row_count: usize, is_reverse: bool) -> Vec<bool> {
        let head = |row: usize| {
            let boundary = row + usize::from(is_reverse);
            boundary > 0 && boundary < row_count && self.begins_at(words, boundary)
        };
        (0..row_count).map(head).collect()
    }

    /// The result of a row from the scan of [`Headed`] rows, in a segment that begins with `initial`. The
    /// exclusive prefix of a head is empty; but a tile that contains a head may begin inside an earlier
    /// segment.
    pub fn result<E: Element>(self, initial: E, scanned: Headed<E>, is_head: bool, exclusive: bool) -> E {
        let begins = exclusive && is_head && self != Self::Tiles;
        if begins { initial } else { initial.combine(scanned.value) }
    }
}

/// `mark_segments.comp`: sets the head bits of the rows in `offsets`.
pub fn mark_segments(offsets: &[u32], heads: &mut [u32], row_count: u32) {
    for &row in offsets.iter().filter(|&&row| row < row_count) {
        heads[row as usize / 32] |= 1 << (row % 32);
    }
}
