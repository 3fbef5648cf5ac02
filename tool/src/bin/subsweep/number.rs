//! Numbers on the command line.

use subsweep::{Bf16, ElementType, F16, NumberKind};
use subsweep_tool::table;

/// Parses `text` as a number of type `element`, into bytes in memory order.
pub fn parse(text: &str, element: ElementType) -> Result<Vec<u8>, String> {
    let refuse = |what: &str| format!("'{}' is no {element}; it is {what}", shown(text));
    let whole = || {
        let (least, greatest) = range(element);
        text.parse::<i128>()
            .ok()
            .filter(|value| (least..=greatest).contains(value))
            .ok_or_else(|| refuse(&format!("a whole number from {least} to {greatest}")))
    };
    let real = || text.parse::<f64>().map_err(|_| refuse("a number, such as 1.5, -2e3 or inf"));
    let bits = match (element, element.kind()) {
        // By way of f64, as numpy converts a number of Python.
        (ElementType::F16, _) => F16::from_f64(real()?).0.into(),
        (ElementType::Bf16, _) => Bf16::from_f64(real()?).0.into(),
        (ElementType::F32, _) => (real()? as f32).to_bits().into(),
        (_, NumberKind::Float) => real()?.to_bits(),
        (_, NumberKind::Unsigned | NumberKind::Signed) => whole()? as u64,
    };
    let bytes = bits.to_le_bytes()[..element.size()].to_vec();
    let names_no_number = text.trim_start_matches(['+', '-']).starts_with(['i', 'I', 'n', 'N']);
    match names_no_number || table::real(&bytes, element).is_finite() {
        true => Ok(bytes),
        false => Err(refuse(&format!("inf, -inf or a number between -{0} and {0}", greatest(element)))),
    }
}

/// The greatest finite number of a type of floats, or a little less.
fn greatest(element: ElementType) -> &'static str {
    match element {
        ElementType::F16 => "65504",
        ElementType::Bf16 => "3.3895e38",
        ElementType::F32 => "3.4028235e38",
        _ => "1.7976931348623157e308",
    }
}

/// The least and the greatest number of an integer type.
pub fn range(element: ElementType) -> (i128, i128) {
    let half = 1 << (element.bits() - 1);
    match element.kind() {
        NumberKind::Signed => (-half, half - 1),
        _ => (0, 2 * half - 1),
    }
}

/// A number as numpy prints it: the fewest digits that give it back. A bfloat16 is printed as `ml_dtypes` prints it: six digits at most.
pub fn text(bytes: &[u8], element: ElementType) -> String {
    let value = table::real(bytes, element);
    let rounded = |value: f64, digits: usize| format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
    match element {
        ElementType::F16 => {
            let gives_it = |shorter: &f64| f64::from(F16::from_f64(*shorter).to_f32()) == value;
            // Of a power of two a number between two of fewer digits may be given back by the greater alone.
            let above = value * (1.0 + f64::EPSILON);
            let mut shorter = (1..=5).flat_map(|digits| [rounded(value, digits), rounded(above, digits)]);
            let shortest = shorter.find(gives_it).unwrap_or(value);
            float_text(value, 1e3, ".0", shortest.to_string(), format!("{shortest:e}"))
        }
        ElementType::Bf16 => {
            let short: f64 = rounded(value, 6);
            float_text(short, 1e6, "", short.to_string(), format!("{short:e}"))
        }
        ElementType::F32 => {
            let value = value as f32;
            float_text(value.into(), 1e6, ".0", value.to_string(), format!("{value:e}"))
        }
        ElementType::F64 => float_text(value, 1e16, ".0", value.to_string(), format!("{value:e}")),
        _ => table::whole(bytes, element).to_string(),
    }
}

