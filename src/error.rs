//! One error type for the whole library: typed, with numbers in it, and with advice.

use std::ffi::CStr;
use std::time::Duration;

use ash::vk;

use crate::primitives::ElementType;

/// Everything that can go wrong below the binary. Sizes are in bytes, counts in elements.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No Vulkan loader could be opened on this machine.
    #[error("no Vulkan loader: {reason}; install it (Debian and Ubuntu: libvulkan1)")]
    NoLoader {
        /// What the dynamic linker said.
        reason: String,
    },
    /// The loader found no driver, or every driver has no device.
    #[error("no Vulkan device; install a driver (Debian and Ubuntu: mesa-vulkan-drivers runs on any CPU)")]
    NoDevice,
    /// A device was asked for that is not among those found.
    #[error("no Vulkan device matches '{wanted}'; found: {found}")]
    NoMatchingDevice {
        /// The selector as it was given.
        wanted: String,
        /// The devices that there are, by index and name.
        found: String,
    },
    /// The device lacks something that every kernel needs, or those of a configuration.
    #[error("'{device}' cannot do this: it lacks {missing}")]
    MissingFeature {
        /// The device's name.
        device: String,
        /// What is lacking, in Vulkan's words.
        missing: String,
    },
    /// A policy asks for more than the device has.
    #[error("the policy needs {needed} {what}, this device has {got}; choose a smaller one")]
    PolicyExceedsLimits {
        /// The limit in question, with its unit.
        what: &'static str,
        /// What the policy asks for.
        needed: u64,
        /// What the device has.
        got: u64,
    },
    /// A policy contradicts itself or what it is used for.
    #[error("the policy does not fit: {reason}")]
    InvalidPolicy {
        /// What does not fit, and what would.
        reason: &'static str,
    },
    /// A configuration that no plan can carry out.
    #[error("not supported: {reason}")]
    Unsupported {
        /// What is not supported, and what to use instead.
        reason: &'static str,
    },
    /// More elements than the plan, or a count of 32 bits, can take.
    #[error("{count} elements are more than the {max} that {what} takes")]
    TooManyElements {
        /// Elements asked for.
        count: u64,
        /// The most that are possible.
        max: u64,
        /// What sets the limit.
        what: &'static str,
    },
    /// The caller's scratch is smaller than `scratch_requirements` says.
    #[error("scratch is too small: {needed} bytes are needed, {got} were given")]
    ScratchTooSmall {
        /// Bytes needed.
        needed: u64,
        /// Bytes given.
        got: u64,
    },
    /// A caller's range is too small for the count.
    #[error("{what} is too small: {needed} bytes are needed, {got} were given")]
    RangeTooSmall {
        /// Which range.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes given.
        got: u64,
    },
    /// An address that is not a multiple of what the element needs.
    #[error("{what} is misaligned: address {address:#x} is no multiple of {alignment} bytes")]
    Misaligned {
        /// Which range.
        what: &'static str,
        /// Its device address.
        address: u64,
        /// What it must be a multiple of, in bytes.
        alignment: u64,
    },
    /// Two ranges share memory that must not.
    #[error("{first} and {second} overlap; give them separate memory")]
    Overlap {
        /// One range.
        first: &'static str,
        /// The other range.
        second: &'static str,
    },
    /// The device, or one allocation on it, is too small.
    #[error(
        "out of device memory: {} for {what}; use fewer elements or another device, or end what else uses it",
        bytes(*needed)
    )]
    OutOfDeviceMemory {
        /// Bytes asked for, where we asked for them and not the driver for its own ends.
        needed: Option<u64>,
        /// What they were for: the Vulkan function, if they were the driver's.
        what: &'static str,
    },
    /// The machine has too little memory left.
    #[error(
        "out of host memory: {} for {what}; use fewer elements, or end other programs",
        bytes(*needed)
    )]
    OutOfHostMemory {
        /// Bytes asked for, where we asked for them and not the driver.
        needed: Option<u64>,
        /// What they were for: the Vulkan function, if they were the driver's.
        what: &'static str,
    },
    /// Device memory could not be had for another reason than its size.
    #[error("no device memory for {needed} bytes: {reason}")]
    Allocation {
        /// Bytes asked for.
        needed: u64,
        /// What the allocator said.
        reason: String,
    },
    /// What was made for one device was given to another.
    #[error(
        "a plan, a buffer and a recorder are not of one device; make them all from the one that uses them"
    )]
    ForeignDevice,
    /// A device was adopted, of which a function cannot be had.
    #[error(
        "the device has no {}; adopt it with its own instance, and with what it was created with",
        name.to_string_lossy()
    )]
    MissingFunction {
        /// The Vulkan function.
        name: &'static CStr,
    },
    /// A range, or a count, at address 0.
    #[error(
        "{what} has {size} bytes at address 0; give its address, vkGetBufferDeviceAddress plus an offset"
    )]
    NullAddress {
        /// Which range.
        what: &'static str,
        /// Its bytes.
        size: u64,
    },
    /// A range that goes around the end of all addresses, or whose offset does.
    #[error("{what} goes beyond the last address: {size} bytes from {address:#x} on")]
    AddressOverflow {
        /// Which range.
        what: &'static str,
        /// Its device address, or its offset in its buffer.
        address: u64,
        /// Its bytes.
        size: u64,
    },
    /// A range of a buffer, without a buffer.
    #[error("{what} has no buffer; give it beside its address, for fills and indirect dispatches")]
    NullBuffer {
        /// Which range.
        what: &'static str,
    },
    /// A buffer was made without a usage that is needed of it, as its range says.
    #[error("{what} lacks a usage: make its buffer with {missing:?}")]
    MissingUsage {
        /// Which range.
        what: &'static str,
        /// The flags that it lacks.
        missing: vk::BufferUsageFlags,
    },
    /// A table whose last row is not whole.
    #[error("{value_count} values are no whole rows of {columns}")]
    RowLengthMismatch {
        /// Values given.
        value_count: u64,
        /// Values of a row.
        columns: u32,
    },
    /// Values of another type than a configuration says.
    #[error("the values are {got}, and the configuration is of {expected}; give it their ElementType")]
    ElementMismatch {
        /// The configuration's.
        expected: ElementType,
        /// The values'.
        got: ElementType,
    },
    /// Values of another size than a configuration says; keys alone have values of 0 bytes, and so has a call that takes
    /// none.
    #[error("{}", value_size_mismatch(*expected, *got))]
    ValueSizeMismatch {
        /// The configuration's, bytes.
        expected: u64,
        /// The values', bytes.
        got: u64,
    },
    /// Values that do not go with their keys one by one.
    #[error("{value_count} values do not go with {key_count} keys; give one for each")]
    ValueCountMismatch {
        /// Keys given.
        key_count: u64,
        /// Values given.
        value_count: u64,
    },
    /// A segment that begins before an earlier one, or beyond the elements.
    #[error(
        "segment {index} begins at {begin}, and it may from {earliest} to {latest}: segments begin in rising order"
    )]
    SegmentOutOfPlace {
        /// The segment, the first being 0.
        index: u64,
        /// The element at which it begins.
        begin: u64,
        /// That of the segment before it.
        earliest: u64,
        /// How many elements there are.
        latest: u64,
    },
    /// The driver stopped: a reset, a crash, a watchdog.
    #[error("the device was lost during {during}; the driver stopped working, restart the program")]
    DeviceLost {
        /// The Vulkan function that said so.
        during: &'static str,
    },
    /// The device has not ended its work. What it may still use is not freed, and it takes no more work.
    #[error(
        "{during} did not end within {} s; the driver hangs, restart the program or take another device",
        limit.as_secs_f64()
    )]
    TimedOut {
        /// The Vulkan function that waited.
        during: &'static str,
        /// How long it waited.
        limit: Duration,
    },
    /// Any other failure of a Vulkan function.
    #[error("{during} failed: {result}")]
    Vulkan {
        /// The Vulkan function.
        during: &'static str,
        /// What it returned.
        result: vk::Result,
    },
}

