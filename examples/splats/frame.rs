//! A frame: from a cloud of splats to an image, in one command buffer, without host synchronisation:
//!
//! 1. `project.comp`: footprint and depth of each splat, and a flag for each visible one;
//! 2. selection of the visible splats: their depths and indices, and their count, in the arguments of the draw;
//! 3. sort of these pairs by depth, descending, with the indirect count of step 2;
//! 4. one indirect draw with the count as the number of instances;
//! 5. copy of the image to host-visible memory.
//!
//! With `--computed`, steps 1 and 2 leave out the depths, and step 3 computes them (`depth.sort32.glsl`).
//!
//! Steps 2 and 3 are plans of this library. The barriers around them use the plans' `first_access` and `last_access`.

use anyhow::{Result, ensure};
use subsweep::ash::vk;
use subsweep::device::{Access, AddressRange};
use subsweep::select::{SelectBuffers, SelectConfig, SelectPlan};
use subsweep::sort::{SortAlgorithm, SortBuffers, SortConfig, SortPlan, SortPolicy, ValueSize};
use subsweep::{Count, ElementType};

use crate::camera::Camera;
use crate::depth::DEPTH;
use crate::device::Gpu;
use crate::memory::Buffer;
use crate::options::{Options, Order};
use crate::pipelines::{Pipeline, ProjectPush, SplatPush};
use crate::slot::Slot;
use crate::target::Pass;

/// Immutable objects of frames: plans, pipelines and the cloud. Shared by slots.
pub struct Renderer<'g> {
    gpu: &'g Gpu,
    splats: Buffer<'g>,
    splat_count: u32,
    size: [u32; 2],
    order: Order,
    select: SelectPlan,
    sort: SortPlan,
    project: Pipeline<'g>,
    sky: Pipeline<'g>,
    draw: Pipeline<'g>,
    pass: Pass<'g>,
}

/// Reads of the draw: indirect arguments, and in the vertex shader order and footprints.
const DRAWN: Access = Access::INDIRECT_READ
    .and(Access { stages: vk::PipelineStageFlags::VERTEX_SHADER, access: vk::AccessFlags::SHADER_READ });

impl<'g> Renderer<'g> {
    /// Workgroup size of the kernel.
    const WORKGROUP_SIZE: u32 = 128;

    /// Creates plans and pipelines for the cloud in `splats`.
    ///
    /// # Errors
    /// Errors of the library and of Vulkan functions.
    pub fn new(gpu: &'g Gpu, splats: Buffer<'g>, options: &Options) -> Result<Self> {
        let pass = Pass::new(gpu)?;
        let (select, sort) = Self::plans(gpu, options.order == Order::Computed, None)?;
        Ok(Self {
            gpu,
            splats,
            splat_count: options.splat_count,
            size: options.size,
            order: options.order,
            select,
            sort,
            project: Pipeline::project(gpu)?,
            sky: Pipeline::sky(gpu, pass.raw)?,
            draw: Pipeline::splats(gpu, pass.raw)?,
            pass,
        })
    }

    /// The plans of steps 2 and 3; the sort uses `algorithm`, by default the device's choice.
    fn plans(
        gpu: &Gpu,
        is_computed: bool,
        algorithm: Option<SortAlgorithm>,
    ) -> Result<(SelectPlan, SortPlan)> {
        // Depths of one word each, with their indices.
        let select = SelectConfig::flags32(1).indices();
        // The selection is the last to read the depths and flags: as alternate buffers they save 8 bytes of scratch per
        // splat. Nothing reads the sorted depths: the last pass writes 4 bytes per splat less.
        let sort = SortConfig::pairs(ElementType::F32, ValueSize::B4).double_buffer().discards_keys();
        let (select, sort) = match is_computed {
            true => (select.without_elements(), SortConfig::argsort(ElementType::F32).computed(&DEPTH)),
            false => (select, sort),
        };
        let mut sort = sort.descending().indirect_count();
        if let Some(algorithm) = algorithm {
            sort = sort.policy(SortPolicy::tuned(algorithm, gpu.adopted.capabilities(), &sort));
        }
        Ok((SelectPlan::new(&gpu.adopted, select)?, SortPlan::new(&gpu.adopted, sort)?))
    }

