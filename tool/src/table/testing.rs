//! Shared by the tests of this folder: files written by numpy, which are seeds of the fuzz targets as well.

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/table/fixtures/", $name))
    };
}

/// `numpy.arange(3, dtype='<u4')`.
pub const FLAT: &[u8] = fixture!("flat.npy");

/// The same array in versions 2.0 and 3.0.
pub const FLAT_LONG: [&[u8]; 2] = [fixture!("flat_2.npy"), fixture!("flat_3.npy")];

/// `numpy.arange(6, dtype='<u4').reshape(3, 2)`.
pub const GRID: &[u8] = fixture!("grid.npy");

/// `numpy.asfortranarray` of [`GRID`].
pub const GRID_BY_COLUMNS: &[u8] = fixture!("grid_by_columns.npy");

/// `numpy.zeros((0, 4), dtype='<u4')`.
pub const NO_ROWS: &[u8] = fixture!("no_rows.npy");

/// `numpy.array(7, dtype='<u4')`.
pub const SCALAR: &[u8] = fixture!("scalar.npy");

/// `numpy.arange(2, dtype='>u4')`.
pub const BIG_ENDIAN: &[u8] = fixture!("big_endian.npy");

/// `numpy.zeros(1, dtype=[('a', '<u4'), ('b', '<f4', (2,))])`.
pub const STRUCTURED: &[u8] = fixture!("structured.npy");

/// A file of version 1.0 with this dictionary and payload, without padding.
pub fn npy(text: &str, payload: &[u8]) -> Vec<u8> {
    let size = u16::try_from(text.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &size[..], text.as_bytes(), payload].concat()
}

/// A file of version 1.0 with this type and shape.
pub fn npy_of(descr: &str, shape: &str, payload: &[u8]) -> Vec<u8> {
    npy(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n"), payload)
}
