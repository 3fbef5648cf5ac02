use super::*;
use crate::harness::{Description, LookBackCounts, RecordedCounts, WrongWord};
use subsweep::device::{Capabilities, MemoryHeap};

/// A report of a verified and a measured case, with times of full precision.
fn report() -> Report {
    let others = || [9.0, 8.5, 1e-3].to_vec();
    let measured = Measurement {
        id: "scan:inclusive:n=3".into(),
        group: "scan:inclusive".into(),
        policy: "in “words”\n".into(),
        element_count: 3,
        element_size: 4,
        traffic_size: 36,
        runs_per_sample: 7,
        steady: true,
        block_lengths: vec![2, 1],
        samples_ns: vec![1_234.567_890_123_456_7, 0.1 + 0.2, 1e9 / 3.0],
        copy_samples_ns: vec![2.5, 7.123_456_789_012_345e-3, 1.0 / 3.0],
        transfer_samples_ns: others(),
        record_samples_ns: others(),
        end_to_end_samples_ns: others(),
        recorded: Some(RecordedCounts { dispatches: 3, barriers: 2, transfers: 1 }),
        look_back: Some(LookBackCounts { look_backs: 2, windows: 3, longest: 2, spins: 1, fallbacks: 0 }),
        ..Measurement::default()
    };
    let verified = [("pass", None), ("fail", Some("run 1".into())), ("not supported", Some("no".into()))]
        .map(|(outcome, reason)| VerifiedCase {
            id: "sort:keys".into(),
            outcome: outcome.into(),
            reason,
            wrong: None,
            reproduce: None,
        });
    let device = DeviceReport {
        name: "llvmpipe".into(),
        description: Description::new(&capabilities(), 64),
        gpu_timestamps: true,
        cold_cache: false,
        self_test: Some("passed".into()),
        verified: verified.into(),
        measured: vec![measured.with_summaries()],
    };
    let command = ["bench", "--json", "report.json"].map(str::to_owned).to_vec();
    Report { complete: true, devices: vec![device], ..Report::new(command) }
}

/// Numbers of full precision, and the limits of their types.
fn capabilities() -> Capabilities {
    let heap = MemoryHeap { size: u64::MAX, is_device_local: true };
    let mut capabilities = Capabilities::default();
    capabilities.subgroup_size = 8;
    capabilities.memory_heaps = vec![heap];
    capabilities.timestamp_period_ns = 52.083;
    capabilities.identity.name = "llvmpipe".into();
    capabilities.identity.api_version = subsweep::ash::vk::make_api_version(0, 1, 3, 230);
    capabilities.identity.device_id = u32::MAX;
    capabilities
}

fn json() -> String {
    String::from_utf8(report().to_json().unwrap()).unwrap()
}

/// The error of reading the report with one change.
#[track_caller]
fn refusal(from: &str, to: &str) -> ReportError {
    let json = json();
    assert!(json.contains(from), "{json}");
    let error = Report::from_json(json.replacen(from, to, 1).as_bytes()).unwrap_err();
    let line = error.to_string();
    assert!(!line.contains(char::is_control) && line.len() < 400, "{line:?}");
    error
}

/// The error of reading the report with one number of its only measurement changed.
#[track_caller]
fn refused_number(change: impl FnOnce(&mut Measurement)) -> ReportError {
    let mut report = report();
    change(&mut report.devices[0].measured[0]);
    Report::from_json(&report.to_json().unwrap()).unwrap_err()
}

#[test]
fn what_is_written_is_read_back_equal() {
    for report in [report(), Report::new(Vec::new())] {
        assert_eq!(Report::from_json(&report.to_json().unwrap()), Ok(report));
    }
}

#[test]
fn each_measurement_is_on_a_line_and_a_summary_is_read_back_equal() {
    let mut report = report();
    let one = report.devices[0].measured[0].clone();
    report.devices[0].measured = (0..5)
        .map(|n| Measurement { id: format!("case;n={n}"), steady: n != 3, ..one.clone().summarised() })
        .collect();
    let json = String::from_utf8(report.to_json().unwrap()).unwrap();
    let lines: Vec<_> = json.lines().filter(|line| line.contains("\"id\": \"case;n=")).collect();
    assert!(lines.len() == 5 && lines.iter().all(|line| line.matches("\"id\"").count() == 1), "{json}");
    assert!(!json.contains("samples_ns") && json.matches("\"steady\": false").count() == 1, "{json}");
    assert_eq!(Report::from_json(json.as_bytes()), Ok(report.clone()));
    let refused = |change: fn(&mut Measurement)| {
        let mut report = report.clone();
        change(&mut report.devices[0].measured[2]);
        Report::from_json(&report.to_json().unwrap()).unwrap_err()
    };
    assert!(matches!(refused(|m| m.sample_count = 0), ReportError::NoSamples { .. }));
    assert!(matches!(refused(|m| m.time.iqr_ns = -1.0), ReportError::NoTime { .. }));
    let outside = refused(|m| m.time.median_interval_ns = [0.0, m.time.median_ns / 2.0]);
    assert!(matches!(outside, ReportError::Contradiction { .. }), "{outside}");
    let rate = refused(|m| m.copy_percent = 1e6).to_string();
    assert!(
        rate.starts_with(
            "contradicts itself: devices[0].measured[2].copy_percent is 1000000, and by its other numbers "
        ),
        "{rate}"
    );
}

