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
mod tests;
