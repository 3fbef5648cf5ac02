//! Expected results of scans, with error bounds for floats.

use std::ops::Range;

use super::arithmetic::Arithmetic;
use super::keys::{by_type, words_of};
use super::layout::POISON;
use super::workload::Mismatch;
use crate::reference::passes::scan::fixed_tree_scan;
use crate::reference::{oracle, packed};
use subsweep::ElementType;
use subsweep::scan::{ScanKind, ScanOperator};

/// An expected result, and how exactly it must match.
pub(super) struct Expected {
    words: Vec<u32>,
    closeness: Closeness,
    /// Of packed elements: their form, and what memory holds. `words` are the numbers that these are.
    memory: Option<(PackedForm, Vec<u32>)>,
}

enum Closeness {
    /// Bitwise.
    Bits,
    /// Bitwise, but any NaN matches any NaN.
    AnyNan(ElementType),
    /// Floats within a tolerance each.
    Within(ElementType, Vec<Bound>),
    /// Bitwise the words, or these: the results of a device that flushes denormals to 0. Any NaN matches any NaN.
    OrFlushed(ElementType, Vec<u32>),
}

/// A value and its tolerance.
#[derive(Clone, Copy)]
struct Bound {
    value: f64,
    tolerance: f64,
}

/// A forward scan of all rows, without segments or initial value.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlainScan {
    pub kind: ScanKind,
    pub element: ElementType,
    pub operator: ScanOperator,
    pub columns: usize,
    /// `ScanPlan::rounding_depth` for this count.
    pub rounding_depth: u64,
    /// Rows of an invocation, where the order of operations is the same on every device.
    pub tree_items: Option<usize>,
}

/// A scan to compute on the CPU.
#[derive(Debug, Clone)]
pub(super) struct ScanExpectation {
    pub scan: PlainScan,
    /// From the last row to the first.
    pub is_reverse: bool,
    /// Head rows of the segments, except the first; ascending.
    pub heads: Vec<usize>,
    /// The initial value of every segment.
    pub initial: Option<Vec<u32>>,
}

impl Expected {
    /// Exactly these words.
    pub fn exact(words: Vec<u32>) -> Self {
        Self { words, closeness: Closeness::Bits, memory: None }
    }

    /// The same numbers, packed as elements of this form, if there is one.
    pub fn packed(mut self, form: Option<PackedForm>) -> Self {
        let Some(form) = form else { return self };
        let memory = form.packed(&self.words);
        let rounded = |words: &[u32]| form.unpacked(&form.packed(words), words.len());
        self.words = rounded(&self.words);
        if let Closeness::OrFlushed(_, flushed) = &mut self.closeness {
            *flushed = rounded(flushed);
        }
        self.memory = Some((form, memory));
        self
    }

    /// These words, or where a device flushes denormals each number of `flushed`. Any NaN matches any NaN.
    pub fn either(element: ElementType, words: Vec<u32>, flushed: Option<Vec<u32>>) -> Self {
        let closeness = match flushed {
            Some(flushed) => Closeness::OrFlushed(element, flushed),
            None if element.is_float() => Closeness::AnyNan(element),
            None => Closeness::Bits,
        };
        Self { words, closeness, memory: None }
    }

    /// Whether the result must be these words, bit by bit.
    pub fn is_exact(&self) -> bool {
        matches!(self.closeness, Closeness::Bits)
    }

    /// The expected words of memory, within their bounds.
    pub fn words(&self) -> &[u32] {
        self.memory.as_ref().map_or(&self.words, |(_, memory)| memory)
    }

    /// Words of the result in memory.
    pub fn word_count(&self) -> usize {
        self.words().len()
    }

    /// The expected result of a second run, if the first had a tolerance: bitwise equal, but any NaN matches any NaN,
    /// since operand order decides which NaN propagates.
    pub fn of_another_run(&self, result: &[u32]) -> Option<Self> {
        match self.closeness {
            Closeness::Within(element, _) => {
                let (words, memory) = match self.memory {
                    Some((form, _)) => {
                        (form.unpacked(result, self.words.len()), Some((form, result.to_vec())))
                    }
                    None => (result.to_vec(), None),
                };
                Some(Self { words, closeness: Closeness::AnyNan(element), memory })
            }
            Closeness::Bits | Closeness::AnyNan(_) | Closeness::OrFlushed(..) => None,
        }
    }

