//! Arrays larger than one allocation, which are bound to several: on devices with `sparseBinding`. Others refuse them.

use std::io::Cursor;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};
use subsweep::device::Capabilities;
use subsweep::headless::{Gpu, GpuBuffer, SelectInputs, SortStream};
use subsweep::scan::ScanConfig;
use subsweep::select::{Comparison, Operands, SelectConfig};
use subsweep::sort::SortConfig;
use subsweep::{ElementType, Error};

use super::cases::expect_no_findings;
use super::narrow;
use super::passes::rig::random;

/// Bytes of an allocation, a small part of the arrays.
const ALLOCATION: u64 = 16 << 20;
/// Words of three allocations.
const COUNT: usize = 10_000_003;

pub fn trials(gpu: &Arc<Gpu>) -> Vec<Trial> {
    let is_validated = gpu.is_validated();
    let trial = |name: &str, limit: fn(&mut Capabilities), run: fn(&Gpu) -> Result<(), Failed>| {
        let name = format!("sparse: {name}");
        Trial::test(name.clone(), move || {
            let gpu = narrow::open(is_validated, limit)?;
            run(&gpu)?;
            expect_no_findings(&gpu, &name)
        })
    };
    match gpu.capabilities().enabled.sparse_binding {
        true => vec![
            trial("copies cross the borders of allocations", small_allocations, copies),
            trial(
                "sorts, scans and selections over several allocations are right",
                small_allocations,
                results,
            ),
            trial("addresses are limited, and given back", few_addresses, addresses),
        ],
        false => vec![trial("one allocation is the largest array without it", small_allocations, refusal)],
    }
}

pub fn small_allocations(capabilities: &mut Capabilities) {
    capabilities.max_allocation_size = ALLOCATION;
}

fn few_addresses(capabilities: &mut Capabilities) {
    small_allocations(capabilities);
    capabilities.sparse_address_space_size = 5 * ALLOCATION;
}

fn is_refused(allocated: subsweep::Result<GpuBuffer>, size: u64) -> bool {
    matches!(allocated, Err(Error::OutOfDeviceMemory { needed: Some(needed), .. }) if needed == size)
}

fn copies(gpu: &Gpu) -> Result<(), Failed> {
    let words = random(1, COUNT);
    let buffer = gpu.allocate(4 * (COUNT + 1_000) as u64)?;
    gpu.upload(&buffer, 4_000, &words)?;
    assert!(gpu.read_from(&buffer, 4_000, COUNT)? == words);
    Ok(())
}

fn results(gpu: &Gpu) -> Result<(), Failed> {
    let words = random(2, COUNT);
    let mut sorted = words.clone();
    sorted.sort_unstable();
    let keys = SortConfig::keys(ElementType::U32);

    let mut result = words.clone();
    gpu.sort(keys, &mut result)?;
    assert!(result == sorted, "sort of a slice");

    // Without a copy on the host, in several allocations on the device, and without a temporary file.
    let mut streamed = Vec::new();
    let stream = SortStream {
        keys: &mut Cursor::new(bytemuck::cast_slice(&words)),
        values: None,
        sorted_keys: Some(&mut streamed),
        sorted_values: None,
        count: Some(COUNT as u64),
        memory_size: None,
        chunk_size: None,
        as_on_gpu: None,
        temporary: &mut || Err(std::io::Error::other("the keys fit")),
        progress: None,
    };
    assert_eq!(gpu.sort_stream(keys, stream)?, COUNT as u64);
    assert!(streamed == bytemuck::cast_slice::<u32, u8>(&sorted), "sort of a stream");

    let mut sum = 0u32;
    let sums: Vec<u32> = words
        .iter()
        .map(|word| {
            sum = sum.wrapping_add(*word);
            sum
        })
        .collect();
    result.copy_from_slice(&words);
    gpu.scan(ScanConfig::inclusive(ElementType::U32), &mut result)?;
    assert!(result == sums, "scan");

    let below = SelectConfig::compare(ElementType::U32, Comparison::Less);
    let selected = gpu.select(below, &SelectInputs::new(&words).operands(Operands::host(&[1u32 << 31])?))?;
    let expected: Vec<u32> = words.iter().copied().filter(|&word| word < 1 << 31).collect();
    assert!(selected.elements::<u32>()? == expected, "selection");
    Ok(())
}

fn addresses(gpu: &Gpu) -> Result<(), Failed> {
    let size = 3 * ALLOCATION - 4;
    for _ in 0..3 {
        let _first = gpu.allocate(size)?;
        assert!(is_refused(gpu.allocate(size), size), "there are addresses for one");
        let _second = gpu.allocate(2 * ALLOCATION)?;
    }
    let beyond = 5 * ALLOCATION + 4;
    assert!(is_refused(gpu.allocate(beyond), beyond));
    // Mapped memory is one allocation, and arrays of one have no sparse addresses.
    let _many = (0..6).map(|_| gpu.allocate(ALLOCATION)).collect::<Result<Vec<_>, _>>()?;
    Ok(())
}

fn refusal(gpu: &Gpu) -> Result<(), Failed> {
    assert_eq!(gpu.capabilities().max_array_size(), ALLOCATION);
    let _largest = gpu.allocate(ALLOCATION)?;
    assert!(is_refused(gpu.allocate(ALLOCATION + 4), ALLOCATION + 4));
    Ok(())
}
