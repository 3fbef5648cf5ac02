//! `tune`: rows of the table from measurements. The ranking itself depends on the device.

use super::*;

/// Runs `tune`.
fn tune<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Ended {
    run(&mut subsweep(["tune"].into_iter().chain(arguments)))
}

/// The report on standard output; the text is on standard error then.
fn reported(ended: &Ended) -> serde_json::Value {
    assert!(ended.code == 0 && ended.stderr.contains("rows for src/primitives/tuning/rows.rs"), "{}", ended.stderr);
    serde_json::from_slice(&ended.stdout).unwrap()
}

/// A search of a few shapes.
fn few<'a>(part: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let tries = ["workgroup=64,128", "items=8,16", "status-stores=0,1"];
    let tries = tries.into_iter().flat_map(|values| ["--try", values]);
    [part, "--count", "4099", "--budget", "60"].into_iter().chain(tries).chain(more.iter().copied()).collect()
}

#[test]
fn a_part_is_searched_and_printed_as_a_row() {
    let ended = tune(few("scan-chained", &[]));
    let text = ended.text();
    assert!(text.contains("rows for src/primitives/tuning/rows.rs"), "{text}");
    assert!(text.contains("// scan-chained of u32: ") && text.contains("elements/s"), "{text}");
    // Only comments and rows may be in the table.
    let code: Vec<_> = text.lines().skip(1).map(str::trim).filter(|line| !line.starts_with("//")).collect();
    let rows = code.iter().filter(|line| !line.is_empty());
    for row in rows {
        assert!(row.starts_with("row(Devices::") && row.ends_with("),"), "{row}");
        assert!(row.contains("&[TunedPart::ChainedScan], KernelShape::"), "{row}");
    }
}

