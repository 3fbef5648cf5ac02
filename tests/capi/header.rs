//! The header: as the code says, and as C and C++ take it.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the package.
pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const HEADER: &str = "include/subsweep.h";

/// What is committed.
pub fn committed() -> String {
    fs::read_to_string(Path::new(ROOT).join(HEADER)).unwrap_or_default()
}

/// What the code says, all of it but Vulkan's names, which are Vulkan's own to declare.
fn made() -> String {
    let folder = Path::new(ROOT).join("src/capi");
    let mut sources: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.file_name().is_some_and(|name| name != "vulkan.rs" && name != "mod.rs"))
        .collect();
    // Types come before the functions that need them, whatever the order; this one is for people.
    let order = ["version", "result", "types", "requirements", "device", "scan", "sort"];
    sources.sort_by_key(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (order.iter().position(|name| *name == stem).unwrap_or(order.len()), stem)
    });
    let config = cbindgen::Config::from_file(Path::new(ROOT).join("cbindgen.toml")).expect("cbindgen.toml");
    let builder = sources
        .into_iter()
        .fold(cbindgen::Builder::new().with_config(config), |builder, source| builder.with_src(source));
    let mut header = Vec::new();
    builder.generate().expect("cbindgen reads src/capi").write(&mut header);
    String::from_utf8(header).expect("a header is text")
}

#[test]
fn it_is_what_the_code_says() {
    let made = made();
    if std::env::var_os("SUBSWEEP_BLESS").is_some_and(|bless| bless == "1") {
        fs::write(Path::new(ROOT).join(HEADER), &made).expect("the header can be written");
    }
    let committed = committed();
    let differs = made.lines().zip(committed.lines()).find(|(made, committed)| made != committed);
    assert!(
        made == committed,
        "{HEADER} is stale: SUBSWEEP_BLESS=1 cargo test --features capi --test capi makes it anew; the first line that \
         differs: {differs:?}"
    );
}
