//! What a driver's compiler tells about a pipeline: registers, spills, instructions, whatever it counts.

use std::fmt;

use ash::khr::pipeline_executable_properties as executables;
use ash::vk;

use super::capabilities::text;
use super::pipeline::Pipeline;
use crate::error::{Error, Result};

/// One number, under the driver's own name for it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Statistic {
    /// Which of the programs that the pipeline became; a compute pipeline is mostly one.
    pub executable: String,
    /// Lanes that this program was compiled for; 0 if the driver does not say.
    pub subgroup_size: u32,
    /// What is counted, in the driver's words.
    pub name: String,
    /// How much of it.
    pub value: StatisticValue,
}

/// A number of the type that the driver gave it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StatisticValue {
    /// Yes or no.
    Bool(bool),
    /// With a sign.
    I64(i64),
    /// Without.
    U64(u64),
    /// With a fraction.
    F64(f64),
}

/// A text that the driver's compiler made of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Representation {
    /// What it is, in the driver's words.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Pipeline {
    /// What the driver's compiler tells about the pipeline, in its order. Empty if it tells nothing.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device was not made with
    /// [`DeviceRequirements::with_pipeline_statistics`](super::DeviceRequirements::with_pipeline_statistics), or
    /// cannot tell; else whatever Vulkan says.
    pub fn statistics(&self) -> Result<Vec<Statistic>> {
        // SAFETY: the pipeline is alive, and of the functions' device; it was made to keep its statistics.
        unsafe { statistics_of(self.executable_functions()?, self.raw()) }
    }

    /// What the driver's compiler shows of the pipeline as text, in its order: mostly what it read, what it made of that
    /// on the way, and last the device's instructions. Empty if it shows nothing.
    ///
    /// # Errors
    /// Those of [`Self::statistics`].
    pub fn representations(&self) -> Result<Vec<Representation>> {
        const FUNCTION: &str = "vkGetPipelineExecutableInternalRepresentationsKHR";
        let (functions, executables) = self.executables()?;
        let mut representations = Vec::new();
        for index in 0..executables.len() as u32 {
            let info = vk::PipelineExecutableInfoKHR::default().pipeline(self.raw()).executable_index(index);
            // SAFETY: the pipeline is alive, and of the functions' device, which has the feature; it was made to keep its
            // representations, and has this executable.
            let mut found = unsafe { functions.get_pipeline_executable_internal_representations(&info) }
                .map_err(Error::vulkan(FUNCTION))?;
            // Each says how long it is, and has no memory yet.
            let mut texts: Vec<_> = found.iter().map(|one| vec![0u8; one.data_size]).collect();
            for (one, text) in found.iter_mut().zip(&mut texts) {
                one.p_data = text.as_mut_ptr().cast();
            }
            let mut count = found.len() as u32;
            // SAFETY: as above; there is memory for as many as there are, and for each as much as it asked for.
            let result = unsafe {
                (functions.fp().get_pipeline_executable_internal_representations_khr)(
                    functions.device(),
                    &info,
                    &mut count,
                    found.as_mut_ptr(),
                )
            };
            result.result().map_err(Error::vulkan(FUNCTION))?;
            let is_text = found.iter().zip(texts).filter(|(one, _)| one.is_text == vk::TRUE);
            representations.extend(is_text.map(|(one, bytes)| Representation {
                name: text(one.name_as_c_str()),
                text: String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned(),
            }));
        }
        Ok(representations)
    }

    /// The programs that the pipeline became, and the functions that tell of them.
    fn executables(&self) -> Result<(&executables::Device, Vec<vk::PipelineExecutablePropertiesKHR<'_>>)> {
        let functions = self.executable_functions()?;
        // SAFETY: the pipeline is alive, and of the functions' device, which has the feature.
        Ok((functions, unsafe { executables_of(functions, self.raw()) }?))
    }

    fn executable_functions(&self) -> Result<&executables::Device> {
        self.device().executables().ok_or(Error::Unsupported {
            reason: "the device was made without pipeline statistics, or has none",
        })
    }
}

/// What the driver's compiler tells about a pipeline, in its order.
///
/// # Safety
/// The pipeline is alive, of the functions' device, which has the feature `pipelineExecutableInfo`, and was made to keep its
/// statistics.
pub(crate) unsafe fn statistics_of(
    functions: &executables::Device,
    pipeline: vk::Pipeline,
) -> Result<Vec<Statistic>> {
    let mut statistics = Vec::new();
    // SAFETY: as the caller promises.
    let executables = unsafe { executables_of(functions, pipeline) }?;
    for (index, executable) in (0..).zip(executables) {
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(index);
        // SAFETY: as the caller promises; the pipeline has this executable.
        let found = unsafe { functions.get_pipeline_executable_statistics(&info) }
            .map_err(Error::vulkan("vkGetPipelineExecutableStatisticsKHR"))?;
        statistics.extend(found.iter().map(|statistic| Statistic {
            executable: text(executable.name_as_c_str()),
            subgroup_size: executable.subgroup_size,
            name: text(statistic.name_as_c_str()),
            value: StatisticValue::read(statistic),
        }));
    }
    Ok(statistics)
}

/// The programs that a pipeline became.
///
/// # Safety
/// Those of [`statistics_of`] but for the statistics.
unsafe fn executables_of(
    functions: &executables::Device,
    pipeline: vk::Pipeline,
) -> Result<Vec<vk::PipelineExecutablePropertiesKHR<'_>>> {
    let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
    // SAFETY: as the caller promises.
    unsafe { functions.get_pipeline_executable_properties(&info) }
        .map_err(Error::vulkan("vkGetPipelineExecutablePropertiesKHR"))
}

impl StatisticValue {
    fn read(statistic: &vk::PipelineExecutableStatisticKHR<'_>) -> Self {
        use vk::PipelineExecutableStatisticFormatKHR as Format;
        let value = statistic.value;
        // SAFETY: the format says which member the driver wrote; all are of plain numbers.
        unsafe {
            match statistic.format {
                Format::BOOL32 => Self::Bool(value.b32 == vk::TRUE),
                Format::INT64 => Self::I64(value.i64),
                Format::FLOAT64 => Self::F64(value.f64),
                _ => Self::U64(value.u64),
            }
        }
    }
}

impl fmt::Display for StatisticValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::I64(value) => value.fmt(f),
            Self::U64(value) => value.fmt(f),
            Self::F64(value) => value.fmt(f),
        }
    }
}
