use super::*;
use crate::harness::Description;
use crate::harness::inputs::SplitMix64;
use subsweep::device::Capabilities;

/// Samples around `median_ns` with a relative spread of `spread`.
fn samples(median_ns: f64, spread: f64, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64(seed);
    let mut draw = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    (0..30).map(|_| median_ns * (1.0 + spread * draw())).collect()
}

fn measured(id: &str, samples_ns: Vec<f64>, copy_ns: f64) -> Measurement {
    let measurement = Measurement {
        id: id.into(),
        group: id.into(),
        policy: "as it is".into(),
        element_count: 3,
        element_size: 4,
        traffic_size: 24,
        runs_per_sample: 1,
        steady: true,
        samples_ns,
        copy_samples_ns: vec![copy_ns; 6],
        ..Measurement::default()
    };
    measurement.with_summaries()
}

fn report(measured: Vec<Measurement>) -> Report {
    let device = DeviceReport {
        name: "device".into(),
        description: Description::new(&Capabilities::default(), 64),
        gpu_timestamps: true,
        cold_cache: false,
        self_test: None,
        verified: Vec::new(),
        measured,
    };
    Report { devices: vec![device], ..Report::new(Vec::new()) }
}

fn compare(base: &Report, new: &Report) -> Comparison {
    let section = |title, report| Section { title, report, device: &report.devices[0] };
    Comparison::new(section("base", base), section("new", new), 5.0)
}

/// The verdict on times scaled by `factor`, with copies scaled by `drift`.
fn verdict(factor: f64, spread: f64, drift: f64) -> Verdict {
    let base = report(vec![measured("a:b:c=1", samples(1e6, spread, 1), 100.0)]);
    let new = report(vec![measured("a:b:c=1", samples(factor * 1e6, spread, 2), drift * 100.0)]);
    compare(&base, &new).cases[0].verdict
}

#[test]
fn verdicts_follow_from_intervals() {
    for (factor, spread, expected) in [
        (1.0, 0.01, Verdict::Same),
        (1.02, 0.01, Verdict::Same),
        (1.2, 0.1, Verdict::Slower),
        (0.8, 0.1, Verdict::Faster),
        (1.05, 0.1, Verdict::Ambiguous),
        (1.0, 1.0, Verdict::Ambiguous),
    ] {
        assert_eq!(verdict(factor, spread, 1.0), expected, "{factor} {spread}");
    }
}

/// Too few samples are ambiguous even if they agree.
#[test]
fn few_samples_have_no_verdict() {
    let of = |factor: f64, block_lengths: &[u32]| {
        let samples = vec![factor * 1e6; block_lengths.iter().sum::<u32>() as usize];
        report(vec![Measurement {
            block_lengths: block_lengths.to_vec(),
            ..measured("a:b:c=1", samples, 100.0)
        }])
    };
    for (block_lengths, expected) in
        [(&[1; 6][..], Verdict::Slower), (&[1; 5], Verdict::Ambiguous), (&[20], Verdict::Ambiguous)]
    {
        let comparison = compare(&of(1.0, &[1; 10]), &of(2.0, block_lengths));
        assert_eq!(comparison.cases[0].verdict, expected, "{block_lengths:?}");
        assert_eq!(comparison.groups[0].verdict, expected, "{block_lengths:?}");
        assert_eq!(comparison.regressions(10.0).count(), usize::from(expected == Verdict::Slower));
    }
}

#[test]
fn machine_drift_gives_no_verdict() {
    assert_eq!(verdict(1.2, 0.01, 1.2), Verdict::Ambiguous);
    assert_eq!(verdict(0.8, 0.01, 0.8), Verdict::Ambiguous);
    // Slower by more than the drift.
    assert_eq!(verdict(1.4, 0.01, 1.2), Verdict::Slower);
    assert_eq!(verdict(1.2, 0.01, 0.9), Verdict::Slower);
}

