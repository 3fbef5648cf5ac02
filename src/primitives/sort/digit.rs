//! Digits of the passes.

use super::config::SortConfig;

/// Digit of a pass: the bits of `mask`, shifted left by `shift`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digit {
    pub(super) shift: u32,
    pub(super) mask: u32,
}

impl Digit {
    /// The digit of pass `pass`. Bits are divided evenly among passes; the first passes take one more bit if there is a
    /// remainder. The single pass of an argsort without bits has none. `digit_of_pass` of
    /// `glsl/sort/digit_histogram.comp` does the same.
    pub(super) fn nth(config: &SortConfig, pass_count: u32, pass: u32) -> Self {
        let (least, wider) = (config.bit_count() / pass_count, config.bit_count() % pass_count);
        let width = least + u32::from(pass < wider);
        // A shift beyond the last bit would be undefined.
        let shift = if width == 0 { 0 } else { config.begin_bit + pass * least + pass.min(wider) };
        Self { shift, mask: (1 << width) - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ElementType;

    #[test]
    fn passes_cover_every_bit_range_in_order() {
        for radix_bits in [2, 4, 8] {
            for begin in 0..=64 {
                for end in begin..=64 {
                    let config = SortConfig::keys(ElementType::U64).bits(begin..end);
                    let count = config.pass_count(radix_bits);
                    let mut next = begin;
                    for pass in 0..count {
                        let Digit { shift, mask } = Digit::nth(&config, count, pass);
                        let width = mask.count_ones();
                        assert!(shift < 64 && width <= radix_bits, "{begin}..{end}: {shift}, {mask:#x}");
                        assert_eq!(shift, next, "{begin}..{end}: {mask:#x}");
                        next += width;
                    }
                    assert!(count == 0 || next == end);
                }
            }
        }
    }
}
