//! A frame, from a cloud of splats to a picture, in one command buffer and without a word from the host:
//!
//! 1. `project.comp`: where each splat falls, how far away it is, and a flag for each that is seen;
//! 2. the exclusive scan of the flags: how many before each are seen, which is its place among them;
//! 3. `compact.comp`: depths and indices of those that are seen, and how many there are;
//! 4. the sort of these pairs by depth, the furthest first, by the count that step 3 has left on the device;
//! 5. one indirect draw of as many instances;
//! 6. a copy of the picture to where the host sees it.
//!
//! Steps 2 and 4 are this library's. The barriers around them name what the plans' `first_access` and `last_access` say;
//! nothing else is to be known of what happens between.

use anyhow::{Result, ensure};
use subsweep::ash::vk;
use subsweep::device::Access;
use subsweep::scan::{ScanBuffers, ScanConfig, ScanPlan};
use subsweep::sort::{SortBuffers, SortConfig, SortPlan, ValueSize};
use subsweep::{Count, ElementType};

use crate::camera::Camera;
use crate::device::Gpu;
use crate::memory::Buffer;
use crate::options::{Options, Order};
use crate::pipelines::{CompactPush, Pipeline, ProjectPush, SplatPush};
use crate::slot::Slot;
use crate::target::Pass;

/// Whatever a frame needs that does not change: plans, pipelines and the cloud. Slots share it.
pub struct Renderer<'g> {
    gpu: &'g Gpu,
    splats: Buffer<'g>,
    splat_count: u32,
    size: [u32; 2],
    order: Order,
    scan: ScanPlan,
    sort: SortPlan,
    project: Pipeline<'g>,
    compact: Pipeline<'g>,
    sky: Pipeline<'g>,
    draw: Pipeline<'g>,
    pass: Pass<'g>,
}

/// What a draw reads: how many instances there are, and in its vertices which splats, and where they fall.
const DRAWN: Access = Access::INDIRECT_READ
    .and(Access { stages: vk::PipelineStageFlags::VERTEX_SHADER, access: vk::AccessFlags::SHADER_READ });

impl<'g> Renderer<'g> {
    /// The local size of both kernels.
    const WORKGROUP_SIZE: u32 = 128;

    /// Makes plans and pipelines for a cloud that lies in `splats` already.
    ///
    /// # Errors
    /// Whatever the library or Vulkan says.
    pub fn new(gpu: &'g Gpu, splats: Buffer<'g>, options: &Options) -> Result<Self> {
        let pass = Pass::new(gpu)?;
        Ok(Self {
            gpu,
            splats,
            splat_count: options.splat_count,
            size: options.size,
            order: options.order,
            // Flags and places are apart, which lets the plan go over them once.
            scan: ScanPlan::new(&gpu.adopted, ScanConfig::exclusive().out_of_place())?,
            sort: SortPlan::new(
                &gpu.adopted,
                SortConfig::pairs(ElementType::F32, ValueSize::B4).descending().counts_on_device(),
            )?,
            project: Pipeline::project(gpu)?,
            compact: Pipeline::compact(gpu)?,
            sky: Pipeline::sky(gpu, pass.raw)?,
            draw: Pipeline::splats(gpu, pass.raw)?,
            pass,
        })
    }

    /// A slot for frames of this renderer.
    ///
    /// # Errors
    /// Whatever Vulkan says.
    pub fn slot(&self, options: &Options) -> Result<Slot<'g>> {
        let count = u64::from(self.splat_count);
        let needs = [self.scan.scratch_requirements(count), self.sort.scratch_requirements(count)];
        // One after the other works in the same buffer. It is for scratch alone and begins where any alignment is met; a range
        // of a larger buffer would begin at a multiple of `alignment` there.
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

