//! Tests of the page as text; tool/tests/page renders it in a browser.

use super::*;
use crate::harness::report::{RecordedCounts, Summary, VerifiedCase, sample};

fn page_of(report: &Report) -> String {
    page(&[Titled { title: "bench".to_owned(), report }], None)
}

/// Checks the invariants of every page: tags are balanced, nothing external is loaded, no number is missing.
#[track_caller]
fn check(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a page's first line");
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        assert!(!text.contains('>'), "{text}");
        let end = rest[at..].find('>').expect("a tag ends") + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{page}");
            continue;
        }
        check_tag(tag);
        let name = tag.split(' ').next().unwrap_or_default();
        match name {
            "meta" => {}
            "style" => {
                let (style, after) = rest.split_once("</style>").expect("a style sheet ends");
                assert!(!style.contains("url(") && !style.contains("@import"), "{style}");
                rest = after;
            }
            _ => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(!page.contains("//"), "an address of something else");
}

#[track_caller]
fn check_tag(tag: &str) {
    // Quotes in values are escaped: a value is between two quotes.
    assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
    let name = tag.split(' ').next().unwrap_or_default();
    assert!(!["script", "link", "img", "iframe", "object"].contains(&name), "{tag}");
    let mut parts = tag.split('"');
    while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
        let key = key.split_whitespace().last().unwrap_or_default().trim_end_matches('=');
        let is_shape = ["d", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "viewBox"].contains(&key);
        assert!(!is_shape || !(value.contains("NaN") || value.contains("inf")), "{tag}");
        assert!(key != "href" || value.starts_with('#'), "{tag}");
        assert!(key != "src", "{tag}");
    }
}

#[test]
fn a_page_has_every_case_with_its_numbers() {
    let report = sample();
    let page = page_of(&report);
    check(&page);
    for device in &report.devices {
        for part in [&device.name, &device.description.driver.info, &device.description.driver.version] {
            assert!(page.contains(part.as_str()), "{part}");
        }
        for measurement in &device.measured {
            assert!(page.contains(&format!("<tr title=\"{}\">", measurement.id)), "{}", measurement.id);
        }
    }
    let count: usize = report.devices.iter().map(|device| device.measured.len()).sum();
    assert_eq!(page.matches("<tr title=").count(), count);
    for part in [
        "AMD EPYC",
        "bench --quick --device all",
        "copy kernel, 100 %, llvmpipe",
        "chained, SwiftShader Device",
        "2<tspan",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("incomplete"));
}

