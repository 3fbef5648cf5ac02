//! Canaries: one deliberate fault for each guard, which the guard must report.
//!
//! `docs/GUARDS.md` lists each guard with its canaries; the canaries here are of guards that need a device. The faulty
//! kernel is `probe/copy`, run with a wrong number of quads.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{AddressRange, Barrier, BufferRange, Recorder};
use subsweep::headless::Gpu;
use subsweep::kernels::PROBE_COPY;
use subsweep_hazards::{Finding, Missing};
use subsweep_tool::harness::{BufferLayout, Case, Effort, Work, Workload, verify_cases};

use super::cases::{clean_trial, hazards};
use super::children::Together;
use super::dispatched::check_kernels;
use super::passes::rig::{Alignment, Memory, POISON, Rig, Value, compare, random};
use super::reduced::CHOSEN;
use super::reduced::Lists;
use super::rows::Watch;

pub fn trials(gpu: &Arc<Gpu>, watch: Watch) -> Vec<Trial> {
    let trial =
        |name: &str, run: fn(&Gpu) -> Result<(), Failed>| clean_trial(gpu, format!("canary: {name}"), run);
    let mut trials = vec![
        trial("validation and the hazard checker report a missing transfer barrier", transfer_barrier),
        trial("the hazard checker reports a missing barrier between dispatches", dispatch_barrier),
        trial("the hazard checker reports a superfluous barrier", superfluous_barrier),
        trial("a store past the end overwrites the guard words of a pass's array", guards_of_a_pass),
        trial("a store past the end overwrites the guard words of a case", guards_of_a_case),
        trial("an unwritten word of a pass's array holds poison", poison_of_a_pass),
        trial("an unwritten result of a case holds poison", poison_of_a_case),
        trial("a word that differs from the pass model is reported", word_of_a_pass),
        trial("a word that differs from the oracle is reported", word_of_the_oracle),
        trial("a pipeline that no row dispatches is reported", undispatched_pipeline),
        trial("a kernel that no quick case dispatches is reported", undispatched_kernel),
    ];
    if watch.layer_settings().is_some() {
        trials.extend([
            trial("a store past the end is reported by its address", store_past_the_end),
            trial("a load past the end is reported by its address", load_past_the_end),
            trial("a store across the end is reported by its address", store_across_the_end),
            trial("a load from a freed buffer is reported by its address", load_from_freed_buffer),
        ]);
    }
    trials
}

/// The check passes with all pipelines dispatched, and fails without the pipelines of one kernel.
fn undispatched_kernel(_: &Gpu) -> Result<(), Failed> {
    let kernel_of = |line: &'static str| line.split(' ').next();
    let kernels: BTreeSet<_> = CHOSEN.lines().filter_map(kernel_of).collect();
    let left_out = kernels.first().copied();
    check_kernels(&kernels, &CHOSEN.lines().map(str::to_owned).collect())?;
    let others = CHOSEN.lines().filter(|line| kernel_of(line) != left_out).map(str::to_owned).collect();
    let left_out = left_out.ok_or("the list of pipelines is empty")?;
    match check_kernels(&kernels, &others) {
        Err(message) if message == format!("not dispatched: {left_out}") => Ok(()),
        other => Err(format!("{left_out} was not dispatched, but the check returned {other:?}").into()),
    }
}

/// The check passes with two rows that dispatch all pipelines together, and fails without one of these.
fn undispatched_pipeline(_: &Gpu) -> Result<(), Failed> {
    let folder = Lists::default();
    let path = folder.environment().into_iter().next().ok_or("rows are given no folder")?.1;
    let lines: Vec<_> = CHOSEN.lines().collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    let (_, all_but_one) = second.split_first().ok_or("the list of pipelines is empty")?;
    for (name, lines) in [("first", first), ("second", second)] {
        std::fs::write(Path::new(&path).join(name), lines.join("\n"))?;
    }
    folder.check()?;
    std::fs::write(Path::new(&path).join("second"), all_but_one.join("\n"))?;
    match folder.check() {
        Err(words) if words.starts_with("1 pipeline") && words.contains(second[0]) => Ok(()),
        other => Err(format!("{}: {other:?}", second[0]).into()),
    }
}

