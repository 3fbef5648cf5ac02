//! Deliberately wrong probes, one for each guard: silence means something only from those who would have spoken.
//!
//! `docs/GUARDS.md` says of every guard what it catches, what it cannot, and which probe proves it awake. Those here
//! are of guards that need a device. The wrong kernels are the right `probe/copy`, told of more or fewer quads than
//! there are.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::{AddressRange, Barrier, BufferRange, Finding, Missing, Recorder};
use subsweep::harness::{Case, Effort, Layout, Work, Workload, verify_cases};
use subsweep::headless::Gpu;
use subsweep::kernels::PROBE_COPY;

use super::cases::{expect_silence, hazards};
use super::children::Together;
use super::dispatched::check_kernels;
use super::passes::rig::{Access, Memory, POISON, Rig, Value, compare, random};
use super::reduced::CHOSEN;
use super::reduced::Lists;
use super::rows::Watch;

pub fn trials(gpu: &Arc<Gpu>, watch: Watch) -> Vec<Trial> {
    let trial = |name: &str, run: fn(&Gpu) -> Result<(), Failed>| {
        let gpu = Arc::clone(gpu);
        Trial::test(format!("armed: {name}"), move || {
            run(&gpu)?;
            expect_silence(&gpu, "armed")
        })
    };
    let mut trials = vec![
        trial("a missing transfer barrier is told by validation and by our own checker", transfer_barrier),
        trial("a missing barrier between dispatches is told by our own checker", dispatch_barrier),
        trial("a superfluous barrier is told by our own checker", superfluous_barrier),
        trial("a store past the end breaks the guards of a pass's array", guards_of_a_pass),
        trial("a store past the end breaks the guards of a case", guards_of_a_case),
        trial("what nobody wrote shows its poison in a pass's array", poison_of_a_pass),
        trial("what nobody wrote shows its poison in a case", poison_of_a_case),
        trial("a wrong word is told from the pass model's", word_of_a_pass),
        trial("a wrong word is told from the oracle's", word_of_the_oracle),
        trial("a pipeline that no row has dispatched is named", undispatched_pipeline),
        trial("a kernel that no quick case has dispatched is named", undispatched_kernel),
    ];
    if watch == Watch::Bounds {
        trials.extend([
            trial("a store past the end is told by its address", store_past_the_end),
            trial("a load past the end is told by its address", load_past_the_end),
            trial("a store that begins inside and ends outside is told by its address", store_across_the_end),
            trial("a load from a buffer that is gone is told by its address", load_from_the_dead),
        ]);
    }
    trials
}

/// All pipelines were dispatched, and then all but those of one kernel.
fn undispatched_kernel(_: &Gpu) -> Result<(), Failed> {
    let kernel_of = |line: &'static str| line.split(' ').next();
    let kernels: BTreeSet<_> = CHOSEN.lines().filter_map(kernel_of).collect();
    let left_out = kernels.first().copied();
    check_kernels(&kernels, &CHOSEN.lines().map(str::to_owned).collect())?;
    let others = CHOSEN.lines().filter(|line| kernel_of(line) != left_out).map(str::to_owned).collect();
    let left_out = left_out.ok_or("nothing is chosen")?;
    match check_kernels(&kernels, &others) {
        Err(message) if message == format!("they do not: {left_out}") => Ok(()),
        other => Err(format!("{left_out} is left out, and the check says {other:?}").into()),
    }
}

