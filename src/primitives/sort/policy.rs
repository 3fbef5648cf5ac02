//! Policy of a sort: its tuning parameters as a value.

use std::fmt;

use super::config::SortConfig;
use super::tuning::{SortTuning, tile};
use crate::device::Capabilities;
use crate::error::{Error, PolicyConflict, Result, within};
use crate::primitives::scan::{ScanAlgorithm, ScanConfig, ScanPolicy};
use crate::primitives::tuning::{self, KernelShape};
use crate::primitives::{
    Choice, ElementType, FewTiles, LookBack, QUADS_OR_WORDS, check_subgroups, check_workgroup,
    write_subgroups,
};

/// The scan of counts, over the digits of all tiles.
pub(super) const COUNT_SCAN: ScanConfig = ScanConfig::exclusive(ElementType::U32);

/// Sort algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SortAlgorithm {
    /// Three kernels per pass, digits of 2 bits: 16 passes over 32-bit keys.
    Radix2Bit,
    /// Three kernels per pass, digits of 4 bits: 8 passes.
    Radix4Bit,
    /// Three kernels per pass, digits of 8 bits: 4 passes.
    Radix8Bit,
    /// Onesweep: one kernel per pass with decoupled look-back, digits of 8 bits.
    Onesweep,
    /// One dispatch of one workgroup that holds all keys.
    SingleWorkgroup,
}

impl SortAlgorithm {
    /// All algorithms, best first.
    pub const ALL: [Self; 5] =
        [Self::Onesweep, Self::Radix8Bit, Self::Radix4Bit, Self::Radix2Bit, Self::SingleWorkgroup];

    /// The name that selects it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Radix2Bit => "radix-2bit",
            Self::Radix4Bit => "radix-4bit",
            Self::Radix8Bit => "radix-8bit",
            Self::Onesweep => "onesweep",
            Self::SingleWorkgroup => "single-workgroup",
        }
    }

    /// One line for listings: passes, bytes moved and source.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Radix2Bit => {
                "count, scan and scatter by 2 bits, 16 passes; moves 196 bytes per u32 key; C-for-Metal tutorial 13"
            }
            Self::Radix4Bit => {
                "count, scan and scatter by 4 bits, 8 passes; moves 100 bytes per u32 key; C-for-Metal tutorial 13"
            }
            Self::Radix8Bit => {
                "count, scan and scatter by 8 bits, 4 passes; moves 52 bytes per u32 key; ranked as by Adinets and \
                 Merrill 2022"
            }
            Self::Onesweep => {
                "histogram of all digits, then one kernel per pass by 8 bits with decoupled look-back; skips passes where \
                 all keys agree; moves 36 bytes per u32 key at most; Adinets and Merrill 2022"
            }
            Self::SingleWorkgroup => {
                "all passes in one dispatch of one workgroup, in registers and shared memory; moves 8 bytes per u32 key, \
                 for some thousands of keys; after the small sorts of CUB"
            }
        }
    }

    /// Bits of a digit.
    pub const fn radix_bits(self) -> u32 {
        match self {
            Self::Radix2Bit => 2,
            Self::Radix4Bit | Self::SingleWorkgroup => 4,
            Self::Radix8Bit | Self::Onesweep => 8,
        }
    }

    /// Whether it is an algorithm of the seed, for [`SortPolicy::seed`].
    pub const fn is_of_seed(self) -> bool {
        matches!(self, Self::Radix2Bit | Self::Radix4Bit)
    }
}

/// Shape of a tile of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TileShape {
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Keys per invocation: a multiple of 4, at most 252; with [`Ranking::Match`] 1 to 64.
    pub items_per_invocation: u32,
}

impl TileShape {
    /// Keys per tile; saturates at [`u32::MAX`].
    pub const fn tile_items(&self) -> u32 {
        self.workgroup_size.saturating_mul(self.items_per_invocation)
    }

    /// Maximum number of subgroups per workgroup, for which shared histograms are sized.
    pub(super) fn max_subgroups(&self, subgroup_size: Option<u32>, capabilities: &Capabilities) -> u32 {
        let lanes = subgroup_size.unwrap_or(capabilities.min_subgroup_size).max(4);
        self.workgroup_size.div_ceil(lanes)
    }

