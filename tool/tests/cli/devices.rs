//! Properties of devices, and their selection.

use ::subsweep::scan::ScanAlgorithm;

use super::*;

fn device() -> Value {
    let ended = run(&mut subsweep(["devices", "--json"]));
    let devices = ended.json();
    devices[0].clone()
}

#[test]
fn devices_are_listed_for_people_and_for_programs() {
    let device = device();
    assert_eq!(device["index"], 0);
    assert_eq!(device["usable"], true);
    let ended = run(&mut subsweep(["devices", "--device", "0"]));
    let text = ended.text();
    let name = device["name"].as_str().unwrap();
    assert!(text.starts_with(&format!("0: {name}\n")), "{text}");
    // The heading, a dozen rows, and those that are wrapped.
    assert!(text.lines().count() <= 15 && !text.contains("policy"), "{text}");
    for field in ["device_uuid", "api_version"] {
        assert!(text.contains(device[field].as_str().unwrap()), "{field}: {text}");
    }
    for field in ["id", "name", "version"] {
        assert!(text.contains(device["driver"][field].as_str().unwrap()), "driver.{field}: {text}");
    }
    let workarounds = device["workarounds"].as_array().unwrap();
    let names: Vec<_> = workarounds.iter().map(|name| name.as_str().unwrap()).collect();
    let expected = if names.is_empty() { vec!["none known"] } else { names };
    assert!(expected.iter().all(|name| text.contains(name)), "{expected:?}: {text}");
    for label in ["subgroups", "workarounds", "workgroups", "memory", "features", "self-test"] {
        assert!(text.contains(label), "{label}: {text}");
    }
    let policies = &device["policies"];
    assert!(policies["scan"]["policy"].as_str().unwrap().starts_with("reduce-then-scan: "), "{policies}");
    // The choice depends on the device.
    let apart = policies["scan_out_of_place"]["policy"].as_str().unwrap();
    assert!(apart.starts_with("chained: ") || apart.starts_with("reduce-then-scan: "), "{policies}");
    for (name, start) in [
        ("sort", ""),
        ("segmented_sort", ""),
        ("select", ""),
        ("histogram", "histogram: workgroup "),
        ("reduce", "reduce: workgroup 128"),
        ("search", "search: workgroup "),
        ("merge", "merge: workgroup "),
        ("difference", "difference: workgroup "),
        ("top_k", "top-k: tiles"),
    ] {
        assert!(policies[name]["policy"].as_str().unwrap().starts_with(start), "{name}: {policies}");
    }
    assert!(policies["select"]["policy"].as_str().unwrap().contains("items per invocation"), "{policies}");
    for (name, policy) in policies.as_object().unwrap() {
        assert!(policy["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{name}: {policies}");
    }
    assert!(device["limits"]["shared_memory_size"].as_u64().unwrap() >= 16 << 10);
    assert!(device["subgroups"]["operations"].as_array().unwrap().contains(&"arithmetic".into()));
}

/// Each value begins in the same column, two or more spaces after the longest label.
#[test]
fn policies_are_printed_on_request_beside_their_labels() {
    let ended = run(&mut subsweep(["devices", "--device", "0", "--policies"]));
    let text = ended.text();
    let reasons: Vec<_> = text.lines().filter_map(|line| line.find("because ")).collect();
    let policies = device()["policies"].as_object().unwrap().len();
    assert_eq!(reasons.len(), policies, "{text}");
    let column = reasons[0];
    assert!(reasons.iter().all(|&at| at == column), "{text}");
    assert!(text.lines().skip(1).all(|line| line[..column].ends_with("  ")), "{text}");
    assert!(text.contains("run length policy  run length: "), "{text}");
    assert!(text.contains("select policy"), "{text}");
}

#[test]
fn the_policy_of_the_options_is_printed() {
    let ended = run(&mut subsweep(["devices", "--algorithm", "radix-2bit", "--policy", "seed", "--json"]));
    let devices: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let policies = &devices[0]["policies"];
    assert!(
        policies["sort"]["policy"].as_str().unwrap().starts_with("radix-2bit: workgroup 32"),
        "{policies}"
    );
    assert!(policies["scan"]["policy"].as_str().unwrap().ends_with("sums in last row"), "{policies}");
    let ended = run(&mut subsweep(["devices", "--device", "0", "--policy", "seed"]));
    let text = ended.text();
    assert!(text.contains("scan policy"), "{text}");
}

#[test]
fn a_device_is_selected_by_index_name_uuid_or_driver() {
    let device = device();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (name, uuid, driver) =
        (text(&device["name"]), text(&device["device_uuid"]), text(&device["driver"]["name"]));
    let selectors = [
        " 0 ".into(),
        "0".into(),
        name.to_uppercase(),
        name[1..4].to_owned(),
        format!("uuid:{uuid}"),
        format!("uuid:{}", uuid.replace('-', "")),
        format!("driver:{}", driver.to_lowercase()),
    ];
    for selector in selectors {
        let mut command = subsweep(["scan", "-", "--type", "u32", "--device", &selector]);
        let ended = run_with(&mut command, &bytes(&[5, 7]));
        assert!(ended.stderr.contains(&name), "{}", ended.stderr);
        assert_eq!(words(&ended.done()), [5, 12]);
    }
    let ended = run(&mut subsweep(["devices", "--device", &name]));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    run(&mut subsweep(["devices", "--device", "99"])).refused(3, "no Vulkan device matches '99'; found: 0 (");
}

#[test]
fn the_environment_names_a_device_and_an_option_wins() {
    let with = |value: &str, arguments: &[&str]| run(subsweep(arguments).env("SUBSWEEP_DEVICE", value));
    let refused = with("99", &["devices"]);
    refused.refused(3, "matches '99'");
    assert!(refused.stderr.ends_with("; it is named in SUBSWEEP_DEVICE\n"), "{}", refused.stderr);
    let refused = with("", &["devices", "--device", "99"]);
    assert!(!refused.stderr.contains("SUBSWEEP_DEVICE"), "{}", refused.stderr);
    with("gpu:voodoo", &["devices"])
        .refused(2, "invalid value 'gpu:voodoo' for 'SUBSWEEP_DEVICE': there is no");
    with("0", &["devices", "--device", "gpu:voodoo"]).refused(2, "'gpu:voodoo' for '--device': there is no");
    with("gpu:apple-m1,gpu:amd-gcn5", &["tune", "scan"])
        .refused(2, "and SUBSWEEP_DEVICE lists several; name one");
    assert_eq!(with("99", &["devices", "--device", "0"]).code, 0);
    assert_eq!(with("99", &["--device", "0", "devices"]).code, 0);
    assert_eq!(with("", &["devices"]).code, 0);
    assert_eq!(with("all", &["devices"]).code, 0);
}

#[test]
fn algorithms_are_listed_with_or_without_a_command() {
    let positions: [&[&str]; 5] = [
        &["--list-algorithms"],
        &["scan", "--list-algorithms"],
        &["--list-algorithms", "sort"],
        &["sort", "keys.npy", "--list-algorithms"],
        &["bench", "--list-algorithms"],
    ];
    for arguments in positions {
        let ended = run(without_drivers(&mut subsweep(arguments)));
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{arguments:?}");
        let text = String::from_utf8(ended.stdout).unwrap();
        let line = |name: &str| text.lines().find(|line| line.split_whitespace().next() == Some(name));
        for name in ["radix-4bit", "radix-2bit"] {
            assert!(line(name).is_some(), "{text}");
        }
        for algorithm in ScanAlgorithm::ALL {
            let line = line(algorithm.name()).unwrap_or_else(|| panic!("{algorithm}: {text}"));
            assert!(line.contains(" bytes") && line.contains(" dispatch"), "{line}");
        }
    }
}

#[test]
fn help_names_every_command_and_code() {
    let ended = run(without_drivers(&mut subsweep(["--help"])));
    let text = ended.text();
    let commands = ["devices", "scan", "sort", "verify", "bench", "compare", "inspect", "tune"];
    for word in commands.into_iter().chain(["Examples:", "Exit codes:", "SUBSWEEP_DEVICE"]) {
        assert!(text.contains(word), "{word}: {text}");
    }
    let ended = run(&mut subsweep(["--version"]));
    assert_eq!(ended.stdout, format!("subsweep {}\n", env!("CARGO_PKG_VERSION")).as_bytes());
}

/// lavapipe can be configured to subgroups of two lanes, which the kernels do not support.
#[test]
fn a_device_with_too_few_lanes_is_listed_and_refused() {
    let two_lanes = |arguments: &[&str]| {
        let mut command = subsweep(arguments);
        command.env("LP_NATIVE_VECTOR_WIDTH", "64").env("MESA_SHADER_CACHE_DISABLE", "true");
        run(&mut command)
    };
    let listed = two_lanes(&["devices", "--json", "--device", "driver:llvmpipe"]);
    if listed.code == 3 {
        eprintln!("SKIPPED: no lavapipe, whose lanes can be chosen");
        return;
    }
    let devices: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(devices[0]["usable"], false);
    assert_eq!(devices[0]["reason"], "it lacks subgroups of 4 to 128 lanes (it has 2)");
    let folder = Folder::new();
    let input = folder.file("keys", bytes(&[3, 1, 2]));
    two_lanes(&["sort", &input, "--type", "u32", "--device", "driver:llvmpipe"]).refused(3, "4 to 128 lanes");
}

/// Mesa's shader cache for another vector width has a folder of its own, for commands that run drivers, unless the user
/// disables it.
#[test]
fn a_shader_cache_is_made_where_drivers_compile_for_another_width() {
    let made = |arguments: &[&str]| {
        let folder = Folder::new();
        let mut command = subsweep(arguments);
        command.env("SUBSWEEP_CACHE", folder.path("")).env("LP_NATIVE_VECTOR_WIDTH", "256");
        command.env_remove("MESA_SHADER_CACHE_DIR").env_remove("MESA_SHADER_CACHE_DISABLE");
        let ended = run(&mut command);
        assert_eq!(folder.path("shaders/256").is_dir(), !folder.names().is_empty(), "{:?}", folder.names());
        (ended.code, folder.names())
    };
    let nothing = Vec::<String>::new();
    assert_eq!(made(&["--version"]), (0, nothing.clone()));
    assert_eq!(made(&["--list-algorithms"]), (0, nothing.clone()));
    assert_eq!(made(&["verify", "--no-such-option"]), (2, nothing.clone()));
    assert_eq!(made(&["compare", "no-such-report.json"]), (2, nothing.clone()));
    let devices = ["devices", "--device", "driver:llvmpipe"];
    assert_eq!(made(&devices).1, ["shaders"]);
    assert_eq!(made(&[&devices[..], &["--no-pipeline-cache"]].concat()).1, nothing);
}

/// lavapipe with vectors of 1024 bits reports 32 lanes; the last 16 are broken.
#[test]
fn a_broken_driver_fails_its_self_test() {
    let mut command = subsweep(["devices", "--json", "--device", "driver:llvmpipe"]);
    command.env("LP_NATIVE_VECTOR_WIDTH", "1024").env("MESA_SHADER_CACHE_DISABLE", "true");
    let listed = run(&mut command);
    if listed.code == 3 {
        eprintln!("SKIPPED: no lavapipe, which can be broken");
        return;
    }
    let devices: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let verdict = devices[0]["self_test"].as_str().unwrap();
    assert!(verdict.starts_with("FAILED: "), "{verdict}");
    assert!(devices[0]["workarounds"].as_array().unwrap().contains(&"LANES_END_AT_16".into()));
    assert_eq!(device()["self_test"], "passed");

    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("keys.bin"), folder.path().join("sorted.bin"));
    std::fs::write(&input, [3u32, 1, 2].map(u32::to_le_bytes).concat()).unwrap();
    let mut command = subsweep(["sort", "--type", "u32", "--device", "driver:llvmpipe", "-o"]);
    command.arg(&output).arg(&input).env("LP_NATIVE_VECTOR_WIDTH", "1024");
    let sorted = run(command.env("MESA_SHADER_CACHE_DISABLE", "true"));
    let words = sorted.stderr;
    assert_eq!((sorted.code, words.lines().count()), (3, 1), "{words}");
    assert!(words.contains("FAILED: ") && !output.exists(), "{words}");
}
