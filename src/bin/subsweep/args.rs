//! What may stand on the command line. Contradictions that clap cannot see are found by the commands themselves.

use std::ffi::OsString;
use std::ops::Range;

use clap::{Args, Parser, Subcommand, ValueEnum};
use subsweep::ElementType;
use subsweep::harness::Effort;
use subsweep::scan::ScanOperator;

use crate::device::DeviceChoice;
use crate::files::{Destination, Source};
use crate::policy::Algorithm;

const EXAMPLES: &str = "\
Examples:
  subsweep devices                                     what is here, and how it would be used
  subsweep scan counts.npy -o offsets.npy --exclusive  where each part begins, from how long it is
  subsweep scan values.npy -o out.npy --op max --reverse --segments starts.npy
  subsweep sort keys.npy -o sorted.npy --device 1      on the second device of the list
  subsweep sort keys.npy -o order.npy --argsort --descending
  subsweep sort keys.npy -o sorted.npy --segments starts.npy
  subsweep sort - --type u32 <keys.bin >sorted.bin     raw elements, by standard streams
  subsweep gather a.npy --indices i.npy -o b.npy       rows in another order: a[i]
  subsweep verify --quick --device all                 is every device right?
  subsweep bench --filter sort --json report.json      and how fast?
  subsweep bench --quick --device all --html page.html all of them, in figures
  subsweep compare before.json after.json              what became faster, and what slower?
  subsweep inspect --filter onesweep                   what its driver makes of the kernels
  subsweep inspect --device gpu:all                    and what the drivers of GPUs would that are not here
  subsweep tune sort --device 1                        which shapes are fastest there, as rows of the tuning table
  subsweep tune sort --device gpu:apple-m1             and which its compiler likes best where it is not here

Exit codes:
  0  done
  1  wrong result, or a regression
  2  bad usage or input
  3  no device that will do
  4  device lost or hanging, or too little memory";

/// Prefix sums and radix sorts on Vulkan devices
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What every command takes.
    #[command(flatten)]
    pub common: Common,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Devices(DevicesArgs),
    Scan(ScanArgs),
    Sort(SortArgs),
    Gather(GatherArgs),
    /// Prove devices right, case by case
    ///
    /// Every case of the table runs twice, in memory with guards around every range, and is compared with a plain loop
    /// on the CPU. With --quick the cases are a covering set: every kernel of default plans, and every pair of values of
    /// the parameters (type, order, in place or not, alignment, count from the device, input and others), in up to 65537
    /// elements. Without it they are every specialization of a kernel that a policy can choose. What a device cannot do is
    /// counted and listed. Exits with 1 if any case was wrong.
    Verify(VerifyArgs),
    /// Measure devices, each case beside a copy of as many bytes
    ///
    /// Each case is verified first, and is not measured if it was wrong. Times are medians of GPU time (of wall-clock
    /// time where a device has no timestamps), with the distance of their quartiles; bytes are those of the elements
    /// that the algorithm has to read and write.
    Bench(BenchArgs),
    Compare(CompareArgs),
    Inspect(InspectArgs),
    Tune(TuneArgs),
}

impl Command {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Compare(_) => "compare",
            Self::Verify(_) => "verify",
            Self::Devices(_) => "devices",
            Self::Scan(_) => "scan",
            Self::Sort(_) => "sort",
            Self::Gather(_) => "gather",
            Self::Bench(_) => "bench",
            Self::Tune(_) => "tune",
            Self::Inspect(_) => "inspect",
        }
    }

    /// Whether it has drivers compile anything.
    pub fn runs_drivers(&self) -> bool {
        match self {
            Self::Compare(_) => false,
            Self::Verify(args) => !args.list,
            Self::Devices(_)
            | Self::Scan(_)
            | Self::Sort(_)
            | Self::Gather(_)
            | Self::Bench(_)
            | Self::Tune(_)
            | Self::Inspect(_) => true,
        }
    }
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Common {
    /// The device: its INDEX or a part of its NAME as `subsweep devices` lists them, uuid:… (the start of its UUID),
    /// driver:… (a part of its driver's name) or all; or several of them, with commas between; for inspect and devices also
    /// gpu:NAME or gpu:all, of --list-gpus, and for tune one gpu:NAME [default: the best there is]
    #[arg(long, global = true, env = "SUBSWEEP_DEVICE", default_value = "", hide_default_value = true)]
    pub device: DeviceChoice,

    /// The algorithm, by its name in --list-algorithms [default: the best for the device]
    #[arg(long, global = true, value_name = "NAME")]
    pub algorithm: Option<Algorithm>,

    /// How algorithms are tuned [default: default; in verify and bench every way]
    #[arg(long, global = true, value_enum)]
    pub policy: Option<PolicyKind>,

    /// Neither read nor write pipelines/ in the user's cache folder, where the results of drivers' compilers are kept; where
    /// LP_NATIVE_VECTOR_WIDTH is set, also have Mesa keep none, unless MESA_SHADER_CACHE_DIR names a folder. A cache that a
    /// driver keeps by itself stays in use
    #[arg(long, global = true)]
    pub no_pipeline_cache: bool,

    /// List the algorithms and what they cost, and exit
    #[arg(long, global = true)]
    pub list_algorithms: bool,

    /// List the GPUs that compile and run nothing (--device gpu:NAME), and exit
    #[arg(long, global = true)]
    pub list_gpus: bool,
}