    /// Checks the shape for ranking by match, with offsets of `offset_words` words.
    pub(super) fn check_matched(
        &self,
        radix_bits: u32,
        offset_words: u32,
        matching: Matching,
        subgroup_size: Option<u32>,
        capabilities: &Capabilities,
    ) -> Result<()> {
        let lanes = check_subgroups(self.workgroup_size, subgroup_size, capabilities)?;
        PolicyConflict::check_range("items_per_invocation", self.items_per_invocation, 1..=64)?;
        let radix = 1 << radix_bits;
        PolicyConflict::check(
            self.workgroup_size >= radix || radix.is_multiple_of(self.workgroup_size),
            "workgroup_size divides the number of digits, or is larger",
        )?;
        PolicyConflict::check(
            !matching.by_shared_masks || lanes <= Matching::MAX_MASK_LANES,
            "lanes match by shared masks in subgroups of up to 32 lanes",
        )?;
        let tables = self.max_subgroups(subgroup_size, capabilities) << radix_bits;
        let ranking_words = if matching.by_shared_masks { 2 * tables } else { tables };
        let shared_size = self.tile_items().max(ranking_words) * 4
            + match_tables_size(radix_bits, self.workgroup_size, offset_words);
        within("bytes of shared memory", shared_size, capabilities.shared_memory_size)
    }

    /// Checks the shape for ranking by counters.
    pub(super) fn check(
        &self,
        radix_bits: u32,
        subgroup_size: Option<u32>,
        capabilities: &Capabilities,
    ) -> Result<()> {
        self.check_items(subgroup_size, capabilities)?;
        let shared_size = self.shared_size(radix_bits, self.tile_items());
        within("bytes of shared memory", shared_size, capabilities.shared_memory_size)
    }

    fn check_items(&self, subgroup_size: Option<u32>, capabilities: &Capabilities) -> Result<()> {
        check_subgroups(self.workgroup_size, subgroup_size, capabilities)?;
        PolicyConflict::check_range("items_per_invocation", self.items_per_invocation, 4..=252)?;
        PolicyConflict::check_multiple("items_per_invocation", self.items_per_invocation, 4, "a quad")?;
        // Counters of a tile have 16 bits.
        PolicyConflict::check_range("the number of keys in a tile", self.tile_items(), 1..=65_532)
    }

    /// Bytes of shared memory for ranking by counters, and for exchanging `exchanged_items` keys at a time.
    fn shared_size(&self, radix_bits: u32, exchanged_items: u32) -> u32 {
        let counters = (1 << radix_bits) / 2 * self.workgroup_size;
        exchanged_items.max(counters) * 4 + shared_tables_size(radix_bits, self.workgroup_size)
    }

    /// Parts in which one workgroup exchanges the tile: the fewest that fit, up to 4.
    pub(super) fn exchange_parts(&self, capabilities: &Capabilities) -> u32 {
        let radix_bits = SortAlgorithm::SingleWorkgroup.radix_bits();
        let fits = |parts: &u32| {
            self.shared_size(radix_bits, self.tile_items() / parts) <= capabilities.shared_memory_size
        };
        [1, 2].into_iter().find(fits).unwrap_or(4)
    }

    /// Checks the shape of a workgroup that sorts all keys, and exchanges them in parts.
    pub(super) fn check_single(&self, subgroup_size: Option<u32>, capabilities: &Capabilities) -> Result<()> {
        self.check_items(subgroup_size, capabilities)?;
        let parts = self.exchange_parts(capabilities);
        PolicyConflict::check_multiple(
            "workgroup_size",
            self.workgroup_size,
            parts,
            "the parts of an exchange",
        )?;
        let shared_size =
            self.shared_size(SortAlgorithm::SingleWorkgroup.radix_bits(), self.tile_items() / parts);
        within("bytes of shared memory", shared_size, capabilities.shared_memory_size)
    }
}

/// Ranking of a tile's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ranking {
    /// Packed counters per invocation, scanned over the workgroup: for digits of up to 4 bits.
    CounterScan,
    /// Match of lanes with equal digits, and a histogram per subgroup.
    Match(Matching),
    /// A ballot per digit value, 32 keys at a time: the seed's ranking, only for its two algorithms.
    Ballot(ChunkCounting),
}

/// Method of matching lanes with equal digits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Matching {
    /// By a mask per bin in shared memory, instead of a ballot per bit of the digit; for subgroups of up to 32 lanes.
    pub by_shared_masks: bool,
    /// For `onesweep`: a tile counts and publishes its digits before it ranks its keys.
    pub has_early_counts: bool,
    /// Ranks of two keys in a word, and offsets of values computed again from bins: more instructions for fewer registers.
    pub has_packed_ranks: bool,
}