#[test]
fn every_block_has_samples() {
    let error = refused_number(|measured| measured.block_lengths.insert(1, 0));
    assert_eq!(error, ReportError::NoSamples { place: "devices[0].measured[0].block_lengths[1]".into() });
}

#[test]
fn what_other_commands_write_is_named() {
    for (json, command) in [
        (&b"{\"device\": \"0: a\", \"clock\": \"GPU time\", \"parts\": []}"[..], "tune"),
        (b"{\"comparison_schema\": 1, \"comparisons\": []}", "compare"),
    ] {
        assert_eq!(Report::from_json(json), Err(ReportError::OtherCommand { command }));
    }
    assert!(matches!(Report::from_json(b"{}"), Err(ReportError::NotReport(_))));
}

/// `docs/reports.md` names every field.
#[test]
fn every_field_is_documented() {
    fn expect_documented(value: &serde_json::Value) {
        const DOCUMENT: &str = include_str!("../../../../../docs/reports.md");
        match value {
            serde_json::Value::Object(fields) => {
                for (name, value) in fields {
                    assert!(
                        DOCUMENT.contains(&format!("`{name}`")),
                        "docs/reports.md does not describe {name}"
                    );
                    // The keys below are kernel names.
                    if name != "kernels" {
                        expect_documented(value);
                    }
                }
            }
            serde_json::Value::Array(values) => values.iter().for_each(expect_documented),
            _ => {}
        }
    }
    let mut report = report();
    let case = &mut report.devices[0].verified[1];
    let what = "values".to_owned();
    case.wrong = Some(Box::new(WrongWord { run: 1, seed: 2, what, index: 3, expected: 4, got: 5 }));
    case.reproduce = Some("subsweep verify".into());
    expect_documented(&serde_json::to_value(report).unwrap());
}

#[test]
fn fields_of_a_later_build_are_skipped() {
    let json = json().replacen("\"name\"", "\"more\": {\"a\": [1e5, {}]}, \"name\"", 1);
    assert_eq!(Report::from_json(json.as_bytes()), Ok(report()));
}

#[test]
fn optional_measurements_may_be_absent() {
    let mut report = report();
    let measured = &mut report.devices[0].measured[0];
    measured.recorded = None;
    (measured.transfer, measured.record, measured.end_to_end) = (None, None, None);
    for samples in [
        &mut measured.transfer_samples_ns,
        &mut measured.record_samples_ns,
        &mut measured.end_to_end_samples_ns,
    ] {
        samples.clear();
    }
    measured.block_lengths.clear();
    let json = report.to_json().unwrap();
    let text = String::from_utf8_lossy(&json);
    for left_out in ["recorded", "transfer", "record_samples_ns", "end_to_end", "block_lengths"] {
        assert!(!text.contains(&format!("\"{left_out}")), "{left_out}: {text}");
    }
    assert_eq!(Report::from_json(&json), Ok(report));
}

#[test]
fn invalid_json_is_refused_with_its_position() {
    let json = json();
    let cut = Report::from_json(&json.as_bytes()[..json.len() / 2]).unwrap_err();
    let ReportError::Json(JsonProblem { what, line: 2.., .. }) = &cut else { panic!("{cut}") };
    assert!(what.starts_with("EOF"), "{cut}");
    assert_eq!(
        refusal("\"version\":", "\"version\"").to_string(),
        "cannot be parsed as JSON (expected `:` at line 3, column 20); \
         check that it is complete, or write it again with --json"
    );
    for text in [&b""[..], b"\x93NUMPY", b"{\"schema\": 2}{}", b"\xff", b"{\"more\": [[[["] {
        assert!(matches!(Report::from_json(text), Err(ReportError::Json(_))));
    }
    // A device's unknown fields are kept as a tree, of limited depth; unknown fields of the report are skipped.
    let (begin, end) = ("[".repeat(100_000), "]".repeat(100_000));
    let nested = |field| json.replacen(field, &format!("\"more\": {begin}{end}, {field}"), 1);
    let in_device = Report::from_json(nested("\"gpu_timestamps\"").as_bytes());
    assert!(matches!(in_device, Err(ReportError::Json(_))), "{in_device:?}");
    assert_eq!(Report::from_json(nested("\"complete\"").as_bytes()), Ok(report()));
}

