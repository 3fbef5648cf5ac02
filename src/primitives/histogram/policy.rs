//! Policy of a histogram: where counters and edges are, and the shape of tiles.

use std::fmt;

use super::HistogramConfig;
use crate::device::Capabilities;
use crate::error::{PolicyConflict, Result, within};
use crate::primitives::tuning::{self, KernelShape, TunedPart};
use crate::primitives::{Choice, check_workgroup, write_subgroups};

/// Policy of a histogram. A tile is as many whole rows as fit `workgroup_size * items_per_invocation` values, at least
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct HistogramPolicy {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Values per invocation, 1 to 1,024.
    pub items_per_invocation: u32,
    /// Counters in shared memory for each count, a power of two up to 32; neighbouring invocations use different ones. 0
    /// adds every value to the counts in device memory.
    pub copies: u32,
    /// Whether the edges are copied to shared memory.
    pub has_shared_edges: bool,
    /// Values that an invocation loads before it counts the first: 4, 8 or 16.
    pub loads_in_flight: u32,
    /// The maximum of workgroups, which stride over tiles, at most 32 each; `None` for a workgroup per tile.
    pub max_workgroups: Option<u32>,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
}

impl HistogramPolicy {
    /// Shared memory up to which several workgroups run side by side on any GPU, words.
    const SMALL_WORDS: u32 = 2 << 10;
    /// Shared memory that a workgroup takes at most, words.
    const MAX_WORDS: u32 = 8 << 10;
    /// Words of shared memory beside counters and edges: one after the counters, and two deviations of the edges.
    const SPARE_WORDS: u32 = 3;

    /// Chooses the policy for a device.
    pub fn choose(capabilities: &Capabilities, config: &HistogramConfig) -> Choice<Self> {
        Self::of_shapes(&|part| tuning::shape_of(capabilities, part, [1, 0]), capabilities, config)
    }

    /// The policy with the shapes of the parts of histograms; items are the least number of values.
    pub(crate) fn of_shapes(
        tuned: &dyn Fn(TunedPart) -> KernelShape,
        capabilities: &Capabilities,
        config: &HistogramConfig,
    ) -> Choice<Self> {
        let room = (capabilities.shared_memory_size / 4).min(Self::MAX_WORDS);
        let counters = u32::try_from(config.counts_size() / 4).unwrap_or(u32::MAX);
        let edges = config.bins.saturating_add(1).saturating_mul(config.value_words());
        // The same bytes in flight of wider values.
        let tuned = |part| {
            let shape = tuned(part);
            KernelShape { loads_in_flight: shape.loads_in_flight.min(16 / config.value_words()), ..shape }
        };
        let limit = capabilities.max_workgroup_invocations;
        let is_private = counters.saturating_add(Self::SPARE_WORDS) <= room;
        if !is_private {
            let has_shared_edges = edges.saturating_add(Self::SPARE_WORDS) <= Self::SMALL_WORDS / 2;
            let KernelShape { workgroup_size, items, loads_in_flight, subgroup_size, .. } =
                tuned(TunedPart::HistogramInMemory);
            return Choice {
                policy: Self {
                    has_shared_edges,
                    loads_in_flight,
                    subgroup_size,
                    ..Self::new(limit.min(workgroup_size), items, 0)
                },
                reason: "the counters do not fit in shared memory: every value is added in device memory",
            };
        }
        let has_shared_edges = counters.saturating_add(edges).saturating_add(Self::SPARE_WORDS) <= room;
        let edges = if has_shared_edges { edges } else { 0 };
        let small = tuned(TunedPart::Histogram);
        let fewer = (0..6).map(|halvings| small.copies >> halvings).filter(|&copies| copies > 0);
        let copies = fewer.into_iter().find(|copies| copies * counters + edges <= Self::SMALL_WORDS);
        let is_small = copies.is_some();
        let shape = if is_small { small } else { tuned(TunedPart::LargeHistogram) };
        let KernelShape { loads_in_flight, max_workgroups, subgroup_size, .. } = shape;
        let workgroup_size = limit.min(shape.workgroup_size);
        // A tile of many values for each counter, which is added once a tile.
        let items = (8 * counters / workgroup_size.max(1)).clamp(shape.items, shape.items.max(64));
        let policy = Self::new(workgroup_size, items, copies.unwrap_or(1));
        Choice {
            policy: Self { has_shared_edges, loads_in_flight, max_workgroups, subgroup_size, ..policy },
            reason: match is_small {
                true => {
                    "copies of the counters in shared memory, where equal values do not wait for each other"
                }
                false => "the counters fill the shared memory: one copy, and a large workgroup shares it",
            },
        }
    }

