//! Cases of scans.

mod chained;
mod covering;
mod operands;
mod verify;

use std::sync::Arc;

pub(super) use covering::covering_cases;
#[cfg(test)]
pub(super) use covering::covering_sets;
pub(super) use verify::{full_cases, product_cases, selectable_works, specialization_cases};

use super::id::Id;
use super::primitive::{CountFrom, PrimitiveCase};
use super::{BenchScale, Case, PolicyName, Work, uniform_cases};
use crate::harness::cases::{Known, Needs, Prepared, RangeOf, in_memory};
use crate::harness::expected::{PackedForm, PlainScan, ScanExpectation};
use crate::harness::inputs::Input;
use crate::harness::look_back::LookBackCounts;
use crate::harness::numbers::Numbers;
use subsweep::ElementType;
use subsweep::device::{AddressRange, Capabilities};
use subsweep::error::Result;
use subsweep::headless::Gpu;
use subsweep::internal::named;
use subsweep::scan::{
    InitialValue, ScanAlgorithm, ScanBuffers, ScanConfig, ScanKind, ScanOperator, ScanPlan, ScanPolicy,
    SegmentsBy, WorkgroupScan,
};

/// Parameters of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanCase {
    /// Inclusive or exclusive.
    pub kind: ScanKind,
    /// The element type.
    pub element: ElementType,
    /// The operator.
    pub operator: ScanOperator,
    /// Elements per row.
    pub columns: u32,
    /// Whether the scan is in reverse, from the last row to the first.
    pub is_reverse: bool,
    /// Location of the initial value, if there is one.
    pub initial: Option<InitialFrom>,
    /// Representation of the segments, if there are any.
    pub segments: Option<SegmentsBy>,
    /// Whether results of packed elements have 32 bits.
    pub has_unpacked_results: bool,
    /// Host or indirect count.
    pub count_from: CountFrom,
    /// The algorithm.
    pub algorithm: ScanAlgorithm,
    /// The policy, by name.
    pub policy: PolicyName,
    /// Whether source and destination are the same range.
    pub in_place: bool,
    /// Offset of the ranges from a multiple of 16, in bytes.
    pub misalignment: u32,
}

named! {
    /// Location of a value when a plan is recorded.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum InitialFrom {
        /// In host memory.
        Host = "host",
        /// In device memory.
        Device = "device",
    }
}

impl ScanCase {
    /// The inclusive sum of single u32, out of place and aligned.
    pub const fn sum_of_u32(policy: PolicyName) -> Self {
        Self {
            kind: ScanKind::Inclusive,
            element: ElementType::U32,
            operator: ScanOperator::Add,
            columns: 1,
            is_reverse: false,
            initial: None,
            segments: None,
            has_unpacked_results: false,
            count_from: CountFrom::Host,
            algorithm: ScanAlgorithm::ReduceThenScan(WorkgroupScan::Subgroup),
            policy,
            in_place: false,
            misalignment: 0,
        }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> ScanPolicy {
        self.policy.scan(capabilities, self.algorithm, &self.config())
    }

    /// The plan's configuration without its policy.
    pub const fn config(&self) -> ScanConfig {
        let mut config =
            ScanConfig::new(self.kind, self.element).operator(self.operator).columns(self.columns);
        if self.is_reverse {
            config = config.reverse();
        }
        if self.initial.is_some() {
            config = config.with_initial();
        }
        if let Some(segments) = self.segments {
            config = config.segments(segments);
        }
        if self.has_unpacked_results {
            config = config.unpacked_results();
        }
        if self.count_from.is_indirect() { config.indirect_count() } else { config }
    }

    /// Whether the bits of a rounded result are the same on every device.
    fn has_fixed_tree(&self) -> bool {
        let is_network = self.algorithm == ScanAlgorithm::ReduceThenScan(WorkgroupScan::Sklansky);
        let is_plain = self.policy == PolicyName::Default
            && !self.is_reverse
            && self.initial.is_none()
            && self.segments.is_none();
        is_network && self.config().rounds() && is_plain
    }

    /// Rows of a tile.
    fn tile(&self, capabilities: &Capabilities) -> u64 {
        self.policy(capabilities).tile_items().into()
    }

    fn numbers(&self) -> Numbers {
        Numbers { element: self.element, operator: self.operator, columns: self.columns as usize }
    }
}

impl PrimitiveCase for ScanCase {
    type Plan = ScanPlan;

    fn id(&self) -> Id {
        let kind = match self.kind {
            ScanKind::Inclusive => "inclusive",
            ScanKind::Exclusive => "exclusive",
        };
        let segments = self.segments.map(|by| match by {
            SegmentsBy::FixedSize(length) => format!("{}-{length}", by.name()),
            by => by.name().to_owned(),
        });
        Id::new(format_args!("scan:{kind}"))
            .with("type", self.element)
            .unless(ScanOperator::Add, "op", self.operator)
            .flag("reverse", self.is_reverse)
            .given("initial", self.initial)
            .given("segments", segments)
            .given("results", self.has_unpacked_results.then_some("unpacked"))
            .unless(CountFrom::Host, "count", self.count_from)
            .with("columns", self.columns)
            .with("algorithm", self.algorithm.name())
            .with("policy", self.policy)
            .with("place", if self.in_place { "in" } else { "out" })
            .with("misalign", self.misalignment)
    }