    /// Says how many bytes a frame reads and writes for its order, with `seen_count` splats in view, by depths that the sort
    /// computes, and by stored ones with the same algorithm.
    ///
    /// # Errors
    /// Errors of the library.
    pub fn comparison(&self, seen_count: u64) -> Result<String> {
        // GPUs read memory by sectors of as many bytes: a position of 12 at a multiple of 48 takes one.
        const SECTOR: u64 = 32;
        let count = u64::from(self.splat_count);
        let algorithm = self.sort.policy().algorithm;
        let name = algorithm.name();
        let (select, sort) = Self::plans(self.gpu, false, Some(algorithm))?;
        let of = |select: &SelectPlan, sort: &SortPlan| {
            select.traffic_size(count, seen_count) + sort.traffic_size(seen_count)
        };
        let stored = 4 * count + of(&select, &sort);
        // Positions are read by the sort's histogram and its first pass, and an index more by the draw.
        let computed = of(&self.select, &self.sort) + 2 * SECTOR * seen_count + 4 * seen_count;
        let verb = if computed <= stored { "saves" } else { "costs" };
        let [stored, computed, difference] =
            [stored, computed, stored.abs_diff(computed)].map(|bytes| bytes as f64 / 1e6);
        Ok(format!(
            "depths computed in the sort, {name}: {computed:.1} MB read and written for the order of a frame with \
             {seen_count} splats in view, by stored depths {stored:.1} MB: it {verb} {difference:.1} MB"
        ))
    }