fn transfer_barrier(gpu: &Gpu) -> Result<(), Failed> {
    let buffer = gpu.allocate(64)?;
    let record = |recorder: &mut Recorder<'_>| {
        recorder.fill(buffer.range(), 1);
        let first = BufferRange { size: 32, ..buffer.range() };
        let second = BufferRange { offset: first.offset + 32, address: first.address + 32, ..first };
        recorder.copy(first, second);
        Ok(())
    };
    // SAFETY: the buffer lives until `submit` has waited. The missing barrier is deliberate.
    unsafe { gpu.submit(record) }?;
    let messages = gpu.validation_messages();
    assert!(messages.iter().any(|message| message.contains("SYNC-HAZARD")), "{messages:?}");
    let findings = hazards().take_findings();
    assert!(matches!(findings[..], [Finding::Hazard { missing: Missing::Execution, .. }]), "{findings:?}");
    Ok(())
}

fn dispatch_barrier(gpu: &Gpu) -> Result<(), Failed> {
    let [a, b, c] = arrays(gpu)?;
    let findings = two_copies(gpu, [&a, &b], None, [&b, &c])?;
    let [Finding::Hazard { earlier, later, range, missing: Missing::Execution }] = &findings[..] else {
        return Err(format!("{findings:?}").into());
    };
    assert_eq!((&**earlier, &**later), ("0: probe/copy", "1: probe/copy"));
    assert_eq!(*range, b.range());
    Ok(())
}

fn superfluous_barrier(gpu: &Gpu) -> Result<(), Failed> {
    let [a, b, c] = arrays(gpu)?;
    let findings = two_copies(gpu, [&a, &b], Some(Barrier::COMPUTE_TO_COMPUTE), [&a, &c])?;
    assert_eq!(findings, [Finding::SuperfluousBarrier { barrier: "1: compute to compute".into() }]);
    // The same barrier between dependent dispatches.
    let findings = two_copies(gpu, [&a, &b], Some(Barrier::COMPUTE_TO_COMPUTE), [&b, &c])?;
    assert_eq!(findings, []);
    Ok(())
}

const QUADS: usize = 64;

fn arrays(gpu: &Gpu) -> Result<[Memory<'_>; 3], Failed> {
    let array = |seed| Memory::with_words(gpu, &random(seed, QUADS * 4), Alignment::Quads);
    Ok([array(1)?, array(2)?, array(3)?])
}

/// The hazard checker's findings for two dispatches, each a copy from its first array to its second.
fn two_copies(
    gpu: &Gpu,
    first: [&Memory<'_>; 2],
    between: Option<Barrier>,
    second: [&Memory<'_>; 2],
) -> Result<Vec<Finding>, Failed> {
    let rig = copy_rig(gpu)?;
    let push =
        |[source, destination]: [&Memory<'_>; 2]| rig.push(&copy(source.range(), destination.range(), QUADS));
    let (first, second) = (push(first)?, push(second)?);
    let record = |recorder: &mut Recorder<'_>| {
        rig.dispatch(recorder, &first, 1)?;
        between.into_iter().for_each(|barrier| recorder.barrier(barrier));
        rig.dispatch(recorder, &second, 1)
    };
    // SAFETY: the arrays live until `submit` has waited. A wrong barrier is deliberate.
    unsafe { gpu.submit(record) }?;
    Ok(hazards().take_findings())
}

fn copy_rig(gpu: &Gpu) -> Result<Rig<'_>, Failed> {
    Rig::new(gpu, PROBE_COPY.module(&[]), 128, &[("UNITS_PER_INVOCATION", 1)])
}

fn copy<'a>(source: AddressRange, destination: AddressRange, quads: usize) -> [(&'a str, Value<'a>); 3] {
    [
        ("source", Value::Range(source)),
        ("destination", Value::Range(destination)),
        ("word_count", Value::Number(4 * quads)),
    ]
}

