//! Command-line arguments that commands share. Each command reports the contradictions that clap cannot detect.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, ValueEnum};
use subsweep::{ElementType, FloatOrder};
use subsweep_tool::harness::PolicyName;
use subsweep_tool::table::{Table, TableReader, Taken};

use crate::device::DeviceChoice;
use crate::error::{CommandError, Exit, usage};
use crate::files::input::{InputError, OpenTable};
use crate::files::{self, Destination, Job, Source, memory};
use crate::policy::Algorithm;
use crate::{Command, INVOCATION};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  wrong result, or a regression
  2  invalid arguments or input
  3  no suitable device
  4  device lost or hanging, or too little memory";

/// Prefix sums and radix sorts on Vulkan devices
#[derive(Debug, Parser)]
#[command(name = "subsweep", version, after_help = after_help(), arg_required_else_help = true)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of every command.
    #[command(flatten)]
    pub common: Common,
}

fn after_help() -> String {
    let example = |name: &str, (arguments, purpose): &(&str, &str)| {
        let width = INVOCATION.len() + 44;
        let line = format!("  {:width$} {purpose}", format!("{INVOCATION} {name} {arguments}"));
        format!("{}\n", line.trim_end())
    };
    let of_command = |(name, examples): &(&str, &[(&str, &str)])| -> String {
        examples.iter().map(|of| example(name, of)).collect()
    };
    format!("Examples:\n{}\n{EXIT_CODES}", Command::EXAMPLES.iter().map(of_command).collect::<String>())
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Common {
    /// The device: its INDEX or a part of its NAME as listed by `subsweep devices`, uuid:… (the start of its UUID),
    /// driver:… (a part of its driver's name) or all; several are separated by commas. inspect and devices also take
    /// gpu:NAME or gpu:all, of --list-gpus, and tune and scratch take one gpu:NAME [default: the best device]
    #[arg(long, global = true, env = "SUBSWEEP_DEVICE", default_value = "", hide_default_value = true)]
    pub device: DeviceChoice,

    /// The algorithm of scan, sort, select, partition, verify, bench, devices, inspect and scratch, by its name in
    /// --list-algorithms; other commands have no choice [default: the best for the device]
    #[arg(long, global = true, value_name = "NAME")]
    pub algorithm: Option<Algorithm>,

    /// The tuning of scan, sort, verify, bench, devices, inspect and scratch [default: default; verify, bench and scratch take
    /// every tuning]
    #[arg(long, global = true, value_enum)]
    pub policy: Option<PolicyKind>,

    /// Neither read nor write pipelines/ in the user's cache folder, which keeps compiled pipelines. Where
    /// LP_NATIVE_VECTOR_WIDTH is set, also disable Mesa's shader cache, unless MESA_SHADER_CACHE_DIR names a folder. A
    /// driver's other caches stay in use
    #[arg(long, global = true)]
    pub no_pipeline_cache: bool,

    /// List the algorithms and their costs, and exit
    #[arg(long, global = true)]
    pub list_algorithms: bool,

    /// List the GPUs that can compile but not run (--device gpu:NAME), and exit
    #[arg(long, global = true)]
    pub list_gpus: bool,
}

impl Common {
    /// The policy that `--policy` asks for.
    pub fn policy_name(&self) -> PolicyName {
        self.policy.map_or(PolicyName::Default, PolicyKind::name)
    }

    /// Whether neither an algorithm nor a policy of the seed is asked for.
    pub fn is_plain(&self) -> bool {
        self.algorithm.is_none() && self.seed().is_none()
    }

    /// The policy of the seed that `--policy` asks for.
    pub fn seed(&self) -> Option<PolicyName> {
        Some(self.policy_name()).filter(|policy| *policy != PolicyName::Default)
    }
}

/// The source of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PolicyKind {
    /// Tuned for the device, as shown by `subsweep devices`
    Default,
    /// As in the C-for-Metal tutorials 13 and 14, for comparison
    Seed,
    /// A sort as in tutorial 13, with the bins counted one by one
    SeedBinByBin,
}

impl PolicyKind {
    /// The policy of a plan.
    pub const fn name(self) -> PolicyName {
        match self {
            Self::Default => PolicyName::Default,
            Self::Seed => PolicyName::Seed,
            Self::SeedBinByBin => PolicyName::SeedBinByBin,
        }
    }
}

/// The type of raw elements.
#[derive(Debug, Args)]
pub struct RawType {
    /// The type of the elements, which an .npy file states itself
    #[arg(long = "type", value_name = "TYPE", value_parser = element_type())]
    pub element: Option<ElementType>,
}

/// One input table, one output table.
#[derive(Debug, Args)]
pub struct Files {
    /// An .npy file, or raw little-endian elements with --type; - is standard input
    pub input: Source,

    /// The output file; an existing one is replaced once the result is complete; - is standard output [default: -]
    #[arg(short, long)]
    pub output: Option<Destination>,

    #[command(flatten)]
    pub raw: RawType,
}

