//! Scan inputs of every type, chosen so that an operator's results distinguish faults.

use super::inputs::{Input, SplitMix64};
use super::keys::words_of;
use crate::reference::packed;
use subsweep::scan::ScanOperator;
use subsweep::{ElementType, NumberKind};

/// The type, operator and columns of a table to scan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    pub element: ElementType,
    pub operator: ScanOperator,
    pub columns: usize,
}

impl Numbers {
    /// Generates `rows` rows as words, deterministic in `seed`.
    pub fn generate(self, input: Input, rows: usize, seed: u64) -> Vec<u32> {
        let count = rows * self.columns;
        if self.element.is_packed() {
            let unpacked = Self { element: self.element.unpacked(), ..self };
            let round = |word| packed::unpacked(self.element, packed::packed(self.element, false, word));
            return unpacked.generate(input, rows, seed).into_iter().map(round).collect();
        }
        match input {
            Input::Distinguishing => {
                self.each(rows, seed, |row, random| self.distinguishing(row, rows, random))
            }
            Input::EdgeValues => self.each(rows, seed, |row, random| self.edge_value(row, rows, random)),
            _ if self.element.is_float() => {
                let values = input.generate(count, seed).into_iter();
                let fraction = |word: u32| f64::from(word as i32) / f64::from(1u32 << 31);
                values.flat_map(|word| words_of(self.element, self.of_float(fraction(word)))).collect()
            }
            _ => input.generate(count * self.element.words() as usize, seed),
        }
    }

    fn each(self, rows: usize, seed: u64, number: impl Fn(usize, &mut SplitMix64) -> u64) -> Vec<u32> {
        let mut random = SplitMix64(seed);
        (0..rows * self.columns)
            .flat_map(|i| words_of(self.element, number(i / self.columns, &mut random)))
            .collect()
    }

