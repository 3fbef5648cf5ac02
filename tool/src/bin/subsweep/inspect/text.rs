//! Text output of inspections.

use std::fmt::Write;

use subsweep_tool::harness::{InspectedDevice, InspectedPipeline, PipelineSummary};

use crate::terminal::counted;

/// A heading, and the number of a pipeline under it.
pub type Column = (&'static str, fn(&PipelineSummary) -> Option<u64>);

/// The columns of a table of pipelines.
pub const COLUMNS: [Column; 11] = [
    ("registers", |summary| summary.registers),
    ("scalar", |summary| summary.scalar_registers),
    ("spills", |summary| summary.spills),
    ("to registers", |summary| summary.register_spills),
    ("scratch", |summary| summary.scratch_size),
    ("occupancy", |summary| summary.occupancy),
    ("workgroups", |summary| summary.workgroups),
    ("code", |summary| summary.code_size),
    ("shared", |summary| summary.shared_memory_size),
    ("instructions", |summary| summary.instructions),
    ("cycles", |summary| summary.latency.or(summary.inverse_throughput)),
];

/// The lines under a device's heading.
pub fn block(report: &InspectedDevice) -> String {
    if let Some(reason) = &report.reason {
        return format!("  {reason}\n");
    }
    let pipelines = &report.inspection.pipelines;
    let mut text = table(pipelines);
    for reason in &report.inspection.not_supported {
        let _ = writeln!(text, "  not supported: {reason}");
    }
    let _ = writeln!(text, "  {}: {}", counted(pipelines.len(), "pipeline"), spills(pipelines));
    let arrays = names(pipelines, |pipeline| pipeline.summary.has_array_in_memory());
    if !arrays.is_empty() {
        let keep = if arrays.len() == 1 { "keeps" } else { "keep" };
        let _ = writeln!(text, "  {} {keep} an array in memory: {}", arrays.len(), arrays.join(", "));
    }
    text
}

fn table(pipelines: &[InspectedPipeline]) -> String {
    let kernels = pipelines.iter().map(|pipeline| pipeline.kernel.len());
    let width = kernels.chain(["kernel".len()]).max().unwrap_or(0);
    let mut text = format!("  {:width$}  lanes", "kernel");
    for (heading, _) in COLUMNS {
        let _ = write!(text, "  {heading:>5}");
    }
    text.push_str("  specialization\n");
    for pipeline in pipelines {
        let _ = write!(text, "  {:width$}  {:>5}", pipeline.kernel, number(reported(pipeline.lanes)));
        for (heading, value) in COLUMNS {
            let _ = write!(text, "  {:>1$}", number(value(&pipeline.summary)), heading.len().max(5));
        }
        let _ = writeln!(text, "  {}", short(&pipeline.specialization));
        if pipeline.summary.is_empty() {
            unnamed_statistics(&mut text, pipeline);
        }
    }
    text
}

/// The subgroup size; 0 means that the driver does not report one.
fn reported(lanes: u32) -> Option<u64> {
    Some(u64::from(lanes)).filter(|lanes| *lanes > 0)
}

/// The number, or a dash.
pub fn number(value: Option<u64>) -> String {
    value.map_or("-".into(), |value| value.to_string())
}

/// The specialization in short: the workgroup size, and constants other than 0.
pub fn short(specialization: &str) -> String {
    let words = specialization.split(' ').filter(|word| !word.ends_with("=0"));
    words.map(|word| word.strip_prefix("WORKGROUP_SIZE=").unwrap_or(word)).collect::<Vec<_>>().join(" ")
}

/// Writes the statistics of a driver with unknown names.
fn unnamed_statistics(text: &mut String, pipeline: &InspectedPipeline) {
    for executable in &pipeline.executables {
        let statistics = executable.statistics.iter().map(|one| format!("{} {}", one.name, one.value));
        let _ = writeln!(text, "    {}: {}", executable.name, statistics.collect::<Vec<_>>().join(", "));
    }
}

/// The pipelines that spill, as text.
fn spills(pipelines: &[InspectedPipeline]) -> String {
    if pipelines.iter().all(|pipeline| pipeline.summary.is_spilling().is_none()) {
        return "the driver does not report spills".into();
    }
    let names = names(pipelines, |pipeline| pipeline.summary.is_spilling() == Some(true));
    match names.len() {
        0 => "no pipeline spills".into(),
        1 => format!("1 spills: {}", names[0]),
        count => format!("{count} spill: {}", names.join(", ")),
    }
}

/// The names of the pipelines for which `holds` is true.
fn names(pipelines: &[InspectedPipeline], holds: impl Fn(&InspectedPipeline) -> bool) -> Vec<String> {
    let name =
        |pipeline: &InspectedPipeline| format!("{} {}", pipeline.kernel, short(&pipeline.specialization));
    pipelines.iter().filter(|pipeline| holds(pipeline)).map(name).collect()
}

#[cfg(test)]
mod tests {
    use subsweep::device::StatisticValue;
    use subsweep_tool::harness::{InspectedExecutable, InspectedStatistic, Inspection};

    use super::*;

    fn pipeline(kernel: &str, summary: PipelineSummary) -> InspectedPipeline {
        InspectedPipeline {
            kernel: kernel.into(),
            specialization: "WORKGROUP_SIZE=256 RADIX_BITS=4 REVERSE=0".into(),
            lanes: 32,
            summary,
            executables: Vec::new(),
        }
    }

    fn report(pipelines: Vec<InspectedPipeline>) -> InspectedDevice {
        let inspection = Inspection { pipelines, not_supported: Vec::new() };
        InspectedDevice {
            index: 0,
            gpu: None,
            name: "GPU".into(),
            reason: None,
            description: None,
            inspection,
        }
    }

    #[test]
    fn a_missing_statistic_is_a_dash() {
        let summary = PipelineSummary {
            registers: Some(48),
            spills: Some(0),
            code_size: Some(12_345),
            ..PipelineSummary::default()
        };
        assert_eq!(
            block(&report(vec![pipeline("sort/count", summary)])),
            "  kernel      lanes  registers  scalar  spills  to registers  scratch  occupancy  workgroups   code  \
             shared  instructions  cycles  specialization\n  \
             sort/count     32         48       -       0             -        -          -           -  12345       \
             -             -       -  256 RADIX_BITS=4\n  \
             1 pipeline: no pipeline spills\n"
        );
    }

    #[test]
    fn spilling_pipelines_are_named() {
        let of = |spills| PipelineSummary { spills: Some(spills), ..PipelineSummary::default() };
        let last_line = |pipelines| block(&report(pipelines)).lines().last().map(str::to_owned).unwrap();
        let (good, bad) = (pipeline("sort/count", of(0)), pipeline("sort/scatter", of(7)));
        assert_eq!(last_line(vec![good.clone(), good.clone()]), "  2 pipelines: no pipeline spills");
        assert_eq!(
            last_line(vec![good, bad.clone()]),
            "  2 pipelines: 1 spills: sort/scatter 256 RADIX_BITS=4"
        );
        assert_eq!(
            last_line(vec![bad.clone(), bad]),
            "  2 pipelines: 2 spill: sort/scatter 256 RADIX_BITS=4, sort/scatter 256 RADIX_BITS=4"
        );
        let local = PipelineSummary { spills: Some(0), scratch_size: Some(16), ..PipelineSummary::default() };
        assert_eq!(
            block(&report(vec![pipeline("sort/count", local)])).lines().rev().take(2).collect::<Vec<_>>(),
            ["  1 keeps an array in memory: sort/count 256 RADIX_BITS=4", "  1 pipeline: no pipeline spills"]
        );
        let nothing = pipeline("sort/count", PipelineSummary::default());
        assert_eq!(last_line(vec![nothing]), "  1 pipeline: the driver does not report spills");
    }

    #[test]
    fn statistics_of_unknown_names_are_printed_as_reported() {
        let statistic = |name: &str, value| InspectedStatistic { name: name.into(), value };
        let mut strange = pipeline("sort/count", PipelineSummary::default());
        strange.executables.push(InspectedExecutable {
            name: "main".into(),
            subgroup_size: 32,
            statistics: vec![
                statistic("Wires", StatisticValue::U64(5)),
                statistic("Heat", StatisticValue::F64(0.5)),
            ],
        });
        let text = block(&report(vec![strange]));
        assert!(text.contains("\n    main: Wires 5, Heat 0.5\n"), "{text}");
    }
}
