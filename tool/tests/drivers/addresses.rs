//! Arithmetic of 64-bit addresses and counts in two words. No test's memory spans a carry into the high word, so kernels compute
//! addresses of memory that does not exist.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::headless::Gpu;

use super::cases::clean_trials;
use super::fixtures::{ADVANCE, MERGE_PATH};
use super::passes::rig::{Rig, Value};

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "addresses");
    vec![
        trial("an address is advanced in 64 bits", advance),
        trial("a merge path is found among any number of keys", merge_path),
    ]
}

/// Invocations, of which each stores a number.
const COUNT: u32 = 64;

/// The array of the numbers.
fn result(numbers: impl Iterator<Item = u64>) -> (&'static str, Value<'static>) {
    ("result", Value::output(numbers.flat_map(low_first).collect::<Vec<_>>()))
}

fn low_first(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

fn advance(gpu: &Gpu) -> Result<(), Failed> {
    let rig = Rig::new(gpu, &ADVANCE, COUNT, &[])?;
    // Just before 4 GiB by small steps; by products that take the high word; and both.
    for (base, step, size) in
        [(0x7_ffff_ff80, 1, 4), (0x7f12_0000_0000, 0x0400_0001, 1024), (0x7f12_ffff_f000, 0x0300_0001, 68)]
    {
        let [low, high] = low_first(base);
        let words = [("low", low), ("high", high), ("step", step), ("size", size)];
        let words = words.map(|(name, word)| (name, Value::Number(word as usize)));
        let numbers = (0..COUNT).map(|i| base + u64::from(i * step) * u64::from(size));
        let case = format!("{base:#x} + i × {step:#x} × {size}");
        rig.check(&case, [result(numbers)].into_iter().chain(words), 0)?;
    }
    Ok(())
}

fn merge_path(gpu: &Gpu) -> Result<(), Failed> {
    const UNIT: u64 = 1 << 32;
    let rig = Rig::new(gpu, &MERGE_PATH, COUNT, &[])?;
    for extent in [0, 1, 100, UNIT - 1, UNIT, UNIT + 1, 2 * UNIT - 1, 2 * UNIT, 77 * UNIT + 5, 1000 * UNIT] {
        let near = |border: u64| [border.saturating_sub(2), border.saturating_sub(1), border, border + 1];
        let inner = [0, UNIT, 2 * UNIT, 31 * UNIT, 77 * UNIT, extent / 3, extent].map(near);
        for border in inner.into_iter().flatten() {
            let words =
                [extent, border].map(low_first).concat().into_iter().map(|word| Value::Number(word as usize));
            let words = ["extent", "extent_high", "border", "border_high"].into_iter().zip(words);
            let numbers = std::iter::repeat_n(border.min(extent), COUNT as usize);
            rig.check(&format!("{border} of {extent}"), [result(numbers)].into_iter().chain(words), 0)?;
        }
    }
    Ok(())
}