impl Matching {
    /// Lanes of a mask of one word.
    const MAX_MASK_LANES: u32 = 32;

    pub(super) fn constants(self) -> [(&'static str, u32); 3] {
        [
            ("SHARED_MASKS", self.by_shared_masks.into()),
            ("EARLY_COUNTS", self.has_early_counts.into()),
            ("PACKED_RANKS", self.has_packed_ranks.into()),
        ]
    }
}

/// Counting of the seed's chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChunkCounting {
    /// All digits at once, in packed counters: as in the seed.
    Packed,
    /// A counter and a sum over the lanes per digit value: what the seed calls intuitive, and slower.
    BinByBin,
}

/// Shape of the histogram of all digits. Its workgroups have the size of the policy's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DigitHistogramShape {
    /// Keys per invocation and tile: a multiple of `loads_in_flight` and of 4, up to 256. Many, so that few workgroups add
    /// to a counter.
    pub items_per_invocation: u32,
    /// The maximum of workgroups, which stride over tiles, at most 32 each; `None` for a workgroup per tile.
    pub max_workgroups: Option<u32>,
    /// Keys of a full tile that an invocation loads before it counts the first: 1, 2, 4, 8 or 16; by 16 bytes at a time
    /// if they have as many and the keys begin at a multiple of 16.
    pub loads_in_flight: u32,
    /// Copies of the counters in shared memory, 1 to 8, among which subgroups are divided.
    pub copies: u32,
}

impl DigitHistogramShape {
    /// A workgroup per tile, which loads and counts key by key.
    pub const PLAIN: Self =
        Self { items_per_invocation: 32, max_workgroups: None, loads_in_flight: 1, copies: 1 };

    const fn new(tuned: &KernelShape) -> Self {
        let KernelShape { items, max_workgroups, loads_in_flight, copies, .. } = *tuned;
        Self { items_per_invocation: items, max_workgroups, loads_in_flight, copies }
    }

    /// Checks the shape, for `counters` counters.
    fn check(&self, counters: u32, capabilities: &Capabilities) -> Result<()> {
        let Self { items_per_invocation: items, loads_in_flight: loads, copies, .. } = *self;
        PolicyConflict::check_range("items_per_invocation", items, 4..=256)?;
        PolicyConflict::check_multiple("items_per_invocation", items, 4, "the keys of a round")?;
        PolicyConflict::check_range("loads_in_flight", loads, 1..=16)?;
        PolicyConflict::check_power_of_two("loads_in_flight", loads)?;
        PolicyConflict::check_multiple("items_per_invocation", items, loads, "the loads in flight")?;
        PolicyConflict::check_range("max_workgroups", self.max_workgroups.unwrap_or(1), 1..=1 << 20)?;
        PolicyConflict::check_range("copies", copies, 1..=8)?;
        let shared_size = (copies * counters + 1).saturating_mul(4);
        within("bytes of shared memory", shared_size, capabilities.shared_memory_size)
    }
}

