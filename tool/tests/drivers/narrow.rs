//! Devices with reduced limits: results must be right, or the refusal must name the exceeded limit.

use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use subsweep::Error;
use subsweep::device::{Capabilities, EnabledFeatures};
use subsweep::headless::{Gpu, Instance};
use subsweep_tool::harness::{
    BenchGroup, BenchOptions, BenchScale, Case, CopyRoof, Effort, Outcome, bench_cases,
};
use subsweep_tool::harness::{verify_case, verify_cases};

use super::cases::{expect_no_findings, lacks_feature, watched};
use super::children::is_full;

/// A reduced limit.
struct Narrowing {
    name: &'static str,
    limit: fn(&mut Capabilities),
    /// The text that a refusal must contain; `None` where the device must refuse nothing.
    refusal: Option<&'static str>,
}

const NARROWINGS: &[Narrowing] = &[
    Narrowing {
        name: "128 invocations and 16 KiB of shared memory",
        limit: |capabilities| {
            capabilities.max_workgroup_invocations = 128;
            capabilities.shared_memory_size = 16 << 10;
        },
        refusal: None,
    },
    Narrowing {
        name: "7 workgroups in the first dimension",
        limit: |capabilities| capabilities.max_workgroup_count[0] = 7,
        refusal: None,
    },
    Narrowing {
        name: "2 × 2 workgroups",
        limit: |capabilities| capabilities.max_workgroup_count = [2, 2, 1],
        refusal: Some("workgroups of one dispatch"),
    },
    Narrowing {
        name: "no subgroup size control",
        limit: |capabilities| capabilities.enabled = EnabledFeatures::REQUIRED,
        refusal: None,
    },
    Narrowing {
        name: "1 KiB of shared memory",
        limit: |capabilities| capabilities.shared_memory_size = 1 << 10,
        refusal: Some("bytes of shared memory"),
    },
    Narrowing {
        // Staging blocks still fit.
        name: "16 MiB in one allocation",
        limit: |capabilities| capabilities.max_allocation_size = 16 << 20,
        refusal: None,
    },
];

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let is_validated = gpu.is_validated();
    let narrowed = NARROWINGS.iter().map(move |narrowing| {
        Trial::test(format!("narrow: {}", narrowing.name), move || check_narrowed(is_validated, narrowing))
    });
    let timeless = Trial::test("narrow: no timestamps", move || measured(is_validated, false, false));
    let timed = Trial::test("narrow: timed runs", move || measured(is_validated, true, true));
    let poor =
        Trial::test("narrow: too little memory for one allocation", move || too_little_memory(is_validated));
    narrowed.chain([timeless, timed, poor]).collect()
}

/// Opens the row's device with its capabilities reduced by `limit`.
pub fn open(is_validated: bool, limit: fn(&mut Capabilities)) -> subsweep::Result<Gpu> {
    let instance = Arc::new(Instance::new(is_validated)?);
    let mut candidate = instance.candidates()?.into_iter().next().ok_or(Error::NoDevice)?;
    candidate.narrow(limit);
    Gpu::open_candidate(candidate, watched())
}

fn check_narrowed(is_validated: bool, narrowing: &Narrowing) -> Result<(), Failed> {
    let gpu = open(is_validated, narrowing.limit)?;
    let mut refusals = 0;
    // A sample over primitives, policies, sizes and inputs, since each case compiles a plan.
    let step = if is_full() { 37 } else { 149 };
    for case in verify_cases(Effort::Quick, gpu.capabilities()).into_iter().step_by(step) {
        match (verify_case(&gpu, &case)?, narrowing.refusal) {
            (Outcome::Pass, _) => {}
            (Outcome::NotSupported(reason), Some(refusal)) if reason.contains(refusal) => refusals += 1,
            (Outcome::NotSupported(_), _) if lacks_feature(&gpu, &case) => {}
            // A histogram whose bins are asked to be in shared memory, which has no room for them.
            (Outcome::NotSupported(reason), None)
                if case.id().contains("memory=shared") && reason.contains("bytes of shared memory") => {}
            (outcome, _) => return Err(format!("{}: {outcome}", case.id()).into()),
        }
        expect_no_findings(&gpu, &case.id())?;
    }
    assert_eq!(refusals > 0, narrowing.refusal.is_some(), "{refusals} refusals");
    Ok(())
}

const SCALE: BenchScale = BenchScale { effort: Effort::Quick, is_gpu: false };

/// Benchmarks time runs one by one, restore the input, and empty the caches; with timestamps all in a submission.
fn measured(is_validated: bool, has_timestamps: bool, has_cold_cache: bool) -> Result<(), Failed> {
    let limit: fn(&mut Capabilities) = match has_timestamps {
        // The range that empties the caches is as large as an allocation.
        true => |capabilities| capabilities.max_allocation_size = 16 << 20,
        false => |capabilities| capabilities.timestamp_period_ns = 0.0,
    };
    let gpu = open(is_validated, limit)?;
    assert_eq!(gpu.has_timestamps(), has_timestamps);
    let is_small = |case: &Case| case.count == 1 << 16 && case.size() <= 1 << 20;
    let cases = bench_cases(SCALE).into_iter().filter(is_small);
    let in_place = |case: &Case| case.id().contains("place=in") || case.id().starts_with("sort:pairs4");
    let groups = [cases.clone().next(), cases.clone().find(in_place), cases.clone().rfind(in_place)];
    let options = BenchOptions {
        block_count: 1,
        samples_per_block: 3,
        end_to_end_count: 1,
        min_sample: Duration::from_millis(1),
        budget: Duration::ZERO,
        has_cold_cache,
        slow_down: 1.0,
    };
    let roof = CopyRoof::new(&gpu)?;
    for case in groups.into_iter().flatten() {
        let groups = [vec![case.clone()]];
        let mut group = BenchGroup::verified(&roof, &groups, options, |_| Ok(()), |_| ())?.remove(0);
        group.measure_block()?;
        group.finish()?;
        let measured = group.measured().swap_remove(0).map_err(|outcome| outcome.to_string())?;
        assert!(measured.time.median_ns > 0.0, "the wall clock measures where the device does not");
        assert!(measured.sample_count == 3 && measured.end_to_end.is_some(), "{}", case.id());
        expect_no_findings(&gpu, &case.id())?;
    }
    Ok(())
}

fn too_little_memory(is_validated: bool) -> Result<(), Failed> {
    let gpu = open(is_validated, |capabilities| {
        capabilities.max_allocation_size = 16 << 20;
        // An array of several allocations fits.
        capabilities.enabled.sparse_binding = false;
    })?;
    let of_count = |count| Case { count, ..bench_cases(SCALE).swap_remove(0) };
    // Each range fits in one allocation; all together do not.
    let fitting = of_count(1 << 21);
    let outcome = verify_case(&gpu, &fitting)?;
    assert!(matches!(outcome, Outcome::Pass), "{outcome}");
    let large = of_count(1 << 23);
    let outcome = verify_case(&gpu, &large)?;
    assert!(
        matches!(&outcome, Outcome::NotSupported(reason) if reason.contains("out of device memory")),
        "{outcome}"
    );
    expect_no_findings(&gpu, &large.id())
}
