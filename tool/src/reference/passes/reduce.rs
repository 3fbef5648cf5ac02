//! Models of `glsl/reduce/`: the fixed tree of tiles, segments from the sums of groups, and the heads of runs.
//!
//! The order of operations is the contract of these passes, so that the models have it: they know the packs of an
//! invocation and the 128 invocations of a tile, and no subgroups.

/// Invocations of a tile.
const INVOCATIONS: usize = 128;
/// Invocations of a group.
const GROUP_INVOCATIONS: usize = 4;
/// Packs of an invocation of a group that reduces a row.
const MAX_GROUP_PACKS: usize = 8;
/// Rows of a group of `segments.comp`.
pub const GROUP_ROWS: usize = 32;

/// The order of operations of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tree {
    /// Values of a pack: of 16 bytes, or an element of a caller's functions.
    pub pack_values: usize,
    /// Packs of an invocation.
    pub packs: usize,
    /// Invocations whose packs alternate.
    pub interleave: usize,
    /// Columns of a tile, which divide a pack.
    pub flat_columns: usize,
    /// Invocations of a tile.
    pub invocations: usize,
}

/// The results of [`Tree::reduce_tiles`], row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Reduced<T> {
    /// A row for each tile.
    pub sums: Vec<T>,
    /// A row for each group that has rows.
    pub groups: Vec<T>,
}

impl Tree {
    /// The tree of a reduction of all rows of `columns` values of `value_words` words.
    pub fn of_all(value_words: usize, columns: usize, packs: usize) -> Self {
        let pack_values = 4 / value_words;
        let flat_columns = if pack_values.is_multiple_of(columns) { columns } else { 1 };
        Self { pack_values, packs, interleave: INVOCATIONS, flat_columns, invocations: INVOCATIONS }
    }

    /// The tree of groups of [`GROUP_ROWS`] rows, whose columns are reduced separately.
    pub fn of_groups(value_words: usize) -> Self {
        let pack_values = 4 / value_words;
        let packs = GROUP_ROWS / GROUP_INVOCATIONS / pack_values;
        Self { pack_values, packs, interleave: GROUP_INVOCATIONS, flat_columns: 1, invocations: INVOCATIONS }
    }

    /// The tree of a row of `length` values, with at most `max_packs` for each of 128 invocations.
    pub fn of_row(value_words: usize, length: usize, max_packs: usize) -> Self {
        let pack_values = 4 / value_words;
        let packs_of = |invocations: usize| length.div_ceil(invocations * pack_values);
        let (invocations, packs) = match packs_of(GROUP_INVOCATIONS) {
            few if few <= MAX_GROUP_PACKS => (GROUP_INVOCATIONS, few),
            _ => (INVOCATIONS, packs_of(INVOCATIONS).min(max_packs)),
        };
        Self { pack_values, packs, interleave: invocations, flat_columns: 1, invocations }
    }

    /// Rows of a tile.
    pub fn tile_rows(&self) -> usize {
        self.invocations * self.packs * self.pack_values / self.flat_columns
    }

    /// `reduce.comp`: the rows of tiles and groups, of a table of `columns`. A column is reduced by itself unless rows are
    /// flat.
    pub fn reduce_tiles<T: Copy>(
        &self,
        values: &[T],
        columns: usize,
        identity: T,
        combine: &impl Fn(T, T) -> T,
    ) -> Reduced<T> {
        let mut reduced = Reduced { sums: Vec::new(), groups: Vec::new() };
        for tile in values.chunks(self.tile_rows() * columns) {
            if columns == self.flat_columns {
                let (groups, total) = self.tile(tile, combine);
                reduced.sums.extend(total);
                reduced.groups.extend(groups.into_iter().flatten());
                continue;
            }
            let of_column = |column: usize| {
                let values: Vec<_> = tile.iter().copied().skip(column).step_by(columns).collect();
                self.tile(&values, combine)
            };
            let all: Vec<_> = (0..columns).map(of_column).collect();
            reduced.sums.extend(all.iter().flat_map(|(_, total)| total));
            let group_count = all[0].0.len();
            reduced.groups.extend(
                (0..group_count).flat_map(|group| all.iter().map(move |(groups, _)| groups[group][0])),
            );
        }
        // A sum of nothing but -0 is 0.
        reduced.sums.iter_mut().for_each(|sum| *sum = combine(identity, *sum));
        reduced
    }

