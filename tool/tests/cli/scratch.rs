//! `scratch`: the memory of recordings.

use super::*;

fn scratch<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Ended {
    run(&mut subsweep(["scratch"].into_iter().chain(arguments)))
}

/// A sort of pairs with tiles, which has alternate arrays.
const PAIRS: &str = "sort:pairs*algorithm=onesweep*n=65536;input=uniform";

#[test]
fn every_byte_of_scratch_is_of_an_array() {
    let text = scratch(["--filter", PAIRS]).text();
    let shown: Vec<_> = text.lines().collect();
    assert!(shown[0].starts_with("sort:pairs") && shown[0].ends_with(";n=65536;input=uniform"), "{text}");
    let words_of = |line: usize| shown[line].split_whitespace().collect::<Vec<_>>().join(" ");
    let arguments = ["size argument", "262144 keys: read and written", "262144 values: read and written"];
    assert_eq!([1, 2, 3].map(words_of), arguments, "{text}");
    assert_eq!(words_of(4), "offset size array in scratch", "{text}");
    let reports = scratch(["--filter", PAIRS, "--json"]).json();
    let first = &reports[0];
    assert_eq!((first["case"].as_str(), &first["reason"]), (Some(shown[0]), &Value::Null));
    let arrays = first["arrays"].as_array().unwrap();
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value}"));
    let mut end = 0;
    for (array, line) in arrays.iter().zip(&shown[5..]) {
        let [offset, size] = ["offset", "size"].map(|name| number(&array[name]));
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words[..2], [offset.to_string(), size.to_string()], "{text}");
        assert_eq!(words[2..].join(" "), array["name"].as_str().unwrap(), "{text}");
        assert_eq!(offset, end, "{text}");
        end = (offset + size).next_multiple_of(16);
    }
    assert_eq!(number(&first["size"]), end, "{text}");
    assert_eq!(shown[5 + arrays.len()].trim_start(), format!("{end}  required"), "{text}");
    assert!(end > 8 * 65_536, "{text}");
}

#[test]
fn a_count_replaces_that_of_the_cases() {
    let reports = scratch(["--filter", PAIRS, "--count", "1000000", "--json"]).json();
    let cases = reports.as_array().unwrap();
    assert!(cases.iter().all(|case| case["case"].as_str().unwrap().contains(";n=1000000;")), "{reports}");
    assert!(cases.iter().any(|case| case["size"].as_u64() > Some(8_000_000)), "{reports}");
}

#[test]
fn a_recording_without_scratch_is_shown() {
    let text = scratch(["--quick", "--filter", "search:*n=65536;"]).text();
    let (cases, none) = ("search:", "  no scratch");
    let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert!(count(cases) > 0 && count(cases) == count(none), "{text}");
}

#[test]
fn what_is_not_there_is_refused() {
    scratch([]).refused(2, "name some with --filter");
    scratch(["--filter", "no such case"]).refused(2, "no case has 'no such case' in its id; ids are like ");
    scratch(["--filter", "sort", "--count", "many"]).refused(2, "--count");
    scratch(["--filter", "sort", "--device", "gpu:all"]).refused(2, "scratch takes one gpu: device");
    run(without_drivers(&mut subsweep(["scratch", "--filter", "sort"])))
        .refused(3, "no Vulkan device; install a driver");
}
