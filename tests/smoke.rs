use subsweep::headless::*;
use subsweep::scan::*;
use subsweep::sort::*;
#[test]
fn smoke() {
    let gpu = Gpu::open(GpuOptions { validation: true, ..Default::default() }).unwrap();
    eprintln!("{} {} {}", gpu.identity().name, gpu.identity().driver_info, gpu.capabilities().subgroup_size);
    let mut x = 1u32;
    for seed in [false, true] {
    for n in [1usize, 3, 255, 256, 257, 4096, 8191, 8193, 70000, 1 << 20, (1 << 22) + 3] {
        for c in 1..=4 {
            for ex in [false, true] {
                if seed && ex { continue }
            let m = n / c * c;
            let a: Vec<u32> = (0..m).map(|_| { x = x.wrapping_mul(1664525).wrapping_add(1013904223); x }).collect();
            let mut b = a.clone();
            let mut cfg = if ex { ScanConfig::exclusive() } else { ScanConfig::inclusive() };
            if seed { cfg = cfg.policy(ScanPolicy::seed()) }
            let t = std::time::Instant::now();
            gpu.scan(cfg.columns(c as u32), &mut b).unwrap();
            if n > 1000000 { eprintln!("scan {n} {c} {ex} {:?}", t.elapsed()); }
            let mut s = vec![0u32; c];
            for i in 0..m { let before = s[i % c]; s[i % c] = s[i % c].wrapping_add(a[i]); assert_eq!(b[i], if ex { before } else { s[i % c] }, "seed {seed} n {n} c {c} ex {ex} i {i}"); }
            }
        }
        for alg in SortAlgorithm::ALL {
            let a: Vec<u32> = (0..n).map(|_| { x = x.wrapping_mul(1664525).wrapping_add(1013904223); x ^ x >> 13 }).collect();
            let mut b = a.clone();
            let mut e = a.clone();
            e.sort();
            let p = if seed { SortPolicy::seed(alg, gpu.capabilities()) } else { SortPolicy::tuned(alg, gpu.capabilities()) };
            let t = std::time::Instant::now();
            gpu.sort(SortConfig::keys(KeyType::U32).policy(p), &mut b).unwrap();
            if n > 1000000 { eprintln!("sort {n} {alg:?} {:?}", t.elapsed()); }
            assert!(b == e, "sort {n} {alg:?} seed {seed}");
        }
    }
    }
    assert_eq!(gpu.validation_messages(), Vec::<String>::new());
}
