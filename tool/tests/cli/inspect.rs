//! `inspect`: statistics of the kernels. RADV compiles for a GPU that is not installed; drivers of the CPU report none.

use super::*;

/// Runs `inspect` with only one driver, unless it is missing.
fn inspect<'a>(environment: Environment, arguments: impl IntoIterator<Item = &'a str>) -> Option<Ended> {
    let mut command = subsweep(["inspect"].into_iter().chain(arguments));
    Some(run(command.envs(found(environment)?).env("MESA_SHADER_CACHE_DISABLE", "true")))
}

/// RADV for RDNA 2.
fn radv() -> Environment {
    let mut environment = children::radv()?;
    environment.push(("RADV_FORCE_FAMILY", "navi21".into()));
    Ok(environment)
}

#[test]
fn registers_are_reported_without_hardware() {
    let Some(ended) = inspect(radv(), ["--json"]) else { return };
    let devices = ended.json();
    let [device] = &devices.as_array().unwrap()[..] else { panic!("{devices}") };
    assert_eq!(device["index"], 0);
    assert!(device["reason"].is_null(), "{}", device["reason"]);
    assert_eq!(device["driver"]["id"], "MESA_RADV");
    assert_eq!(device["not_supported"], json!([]));
    let pipelines = device["pipelines"].as_array().unwrap();
    let mut keys = Vec::new();
    for pipeline in pipelines {
        let number =
            |name: &str| pipeline["summary"][name].as_u64().unwrap_or_else(|| panic!("{name}: {pipeline}"));
        for name in ["registers", "scalar_registers", "occupancy", "code_size", "instructions", "latency"] {
            assert!(number(name) > 0, "{name}: {pipeline}");
        }
        assert_eq!((number("spills"), number("scratch_size")), (0, 0), "{pipeline}");
        assert!([32, 64].contains(&pipeline["lanes"].as_u64().unwrap()), "{pipeline}");
        let statistics = pipeline["executables"][0]["statistics"].as_array().unwrap();
        let statistic = statistics.iter().find(|statistic| statistic["name"] == "VGPRs").unwrap();
        assert_eq!(statistic["value"].as_u64(), Some(number("registers")), "{pipeline}");
        keys.push((&pipeline["kernel"], &pipeline["specialization"], &pipeline["lanes"]));
    }
    for kernel in ["sort/onesweep", "sort/single_workgroup", "sort/chunk_count", "sort/classify"] {
        let is_seeds = kernel == "sort/chunk_count";
        let is_there = keys.iter().any(|(name, ..)| name.as_str().unwrap().starts_with(kernel));
        assert_eq!(is_there, !is_seeds, "{kernel}: {keys:?}");
    }
    for kernel in ["scan/reduce", "scan/downsweep", "scan/chained", "scan/strided"] {
        assert!(
            keys.iter().any(|(name, ..)| name.as_str().unwrap().starts_with(kernel)),
            "{kernel}: {keys:?}"
        );
    }
    let count = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), count, "pipelines come twice");
}

#[test]
fn a_table_has_a_heading_and_a_line_about_spills() {
    let Some(ended) = inspect(radv(), ["--algorithm", "block-doubling"]) else { return };
    let text = ended.text();
    let lines: Vec<_> = text.lines().collect();
    assert!(
        lines[0].starts_with("0: ") && lines[0].contains("NAVI21") && lines[0].contains(", driver "),
        "{text}"
    );
    for heading in ["kernel", "lanes", "registers", "spills", "occupancy", "code", "shared", "specialization"]
    {
        assert!(lines[1].contains(heading), "{heading}: {text}");
    }
    let rows = &lines[2..lines.len() - 1];
    assert!(rows.iter().all(|row| row.trim_start().starts_with("scan/double_blocks")), "{text}");
    assert_eq!(*lines.last().unwrap(), format!("  {} pipelines: no pipeline spills", rows.len()), "{text}");
}

#[test]
fn pipelines_of_the_seed_are_inspected_on_demand() {
    let arguments =
        "--policy seed-bin-by-bin --algorithm radix-2bit --filter count*RADIX_BITS=2 --json".split(' ');
    let Some(ended) = inspect(radv(), arguments) else { return };
    let devices = ended.json();
    let pipelines = devices[0]["pipelines"].as_array().unwrap();
    assert!(!pipelines.is_empty());
    for pipeline in pipelines {
        assert!(
            pipeline["kernel"].as_str().unwrap().starts_with("sort/chunk_count:bin_by_bin"),
            "{pipeline}"
        );
    }
}

#[test]
fn a_pattern_without_a_pipeline_is_an_error_of_usage() {
    let Some(ended) = inspect(radv(), ["--algorithm", "strided", "--filter", "no such kernel"]) else {
        return;
    };
    ended.refused(2, "no pipeline's name has 'no such kernel' in it; names are like scan/strided");
}

#[test]
fn contradictions_are_refused_before_a_device_is_opened() {
    for (arguments, what) in [
        (
            ["--policy", "seed", "--algorithm", "onesweep"],
            "--policy seed has no onesweep; leave out --policy or --algorithm",
        ),
        (["--policy", "seed-bin-by-bin", "--algorithm", "chained"], "a scan has no bins to count"),
    ] {
        for command in ["inspect", "devices"] {
            run(without_drivers(&mut subsweep([command].iter().chain(&arguments)))).refused(2, what);
        }
    }
}

#[test]
fn drivers_without_statistics_are_refused_on_one_line() {
    for arguments in [&[][..], &["--json"]] {
        for environment in [software::lavapipe(), software::swiftshader()] {
            if let Some(ended) = inspect(environment, arguments.iter().copied()) {
                ended.refused(3, "pipelineExecutableInfo");
            }
        }
    }
}
