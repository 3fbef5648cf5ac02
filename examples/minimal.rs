//! Minimal example: sorts a slice with the feature `headless`.

use subsweep::ElementType;
use subsweep::headless::{Gpu, GpuOptions};
use subsweep::sort::SortConfig;

fn main() -> subsweep::Result<()> {
    let gpu = Gpu::open(GpuOptions::default())?;
    let mut keys = [3_u32, 1, 4, 1, 5, 9, 2, 6];
    gpu.sort(SortConfig::keys(ElementType::U32), &mut keys)?;
    println!("{keys:?}");
    Ok(())
}
