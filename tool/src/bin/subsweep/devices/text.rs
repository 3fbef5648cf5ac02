//! Report of a device as text.

use std::fmt::Write;

use subsweep_tool::harness::{Description, Driver, Limits, Subgroups};

use super::report::{Details, DeviceReport};
use crate::command::ShownPolicy;
use crate::device::label;
use crate::terminal::escaped;

const LINE_WIDTH: usize = 100;

/// A label, empty in a row that goes on with the one above, and a value.
type TextRow = (&'static str, String);

/// The heading and the rows of a device.
pub fn block(report: &DeviceReport, shows_policies: bool) -> String {
    let mut rows = Vec::new();
    match &report.reason {
        Some(reason) => rows.push(("not usable", reason.clone())),
        None if report.gpu.is_some() => {
            rows.push((
                "compile-only",
                "runs nothing: its compiler is here, and no hardware is needed".to_owned(),
            ));
        }
        None => {}
    }
    if let Some(details) = &report.details {
        rows.extend(described(details));
        let policies = details.policies.iter().flatten().filter(|_| shows_policies);
        rows.extend(policies.flat_map(|ShownPolicy { label, policy, reason, .. }| {
            [(*label, policy.clone()), ("", format!("because {reason}"))]
        }));
    }
    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let mut text = format!("{}: {}\n", label(report.index, report.gpu), escaped(&report.name));
    for (label, value) in rows {
        write_row(&mut text, width, label, &value);
    }
    text
}

fn described(Details { description, self_test, .. }: &Details) -> Vec<TextRow> {
    let Description { vendor_id, device_id, driver, .. } = description;
    let mut rows = vec![
        ("type", format!("{}, vendor {vendor_id:#06x}, device {device_id:#06x}", kind(description))),
        ("driver", format!("{}, version {}, {}", named(driver), driver.version, driver.id)),
        ("Vulkan", format!("{}, conformance {}", description.api_version, conformance(description))),
        ("UUID", description.device_uuid.clone()),
        ("subgroups", subgroups(&description.subgroups)),
        ("workgroups", workgroups(&description.limits)),
        ("memory", memory(&description.limits)),
        ("timestamps", timestamps(&description.limits)),
    ];
    if let Some(features) = &description.features {
        let all = [
            (features.buffer_device_address, "bufferDeviceAddress"),
            (features.subgroup_size_control, "subgroupSizeControl"),
            (features.compute_full_subgroups, "computeFullSubgroups"),
            (features.shader_float64, "shaderFloat64"),
            (features.storage_buffer8_bit_access, "storageBuffer8BitAccess"),
            (features.storage_buffer16_bit_access, "storageBuffer16BitAccess"),
        ];
        let names: Vec<_> = all.iter().filter(|(has, _)| *has).map(|(_, name)| *name).collect();
        rows.push(("features", names.join(", ")));
    }
    rows.extend(self_test.iter().map(|verdict| ("self-test", verdict.clone())));
    let workarounds = match &description.workarounds[..] {
        [] => "none known".into(),
        names => names.join(", "),
    };
    rows.push(("workarounds", workarounds));
    rows
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

fn named(driver: &Driver) -> String {
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

/// Writes a label of at most `width` characters and a value; long values wrap below each other.
fn write_row(text: &mut String, width: usize, label: &str, value: &str) {
    let mut line = format!("   {label:width$}  ");
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
            assert_eq!(block(&report, false), format!("{label}: Old GPU\n   not usable  {reason}\n"));
        }
    }
}
