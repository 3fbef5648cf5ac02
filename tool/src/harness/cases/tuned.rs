//! Cases that measure a part of a primitive by any shape.

use super::{
    Case, GatherCase, HistogramCase, MergeCase, PolicyName, ReduceCase, RunLengthCase, RunLengthCoding,
    ScanCase, SearchCase, SegmentMix, SegmentedSortCase, SelectCase, SortCase, SortValues, TopKCase, Work,
};
use super::{DifferenceCase, Input};
use subsweep::device::Capabilities;
use subsweep::reduce::{ReduceByKeyAlgorithm, ReduceRuns};
use subsweep::run_length::RunLengthAlgorithm;
use subsweep::scan::{ScanAlgorithm, ScanOperator, WorkgroupScan};
use subsweep::select::{Comparison, Predicate, SelectAlgorithm};
use subsweep::sort::{SortAlgorithm, TileShape};
use subsweep::top_k::TopKAlgorithm;
use subsweep::tuning::{TunedPart, TuningAxis};
use subsweep::{ElementType, FewTiles};

/// A case of `count` elements, keys or values whose plan uses a part: the one to measure with
/// [`Case::with_shape`]. Elements, or keys, are of `element`, and a sort or merge moves `values`. `None` where the part
/// is not tuned for these.
pub fn tuned_case(part: TunedPart, element: ElementType, values: SortValues, count: u64) -> Option<Case> {
    let takes_values = matches!(
        part,
        TunedPart::Onesweep
            | TunedPart::OnesweepFew
            | TunedPart::Radix8Bit
            | TunedPart::CountedSort
            | TunedPart::LargeWorkgroupSort
            | TunedPart::DigitHistogram
    );
    if values.moved_size() > 0 && !takes_values && part != TunedPart::Merge {
        return None;
    }
    let scan =
        |algorithm| ScanCase { element, algorithm, ..ScanCase::sum_of_u32(PolicyName::Default) }.into();
    let sort = |algorithm| {
        SortCase::keys_of_u32(algorithm, PolicyName::Default).with_types(element, values, false).into()
    };
    let select = |algorithm| {
        let less = SelectCase::of_u32(Predicate::Compare(Comparison::Less));
        SelectCase { element, algorithm: Some(algorithm), ..less }.into()
    };
    let histogram =
        |bins| (element.words() == 1).then(|| Work::from(HistogramCase::new(element, true, bins)));
    let segments = |mix| SegmentedSortCase::keys_of_u32(mix).with_types(element, SortValues::None, false);
    // A row of as many keys as a model has tokens.
    let columns = 1 << 16;
    let rows = (count / u64::from(columns)).max(1);
    let (work, count): (Work, u64) = match part {
        TunedPart::Scan => (scan(ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup)), count),
        TunedPart::ScanTree if !element.is_float() => return None,
        // The expected result of floats is computed for each shape: fewer elements keep the host's part small.
        TunedPart::ScanTree => {
            (scan(ScanAlgorithm::ReduceThenScan(WorkgroupScan::Sklansky)), (count / 16).max(1))
        }
        TunedPart::ChainedScan => (scan(ScanAlgorithm::Chained), count),
        TunedPart::ChainedScanFew => (scan(ScanAlgorithm::Chained), count.min(FEW)),
        TunedPart::Select => (select(SelectAlgorithm::ReduceThenScan), count),
        TunedPart::ChainedSelect => (select(SelectAlgorithm::Chained), count),
        TunedPart::ChainedSelectFew => (select(SelectAlgorithm::Chained), count.min(FEW)),
        TunedPart::Onesweep | TunedPart::DigitHistogram => (sort(SortAlgorithm::Onesweep), count),
        TunedPart::OnesweepFew => (sort(SortAlgorithm::Onesweep), count.min(FEW)),
        TunedPart::Radix8Bit => (sort(SortAlgorithm::Radix8Bit), count),
        TunedPart::CountedSort => (sort(SortAlgorithm::Radix4Bit), count),
        TunedPart::LargeWorkgroupSort => {
            (SortCase::chosen().with_types(element, values, false).into(), LARGE_WORKGROUP_KEYS)
        }
        TunedPart::Reduce => (ReduceCase::sum(element).into(), count),
        TunedPart::ReduceByKey => {
            (ReduceCase { runs: Some(ReduceRuns::Keys32), ..ReduceCase::sum(element) }.into(), count)
        }
        TunedPart::ChainedReduceByKey => {
            let algorithm = Some(ReduceByKeyAlgorithm::Chained);
            let runs = Some(ReduceRuns::Keys32);
            // Of results that no order of operations rounds.
            let operator = ScanOperator::Max;
            (ReduceCase { runs, algorithm, operator, ..ReduceCase::sum(element) }.into(), count)
        }
        TunedPart::Histogram => (histogram(256)?, count),
        TunedPart::LargeHistogram => (histogram(5000)?, count),
        TunedPart::HistogramInMemory => (histogram(1 << 16)?, count),
        TunedPart::Difference => (DifferenceCase::new(element).into(), count),
        TunedPart::Search => (SearchCase::lower_bound(element).into(), count),
        TunedPart::Merge => {
            let values = values.moved_size() as u32 / 4;
            (MergeCase { values, ..MergeCase::keys(element) }.into(), count)
        }
        TunedPart::TopKRows => (TopKCase::largest(element, 16, 4).into(), (count / 16).max(1)),
        TunedPart::TopKFew => (TopKCase::largest(element, columns, 32).into(), rows),
        TunedPart::TopK => (TopKCase::largest(element, columns, 1024).into(), rows),
        TunedPart::TopKSort => (TopKCase::largest(element, columns, columns / 2).into(), rows),
        TunedPart::ChainedRunLength => {
            let algorithm = Some(RunLengthAlgorithm::Chained);
            let runs = RunLengthCase::of_u32(RunLengthCoding::Encode, 8);
            (RunLengthCase { element, algorithm, ..runs }.into(), count)
        }
        TunedPart::RunLength => (RunLengthCase::of_u32(RunLengthCoding::Decode, 8).into(), count),
        TunedPart::Gather => (GatherCase::elements(element.words()).into(), count),
        TunedPart::SegmentedCluster => (segments(SegmentMix::Short).into(), count),
        TunedPart::SegmentedSmall => (segments(SegmentMix::PowerLaw).into(), count),
    };
    Some(Case { work, count, input: Input::Uniform, tuned: None })
}