#[test]
fn copies_of_one_case_are_no_verdict_on_others() {
    let copies = [80.0, 100.0, 100.0, 100.0, 200.0];
    let all = |factor: f64, copies: [f64; 5]| {
        let case = |(seed, ns)| measured(&format!("a:b:c={seed}"), samples(factor * 1e6, 0.01, seed), ns);
        report((0..).zip(copies).map(case).collect())
    };
    let comparison = compare(&all(1.0, [100.0; 5]), &all(1.2, copies));
    assert_eq!(comparison.drift, Some(1.0));
    assert!(comparison.cases.iter().all(|case| case.verdict == Verdict::Slower), "{:?}", comparison.cases);
}

/// Ten cases together are significant where none is alone.
#[test]
fn a_group_is_significant_where_its_cases_are_not() {
    let all = |factor: f64, seed| {
        let case = |at| measured(&format!("a:b:c={at}"), samples(factor * 1e6, 0.6, seed + at), 100.0);
        report((0..10u64).map(case).collect())
    };
    let comparison = compare(&all(1.0, 1), &all(1.2, 100));
    let group = &comparison.groups[0];
    assert!(group.verdicts.get(&Verdict::Ambiguous).is_some_and(|&count| count >= 3), "{group:?}");
    assert_eq!(group.verdict, Verdict::Slower);
    let [low, high] = group.ratio_interval;
    assert!(low <= group.geometric_mean_ratio && group.geometric_mean_ratio <= high, "{group:?}");
    assert_ne!(compare(&all(1.0, 1), &all(1.0, 100)).groups[0].verdict, Verdict::Slower);
}

/// All cases together are significant where no group is.
#[test]
fn all_cases_are_significant_where_groups_are_not() {
    let all = |factor: f64, seed| {
        let names = (0..5u64).flat_map(|group| (0..6u64).map(move |at| format!("{group}:b:c={at}")));
        let case = |(at, name): (u64, String)| measured(&name, samples(factor * 1e6, 0.8, seed + at), 100.0);
        report((0..).zip(names).map(case).collect())
    };
    let comparison = compare(&all(1.0, 1), &all(1.2, 100));
    assert!(comparison.groups.iter().any(|group| group.verdict == Verdict::Ambiguous), "{comparison:?}");
    let overall = comparison.overall.as_ref().unwrap();
    assert_eq!(overall.verdict, Verdict::Slower, "{overall:?}");
    assert_eq!(overall.verdicts.values().sum::<u32>(), 30);
    assert_eq!(comparison.rows().count(), 6);
    assert!(comparison.regressed_rows(10.0).any(|row| row.name == "all"), "{comparison:?}");
    assert!(comparison.regressed_rows(40.0).next().is_none(), "{comparison:?}");
    assert_ne!(compare(&all(1.0, 1), &all(1.0, 100)).overall.unwrap().verdict, Verdict::Slower);
    assert_eq!(compare(&report(Vec::new()), &report(Vec::new())).overall, None);
}

#[test]
fn another_driver_or_cold_caches_are_to_blame_for_their_copies() {
    let base = report(vec![measured("a:b:c=1", samples(1e6, 0.01, 1), 100.0)]);
    let mut new = report(vec![measured("a:b:c=1", samples(1.2e6, 0.01, 2), 120.0)]);
    new.devices[0].description.driver.info = "2".into();
    let comparison = compare(&base, &new);
    assert_eq!((comparison.drift, comparison.cases[0].verdict), (None, Verdict::Slower));
    let difference = Difference { what: "driver info".into(), base: String::new(), new: "2".into() };
    assert_eq!(comparison.differences, [difference]);

    let mut cold = report(vec![measured("a:b:c=1", samples(1.2e6, 0.01, 2), 120.0)]);
    cold.devices[0].cold_cache = true;
    let comparison = compare(&base, &cold);
    assert_eq!((comparison.drift, &comparison.differences[0].what[..]), (None, "caches"));
}

