//! Model of `glsl/run_length/encode.comp`.

/// The runs that an encoding keeps.
#[derive(Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The index of the head of each, its first element.
    pub starts: Vec<usize>,
    /// The number of elements of each.
    pub lengths: Vec<u32>,
}

/// The runs of elements of which some, the first among them, are heads: all runs, or the runs of more than one element.
pub fn encoded(is_head: &[bool], is_non_trivial: bool) -> Encoded {
    let heads: Vec<_> = (0..is_head.len()).filter(|&index| is_head[index]).collect();
    let ends = heads.iter().skip(1).copied().chain([is_head.len()]);
    let runs = heads.iter().zip(ends).map(|(&start, end)| (start, (end - start) as u32));
    let (starts, lengths) = runs.filter(|&(_, length)| length > 1 || !is_non_trivial).unzip();
    Encoded { starts, lengths }
}