/// Policy of a sort. A tile is `workgroup_size * items_per_invocation` keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SortPolicy {
    /// The algorithm for more keys than one workgroup holds. With `single-workgroup` the shape of the tile is
    /// `single_workgroup`.
    pub algorithm: SortAlgorithm,
    /// Ranking of a tile's keys.
    pub ranking: Ranking,
    /// Invocations in a workgroup.
    pub workgroup_size: u32,
    /// Keys per invocation: a multiple of 4, at most 252; with [`Ranking::Match`] 1 to 64.
    pub items_per_invocation: u32,
    /// Maximum number of keys per dispatch of a pass of `onesweep`, at most 2^30 - 1. More keys take several
    /// dispatches, up to 4,096. Rounded down to whole tiles, and at least one tile.
    pub portion_items: u32,
    /// The maximum of workgroups of a pass of `onesweep`, which take a tile after the other, at most 32 each, and load the
    /// keys of the next tile while they store the keys of the current one; `None` for a workgroup per tile.
    pub max_workgroups: Option<u32>,
    /// Whether the first pass of `onesweep` ranks keys of one digit in any order, where nothing but whole keys is sorted: by
    /// an atomic add in shared memory for each key.
    pub first_in_any_order: bool,
    /// Tiles of `onesweep` for few keys, which would not fill a GPU with the others; `None` for none.
    pub few: Option<FewTiles>,
    /// Tiles up to which the host dispatches the passes of `onesweep` in place itself; an even number of passes runs
    /// then, so that no copy follows. 0 for none: the device decides which passes run.
    pub direct_tiles: u32,
    /// Shape of the workgroup that sorts up to a tile of keys in a single dispatch; `None` always uses `algorithm`.
    pub single_workgroup: Option<TileShape>,
    /// Shape of the workgroup that sorts more keys than `single_workgroup` holds in a single dispatch, if it holds
    /// more; `None` for none.
    pub large_workgroup: Option<TileShape>,
    /// Required subgroup size; `None` for the driver's default.
    pub subgroup_size: Option<u32>,
    /// Required subgroup size of the histogram of all digits, and of counting for [`Ranking::Match`].
    pub histogram_subgroup_size: Option<u32>,
    /// Histogram of all digits.
    pub histogram: DigitHistogramShape,
    /// Look-back of `onesweep`.
    pub look_back: LookBack,
    /// Whether ranked tiles are exchanged in shared memory, so that keys of one digit are consecutive, before they are
    /// scattered; otherwise they are scattered from registers.
    pub has_exchange: bool,
    /// As [`ScanPolicy::mixed_access`], for tiles ranked by counters.
    pub mixed_access: bool,
    /// Policy of the scan of counts.
    pub scan: ScanPolicy,
}

/// Checks the policy of the scan of counts.
pub(super) fn check_scan_of_counts(policy: &ScanPolicy, config: &ScanConfig) -> Result<()> {
    if let Some(rule) = policy.algorithm.refusal(config) {
        return Err(Error::InvalidPolicy(PolicyConflict::Excluded(rule)));
    }
    let is_in_place = policy.algorithm != ScanAlgorithm::Chained;
    PolicyConflict::check(is_in_place, "counts are scanned in place, which the chained scan does not do")
}

impl SortPolicy {
    /// Maximum count in a descriptor.
    const MAX_PORTION_ITEMS: u32 = (1 << 30) - 1;
    const SPIN_LIMIT: u32 = 100;

    /// Chooses the policy for a configuration on a device.
    pub fn choose(capabilities: &Capabilities, config: &SortConfig) -> Choice<Self> {
        let words = config.words();
        let Choice { policy: algorithm, reason } = match (config.has_large_counts, config.functions()) {
            (_, Some(_)) => Choice {
                policy: SortAlgorithm::Onesweep,
                reason: "few keys take one dispatch; only onesweep computes keys",
            },
            (true, None) => Choice {
                policy: SortAlgorithm::Onesweep,
                reason: "few keys take one dispatch; only onesweep sorts 2^32 and more",
            },
            (false, None) => tuning::algorithm_of(tuning::SORTS, capabilities, words),
        };
        let tuning = SortTuning::new(capabilities, words);
        let (single, large) = (tile(&tuning.counted), tile(&tuning.large_workgroup));
        let has_large = large.tile_items() > single.tile_items();
        let policy = Self {
            single_workgroup: Some(single),
            large_workgroup: has_large.then_some(large),
            ..Self::tuned(algorithm, capabilities, config)
        };
        Choice { policy, reason }
    }

    /// The policy of an algorithm, tuned for a device and configuration.
    pub fn tuned(algorithm: SortAlgorithm, capabilities: &Capabilities, config: &SortConfig) -> Self {
        let tuning = SortTuning::new(capabilities, config.words());
        let tuned = match algorithm {
            SortAlgorithm::Onesweep => tuning.onesweep,
            SortAlgorithm::Radix8Bit => tuning.radix_8bit,
            _ => tuning.counted,
        };
        Self {
            few: FewTiles::new(&tuning.few, [tuning.few.workgroup_size, tuning.few.items])
                .filter(|_| algorithm == SortAlgorithm::Onesweep),
            mixed_access: tuning.counted.mixed_access,
            ..Self::of_shape(algorithm, tuned, &tuning.histogram, capabilities)
        }
    }