/// Where a policy comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PolicyKind {
    /// For the device, as `subsweep devices` shows it
    Default,
    /// As the C-for-Metal tutorials 13 and 14 do it, to compare with
    Seed,
    /// A sort as tutorial 13 does it, but with the bins counted one by one
    SeedBinByBin,
}

/// List the devices, and how each would be used
///
/// For each: driver, versions, UUIDs, the limits and features that matter, and the policies that would be chosen, with
/// the reason. A device that cannot be used is listed with what it lacks.
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Print a JSON array, sizes in bytes
    #[arg(long)]
    pub json: bool,
}

/// Sum up an array, or each column of a table; or combine it otherwise
///
/// The same as numpy.cumsum(a, axis=0, dtype=a.dtype): element i becomes the sum of elements 0 to i; or what --op says,
/// as ufunc.accumulate does. Sums and products of whole numbers wrap, and those of floats are rounded in another order
/// than numpy's. With --reverse it is that of a[::-1], turned round again. A table of 1 to 16 columns is scanned column by column. The output has the format, type and shape of
/// the input.
#[derive(Debug, Args)]
pub struct ScanArgs {
    #[command(flatten)]
    pub files: Files,

    /// The operation that combines; and, or and xor take whole numbers
    #[arg(long, value_enum, default_value_t)]
    pub op: Operator,

    /// Leave each element out of its own result: the first is what changes nothing, such as 0 for a sum
    #[arg(long)]
    pub exclusive: bool,

    /// Begin with V, in every column and segment: a number of the elements' type
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub init: Option<String>,

    /// Go from the last element to the first
    #[arg(long)]
    pub reverse: bool,

    /// Scan each segment by itself: FILE has the rows at which they begin, as u32, ascending; the first row begins one in
    /// any case
    #[arg(long, value_name = "FILE")]
    pub segments: Option<OsString>,
}

/// An associative operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Operator {
    /// Sums
    #[default]
    Add,
    /// Products
    Mul,
    /// Minima; a NaN stays one
    Min,
    /// Maxima; a NaN stays one
    Max,
    /// Bits that are in all
    And,
    /// Bits that are in any
    Or,
    /// Bits that are in an odd number
    Xor,
}

impl From<Operator> for ScanOperator {
    fn from(operator: Operator) -> Self {
        match operator {
            Operator::Add => Self::Add,
            Operator::Mul => Self::Mul,
            Operator::Min => Self::Min,
            Operator::Max => Self::Max,
            Operator::And => Self::And,
            Operator::Or => Self::Or,
            Operator::Xor => Self::Xor,
        }
    }
}

/// Sort an array, stable, alone or with values
///
/// Keys are in the order of their numbers; floats from NaNs of negative sign over -inf, -0 and +0 to +inf and NaNs of
/// positive sign, as Rust's total_cmp has them (numpy puts every NaN last and takes -0 for +0). Equal keys keep the order
/// in which they came, in either direction. The output has the format and type of the input, which has one dimension.
#[derive(Debug, Args)]
pub struct SortArgs {
    #[command(flatten)]
    pub files: Files,

    /// From the greatest to the least
    #[arg(long)]
    pub descending: bool,

    /// Compare bits B to E - 1 of the keys alone, bit 0 being the lowest, of the unsigned number that is ordered as the
    /// key is; fewer bits take less time [default: all]
    #[arg(long, value_name = "B:E", value_parser = parse_bits)]
    pub bits: Option<Range<u32>>,

    /// Move the values in FILE along with the keys: an .npy file, or raw, 4 or 8 bytes for each key
    #[arg(long, value_name = "FILE")]
    pub values: Option<OsString>,

