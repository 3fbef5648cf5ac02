//! Functions of a caller that compare two elements: searches, merges, and merge sorts.

use std::cmp::Ordering;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::headless::Gpu;
use subsweep::kernels::fixture;
use subsweep::merge::{MergeConfig, MergePolicy};
use subsweep::search::{SearchConfig, SearchPolicy};
use subsweep::sort::{StructureSortConfig, StructureSortPolicy};
use subsweep::{Error, FunctionModule, Functions};

use super::super::passes::rig::{Alignment, Memory, random, small_workgroup};
use super::super::structures::sorts_of_counts;
use super::trial;

/// A comparison, in all kernels that call it.
macro_rules! comparison {
    ($name:literal, $words:literal, data: $data:literal) => {
        functions!(
            $name,
            $words,
            data: $data,
            ["search/search:key1", "merge/merge:rounds_key1", "sort/merge_runs"]
        )
    };
}

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = |name, run| trial(gpu, name, run);
    vec![
        trial("searches by a comparison of the caller", searches),
        trial("merges by a comparison of the caller", merges),
        trial("merge sorts by a comparison of the caller", merge_sorts),
        trial("merge sorts of any count on the device", merge_sorts_of_counts),
        trial("elements of 1,024 words by a comparison of the caller", pages),
        trial("a comparison that is no order gives some of the elements", careless),
    ]
}

/// Compares records by a float and a part of a name.
pub fn by_score_and_name() -> &'static Functions {
    comparison!("record", 7, data: 1)
}

type Record = [u32; 7];

/// `less` of the fixture, on the host.
fn compare_records(a: &Record, b: &Record, is_descending: bool) -> Ordering {
    let by_score = f32::from_bits(a[0]).total_cmp(&f32::from_bits(b[0]));
    let by_score = if is_descending { by_score.reverse() } else { by_score };
    let name = |record: &Record| bytemuck::cast::<_, [u8; 8]>([record[1], record[2]]);
    by_score.then_with(|| name(a).cmp(&name(b)))
}

/// Records of few scores, NaNs and zeros of either sign among them, and of few names; the last word is the index.
fn records(seed: usize, count: usize) -> Vec<Record> {
    const SCORES: [f32; 8] = [0.0, -0.0, 1.5, -1.5, f32::NAN, -f32::NAN, f32::INFINITY, 3.0];
    const NAMES: [&[u8; 8]; 4] = [b"subsweep", b"subsweeq", b"abcdefgh", b"\xff\0\0\0\0\0\0\x01"];
    let words = random(seed, 2 * count);
    let record = |index: usize| {
        let [first, second] = bytemuck::cast(*NAMES[words[2 * index] as usize % 4]);
        [SCORES[words[2 * index + 1] as usize % 8].to_bits(), first, second, 7, 8, 9, index as u32]
    };
    (0..count).map(record).collect()
}

/// The data of the fixture.
fn direction(is_descending: bool) -> [u8; 4] {
    if is_descending { [0xff; 4] } else { [0; 4] }
}

/// Compares lower and upper bounds, in all records and in the records of a row, with the bounds of the host.
fn searches(gpu: &Gpu) -> Result<(), Failed> {
    let less = by_score_and_name();
    let refused = gpu.search(SearchConfig::custom_lower_bound(less), &[0u32; 7], &[0; 7]);
    assert!(matches!(refused, Err(Error::RangeTooSmall { what: "functions_data", .. })), "{refused:?}");
    let ragged = gpu.search(SearchConfig::custom_lower_bound(less), &[0u32; 7], &[0; 8]).err();
    assert_eq!(ragged, Some(Error::PartialElement { size: 32, element_size: 28 }));
    let small = SearchPolicy::tiled(small_workgroup(gpu), 4, 2);
    for (sorted_count, needle_count, is_descending) in
        [(0, 5, false), (1, 3, true), (100, 1000, false), (4097, 70_001, true), (50_000, 3, false)]
    {
        let data = direction(is_descending);
        let mut sorted = records(sorted_count, sorted_count);
        sorted.sort_by(|a, b| compare_records(a, b, is_descending));
        let needles = records(needle_count + 1, needle_count);
        for (config, counts) in [
            (SearchConfig::custom_lower_bound(less), Ordering::is_lt as fn(_) -> _),
            (SearchConfig::custom_upper_bound(less), Ordering::is_le),
        ] {
            let position = |sorted: &[Record], needle: &Record| {
                sorted.partition_point(|record| counts(compare_records(record, needle, is_descending))) as u32
            };
            let expected: Vec<_> = needles.iter().map(|needle| position(&sorted, needle)).collect();
            for config in [config, config.policy(small)] {
                // SAFETY: the word that the function reads.
                let got = unsafe {
                    gpu.search_custom(config, sorted.as_flattened(), needles.as_flattened(), &data)
                }?;
                assert!(got == expected, "{needle_count} of {sorted_count}, {config:?}");
            }
            // Rows of 100 and 1000 records, of which the table has several.
            let in_rows = config.along_rows(100, 1000);
            let tables = |length, count: usize| {
                let mut table: Vec<_> = (0..count).map(|row| records(row + length, length)).collect();
                for row in table.iter_mut().filter(|_| length == 100) {
                    row.sort_by(|a, b| compare_records(a, b, is_descending));
                }
                table
            };
            let (sorted, needles) = (tables(100, 3), tables(1000, 3));
            let expected: Vec<_> = sorted
                .iter()
                .zip(&needles)
                .flat_map(|(sorted, needles)| needles.iter().map(|needle| position(sorted, needle)))
                .collect();
            let [sorted, needles] = [sorted, needles].map(|rows| rows.concat().concat());
            // SAFETY: as above.
            assert_eq!(unsafe { gpu.search_custom(in_rows, &sorted, &needles, &data) }?, expected);
        }
    }
    Ok(())
}

