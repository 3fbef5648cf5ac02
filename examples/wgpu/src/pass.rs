//! A compute pass as in any program that uses wgpu.

/// A compute pass with an encoder of its own.
pub struct Pass {
    device: wgpu::Device,
    pipeline: wgpu::ComputePipeline,
}

impl Pass {
    /// The pass with a pipeline of this entry point of `points.wgsl`.
    pub fn new(device: &wgpu::Device, entry_point: &str) -> Self {
        let module = device.create_shader_module(wgpu::include_wgsl!("points.wgsl"));
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry_point),
            layout: None,
            module: &module,
            entry_point: Some(entry_point),
            compilation_options: Default::default(),
            cache: None,
        });
        Self { device: device.clone(), pipeline }
    }

    /// Records the pass over `count` points, with `buffers` at the bindings 0, 1, ….
    pub fn record(&self, count: u32, buffers: &[&wgpu::Buffer]) -> wgpu::CommandBuffer {
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(count.div_ceil(256), 1, 1);
        drop(pass);
        encoder.finish()
    }
}
