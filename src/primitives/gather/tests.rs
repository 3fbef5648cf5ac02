use super::*;

#[test]
fn tiles_hold_whole_elements_or_parts_of_one() {
    let shape = |words, unit_words| {
        let GatherShape { units_per_element, tile_elements, parts_per_element, .. } =
            GatherShape::new(words, unit_words, 1024);
        (units_per_element, tile_elements, parts_per_element)
    };
    assert_eq!(shape(1, 1), (1, 1024, 1));
    assert_eq!(shape(3, 1), (3, 341, 1));
    assert_eq!(shape(12, 4), (3, 341, 1));
    assert_eq!(shape(1024, 1), (1024, 1, 1));
    assert_eq!(shape(1025, 1), (1025, 1, 2));
    assert_eq!(shape(4096, 4), (1024, 1, 1));
    assert_eq!(shape(GatherConfig::MAX_WORDS, 1), (1 << 28, 1, 1 << 18));
}

#[test]
fn a_policy_is_chosen_for_rows_that_a_plan_refuses() {
    for words in [0, u32::MAX] {
        GatherPolicy::choose(&tuning::h200(), &GatherConfig::elements(words));
    }
}
