//! Topics: the measurements of one figure, of the same work by device and variant.

use std::collections::BTreeMap;

use super::Titled;
use super::chart::{Style, is_drawable};
use crate::harness::cases::without_count;
use crate::harness::report::{DeviceReport, Measurement, Summary};

/// A device of a report.
pub struct Subject<'r> {
    /// The shortest name that is unique among the devices.
    pub name: String,
    /// Its section of the report.
    pub device: &'r DeviceReport,
}

/// The measurements of the same work at several counts and in several variants.
pub struct Topic<'r> {
    /// The measurements' group, without the count.
    pub name: String,
    /// One series per device and variant, by throughput at the shown count; those not measured there last.
    pub series: Vec<Series<'r>>,
    /// Copy throughput of the devices.
    pub roofs: Vec<Roof>,
    /// The count with the most series; the largest of several.
    pub shown_count: u64,
}

/// One device, one algorithm and one policy.
pub struct Series<'r> {
    /// Algorithm and policy, and the device if there are several.
    pub name: String,
    /// The style of its marks and line.
    pub style: Style,
    /// Measurements, by count.
    pub points: Vec<&'r Measurement>,
    /// Index of its device.
    pub subject: usize,
    way: String,
}

/// Throughput of both copies of a device, in elements per second by count.
pub struct Roof {
    /// The device, if there are several.
    pub name: String,
    /// The style of its dashes.
    pub style: Style,
    /// Count and rate of the copy kernel.
    pub kernel: Vec<[f64; 2]>,
    /// Count and rate of `vkCmdCopyBuffer`, if measured.
    pub transfer: Vec<[f64; 2]>,
}

impl Series<'_> {
    /// The measurement at a count.
    pub fn at(&self, count: u64) -> Option<&Measurement> {
        self.points.iter().find(|point| point.element_count == count).copied()
    }
}

/// All devices, in the order of the reports.
pub fn subjects<'r>(reports: &[Titled<'r>]) -> Vec<Subject<'r>> {
    let mut subjects = Vec::new();
    for titled in reports {
        for device in &titled.report.devices {
            // The part in brackets describes the driver, and is often long.
            let short = device.name.split(" (").next().unwrap_or_default();
            let [short, long] = match (reports.len(), titled.report.devices.len()) {
                (1, _) => [short.to_owned(), device.name.clone()],
                (_, 1) => [titled.title.clone(), format!("{}: {}", titled.title, device.name)],
                _ => [short, &device.name].map(|name| format!("{}: {name}", titled.title)),
            };
            let with_driver = match &device.description.driver.info {
                info if info.is_empty() => long.clone(),
                info => format!("{long}, {info}"),
            };
            let with_number = format!("{long}, device {}", subjects.len());
            subjects.push(([short, long, with_driver, with_number], device));
        }
    }
    let named = subjects.iter().map(|(names, device)| {
        // The first unique name; the last is always unique.
        let is_own =
            |at: &usize| subjects.iter().filter(|(others, _)| others[*at] == names[*at]).count() == 1;
        let at = (0..names.len()).find(is_own).unwrap_or(names.len() - 1);
        Subject { name: names[at].clone(), device }
    });
    named.collect()
}

