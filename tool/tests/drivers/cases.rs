//! The case table: one trial for each group of cases that differ only in size and input.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::ElementType;
use subsweep::device::Capabilities;
use subsweep::headless::{Gpu, WorkOptions};
use subsweep::scan::{ScanAlgorithm, ScanKind, ScanOperator, SegmentsBy, WorkgroupScan};
use subsweep::sort::SortAlgorithm;
use subsweep::top_k::TopKAlgorithm;
use subsweep_hazards::HazardChecker;
use subsweep_tool::harness::{
    BufferLayout, Case, CountFrom, Effort, InitialFrom, Input, Outcome, PolicyName, RunLengthCoding,
    ScanCase, SegmentMix, SelectOutput, SortCase, SortValues, Work, product_cases, verify_case_in,
    verify_cases,
};

use super::children::is_full;
use super::dispatched::Listener;
use super::rows::DriverRow;

pub fn trials(gpu: &Arc<Gpu>, row: &DriverRow) -> Vec<Trial> {
    let layout = row.watch.layout();
    let by_name = grouped(cases_of(gpu.capabilities(), row));
    let is_taken = |(name, cases): &(String, Vec<Case>)| {
        let work = &cases[0].work;
        let matches_digits = is_match_of_digits(work);
        // The row of shared masks leaves matching by ballots to the other rows, except lane-sensitive cases.
        !(matches_digits && row.has_shared_masks())
            && row.takes(name, work.depends_on_progress(gpu.capabilities()), matches_digits)
    };
    let mut groups: BTreeMap<_, _> = by_name.into_iter().filter(is_taken).collect();
    if row.has_lane_sensitive_additionally() {
        for (name, cases) in grouped(lane_sensitive_cases(gpu.capabilities())) {
            groups.entry(name).or_default().extend(cases);
        }
    }
    if row.has_shared_masks() {
        let masked = chosen(gpu.capabilities(), has_shared_masks).collect();
        groups.extend(grouped(masked));
    }
    let trial = |(name, cases): (String, Vec<Case>)| {
        let gpu = Arc::clone(gpu);
        Trial::test(name, move || verify(&gpu, &cases, layout))
    };
    groups.into_iter().map(trial).collect()
}

/// Whether the sort ranks by matching digits across lanes.
fn is_match_of_digits(work: &Work) -> bool {
    let is_matching = [SortAlgorithm::Onesweep, SortAlgorithm::Radix8Bit];
    matches!(work, Work::Sort(sort) if is_matching.contains(&sort.algorithm) && sort.misalignment == 0)
}

/// Whether the sort ranks by masks in shared memory.
fn has_shared_masks(case: &Case) -> bool {
    match &case.work {
        Work::Sort(sort) => sort.policy == PolicyName::SmallMasks,
        Work::SegmentedSort(sort) => sort.has_shared_masks,
        _ => false,
    }
}

/// Cases grouped by their work.
fn grouped(cases: Vec<Case>) -> BTreeMap<String, Vec<Case>> {
    let (mut groups, mut known) = (BTreeMap::<_, Vec<_>>::new(), HashSet::new());
    for case in cases.into_iter().filter(|case| known.insert(case.id())) {
        groups.entry(case.work.to_string()).or_default().push(case);
    }
    groups
}

/// Largest [`Case::item_count`] of cases from the full table, in the short suite and under GPU-assisted validation.
const MAX_SIZE: u64 = 65_537;

/// Largest [`Case::item_count`], in the full suite, of rows without large inputs.
const MAX_SIZE_OF_MOST: u64 = 1 << 17;

