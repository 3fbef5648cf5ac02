//! The numbers of a row: the shape of tiles, and the variants of the kernels.

use std::fmt;

use super::{TunedPart, TuningAxis};
use crate::primitives::look_back::LookBack;
use crate::primitives::sort::Matching;

/// Shape of tiles and variants of kernels. A part uses the fields of its [axes](super::TuningAxis), and no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KernelShape {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Items per invocation, in the unit of the part.
    pub items: u32,
    /// Scans: packs of 16 bytes per run.
    pub packs_per_run: u32,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
    /// As `ScanPolicy::mixed_access`.
    pub mixed_access: bool,
    /// Tiles ranked by match.
    pub matching: Matching,
    /// Whether ranked tiles are exchanged in shared memory before they are scattered.
    pub has_exchange: bool,
    /// Single passes.
    pub look_back: LookBack,
    /// The maximum of workgroups, which stride over tiles; `None` for a workgroup per tile.
    pub max_workgroups: Option<u32>,
    /// Tiles up to which a recording has fewer dispatches. Onesweep: as `SortPolicy::direct_tiles`, and of its tiles for
    /// few keys as `FewKeys::max_tiles`; selections: as
    /// `SelectPolicy::summed_tiles`.
    pub few_tiles: u32,
    /// Items that an invocation loads together. Histograms: values, 4, 8 or 16; digit histogram: keys; merge: keys, and words
    /// of values.
    pub loads_in_flight: u32,
    /// The single-pass scan: tiles up to which it takes no look-back, and no state.
    pub stateless_tiles: u32,
    /// Histograms: counters in shared memory for each count.
    pub copies: u32,
    /// Search: steps whose keys are in shared memory.
    pub shared_steps: u32,
    /// Segmented sort: lanes of a cluster.
    pub lanes: u32,
    /// Segmented sort: whether a network sorts the segments of clusters, in place of counting.
    pub by_network: bool,
    /// As `SortPolicy::first_in_any_order`.
    pub first_in_any_order: bool,
}

impl KernelShape {
    /// A shape without variants: the behaviour on devices that nobody measured.
    pub const fn tile(workgroup_size: u32, items: u32) -> Self {
        Self {
            workgroup_size,
            items,
            packs_per_run: 1,
            subgroup_size: None,
            mixed_access: true,
            matching: Matching { by_shared_masks: false, has_early_counts: false, has_packed_ranks: false },
            has_exchange: true,
            look_back: LookBack::portable(4),
            max_workgroups: None,
            // As many workgroups are resident together on a GPU of 128 compute units.
            few_tiles: 256,
            loads_in_flight: 1,
            stateless_tiles: 1,
            copies: 1,
            shared_steps: 8,
            lanes: 8,
            by_network: false,
            first_in_any_order: false,
        }
    }

    /// A shape of tiles ranked by match, of which a single pass counts a tile before it ranks it.
    pub const fn matched(workgroup_size: u32, items: u32) -> Self {
        Self::tile(workgroup_size, items).early_counts().spins(100)
    }

    setters! {
        /// With runs of `packs` packs.
        runs(packs: u32) => packs_per_run = packs;
        /// With a required subgroup size.
        subgroups(size: u32) => subgroup_size = Some(size);
        /// With quads or words for all tiles, and no branch between them.
        one_access() => mixed_access = false;
        /// With lanes that match by masks in shared memory.
        masks() => matching.by_shared_masks = true;
        /// With counts before the ranking.
        early_counts() => matching.has_early_counts = true;
        /// With ranks of two items in a word.
        packed_ranks() => matching.has_packed_ranks = true;
        /// With a scatter from registers.
        from_registers() => has_exchange = false;
        /// With statuses read by atomic loads.
        status_loads() => look_back.has_loads = true;
        /// With statuses published by atomic stores.
        status_stores() => look_back.has_stores = true;
        /// With a look-back window of `tiles` tiles.
        window(tiles: u32) => look_back.window = tiles;
        /// With `reads` reads of a window before the fallback.
        spins(reads: u32) => look_back.spin_limit = reads;
        /// With at most `workgroups` workgroups, which stride over tiles.
        strides(workgroups: u32) => max_workgroups = Some(workgroups);
        /// With a first pass of sorts that keeps no order of equal digits, where it may.
        any_order() => first_in_any_order = true;
        /// With fewer dispatches for up to `tiles` tiles.
        few(tiles: u32) => few_tiles = tiles;
        /// With `loads` loads in flight.
        loads(loads: u32) => loads_in_flight = loads;
        /// Without look-back and state for up to `tiles` tiles.
        stateless(tiles: u32) => stateless_tiles = tiles;
        /// With the keys of `steps` steps in shared memory.
        shared_steps(steps: u32) => shared_steps = steps;
        /// With clusters of up to `lanes` lanes.
        lanes(lanes: u32) => lanes = lanes;
        /// With clusters that sort by a network.
        network() => by_network = true;
        /// With `copies` counters for each count.
        copies(copies: u32) => copies = copies;
    }
}

impl KernelShape {
    /// The name in ids of cases: `448x18/status-loads/window4/masks`, of the axes of a part.
    pub fn name(&self, part: TunedPart) -> String {
        let mut name = format!("{}x{}", self.workgroup_size, self.items);
        for axis in part.axes() {
            match (axis.values(part), axis.get(self)) {
                _ if [TuningAxis::WorkgroupSize, TuningAxis::Items].contains(axis) => {}
                ([0, 1], 0) => {}
                ([0, 1], _) => name += &format!("/{}", axis.name()),
                (_, value) => name += &format!("/{}{value}", axis.name()),
            }
        }
        name
    }
}

/// The expression of `rows.rs`.
impl fmt::Display for KernelShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workgroup_size, items, .. } = *self;
        let is_matched = self.matching.has_early_counts && self.look_back.spin_limit == 100;
        let (name, base) = match is_matched {
            true => ("matched", Self::matched(workgroup_size, items)),
            false => ("tile", Self::tile(workgroup_size, items)),
        };
        write!(f, "KernelShape::{name}({workgroup_size}, {items})")?;
        let flags = [
            (!self.mixed_access, "one_access"),
            (self.matching.by_shared_masks, "masks"),
            (self.matching.has_early_counts && !is_matched, "early_counts"),
            (self.matching.has_packed_ranks, "packed_ranks"),
            (!self.has_exchange, "from_registers"),
            (self.look_back.has_loads, "status_loads"),
            (self.look_back.has_stores, "status_stores"),
            (self.by_network, "network"),
            (self.first_in_any_order, "any_order"),
        ];
        for (_, name) in flags.iter().filter(|(is_set, _)| *is_set) {
            write!(f, ".{name}()")?;
        }
        let numbers = [
            ("runs", self.packs_per_run, base.packs_per_run),
            ("subgroups", self.subgroup_size.unwrap_or(0), 0),
            ("window", self.look_back.window, base.look_back.window),
            ("spins", self.look_back.spin_limit, base.look_back.spin_limit),
            ("strides", self.max_workgroups.unwrap_or(0), 0),
            ("few", self.few_tiles, base.few_tiles),
            ("loads", self.loads_in_flight, base.loads_in_flight),
            ("stateless", self.stateless_tiles, base.stateless_tiles),
            ("copies", self.copies, base.copies),
            ("shared_steps", self.shared_steps, base.shared_steps),
            ("lanes", self.lanes, base.lanes),
        ];
        for (name, value, _) in numbers.iter().filter(|(_, value, base)| value != base) {
            write!(f, ".{name}({value})")?;
        }
        Ok(())
    }
}
