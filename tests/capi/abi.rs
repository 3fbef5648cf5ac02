//! The ABI of the header against the ABI of the last release, `released.h`: types and functions by libabigail's abidiff, and
//! constants and names of fields, which it does not compare. Before the first release there is no `released.h`.
//!
//! A C compiler makes a library of each header, whose functions do nothing, so that the types are those that C sees.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const HEADER: &str = include_str!("../../include/subsweep.h");
/// The header of the last release.
const RELEASED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/capi/released.h");

/// Whether a line is code.
fn is_code(line: &str) -> bool {
    !line.trim_start().starts_with(['/', '*']) && !line.is_empty()
}

/// The lines with the members of each structure.
fn members(header: &str) -> BTreeMap<&str, Vec<&str>> {
    let structures = header.split("\ntypedef struct ").skip(1).filter_map(|rest| {
        let (name, body) = rest.split_once(" {\n")?;
        let members = body.split("\n}").next()?.lines();
        (!name.contains('\n')).then(|| (name, members.filter(|line| is_code(line)).collect()))
    });
    structures.collect()
}

/// Whether a structure may grow: it has a `struct_size`.
fn may_grow(name: &str) -> bool {
    name.ends_with("Info")
}

/// `header` without the members at the ends of structures with a `struct_size` that `released` does not have.
fn without_growth(header: &str, released: &str) -> String {
    let released = members(released);
    let mut cut = header.to_owned();
    for (name, all) in members(header).into_iter().filter(|(name, _)| may_grow(name)) {
        let known = released.get(name).map_or(all.len(), |known| known.len().min(all.len()));
        let body = |members: &[&str]| format!("\ntypedef struct {name} {{\n{}\n}}", members.join("\n"));
        let whole = &header[header.find(&format!("\ntypedef struct {name} {{")).unwrap_or_default()..];
        let end = whole.find("\n}").map_or(0, |end| end + 2);
        cut = cut.replace(&whole[..end], &body(&all[..known]));
    }
    cut
}

/// A library with the functions of a header.
fn library(folder: &Path, name: &str, header: &str) -> PathBuf {
    let define = |line: &str| match line.strip_suffix(");").filter(|_| is_code(line)) {
        Some(declared) => format!("{declared}) {{ __builtin_trap(); }}\n"),
        None => format!("{line}\n"),
    };
    let (source, library) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    fs::write(&source, header.lines().map(define).collect::<String>()).expect("a temporary file");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-g", "-w", "-shared", "-fPIC", "-Wl,-soname,libsubsweep.so", "-o"]);
    let status = compiler.arg(&library).arg(&source).status();
    assert!(status.is_ok_and(|status| status.success()), "cc of a header; tools/setup test installs it");
    library
}

/// A constant, or a structure's list of members, that is not as it was.
fn renamed(header: &str, released: &str) -> Option<String> {
    let constants = |header| str::lines(header).filter(|line| line.starts_with("#define")).collect();
    let (known, now): (BTreeSet<_>, BTreeSet<_>) = (constants(released), constants(header));
    if let Some(line) = known.difference(&now).next() {
        return Some(format!("missing or changed: {line}"));
    }
    let now = members(header);
    members(released).into_iter().find_map(|(name, known)| {
        let of = now.get(name).map_or(&[][..], Vec::as_slice);
        let is_kept = of.starts_with(&known) && (may_grow(name) || of.len() == known.len());
        (!is_kept).then(|| format!("{name} had the members {known:?}, and has {of:?}"))
    })
}

