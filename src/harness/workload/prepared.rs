//! A case prepared for a device: its plan, its operands, and the computation of the expected result.

use std::sync::Arc;

use crate::device::AddressRange;
use crate::error::Result;
use crate::gather::GatherPlan;
use crate::harness::cases::{Case, CountFrom, Place, Work};
use crate::harness::expected::{PlainScan, ScanExpectation};
use crate::harness::operands::{self, Operands};
use crate::harness::sorted::SortExpectation;
use crate::headless::Gpu;
use crate::primitives::ScratchRequirements;
use crate::scan::{InitialValue, ScanPlan};
use crate::sort::{SegmentedSortPlan, SortPlan};

/// The plan, and the parameters of its recording.
pub(super) enum Job {
    Scan { plan: Arc<ScanPlan>, initial: InitialValue, count_from: CountFrom },
    Sort { plan: Arc<SortPlan>, count_from: CountFrom },
    SegmentedSort { plan: Arc<SegmentedSortPlan>, begins: Vec<u32>, count_from: CountFrom },
    Gather { plan: Arc<GatherPlan>, count_from: CountFrom },
}

/// A case without its memory.
pub(super) struct Prepared {
    pub(super) job: Job,
    pub(super) expectation: Expectation,
    pub(super) scratch: ScratchRequirements,
    pub(super) in_place: bool,
    pub(super) misalignment: u32,
    /// Rows that memory is allocated for.
    pub(super) room: u64,
    /// Bytes of a row or key.
    pub(super) row_size: u64,
    /// Bytes of all values, or of an argsort's indices.
    pub(super) values_size: u64,
    pub(super) values_misalignment: u32,
    pub(super) operands: Operands<Vec<u32>>,
}

/// Computation of the expected result.
pub(super) enum Expectation {
    Scan(ScanExpectation),
    Sort(SortExpectation),
    SegmentedSort { sort: SortExpectation, begins: Vec<u32> },
    Gather { words: usize, indices: Vec<u32> },
}

impl Prepared {
    pub(super) fn new(gpu: &Gpu, case: &Case) -> Result<Self> {
        let capabilities = gpu.capabilities();
        match &case.work {
            Work::Scan(scan) => {
                let policy = scan.policy(capabilities);
                let plan = gpu.plan(scan.config().policy(policy))?;
                let room = scan.count_from.room(case.count);
                let heads = operands::heads(scan, case.count as usize);
                let operands = Operands::new(scan, case.count as usize, room as usize, &heads);
                let initial_row = operands::initial_row(scan);
                let initial = match (scan.initial, &initial_row) {
                    (Some(Place::Host), Some(row)) => InitialValue::host(row)?,
                    (Some(Place::Device), _) => InitialValue::Device(AddressRange::default()),
                    _ => InitialValue::Identity,
                };
                let expectation = Expectation::Scan(ScanExpectation {
                    scan: PlainScan {
                        kind: scan.kind,
                        element: scan.element,
                        operator: scan.operator,
                        columns: scan.columns as usize,
                        rounding_depth: plan.rounding_depth(case.count),
                    },
                    is_reverse: scan.is_reverse,
                    heads,
                    initial: initial_row,
                });
                Ok(Self {
                    scratch: plan.scratch_requirements(room),
                    job: Job::Scan { plan, initial, count_from: scan.count_from },
                    expectation,
                    in_place: scan.in_place,
                    misalignment: scan.misalignment,
                    room,
                    row_size: scan.config().row_size(),
                    values_size: 0,
                    values_misalignment: 0,
                    operands,
                })
            }
            Work::Sort(sort) => {
                let config = sort.config().policy(sort.policy(capabilities));
                let plan = gpu.plan(config)?;
                let room = sort.count_from.room(case.count);
                let mut scratch = plan.scratch_requirements(room);
                if sort.is_anywhere {
                    // The alternate buffers follow the scratch.
                    scratch.size = scratch.size.next_multiple_of(16)
                        + (room * config.key_size()).next_multiple_of(16)
                        + room * config.value_size();
                }
                Ok(Self {
                    scratch,
                    job: Job::Sort { plan, count_from: sort.count_from },
                    expectation: Expectation::Sort(SortExpectation {
                        element: sort.element,
                        values: sort.values,
                        is_descending: sort.is_descending,
                        bits: sort.bits.clone(),
                    }),
                    in_place: true,
                    misalignment: sort.misalignment,
                    room,
                    row_size: config.key_size(),
                    values_size: room * config.value_size(),
                    values_misalignment: sort.values_misalignment,
                    operands: Operands::of_sort(sort, case.count as usize),
                })
            }
            Work::SegmentedSort(sort) => {
                let config = sort.config();
                let plan = gpu.plan(config.policy(sort.policy(capabilities)))?;
                let begins = sort.begins(capabilities, case.count);
                let room = sort.count_from.room(case.count);
                let operands = Operands::of_segmented_sort(sort, case.count as usize, &begins);
                Ok(Self {
                    scratch: plan.scratch_requirements((room, operands.segments.len() as u64)),
                    job: Job::SegmentedSort { plan, begins: begins.clone(), count_from: sort.count_from },
                    expectation: Expectation::SegmentedSort {
                        sort: SortExpectation {
                            element: sort.element,
                            values: sort.values,
                            is_descending: sort.is_descending,
                            bits: sort.bits.clone(),
                        },
                        begins,
                    },
                    in_place: true,
                    misalignment: sort.misalignment,
                    room,
                    row_size: config.sort().key_size(),
                    values_size: room * config.sort().value_size(),
                    values_misalignment: sort.values_misalignment,
                    operands,
                })
            }
            Work::Gather(gather) => {
                let plan = gpu.plan(gather.config().policy(gather.policy(capabilities)))?;
                let room = gather.count_from.room(case.count);
                let operands = Operands::of_gather(gather, case.input, case.count as usize, room as usize);
                let indices = operands.indices[..case.count as usize].to_vec();
                Ok(Self {
                    scratch: plan.scratch_requirements(room),
                    job: Job::Gather { plan, count_from: gather.count_from },
                    expectation: Expectation::Gather { words: gather.words as usize, indices },
                    in_place: false,
                    misalignment: gather.misalignment,
                    room,
                    row_size: gather.config().element_size(),
                    values_size: 0,
                    values_misalignment: 0,
                    operands,
                })
            }
        }
    }
}