    /// Creates a slot for frames of this renderer.
    ///
    /// # Errors
    /// Errors of Vulkan functions.
    pub fn slot(&self, options: &Options) -> Result<Slot<'g>> {
        let count = u64::from(self.splat_count);
        let needs = [self.select.scratch_requirements(count), self.sort.scratch_requirements(count)];
        // Selection and sort share the scratch buffer. A buffer of its own meets any alignment; a range of a larger buffer
        // would have to start at a multiple of `alignment`.
        let size = needs.iter().map(|need| need.size).max().unwrap_or_default();
        let slot = Slot::new(self.gpu, &self.pass, options, size)?;
        let range = slot.scratch.range;
        for need in needs {
            ensure!(
                range.usage.contains(need.usage),
                "a buffer for scratch lacks {:?}",
                need.usage & !range.usage
            );
            ensure!(range.address.is_multiple_of(need.alignment), "scratch at {:#x}", range.address);
        }
        Ok(slot)
    }

    /// Submits a frame. Its image is in the slot's pixels once the slot was waited for.
    ///
    /// # Errors
    /// Errors of the library and of Vulkan functions.
    ///
    /// # Safety
    /// The slot is of this renderer, and its previous frame was waited for.
    pub unsafe fn submit(&self, slot: &mut Slot<'g>, camera: &Camera) -> Result<()> {
        let address = self.splats.range.address;
        let [x, y, z, w] = camera.rows[2].map(f32::to_bits);
        let viewed = [x, y, z, w, address as u32, (address >> 32) as u32];
        slot.viewed.elements(6).copy_from_slice(&viewed);
        // SAFETY: as the caller promises; each step is recorded after those that it depends on.
        unsafe {
            if self.order == Order::Reference {
                slot.commands.submit(|commands| {
                    self.record_projection(slot, commands, camera);
                    self.barrier(commands, Access::COMPUTE_WRITE, Access::HOST_READ);
                    Ok(())
                })?;
                slot.commands.wait()?;
                crate::reference::sort(slot, self.splat_count);
                return slot.commands.submit(|commands| {
                    self.record_drawing(slot, commands, Access::COMPUTE_WRITE);
                    Ok(())
                });
            }
            slot.commands.submit(|commands| {
                self.record_projection(slot, commands, camera);
                let sorted = self.record_sorting(slot, commands)?;
                self.record_drawing(slot, commands, sorted);
                Ok(())
            })
        }
    }

    /// Records step 1; its last access is COMPUTE_WRITE.
    ///
    /// # Safety
    /// `commands` is of the slot's pool, in the recording state outside of a render pass; nothing else uses the slot's
    /// memory until they have completed.
    unsafe fn record_projection(&self, slot: &Slot<'_>, commands: vk::CommandBuffer, camera: &Camera) {
        let [width, height] = self.size.map(|size| size as f32);
        let focal = 0.5 * height / camera.slope;
        let [right, down, forward] = camera.rows;
        let push = ProjectPush {
            splats: self.splats.range.address,
            depths: if self.order == Order::Computed { 0 } else { slot.depths.range.address },
            flags: slot.flags.range.address,
            footprints: slot.footprints.range.address,
            right,
            down,
            forward,
            focal: [focal; 2],
            half_size: [0.5 * width, 0.5 * height],
            near: Camera::NEAR,
            count: self.splat_count,
            draw: slot.draw.range.address,
        };
        let workgroup_count = self.splat_count.div_ceil(Self::WORKGROUP_SIZE);
        // SAFETY: the commands are being recorded, and the memory is as large as the count.
        unsafe {
            self.project.bind(commands, &push);
            self.gpu.raw.cmd_dispatch(commands, workgroup_count, 1, 1);
        }
    }

    /// Records steps 2 and 3. Returns their last access.
    ///
    /// # Safety
    /// The conditions of [`Self::record_projection`], after which it is recorded.
    unsafe fn record_sorting(&self, slot: &Slot<'_>, commands: vk::CommandBuffer) -> Result<Access> {
        let count = self.splat_count;
        let [depths, flags] = [&slot.depths, &slot.flags].map(|buffer| buffer.range.addresses());
        let [keys, order] = [&slot.keys, &slot.order].map(|buffer| buffer.range.addresses());
        // SAFETY: the commands are being recorded; the memory is the slot's, sized for the count and the plans.
        unsafe {
            self.barrier(commands, Access::COMPUTE_WRITE, self.select.first_access());
            // The number of visible splats is the number of instances of the draw.
            let seen = AddressRange::new(slot.instance_count(), size_of::<u32>() as u64);
            let is_computed = self.order == Order::Computed;
            let none = AddressRange::NONE;
            let buffers = match is_computed {
                true => SelectBuffers::new(none, none, seen, slot.scratch.range).indices(keys),
                false => SelectBuffers::new(depths, keys, seen, slot.scratch.range).indices(order),
            };
            self.select.cmd_record(commands, &buffers.flags(flags), u64::from(count))?;
            if self.order == Order::Unsorted {
                return Ok(self.select.last_access());
            }

            // The sort reuses the selection's scratch, which this barrier also covers.
            self.barrier(commands, self.select.last_access(), self.sort.first_access());
            let buffers = SortBuffers::new(keys, slot.scratch.range).values(order);
            let buffers = match is_computed {
                true => buffers.functions_data(slot.viewed.range.addresses()),
                false => buffers.alternates(depths, flags),
            };
            let seen = Count::Indirect { address: seen.address, max: count };
            self.sort.cmd_record(commands, &buffers, seen)?;
        }
        Ok(self.sort.last_access())
    }

    /// Records steps 4 and 5.
    ///
    /// # Safety
    /// The conditions of [`Self::record_projection`]; `written` is the last access to the slot's order and the draw's arguments.
    unsafe fn record_drawing(&self, slot: &Slot<'_>, commands: vk::CommandBuffer, written: Access) {
        let (device, target) = (&self.gpu.raw, &slot.target);
        let is_in_alt =
            self.order == Order::Device && self.sort.is_result_in_alt(u64::from(self.splat_count));
        let order = if is_in_alt { &slot.flags } else { &slot.order };
        let seen = if self.order == Order::Computed { slot.keys.range.address } else { 0 };
        let push = SplatPush { order: order.range.address, seen, footprints: slot.footprints.range.address };
        let viewport = vk::Viewport {
            width: target.extent.width as f32,
            height: target.extent.height as f32,
            max_depth: 1.0,
            ..vk::Viewport::default()
        };
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass.raw)
            .framebuffer(target.framebuffer)
            .render_area(target.area());
        let copy = vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                layer_count: 1,
                ..vk::ImageSubresourceLayers::default()
            })
            .image_extent(target.extent.into());
        // SAFETY: the commands are being recorded; all handles are the slot's or the renderer's own.
        unsafe {
            self.barrier(commands, written, DRAWN);
            device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[target.area()]);
            self.sky.bind(commands, &[0_u8; 0]);
            device.cmd_draw(commands, 3, 1, 0, 0);
            self.draw.bind(commands, &push);
            let stride = size_of::<vk::DrawIndirectCommand>() as u32;
            device.cmd_draw_indirect(commands, slot.draw.range.buffer, 0, 1, stride);
            // The render pass has a dependency to the copy.
            device.cmd_end_render_pass(commands);
            let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            device.cmd_copy_image_to_buffer(
                commands,
                target.image,
                layout,
                slot.pixels.range.buffer,
                &[copy],
            );
            self.barrier(commands, Access::TRANSFER_WRITE, Access::HOST_READ);
        }
    }

    /// Records a global memory barrier with source scope `before` and destination scope `after`.
    ///
    /// # Safety
    /// `commands` is being recorded, outside of a render pass, for a queue that supports these stages.
    unsafe fn barrier(&self, commands: vk::CommandBuffer, before: Access, after: Access) {
        let memory =
            [vk::MemoryBarrier::default().src_access_mask(before.access).dst_access_mask(after.access)];
        let none = vk::DependencyFlags::empty();
        // SAFETY: as the caller promises.
        unsafe {
            self.gpu.raw.cmd_pipeline_barrier(commands, before.stages, after.stages, none, &memory, &[], &[]);
        }
    }
}