/// Two rows have all pipelines between them, and then all but one.
fn undispatched_pipeline(_: &Gpu) -> Result<(), Failed> {
    let folder = Lists::default();
    let path = folder.environment().into_iter().next().ok_or("rows are told of no folder")?.1;
    let lines: Vec<_> = CHOSEN.lines().collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    let (_, all_but_one) = second.split_first().ok_or("nothing is chosen")?;
    for (name, lines) in [("first", first), ("second", second)] {
        std::fs::write(Path::new(&path).join(name), lines.join("\n"))?;
    }
    folder.check()?;
    std::fs::write(Path::new(&path).join("second"), all_but_one.join("\n"))?;
    match folder.check() {
        Err(words) if words.starts_with("1 pipeline") && words.contains(second[0]) => Ok(()),
        told => Err(format!("{}: {told:?}", second[0]).into()),
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
    // SAFETY: the buffer lives until `submit` has waited. The missing barrier is the point.
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
    // The same barrier where it is needed.
    let findings = two_copies(gpu, [&a, &b], Some(Barrier::COMPUTE_TO_COMPUTE), [&b, &c])?;
    assert_eq!(findings, []);
    Ok(())
}

const QUADS: usize = 64;

fn arrays(gpu: &Gpu) -> Result<[Memory<'_>; 3], Failed> {
    let array = |seed| Memory::of(gpu, &random(seed, QUADS * 4), Access::Quads);
    Ok([array(1)?, array(2)?, array(3)?])
}

/// What the hazard checker finds in two dispatches, each from its first array to its second.
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
    // SAFETY: the arrays live until `submit` has waited. A wrong barrier is the point.
    unsafe { gpu.submit(record) }?;
    Ok(hazards().take_findings())
}

fn copy_rig(gpu: &Gpu) -> Result<Rig<'_>, Failed> {
    Rig::new(gpu, &PROBE_COPY, 128, &[("QUADS_PER_INVOCATION", 1)])
}

fn copy<'a>(source: AddressRange, destination: AddressRange, quads: usize) -> [(&'a str, Value<'a>); 3] {
    [
        ("source", Value::Range(source)),
        ("destination", Value::Range(destination)),
        ("quad_count", Value::Number(quads)),
    ]
}

fn guarded(gpu: &Gpu, quads: usize) -> Result<Memory<'_>, Failed> {
    Memory::laid_out(gpu, &random(quads, quads * 4), Access::Quads, Layout::Guarded)
}

fn guards_of_a_pass(gpu: &Gpu) -> Result<(), Failed> {
    let (source, destination) = (guarded(gpu, QUADS + 1)?, guarded(gpu, QUADS)?);
    copy_rig(gpu)?.run(&copy(source.range(), destination.range(), QUADS + 1), 1)?;
    let right = &random(QUADS + 1, QUADS * 4);
    let told = told_of(&destination, right)?;
    assert!(
        told.starts_with(&format!("armed: destination[{}] of {} was written", QUADS * 4, QUADS * 4)),
        "{told}"
    );
    Ok(())
}

/// A case whose result has a place of its own, ready to run.
fn workload(gpu: &Gpu) -> Result<Workload<'_>, Failed> {
    let is_apart = |case: &&Case| match &case.work {
        Work::Scan(scan) => !scan.in_place && scan.misalignment == 0 && case.count >= 4,
        Work::Sort(_) | Work::SegmentedSort(_) | Work::Gather(_) => false,
    };
    let cases = verify_cases(Effort::Quick, gpu.capabilities());
    let case = cases.iter().find(is_apart).ok_or("no such case")?;
    let workload = Workload::new(gpu, case, Layout::Guarded)?;
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
    let mismatch = workload.check()?.ok_or("nothing was noticed")?;
    assert_eq!((mismatch.what, mismatch.got), ("guard", random(1, 1)[0]));
    Ok(())
}

/// One quad is copied too few, and the quad before it was poison where it came from.
fn poison_of_a_pass(gpu: &Gpu) -> Result<(), Failed> {
    let source = Memory::poisoned(gpu, (QUADS - 1) * 4, Access::Quads)?;
    let destination = Memory::poisoned(gpu, QUADS * 4, Access::Quads)?;
    let right = random(1, QUADS * 4);
    copy_rig(gpu)?.run(&copy(source.range(), destination.range(), QUADS - 1), 1)?;
    for index in [0, QUADS * 4 - 4] {
        let mut expected = vec![POISON; QUADS * 4];
        expected[index] = right[index];
        let told = told_of(&destination, &expected)?;
        assert!(told.starts_with(&format!("armed: destination[{index}] is {POISON:#010x}, not ")), "{told}");
    }
    Ok(())
}

fn poison_of_a_case(gpu: &Gpu) -> Result<(), Failed> {
    let mismatch = workload(gpu)?.check()?.ok_or("nothing was noticed")?;
    assert_eq!((mismatch.what, mismatch.index, mismatch.got), ("result", 0, POISON));
    Ok(())
}

