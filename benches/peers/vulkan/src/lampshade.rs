//! lampshade, by wgpu. Out of place; a pair's key and value are interleaved.

use std::rc::Rc;

use anyhow::Result;
use lampshade::scan::Scanner;
use lampshade::sort::{KeyValueSorter, Sorter};
use subsweep_tool::harness::Mismatch;

use crate::gpu::Wgpu;
use crate::subject::{Implementation, Implementer, Subject, Task};
use crate::work::{Columns, Work};

/// lampshade on a device.
pub struct Lampshade<'w> {
    wgpu: &'w Wgpu,
    implementation: Implementation,
}

impl<'w> Lampshade<'w> {
    pub fn new(wgpu: &'w Wgpu) -> Self {
        let implementation = Implementation {
            name: "lampshade",
            version: "0.13.0".to_owned(),
            compiler: "naga of wgpu 30".to_owned(),
        };
        Self { wgpu, implementation }
    }
}

impl Implementer for Lampshade<'_> {
    fn implementation(&self) -> &Implementation {
        &self.implementation
    }

    fn subject<'s>(&'s self, task: &Task) -> Result<Option<Box<dyn Subject + 's>>> {
        let wgpu = self.wgpu;
        wgpu.within_memory(|| Some(Box::new(LampshadeWork::new(wgpu, task)) as Box<dyn Subject>))
    }
}

/// A work of lampshade.
struct LampshadeWork<'w> {
    wgpu: &'w Wgpu,
    pass: Pass,
    count: usize,
    input: wgpu::Buffer,
    output: wgpu::Buffer,
    expected: Rc<Columns>,
}

enum Pass {
    Keys(Box<Sorter>),
    Pairs(Box<KeyValueSorter>),
    Scan(Box<Scanner>),
}

impl<'w> LampshadeWork<'w> {
    fn new(wgpu: &'w Wgpu, task: &Task) -> Self {
        let Wgpu { device, queue, info, .. } = wgpu;
        let Task { work, input, expected, .. } = task;
        let words = match work {
            Work::Pairs => {
                input.keys.iter().zip(&input.values).flat_map(|(key, value)| [*key, *value]).collect()
            }
            Work::Keys | Work::Scan { .. } => input.keys.clone(),
        };
        let pass = match work {
            Work::Keys => Pass::Keys(Box::new(Sorter::new_for_adapter(device, queue, info))),
            Work::Pairs => Pass::Pairs(Box::new(KeyValueSorter::new_for_adapter(device, queue, info))),
            Work::Scan { .. } => Pass::Scan(Box::new(Scanner::new_for_adapter(device, queue, info))),
        };
        Self {
            wgpu,
            pass,
            count: input.keys.len(),
            input: wgpu.upload(&words),
            output: wgpu.allocate(words.len()),
            expected: expected.clone(),
        }
    }
}

impl Subject for LampshadeWork<'_> {
    fn times(&mut self, run_count: u32) -> Result<Vec<f64>> {
        let Self { wgpu, pass, input, output, .. } = self;
        let count = self.count as u32;
        wgpu.times(run_count, |encoder| {
            match pass {
                Pass::Keys(sorter) => sorter.record_sort(encoder, input, output, count)?,
                Pass::Pairs(sorter) => sorter.record_sort(encoder, input, output, count)?,
                Pass::Scan(scanner) => scanner.record_scan(encoder, input, output, count)?,
            }
            Ok(())
        })
    }

    fn mismatch(&mut self) -> Result<Option<Mismatch>> {
        let got = if let Pass::Pairs(_) = self.pass {
            let words = self.wgpu.download(&self.output, self.count * 2)?;
            let column = |of: usize| words.iter().skip(of).step_by(2).copied().collect();
            Columns { keys: column(0), values: column(1) }
        } else {
            Columns { keys: self.wgpu.download(&self.output, self.count)?, values: Vec::new() }
        };
        Ok(self.expected.mismatch(&got))
    }

    fn policy(&self) -> String {
        "its own tuning".to_owned()
    }
}
