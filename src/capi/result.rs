//! Return codes: Vulkan's where one fits, and codes outside of Vulkan's range.

use std::ffi::CStr;

use super::vulkan::VkResult;
use crate::error::Error;
use crate::printable::printable;

/// A required pointer, handle or address is null.
pub const SUBSWEEP_ERROR_NULL: i32 = -2_000_000_001;
/// struct_size matches no version of the structure, or fields of a newer version than this library's are not 0.
pub const SUBSWEEP_ERROR_STRUCT_SIZE: i32 = -2_000_000_002;
/// An unknown enumerator, flag or algorithm name: SUBSWEEP_ELEMENT_TYPE_... and the like.
pub const SUBSWEEP_ERROR_UNKNOWN_VALUE: i32 = -2_000_000_003;
/// A required Vulkan function is missing: the instance or the device was created for an older version.
pub const SUBSWEEP_ERROR_MISSING_FUNCTION: i32 = -2_000_000_004;
/// No plan supports the configuration, or the memory does not match the plan's configuration.
pub const SUBSWEEP_ERROR_UNSUPPORTED: i32 = -2_000_000_005;
/// The algorithm does not support the configuration, or exceeds the limits of the device.
pub const SUBSWEEP_ERROR_INVALID_POLICY: i32 = -2_000_000_006;
/// More elements than the plan supports.
pub const SUBSWEEP_ERROR_TOO_MANY_ELEMENTS: i32 = -2_000_000_007;
/// The scratch is smaller than its requirements.
pub const SUBSWEEP_ERROR_SCRATCH_TOO_SMALL: i32 = -2_000_000_008;
/// Another range is too small for the count.
pub const SUBSWEEP_ERROR_RANGE_TOO_SMALL: i32 = -2_000_000_009;
/// An address or an offset is not a multiple of its alignment.
pub const SUBSWEEP_ERROR_MISALIGNED: i32 = -2_000_000_010;
/// Two ranges overlap that must be disjoint.
pub const SUBSWEEP_ERROR_OVERLAP: i32 = -2_000_000_011;
/// An object of one device was passed to another.
pub const SUBSWEEP_ERROR_FOREIGN_DEVICE: i32 = -2_000_000_012;
/// A range exceeds the last address or the last offset.
pub const SUBSWEEP_ERROR_INVALID_RANGE: i32 = -2_000_000_013;
/// A buffer range lacks a required usage flag.
pub const SUBSWEEP_ERROR_MISSING_USAGE: i32 = -2_000_000_014;
/// A bug in the library, also reported on standard error. The object was not created, or the recording is
/// incomplete: do not submit the command buffer.
pub const SUBSWEEP_ERROR_PANIC: i32 = -2_000_000_100;

/// A failure as it is reported to C.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Library(#[from] Error),
    #[error("{0} is null; it must be given")]
    Null(&'static str),
    #[error(
        "{name}: struct_size is {got}, and it is {expected} in this version of the library; set it to sizeof({name}), and \
         whatever is not used to 0"
    )]
    StructSize { name: &'static str, got: usize, expected: usize },
    #[error("{what} has no value {value:#x}; {known}")]
    UnknownValue { what: &'static str, value: u32, known: &'static str },
    #[error("{what} has no name '{name}'; there are {known}")]
    UnknownName { what: &'static str, name: String, known: String },
    #[error(
        "vkGetInstanceProcAddr has no {0}; make the instance for Vulkan 1.2 or later, in VkApplicationInfo::apiVersion"
    )]
    MissingFunction(&'static str),
    #[error("this is a bug of subsweep, please report it: {0}")]
    Panic(String),
}

impl Failure {
    /// The failure for a name not among `known`. The name may have any content and length: the message shows it
    /// cut, on one line.
    pub(super) fn unknown_name(what: &'static str, name: &CStr, known: &[&str]) -> Self {
        Self::UnknownName { what, name: printable(name.to_bytes(), 64), known: known.join(", ") }
    }

    /// The return code.
    pub(super) fn code(&self) -> VkResult {
        VkResult::from_raw(match self {
            Self::Library(error) => return code(error),
            Self::Null(_) => SUBSWEEP_ERROR_NULL,
            Self::StructSize { .. } => SUBSWEEP_ERROR_STRUCT_SIZE,
            Self::UnknownValue { .. } | Self::UnknownName { .. } => SUBSWEEP_ERROR_UNKNOWN_VALUE,
            Self::MissingFunction(_) => SUBSWEEP_ERROR_MISSING_FUNCTION,
            Self::Panic(_) => SUBSWEEP_ERROR_PANIC,
        })
    }
}

/// The code of an error. Covers errors that no function of the header returns today as well.
fn code(error: &Error) -> VkResult {
    VkResult::from_raw(match error {
        Error::MissingFeature { .. } => return VkResult::ERROR_FEATURE_NOT_PRESENT,
        Error::OutOfDeviceMemory { .. } | Error::Allocation { .. } => {
            return VkResult::ERROR_OUT_OF_DEVICE_MEMORY;
        }
        Error::OutOfHostMemory { .. } => return VkResult::ERROR_OUT_OF_HOST_MEMORY,
        Error::DeviceLost { .. } | Error::TimedOut { .. } => return VkResult::ERROR_DEVICE_LOST,
        Error::NoLoader { .. }
        | Error::NoDevice
        | Error::UnreadableManifest { .. }
        | Error::NoMatchingDevice { .. } => return VkResult::ERROR_INITIALIZATION_FAILED,
        // A success code in an error would be treated as success.
        Error::Vulkan { result, .. } if result.as_raw() < 0 => return *result,
        Error::Vulkan { .. } | Error::Interrupted => return VkResult::ERROR_UNKNOWN,
        Error::PolicyExceedsLimits { .. } | Error::InvalidPolicy(_) => SUBSWEEP_ERROR_INVALID_POLICY,
        Error::Unsupported { .. }
        | Error::Functions { .. }
        | Error::OutOfRange { .. }
        | Error::RowLengthMismatch { .. }
        | Error::PartialElement { .. }
        | Error::ElementMismatch { .. }
        | Error::ValueSizeMismatch { .. }
        | Error::FlagCountMismatch { .. }
        | Error::ValueCountMismatch { .. }
        | Error::SegmentOutOfOrder { .. }
        | Error::InvalidEdge { .. } => SUBSWEEP_ERROR_UNSUPPORTED,
        Error::TooManyElements { .. } => SUBSWEEP_ERROR_TOO_MANY_ELEMENTS,
        Error::ScratchTooSmall { .. } => SUBSWEEP_ERROR_SCRATCH_TOO_SMALL,
        Error::RangeTooSmall { .. } => SUBSWEEP_ERROR_RANGE_TOO_SMALL,
        Error::Misaligned { .. } => SUBSWEEP_ERROR_MISALIGNED,
        Error::Overlap { .. } => SUBSWEEP_ERROR_OVERLAP,
        Error::MissingFunction { .. } => SUBSWEEP_ERROR_MISSING_FUNCTION,
        Error::NullAddress { .. } | Error::NullBuffer { .. } => SUBSWEEP_ERROR_NULL,
        Error::AddressOverflow { .. } => SUBSWEEP_ERROR_INVALID_RANGE,
        Error::MissingUsage { .. } => SUBSWEEP_ERROR_MISSING_USAGE,
        Error::ForeignDevice => SUBSWEEP_ERROR_FOREIGN_DEVICE,
    })
}

#[cfg(test)]
mod tests;
