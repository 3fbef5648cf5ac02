//! `glsl/kernels.txt`: the list of modules, their file names, and the families of modules in Rust.

/// One module: a source and its defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelRow {
    /// `scan/reduce`, or `scan/reduce:u32x1` for a variant.
    pub name: String,
    /// `NAME` or `NAME=VALUE`, in the row's order.
    pub defines: Vec<String>,
}

/// An axis in the name of a variant: its name in braces, and the values with their defines.
const AXES: [(&str, &[(&str, &str)]); 6] = [
    ("{keys}", &[("key1", "KEY_WORDS=1"), ("key2", "KEY_WORDS=2")]),
    (
        "{pairs}",
        &[
            ("key1", "KEY_WORDS=1 VALUE_WORDS=0"),
            ("key1_value1", "KEY_WORDS=1 VALUE_WORDS=1"),
            ("key1_value2", "KEY_WORDS=1 VALUE_WORDS=2"),
            ("key2", "KEY_WORDS=2 VALUE_WORDS=0"),
            ("key2_value1", "KEY_WORDS=2 VALUE_WORDS=1"),
            ("key2_value2", "KEY_WORDS=2 VALUE_WORDS=2"),
        ],
    ),
    ("{narrow}", &[("key8", "KEY_BITS=8"), ("key16", "KEY_BITS=16")]),
    (
        "{narrow_pairs}",
        &[
            ("key8", "KEY_BITS=8 VALUE_WORDS=0"),
            ("key8_value1", "KEY_BITS=8 VALUE_WORDS=1"),
            ("key8_value2", "KEY_BITS=8 VALUE_WORDS=2"),
            ("key16", "KEY_BITS=16 VALUE_WORDS=0"),
            ("key16_value1", "KEY_BITS=16 VALUE_WORDS=1"),
            ("key16_value2", "KEY_BITS=16 VALUE_WORDS=2"),
        ],
    ),
    ("{1..2}", &[("1", "COLUMNS=1"), ("2", "COLUMNS=2")]),
    ("{1..4}", &[("1", "COLUMNS=1"), ("2", "COLUMNS=2"), ("3", "COLUMNS=3"), ("4", "COLUMNS=4")]),
];

/// The modules of a list, in order; an error names the line.
pub fn parse(text: &str) -> Result<Vec<KernelRow>, String> {
    let mut rows: Vec<KernelRow> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let explain = |why: String| format!("line {}: {why}", index + 1);
        let mut words = line.split_whitespace();
        let Some(stem) = words.next().filter(|word| !word.starts_with('#')) else {
            continue;
        };
        for row in expand(stem, words).map_err(explain)? {
            if rows.iter().any(|other| other.name == row.name) {
                return Err(explain(format!("{} is listed twice", row.name)));
            }
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The modules of a line: one, or one for each value of its axis.
fn expand<'a>(stem: &str, mut words: impl Iterator<Item = &'a str>) -> Result<Vec<KernelRow>, String> {
    let Some(variant) = words.next() else {
        return Err(format!("{stem} lacks a variant, or \"-\" for none"));
    };
    let defines: Vec<_> = words.map(str::to_owned).collect();
    let axis = AXES.iter().find(|(axis, _)| variant.contains(axis));
    let Some((axis, values)) = axis else { return Ok(vec![row(stem, variant, defines)?]) };
    let module = |(value, of_value): &(&str, &str)| {
        let of_value = of_value.split(' ').map(str::to_owned);
        row(stem, &variant.replace(axis, value), defines.iter().cloned().chain(of_value).collect())
    };
    values.iter().map(module).collect()
}

fn row(stem: &str, variant: &str, defines: Vec<String>) -> Result<KernelRow, String> {
    let name = match variant {
        "-" => stem.to_owned(),
        variant if is_plain(variant) => format!("{stem}:{variant}"),
        _ => return Err(format!("{stem} lacks a variant, or \"-\" for none")),
    };
    if !stem.split('/').all(is_plain) {
        return Err(format!("{stem} is not a path of lower-case letters, digits and _"));
    }
    Ok(KernelRow { name, defines })
}

fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// The path of a kernel's module below `glsl/precompiled/`.
pub fn module_path(name: &str) -> String {
    format!("{}.spv", name.replace(':', "."))
}

/// Defines that change the push constants of a source.
const OTHER_PUSH_CONSTANTS: [&str; 2] = ["COUNTED", "SEGMENTED"];

/// Whether a define separates families of one source.
pub fn is_of_family(define: &str) -> bool {
    OTHER_PUSH_CONSTANTS.contains(&define)
}

/// Sources and defines of the modules that serve the textbooks' and the seed's scans alone.
const TEXTBOOK: [&str; 10] = [
    "scan/scan_tiles",
    "scan/propagate",
    "scan/double_blocks",
    "scan/strided",
    "scan/chunk_sum",
    "scan/chunk_prefix",
    "WORKGROUP_SCAN_KOGGE_STONE",
    "WORKGROUP_SCAN_KOGGE_STONE_DOUBLE_BUFFERED",
    "WORKGROUP_SCAN_BRENT_KUNG",
    "WORKGROUP_SCAN_SEQUENTIAL",
];

/// The feature of the library without which a module is not embedded, if there is one.
pub fn feature(name: &str, defines: &[String]) -> Option<&'static str> {
    let has = |define: &str| defines.iter().any(|other| other == define);
    if has("COUNTED") {
        return Some("counters");
    }
    let is_textbook = TEXTBOOK.iter().any(|word| *word == stem(name) || has(word));
    is_textbook.then_some("textbook")
}

/// The name of a module's source.
fn stem(name: &str) -> &str {
    name.split_once(':').map_or(name, |(stem, _)| stem)
}

/// The name of the static in `kernels` with a module's family: the modules of a source with one push-constant block.
pub fn family(name: &str, defines: &[String]) -> String {
    let stem = stem(name);
    let own = defines.iter().filter(|define| is_of_family(define)).map(String::as_str);
    std::iter::once(stem).chain(own).collect::<Vec<_>>().join("_").replace('/', "_").to_ascii_uppercase()
}

#[cfg(test)]
mod tests;
