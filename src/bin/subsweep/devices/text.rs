//! Report of a device as text.

use std::fmt::Write;

use subsweep::harness::{Description, Driver, Limits, Subgroups};

use super::report::{Details, DeviceReport};
use crate::command::ShownPolicy;
use crate::device::label;
use crate::words::escaped;

const LABEL_WIDTH: usize = 14;
const LINE_WIDTH: usize = 100;

/// The heading and the rows of a device.
pub fn block(report: &DeviceReport) -> String {
    let mut text = format!("{}: {}\n", label(report.index, report.gpu), escaped(&report.name));
    match &report.reason {
        Some(reason) => row(&mut text, "not usable", reason),
        None if report.gpu.is_some() => {
            row(&mut text, "compile-only", "runs nothing: its compiler is here, and no hardware is needed");
        }
        None => {}
    }
    if let Some(details) = &report.details {
        rows(&mut text, details);
    }
    text
}

fn rows(text: &mut String, details: &Details) {
    let Details { description, self_test, policies } = details;
    let mut row = |label: &str, value: String| row(text, label, &value);
    row(
        "type",
        format!(
            "{}, vendor {:#06x}, device {:#06x}",
            kind(description),
            description.vendor_id,
            description.device_id
        ),
    );
    row("driver", driver(&description.driver));
    row("", format!("version {}, {}", description.driver.version, description.driver.id));
    row(
        "workarounds",
        match &description.workarounds[..] {
            [] => "none known".into(),
            names => names.join(", "),
        },
    );
    row("Vulkan", format!("{}, conformance {}", description.api_version, conformance(description)));
    row("device UUID", description.device_uuid.clone());
    row("driver UUID", description.driver_uuid.clone());
    row("subgroups", subgroups(&description.subgroups));
    row("", description.subgroups.operations.join(", "));
    row("workgroups", workgroups(&description.limits));
    row("memory", memory(&description.limits));
    row("timestamps", timestamps(&description.limits));
    if let Some(verdict) = self_test {
        row("self-test", verdict.clone());
    }
    if let Some(features) = &description.features {
        let all = [
            (features.buffer_device_address, "bufferDeviceAddress"),
            (features.subgroup_size_control, "subgroupSizeControl"),
            (features.compute_full_subgroups, "computeFullSubgroups"),
            (features.shader_float64, "shaderFloat64"),
        ];
        row(
            "features",
            all.iter().filter(|(has, _)| *has).map(|(_, name)| *name).collect::<Vec<_>>().join(", "),
        );
    }
    for ShownPolicy { label, policy, reason, .. } in policies.iter().flatten() {
        row(label, policy.clone());
        row("", format!("because {reason}"));
    }
}

fn kind(description: &Description) -> &str {
    match description.device_type.as_str() {
        "discrete" => "discrete GPU",
        "integrated" => "integrated GPU",
        "virtual" => "virtual GPU",
        "cpu" => "CPU",
        other => other,
    }
}

fn driver(driver: &Driver) -> String {
    let info = driver.info.trim();
    if info.is_empty() { driver.name.clone() } else { format!("{}, {info}", driver.name) }
}

fn conformance(description: &Description) -> &str {
    if description.conformance_version == "0.0.0.0" { "none" } else { &description.conformance_version }
}

fn subgroups(subgroups: &Subgroups) -> String {
    let Subgroups { size, min_size, max_size, .. } = subgroups;
    let mut text = format!("{size} lanes");
    if min_size != max_size {
        let _ = write!(text, ", {min_size} to {max_size} on demand");
    }
    if let Some(count) = subgroups.max_per_workgroup {
        let _ = write!(text, ", up to {count} in a workgroup");
    }
    text
}

fn workgroups(limits: &Limits) -> String {
    let [x, y, z] = limits.max_workgroup_count;
    format!(
        "{} invocations, {} of shared memory, up to {x} x {y} x {z} in a dispatch",
        limits.max_workgroup_invocations,
        size(limits.shared_memory_size.into())
    )
}

fn memory(limits: &Limits) -> String {
    format!(
        "{} in the largest heap, {} in one allocation",
        size(limits.largest_heap_size),
        size(limits.max_allocation_size)
    )
}

fn timestamps(limits: &Limits) -> String {
    match limits.timestamp_valid_bits {
        0 => "none".into(),
        bits => format!("{bits} bits, {} ns a tick", limits.timestamp_period_ns),
    }
}

/// A size in the largest unit that leaves at least 1.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let power = (bytes.max(1).ilog2() / 10).min(UNITS.len() as u32 - 1);
    let unit = UNITS[power as usize];
    let whole = 1_u64 << (10 * power);
    if bytes.is_multiple_of(whole) {
        format!("{} {unit}", bytes / whole)
    } else {
        format!("{:.1} {unit}", bytes as f64 / whole as f64)
    }
}

/// Writes a label and a value; long values wrap below each other.
fn row(text: &mut String, label: &str, value: &str) {
    let mut line = format!("   {label:LABEL_WIDTH$}");
    let indent = line.len();
    for word in value.split_whitespace() {
        if line.len() > indent && line.len() + 1 + word.len() > LINE_WIDTH {
            text.push_str(&line);
            text.push('\n');
            line = " ".repeat(indent);
        }
        if line.len() > indent {
            line.push(' ');
        }
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_units() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1000, "1000 bytes"),
            (32 << 10, "32 KiB"),
            (128 << 20, "128 MiB"),
            ((1 << 27) - 1, "128.0 MiB"),
            (2 << 30, "2 GiB"),
            (1 << 62, "4194304 TiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn an_unusable_device_is_listed_with_the_missing_requirement() {
        let reason = "it lacks Vulkan 1.2 (its driver has 1.1; a newer driver may have it)";
        for (gpu, label) in [(None, "1"), (Some("old"), "gpu:old")] {
            let report = DeviceReport {
                index: 1,
                gpu,
                name: "Old GPU".into(),
                usable: false,
                reason: Some(reason.into()),
                details: None,
            };
            assert_eq!(block(&report), format!("{label}: Old GPU\n   not usable    {reason}\n"));
        }
    }
}
