use super::*;

#[test]
fn rows_of_up_to_16_bytes_are_single_elements() {
    for (words, columns, element_words, is_strided) in
        [(1, 1, 1, false), (1, 4, 4, false), (1, 5, 1, true), (2, 2, 4, false), (2, 3, 2, true)]
    {
        assert_eq!(RowShape::new(words, columns, false), RowShape { element_words, is_strided });
        let is_strided = columns > 1;
        let element_words = words;
        assert_eq!(RowShape::new(words, columns, true), RowShape { element_words, is_strided });
    }
}

#[test]
fn the_constants_of_operators_are_those_of_kernels() {
    let names = include_str!("../../../../glsl/operator/names.glsl");
    for operator in ScanOperator::ALL {
        let line = format!("const uint {} = {};", operator.name().to_uppercase(), operator.constant());
        assert!(names.contains(&line), "{line}");
    }
}

#[test]
fn kernels_are_those_of_the_row() {
    for element in ElementType::ALL {
        for operator in ScanOperator::ALL.into_iter().filter(|operator| operator.takes(element)) {
            for (columns, is_segmented) in (1..=16).flat_map(|columns| [(columns, false), (columns, true)]) {
                let modules = Modules::new(element, operator, columns, is_segmented);
                let Modules { reduce, downsweep, chained, constants, shape, .. } = modules;
                let variant = reduce.name.strip_prefix("scan/reduce:").expect("a variant");
                assert_eq!(Some(variant), downsweep.name.strip_prefix("scan/downsweep:"));
                assert_eq!(is_segmented, variant.ends_with("_segmented"));
                let variant = variant.trim_end_matches("_segmented");
                let chained = chained.map(|kernel| kernel.name.strip_prefix("scan/chained:"));
                assert_eq!(chained, (columns == 1 && !is_segmented).then_some(Some(variant)));
                assert_eq!(variant.ends_with("_strided"), shape.is_strided);
                assert_eq!(variant.starts_with("float64"), operator.needs_float64(element));
                // Only kernels of any operator have its constants.
                let has_operator = reduce.spec_constants.iter().any(|constant| constant.name == "OPERATOR");
                assert_eq!(constants.is_empty(), !has_operator, "{variant}");
                assert!(has_operator || (operator == ScanOperator::Add && !element.is_float()));
                assert!(shape.is_strided || variant.ends_with(&format!("x{columns}")), "{variant}");
            }
        }
    }
}