#[test]
fn every_shape_is_reported_and_the_fastest_is_one_of_them() {
    let report = reported(&tune(few("scan-chained", &["--json", "-"])));
    let parts = report["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 1, "{report}");
    let part = &parts[0];
    assert_eq!((&part["part"], &part["element"], &part["count"]), (&"scan-chained".into(), &"u32".into(), &4099.into()));
    let shapes = part["shapes"].as_array().unwrap();
    assert!(shapes.len() >= 5, "{report}");
    let names: Vec<_> = shapes.iter().map(|shape| shape["shape"].as_str().unwrap()).collect();
    assert_eq!(names[0], part["in_use"]);
    assert!(names.contains(&part["fastest"].as_str().unwrap()), "{report}");
    for shape in shapes {
        assert_eq!(shape["outcome"], "measured", "{shape}");
        assert!(shape["median_ns"].as_f64().unwrap() > 0.0, "{shape}");
    }
    let folder = Folder::new();
    let file = folder.file("tune.json", report.to_string());
    run(without_drivers(&mut subsweep(["compare", &file, &file]))).refused(2, "is what tune --json wrote, and no report");
}

/// Parts of different primitives are searched by one command.
#[test]
fn several_parts_are_searched() {
    let arguments =
        ["merge", "search", "histogram", "reduce-by-key", "--quick", "--count", "3000", "--try", "items=4", "--json", "-"];
    let report = reported(&tune(arguments));
    let parts = report["parts"].as_array().unwrap();
    assert_eq!((parts.len(), &report["left_out"], &report["complete"]), (7, &0.into(), &true.into()), "{report}");
    for part in parts {
        assert_eq!(part["shapes"][0]["outcome"], "measured", "{part}");
        assert!(part["row"].as_str().unwrap().starts_with("row(Devices::"), "{part}");
    }
}

/// A search that is cut off keeps what it has found.
#[test]
fn the_report_is_valid_after_each_part() {
    let folder = Folder::new();
    let file = folder.argument("tune.json");
    // The first part has a seventh of the budget, so that the others take seconds.
    let arguments = ["tune", "merge", "search", "histogram", "reduce-by-key", "--quick", "--json", &file];
    kill_once(&mut subsweep(arguments), || folder.path("tune.json").exists());
    let report: serde_json::Value = serde_json::from_slice(&folder.read("tune.json")).unwrap();
    assert_eq!(report["complete"], false, "{report}");
    let searched = report["parts"].as_array().unwrap().len() as u64;
    assert!(searched > 0, "{report}");
    assert_eq!(searched + report["left_out"].as_u64().unwrap(), 7, "{report}");
}

#[test]
fn wrong_uses_are_refused() {
    for (arguments, text) in [
        (&["tune"][..], "<PART>"),
        (&["tune", "copy"], "there is no part copy; name all, a primitive, or of sort-onesweep"),
        (&["tune", "scan", "--values", "4"], "no part of scan is tuned for these keys and values"),
        (&["tune", "sort", "--values", "3"], "values have 0, 4 or 8 bytes"),
        (&["tune", "sort", "--try", "item=3"], "no axis is item; axes are"),
        (&["tune", "sort", "--try", "items=x"], "values are numbers up to 65536"),
        (&["tune", "sort", "--count", "0"], "a number from 1 to 2^30"),
        (&["tune", "sort", "--budget", "0"], "it is a whole number of seconds from 1 to 86400"),
        (&["tune", "sort", "--budget", "0.5"], "it is a whole number of seconds from 1 to 86400"),
        (&["tune", "sort", "--element", "u128"], "invalid value 'u128'"),
        (&["tune", "sort", "--algorithm", "chained"], "tune has no algorithms to choose from"),
        (&["tune", "scan", "--policy", "seed"], "leave out --policy"),
        (&["tune", "scan", "--device", "all"], "tune runs on one device"),
    ] {
        run(&mut subsweep(arguments)).refused(2, text);
    }
}

#[test]
fn shapes_that_no_device_takes_are_refused_with_their_reason() {
    let ended = tune(["scan-chained", "--quick", "--count", "100", "--try", "items=6", "--budget", "20", "--json", "-"]);
    let report: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    let shapes = report["parts"][0]["shapes"].as_array().unwrap();
    let refused: Vec<_> = shapes.iter().filter(|shape| shape["outcome"] == "refused").collect();
    assert!(refused.iter().all(|shape| shape["reason"].is_string()), "{report}");
}

/// A tile of a merge has fewer items where they do not fit: a time of it is none of the shape.
#[test]
fn shapes_that_a_policy_replaces_are_refused() {
    let tries = ["--try", "workgroup=256,1024", "--try", "items=8"];
    let arguments = ["merge", "--count", "100", "--budget", "20", "--json", "-"];
    let report = reported(&tune(arguments.into_iter().chain(tries)));
    let shapes = report["parts"][0]["shapes"].as_array().unwrap();
    let reason = |name| shapes.iter().find(|shape| shape["shape"] == name).map(|shape| &shape["reason"]);
    let replaced = "the policy takes other tiles, or another algorithm".into();
    assert_eq!(reason("1024x8/loads-in-flight1/lanes0"), Some(&replaced), "{report}");
    assert_eq!(shapes[0]["outcome"], "measured", "{report}");
}

/// Without running anything, shapes are ranked by what the compiler makes of them; lavapipe's reports nothing.
#[test]
fn static_searches_need_a_compiler_that_reports() {
    let ended = tune(["scan", "--static", "--quick"]);
    ended.refused(3, "pipeline statistics");
    let several = tune(["scan", "--device", "gpu:apple-m1,gpu:amd-gcn5"]);
    several.refused(2, "tune takes one device");
}

#[test]
fn a_device_that_only_compiles_is_ranked_by_its_compiler() {
    let Some(environment) = found(children::radv()) else { return };
    let tune = |arguments: &[&str]| {
        let tries = ["tune", "--quick", "--try", "workgroup=128,256", "--try", "items=8,16"];
        let mut command = subsweep(tries.iter().chain(arguments));
        command.envs(environment.clone()).env("RADV_FORCE_FAMILY", "navi21");
        run(command.env("MESA_SHADER_CACHE_DISABLE", "true"))
    };
    for part in ["scan-chained", "sort-onesweep", "sort-radix-8bit"] {
        let report = reported(&tune(&["--static", "--budget", "10", "--json", "-", part]));
        assert_eq!(report["clock"], "nothing ran");
        let part = &report["parts"][0];
        let compiled =
            part["shapes"].as_array().unwrap().iter().filter(|shape| shape["outcome"] == "compiled");
        let instructions: Vec<_> = compiled.map(|shape| shape["instructions"].as_f64().unwrap()).collect();
        assert!(instructions.len() >= 2 && instructions.iter().all(|&count| count > 1.0), "{report}");
        let row = part["row"].as_str().unwrap();
        assert!(row.contains("Architecture::AmdRdna") && row.contains("derived: "), "{row}");
    }
    tune(&["scan"]).refused_with_words(3, "is for inspect and tune --static");
}
