//! The HTML page of a report in a browser, at desktop and phone widths, in light and dark schemes.
//!
//! The browser is Chromium or a derivative, headless and without a network. It renders the page in a frame of the given
//! width, since its windows have a minimum width, and an appended script measures the page. Screenshots are in the
//! target folder, under `tmp/page`.

mod browser;
#[path = "../../../tests/common/children.rs"]
#[allow(dead_code, reason = "the test has no rows")]
mod children;

use std::path::Path;

use serde_json::Value;
use subsweep_tool::harness::Report;
use subsweep_tool::harness::page::{Titled, page};

use browser::{Browser, Scheme};

/// A report of `bench --quick` on lavapipe and on SwiftShader.
const REPORT: &[u8] = include_bytes!("../../src/harness/report/sample.json");

/// Widths in pixels.
const DESK: u32 = 1280;
const PHONE: u32 = 390;

fn sample() -> String {
    let report = Report::from_json(REPORT).expect("a report of this schema");
    page(&[Titled { title: "bench".to_owned(), report: &report }], None)
}

/// The browser, or `None` with a note; an error in CI.
fn browser() -> Option<Browser> {
    let found = Browser::find();
    if found.is_none() {
        let what =
            "Chromium is missing; tools/setup test installs it, and SUBSWEEP_CHROMIUM may name another";
        assert!(!children::is_gate_on(&["debian 12"]), "{what}");
        eprintln!("SKIPPED: {what}");
    }
    found
}

#[test]
fn figures_and_text_fit_every_screen() {
    let Some(browser) = browser() else { return };
    let page = sample();
    for width in [DESK, PHONE] {
        for scheme in [Scheme::Light, Scheme::Dark] {
            check(&browser.facts(&page, width, scheme), width, scheme);
        }
    }
}

fn check(facts: &Value, width: u32, scheme: Scheme) {
    let at = format!("{width} pixels, {scheme:?}: {facts}");
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{at}"));
    let all = |name: &str| facts[name].as_array().unwrap_or_else(|| panic!("{at}")).clone();
    assert_eq!(number(&facts["width"]), f64::from(width), "{at}");
    assert_eq!(facts["isDark"], scheme == Scheme::Dark, "{at}");
    // Tables, closed or open, scroll in their own boxes.
    for name in ["scrollWidth", "scrollWidthOpen"] {
        assert!(number(&facts[name]) <= f64::from(width), "{at}");
    }
    let figures = all("figures");
    assert!(figures.len() >= 6, "{at}");
    for figure in figures {
        let [figure_width, figure_height] = [&figure["width"], &figure["height"]].map(number);
        assert!(figure_width >= 300.0 && figure_height >= 60.0, "{figure}: {at}");
        assert!(figure["title"].as_str().is_some_and(|title| !title.is_empty()), "{at}");
        assert!(number(&figure["marks"]) > 0.0, "{figure}: {at}");
        // No text is cut off or too small for a phone.
        assert_eq!(figure["outside"], Value::Array(Vec::new()), "{at}");
        assert!(number(&figure["textSize"]) >= 10.0, "{figure}: {at}");
    }
    assert_eq!(facts["overlaps"], Value::Array(Vec::new()), "{at}");
    assert_eq!(number(&facts["loaded"]), 0.0, "the page loads something: {at}");
    let page = luminance(&facts["page"]);
    assert!(if scheme == Scheme::Dark { page < 0.05 } else { page > 0.9 }, "{at}");
    assert!(contrast(&facts["page"], &facts["text"]) >= 7.0, "{at}");
    for colour in all("quiet") {
        assert!(contrast(&facts["page"], &colour) >= 4.5, "{colour}: {at}");
    }
    assert_eq!(all("series").len(), 8, "{at}");
    for colour in all("series") {
        // WCAG 2.2's minimum for parts of a figure.
        assert!(contrast(&facts["page"], &colour) >= 3.0, "{colour}: {at}");
    }
}

/// The relative luminance of `rgb(…)`, by WCAG 2.2.
fn luminance(colour: &Value) -> f64 {
    let digits = colour.as_str().and_then(|text| text.strip_prefix("rgb(")?.strip_suffix(')'));
    let digits = digits.unwrap_or_else(|| panic!("{colour} is not a colour"));
    let parts = digits.split(", ").map(|digit| {
        let part = digit.parse::<f64>().expect("a number from 0 to 255") / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    parts.zip([0.2126, 0.7152, 0.0722]).map(|(part, weight)| part * weight).sum()
}

fn contrast(a: &Value, b: &Value) -> f64 {
    let [a, b] = [luminance(a), luminance(b)];
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn pages_follow_the_preferred_color_scheme() {
    let Some(browser) = browser() else { return };
    let page = sample();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    std::fs::create_dir_all(&folder).unwrap();
    for (width, name) in [(DESK, "desk"), (PHONE, "phone")] {
        for scheme in [Scheme::Light, Scheme::Dark] {
            let path = folder.join(format!("{name}-{scheme:?}.png").to_lowercase());
            browser.screenshot(&page, width, scheme, &path);
            let brightness = mean_brightness(&path);
            let is_right = if scheme == Scheme::Dark { brightness < 0.25 } else { brightness > 0.75 };
            assert!(is_right, "{}: {brightness}", path.display());
        }
    }
}

/// The mean of all colour channels of all pixels, from 0 to 1.
fn mean_brightness(path: &Path) -> f64 {
    let file = std::io::BufReader::new(std::fs::File::open(path).expect("a screenshot"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("its size")];
    let info = reader.next_frame(&mut pixels).expect("its pixels");
    let channels = info.color_type.samples();
    let opaque = channels.min(3);
    let parts = pixels[..info.buffer_size()].chunks_exact(channels).flat_map(|pixel| &pixel[..opaque]);
    let (sum, count) = parts.fold((0_u64, 0_u64), |(sum, count), &part| (sum + u64::from(part), count + 1));
    sum as f64 / count as f64 / 255.0
}