/// One of the two forms of a float in the spelling of numpy 2.4, which is scientific from `large` on, and has `point` after a
/// whole number.
fn float_text(value: f64, large: f64, point: &str, positional: String, scientific: String) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return positional;
    }
    if value == 0.0 || (1e-4..large).contains(&value.abs()) {
        return if positional.contains('.') { positional } else { positional + point };
    }
    let (digits, exponent) = scientific.split_once('e').expect("the form has an exponent");
    let exponent: i32 = exponent.parse().expect("it is a whole number");
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// Text escaped to one line and cut to 40 characters.
fn shown(text: &str) -> String {
    const LENGTH: usize = 40;
    let short: String = text.chars().take(LENGTH).flat_map(char::escape_debug).collect();
    if text.chars().nth(LENGTH).is_some() { short + "…" } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_numpy_prints_them() {
        let f32 = |value: f32| text(&value.to_le_bytes(), ElementType::F32);
        let f64 = |value: f64| text(&value.to_le_bytes(), ElementType::F64);
        for (value, expected) in [
            (0.1, "0.1"),
            (-0.0, "-0.0"),
            (999_999.0, "999999.0"),
            (16_777_216.0, "1.6777216e+07"),
            (1e-4, "1e-04"),
            (1.5e-5, "1.5e-05"),
            (1e16, "1e+16"),
            (f32::MAX, "3.4028235e+38"),
            (-f32::INFINITY, "-inf"),
            (-f32::NAN, "nan"),
        ] {
            assert_eq!(f32(value), expected);
        }
        for (value, expected) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (1e15, "1000000000000000.0"),
            (5e-324, "5e-324"),
            (1e100, "1e+100"),
        ] {
            assert_eq!(f64(value), expected);
        }
        for (element, bits, expected) in [
            (ElementType::F16, 0x2e66, "0.1"),
            (ElementType::F16, 0x8000, "-0.0"),
            (ElementType::F16, 0x63cf, "999.5"),
            (ElementType::F16, 0x63d0, "1e+03"),
            (ElementType::F16, 0x7bff, "6.55e+04"),
            (ElementType::F16, 0x068e, "0.0001"),
            (ElementType::F16, 1, "6e-08"),
            (ElementType::F16, 0x2400, "0.01563"),
            (ElementType::F16, 0xfc00, "-inf"),
            (ElementType::F16, 0xfe00, "nan"),
            (ElementType::Bf16, 0x3dcd, "0.100098"),
            (ElementType::Bf16, 0x4040, "3"),
            (ElementType::Bf16, 0x8000, "-0"),
            (ElementType::Bf16, 0x47f1, "123392"),
            (ElementType::Bf16, 0x7f7f, "3.38953e+38"),
            (ElementType::Bf16, 0x3728, "1.00136e-05"),
            (ElementType::Bf16, 0x7f80, "inf"),
        ] {
            assert_eq!(text(&u16::to_le_bytes(bits), element), expected, "{element} {bits:#x}");
        }
        assert_eq!(text(&[255; 4], ElementType::I32), "-1");
        assert_eq!(text(&[255; 8], ElementType::U64), "18446744073709551615");
        assert_eq!(text(&[255; 8], ElementType::I64), "-1");
        assert_eq!(text(&[255], ElementType::U8), "255");
        assert_eq!(text(&[0, 128], ElementType::I16), "-32768");
    }

    #[test]
    fn numbers_are_of_their_type() {
        for (text, element, expected) in [
            ("4294967295", ElementType::U32, &[255; 4][..]),
            ("-1", ElementType::I32, &[255; 4]),
            ("-2", ElementType::I64, &[254, 255, 255, 255, 255, 255, 255, 255]),
            ("18446744073709551615", ElementType::U64, &[255; 8]),
            ("1.5", ElementType::F32, &[0, 0, 0xc0, 0x3f]),
            ("-inf", ElementType::F32, &[0, 0, 0x80, 0xff]),
            ("1", ElementType::F64, &[0, 0, 0, 0, 0, 0, 0xf0, 0x3f]),
            ("255", ElementType::U8, &[255]),
            ("-128", ElementType::I8, &[128]),
            ("65535", ElementType::U16, &[255; 2]),
            ("-2", ElementType::I16, &[254, 255]),
            ("65519", ElementType::F16, &[0xff, 0x7b]),
            ("inf", ElementType::F16, &[0, 0x7c]),
            ("nan", ElementType::F16, &[0, 0x7e]),
            // Above the tie of 1 and its neighbour, by less than an f32 or the high half of an f64 tells.
            ("1.00048828125", ElementType::F16, &[0, 0x3c]),
            ("1.0004882812500002", ElementType::F16, &[1, 0x3c]),
            ("1.00390625", ElementType::Bf16, &[0x80, 0x3f]),
            ("1.0039062500000002", ElementType::Bf16, &[0x81, 0x3f]),
            ("-1e38", ElementType::Bf16, &[0x96, 0xfe]),
        ] {
            assert_eq!(parse(text, element).as_deref(), Ok(expected), "{text} as {element}");
        }
        for (text, element) in [
            ("-1", ElementType::U32),
            ("4294967296", ElementType::U32),
            ("1.0", ElementType::I64),
            ("", ElementType::I32),
            ("1e39", ElementType::F32),
            ("1e400", ElementType::F64),
            ("one", ElementType::F64),
            ("256", ElementType::U8),
            ("-129", ElementType::I8),
            ("128", ElementType::I8),
            ("65536", ElementType::U16),
            ("32768", ElementType::I16),
            ("65520", ElementType::F16),
            ("3.4e38", ElementType::Bf16),
            ("1.5", ElementType::U8),
        ] {
            assert!(parse(text, element).is_err(), "{text} as {element}");
        }
        let why = parse(&"a\nb".repeat(1000), ElementType::U32).unwrap_err();
        assert!(!why.contains('\n') && why.len() < 200, "{why}");
    }
}
