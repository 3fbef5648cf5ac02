use super::*;

#[test]
fn the_numbers_of_comparisons_are_those_of_kernels() {
    let source = include_str!("../../../../glsl/select/predicate.glsl");
    for comparison in Comparison::ALL {
        let name = comparison.name().replace('-', "_").to_uppercase();
        let line = format!("const uint {name} = {};", comparison as u32);
        assert!(source.contains(&line), "{line}");
    }
}
