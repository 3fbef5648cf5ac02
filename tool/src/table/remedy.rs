//! How an array of a type that is not taken becomes one that is.

use std::fmt::Display;

use super::ElementType;
use crate::table::element::{conversion, descr};
use crate::table::promotion::promoted;

/// Types by kind, the narrowest first.
const UNSIGNED: [ElementType; 4] = [ElementType::U8, ElementType::U16, ElementType::U32, ElementType::U64];
const SIGNED: [ElementType; 4] = [ElementType::I8, ElementType::I16, ElementType::I32, ElementType::I64];
const FLOATS: [ElementType; 3] = [ElementType::F16, ElementType::F32, ElementType::F64];

/// What to save in place of two files, so that both have one type: the type of numpy's promotion, or f32.
pub fn one_type(files: [(&dyn Display, ElementType); 2]) -> String {
    let [(_, a), (_, b)] = files;
    let to = promoted(a, b).unwrap_or(ElementType::F32);
    let saved = files.into_iter().filter(|(_, element)| *element != to).map(|(file, element)| {
        // A float of as many bits has fewer in its significand.
        let rounds = to.is_float() && !element.is_float() && element.bits() >= to.bits();
        let rounded = if rounds { " (rounded)" } else { "" };
        format!("{} of {file}{rounded}", conversion(Some(element), to))
    });
    format!("save {}", saved.collect::<Vec<_>>().join(" and "))
}

/// The remedy of elements of the type `found`, a `descr` or the name of a type, where `taken` are: what to save instead.
pub(super) fn remedy(found: &str, taken: &[ElementType]) -> String {
    if let Some(rest) = found.strip_prefix(['[', '(']) {
        return format!("save one of its fields, such as a['{}']", first_field(rest));
    }
    let (order, code) = match found.split_at_checked(1) {
        Some(("<" | ">" | "|" | "=", code)) => found.split_at(found.len() - code.len()),
        _ => ("", found),
    };
    // A name has bits, and a code, which has an order, bytes.
    let is_it = |element: &ElementType| order.is_empty() && element.name() == code;
    let named = ElementType::ALL.into_iter().find(is_it).map(descr);
    let code = named.as_deref().map_or(code, |descr| &descr[1..]);
    // What numpy has read of a file of bfloat16, it saves as bytes without a type.
    let is_bfloat = code == "V2" && order != ">";
    if is_bfloat && taken.contains(&ElementType::Bf16) {
        return "save a.view(ml_dtypes.bfloat16), if it holds that".to_owned();
    }
    let from = is_bfloat.then_some(ElementType::Bf16);
    let code = if is_bfloat { "f2" } else { code };
    let kind = code.chars().next().unwrap_or(' ');
    let size = code[kind.len_utf8().min(code.len())..].parse().unwrap_or(0_u32);
    let conversions = |elements: &[ElementType]| {
        let wide = elements.iter().filter(|element| !element.is_packed());
        wide.map(|&element| conversion(from, element)).collect::<Vec<_>>().join(" or ")
    };
    match kind {
        // Whole numbers of 64 bits.
        'M' | 'm' if order == ">" => format!("save a.view('>i8').astype('{}')", of_time(taken)),
        'M' | 'm' if taken.contains(&ElementType::I64) => "save a.view('<i8')".to_owned(),
        'M' | 'm' => format!("save a.view('<i8').astype('{}'){}", of_time(taken), IF_IT_FITS),
        'c' => "complex numbers have no order: save a.real, a.imag or numpy.abs(a)".to_owned(),
        'U' | 'S' => {
            format!(
                "save their ranks, numpy.unique(a, return_inverse=True)[1].astype('{}')",
                descr(first(taken))
            )
        }
        'O' | 'V' => "save an array of numbers".to_owned(),
        'f' if size > 8 => match FLOATS.into_iter().rev().find(|element| taken.contains(element)) {
            Some(widest) => format!("save a.astype('{}'), which rounds them", descr(widest)),
            None => format!("save {}{}", conversions(taken), IF_IT_FITS),
        },
        // Numbers of rows.
        'b' if !taken.contains(&ElementType::F32) => {
            let numbers = conversions(&taken[..taken.len().min(1)]);
            format!("save numpy.flatnonzero(a), the indices of what is true, or {numbers}, its numbers")
        }
        _ => match holding(kind, size, taken) {
            Some(element) => format!("save {}", conversion(from, element)),
            None => format!("save {}{}", conversions(taken), IF_IT_FITS),
        },
    }
}

const IF_IT_FITS: &str =
    " if every element fits, for it changes those that are negative, fractional or too large";

