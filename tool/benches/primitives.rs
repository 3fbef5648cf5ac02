//! `cargo bench`: the cases of `subsweep bench --quick` under criterion, timed by GPU timestamps.
//!
//! The device is the best one, or the one named by `SUBSWEEP_DEVICE`. Every case is verified before it is measured.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use subsweep::headless::{Gpu, GpuOptions};
use subsweep_tool::harness::{BenchScale, BufferLayout, Effort, Workload, bench_cases};

fn primitives(criterion: &mut Criterion) {
    let device = std::env::var("SUBSWEEP_DEVICE").unwrap_or_default();
    let device = if device.is_empty() { Ok(Default::default()) } else { device.parse() };
    let gpu = Gpu::open(GpuOptions { device: device.unwrap(), ..GpuOptions::default() })
        .unwrap_or_else(|error| panic!("{error}"));
    let identity = gpu.identity();
    eprintln!("{}, {}", identity.name, identity.driver_text());
    assert!(
        gpu.has_timestamps(),
        "this device has no timestamps; `subsweep bench` measures by the wall clock"
    );

    for case in bench_cases(BenchScale::new(Effort::Quick, gpu.capabilities())) {
        let workload = Workload::new(&gpu, &case, BufferLayout::Guarded)
            .unwrap_or_else(|error| panic!("{}: {error}", case.id()));
        let run = || {
            workload.restore().unwrap();
            workload.run().unwrap().expect("the queue has timestamps")
        };
        run();
        assert_eq!(workload.check().unwrap(), None, "{} is wrong", case.id());
        let mut group = criterion.benchmark_group(case.work.to_string());
        group.throughput(Throughput::Elements(case.count));
        group.bench_function(BenchmarkId::from_parameter(case.count), |bencher| {
            bencher.iter_custom(|count| {
                let nanoseconds: f64 = (0..count).map(|_| run()).sum();
                Duration::from_nanos(nanoseconds as u64)
            });
        });
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).measurement_time(Duration::from_secs(2));
    targets = primitives
}
criterion_main!(benches);
