//! scratch
use subsweep::harness::*;
use subsweep::headless::*;
fn main() {
    let effort = match std::env::args().nth(1).as_deref() { Some("full") => Effort::Full, Some("normal") => Effort::Normal, _ => Effort::Quick };
    let gpu = Gpu::open(GpuOptions::default()).unwrap();
    for case in verify_cases(effort, gpu.capabilities()) { println!("{}", case.id()); }
}
