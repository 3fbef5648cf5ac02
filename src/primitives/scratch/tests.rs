use super::*;

#[test]
fn scratch_arrays_start_aligned() {
    let mut cursor = ScratchCursor::of_arrays();
    assert_eq!([4, 20, 0, 16].map(|size| cursor.take("it", size)), [0, 16, 48, 48]);
    assert_eq!(cursor.size, 64);
    let of = |offset, size| ScratchArray { name: "it", offset, size };
    assert_eq!(cursor.into_arrays(), [of(0, 4), of(16, 20), of(48, 16)]);
}

#[test]
fn scratch_of_no_bytes_is_no_range() {
    let odd = BufferRange { offset: 1, size: 7, address: 1, ..BufferRange::NONE };
    assert_eq!(ScratchRequirements::new(0).check(odd), Ok(BufferRange::NONE));
}