impl Case {
    /// Whether its plan runs the shape of [`Case::with_shape`]: a policy takes smaller tiles where that shape does not fit, or
    /// another part of the primitive.
    pub fn has_its_shape(&self, capabilities: &Capabilities) -> bool {
        let Some((part, shape)) = self.tuned else { return true };
        // Without tiles for few elements, the others are what a trial of these is compared with.
        if TunedPart::ALL.into_iter().any(|other| few_of(other) == Some(part)) && shape.few_tiles == 0 {
            return true;
        }
        // Nor without short rows in subgroups.
        if part == TunedPart::TopKRows && shape.items == 0 {
            return true;
        }
        let capabilities = self.capabilities(capabilities);
        let Some([workgroup_size, items]) = tile_of(&self.work, part, self.count, &capabilities) else {
            return false;
        };
        let is_of_shape = |axis: &TuningAxis| match axis {
            TuningAxis::WorkgroupSize => workgroup_size == shape.workgroup_size,
            TuningAxis::Items => items == shape.items,
            _ => true,
        };
        part.axes().iter().all(is_of_shape)
    }
}

/// The part of the same kernels for few elements.
pub(super) const fn few_of(part: TunedPart) -> Option<TunedPart> {
    match part {
        TunedPart::Onesweep => Some(TunedPart::OnesweepFew),
        TunedPart::ChainedScan => Some(TunedPart::ChainedScanFew),
        TunedPart::ChainedSelect => Some(TunedPart::ChainedSelectFew),
        _ => None,
    }
}

/// Elements by which tiles for few of them are tuned, at most.
const FEW: u64 = 1 << 16;

/// Keys by which a sort in one large workgroup is tuned: passes would sort as many in a tile or two.
const LARGE_WORKGROUP_KEYS: u64 = 1 << 13;

