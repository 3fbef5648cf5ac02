//! Every public configuration and plan of a primitive has an example in its documentation; `cargo test --doc` runs them. And
//! `docs/pieces.md` is what the headers of its files say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Begins the table of memory of a plan.
const MEMORY: &str = "/// | memory | bytes |";

/// Opens an example; see `src/lib.rs`.
const FENCE: &str = "#[doc = example!()]";

/// The public configurations and plans of a source, each with whether its documentation has an example.
fn documented_types(source: &str) -> Vec<(&str, bool)> {
    let mut types = Vec::new();
    let mut has_example = false;
    for line in source.lines().map(str::trim_start) {
        let item = ["pub struct ", "pub enum ", "pub type "].iter().find_map(|item| line.strip_prefix(item));
        let name = item.and_then(|item| item.split(|c: char| !c.is_alphanumeric()).next());
        if let Some(name) = name.filter(|name| name.ends_with("Config") || name.ends_with("Plan")) {
            types.push((name, has_example));
        }
        has_example = line == FENCE || has_example && (line.starts_with("///") || line.starts_with("#["));
    }
    types
}

/// The sources of primitives, each with its path.
fn sources() -> Vec<(PathBuf, String)> {
    fn below(folder: &Path) -> Vec<(PathBuf, String)> {
        let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let paths = entries.map(|entry| entry.expect("an entry of a folder").path());
        let source = |path: PathBuf| {
            let text = fs::read_to_string(&path).expect("a source is text");
            vec![(path, text)]
        };
        paths.flat_map(|path| if path.is_dir() { below(&path) } else { source(path) }).collect()
    }
    below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/primitives"))
}

#[test]
fn every_configuration_and_plan_has_an_example() {
    let mut missing = Vec::new();
    let mut count = 0;
    for (path, source) in sources() {
        let types = documented_types(&source);
        let without = types.iter().filter(|(_, has_example)| !has_example);
        missing.extend(without.map(|(name, _)| format!("{}: {name}", path.display())));
        count += types.len();
    }
    assert_eq!(count, 27, "a type more or less");
    assert!(missing.is_empty(), "no example begins with {FENCE}:\n{}", missing.join("\n"));
}

#[test]
fn a_type_without_an_example_is_found() {
    let source = format!(
        "/// Has one.\n{FENCE}\n/// ```\n#[derive(Debug)]\npub struct AConfig {{\n}}\n\n/// Has none.\npub type BPlan = Plan<B>;\n"
    );
    assert_eq!(documented_types(&source), [("AConfig", true), ("BPlan", false)]);
}

/// The names in the memory table of a plan's documentation, but for counts and scratch.
fn documented_memory(source: &str) -> BTreeSet<&str> {
    let table = source.split(MEMORY).nth(1).expect("a table of memory");
    let rows = table.lines().skip(1).map_while(|line| line.strip_prefix("/// |"));
    let names =
        rows.filter_map(|row| row.split('|').next()).flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.filter(|&name| name != "scratch").collect()
}

/// The names that the function `name` gives to arguments in a table, but for counts.
fn arguments<'a>(code: &'a str, name: &str) -> BTreeSet<&'a str> {
    let (_, code) = code.split_once(&format!("fn {name}(")).expect("a table of arguments");
    let code = code.split("\n    }\n").next().unwrap_or(code);
    let strings: Vec<_> = code.split('"').collect();
    let named = strings.windows(2).filter(|pair| {
        let before = pair[0].trim_end();
        before.ends_with('(') && !before.ends_with(".count(")
    });
    named.map(|pair| pair[1]).collect()
}

#[test]
fn the_memory_of_a_documentation_is_that_of_the_table_of_arguments() {
    let sources = BTreeMap::from_iter(sources());
    let pages: Vec<_> = sources.iter().filter(|(_, source)| source.contains(MEMORY)).collect();
    assert_eq!(pages.len(), 13, "a page more or less");
    for (path, page) in pages {
        let code =
            if page.contains("fn arguments(") { page } else { &sources[&path.with_file_name("config.rs")] };
        let names = match &arguments(code, "arguments") {
            // A segmented sort has the arguments of a sort besides, and that has no others.
            own if path
                .parent()
                .is_some_and(|folder| folder.ends_with("sort") || folder.ends_with("segmented")) =>
            {
                let of_sort = sources.iter().find(|(path, _)| path.ends_with("sort/config.rs"));
                own | &arguments(of_sort.expect("it is there").1, "rows")
            }
            own => own.clone(),
        };
        assert_eq!(documented_memory(page), names, "{}", path.display());
    }
}

