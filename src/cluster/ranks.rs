//! The rows of a scan on all ranks, and what each rank needs of those before it.

use std::iter;
use std::ops::Range;

/// The rows of a rank, and their segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RankRows {
    pub(super) count: u64,
    /// Whether a segment begins at the first row.
    pub(super) begins_at_first: bool,
    /// Whether one begins at a later row.
    pub(super) has_later_begin: bool,
}

impl RankRows {
    /// Words in an exchange.
    pub(super) const WORDS: usize = 2;

    /// `count` rows with segments that begin at `begins`, ascending.
    pub(super) fn new(count: u64, begins: &[u64]) -> Self {
        let in_rows = &begins[..begins.partition_point(|&begin| begin < count)];
        Self {
            count,
            begins_at_first: in_rows.first() == Some(&0),
            has_later_begin: in_rows.last().is_some_and(|&begin| begin > 0),
        }
    }

    pub(super) fn to_words(self) -> [u64; Self::WORDS] {
        [self.count, u64::from(self.begins_at_first) | u64::from(self.has_later_begin) << 1]
    }

    pub(super) fn of_words(words: &[u64]) -> Self {
        Self { count: words[0], begins_at_first: words[1] & 1 != 0, has_later_begin: words[1] & 2 != 0 }
    }
}

/// The rows of all ranks, in the direction of a scan.
pub(super) struct Ranks {
    pub(super) rows: Vec<RankRows>,
    pub(super) is_reverse: bool,
}

impl Ranks {
    /// The next rank with rows in the order of the scan, or against it.
    fn neighbour(&self, rank: usize, is_next: bool) -> Option<usize> {
        let has_rows = |rank: &usize| self.rows[*rank].count > 0;
        match is_next != self.is_reverse {
            true => (rank + 1..self.rows.len()).find(has_rows),
            false => (0..rank).rev().find(has_rows),
        }
    }

    /// Whether the scan of a rank's rows begins with the initial value: no carry enters it.
    pub(super) fn starts_fresh(&self, rank: usize) -> bool {
        let begins = |before: usize| self.rows[if self.is_reverse { before } else { rank }].begins_at_first;
        self.neighbour(rank, false).is_none_or(begins)
    }

    /// Whether the carry that leaves a rank does not depend on one that enters it.
    pub(super) fn is_closed(&self, rank: usize) -> bool {
        self.starts_fresh(rank) || self.rows[rank].has_later_begin
    }

    /// The ranks whose totals together are the carry that enters `rank`, in the order of the scan. None if it starts fresh, or
    /// has no rows.
    pub(super) fn carried(&self, rank: usize) -> Vec<usize> {
        if self.starts_fresh(rank) || self.rows[rank].count == 0 {
            return Vec::new();
        }
        // From the last on, until one is closed.
        let before = |rank: &usize| self.neighbour(*rank, false).filter(|_| !self.is_closed(*rank));
        let mut carried: Vec<_> = iter::successors(self.neighbour(rank, false), before).collect();
        carried.reverse();
        carried
    }

    /// Whether another rank needs this one's total.
    pub(super) fn is_carried(&self, rank: usize) -> bool {
        self.rows[rank].count > 0 && self.neighbour(rank, true).is_some_and(|next| !self.starts_fresh(next))
    }
}

/// The rows of a rank that its total has, of those whose segments begin at `begins`, ascending: all that the scan leaves
/// open.
pub(super) fn open_rows(row_count: u64, begins: &[u64], is_reverse: bool) -> Range<u64> {
    let mut in_rows = begins.iter().copied().filter(|&begin| begin < row_count);
    match is_reverse {
        true => 0..in_rows.find(|&begin| begin > 0).unwrap_or(row_count),
        false => in_rows.next_back().unwrap_or(0)..row_count,
    }
}

#[cfg(test)]
mod tests;
