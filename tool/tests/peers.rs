//! The peers in benches/peers measure cases of `bench --preset peers`, by their ids.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use subsweep_tool::harness::{BenchScale, Effort, peer_bench_cases, without_count};

/// Ids with N for the count, where a case has several.
fn without_counts(ids: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    let replaced = |id: String| match id.split_once(";n=") {
        Some((work, rest)) => {
            let (count, input) = rest.split_once(';').expect("an input after the count");
            if count == "1" { id } else { format!("{work};n=N;{input}") }
        }
        None => id,
    };
    ids.into_iter().map(replaced).collect()
}

/// The string literals of sources in C++ or Rust that are ids.
fn ids_of(source: &str) -> impl Iterator<Item = String> {
    source.split('"').skip(1).step_by(2).filter(|text| text.contains(";input=")).map(str::to_owned)
}

#[test]
fn cub_measures_the_works_of_the_preset() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("benches/peers/cub");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let sources = paths.filter(|path| path.extension().is_some_and(|extension| extension == "cu"));
    let of_cub: Vec<_> =
        sources.flat_map(|path| ids_of(&fs::read_to_string(path).unwrap()).collect::<Vec<_>>()).collect();
    let scale = BenchScale { effort: Effort::Normal, is_gpu: true };
    let ours = without_counts(peer_bench_cases(scale).iter().map(|case| case.id()));
    assert_eq!(without_counts(of_cub.clone()), ours);
    assert_eq!(of_cub.len(), ours.len(), "no id twice");
}

/// Its own tests, of the full suite, run it.
#[test]
fn the_peers_on_vulkan_measure_works_of_the_preset() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("benches/peers/vulkan/src/work.rs");
    let of_peers: BTreeSet<_> = ids_of(&fs::read_to_string(path).unwrap()).collect();
    let scale = BenchScale { effort: Effort::Normal, is_gpu: true };
    let ours: BTreeSet<_> = peer_bench_cases(scale).iter().map(|case| without_count(&case.id())).collect();
    assert!(of_peers.len() == 4 && of_peers.is_subset(&ours), "{of_peers:?}");
}

#[test]
fn an_id_is_found_in_a_source() {
    let source = "{{\"a:type=u32;n=N;input=uniform\",\n \"b:n\"}, f}; // \"c;n=1;input=sorted\"";
    assert_eq!(ids_of(source).collect::<Vec<_>>(), ["a:type=u32;n=N;input=uniform", "c;n=1;input=sorted"]);
}