#[test]
fn the_names_of_a_page_and_of_a_table_are_found() {
    let page = "/// | memory | bytes |\n/// |---|---|\n/// | `a`, `b` | 4 |\n/// | count | 4 |\n/// | `scratch` | 0 |\n///\n/// `c`";
    assert_eq!(documented_memory(page), BTreeSet::from(["a", "b"]));
    let code = "fn arguments(&mut self) {\n    table.count(\"count\", count)?;\n    table.read(\n        \"a\", 4)?;\n    \
                table.write(\"d\", 4).or(Err { reason: \"of b\" })\n    }\n}\nread(\"e\")";
    assert_eq!(arguments(code, "arguments"), BTreeSet::from(["a", "d"]));
}

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A field of a header, `// NAME: text`, with the indented lines that continue it.
fn field(header: &str, name: &str) -> Option<String> {
    let mut lines = header.lines().skip_while(|line| !line.starts_with(&format!("// {name}:")));
    let first = lines.next()?.split_once(':')?.1.trim().to_owned();
    let rest = lines.take_while(|line| line.starts_with("//           ")).map(|line| line[2..].trim());
    Some(rest.fold(first, |text, line| text + " " + line))
}

#[test]
fn the_page_of_pieces_is_that_of_their_headers() {
    let page = text("docs/pieces.md");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let files: Vec<_> = rows
        .map(|row| {
            let file = row.split('`').nth(1).expect("a file");
            let header = text(&format!("glsl/{file}"));
            let fields = ["Needs", "Gives", "Shared", "Barriers"]
                .map(|name| field(&header, name).unwrap_or_else(|| panic!("{file} has no {name}")));
            assert_eq!(row, format!("| `{file}` | {} |", fields.join(" | ")));
            file
        })
        .collect();
    // In no other file, so that the table has them all.
    let mut with_fields = 0;
    for (path, source) in subsweep::GLSL {
        let is_piece = field(source, "Needs").is_some();
        assert_eq!(is_piece, files.contains(path), "{path}");
        with_fields += u32::from(is_piece);
    }
    assert_eq!(with_fields, 13, "a piece more or less");
}

#[test]
fn a_header_that_says_less_is_noticed() {
    let header = "// Needs:    one\n//           and two\n// Gives:    three\n//\n// Shared by all.\n";
    assert_eq!(field(header, "Needs").as_deref(), Some("one and two"));
    assert_eq!(field(header, "Gives").as_deref(), Some("three"));
    assert_eq!(field(header, "Shared"), None);
}

#[test]
fn the_page_of_pieces_has_the_kernel_and_the_functions() {
    let page = text("docs/pieces.md");
    assert!(page.contains(&format!("```glsl\n{}```", text("examples/fused/shaders/fused.comp"))));
    let functions = page.split("```").nth(1).expect("a block of functions");
    let functions = functions.lines().skip(1).filter(|line| !line.starts_with("//"));
    let is_declared = |line: &str| subsweep::GLSL.iter().any(|(_, source)| source.contains(line));
    let missing: Vec<_> = functions.clone().filter(|line| !is_declared(line)).collect();
    assert!(missing.is_empty() && functions.count() > 10, "{missing:?}");
}

#[test]
fn the_version_of_the_pieces_is_that_of_the_crate() {
    let part = |text: &str| text.parse::<u32>().expect("a number");
    let [major, minor, patch] =
        [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"), env!("CARGO_PKG_VERSION_PATCH")]
            .map(part);
    let line = format!("#define SUBSWEEP_GLSL_VERSION {}\n", 10_000 * major + 100 * minor + patch);
    assert!(text("glsl/common/extensions.glsl").contains(&line), "{line}");
}
