//! The numbers of a row: the shape of tiles, and the variants of the kernels.

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
    /// Tiles up to which a recording has fewer dispatches. Onesweep: as `SortPolicy::direct_tiles`; selections: as
    /// `SelectPolicy::summed_tiles`; tiles for few elements: as `FewTiles::max_tiles`.
    pub few_tiles: u32,
    /// Items that an invocation loads together. Histograms: values, 4, 8 or 16; digit histogram: keys; merge: keys, and words
    /// of values.
    pub loads_in_flight: u32,
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
        /// With fewer dispatches for up to `tiles` tiles, or for few elements up to so many.
        few(tiles: u32) => few_tiles = tiles;
        /// With `loads` loads in flight.
        loads(loads: u32) => loads_in_flight = loads;
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
