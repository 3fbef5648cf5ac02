use ash::vk;

use super::*;
use crate::ElementType;

const KEYS: SortConfig = SortConfig::keys(ElementType::U32);

#[test]
fn only_onesweep_prints_the_digit_histogram() {
    let text = |algorithm| {
        let tuned = SortPolicy::tuned(algorithm, &capabilities(), &KEYS);
        let histogram = DigitHistogramShape { copies: 2, ..DigitHistogramShape::PLAIN };
        SortPolicy { histogram, ..tuned }.to_string()
    };
    assert!(text(SortAlgorithm::Onesweep).ends_with("; histogram of digits: 2 × the counters"));
    for algorithm in [SortAlgorithm::Radix8Bit, SortAlgorithm::Radix4Bit] {
        assert!(!text(algorithm).contains("histogram"), "{}", text(algorithm));
    }
}

#[test]
fn senseless_numbers_give_a_policy_that_is_refused_and_no_panic() {
    let capabilities = Capabilities::default();
    let tuned = SortPolicy::tuned(SortAlgorithm::Radix2Bit, &capabilities, &KEYS);
    let huge = SortPolicy { workgroup_size: u32::MAX, ..tuned };
    assert_eq!(huge.tile_items(), u32::MAX);
    for policy in [tuned, huge] {
        assert!(policy.check(&KEYS, &capabilities).is_err());
    }
}

fn capabilities() -> Capabilities {
    Capabilities {
        subgroup_size: 8,
        min_subgroup_size: 8,
        max_subgroup_size: 8,
        max_workgroup_invocations: 1024,
        shared_memory_size: 64 << 10,
        ..Capabilities::default()
    }
}

#[test]
fn a_gpu_chooses_onesweep_and_a_cpu_three_kernels_per_pass() {
    let mut capabilities = Capabilities { subgroup_size: 32, ..capabilities() };
    capabilities.identity.device_type = vk::PhysicalDeviceType::DISCRETE_GPU;
    let chosen = SortPolicy::choose(&capabilities, &KEYS).policy;
    assert_eq!(
        (chosen.algorithm, chosen.ranking),
        (SortAlgorithm::Onesweep, Ranking::Match(Matching::default()))
    );
    assert_eq!(chosen.single_workgroup.map(|shape| shape.tile_items()), Some(4096));
    assert_eq!(chosen.check(&KEYS, &capabilities), Ok(()));
    for (lanes, device_type) in
        [(8, vk::PhysicalDeviceType::INTEGRATED_GPU), (32, vk::PhysicalDeviceType::CPU)]
    {
        capabilities.subgroup_size = lanes;
        capabilities.identity.device_type = device_type;
        assert_eq!(SortPolicy::choose(&capabilities, &KEYS).policy.algorithm, SortAlgorithm::Radix4Bit);
    }
    capabilities.identity.driver_id = vk::DriverId::GOOGLE_SWIFTSHADER;
    let chosen = SortPolicy::choose(&capabilities, &KEYS).policy;
    assert_eq!((chosen.algorithm, chosen.check(&KEYS, &capabilities)), (SortAlgorithm::Radix8Bit, Ok(())));
}

#[test]
fn large_counts_and_striding_workgroups_require_onesweep() {
    let capabilities = capabilities();
    let large = KEYS.large_counts();
    assert_eq!(SortPolicy::choose(&capabilities, &large).policy.algorithm, SortAlgorithm::Onesweep);
    for algorithm in SortAlgorithm::ALL {
        let checked = SortPolicy::tuned(algorithm, &capabilities, &KEYS).check(&large, &capabilities);
        assert_eq!(checked.is_ok(), algorithm == SortAlgorithm::Onesweep, "{algorithm:?}: {checked:?}");
        let tuned = SortPolicy::tuned(algorithm, &capabilities, &KEYS);
        let checked = SortPolicy { max_workgroups: Some(3), ..tuned }.check(&KEYS, &capabilities);
        assert_eq!(checked.is_ok(), algorithm == SortAlgorithm::Onesweep, "{algorithm:?}: {checked:?}");
    }
    let tuned = SortPolicy::tuned(SortAlgorithm::Onesweep, &capabilities, &KEYS);
    // A policy that fits exactly does not fit with 64-bit offsets.
    let tile_size = 4 * tuned.tile_items();
    let tables_size = match_tables_size(8, tuned.workgroup_size, 1);
    let full = Capabilities { shared_memory_size: tile_size.max(16 << 10) + tables_size, ..capabilities };
    assert_eq!(tuned.check(&KEYS, &full), Ok(()));
    assert!(matches!(tuned.check(&large, &full), Err(Error::PolicyExceedsLimits { .. })));
}

