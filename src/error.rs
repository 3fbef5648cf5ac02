//! The error type of the library. Each message states the cause with its numbers, and a remedy.

use std::ffi::CStr;
use std::time::Duration;

use ash::vk;

use crate::element::ElementType;

/// Errors of the library. Sizes are in bytes, counts in elements.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The Vulkan loader could not be opened.
    #[error("no Vulkan loader: {reason}; install it (Debian and Ubuntu: libvulkan1)")]
    NoLoader {
        /// Message of the dynamic linker.
        reason: String,
    },
    /// The loader found no driver, or no driver has a device.
    #[error(
        "no Vulkan device; install a driver (Debian and Ubuntu: mesa-vulkan-drivers runs on any CPU), or correct \
         VK_DRIVER_FILES and VK_ICD_FILENAMES where they are set"
    )]
    NoDevice,
    /// The loader could not read the manifest of a driver or of a layer: it then reports out of host memory, whatever other
    /// drivers there are.
    #[error(
        "the Vulkan loader cannot read the manifest of a driver or a layer (out of host memory from {during}); \
         VK_LOADER_DEBUG=error names it, mend or remove it"
    )]
    UnreadableManifest {
        /// The Vulkan function that reported it.
        during: &'static str,
    },
    /// No device matches the selector.
    #[error("no Vulkan device matches '{wanted}'; found: {found}")]
    NoMatchingDevice {
        /// The selector.
        wanted: String,
        /// Available devices, by index and name.
        found: String,
    },
    /// The device lacks a feature that all kernels need, or that the kernels of a configuration need.
    #[error("'{device}' cannot do this: it lacks {missing}")]
    MissingFeature {
        /// Name of the device.
        device: String,
        /// The missing feature, by its Vulkan name.
        missing: String,
    },
    /// A policy exceeds a limit of the device.
    #[error("the policy needs {needed} {what}, this device has {got}; choose a smaller one")]
    PolicyExceedsLimits {
        /// The limit, with its unit.
        what: &'static str,
        /// Value in the policy.
        needed: u64,
        /// Limit of the device.
        got: u64,
    },
    /// A policy is inconsistent, or does not fit the configuration.
    #[error("the policy does not fit: {0}")]
    InvalidPolicy(PolicyConflict),
    /// A number of a configuration is out of range.
    #[error("{what}: {value} given, {min} to {max} supported")]
    OutOfRange {
        /// The number, with its unit.
        what: &'static str,
        /// The number given.
        value: u64,
        /// Minimum.
        min: u64,
        /// Maximum.
        max: u64,
    },
    /// A configuration or argument is not supported.
    #[error("not supported: {reason}")]
    Unsupported {
        /// What is not supported, and the alternative.
        reason: &'static str,
    },
    /// Functions of the caller lack a module that a plan needs, or it is not what this version's source gives.
    #[error(
        "the functions '{functions}' {problem} {kernel}; compile them with the sources of this version, for each kernel of \
         their use"
    )]
    Functions {
        /// Name of the functions.
        functions: &'static str,
        /// The kernel.
        kernel: &'static str,
        /// What is wrong.
        problem: &'static str,
    },
    /// The count exceeds the maximum of the plan or of a 32-bit number.
    #[error("{count} elements are more than the {max} that {what} takes")]
    TooManyElements {
        /// Number of elements.
        count: u64,
        /// Maximum number of elements.
        max: u64,
        /// What imposes the limit.
        what: &'static str,
    },
    /// The scratch range is smaller than `scratch_requirements`.
    #[error("scratch is too small: {needed} bytes are needed, {got} were given")]
    ScratchTooSmall {
        /// Bytes needed.
        needed: u64,
        /// Bytes given.
        got: u64,
    },
    /// A range is too small for the count.
    #[error("{what} is too small: {needed} bytes are needed, {got} were given")]
    RangeTooSmall {
        /// The range.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes given.
        got: u64,
    },
    /// An address or offset is misaligned.
    #[error("{what} is misaligned: address {address:#x} is not a multiple of {alignment} bytes")]
    Misaligned {
        /// The range.
        what: &'static str,
        /// Its device address, or its offset in its buffer.
        address: u64,
        /// Required alignment, bytes.
        alignment: u64,
    },
    /// Two ranges overlap that must not.
    #[error("{first} and {second} overlap; give them separate memory")]
    Overlap {
        /// One range.
        first: &'static str,
        /// The other range.
        second: &'static str,
    },
    /// Device memory is exhausted, or an allocation exceeds a limit of the device.
    #[error(
        "out of device memory: {} for {what}; use fewer elements or another device, or end what else uses it",
        bytes(*needed)
    )]
    OutOfDeviceMemory {
        /// Bytes requested; `None` if the driver requested them internally.
        needed: Option<u64>,
        /// Purpose of the memory; the Vulkan function, if the driver requested it.
        what: &'static str,
    },
    /// Host memory is exhausted.
    #[error(
        "out of host memory: {} for {what}; use fewer elements, or end other programs",
        bytes(*needed)
    )]
    OutOfHostMemory {
        /// Bytes requested; `None` if the driver requested them internally.
        needed: Option<u64>,
        /// Purpose of the memory; the Vulkan function, if the driver requested it.
        what: &'static str,
    },
    /// An allocation of device memory failed for another reason than its size.
    #[error("no device memory for {needed} bytes: {reason}")]
    Allocation {
        /// Bytes requested.
        needed: u64,
        /// Message of the allocator.
        reason: String,
    },
    /// An object of one device was used with another.
    #[error("plan, buffer and recorder are not of one device; make them all from the one that uses them")]
    ForeignDevice,
    /// An adopted device lacks a Vulkan function.
    #[error(
        "the device has no {}; adopt it with its own instance, and with what it was created with",
        name.to_string_lossy()
    )]
    MissingFunction {
        /// The Vulkan function.
        name: &'static CStr,
    },
    /// A range or a count has a null address.
    #[error(
        "{what} has {size} bytes at address 0; give its address, vkGetBufferDeviceAddress plus an offset"
    )]
    NullAddress {
        /// The range.
        what: &'static str,
        /// Its size, bytes.
        size: u64,
    },
    /// The end of a range exceeds 64 bits, as an address or as an offset in its buffer.
    #[error("{what} exceeds 64-bit addresses: {size} bytes from {address:#x} on")]
    AddressOverflow {
        /// The range.
        what: &'static str,
        /// Its device address, or its offset in its buffer.
        address: u64,
        /// Its size, bytes.
        size: u64,
    },
    /// A buffer range has a null buffer.
    #[error("{what} has no buffer; give it beside its address, for fills and indirect dispatches")]
    NullBuffer {
        /// The range.
        what: &'static str,
    },
    /// A buffer range lacks a required usage flag.
    #[error("{what} lacks a usage: make its buffer with {missing:?}")]
    MissingUsage {
        /// The range.
        what: &'static str,
        /// The missing flags.
        missing: vk::BufferUsageFlags,
    },
    /// The number of values is not a multiple of the row length.
    #[error("{value_count} values are not whole rows of {columns}")]
    RowLengthMismatch {
        /// Number of values.
        value_count: u64,
        /// Values per row.
        columns: u32,
    },
    /// The size of a slice is not a multiple of the size of its elements, keys or values.
    #[error("{size} bytes are not a multiple of the {element_size} bytes of an element")]
    PartialElement {
        /// Size of the slice, bytes.
        size: u64,
        /// Size of an element, bytes.
        element_size: u64,
    },
    /// The element type differs from the configuration's.
    #[error("the values are {got}, and the configuration is of {expected}; give it their ElementType")]
    ElementMismatch {
        /// Type of the configuration.
        expected: ElementType,
        /// Type of the values.
        got: ElementType,
    },
    /// The value size differs from the configuration's. A configuration of keys alone, and a call without values, have
    /// size 0.
    #[error("{}", value_size_mismatch(*expected, *got))]
    ValueSizeMismatch {
        /// Size in the configuration, bytes.
        expected: u64,
        /// Size of the values, bytes.
        got: u64,
    },
    /// The number of values differs from the number of keys.
    #[error("{value_count} values do not go with {key_count} keys; give one for each")]
    ValueCountMismatch {
        /// Number of keys.
        key_count: u64,
        /// Number of values.
        value_count: u64,
    },
    /// The number of flags differs from the number of elements.
    #[error("{flag_count} flags do not go with {element_count} elements; give one for each")]
    FlagCountMismatch {
        /// Number of elements.
        element_count: u64,
        /// Number of flags.
        flag_count: u64,
    },
    /// A segment begins before an earlier one, or beyond the elements.
    #[error(
        "segment {index} begins at {begin}, not in {earliest} to {latest}: segments begin in ascending order, and ranges do not overlap"
    )]
    SegmentOutOfOrder {
        /// Index of the segment, from 0.
        index: u64,
        /// Element at which it begins.
        begin: u64,
        /// Beginning of the previous segment; of ranges its end.
        earliest: u64,
        /// Number of elements.
        latest: u64,
    },
    /// An edge of a histogram is invalid.
    #[error("edge {index} {what}")]
    InvalidEdge {
        /// Index of the edge, from 0.
        index: u64,
        /// What is wrong with it, and the remedy.
        what: &'static str,
    },
    /// The device was lost: a reset, a crash or a watchdog.
    #[error("the device was lost during {during}; the driver stopped working, restart the program")]
    DeviceLost {
        /// The Vulkan function that reported it.
        during: &'static str,
    },
    /// Work did not complete within the limit. The device is abandoned: it accepts no more work, and memory that it may
    /// still use is not freed.
    #[error(
        "{during} did not end within {} s; the driver hangs, restart the program or take another device",
        limit.as_secs_f64()
    )]
    TimedOut {
        /// The Vulkan function that waited.
        during: &'static str,
        /// Time waited.
        limit: Duration,
    },
    /// The caller interrupted the work between two submissions; the device accepts more.
    #[error("interrupted between two submissions; the results are incomplete, call again")]
    Interrupted,
    /// Any other failure of a Vulkan function.
    #[error("{during} failed: {result}")]
    Vulkan {
        /// The Vulkan function.
        during: &'static str,
        /// Its result.
        result: vk::Result,
    },
}

