//! The steps on the device: kernels of the example between a sort, a search, a scan and a selection.
//!
//! ```text
//!   positions ─ cells ─► keys ─ sort ─► order, sorted keys ─ search ─► first particle of each cell
//!                                          │
//!   neighbours (counts) ─► counts ─ scan ─► offsets ─ neighbours (lists) ─► lists ─ move ─► next positions
//!                             └──── select ─► crowded particles and their number
//! ```

use std::sync::Arc;

use anyhow::Result;
use bytemuck::{Pod, Zeroable};
use subsweep::ash::vk::DeviceAddress;
use subsweep::device::Barrier;
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::scan::{ScanBuffers, ScanConfig, ScanPlan};
use subsweep::search::{SearchBuffers, SearchConfig, SearchPlan};
use subsweep::select::{Comparison, Operands, SelectBuffers, SelectConfig, SelectPlan};
use subsweep::sort::{SortBuffers, SortConfig, SortPlan};
use subsweep::{Count, ElementType};

use crate::kernel::Kernel;
use crate::{CROWDED, GRID, MAX_NEIGHBOURS, State};

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct CellsPush {
    positions: DeviceAddress,
    cells: DeviceAddress,
    count: u32,
    unused: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct NeighboursPush {
    positions: DeviceAddress,
    order: DeviceAddress,
    starts: DeviceAddress,
    counts: DeviceAddress,
    offsets: DeviceAddress,
    lists: DeviceAddress,
    count: u32,
    unused: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct MovePush {
    positions: DeviceAddress,
    velocities: DeviceAddress,
    offsets: DeviceAddress,
    counts: DeviceAddress,
    lists: DeviceAddress,
    next_positions: DeviceAddress,
    next_velocities: DeviceAddress,
    count: u32,
    unused: u32,
}

/// Particles on a device.
pub struct Simulation<'g> {
    gpu: &'g Gpu,
    count: u32,
    cells: Kernel<'g, CellsPush>,
    neighbours: Kernel<'g, NeighboursPush>,
    advance: Kernel<'g, MovePush>,
    sort: (Arc<SortPlan>, GpuBuffer),
    search: Arc<SearchPlan>,
    scan: (Arc<ScanPlan>, GpuBuffer),
    select: (Arc<SelectPlan>, GpuBuffer),
    /// Of two states, which take turns.
    positions: [GpuBuffer; 2],
    velocities: [GpuBuffer; 2],
    keys: GpuBuffer,
    order: GpuBuffer,
    /// 0, 1, 2, … up to the number of cells.
    numbers: GpuBuffer,
    starts: GpuBuffer,
    counts: GpuBuffer,
    offsets: GpuBuffer,
    lists: GpuBuffer,
    crowded: GpuBuffer,
    crowded_count: GpuBuffer,
}

impl<'g> Simulation<'g> {
    /// Creates the pipelines and the memory, and uploads a state.
    ///
    /// # Errors
    /// Errors of the plans, and of Vulkan functions.
    pub fn new(gpu: &'g Gpu, state: &State) -> Result<Self> {
        let count = state.positions.len() as u32;
        let (particles, cell_count) = (u64::from(count), (GRID * GRID) as u32);
        let sort = gpu.plan(SortConfig::keys_and_indices(ElementType::U32))?;
        let scan = gpu.plan(ScanConfig::exclusive(ElementType::U32).out_of_place())?;
        let crowded = SelectConfig::compare(ElementType::U32, Comparison::GreaterEqual);
        let select = gpu.plan(crowded.indices().without_elements())?;
        let [sort_size, scan_size, select_size] = [
            sort.scratch_requirements(particles).size,
            scan.scratch_requirements(particles).size,
            select.scratch_requirements(particles).size,
        ];
        let words = |count: u64| gpu.allocate(count * 4);
        let device = gpu.device();
        let simulation = Self {
            gpu,
            count,
            cells: Kernel::new(device, include_bytes!("shaders/precompiled/cells.comp.spv"))?,
            neighbours: Kernel::new(device, include_bytes!("shaders/precompiled/neighbours.comp.spv"))?,
            advance: Kernel::new(device, include_bytes!("shaders/precompiled/move.comp.spv"))?,
            sort: (sort, gpu.allocate(sort_size)?),
            search: gpu.plan(SearchConfig::lower_bound(ElementType::U32))?,
            scan: (scan, gpu.allocate(scan_size)?),
            select: (select, gpu.allocate(select_size)?),
            positions: [words(2 * particles)?, words(2 * particles)?],
            velocities: [words(2 * particles)?, words(2 * particles)?],
            keys: words(particles)?,
            order: words(particles)?,
            numbers: words(u64::from(cell_count) + 1)?,
            starts: words(u64::from(cell_count) + 1)?,
            counts: words(particles)?,
            offsets: words(particles)?,
            lists: words(particles * MAX_NEIGHBOURS as u64)?,
            crowded: words(particles)?,
            crowded_count: words(1)?,
        };
        gpu.upload(&simulation.positions[0], 0, &state.positions)?;
        gpu.upload(&simulation.velocities[0], 0, &state.velocities)?;
        gpu.upload(&simulation.numbers, 0, &(0..=cell_count).collect::<Vec<_>>())?;
        Ok(simulation)
    }

    /// Makes step `index`, of which the first is 0, and waits.
    ///
    /// # Errors
    /// Errors of the plans, and of Vulkan functions.
    pub fn step(&self, index: usize) -> Result<()> {
        let (now, next) = (index % 2, (index + 1) % 2);
        let address = |buffer: &GpuBuffer| buffer.range().address;
        let all = GpuBuffer::addresses;
        let count = Count::Direct(self.count.into());
        let (sort, scan, select) = (&self.sort.0, &self.scan.0, &self.select.0);
        let sorted = SortBuffers::new(all(&self.keys), self.sort.1.range()).values(all(&self.order));
        let searched = SearchBuffers::new(all(&self.keys), all(&self.numbers), all(&self.starts));
        let scanned = ScanBuffers::new(all(&self.counts), all(&self.offsets), self.scan.1.range());
        let crowded = SelectBuffers::new(
            all(&self.counts),
            Default::default(),
            all(&self.crowded_count),
            self.select.1.range(),
        )
        .indices(all(&self.crowded))
        .operands(Operands::host(&[CROWDED])?);
        let cells = CellsPush {
            positions: address(&self.positions[now]),
            cells: address(&self.keys),
            count: self.count,
            unused: 0,
        };
        let counting = NeighboursPush {
            positions: address(&self.positions[now]),
            order: address(&self.order),
            starts: address(&self.starts),
            counts: address(&self.counts),
            offsets: 0,
            lists: 0,
            count: self.count,
            unused: 0,
        };
        let listing =
            NeighboursPush { offsets: address(&self.offsets), lists: address(&self.lists), ..counting };
        let moving = MovePush {
            positions: address(&self.positions[now]),
            velocities: address(&self.velocities[now]),
            offsets: address(&self.offsets),
            counts: address(&self.counts),
            lists: address(&self.lists),
            next_positions: address(&self.positions[next]),
            next_velocities: address(&self.velocities[next]),
            count: self.count,
            unused: 0,
        };
        let needles = u64::from((GRID * GRID) as u32) + 1;
        // SAFETY: the memory is this simulation's, of these sizes, and in no other use; a barrier stands between accesses.
        unsafe {
            self.gpu.submit(|recorder| {
                self.cells.dispatch(recorder.command_buffer(), &cells, self.count);
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
                sort.record(recorder, &sorted, count)?;
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
                self.search.record(recorder, &searched, (u64::from(self.count), needles))?;
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
                self.neighbours.dispatch(recorder.command_buffer(), &counting, self.count);
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
                // These two have nothing of each other.
                select.record(recorder, &crowded, count)?;
                scan.record(recorder, &scanned, count)?;
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
                self.neighbours.dispatch(recorder.command_buffer(), &listing, self.count);
                recorder.barrier(Barrier::COMPUTE_TO_COMPUTE);
                self.advance.dispatch(recorder.command_buffer(), &moving, self.count);
                Ok(())
            })
        }?;
        Ok(())
    }

    /// The state after `steps` steps.
    ///
    /// # Errors
    /// Errors of Vulkan functions.
    pub fn state(&self, steps: usize) -> Result<State> {
        let read = |buffer| -> Result<Vec<[i32; 2]>> {
            Ok(bytemuck::pod_collect_to_vec(&self.gpu.read(buffer, 2 * self.count as usize)?))
        };
        Ok(State {
            positions: read(&self.positions[steps % 2])?,
            velocities: read(&self.velocities[steps % 2])?,
        })
    }

    /// The particles with many neighbours in the last step, ascending.
    ///
    /// # Errors
    /// Errors of Vulkan functions.
    pub fn crowded(&self) -> Result<Vec<u32>> {
        let count = self.gpu.read(&self.crowded_count, 1)?[0] as usize;
        Ok(self.gpu.read(&self.crowded, count)?)
    }
}