    /// Where the values go, in the format and type that they came in; - is standard output
    #[arg(long, value_name = "FILE")]
    pub values_output: Option<OsString>,

    /// Write where each key would come from instead, as u32: a[result] is sorted
    #[arg(long)]
    pub argsort: bool,

    /// Sort each segment by itself: FILE has the places at which they begin, as u32, ascending; keys before the first stay
    /// as they are. With --argsort places are still those among all keys
    #[arg(long, value_name = "FILE")]
    pub segments: Option<OsString>,
}

/// Collect rows by their indices
///
/// The same as a[indices] in numpy, for an array or a table of rows: row i of the output is row indices[i] of the input.
/// A row may come more than once, or not at all. The output has the format, type and columns of the input, and as many
/// rows as there are indices.
#[derive(Debug, Args)]
pub struct GatherArgs {
    #[command(flatten)]
    pub files: Files,

    /// Which rows, by their place, the first being 0: an .npy file of u32, or raw u32; - is standard input
    #[arg(long, value_name = "FILE")]
    pub indices: OsString,
}

/// Which cases, and where their report goes.
#[derive(Debug, Args)]
pub struct SuiteArgs {
    /// Only cases whose id holds PATTERN, in which * stands for anything: sort, columns=4, radix-2bit*n=1048576
    #[arg(long, value_name = "PATTERN")]
    pub filter: Option<String>,

    /// Fewer cases: of verify a covering set of up to 65537 elements; of bench what takes less than a minute on a CPU driver
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,

    /// All cases, the largest as well: as long as it takes
    #[arg(long)]
    pub full: bool,

    /// Write a report as JSON, whole after each case and complete at the end; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<OsString>,
}

impl SuiteArgs {
    /// How much is done.
    pub fn effort(&self) -> Effort {
        match (self.quick, self.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            (false, false) => Effort::Normal,
        }
    }
}

/// What is verified.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub suite: SuiteArgs,

    /// Print the ids of the cases, a line each, and run nothing
    #[arg(long, conflicts_with = "json")]
    pub list: bool,

    /// Measure a scan and sorts of 1048576 elements too, and end with a short table
    #[arg(long, conflicts_with = "list")]
    pub measure: bool,
}

/// What is measured.
#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(flatten)]
    pub suite: SuiteArgs,

    /// Measure these cases instead, and answer a question by them
    #[arg(long, value_name = "NAME", value_enum)]
    pub preset: Option<Preset>,

    /// Write the measurements as CSV too, a line each, times in nanoseconds; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<OsString>,

    /// Write tables as Markdown too; - is standard output
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<OsString>,

    /// Write one HTML page with figures and tables too, which needs no other file; - is standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<OsString>,

    /// Make every time PERCENT longer, to see what a comparison makes of it
    #[arg(long, value_name = "PERCENT", hide = true, default_value_t = 0.0, value_parser = parse_percent, allow_hyphen_values = true)]
    pub slow_down: f64,
}

/// Show what a device's driver makes of the kernels: registers, spills, occupancy, code size
///
/// Compiles the pipelines that plans take on the device, those of every algorithm among them, and prints what the driver
/// tells of each; - is what it does not tell. Nothing runs on the device. --algorithm and --policy leave the pipelines of
/// one. Exits with 3 where a driver tells nothing (it lacks VK_KHR_pipeline_executable_properties).
///
/// Spills go to memory, and those "to registers" to registers of another kind. Occupancy is in the driver's unit (subgroups
/// of a SIMD with RADV, warps of an SM with NVK, waves or threads of a core with Turnip and Honeykrisp), and workgroups are
/// whole ones, by that. Cycles are the compiler's estimate of one subgroup.
///
/// With --device gpu:NAME the compiler of a GPU that need not be here tells (--list-gpus; tools/setup gpus fetches them).
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// Only pipelines whose kernel and specialization hold PATTERN, in which * stands for anything: sort/onesweep,
    /// scan/*REVERSE=1
    #[arg(long, value_name = "PATTERN")]
    pub filter: Option<String>,

    /// Inspect the compute shader of a SPIR-V module instead, with a storage buffer, or what else the module declares, at
    /// each of its bindings; - is standard input. The module must be valid (spirv-val): a driver may crash on another
    #[arg(long, value_name = "FILE", conflicts_with = "filter")]
    pub spirv: Option<OsString>,

    /// Which entry point of the module [default: its first for compute]
    #[arg(long, value_name = "NAME", requires = "spirv")]
    pub entry: Option<String>,

    /// Give the specialization constant with this SpecId a value, such as 0=256; once for each
    #[arg(long, value_name = "ID=VALUE", requires = "spirv", value_parser = parse_constant)]
    pub constant: Vec<(u32, String)>,

    /// Ask for subgroups of N lanes [default: the driver chooses]
    #[arg(long, value_name = "N", requires = "spirv")]
    pub lanes: Option<u32>,

    /// Print a JSON array, with every number of the driver's in its own words, sizes in bytes
    #[arg(long)]
    pub json: bool,
}

