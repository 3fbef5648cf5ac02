//! `tune`: rows of tables from measurements. The ranking itself depends on the device.

use ::subsweep::harness::TunedAxes;

use super::*;

/// Runs `tune`.
fn tune<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Ended {
    run(&mut subsweep(["tune"].into_iter().chain(arguments)))
}

const SCAN: [&str; 10] =
    ["scan", "--count", "4099", "--workgroup", "64,128", "--items", "8,16", "--rounds", "2", "--quick"];

#[test]
fn scans_are_swept_and_printed_as_rows() {
    let ended = tune(SCAN);
    let text = ended.text();
    // Only comments and rows may be in a table.
    let code: Vec<_> = text.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
    let tunings = code.iter().filter(|line| line.starts_with("ScanTuning { workgroup_size: ")).count();
    let rows = code.iter().filter(|line| **line == "(").count();
    assert!(tunings == rows && (1..=4).contains(&rows), "{text}");
    assert!(text.contains("0 wrong, 0 refused") && text.contains("elements/s"), "{text}");
    assert!(text.contains("// 1: ") && text.contains("src/primitives/scan/tuning.rs"), "{text}");
}

#[test]
fn scans_are_ranked_by_their_share_of_the_copy() {
    let report = tune(SCAN.into_iter().chain(["--json", "--rows", "4"])).json();
    assert_eq!((&report["primitive"], report["wrong"].as_array().unwrap().len()), (&"scan".into(), 0));
    let rows = report["rows"].as_array().unwrap();
    // Four shapes, and the table's current one.
    assert!((4..=5).contains(&rows.len()), "{report}");
    let percents: Vec<_> = rows.iter().map(|row| row["score"].as_f64().unwrap()).collect();
    assert!(percents.is_sorted_by(|a, b| a >= b), "{percents:?}");
    assert_eq!(rows.iter().filter(|row| row["is_current"] == true).count(), 1, "{report}");
    for row in rows {
        let best = &row["best"][0];
        assert_eq!((&best["element"], &best["count"]), (&"u32".into(), &4099.into()));
        let seconds = best["median_ns"].as_f64().unwrap() / 1e9;
        let rate = best["elements_per_second"].as_f64().unwrap();
        assert!((rate * seconds / 4099.0 - 1.0).abs() < 1e-6, "{best}");
        // Figures of the other algorithm.
        assert_eq!(row["others"].as_array().unwrap().len(), 1, "{row}");
        assert!(row["row"].as_str().unwrap().contains("ScanTuning { workgroup_size: "), "{row}");
    }
}