fn guarded(gpu: &Gpu, quads: usize) -> Result<Memory<'_>, Failed> {
    Memory::laid_out(gpu, &random(quads, quads * 4), Alignment::Quads, BufferLayout::Guarded)
}

fn guards_of_a_pass(gpu: &Gpu) -> Result<(), Failed> {
    let (source, destination) = (guarded(gpu, QUADS + 1)?, guarded(gpu, QUADS)?);
    copy_rig(gpu)?.run(&copy(source.range(), destination.range(), QUADS + 1), 1)?;
    let right = &random(QUADS + 1, QUADS * 4);
    let report = report_of(compare("canary", "destination", &destination, right))?;
    assert!(
        report.starts_with(&format!("canary: destination[{}] of {} was written", QUADS * 4, QUADS * 4)),
        "{report}"
    );
    Ok(())
}

/// A case that is not in place, ready to run.
fn workload(gpu: &Gpu) -> Result<Workload<'_>, Failed> {
    let is_out_of_place = |case: &&Case| match &case.work {
        Work::Scan(scan) => !scan.in_place && scan.misalignment == 0 && case.count >= 4,
        _ => false,
    };
    let cases = verify_cases(Effort::Quick, gpu.capabilities());
    let case = cases.iter().find(is_out_of_place).ok_or("no such case")?;
    let workload = Workload::new(gpu, case, BufferLayout::Guarded)?;
    workload.restore()?;
    Ok(workload)
}

fn guards_of_a_case(gpu: &Gpu) -> Result<(), Failed> {
    let workload = workload(gpu)?;
    workload.run()?;
    assert_eq!(workload.check()?, None);
    let (source, destination) = (guarded(gpu, 1)?, workload.destination());
    let end = destination.address + destination.size;
    let behind = AddressRange::new(end.next_multiple_of(16), 16);
    copy_rig(gpu)?.run(&copy(source.range(), behind, 1), 1)?;
    let mismatch = workload.check()?.ok_or("no mismatch was reported")?;
    assert_eq!((mismatch.what, mismatch.got), ("guard", random(1, 1)[0]));
    Ok(())
}

/// The first quad is copied from a poisoned source; the last one is not written.
fn poison_of_a_pass(gpu: &Gpu) -> Result<(), Failed> {
    let source = Memory::poisoned(gpu, (QUADS - 1) * 4, Alignment::Quads)?;
    let destination = Memory::poisoned(gpu, QUADS * 4, Alignment::Quads)?;
    let right = random(1, QUADS * 4);
    copy_rig(gpu)?.run(&copy(source.range(), destination.range(), QUADS - 1), 1)?;
    for index in [0, QUADS * 4 - 4] {
        let mut expected = vec![POISON; QUADS * 4];
        expected[index] = right[index];
        let report = report_of(compare("canary", "destination", &destination, &expected))?;
        assert!(
            report.starts_with(&format!("canary: destination[{index}] is {POISON:#010x}, not ")),
            "{report}"
        );
    }
    Ok(())
}

fn poison_of_a_case(gpu: &Gpu) -> Result<(), Failed> {
    let mismatch = workload(gpu)?.check()?.ok_or("no mismatch was reported")?;
    assert_eq!((mismatch.what, mismatch.index, mismatch.got), ("result", 0, POISON));
    Ok(())
}

