//! Tests of what manifests and pages state of the dependencies of the packages that are published.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::Result;
use serde_json::Value;

use crate::process::output;

fn cargo(arguments: &[&str]) -> Result<String> {
    output(Command::new("cargo").args(arguments))
}

/// What a build of packages takes besides, each as its name and version. `arguments` name packages and features.
fn dependencies(arguments: &[&str]) -> BTreeSet<String> {
    let tree = ["tree", "--locked", "--edges=normal,build", "--prefix=none", "--no-dedupe", "--format={p}"];
    let tree = cargo(&[&tree[..], arguments].concat()).unwrap();
    let package = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    tree.lines().filter(|line| !line.starts_with("subsweep")).map(package).collect()
}

/// The numbers of a version of Rust.
fn version(text: &str) -> Vec<u32> {
    text.split('.').map(|number| number.parse().unwrap()).collect()
}

#[test]
fn no_dependency_needs_a_newer_rust_than_is_stated() {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--locked", "--format-version=1"]).unwrap()).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let text = |package: &Value, key: &str| package[key].as_str().map(str::to_owned);
    let library = packages.iter().find(|package| package["name"] == "subsweep").unwrap();
    let stated = version(&text(library, "rust_version").unwrap());
    let ours = ["-p=subsweep", "-p=subsweep-hazards", "-p=subsweep-tool", "--all-features", "--target=all"];
    let built = dependencies(&ours);
    let mut told = 0;
    for package in packages {
        let name = format!("{} v{}", text(package, "name").unwrap(), text(package, "version").unwrap());
        if let Some(needed) = text(package, "rust_version").filter(|_| built.contains(&name)) {
            told += 1;
            assert!(version(&needed) <= stated, "{name} needs Rust {needed}");
        }
    }
    assert!(told > 50, "of {} dependencies {told} tell their Rust", built.len());
}

#[test]
fn the_page_has_the_crates_of_each_feature() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/embedding.md")).unwrap();
    let (_, table) = page.split_once("\n## Features\n").expect("a part about features");
    let rows = table.split("\n## ").next().unwrap().lines().filter_map(|line| line.strip_prefix("| "));
    let count = |feature: &[&str]| {
        dependencies(&[&["-p=subsweep", "--target=x86_64-unknown-linux-gnu"], feature].concat()).len()
    };
    let plain = count(&[]);
    let mut features = BTreeSet::new();
    for row in rows.skip(1) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let feature = cells[0].trim_matches('`');
        if feature == "none" {
            assert_eq!(cells[2], plain.to_string());
            continue;
        }
        let added = count(&["--features", feature]) - plain;
        let stated = if added == 0 { String::new() } else { format!("+{added}") };
        assert_eq!(cells[2], stated, "{feature}");
        features.insert(feature.to_owned());
    }
    let manifest = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml")).unwrap();
    let (_, list) = manifest.split_once("\n[features]\n").unwrap();
    let names = list
        .split("\n[")
        .next()
        .unwrap()
        .lines()
        .filter_map(|line| Some(line.split_once(" = ")?.0.to_owned()));
    assert_eq!(features, names.filter(|name| name != "default").collect());
}
