//! Cases of gather: a row for each element size, count and kind of indices.

use std::fmt;

use super::pairwise::{axis, covering_works};
use super::{Case, CountFrom, Work, small_workgroup};
use crate::device::Capabilities;
use crate::gather::{GatherConfig, GatherPolicy};
use crate::harness::inputs::Input;

/// Parameters of a gather. The case's input is the distribution of the indices; the source is random and has as many
/// elements as are gathered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatherCase {
    /// Words per element.
    pub words: u32,
    /// Host or indirect count.
    pub count_from: CountFrom,
    /// Whether some indices are out of range.
    pub has_strays: bool,
    /// Whether tiles are small, so that few elements take many.
    pub has_small_tiles: bool,
    /// Offset of the ranges from a multiple of 16, in bytes.
    pub misalignment: u32,
}

impl GatherCase {
    /// Elements of `words` words, with default tiles, aligned, all indices in range.
    pub const fn elements(words: u32) -> Self {
        Self {
            words,
            count_from: CountFrom::Host,
            has_strays: false,
            has_small_tiles: false,
            misalignment: 0,
        }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> GatherPolicy {
        if self.has_small_tiles {
            GatherPolicy::tiled(small_workgroup(capabilities), 4)
        } else {
            GatherPolicy::choose(capabilities, &self.config()).policy
        }
    }

    /// Elements per workgroup with one word per access.
    fn tile(&self, capabilities: &Capabilities) -> u64 {
        let policy = self.policy(capabilities);
        u64::from((policy.workgroup_size * policy.accesses_per_invocation / self.words).max(1))
    }

    /// The plan's configuration without its policy.
    pub const fn config(&self) -> GatherConfig {
        let config = GatherConfig::elements(self.words);
        match self.count_from {
            CountFrom::Host => config,
            CountFrom::Device | CountFrom::DeviceBeyond => config.counts_on_device(),
        }
    }

    /// The source: `count` elements as words.
    pub(in crate::harness) fn source(&self, count: u64, seed: u64) -> Vec<u32> {
        Input::Uniform.generate((count * u64::from(self.words)) as usize, seed)
    }

    /// `count` indices, followed by zeros that must not be read.
    pub(in crate::harness) fn indices(&self, input: Input, count: usize, room: usize) -> Vec<u32> {
        let source_count = count as u32;
        let strays = [source_count, u32::MAX, source_count + 1, 0x8000_0000 | source_count];
        let index = |(i, word): (usize, u32)| match i % 5 {
            3 if self.has_strays => strays[i / 5 % strays.len()],
            _ => word % source_count,
        };
        let mut indices: Vec<_> =
            input.generate(count, count as u64 + 1).into_iter().enumerate().map(index).collect();
        indices.resize(room, 0);
        indices
    }
}

impl fmt::Display for GatherCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gather:words={}{}", self.words, self.count_from.parameter())?;
        if self.has_strays {
            write!(f, ";strays")?;
        }
        let policy = if self.has_small_tiles { "small" } else { "default" };
        write!(f, ";policy={policy};misalign={}", self.misalignment)
    }
}

/// A covering set of all pairs of parameters in small tiles, and the default tiles.
pub(super) fn covering_cases(capabilities: &Capabilities) -> Vec<Case> {
    let plain = GatherCase { has_small_tiles: true, ..GatherCase::elements(1) };
    let axes = [
        axis(&[1, 2, 3, 4, 12, 301], |gather: &mut GatherCase, words| gather.words = words),
        axis(&CountFrom::ALL, |gather, count_from| gather.count_from = count_from),
        axis(&[false, true], |gather, has_strays| gather.has_strays = has_strays),
        axis(&[0, 4, 8, 12], |gather, misalignment| gather.misalignment = misalignment),
    ];
    let works = covering_works(&plain, &axes, &[], |_| true);
    let mut works: Vec<_> = works.into_iter().map(|covering| covering.work).collect();
    works.push(GatherCase::elements(1));
    let inputs = [Input::Uniform, Input::Sorted, Input::Reversed, Input::Constant(0)];
    let mut cases = Vec::new();
    for (index, gather) in works.into_iter().enumerate() {
        let tile = gather.tile(capabilities);
        let counts = [0, 1, tile, tile + 1, 2 * tile + 3, (65_537 / u64::from(gather.words)).max(5)];
        for (turn, count) in counts.into_iter().enumerate() {
            let input = inputs[(index + turn) % inputs.len()];
            cases.push(Case { work: Work::Gather(gather.clone()), count, input });
        }
    }
    cases
}

