//! The header: as the code says, and as C and C++ take it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const HEADER: &str = "include/subsweep.h";

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The files of the border that declare something for C: all but what gives Vulkan's types their names, which are
/// Vulkan's own to declare.
fn sources() -> Vec<PathBuf> {
    let folder = fs::read_dir(Path::new(ROOT).join("src/capi")).expect("the folder is there");
    let mut sources: Vec<_> = folder.map(|entry| entry.expect("it can be read").path()).collect();
    sources.retain(|path| !["vulkan.rs", "mod.rs", "boundary.rs"].iter().any(|name| path.ends_with(name)));
    // For people: what everything returns comes first, and what others need before them.
    let order = ["version", "result", "types", "requirements", "device", "scan_config", "scan", "sort"];
    sources.sort_by_key(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (order.iter().position(|name| *name == stem).unwrap_or(order.len()), stem)
    });
    sources
}

fn made() -> String {
    let config = cbindgen::Config::from_file(Path::new(ROOT).join("cbindgen.toml")).expect("cbindgen.toml");
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = sources().into_iter().fold(builder, |builder, source| builder.with_src(source));
    let mut header = Vec::new();
    builder.generate().expect("cbindgen reads src/capi").write(&mut header);
    String::from_utf8(header).expect("a header is text")
}

/// The first line that a header has and another has not, and why that is wrong.
fn staleness(made: &str, committed: &str) -> Option<String> {
    if made == committed {
        return None;
    }
    let line = made.lines().zip(committed.lines().chain(std::iter::repeat(""))).find(|(a, b)| a != b);
    Some(format!(
        "{HEADER} is stale; SUBSWEEP_BLESS=1 cargo test --features capi --test capi_header makes it anew: {line:?}"
    ))
}

/// Every function of the header, with the comment before it.
fn functions(header: &str) -> Vec<(&str, &str)> {
    let declarations = header.split("/**").filter_map(|part| part.split_once("*/"));
    let functions = declarations.filter_map(|(comment, declared)| {
        let end = declared.find('(')?;
        let name = declared[..end].rsplit([' ', '*', '\n']).next()?;
        // A structure's comment comes before a brace.
        (!declared[..end].contains(['{', ';', '#'])).then_some((name, comment))
    });
    functions.collect()
}

#[test]
fn it_is_what_the_code_says() {
    let made = made();
    if std::env::var_os("SUBSWEEP_BLESS").is_some_and(|bless| bless == "1") {
        fs::write(Path::new(ROOT).join(HEADER), &made).expect("the header can be written");
    }
    if let Some(stale) = staleness(&made, &read(HEADER)) {
        panic!("{stale}");
    }
}

#[test]
fn a_doctored_header_is_refused() {
    let header = read(HEADER);
    let doctored = header.replace("SUBSWEEP_ERROR_NULL -", "SUBSWEEP_ERROR_NULL ");
    assert_ne!(header, doctored);
    let told = staleness(&header, &doctored).expect("it is another");
    assert!(told.contains("SUBSWEEP_ERROR_NULL"), "{told}");
    assert!(staleness(&header, "").is_some());
    assert!(staleness(&header, &format!("{header}\n")).is_some());
}

/// Words that are the same to every compiler, whatever it takes a file to be written in.
#[test]
fn it_is_ascii() {
    let header = read(HEADER);
    let strange = header.lines().find(|line| !line.is_ascii());
    assert_eq!(strange, None);
}

#[test]
fn every_function_says_which_threads_may_call_it() {
    let header = read(HEADER);
    let functions = functions(&header);
    assert!(functions.len() > 30, "{} functions", functions.len());
    for (name, comment) in functions {
        assert!(name.starts_with("subsweep_"), "{name}");
        assert!(comment.contains("* Threads: "), "{name} does not say it: {comment}");
    }
}

/// A panic ends at the border, if a function's body is there.
#[test]
fn every_function_goes_through_the_border() {
    let cannot_panic =
        ["subsweep_abi_version", "subsweep_version", "subsweep_last_error", "subsweep_required_api_version"];
    let mut names = BTreeSet::new();
    for path in sources() {
        let source = fs::read_to_string(&path).expect("it can be read");
        for function in source.split("extern \"C\" fn ").skip(1) {
            let (name, rest) = function.split_once('(').expect("a function has parameters");
            let body = rest.split("\n}\n").next().unwrap_or_default();
            let is_inside = ["result(|| ", "value(", "destroy("].iter().any(|border| body.contains(border));
            assert!(is_inside || cannot_panic.contains(&name), "{name} does not");
            names.insert(name.to_owned());
        }
    }
    let header = read(HEADER);
    let declared: BTreeSet<_> = functions(&header).iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names, declared);
}