#[test]
fn a_page_says_what_is_missing() {
    let mut report = sample();
    report.complete = false;
    let case = |outcome: &str, reason: &str| VerifiedCase {
        id: format!("sort:keys:{outcome}"),
        outcome: outcome.to_owned(),
        reason: Some(reason.to_owned()),
        wrong: None,
        reproduce: None,
    };
    report.devices[0].verified = vec![case("fail", "key 3 is 1 < 2"), case("not supported", "no room")];
    let page = page_of(&report);
    check(&page);
    for part in ["incomplete", "WRONG", "key 3 is 1 &lt; 2", "not supported", "no room"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn names_stay_words() {
    const NAME: &str = "<b>\"R&D\"</b> 'x' <script>";
    let mut report = sample();
    report.command = vec![NAME.to_owned()];
    report.host.processor = Some(NAME.to_owned());
    let device = &mut report.devices[0];
    device.name = NAME.to_owned();
    device.description.driver.info = NAME.to_owned();
    let measurement = &mut device.measured[0];
    measurement.id = format!("{NAME};algorithm={NAME}");
    measurement.group = NAME.to_owned();
    measurement.policy = NAME.to_owned();
    let page = page_of(&report);
    check(&page);
    assert!(!page.contains(NAME) && page.contains("&lt;b&gt;&quot;R&amp;D&quot;"));
}

#[test]
fn devices_of_one_name_are_distinguished_by_driver() {
    let mut report = sample();
    let mut newer = report.devices[0].clone();
    newer.description.driver.info = "Mesa 99\u{1b}\0".into();
    report.devices.push(newer);
    let page = page_of(&report);
    check(&page);
    for info in [&report.devices[0].description.driver.info, "Mesa 99\u{fffd}\u{fffd}"] {
        assert!(page.contains(&format!("{}, {info}", report.devices[0].name)), "{info}");
    }
    // Or by their indices, if all names are equal.
    report.devices[2] = report.devices[0].clone();
    let page = page_of(&report);
    for device_index in [0, 2] {
        assert!(page.contains(&format!("{}, device {device_index}", report.devices[0].name)));
    }
}

#[test]
fn odd_reports_have_pages() {
    let change = |change: &dyn Fn(&mut Report)| {
        let mut report = sample();
        change(&mut report);
        let page = page_of(&report);
        check(&page);
        page
    };
    let each = |report: &mut Report, change: &dyn Fn(&mut super::super::report::Measurement)| {
        report.devices.iter_mut().flat_map(|device| &mut device.measured).for_each(change);
    };
    let nothing = change(&|report| report.devices.iter_mut().for_each(|device| device.measured.clear()));
    assert!(nothing.contains("Nothing was measured"));
    change(&|report| report.devices.clear());
    assert!(change(&|_| {}).contains("over their medians"));
    let summarised = change(&|report| {
        let measured = report.devices.iter_mut().flat_map(|device| &mut device.measured);
        measured.for_each(|measurement| *measurement = measurement.summarised());
    });
    assert!(!summarised.contains("over their medians"));
    change(&|report| report.devices[1].measured.clear());
    change(&|report| report.devices.iter_mut().for_each(|device| device.measured.truncate(1)));
    change(&|report| {
        each(report, &|measurement| {
            measurement.samples_ns.truncate(1);
            measurement.time = Summary::from_samples(&measurement.samples_ns, &[]);
            measurement.recorded = None::<RecordedCounts>;
        });
    });
    for scale in [1e-300, 1e-9, 1e9, 1e290] {
        change(&|report| {
            each(report, &|measurement| {
                measurement.samples_ns.iter_mut().for_each(|sample| *sample *= scale);
                measurement.time = Summary::from_samples(&measurement.samples_ns, &[]);
                measurement.elements_per_second /= scale;
                measurement.copy_percent /= scale;
            });
        });
    }
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        change(&|report| {
            each(report, &|measurement| {
                measurement.element_count = 0;
                measurement.elements_per_second = value;
                measurement.copy_percent = value;
                measurement.time.median_ns = value;
                measurement.copy.median_ns = value;
            });
        });
    }
    change(&|report| each(report, &|measurement| measurement.element_count = u64::MAX));
}

#[test]
fn figures_have_room_for_many_series_and_tables_for_all() {
    let mut report = sample();
    let device = &mut report.devices[0];
    let first = device.measured[0].clone();
    device.measured = (0..200)
        .map(|at| {
            let id = format!("scan:inclusive:algorithm=way-{at};n=65536");
            super::super::report::Measurement { id, ..first.clone() }
        })
        .collect();
    report.devices.truncate(1);
    let page = page_of(&report);
    check(&page);
    assert!(page.contains("Figures show the 24 fastest of 200"));
    assert_eq!(page.matches("<tr title=").count(), 200);
}

#[test]
fn the_shown_count_has_the_most_series() {
    let shown = |cases: &[(&str, u64)]| {
        let mut report = sample();
        report.devices.truncate(1);
        let device = &mut report.devices[0];
        let first = device.measured[0].clone();
        let case = |&(way, count): &(&str, u64)| {
            let (id, group) = (format!("a:b:algorithm={way};n={count}"), format!("a:b:n={count}"));
            super::super::report::Measurement { id, group, element_count: count, ..first.clone() }
        };
        device.measured = cases.iter().map(case).collect();
        let page = page_of(&report);
        check(&page);
        page
    };
    let few = 1 << 16;
    let page = shown(&[("x", few), ("y", few), ("x", 4 * few)]);
    assert!(
        page.contains("a:b: percent of the copy at 65536 elements") && !page.contains("were not measured")
    );
    // Equally many at both counts: the larger one.
    let page = shown(&[("x", few), ("y", few), ("x", 4 * few), ("z", 4 * few)]);
    assert!(page.contains("a:b: percent of the copy at 262144 elements"));
    assert!(page.contains("1 of 3 were not measured at 2<sup>18</sup> elements"), "{page}");
}

#[test]
fn several_reports_share_figures() {
    let report = sample();
    let titled = |title: &str| Titled { title: title.to_owned(), report: &report };
    let preface = html! { h2 { "Verdict" } };
    let page = page(&[titled("base.json"), titled("new.json"), titled("new.json")], Some(preface));
    check(&page);
    for part in [
        "<h2>Verdict</h2>",
        "<h2>base.json</h2>",
        "chosen, base.json: llvmpipe",
        "chosen, new.json: llvmpipe",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let alone = page_of(&report);
    // All devices of a work share one figure.
    assert_eq!(page.matches("<figure>").count(), alone.matches("<figure>").count());
}