/// `std::result::Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Checks that a number of a configuration is in `range`.
pub(crate) fn in_range(what: &'static str, value: u32, range: std::ops::RangeInclusive<u32>) -> Result<()> {
    let (min, max) = range.into_inner();
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(Error::OutOfRange { what, value: value.into(), min: min.into(), max: max.into() })
}

/// Refuses with `reason` what is not supported.
pub(crate) fn refuse_if(is_unsupported: bool, reason: &'static str) -> Result<()> {
    if is_unsupported { Err(Error::Unsupported { reason }) } else { Ok(()) }
}

/// Checks that there are at most `max` elements, as `what` imposes.
pub(crate) fn at_most(count: u64, max: u64, what: &'static str) -> Result<()> {
    if count <= max { Ok(()) } else { Err(Error::TooManyElements { count, max, what }) }
}

/// Condition that a policy does not meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyConflict {
    /// A field is out of range.
    #[error("{field} is {value}; it is from {min} to {max}")]
    OutOfRange {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
        /// Minimum.
        min: u32,
        /// Maximum.
        max: u32,
    },
    /// A field is not a multiple of a number.
    #[error("{field} is {value}; it is a multiple of {divisor}, {what}")]
    NotMultiple {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
        /// The number.
        divisor: u32,
        /// What the number is.
        what: &'static str,
    },
    /// A field is not a power of two.
    #[error("{field} is {value}; it is a power of two")]
    NotPowerOfTwo {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u32,
    },
    /// The device has no such subgroups.
    #[error("subgroup_size is {value}; this device takes powers of two from {min} to {max}, or None")]
    SubgroupSize {
        /// The size of the policy.
        value: u32,
        /// Minimum.
        min: u32,
        /// Maximum; the minimum where the device has one size.
        max: u32,
    },
    /// Fields, or a field and the configuration, exclude each other.
    #[error("{0}")]
    Excluded(&'static str),
}

