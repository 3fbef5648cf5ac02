//! The renderer's pipelines: a kernel, the sky and the splats. Without descriptors: all memory is by device address.

use std::io::Cursor;
use std::mem::offset_of;

use anyhow::Result;
use bytemuck::{Pod, Zeroable};
use subsweep::ash::{self, vk};

use crate::device::Gpu;

/// Format of the image: blending is linear, memory is sRGB as in a PNG.
pub const COLOR_FORMAT: vk::Format = vk::Format::R8G8B8A8_SRGB;

/// The push constants of `project.comp`.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct ProjectPush {
    pub splats: vk::DeviceAddress,
    pub depths: vk::DeviceAddress,
    pub flags: vk::DeviceAddress,
    pub footprints: vk::DeviceAddress,
    /// Rows of the view matrix.
    pub right: [f32; 4],
    pub down: [f32; 4],
    pub forward: [f32; 4],
    pub focal: [f32; 2],
    pub half_size: [f32; 2],
    pub near: f32,
    pub count: u32,
    pub draw: vk::DeviceAddress,
}

/// The push constants of `splat.vert`.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub struct SplatPush {
    pub order: vk::DeviceAddress,
    pub seen: vk::DeviceAddress,
    pub footprints: vk::DeviceAddress,
}

// Sizes of the shaders' blocks, rounded up to their alignment; every device supports 128 bytes.
const _: () = {
    assert!(size_of::<ProjectPush>() == 112);
    assert!(offset_of!(ProjectPush, right) == 32 && offset_of!(ProjectPush, draw) == 104);
    assert!(size_of::<SplatPush>() == 24);
};

/// A pipeline and its layout, destroyed on drop.
pub struct Pipeline<'g> {
    device: &'g ash::Device,
    stages: vk::ShaderStageFlags,
    layout: vk::PipelineLayout,
    raw: vk::Pipeline,
}

impl<'g> Pipeline<'g> {
    /// The kernel that projects splats.
    ///
    /// # Errors
    /// Errors of Vulkan functions, also for the other pipelines.
    pub fn project(gpu: &'g Gpu) -> Result<Self> {
        Self::kernel(gpu, include_bytes!("shaders/precompiled/project.comp.spv"), size_of::<ProjectPush>())
    }

    /// The sky.
    pub fn sky(gpu: &'g Gpu, pass: vk::RenderPass) -> Result<Self> {
        let vertex = include_bytes!("shaders/precompiled/sky.vert.spv");
        let fragment = include_bytes!("shaders/precompiled/sky.frag.spv");
        let covers_all = vk::PipelineColorBlendAttachmentState::default();
        Self::drawing(gpu, pass, [vertex, fragment], covers_all, vk::PrimitiveTopology::TRIANGLE_LIST, 0)
    }

