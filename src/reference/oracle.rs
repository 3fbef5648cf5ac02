//! One naive loop for each primitive.

/// `result[i] = values[0] + … + values[i]` in every column of a table of rows, wrapping.
pub fn inclusive_scan(values: &[u32], columns: usize) -> Vec<u32> {
    inclusive_scan_by(values, columns, u32::wrapping_add)
}

/// `result[i] = values[0] + … + values[i - 1]` in every column of a table of rows, wrapping.
pub fn exclusive_scan(values: &[u32], columns: usize) -> Vec<u32> {
    exclusive_scan_by(values, columns, 0, u32::wrapping_add)
}

/// `result[i] = (values[0] ⊕ values[1]) ⊕ … ⊕ values[i]` in every column of a table of rows.
pub fn inclusive_scan_by<T: Copy>(values: &[T], columns: usize, combine: impl Fn(T, T) -> T) -> Vec<T> {
    let mut results = values.to_vec();
    for i in columns..results.len() {
        results[i] = combine(results[i - columns], results[i]);
    }
    results
}

/// `result[i] = (identity ⊕ values[0]) ⊕ … ⊕ values[i - 1]` in every column of a table of rows.
pub fn exclusive_scan_by<T: Copy>(
    values: &[T],
    columns: usize,
    identity: T,
    combine: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut results = vec![identity; values.len()];
    for i in columns..results.len() {
        results[i] = combine(results[i - columns], values[i - columns]);
    }
    results
}

/// The keys, ascending by the bits in `bits`; keys that agree in them keep their order.
pub fn sort(keys: &[u32], bits: std::ops::Range<u32>) -> Vec<u32> {
    let mut sorted = keys.to_vec();
    sorted.sort_by_key(|&key| (u64::from(key) & ((1 << bits.end) - 1)) >> bits.start);
    sorted
}

/// `result[i] = source[indices[i]]` of elements of `element_words` words; of zeros where there is no such element.
pub fn gather(source: &[u32], element_words: usize, indices: &[u32]) -> Vec<u32> {
    let mut result = Vec::with_capacity(indices.len() * element_words);
    for &index in indices {
        match source.chunks_exact(element_words).nth(index as usize) {
            Some(element) => result.extend_from_slice(element),
            None => result.extend(std::iter::repeat_n(0, element_words)),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scans_are_of_columns_and_wrap() {
        assert_eq!(inclusive_scan(&[1, 2, 3], 1), [1, 3, 6]);
        assert_eq!(exclusive_scan(&[1, 2, 3], 1), [0, 1, 3]);
        assert_eq!(inclusive_scan(&[1, u32::MAX, 3, 2, 5, 0], 2), [1, u32::MAX, 4, 1, 9, 1]);
        assert_eq!(exclusive_scan(&[1, u32::MAX, 3, 2, 5, 0], 2), [0, 0, 1, u32::MAX, 4, 1]);
        assert_eq!(inclusive_scan(&[], 3), [0; 0]);
    }

    #[test]
    fn a_sort_looks_at_its_bits_alone_and_is_stable() {
        assert_eq!(sort(&[0x80000000, 3, u32::MAX, 0], 0..32), [0, 3, 0x80000000, u32::MAX]);
        assert_eq!(sort(&[0x13, 0x02, 0x21, 0x11], 4..5), [0x02, 0x21, 0x13, 0x11]);
        assert_eq!(sort(&[3, 1, 2], 7..7), [3, 1, 2]);
        assert_eq!(sort(&[3 << 30, 1 << 30, 5], 31..32), [1 << 30, 5, 3 << 30]);
    }

    #[test]
    fn a_gather_takes_whole_elements_and_zeros_for_those_that_are_not_there() {
        assert_eq!(gather(&[10, 11, 20, 21, 30, 31], 2, &[2, 0, 2, 3]), [30, 31, 10, 11, 30, 31, 0, 0]);
        assert_eq!(gather(&[5, 6, 7], 1, &[u32::MAX, 1]), [0, 6]);
        assert_eq!(gather(&[], 4, &[0]), [0; 4]);
    }
}
