//! `glsl/kernels.txt`: the list of modules, and the file names and statics of its rows.

/// One module: a source and its defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// `scan/reduce`, or `scan/reduce:u32x1` for a variant.
    pub name: String,
    /// `NAME` or `NAME=VALUE`, in the row's order.
    pub defines: Vec<String>,
}

/// The rows of a list, in order; an error names the line.
pub fn parse(text: &str) -> Result<Vec<Row>, String> {
    let mut rows: Vec<Row> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let Some(stem) = words.next().filter(|word| !word.starts_with('#')) else {
            continue;
        };
        let row = row(stem, words).map_err(|why| format!("line {}: {why}", index + 1))?;
        if let Some(twin) = rows.iter().find(|other| identifier(&other.name) == identifier(&row.name)) {
            return Err(format!(
                "line {}: {} and {} have the same name in Rust",
                index + 1,
                twin.name,
                row.name
            ));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn row<'a>(stem: &str, mut words: impl Iterator<Item = &'a str>) -> Result<Row, String> {
    let name = match words.next() {
        Some("-") => stem.to_owned(),
        Some(variant) if is_plain(variant) => format!("{stem}:{variant}"),
        _ => return Err(format!("{stem} lacks a variant, or \"-\" for none")),
    };
    if !stem.split('/').all(is_plain) {
        return Err(format!("{stem} is not a path of lower-case letters, digits and _"));
    }
    Ok(Row { name, defines: words.map(str::to_owned).collect() })
}

fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// The path of a kernel's module below `glsl/precompiled/`.
pub fn module_path(name: &str) -> String {
    format!("{}.spv", name.replace(':', "."))
}

/// The name of a kernel's static in `kernels`.
pub fn identifier(name: &str) -> String {
    name.replace(['/', ':'], "_").to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_its_module_and_its_static() {
        let text = "# a list\n\nscan/reduce -\r\nscan/reduce\tu32x1  COMPONENTS=1 WIDE\n";
        let rows = parse(text).expect("a valid list");
        let names: Vec<_> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["scan/reduce", "scan/reduce:u32x1"]);
        assert_eq!(rows[1].defines, ["COMPONENTS=1", "WIDE"]);
        assert_eq!(module_path(names[0]), "scan/reduce.spv");
        assert_eq!(module_path(names[1]), "scan/reduce.u32x1.spv");
        assert_eq!(identifier(names[1]), "SCAN_REDUCE_U32X1");
    }

    #[test]
    fn a_wrong_row_is_named() {
        let error = |text| parse(text).expect_err("a wrong list");
        assert_eq!(error("# a list\nscan/reduce"), "line 2: scan/reduce lacks a variant, or \"-\" for none");
        assert!(error("scan//reduce -").contains("not a path"));
        assert!(error("../reduce -").contains("not a path"));
        assert!(error("scan/reduce Wide").contains("variant"));
        assert_eq!(
            error("scan/reduce wide\nscan/reduce_wide -"),
            "line 2: scan/reduce:wide and scan/reduce_wide have the same name in Rust"
        );
    }
}