/// Compares merges, of records alone and with values, by large and small tiles, with a stable sort of the host.
fn merges(gpu: &Gpu) -> Result<(), Failed> {
    let less = by_score_and_name();
    let workgroup = small_workgroup(gpu);
    let tile = workgroup as usize * 4;
    for (a_count, b_count, is_descending) in [
        (0, 0, false),
        (0, 7, true),
        (tile, 1, false),
        (3 * tile + 1, 2 * tile - 1, true),
        (20_000, 9_999, false),
    ] {
        let data = direction(is_descending);
        let sorted = |seed, count| {
            let mut records = records(seed, count);
            records.sort_by(|a, b| compare_records(a, b, is_descending));
            records
        };
        let (a, b) = (sorted(1, a_count), sorted(2, b_count));
        let value = |array: u32| move |record: &Record| [array, record[6], 5];
        let (a_values, b_values): (Vec<_>, Vec<_>) =
            (a.iter().map(value(0)).collect(), b.iter().map(value(1)).collect());
        let mut rows: Vec<_> = a.iter().chain(&b).zip(a_values.iter().chain(&b_values)).collect();
        rows.sort_by(|(a, _), (b, _)| compare_records(a, b, is_descending));
        let (records, values): (Vec<Record>, Vec<[u32; 3]>) = rows.into_iter().unzip();
        let config = MergeConfig::custom(less);
        let small = MergePolicy::tiled(workgroup, 4);
        let mut in_rounds = small;
        in_rounds.loads_in_flight = 3;
        for config in [config, config.policy(small), config.policy(in_rounds)] {
            let none: &[u32] = &[];
            // SAFETY: the word that the function reads.
            let (got, _) = unsafe {
                gpu.merge_custom(config, (a.as_flattened(), none), (b.as_flattened(), none), &data)
            }?;
            assert!(got == records.as_flattened(), "{a_count} and {b_count}, {config:?}");
            let with = |keys, values| (<[Record]>::as_flattened(keys), <[[u32; 3]]>::as_flattened(values));
            let (of_a, of_b) = (with(&a, &a_values), with(&b, &b_values));
            // SAFETY: as above.
            let got = unsafe { gpu.merge_custom(config.values(3), of_a, of_b, &data) }?;
            let is_same = got.0 == records.as_flattened() && got.1 == values.as_flattened();
            assert!(is_same, "{a_count} and {b_count} with values, {config:?}");
        }
    }
    let descending = gpu.merge(MergeConfig::custom(less).descending(), &[0u32; 7], &[0; 7]);
    assert!(matches!(descending, Err(Error::Unsupported { .. })), "{descending:?}");
    Ok(())
}