#[test]
fn a_ranking_is_refused_with_digits_that_it_does_not_rank() {
    let capabilities = capabilities();
    for algorithm in SortAlgorithm::ALL {
        let tuned = SortPolicy::tuned(algorithm, &capabilities, &KEYS);
        assert_eq!(tuned.check(&KEYS, &capabilities), Ok(()), "{tuned}");
        if algorithm == SortAlgorithm::SingleWorkgroup {
            continue;
        }
        // Small enough for the shared memory of any ranking.
        let small = SortPolicy { workgroup_size: 32, items_per_invocation: 8, ..tuned };
        let takes = |ranking| SortPolicy { ranking, ..small }.check(&KEYS, &capabilities).is_ok();
        assert_eq!(takes(Ranking::Match(Matching::default())), algorithm.radix_bits() == 8, "{algorithm:?}");
        assert_eq!(takes(Ranking::CounterScan), algorithm.radix_bits() <= 4, "{algorithm:?}");
        assert_eq!(takes(Ranking::Ballot(ChunkCounting::Packed)), algorithm.is_of_seed(), "{algorithm:?}");
    }
}

#[test]
fn matched_tiles_assign_every_bin_to_an_invocation() {
    for shared_size in [16, 20, 28, 32, 48, 64, 96].map(|size| size << 10) {
        for lanes in [4, 8, 16, 32, 64] {
            let capabilities = Capabilities {
                min_subgroup_size: lanes,
                max_subgroup_size: lanes,
                shared_memory_size: shared_size,
                ..capabilities()
            };
            let tuned = SortPolicy::tuned(SortAlgorithm::Radix8Bit, &capabilities, &KEYS);
            for config in [KEYS, KEYS.large_counts()] {
                let tuned = SortPolicy::choose(&capabilities, &config).policy;
                let checked = tuned.check(&config, &capabilities);
                assert_eq!(checked, Ok(()), "{shared_size} bytes, {lanes} lanes: {tuned}");
            }
            assert_eq!(
                tuned.check(&KEYS, &capabilities),
                Ok(()),
                "{shared_size} bytes, {lanes} lanes: {tuned}"
            );
        }
    }
    let narrow = Capabilities {
        min_subgroup_size: 16,
        max_subgroup_size: 16,
        shared_memory_size: 32 << 10,
        ..capabilities()
    };
    let tuned = |algorithm| SortPolicy::tuned(algorithm, &narrow, &KEYS).items_per_invocation;
    assert_eq!(tuned(SortAlgorithm::Onesweep), 29);
    // 96 invocations do not divide the 256 bins.
    let tuned = SortPolicy::tuned(SortAlgorithm::Radix8Bit, &capabilities(), &KEYS);
    let uneven = SortPolicy { workgroup_size: 96, items_per_invocation: 8, ..tuned };
    assert!(matches!(uneven.check(&KEYS, &capabilities()), Err(Error::InvalidPolicy { .. })));
}

#[test]
fn the_seed_is_refused_of_other_algorithms_than_its_two() {
    let capabilities = capabilities();
    for algorithm in SortAlgorithm::ALL {
        let checked = SortPolicy::seed(algorithm, &capabilities).check(&KEYS, &capabilities);
        assert_eq!(checked.is_ok(), algorithm.is_of_seed(), "{algorithm:?}: {checked:?}");
    }
}

#[test]
fn the_tile_of_one_workgroup_is_what_it_holds() {
    let shape = TileShape { workgroup_size: 64, items_per_invocation: 12 };
    let tuned = SortPolicy::tuned(SortAlgorithm::SingleWorkgroup, &capabilities(), &KEYS);
    let single = SortPolicy { single_workgroup: Some(shape), ..tuned };
    assert_eq!(single.tile_items(), 768);
    // Another algorithm has the tile of its passes.
    let passes = SortPolicy { algorithm: SortAlgorithm::Radix4Bit, ..single };
    assert_eq!(passes.tile_items(), tuned.workgroup_size * tuned.items_per_invocation);
}
