//! Onesweep: one look at all keys, then a single dispatch a pass, in which tiles look back at what earlier ones have told.
//!
//! ```text
//!   survey ──► schedule: which passes run, how far, between which arrays ──► indirect dispatches
//!      └─────► bins: where the first key of each digit of each pass goes
//!   onesweep, for each pass:  keys ──► aside ──► keys ──► …   (places: keys ──► aside ──► other ──► aside ──► …)
//!   copy, where an odd number of passes ran: aside ──► keys
//! ```
//!
//! A pass in which all keys agree does not run. Everything that begins as 0 is filled at once.

use super::config::{SortBuffers, SortConfig};
use super::digit::Digit;
use super::policy::SortPolicy;
use crate::error::Result;
use crate::kernels::{self, Kernel};
use crate::primitives::{ScratchCursor, Tiles};
use crate::vk::{
    AddressRange, Barrier, BufferRange, Device, Pipeline, PipelineOptions, Recorder, push_constants,
};

push_constants! {
    struct SurveyPush for [SORT_SURVEY_KEY1_BINS, SORT_SURVEY_KEY2_BINS] {
        keys: AddressRange,
        state: AddressRange,
        schedule: AddressRange,
        bins: AddressRange,
        tiles_on_device: AddressRange,
        tile_count: u32,
        last_extent: u32,
        pass_tile_items: u32,
        begin_bit: u32,
        end_bit: u32,
        pass_count: u32,
        max_row: u32,
        is_argsort: u32,
    }
}

push_constants! {
    struct OnesweepPush for [
        SORT_ONESWEEP_KEY1,
        SORT_ONESWEEP_KEY1_VALUE1,
        SORT_ONESWEEP_KEY1_VALUE2,
        SORT_ONESWEEP_KEY2,
        SORT_ONESWEEP_KEY2_VALUE1,
        SORT_ONESWEEP_KEY2_VALUE2,
    ] {
        keys: AddressRange,
        keys_aside: AddressRange,
        keys_other: AddressRange,
        values: AddressRange,
        values_aside: AddressRange,
        bins: AddressRange,
        state: AddressRange,
        schedule: AddressRange,
        tile_count: u32,
        last_extent: u32,
        shift: u32,
        digit_mask: u32,
        route: u32,
    }
}

push_constants! {
    struct CopyPush for [SORT_COPY] {
        keys: AddressRange,
        keys_aside: AddressRange,
        values: AddressRange,
        values_aside: AddressRange,
        schedule: AddressRange,
        key_words: u32,
        value_words: u32,
    }
}

/// By the words of a key, and by those of a value.
const KERNELS: [[&Kernel; 3]; 2] = [
    [&kernels::SORT_ONESWEEP_KEY1, &kernels::SORT_ONESWEEP_KEY1_VALUE1, &kernels::SORT_ONESWEEP_KEY1_VALUE2],
    [&kernels::SORT_ONESWEEP_KEY2, &kernels::SORT_ONESWEEP_KEY2_VALUE1, &kernels::SORT_ONESWEEP_KEY2_VALUE2],
];

/// Bytes of a pass in the schedule; what an indirect dispatch reads of it comes first.
const SCHEDULE_SIZE: u64 = 32;
const INDIRECT_SIZE: u64 = 12;
/// Bytes of the survey's state, and of what lies before the statuses of a pass.
const STATE_SIZE: u64 = 32;
const TICKET_SIZE: u64 = 16;

#[derive(Debug)]
pub(super) struct Onesweep {
    config: SortConfig,
    tile_items: u32,
    radix: u32,
    pass_count: u32,
    survey: Pipeline,
    pass: Pipeline,
    copy: Pipeline,
}

/// Where things lie in scratch.
#[derive(Debug)]
struct Layout {
    /// What begins as 0: the survey's state, the bins of all passes, and the statuses of all passes.
    zeroed: u64,
    zeroed_size: u64,
    bins: u64,
    statuses: u64,
    /// Of one pass.
    bins_size: u64,
    statuses_size: u64,
    schedule: u64,
    /// Of as many keys as the caller has; two such arrays where those stay as they are.
    keys: [u64; 2],
    values: u64,
    size: u64,
}

impl Onesweep {
    /// The most keys of a sort: counts share a word with a status.
    pub(super) const MAX_COUNT: u64 = 1 << 29;

