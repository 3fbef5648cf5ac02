//! Comparison of two inspections, pipeline by pipeline. The field names are the keys of `compare --json`, and stable.

use serde::Serialize;

use super::{InspectedDevice, InspectedPipeline, Summary};
use crate::harness::statistics::geometric_mean;

/// The comparison of one device.
#[derive(Debug, Clone, Serialize)]
pub struct InspectionComparison {
    /// The base.
    pub base: InspectionSide,
    /// The new inspection.
    pub new: InspectionSide,
    /// Pipelines of both, in the order of the new ones.
    pub pipelines: Vec<PipelineComparison>,
    /// Names of pipelines of the base only.
    pub only_in_base: Vec<String>,
    /// Names of pipelines of the new inspection only.
    pub only_in_new: Vec<String>,
}

/// The origin of one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InspectionSide {
    /// The file.
    pub report: String,
    /// The device.
    pub device: String,
    /// Driver name and version; null if unknown.
    pub driver: Option<String>,
}

/// A pipeline of both inspections.
#[derive(Debug, Clone, Serialize)]
pub struct PipelineComparison {
    /// The kernel of the new side, usually of both.
    pub kernel: String,
    /// The base.
    pub base: PipelineSide,
    /// The new pipeline.
    pub new: PipelineSide,
    /// Names of differing numbers, as in a summary; also `kernel`, `specialization` and `lanes` if they differ.
    pub changed: Vec<&'static str>,
}

/// One side of a pipeline.
#[derive(Debug, Clone, Serialize)]
pub struct PipelineSide {
    /// The kernel.
    pub kernel: String,
    /// The specialization.
    pub specialization: String,
    /// Subgroup size of the compilation; 0 if the driver does not report it.
    pub lanes: u32,
    /// The driver's statistics.
    pub summary: Summary,
}

impl InspectionComparison {
    /// Compares two devices, each with the name of its file.
    ///
    /// Pipelines are paired by kernel, specialization and lanes; then by kernel and specialization; then by kernel
    /// alone, if one is left on each side, as a new tuning has another specialization. If finally a single pipeline is
    /// left on each side, these are paired too: modules of `--spirv` are named after their files.
    pub fn new(base: (&str, &InspectedDevice), new: (&str, &InspectedDevice)) -> Self {
        type Key = fn(&InspectedPipeline) -> (&str, &str, u32);
        let keys: [Key; 4] = [
            |one| (&one.kernel, &one.specialization, one.lanes),
            |one| (&one.kernel, &one.specialization, 0),
            |one| (&one.kernel, "", 0),
            |_| ("", "", 0),
        ];
        let [mut left_in_base, mut left_in_new] =
            [&base, &new].map(|(_, device)| device.inspection.pipelines.iter().collect::<Vec<_>>());
        let mut pairs = Vec::new();
        for key in keys {
            let count = |list: &[&InspectedPipeline], of: &InspectedPipeline| {
                list.iter().filter(|one| key(one) == key(of)).count()
            };
            let (counts_base, counts_new) = (left_in_base.clone(), left_in_new.clone());
            left_in_new.retain(|one| {
                if [count(&counts_base, one), count(&counts_new, one)] != [1, 1] {
                    return true;
                }
                let at = left_in_base.iter().position(|other| key(other) == key(one));
                let Some(at) = at else { return true };
                pairs.push((left_in_base.remove(at), *one));
                false
            });
        }
        pairs.sort_by_key(|(_, one)| (&one.kernel, &one.specialization, one.lanes));
        let name = |one: &&InspectedPipeline| format!("{} {}", one.kernel, one.specialization);
        Self {
            base: InspectionSide::new(base),
            new: InspectionSide::new(new),
            pipelines: pairs.into_iter().map(|(base, new)| PipelineComparison::new(base, new)).collect(),
            only_in_base: left_in_base.iter().map(name).collect(),
            only_in_new: left_in_new.iter().map(name).collect(),
        }
    }

    /// Geometric mean of the ratios of instructions, new over base, where both are known; none without one.
    pub fn instructions_ratio(&self) -> Option<f64> {
        let known = self.pipelines.iter().filter_map(|one| {
            let (base, new) = (one.base.summary.instructions?, one.new.summary.instructions?);
            (base > 0 && new > 0).then(|| new as f64 / base as f64)
        });
        let ratios: Vec<f64> = known.collect();
        (!ratios.is_empty()).then(|| geometric_mean(ratios.into_iter()))
    }
}

impl InspectionSide {
    fn new((report, device): (&str, &InspectedDevice)) -> Self {
        let driver = device.description.as_ref().map(|it| it.driver.text());
        Self { report: report.to_owned(), device: device.title(), driver }
    }
}

impl PipelineComparison {
    fn new(base: &InspectedPipeline, new: &InspectedPipeline) -> Self {
        let numbers = base.summary.numbers().into_iter().zip(new.summary.numbers());
        let mut changed: Vec<_> = numbers.filter(|(a, b)| a != b).map(|((name, _), _)| name).collect();
        let others = [
            ("kernel", base.kernel != new.kernel),
            ("specialization", base.specialization != new.specialization),
            ("lanes", base.lanes != new.lanes),
        ];
        changed.extend(others.into_iter().filter_map(|(name, differs)| differs.then_some(name)));
        let [base_side, new_side] = [base, new].map(PipelineSide::new);
        Self { kernel: new.kernel.clone(), base: base_side, new: new_side, changed }
    }
}

