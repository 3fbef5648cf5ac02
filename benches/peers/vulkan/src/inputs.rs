//! Inputs of the sorts and scans, and their expected results.

/// The measured work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Keys,
    Pairs,
    Scan,
}

impl Work {
    pub const ALL: [Self; 3] = [Self::Keys, Self::Pairs, Self::Scan];

    pub const fn title(self) -> &'static str {
        match self {
            Self::Keys => "sort of u32 keys",
            Self::Pairs => "sort of u32 keys with u32 values",
            Self::Scan => "inclusive sum of u32",
        }
    }

    /// Words per element.
    pub const fn words(self) -> usize {
        match self {
            Self::Keys | Self::Scan => 1,
            Self::Pairs => 2,
        }
    }
}

/// Keys or summands, and the values of pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    pub keys: Vec<u32>,
    pub values: Vec<u32>,
}

/// The input of a work. Sums stay below 2^30, as the look-back kernels of GPUPrefixSums require.
pub fn input(work: Work, count: usize) -> Columns {
    let uniform = subsweep::harness::Input::Uniform.generate(count, count as u64);
    match work {
        Work::Keys => Columns { keys: uniform, values: Vec::new() },
        Work::Pairs => Columns { keys: uniform, values: (0..count as u32).collect() },
        Work::Scan => {
            let bits = if count <= 1 << 26 { 5 } else { 3 };
            Columns {
                keys: uniform.into_iter().map(|word| word >> (32 - bits)).collect(),
                values: Vec::new(),
            }
        }
    }
}

/// The expected result; pairs are sorted stably.
pub fn expected(work: Work, input: &Columns) -> Columns {
    match work {
        Work::Keys | Work::Pairs => {
            // Equal keys are in the order of their indices.
            let indexed =
                input.keys.iter().zip(0_u32..).map(|(&key, index)| u64::from(key) << 32 | u64::from(index));
            let mut order: Vec<_> = indexed.collect();
            order.sort_unstable();
            let in_order = |words: &[u32]| match words {
                [] => Vec::new(),
                words => order.iter().map(|&pair| words[pair as u32 as usize]).collect(),
            };
            Columns { keys: in_order(&input.keys), values: in_order(&input.values) }
        }
        Work::Scan => {
            let mut sum = 0_u32;
            let sums = input.keys.iter().map(|word| {
                sum = sum.wrapping_add(*word);
                sum
            });
            Columns { keys: sums.collect(), values: Vec::new() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_results_of_small_inputs() {
        let columns = |keys: &[u32], values: &[u32]| Columns { keys: keys.into(), values: values.into() };
        let input = columns(&[3, 1, 3, 2], &[0, 1, 2, 3]);
        assert_eq!(expected(Work::Pairs, &input), columns(&[1, 2, 3, 3], &[1, 3, 0, 2]));
        assert_eq!(expected(Work::Scan, &columns(&[3, 1, 3], &[])), columns(&[3, 4, 7], &[]));
    }

    #[test]
    fn sums_leave_room_for_two_bits() {
        let input = input(Work::Scan, 1 << 24);
        assert!(expected(Work::Scan, &input).keys.last().is_some_and(|sum| *sum < 1 << 30));
    }
}
