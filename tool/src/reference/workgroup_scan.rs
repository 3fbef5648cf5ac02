//! Lane models of `glsl/workgroup_scan/`: workgroup scans of one element per invocation, by the networks of the
//! textbooks.
//!
//! Each follows the kernel's steps and counts the combinations of elements, the textbooks' *work*.

use super::Element;

/// The result of a network on a workgroup's elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scanned<E> {
    /// The inclusive prefix of each invocation.
    pub sums: Vec<E>,
    /// The number of combinations.
    pub combine_count: u64,
}

impl<E: Element> Scanned<E> {
    fn new(values: &[E]) -> Self {
        Self { sums: values.to_vec(), combine_count: 0 }
    }

    /// Combines `earlier` with the element of invocation `i`.
    fn combine(&mut self, earlier: E, i: usize) {
        self.sums[i] = earlier.combine(self.sums[i]);
        self.combine_count += 1;
    }
}

/// The distances of an upsweep's steps: 1, 2, 4, … below `end`.
fn doubling(end: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |distance| Some(distance * 2)).take_while(move |&distance| distance < end)
}

/// `glsl/workgroup_scan/kogge_stone.glsl`.
pub fn kogge_stone<E: Element>(values: &[E]) -> Scanned<E> {
    let mut scanned = Scanned::new(values);
    for distance in doubling(values.len()) {
        // All invocations read; after the barrier all write.
        let earlier: Vec<E> = (distance..values.len()).map(|i| scanned.sums[i - distance]).collect();
        for (i, earlier) in (distance..).zip(earlier) {
            scanned.combine(earlier, i);
        }
    }
    scanned
}

/// `glsl/workgroup_scan/kogge_stone_double_buffered.glsl`.
pub fn kogge_stone_double_buffered<E: Element>(values: &[E]) -> Scanned<E> {
    let mut buffers = [values.to_vec(), values.to_vec()];
    let mut combine_count = 0;
    for distance in doubling(values.len()) {
        let [from, to] = &mut buffers;
        for i in 0..values.len() {
            to[i] = from[i];
            if i >= distance {
                to[i] = from[i - distance].combine(from[i]);
                combine_count += 1;
            }
        }
        buffers.swap(0, 1);
    }
    let [sums, _] = buffers;
    Scanned { sums, combine_count }
}

/// `glsl/workgroup_scan/brent_kung.glsl`, for a power of two of values.
pub fn brent_kung<E: Element>(values: &[E]) -> Scanned<E> {
    let size = values.len();
    assert!(size.is_power_of_two(), "{size} values are not a power of two");
    let mut scanned = Scanned::new(values);
    let lasts = |distance: usize| (0..size).map(move |i| (i + 1) * 2 * distance - 1);
    for distance in doubling(size) {
        for last in lasts(distance).filter(|&last| last < size) {
            scanned.combine(scanned.sums[last - distance], last);
        }
    }
    for distance in doubling(size / 2).collect::<Vec<_>>().into_iter().rev() {
        for last in lasts(distance).filter(|&last| last + distance < size) {
            scanned.combine(scanned.sums[last], last + distance);
        }
    }
    scanned
}

/// `glsl/workgroup_scan/sklansky.glsl`.
pub fn sklansky<E: Element>(values: &[E]) -> Scanned<E> {
    let mut scanned = Scanned::new(values);
    for block in doubling(values.len()) {
        for i in (0..values.len()).filter(|i| i & block != 0) {
            scanned.combine(scanned.sums[(i & !(block - 1)) - 1], i);
        }
    }
    scanned
}

/// `glsl/workgroup_scan/sequential.glsl`.
pub fn sequential<E: Element>(values: &[E]) -> Scanned<E> {
    let mut scanned = Scanned::new(values);
    for next in 1..values.len() {
        scanned.combine(scanned.sums[next - 1], next);
    }
    scanned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::passes::tests::{Brackets, brackets, prefixes};

    type Network<E> = fn(&[E]) -> Scanned<E>;

    const NETWORKS: [(&str, Network<Brackets>); 5] = [
        ("kogge_stone", kogge_stone),
        ("kogge_stone_double_buffered", kogge_stone_double_buffered),
        ("brent_kung", brent_kung),
        ("sklansky", sklansky),
        ("sequential", sequential),
    ];

    #[test]
    fn every_network_scans_in_order() {
        for (name, network) in NETWORKS {
            for size in [1, 2, 3, 31, 32, 96, 100, 256, 1024] {
                if name == "brent_kung" && !usize::is_power_of_two(size) {
                    continue;
                }
                let values = brackets(size as u32, size);
                assert_eq!(network(&values).sums, prefixes(&values), "{name} of {size}");
            }
        }
    }

    /// PMPP ch. 11, at one element per invocation; Sklansky's count is by his figure.
    #[test]
    fn networks_have_the_work_of_the_textbooks() {
        for bits in 1..=10u64 {
            let size = 1u64 << bits;
            let values = brackets(bits as u32, size as usize);
            let counts = NETWORKS.map(|(_, network)| network(&values).combine_count);
            let kogge_stone = size * bits - (size - 1);
            let expected = [kogge_stone, kogge_stone, 2 * size - bits - 2, size / 2 * bits, size - 1];
            assert_eq!(counts, expected, "{size}");
        }
    }

    /// The incorrect single barrier of the sources: invocations in sequence, each reading an element that its
    /// predecessor may have written.
    #[test]
    fn one_barrier_a_step_counts_elements_twice() {
        let mut sums = vec![1u32; 8];
        for distance in doubling(8) {
            for i in distance..8 {
                sums[i] = sums[i - distance].combine(sums[i]);
            }
        }
        assert_eq!(kogge_stone(&[1u32; 8]).sums, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_ne!(sums, [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