    /// A policy with `workgroup_size` invocations, `items_per_invocation` values for each, 16 of them in flight, and `copies`
    /// of the counters in shared memory. Edges are in device memory.
    pub const fn new(workgroup_size: u32, items_per_invocation: u32, copies: u32) -> Self {
        Self {
            workgroup_size,
            items_per_invocation,
            copies,
            has_shared_edges: false,
            loads_in_flight: 16,
            max_workgroups: None,
            subgroup_size: None,
        }
    }

    setters! {
        /// The policy with `loads` values of an invocation in flight.
        with_loads_in_flight(loads: u32) => loads_in_flight = loads;
        /// The policy with at most `workgroups` workgroups, which stride over tiles.
        with_max_workgroups(workgroups: u32) => max_workgroups = Some(workgroups);
        /// The policy with edges in shared memory.
        with_shared_edges() => has_shared_edges = true;
        /// The policy with a required subgroup size.
        with_subgroup_size(size: u32) => subgroup_size = Some(size);
    }

    /// Rows per tile.
    #[doc(hidden)]
    pub fn tile_rows(&self, config: &HistogramConfig) -> u32 {
        // Whole quads, of any number of columns.
        match self.workgroup_size * self.items_per_invocation / config.columns {
            rows @ 4.. => rows / 4 * 4,
            rows => rows.max(1),
        }
    }

    /// Edges in shared memory.
    pub(super) fn shared_edges(&self, config: &HistogramConfig) -> u32 {
        if self.has_shared_edges { config.bins + 1 } else { 0 }
    }

    pub(super) fn check(&self, config: &HistogramConfig, capabilities: &Capabilities) -> Result<()> {
        check_workgroup(self.workgroup_size, capabilities)?;
        capabilities.widest_subgroup(self.subgroup_size, self.workgroup_size)?;
        PolicyConflict::check_range("items_per_invocation", self.items_per_invocation, 1..=1024)?;
        PolicyConflict::check_range("loads_in_flight", self.loads_in_flight, 4..=16)?;
        PolicyConflict::check_power_of_two("loads_in_flight", self.loads_in_flight)?;
        PolicyConflict::check_range("max_workgroups", self.max_workgroups.unwrap_or(1), 1..=1 << 20)?;
        if self.copies != 0 {
            PolicyConflict::check_range("copies", self.copies, 1..=32)?;
            PolicyConflict::check_power_of_two("copies", self.copies)?;
        }
        let edges = u64::from(self.shared_edges(config)) * u64::from(config.value_words());
        let words = u64::from(self.copies) * config.counts_size() / 4 + edges + u64::from(Self::SPARE_WORDS);
        let size = u32::try_from(words * 4).unwrap_or(u32::MAX);
        within("bytes of shared memory", size, capabilities.shared_memory_size)
    }
}

impl fmt::Display for HistogramPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workgroup_size, items_per_invocation, copies, .. } = self;
        write!(f, "histogram: workgroup {workgroup_size}, {items_per_invocation} items per invocation, ")?;
        match copies {
            0 => write!(f, "counters in device memory")?,
            copies => write!(f, "{copies} × the counters in shared memory")?,
        }
        write!(f, ", edges in {} memory", if self.has_shared_edges { "shared" } else { "device" })?;
        if self.loads_in_flight > 4 {
            write!(f, ", {} loads in flight", self.loads_in_flight)?;
        }
        if let Some(workgroups) = self.max_workgroups {
            write!(f, ", at most {workgroups} workgroups")?;
        }
        write_subgroups(f, self.subgroup_size)
    }
}