/// Sweep the shapes that a sort or a scan can have on a device, and print rows for its tuning table
///
/// Every shape is verified first: what is wrong is named and left out, and ends the command with 1. Each is measured for
/// a moment on the first kind of keys or elements, beside a copy of as many bytes; the best are measured by turns in
/// rounds, and for the best of their rows all other kinds. What is printed are rows of src/primitives/sort/tuning.rs or
/// src/primitives/scan/tuning.rs, ready to be pasted, the fastest first. A kind that is not measured keeps what the table
/// has for it. --algorithm leaves the shapes of one.
///
/// With --static, as always with --device gpu:NAME, nothing runs: shapes are ranked by the instructions of a key or
/// element and pass that the driver's compiler makes of the kernels, twice as many where a compute unit has no room for
/// two workgroups, and those that spill to memory are left out. Branches that few tiles take count as all others. That does
/// not compare algorithms, nor how tiles are scattered: these are the table's, or --algorithm's. Exits with 3 where a
/// driver tells nothing.
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// What is tuned
    #[arg(value_enum)]
    pub primitive: TunedPrimitive,

    /// Types of the keys or elements, with commas between; rows are for one word and for two [default: u32, of a sort with
    /// u64, but for --quick]
    #[arg(long, value_name = "TYPES", value_enum, value_delimiter = ',', hide_possible_values = true)]
    pub element: Vec<ElementType>,

    /// Bytes of the values that go with keys: 0, 4 or 8, with commas between [default: 0,4,8; with --quick 0]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = parse_value_size)]
    pub values: Vec<u32>,

    /// How many keys or elements, with commas between, such as 65536 or 2^24; the first of them decides what is measured
    /// in rounds; where nothing runs only one [default: 2^24; on a CPU 2^20; with --quick 2^16]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = parse_count)]
    pub count: Vec<u64>,

    /// Sizes of workgroups to try, with commas between [default: 128 to 1024; with --quick 128, 256 and 512]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub workgroup: Vec<u32>,

    /// Keys of an invocation to try, or of a scan words, with commas between [default: 4 to 24, of a scan 8 to 64; with
    /// --quick two of them]
    #[arg(long, value_name = "ITEMS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub items: Vec<u32>,

    /// Rounds in which the best shapes are measured by turns [default: 5; with --quick 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,

    /// Rows to print at most, beside the row in use
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rows: u32,

    /// Fewer shapes, of u32 keys alone: less than a minute on a CPU driver
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,

    /// More shapes, and every size of subgroups that the device has: as long as it takes
    #[arg(long)]
    pub full: bool,

    /// Run nothing: rank by what the driver's compiler makes of the kernels
    #[arg(long = "static")]
    pub is_static: bool,

    /// Print a JSON object, with every number that was measured, times in nanoseconds
    #[arg(long)]
    pub json: bool,
}

/// What has a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TunedPrimitive {
    /// Sorts
    Sort,
    /// Scans
    Scan,
}

/// Cases for a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// Every algorithm on u32: which scan is faster, what do fewer operations buy, or wider digits, or a single pass?
    Textbook,
    /// What tutorial 13 claims of its sort: are 4 bits faster than 2, and packed counters than bin by bin?
    #[value(name = "tutorial-13")]
    Tutorial13,
    /// Every algorithm from 2^8 elements on: what does a run cost at least, and what does each element add?
    Scaling,
}

