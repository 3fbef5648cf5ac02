//! The case table, a trial for each group of cases that differ in size and input alone.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::ElementType;
use subsweep::device::{Capabilities, HazardChecker};
use subsweep::harness::{
    Case, CountFrom, Effort, Layout, Outcome, Place, PolicyName, ScanCase, SegmentMix, SortCase, SortValues,
    Work, product_cases, verify_case_in, verify_cases,
};
use subsweep::headless::{Gpu, WorkOptions};
use subsweep::scan::{ScanAlgorithm, ScanKind, ScanOperator, SegmentsBy, WorkgroupScan};
use subsweep::sort::SortAlgorithm;

use super::children::is_full;
use super::dispatched::Listener;
use super::rows::{Row, Watch};

pub fn trials(gpu: &Arc<Gpu>, row: &Row) -> Vec<Trial> {
    let layout = row.watch.layout();
    let by_name = grouped(cases_of(gpu.capabilities(), row));
    let is_taken = |(name, cases): &(String, Vec<Case>)| {
        let work = &cases[0].work;
        let matches_digits = is_match_of_digits(work);
        // The row of shared masks leaves ballots to the others, but for those that depend on the lanes.
        !(matches_digits && row.has_shared_masks())
            && row.takes(name, depends_on_progress(work), matches_digits)
    };
    let mut groups: BTreeMap<_, _> = by_name.into_iter().filter(is_taken).collect();
    if row.has_lane_sensitive_besides() {
        for (name, cases) in grouped(lane_sensitive_cases(gpu.capabilities())) {
            groups.entry(name).or_default().extend(cases);
        }
    }
    if row.has_shared_masks() {
        let masked = chosen(gpu.capabilities(), takes_shared_masks).collect();
        groups.extend(grouped(masked));
    }
    let trial = |(name, cases): (String, Vec<Case>)| {
        let gpu = Arc::clone(gpu);
        Trial::test(name, move || verify(&gpu, &cases, layout))
    };
    groups.into_iter().map(trial).collect()
}

/// Whether workgroups wait for the progress of others, or may, where the library chooses for the driver.
fn depends_on_progress(work: &Work) -> bool {
    match work {
        Work::Scan(scan) => scan.algorithm == ScanAlgorithm::Chained || scan.policy == PolicyName::Chosen,
        Work::Sort(sort) => sort.algorithm == SortAlgorithm::Onesweep || sort.policy == PolicyName::Chosen,
        Work::SegmentedSort(_) | Work::Gather(_) => false,
    }
}

/// Whether lanes match digits.
fn is_match_of_digits(work: &Work) -> bool {
    let is_matching = [SortAlgorithm::Onesweep, SortAlgorithm::Radix8Bit];
    matches!(work, Work::Sort(sort) if is_matching.contains(&sort.algorithm) && sort.misalignment == 0)
}

/// Whether lanes match digits by shared masks.
fn has_shared_masks(work: &Work) -> bool {
    match work {
        Work::Sort(sort) => sort.policy == PolicyName::SmallMasks,
        Work::SegmentedSort(sort) => sort.has_shared_masks,
        Work::Scan(_) | Work::Gather(_) => false,
    }
}

/// Sorts in which lanes match digits by shared masks: those of each size of keys and values.
fn takes_shared_masks(case: &Case) -> bool {
    match &case.work {
        Work::Sort(_) => has_shared_masks(&case.work),
        Work::SegmentedSort(sort) => {
            sort.has_shared_masks
                && sort.values != SortValues::Places
                && [ElementType::U32, ElementType::U64].contains(&sort.element)
                && !sort.is_descending
        }
        _ => false,
    }
}

/// Cases by the work that they have in common.
fn grouped(cases: Vec<Case>) -> BTreeMap<String, Vec<Case>> {
    let (mut groups, mut known) = (BTreeMap::<_, Vec<_>>::new(), HashSet::new());
    for case in cases.into_iter().filter(|case| known.insert(case.id())) {
        groups.entry(case.work.to_string()).or_default().push(case);
    }
    groups
}

/// The most elements of cases out of the full table, in the short suite and where they are watched.
const MAX_COUNT: u64 = 65_537;

/// The most that rows without large inputs take in the full suite.
const MAX_COUNT_OF_MOST: u64 = 1 << 17;