    /// The first word of `got` that is wrong.
    pub fn mismatch(&self, got: &[u32]) -> Option<Mismatch> {
        let Some((form, memory)) = &self.memory else { return self.mismatch_of_words(got) };
        let mismatch = self.mismatch_of_words(&form.unpacked(got, self.words.len()));
        mismatch.or_else(|| {
            let index = form.first_difference_around(self.words.len(), memory, got)?;
            let (expected, got) = (memory[index], got[index]);
            Some(Mismatch { what: "result around its elements", index: index as u64, expected, got })
        })
    }

    fn mismatch_of_words(&self, got: &[u32]) -> Option<Mismatch> {
        let wrong = |index: &usize| match &self.closeness {
            Closeness::Bits => got[*index] != self.words[*index],
            Closeness::AnyNan(element) => {
                let first = index - index % element.words() as usize;
                let both_nan =
                    float(*element, &got[first..]).is_nan() && float(*element, &self.words[first..]).is_nan();
                got[*index] != self.words[*index] && !both_nan
            }
            Closeness::OrFlushed(element, flushed) => {
                let words = element.words() as usize;
                let first = index - index % words;
                let both_nan =
                    float(*element, &got[first..]).is_nan() && float(*element, &self.words[first..]).is_nan();
                let number = first..first + words;
                let differs = |words: &[u32]| got[number.clone()] != words[number.clone()];
                !both_nan && differs(&self.words) && differs(flushed)
            }
            Closeness::Within(element, bounds) => {
                let words = element.words() as usize;
                let (bound, got) = (bounds[index / words], float(*element, &got[index - index % words..]));
                match &self.memory {
                    Some((form, _)) => !bound.holds_rounded(form.element, got),
                    None => !bound.holds(got),
                }
            }
        };
        let index = (0..self.words.len()).find(wrong)?;
        let (expected, got) = (self.words[index], got[index]);
        Some(Mismatch { what: "result", index: index as u64, expected, got })
    }
}

impl Bound {
    fn holds(self, got: f64) -> bool {
        if self.value.is_finite() {
            (got - self.value).abs() <= self.tolerance
        } else {
            got == self.value || (got.is_nan() && self.value.is_nan())
        }
    }

    /// Likewise, of a result that was rounded to a packed type.
    fn holds_rounded(self, element: ElementType, got: f64) -> bool {
        if !self.value.is_finite() {
            return self.holds(got);
        }
        let rounded = |value: f64| {
            let bits = packed::packed(element, false, (value as f32).to_bits());
            f64::from(f32::from_bits(packed::unpacked(element, bits)))
        };
        rounded(self.value - self.tolerance) <= got && got <= rounded(self.value + self.tolerance)
    }
}

/// How results are packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackedForm {
    element: ElementType,
    saturates: bool,
    /// Bytes of the first word before the first element.
    offset: usize,
}

impl PackedForm {
    /// Elements by value; `None` unless they are packed.
    pub fn new(element: ElementType) -> Option<Self> {
        element.is_packed().then_some(Self { element, saturates: false, offset: 0 })
    }

    /// Results of an operator: an identity beyond the type is its least or greatest number.
    pub fn by(element: ElementType, operator: ScanOperator) -> Option<Self> {
        let saturates = matches!(operator, ScanOperator::Min | ScanOperator::Max);
        Self::new(element).map(|form| Self { saturates, ..form })
    }

    /// The same elements, so many bytes beyond a multiple of 4.
    pub fn misaligned(self, bytes: u32) -> Self {
        Self { offset: bytes as usize % 4, ..self }
    }

    /// Bytes of the first word before the first element.
    pub fn offset(self) -> u64 {
        self.offset as u64
    }

    /// Elements of the first word before the elements of the array.
    fn before(self) -> usize {
        self.offset / self.element.size()
    }

    /// The words of memory, with poison around the elements.
    pub fn packed(self, words: &[u32]) -> Vec<u32> {
        let before = packed::unpacked_memory(self.element, &[POISON], self.before());
        packed::packed_memory(self.element, self.saturates, &[&before, words].concat(), POISON)
    }

