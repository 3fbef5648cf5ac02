//! The pieces of `docs/pieces.md` in kernels of a stranger, `src/kernels/fixtures/piece_*.comp`. Selection and look-back are
//! in `examples/fused`.

use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::headless::Gpu;
use subsweep::kernels::Kernel;

use super::cases::clean_trials;
use super::fixtures::{PIECE_COUNTERS, PIECE_MATCH, PIECE_SCAN};
use super::passes::rig::{Rig, Value, random};

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let trial = clean_trials(gpu, "pieces");
    vec![
        trial("an operator of the kernel's own in scans and tree, the last workgroup", scans),
        trial("a tile by matching lanes", |gpu| sorted_tile(gpu, &PIECE_MATCH, 8)),
        trial("a tile by counters", |gpu| sorted_tile(gpu, &PIECE_COUNTERS, 4)),
    ]
}

fn scans(gpu: &Gpu) -> Result<(), Failed> {
    // As in the kernel; a subgroup is full.
    const WORKGROUP_SIZE: usize = 128;
    const WORKGROUPS: usize = 5;
    let count = WORKGROUP_SIZE * WORKGROUPS;
    let words = random(count, 2 * count);
    let (maps, _) = words.as_chunks::<2>();
    let (mut prefixes, mut totals) = (Vec::new(), Vec::new());
    for workgroup in maps.chunks(WORKGROUP_SIZE) {
        let mut sum = [1u32, 0];
        for [a, b] in workgroup {
            prefixes.push(sum);
            sum = [a.wrapping_mul(sum[0]), a.wrapping_mul(sum[1]).wrapping_add(*b)];
        }
        totals.push(sum);
    }
    // What the last workgroup observes.
    let observed = totals.iter().fold(0u32, |sum, total| sum.wrapping_add(total[0]));
    let values = [
        ("maps", Value::input(&words)),
        ("by_subgroups", Value::output(prefixes.as_flattened())),
        ("by_invocations", Value::output(prefixes.as_flattened())),
        ("totals", Value::output(totals.as_flattened())),
        ("state", Value::state(2)),
        ("observed", Value::output(vec![observed])),
        ("workgroup_count", Value::Number(WORKGROUPS)),
    ];
    let rig = Rig::new(gpu, &PIECE_SCAN, WORKGROUP_SIZE as u32, &[])?;
    rig.check("scans", values, WORKGROUPS - 1)
}

/// Compares a tile that is sorted by a digit of `radix_bits` with a stable sort of the host.
fn sorted_tile(gpu: &Gpu, kernel: &'static Kernel, radix_bits: u32) -> Result<(), Failed> {
    const ITEMS: u32 = 8;
    let capabilities = gpu.capabilities();
    let workgroup_size = 64.max(capabilities.max_subgroup_size);
    let tile_items = (workgroup_size * ITEMS) as usize;
    for (extent, shift, is_descending) in
        [(tile_items, 0, false), (tile_items, 28, true), (tile_items - 77, 40, false), (1, 8, true)]
    {
        let constants = [
            ("RADIX_BITS", radix_bits),
            ("ITEMS_PER_INVOCATION", ITEMS),
            ("DESCENDING", is_descending.into()),
            ("MAX_SUBGROUPS", workgroup_size / capabilities.min_subgroup_size),
        ];
        let rig = Rig::new(gpu, kernel, workgroup_size, &constants)?;
        let keys: Vec<u64> = random(extent, 2 * extent)
            .chunks(2)
            .map(|words| u64::from(words[0]) << 32 | u64::from(words[1]))
            .collect();
        let radix = 1u64 << radix_bits;
        let digit_of = |key: u64| (if is_descending { !key } else { key } >> shift) % radix;
        let mut sorted = keys.clone();
        sorted.sort_by_key(|&key| digit_of(key));
        let first = |digit| sorted.partition_point(|&key| digit_of(key) < digit) as u32;
        let values = [
            ("keys", Value::input(bytemuck::cast_slice::<u64, u32>(&keys))),
            ("sorted", Value::output(bytemuck::cast_slice::<u64, u32>(&sorted))),
            ("bins", Value::output((0..radix).map(first).collect::<Vec<_>>())),
            ("extent", Value::Number(extent)),
            ("shift", Value::Number(shift)),
        ];
        let case = format!("{extent} keys from bit {shift} on, descending: {is_descending}");
        rig.check(&case, values, 0)?;
    }
    Ok(())
}