    pub(super) fn new(device: &Device, config: &SortConfig, policy: &SortPolicy) -> Result<Self> {
        let radix_bits = policy.algorithm.radix_bits();
        // Without bits, nobody has written the places yet.
        let pass_count = config.bit_count().div_ceil(radix_bits).max(config.is_argsort().into());
        let [numbers, descending] = config.constants();
        let radix = ("RADIX_BITS", radix_bits);
        let items = ("ITEMS_PER_INVOCATION", policy.items_per_invocation);
        let pipeline = |kernel: &'static Kernel, constants: &[(&'static str, u32)]| {
            let (workgroup_size, subgroup_size) = (policy.workgroup_size, policy.subgroup_size);
            Pipeline::new(device, kernel, PipelineOptions { workgroup_size, constants, subgroup_size })
        };
        let (key, value) = (config.key.words() as usize - 1, config.values.words() as usize);
        let survey = [&kernels::SORT_SURVEY_KEY1_BINS, &kernels::SORT_SURVEY_KEY2_BINS][key];
        let subgroups = ("MAX_SUBGROUPS", policy.max_subgroups(device.capabilities()));
        Ok(Self {
            config: *config,
            tile_items: policy.tile_items(),
            radix: 1 << radix_bits,
            pass_count,
            survey: pipeline(survey, &[numbers, descending, radix, items, ("MAX_PASSES", pass_count)])?,
            pass: pipeline(KERNELS[key][value], &[numbers, descending, radix, items, subgroups])?,
            copy: pipeline(&kernels::SORT_COPY, &[items])?,
        })
    }

    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        [&self.survey, &self.pass, &self.copy].into_iter()
    }

    pub(super) fn pass_count(&self) -> u32 {
        self.pass_count
    }

    fn layout(&self, count: u64) -> Layout {
        let passes = u64::from(self.pass_count);
        let tile_count = count.div_ceil(self.tile_items.into());
        let bins_size = u64::from(self.radix) * 4;
        let statuses_size = TICKET_SIZE + tile_count.saturating_mul(bins_size);
        let mut cursor = ScratchCursor::default();
        let zeroed = cursor.take(STATE_SIZE);
        let bins = cursor.take(passes * bins_size);
        let statuses = cursor.take(passes.saturating_mul(statuses_size));
        let zeroed_size = cursor.size;
        let schedule = cursor.take((passes + 1) * SCHEDULE_SIZE);
        let mut keys = || cursor.take(count.saturating_mul(self.config.key_size()));
        let aside = keys();
        let keys = [aside, if self.config.is_argsort() { keys() } else { aside }];
        let values = cursor.take(count.saturating_mul(self.config.value_size()));
        Layout {
            zeroed,
            zeroed_size,
            bins,
            statuses,
            bins_size,
            statuses_size,
            schedule,
            keys,
            values,
            size: cursor.size,
        }
    }

    pub(super) fn scratch_size(&self, max_count: u64) -> u64 {
        self.layout(max_count).size
    }

    pub(super) fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &SortBuffers,
        count: u64,
    ) -> Result<()> {
        let layout = self.layout(count);
        let Tiles { count: tile_count, last_extent } = Tiles::new(count, self.tile_items)?;
        let (config, scratch) = (&self.config, buffers.scratch);
        let in_scratch = |offset: u64, size: u64| scratch.slice(offset, size).addresses();
        let schedule =
            |pass: u32| scratch.slice(layout.schedule + u64::from(pass) * SCHEDULE_SIZE, SCHEDULE_SIZE);
        let workgroups = |pass: u32| -> BufferRange { schedule(pass).slice(0, INDIRECT_SIZE) };
        let (key_size, value_size) = (config.key_size(), config.value_size());

        recorder.fill(scratch.slice(layout.zeroed, layout.zeroed_size), 0);
        recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
        let survey = SurveyPush {
            keys: buffers.keys,
            state: in_scratch(layout.zeroed, STATE_SIZE),
            schedule: in_scratch(layout.schedule, u64::from(self.pass_count + 1) * SCHEDULE_SIZE),
            bins: in_scratch(layout.bins, u64::from(self.pass_count) * layout.bins_size),
            tiles_on_device: AddressRange::default(),
            tile_count,
            last_extent,
            pass_tile_items: self.tile_items,
            begin_bit: config.begin_bit,
            end_bit: config.end_bit,
            pass_count: self.pass_count,
            max_row: recorder.device().capabilities().max_workgroup_count[0],
            is_argsort: config.is_argsort().into(),
        };
        recorder.dispatch(&self.survey, &survey, tile_count.into())?;
        recorder.barrier(Barrier::COMPUTE_TO_INDIRECT);

        let [keys_aside, keys_other] = layout.keys.map(|offset| in_scratch(offset, count * key_size));
        let values_aside = in_scratch(layout.values, count * value_size);
        for pass in 0..self.pass_count {
            let Digit { shift, mask: digit_mask } = Digit::nth(config, self.pass_count, pass);
            let statuses = layout.statuses + u64::from(pass) * layout.statuses_size;
            let push = OnesweepPush {
                keys: buffers.keys,
                keys_aside,
                keys_other,
                values: buffers.values,
                values_aside,
                bins: in_scratch(layout.bins + u64::from(pass) * layout.bins_size, layout.bins_size),
                state: in_scratch(statuses, layout.statuses_size),
                schedule: schedule(pass).addresses(),
                tile_count,
                last_extent,
                shift,
                digit_mask,
                route: 0,
            };
            recorder.dispatch_indirect(&self.pass, &push, workgroups(pass))?;
            recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
        }
        let push = CopyPush {
            keys: buffers.keys,
            keys_aside,
            values: buffers.values,
            values_aside,
            schedule: schedule(self.pass_count).addresses(),
            key_words: config.key.words(),
            value_words: config.values.words(),
        };
        recorder.dispatch_indirect(&self.copy, &push, workgroups(self.pass_count))
    }
}
