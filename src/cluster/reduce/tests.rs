use super::*;

/// Bytes of `count` numbers.
fn bytes<N: Pod>(count: usize, number: impl Fn(u64) -> N) -> Vec<u8> {
    let numbers = (0..count as u64).map(|i| number(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    numbers.flat_map(|number| bytemuck::bytes_of(&number).to_vec()).collect()
}

/// Checks an operator, by its identity and how it combines two numbers.
fn check<N: Pod>(
    operator: ScanOperator,
    element: ElementType,
    (identity, combine): (N, fn(N, N) -> N),
    number: impl Fn(u64) -> N,
) {
    for (columns, rows) in [(1, 0), (1, 1), (1, 100_000), (3, 70_001), (16, 5_000)] {
        let bytes = bytes(columns * rows, &number);
        let numbers: Vec<N> = bytemuck::pod_collect_to_vec(&bytes);
        for initial in [None, Some(number(77))] {
            let mut expected = vec![initial.unwrap_or(identity); columns];
            for row in numbers.chunks(columns) {
                let totals = expected.iter_mut().zip(row);
                totals.for_each(|(total, number)| *total = combine(*total, *number));
            }
            let initial: Option<Vec<u32>> =
                initial.map(|value| bytemuck::pod_collect_to_vec(&vec![value; columns]));
            let rows = Rows { reader: &bytes[..], columns, initial: initial.as_deref() };
            let reduced = rows.reduced(operator, element).unwrap();
            let expected: Vec<u32> = bytemuck::pod_collect_to_vec(&expected);
            assert_eq!(reduced, expected, "{operator} of {element} in {columns} columns");
        }
    }
}

macro_rules! check_whole {
    ($($number:ident $element:ident $of:expr),+) => {$(
        for (operator, of) in [
            (ScanOperator::Add, (0, $number::wrapping_add as fn($number, $number) -> $number)),
            (ScanOperator::Mul, (1, $number::wrapping_mul)),
            (ScanOperator::Min, ($number::MAX, Ord::min)),
            (ScanOperator::Max, ($number::MIN, Ord::max)),
            (ScanOperator::And, (!0, |a, b| a & b)),
            (ScanOperator::Or, (0, |a, b| a | b)),
            (ScanOperator::Xor, (0, |a, b| a ^ b)),
        ] {
            check::<$number>(operator, ElementType::$element, of, $of);
        }
    )+};
}

/// Minima and maxima in the order of `total_cmp`, where a NaN is the result of any: a quiet one, whose other bits are set.
macro_rules! check_extremes {
    ($($number:ident $bits:ident $element:ident $of:expr),+) => {$(
        let min: fn($number, $number) -> $number = |a, b| match a.is_nan() || b.is_nan() {
            true => $number::from_bits($bits::MAX),
            false => if b.total_cmp(&a).is_lt() { b } else { a },
        };
        let max: fn($number, $number) -> $number = |a, b| match a.is_nan() || b.is_nan() {
            true => $number::from_bits($bits::MAX >> 1),
            false => if b.total_cmp(&a).is_gt() { b } else { a },
        };
        check(ScanOperator::Min, ElementType::$element, ($number::INFINITY, min), $of);
        check(ScanOperator::Max, ElementType::$element, ($number::NEG_INFINITY, max), $of);
    )+};
}

#[test]
fn totals_are_those_of_the_operators() {
    check_whole!(u32 U32 |i| (i >> 32) as u32, i32 I32 |i| (i >> 32) as i32, u64 U64 |i| i, i64 I64 |i| i as i64);
    // Zeros and NaNs of either sign, too.
    check_extremes!(
        f32 u32 F32 |i| (i >> 40) as f32 - 5e6,
        f64 u64 F64 |i| (i >> 20) as f64 - 5e12,
        f32 u32 F32 |i| if i >> 63 == 0 { 0.0 } else { -0.0 },
        f32 u32 F32 |i| if i >> 50 == 7 { -f32::NAN } else { (i >> 40) as f32 }
    );
    // Whole numbers whose sums are exact.
    let (f32_sum, f64_sum) =
        ((0.0, (|a, b| a + b) as fn(f32, f32) -> f32), (0.0, (|a, b| a + b) as fn(f64, f64) -> f64));
    check(ScanOperator::Add, ElementType::F32, f32_sum, |i| (i >> 62) as f32 - 1.0);
    check(ScanOperator::Add, ElementType::F64, f64_sum, |i| (i >> 32) as f64);
}

#[test]
fn sums_of_floats_are_rounded_once() {
    // In f32 one after the other, 16,777,217 ones end at 16,777,216.
    let bytes = bytes(20_000_000, |_| 1f32);
    let rows = Rows { reader: &bytes[..], columns: 1, initial: None };
    let total = rows.reduced(ScanOperator::Add, ElementType::F32).unwrap();
    assert_eq!(f32::from_bits(total[0]), 20_000_000.0);
    let rows = Rows { reader: &bytes[..7], columns: 1, initial: None };
    let error = rows.reduced(ScanOperator::Add, ElementType::F32).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
}