/// Workgroup size and items of a part in the policy of a work on `count` elements, in the units of a shape. `None` where
/// another part runs.
fn tile_of(work: &Work, part: TunedPart, count: u64, capabilities: &Capabilities) -> Option<[u32; 2]> {
    let few_tile = |few: Option<FewTiles>, words| {
        let tile = few.filter(|few| count <= few.max_count())?.tile;
        Some([tile.workgroup_size, tile.items_per_invocation * words])
    };
    Some(match work {
        Work::Scan(case) => {
            let (policy, words) = (case.policy(capabilities), case.element.words());
            if part == TunedPart::ChainedScanFew {
                return few_tile(policy.few, words);
            }
            [policy.workgroup_size, policy.items_per_invocation * words]
        }
        Work::Sort(case) => {
            let policy = case.policy(capabilities);
            match part {
                TunedPart::LargeWorkgroupSort => {
                    let holds = |shape: TileShape| u64::from(shape.tile_items()) >= LARGE_WORKGROUP_KEYS;
                    if !policy.large_workgroup.is_none_or(holds) {
                        return None;
                    }
                    let shape = policy.large_workgroup.or(policy.single_workgroup)?;
                    [shape.workgroup_size, shape.items_per_invocation]
                }
                TunedPart::DigitHistogram => [policy.workgroup_size, policy.histogram.items_per_invocation],
                TunedPart::OnesweepFew => few_tile(policy.few, 1)?,
                _ => [policy.workgroup_size, policy.items_per_invocation],
            }
        }
        Work::SegmentedSort(case) => {
            let policy = case.policy(capabilities);
            let (cluster, [small, ..]) = (policy.cluster, policy.workgroups);
            match part {
                TunedPart::SegmentedCluster => {
                    [cluster.workgroup_size, cluster.lanes * cluster.items_per_invocation]
                }
                _ => [small.workgroup_size, small.items_per_invocation],
            }
        }
        Work::Reduce(case) => {
            let policy = case.policy(capabilities);
            match policy.heads {
                Some(heads) => {
                    let words =
                        if part == TunedPart::ChainedReduceByKey { 1 + case.element.words() } else { 2 };
                    [heads.workgroup_size, heads.items_per_invocation * words / 2]
                }
                None => [128, policy.packs_per_invocation],
            }
        }
        Work::Histogram(case) => {
            let policy = case.policy(capabilities);
            [policy.workgroup_size, policy.items_per_invocation]
        }
        Work::Select(case) => {
            let (policy, words) = (case.policy(capabilities), case.element.words());
            if part == TunedPart::ChainedSelectFew {
                return few_tile(policy.few, words);
            }
            [policy.workgroup_size, policy.items_per_invocation * words]
        }
        Work::Gather(case) => {
            let policy = case.policy(capabilities);
            [policy.workgroup_size, policy.accesses_per_invocation]
        }
        Work::Difference(case) => {
            let policy = case.policy(capabilities);
            [policy.workgroup_size, policy.items_per_invocation]
        }
        Work::Search(case) => {
            let policy = case.policy(capabilities);
            [policy.workgroup_size, policy.items_per_invocation]
        }
        Work::Merge(case) => {
            let policy = case.policy(capabilities);
            [policy.workgroup_size, policy.items_per_invocation]
        }
        Work::RunLength(case) => {
            let policy = case.policy(capabilities);
            let words = if part == TunedPart::ChainedRunLength { case.element.words() } else { 1 };
            [policy.workgroup_size, policy.items_per_invocation * words]
        }
        Work::TopK(case) => {
            let policy = case.policy(capabilities);
            let is_of = |algorithm, of_part| (policy.algorithm == algorithm) == (part == of_part);
            if !is_of(TopKAlgorithm::Sort, TunedPart::TopKSort)
                || !is_of(TopKAlgorithm::Subgroups, TunedPart::TopKRows)
            {
                return None;
            }
            [policy.workgroup_size, policy.items_per_invocation]
        }
        Work::StructureSort(case) => {
            let policy = case.policy(capabilities);
            [policy.workgroup_size, policy.items_per_invocation]
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::cases::tests::capabilities;
    use crate::harness::tuning_rows::shape_name;
    use subsweep::tuning::{self, KernelShape};

    /// The configuration of the plan of a case with a shape, and its policy as text.
    fn plan(case: &Case, part: TunedPart, shape: KernelShape) -> (String, String) {
        let case = case.clone().with_shape(part, shape);
        let with = tuning::with_shape(&capabilities(), part, &shape);
        (format!("{:?}", case.work.plan(&with)), case.policy(&capabilities()))
    }

    /// The shape in use, of few keys and of short rows as a device has it that has kernels for these.
    fn shape_of(capabilities: &Capabilities, part: TunedPart) -> KernelShape {
        let shape = tuning::shape_of(capabilities, part, [1, 0]);
        match part {
            TunedPart::OnesweepFew => shape.few(128),
            TunedPart::ChainedScanFew => shape.few(32),
            TunedPart::ChainedSelectFew => shape.few(64),
            TunedPart::TopKRows => KernelShape { items: 4, ..shape },
            _ => shape,
        }
    }

    #[test]
    fn every_axis_of_a_part_changes_the_plan_of_its_case() {
        for part in TunedPart::ALL {
            let element = if part == TunedPart::ScanTree { ElementType::F32 } else { ElementType::U32 };
            let case = tuned_case(part, element, SortValues::None, 1 << 20).expect("the type is tuned");
            let now = shape_of(&capabilities(), part);
            for axis in part.axes() {
                let plans = axis.values(part).iter().map(|&value| {
                    let mut shape = now;
                    axis.set(&mut shape, value);
                    assert_eq!(axis.get(&shape), value, "{part:?}, {axis:?}");
                    plan(&case, part, shape)
                });
                let plans: std::collections::BTreeSet<_> = plans.collect();
                assert!(plans.len() > 1, "{part:?}, {axis:?}: {plans:?}");
                // Policies are printed with every number.
                let texts = plans.iter().map(|(_, text)| text).collect::<std::collections::BTreeSet<_>>();
                assert_eq!(texts.len(), plans.len(), "{part:?}, {axis:?}: {texts:?}");
            }
        }
    }

    #[test]
    fn a_shape_that_its_policy_replaces_is_refused() {
        let capabilities = || {
            let mut capabilities = capabilities();
            capabilities.max_workgroup_invocations = 1024;
            capabilities
        };
        let mut accepted = 0;
        for part in TunedPart::ALL {
            let element = if part == TunedPart::ScanTree { ElementType::F32 } else { ElementType::U32 };
            let case = tuned_case(part, element, SortValues::None, 1 << 20).expect("the type is tuned");
            let now = shape_of(&capabilities(), part);
            let has_its_shape = |shape| case.clone().with_shape(part, shape).has_its_shape(&capabilities());
            assert!(has_its_shape(now), "{part:?}: {}", shape_name(&now, part));
            let tile = [TuningAxis::WorkgroupSize, TuningAxis::Items];
            if !tile.iter().all(|axis| part.axes().contains(axis)) {
                continue;
            }
            let [workgroup_sizes, all_items] = tile.map(|axis| axis.values(part));
            for &workgroup_size in workgroup_sizes {
                for &items in all_items {
                    let shape = KernelShape { workgroup_size, items, ..now };
                    if !has_its_shape(shape) {
                        continue;
                    }
                    accepted += 1;
                    let text = case.clone().with_shape(part, shape).policy(&capabilities());
                    let is_run = text.contains(&format!("workgroup {workgroup_size}, {items} "))
                        || part == TunedPart::SegmentedCluster;
                    assert!(is_run, "{part:?}, {}: {text}", shape_name(&shape, part));
                }
            }
        }
        assert!(accepted > 1000, "{accepted} shapes");
        for (part, tile, expected) in [
            // A tile of few keys has 8 times k, one of many twice.
            (TunedPart::TopKFew, [128, 1], false),
            (TunedPart::TopKFew, [128, 2], true),
            (TunedPart::TopK, [1024, 1], false),
            // The shape of the sort, which runs instead.
            (TunedPart::TopK, [256, 4], false),
            (TunedPart::TopK, [1024, 2], true),
            (TunedPart::Merge, [1024, 16], false),
            (TunedPart::Merge, [256, 8], true),
        ] {
            let case = tuned_case(part, ElementType::U32, SortValues::None, 1 << 20).expect("u32 are tuned");
            let [workgroup_size, items] = tile;
            let case = case.with_shape(part, KernelShape::tile(workgroup_size, items));
            assert_eq!(case.has_its_shape(&capabilities()), expected, "{part:?}, {tile:?}");
        }
    }

    #[test]
    fn a_shape_is_part_of_the_id() {
        let case = tuned_case(TunedPart::ChainedScan, ElementType::U32, SortValues::None, 7).expect("a scan");
        let shape = KernelShape::tile(256, 32).status_loads().window(4);
        let id = case.clone().with_shape(TunedPart::ChainedScan, shape).id();
        assert!(id.contains(";shape=256x32/status-loads/window4/"), "{id}");
        assert_eq!(case.variants(), case.clone().with_shape(TunedPart::ChainedScan, shape).variants());
    }
}
