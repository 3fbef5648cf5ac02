//! Pass checks: every kernel alone on the device, compared word for word with its pass model. A failure names the
//! faulty pass of a primitive.

pub mod chained;
pub mod digit_histogram;
pub mod levels;
pub mod numbers;
pub mod onesweep;
pub mod operators;
pub mod packed;
pub mod reduce;
pub mod reduce_by_key;
pub mod rig;
pub mod run_length;
pub mod scan;
pub mod segmented_sort;
pub mod select;
pub mod sort;
pub mod textbook;
pub mod top_k;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::headless::Gpu;
use subsweep::kernels::{self, Kernel};

use super::PRIMITIVES;
use super::rows::DriverRow;
use rig::{Alignment, Rig, Selection, Value};

/// Runs one kernel, and compares its output with its pass model.
pub type Check = fn(&Gpu, &'static Kernel, Selection) -> Result<(), Failed>;

/// One trial for each kernel that the row runs, and one that fails if a kernel has no pass model.
pub fn trials(gpu: &Arc<Gpu>, row: &DriverRow) -> Vec<Trial> {
    rig::set_layout(row.watch.layout());
    let mut trials = Vec::new();
    let mut without = Vec::new();
    let widest = widest_modules();
    for kernel in kernels::all() {
        let features = gpu.capabilities().enabled;
        let is_of_doubles = kernel.name.contains(":float64");
        let packed_bits = rig::packed_bits(kernel);
        let Some(check) = check_of(kernel.name) else {
            without.push(kernel.name);
            continue;
        };
        if row.has_others_alone() && !is_of_doubles && packed_bits == 32 {
            continue;
        }
        let mut selection = row.passes();
        if row.has_widest_modules_alone() {
            if !widest.contains(kernel.name) {
                continue;
            }
            // Their specializations differ in barriers, by the exchange of a tile and by early counts.
            if ["sort/scatter:", "sort/onesweep:"].iter().any(|stem| kernel.name.starts_with(stem)) {
                selection = Selection::Short;
            }
        }
        // A device must not be given a module of a feature that it lacks.
        let lacks_feature = is_of_doubles && !features.shader_float64
            || packed_bits == 8 && !features.storage_buffer8_bit_access
            || packed_bits == 16 && !features.storage_buffer16_bit_access;
        let gpu = Arc::clone(gpu);
        let trial = Trial::test(format!("pass {}", kernel.name), move || {
            let checked = check(&gpu, kernel, selection);
            // Messages are taken after a failure too, so that the next kernel does not report them.
            match (gpu.validation_messages(), checked) {
                (messages, checked) if messages.is_empty() => checked,
                (messages, checked) => {
                    let wrong = checked.err().and_then(|failed| failed.message().map(str::to_owned));
                    Err(wrong.into_iter().chain(messages).collect::<Vec<_>>().join("\n").into())
                }
            }
        });
        trials.push(trial.with_ignored_flag(lacks_feature));
    }
    trials.push(Trial::test("every kernel has a pass model", move || {
        if without.is_empty() { Ok(()) } else { Err(format!("without: {}", without.join(", ")).into()) }
    }));
    trials
}

/// Of the modules of a source that differ only in the words of elements, the one with the most: it has the barriers of the
/// others.
fn widest_modules() -> BTreeSet<&'static str> {
    let mut widest = BTreeMap::<_, (u32, &'static str)>::new();
    for kernel in kernels::all() {
        let is_width = |name: &str| ["KEY_WORDS", "KEY_BITS", "VALUE_WORDS", "COLUMNS"].contains(&name);
        let is_of_elements = |name: &str| is_width(name) || name.starts_with("OPERATOR_");
        let words = kernel.defines.iter().filter(|(name, _)| is_width(name)).map(|(_, words)| words).sum();
        let others: Vec<_> = kernel.defines.iter().filter(|(name, _)| !is_of_elements(name)).collect();
        let module = widest.entry((kernel.name.split(':').next(), others)).or_default();
        *module = (*module).max((words, kernel.name));
    }
    widest.into_values().map(|(_, name)| name).collect()
}

fn check_of(kernel: &str) -> Option<Check> {
    let (stem, variant) = kernel.split_once(':').unwrap_or((kernel, ""));
    match stem {
        "probe/compare" => Some(find_difference),
        "probe/copy" => Some(copy),
        "probe/self_test" => Some(self_test),
        _ => packed::check(stem)
            .or_else(|| PRIMITIVES.iter().find_map(|primitive| (primitive.check)(stem, variant))),
    }
}

/// The self-test must report no failure.
fn self_test(gpu: &Gpu, _: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let verdict = gpu.self_test()?;
    if verdict.is_passed() { Ok(()) } else { Err(verdict.to_string().into()) }
}

/// The destination of a copy equals its source, by quads and by words.
fn copy(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let (workgroup_size, units_per_invocation) = (128, 4);
    let tile_units = (workgroup_size * units_per_invocation) as usize;
    for (by_quads, alignment) in [(true, Alignment::Quads), (false, Alignment::Words)] {
        let constants = [("UNITS_PER_INVOCATION", units_per_invocation), ("QUAD_ACCESS", by_quads.into())];
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        let unit_words = if by_quads { 4 } else { 1 };
        for (index, units) in rig::sizes(tile_units).into_iter().enumerate() {
            // Words beyond the last quad.
            let count = units * unit_words + index % unit_words;
            let words = rig::random(count, count);
            let values = [
                ("source", Value::input(&words).at(alignment)),
                ("destination", Value::output(&words).at(alignment)),
                ("word_count", Value::Number(count)),
            ];
            let case = format!("{}, {count} words", kernel.name);
            rig.check(&case, values, units.div_ceil(tile_units).max(1))?;
        }
    }
    Ok(())
}

/// The first of several differences is found, or none.
fn find_difference(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let (workgroup_size, items) = (128, 3);
    let rig = Rig::new(gpu, kernel, workgroup_size, &[("ITEMS_PER_INVOCATION", items)])?;
    let tile_items = (workgroup_size * items) as usize;
    for count in rig::sizes(tile_items).into_iter().filter(|&count| count > 0) {
        for (is_array, differences) in [
            (true, vec![]),
            (false, vec![]),
            (true, vec![count - 1]),
            (false, vec![count / 2, count - 1]),
            (true, vec![count / 3, count / 2]),
            (false, vec![0]),
            // Several of each invocation.
            (true, (0..count).collect()),
        ] {
            let expected = if is_array { rig::random(count, count) } else { vec![7; count] };
            let mut words = expected.clone();
            differences.iter().for_each(|&index| words[index] = !expected[index]);
            let first = differences.first().map_or(u32::MAX, |&index| index as u32);
            let values = [
                ("words", Value::input(words)),
                ("expected", Value::input(expected).only_if(is_array)),
                ("first_difference", Value::changed(vec![u32::MAX], vec![first])),
                ("word_count", Value::Number(count)),
                ("value", Value::Number(7)),
            ];
            let case = format!("{}, {count} words, {} differences", kernel.name, differences.len());
            rig.check(&case, values, count.div_ceil(tile_items))?;
        }
    }
    Ok(())
}