fn cases_of(capabilities: &Capabilities, row: &DriverRow) -> Vec<Case> {
    if row.is_lane_sensitive_alone() {
        return lane_sensitive_cases(capabilities);
    }
    let mut cases = verify_cases(row.effort(), capabilities);
    if row.has_specializations_alone() {
        let quick = ids(&verify_cases(Effort::Quick, capabilities));
        cases.retain(|case| !quick.contains(&case.id()));
    }
    if row.has_small_tiles_alone() {
        return cases.into_iter().map(in_small_tiles).collect();
    }
    if row.effort() == Effort::Full && !row.has_products() {
        let products = ids(&product_cases(capabilities));
        let is_taken = |case: &Case| {
            let is_small = case.item_count() <= MAX_SIZE_OF_MOST && !products.contains(&case.id());
            // Look-back over many tiles depends on the driver's scheduling.
            is_small || case.work.depends_on_progress(capabilities) && case.count.abs_diff(1 << 20) == 1
        };
        cases.retain(is_taken);
    }
    if row.watch.layer_settings().is_some() {
        cases.retain(|case| is_worth_watching(case) && case.item_count() <= MAX_SIZE);
        if !is_full() {
            // Kernels of two-word elements run under validation in the pass checks.
            cases.retain(|case| element_of(&case.work).is_none_or(|element| element.size() == 4));
            cases.extend(chosen(capabilities, is_watched_additionally));
        }
    }
    cases
}

fn ids(cases: &[Case]) -> HashSet<String> {
    cases.iter().map(Case::id).collect()
}

/// The element type of a scan or a sort.
fn element_of(work: &Work) -> Option<ElementType> {
    match work {
        Work::Scan(scan) => Some(scan.element),
        Work::Sort(sort) => Some(sort.keys.element),
        Work::SegmentedSort(sort) => Some(sort.keys.element),
        Work::Select(select) => Some(select.element),
        Work::Reduce(reduce) => Some(reduce.element),
        Work::RunLength(of) => Some(of.element),
        Work::Search(search) => Some(search.element),
        Work::Merge(merge) => Some(merge.element),
        Work::Difference(difference) => Some(difference.element),
        Work::TopK(top_k) => Some(top_k.element),
        _ => None,
    }
}

/// Selected cases of the full table.
fn chosen(capabilities: &Capabilities, is_it: fn(&Case) -> bool) -> impl Iterator<Item = Case> {
    let full = verify_cases(Effort::Full, capabilities).into_iter();
    full.filter(move |case| is_it(case) && case.item_count() <= MAX_SIZE)
}

fn lane_sensitive_cases(capabilities: &Capabilities) -> Vec<Case> {
    // The table has the single-workgroup sort only at its default tile shape, which takes four times as long to
    // compile.
    let smallest = |mut case: Case| {
        if let Work::Sort(sort @ SortCase { algorithm: SortAlgorithm::SingleWorkgroup, .. }) = &mut case.work
        {
            sort.policy = PolicyName::Small;
            if case.count > sort.policy(capabilities).tile_items().into() {
                return None;
            }
        }
        Some(case)
    };
    // A mask has one bit for each of up to 32 lanes; fewer than 16 lanes are left to the full suite.
    let lanes = capabilities.min_subgroup_size..=capabilities.max_subgroup_size;
    let takes_masks = *lanes.start() >= 16 && *lanes.end() <= 32;
    // To the lanes, digits of 2 bits are as digits of 4 bits.
    let is_of_2_bits =
        |work: &Work| matches!(work, Work::Sort(sort) if sort.algorithm == SortAlgorithm::Radix2Bit);
    let is_taken =
        |case: &Case| (takes_masks || !has_shared_masks(case)) && (is_full() || !is_of_2_bits(&case.work));
    let cases: Vec<_> =
        chosen(capabilities, is_lane_sensitive).filter(is_taken).filter_map(smallest).collect();
    expect_every_kind(&cases);
    cases
}

