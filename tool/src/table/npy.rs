//! The header of an `.npy` file: magic, version, length, and a Python dictionary with element type, order and shape.
//!
//! Format: numpy's `numpy/lib/format.py` and NEP 1, versions 1.0 to 3.0. The header is not evaluated as Python: the
//! parser accepts only the three keys, does not recurse, and reads at most [`MAX_HEADER_SIZE`] bytes.

use crate::table::element::from_descr;
use std::io::Read;

use super::read::read_full;
use super::structures::{NamedField, Structure};
use super::{ElementType, Format, TableError, TableShape, Taken};
use subsweep::internal::printable;

/// The first bytes of every `.npy` file.
pub const MAGIC: [u8; 6] = *b"\x93NUMPY";

/// Refuses the first bytes of a zip archive, as `numpy.savez` writes it: of the header of its first file, with the version of
/// the format that is needed to extract it, or of the end of an empty archive. Raw elements may begin with the signature, but
/// hardly with all six bytes. `rest` has the bytes after them.
///
/// # Errors
/// [`TableError::Archive`].
pub fn check_archive(start: &[u8; MAGIC.len()], rest: &mut impl Read) -> Result<(), TableError> {
    match start {
        b"PK\x03\x04\x0a\0" | b"PK\x03\x04\x14\0" | b"PK\x03\x04\x2d\0" => {
            Err(TableError::Archive { array: first_array(rest) })
        }
        b"PK\x05\x06\0\0" => Err(TableError::Archive { array: None }),
        _ => Ok(()),
    }
}

/// The name of the first array of an archive, from the header of its first file after the first six bytes.
fn first_array(rest: &mut impl Read) -> Option<String> {
    /// Flags, method, time, checksum and sizes, then the lengths of the name and of what follows it.
    const LENGTHS_AT: usize = 20;
    let mut header = [0; LENGTHS_AT + 4];
    rest.read_exact(&mut header).ok()?;
    let length = u16::from_le_bytes([header[LENGTHS_AT], header[LENGTHS_AT + 1]]);
    let mut name = vec![0; length.into()];
    rest.read_exact(&mut name).ok()?;
    name.strip_suffix(b".npy").map(shown)
}

/// Maximum size of the dictionary, in bytes. Only structured types have longer ones, and these are refused.
pub const MAX_HEADER_SIZE: u32 = u16::MAX as u32;

/// An accepted header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// [`Format::Npy`] or [`Format::NpyBool`].
    pub format: Format,
    /// The element type, one of the accepted ones.
    pub element: ElementType,
    /// Whether the elements are big-endian.
    pub is_swapped: bool,
    /// The shape. The size of all elements in bytes does not overflow.
    pub shape: TableShape,
    /// Whether the elements lie column after column, and so in another order than row after row.
    pub is_by_columns: bool,
    /// Bytes before the first element, magic included.
    pub header_size: u64,
    /// Bytes of all elements.
    pub payload_size: u64,
}

/// Reads the header after the [`MAGIC`], up to the first element.
pub fn read_header(reader: &mut impl Read, taken: &Taken) -> Result<Header, TableError> {
    let Text { text, position, .. } = read_text(reader)?;
    let elements = taken.elements;
    let (found, extents) = parse(&text, taken.max_dimensions, |parser| parser.descr(elements))?;
    let (format, element, is_swapped) = element(found, elements)?;
    let (by_columns, shape) = (extents.by_columns, extents.shape()?);
    let too_large = || TableError::TooLarge { shape: shape.to_string() };
    let count = (shape.rows() as u64).checked_mul(shape.columns() as u64).ok_or_else(too_large)?;
    let payload_size = count.checked_mul(element.size() as u64).ok_or_else(too_large)?;
    position.checked_add(payload_size).ok_or_else(too_large)?;
    let is_by_columns = by_columns && shape.has_two_orders();
    Ok(Header { format, element, is_swapped, shape, is_by_columns, header_size: position, payload_size })
}

/// Reads the header of flags after the [`MAGIC`]: bool, u8 or u32 in one dimension. Returns the bytes of a flag, and
/// the number of flags.
pub fn read_flags_header(reader: &mut impl Read) -> Result<(u64, u64), TableError> {
    let Text { text, .. } = read_text(reader)?;
    let (found, extents) = parse(&text, 1, |parser| parser.descr(&[ElementType::U32]))?;
    let size = match found {
        b"|b1" | b"|u1" => 1,
        // What is not 0 is so in either order of bytes.
        b"<u4" | b">u4" => 4,
        _ => return Err(TableError::FlagsNotTaken { found: shown(found) }),
    };
    Ok((size, extents.shape()?.rows() as u64))
}