#[test]
fn the_documentation_has_every_function_and_shows_what_is_tested() {
    let page = read("docs/c.md");
    for (name, _) in functions(&read(HEADER)) {
        assert!(page.contains(&format!("`{name}`")), "docs/c.md leaves out {name}");
    }
    let shown: Vec<_> = page.split("```c\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(shown.len() >= 3, "docs/c.md shows little");
    let tested = ["examples/c/host.c", "examples/c/scan_and_sort.c"].map(read);
    for code in shown {
        let is_tested = tested.iter().any(|source| source.contains(code));
        assert!(is_tested, "docs/c.md shows what is not in examples/c:\n{code}");
    }
}

#[cfg(unix)]
#[test]
fn the_installer_refuses_what_is_no_prefix() {
    for arguments in [&[][..], &[""], &["--help"], &["one", "two"]] {
        let output =
            Command::new(Path::new(ROOT).join("tools/capi")).args(arguments).output().expect("it runs");
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*words), (Some(2), "usage: tools/capi PREFIX\n"), "{arguments:?}");
        assert!(output.stdout.is_empty());
    }
}

/// A structure that grows, its last field in the first header, and where that began and ended: what programs have been
/// compiled with stays where it is.
const GROWING: [(&str, &str, usize, usize); 8] = [
    ("SubsweepDeviceCreateInfo", "pipeline_cache", 40, 48),
    ("SubsweepScanPlanCreateInfo", "algorithm", 32, 40),
    ("SubsweepScanInfo", "initial_on_host_size", 136, 144),
    ("SubsweepSortPlanCreateInfo", "algorithm", 24, 32),
    ("SubsweepSortInfo", "scratch", 56, 96),
    ("SubsweepSegmentedSortInfo", "scratch", 88, 128),
    ("SubsweepGatherPlanCreateInfo", "words_per_element", 8, 12),
    ("SubsweepGatherInfo", "scratch", 72, 112),
];

/// A structure that stays as it is, its last field and where that begins, and its size.
const FROZEN: [(&str, &str, usize, usize); 6] = [
    ("SubsweepAddressRange", "size", 8, 16),
    ("SubsweepBufferRange", "usage", 32, 40),
    ("SubsweepCount", "count", 8, 16),
    ("SubsweepScratchRequirements", "usage", 16, 24),
    ("SubsweepAccess", "access", 4, 8),
    ("SubsweepSortResult", "values", 16, 32),
];

/// ABI 1, in types that no compiler takes if it is another: of 64 bits, as the numbers are.
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

/// Alone, so that it needs nothing before it, and with every warning that there is to be had.
#[cfg(unix)]
#[test]
fn c_and_cplusplus_take_it() {
    // Where the headers of Vulkan are, if compilers do not look there by themselves.
    let flags = Command::new("pkg-config").args(["--cflags", "vulkan"]).output();
    let flags = flags.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = format!(
        "#include <subsweep.h>\n#include <subsweep.h>\n{}\
         int main(void) {{ return subsweep_abi_version() == SUBSWEEP_ABI_VERSION ? 0 : SUBSWEEP_ERROR_NULL; }}\n",
        layout()
    );
    for (compiler, file, standards) in
        [("cc", "it.c", &["c99", "c11"][..]), ("c++", "it.cc", &["c++11", "c++17"])]
    {
        let path = folder.path().join(file);
        fs::write(&path, &program).expect("a temporary file");
        for standard in standards {
            let output = Command::new(compiler)
                .args([
                    &format!("-std={standard}"),
                    "-Wall",
                    "-Wextra",
                    "-Wpedantic",
                    "-Werror",
                    "-fsyntax-only",
                ])
                .arg("-I")
                .arg(Path::new(ROOT).join("include"))
                .args(flags.split_whitespace())
                .arg(&path)
                .output();
            let output =
                output.unwrap_or_else(|error| panic!("{compiler}: {error}; tools/setup test installs it"));
            let words = String::from_utf8_lossy(&output.stderr);
            let hint = "tools/setup test installs Vulkan's headers";
            assert!(output.status.success() && words.is_empty(), "{standard}: {words}({hint})");
        }
    }
}
