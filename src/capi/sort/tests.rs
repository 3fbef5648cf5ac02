use super::*;

#[test]
fn the_header_names_every_algorithm() {
    let source = include_str!("../sort.rs");
    for algorithm in SortAlgorithm::ALL {
        assert!(source.contains(&format!("\"{}\"", algorithm.name())), "{}", algorithm.name());
    }
}
