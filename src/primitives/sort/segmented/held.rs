//! Segments that a cluster of lanes or a workgroup holds: one dispatch per size class, which reads and writes them
//! once.

use super::config::SegmentedSortConfig;
use super::policy::SegmentedSortPolicy;
use crate::device::{AddressRange, Device, Pipeline, PipelineOptions, Recorder, push};
use crate::error::Result;
use crate::kernels;
use crate::primitives::sort::config::{SortBuffers, SortConfig};
use crate::primitives::sort::dispatch_args::DispatchArgs;
use crate::primitives::sort::policy::TileShape;

/// Size classes: short (lanes of a subgroup), small (small workgroup), large (large workgroup).
pub(super) const CLASS_COUNT: usize = 3;

#[derive(Debug)]
pub(super) struct Held {
    config: SortConfig,
    /// Along rows the class of their length alone.
    classes: [Option<Pipeline>; CLASS_COUNT],
    begin_mask: u32,
}

impl Held {
    pub(super) fn new(
        device: &Device,
        of_segments: &SegmentedSortConfig,
        policy: &SegmentedSortPolicy,
    ) -> Result<Self> {
        let config = &of_segments.sort;
        let SegmentedSortPolicy { cluster, workgroups: [small, large], subgroup_size, .. } = *policy;
        let pipeline = |kernel, workgroup_size, constants: &[(&'static str, u32)]| {
            Pipeline::declare(device, kernel, PipelineOptions { workgroup_size, constants, subgroup_size })
        };
        let [numbers, descending] = config.constants();
        let [key_words, value_words] = config.defines();
        let short = [
            numbers,
            descending,
            ("CLUSTER_LANES", cluster.lanes),
            ("ITEMS_PER_INVOCATION", cluster.items_per_invocation),
            ("ALL_BITS", config.sorts_whole_keys_alone().into()),
        ];
        let (kernel, short) = match cluster.by_network {
            true => (
                kernels::SORT_SHORT_SEGMENTS.module(&[("BY_NETWORK", 1), key_words, value_words]),
                &short[..],
            ),
            false => (kernels::SORT_SHORT_SEGMENTS.module(&[key_words, value_words]), &short[..4]),
        };
        let workgroup = |shape: TileShape| {
            let constants = [
                numbers,
                descending,
                ("RADIX_BITS", SegmentedSortPolicy::WORKGROUP_RADIX_BITS),
                ("ITEMS_PER_INVOCATION", shape.items_per_invocation),
                // Segments begin at any key.
                ("QUAD_ACCESS", 0),
            ];
            pipeline(
                kernels::SORT_SINGLE_WORKGROUP_SEGMENTED.module(&config.defines()),
                shape.workgroup_size,
                &constants,
            )
        };
        let has = |class| policy.has_class(of_segments, class);
        Ok(Self {
            config: *config,
            classes: [
                has(0).then(|| pipeline(kernel, cluster.workgroup_size, short)).transpose()?,
                has(1).then(|| workgroup(small)).transpose()?,
                has(2).then(|| workgroup(large)).transpose()?,
            ],
            begin_mask: of_segments.begin_mask(),
        })
    }

    /// Whether there may be segments of a size class.
    pub(super) fn has(&self, class: usize) -> bool {
        self.classes[class].is_some()
    }

    pub(super) fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        self.classes.iter().flatten()
    }

    /// Records a size class, whose segments are in `list`.
    pub(super) fn record(
        &self,
        recorder: &mut Recorder<'_>,
        buffers: &SortBuffers,
        class: usize,
        list: AddressRange,
        dispatch_args: DispatchArgs,
    ) -> Result<()> {
        recorder.phase([c"short segments", c"small segments", c"large segments"][class]);
        let SortBuffers { keys, .. } = *buffers;
        let [sorted, values, sorted_values] = buffers.of_one_pass(&self.config);
        let Some(pipeline) = &self.classes[class] else { return Ok(()) };
        let workgroups = dispatch_args.nth(class as u64).workgroups();
        let dispatch_args = dispatch_args.nth(class as u64).words();
        let (begin_bit, end_bit) = (self.config.begin_bit, self.config.end_bit);
        if class > 0 {
            let push = push::SortSingleWorkgroupSegmented {
                keys,
                sorted,
                values,
                sorted_values,
                list,
                dispatch_args,
                begin_bit,
                end_bit,
                begin_mask: self.begin_mask,
            };
            return recorder.dispatch_indirect(pipeline, &push, workgroups);
        }
        let below = |bit: u32| if bit < 64 { (1u64 << bit) - 1 } else { u64::MAX };
        let mask = below(end_bit) & !below(begin_bit);
        let (low_mask, high_mask) = (mask as u32, (mask >> 32) as u32);
        let push = push::SortShortSegments {
            keys,
            sorted,
            values,
            sorted_values,
            list,
            dispatch_args,
            low_mask,
            high_mask,
            begin_mask: self.begin_mask,
        };
        recorder.dispatch_indirect(pipeline, &push, workgroups)
    }
}