    /// The policy of an algorithm with a shape, and with the shape of the digit histogram.
    pub(crate) fn of_shape(
        algorithm: SortAlgorithm,
        tuned: KernelShape,
        histogram: &KernelShape,
        capabilities: &Capabilities,
    ) -> Self {
        let late = Matching { has_early_counts: false, ..tuned.matching };
        let ranking = match algorithm {
            SortAlgorithm::Radix8Bit => Ranking::Match(late),
            SortAlgorithm::Onesweep => Ranking::Match(tuned.matching),
            _ => Ranking::CounterScan,
        };
        let shape = tile(&tuned);
        let TileShape { workgroup_size, items_per_invocation } = shape;
        Self {
            algorithm,
            ranking,
            workgroup_size,
            items_per_invocation,
            portion_items: Self::MAX_PORTION_ITEMS,
            max_workgroups: tuned.max_workgroups.filter(|_| algorithm == SortAlgorithm::Onesweep),
            first_in_any_order: tuned.first_in_any_order && algorithm == SortAlgorithm::Onesweep,
            few: None,
            direct_tiles: tuned.few_tiles,
            single_workgroup: (algorithm == SortAlgorithm::SingleWorkgroup).then_some(shape),
            large_workgroup: None,
            subgroup_size: tuned.subgroup_size,
            histogram_subgroup_size: histogram.subgroup_size,
            histogram: DigitHistogramShape::new(histogram),
            look_back: tuned.look_back,
            has_exchange: tuned.has_exchange,
            mixed_access: tuned.mixed_access,
            scan: ScanPolicy::choose(capabilities, &COUNT_SCAN).policy,
        }
    }

    /// The seed: the radix sort of Intel's C-for-Metal development package (tutorial 13, 2019), with chunks of 256
    /// keys, 32 at a time, packed 16-bit counters, and ballots. The counts are scanned on the device, where the
    /// tutorial used the CPU.
    ///
    /// Only for algorithms with [`is_of_seed`](SortAlgorithm::is_of_seed); an error for a plan otherwise.
    pub fn seed(algorithm: SortAlgorithm, capabilities: &Capabilities) -> Self {
        Self {
            algorithm,
            ranking: Ranking::Ballot(ChunkCounting::Packed),
            workgroup_size: 32,
            items_per_invocation: 8,
            portion_items: Self::MAX_PORTION_ITEMS,
            max_workgroups: None,
            first_in_any_order: false,
            few: None,
            direct_tiles: 0,
            single_workgroup: None,
            large_workgroup: None,
            subgroup_size: None,
            histogram_subgroup_size: None,
            histogram: DigitHistogramShape::PLAIN,
            look_back: LookBack::portable(Self::SPIN_LIMIT),
            has_exchange: true,
            mixed_access: false,
            scan: ScanPolicy::choose(capabilities, &COUNT_SCAN).policy,
        }
    }

    /// The policy with a required subgroup size, also for the scan of counts.
    pub const fn with_subgroup_size(mut self, size: u32) -> Self {
        self.subgroup_size = Some(size);
        self.histogram_subgroup_size = Some(size);
        self.scan = self.scan.with_subgroup_size(size);
        self
    }

    /// The policy of the passes over few keys.
    pub(super) fn for_few(&self) -> Option<Self> {
        let FewTiles { tile: TileShape { workgroup_size, items_per_invocation }, window, .. } = self.few?;
        let look_back = LookBack { window, ..self.look_back };
        Some(Self { workgroup_size, items_per_invocation, look_back, few: None, ..*self })
    }

    /// Keys per tile, for `single-workgroup` the keys of its workgroup; saturates at [`u32::MAX`].
    pub const fn tile_items(&self) -> u32 {
        self.tile_shape().tile_items()
    }

    /// Maximum number of tiles per dispatch of a pass.
    pub(super) const fn portion_tiles(&self) -> u32 {
        match self.portion_items.checked_div(self.tile_items()) {
            None | Some(0) => 1,
            Some(tiles) => tiles,
        }
    }

    /// Maximum number of subgroups per workgroup, for which shared histograms are sized.
    pub(super) fn max_subgroups(&self, capabilities: &Capabilities) -> u32 {
        self.tile_shape().max_subgroups(self.subgroup_size, capabilities)
    }

    /// The method of matching; the default one for other rankings.
    pub(super) fn matching(&self) -> Matching {
        match self.ranking {
            Ranking::Match(matching) => matching,
            Ranking::CounterScan | Ranking::Ballot(_) => Matching::default(),
        }
    }

