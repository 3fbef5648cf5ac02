//! What is scanned: the twin of `glsl/common/element.glsl`.

/// An element and its operator, which is associative and need not be commutative.
pub trait Element: Copy {
    /// Combined with anything, gives that.
    const IDENTITY: Self;
    /// Elements in a pack: the fewest that are a whole number of 16-byte quads.
    const PACK_ITEMS: usize;

    /// This, then `later`.
    fn combine(self, later: Self) -> Self;
}

/// One row of a table: its columns are summed side by side, and wrap.
impl<const COLUMNS: usize> Element for [u32; COLUMNS] {
    const IDENTITY: Self = [0; COLUMNS];
    const PACK_ITEMS: usize = match COLUMNS {
        1 | 3 => 4,
        2 => 2,
        4 => 1,
        _ => panic!("a row has 1 to 4 columns"),
    };

    fn combine(self, later: Self) -> Self {
        std::array::from_fn(|column| self[column].wrapping_add(later[column]))
    }
}

/// A single number.
impl Element for u32 {
    const IDENTITY: Self = 0;
    const PACK_ITEMS: usize = 4;

    fn combine(self, later: Self) -> Self {
        self.wrapping_add(later)
    }
}

/// A flat table as rows of so many columns. `as_flattened()` is the way back.
pub fn rows<const COLUMNS: usize>(words: &[u32]) -> Vec<[u32; COLUMNS]> {
    words.chunks_exact(COLUMNS).map(|row| std::array::from_fn(|column| row[column])).collect()
}