/// Plans of the default policy for every access width.
pub(super) fn selectable_works() -> [GatherCase; 5] {
    [1, 2, 3, 4, 2051].map(GatherCase::elements)
}

/// Each of [`selectable_works`] in several tiles, aligned and misaligned.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let works = selectable_works().into_iter().flat_map(|gather| {
        let misaligned = GatherCase { misalignment: 4, ..gather.clone() };
        let count_from = CountFrom::Device;
        [GatherCase { count_from, ..gather.clone() }, gather, misaligned]
    });
    let case = |gather: GatherCase| {
        let count = 2 * gather.tile(capabilities) + 3;
        Case { work: Work::Gather(gather), count, input: Input::Uniform }
    };
    works.map(case).collect()
}

/// All cases except the covering ones: elements of every access width, that do and do not divide a tile, and that span
/// several workgroups.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    let counts = [CountFrom::Host, CountFrom::Device, CountFrom::DeviceBeyond];
    for (words, has_small_tiles) in [
        (1, true),
        (2, true),
        (3, true),
        (4, true),
        (12, true),
        (301, true),
        (1028, true),
        (1, false),
        (2, false),
        (3, false),
        (4, false),
        (2051, false),
    ] {
        let plain = GatherCase { has_small_tiles, ..GatherCase::elements(words) };
        let tile = plain.tile(capabilities);
        let mut add = |gather: GatherCase, count, input| {
            cases.push(Case { work: Work::Gather(gather), count, input });
        };
        let mut seams = vec![0, 1, 2, tile, tile + 1, 3 * tile + 7];
        seams.sort_unstable();
        seams.dedup();
        for count in seams {
            add(plain.clone(), count, Input::Uniform);
        }
        for input in [Input::Sorted, Input::Reversed, Input::Constant(0)] {
            add(plain.clone(), 2 * tile + 3, input);
        }
        for misalignment in [0, 4, 8] {
            let strays = GatherCase { has_strays: true, misalignment, ..plain.clone() };
            add(strays, 2 * tile + 11, Input::Uniform);
        }
        for count_from in counts.into_iter().skip(1) {
            let counted = GatherCase { count_from, has_strays: true, ..plain.clone() };
            for count in [0, 1, 2 * tile + 3] {
                add(counted.clone(), count, Input::Uniform);
            }
        }
        if words <= 12 {
            add(plain.clone(), 99_991, Input::Uniform);
        }
        // More than one row of workgroups on most drivers with small tiles.
        add(plain.clone(), (1 << 26) / u64::from(words) + 3, Input::Uniform);
    }
    cases
}

/// The benchmark works: elements of 4, 8 and 16 bytes.
pub(super) fn bench_works() -> Vec<Work> {
    [1, 2, 4].map(|words| Work::Gather(GatherCase::elements(words))).to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{capabilities, expect_unique};
    use super::*;

    #[test]
    fn ids_are_unique() {
        expect_unique(&full_cases(&capabilities()));
    }

    #[test]
    fn strays_are_beyond_the_source_and_others_are_not() {
        for has_strays in [false, true] {
            let gather = GatherCase { has_strays, ..GatherCase::elements(3) };
            let indices = gather.indices(Input::Uniform, 40, 50);
            let stray_count = indices.iter().filter(|&&index| index >= 40).count();
            assert_eq!((indices.len(), stray_count), (50, if has_strays { 8 } else { 0 }));
        }
        assert_eq!(GatherCase::elements(1).indices(Input::Reversed, 3, 3), [2, 1, 0]);
        assert_eq!(GatherCase::elements(1).indices(Input::Uniform, 0, 2), [0, 0]);
    }
}