    /// The rows of a tile's groups that have values, and the row of the tile.
    fn tile<T: Copy>(&self, values: &[T], combine: &impl Fn(T, T) -> T) -> (Vec<Vec<T>>, Vec<T>) {
        let both = |earlier: Option<T>, later: Option<T>| match (earlier, later) {
            (Some(earlier), Some(later)) => Some(combine(earlier, later)),
            (earlier, later) => earlier.or(later),
        };
        let value = |invocation: usize, round: usize, v: usize| {
            let cluster = invocation / self.interleave * self.interleave * self.packs;
            let pack = cluster + round * self.interleave + invocation % self.interleave;
            values.get(pack * self.pack_values + v).copied()
        };
        let of_invocation = |invocation: usize| {
            let of_value = |v: usize| {
                (0..self.packs).fold(None, |total, round| both(total, value(invocation, round, v)))
            };
            let mut pack: Vec<_> = (0..self.pack_values).map(of_value).collect();
            while pack.len() > self.flat_columns {
                let behind = pack.split_off(pack.len() / 2);
                pack.iter_mut().zip(behind).for_each(|(value, behind)| *value = both(*value, behind));
            }
            pack
        };
        let in_pairs = |mut rows: Vec<Vec<Option<T>>>, count: usize| {
            while rows.len() > count {
                let pair = |pair: &[Vec<Option<T>>]| {
                    pair[0].iter().zip(&pair[1]).map(|(&earlier, &later)| both(earlier, later)).collect()
                };
                rows = rows.chunks(2).map(pair).collect();
            }
            rows
        };
        let groups = in_pairs(
            (0..self.invocations).map(of_invocation).collect(),
            self.invocations / GROUP_INVOCATIONS,
        );
        let known = |row: &Vec<Option<T>>| row.iter().copied().flatten().collect::<Vec<_>>();
        let whole = groups.iter().map(known).take_while(|row| row.len() == self.flat_columns).collect();
        (whole, known(&in_pairs(groups, 1)[0]))
    }

    /// All rows, tile by tile until one is left.
    pub fn reduce_all<T: Copy>(
        &self,
        values: &[T],
        columns: usize,
        identity: T,
        combine: &impl Fn(T, T) -> T,
    ) -> Vec<T> {
        if values.is_empty() {
            return vec![identity; columns];
        }
        let mut rows = self.reduce_tiles(values, columns, identity, combine).sums;
        while rows.len() > columns {
            rows = self.reduce_tiles(&rows, columns, identity, combine).sums;
        }
        rows
    }
}

/// The result of each segment of `length` values, such as the rows of a table; the last may have fewer. All have the trees
/// of whole segments, and tiles without values have the identity.
pub fn reduce_rows<T: Copy>(
    values: &[T],
    [value_words, length, max_packs]: [usize; 3],
    identity: T,
    combine: &impl Fn(T, T) -> T,
) -> Vec<T> {
    let reduce = |row: &[T]| {
        let (mut values, mut length) = (row.to_vec(), length);
        loop {
            let tree = Tree::of_row(value_words, length, max_packs);
            let tiles = length.div_ceil(tree.tile_rows());
            values = tree.reduce_tiles(&values, 1, identity, combine).sums;
            values.resize(tiles, identity);
            if tiles == 1 {
                return values[0];
            }
            length = tiles;
        }
    };
    values.chunks(length).map(reduce).collect()
}

/// The levels above `values`, each a row for each group of rows of the level below, as dispatches of [`Tree::of_groups`]
/// make them in pairs, until a level has fewer rows than a group.
pub fn group_levels<T: Copy>(
    values: &[T],
    columns: usize,
    tree: &Tree,
    identity: T,
    combine: &impl Fn(T, T) -> T,
) -> Vec<Vec<T>> {
    let mut levels: Vec<Vec<T>> = Vec::new();
    let mut top = values.to_vec();
    while top.len() >= GROUP_ROWS * columns {
        let Reduced { sums, groups } = tree.reduce_tiles(&top, columns, identity, combine);
        levels.extend([groups, sums.clone()]);
        top = sums;
    }
    levels
}

/// The first row of each segment, and its end, where a segment ends at the next one.
pub fn segments_of(offsets: &[u32], row_count: usize) -> Vec<[u32; 2]> {
    let ends = offsets.iter().skip(1).copied().chain([row_count as u32]);
    offsets.iter().copied().zip(ends).map(|(begin, end)| [begin, end]).collect()
}

/// `segments.comp`: a row for each segment, from the levels above `values`.
pub fn reduce_segments<T: Copy>(
    values: &[T],
    levels: &[Vec<T>],
    columns: usize,
    segments: &[[u32; 2]],
    identity: T,
    combine: &impl Fn(T, T) -> T,
) -> Vec<T> {
    let row_count = values.len() / columns;
    let both = |earlier: Option<T>, later: Option<T>| match (earlier, later) {
        (Some(earlier), Some(later)) => Some(combine(earlier, later)),
        (earlier, later) => earlier.or(later),
    };
    let mut results = Vec::new();
    for segment in segments {
        let [first, end] = segment.map(|row| (row as usize).min(row_count));
        for column in 0..columns {
            let (mut begin, mut end) = (first, end.max(first));
            let (mut front, mut back) = (None, None);
            for (index, level) in std::iter::once(values).chain(levels.iter().map(Vec::as_slice)).enumerate()
            {
                let fold = |total: Option<T>, begin: usize, end: usize| {
                    (begin..end).fold(total, |total, row| both(total, Some(level[row * columns + column])))
                };
                let (first_group, end_group) = (begin.div_ceil(GROUP_ROWS), end / GROUP_ROWS);
                if index == levels.len() || first_group >= end_group {
                    front = fold(front, begin, end);
                    break;
                }
                front = fold(front, begin, first_group * GROUP_ROWS);
                back = both(fold(None, end_group * GROUP_ROWS, end), back);
                (begin, end) = (first_group, end_group);
            }
            results.push(both(Some(identity), both(front, back)).unwrap_or(identity));
        }
    }
    results
}