/// Panics if the full table lacks a lane-sensitive kind of case.
fn expect_every_kind(cases: &[Case]) {
    let has = |is_it: &dyn Fn(&Work) -> bool| cases.iter().any(|case| is_it(&case.work));
    let subgroup = ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup);
    for (algorithm, element) in [
        (subgroup, ElementType::U32),
        (subgroup, ElementType::U64),
        (ScanAlgorithm::Chained, ElementType::U32),
        (ScanAlgorithm::Chained, ElementType::F32),
    ] {
        let is_it = |work: &Work| matches!(work, Work::Scan(scan) if (scan.algorithm, scan.element) == (algorithm, element));
        assert!(has(&is_it), "no scan of {element} by {algorithm:?}");
    }
    for algorithm in SortAlgorithm::ALL.into_iter().filter(|&of| is_full() || of != SortAlgorithm::Radix2Bit)
    {
        assert!(
            has(&|work| matches!(work, Work::Sort(sort) if sort.algorithm == algorithm)),
            "no {algorithm:?}"
        );
    }
    assert!(
        has(&|work| matches!(work, Work::Sort(sort) if sort.policy == PolicyName::Seed)),
        "no sort by the seed's policy"
    );
    assert!(has(&|work| matches!(work, Work::SegmentedSort(_))), "no segmented sort");
}

/// Cases that replace quick cases whose specializations take too long under GPU-assisted validation.
fn is_watched_additionally(case: &Case) -> bool {
    match &case.work {
        Work::Sort(sort) => {
            *sort == SortCase::keys_of_u32(SortAlgorithm::Radix8Bit, PolicyName::Small) && case.count < 10_000
        }
        Work::SegmentedSort(sort) => {
            let kind = (sort.keys.element, sort.keys.values, sort.keys.is_descending, sort.count_from);
            sort.has_small_tiles
                && kind == (ElementType::U32, SortValues::B4, false, CountFrom::Host)
                && sort.keys.bits == (0..32)
                && sort.misalignment == 0
        }
        _ => false,
    }
}

/// The same case in small tiles, if its kind has them: the same kernels, compiled in a third of the time.
fn in_small_tiles(mut case: Case) -> Case {
    match &mut case.work {
        Work::Scan(ScanCase { policy: policy @ PolicyName::Default, .. }) => *policy = PolicyName::Small,
        Work::Sort(SortCase { policy: policy @ PolicyName::Default, algorithm, .. })
            if *algorithm != SortAlgorithm::SingleWorkgroup =>
        {
            *policy = PolicyName::Small;
        }
        Work::Select(select) => select.has_small_tiles = true,
        Work::RunLength(of) => of.has_small_tiles = true,
        Work::Search(search) => search.has_small_tiles = true,
        Work::Merge(merge) => merge.has_small_tiles = true,
        Work::Difference(difference) => difference.has_small_tiles = true,
        _ => {}
    }
    case
}

/// Cases that run under GPU-assisted validation, where a plan takes seconds to compile. Bit range and order change no
/// address of a sort: the whole range, one part and the unsigned types suffice. The operator changes no address of a
/// scan; of its options, the cases that combine the most suffice.
fn is_worth_watching(case: &Case) -> bool {
    match &case.work {
        Work::Scan(scan) => {
            let is_plain = !scan.is_reverse && scan.initial.is_none() && scan.segments.is_none();
            let has_most = scan.is_reverse && scan.initial == Some(InitialFrom::Device);
            let is_along_rows =
                matches!(scan.segments, Some(SegmentsBy::FixedSize(_))) && scan.misalignment > 0;
            scan.operator == ScanOperator::Add && (is_plain || has_most || is_along_rows)
        }
        Work::Sort(sort) => {
            let is_plain =
                !sort.keys.is_descending && matches!(sort.keys.element, ElementType::U32 | ElementType::U64);
            // Other tile sizes use the same kernels.
            let is_typical = sort.keys.element == ElementType::U32
                && matches!(sort.keys.values, SortValues::None | SortValues::B4)
                || sort.algorithm == SortAlgorithm::SingleWorkgroup
                || sort.policy.is_small();
            // Every count in one workgroup takes the same pipeline.
            let is_one_of_all =
                sort.algorithm == SortAlgorithm::SingleWorkgroup && case.input == Input::ConstantDigit;
            is_plain
                && is_typical
                && !is_one_of_all
                && (sort.keys.bits == (0..sort.keys.element.bits()) || sort.keys.bits == (3..11))
        }
        Work::Reduce(reduce) => reduce.operator == ScanOperator::Add || reduce.indices > 0,
        Work::SegmentedSort(sort) => {
            let is_plain =
                !sort.keys.is_descending && matches!(sort.keys.element, ElementType::U32 | ElementType::U64);
            is_plain
                && sort.keys.values == SortValues::B4
                && sort.keys.bits.len() as u32 == sort.keys.element.bits()
        }
        _ => true,
    }
}

