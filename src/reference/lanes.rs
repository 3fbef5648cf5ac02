//! Lanes, subgroups and the workgroup: subgroup operations, and the twin of `glsl/common/workgroup_scan.glsl`.
//!
//! What an invocation holds in a register is one entry of a slice here, in lane order: entry `subgroup * lanes + lane`.
//! A subgroup operation takes the entries of one subgroup.

use super::Element;

/// The shape of a workgroup. One that is smaller than a subgroup is part of one, in its first lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workgroup {
    /// Invocations.
    pub size: usize,
    /// Lanes of a subgroup.
    pub lanes: usize,
}

impl Workgroup {
    /// `gl_NumSubgroups`.
    pub fn subgroup_count(&self) -> usize {
        self.size.div_ceil(self.lanes)
    }

    /// The invocations that there are in every subgroup.
    pub fn active_lanes(&self) -> usize {
        self.lanes.min(self.size)
    }

    /// What every invocation holds, cut into subgroups.
    pub fn subgroups<'a, T>(&self, invocations: &'a [T]) -> std::slice::Chunks<'a, T> {
        assert_eq!(invocations.len(), self.size, "an entry for each invocation");
        invocations.chunks(self.lanes)
    }

    /// The sum of the totals of all earlier subgroups, for each subgroup; and the sum of all.
    pub fn exclusive_scan<E: Element>(&self, subgroup_totals: &[E]) -> (Vec<E>, E) {
        assert_eq!(subgroup_totals.len(), self.subgroup_count(), "a total for each subgroup");
        let mut prefixes = Vec::with_capacity(subgroup_totals.len());
        let mut carry = E::IDENTITY;
        // The first subgroup takes as many at a time as it has lanes.
        for totals in subgroup_totals.chunks(self.lanes) {
            prefixes.extend(exclusive_scan(totals).into_iter().map(|prefix| carry.combine(prefix)));
            carry = carry.combine(reduce(totals));
        }
        (prefixes, carry)
    }
}

/// `subgroupAdd`, or the like for another operator: the same for all lanes.
pub fn reduce<E: Element>(lanes: &[E]) -> E {
    lanes.iter().fold(E::IDENTITY, |sum, &value| sum.combine(value))
}

/// `subgroupExclusiveAdd`, or the like for another operator.
pub fn exclusive_scan<E: Element>(lanes: &[E]) -> Vec<E> {
    let before = |sum: &mut E, &value: &E| {
        let prefix = *sum;
        *sum = sum.combine(value);
        Some(prefix)
    };
    lanes.iter().scan(E::IDENTITY, before).collect()
}

/// `subgroupBallot(…).x`: bit i says whether lane i, of the first 32, votes yes.
pub fn ballot(lanes: &[bool]) -> u32 {
    lanes.iter().take(32).rev().fold(0, |mask, &vote| mask << 1 | u32::from(vote))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ballot_has_lane_0_in_bit_0() {
        assert_eq!(ballot(&[true, false, true, true]), 0b1101);
        assert_eq!(ballot(&[true; 64]), u32::MAX);
        assert_eq!(ballot(&[]), 0);
    }

    #[test]
    fn the_workgroup_scan_carries_from_one_round_of_subgroups_to_the_next() {
        for lanes in [4, 8, 16, 32, 64, 128] {
            let workgroup = Workgroup { size: 1024, lanes };
            let totals: Vec<u32> = (1..).take(workgroup.subgroup_count()).collect();
            let (prefixes, total) = workgroup.exclusive_scan(&totals);
            for (subgroup, &prefix) in prefixes.iter().enumerate() {
                assert_eq!(
                    prefix,
                    totals[..subgroup].iter().sum::<u32>(),
                    "{lanes} lanes, subgroup {subgroup}"
                );
            }
            assert_eq!(total, totals.iter().sum::<u32>());
        }
    }

    #[test]
    fn a_small_workgroup_is_one_subgroup() {
        let workgroup = Workgroup { size: 32, lanes: 128 };
        assert_eq!((workgroup.subgroup_count(), workgroup.active_lanes()), (1, 32));
        assert_eq!(workgroup.exclusive_scan(&[7u32]), (vec![0], 7));
    }
}
