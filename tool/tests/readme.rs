//! Runs the commands of the README and of the documentation. Their Rust code is in documentation tests.

use std::path::Path;
use std::process::Command;

/// Runs every `$ tools/run …` of these pages, in a folder with their input files.
#[test]
fn commands_of_the_readme_work() {
    let pages = [
        include_str!("../../README.md"),
        include_str!("../../docs/command-line.md"),
        include_str!("../../docs/algorithms.md"),
    ];
    let commands_of = |page: &'static str| page.lines().filter_map(|line| line.strip_prefix("$ tools/run"));
    let mut commands: Vec<_> = pages.into_iter().flat_map(commands_of).collect();
    assert!(pages.into_iter().all(|page| commands_of(page).count() >= 3), "a page shows few commands");
    commands.sort_unstable();
    commands.dedup();
    let folder = tempfile::tempdir().unwrap();
    write_npy(&folder.path().join("keys.npy"), "(6,)", &[3, 1, 4, 1, 5, 9]);
    write_npy(&folder.path().join("ids.npy"), "(6,)", &[10, 11, 12, 13, 14, 15]);
    write_npy(&folder.path().join("table.npy"), "(2, 3)", &[1, 2, 3, 4, 5, 6]);
    write_npy(&folder.path().join("values.npy"), "(5,)", &[2, 7, 1, 8, 2]);
    write_npy(&folder.path().join("starts.npy"), "(2,)", &[0, 3]);
    write_npy(&folder.path().join("pick.npy"), "(2,)", &[1, 0]);
    write_npy(&folder.path().join("edges.npy"), "(3,)", &[1, 3, 6]);
    write_npy(&folder.path().join("colors.npy"), "(6,)", &[7, 7, 8, 8, 8, 7]);
    write_npy(&folder.path().join("more.npy"), "(2,)", &[2, 3]);
    // Trades at the prices 2, 1 and 2, of the sizes 5, 6 and 7.
    let fields = "[('price', '<u4'), ('size', '<u4')]";
    write(&folder.path().join("trades.npy"), fields, "(3,)", &[2, 5, 1, 6, 2, 7]);
    let run = |command: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_subsweep"))
            .args(arguments(command))
            .args(filter(command))
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    };
    // The earlier report of a comparison.
    run("bench --quick --json before.json");
    commands.into_iter().for_each(run);
    for (name, words) in [
        ("sorted.npy", &[1, 1, 3, 4, 5, 9][..]),
        ("descending.npy", &[9, 5, 4, 3, 1, 1]),
        ("by-key.npy", &[1, 1, 3, 4, 5, 9]),
        ("ids-by-key.npy", &[11, 13, 10, 12, 14, 15]),
        ("order.npy", &[1, 3, 0, 2, 4, 5]),
        ("by-parity.npy", &[4, 3, 1, 1, 5, 9]),
        ("sorted-rows.npy", &[1, 2, 3, 4, 5, 6]),
        ("by-price.npy", &[1, 6, 2, 7, 2, 5]),
        ("in-rows.npy", &[0, 1, 2, 0, 1, 2]),
        ("sums.npy", &[0, 0, 0, 1, 2, 3]),
        ("suffix.npy", &[7, 7, 1, 8, 2]),
        ("lists.npy", &[1, 2, 7, 2, 8]),
        ("rows.npy", &[4, 5, 6, 1, 2, 3]),
        ("large.npy", &[7, 8]),
        ("some.npy", &[2, 1, 2]),
        ("where.npy", &[0, 2, 4]),
        ("best-ids.npy", &[15, 14, 12]),
        ("unique.npy", &[3, 1, 4, 1, 5, 9]),
        ("parts.npy", &[2, 1, 2, 7, 8]),
        ("three.npy", &[1, 2, 2, 7, 8]),
        ("sizes.npy", &[1, 2, 2]),
        ("row-sums.npy", &[1, 3, 6, 4, 9, 15]),
        ("greatest.npy", &[2, 2]),
        ("run-values.npy", &[7, 8, 7]),
        ("run-counts.npy", &[2, 3, 1]),
        ("run-offsets.npy", &[0, 2, 5]),
        (
            "repeated.npy",
            &[10, 10, 10, 11, 12, 12, 12, 12, 13, 14, 14, 14, 14, 14, 15, 15, 15, 15, 15, 15, 15, 15, 15],
        ),
        ("counts.npy", &[1, 2, 0, 1, 1]),
        ("positions.npy", &[1, 3, 0, 3, 1]),
        ("upper.npy", &[1, 3, 1, 3, 1]),
        ("merged.npy", &[1, 2, 3, 3, 6]),
        ("merged-values.npy", &[1, 2, 3, 3, 6]),
        ("differences.npy", &[5, 4_294_967_290, 7, 4_294_967_290]),
        ("along.npy", &[1, 1, 1, 1]),
        ("counts-of-columns.npy", &[1, 1, 1, 1, 0, 2]),
        ("largest.npy", &[8, 7, 2]),
        ("columns.npy", &[3, 1, 0]),
        ("smallest.npy", &[1, 2, 4, 5]),
    ] {
        assert_eq!(last_words(&folder.path().join(name), words.len()), words, "{name}");
    }
}

/// The words of a command line; one in single quotes may have blanks.
fn arguments(command: &str) -> Vec<&str> {
    let parts = command.split('\'').enumerate();
    let words = parts.flat_map(|(index, part)| match index % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    });
    words.collect()
}

/// Arguments that select a few of a suite's cases; other tests run all of them.
fn filter(command: &str) -> &'static [&'static str] {
    let is_of = |word: &str| command.split_whitespace().any(|other| other == word);
    if is_of("--filter") || !(is_of("verify") || is_of("bench")) {
        &[]
    } else if is_of("verify") {
        &["--filter", "scan:inclusive:type=u32;"]
    } else if is_of("--preset") {
        &["--filter", "radix-2bit*n=65536;"]
    } else {
        &["--filter", "n=256;"]
    }
}

fn write_npy(path: &Path, shape: &str, words: &[u32]) {
    write(path, "'<u4'", shape, words);
}

fn write(path: &Path, descr: &str, shape: &str, words: &[u32]) {
    let mut header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    header.push_str(&" ".repeat(117 - header.len()));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    std::fs::write(path, bytes).unwrap();
}

fn last_words(path: &Path, count: usize) -> Vec<u32> {
    let bytes = std::fs::read(path).unwrap();
    let payload = &bytes[bytes.len() - 4 * count..];
    payload.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}
