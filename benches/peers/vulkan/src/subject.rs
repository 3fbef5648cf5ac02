//! The measured subjects: subsweep, its copy kernel, and the peers.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use lampshade::scan::Scanner;
use lampshade::sort::{KeyValueSorter, Sorter};
use subsweep::ElementType;
use subsweep::device::{BufferRange, Recorder};
use subsweep::harness::CopyRoof;
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::scan::{ScanBuffers, ScanConfig};
use subsweep::sort::{SortBuffers, SortConfig, ValueSize};

use crate::gpu::Wgpu;
use crate::inputs::{Columns, Work};
use crate::timing::Stamps;

/// One implementation's work on one input.
pub trait Subject {
    /// The name in the table.
    fn name(&self) -> String;

    /// The GPU times of runs, all in one submission, each of the input as it was at first.
    fn times(&mut self, run_count: u32) -> Result<Vec<Duration>>;

    /// The result of the last run.
    fn result(&mut self) -> Result<Columns>;
}

/// Subsweep's device and what measures on it.
#[derive(Clone, Copy)]
pub struct Bench<'g> {
    pub gpu: &'g Gpu,
    pub roof: &'g CopyRoof<'g>,
    pub stamps: &'g Stamps<'g>,
}

/// Subsweep's default policy. Sorts in place; scans out of place.
pub struct Ours<'g> {
    bench: Bench<'g>,
    work: Work,
    count: usize,
    pristine: GpuBuffer,
    keys: GpuBuffer,
    values: Option<GpuBuffer>,
    scratch: Option<GpuBuffer>,
}

impl<'g> Ours<'g> {
    const SCAN: ScanConfig = ScanConfig::inclusive(ElementType::U32).out_of_place();

    const fn sort_config(work: Work) -> SortConfig {
        match work {
            Work::Pairs => SortConfig::pairs(ElementType::U32, ValueSize::B4),
            Work::Keys | Work::Scan => SortConfig::keys(ElementType::U32),
        }
    }

    pub fn new(bench: Bench<'g>, work: Work, input: &Columns) -> Result<Self> {
        let gpu = bench.gpu;
        let count = input.keys.len();
        let size = (count * 4) as u64;
        let scratch_size = match work {
            Work::Scan => gpu.plan(Self::SCAN)?.scratch_requirements(count as u64).size,
            Work::Keys | Work::Pairs => {
                gpu.plan(Self::sort_config(work))?.scratch_requirements(count as u64).size
            }
        };
        let pristine = gpu.allocate(size * work.words() as u64)?;
        gpu.upload(&pristine, 0, &input.keys)?;
        gpu.upload(&pristine, size, &input.values)?;
        let scratch = (scratch_size > 0).then(|| gpu.allocate(scratch_size)).transpose()?;
        let values = (work == Work::Pairs).then(|| gpu.allocate(size)).transpose()?;
        Ok(Self { bench, work, count, pristine, keys: gpu.allocate(size)?, values, scratch })
    }

    fn size(&self) -> u64 {
        (self.count * 4) as u64
    }

    /// Restores keys and values, by the copy kernel.
    fn restore(&self, recorder: &mut Recorder<'_>) -> subsweep::Result<()> {
        let (size, pristine) = (self.size(), self.pristine.range());
        self.bench.roof.record(recorder, pristine.slice(0, size), self.keys.range())?;
        match &self.values {
            Some(values) => self.bench.roof.record(recorder, pristine.slice(size, size), values.range()),
            None => Ok(()),
        }
    }
}

impl Subject for Ours<'_> {
    fn name(&self) -> String {
        "**subsweep**".to_owned()
    }

    fn times(&mut self, run_count: u32) -> Result<Vec<Duration>> {
        let Bench { gpu, stamps, .. } = self.bench;
        let scratch = self.scratch.as_ref().map_or(BufferRange::NONE, GpuBuffer::range);
        let (count, keys) = (self.count as u64, self.keys.range().addresses());
        match self.work {
            Work::Scan => {
                let plan = gpu.plan(Self::SCAN)?;
                let source = self.pristine.range().slice(0, self.size()).addresses();
                let buffers = ScanBuffers::new(source, keys, scratch);
                // SAFETY: the buffers are of this device, and have no other use before the submission has been waited
                // for.
                unsafe {
                    stamps.time(run_count, |_| Ok(()), |recorder| plan.record(recorder, &buffers, count))
                }
            }
            Work::Keys | Work::Pairs => {
                let plan = gpu.plan(Self::sort_config(self.work))?;
                let mut buffers = SortBuffers::new(keys, scratch);
                if let Some(values) = &self.values {
                    buffers = buffers.values(values.range().addresses());
                }
                let run = |recorder: &mut Recorder<'_>| plan.record(recorder, &buffers, count);
                // SAFETY: as above.
                unsafe { stamps.time(run_count, |recorder| self.restore(recorder), run) }
            }
        }
    }

    fn result(&mut self) -> Result<Columns> {
        let keys = self.bench.gpu.read(&self.keys, self.count)?;
        let values =
            self.values.as_ref().map(|values| self.bench.gpu.read(values, self.count)).transpose()?;
        Ok(Columns { keys, values: values.unwrap_or_default() })
    }
}

/// Subsweep's copy kernel on the same number of bytes.
pub struct Copy<'g> {
    bench: Bench<'g>,
    count: usize,
    source: GpuBuffer,
    destination: GpuBuffer,
    has_values: bool,
}

