//! Recordings that are refused: ranges of one memory, and the errors that name them.

use std::fmt::Debug;

use subsweep::device::{AddressRange, BufferRange, CommandCounts, Recorder};
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::{Config, Count, Error, Plan, Primitive, Result};

use super::primitive::run;

/// Memory of buffers that plans refuse.
pub struct Refused<'g> {
    gpu: &'g Gpu,
    memory: GpuBuffer,
}

type Buffers<C> = <<C as Config>::Primitive as Primitive>::Buffers;
type Counts<C> = <<C as Config>::Primitive as Primitive>::Count;

impl<'g> Refused<'g> {
    pub fn new(gpu: &'g Gpu) -> Result<Self> {
        Ok(Self { gpu, memory: gpu.allocate(1 << 13)? })
    }

    /// A range, which may exceed the memory.
    pub fn at(&self, offset: u64, size: u64) -> AddressRange {
        AddressRange::new(self.memory.range().address + offset, size)
    }

    pub fn scratch(&self, offset: u64, size: u64) -> BufferRange {
        let range = self.memory.range();
        BufferRange { offset: range.offset + offset, size, address: range.address + offset, ..range }
    }

    /// A count on the device.
    pub fn count(&self, offset: u64, max: u32) -> Count {
        Count::Indirect { address: self.at(offset, 4).address, max }
    }

    /// The result of a recording, which is run if it is not refused.
    pub fn record<C: Config>(
        &self,
        config: C,
        buffers: Buffers<C>,
        count: impl Into<Counts<C>>,
    ) -> Result<()> {
        run(self.gpu, &Plan::<C::Primitive>::new(self.gpu.device(), config)?, &buffers, count)
    }

    /// The result of planning.
    pub fn plan<C: Config>(&self, config: C) -> Result<()> {
        Plan::<C::Primitive>::new(self.gpu.device(), config).map(drop)
    }

    /// Fails unless planning each of `configs` is an error that `is_expected`.
    #[track_caller]
    pub fn expect<C: Config>(
        &self,
        configs: impl IntoIterator<Item = C>,
        is_expected: impl Fn(&Error) -> bool,
    ) {
        for config in configs {
            let planned = self.plan(config);
            assert!(matches!(&planned, Err(error) if is_expected(error)), "{config:?}: {planned:?}");
        }
    }

    /// Fails unless a plan without indirect counts refuses one, and a plan with them refuses `short` scratch of 28 bytes
    /// before it has recorded anything.
    #[track_caller]
    pub fn expect_indirect<C: Config>(
        &self,
        [direct, indirect]: [C; 2],
        [buffers, short]: [Buffers<C>; 2],
        count: impl Into<Counts<C>>,
    ) {
        let count = count.into();
        assert_unsupported(self.record(direct, buffers, count), "indirect_count");
        let too_small = Err(Error::ScratchTooSmall { needed: 32, got: 28 });
        assert_eq!(self.record(indirect, short, count), too_small);
        let mut dry = Recorder::dry(self.gpu.device());
        let plan = self.gpu.plan(indirect).unwrap();
        assert_eq!(plan.record(&mut dry, &short, count), too_small);
        assert_eq!(dry.counts(), CommandCounts::default());
    }

    pub fn misaligned(&self, what: &'static str, offset: u64) -> Result<()> {
        Err(Error::Misaligned { what, address: self.at(offset, 4).address, alignment: 4 })
    }
}

pub fn too_small(what: &'static str, needed: u64, got: u64) -> Result<()> {
    Err(Error::RangeTooSmall { what, needed, got })
}

pub fn overlap(first: &'static str, second: &'static str) -> Result<()> {
    Err(Error::Overlap { first, second })
}

/// Fails unless `refused` is an error whose reason contains `what`.
#[track_caller]
pub fn assert_unsupported<T: Debug>(refused: Result<T>, what: &str) {
    assert!(matches!(refused, Err(Error::Unsupported { reason }) if reason.contains(what)), "{refused:?}");
}
