//! Recordings that are refused: ranges of one memory, and the errors that name them.

use std::fmt::Debug;

use subsweep::arguments::Memory;
use subsweep::device::{AddressRange, BufferRange};
use subsweep::headless::{Gpu, GpuBuffer};
use subsweep::{Config, Count, Error, Plan, Primitive, Result};

use super::primitive::run;

/// Memory of buffers that plans refuse.
pub struct Refused<'g> {
    gpu: &'g Gpu,
    memory: GpuBuffer,
}

/// Arguments that may be of any size in some configurations, whose own tests have no whole number of elements.
const GIVEN_SIZES: [&str; 1] = ["elements"];

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

    /// Fails unless a recording has arguments of these names and sizes, also where `buffers` are larger.
    #[track_caller]
    pub fn expect_sizes<C: Config>(
        &self,
        config: C,
        buffers: Buffers<C>,
        count: impl Into<Counts<C>>,
        expected: &[(&str, u64)],
    ) {
        let plan = self.gpu.plan(config).unwrap();
        let (mut larger, mut count) = (buffers, count.into());
        plan.visit_arguments(&mut larger, &mut count, &mut |argument, memory| {
            if let Memory::Addresses(range) = memory
                && range.size > 0
                && range.size == argument.size
                && !GIVEN_SIZES.contains(&argument.name)
            {
                range.size += 64;
            }
            Ok(())
        })
        .unwrap();
        for buffers in [buffers, larger] {
            let arguments = plan.arguments(&buffers, count).unwrap();
            let sizes: Vec<_> = arguments.iter().map(|argument| (argument.name, argument.size)).collect();
            assert_eq!(sizes, expected);
        }
    }

    /// Fails unless a plan without indirect counts refuses one.
    #[track_caller]
    pub fn expect_direct_only<C: Config>(&self, config: C, buffers: Buffers<C>, count: impl Into<Counts<C>>) {
        assert_unsupported(self.record(config, buffers, count), "indirect_count");
    }
}

/// Fails unless `refused` is an error whose reason contains `what`.
#[track_caller]
pub fn assert_unsupported<T: Debug>(refused: Result<T>, what: &str) {
    assert!(matches!(refused, Err(Error::Unsupported { reason }) if reason.contains(what)), "{refused:?}");
}
