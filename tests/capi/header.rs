//! The C header: matches the code, keeps the ABI of the last release, and compiles as C and C++.

#[cfg(target_os = "linux")]
mod abi;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const HEADER: &str = "include/subsweep.h";

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The sources of the C ABI that declare something for C. Vulkan's types are declared by Vulkan's headers.
fn sources() -> Vec<PathBuf> {
    let folder = fs::read_dir(Path::new(ROOT).join("src/capi")).expect("the folder exists");
    let mut sources: Vec<_> = folder.map(|entry| entry.expect("it can be read").path()).collect();
    let is_source = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    let declares =
        |path: &PathBuf| !["vulkan.rs", "mod.rs", "boundary.rs"].iter().any(|name| path.ends_with(name));
    sources.retain(|path| is_source(path) && declares(path));
    // An order for readers: results first, then types before their uses.
    let order = ["version", "result", "types", "requirements", "device", "scan_config", "scan", "sort"];
    sources.sort_by_key(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_last = stem == "gpu";
        (is_last, order.iter().position(|name| *name == stem).unwrap_or(order.len()), stem)
    });
    sources
}

fn generated() -> String {
    let config = cbindgen::Config::from_file(Path::new(ROOT).join("cbindgen.toml")).expect("cbindgen.toml");
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = sources().into_iter().fold(builder, |builder, source| builder.with_src(source));
    let mut header = Vec::new();
    builder.generate().expect("cbindgen reads src/capi").write(&mut header);
    String::from_utf8(header).expect("a header is text")
}

/// A message with the first line that differs, or `None` if the header is fresh.
fn staleness(generated: &str, committed: &str) -> Option<String> {
    if generated == committed {
        return None;
    }
    let line = generated.lines().zip(committed.lines().chain(std::iter::repeat(""))).find(|(a, b)| a != b);
    Some(format!(
        "{HEADER} is stale; SUBSWEEP_BLESS=1 cargo test --features capi --test capi_header updates it: {line:?}"
    ))
}

/// Every function of the header, with the comment before it.
fn functions(header: &str) -> Vec<(&str, &str)> {
    // A blank line separates declarations.
    let functions = header.split("\n\n").filter_map(|block| {
        let lines = block.lines().take_while(|line| line.starts_with("///"));
        let (comment, declared) = block.split_at_checked(lines.map(|line| line.len() + 1).sum())?;
        let end = declared.find('(').filter(|_| !comment.is_empty())?;
        let name = declared[..end].rsplit([' ', '*', '\n']).next()?;
        // Structures, whose declarations have a brace, are omitted.
        (!declared[..end].contains(['{', ';', '#'])).then_some((name, comment))
    });
    functions.collect()
}

#[test]
fn the_header_matches_the_code() {
    let generated = generated();
    if std::env::var_os("SUBSWEEP_BLESS").is_some_and(|bless| bless == "1") {
        fs::write(Path::new(ROOT).join(HEADER), &generated).expect("the header can be written");
    }
    if let Some(stale) = staleness(&generated, &read(HEADER)) {
        panic!("{stale}");
    }
}

#[test]
fn a_doctored_header_is_refused() {
    let header = read(HEADER);
    let doctored = header.replace("SUBSWEEP_ERROR_NULL -", "SUBSWEEP_ERROR_NULL ");
    assert_ne!(header, doctored);
    let message = staleness(&header, &doctored).expect("the header differs");
    assert!(message.contains("SUBSWEEP_ERROR_NULL"), "{message}");
    assert!(staleness(&header, "").is_some());
    assert!(staleness(&header, &format!("{header}\n")).is_some());
}

/// Every compiler reads ASCII the same, in any encoding.
#[test]
fn the_header_is_ascii() {
    let header = read(HEADER);
    let offending = header.lines().find(|line| !line.is_ascii());
    assert_eq!(offending, None);
}

