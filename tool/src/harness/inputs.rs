//! Test inputs, by name.

use std::fmt;

/// A distribution of input words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Input {
    /// Uniformly random words.
    Uniform,
    /// The bitwise and of `ands` + 1 random words: fewer ones, less entropy. Thearling and Smith, "An Improved
    /// Supercomputer Sorting Benchmark", SC 1992.
    Entropy {
        /// 2 gives an entropy of 0.544 per bit, 4 gives 0.201.
        ands: u32,
    },
    /// 0, 1, 2, …
    Sorted,
    /// …, 2, 1, 0.
    Reversed,
    /// Ascending up to the middle, then descending.
    OrganPipe,
    /// One value.
    Constant(u32),
    /// Two values at random.
    TwoValued,
    /// Random words with bits 8 to 15 equal in all: an 8-bit pass over them has one bin.
    ConstantDigit,
    /// Numbers for which a scan's results keep changing with any operator, so that a lost carry shows.
    Distinguishing,
    /// [`Self::Distinguishing`] mixed with the least and greatest numbers; for floats also zeros and denormals of both
    /// signs, and towards the end infinities and NaNs.
    EdgeValues,
}

impl Input {
    /// The inputs that every algorithm is verified on with u32.
    pub const ALL: [Self; 11] = [
        Self::Uniform,
        Self::Entropy { ands: 2 },
        Self::Entropy { ands: 4 },
        Self::Sorted,
        Self::Reversed,
        Self::OrganPipe,
        Self::Constant(0),
        Self::Constant(1),
        Self::Constant(u32::MAX),
        Self::TwoValued,
        Self::ConstantDigit,
    ];

    /// Generates `count` words, deterministic in `seed`. Inputs that depend on type and operator are made for the
    /// sum of u32.
    pub fn generate(self, count: usize, seed: u64) -> Vec<u32> {
        let mut random = SplitMix64(seed);
        let last = (count as u32).wrapping_sub(1);
        (0..count as u32)
            .map(|i| match self {
                Self::Uniform | Self::Distinguishing | Self::EdgeValues => random.next_u32(),
                Self::Entropy { ands } => {
                    (0..ands).fold(random.next_u32(), |word, _| word & random.next_u32())
                }
                Self::Sorted => i,
                Self::Reversed => last - i,
                Self::OrganPipe => i.min(last - i),
                Self::Constant(value) => value,
                Self::TwoValued => [3, 0x8000_0001][(random.next_u32() & 1) as usize],
                Self::ConstantDigit => random.next_u32() & !0xff00 | 0x5a00,
            })
            .collect()
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => write!(f, "uniform"),
            Self::Entropy { ands: 2 } => write!(f, "entropy-0.544"),
            Self::Entropy { ands: 4 } => write!(f, "entropy-0.201"),
            Self::Entropy { ands } => write!(f, "ands-{ands}"),
            Self::Sorted => write!(f, "sorted"),
            Self::Reversed => write!(f, "reversed"),
            Self::OrganPipe => write!(f, "organ-pipe"),
            Self::Constant(value) => write!(f, "constant-{value:#x}"),
            Self::TwoValued => write!(f, "two-valued"),
            Self::ConstantDigit => write!(f, "constant-digit"),
            Self::Distinguishing => write!(f, "distinguishing"),
            Self::EdgeValues => write!(f, "edge-values"),
        }
    }
}

/// A random number generator. Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
pub(super) struct SplitMix64(pub u64);

impl SplitMix64 {
    fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Whether a run or a segment begins at each of `rows` rows, asked in their order: many short ones, a long one, and a few more.
pub(super) fn begins(rows: usize) -> impl FnMut(&usize) -> bool {
    let mut random = SplitMix64(rows as u64);
    move |row| {
        let word = random.next_u64();
        match 4 * row / rows {
            0 => word.is_multiple_of(3),
            1 | 2 => false,
            _ => word.is_multiple_of(100),
        }
    }
}

#[cfg(test)]
mod tests {
    use subsweep::kernels::hash::fnv1a;

    use super::*;

    #[test]
    fn entropy_is_what_its_name_says() {
        for (input, expected) in [
            (Input::Uniform, 1.000),
            (Input::Entropy { ands: 2 }, 0.544),
            (Input::Entropy { ands: 4 }, 0.201),
        ] {
            let words = input.generate(100_000, 1);
            let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
            let p = f64::from(ones) / (32.0 * words.len() as f64);
            let entropy = -p * p.log2() - (1.0 - p) * (1.0 - p).log2();
            assert!((entropy - expected).abs() < 0.005, "{input}: {entropy}");
        }
    }

    #[test]
    fn every_input_takes_every_length() {
        for input in Input::ALL {
            for count in [0, 1, 2, 7] {
                assert_eq!(input.generate(count, 3).len(), count);
            }
        }
    }

    #[test]
    fn shapes_are_what_their_names_say() {
        assert_eq!(Input::OrganPipe.generate(5, 0), [0, 1, 2, 1, 0]);
        assert_eq!(Input::Reversed.generate(3, 0), [2, 1, 0]);
    }

    /// benches/peers/cub generates the same words in C++, and checks the same hash.
    #[test]
    fn uniform_words_are_stable() {
        let bytes = Input::Uniform.generate(1000, 1000).into_iter().flat_map(u32::to_le_bytes);
        assert_eq!(fnv1a(bytes), 0xebe5_6d99_00bf_609f);
    }
}
