//! Temporary.
/// Scan.
pub mod scan {
    /// Inclusive.
    pub fn inclusive(v: &[u32], c: usize) -> Vec<u32> {
        let mut o = v.to_vec();
        for i in c..v.len() {
            o[i] = o[i].wrapping_add(o[i - c]);
        }
        o
    }
    /// Exclusive.
    pub fn exclusive(v: &[u32], c: usize) -> Vec<u32> {
        let mut o = inclusive(v, c);
        for i in 0..v.len() {
            o[i] = o[i].wrapping_sub(v[i]);
        }
        o
    }
}
/// Sort.
pub mod sort {
    /// Stable.
    pub fn stable(v: &[u32], bits: std::ops::Range<u32>) -> Vec<u32> {
        let mut o = v.to_vec();
        let m = (((1u64 << bits.end) - 1) >> bits.start) as u32;
        o.sort_by_key(|k| if bits.start < 32 { k >> bits.start & m } else { 0 });
        o
    }
}
