//! Particles that fall and die, by one kernel of the example's own: `shaders/fused.comp` moves them, and selects the survivors
//! in the same pass by pieces of the library's kernels. docs/pieces.md explains it.
//!
//! The number of particles stays on the device from step to step.

use anyhow::{Result, ensure};
use subsweep::device::{Access, AddressRange, Barrier, Pipeline, PipelineOptions, PushBlock, PushConstants};
use subsweep::headless::{Gpu, GpuBuffer, GpuOptions};
use subsweep::kernels::{Family, Kernel, KernelAccess, PushConstant};

const COUNT: u32 = 100_000;
const STEPS: u32 = 12;
const DT: f32 = 1.0 / 64.0;

// As in `fused.comp`.
const WORKGROUP_SIZE: u32 = 256;
const TILE_ITEMS: u32 = WORKGROUP_SIZE * 4;

/// Tiles of as many particles as there are at first, and bytes of their `state`.
const TILES: u32 = COUNT.div_ceil(TILE_ITEMS);
const STATE_SIZE: u64 = (4 + 2 * TILES as u64) * 4;

/// Position and life, velocity and mass.
type Particle = [f32; 8];
const PARTICLE_SIZE: u64 = size_of::<Particle>() as u64;

/// A module, aligned as words.
#[repr(C, align(4))]
struct Words<const N: usize>([u8; N]);
static MODULE: Words<{ include_bytes!("shaders/precompiled/fused.comp.spv").len() }> =
    Words(*include_bytes!("shaders/precompiled/fused.comp.spv"));

static FUSED: Kernel = {
    const fn pointer(name: &'static str, offset: u32, access: KernelAccess) -> PushConstant {
        PushConstant { name, offset, size: 8, access: Some(access) }
    }
    const MEMBERS: &[PushConstant] = &[
        pointer("particles", 0, KernelAccess::READ),
        pointer("count", 8, KernelAccess::READ),
        pointer("survivors", 16, KernelAccess::WRITE),
        pointer("survivor_count", 24, KernelAccess::WRITE),
        pointer("state", 32, KernelAccess::ATOMIC),
        PushConstant { name: "capacity", offset: 40, size: 4, access: None },
        PushConstant { name: "dt", offset: 44, size: 4, access: None },
    ];
    // SAFETY: the module is for Vulkan 1.2, and these are its push constants.
    unsafe { Kernel::new("fused", &MODULE.0, MEMBERS, &[]) }
};
static KERNELS: [&Kernel; 1] = [&FUSED];

struct Push {
    particles: AddressRange,
    count: AddressRange,
    survivors: AddressRange,
    survivor_count: AddressRange,
    state: AddressRange,
}

// SAFETY: the block is the kernel's.
unsafe impl PushConstants for Push {
    const FAMILIES: &'static [&'static Family] = &[&Family::new(&KERNELS)];

    fn block(&self) -> PushBlock {
        let mut block = PushBlock::default();
        for range in [self.particles, self.count, self.survivors, self.survivor_count, self.state] {
            block.push(range);
        }
        block.push(COUNT);
        block.push(DT.to_bits());
        block
    }
}

const CLEARED: Barrier =
    Barrier { name: "cleared", source: Access::TRANSFER_WRITE, destination: Access::TRANSFER };

/// The same step on the CPU, to the bit.
fn step(particles: &[Particle]) -> Vec<Particle> {
    let moved = particles.iter().map(|&[x, y, z, life, u, v, w, mass]| {
        let [u, v, w] = [u + 0.0, v + -9.75 * DT, w + 0.0];
        [x + u * DT, y + v * DT, z + w * DT, life - DT, u, v, w, mass]
    });
    moved.filter(|particle| particle[3] > 0.0 && particle[1] > 0.0).collect()
}

/// Particles in two arrays, which take turns, each with a word that counts them.
struct Simulation<'g> {
    gpu: &'g Gpu,
    pipeline: Pipeline,
    particles: [GpuBuffer; 2],
    counts: [GpuBuffer; 2],
    /// Of every step.
    states: GpuBuffer,
}