impl PolicyConflict {
    /// Checks that a field is in `range`.
    pub(crate) fn check_range(
        field: &'static str,
        value: u32,
        range: std::ops::RangeInclusive<u32>,
    ) -> Result<()> {
        let (min, max) = range.into_inner();
        let conflict = Self::OutOfRange { field, value, min, max };
        if (min..=max).contains(&value) { Ok(()) } else { Err(Error::InvalidPolicy(conflict)) }
    }

    /// Checks that a field is a multiple of `divisor`; `what` is that number.
    pub(crate) fn check_multiple(
        field: &'static str,
        value: u32,
        divisor: u32,
        what: &'static str,
    ) -> Result<()> {
        let conflict = Self::NotMultiple { field, value, divisor, what };
        if value.is_multiple_of(divisor) { Ok(()) } else { Err(Error::InvalidPolicy(conflict)) }
    }

    /// Checks that a field is a power of two.
    pub(crate) fn check_power_of_two(field: &'static str, value: u32) -> Result<()> {
        let conflict = Self::NotPowerOfTwo { field, value };
        if value.is_power_of_two() { Ok(()) } else { Err(Error::InvalidPolicy(conflict)) }
    }

    /// Checks that `rule` is met.
    pub(crate) fn check(is_met: bool, rule: &'static str) -> Result<()> {
        if is_met { Ok(()) } else { Err(Error::InvalidPolicy(Self::Excluded(rule))) }
    }
}