impl Files {
    /// A job with the input and the output.
    pub fn job(&self) -> Job<'_> {
        Job::new(&self.output).input("INPUT", &self.input)
    }

    /// Opens the input. With a reason in `needs_file` it must be a file.
    ///
    /// # Errors
    /// It cannot be opened, or is no table that is `taken`.
    pub fn open(&self, needs_file: Option<&'static str>, taken: &Taken) -> Result<OpenTable, InputError> {
        files::open_table(&self.input, needs_file, |file, size| {
            TableReader::new(file, size, self.raw.element, taken)
        })
    }

    /// Reads all of the input.
    ///
    /// # Errors
    /// It cannot be read, or is no table that is `taken`.
    pub fn read(&self, taken: &Taken) -> Result<Table, InputError> {
        files::read(&self.input, self.raw.element, taken)
    }
}

/// The memory that a command may use.
#[derive(Debug, Args)]
pub struct MemoryLimit {
    /// Use at most SIZE bytes of memory, on the host and the device together; such as 512M, 1GiB or 1e9 [default: three
    /// quarters of what is free]
    #[arg(long = "memory", value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_size)]
    size: Option<u64>,
}

impl MemoryLimit {
    /// Whether the option is given.
    pub fn is_given(&self) -> bool {
        self.size.is_some()
    }

    /// The refusal of a limit below what a command needs at least.
    pub fn refusal(&self, needed: u64, given: u64) -> CommandError {
        match self.size {
            Some(_) => usage!("--memory {given} is too little; give {needed} bytes or more"),
            None => CommandError::with(
                Exit::Failed,
                format!(
                    "{needed} bytes of memory are needed at least, and {given} are free; end other programs"
                ),
            ),
        }
    }

    /// The limit in bytes, if it is known.
    pub fn size(&self) -> Option<u64> {
        self.size.or_else(|| memory::available().map(|available| available / 4 * 3))
    }
}

/// Parses a number of bytes: `1048576`, `1M`, `1MiB`, `1e6` or `1MB`.
fn parse_size(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != 'e').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let exponent = |prefix: &str| match prefix {
        "k" | "K" => Some(1),
        "m" | "M" => Some(2),
        "g" | "G" => Some(3),
        "t" | "T" => Some(4),
        _ => None,
    };
    let factor = match unit {
        "" | "B" => Some(1.0),
        _ => match (unit.strip_suffix("iB"), unit.strip_suffix('B')) {
            (Some(prefix), _) => exponent(prefix).map(|exponent| 1024f64.powi(exponent)),
            (None, Some(prefix)) => exponent(prefix).map(|exponent| 1000f64.powi(exponent)),
            (None, None) => exponent(unit).map(|exponent| 1024f64.powi(exponent)),
        },
    };
    let size = number.parse::<f64>().ok().zip(factor).map(|(number, factor)| number * factor);
    let size = size.filter(|size| (0.0..1e19).contains(size)).map(|size| size as u64);
    size.ok_or_else(|| "it is a number of bytes, such as 1000000, 512M, 1GiB or 1e9".into())
}

/// Parses a percentage.
pub fn parse_percent(text: &str) -> Result<f64, String> {
    let percent = text.parse::<f64>().ok().filter(|percent| (0.0..=1e6).contains(percent));
    percent.ok_or_else(|| "it is a number of percent from 0, such as 5".into())
}

/// The parser of an order of floats.
pub fn float_order() -> impl TypedValueParser<Value = FloatOrder> {
    let value = |order: FloatOrder| {
        let help = match order {
            FloatOrder::Total => {
                "Rust's total_cmp: NaNs of negative sign, -inf, -0, +0, +inf, NaNs of positive sign"
            }
            FloatOrder::Numpy => "-0 equals 0, and every NaN is the same number, greater than all others",
        };
        PossibleValue::new(order.name()).help(help)
    };
    one_of(FloatOrder::ALL, FloatOrder::name, value)
}

/// The parser of one of `all`, by its `name`, which is also the name of its `value` in the help.
pub fn one_of<T: Copy + Send + Sync + 'static, V: Into<PossibleValue>, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    value: impl Fn(T) -> V,
) -> impl TypedValueParser<Value = T> {
    let of_name = move |text: String| all.into_iter().find(|&one| name(one) == text);
    PossibleValuesParser::new(all.map(value))
        .map(move |text| of_name(text).expect("the parser takes these names alone"))
}

/// The parser of an element type.
pub fn element_type() -> impl TypedValueParser<Value = ElementType> {
    one_of(ElementType::ALL, ElementType::name, ElementType::name)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn sizes_have_units() {
        let sizes = [
            ("0", 0),
            ("1000", 1000),
            ("1k", 1024),
            ("1kB", 1000),
            ("1KiB", 1024),
            ("1.5G", 3 << 29),
            ("1GiB", 1 << 30),
            ("1e9", 1_000_000_000),
            ("2GB", 2_000_000_000),
            ("3B", 3),
        ];
        for (text, size) in sizes {
            assert_eq!(parse_size(text), Ok(size), "{text}");
        }
        for text in [
            "", "G", "-1", "1x", "1GG", "1 G", "nan", "inf", "1e30", "GiB", "1mg", "1iB", "1mgB", "1kmiB",
            "1e",
        ] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