    /// The splats, blended with the over operator.
    pub fn splats(gpu: &'g Gpu, pass: vk::RenderPass) -> Result<Self> {
        let vertex = include_bytes!("shaders/precompiled/splat.vert.spv");
        let fragment = include_bytes!("shaders/precompiled/splat.frag.spv");
        let over = vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(true)
            .src_color_blend_factor(vk::BlendFactor::ONE)
            .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
            .src_alpha_blend_factor(vk::BlendFactor::ONE)
            .dst_alpha_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA);
        let quads = vk::PrimitiveTopology::TRIANGLE_STRIP;
        Self::drawing(gpu, pass, [vertex, fragment], over, quads, size_of::<SplatPush>())
    }

    /// Binds the pipeline, and its push constants if it has any.
    ///
    /// # Safety
    /// The commands are being recorded, and the constants are the pipeline's.
    pub unsafe fn bind(&self, commands: vk::CommandBuffer, push: &impl Pod) {
        let is_kernel = self.stages == vk::ShaderStageFlags::COMPUTE;
        let point = if is_kernel { vk::PipelineBindPoint::COMPUTE } else { vk::PipelineBindPoint::GRAPHICS };
        let bytes = bytemuck::bytes_of(push);
        // SAFETY: as the caller promises.
        unsafe {
            self.device.cmd_bind_pipeline(commands, point, self.raw);
            if !bytes.is_empty() {
                self.device.cmd_push_constants(commands, self.layout, self.stages, 0, bytes);
            }
        }
    }

    /// Creates the layout, without a pipeline.
    fn begin(gpu: &'g Gpu, stages: vk::ShaderStageFlags, push_size: usize) -> Result<Self> {
        let ranges = [vk::PushConstantRange { stage_flags: stages, offset: 0, size: push_size as u32 }];
        let ranges = if push_size > 0 { &ranges[..] } else { &[] };
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(ranges);
        // SAFETY: the device is alive, and so is everything that `info` points to.
        let layout = unsafe { gpu.raw.create_pipeline_layout(&info, None) }?;
        Ok(Self { device: &gpu.raw, stages, layout, raw: vk::Pipeline::null() })
    }

    fn kernel(gpu: &'g Gpu, words: &[u8], push_size: usize) -> Result<Self> {
        let mut pipeline = Self::begin(gpu, vk::ShaderStageFlags::COMPUTE, push_size)?;
        let module = Module::new(gpu, words)?;
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(module.stage(vk::ShaderStageFlags::COMPUTE))
            .layout(pipeline.layout);
        // SAFETY: the module and the layout are alive and of one another.
        let made = unsafe { gpu.raw.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        pipeline.raw = made.map_err(|(_, result)| result)?[0];
        Ok(pipeline)
    }

    fn drawing(
        gpu: &'g Gpu,
        pass: vk::RenderPass,
        words: [&[u8]; 2],
        blending: vk::PipelineColorBlendAttachmentState,
        topology: vk::PrimitiveTopology,
        push_size: usize,
    ) -> Result<Self> {
        let mut pipeline = Self::begin(gpu, vk::ShaderStageFlags::VERTEX, push_size)?;
        let modules = [Module::new(gpu, words[0])?, Module::new(gpu, words[1])?];
        let stages = [
            modules[0].stage(vk::ShaderStageFlags::VERTEX),
            modules[1].stage(vk::ShaderStageFlags::FRAGMENT),
        ];
        let vertices = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let attachments = [blending.color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blending = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
        let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertices)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&samples)
            .color_blend_state(&blending)
            .dynamic_state(&dynamic)
            .layout(pipeline.layout)
            .render_pass(pass);
        // SAFETY: modules, layout and pass are alive and of one another, and so is everything that `info` points to.
        let made = unsafe { gpu.raw.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
        pipeline.raw = made.map_err(|(_, result)| result)?[0];
        Ok(pipeline)
    }
}

impl Drop for Pipeline<'_> {
    fn drop(&mut self) {
        // SAFETY: the caller waits for submitted work before it drops the pipeline.
        unsafe {
            self.device.destroy_pipeline(self.raw, None);
            self.device.destroy_pipeline_layout(self.layout, None);
        }
    }
}

/// A shader module, needed until its pipeline is created.
struct Module<'g> {
    device: &'g ash::Device,
    raw: vk::ShaderModule,
}

impl<'g> Module<'g> {
    fn new(gpu: &'g Gpu, bytes: &[u8]) -> Result<Self> {
        let words = ash::util::read_spv(&mut Cursor::new(bytes))?;
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the device is alive, and the words are the output of a compiler for Vulkan 1.2.
        Ok(Self { device: &gpu.raw, raw: unsafe { gpu.raw.create_shader_module(&info, None) }? })
    }

    fn stage(&self, stage: vk::ShaderStageFlags) -> vk::PipelineShaderStageCreateInfo<'static> {
        vk::PipelineShaderStageCreateInfo::default().stage(stage).module(self.raw).name(c"main")
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: pipelines do not need their modules any more.
        unsafe { self.device.destroy_shader_module(self.raw, None) };
    }
}