/// Reads the header of structures after the [`MAGIC`], in one dimension. Returns all of its bytes, the magic included, the
/// fields, and the number of structures.
pub fn read_structured_header(reader: &mut impl Read) -> Result<(Vec<u8>, Structure, usize), TableError> {
    let Text { text, version, .. } = read_text(reader)?;
    let fields = |parser: &mut Parser<'_>| parser.structure(MAX_NESTED);
    let (structure, extents) = parse(&text, 1, fields)?;
    let count = extents.shape()?.rows();
    let text_size = (text.len() as u32).to_le_bytes();
    let text_size = if version[0] == 1 { &text_size[..2] } else { &text_size };
    Ok(([&MAGIC[..], &version, text_size, &text].concat(), structure, count))
}

/// Bytes of a field's name; others cannot be named.
const MAX_NAME_SIZE: usize = 256;

/// Structures within structures.
const MAX_NESTED: u32 = 16;

/// The dictionary after the [`MAGIC`].
struct Text {
    version: [u8; 2],
    text: Vec<u8>,
    /// Bytes up to its end, the magic included.
    position: u64,
}

/// Reads the dictionary after the [`MAGIC`].
fn read_text(reader: &mut impl Read) -> Result<Text, TableError> {
    let mut position = MAGIC.len() as u64;
    let version @ [major, minor] = read_array(reader, &mut position)?;
    let text_size = match (major, minor) {
        (1, 0) => u32::from(u16::from_le_bytes(read_array(reader, &mut position)?)),
        (2 | 3, 0) => u32::from_le_bytes(read_array(reader, &mut position)?),
        _ => return Err(TableError::Version { major, minor }),
    };
    if text_size > MAX_HEADER_SIZE {
        return Err(TableError::HeaderTooLong { size: text_size });
    }
    let mut text = vec![0; text_size as usize];
    read_exact(reader, &mut position, &mut text)?;
    Ok(Text { version, text, position })
}

/// The `descr` of numpy's bool.
pub const BOOL: &str = "|b1";

/// The header of `numpy.save`, byte for byte.
pub fn header(descr: &str, shape: TableShape) -> Vec<u8> {
    // numpy reserves room for a first dimension of 21 digits, then aligns the elements to 64 bytes.
    const GROWTH_DIGITS: usize = 21;
    const ALIGNMENT: usize = 64;
    const BEFORE_TEXT: usize = MAGIC.len() + 2 + 2;

    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let growth = GROWTH_DIGITS - shape.extents()[0].to_string().len();
    let size = (BEFORE_TEXT + text.len() + growth + 1).next_multiple_of(ALIGNMENT);
    text.extend(std::iter::repeat_n(' ', size - BEFORE_TEXT - text.len() - 1));
    text.push('\n');

    let mut bytes = Vec::with_capacity(size);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn read_array<const N: usize>(reader: &mut impl Read, position: &mut u64) -> Result<[u8; N], TableError> {
    let mut bytes = [0; N];
    read_exact(reader, position, &mut bytes)?;
    Ok(bytes)
}

fn read_exact(reader: &mut impl Read, position: &mut u64, bytes: &mut [u8]) -> Result<(), TableError> {
    let needed = *position + bytes.len() as u64;
    *position += read_full(reader, bytes)? as u64;
    if *position < needed { Err(TableError::Ended { held: *position, needed }) } else { Ok(()) }
}

/// A shape that is not checked yet: a type that is not taken is told first.
struct Extents<'a> {
    dimensions: &'a [u8],
    by_columns: bool,
    max_dimensions: usize,
}

impl Extents<'_> {
    fn shape(self) -> Result<TableShape, TableError> {
        shape(self.dimensions, self.max_dimensions)
    }
}

/// Parses the dictionary's text, its type by `type_of`.
fn parse<'a, T>(
    text: &'a [u8],
    max_dimensions: usize,
    type_of: impl Fn(&mut Parser<'a>) -> Result<T, TableError>,
) -> Result<(T, Extents<'a>), TableError> {
    let (mut descr, mut by_columns, mut dimensions) = (None, None, None);
    let mut parser = Parser { text, at: 0 };
    parser.expect(b'{', "a dictionary is missing")?;
    while !parser.accept(b'}') {
        let key = parser.string()?;
        parser.expect(b':', "':' is missing")?;
        let repeated = match key {
            b"descr" => descr.replace(type_of(&mut parser)?).is_some(),
            b"fortran_order" => by_columns.replace(parser.boolean()?).is_some(),
            b"shape" => dimensions.replace(parser.tuple()?).is_some(),
            _ => return Err(parser.malformed("there is an unknown key")),
        };
        if repeated {
            return Err(parser.malformed("a key is there twice"));
        }
        if !parser.accept(b',') {
            parser.expect(b'}', "',' or '}' is missing")?;
            break;
        }
    }
    if parser.peek().is_some() {
        return Err(parser.malformed("something follows the dictionary"));
    }
    let (Some(descr), Some(by_columns), Some(dimensions)) = (descr, by_columns, dimensions) else {
        return Err(parser.malformed("'descr', 'fortran_order' or 'shape' is missing"));
    };
    Ok((descr, Extents { dimensions, by_columns, max_dimensions }))
}