/// The name of the first field, as far as the text goes.
fn first_field(text: &str) -> &str {
    let name = text.strip_prefix("('").and_then(|rest| rest.split_once('\'')).map(|(name, _)| name);
    name.unwrap_or("NAME")
}

fn first(taken: &[ElementType]) -> ElementType {
    taken.first().copied().unwrap_or(ElementType::U32)
}

/// The type that times are converted to.
fn of_time(taken: &[ElementType]) -> String {
    let element = if taken.contains(&ElementType::I64) { ElementType::I64 } else { first(taken) };
    descr(element)
}

/// The narrowest type of those taken that holds every number of a kind and a size in bytes.
fn holding(kind: char, size: u32, taken: &[ElementType]) -> Option<ElementType> {
    let room = |element: ElementType| element.size() as u32;
    let widest = |kinds: &[ElementType], holds: &dyn Fn(ElementType) -> bool| {
        kinds.iter().copied().find(|element| taken.contains(element) && holds(*element))
    };
    let as_unsigned = |size: u32| widest(&UNSIGNED, &|element| size <= room(element));
    let as_signed = |size: u32| widest(&SIGNED, &|element| size <= room(element));
    // Half of the bits, and no more, are surely in the significand.
    let as_float = |size: u32| widest(&FLOATS, &|element| size <= room(element));
    let twice = size.saturating_mul(2);
    match kind {
        'u' => as_unsigned(size).or_else(|| as_signed(twice)).or_else(|| as_float(twice)),
        // What is true is counted by sums, which wrap.
        'b' => as_unsigned(4).or_else(|| as_signed(8)).or_else(|| as_float(4)),
        'i' => as_signed(size).or_else(|| as_float(twice)),
        'f' => as_float(size),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::UNPACKED;

    #[test]
    fn every_type_has_its_own_remedy() {
        use ElementType::{F16, F32, I64, U32};
        for (found, expected) in [
            ("[('k', '<u4'), ('v', '<f4')]", "save one of its fields, such as a['k']"),
            ("[(('title', 'k'), '<u4')]", "save one of its fields, such as a['NAME']"),
            ("<M8[ns]", "save a.view('<i8')"),
            (">m8[s]", "save a.view('>i8').astype('<i8')"),
            ("<c16", "complex numbers have no order: save a.real, a.imag or numpy.abs(a)"),
            ("|b1", "save a.astype('<u4')"),
            (">u1", "save a.astype('|u1')"),
            (">u3", "save a.astype('<u4')"),
            ("|V2", "save a.view(ml_dtypes.bfloat16), if it holds that"),
            (">V2", "save an array of numbers"),
            ("<U7", "save their ranks, numpy.unique(a, return_inverse=True)[1].astype('<u4')"),
            ("|O", "save an array of numbers"),
            ("|V8", "save an array of numbers"),
        ] {
            assert_eq!(remedy(found, &ElementType::ALL), expected, "{found}");
        }
        // Where not all types are taken.
        for (found, taken, expected) in [
            ("<i2", &[U32, F32][..], "save a.astype('<f4')"),
            ("|u1", &[U32, F32], "save a.astype('<u4')"),
            ("i8", &[F16, F32], "save a.astype('<f2')"),
            ("<f2", &UNPACKED, "save a.astype('<f4')"),
            ("<V2", &UNPACKED, "save a.view(ml_dtypes.bfloat16).astype('<f4')"),
            ("bf16", &[U32], "save a.view(ml_dtypes.bfloat16).astype('<u4') if every element fits, "),
            ("<u2", &[I64], "save a.astype('<i8')"),
            ("u64", &[I64], "save a.astype('<i8') if every element fits, "),
            ("<f8", &[U32, F32], "save a.astype('<u4') or a.astype('<f4') if every element fits, "),
            ("<f16", &ElementType::ALL, "save a.astype('<f8'), which rounds them"),
            (">f16", &[U32, F32], "save a.astype('<f4'), which rounds them"),
            ("<f16", &[U32, I64], "save a.astype('<u4') or a.astype('<i8') if every element fits, "),
            (
                "|b1",
                &[U32, I64],
                "save numpy.flatnonzero(a), the indices of what is true, or a.astype('<u4')",
            ),
            ("<M8[D]", &[U32], "save a.view('<i8').astype('<u4') if every element fits, "),
            ("", &[U32], "save a.astype('<u4') if every element fits, "),
            ("<\u{fc}1", &[U32], "save a.astype('<u4') if every element fits, "),
        ] {
            assert!(remedy(found, taken).starts_with(expected), "{found}: {}", remedy(found, taken));
        }
    }
}