    /// Submits a frame, whose picture is in the slot's pixels once it has been waited for.
    ///
    /// # Errors
    /// Whatever the library or Vulkan says.
    ///
    /// # Safety
    /// The slot is one of this renderer's, and the frame that was in it before has been waited for.
    pub unsafe fn submit(&self, slot: &mut Slot<'g>, camera: &Camera) -> Result<()> {
        // SAFETY: as the caller promises; each step is recorded behind the ones that it builds upon.
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

    /// Step 1, which ends with writes of a kernel.
    ///
    /// # Safety
    /// `commands` is of the slot's pool and being recorded, outside of a render pass; nothing else uses the slot's memory
    /// until they have run.
    unsafe fn record_projection(&self, slot: &Slot<'_>, commands: vk::CommandBuffer, camera: &Camera) {
        let [width, height] = self.size.map(|size| size as f32);
        let focal = 0.5 * height / camera.slope;
        let [right, down, forward] = camera.rows;
        let push = ProjectPush {
            splats: self.splats.range.address,
            depths: slot.depths.range.address,
            flags: slot.flags.range.address,
            footprints: slot.footprints.range.address,
            right,
            down,
            forward,
            focal: [focal; 2],
            half_size: [0.5 * width, 0.5 * height],
            near: Camera::NEAR,
            count: self.splat_count,
        };
        // SAFETY: the commands are being recorded, and the memory is as large as the count.
        unsafe { self.dispatch(commands, &self.project, &push) };
    }

    /// Steps 2 to 4, behind step 1. Returns what they end with.
    ///
    /// # Safety
    /// As of [`Self::record_projection`], behind which it is recorded.
    unsafe fn record_sorting(&self, slot: &Slot<'_>, commands: vk::CommandBuffer) -> Result<Access> {
        let count = self.splat_count;
        let [flags, places] = [&slot.flags, &slot.places].map(|buffer| buffer.range.addresses());
        let [keys, order] = [&slot.keys, &slot.order].map(|buffer| buffer.range.addresses());
        // SAFETY: the commands are being recorded; the memory is the slot's, as large as the count and the plans say.
        unsafe {
            self.barrier(commands, Access::COMPUTE_WRITE, self.scan.first_access());
            let buffers = ScanBuffers::new(flags, places, slot.scratch.range);
            self.scan.cmd_scan(commands, &buffers, u64::from(count))?;

            self.barrier(commands, self.scan.last_access(), Access::COMPUTE);
            let push = CompactPush {
                depths: slot.depths.range.address,
                flags: flags.address,
                places: places.address,
                keys: keys.address,
                order: order.address,
                draw: slot.draw.range.address,
                count,
                unused: 0,
            };
            self.dispatch(commands, &self.compact, &push);
            if self.order == Order::Unsorted {
                return Ok(Access::COMPUTE_WRITE);
            }

            // The sort works where the scan has worked; that, too, is over by now.
            self.barrier(commands, Access::COMPUTE_WRITE, self.sort.first_access());
            let buffers = SortBuffers::new(keys, slot.scratch.range).values(order);
            // How many there are is known on the device, where they are drawn; here, how many there may be.
            let seen = Count::Device { address: slot.instance_count(), max: count };
            self.sort.cmd_sort(commands, &buffers, seen)?;
        }
        Ok(self.sort.last_access())
    }

    /// Steps 5 and 6, behind whoever has told the order and the draw's arguments.
    ///
    /// # Safety
    /// As of [`Self::record_projection`]; `told` is how the slot's order and the draw's arguments were written last.
    unsafe fn record_drawing(&self, slot: &Slot<'_>, commands: vk::CommandBuffer, told: Access) {
        let (device, target) = (&self.gpu.raw, &slot.target);
        let push = SplatPush { order: slot.order.range.address, footprints: slot.footprints.range.address };
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
            self.barrier(commands, told, DRAWN);
            device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[target.area()]);
            self.sky.bind(commands, &[0_u8; 0]);
            device.cmd_draw(commands, 3, 1, 0, 0);
            self.draw.bind(commands, &push);
            let stride = size_of::<vk::DrawIndirectCommand>() as u32;
            device.cmd_draw_indirect(commands, slot.draw.range.buffer, 0, 1, stride);
            // The pass ends with a dependency of its own, to the copy.
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

    /// An invocation for each splat.
    ///
    /// # Safety
    /// `commands` is being recorded, outside of a render pass. `push` is what the pipeline's kernel declares, and each of its
    /// addresses leads to memory for all splats when the commands run.
    unsafe fn dispatch(
        &self,
        commands: vk::CommandBuffer,
        pipeline: &Pipeline<'_>,
        push: &impl bytemuck::Pod,
    ) {
        // SAFETY: as the caller promises.
        unsafe {
            pipeline.bind(commands, push);
            let workgroup_count = self.splat_count.div_ceil(Self::WORKGROUP_SIZE);
            self.gpu.raw.cmd_dispatch(commands, workgroup_count, 1, 1);
        }
    }

    /// Whatever comes after sees what came before.
    ///
    /// # Safety
    /// `commands` is being recorded, outside of a render pass, for a queue that has these stages.
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