/// The format and the element type of a `descr` string, and whether it is big-endian, if accepted.
fn element(descr: &[u8], taken: &[ElementType]) -> Result<(Format, ElementType, bool), TableError> {
    let found = match descr == BOOL.as_bytes() {
        true => Some((Format::NpyBool, ElementType::U8, false)),
        false => from_descr(descr).map(|(element, is_swapped)| (Format::Npy, element, is_swapped)),
    };
    found.filter(|(_, element, _)| taken.contains(element)).ok_or_else(|| not_taken(descr, taken))
}

fn no_fields(found: &[u8]) -> TableError {
    TableError::NoFields { found: shown(found) }
}

/// Bytes of an element of a `descr`; none of objects, which are elsewhere.
fn size_of_descr(descr: &[u8]) -> Option<usize> {
    let (kind, rest) = descr.get(1..)?.split_first()?;
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit()).map_or(rest, |end| &rest[..end]);
    let size: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
    match kind {
        b'U' => size.checked_mul(4),
        b'b' | b'i' | b'u' | b'f' | b'c' | b'm' | b'M' | b'S' | b'V' => Some(size),
        _ => None,
    }
}

fn not_taken(found: &[u8], taken: &[ElementType]) -> TableError {
    TableError::ElementNotTaken { found: shown(found), taken: taken.to_vec() }
}

/// The shape of a tuple's text, if it is the shape of a table.
fn shape(tuple: &[u8], max_dimensions: usize) -> Result<TableShape, TableError> {
    let malformed = || TableError::Shape { shape: shown(tuple) };
    let inner = tuple[1..tuple.len() - 1].trim_ascii();
    if !inner.is_empty() && !inner.contains(&b',') {
        // `(3)` is a number in Python, `(3,)` a tuple.
        return Err(malformed());
    }
    let items = inner.strip_suffix(b",").unwrap_or(inner).split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let count = if inner.is_empty() { 0 } else { items.clone().count() };
    let mut extents = [0_usize; 3];
    let max = max_dimensions.min(extents.len());
    if !(1..=max).contains(&count) {
        let is_line = items.filter(|&item| item != b"1").count() <= 1;
        return Err(TableError::Dimensions { shape: shown(tuple), count, max, is_line });
    }
    for (extent, item) in extents.iter_mut().zip(items) {
        // Python 2 writes `3L`.
        let digits = item.strip_suffix(b"L").unwrap_or(item);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(malformed());
        }
        let value = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        *extent = value.ok_or_else(|| TableError::TooLarge { shape: shown(tuple) })?;
    }
    let [rows, second, third] = extents;
    match count {
        1 => Ok(TableShape::Flat { count: rows }),
        2 if second == 0 => Err(TableError::NoColumns { rows }),
        2 => Ok(TableShape::Grid { rows, columns: second }),
        _ if rows.checked_mul(second).is_none() => Err(TableError::TooLarge { shape: shown(tuple) }),
        _ => Ok(TableShape::Cube { rows, values: second, columns: third }),
    }
}

