use super::manifest::Source;
use super::*;

const GLSL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/glsl");

/// The result of a build from a copy of `glsl/` that `change` has edited.
fn build_of(change: impl FnOnce(&Path)) -> Result<usize, String> {
    let copy = tempfile::tempdir().expect("a temporary folder");
    copy_folder(Path::new(GLSL), copy.path());
    change(copy.path());
    modules(copy.path()).map(|(_, modules)| modules.len())
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_folder(&path, &to);
        } else {
            fs::copy(&path, to).expect("a copy");
        }
    }
}

/// Changes one byte in the middle of a file.
fn touch(path: &Path) {
    let mut bytes = fs::read(path).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).expect("a file that may be written");
}

fn rewrite(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("a text");
    assert!(text.contains(from), "{} has no {from}", path.display());
    fs::write(path, text.replacen(from, to, 1)).expect("a file that may be written");
}

#[track_caller]
fn check_refused(change: impl FnOnce(&Path), why: &str) {
    assert_eq!(build_of(change), Err(format!("{why}: {REMEDY}")));
    assert!(!why.contains('\n') && !REMEDY.contains('\n'), "a build prints one line");
}

#[test]
fn unchanged_modules_are_accepted() {
    let rows = rows(Path::new(GLSL)).expect("a valid list");
    assert_eq!(build_of(|_| {}), Ok(rows.len()));
}

#[test]
fn a_changed_source_makes_every_module_stale() {
    let text = fs::read_to_string(Path::new(GLSL).join("precompiled/manifest.txt")).expect("a manifest");
    let each = |glsl: &Path| {
        for Source { path, .. } in Manifest::parse(&text).expect("a valid manifest").sources {
            touch(&glsl.join(&path));
            let why = format!("glsl/{path} changed since glsl/precompiled was made: {REMEDY}");
            assert_eq!(modules(glsl).map(drop), Err(why));
            // The second change takes back the first.
            touch(&glsl.join(&path));
        }
    };
    assert!(build_of(each).is_ok());
}

#[test]
fn a_changed_module_is_refused() {
    check_refused(
        |glsl| touch(&glsl.join("precompiled/probe/copy.spv")),
        "glsl/precompiled/probe/copy.spv is not the module that its manifest describes",
    );
}

#[test]
fn a_changed_list_makes_every_module_stale() {
    let list = |glsl: &Path| glsl.join("kernels.txt");
    check_refused(
        |glsl| rewrite(&list(glsl), "OPERATOR_WORDS32", "OPERATOR_WORDS64"),
        "glsl/kernels.txt changed the defines of scan/reduce:words32x1",
    );
    check_refused(
        |glsl| rewrite(&list(glsl), "probe/copy ", "# "),
        "glsl/kernels.txt lost or moved a row since glsl/precompiled was made",
    );
    check_refused(
        |glsl| rewrite(&list(glsl), "probe/copy ", "probe/more -\nprobe/copy "),
        "glsl/precompiled lacks probe/more of glsl/kernels.txt",
    );
}

#[test]
fn a_module_of_no_row_is_refused() {
    check_refused(
        |glsl| fs::write(glsl.join("precompiled/scan/old.spv"), []).expect("a new file"),
        "glsl/precompiled/scan/old.spv is in no manifest",
    );
}