/// Cases of the kernels whose results depend on the subgroup size, each at its smallest tile shape: workgroup scans,
/// look-back, both rankings, the seed's ballots, the single workgroup, and segments of every size class. Compilation
/// takes nearly all of the time of a row with many lanes; value sizes, types and operators do not change the use of
/// lanes.
fn is_lane_sensitive(case: &Case) -> bool {
    match &case.work {
        Work::Scan(scan) => {
            let is_plain = !scan.is_reverse && scan.initial.is_none() && scan.segments.is_none();
            let has_most =
                scan.segments == Some(SegmentsBy::Offsets) && scan.initial == Some(InitialFrom::Device);
            let is_taken = match (scan.algorithm, scan.element, scan.columns) {
                (ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup), ElementType::U32, 1) => {
                    let is_along_rows = matches!(scan.segments, Some(SegmentsBy::FixedSize(_)));
                    is_plain && scan.kind == ScanKind::Inclusive || has_most || is_along_rows
                }
                // Two-word numbers, and rows too long for registers.
                (ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup), ElementType::U64, 16) => true,
                (ScanAlgorithm::Chained, ElementType::U32, 1) => is_plain && scan.kind == ScanKind::Inclusive,
                // The fixed tree.
                (ScanAlgorithm::Chained, ElementType::F32, 1) => scan.count_from == CountFrom::Device,
                _ => false,
            };
            let is_small = scan.policy == PolicyName::Small && scan.misalignment == 0;
            is_taken && is_small && scan.operator == ScanOperator::Add
        }
        Work::Sort(sort) => {
            let is_plain = !sort.keys.is_descending && !sort.is_double_buffered && !sort.has_large_counts;
            let is_smallest = match sort.algorithm {
                SortAlgorithm::SingleWorkgroup => true,
                // Bins of 2 bits are counted like bins of 4 bits, and take four times as long to compile.
                SortAlgorithm::Radix2Bit if sort.policy == PolicyName::SeedBinByBin => false,
                _ => {
                    sort.policy.is_small()
                        || matches!(sort.policy, PolicyName::Seed | PolicyName::SeedBinByBin)
                }
            };
            is_plain
                && is_smallest
                && (sort.keys.element, sort.keys.values) == (ElementType::U32, SortValues::None)
                && sort.keys.bits == (0..32)
                && sort.misalignment == 0
        }
        // The fixed tree, which must have the same bits.
        Work::Reduce(reduce) => {
            let is_plain = reduce.columns <= 2 && reduce.misalignment == 0 && reduce.has_small_tiles;
            is_plain && reduce.operator == ScanOperator::Add && reduce.element == ElementType::F32
        }
        // Ballots and the workgroup scan.
        Work::TopK(top_k) => top_k.element.size() == 4 && top_k.algorithm == Some(TopKAlgorithm::Tiles),
        // Ballots, the workgroup scan and the look-back.
        Work::Select(select) => {
            let is_plain = select.element.size() == 4 && select.values == 0 && select.misalignment == 0;
            is_plain && select.has_small_tiles && select.output == SelectOutput::Elements
        }
        // The search by all lanes.
        Work::RunLength(of) => {
            let is_decoding = of.coding == RunLengthCoding::Decode;
            is_decoding && of.has_small_tiles && of.element == ElementType::U32 && of.misalignment == 0
        }
        // The search of a diagonal by ballots.
        Work::Merge(merge) => {
            let is_plain = merge.element.size() == 4 && merge.misalignment == 0;
            is_plain && merge.has_small_tiles && merge.values <= 1
        }
        Work::SegmentedSort(sort) => {
            sort.has_small_tiles
                && sort.segments == SegmentMix::Boundaries
                && sort.misalignment == 0
                && (sort.keys.element, sort.keys.values) == (ElementType::U32, SortValues::B4)
                && !sort.keys.is_descending
                && sort.keys.bits == (0..32)
        }
        _ => false,
    }
}