/// Compare reports of bench, case by case, or inspections, pipeline by pipeline
///
/// Of files that inspect wrote with --json each pipeline is set beside itself: what was and what is, where they differ, of
/// registers, spills, occupancy, instructions and cycles. What follows is of reports.
///
/// The first report is the base, and every other is compared with it; of one report alone the first device is the base.
/// What differs in device, driver, machine, build, policies and samples is told first. A case is FASTER or SLOWER where
/// its time differs by more than the tolerance, SAME where it differs by less, and AMBIGUOUS where the samples leave both
/// open: by a bootstrap interval, at 95 %, of the ratio of medians; and so is a group, by its geometric mean. Between runs
/// on one machine, device and driver, what the copies' times changed by, in the middle of all, is put down to the machine.
/// It opens no device, and takes none of --device, --algorithm and --policy.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Reports that bench, or inspections that inspect, wrote with --json; - is standard input
    #[arg(required = true, value_name = "REPORT")]
    pub reports: Vec<OsString>,

    /// By how many percent times may differ and still be called the same [default: 5]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_hyphen_values = true)]
    pub tolerance: Option<f64>,

    /// Exit with 1 if a case has become wrong, or a case, a group or all together are slower by more than PERCENT; with 2
    /// if a report is not complete, lacks a device or a case of the base, or has too few samples
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_hyphen_values = true)]
    pub fail_on_regression: Option<f64>,

    /// Write the comparison as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<OsString>,

    /// Write one page with the verdicts, and all reports in the same figures; - is standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<OsString>,
}

/// One table in, one out.
#[derive(Debug, Args)]
pub struct Files {
    /// An .npy file, or raw little-endian elements with --type; - is standard input
    input: OsString,

    /// Where the result goes: an existing file is replaced once all is well; - is standard output [default: -]
    #[arg(short, long)]
    output: Option<OsString>,

    /// The type of the elements, which an .npy file says itself: u32, i32, f32, u64, i64 or f64
    #[arg(long = "type", value_name = "TYPE", value_enum, hide_possible_values = true)]
    pub element: Option<ElementType>,
}

impl Files {
    /// The input.
    pub fn source(&self) -> Source {
        self.input.clone().into()
    }

    /// The output, standard output if none was given.
    pub fn destination(&self) -> Destination {
        self.output.clone().unwrap_or_else(|| "-".into()).into()
    }
}

fn parse_bits(text: &str) -> Result<Range<u32>, String> {
    let parse = |text: &str| text.parse::<u32>().ok().filter(|bit| *bit <= u64::BITS);
    text.split_once(':')
        .and_then(|(begin, end)| Some(parse(begin)?..parse(end)?))
        .filter(|bits| bits.start <= bits.end)
        .ok_or_else(|| "it is two numbers B:E with 0 <= B <= E <= 64, such as 8:16".into())
}

fn parse_constant(text: &str) -> Result<(u32, String), String> {
    let (id, value) = text.split_once('=').unwrap_or_default();
    match id.parse() {
        Ok(id) if !value.is_empty() => Ok((id, value.to_owned())),
        _ => Err("it is a number and a value, such as 0=256".into()),
    }
}

fn parse_value_size(text: &str) -> Result<u32, String> {
    let size = text.trim().parse().ok().filter(|size| [0, 4, 8].contains(size));
    size.ok_or_else(|| "values have 0, 4 or 8 bytes".into())
}

fn parse_count(text: &str) -> Result<u64, String> {
    let count = match text.trim().split_once('^') {
        Some(("2", bits)) => bits.parse().ok().and_then(|bits| 1u64.checked_shl(bits)),
        Some(_) => None,
        None => text.trim().parse().ok(),
    };
    let count = count.filter(|count| (1..=1 << 30).contains(count));
    count.ok_or_else(|| "it is a number from 1 to 2^30, such as 65536 or 2^24".into())
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let percent = text.parse::<f64>().ok().filter(|percent| (0.0..=1e6).contains(percent));
    percent.ok_or_else(|| "it is a number of percent from 0, such as 5".into())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn constants_have_a_number_and_a_value() {
        assert_eq!(parse_constant("0=256"), Ok((0, "256".into())));
        assert_eq!(parse_constant("7=-1.5"), Ok((7, "-1.5".into())));
        for text in ["", "0", "0=", "=1", "a=1", "-1=1", "4294967296=1"] {
            assert!(parse_constant(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_numbers_or_powers_of_two() {
        assert_eq!(parse_count("65536"), Ok(1 << 16));
        assert_eq!(parse_count("2^24"), Ok(1 << 24));
        for text in ["", "0", "2^31", "2^99", "3^2", "2^", "-1", "1e6", "1073741825"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bits_lie_in_a_key_and_in_order() {
        assert_eq!(parse_bits("0:64"), Ok(0..64));
        assert_eq!(parse_bits("8:8"), Ok(8..8));
        for text in ["", ":", "8", "8:", ":8", "9:8", "0:65", "-1:8", "0:8:16", "a:b", "0:99999999999"] {
            assert!(parse_bits(text).is_err(), "{text}");
        }
    }
}
