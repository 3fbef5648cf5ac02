//! What a compiler makes of a shape.

use std::fmt;

use subsweep::tuning::{KernelShape, TunedPart};
use subsweep_tool::harness::{InspectedPipeline, Inspection, MAIN_PATH, PipelineSummary};

/// Workgroups of which one works while another waits at a barrier.
const WORKGROUPS: u64 = 2;

/// Figures of the kernels that process all items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compiled {
    /// Instructions of a key or element on the main paths of all kernels.
    pub instructions: f64,
    /// Workgroups that fit on a compute unit: the least of the kernels.
    pub workgroups: Option<u64>,
    /// Registers of an invocation: the most of the kernels.
    pub registers: Option<u64>,
}

impl Compiled {
    /// Instructions, as if twice as many where there is no room for two workgroups.
    pub fn cost(&self) -> f64 {
        let fit = self.workgroups.unwrap_or(WORKGROUPS).clamp(1, WORKGROUPS);
        self.instructions * (WORKGROUPS / fit) as f64
    }
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
        let (workgroups, registers) = (known(self.workgroups), known(self.registers));
        write!(
            f,
            "{:.1} instructions an element, {workgroups} workgroups, {registers} registers",
            self.instructions
        )
    }
}

/// The figures of a shape with `items` keys or elements an invocation.
///
/// # Errors
/// Why there are none: it spills, or its driver does not tell.
pub fn instructions_of(
    part: TunedPart,
    shape: &KernelShape,
    items: u32,
    inspection: &Inspection,
) -> Result<Compiled, String> {
    let mut compiled = Compiled { instructions: 0.0, workgroups: None, registers: None };
    for kernel in part.hot_kernels() {
        let own = || inspection.pipelines.iter().filter(|pipeline| is_of(pipeline, kernel));
        // A histogram has a subgroup size of its own.
        let lanes = shape.subgroup_size.filter(|lanes| own().any(|pipeline| pipeline.lanes == *lanes));
        let own = || own().filter(|pipeline| lanes.is_none_or(|lanes| pipeline.lanes == lanes));
        let of = |is_main_path| {
            of_quads(own().filter(|pipeline| pipeline.specialization.contains(MAIN_PATH) == is_main_path))
                .ok_or_else(|| format!("{kernel} is not compiled"))
        };
        let (whole, main_path) = (of(false)?, of(true)?);
        if whole.is_spilling() == Some(true) {
            return Err("registers go to memory".to_owned());
        }
        let instructions = main_path.instructions.ok_or("the driver tells no instructions")?;
        compiled.instructions += instructions as f64 / f64::from(items);
        compiled.workgroups = compiled.workgroups.into_iter().chain(whole.workgroups).min();
        compiled.registers = whole.registers.max(compiled.registers);
    }
    Ok(compiled)
}

fn is_of(pipeline: &InspectedPipeline, kernel: &str) -> bool {
    pipeline.kernel.split(':').next() == Some(kernel)
}

/// The summary of a kernel's pipeline for aligned memory, which takes quads.
fn of_quads<'a>(pipelines: impl Iterator<Item = &'a InspectedPipeline>) -> Option<PipelineSummary> {
    let takes_quads = |pipeline: &&InspectedPipeline| pipeline.specialization.contains("QUAD_ACCESS=1");
    pipelines.max_by_key(takes_quads).map(|pipeline| pipeline.summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline(kernel: &str, specialization: &str, summary: PipelineSummary) -> InspectedPipeline {
        InspectedPipeline {
            kernel: kernel.into(),
            specialization: specialization.into(),
            lanes: 32,
            summary,
            executables: Vec::new(),
        }
    }

    /// A kernel, and its main path, which is all but 500 of its instructions.
    fn both(
        kernel: &str,
        quads: u32,
        main_path: Option<u64>,
        workgroups: Option<u64>,
    ) -> [InspectedPipeline; 2] {
        let specialization = format!("WORKGROUP_SIZE=256 QUAD_ACCESS={quads}");
        let of = |instructions, workgroups| PipelineSummary {
            instructions,
            workgroups,
            spills: Some(0),
            ..PipelineSummary::default()
        };
        [
            pipeline(kernel, &specialization, of(main_path.map(|count| count + 500), workgroups)),
            pipeline(kernel, &format!("{specialization} {MAIN_PATH}"), of(main_path, Some(1))),
        ]
    }

    /// Of 8 items.
    fn compiled(part: TunedPart, pipelines: &[InspectedPipeline]) -> Result<Compiled, String> {
        let inspection = Inspection { pipelines: pipelines.to_vec(), not_supported: Vec::new() };
        instructions_of(part, &KernelShape::tile(256, 16), 8, &inspection)
    }

    #[test]
    fn figures_are_those_of_the_main_paths_of_all_kernels_together() {
        let kernels = [
            both("scan/reduce:words64x1", 0, Some(999), Some(9)),
            both("scan/reduce:words64x1", 1, Some(80), Some(6)),
            both("scan/downsweep:words64x1", 1, Some(240), Some(3)),
            both("scan/reduced", 1, Some(5), Some(1)),
        ];
        let two = compiled(TunedPart::Scan, kernels.as_flattened()).unwrap();
        assert_eq!(two, Compiled { instructions: 40.0, workgroups: Some(3), registers: None });
        assert_eq!(two.cost(), 40.0);
        let cost = |workgroups| {
            let pipelines = both("scan/chained:words64x1", 1, Some(320), workgroups);
            compiled(TunedPart::ChainedScan, &pipelines).unwrap().cost()
        };
        // A lone workgroup.
        assert_eq!((cost(Some(1)), cost(None), cost(Some(4))), (80.0, 40.0, 40.0));
    }

    #[test]
    fn what_spills_or_is_not_told_has_none() {
        let of = |pipelines: &[InspectedPipeline]| compiled(TunedPart::ChainedScan, pipelines).unwrap_err();
        let mut spilling = both("scan/chained:words64x1", 1, Some(80), Some(2));
        spilling[0].summary.spills = Some(3);
        assert_eq!(of(&spilling), "registers go to memory");
        let silent = both("scan/chained:words64x1", 1, None, None);
        assert_eq!(of(&silent), "the driver tells no instructions");
        assert_eq!(of(&silent[..1]), "scan/chained is not compiled");
        assert_eq!(of(&[]), "scan/chained is not compiled");
    }
}
