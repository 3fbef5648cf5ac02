use super::*;
use crate::primitives::ElementType;
use crate::primitives::scan::ScanOperator;

#[test]
fn rows_that_divide_a_pack_are_flat() {
    let of = |element, columns, is_segmented| {
        let operation = Operation::BuiltIn(ScanOperator::Add, element);
        let RowShape { flat_columns, column_count, .. } = RowShape::new(&operation, columns, is_segmented);
        (flat_columns, column_count)
    };
    assert_eq!(
        [1, 2, 3, 4, 5].map(|columns| of(ElementType::U32, columns, false)),
        [(1, 1), (2, 1), (1, 3), (4, 1), (1, 5)]
    );
    assert_eq!([1, 2, 4].map(|columns| of(ElementType::F64, columns, false)), [(1, 1), (2, 1), (1, 4)]);
    assert_eq!([1, 4].map(|columns| of(ElementType::U32, columns, true)), [(1, 1), (1, 4)]);
}

#[test]
fn every_operation_has_its_kernels() {
    for element in ElementType::ALL {
        for operator in ScanOperator::ALL.into_iter().filter(|operator| operator.takes(element)) {
            let modules = Modules::new(Operation::BuiltIn(operator, element), None).unwrap();
            let is_of_doubles = modules.reduce.name.contains("float64");
            assert_eq!(is_of_doubles, operator.needs_float64(element));
            assert!(modules.segments.is_some());
        }
        let modules = Modules::new(Operation::Index(ScanOperator::Max, element), None).unwrap();
        assert!(modules.reduce.name.ends_with("_arg") && modules.segments.is_none());
    }
}
