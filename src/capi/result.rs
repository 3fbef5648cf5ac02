//! What functions return: Vulkan's results where it has a word for it, and codes far from its own.

use std::ffi::CStr;

use super::vulkan::VkResult;
use crate::error::Error;
use crate::printable::printable;

/// A pointer, a handle or an address is null that must not be.
pub const SUBSWEEP_ERROR_NULL: i32 = -2_000_000_001;
/// A structure's struct_size is of no version of it, or a newer version's fields are used that this library
/// does not have.
pub const SUBSWEEP_ERROR_STRUCT_SIZE: i32 = -2_000_000_002;
/// A number that stands for something does not, or a name: SUBSWEEP_ELEMENT_TYPE_... and the like, flags,
/// algorithms.
pub const SUBSWEEP_ERROR_UNKNOWN_VALUE: i32 = -2_000_000_003;
/// A function of Vulkan's is not there that is needed: the instance or the device was made for an older
/// version.
pub const SUBSWEEP_ERROR_MISSING_FUNCTION: i32 = -2_000_000_004;
/// A configuration that no plan can carry out, or memory that does not go with the plan's.
pub const SUBSWEEP_ERROR_UNSUPPORTED: i32 = -2_000_000_005;
/// An algorithm that carries out another configuration, or takes more than this device has.
pub const SUBSWEEP_ERROR_INVALID_POLICY: i32 = -2_000_000_006;
/// More elements than the plan takes.
pub const SUBSWEEP_ERROR_TOO_MANY_ELEMENTS: i32 = -2_000_000_007;
/// The scratch is smaller than its requirements.
pub const SUBSWEEP_ERROR_SCRATCH_TOO_SMALL: i32 = -2_000_000_008;
/// Another range is too small for the count.
pub const SUBSWEEP_ERROR_RANGE_TOO_SMALL: i32 = -2_000_000_009;
/// An address or an offset is no multiple of what it must be.
pub const SUBSWEEP_ERROR_MISALIGNED: i32 = -2_000_000_010;
/// Two ranges share memory that must not.
pub const SUBSWEEP_ERROR_OVERLAP: i32 = -2_000_000_011;
/// What is of one device was given to another.
pub const SUBSWEEP_ERROR_FOREIGN_DEVICE: i32 = -2_000_000_012;
/// A range goes beyond the last address, or the last offset.
pub const SUBSWEEP_ERROR_INVALID_RANGE: i32 = -2_000_000_013;
/// A buffer was made without a usage that is needed of it, as its range says.
pub const SUBSWEEP_ERROR_MISSING_USAGE: i32 = -2_000_000_014;
/// The library has a bug, which it has told on the standard error stream as well. What the call was to make or
/// to record is not, or not whole: do not submit the command buffer.
pub const SUBSWEEP_ERROR_PANIC: i32 = -2_000_000_100;

/// What C is told of, and how.
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
    /// A name that is none of `known`, as it stands in one line: it may hold anything, and be of any length.
    pub(super) fn unknown_name(what: &'static str, name: &CStr, known: &[&str]) -> Self {
        Self::UnknownName { what, name: printable(name.to_bytes(), 64), known: known.join(", ") }
    }

    /// What the function returns.
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

/// Every error has a code, those as well that no function of the header's returns today.
fn code(error: &Error) -> VkResult {
    VkResult::from_raw(match error {
        Error::MissingFeature { .. } => return VkResult::ERROR_FEATURE_NOT_PRESENT,
        Error::OutOfDeviceMemory { .. } | Error::Allocation { .. } => {
            return VkResult::ERROR_OUT_OF_DEVICE_MEMORY;
        }
        Error::OutOfHostMemory { .. } => return VkResult::ERROR_OUT_OF_HOST_MEMORY,
        Error::DeviceLost { .. } | Error::TimedOut { .. } => return VkResult::ERROR_DEVICE_LOST,
        Error::NoLoader { .. } | Error::NoDevice | Error::NoMatchingDevice { .. } => {
            return VkResult::ERROR_INITIALIZATION_FAILED;
        }
        // A function of Vulkan's that fails with a success would be taken for one.
        Error::Vulkan { result, .. } if result.as_raw() < 0 => return *result,
        Error::Vulkan { .. } => return VkResult::ERROR_UNKNOWN,
        Error::PolicyExceedsLimits { .. } | Error::InvalidPolicy { .. } => SUBSWEEP_ERROR_INVALID_POLICY,
        Error::Unsupported { .. }
        | Error::RowLengthMismatch { .. }
        | Error::ElementMismatch { .. }
        | Error::ValueSizeMismatch { .. }
        | Error::ValueCountMismatch { .. }
        | Error::SegmentOutOfPlace { .. } => SUBSWEEP_ERROR_UNSUPPORTED,
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
mod tests {
    use std::ffi::CString;

    use super::*;

    #[test]
    fn an_unknown_name_stands_in_one_line() {
        let text = |name: &CStr| Failure::unknown_name("algorithm", name, &["a", "b"]).to_string();
        assert!(text(c"bogo").contains("'bogo'; there are a, b"), "{}", text(c"bogo"));
        let odd = text(c"a\nb\x1b\xff");
        assert!(odd.contains("'a\\nb\\x1b\\xff'") && !odd.contains(char::is_control), "{odd}");
        let long = text(&CString::new(vec![b'a'; 1 << 20]).unwrap());
        assert!(long.contains(&("a".repeat(64) + "…")) && long.len() < 200, "{long}");
    }

    #[test]
    fn vulkans_failures_stay_what_they_are_and_none_is_a_success() {
        let vulkan = |result| code(&Error::Vulkan { during: "vkCreateShaderModule", result });
        assert_eq!(vulkan(VkResult::ERROR_INVALID_SHADER_NV), VkResult::ERROR_INVALID_SHADER_NV);
        assert_eq!(vulkan(VkResult::PIPELINE_COMPILE_REQUIRED), VkResult::ERROR_UNKNOWN);
        let lost = Error::DeviceLost { during: "vkCreateComputePipelines" };
        assert_eq!(Failure::from(lost).code(), VkResult::ERROR_DEVICE_LOST);
    }
}