/// Compares sorts of records in place and their argsorts, by large and small tiles, with stable sorts of the host.
fn merge_sorts(gpu: &Gpu) -> Result<(), Failed> {
    let less = by_score_and_name();
    let config = StructureSortConfig::custom(less);
    let short = gpu.sort_structures(config, &mut records(0, 2));
    assert!(matches!(short, Err(Error::RangeTooSmall { what: "functions_data", .. })), "{short:?}");
    let workgroup = small_workgroup(gpu);
    let uneven = StructureSortPolicy::tiled(workgroup, 3);
    let refused = gpu.plan(config.policy(uneven)).err();
    assert!(matches!(refused, Some(Error::InvalidPolicy(_))), "{refused:?}");
    let chosen = StructureSortPolicy::choose(gpu.capabilities(), &config).policy;
    for (policy, tile) in
        [chosen, StructureSortPolicy::tiled(workgroup, 1), StructureSortPolicy::tiled(workgroup, 4)]
            .map(|policy| (policy, policy.tile_items() as usize))
    {
        for count in [0, 1, 2, tile - 1, tile, tile + 1, 2 * tile + 1, 5 * tile - 3, 9 * tile] {
            let is_descending = count % 2 == 1;
            let data = direction(is_descending);
            let given = records(count, count);
            let mut expected = given.clone();
            expected.sort_by(|a, b| compare_records(a, b, is_descending));
            let mut sorted = given.clone();
            // SAFETY: the word that the function reads.
            unsafe { gpu.sort_structures_custom(config.policy(policy), &mut sorted, &data) }?;
            assert!(sorted == expected, "{count}, {policy}");
            let argsort = StructureSortConfig::custom_argsort(less).policy(policy);
            // SAFETY: as above.
            let indices = unsafe { gpu.argsort_structures_custom(argsort, &given, &data) }?;
            assert!(
                indices.iter().eq(expected.iter().map(|record| &record[6])),
                "argsort of {count}, {policy}"
            );
        }
    }
    Ok(())
}

fn merge_sorts_of_counts(gpu: &Gpu) -> Result<(), Failed> {
    let less = by_score_and_name();
    let given = records(9, 1000);
    let in_place = StructureSortConfig::custom(less);
    let configs = [in_place, in_place.out_of_place(), StructureSortConfig::custom_argsort(less)];
    let data = Memory::with_words(gpu, &[0], Alignment::Words)?;
    let order = |count: usize| {
        let mut sorted = given[..count].to_vec();
        sorted.sort_by(|a, b| compare_records(a, b, false));
        sorted.iter().map(|record| record[6]).collect()
    };
    sorts_of_counts(gpu, configs, (given.as_flattened(), 7), data.range(), order)
}

/// The largest elements, through every kernel that compares.
fn pages(gpu: &Gpu) -> Result<(), Failed> {
    let less = comparison!("page", 1024, data: 0);
    let pages = |seed, count: usize| -> Vec<Vec<u32>> {
        random(seed, count)
            .iter()
            .map(|word| [random(*word as usize, 1023), vec![word % 50]].concat())
            .collect()
    };
    let sorted = |mut pages: Vec<Vec<u32>>| {
        pages.sort_by_key(|page| page[1023]);
        pages
    };
    let given = pages(1, 300);
    let mut structures: Vec<[u32; 1024]> = given.iter().map(|page| page[..].try_into().unwrap()).collect();
    gpu.sort_structures(StructureSortConfig::custom(less), &mut structures)?;
    assert!(structures.as_flattened() == sorted(given).concat());
    let (a, b) = (sorted(pages(2, 200)), sorted(pages(3, 100)));
    let merged = gpu.merge(MergeConfig::custom(less), &a.concat(), &b.concat())?;
    assert!(merged == sorted([a.clone(), b.clone()].concat()).concat());
    let positions = gpu.search(SearchConfig::custom_upper_bound(less), &a.concat(), &b.concat())?;
    let expected: Vec<_> = b.iter().map(|b| a.partition_point(|a| a[1023] <= b[1023]) as u32).collect();
    assert_eq!(positions, expected);
    Ok(())
}

/// A comparison that is no order: what comes out is some of what went in.
fn careless(gpu: &Gpu) -> Result<(), Failed> {
    let less = comparison!("careless", 2, data: 0);
    let count = 5000;
    let given: Vec<[u32; 2]> =
        random(3, count).into_iter().zip(0..).map(|(word, index)| [word, index]).collect();
    let is_given = |element: &[u32; 2]| given.get(element[1] as usize) == Some(element);
    let small = StructureSortPolicy::tiled(small_workgroup(gpu), 2);
    let argsort = StructureSortConfig::custom_argsort(less).policy(small);
    let indices = gpu.argsort_structures(argsort, &given)?;
    assert!(indices.iter().all(|&index| (index as usize) < count), "{indices:?}");
    let mut sorted = given.clone();
    gpu.sort_structures(StructureSortConfig::custom(less).policy(small), &mut sorted)?;
    assert!(sorted.iter().all(is_given));
    let halves = given.split_at(count / 3);
    let config = MergeConfig::custom(less).policy(MergePolicy::tiled(small_workgroup(gpu), 2));
    let merged = gpu.merge(config, halves.0.as_flattened(), halves.1.as_flattened())?;
    assert!(merged.as_chunks::<2>().0.iter().all(is_given));
    let words = given.as_flattened();
    let positions = gpu.search(SearchConfig::custom_lower_bound(less), words, words)?;
    assert!(positions.iter().all(|&position| position as usize <= count));
    Ok(())
}
