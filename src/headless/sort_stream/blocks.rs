//! Blocks of a merge, cut out of runs: each has the part of every run that lies between two places.
//!
//! A block of too many keys is cut in two, at the weighted median of the middle keys of its parts: a part of the keys is
//! on either side, whatever the keys (Frederickson and Johnson, The Complexity of Selection and Ranking in X + Y and
//! Matrices with Sorted Columns, Journal of Computer and System Sciences 24, 1982).

use std::io;
use std::ops::Range;

use super::order::{KeyBits, KeyOrder};
use super::runs::{Place, Run};

/// The part of each run.
pub(super) type Parts = Vec<Range<u64>>;

/// The blocks of a merge, in their order.
pub(super) struct Blocks<'a> {
    runs: &'a [Run<'a>],
    order: &'a KeyOrder,
    /// Most keys of a block.
    max_count: u64,
    /// The rest of the runs, in parts of which the last comes first.
    rest: Vec<Parts>,
    index: usize,
}

impl<'a> Blocks<'a> {
    /// The blocks of `runs`, of up to `max_count` keys, which is not 0.
    pub(super) fn new(runs: &'a [Run<'a>], order: &'a KeyOrder, max_count: u64) -> Self {
        let all = runs.iter().map(|run| 0..run.count()).collect();
        Self { runs, order, max_count, rest: vec![all], index: 0 }
    }

    /// The index of the next block, and its parts.
    pub(super) fn next<K: KeyBits>(&mut self) -> io::Result<Option<(usize, Parts)>> {
        let Some(mut parts) = self.rest.pop() else { return Ok(None) };
        while count(&parts) > self.max_count {
            let place = self.median::<K>(&parts)?;
            let mut after = parts.clone();
            for (index, run) in self.runs.iter().enumerate() {
                let border = run.count_through::<K>(index, place, parts[index].clone(), self.order)?;
                parts[index].end = border;
                after[index].start = border;
            }
            self.rest.push(after);
        }
        self.index += 1;
        Ok(Some((self.index - 1, parts)))
    }

    /// The place of a key with at least an eighth of the keys of `parts` up to it, and as many after it; of a few keys, one
    /// on either side.
    fn median<K: KeyBits>(&self, parts: &[Range<u64>]) -> io::Result<Place> {
        let mut middles = Vec::new();
        for (index, (run, part)) in
            self.runs.iter().zip(parts).enumerate().filter(|(_, (_, part))| !part.is_empty())
        {
            middles.push((run.middle::<K>(index, part.clone(), self.order)?, part.end - part.start));
        }
        middles.sort_unstable();
        let half = count(parts).div_ceil(2);
        let mut before = 0;
        let median = middles.iter().find(|(_, count)| {
            before += count;
            before >= half
        });
        Ok(median.expect("parts that are cut have keys").0)
    }
}

/// Number of keys in `parts`.
pub(super) fn count(parts: &[Range<u64>]) -> u64 {
    parts.iter().map(|part| part.end - part.start).sum()
}
