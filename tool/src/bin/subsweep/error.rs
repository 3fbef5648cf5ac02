//! Error messages and exit codes, all in this file.

use std::io::{self, Write};
use std::process::ExitCode;

use subsweep::ash::vk;
use subsweep::headless::StreamError;
use subsweep_tool::harness::gpus::NotSetUp;
use subsweep_tool::table::TableError;

use crate::args::MemoryLimit;
use crate::files::input::{InputError, InputProblem};
use crate::files::output::{OutputError, OutputProblem};
use crate::files::{Source, TemporaryFolder};
use crate::{device, terminal};

/// The exit code of the program. The numbers are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Done = 0,
    /// A wrong result, or a regression.
    Wrong = 1,
    /// Invalid arguments or input.
    Usage = 2,
    /// No device, none that `--device` matches, or none that meets the requirements.
    NoDevice = 3,
    /// The device failed, or there is too little memory.
    Failed = 4,
}

impl Exit {
    /// The exit of a child process of this program by its code; none for any other code.
    pub fn of_code(code: i32) -> Option<Self> {
        let all = [Self::Done, Self::Wrong, Self::Usage, Self::NoDevice, Self::Failed];
        all.into_iter().find(|exit| *exit as i32 == code)
    }
}

/// A command's own error. The text says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct CommandError {
    exit: Exit,
    text: String,
}

impl CommandError {
    /// Invalid options or input.
    pub fn usage(text: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, text: text.into() }
    }

    /// A wrong result, or a regression.
    pub fn wrong(text: impl Into<String>) -> Self {
        Self { exit: Exit::Wrong, text: text.into() }
    }

    /// No suitable device.
    pub fn unable(text: impl Into<String>) -> Self {
        Self { exit: Exit::NoDevice, text: text.into() }
    }

    /// The exit of another process.
    pub fn with(exit: Exit, text: impl Into<String>) -> Self {
        Self { exit, text: text.into() }
    }
}

/// The [`CommandError`] of invalid options or input, its text as of [`format!`].
macro_rules! usage {
    ($($text:tt)+) => {
        $crate::error::CommandError::usage(format!($($text)+))
    };
}
pub(crate) use usage;

/// clap's error on one line; none for help and version, which are no errors.
pub fn usage_of(error: &clap::Error) -> Option<CommandError> {
    use clap::error::ErrorKind as Kind;
    let is_help = matches!(
        error.kind(),
        Kind::DisplayHelp | Kind::DisplayVersion | Kind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    (!is_help).then(|| {
        let line = one_line(&error.render().to_string());
        let line = line.replace(": invalid digit found in string", ": give a whole number, not negative");
        // clap names the option even if the value comes from the variable.
        CommandError::usage(line.replace("'--device <DEVICE>'", &format!("'{}'", device::choice_origin())))
    })
}

/// The lines of clap's message joined into one, without those about help.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for part in text.lines().map(str::trim).filter(|part| !part.is_empty()) {
        if part.starts_with("Usage: ") || part.starts_with("For more information") {
            break;
        }
        let part = part.strip_prefix("error: ").or(part.strip_prefix("tip: ")).unwrap_or(part);
        let part = part.strip_prefix('[').and_then(|part| part.strip_suffix(']')).unwrap_or(part);
        match line.chars().last() {
            None => {}
            Some(':') => line.push(' '),
            Some(_) => line.push_str("; "),
        }
        line += part;
    }
    line + "; see --help"
}

/// The error of a stream from `source` to an output, with the name of the file that is at fault.
pub fn of_stream(
    error: StreamError,
    source: &Source,
    of_output: impl FnOnce(io::Error) -> OutputError,
    folder: &TemporaryFolder,
    memory: &MemoryLimit,
) -> anyhow::Error {
    match error {
        StreamError::Device(error) => error.into(),
        StreamError::Read(error) => InputError::from_read(source, error),
        StreamError::Write(error) => of_output(error).into(),
        StreamError::Temporary(error) => folder.refusal(&error).into(),
        StreamError::Memory { needed, given } => memory.refusal(needed, given).into(),
        error => error.into(),
    }
}

/// Prints the error on one line, and returns the exit code.
pub fn report(result: anyhow::Result<()>) -> ExitCode {
    let exit = exit_of(&result);
    if let Some(error) = result.as_ref().err().filter(|_| exit != Exit::Done) {
        terminal::print_line(line(error));
    }
    leave_if_busy(&result, exit);
    ExitCode::from(exit as u8)
}