impl<'g> Copy<'g> {
    pub fn new(bench: Bench<'g>, input: &Columns) -> Result<Self> {
        let gpu = bench.gpu;
        let count = input.keys.len();
        let size = ((count + input.values.len()) * 4) as u64;
        let source = gpu.allocate(size)?;
        gpu.upload(&source, 0, &input.keys)?;
        gpu.upload(&source, (count * 4) as u64, &input.values)?;
        let has_values = !input.values.is_empty();
        Ok(Self { bench, count, source, destination: gpu.allocate(size)?, has_values })
    }
}

impl Subject for Copy<'_> {
    fn name(&self) -> String {
        "copy kernel".to_owned()
    }

    fn times(&mut self, run_count: u32) -> Result<Vec<Duration>> {
        let (source, destination) = (self.source.range(), self.destination.range());
        let copy = |recorder: &mut Recorder<'_>| self.bench.roof.record(recorder, source, destination);
        // SAFETY: the buffers are of this device, and have no other use before the submission has been waited for.
        unsafe { self.bench.stamps.time(run_count, |_| Ok(()), copy) }
    }

    fn result(&mut self) -> Result<Columns> {
        let columns = if self.has_values { 2 } else { 1 };
        let mut keys = self.bench.gpu.read(&self.destination, self.count * columns)?;
        let values = keys.split_off(self.count);
        Ok(Columns { keys, values })
    }
}

/// lampshade, out of place; a pair's key and value are interleaved.
pub struct Lampshade<'w> {
    wgpu: &'w Wgpu,
    work: LampshadeWork,
    count: usize,
    input: wgpu::Buffer,
    output: wgpu::Buffer,
}

enum LampshadeWork {
    Keys(Box<Sorter>),
    Pairs(Box<KeyValueSorter>),
    Scan(Box<Scanner>),
}

impl<'w> Lampshade<'w> {
    pub fn new(wgpu: &'w Wgpu, work: Work, input: &Columns) -> Self {
        let Wgpu { device, queue, info, .. } = wgpu;
        let words = match work {
            Work::Pairs => {
                input.keys.iter().zip(&input.values).flat_map(|(key, value)| [*key, *value]).collect()
            }
            Work::Keys | Work::Scan => input.keys.clone(),
        };
        Self {
            wgpu,
            work: match work {
                Work::Keys => LampshadeWork::Keys(Box::new(Sorter::new_for_adapter(device, queue, info))),
                Work::Pairs => {
                    LampshadeWork::Pairs(Box::new(KeyValueSorter::new_for_adapter(device, queue, info)))
                }
                Work::Scan => LampshadeWork::Scan(Box::new(Scanner::new_for_adapter(device, queue, info))),
            },
            count: input.keys.len(),
            input: wgpu.upload(&words),
            output: wgpu.allocate(words.len()),
        }
    }
}

impl Subject for Lampshade<'_> {
    fn name(&self) -> String {
        "lampshade".to_owned()
    }

    fn times(&mut self, run_count: u32) -> Result<Vec<Duration>> {
        let Self { wgpu, work, input, output, .. } = self;
        let count = self.count as u32;
        wgpu.times(run_count, |encoder| {
            match work {
                LampshadeWork::Keys(sorter) => sorter.record_sort(encoder, input, output, count)?,
                LampshadeWork::Pairs(sorter) => sorter.record_sort(encoder, input, output, count)?,
                LampshadeWork::Scan(scanner) => scanner.record_scan(encoder, input, output, count)?,
            }
            Ok(())
        })
    }

    fn result(&mut self) -> Result<Columns> {
        if let LampshadeWork::Pairs(_) = self.work {
            let words = self.wgpu.download(&self.output, self.count * 2)?;
            let column = |of: usize| words.iter().skip(of).step_by(2).copied().collect();
            return Ok(Columns { keys: column(0), values: column(1) });
        }
        Ok(Columns { keys: self.wgpu.download(&self.output, self.count)?, values: Vec::new() })
    }
}

/// Scans of GPUPrefixSums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    ReduceThenScan,
    /// Decoupled look-back with decoupled fallback. `csdl.wgsl`, without a fallback, is not measured: it requires
    /// forward progress that Vulkan does not guarantee.
    LookBack,
}

impl Variant {
    pub const ALL: [Self; 2] = [Self::ReduceThenScan, Self::LookBack];

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

/// GPUPrefixSums, out of place.
pub struct PrefixSums<'w> {
    wgpu: &'w Wgpu,
    variant: Variant,
    count: usize,
    tile_count: u32,
    pipelines: Vec<(wgpu::ComputePipeline, u32)>,
    bindings: wgpu::BindGroup,
    output: wgpu::Buffer,
    /// The tile counter, and the tiles' published words; zeroed for look-back.
    state: [wgpu::Buffer; 2],
}

impl<'w> PrefixSums<'w> {
    const TILE_ITEMS: usize = 4096;

    /// The variant, with its WGSL in `folder`.
    pub fn new(wgpu: &'w Wgpu, folder: &Path, variant: Variant, input: &Columns) -> Result<Self> {
        let (file, kernels) = variant.kernels();
        let path = folder.join(file);
        let source = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
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
        Ok(Self { wgpu, variant, count, tile_count, pipelines: pipelines.collect(), bindings, output, state })
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

impl Subject for PrefixSums<'_> {
    fn name(&self) -> String {
        match self.variant {
            Variant::ReduceThenScan => "GPUPrefixSums, reduce-then-scan",
            Variant::LookBack => "GPUPrefixSums, look-back with fallback",
        }
        .to_owned()
    }

    fn times(&mut self, run_count: u32) -> Result<Vec<Duration>> {
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

    fn result(&mut self) -> Result<Columns> {
        Ok(Columns { keys: self.wgpu.download(&self.output, self.count)?, values: Vec::new() })
    }
}