/// What a program that was compiled with `released` would notice of `header`, or `None`.
fn difference(header: &str, released: &str) -> Option<String> {
    let version =
        |header: &str| header.lines().find(|line| line.contains("_ABI_VERSION ")).map(str::to_owned);
    if version(header) != version(released) {
        return None;
    }
    if let Some(difference) = renamed(header, released) {
        return Some(difference);
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let old = library(folder.path(), "old", released);
    let new = library(folder.path(), "new", &without_growth(header, released));
    let output =
        Command::new("abidiff").arg("--no-added-syms").args([old, new]).output().expect("it is there");
    let words = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    // Bits 1 and 2 are errors, bits 4 and 8 changes.
    match output.status.code() {
        Some(0) => None,
        Some(4 | 8 | 12) => Some(words),
        _ => panic!("abidiff, {}: {words}", output.status),
    }
}

/// Whether abidiff is there; if not, that is said, and fails the gate.
fn is_compared() -> bool {
    let is_there = Command::new("abidiff").arg("--version").output().is_ok();
    if !is_there {
        let why = "THE ABI IS NOT COMPARED: abidiff is missing; tools/setup test installs it";
        assert!(!std::env::var("CI").is_ok_and(|ci| ci == "true"), "{why}");
        // Not `eprintln`, which a test that passes keeps to itself.
        writeln!(std::io::stderr(), "{why}").expect("standard error can be written");
    }
    is_there
}

#[test]
fn the_abi_is_that_of_the_last_release() {
    if !Path::new(RELEASED).exists() || !is_compared() {
        return;
    }
    let difference = difference(HEADER, &fs::read_to_string(RELEASED).expect("it can be read"));
    let advice =
        "compiled programs would notice; append to structures instead, or raise SUBSWEEP_ABI_VERSION";
    assert!(difference.is_none(), "{advice}: {}", difference.unwrap_or_default());
}

/// Canaries: changes of the header that compiled programs notice, and such that they do not.
#[test]
fn changes_of_the_abi_are_noticed() {
    if !is_compared() {
        return;
    }
    let sort = "SubsweepSortPlanCreateInfo";
    let last = format!("    uint32_t value_size;\n}} {sort};");
    let [begin, end] = ["    uint32_t begin_bit;\n", "    uint32_t end_bit;\n"];
    let between =
        HEADER.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).expect("a range of bits").0;
    let (bits, swapped) = (format!("{begin}{between}{end}"), format!("{end}{between}{begin}"));
    let cases: [(&str, &str, &str, bool); 13] = [
        ("a function less", "\nvoid subsweep_device_destroy(struct SubsweepDevice *device);\n", "\n", true),
        (
            "a parameter more",
            "subsweep_gpu_open(const char *selector,",
            "subsweep_gpu_open(int a, const char *b,",
            true,
        ),
        (
            "a field amid others",
            "    uint32_t begin_bit;\n",
            "    uint32_t more;\n    uint32_t begin_bit;\n",
            true,
        ),
        ("another name", "    uint32_t begin_bit;\n", "    uint32_t first_bit;\n", true),
        ("two fields swapped", &bits, &swapped, true),
        ("a name that other structures keep", "    uint32_t flags;\n", "    uint32_t options;\n", true),
        ("a field less at the end", "    uint32_t value_size;\n} SubsweepSort", "} SubsweepSort", true),
        ("a wider field", "    SubsweepSortValues values;\n", "    uint64_t values;\n", true),
        (
            "a larger structure without struct_size",
            "} SubsweepCount;",
            "    uint32_t more;\n} SubsweepCount;",
            true,
        ),
        (
            "another number",
            "#define SUBSWEEP_SORT_VALUES_8_BYTES 2",
            "#define SUBSWEEP_SORT_VALUES_8_BYTES 7",
            true,
        ),
        (
            "another type",
            "typedef uint32_t SubsweepElementType;",
            "typedef uint64_t SubsweepElementType;",
            true,
        ),
        ("a field at the end", &last, &last.replace('}', "    uint64_t more;\n}"), false),
        (
            "a function more",
            "\nvoid subsweep_device_destroy(",
            "\nvoid subsweep_more(int it);\n\nvoid subsweep_device_destroy(",
            false,
        ),
    ];
    for (what, from, to, is_noticed) in cases {
        let doctored = HEADER.replacen(from, to, 1);
        assert_ne!(doctored, HEADER, "{what}: the header has no {from}");
        let difference = difference(&doctored, HEADER);
        assert_eq!(difference.is_some(), is_noticed, "{what}: {difference:?}");
    }
}