    fn unpacked(self, memory: &[u32], count: usize) -> Vec<u32> {
        packed::unpacked_memory(self.element, memory, self.before() + count).split_off(self.before())
    }

    /// The first word in which bytes around `count` elements differ.
    fn first_difference_around(self, count: usize, memory: &[u32], others: &[u32]) -> Option<usize> {
        let elements = self.offset..self.offset + count * self.element.size();
        let [bytes, others]: [&[u8]; 2] = [memory, others].map(bytemuck::cast_slice);
        let differs = |byte: &usize| !elements.contains(byte) && bytes[*byte] != others[*byte];
        Some((0..bytes.len()).find(differs)? / 4)
    }
}

/// The float at the start of `words`.
fn float(element: ElementType, words: &[u32]) -> f64 {
    match element {
        ElementType::F32 | ElementType::F16 | ElementType::Bf16 => f32::from_bits(words[0]).into(),
        _ => f64::from_bits(u64::from(words[0]) | u64::from(words[1]) << 32),
    }
}

impl ScanExpectation {
    /// Scans `input`, given as words: each segment separately, with an initial value as an additional row before it.
    pub fn scan_words(&self, input: &[u32]) -> Expected {
        let PlainScan { kind, columns, element, .. } = self.scan;
        if !self.is_reverse && self.heads.is_empty() && self.initial.is_none() {
            return self.scan.scan_words(input);
        }
        let row_words = columns * element.words() as usize;
        let rows = input.len() / row_words;
        let row = |row: usize| &input[row * row_words..][..row_words];
        let (mut words, mut bounds) = (Vec::new(), Vec::new());
        let begins = [0].iter().chain(&self.heads);
        let ends = self.heads.iter().chain(std::iter::once(&rows));
        for (&begin, &end) in begins.zip(ends) {
            let mut segment: Vec<_> = (begin..end).map(row).collect();
            if self.is_reverse {
                segment.reverse();
            }
            let (scan, first) = match &self.initial {
                None => (self.scan, 0),
                Some(initial) => {
                    segment.insert(0, initial);
                    let scan = PlainScan { kind: ScanKind::Inclusive, ..self.scan };
                    (scan, usize::from(kind == ScanKind::Inclusive))
                }
            };
            let results = scan.scan_words(&segment.concat());
            let kept = first..first + end - begin;
            words.extend(rows_of(&results.words, row_words, kept.clone(), self.is_reverse));
            if let Closeness::Within(_, of_segment) = &results.closeness {
                bounds.extend(rows_of(of_segment, columns, kept, self.is_reverse));
            }
        }
        match self.scan.rounds() {
            true => Expected { words, closeness: Closeness::Within(element, bounds), memory: None },
            false => Expected::either(element, words, None),
        }
    }
}

/// Some rows of `row_size` items, the last first if `is_reverse`.
fn rows_of<T: Clone>(items: &[T], row_size: usize, rows: Range<usize>, is_reverse: bool) -> Vec<T> {
    let mut rows: Vec<_> = items.chunks(row_size).skip(rows.start).take(rows.len()).collect();
    if is_reverse {
        rows.reverse();
    }
    rows.concat()
}

impl PlainScan {
    /// Whether results depend on the order of operations.
    fn rounds(&self) -> bool {
        self.element.is_float() && matches!(self.operator, ScanOperator::Add | ScanOperator::Mul)
    }

    /// Scans `input`, given as words.
    fn scan_words(&self, input: &[u32]) -> Expected {
        match self.tree_items {
            Some(items) => by_type!(self.element, scanned_in_order(self, items, input)),
            None if self.rounds() => self.rounded(input),
            None => Expected::either(self.element, by_type!(self.element, scanned(self, input)), None),
        }
    }

