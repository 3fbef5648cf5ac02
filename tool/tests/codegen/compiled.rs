//! Pipelines compiled for a compile-only GPU.

use anyhow::{Context as _, Result, ensure};
use subsweep::Error;
use subsweep::device::{Device, Pipeline};
use subsweep_tool::harness::{InspectedPipeline, PlanConfig};

use super::reduced::reduced;

/// One pipeline and the driver's statistics.
#[derive(Debug)]
pub struct Compiled {
    pub inspected: InspectedPipeline,
    /// Whether this is the kernel's first specialization.
    pub is_first: bool,
    /// The subgroup size that the policy requires.
    required_lanes: Option<u32>,
    /// Instructions that access 16 bytes of memory for each lane, where the assembly is AMD's.
    pub wide_accesses: Option<u64>,
    /// The line by [`reduced`].
    pub reduced: String,
}

impl Compiled {
    pub fn new(pipeline: &Pipeline) -> Result<Self> {
        Ok(Self {
            inspected: InspectedPipeline::new(pipeline)?,
            is_first: false,
            required_lanes: pipeline.specialization().subgroup_size,
            wide_accesses: wide_accesses(pipeline)?,
            reduced: reduced(pipeline.kernel().name, pipeline.specialization().constants.iter().copied()),
        })
    }

    pub fn name(&self) -> String {
        format!(
            "{} {} at {} lanes",
            self.inspected.kernel, self.inspected.specialization, self.inspected.lanes
        )
    }

    /// Fails if the pipeline spills, uses scratch, or has another subgroup size than required.
    pub fn check(&self) -> Result<()> {
        let summary = &self.inspected.summary;
        // A compiler without a statistic of spills must not pass.
        let spills = summary.spills.context("the compiler does not report spills")?;
        let scratch_size = summary.scratch_size.unwrap_or(0);
        let lanes = self.inspected.lanes;
        ensure!(spills == 0, "spills to memory: {spills}");
        ensure!(scratch_size == 0, "bytes of scratch: {scratch_size}");
        ensure!(lanes > 0, "the compiler does not report its subgroup size");
        ensure!(
            self.required_lanes.is_none_or(|required| required == lanes),
            "{lanes} lanes, required {:?}",
            self.required_lanes
        );
        Ok(())
    }
}

/// Instructions that load or store 16 bytes of memory for each lane, in AMD's assembly.
fn wide_accesses(pipeline: &Pipeline) -> Result<Option<u64>> {
    let representations = pipeline.representations()?;
    let assembly = representations.iter().find(|one| one.name == "Assembly");
    // The mnemonics of GCN and RDNA up to 2, and of later GPUs.
    let is_wide =
        |line: &&str| line.contains("global_") && (line.contains("_dwordx4") || line.contains("_b128"));
    let is_of_amd = |text: &&str| text.contains("s_endpgm");
    let assembly = assembly.map(|assembly| &*assembly.text).filter(is_of_amd);
    Ok(assembly.map(|text| text.lines().filter(is_wide).count() as u64))
}

/// The plan whose kernel no plan has without functions of a caller.
fn by_functions() -> Option<PlanConfig> {
    #[cfg(feature = "compile-shaders")]
    {
        use subsweep::{FunctionModule, Functions, kernels, sort::StructureSortConfig};
        static MODULES: &[FunctionModule] = &[
            // SAFETY: the build has compiled the module for Vulkan 1.2, from an include that follows the rules.
            unsafe { FunctionModule::new("sort/merge_runs", kernels::fixture("record.sort/merge_runs")) },
        ];
        // SAFETY: as above.
        static RECORD: Functions = unsafe { Functions::new("record", 7, MODULES).with_data(1) };
        Some(StructureSortConfig::custom_argsort(&RECORD).into())
    }
    #[cfg(not(feature = "compile-shaders"))]
    None
}

/// [Every pipeline that a policy can choose](PlanConfig::every), each once, in the order of the plans. Plans of a
/// feature that the GPU lacks are omitted.
pub fn all(device: &Device) -> Result<Vec<Compiled>> {
    let mut compiled = Vec::<Compiled>::new();
    // Pipelines that are held are not compiled again for the next plan.
    let mut held = Vec::<Pipeline>::new();
    for plan in PlanConfig::every(device.capabilities()).into_iter().chain(by_functions()) {
        let visited = plan.for_each_pipeline(device, |pipeline| -> Result<()> {
            if held.iter().any(|other| other.is_same(pipeline)) {
                return Ok(());
            }
            let kernel = pipeline.kernel().name;
            let is_first = held.iter().all(|other| other.kernel().name != kernel);
            held.push(pipeline.clone());
            let one =
                Compiled::new(pipeline).with_context(|| format!("{kernel} {}", pipeline.specialization()))?;
            compiled.push(Compiled { is_first, ..one });
            Ok(())
        });
        match visited {
            Err(error) if matches!(error.downcast_ref(), Some(Error::MissingFeature { .. })) => {}
            visited => visited?,
        }
    }
    Ok(compiled)
}