    /// The bits of `value` as a float of this type.
    fn of_float(self, value: f64) -> u64 {
        if self.element == ElementType::F32 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.element.bits())
    }

    /// A number for which results keep changing, so that every lost carry shows.
    fn distinguishing(self, row: usize, rows: usize, random: &mut SplitMix64) -> u64 {
        let word = random.next_u64();
        let seldom_a_bit = || {
            let changes = 2 * u64::from(self.element.bits());
            let is_change = word >> 8 & 0xffff_ffff < (changes << 32) / rows.max(1) as u64;
            if is_change { 1 << (word % u64::from(self.element.bits())) } else { 0 }
        };
        match (self.operator, self.element.is_float()) {
            (ScanOperator::And, _) => !seldom_a_bit(),
            (ScanOperator::Or, _) => seldom_a_bit(),
            (ScanOperator::Min, _) => self.nth(!self.rising(row, rows, word) & self.mask()),
            (ScanOperator::Max, _) => self.nth(self.rising(row, rows, word)),
            (ScanOperator::Mul, false) => word | 1,
            // Pairs of a factor and its inverse, so that no product overflows.
            (ScanOperator::Mul, true) => {
                let pair = SplitMix64(row as u64 / 2).next_u64();
                let value = 1.0 + unit(pair);
                let value = if row.is_multiple_of(2) { value } else { 1.0 / value };
                self.of_float(if word & 1 == 0 { value } else { -value })
            }
            (_, true) => self.of_float(2.0 * unit(word) - 1.0),
            (_, false) => word,
        }
    }

    /// Ranks that rise from 0 to the maximum, with occasional falls.
    fn rising(self, row: usize, rows: usize, word: u64) -> u64 {
        let step = self.mask() / rows.max(1) as u64;
        (row as u64 * step).saturating_sub(word % (4 * step.min(u64::MAX / 4)).max(1))
    }

    /// The number of rank `rank` in the type's order. Ranks of floats are clamped to the infinities.
    fn nth(self, rank: u64) -> u64 {
        let sign = 1 << (self.element.bits() - 1);
        match self.element.kind() {
            NumberKind::Unsigned => rank,
            NumberKind::Signed => rank ^ sign,
            NumberKind::Float => {
                let infinity = self.of_float(f64::INFINITY);
                let rank = rank.clamp(!(sign | infinity) & self.mask(), sign | infinity);
                if rank & sign == 0 { !rank & self.mask() } else { rank ^ sign }
            }
        }
    }

    /// A distinguishing number, or an edge value: the least and greatest numbers; for floats also zeros and denormals
    /// of both signs, infinities in the second half, and NaNs in the last quarter: after one all results are NaN.
    fn edge_value(self, row: usize, rows: usize, random: &mut SplitMix64) -> u64 {
        let distinguishing = self.distinguishing(row, rows, random);
        let word = random.next_u64();
        let is_edge_value = word.is_multiple_of(8);
        let pick = |from: &[u64]| from[(word >> 8) as usize % from.len()];
        let sign = 1 << (self.element.bits() - 1);
        if !is_edge_value {
            return distinguishing;
        }
        if !self.element.is_float() {
            return pick(&[0, 1, self.mask(), sign, sign - 1, sign + 1]);
        }
        let infinity = self.of_float(f64::INFINITY);
        let quiet_nan = self.of_float(f64::NAN);
        // Of both signs, and NaNs that differ from infinity in the lowest or in all mantissa bits.
        let nans = [quiet_nan, quiet_nan | sign, infinity + 1, (infinity + 1) | sign, self.mask()];
        let infinities = [infinity, infinity | sign];
        let zeros = [0, sign];
        let least_normal = self.of_float(if self.element == ElementType::F32 {
            f32::MIN_POSITIVE.into()
        } else {
            f64::MIN_POSITIVE
        });
        let small = [0, sign, 1, 1 | sign, least_normal - 1, (least_normal - 1) | sign, least_normal | sign];
        let large = [infinity - 1, (infinity - 1) | sign];
        match (self.operator, 4 * row / rows.max(1)) {
            (ScanOperator::Mul, 0 | 1) => distinguishing,
            (ScanOperator::Mul, 2) => pick(&zeros),
            (_, 3) if word & 0x100_0000_0000 == 0 => pick(&nans),
            (_, 2 | 3) => pick(&infinities),
            (ScanOperator::Min | ScanOperator::Max, 1) => pick(&large),
            (_, _) => pick(&small),
        }
    }
}

/// A random number in 0..1.
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(element: ElementType, operator: ScanOperator, input: Input) -> Vec<u32> {
        Numbers { element, operator, columns: 1 }.generate(input, 4000, 7)
    }

    #[test]
    fn distinguishing_floats_are_finite_and_edge_values_are_of_every_kind() {
        let floats = |operator, input| -> Vec<f32> {
            numbers(ElementType::F32, operator, input).into_iter().map(f32::from_bits).collect()
        };
        for operator in [ScanOperator::Add, ScanOperator::Mul, ScanOperator::Min, ScanOperator::Max] {
            // The least and greatest ranks are the infinities.
            let distinguishing = floats(operator, Input::Distinguishing);
            assert!(distinguishing[10..3990].iter().all(|value| value.is_finite()), "{operator}");
            let edge_values = floats(operator, Input::EdgeValues);
            assert!(edge_values[..2000].iter().all(|value| !value.is_nan()), "{operator}");
            for is in [f32::is_nan, f32::is_infinite, |value: f32| value == 0.0] {
                assert!(edge_values.iter().any(|value| is(*value)), "{operator}");
            }
        }
    }

    #[test]
    fn distinguishing_results_keep_changing() {
        let maxima = numbers(ElementType::U32, ScanOperator::Max, Input::Distinguishing);
        let mut changes = 0;
        let mut max = 0;
        for (i, value) in maxima.into_iter().enumerate() {
            if value > max {
                (max, changes) = (value, changes + 1);
            }
            assert!(changes >= i / 100, "{changes} in {i}");
        }
        let bits = numbers(ElementType::U32, ScanOperator::Or, Input::Distinguishing);
        assert!((40..100).contains(&bits.iter().filter(|&&word| word != 0).count()));
    }
}