/// The exit code of a result.
pub fn exit_of(result: &anyhow::Result<()>) -> Exit {
    let Err(error) = result else { return Exit::Done };
    // The reader of the output has closed the pipe: no failure.
    let is_broken_pipe = error
        .downcast_ref::<OutputError>()
        .is_some_and(|error| matches!(error.problem, OutputProblem::BrokenPipe));
    if is_broken_pipe { Exit::Done } else { exit_of_error(error) }
}

/// The text of an error, with a hint.
pub fn line(error: &anyhow::Error) -> String {
    format!("{error:#}{}", hint(error))
}

/// Exits without teardown if a device is still busy. A CPU's driver works in threads of this process, and
/// SwiftShader crashes if its state is destroyed under them; the exit code would be the crash's.
pub fn leave_if_busy(result: &anyhow::Result<()>, exit: Exit) {
    let is_device_busy = |error: &anyhow::Error| {
        error.chain().any(|cause| matches!(cause.downcast_ref(), Some(subsweep::Error::TimedOut { .. })))
    };
    if result.as_ref().is_err_and(is_device_busy) {
        leave(exit);
    }
}

/// Exits without teardown.
pub fn leave(exit: Exit) -> ! {
    // A failed write could not be repeated after `main` either.
    let _ = io::stdout().flush();
    #[cfg(unix)]
    // SAFETY: `_exit` takes any number, and runs no code of this process afterwards.
    unsafe {
        libc::_exit(exit as i32)
    }
    #[cfg(not(unix))]
    std::process::exit(exit as i32)
}

/// A hint about environment variables that may have caused the error.
fn hint(error: &anyhow::Error) -> &'static str {
    let is_without_hardware = matches!(
        error.downcast_ref(),
        Some(subsweep::Error::Vulkan { result: vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, .. })
    ) && std::env::var_os("RADV_FORCE_FAMILY").is_some();
    if is_without_hardware {
        return "; RADV_FORCE_FAMILY makes a device that runs nothing, and is for inspect and tune --static";
    }
    let is_unmatched = matches!(error.downcast_ref(), Some(subsweep::Error::NoMatchingDevice { .. }));
    if is_unmatched && device::choice_origin() != "--device" {
        return "; it is named in SUBSWEEP_DEVICE";
    }
    ""
}

/// The exit code of an error, by the first cause with a known type.
fn exit_of_error(error: &anyhow::Error) -> Exit {
    let typed = error.chain().find_map(|cause| {
        cause
            .downcast_ref::<subsweep::Error>()
            .map(of_library)
            .or_else(|| cause.downcast_ref::<InputError>().map(|error| of_input(&error.problem)))
            .or_else(|| cause.downcast_ref::<OutputError>().map(|_| Exit::Usage))
            .or_else(|| cause.downcast_ref::<CommandError>().map(|error| error.exit))
            .or_else(|| cause.downcast_ref::<NotSetUp>().map(|_| Exit::NoDevice))
    });
    // An untyped error comes from a file; Vulkan functions return typed ones.
    typed.unwrap_or(Exit::Usage)
}

fn of_input(problem: &InputProblem) -> Exit {
    match problem {
        // The machine lacks the memory; the input itself is valid.
        InputProblem::Table(TableError::Memory { .. }) => Exit::Failed,
        _ => Exit::Usage,
    }
}

fn of_library(error: &subsweep::Error) -> Exit {
    use subsweep::Error as E;
    match error {
        E::NoLoader { .. }
        | E::NoDevice
        | E::UnreadableManifest { .. }
        | E::NoMatchingDevice { .. }
        | E::MissingFeature { .. } => Exit::NoDevice,
        // The device lacks what the policy needs.
        E::PolicyExceedsLimits { .. } => Exit::NoDevice,
        // Unsupported options and inputs were refused before a device was opened; this device lacks a queue or a memory
        // type.
        E::Unsupported { .. } => Exit::NoDevice,
        // Options that contradict each other.
        E::InvalidPolicy(_) | E::OutOfRange { .. } => Exit::Usage,
        E::OutOfDeviceMemory { .. } | E::OutOfHostMemory { .. } | E::TooManyElements { .. } => Exit::Failed,
        E::DeviceLost { .. } | E::TimedOut { .. } => Exit::Failed,
        E::Vulkan { result, .. } => of_vulkan(*result),
        // No option leads here: this program has passed wrong buffers to a plan, and the result would be wrong.
        E::ScratchTooSmall { .. } | E::RangeTooSmall { .. } | E::Misaligned { .. } | E::Overlap { .. } => {
            Exit::Wrong
        }
        // Not known here: neither the arguments nor the result are at fault.
        _ => Exit::Failed,
    }
}