fn cases_of(capabilities: &Capabilities, row: &Row) -> Vec<Case> {
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
            let is_small = case.count <= MAX_COUNT_OF_MOST && !products.contains(&case.id());
            // A look-back over many tiles is another thing on each driver.
            is_small || depends_on_progress(&case.work) && case.count.abs_diff(1 << 20) == 1
        };
        cases.retain(is_taken);
    }
    if row.watch == Watch::Bounds {
        cases.retain(|case| is_worth_watching(case) && case.count <= MAX_COUNT);
        if !is_full() {
            // Kernels of elements of two words are watched by themselves.
            cases.retain(|case| element_of(&case.work).is_none_or(|element| element.size() == 4));
            cases.extend(chosen(capabilities, is_watched_besides));
        }
    }
    cases
}

fn ids(cases: &[Case]) -> HashSet<String> {
    cases.iter().map(Case::id).collect()
}

/// The type of the elements that work scans or sorts.
fn element_of(work: &Work) -> Option<ElementType> {
    match work {
        Work::Scan(scan) => Some(scan.element),
        Work::Sort(sort) => Some(sort.element),
        Work::SegmentedSort(sort) => Some(sort.element),
        Work::Gather(_) => None,
    }
}

/// Cases of the full table.
fn chosen(capabilities: &Capabilities, is_it: fn(&Case) -> bool) -> impl Iterator<Item = Case> {
    let full = verify_cases(Effort::Full, capabilities).into_iter();
    full.filter(move |case| is_it(case) && case.count <= MAX_COUNT)
}

fn lane_sensitive_cases(capabilities: &Capabilities) -> Vec<Case> {
    // The single workgroup is in the table at its default shape alone, which takes four times as long to compile.
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
    // Masks have a bit for each of up to 32 lanes; fewer than 16 lanes are left to the full suite.
    let lanes = capabilities.min_subgroup_size..=capabilities.max_subgroup_size;
    let takes_masks = *lanes.start() >= 16 && *lanes.end() <= 32;
    // Digits of 2 bits are those of 4 bits to the lanes.
    let is_of_2_bits =
        |work: &Work| matches!(work, Work::Sort(sort) if sort.algorithm == SortAlgorithm::Radix2Bit);
    let is_taken = |case: &Case| {
        (takes_masks || !has_shared_masks(&case.work)) && (is_full() || !is_of_2_bits(&case.work))
    };
    let cases: Vec<_> =
        chosen(capabilities, is_lane_sensitive).filter(is_taken).filter_map(smallest).collect();
    expect_every_kind(&cases);
    cases
}

/// The full table has changed if it has no longer what lanes matter to.
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
    assert!(has(&|work| matches!(work, Work::Sort(sort) if sort.policy == PolicyName::Seed)), "no seed");
    assert!(has(&|work| matches!(work, Work::SegmentedSort(_))), "no segmented sort");
}

/// What the quick cases have in more specializations than there is time to watch.
fn is_watched_besides(case: &Case) -> bool {
    match &case.work {
        Work::Sort(sort) => {
            *sort == SortCase::keys_of_u32(SortAlgorithm::Radix8Bit, PolicyName::Small) && case.count < 10_000
        }
        Work::SegmentedSort(sort) => {
            let kind = (sort.element, sort.values, sort.is_descending, sort.count_from);
            sort.has_small_tiles
                && kind == (ElementType::U32, SortValues::B4, false, CountFrom::Host)
                && sort.bits == (0..32)
                && sort.misalignment == 0
        }
        Work::Scan(_) | Work::Gather(_) => false,
    }
}

/// The same in small tiles, if there are any of the kind: these are the same kernels, compiled in a third of the time.
fn in_small_tiles(mut case: Case) -> Case {
    match &mut case.work {
        Work::Scan(ScanCase { policy: policy @ PolicyName::Default, .. }) => *policy = PolicyName::Small,
        Work::Sort(SortCase { policy: policy @ PolicyName::Default, algorithm, .. })
            if *algorithm != SortAlgorithm::SingleWorkgroup =>
        {
            *policy = PolicyName::Small;
        }
        _ => {}
    }
    case
}

/// A watched plan takes seconds to compile. A range of bits and an order are but a shift and a mask to it: the whole, one
/// part and the unsigned types will do. Which addresses a scan touches is no matter of its operator; and of what it may
/// read besides and the ways that it may go, those that have the most at once show all.
fn is_worth_watching(case: &Case) -> bool {
    match &case.work {
        Work::Scan(scan) => {
            let is_plain = !scan.is_reverse && scan.initial.is_none() && scan.segments.is_none();
            let has_most = scan.is_reverse && scan.initial == Some(Place::Device);
            scan.operator == ScanOperator::Add && (is_plain || has_most)
        }
        Work::Sort(sort) => {
            let is_plain = !sort.is_descending && matches!(sort.element, ElementType::U32 | ElementType::U64);
            // Tiles of another size are the same kernels.
            let is_typical = sort.element == ElementType::U32
                && matches!(sort.values, SortValues::None | SortValues::B4)
                || sort.algorithm == SortAlgorithm::SingleWorkgroup
                || sort.policy.is_small();
            is_plain && is_typical && (sort.bits == (0..sort.element.bits()) || sort.bits == (3..11))
        }
        Work::SegmentedSort(sort) => {
            let is_plain = !sort.is_descending && matches!(sort.element, ElementType::U32 | ElementType::U64);
            is_plain && sort.values == SortValues::B4 && sort.bits.len() as u32 == sort.element.bits()
        }
        Work::Gather(_) => true,
    }
}