fn verify(gpu: &Gpu, cases: &[Case], layout: BufferLayout) -> Result<(), Failed> {
    for case in cases {
        match verify_case_in(gpu, case, layout)? {
            Outcome::Pass => {}
            Outcome::NotSupported(_) if lacks_feature(gpu, case) => {}
            // The full suite has policies for the 32 KiB that every driver has, of which the row for races leaves half.
            Outcome::NotSupported(reason)
                if has_half_of_shared_memory(gpu) && reason.contains("of shared memory") => {}
            // Every driver of the matrix supports all other cases of this table.
            outcome => return Err(format!("{}: {outcome}", case.id()).into()),
        }
        expect_no_findings(gpu, &case.id())?;
    }
    Ok(())
}

fn has_half_of_shared_memory(gpu: &Gpu) -> bool {
    gpu.capabilities().shared_memory_size <= 16 << 10
}

/// Whether the device lacks a feature that the case requires.
pub fn lacks_feature(gpu: &Gpu, case: &Case) -> bool {
    let needs_float64 = match &case.work {
        Work::Scan(scan) => scan.operator.needs_float64(scan.element),
        Work::Reduce(reduce) => reduce.indices == 0 && reduce.operator.needs_float64(reduce.element),
        _ => false,
    };
    needs_float64 && !gpu.capabilities().enabled.shader_float64
}

/// The process's hazard checker, which traces every recording.
pub fn hazards() -> Arc<HazardChecker> {
    Arc::clone(Listener::of_process().hazards())
}

/// Options whose recordings [`hazards`] traces.
pub fn watched() -> WorkOptions {
    WorkOptions { trace: Some(Listener::of_process()), ..WorkOptions::default() }
}

/// The first message that reports an error. GPU-assisted validation also reports its own settings when a device is
/// opened; the canaries show whether it works.
pub fn complaint(messages: Vec<String>) -> Option<String> {
    let about_itself = ["VALIDATION-SETTINGS", "WARNING-Setting"];
    messages.into_iter().find(|message| !about_itself.iter().any(|name| message.starts_with(name)))
}

/// A trial that also fails for what the validation layer or the hazard checker has reported.
pub fn clean_trial(
    gpu: &Arc<Gpu>,
    name: String,
    run: impl FnOnce(&Gpu) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let (gpu, during) = (Arc::clone(gpu), name.clone());
    Trial::test(name, move || {
        run(&gpu)?;
        expect_no_findings(&gpu, &during)
    })
}

/// What a trial runs.
type Run = fn(&Gpu) -> Result<(), Failed>;

/// Makes each [`clean_trial`] of a group from its name in the group.
pub fn clean_trials(gpu: &Arc<Gpu>, group: &'static str) -> impl Fn(&str, Run) -> Trial {
    move |name, run| clean_trial(gpu, format!("{group}: {name}"), run)
}

/// Fails if the validation layer or the hazard checker has reported anything.
pub fn expect_no_findings(gpu: &Gpu, during: &str) -> Result<(), Failed> {
    if let Some(message) = complaint(gpu.validation_messages()) {
        return Err(format!("{during}: validation: {message}").into());
    }
    match hazards().take_findings().first() {
        None => Ok(()),
        Some(finding) => Err(format!("{during}: {finding}").into()),
    }
}