    /// What differs from [`DigitHistogramShape::PLAIN`] with the subgroups of the passes.
    fn write_histogram(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, plain) = (self.histogram, DigitHistogramShape::PLAIN);
        let numbers = [
            (shape.items_per_invocation != plain.items_per_invocation)
                .then(|| format!("{} items per invocation", shape.items_per_invocation)),
            shape.max_workgroups.map(|workgroups| format!("at most {workgroups} workgroups")),
            (shape.loads_in_flight != plain.loads_in_flight)
                .then(|| format!("{} loads in flight", shape.loads_in_flight)),
            (shape.copies != plain.copies).then(|| format!("{} × the counters", shape.copies)),
            (self.histogram_subgroup_size != self.subgroup_size).then(|| {
                match self.histogram_subgroup_size {
                    Some(size) => format!("subgroups of {size}"),
                    None => "subgroups of any size".to_owned(),
                }
            }),
        ];
        let numbers: Vec<_> = numbers.into_iter().flatten().collect();
        if numbers.is_empty() { Ok(()) } else { write!(f, "; histogram of digits: {}", numbers.join(", ")) }
    }

    const fn tile_shape(&self) -> TileShape {
        let Self { workgroup_size, items_per_invocation, .. } = *self;
        match (self.algorithm, self.single_workgroup) {
            (SortAlgorithm::SingleWorkgroup, Some(shape)) => shape,
            _ => TileShape { workgroup_size, items_per_invocation },
        }
    }

    /// Shapes of the workgroups that sort all keys in a single dispatch, the smallest first.
    pub(super) fn single_workgroups(&self) -> impl Iterator<Item = TileShape> {
        let small = self.single_workgroup.map_or(0, |shape| shape.tile_items());
        let large = self.large_workgroup.filter(|shape| shape.tile_items() > small);
        self.single_workgroup.into_iter().chain(large)
    }

    #[doc(hidden)]
    pub fn check(&self, config: &SortConfig, capabilities: &Capabilities) -> Result<()> {
        let (config, require) = (&config.of_kernels(), PolicyConflict::check);
        check_scan_of_counts(&self.scan, &COUNT_SCAN)?;
        for shape in self.single_workgroups() {
            shape.check_single(self.subgroup_size, capabilities)?;
        }
        let is_onesweep = self.algorithm == SortAlgorithm::Onesweep;
        require(!config.has_large_counts || is_onesweep, "large counts require onesweep")?;
        let computes = is_onesweep || self.algorithm == SortAlgorithm::SingleWorkgroup;
        require(
            config.functions().is_none() || computes,
            "computed keys require onesweep or single-workgroup",
        )?;
        require(self.max_workgroups.is_none() || is_onesweep, "max_workgroups is for onesweep")?;
        require(!self.first_in_any_order || is_onesweep, "first_in_any_order is for onesweep")?;
        require(self.few.is_none() || is_onesweep, "few is for onesweep")?;
        if let (Some(few), Some(policy)) = (self.few, self.for_few()) {
            few.check(FewTiles::MAX_TILES)?;
            // More portions would take more scratch than the portions of more keys.
            let is_portion = few.max_count() <= self.portion_items.into();
            require(is_portion, "few keys are sorted in one portion")?;
            policy.check(config, capabilities)?;
        }
        if self.algorithm == SortAlgorithm::SingleWorkgroup {
            return require(
                self.single_workgroup.is_some(),
                "single_workgroup is required for this algorithm",
            );
        }
        within("keys of a portion", self.portion_items, Self::MAX_PORTION_ITEMS)?;
        let radix_bits = self.algorithm.radix_bits();
        if is_onesweep {
            self.look_back.check()?;
            PolicyConflict::check_range("max_workgroups", self.max_workgroups.unwrap_or(1), 1..=1 << 20)?;
        }
        let bins = if is_onesweep { config.pass_count(radix_bits) << radix_bits } else { 0 };
        self.histogram.check(bins, capabilities)?;
        match self.ranking {
            Ranking::CounterScan => {
                let rule = "counters rank digits of up to 4 bits; digits of 8 are ranked by Ranking::Match";
                require(radix_bits <= 4, rule)?;
                self.tile_shape().check(radix_bits, self.subgroup_size, capabilities)
            }
            Ranking::Match(matching) => {
                let rule = "matching lanes rank digits of 8 bits, which radix-8bit and onesweep have";
                require(radix_bits >= 8, rule)?;
                require(!matching.has_early_counts || is_onesweep, "early counts require onesweep")?;
                let (shape, offset_words) = (self.tile_shape(), config.offset_words());
                shape.check_matched(radix_bits, offset_words, matching, self.subgroup_size, capabilities)
            }
            Ranking::Ballot(_) => {
                let rule = "ballots rank by radix-2bit and radix-4bit alone, which are the seed's algorithms";
                require(self.algorithm.is_of_seed(), rule)?;
                let rule = "ballot ranking comes with the seed's chunks only: SortPolicy::seed()";
                require((self.workgroup_size, self.items_per_invocation) == (32, 8), rule)?;
                check_workgroup(self.workgroup_size, capabilities)?;
                capabilities.widest_subgroup(self.subgroup_size, self.workgroup_size).map(|_| ())
            }
        }
    }
}

