//! `glsl/kernels.txt`: the modules that are built, and how a row names its files and its static.

/// One module: a source and the defines that it is compiled with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// `scan/reduce`, or `scan/reduce:u32x1` for a variant.
    pub name: String,
    /// `NAME` or `NAME=VALUE`, in the row's order.
    pub defines: Vec<String>,
}

/// The rows of a list, in its order; an error says which line is wrong and why.
pub fn parse(text: &str) -> Result<Vec<Row>, String> {
    let mut rows: Vec<Row> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let Some(stem) = words.next().filter(|word| !word.starts_with('#')) else {
            continue;
        };
        let row = row(stem, words).map_err(|why| format!("line {}: {why}", index + 1))?;
        if let Some(twin) = rows
            .iter()
            .find(|other| identifier(&other.name) == identifier(&row.name))
        {
            return Err(format!(
                "line {}: {} and {} have one name in Rust",
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
        return Err(format!(
            "{stem} is no path of lower-case letters, digits and _"
        ));
    }
    Ok(Row {
        name,
        defines: words.map(str::to_owned).collect(),
    })
}

fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// The source of a kernel, below `glsl/`.
pub fn source_path(name: &str) -> String {
    format!("{}.comp", name.split(':').next().unwrap_or(name))
}

/// The module of a kernel, below `glsl/precompiled/`.
pub fn module_path(name: &str) -> String {
    format!("{}.spv", name.replace(':', "."))
}

/// The static of a kernel in `kernels`.
pub fn identifier(name: &str) -> String {
    name.replace(['/', ':'], "_").to_ascii_uppercase()
}