    fn variant(&self) -> String {
        self.policy.variant(self.algorithm.name())
    }

    fn row_size(&self) -> u64 {
        self.config().row_size()
    }

    fn seed(&self, count: u64) -> u64 {
        count * u64::from(self.columns * self.element.words())
    }

    fn generate(&self, count: u64, input: Input) -> [Vec<u32>; 2] {
        [self.numbers().generate(input, count as usize, self.seed(count)), Vec::new()]
    }

    fn prepare(&self, plan: Arc<ScanPlan>, count: u64, _: Input, _: &Known) -> Result<Prepared> {
        let heads = operands::heads(self, count as usize);
        let initial_row = self.initial.map(|_| operands::initial_row(self));
        let (counted, mut operands) = self.count_from.operand("count", count);
        let room = counted.max();
        let initial = match (self.initial, &initial_row) {
            (Some(InitialFrom::Host), Some(row)) => InitialValue::host(row)?,
            (_, Some(row)) => {
                operands.push(("initial", in_memory(self.element, &row.clone().into())));
                InitialValue::Device(AddressRange::NONE)
            }
            (_, None) => InitialValue::Identity,
        };
        if let Some(by) = self.segments.filter(|by| !matches!(by, SegmentsBy::FixedSize(_))) {
            operands.push(("segments", operands::segments(by, &heads, room as usize).into()));
        }
        let tree_items = self.has_fixed_tree().then(|| plan.policy().items_per_invocation as usize);
        let expectation = ScanExpectation {
            scan: PlainScan {
                tree_items,
                kind: self.kind,
                element: self.element,
                operator: self.operator,
                columns: self.columns as usize,
                rounding_depth: plan.rounding_depth(count),
            },
            is_reverse: self.is_reverse,
            heads,
            initial: initial_row,
        };
        let counted_plan = Arc::clone(&plan);
        let packed_result = match self.has_unpacked_results {
            true => None,
            false => PackedForm::by(self.element, self.operator),
        };
        let needs = Needs {
            in_place: self.in_place,
            packed_result,
            ..Needs::new(room, self.misalignment, operands).elements(self.element)
        };
        let buffers = ScanBuffers::default().initial(initial);
        let expected = move |input: &[u32]| (expectation.scan_words(input), Vec::new());
        Ok(Prepared {
            look_back: Some(Box::new(move |gpu, range_of| look_back(&counted_plan, gpu, range_of, room))),
            ..Prepared::new(plan.traffic_size(count), plan, buffers, counted, needs, expected)?
        })
    }
}

/// Look-back statistics of a scan of `count` rows, from one more run with counters; `None` without look-back, and
/// without a counting kernel.
fn look_back(
    plan: &ScanPlan,
    gpu: &Gpu,
    range_of: &RangeOf<'_>,
    count: u64,
) -> Result<Option<LookBackCounts>> {
    let [source, destination] = ["source", "destination"].map(|name| range_of(name).addresses());
    let buffers = ScanBuffers::new(source, destination, range_of("scratch"));
    let is_aligned = buffers.source.is_aligned(16) && buffers.destination.is_aligned(16);
    let max_few = plan.policy().few.map_or(plan.policy().tile_items().into(), |few| few.max_count());
    if count <= max_few || !is_aligned {
        return Ok(None);
    }
    let Some(counted) = plan.counted()? else { return Ok(None) };
    let counts = gpu.allocate(16)?;
    gpu.upload(&counts, 0, &[0; 4])?;
    let mut look_backs = 0;
    // SAFETY: the caller owns the memory and the plan, which live until `submit` has waited.
    unsafe {
        gpu.submit(|recorder| {
            look_backs = counted.record(recorder, &buffers, counts.range().addresses(), count)?;
            Ok(())
        })
    }?;
    let mut words = [0; 4];
    gpu.download(&counts, &mut words)?;
    let [windows, spins, fallbacks, longest] = words;
    Ok(Some(LookBackCounts { look_backs, windows, longest, spins, fallbacks }))
}

/// Benchmarks: the tuned scans and the scan of the seed, in columns and along rows.
pub(super) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    let [default, seed] = [PolicyName::Default, PolicyName::Seed].map(ScanCase::sum_of_u32);
    let works = [
        default.clone(),
        ScanCase { columns: 4, ..default.clone() },
        ScanCase { in_place: true, ..seed },
        ScanCase { algorithm: ScanAlgorithm::Chained, ..default.clone() },
        ScanCase { element: ElementType::F32, ..default.clone() },
        ScanCase {
            element: ElementType::F32,
            algorithm: ScanAlgorithm::ReduceThenScan(WorkgroupScan::Sklansky),
            ..default.clone()
        },
        // Along rows.
        ScanCase { segments: Some(SegmentsBy::FixedSize(40)), ..default.clone() },
        ScanCase { segments: Some(SegmentsBy::FixedSize(1 << 16)), ..default },
    ];
    uniform_cases(works, &scale.counts())
}