#[test]
fn runs_of_the_same_build_rarely_differ() {
    let noisy = |seed| {
        let cases =
            (0..100u64).map(|case| measured(&format!("a:b:c={case}"), samples(1e6, 0.3, seed + case), 100.0));
        report(cases.collect())
    };
    let comparison = compare(&noisy(0), &noisy(1000));
    let wrong =
        comparison.cases.iter().filter(|case| matches!(case.verdict, Verdict::Faster | Verdict::Slower));
    assert!(wrong.count() <= 5);
}

#[test]
fn cases_are_grouped_and_those_of_one_side_are_named() {
    let case = |id, ns| measured(id, vec![ns; 10], 100.0);
    let base = report(vec![
        case("a:b:c=1", 100.0),
        case("a:b:c=2", 100.0),
        case("d:e=1", 100.0),
        case("x:y=1", 1.0),
    ]);
    let new =
        report(vec![case("a:b:c=1", 50.0), case("d:e=1", 100.0), case("a:b:c=2", 200.0), case("z:y=1", 1.0)]);
    let comparison = compare(&base, &new);
    let ids: Vec<_> = comparison.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["a:b:c=1", "a:b:c=2", "d:e=1"]);
    let [group, other] = &comparison.groups[..] else { panic!("{:?}", comparison.groups) };
    assert_eq!((group.name.as_str(), other.name.as_str()), ("a:b", "d"));
    assert!((group.geometric_mean_ratio - 1.0).abs() < 1e-12, "{}", group.geometric_mean_ratio);
    assert_eq!(group.verdicts, BTreeMap::from([(Verdict::Faster, 1), (Verdict::Slower, 1)]));
    assert_eq!(comparison.only_in_base, ["x:y=1"]);
    assert_eq!(comparison.only_in_new, ["z:y=1"]);
    let regressions: Vec<_> = comparison.regressions(50.0).map(|case| case.id.as_str()).collect();
    assert_eq!(regressions, ["a:b:c=2"]);
    assert!(comparison.regressions(150.0).next().is_none());
}

#[test]
fn differing_policies_and_kernels_are_listed() {
    let base = report(vec![measured("a:b:c=1", vec![1.0; 10], 1.0)]);
    let mut new = base.clone();
    new.devices[0].measured[0].policy = "otherwise".into();
    *new.tool.kernels.values_mut().next().unwrap() = "0".into();
    let whats: Vec<_> = compare(&base, &new).differences.into_iter().map(|found| found.what).collect();
    assert_eq!(whats, ["1 kernel", "policy of 1 case"]);
}

#[test]
fn ratios_are_numbers_whatever_a_report_holds() {
    let ends = [vec![f64::MAX; 10], [vec![f64::MIN_POSITIVE; 7], vec![0.0; 3]].concat()];
    for (base, new) in [(0, 1), (1, 0), (0, 0), (1, 1)] {
        let [base, new] =
            [base, new].map(|end: usize| report(vec![measured("a:b=1", ends[end].clone(), 1.0)]));
        let json = serde_json::to_string(&compare(&base, &new)).unwrap();
        assert!(!json.contains("null"), "{json}");
    }
}

#[test]
fn devices_are_paired_by_identity() {
    let device = |uuid: &str, driver: &str| {
        let mut device = report(Vec::new()).devices.remove(0);
        device.description.device_uuid = uuid.into();
        device.description.driver.id = driver.into();
        device
    };
    let [a, b, c, d] =
        [device("1", "LAVAPIPE"), device("2", "SWIFTSHADER"), device("3", "LAVAPIPE"), device("4", "RADV")];
    assert_eq!(pair_devices(&[&a, &b], &[&b, &a]), [[1, 0], [0, 1]]);
    assert_eq!(pair_devices(&[&a, &b], &[&b, &c]), [[1, 0], [0, 1]]);
    assert_eq!(pair_devices(&[&a], &[&d]), [[0, 0]]);
    assert_eq!(pair_devices(&[&a], &[&d, &a]), [[0, 1]]);
    assert!(pair_devices(&[], &[&a]).is_empty());
}
