//! A kernel of the example: a compute pipeline without descriptors, since all memory is by device address.

use std::io::Cursor;
use std::marker::PhantomData;

use anyhow::Result;
use bytemuck::Pod;
use subsweep::ash::{self, vk};
use subsweep::device::Device;

/// Invocations of a workgroup: `local_size_x` of `particles.glsl`.
const WORKGROUP_SIZE: u32 = 64;

/// A compute pipeline with push constants of type `P`, destroyed on drop.
pub struct Kernel<'d, P> {
    device: &'d ash::Device,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    push: PhantomData<P>,
}

impl<'d, P: Pod> Kernel<'d, P> {
    /// Creates the pipeline of a module.
    ///
    /// # Errors
    /// Errors of Vulkan functions.
    pub fn new(device: &'d Device, module: &[u8]) -> Result<Self> {
        let device = device.raw();
        let range = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: size_of::<P>() as u32,
        }];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&range);
        // SAFETY: the device is alive, and so is everything that the structures point to.
        unsafe {
            let layout = device.create_pipeline_layout(&info, None)?;
            let mut kernel = Self { device, layout, pipeline: vk::Pipeline::null(), push: PhantomData };
            let words = ash::util::read_spv(&mut Cursor::new(module))?;
            let module =
                device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let made = device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            device.destroy_shader_module(module, None);
            kernel.pipeline = made.map_err(|(_, result)| result)?[0];
            Ok(kernel)
        }
    }

    /// Records an invocation for each of `count` particles.
    ///
    /// # Safety
    /// The commands are being recorded, the memory of the constants lives until they have completed, and barriers order its
    /// accesses.
    pub unsafe fn dispatch(&self, commands: vk::CommandBuffer, push: &P, count: u32) {
        let bytes = bytemuck::bytes_of(push);
        // SAFETY: as the caller promises; pipeline and layout are of one another.
        unsafe {
            self.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.pipeline);
            self.device.cmd_push_constants(commands, self.layout, vk::ShaderStageFlags::COMPUTE, 0, bytes);
            self.device.cmd_dispatch(commands, count.div_ceil(WORKGROUP_SIZE), 1, 1);
        }
    }
}

impl<P> Drop for Kernel<'_, P> {
    fn drop(&mut self) {
        // SAFETY: submitted work was waited for.
        unsafe {
            self.device.destroy_pipeline(self.pipeline, None);
            self.device.destroy_pipeline_layout(self.layout, None);
        }
    }
}