fn word_of_a_pass(gpu: &Gpu) -> Result<(), Failed> {
    let right = random(QUADS, QUADS * 4);
    let mut wrong = right.clone();
    wrong[QUADS] ^= 1;
    let rig = copy_rig(gpu)?;
    let check = |source: &[u32], destination: &[u32]| {
        let values = [
            ("source", Value::changed(&right, source).at(Alignment::Quads)),
            ("destination", Value::output(destination).at(Alignment::Quads)),
            ("word_count", Value::Number(4 * QUADS)),
        ];
        rig.check("canary", values, 1)
    };
    check(&right, &right)?;
    let [got, expected] = [right[QUADS], wrong[QUADS]];
    for (name, checked) in [("source", check(&wrong, &right)), ("destination", check(&right, &wrong))] {
        let report = report_of(checked)?;
        assert_eq!(
            report,
            format!("canary: {name}[{QUADS}] is {got:#010x}, not {expected:#010x}; 0 more differ")
        );
    }
    Ok(())
}

fn word_of_the_oracle(gpu: &Gpu) -> Result<(), Failed> {
    let workload = workload(gpu)?;
    workload.run()?;
    assert_eq!(workload.check()?, None);
    let (source, destination) = (guarded(gpu, 1)?, workload.destination());
    let first = AddressRange::new(destination.address, 16);
    copy_rig(gpu)?.run(&copy(source.range(), first, 1), 1)?;
    let mismatch = workload.check()?.ok_or("no mismatch was reported")?;
    assert_eq!((mismatch.what, mismatch.index, mismatch.got), ("result", 0, random(1, 1)[0]));
    Ok(())
}

/// The message of a comparison that must fail.
fn report_of(compared: Result<(), Failed>) -> Result<String, Failed> {
    match compared {
        Ok(()) => Err("no mismatch was reported".into()),
        Err(failed) => Ok(failed.message().unwrap_or_default().to_owned()),
    }
}

fn separate(gpu: &Gpu, word_count: usize) -> Result<Memory<'_>, Failed> {
    Memory::laid_out(gpu, &random(word_count, word_count), Alignment::Quads, BufferLayout::Separate)
}

fn store_past_the_end(gpu: &Gpu) -> Result<(), Failed> {
    let (source, destination) = (separate(gpu, (QUADS + 1) * 4)?, separate(gpu, QUADS * 4)?);
    copy_rig(gpu)?.run(&copy(source.range(), destination.range(), QUADS + 1), 1)?;
    expect_report(gpu, destination.range().address + QUADS as u64 * 16)
}

fn load_past_the_end(gpu: &Gpu) -> Result<(), Failed> {
    let (source, destination) = (separate(gpu, QUADS * 4)?, separate(gpu, (QUADS + 1) * 4)?);
    copy_rig(gpu)?.run(&copy(source.range(), destination.range(), QUADS + 1), 1)?;
    expect_report(gpu, source.range().address + QUADS as u64 * 16)
}

fn store_across_the_end(gpu: &Gpu) -> Result<(), Failed> {
    let (source, destination) = (separate(gpu, (QUADS + 1) * 4)?, separate(gpu, QUADS * 4 + 3)?);
    copy_rig(gpu)?.run(&copy(source.range(), destination.range(), QUADS + 1), 1)?;
    expect_report(gpu, destination.range().address + QUADS as u64 * 16)
}

fn load_from_freed_buffer(gpu: &Gpu) -> Result<(), Failed> {
    // The allocator keeps the memory, so that the load is harmless.
    let source = separate(gpu, 4)?.range();
    let destination = guarded(gpu, 1)?;
    assert!(!source.overlaps(&destination.range()), "the memory is in use again");
    copy_rig(gpu)?.run(&copy(source, destination.range(), 1), 1)?;
    expect_report(gpu, source.address)
}

/// Fails unless the layer's only message contains the address.
fn expect_report(gpu: &Gpu, address: u64) -> Result<(), Failed> {
    let messages = gpu.validation_messages();
    let address = format!("{address:#x}");
    match &messages[..] {
        [message] if message.contains(&address) => Ok(()),
        _ => Err(format!("expected one message about {address}, got {messages:?}").into()),
    }
}
