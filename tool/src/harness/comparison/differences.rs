//! Differences between two sections, other than times.

use std::collections::BTreeMap;

use super::{Difference, Section};
use crate::harness::report::Measurement;

/// Differences in device, driver, machine and build; then in kernels, and in policies and samples of the common cases.
pub(super) fn differences(
    base: Section<'_>,
    new: Section<'_>,
    pairs: &[(&Measurement, &Measurement)],
) -> Vec<Difference> {
    let facts = facts(base).into_iter().zip(facts(new));
    let mut differences: Vec<_> = facts
        .filter(|((_, base), (_, new))| base != new)
        .map(|((what, base), (_, new))| Difference { what: what.to_owned(), base, new })
        .collect();
    let [of_base, of_new] = [base, new].map(|section| &section.report.tool.kernels);
    let names = of_base.keys().chain(of_new.keys().filter(|name| !of_base.contains_key(*name)));
    let changed: Vec<_> = names.filter(|name| of_base.get(*name) != of_new.get(*name)).collect();
    if let [first, ..] = changed[..] {
        let hash = |hashes: &BTreeMap<String, String>| match hashes.get(first) {
            Some(hash) => format!("{first} is {hash}"),
            None => format!("{first} is missing"),
        };
        let what = of_count(changed.len(), "kernel");
        differences.push(Difference { what, base: hash(of_base), new: hash(of_new) });
    }
    let samples = |measured: &Measurement| {
        let samples = of_count(measured.sample_count as usize, "sample");
        match measured.block_lengths.len() {
            0 => samples,
            blocks => format!("{samples} in {}", of_count(blocks, "block")),
        }
    };
    for (name, fact) in [
        ("policy", &(|measured: &Measurement| measured.policy.clone()) as &dyn Fn(&Measurement) -> String),
        ("samples", &samples),
    ] {
        let facts = pairs.iter().map(|(base, new)| [base, new].map(|measured| fact(measured)));
        let changed: Vec<_> = facts.filter(|[base, new]| base != new).collect();
        if let [[base, new], ..] = &changed[..] {
            let what = format!("{name} of {}", of_count(changed.len(), "case"));
            differences.push(Difference { what, base: base.clone(), new: new.clone() });
        }
    }
    differences
}

fn of_count(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The facts to compare, most important first.
fn facts(Section { report, device, .. }: Section<'_>) -> Vec<(&'static str, String)> {
    let description = &device.description;
    let (driver, limits, subgroups) = (&description.driver, &description.limits, &description.subgroups);
    let (host, tool) = (&report.host, &report.tool);
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".into());
    let heaps = description.heaps.iter().map(|heap| {
        let kind = if heap.device_local { "device" } else { "host" };
        format!("{} bytes ({kind})", heap.size)
    });
    vec![
        ("device", device.name.clone()),
        ("device type", description.device_type.clone()),
        ("vendor and device", format!("{:#06x}, {:#06x}", description.vendor_id, description.device_id)),
        ("device UUID", description.device_uuid.clone()),
        ("driver", format!("{} ({})", driver.name, driver.id)),
        ("driver info", driver.info.clone()),
        ("driver version", driver.version.clone()),
        ("driver UUID", description.driver_uuid.clone()),
        ("Vulkan", description.api_version.clone()),
        ("conformance", description.conformance_version.clone()),
        ("workarounds", listed(&description.workarounds)),
        ("lanes", format!("{} ({} to {})", subgroups.size, subgroups.min_size, subgroups.max_size)),
        ("invocations of a workgroup", limits.max_workgroup_invocations.to_string()),
        ("bytes of shared memory", limits.shared_memory_size.to_string()),
        ("heaps", listed(&heaps.collect::<Vec<_>>())),
        ("clock", (if device.gpu_timestamps { "GPU timestamps" } else { "wall clock" }).to_owned()),
        ("caches", (if device.cold_cache { "cold" } else { "warm" }).to_owned()),
        ("processor", format!("{}, {} threads", or_unknown(&host.processor), host.threads)),
        ("system", format!("{} {}, {}", host.os, or_unknown(&host.kernel), host.architecture)),
        ("subsweep", format!("{}, commit {}", tool.version, or_unknown(&tool.git_hash))),
        ("Rust compiler", tool.rust_compiler.clone()),
        ("shader compiler", tool.shader_compiler.clone()),
    ]
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