#[test]
fn sorts_are_swept_and_printed_with_items_for_each_kind_of_keys() {
    let arguments = "sort --algorithm radix-4bit --count 3000 --element u32,u64 --values 0,4 --workgroup 64 --items 4,8,10 --rounds 1 --rows 2 --json".split(' ');
    let report = tune(arguments).json();
    let rows = report["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["is_current"] == false).expect("a row of 64 invocations");
    let measured: Vec<_> = row["best"].as_array().unwrap().iter().collect();
    let kinds: Vec<_> = measured
        .iter()
        .map(|one| (one["element"].as_str().unwrap(), one["value_size"].as_u64().unwrap()))
        .collect();
    assert_eq!(kinds, [("u32", 0), ("u32", 4), ("u64", 0), ("u64", 4)]);
    let items = |at: usize| {
        let policy: &str = measured[at]["policy"].as_str().unwrap();
        let (before, _) = policy.split_once(" items per invocation").expect(policy);
        before.rsplit(' ').next().unwrap().parse::<u32>().unwrap()
    };
    let text = row["row"].as_str().unwrap();
    let [keys, pairs, long_keys, long_pairs] = [0, 1, 2, 3].map(items);
    assert!(text.contains("algorithm: SortAlgorithm::Radix4Bit,"), "{text}");
    assert!(text.contains(&format!("counted: Some((64, [[{keys}, {pairs}, ")), "{text}");
    assert!(text.contains(&format!(", [{long_keys}, {long_pairs}, ")), "{text}");
    assert!(text.contains("items of other keys and values not tried"), "{text}");
    // Ten keys are not a multiple of four: refused with and without exchange on the first kind, and for each row on
    // others.
    let refused = report["refused"].as_array().unwrap();
    assert_eq!(refused.len(), 1, "{report}");
    assert!(refused[0]["reason"].as_str().unwrap().contains("a multiple of 4"), "{report}");
    assert!(refused[0]["count"].as_u64().unwrap() >= 2, "{report}");
}

#[test]
fn invalid_arguments_are_refused_before_a_device_is_opened() {
    for (arguments, what) in [
        (&["tune"][..], "<PRIMITIVE>"),
        (&["tune", "copy"], "invalid value 'copy'"),
        (&["tune", "scan", "--values", "4"], "a scan has no values"),
        (&["tune", "sort", "--values", "3"], "values have 0, 4 or 8 bytes"),
        (&["tune", "sort", "--items", "0"], "0 is not in 1..=1024"),
        (&["tune", "sort", "--workgroup", "0"], "0 is not in 1..=65536"),
        (&["tune", "sort", "--count", "0"], "a number from 1 to 2^30"),
        (&["tune", "sort", "--rounds", "0"], "0 is not in 1..=1000"),
        (&["tune", "sort", "--element", "u128"], "invalid value 'u128'"),
        (&["tune", "sort", "--quick", "--full"], "cannot be used with"),
        (&["tune", "sort", "--algorithm", "chained"], "chained is the algorithm of a scan"),
        (&["tune", "sort", "--algorithm", "single-workgroup"], "no row of the table has single-workgroup"),
        (&["tune", "scan", "--algorithm", "strided"], "no row of the table has strided"),
        (&["tune", "scan", "--policy", "seed"], "leave out --policy"),
        (&["tune", "scan", "--device", "all"], "tune runs on one device"),
        (&["tune", "sort", "--static", "--rounds", "2"], "nothing runs; leave out --rounds"),
        (&["tune", "scan", "--static", "--count", "64,128"], "give --count one number at most"),
        (&["tune", "sort", "--device", "gpu:apple-m1", "--rounds", "2"], "nothing runs; leave out --rounds"),
    ] {
        run(without_drivers(&mut subsweep(arguments))).refused(2, what);
    }
}

#[test]
fn invalid_shapes_are_refused_with_the_reason() {
    tune(["scan", "--quick", "--count", "100", "--items", "6", "--algorithm", "chained"])
        .refused(2, "none of the shapes of --items: the policy does not fit: ");
    // The table's current shape is kept for comparison.
    let ended = tune(["scan", "--quick", "--count", "100", "--items", "6,16", "--algorithm", "chained"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let text = String::from_utf8(ended.stdout).unwrap();
    assert!(text.contains("3 refused: ") && text.contains("as it is now"), "{text}");
}

#[test]
fn a_device_that_only_compiles_is_ranked_by_its_compiler() {
    let Some(environment) = found(children::radv()) else { return };
    let tune = |arguments: &[&str]| {
        let shapes = ["tune", "sort", "--workgroup", "128,256", "--items", "8,16", "--quick", "--json"];
        let mut command = subsweep(shapes.iter().chain(arguments));
        command.envs(environment.clone()).env("RADV_FORCE_FAMILY", "navi21");
        run(command.env("MESA_SHADER_CACHE_DISABLE", "true"))
    };
    let report = tune(&["--static", "--algorithm", "onesweep"]).json();
    assert_eq!((&report["clock"], &report["wrong"]), (&"nothing ran".into(), &json!([])));
    // Two workgroup sizes, two numbers of items and four rankings, and the table's current shape.
    assert_eq!(report["tried"], 17);
    let rows = report["rows"].as_array().unwrap();
    let mut last = f64::INFINITY;
    for row in rows {
        let (best, score) = (&row["best"][0], row["score"].as_f64().unwrap());
        let instructions = best["instructions"].as_f64().unwrap();
        let fit = best["workgroups"].as_u64().unwrap().clamp(1, 2) as f64;
        assert!((score * instructions * 2.0 / fit - 1.0).abs() < 1e-9, "{row}");
        assert!(score <= last && instructions > 20.0, "{report}");
        assert!(row["row"].as_str().unwrap().contains("architecture: Architecture::AmdRdna,"), "{row}");
        assert!(row["row"].as_str().unwrap().contains("derived: "), "{row}");
        last = score;
    }
    assert_eq!(rows.iter().filter(|row| row["is_current"] == true).count(), 1);
    for algorithm in TunedAxes::SORTS.map(|algorithm| algorithm.name()) {
        let report = tune(&["--static", "--algorithm", algorithm]).json();
        assert!(report["tried"].as_u64().unwrap() >= 4, "{report}");
        assert_eq!(
            (&report["refused"], &report["rows"][0]["best"][0]["algorithm"]),
            (&json!([]), &json!(algorithm))
        );
    }
    tune(&[]).refused(3, "is for inspect and tune --static");
}

#[test]
fn options_without_a_valid_shape_are_an_error_of_usage() {
    for (primitive, options, words) in [
        (
            "scan",
            &["--workgroup", "8192"][..],
            "none of the shapes of --workgroup: more invocations in a workgroup than the device's ",
        ),
        (
            "sort",
            &["--workgroup", "8192", "--items", "8"],
            "none of the shapes of --workgroup and --items: more inv",
        ),
    ] {
        let ended = run(&mut subsweep(["tune", primitive, "--count", "1024"].iter().chain(options)));
        ended.refused(2, words);
        assert!(ended.stderr.ends_with("; give other numbers\n"), "{}", ended.stderr);
    }
}

#[test]
fn drivers_without_statistics_are_refused() {
    let ended = tune(["scan", "--static", "--quick"]);
    ended.refused(3, "pipeline");
    let several = tune(["scan", "--device", "gpu:apple-m1,gpu:amd-gcn5"]);
    several.refused(2, "tune takes one device");
}
