use super::*;
use crate::ElementType;
use crate::sort::SortConfig;

#[test]
fn samples_have_a_limit() {
    let order = KeyOrder::new(&SortConfig::keys(ElementType::U32));
    let file = Arc::new(tempfile::tempfile().unwrap());
    let mut runs = Vec::<Run<'_>>::new();
    for _ in 0..40 {
        let distance = runs.last().map_or(2, Run::distance);
        let mut run = Run::new(&file, runs.last().map_or(0, Run::end), 100, [4, 0], distance);
        run.write_keys(0, &[7u32; 100], &order).unwrap();
        runs.push(run);
        limit_samples(&mut runs, 60);
        let count: usize = runs.iter().map(|run| run.samples.len()).sum();
        assert!(count <= 60.max(2 * runs.len()), "{count} samples of {} runs", runs.len());
    }
    // Each run has its first key, and all the same distance.
    assert!(runs.iter().all(|run| !run.samples.is_empty() && run.distance == runs[0].distance));
}