/// `std::result::Result` with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Checks what a policy asks for against a limit of the device.
pub(crate) fn within(what: &'static str, needed: u32, got: u32) -> Result<()> {
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
            "no values came with a configuration of values of {expected} bytes; take the call for pairs, or for places \
             that for an argsort"
        ),
        _ => format!(
            "values of {got} bytes came with a configuration of values of {expected} bytes; give it their ValueSize"
        ),
    }
}

impl Error {
    /// Whether nothing more can be tried on the device: it is lost, or hangs. After another error it may have been given
    /// up as well, where nobody can know whether it is still at work; then the next call says so.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::DeviceLost { .. } | Self::TimedOut { .. })
    }

    /// Names the Vulkan function in a failure of it.
    pub(crate) fn vulkan(during: &'static str) -> impl FnOnce(vk::Result) -> Self {
        move |result| match result {
            vk::Result::ERROR_DEVICE_LOST => Self::DeviceLost { during },
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => Self::OutOfDeviceMemory { needed: None, what: during },
            vk::Result::ERROR_OUT_OF_HOST_MEMORY => Self::OutOfHostMemory { needed: None, what: during },
            result => Self::Vulkan { during, result },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_another_size_are_told_what_to_do() {
        for (expected, got, what) in
            [(8, 0, "take the call for pairs"), (0, 4, "configure pairs"), (8, 4, "give it their ValueSize")]
        {
            let text = Error::ValueSizeMismatch { expected, got }.to_string();
            assert!(text.contains(what) && !text.contains('\n'), "{text}");
        }
    }
}
