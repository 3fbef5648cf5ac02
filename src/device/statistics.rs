//! Compiler statistics of pipelines, such as registers, spills and instructions
//! (`VK_KHR_pipeline_executable_properties`).

use std::fmt;

use ash::khr::pipeline_executable_properties as executables;
use ash::vk;

use super::capabilities::text;
use super::pipeline::Pipeline;
use crate::error::{Error, Result};

/// One statistic, under the driver's name.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Statistic {
    /// Name of the pipeline executable; a compute pipeline usually has one.
    pub executable: String,
    /// Subgroup size that the executable was compiled for; 0 if not reported.
    pub subgroup_size: u32,
    /// The driver's name of the statistic.
    pub name: String,
    /// The value.
    pub value: StatisticValue,
}

/// A value in the format that the driver reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StatisticValue {
    /// `VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR`.
    Bool(bool),
    /// Signed integer.
    I64(i64),
    /// Unsigned integer.
    U64(u64),
    /// Floating point.
    F64(f64),
}

/// An internal representation of a pipeline, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Representation {
    /// The driver's name of the representation.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Pipeline {
    /// The compiler statistics of the pipeline, in the driver's order; empty if there are none.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device was not created with
    /// [`DeviceRequirements::with_pipeline_statistics`](super::DeviceRequirements::with_pipeline_statistics), or does
    /// not support it; the errors of the Vulkan functions.
    pub fn statistics(&self) -> Result<Vec<Statistic>> {
        // SAFETY: the pipeline is alive, of the functions' device, and captured its statistics.
        unsafe { statistics_of(self.executable_functions()?, self.raw()) }
    }

    /// The internal representations of the pipeline that are text, in the driver's order: usually the input,
    /// intermediate code, and the machine code. Empty if there are none.
    ///
    /// # Errors
    /// Errors of [`Self::statistics`].
    pub fn representations(&self) -> Result<Vec<Representation>> {
        const FUNCTION: &str = "vkGetPipelineExecutableInternalRepresentationsKHR";
        let (functions, executables) = self.executables()?;
        let mut representations = Vec::new();
        for index in 0..executables.len() as u32 {
            let info = vk::PipelineExecutableInfoKHR::default().pipeline(self.raw()).executable_index(index);
            // SAFETY: the pipeline is alive, of the functions' device, which has the feature enabled; it captured its
            // representations and has this executable.
            let mut found = unsafe { functions.get_pipeline_executable_internal_representations(&info) }
                .map_err(Error::vulkan(FUNCTION))?;
            // The first call returns sizes, the second fills the memory.
            let mut texts: Vec<_> = found.iter().map(|one| vec![0u8; one.data_size]).collect();
            for (one, text) in found.iter_mut().zip(&mut texts) {
                one.p_data = text.as_mut_ptr().cast();
            }
            let mut count = found.len() as u32;
            // SAFETY: as above; `found` has `count` elements, each with memory of its `data_size`.
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

    /// The executables of the pipeline, and the functions to query them.
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

/// The compiler statistics of a pipeline, in the driver's order.
///
/// # Safety
/// The pipeline is alive, of the functions' device, which has the feature `pipelineExecutableInfo` enabled, and captured
/// its statistics.
pub unsafe fn statistics_of(
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

/// The executables of a pipeline.
///
/// # Safety
/// The conditions of [`statistics_of`] hold, except that the statistics need not be captured.
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
        // SAFETY: the format determines which member is valid; every bit pattern is valid for all of them.
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