impl PipelineSide {
    fn new(pipeline: &InspectedPipeline) -> Self {
        let InspectedPipeline { kernel, specialization, lanes, summary, .. } = pipeline;
        Self {
            kernel: kernel.clone(),
            specialization: specialization.clone(),
            lanes: *lanes,
            summary: *summary,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Inspection;

    fn pipeline(kernel: &str, specialization: &str, lanes: u32, instructions: u64) -> InspectedPipeline {
        InspectedPipeline {
            kernel: kernel.into(),
            specialization: specialization.into(),
            lanes,
            summary: Summary { instructions: Some(instructions), spills: Some(0), ..Summary::default() },
            executables: Vec::new(),
        }
    }

    fn compare(base: &[InspectedPipeline], new: &[InspectedPipeline]) -> InspectionComparison {
        let device = |pipelines: &[InspectedPipeline]| InspectedDevice {
            index: 0,
            gpu: Some("apple-m1".into()),
            name: "M1".into(),
            reason: None,
            description: None,
            inspection: Inspection { pipelines: pipelines.into(), not_supported: Vec::new() },
        };
        InspectionComparison::new(("a", &device(base)), ("b", &device(new)))
    }

    #[test]
    fn pipelines_are_paired_by_name_and_kernels_across_tunings() {
        let base = [
            pipeline("a", "256", 32, 100),
            pipeline("a", "256", 64, 150),
            pipeline("b", "256", 32, 100),
            pipeline("c", "128", 32, 100),
            pipeline("d", "1", 32, 1),
            pipeline("d", "2", 32, 1),
        ];
        let new = [
            pipeline("a", "256", 64, 150),
            pipeline("a", "256", 32, 50),
            pipeline("b", "256", 16, 100),
            pipeline("c", "512", 32, 200),
            pipeline("d", "3", 32, 1),
        ];
        let compared = compare(&base, &new);
        let found: Vec<_> = compared
            .pipelines
            .iter()
            .map(|one| (&one.kernel[..], one.base.lanes, one.new.lanes, &one.changed[..]))
            .collect();
        assert_eq!(
            found,
            [
                ("a", 32, 32, &["instructions"][..]),
                ("a", 64, 64, &[]),
                ("b", 32, 16, &["lanes"]),
                ("c", 32, 32, &["instructions", "specialization"]),
            ]
        );
        // The pair of the third is ambiguous.
        assert_eq!(compared.only_in_base, ["d 1", "d 2"]);
        assert_eq!(compared.only_in_new, ["d 3"]);
        let ratio = compared.instructions_ratio().unwrap();
        assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
        assert_eq!(compare(&[], &[]).instructions_ratio(), None);
    }

    #[test]
    fn the_last_pipelines_of_both_are_paired_under_any_names() {
        let [a, b, both] = ["a.spv", "b.spv", "both"].map(|name| pipeline(name, "main", 32, 7));
        let compared = compare(&[a.clone(), both.clone()], &[both.clone(), b.clone()]);
        let found: Vec<_> = compared
            .pipelines
            .iter()
            .map(|one| (&one.kernel[..], &one.base.kernel[..], &one.changed[..]))
            .collect();
        assert_eq!(found, [("b.spv", "a.spv", &["kernel"][..]), ("both", "both", &[])]);
        // The pair is ambiguous.
        let compared = compare(&[a, both], &[b]);
        assert_eq!((compared.pipelines.len(), compared.only_in_base.len()), (0, 2));
    }

    #[test]
    fn an_inspection_is_read_as_it_was_written() {
        let json = br#"[{"index": 0, "name": "x", "reason": null, "pipelines": [{"kernel": "k",
            "specialization": "s", "lanes": 32, "summary": {"registers": 5}, "executables": [{"name": "e",
            "subgroup_size": 32, "statistics": [{"name": "n", "value": 1.5}, {"name": "m", "value": -1},
            {"name": "o", "value": true}]}]}], "not_supported": []}]"#;
        let devices = InspectedDevice::all_from_json(json).unwrap();
        assert_eq!(devices[0].gpu, None);
        assert_eq!(devices[0].inspection.pipelines[0].summary.registers, Some(5));
        let written = serde_json::to_vec(&devices).unwrap();
        assert_eq!(InspectedDevice::all_from_json(&written).unwrap(), devices);
        for json in [&b"[1]"[..], br#"[{"index": 0, "name": "x", "usable": true}]"#] {
            let error = InspectedDevice::all_from_json(json).unwrap_err().to_string();
            assert!(error.starts_with("is a JSON array, but no inspection ("), "{error}");
        }
        assert!(InspectedDevice::all_from_json(b"[").unwrap_err().to_string().contains("parsed as JSON"));
    }
}