/// All topics, in the order of the reports.
pub fn topics<'r>(subjects: &[Subject<'r>]) -> Vec<Topic<'r>> {
    let mut topics: Vec<Topic<'r>> = Vec::new();
    for (index, subject) in subjects.iter().enumerate() {
        for measurement in &subject.device.measured {
            let name = without_count(&measurement.group);
            let at = topics.iter().position(|topic| topic.name == name).unwrap_or_else(|| {
                topics.push(Topic { name, series: Vec::new(), roofs: Vec::new(), shown_count: 0 });
                topics.len() - 1
            });
            topics[at].add(index, measurement);
        }
    }
    // An algorithm has the same style in all topics of its primitive.
    let mut ways: Vec<(String, String)> = Vec::new();
    for topic in &topics {
        for series in &topic.series {
            let way = (topic.primitive().to_owned(), series.way.clone());
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
    for topic in &mut topics {
        let own = ways.iter().filter(|(primitive, _)| primitive == topic.primitive());
        let own: Vec<&str> = own.map(|(_, way)| way.as_str()).collect();
        topic.finish(subjects, &own);
    }
    topics
}

impl<'r> Topic<'r> {
    /// The work, and its parameters.
    pub fn parts(&self) -> (&str, String) {
        let colon = self.name.find('=').and_then(|end| self.name[..end].rfind(':'));
        match colon {
            Some(colon) => (&self.name[..colon], self.name[colon + 1..].replace(';', " · ")),
            None => (&self.name, String::new()),
        }
    }

    fn add(&mut self, subject: usize, measurement: &'r Measurement) {
        let way = way(measurement);
        let is_it = |series: &&mut Series<'_>| series.subject == subject && series.way == way;
        match self.series.iter_mut().find(is_it) {
            Some(series) => series.points.push(measurement),
            None => self.series.push(Series {
                name: String::new(),
                style: Style { hue: 0, dash: 0 },
                points: vec![measurement],
                way,
                subject,
            }),
        }
    }

    /// `scan`, `sort`.
    fn primitive(&self) -> &str {
        self.name.split(':').next().unwrap_or_default()
    }

    /// Sets names, styles and order; `ways` are the variants of all topics of the primitive.
    fn finish(&mut self, subjects: &[Subject<'_>], ways: &[&str]) {
        let first = &self.series[0];
        let has_ways = self.series.iter().any(|series| series.way != first.way);
        let has_subjects = self.series.iter().any(|series| series.subject != first.subject);
        for series in &mut self.series {
            series.points.sort_by_key(|point| point.element_count);
            let subject = &subjects[series.subject].name;
            series.name = match has_subjects {
                true => format!("{}, {subject}", series.way),
                false => series.way.clone(),
            };
            let hue = ways.iter().position(|way| *way == series.way).unwrap_or_default();
            series.style = match has_subjects && !has_ways {
                // Colours are easier to distinguish than dashes.
                true => Style { hue: series.subject, dash: series.subject },
                false => Style { hue, dash: series.subject },
            };
        }
        let mut series_counts = BTreeMap::<u64, usize>::new();
        for point in self.series.iter().flat_map(|series| &series.points) {
            *series_counts.entry(point.element_count).or_default() += 1;
        }
        // `max_by_key` returns the last of equals.
        let shown = series_counts.into_iter().max_by_key(|(_, series_count)| *series_count);
        let shown_count = shown.map_or(0, |(count, _)| count);
        self.shown_count = shown_count;
        // Below every rate.
        let rate =
            |series: &Series<'_>| series.at(shown_count).map_or(-1.0, |point| point.elements_per_second);
        self.series.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
        self.roofs = self.roofs_of(subjects, has_subjects);
    }

    fn roofs_of(&self, subjects: &[Subject<'_>], has_subjects: bool) -> Vec<Roof> {
        let of_subject = |(index, subject): (usize, &Subject<'_>)| {
            let measured = self.series.iter().filter(|series| series.subject == index);
            let points: Vec<_> = measured.flat_map(|series| &series.points).collect();
            let rates = |copy: fn(&Measurement) -> Option<Summary>| {
                fastest_by_count(points.iter().filter_map(|point| {
                    let count = point.element_count as f64;
                    Some([count, count / (copy(point)?.median_ns / 1e9)])
                }))
            };
            let name = if has_subjects { format!(", {}", subject.name) } else { String::new() };
            let style = Style { hue: 0, dash: index };
            Roof {
                name,
                style,
                kernel: rates(|point| Some(point.copy)),
                transfer: rates(|point| point.transfer),
            }
        };
        let roofs = subjects.iter().enumerate().map(of_subject);
        roofs.filter(|roof| !roof.kernel.is_empty()).collect()
    }
}

/// The highest rate at each count: variants measured apart have separate copy measurements.
fn fastest_by_count(rates: impl Iterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let mut fastest: Vec<[f64; 2]> = Vec::new();
    for [count, rate] in rates.filter(|point| point.iter().copied().all(is_drawable)) {
        match fastest.iter_mut().find(|[other, _]| *other == count) {
            Some([_, highest]) => *highest = highest.max(rate),
            None => fastest.push([count, rate]),
        }
    }
    fastest.sort_by(|[a, _], [b, _]| a.total_cmp(b));
    fastest
}

/// The variant: algorithm and policy, as named in the id.
fn way(measurement: &Measurement) -> String {
    let value = |name: &str| {
        let mut parameters = measurement.id.split([';', ':']);
        parameters.find_map(|parameter| parameter.strip_prefix(name)?.strip_prefix('='))
    };
    match (value("algorithm"), value("policy")) {
        (Some(algorithm), None | Some("default")) => algorithm.to_owned(),
        (Some(algorithm), Some(policy)) => format!("{algorithm}, {policy}"),
        // A primitive with one algorithm: the policy's name before its parameters.
        (None, None | Some("default")) => measurement.policy.split(':').next().unwrap_or_default().to_owned(),
        (None, Some(policy)) => policy.to_owned(),
    }
}