/// The kernels whose results depend on the number of lanes, each at its smallest shape: workgroup scans, look-back, both
/// rankings, the seed's ballots, one workgroup, and segments of every class. Compiling them is nearly all of the time
/// that a row with many lanes takes; values, types and operators go through the same lanes.
fn is_lane_sensitive(case: &Case) -> bool {
    match &case.work {
        Work::Scan(scan) => {
            let is_plain = !scan.is_reverse && scan.initial.is_none() && scan.segments.is_none();
            let has_most = scan.segments == Some(SegmentsBy::Offsets) && scan.initial == Some(Place::Device);
            let is_taken = match (scan.algorithm, scan.element, scan.columns) {
                (ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup), ElementType::U32, 1) => {
                    is_plain && scan.kind == ScanKind::Inclusive || has_most
                }
                // Two words a number, and rows that do not fit registers.
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
            let is_plain = !sort.is_descending && !sort.is_anywhere && !sort.has_large_counts;
            let is_smallest = match sort.algorithm {
                SortAlgorithm::SingleWorkgroup => true,
                // Bins of 2 bits are counted as those of 4 are, and take four times as long to compile.
                SortAlgorithm::Radix2Bit if sort.policy == PolicyName::SeedBinByBin => false,
                _ => {
                    sort.policy.is_small()
                        || matches!(sort.policy, PolicyName::Seed | PolicyName::SeedBinByBin)
                }
            };
            is_plain
                && is_smallest
                && (sort.element, sort.values) == (ElementType::U32, SortValues::None)
                && sort.bits == (0..32)
                && sort.misalignment == 0
        }
        Work::SegmentedSort(sort) => {
            sort.has_small_tiles
                && sort.segments == SegmentMix::Seams
                && sort.misalignment == 0
                && (sort.element, sort.values) == (ElementType::U32, SortValues::B4)
                && !sort.is_descending
                && sort.bits == (0..32)
        }
        Work::Gather(_) => false,
    }
}

fn verify(gpu: &Gpu, cases: &[Case], layout: Layout) -> Result<(), Failed> {
    for case in cases {
        match verify_case_in(gpu, case, layout)? {
            Outcome::Pass => {}
            Outcome::NotSupported(_) if is_beyond(gpu, case) => {}
            // No other case of this table is beyond any driver of the matrix.
            outcome => return Err(format!("{}: {outcome}", case.id()).into()),
        }
        expect_silence(gpu, &case.id())?;
    }
    Ok(())
}

/// Whether a device must refuse a case, for want of a feature.
pub fn is_beyond(gpu: &Gpu, case: &Case) -> bool {
    let needs_float64 = matches!(&case.work, Work::Scan(scan) if scan.operator.needs_float64(scan.element));
    needs_float64 && !gpu.capabilities().enabled.shader_float64
}

/// The process's hazard checker, which sees everything that its device is told.
pub fn hazards() -> Arc<HazardChecker> {
    Arc::clone(Listener::of_process().hazards())
}

/// Work that [`hazards`] sees.
pub fn watched() -> WorkOptions {
    WorkOptions { trace: Some(Listener::of_process()), ..WorkOptions::default() }
}

/// The first message that is a complaint. A layer that looks into kernels also says on opening how it has set itself
/// up; whether it looks, the armed probes tell.
pub fn complaint(messages: Vec<String>) -> Option<String> {
    let about_itself = ["VALIDATION-SETTINGS", "WARNING-Setting"];
    messages.into_iter().find(|message| !about_itself.iter().any(|name| message.starts_with(name)))
}

/// Fails if the validation layer or the hazard checker has anything to say.
pub fn expect_silence(gpu: &Gpu, during: &str) -> Result<(), Failed> {
    if let Some(message) = complaint(gpu.validation_messages()) {
        return Err(format!("{during}: validation: {message}").into());
    }
    match hazards().take_findings().first() {
        None => Ok(()),
        Some(finding) => Err(format!("{during}: {finding}").into()),
    }
}
