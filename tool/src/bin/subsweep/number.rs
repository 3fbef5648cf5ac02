//! Numbers on the command line.

use subsweep::{ElementType, NumberKind};
use subsweep_tool::table;

/// Parses `text` as a number of type `element`, into words in memory order.
pub fn parse(text: &str, element: ElementType) -> Result<Vec<u32>, String> {
    let refuse = |what: &str| format!("'{}' is no {element}; it is {what}", shown(text));
    let whole = |least: i128, greatest: i128| {
        text.parse::<i128>()
            .ok()
            .filter(|value| (least..=greatest).contains(value))
            .ok_or_else(|| refuse(&format!("a whole number from {least} to {greatest}")))
    };
    let is_infinite = text.trim_start_matches(['+', '-']).starts_with(['i', 'I']);
    let finite = |is_finite: bool| is_finite || is_infinite || text.to_ascii_lowercase().contains("nan");
    let a_number = "a number that it can hold, such as 1.5, -2e3 or inf";
    let real = || text.parse::<f64>().map_err(|_| refuse(a_number));
    let (value_count, half) = (1i128 << element.bits(), 1i128 << (element.bits() - 1));
    let bits = match (element.kind(), element.bits()) {
        (NumberKind::Unsigned, _) => whole(0, value_count - 1)? as u64,
        (NumberKind::Signed, _) => whole(-half, half - 1)? as u64,
        (NumberKind::Float, 32) => {
            // By way of f64, as numpy converts a number of Python.
            let value = real()? as f32;
            if finite(value.is_finite()) { value.to_bits().into() } else { return Err(refuse(a_number)) }
        }
        (NumberKind::Float, _) => {
            let value = real()?;
            if finite(value.is_finite()) { value.to_bits() } else { return Err(refuse(a_number)) }
        }
    };
    Ok([bits as u32, (bits >> 32) as u32][..element.words() as usize].to_vec())
}

/// A number as numpy prints it: the fewest digits that give it back.
pub fn text(words: &[u32], element: ElementType) -> String {
    let bytes = bytemuck::cast_slice(words);
    let value = table::real(bytes, element);
    match (element.kind(), element.bits()) {
        (NumberKind::Float, 32) => {
            let value = value as f32;
            float_text(value.into(), 1e6, value.to_string(), format!("{value:e}"))
        }
        (NumberKind::Float, _) => float_text(value, 1e16, value.to_string(), format!("{value:e}")),
        _ => table::whole(bytes, element).to_string(),
    }
}

/// One of the two forms of a float in the spelling of numpy 2.4, which is scientific from `large` on.
fn float_text(value: f64, large: f64, positional: String, scientific: String) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return positional;
    }
    if value == 0.0 || (1e-4..large).contains(&value.abs()) {
        return if positional.contains('.') { positional } else { positional + ".0" };
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
        let f32 = |value: f32| text(&[value.to_bits()], ElementType::F32);
        let f64 =
            |value: f64| text(&[value.to_bits() as u32, (value.to_bits() >> 32) as u32], ElementType::F64);
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
        assert_eq!(text(&[u32::MAX], ElementType::I32), "-1");
        assert_eq!(text(&[u32::MAX; 2], ElementType::U64), "18446744073709551615");
        assert_eq!(text(&[u32::MAX; 2], ElementType::I64), "-1");
    }

    #[test]
    fn numbers_are_of_their_type() {
        assert_eq!(parse("4294967295", ElementType::U32), Ok(vec![u32::MAX]));
        assert_eq!(parse("-1", ElementType::I32), Ok(vec![u32::MAX]));
        assert_eq!(parse("-2", ElementType::I64), Ok(vec![u32::MAX - 1, u32::MAX]));
        assert_eq!(parse("18446744073709551615", ElementType::U64), Ok(vec![u32::MAX, u32::MAX]));
        assert_eq!(parse("1.5", ElementType::F32), Ok(vec![0x3fc0_0000]));
        assert_eq!(parse("-inf", ElementType::F32), Ok(vec![0xff80_0000]));
        assert_eq!(parse("1", ElementType::F64), Ok(vec![0, 0x3ff0_0000]));
        for (text, element) in [
            ("-1", ElementType::U32),
            ("4294967296", ElementType::U32),
            ("1.0", ElementType::I64),
            ("", ElementType::I32),
            ("1e39", ElementType::F32),
            ("1e400", ElementType::F64),
            ("one", ElementType::F64),
        ] {
            assert!(parse(text, element).is_err(), "{text} as {element}");
        }
        let why = parse(&"a\nb".repeat(1000), ElementType::U32).unwrap_err();
        assert!(!why.contains('\n') && why.len() < 200, "{why}");
    }
}
