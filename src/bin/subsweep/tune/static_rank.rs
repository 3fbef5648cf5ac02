//! What a compiler makes of a shape, as a figure.

use subsweep::harness::{InspectedPipeline, Inspection, MAIN_PATH, PipelineSummary, TunedInput, TunedShape};

use super::rows::{Figure, Numbers};

/// Workgroups of which one works while another waits at a barrier.
const WORKGROUPS: u64 = 2;

/// The figure of a shape whose pipelines have these names: instructions of a key or an element and a pass on the main paths, as
/// if twice as many where there is no room for two workgroups.
///
/// # Errors
/// Why there is none: it spills, or its driver does not tell.
pub fn figure_of(
    shape: TunedShape,
    input: usize,
    tuned: &TunedInput,
    names: impl Iterator<Item = String>,
    inspection: &Inspection,
) -> Result<Figure, String> {
    let names: Vec<_> = names.collect();
    let mut instructions = 0;
    let (mut workgroups, mut registers) = (None::<u64>, None);
    for kernel in shape.hot_kernels() {
        let own = || inspection.pipelines.iter().filter(|pipeline| is_of(pipeline, kernel, &names));
        // A histogram has a subgroup size of its own.
        let lanes = shape.lanes().filter(|lanes| own().any(|pipeline| pipeline.lanes == *lanes));
        let own = || own().filter(|pipeline| lanes.is_none_or(|lanes| pipeline.lanes == lanes));
        let of = |is_main_path| {
            of_quads(own().filter(|pipeline| pipeline.specialization.contains(MAIN_PATH) == is_main_path))
                .ok_or_else(|| format!("{kernel} is not compiled"))
        };
        let (whole, main_path) = (of(false)?, of(true)?);
        if whole.is_spilling() == Some(true) {
            return Err("registers go to memory".to_owned());
        }
        instructions += main_path.instructions.ok_or("the driver tells no instructions")?;
        workgroups = workgroups.into_iter().chain(whole.workgroups).min();
        registers = whole.registers.max(registers);
    }
    let instructions = instructions as f64 / f64::from(shape.items(tuned));
    let fit = workgroups.unwrap_or(WORKGROUPS).clamp(1, WORKGROUPS);
    let cost = instructions * (WORKGROUPS / fit) as f64;
    Ok(Figure {
        shape,
        input,
        score: 1.0 / cost,
        numbers: Numbers::Compiled { instructions, workgroups, registers },
    })
}

fn is_of(pipeline: &InspectedPipeline, kernel: &str, names: &[String]) -> bool {
    pipeline.kernel.split(':').next() == Some(kernel)
        && names.contains(&format!("{} {}", pipeline.kernel, pipeline.specialization))
}

/// Of a kernel's pipelines that of aligned memory, which takes quads.
fn of_quads<'a>(pipelines: impl Iterator<Item = &'a InspectedPipeline>) -> Option<PipelineSummary> {
    let takes_quads = |pipeline: &&InspectedPipeline| pipeline.specialization.contains("QUAD_ACCESS=1");
    pipelines.max_by_key(takes_quads).map(|pipeline| pipeline.summary)
}

#[cfg(test)]
mod tests {
    use subsweep::ElementType;
    use subsweep::harness::{SortValues, TunedAxes};

    use super::*;

    const INPUT: TunedInput =
        TunedInput { element: ElementType::U64, values: SortValues::None, count: 1 << 16 };

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

    fn figure(algorithm: usize, pipelines: &[InspectedPipeline]) -> Result<Figure, String> {
        let shape = TunedShape::Scan {
            algorithm: TunedAxes::SCANS[algorithm],
            workgroup_size: 256,
            words_per_invocation: 16,
            packs_per_run: 1,
        };
        let names: Vec<_> =
            pipelines.iter().map(|one| format!("{} {}", one.kernel, one.specialization)).collect();
        let inspection = Inspection { pipelines: pipelines.to_vec(), not_supported: Vec::new() };
        figure_of(shape, 0, &INPUT, names.into_iter(), &inspection)
    }

    #[test]
    fn a_figure_is_that_of_the_main_paths_of_all_kernels_together() {
        let kernels = [
            both("scan/reduce:words64x1", 0, Some(999), Some(9)),
            both("scan/reduce:words64x1", 1, Some(80), Some(6)),
            both("scan/downsweep:words64x1", 1, Some(240), Some(3)),
            both("scan/reduced", 1, Some(5), Some(1)),
        ];
        let two = figure(1, kernels.as_flattened()).unwrap();
        let expected = Numbers::Compiled { instructions: 40.0, workgroups: Some(3), registers: None };
        assert_eq!((two.numbers, two.score), (expected, 1.0 / 40.0));
        // A lone workgroup.
        let lone = figure(0, &both("scan/chained:words64x1", 1, Some(320), Some(1))).unwrap();
        assert_eq!(lone.score, 1.0 / 80.0);
        let untold = figure(0, &both("scan/chained:words64x1", 1, Some(320), None)).unwrap();
        assert_eq!(untold.score, 1.0 / 40.0);
    }

    #[test]
    fn what_spills_or_is_not_told_has_none() {
        let mut spilling = both("scan/chained:words64x1", 1, Some(80), Some(2));
        spilling[0].summary.spills = Some(3);
        assert_eq!(figure(0, &spilling).unwrap_err(), "registers go to memory");
        let silent = both("scan/chained:words64x1", 1, None, None);
        assert_eq!(figure(0, &silent).unwrap_err(), "the driver tells no instructions");
        assert_eq!(figure(0, &silent[..1]).unwrap_err(), "scan/chained is not compiled");
        assert_eq!(figure(0, &[]).unwrap_err(), "scan/chained is not compiled");
    }
}