#[test]
fn json_of_no_report_is_refused_with_its_position() {
    assert_eq!(
        Report::from_json(b"{\"benchmarks\": []}").unwrap_err().to_string(),
        "is JSON, but no report (missing field `schema` at line 1, column 18); \
         name a file that verify or bench wrote with --json"
    );
    for text in [
        "null",
        "[]",
        "[[[[",
        "3",
        "{\"schema\": \"1\"}",
        "{\"schema\": 2}",
        "{\"schema\": 2, \"schema\": 2}",
    ] {
        assert!(matches!(Report::from_json(text.as_bytes()), Err(ReportError::NotReport(_))), "{text}");
    }
    let long = format!("\"{}\\u001b[2J\"", "x".repeat(100_000));
    for (from, to) in [
        ("true", long.as_str()),
        ("\"element_count\": ", "\"element_count\": -"),
        ("1.3.230\"", "1.3.230\", \"name\": \"again\""),
    ] {
        assert!(matches!(refusal(from, to), ReportError::NotReport(_)), "{from}");
    }
}

#[test]
fn another_schema_is_named_with_the_one_that_is_read() {
    let error = refusal("\"schema\": 2", "\"schema\": 3");
    assert_eq!(
        error.to_string(),
        "is a report of schema 3, and this build reads 2; use the build that wrote it"
    );
    // Whatever the other fields of that schema are.
    assert_eq!(Report::from_json(b"{\"runs\": {}, \"schema\": 3}"), Err(error));
}

#[test]
fn outcomes_are_three_and_have_reasons() {
    for (from, to) in [
        ("\"pass\"", "\"Pass\""),
        ("\"pass\"", "\"fail\""),
        ("\"pass\"", "\"pass\", \"reason\": \"luck\""),
        ("\"reason\": \"no\"", "\"reason\": null"),
    ] {
        assert!(matches!(refusal(from, to), ReportError::Outcome { .. }), "{to}");
    }
    let place = "devices[0].verified[1]".to_owned();
    assert_eq!(refusal("\"fail\"", "\"failed\""), ReportError::Outcome { place });
}

#[test]
fn a_case_is_measured_once() {
    let mut report = report();
    let measured = &mut report.devices[0].measured;
    measured.push(measured[0].clone());
    let place = format!("devices[0].measured[{}]", measured.len() - 1);
    assert_eq!(Report::from_json(&report.to_json().unwrap()), Err(ReportError::Repeated { place }));
}

#[test]
fn times_are_finite_and_positive_and_there() {
    let no_time = refused_number(|measured| measured.samples_ns[2] = -1.0);
    assert_eq!(
        no_time.to_string(),
        "has a time of -1 ns in devices[0].measured[0].samples_ns[2]; it was changed or damaged: measure again"
    );
    assert!(matches!(
        refused_number(|measured| measured.samples_ns = vec![0.0; 5]),
        ReportError::NoTime { value: 0.0, .. }
    ));
    let empty = refused_number(|measured| measured.copy_samples_ns.clear());
    assert_eq!(empty, ReportError::NoSamples { place: "devices[0].measured[0].copy_samples_ns".into() });
    let not_summed_up = refused_number(|measured| measured.record = None);
    assert_eq!(not_summed_up, ReportError::NoSummary { place: "devices[0].measured[0].record".into() });
    // JSON has neither; NaN is written as null.
    assert!(matches!(
        refused_number(|measured| measured.samples_ns[0] = f64::NAN),
        ReportError::NotReport(_)
    ));
    // Not 2.5, which the name of the processor may have.
    assert!(matches!(refusal("1234.5678901234567", "1e999"), ReportError::Json(_)));
}

#[test]
fn numbers_follow_from_their_samples() {
    type Field = fn(&mut Measurement) -> &mut f64;
    let changes: [(&str, Field); 10] = [
        ("time.median_ns", |measured| &mut measured.time.median_ns),
        ("time.iqr_ns", |measured| &mut measured.time.iqr_ns),
        ("time.min_ns", |measured| &mut measured.time.min_ns),
        ("copy.median_ns", |measured| &mut measured.copy.median_ns),
        ("copy.iqr_ns", |measured| &mut measured.copy.iqr_ns),
        ("copy.min_ns", |measured| &mut measured.copy.min_ns),
        ("elements_per_second", |measured| &mut measured.elements_per_second),
        ("bytes_per_second", |measured| &mut measured.bytes_per_second),
        ("copy_percent", |measured| &mut measured.copy_percent),
        ("copy_bytes_per_second", |measured| &mut measured.copy_bytes_per_second),
    ];
    for (name, field) in changes {
        let error = refused_number(|measured| *field(measured) += 1e3);
        let ReportError::Contradiction { place, .. } = &error else { panic!("{name}: {error}") };
        assert_eq!(*place, format!("devices[0].measured[0].{name}"));
    }
    let mut rounded = report();
    rounded.devices[0].measured[0].elements_per_second *= 1.0 + 1e-12;
    assert!(Report::from_json(&rounded.to_json().unwrap()).is_ok());
    // A rate beyond any number agrees with none.
    let error = refused_number(|measured| {
        measured.samples_ns = vec![f64::MIN_POSITIVE];
        measured.time = Summary::from_samples(&measured.samples_ns, &[]);
    });
    assert!(matches!(error, ReportError::Contradiction { .. }));
}
