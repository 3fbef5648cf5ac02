//! The ABI of the header against that of the last release, `released.h`: types and functions by libabigail's abidiff, and
//! constants and names of fields, which it does not compare. Before the first release `released.h` is what is to be released.
//!
//! A C compiler makes a library of each header, whose functions do nothing, so that the types are those that C sees.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use libtest_mimic::Failed;

use crate::children;
use crate::libraries::{Libraries, done, words};

const HEADER: &str = include_str!("../../include/subsweep.h");
const RELEASED: &str = include_str!("released.h");

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

/// `header` without what structures with a `struct_size` have at their ends that those of `released` do not have.
fn without_growth(header: &str, released: &str) -> String {
    let released = members(released);
    let mut cut = header.to_owned();
    for (name, all) in members(header).into_iter().filter(|(name, _)| name.ends_with("Info")) {
        let known = released.get(name).map_or(all.len(), |known| known.len().min(all.len()));
        let body = |members: &[&str]| format!("\ntypedef struct {name} {{\n{}\n}}", members.join("\n"));
        let whole = &header[header.find(&format!("\ntypedef struct {name} {{")).unwrap_or_default()..];
        let end = whole.find("\n}").map_or(0, |end| end + 2);
        cut = cut.replace(&whole[..end], &body(&all[..known]));
    }
    cut
}

/// A library with the functions of a header.
fn library(folder: &Path, name: &str, header: &str) -> Result<std::path::PathBuf, Failed> {
    let define = |line: &str| match line.strip_suffix(");").filter(|_| is_code(line)) {
        Some(declared) => format!("{declared}) {{ __builtin_trap(); }}\n"),
        None => format!("{line}\n"),
    };
    let (source, library) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    std::fs::write(&source, header.lines().map(define).collect::<String>())?;
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-g", "-w", "-shared", "-fPIC", "-Wl,-soname,libsubsweep.so", "-o"]);
    done(compiler.arg(&library).arg(&source))?;
    Ok(library)
}

/// What a program that was compiled with `released` would notice of `header`, or `None`.
fn difference(header: &str, released: &str) -> Result<Option<String>, Failed> {
    let version =
        |header: &str| header.lines().find(|line| line.contains("_ABI_VERSION ")).map(str::to_owned);
    if version(header) != version(released) {
        return Ok(None);
    }
    let is_constant = |line: &str| line.starts_with("#define");
    let is_field = |line: &str| line.starts_with("    ") && line.ends_with(';') && !line.ends_with(");");
    let lines = |header| str::lines(header).filter(|line| is_constant(line) || is_field(line)).collect();
    let (known, now): (BTreeSet<_>, BTreeSet<_>) = (lines(released), lines(header));
    if let Some(line) = known.difference(&now).next() {
        return Ok(Some(format!("missing or changed: {}", line.trim())));
    }
    let folder = tempfile::tempdir()?;
    let old = library(folder.path(), "old", released)?;
    let new = library(folder.path(), "new", &without_growth(header, released))?;
    let output = Command::new("abidiff").arg("--no-added-syms").args([old, new]).output()?;
    match output.status.code() {
        Some(0) => Ok(None),
        // Bits 1 and 2 are errors, bits 4 and 8 changes.
        Some(code @ (4 | 8 | 12)) => Ok(Some(format!("abidiff, {code}: {}", words(&output)))),
        _ => Err(format!("abidiff, {}: {}", output.status, words(&output)).into()),
    }
}

/// Whether abidiff is there; if not, that is said, and fails the gate.
fn is_compared() -> Result<bool, Failed> {
    if Command::new("abidiff").arg("--version").output().is_ok() {
        return Ok(true);
    }
    let why = "THE ABI IS NOT COMPARED: abidiff is missing; tools/setup test installs it";
    if std::env::var("CI").is_ok_and(|ci| ci == "true") {
        return Err(why.into());
    }
    children::note(why);
    Ok(false)
}

/// The header keeps the ABI of the last release.
pub fn is_kept() -> Result<(), Failed> {
    let difference = if is_compared()? { difference(HEADER, RELEASED)? } else { None };
    let Some(difference) = difference else { return Ok(()) };
    let advice = "compiled programs would notice; append to structures instead, or raise SUBSWEEP_ABI_VERSION; \
                  before the first release, and with one, cp include/subsweep.h tests/capi/released.h";
    Err(format!("{advice}: {difference}").into())
}

/// Canaries: changes of the header that compiled programs notice, and such that they do not.
pub fn changes_are_noticed() -> Result<(), Failed> {
    if !is_compared()? {
        return Ok(());
    }
    let sort = "SubsweepSortPlanCreateInfo";
    let last = format!("    const char *algorithm;\n}} {sort};");
    let cases: [(&str, &str, &str, bool); 10] = [
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
        if doctored == HEADER {
            return Err(format!("{what}: the header has no {from}").into());
        }
        let difference = difference(&doctored, HEADER)?;
        if difference.is_some() != is_noticed {
            return Err(format!("{what}: {difference:?}").into());
        }
    }
    Ok(())
}

/// The shared library exports the functions of the header, and nothing else.
pub fn exports_are_the_functions(libraries: &Libraries) -> Result<(), Failed> {
    let mut nm = Command::new("nm");
    let output = done(nm.args(["-D", "--defined-only"]).arg(libraries.prefix().join("lib/libsubsweep.so")))?;
    let words = words(&output);
    let exported: BTreeSet<_> = words.lines().filter_map(|line| line.split(' ').next_back()).collect();
    let calls = HEADER.lines().filter(|line| is_code(line) && !line.starts_with([' ', '#']));
    let names = calls.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    let declared: BTreeSet<_> = names.collect();
    let difference: Vec<_> = exported.symmetric_difference(&declared).collect();
    if difference.is_empty() && declared.len() > 40 { Ok(()) } else { Err(format!("{difference:?}").into()) }
}
