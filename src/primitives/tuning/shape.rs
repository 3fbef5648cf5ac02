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

    /// With runs of `packs` packs.
    pub const fn runs(mut self, packs: u32) -> Self {
        self.packs_per_run = packs;
        self
    }

    /// With a required subgroup size.
    pub const fn subgroups(mut self, size: u32) -> Self {
        self.subgroup_size = Some(size);
        self
    }

    /// With quads or words for all tiles, and no branch between them.
    pub const fn one_access(mut self) -> Self {
        self.mixed_access = false;
        self
    }

    /// With lanes that match by masks in shared memory.
    pub const fn masks(mut self) -> Self {
        self.matching.by_shared_masks = true;
        self
    }

    /// With counts before the ranking.
    pub const fn early_counts(mut self) -> Self {
        self.matching.has_early_counts = true;
        self
    }

    /// With ranks of two items in a word.
    pub const fn packed_ranks(mut self) -> Self {
        self.matching.has_packed_ranks = true;
        self
    }

    /// With a scatter from registers.
    pub const fn from_registers(mut self) -> Self {
        self.has_exchange = false;
        self
    }

    /// With statuses read by atomic loads.
    pub const fn status_loads(mut self) -> Self {
        self.look_back.has_loads = true;
        self
    }

    /// With statuses published by atomic stores.
    pub const fn status_stores(mut self) -> Self {
        self.look_back.has_stores = true;
        self
    }

    /// With a look-back window of `tiles` tiles.
    pub const fn window(mut self, tiles: u32) -> Self {
        self.look_back.window = tiles;
        self
    }

    /// With `reads` reads of a window before the fallback.
    pub const fn spins(mut self, reads: u32) -> Self {
        self.look_back.spin_limit = reads;
        self
    }

    /// With at most `workgroups` workgroups, which stride over tiles.
    pub const fn strides(mut self, workgroups: u32) -> Self {
        self.max_workgroups = Some(workgroups);
        self
    }

    /// With a first pass of sorts that keeps no order of equal digits, where it may.
    pub const fn any_order(mut self) -> Self {
        self.first_in_any_order = true;
        self
    }

    /// With fewer dispatches for up to `tiles` tiles.
    pub const fn few(mut self, tiles: u32) -> Self {
        self.few_tiles = tiles;
        self
    }

    /// With `loads` loads in flight.
    pub const fn loads(mut self, loads: u32) -> Self {
        self.loads_in_flight = loads;
        self
    }

    /// Without look-back and state for up to `tiles` tiles.
    pub const fn stateless(mut self, tiles: u32) -> Self {
        self.stateless_tiles = tiles;
        self
    }

    /// With the keys of `steps` steps in shared memory.
    pub const fn shared_steps(mut self, steps: u32) -> Self {
        self.shared_steps = steps;
        self
    }

    /// With clusters of up to `lanes` lanes.
    pub const fn lanes(mut self, lanes: u32) -> Self {
        self.lanes = lanes;
        self
    }

    /// With clusters that sort by a network.
    pub const fn network(mut self) -> Self {
        self.by_network = true;
        self
    }

    /// With `copies` counters for each count.
    pub const fn copies(mut self, copies: u32) -> Self {
        self.copies = copies;
        self
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
