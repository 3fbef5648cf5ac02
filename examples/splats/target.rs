//! Render target and render pass.

use anyhow::Result;
use subsweep::ash::vk;

use crate::device::Gpu;
use crate::memory::{Location, allocate};
use crate::pipelines::COLOR_FORMAT;

/// The render pass of a frame, destroyed on drop.
pub struct Pass<'g> {
    gpu: &'g Gpu,
    pub raw: vk::RenderPass,
}

impl<'g> Pass<'g> {
    /// Creates a render pass with one colour attachment, whose initial contents are undefined and whose final layout is
    /// TRANSFER_SRC_OPTIMAL.
    ///
    /// # Errors
    /// Errors of Vulkan functions.
    pub fn new(gpu: &'g Gpu) -> Result<Self> {
        let attachments = [vk::AttachmentDescription::default()
            .format(COLOR_FORMAT)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::DONT_CARE)
            .store_op(vk::AttachmentStoreOp::STORE)
            .stencil_load_op(vk::AttachmentLoadOp::DONT_CARE)
            .stencil_store_op(vk::AttachmentStoreOp::DONT_CARE)
            .initial_layout(vk::ImageLayout::UNDEFINED)
            .final_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)];
        let colors = [vk::AttachmentReference::default().layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)];
        let subpasses = [vk::SubpassDescription::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(&colors)];
        let drawn = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
        let dependencies = [
            // The previous frame was waited for: only the layout transition needs ordering.
            vk::SubpassDependency::default()
                .src_subpass(vk::SUBPASS_EXTERNAL)
                .src_stage_mask(drawn)
                .dst_stage_mask(drawn)
                .dst_access_mask(
                    vk::AccessFlags::COLOR_ATTACHMENT_READ | vk::AccessFlags::COLOR_ATTACHMENT_WRITE,
                ),
            vk::SubpassDependency::default()
                .dst_subpass(vk::SUBPASS_EXTERNAL)
                .src_stage_mask(drawn)
                .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
                .dst_stage_mask(vk::PipelineStageFlags::TRANSFER)
                .dst_access_mask(vk::AccessFlags::TRANSFER_READ),
        ];
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .dependencies(&dependencies);
        // SAFETY: the device is alive, and so is everything that `info` points to.
        Ok(Self { gpu, raw: unsafe { gpu.raw.create_render_pass(&info, None) }? })
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        // SAFETY: the caller waits for submitted work before it drops the pass.
        unsafe { self.gpu.raw.destroy_render_pass(self.raw, None) };
    }
}

/// The image and framebuffer, destroyed on drop.
pub struct Target<'g> {
    gpu: &'g Gpu,
    memory: vk::DeviceMemory,
    view: vk::ImageView,
    pub image: vk::Image,
    pub framebuffer: vk::Framebuffer,
    pub extent: vk::Extent2D,
}

impl<'g> Target<'g> {
    /// Creates an image of `width` by `height` pixels.
    ///
    /// # Errors
    /// Errors of Vulkan functions.
    pub fn new(gpu: &'g Gpu, pass: &Pass<'_>, [width, height]: [u32; 2]) -> Result<Self> {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(COLOR_FORMAT)
            .extent(vk::Extent3D { width, height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC);
        // SAFETY: the device is alive.
        let image = unsafe { gpu.raw.create_image(&info, None) }?;
        // From here on an early return destroys the created objects.
        let mut target = Self {
            gpu,
            memory: vk::DeviceMemory::null(),
            view: vk::ImageView::null(),
            image,
            framebuffer: vk::Framebuffer::null(),
            extent: vk::Extent2D { width, height },
        };
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            base_mip_level: 0,
            level_count: 1,
            base_array_layer: 0,
            layer_count: 1,
        };
        // SAFETY: the image is alive, is bound once to memory that meets its requirements, and the other objects are
        // created from it and the pass.
        unsafe {
            let wanted = gpu.raw.get_image_memory_requirements(image);
            target.memory = allocate(gpu, wanted, Location::Device, vk::MemoryAllocateFlags::empty())?;
            gpu.raw.bind_image_memory(image, target.memory, 0)?;
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(COLOR_FORMAT)
                .subresource_range(range);
            target.view = gpu.raw.create_image_view(&info, None)?;
            let attachments = [target.view];
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(pass.raw)
                .attachments(&attachments)
                .width(width)
                .height(height)
                .layers(1);
            target.framebuffer = gpu.raw.create_framebuffer(&info, None)?;
        }
        Ok(target)
    }

    /// The whole image.
    pub fn area(&self) -> vk::Rect2D {
        vk::Rect2D { offset: vk::Offset2D::default(), extent: self.extent }
    }
}

impl Drop for Target<'_> {
    fn drop(&mut self) {
        // SAFETY: the caller waits for submitted work before it drops the target.
        unsafe {
            self.gpu.raw.destroy_framebuffer(self.framebuffer, None);
            self.gpu.raw.destroy_image_view(self.view, None);
            self.gpu.raw.destroy_image(self.image, None);
            self.gpu.raw.free_memory(self.memory, None);
        }
    }
}