    /// Sums and products of floats, computed in double-double precision, with the documented error bound as tolerance.
    fn rounded(&self, input: &[u32]) -> Expected {
        let is_sum = self.operator == ScanOperator::Add;
        let (unit, least_normal) = match self.element {
            ElementType::F64 => (2f64.powi(-53), f64::MIN_POSITIVE),
            _ => (2f64.powi(-24), f64::from(f32::MIN_POSITIVE)),
        };
        let mut totals = vec![if is_sum { Total::ZERO } else { Total::ONE }; self.columns];
        let mut bounds = Vec::new();
        for (i, words) in input.chunks_exact(self.element.words() as usize).enumerate() {
            let total = &mut totals[i % self.columns];
            let before = *total;
            let value = float(self.element, words);
            if is_sum {
                total.add(value)
            } else {
                total.multiply(value)
            };
            let Total { value, magnitude, .. } = match self.kind {
                ScanKind::Inclusive => *total,
                ScanKind::Exclusive => before,
            };
            // A device may flush denormals to 0, in elements and partial results.
            let row = (i / self.columns) as u64;
            let (roundings, flushed) = if is_sum {
                (self.rounding_depth, 2.0 * (row + 1 + self.rounding_depth) as f64 * least_normal)
            } else {
                (row + 1, 0.0)
            };
            bounds.push(Bound { value, tolerance: 1.01 * roundings as f64 * unit * magnitude + flushed });
        }
        let bits = |bound: &Bound| match self.element.words() {
            1 => (bound.value as f32).to_bits().into(),
            _ => bound.value.to_bits(),
        };
        let words = bounds.iter().flat_map(|bound| words_of(self.element, bits(bound))).collect();
        Expected { words, closeness: Closeness::Within(self.element, bounds), memory: None }
    }
}

fn scanned<N: Arithmetic>(scan: &PlainScan, input: &[u32]) -> Vec<u32> {
    let (identity, combine) = N::operation(scan.operator);
    let values: Vec<N> = bytemuck::pod_collect_to_vec(input);
    let results = match scan.kind {
        ScanKind::Inclusive => oracle::inclusive_scan_by(&values, scan.columns, combine),
        ScanKind::Exclusive => oracle::exclusive_scan_by(&values, scan.columns, identity, combine),
    };
    bytemuck::pod_collect_to_vec(&results)
}

/// Sums or products in the order of operations of every device, with and without denormals.
fn scanned_in_order<N: Arithmetic>(scan: &PlainScan, items: usize, input: &[u32]) -> Expected {
    let (identity, combine) = N::operation(scan.operator);
    let values: Vec<N> = bytemuck::pod_collect_to_vec(input);
    let exclusive = scan.kind == ScanKind::Exclusive;
    let kept = fixed_tree_scan(&values, items, exclusive, identity, &combine);
    let values: Vec<_> = values.into_iter().map(N::flushed).collect();
    let flushed = fixed_tree_scan(&values, items, exclusive, identity, &|a, b| combine(a, b).flushed());
    let [kept, flushed] = [kept, flushed].map(|results| bytemuck::pod_collect_to_vec(&results));
    Expected::either(scan.element, kept, Some(flushed))
}

/// A running sum or product in double-double precision. Dekker, "A Floating-Point Technique for Extending the Available
/// Precision", Numerische Mathematik, 1971.
#[derive(Clone, Copy)]
struct Total {
    value: f64,
    lost: f64,
    /// The sum of the magnitudes, or the magnitude of the product.
    magnitude: f64,
}

impl Total {
    const ZERO: Self = Self { value: 0.0, lost: 0.0, magnitude: 0.0 };
    const ONE: Self = Self { value: 1.0, lost: 0.0, magnitude: 1.0 };

    fn add(&mut self, value: f64) {
        let sum = self.value + value;
        let part = sum - self.value;
        self.lost += (self.value - (sum - part)) + (value - part);
        self.magnitude += value.abs();
        self.settle(sum);
    }

    fn multiply(&mut self, value: f64) {
        let product = self.value * value;
        self.lost = self.lost * value + self.value.mul_add(value, -product);
        self.settle(product);
        self.magnitude = self.value.abs();
    }