/// `heads.comp`: the rows of the heads of runs of equal keys of `key_words` words; of floats by value, and NaNs equal NaNs.
pub fn heads_of(keys: &[u32], key_words: usize, are_floats: bool) -> Vec<u32> {
    let number = |key: &[u32]| match *key {
        [low, high] => f64::from_bits(u64::from(high) << 32 | u64::from(low)),
        _ => f32::from_bits(key[0]).into(),
    };
    let are_equal = |a: &[u32], b: &[u32]| match are_floats {
        true => number(a) == number(b) || number(a).is_nan() && number(b).is_nan(),
        false => a == b,
    };
    let keys: Vec<_> = keys.chunks(key_words).collect();
    let is_head = |&row: &usize| row == 0 || !are_equal(keys[row], keys[row - 1]);
    (0..keys.len()).filter(is_head).map(|row| row as u32).collect()
}

/// `scan_heads.comp`: the number of heads before each tile, and of all.
pub fn scan_heads(tile_heads: &[u32]) -> (Vec<u32>, u32) {
    let mut total = 0;
    let prefix = tile_heads.iter().map(|heads| {
        total += heads;
        total - heads
    });
    (prefix.collect(), total)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Concatenation does not commute.
    fn numbers(count: usize) -> Vec<u32> {
        (1..=count as u32).collect()
    }

    #[test]
    fn trees_keep_every_value_and_groups_are_in_order() {
        let sum = |a: u32, b: u32| a.wrapping_add(b);
        for (value_words, columns) in [(1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2), (2, 5)] {
            for count in [1, 5, 511, 512, 513, 4099] {
                let values = numbers(count * columns);
                let expected: Vec<u32> =
                    (0..columns).map(|column| values.iter().skip(column).step_by(columns).sum()).collect();
                let tree = Tree::of_all(value_words, columns, 1);
                assert_eq!(tree.reduce_all(&values, columns, 0, &sum), expected, "{columns}, {count}");
                let groups = Tree::of_groups(value_words).reduce_tiles(&values, columns, 0, &sum).groups;
                let of_group = |rows: &[u32], column| rows.iter().skip(column).step_by(columns).sum::<u32>();
                let expected: Vec<_> = values
                    .chunks(GROUP_ROWS * columns)
                    .flat_map(|rows| (0..columns).map(move |column| of_group(rows, column)))
                    .collect();
                assert_eq!(groups, expected, "{columns}, {count}");
            }
        }
    }

    #[test]
    fn a_custom_tree_and_segments_are_in_order() {
        // The first and the last of what was combined.
        let span = |a: (u32, u32), b: (u32, u32)| {
            assert!(a.1 == 0 || a.1 + 1 == b.0, "{a:?} {b:?}");
            if a.1 == 0 { b } else { (a.0, b.1) }
        };
        let values: Vec<_> = numbers(70_000).into_iter().map(|number| (number, number)).collect();
        let tree =
            Tree { pack_values: 1, packs: 8, interleave: 1, flat_columns: 1, invocations: INVOCATIONS };
        assert_eq!(tree.reduce_all(&values, 1, (0, 0), &span), [(1, 70_000)]);
        let levels = group_levels(&values, 1, &tree, (0, 0), &span);
        assert_eq!(levels.iter().map(Vec::len).collect::<Vec<_>>(), [2188, 69, 3, 1]);
        let offsets = [3, 3, 40, 100, 4000, 69_999, 70_000];
        let segments =
            reduce_segments(&values, &levels, 1, &segments_of(&offsets, values.len()), (0, 0), &span);
        let expected = [(0, 0), (4, 40), (41, 100), (101, 4000), (4001, 69_999), (70_000, 70_000), (0, 0)];
        assert_eq!(segments, expected);
    }

    #[test]
    fn a_head_differs_in_any_word() {
        assert_eq!(heads_of(&[5, 5, 6, 5], 1, false), [0, 2, 3]);
        let zeros = [0, 0x8000_0000, 0x7fc0_0000, 0xff80_0001, 0x7f80_0000];
        assert_eq!(heads_of(&zeros, 1, true), [0, 2, 4]);
        assert_eq!(heads_of(&zeros, 1, false), [0, 1, 2, 3, 4]);
        assert_eq!(heads_of(&[0, 0, 0, 0x8000_0000, 1, 0x8000_0000], 2, true), [0, 2]);
        assert_eq!(heads_of(&[5, 5, 5, 6, 5, 6], 2, false), [0, 1]);
        assert_eq!(heads_of(&[], 1, false), [0; 0]);
        assert_eq!(scan_heads(&[2, 0, 3]), (vec![0, 2, 2], 5));
    }
}
