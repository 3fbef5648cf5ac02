use super::*;

#[test]
fn a_line_names_its_modules_and_their_family() {
    let text = "# a list\n\nscan/reduce -\r\nscan/reduce\tu32x{1..2}_wide  WIDE\nsort/count {keys}\n";
    let rows = parse(text).expect("a valid list");
    let names: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
    let all = [
        "scan/reduce",
        "scan/reduce:u32x1_wide",
        "scan/reduce:u32x2_wide",
        "sort/count:key1",
        "sort/count:key2",
    ];
    assert_eq!(names, all);
    assert_eq!(rows[2].defines, ["WIDE", "COLUMNS=2"]);
    assert_eq!(module_path(names[0]), "scan/reduce.spv");
    assert_eq!(module_path(names[1]), "scan/reduce.u32x1_wide.spv");
    assert_eq!(family(names[1], &rows[1].defines), "SCAN_REDUCE");
    let segmented = ["SEGMENTED", "KEY_WORDS=1"].map(str::to_owned);
    assert_eq!(family("sort/scatter:segmented_key1", &segmented), "SORT_SCATTER_SEGMENTED");
}

#[test]
fn each_part_of_the_rule_of_textbooks_has_a_module() {
    let rows = parse(include_str!("../../../glsl/kernels.txt")).expect("a valid list");
    for word in TEXTBOOK {
        let is_of_word =
            |row: &&KernelRow| stem(&row.name) == word || row.defines.iter().any(|other| other == word);
        let row = rows.iter().find(is_of_word).expect(word);
        assert_eq!(feature(&row.name, &row.defines), Some("textbook"), "{word}");
    }
}

#[test]
fn a_wrong_line_is_named() {
    let error = |text| parse(text).expect_err("a wrong list");
    assert_eq!(error("# a list\nscan/reduce"), "line 2: scan/reduce lacks a variant, or \"-\" for none");
    assert!(error("scan//reduce -").contains("not a path"));
    assert!(error("../reduce -").contains("not a path"));
    assert!(error("scan/reduce Wide").contains("variant"));
    assert_eq!(error("scan/reduce x{1..2}\nscan/reduce x2"), "line 2: scan/reduce:x2 is listed twice");
}