    fn settle(&mut self, value: f64) {
        let settled = value + self.lost;
        // An infinite value has no rounding error.
        (self.value, self.lost) =
            if settled.is_finite() { (settled, self.lost - (settled - value)) } else { (value, 0.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use subsweep::Number;

    fn expected<N: Number>(operator: ScanOperator, values: &[N]) -> Expected {
        let scan = PlainScan {
            kind: ScanKind::Inclusive,
            element: N::TYPE,
            operator,
            columns: 1,
            rounding_depth: 4,
            tree_items: None,
        };
        scan.scan_words(bytemuck::cast_slice(values))
    }

    fn is_right<N: Number>(operator: ScanOperator, values: &[N], results: &[N]) -> bool {
        expected(operator, values).mismatch(bytemuck::cast_slice(results)).is_none()
    }

    #[test]
    fn bytes_around_packed_results_stay() {
        let form = PackedForm::new(ElementType::U8).map(|form| form.misaligned(5));
        let expected = Expected::exact(vec![1, 2, 3, 4]).packed(form);
        // A byte of poison before them, and three after.
        assert_eq!(expected.words(), [0x0302_01ef, 0xdead_be04]);
        let wrong =
            |words: [u32; 2]| expected.mismatch(&words).map(|mismatch| (mismatch.what, mismatch.index));
        assert_eq!(wrong([0x0302_01ef, 0xdead_be04]), None);
        assert_eq!(wrong([0x0302_0100, 0xdead_be04]), Some(("result around its elements", 0)));
        assert_eq!(wrong([0x0302_01ef, 0x00ad_be04]), Some(("result around its elements", 1)));
        assert_eq!(wrong([0x0302_01ef, 0xdead_be05]), Some(("result", 3)));
    }

    #[test]
    fn minima_and_maxima_order_zeros_and_accept_any_nan() {
        let values = [1.0, 0.0, -0.0, f32::NAN, -1.0];
        let nan = -f32::NAN;
        assert!(is_right(ScanOperator::Min, &values, &[1.0, 0.0, -0.0, nan, f32::NAN]));
        assert!(!is_right(ScanOperator::Min, &values, &[1.0, 0.0, 0.0, nan, nan]));
        assert!(!is_right(ScanOperator::Min, &values, &[1.0, 0.0, -0.0, nan, -1.0]));
        assert!(is_right(ScanOperator::Max, &[-0.0, 0.0, 2.0], &[-0.0, 0.0, 2.0]));
        assert!(!is_right(ScanOperator::Max, &[-0.0, 0.0, 2.0], &[-0.0, -0.0, 2.0]));
    }

    #[test]
    fn sums_may_miss_by_their_bound_and_no_more() {
        let values = [1.0, 2f32.powi(-24), -1.0, f32::INFINITY, f32::NEG_INFINITY];
        // Left to right the second element is rounded away, right to left it is not.
        for third in [0.0, 2f32.powi(-24)] {
            assert!(is_right(ScanOperator::Add, &values, &[1.0, 1.0, third, f32::INFINITY, f32::NAN]));
        }
        for wrong in [1e-3, f32::NAN, f32::INFINITY] {
            assert!(!is_right(ScanOperator::Add, &values, &[1.0, 1.0, wrong, f32::INFINITY, f32::NAN]));
        }
        assert!(!is_right(ScanOperator::Add, &values, &[1.0, 1.0, 0.0, f32::NAN, f32::NAN]));
        let (third, tiny) = (1.0 / 3.0, f64::MIN_POSITIVE / 4.0);
        assert!(is_right(ScanOperator::Add, &[tiny, tiny], &[0.0, 2.0 * tiny]));
        assert!(is_right(ScanOperator::Mul, &[3.0, third, third], &[3.0, 1.0, third]));
        assert!(!is_right(ScanOperator::Mul, &[3.0, third, third], &[3.0, 1.0, 0.333333333]));
    }

    #[test]
    fn another_run_may_give_another_nan_and_nothing_else() {
        let of = |closeness, words: Vec<u32>| Expected { words, closeness, memory: None };
        let sums = of(Closeness::Within(ElementType::F32, Vec::new()), Vec::new());
        let again = sums.of_another_run(&[1.0f32.to_bits(), 0x7fc0_0000]).expect("it may be missed");
        assert!(again.mismatch(&[1.0f32.to_bits(), u32::MAX]).is_none());
        assert!(again.mismatch(&[1.0f32.to_bits() + 1, 0x7fc0_0000]).is_some());
        assert!(again.mismatch(&[f32::NAN.to_bits(), 0x7fc0_0000]).is_some());
        assert!(of(Closeness::Bits, vec![1]).of_another_run(&[1]).is_none());
    }
}