#[test]
fn every_function_states_its_thread_rule() {
    let header = read(HEADER);
    let functions = functions(&header);
    assert!(functions.len() > 25, "{} functions", functions.len());
    // The rule of a family stands at the top, once.
    let (top, _) = header.split_once("#ifndef SUBSWEEP_H").expect("a guard follows the top");
    let paragraphs: Vec<_> = top.split("\n * Every ").skip(1).collect();
    let families = ["subsweep_..._plan_create", "subsweep_cmd_...", "subsweep_gpu_..."];
    assert_eq!(paragraphs.len(), families.len());
    for (paragraph, family) in paragraphs.iter().zip(families) {
        assert!(
            paragraph.starts_with(family) && paragraph.contains("\n * Threads: "),
            "{family}: {paragraph}"
        );
    }
    for (name, comment) in functions {
        assert!(name.starts_with("subsweep_"), "{name}");
        let is_of_a_family = name.ends_with("_plan_create")
            || ["subsweep_cmd_", "subsweep_gpu_"].iter().any(|family| name.starts_with(family));
        assert!(is_of_a_family || comment.contains("/ Threads: "), "{name} states no thread rule: {comment}");
    }
}

/// Every function's body is inside a wrapper that catches panics.
#[test]
fn every_function_catches_panics() {
    let cannot_panic =
        ["subsweep_abi_version", "subsweep_version", "subsweep_last_error", "subsweep_required_api_version"];
    let mut names = BTreeSet::new();
    for path in sources() {
        let source = fs::read_to_string(&path).expect("it can be read");
        for function in source.split("extern \"C\" fn ").skip(1) {
            let (name, rest) = function.split_once('(').expect("a function has parameters");
            let body = rest.split("\n}\n").next().unwrap_or_default();
            // `create_plan`, `record` and `run` are `result(|| …)` for every primitive.
            let wrappers = ["result(|| ", "value(", "destroy(", "create_plan::<", "record::<", "{ run(gpu, "];
            let is_wrapped = wrappers.iter().any(|wrapper| body.contains(wrapper));
            assert!(is_wrapped || cannot_panic.contains(&name), "{name} does not catch panics");
            names.insert(name.to_owned());
        }
    }
    let header = read(HEADER);
    let declared: BTreeSet<_> = functions(&header).iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names, declared);
}

#[test]
fn the_documentation_lists_every_function_and_shows_tested_code() {
    let page = read("docs/c.md");
    for (name, _) in functions(&read(HEADER)) {
        assert!(page.contains(&format!("`{name}`")), "docs/c.md omits {name}");
    }
    let blocks = ["```c\n", "```cpp\n"].into_iter().flat_map(|fence| page.split(fence).skip(1));
    let shown: Vec<_> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    assert!(shown.len() >= 3, "docs/c.md shows little");
    let tested =
        ["host.c", "scan_and_sort.c", "sort.c", "sort.cpp"].map(|name| read(&format!("examples/c/{name}")));
    for code in shown {
        let is_tested = tested.iter().any(|source| source.contains(code));
        assert!(is_tested, "docs/c.md shows code that is not in examples/c:\n{code}");
    }
}

/// The functions of the header for C that the one for C++ does not call: all but the queries of versions, which have
/// nothing to own.
fn uncalled<'a>(header: &'a str, cplusplus: &str) -> Vec<&'a str> {
    let names = functions(header).into_iter().map(|(name, _)| name);
    let is_called =
        |name: &str| ['(', '>', ','].iter().any(|end| cplusplus.contains(&format!("{name}{end}")));
    names.filter(|name| !name.ends_with("_version") && !is_called(name)).collect()
}

#[test]
fn the_header_for_cplusplus_calls_every_function() {
    let (header, cplusplus) = (read(HEADER), read("include/subsweep.hpp"));
    assert!(cplusplus.is_ascii() && cplusplus.lines().count() <= 395);
    assert_eq!(uncalled(&header, &cplusplus), [""; 0], "include/subsweep.hpp omits them");
}

#[test]
fn a_function_without_a_call_in_cplusplus_is_noticed() {
    let (header, cplusplus) = (read(HEADER), read("include/subsweep.hpp"));
    for name in ["subsweep_gpu_scan", "subsweep_cmd_sort", "subsweep_plan_destroy"] {
        // Another name that begins as it does is no call of it.
        let doctored = cplusplus.replace(name, &format!("{name}_more"));
        assert_eq!(uncalled(&header, &doctored), [name]);
    }
}

