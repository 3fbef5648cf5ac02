//! Pass checks: every kernel alone on the device, compared word for word with its pass model. A failure names the
//! faulty pass of a primitive.

pub mod chained;
pub mod levels;
mod numbers;
pub mod onesweep;
pub mod operators;
pub mod rig;
pub mod scan;
pub mod segmented_sort;
pub mod sort;
pub mod textbook;

use std::collections::BTreeMap;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::harness::SelfTest;
use subsweep::headless::Gpu;
use subsweep::kernels::{self, Define, Kernel};

use super::PRIMITIVES;
use super::rows::DriverRow;
use rig::{Alignment, Memory, Rig, Selection, Value, compare};

/// Runs one kernel, and compares its output with its pass model.
pub type Check = fn(&Gpu, &'static Kernel, Selection) -> Result<(), Failed>;

/// One trial for each kernel that the row runs, and one that fails if a kernel has no pass model.
pub fn trials(gpu: &Arc<Gpu>, row: &DriverRow) -> Vec<Trial> {
    rig::set_layout(row.watch.layout());
    let selection = row.passes();
    let mut trials = Vec::new();
    let mut without = Vec::new();
    let programs: BTreeMap<_, _> = kernels::all().map(|kernel| (program_of(kernel), kernel.name)).collect();
    for kernel in kernels::all() {
        let is_of_doubles = kernel.name.contains(":float64");
        let Some(check) = check_of(kernel.name) else {
            without.push(kernel.name);
            continue;
        };
        if row.has_doubles_alone() && !is_of_doubles {
            continue;
        }
        if row.has_one_of_each_program() && programs[&program_of(kernel)] != kernel.name {
            continue;
        }
        // A device without doubles must not be given a module that uses them.
        let lacks_feature = is_of_doubles && !gpu.capabilities().enabled.shader_float64;
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

/// What determines a kernel's barriers: its source, and its defines without those of the words of elements.
fn program_of(kernel: &Kernel) -> (&'static str, Vec<Define>) {
    let is_of_elements =
        |name: &str| ["KEY_WORDS", "VALUE_WORDS", "COLUMNS"].contains(&name) || name.starts_with("OPERATOR_");
    let defines = kernel.defines.iter().filter(|(name, _)| !is_of_elements(name)).copied();
    (kernel.name.split(':').next().unwrap_or_default(), defines.collect())
}

fn check_of(kernel: &str) -> Option<Check> {
    let (stem, variant) = kernel.split_once(':').unwrap_or((kernel, ""));
    match stem {
        "probe/copy" => Some(copy),
        "probe/self_test" => Some(self_test),
        _ => PRIMITIVES.iter().find_map(|primitive| (primitive.check)(stem, variant)),
    }
}

/// The self-test must report no failure.
fn self_test(gpu: &Gpu, _: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let verdict = SelfTest::run(gpu)?;
    if verdict.is_passed() { Ok(()) } else { Err(verdict.to_string().into()) }
}

/// The destination of a copy equals its source.
fn copy(gpu: &Gpu, kernel: &'static Kernel, _: Selection) -> Result<(), Failed> {
    let (workgroup_size, quads_per_invocation) = (128, 4);
    let rig = Rig::new(gpu, kernel, workgroup_size, &[("QUADS_PER_INVOCATION", quads_per_invocation)])?;
    let tile_quads = (workgroup_size * quads_per_invocation) as usize;
    for quads in rig::sizes(tile_quads) {
        let words = rig::random(quads, quads * 4);
        let source = Memory::of(gpu, &words, Alignment::Quads)?;
        let destination = Memory::poisoned(gpu, quads * 4, Alignment::Quads)?;
        rig.run(
            &[
                ("source", Value::Pointer(&source)),
                ("destination", Value::Pointer(&destination)),
                ("quad_count", Value::Number(quads)),
            ],
            quads.div_ceil(tile_quads),
        )?;
        let case = format!("{}, {quads} quads", kernel.name);
        compare(&case, "source", &source, &words)?;
        compare(&case, "destination", &destination, &words)?;
    }
    Ok(())
}
