//! Scans of GPUPrefixSums, by wgpu, from a folder of its WGSL. Out of place.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use subsweep_tool::harness::Mismatch;

use crate::gpu::Wgpu;
use crate::subject::{Implementation, Implementer, Subject, Task};
use crate::work::{Columns, Work, sums};

/// GPUPrefixSums on a device.
pub struct PrefixSums<'w> {
    wgpu: &'w Wgpu,
    /// Of its WGSL.
    folder: PathBuf,
    implementation: Implementation,
}

impl<'w> PrefixSums<'w> {
    pub fn new(wgpu: &'w Wgpu, folder: &Path) -> Self {
        let implementation = Implementation {
            name: "GPUPrefixSums",
            version: "WGSL".to_owned(),
            compiler: "naga of wgpu 30".to_owned(),
        };
        Self { wgpu, folder: folder.to_owned(), implementation }
    }
}

impl Implementer for PrefixSums<'_> {
    fn implementation(&self) -> &Implementation {
        &self.implementation
    }

    fn subject<'s>(&'s self, task: &Task) -> Result<Option<Box<dyn Subject + 's>>> {
        let Work::Scan { is_chained } = task.work else { return Ok(None) };
        let variant = if is_chained { Variant::LookBack } else { Variant::ReduceThenScan };
        let (file, _) = variant.kernels();
        let path = self.folder.join(file);
        let source = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        // Its look-back counts in 30 bits.
        let bits = if task.case.count <= 1 << 26 { 5 } else { 3 };
        let keys = task.input.keys.iter().map(|word| word >> (32 - bits)).collect();
        let input = Columns { keys, values: Vec::new() };
        let wgpu = self.wgpu;
        wgpu.within_memory(|| Some(Box::new(Sums::new(wgpu, source, variant, &input)) as Box<dyn Subject>))
    }
}

/// A way to scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    ReduceThenScan,
    /// Decoupled look-back with decoupled fallback. `csdl.wgsl`, without a fallback, is not measured: it requires
    /// forward progress that Vulkan does not guarantee.
    LookBack,
}

impl Variant {
    /// The file and its entry points in order, each with whether it dispatches a workgroup per tile or a single one.
    const fn kernels(self) -> (&'static str, &'static [(&'static str, bool)]) {
        match self {
            Self::ReduceThenScan => {
                ("rts.wgsl", &[("reduce", true), ("spine_scan", false), ("downsweep", true)])
            }
            Self::LookBack => ("csdldf.wgsl", &[("main", true)]),
        }
    }
}

/// A scan of GPUPrefixSums.
struct Sums<'w> {
    wgpu: &'w Wgpu,
    variant: Variant,
    count: usize,
    tile_count: u32,
    pipelines: Vec<(wgpu::ComputePipeline, u32)>,
    bindings: wgpu::BindGroup,
    output: wgpu::Buffer,
    /// The tile counter, and the tiles' published words; zeroed for look-back.
    state: [wgpu::Buffer; 2],
    expected: Columns,
}

impl<'w> Sums<'w> {
    const TILE_ITEMS: usize = 4096;

    /// The variant, whose WGSL is `source`.
    fn new(wgpu: &'w Wgpu, source: String, variant: Variant, input: &Columns) -> Self {
        let (file, kernels) = variant.kernels();
        let count = input.keys.len();
        let tile_count = count.div_ceil(Self::TILE_ITEMS) as u32;
        // Its kernels access quads.
        let quad_words = count.next_multiple_of(4);
        let mut words = input.keys.clone();
        words.resize(quad_words, 0);
        let device = &wgpu.device;
        let info = device.create_buffer_init_of(&[count as u32, count.div_ceil(4) as u32, tile_count]);
        let output = wgpu.allocate(quad_words);
        let state = [wgpu.allocate(1), wgpu.allocate(tile_count as usize)];
        let misc = wgpu.allocate(4);
        let buffers = [&info, &wgpu.upload(&words), &output, &state[0], &state[1], &misc];
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &std::array::from_fn::<_, 6, _>(|binding| layout_entry(binding as u32)),
        });
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &std::array::from_fn::<_, 6, _>(|binding| wgpu::BindGroupEntry {
                binding: binding as u32,
                resource: buffers[binding].as_entire_binding(),
            }),
        });
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(file),
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipelines = kernels.iter().map(|(entry, takes_tiles)| {
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            });
            (pipeline, if *takes_tiles { tile_count } else { 1 })
        });
        let (pipelines, expected) = (pipelines.collect(), sums(input));
        Self { wgpu, variant, count, tile_count, pipelines, bindings, output, state, expected }
    }
}

/// The bind group layout of all kernels: a uniform buffer and five arrays.
fn layout_entry(binding: u32) -> wgpu::BindGroupLayoutEntry {
    let ty = match binding {
        0 => wgpu::BufferBindingType::Uniform,
        _ => wgpu::BufferBindingType::Storage { read_only: false },
    };
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}

trait UniformBuffer {
    fn create_buffer_init_of(&self, words: &[u32]) -> wgpu::Buffer;
}

impl UniformBuffer for wgpu::Device {
    fn create_buffer_init_of(&self, words: &[u32]) -> wgpu::Buffer {
        use wgpu::util::DeviceExt as _;
        // The size of a uniform block is a multiple of 16 bytes.
        let mut words = words.to_vec();
        words.resize(words.len().next_multiple_of(4), 0);
        self.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: None,
            contents: bytemuck::cast_slice(&words),
            usage: wgpu::BufferUsages::UNIFORM,
        })
    }
}

impl Subject for Sums<'_> {
    fn times(&mut self, run_count: u32) -> Result<Vec<f64>> {
        self.wgpu.times(run_count, |encoder| {
            if self.variant == Variant::LookBack {
                encoder.clear_buffer(&self.state[0], 0, None);
                encoder.clear_buffer(&self.state[1], 0, Some(u64::from(self.tile_count) * 4));
            }
            for (pipeline, workgroup_count) in &self.pipelines {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, &self.bindings, &[]);
                pass.dispatch_workgroups(*workgroup_count, 1, 1);
            }
            Ok(())
        })
    }

    fn mismatch(&mut self) -> Result<Option<Mismatch>> {
        let got = Columns { keys: self.wgpu.download(&self.output, self.count)?, values: Vec::new() };
        Ok(self.expected.mismatch(&got))
    }

    fn policy(&self) -> String {
        match self.variant {
            Variant::ReduceThenScan => "reduce-then-scan",
            Variant::LookBack => "look-back with fallback",
        }
        .to_owned()
    }
}