impl<'g> Simulation<'g> {
    fn new(gpu: &'g Gpu, particles: &[Particle]) -> Result<Self> {
        let options = PipelineOptions { workgroup_size: WORKGROUP_SIZE, constants: &[], subgroup_size: None };
        let bytes = u64::from(COUNT) * PARTICLE_SIZE;
        Ok(Self {
            gpu,
            pipeline: Pipeline::new(gpu.device(), &FUSED, options)?,
            particles: [gpu.allocate_with(particles)?, gpu.allocate(bytes)?],
            counts: [gpu.allocate_with(&[particles.len() as u32])?, gpu.allocate(4)?],
            states: gpu.allocate(STATE_SIZE * u64::from(STEPS))?,
        })
    }

    /// Records `steps` steps into one submission, and waits. The first `begun` tiles of each count as begun already: their
    /// workgroups never publish.
    fn run(&self, steps: u32, begun: u32) -> Result<()> {
        let state_of = |step| self.states.range().slice(u64::from(step) * STATE_SIZE, STATE_SIZE);
        let [particles, counts] =
            [&self.particles, &self.counts].map(|pair| pair.each_ref().map(GpuBuffer::addresses));
        // SAFETY: the memory and the pipeline are this simulation's, of these sizes, and in no other use; a barrier stands
        // between accesses.
        unsafe {
            self.gpu.submit(|recorder| {
                recorder.fill(self.states.range(), 0);
                if begun > 0 {
                    recorder.barrier(CLEARED);
                    (0..steps).for_each(|step| recorder.update(state_of(step), &[begun]));
                }
                recorder.barrier(Barrier::TRANSFER_TO_COMPUTE);
                for step in 0..steps {
                    if step > 0 {
                        recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
                    }
                    let (now, next) = (step as usize % 2, (step as usize + 1) % 2);
                    let push = Push {
                        particles: particles[now],
                        count: counts[now],
                        survivors: particles[next],
                        survivor_count: counts[next],
                        state: state_of(step).addresses(),
                    };
                    recorder.dispatch(&self.pipeline, &push, TILES.into())?;
                }
                Ok(())
            })
        }?;
        Ok(())
    }

    /// The particles after `steps` steps.
    fn particles(&self, steps: u32) -> Result<Vec<Particle>> {
        let turn = steps as usize % 2;
        let count = self.gpu.read(&self.counts[turn], 1)?[0];
        ensure!(count <= COUNT, "{count} of {COUNT} particles are left");
        Ok(self.gpu.read_values(&self.particles[turn], 0, count as usize)?)
    }
}

fn main() -> Result<()> {
    let gpu = Gpu::open(GpuOptions::default())?;
    let spread = |particle: u32, factor: u32| (particle.wrapping_mul(factor) >> 20) as f32 / 4096.0;
    let first: Vec<Particle> = (0..COUNT)
        .map(|i| {
            let life = 0.05 + spread(i, 0x9e37_79b9);
            let velocity = [0x85eb_ca6b, 0xc2b2_ae35, 0x27d4_eb2f].map(|factor| spread(i, factor) - 0.5);
            [i as f32, 0.125, 0.0, life, velocity[0], velocity[1], velocity[2], 1.0]
        })
        .collect();
    let expected = (0..STEPS).fold(first.clone(), |particles, _| step(&particles));
    let simulation = Simulation::new(&gpu, &first)?;
    simulation.run(STEPS, 0)?;
    ensure!(simulation.particles(STEPS)? == expected, "{STEPS} steps differ from the CPU's");

    // Workgroups do without those that never run: the survivors of the first tiles are not stored, but counted.
    let begun = 3;
    let simulation = Simulation::new(&gpu, &first)?;
    simulation.run(1, begun)?;
    let (got, all) = (simulation.particles(1)?, step(&first));
    let lost = step(&first[..(begun * TILE_ITEMS) as usize]).len();
    ensure!(got.len() == all.len() && got[lost..] == all[lost..], "stalled tiles are not counted");

    let name = &gpu.identity().name;
    println!("{name}: {STEPS} steps of {COUNT} particles equal the CPU's; {} are left", expected.len());
    Ok(())
}
