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

/// The first two numbers of a version of Rust: manifests state no others that matter.
fn version(text: &str) -> [u32; 2] {
    let mut numbers = text.split('.').map(|number| number.parse().unwrap());
    [0; 2].map(|_: u32| numbers.next().unwrap_or(0))
}

#[test]
fn no_dependency_needs_a_newer_rust_than_is_stated() {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--locked", "--format-version=1"]).unwrap()).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let library = packages.iter().find(|package| package["name"] == "subsweep").unwrap();
    let stated = version(library["rust_version"].as_str().unwrap());
    let ours = ["-p=subsweep", "-p=subsweep-build", "-p=subsweep-hazards", "-p=subsweep-tool"];
    let ours = [&ours[..], &["--all-features", "--target=all"]].concat();
    let built = dependencies(&ours);
    let told: Vec<_> = rust_versions(packages).into_iter().filter(|(name, _)| built.contains(name)).collect();
    assert_eq!(too_new(&told, stated), Vec::<&str>::new());
    assert!(told.len() > 50, "of {} dependencies {} tell their Rust", built.len(), told.len());
    // A canary: a dependency that needs more.
    let newer =
        [("newer v1.0.0".to_owned(), [stated[0], stated[1] + 1]), ("as old v1.0.0".to_owned(), stated)];
    assert_eq!(too_new(&newer, stated), ["newer v1.0.0"]);
}

/// Packages as name and version, with the Rust that they need, if they tell.
fn rust_versions(packages: &[Value]) -> Vec<(String, [u32; 2])> {
    let text = |package: &Value, key: &str| package[key].as_str().map(str::to_owned);
    let told = packages.iter().filter_map(|package| {
        let name = format!("{} v{}", text(package, "name")?, text(package, "version")?);
        Some((name, version(&text(package, "rust_version")?)))
    });
    told.collect()
}

fn too_new(needed: &[(String, [u32; 2])], stated: [u32; 2]) -> Vec<&str> {
    needed.iter().filter(|(_, needed)| *needed > stated).map(|(name, _)| name.as_str()).collect()
}

#[test]
fn the_port_for_vcpkg_has_the_version() {
    let port = include_str!("../../packaging/vcpkg/subsweep/vcpkg.json");
    let port: Value = serde_json::from_str(port).unwrap();
    let package = cargo(&["pkgid", "--locked", "-p=subsweep"]).unwrap();
    let (_, version) = package.trim().rsplit_once(['#', '@']).unwrap();
    assert_eq!(port["version-semver"], version);
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
