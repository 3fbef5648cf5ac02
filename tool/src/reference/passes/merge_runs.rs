//! Model of `glsl/sort/merge_runs.comp`.

/// `merge_runs.comp` without functions of a caller: the indices in runs of `run_items`, each stably sorted by the words that
/// they are of.
pub fn sorted_runs(words: &[u32], indices: &[u32], run_items: usize) -> Vec<u32> {
    let mut sorted = indices.to_vec();
    for run in sorted.chunks_mut(run_items) {
        run.sort_by_key(|&index| words[index as usize]);
    }
    sorted
}