fn of_vulkan(result: vk::Result) -> Exit {
    match result {
        // The driver failed to start, or lacks an extension that it reported. With RADV_FORCE_FAMILY there is no
        // hardware, and no fence either.
        vk::Result::ERROR_INVALID_EXTERNAL_HANDLE
        | vk::Result::ERROR_INITIALIZATION_FAILED
        | vk::Result::ERROR_INCOMPATIBLE_DRIVER
        | vk::Result::ERROR_LAYER_NOT_PRESENT
        | vk::Result::ERROR_EXTENSION_NOT_PRESENT
        | vk::Result::ERROR_FEATURE_NOT_PRESENT => Exit::NoDevice,
        // A failure while running, memory included.
        _ => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_library_have_documented_exit_codes() {
        use std::time::Duration;
        use subsweep::Error as E;
        let table = [
            (E::NoLoader { reason: String::new() }, 3),
            (E::NoDevice, 3),
            (E::UnreadableManifest { during: "vkCreateInstance" }, 3),
            (E::NoMatchingDevice { wanted: "9".into(), found: "0 (a)".into() }, 3),
            (E::MissingFeature { device: "old".into(), missing: "Vulkan 1.2".into() }, 3),
            (E::PolicyExceedsLimits { what: "bytes of shared memory", needed: 2, got: 1 }, 3),
            (E::InvalidPolicy(subsweep::error::PolicyConflict::Excluded("")), 2),
            (E::TooManyElements { count: 1 << 32, max: (1 << 32) - 1, what: "one sort" }, 4),
            (E::OutOfDeviceMemory { needed: Some(1), what: "a buffer" }, 4),
            (E::OutOfHostMemory { needed: None, what: "vkCreateFence" }, 4),
            (E::TimedOut { during: "vkWaitForFences", limit: Duration::from_secs(1) }, 4),
            (E::DeviceLost { during: "vkQueueSubmit" }, 4),
            (E::Vulkan { during: "vkCreateDevice", result: vk::Result::ERROR_FEATURE_NOT_PRESENT }, 3),
            (E::Vulkan { during: "vkCreateFence", result: vk::Result::ERROR_INVALID_EXTERNAL_HANDLE }, 3),
            (E::Vulkan { during: "vkQueueSubmit", result: vk::Result::ERROR_UNKNOWN }, 4),
        ];
        for (error, code) in table {
            let error = anyhow::Error::from(error);
            assert_eq!(exit_of_error(&error) as u8, code, "{error}");
            assert_eq!(exit_of_error(&error.context("on the way")) as u8, code);
        }
        assert_eq!(exit_of_error(&anyhow::anyhow!("untyped")), Exit::Usage);
    }

    #[test]
    fn device_errors_name_a_remedy_on_one_line() {
        use subsweep::Error as E;
        let limit = std::time::Duration::from_millis(1500);
        for (error, text) in [
            (
                E::DeviceLost { during: "vkQueueSubmit" },
                "the device was lost during vkQueueSubmit; the driver stopped working, restart the program",
            ),
            (
                E::OutOfDeviceMemory { needed: None, what: "vkCreateFence" },
                "out of device memory: no room for vkCreateFence; use fewer elements or another device, or end what \
                 else uses it",
            ),
            (
                E::OutOfHostMemory { needed: Some(16), what: "the result" },
                "out of host memory: 16 bytes are needed for the result; use fewer elements, or end other programs",
            ),
            (
                E::TimedOut { during: "vkWaitForFences", limit },
                "vkWaitForFences did not end within 1.5 s; the driver hangs, restart the program or take another \
                 device",
            ),
        ] {
            assert_eq!(format!("{:#}{}", anyhow::Error::from(error.clone()), hint(&error.into())), text);
        }
    }

    #[test]
    fn errors_of_clap_are_joined_into_one_line() {
        for (text, line) in [
            (
                "error: unexpected argument '--x' found\n\n  tip: to pass '--x' as a value, use '-- --x'\n\n\
                 Usage: subsweep scan [OPTIONS] <INPUT>\n\nFor more information, try '--help'.\n",
                "unexpected argument '--x' found; to pass '--x' as a value, use '-- --x'; see --help",
            ),
            (
                "error: the following required arguments were not provided:\n  <INPUT>\n\nUsage: subsweep scan\n",
                "the following required arguments were not provided: <INPUT>; see --help",
            ),
            (
                "error: invalid value 'a\x1b' for '--op <OP>'\n  [possible values: add, mul]\n",
                "invalid value 'a\x1b' for '--op <OP>'; possible values: add, mul; see --help",
            ),
        ] {
            assert_eq!(one_line(text), line);
        }
    }
}