/// The prefix of `text` up to the bracket that closes the first one. Brackets in strings count as well: the result is
/// only shown in errors.
fn bracketed(text: &[u8]) -> &[u8] {
    let mut depth = 0_usize;
    let end = text.iter().position(|byte| {
        match byte {
            b'[' | b'(' => depth += 1,
            b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    end.map_or(text, |end| &text[..=end])
}

/// A part of a header as it is shown in errors.
fn shown(text: &[u8]) -> String {
    printable(text, 60)
}

/// A position in the dictionary's text. White space before each token is skipped.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Parser<'a> {
    fn malformed(&self, what: &'static str) -> TableError {
        TableError::Malformed { what, at: self.at }
    }

    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), TableError> {
        if self.accept(byte) { Ok(()) } else { Err(self.malformed(what)) }
    }

    /// The text before the next `end`. Advances past `end`.
    fn until(&mut self, end: u8, what: &'static str) -> Result<&'a [u8], TableError> {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|&byte| byte == end).ok_or_else(|| self.malformed(what))?;
        self.at += length + 1;
        Ok(&rest[..length])
    }

    /// The raw characters of a string. No accepted string contains an escape.
    fn string(&mut self) -> Result<&'a [u8], TableError> {
        match self.peek() {
            Some(quote @ (b'\'' | b'"')) => {
                self.at += 1;
                self.until(quote, "a string does not end")
            }
            _ => Err(self.malformed("a string is missing")),
        }
    }

    /// The string of a type. Structured types are lists and may nest; they are refused without being parsed.
    fn descr(&mut self, taken: &[ElementType]) -> Result<&'a [u8], TableError> {
        match self.peek() {
            Some(b'[' | b'(') => Err(not_taken(bracketed(&self.text[self.at..]), taken)),
            _ => self.string(),
        }
    }

    /// The fields of a structured type: a list of tuples of a name, a type, and the shape of a field of several elements.
    fn structure(&mut self, max_nested: u32) -> Result<Structure, TableError> {
        match self.peek() {
            Some(b'[') => self.accept(b'['),
            Some(b'(') => return Err(no_fields(bracketed(&self.text[self.at..]))),
            _ => return Err(no_fields(self.string()?)),
        };
        let mut structure = Structure::default();
        while !self.accept(b']') {
            self.expect(b'(', "a field is missing")?;
            let name = self.field_name()?;
            self.expect(b',', "a field has no type")?;
            let start = self.at;
            let mut field = self.field(max_nested)?;
            let mut descr = &self.text[start..self.at];
            if self.accept(b',') && self.peek() == Some(b'(') {
                let count = self.element_count()?;
                descr = &self.text[start..self.at];
                field.size =
                    field.size.checked_mul(count).ok_or_else(|| self.malformed("a field is too large"))?;
                field.fields.clear();
            }
            self.expect(b')', "a field does not end")?;
            let is_nested = !field.fields.is_empty();
            for inner in field.fields {
                let name =
                    if inner.name.is_empty() { name.clone() } else { format!("{name}.{}", inner.name) };
                structure.fields.push(NamedField { name, offset: structure.size + inner.offset, ..inner });
            }
            if !name.is_empty() && !is_nested {
                let descr = shown(descr.trim_ascii());
                structure.fields.push(NamedField { name, offset: structure.size, descr, number: None });
            }
            structure.size = structure
                .size
                .checked_add(field.size)
                .ok_or_else(|| self.malformed("a field is too large"))?;
            if !self.accept(b',') {
                self.expect(b']', "',' or ']' is missing")?;
                break;
            }
        }
        // An outer name is in the name of every inner field: a header could make megabytes of it.
        structure.fields.retain(|field| (1..=MAX_NAME_SIZE).contains(&field.name.len()));
        Ok(structure)
    }

    /// A field's name, which may have a title before it.
    fn field_name(&mut self) -> Result<String, TableError> {
        let has_title = self.accept(b'(');
        let mut name = self.string()?;
        if has_title {
            self.expect(b',', "a title has no name")?;
            name = self.string()?;
            self.expect(b')', "a name does not end")?;
        }
        Ok(String::from_utf8_lossy(name).into_owned())
    }

    /// A field's type: as a structure of one field without a name, if it is a number.
    fn field(&mut self, max_nested: u32) -> Result<Structure, TableError> {
        if self.peek() == Some(b'[') {
            let inner = max_nested.checked_sub(1).ok_or_else(|| self.malformed("it is nested too deep"))?;
            return self.structure(inner);
        }
        let descr = self.string()?;
        let size = size_of_descr(descr).ok_or_else(|| TableError::FieldNotTaken { found: shown(descr) })?;
        let number = match from_descr(descr) {
            Some((element, false)) => Some(element),
            _ if descr == b"|b1" => Some(ElementType::U8),
            _ => None,
        };
        let of_number =
            |number| NamedField { name: String::new(), offset: 0, descr: shown(descr), number: Some(number) };
        Ok(Structure { size, fields: number.into_iter().map(of_number).collect() })
    }

    /// The number of elements of a field's shape.
    fn element_count(&mut self) -> Result<usize, TableError> {
        let tuple = self.tuple()?;
        let extents = tuple[1..tuple.len() - 1].split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        let mut count = 1_usize;
        for extent in extents.filter(|extent| !extent.is_empty()) {
            let digits = std::str::from_utf8(extent).ok().and_then(|digits| digits.parse().ok());
            let product = digits.and_then(|extent| count.checked_mul(extent));
            count = product.ok_or_else(|| TableError::Shape { shape: shown(tuple) })?;
        }
        Ok(count)
    }

    fn boolean(&mut self) -> Result<bool, TableError> {
        self.peek();
        let rest = &self.text[self.at..];
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.malformed("True or False is missing"))
    }

    /// A tuple's text, its brackets included.
    fn tuple(&mut self) -> Result<&'a [u8], TableError> {
        self.expect(b'(', "a tuple is missing")?;
        let start = self.at - 1;
        self.until(b')', "a tuple does not end")?;
        Ok(&self.text[start..self.at])
    }
}

#[cfg(test)]
mod tests;