#[cfg(unix)]
#[test]
fn the_installer_refuses_an_invalid_prefix() {
    for arguments in [&[][..], &[""], &["--help"], &["one", "two"]] {
        let output =
            Command::new(Path::new(ROOT).join("tools/capi")).args(arguments).output().expect("it runs");
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*words), (Some(2), "usage: tools/capi PREFIX\n"), "{arguments:?}");
        assert!(output.stdout.is_empty());
    }
}

/// Growing structures: the last field in the first version of the header, its offset and its end, which must not
/// change.
const GROWING: [(&str, &str, usize, usize); 6] = [
    ("SubsweepDeviceCreateInfo", "pipeline_cache", 40, 48),
    ("SubsweepScanPlanCreateInfo", "algorithm", 32, 40),
    ("SubsweepScanInfo", "initial_on_host_size", 136, 144),
    ("SubsweepSortPlanCreateInfo", "algorithm", 24, 32),
    ("SubsweepSortInfo", "scratch", 88, 128),
    ("SubsweepSegmentedSortInfo", "scratch", 120, 160),
];

/// Frozen structures: the last field, its offset, and the structure's size.
const FROZEN: [(&str, &str, usize, usize); 5] = [
    ("SubsweepAddressRange", "size", 8, 16),
    ("SubsweepBufferRange", "usage", 32, 40),
    ("SubsweepCount", "count", 8, 16),
    ("SubsweepScratchRequirements", "usage", 16, 24),
    ("SubsweepAccess", "access", 4, 8),
];

/// Types that compile only if the layouts match ABI 1, on 64-bit systems.
fn layout() -> String {
    let sizes = GROWING.map(|(name, field, offset, size)| (name, field, offset, ">=", size));
    let frozen = FROZEN.map(|(name, field, offset, size)| (name, field, offset, "==", size));
    let of = |(name, field, offset, relation, size): &(&str, &str, usize, &str, usize)| {
        format!(
            "typedef char {name}Offset[offsetof({name}, {field}) == {offset} ? 1 : -1];\n\
             typedef char {name}Size[sizeof({name}) {relation} {size} ? 1 : -1];\n"
        )
    };
    let types: String = sizes.iter().chain(&frozen).map(of).collect();
    format!("#include <stddef.h>\n#include <stdint.h>\n#if UINTPTR_MAX == UINT64_MAX\n{types}#endif\n")
}

/// Compiles the header first and twice, with all warnings as errors.
#[cfg(unix)]
#[test]
fn the_header_compiles_as_c_and_cplusplus() {
    // The folder of Vulkan's headers, if it is not a default of compilers.
    let flags = Command::new("pkg-config").args(["--cflags", "vulkan"]).output();
    let flags = flags.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = format!(
        "#include <subsweep.h>\n#include <subsweep.h>\n{}\
         int main(void) {{ return subsweep_abi_version() == SUBSWEEP_ABI_VERSION ? 0 : SUBSWEEP_ERROR_NULL; }}\n",
        layout()
    );
    let [c, cplusplus] = ["it.c", "it.cc"].map(|file| folder.path().join(file));
    for path in [&c, &cplusplus] {
        fs::write(path, &program).expect("a temporary file");
    }
    let classes = Path::new(ROOT).join("tests/capi/classes.cpp");
    let mut runs = vec![
        ("cc", &c, ["c99", "c11"]),
        ("c++", &cplusplus, ["c++11", "c++17"]),
        ("c++", &classes, ["c++17", "c++20"]),
    ];
    if Command::new("clang++").arg("--version").output().is_ok() {
        runs.push(("clang++", &classes, ["c++17", "c++20"]));
    }
    for (compiler, path, standards) in runs {
        for standard in standards {
            let output = Command::new(compiler)
                .arg(format!("-std={standard}"))
                .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"])
                .args(["include", "examples/c"].map(|folder| format!("-I{ROOT}/{folder}")))
                .args(flags.split_whitespace())
                .arg(path)
                .output();
            let output =
                output.unwrap_or_else(|error| panic!("{compiler}: {error}; tools/setup test installs it"));
            let words = String::from_utf8_lossy(&output.stderr);
            let hint = "tools/setup test installs Vulkan's headers";
            assert!(output.status.success() && words.is_empty(), "{compiler} {standard}: {words}({hint})");
        }
    }
}