/// Checks a value of a policy against a limit of the device.
#[doc(hidden)]
pub fn within(what: &'static str, needed: u32, got: u32) -> Result<()> {
    if needed > got {
        return Err(Error::PolicyExceedsLimits { what, needed: needed.into(), got: got.into() });
    }
    Ok(())
}

fn bytes(needed: Option<u64>) -> String {
    needed.map_or_else(|| "no room".to_owned(), |needed| format!("{needed} bytes are needed"))
}

fn value_size_mismatch(expected: u64, got: u64) -> String {
    match (expected, got) {
        (0, _) => format!(
            "values of {got} bytes came with a configuration of keys alone; configure pairs, or leave the values out"
        ),
        (_, 0) => format!(
            "no values came with a configuration of values of {expected} bytes; take the call for pairs, or that for an \
             argsort"
        ),
        _ => format!(
            "values of {got} bytes came with a configuration of values of {expected} bytes; give it their ValueSize"
        ),
    }
}

impl Error {
    /// Whether the device is unusable: lost, or abandoned after a timeout. Another error may also leave the device
    /// abandoned, if it cannot be known whether its work has completed; then the next call returns a fatal error.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::DeviceLost { .. } | Self::TimedOut { .. })
    }

    /// Converts a result of the Vulkan function `during` to an error.
    #[doc(hidden)]
    pub fn vulkan(during: &'static str) -> impl FnOnce(vk::Result) -> Self {
        move |result| match result {
            vk::Result::ERROR_DEVICE_LOST => Self::DeviceLost { during },
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => Self::OutOfDeviceMemory { needed: None, what: during },
            vk::Result::ERROR_OUT_OF_HOST_MEMORY => Self::OutOfHostMemory { needed: None, what: during },
            result => Self::Vulkan { during, result },
        }
    }
}

#[cfg(test)]
mod tests;