fn word_of_a_pass(gpu: &Gpu) -> Result<(), Failed> {
    let right = random(QUADS, QUADS * 4);
    let mut wrong = right.clone();
    wrong[QUADS] ^= 1;
    let (source, destination) = (guarded(gpu, QUADS)?, guarded(gpu, QUADS)?);
    copy_rig(gpu)?.run(&copy(source.range(), destination.range(), QUADS), 1)?;
    compare("armed", "destination", &destination, &right)?;
    let told = told_of(&destination, &wrong)?;
    let [got, expected] = [right[QUADS], wrong[QUADS]];
    assert_eq!(
        told,
        format!("armed: destination[{QUADS}] is {got:#010x}, not {expected:#010x}; 0 more differ")
    );
    Ok(())
}

fn word_of_the_oracle(gpu: &Gpu) -> Result<(), Failed> {
    let workload = workload(gpu)?;
    workload.run()?;
    assert_eq!(workload.check()?, None);
    let (source, destination) = (guarded(gpu, 1)?, workload.destination());
    let first = AddressRange::new(destination.address, 16);
    copy_rig(gpu)?.run(&copy(source.range(), first, 1), 1)?;
    let mismatch = workload.check()?.ok_or("nothing was noticed")?;
    assert_eq!((mismatch.what, mismatch.index, mismatch.got), ("result", 0, random(1, 1)[0]));
    Ok(())
}

/// What a comparison that must fail says.
fn told_of(memory: &Memory<'_>, expected: &[u32]) -> Result<String, Failed> {
    match compare("armed", "destination", memory, expected) {
        Ok(()) => Err("nothing was noticed".into()),
        Err(failed) => Ok(failed.message().unwrap_or_default().to_owned()),
    }
}

fn apart(gpu: &Gpu, word_count: usize) -> Result<Memory<'_>, Failed> {
    Memory::laid_out(gpu, &random(word_count, word_count), Access::Quads, Layout::Separate)
}

fn store_past_the_end(gpu: &Gpu) -> Result<(), Failed> {
    let (source, destination) = (apart(gpu, (QUADS + 1) * 4)?, apart(gpu, QUADS * 4)?);
    copy_rig(gpu)?.run(&copy(source.range(), destination.range(), QUADS + 1), 1)?;
    expect_told(gpu, destination.range().address + QUADS as u64 * 16)
}

fn load_past_the_end(gpu: &Gpu) -> Result<(), Failed> {
    let (source, destination) = (apart(gpu, QUADS * 4)?, apart(gpu, (QUADS + 1) * 4)?);
    copy_rig(gpu)?.run(&copy(source.range(), destination.range(), QUADS + 1), 1)?;
    expect_told(gpu, source.range().address + QUADS as u64 * 16)
}

fn store_across_the_end(gpu: &Gpu) -> Result<(), Failed> {
    let (source, destination) = (apart(gpu, (QUADS + 1) * 4)?, apart(gpu, QUADS * 4 + 3)?);
    copy_rig(gpu)?.run(&copy(source.range(), destination.range(), QUADS + 1), 1)?;
    expect_told(gpu, destination.range().address + QUADS as u64 * 16)
}

fn load_from_the_dead(gpu: &Gpu) -> Result<(), Failed> {
    // The allocator keeps the memory itself, so that nothing is harmed.
    let source = apart(gpu, 4)?.range();
    let destination = guarded(gpu, 1)?;
    assert!(!source.overlaps(&destination.range()), "the memory has another owner already");
    copy_rig(gpu)?.run(&copy(source, destination.range(), 1), 1)?;
    expect_told(gpu, source.address)
}

/// Fails unless the layer names the address, and says nothing else.
fn expect_told(gpu: &Gpu, address: u64) -> Result<(), Failed> {
    let messages = gpu.validation_messages();
    let address = format!("{address:#x}");
    match &messages[..] {
        [message] if message.contains(&address) => Ok(()),
        _ => Err(format!("not told of {address} alone, but {messages:?}").into()),
    }
}
