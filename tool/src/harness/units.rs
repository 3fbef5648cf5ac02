//! Numbers and units, formatted for tables.

/// Nanoseconds: `12.3 µs`.
pub fn duration(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A rate with the SI prefix of its unit, which the caller appends: `1.50 M`.
pub fn scaled(rate: f64) -> String {
    let (value, prefix) = match rate {
        rate if rate < 1e6 => (rate / 1e3, "k"),
        rate if rate < 1e9 => (rate / 1e6, "M"),
        rate if rate < 1e12 => (rate / 1e9, "G"),
        rate => (rate / 1e12, "T"),
    };
    format!("{} {prefix}", three_digits(value))
}

/// A number with three significant digits; very small and large ones in scientific notation.
pub fn three_digits(value: f64) -> String {
    match value {
        value if value != 0.0 && value.abs() < 0.005 => format!("{value:.2e}"),
        value if value.abs() < 10.0 => format!("{value:.2}"),
        value if value.abs() < 100.0 => format!("{value:.1}"),
        value if value.abs() < 1e6 => format!("{value:.0}"),
        value => format!("{value:.2e}"),
    }
}

/// An interval of a ratio: `0.950 to 1.050`.
pub fn interval([low, high]: [f64; 2]) -> String {
    format!("{low:.3} to {high:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        let durations = [
            (0.0, "0.00 ns"),
            (1.0, "1.00 ns"),
            (12_345.0, "12.3 µs"),
            (999e6, "999 ms"),
            (60e9, "60.0 s"),
            (1e300, "1.00e291 s"),
        ];
        for (ns, text) in durations {
            assert_eq!(duration(ns), text);
        }
        for (rate, text) in [
            (500.0, "0.50 k"),
            (1.5e6, "1.50 M"),
            (98.76e9, "98.8 G"),
            (4.3e12, "4.30 T"),
            (1e-3, "1.00e-6 k"),
        ] {
            assert_eq!(scaled(rate), text);
        }
    }
}