/// Bytes of shared memory besides a tile ranked by counters: an offset per digit, and the workgroup scan's prefixes.
pub(in crate::primitives) const fn shared_tables_size(radix_bits: u32, workgroup_size: u32) -> u32 {
    4 * ((1 << radix_bits) + workgroup_size / 4 + 1)
}

/// Bytes of shared memory besides a tile ranked by match: the output offset of each bin, the workgroup scan's prefixes,
/// a word of the ranking, and three of the look-back.
pub(in crate::primitives) const fn match_tables_size(
    radix_bits: u32,
    workgroup_size: u32,
    offset_words: u32,
) -> u32 {
    4 * ((offset_words << radix_bits) + workgroup_size / 4 + 1 + 4)
}

impl fmt::Display for SortPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.algorithm.name();
        for shape in self.single_workgroups() {
            let TileShape { workgroup_size, items_per_invocation } = shape;
            let single = SortAlgorithm::SingleWorkgroup.name();
            write!(f, "{single}: up to {} keys, ", shape.tile_items())?;
            write!(f, "workgroup {workgroup_size}, {items_per_invocation} items per invocation")?;
            write_subgroups(f, self.subgroup_size)?;
            if self.algorithm == SortAlgorithm::SingleWorkgroup {
                return Ok(());
            }
            f.write_str("; ")?;
        }
        let ranking = match self.ranking {
            Ranking::CounterScan => "counter scan",
            Ranking::Match(Matching { by_shared_masks: false, .. }) => "matching lanes",
            Ranking::Match(Matching { by_shared_masks: true, .. }) => "matching lanes by shared masks",
            Ranking::Ballot(ChunkCounting::Packed) => "ballots",
            Ranking::Ballot(ChunkCounting::BinByBin) => "ballots, counted bin by bin",
        };
        let Self { workgroup_size, items_per_invocation, .. } = *self;
        write!(f, "{name}: workgroup {workgroup_size}, {items_per_invocation} items per invocation, ")?;
        write!(f, "ranked by {ranking}")?;
        let Matching { has_early_counts, has_packed_ranks, .. } = self.matching();
        for (is_set, text) in [(has_early_counts, ", early counts"), (has_packed_ranks, ", packed ranks")] {
            f.write_str(if is_set { text } else { "" })?;
        }
        f.write_str(if self.first_in_any_order { ", the first pass in any order" } else { "" })?;
        if !self.has_exchange {
            f.write_str(", scattered from registers")?;
        }
        write_subgroups(f, self.subgroup_size)?;
        if self.algorithm == SortAlgorithm::Onesweep {
            self.look_back.write(f, Self::SPIN_LIMIT)?;
            if let Some(workgroups) = self.max_workgroups {
                write!(f, ", at most {workgroups} workgroups")?;
            }
            if self.direct_tiles > 0 {
                write!(f, ", up to {} tiles without a copy", self.direct_tiles)?;
            }
            self.few.map_or(Ok(()), |few| few.write(f, "keys"))?;
        }
        if self.ranking == Ranking::CounterScan && !self.mixed_access {
            f.write_str(QUADS_OR_WORDS)?;
        }
        if self.algorithm == SortAlgorithm::Onesweep {
            self.write_histogram(f)?;
        }
        match (self.algorithm, self.portion_items) {
            // Onesweep has no separate scan of counts.
            (SortAlgorithm::Onesweep, Self::MAX_PORTION_ITEMS) => Ok(()),
            (SortAlgorithm::Onesweep, portion_items) => write!(f, "; portions of {portion_items} keys"),
            _ => write!(f, "; counts by {}", self.scan),
        }
    }
}

#[cfg(test)]
mod tests;
