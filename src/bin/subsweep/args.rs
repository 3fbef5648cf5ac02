//! Command-line arguments. Each command reports the contradictions that clap cannot detect.

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
  subsweep devices                                     list devices and their policies
  subsweep scan counts.npy -o offsets.npy --exclusive  offsets of parts from their lengths
  subsweep scan values.npy -o out.npy --op max --reverse --segments starts.npy
  subsweep sort keys.npy -o sorted.npy --device 1      on the second device of the list
  subsweep sort keys.npy -o order.npy --argsort --descending
  subsweep sort keys.npy -o sorted.npy --segments starts.npy
  subsweep sort - --type u32 <keys.bin >sorted.bin     raw elements through standard streams
  subsweep gather a.npy --indices i.npy -o b.npy       rows in another order: a[i]
  subsweep verify --quick --device all                 verify every device
  subsweep bench --filter sort --json report.json      measure the sorts
  subsweep bench --quick --device all --html page.html measure every device and draw figures
  subsweep compare before.json after.json              compare two reports case by case
  subsweep inspect --filter onesweep                   registers and spills of the kernels
  subsweep inspect --device gpu:all                    the same for GPUs that are not installed
  subsweep tune sort --device 1                        rank tile shapes for the tuning table
  subsweep tune sort --device gpu:apple-m1             rank them by the compiler's output alone

Exit codes:
  0  done
  1  wrong result, or a regression
  2  invalid arguments or input
  3  no suitable device
  4  device lost or hanging, or too little memory";

/// Prefix sums and radix sorts on Vulkan devices
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of every command.
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
    /// Verify devices, case by case
    ///
    /// Every case of the table runs twice, in buffers with guard ranges, and is compared with a sequential loop on the
    /// CPU. --quick takes a covering set of cases: every kernel of default plans, and every pair of values of the
    /// parameters (type, order, in place or not, alignment, indirect count, input and others), in up to 65537 elements.
    /// Without it the cases are every specialization of a kernel that a policy can choose. Cases that a device does not
    /// support are counted and listed. Exits with 1 if any case is wrong.
    Verify(VerifyArgs),
    /// Measure devices, each case beside a copy of as many bytes
    ///
    /// Each case is verified first, and is not measured if its result is wrong. Times are medians of GPU time, or of
    /// wall-clock time where a device has no timestamps, with the interquartile range. Bytes are those of the elements
    /// that the algorithm has to read and write.
    Bench(BenchArgs),
    Compare(CompareArgs),
    Inspect(InspectArgs),
    Tune(TuneArgs),
}

impl Command {
    /// The name of the command.
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

    /// Whether the command makes drivers compile pipelines.
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
    /// The device: its INDEX or a part of its NAME as listed by `subsweep devices`, uuid:… (the start of its UUID),
    /// driver:… (a part of its driver's name) or all; several are separated by commas. inspect and devices also take
    /// gpu:NAME or gpu:all, of --list-gpus, and tune takes one gpu:NAME [default: the best device]
    #[arg(long, global = true, env = "SUBSWEEP_DEVICE", default_value = "", hide_default_value = true)]
    pub device: DeviceChoice,

    /// The algorithm, by its name in --list-algorithms [default: the best for the device]
    #[arg(long, global = true, value_name = "NAME")]
    pub algorithm: Option<Algorithm>,

    /// The tuning of the algorithms [default: default; verify and bench take every tuning]
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

/// List the devices and their policies
///
/// For each: driver, versions, UUIDs, the relevant limits and features, and the chosen policies with the reason. An
/// unusable device is listed with the requirements that it lacks.
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Print a JSON array; sizes are in bytes
    #[arg(long)]
    pub json: bool,
}

/// Scan an array, or each column of a table: prefix sums, or another operation
///
/// Equals numpy.cumsum(a, axis=0, dtype=a.dtype): element i becomes the sum of elements 0 to i. --op selects another
/// operation, as ufunc.accumulate does. Integer sums and products wrap; floats are rounded in another order than
/// numpy's. --reverse gives the scan of a[::-1], reversed again. A table has 1 to 16 columns, and each is scanned by
/// itself. The output has the format, type and shape of the input.
#[derive(Debug, Args)]
pub struct ScanArgs {
    #[command(flatten)]
    pub files: Files,

    /// The operation; and, or and xor take integers only
    #[arg(long, value_enum, default_value_t)]
    pub op: Operator,

    /// Exclude each element from its own result: the first result is the identity, such as 0 for a sum
    #[arg(long)]
    pub exclusive: bool,

    /// The initial value of every column and segment: a number of the elements' type
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub init: Option<String>,

    /// Scan from the last element to the first
    #[arg(long)]
    pub reverse: bool,

    /// Scan each segment by itself: FILE has the first row of each as u32, ascending; row 0 always begins a segment
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
    /// Minima; NaN propagates
    Min,
    /// Maxima; NaN propagates
    Max,
    /// Bitwise and
    And,
    /// Bitwise or
    Or,
    /// Bitwise exclusive or
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

/// Sort an array, stable, keys alone or with values
///
/// Keys are in numeric order. Floats are in the order of Rust's total_cmp: NaNs of negative sign, -inf, -0, +0, +inf,
/// NaNs of positive sign (numpy puts every NaN last and treats -0 as +0). Equal keys keep their order in either
/// direction. The output has the format and type of the input, which has one dimension.
#[derive(Debug, Args)]
pub struct SortArgs {
    #[command(flatten)]
    pub files: Files,

    /// Sort from the greatest key to the least
    #[arg(long)]
    pub descending: bool,

    /// Compare only bits B to E - 1 of each key, bit 0 being the lowest, in the unsigned integer that has the key's
    /// order; fewer bits take less time [default: all]
    #[arg(long, value_name = "B:E", value_parser = parse_bits)]
    pub bits: Option<Range<u32>>,

    /// Move the values in FILE along with the keys: an .npy file, or raw, 4 or 8 bytes for each key
    #[arg(long, value_name = "FILE")]
    pub values: Option<OsString>,

    /// Write the values here, in the format and type of --values; - is standard output
    #[arg(long, value_name = "FILE")]
    pub values_output: Option<OsString>,

    /// Write the permutation instead of the keys, as u32: a[result] is sorted
    #[arg(long)]
    pub argsort: bool,

    /// Sort each segment by itself: FILE has the first index of each as u32, ascending; keys before the first
    /// segment are not moved. With --argsort the result holds indices into the whole array
    #[arg(long, value_name = "FILE")]
    pub segments: Option<OsString>,
}

/// Gather rows by their indices
///
/// Equals a[indices] in numpy, for an array or a table of rows: row i of the output is row indices[i] of the input. A
/// row may occur more than once, or not at all. The output has the format, type and columns of the input, and a row for
/// each index.
#[derive(Debug, Args)]
pub struct GatherArgs {
    #[command(flatten)]
    pub files: Files,

    /// The indices of the rows, from 0: an .npy file of u32, or raw u32; - is standard input
    #[arg(long, value_name = "FILE")]
    pub indices: OsString,
}

/// The cases of a suite and the destination of its report.
#[derive(Debug, Args)]
pub struct SuiteArgs {
    /// Only cases whose id contains PATTERN, in which * matches any text: sort, columns=4, radix-2bit*n=1048576
    #[arg(long, value_name = "PATTERN")]
    pub filter: Option<String>,

    /// Fewer cases: verify takes a covering set of up to 65537 elements, bench less than a minute on a CPU driver
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,

    /// All cases, including the largest; takes much longer
    #[arg(long)]
    pub full: bool,

    /// Write a report as JSON, valid after each case and complete at the end; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<OsString>,
}

impl SuiteArgs {
    /// The effort in use.
    pub fn effort(&self) -> Effort {
        match (self.quick, self.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            (false, false) => Effort::Normal,
        }
    }
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub suite: SuiteArgs,

    /// Print the ids of the cases, one on a line, and run nothing
    #[arg(long, conflicts_with = "json")]
    pub list: bool,

    /// Also measure a scan and sorts of 1048576 elements, and end with a short table
    #[arg(long, conflicts_with = "list")]
    pub measure: bool,
}

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(flatten)]
    pub suite: SuiteArgs,

    /// Measure the cases of a preset instead, and answer its question
    #[arg(long, value_name = "NAME", value_enum)]
    pub preset: Option<Preset>,

    /// Also write the measurements as CSV, one on a line, times in nanoseconds; - is standard output
    #[arg(long, value_name = "FILE")]
    pub csv: Option<OsString>,

    /// Also write tables as Markdown; - is standard output
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<OsString>,

    /// Also write a self-contained HTML page with figures and tables; - is standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<OsString>,

    /// Increase every time by PERCENT, to try a comparison
    #[arg(long, value_name = "PERCENT", hide = true, default_value_t = 0.0, value_parser = parse_percent, allow_hyphen_values = true)]
    pub slow_down: f64,
}

/// Show registers, spills, occupancy and code size of the kernels, as reported by a device's driver
///
/// Compiles the pipelines of the device's plans, for every algorithm, and prints the driver's statistics of each; -
/// stands for a missing one. Nothing runs on the device. --algorithm and --policy select the pipelines of one. Exits
/// with 3 where a driver reports nothing (it lacks VK_KHR_pipeline_executable_properties).
///
/// Spills go to memory; spills "to registers" go to registers of another kind. Occupancy is in the driver's unit:
/// subgroups of a SIMD with RADV, warps of an SM with NVK, waves or threads of a core with Turnip and Honeykrisp.
/// Workgroups are the whole ones that fit by it. Cycles are the compiler's estimate for one subgroup.
///
/// With --device gpu:NAME the compiler of a GPU that need not be installed reports (--list-gpus; tools/setup gpus
/// fetches them).
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// Only pipelines whose kernel and specialization contain PATTERN, in which * matches any text: sort/onesweep,
    /// scan/*REVERSE=1
    #[arg(long, value_name = "PATTERN")]
    pub filter: Option<String>,

    /// Inspect the compute shader of a SPIR-V module instead; each of its bindings gets a storage buffer, or the type that
    /// the module declares; - is standard input. The module must be valid (spirv-val): an invalid one may crash a driver
    #[arg(long, value_name = "FILE", conflicts_with = "filter")]
    pub spirv: Option<OsString>,

    /// The entry point of the module [default: its first for compute]
    #[arg(long, value_name = "NAME", requires = "spirv")]
    pub entry: Option<String>,

    /// Give the specialization constant with this SpecId a value, such as 0=256; repeat for each constant
    #[arg(long, value_name = "ID=VALUE", requires = "spirv", value_parser = parse_constant)]
    pub constant: Vec<(u32, String)>,

    /// Require subgroups of N lanes [default: the driver chooses]
    #[arg(long, value_name = "N", requires = "spirv")]
    pub lanes: Option<u32>,

    /// Print a JSON array with every statistic under the driver's own name; sizes are in bytes
    #[arg(long)]
    pub json: bool,
}

/// Sweep the tile shapes of a sort or a scan on a device, and print rows for its tuning table
///
/// Every shape is verified first; a wrong one is named and excluded, and the command exits with 1. Each is measured
/// briefly on the first kind of keys or elements, beside a copy of as many bytes. The best are measured alternately in
/// rounds, and the best of their rows on all other kinds. The output is rows for src/primitives/sort/tuning.rs or
/// src/primitives/scan/tuning.rs, ready to be pasted, the fastest first. A kind that is not measured keeps its value of
/// the table. --algorithm selects the shapes of one.
///
/// With --static, and always with --device gpu:NAME, nothing runs. Shapes are ranked by compiled instructions per key
/// or element and pass, doubled where a compute unit cannot hold two workgroups; shapes that spill to memory are
/// excluded. Rare branches count as all others. The static ranking does not compare algorithms, nor variants of the tile
/// scatter: the table or --algorithm decides those. Exits with 3 where a driver reports nothing.
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// The primitive to tune
    #[arg(value_enum)]
    pub primitive: TunedPrimitive,

    /// Types of the keys or elements, separated by commas; a row serves one word and two [default: u32, and u64 for
    /// a sort without --quick]
    #[arg(long, value_name = "TYPES", value_enum, value_delimiter = ',', hide_possible_values = true)]
    pub element: Vec<ElementType>,

    /// Bytes of the values of each key: 0, 4 or 8, separated by commas [default: 0,4,8; with --quick 0]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = parse_value_size)]
    pub values: Vec<u32>,

    /// Counts of keys or elements, separated by commas, such as 65536 or 2^24; the first selects the shapes that
    /// are measured in rounds; --static takes only one [default: 2^24; on a CPU 2^20; with --quick 2^16]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = parse_count)]
    pub count: Vec<u64>,

    /// Workgroup sizes to try, separated by commas [default: 128 to 1024; with --quick 128, 256 and 512]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub workgroup: Vec<u32>,

    /// Keys per invocation to try, or words for a scan, separated by commas [default: 4 to 24, for a scan 8 to 64;
    /// with --quick two of them]
    #[arg(long, value_name = "ITEMS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub items: Vec<u32>,

    /// Rounds in which the best shapes are measured alternately [default: 5; with --quick 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,

    /// Rows to print at most, besides the row in use
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rows: u32,

    /// Fewer shapes, of u32 keys alone: less than a minute on a CPU driver
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,

    /// More shapes, and every subgroup size of the device; takes much longer
    #[arg(long)]
    pub full: bool,

    /// Run nothing: rank by the code that the driver's compiler produces
    #[arg(long = "static")]
    pub is_static: bool,

    /// Print a JSON object with every measurement, times in nanoseconds
    #[arg(long)]
    pub json: bool,
}

/// A primitive with a tuning table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TunedPrimitive {
    /// Sorts
    Sort,
    /// Scans
    Scan,
}

/// A set of cases that answers a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// Every algorithm on u32: which scan is fastest? Do fewer operations, wider digits or a single pass pay?
    Textbook,
    /// The claims of tutorial 13 about its sort: are 4 bits faster than 2, and packed counters than bin by bin?
    #[value(name = "tutorial-13")]
    Tutorial13,
    /// Every algorithm from 2^8 elements on: what are the fixed cost and the cost of each element?
    Scaling,
}

/// Compare reports of bench, case by case, or inspections, pipeline by pipeline
///
/// Files that `inspect --json` wrote are compared pipeline by pipeline: registers, spills, occupancy, instructions and
/// cycles that differ. All that follows is about reports.
///
/// The first report is the base of every other; with a single report its first device is the base. Differences in
/// device, driver, machine, build, policies and samples are printed first. A case is FASTER or SLOWER where its time
/// differs by more than the tolerance, SAME where it differs by less, and AMBIGUOUS where the samples leave both open:
/// by a bootstrap interval, at 95 %, of the ratio of medians. A group is judged alike by its geometric mean. Between
/// runs on one machine, device and driver, the median change of the copies' times is attributed to the machine. compare
/// opens no device, and refuses --device, --algorithm and --policy.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Reports of bench or inspections of inspect, written with --json; - is standard input
    #[arg(required = true, value_name = "REPORT")]
    pub reports: Vec<OsString>,

    /// The difference of times, in percent, that still counts as the same [default: 5]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_hyphen_values = true)]
    pub tolerance: Option<f64>,

    /// Exit with 1 if a case has become wrong, or a case, a group or all together are slower by more than PERCENT;
    /// with 2 if a report is incomplete, lacks a device or a case of the base, or has too few samples
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_hyphen_values = true)]
    pub fail_on_regression: Option<f64>,

    /// Write the comparison as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<OsString>,

    /// Write a page with the verdicts, and all reports in the same figures; - is standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<OsString>,
}

/// One input table, one output table.
#[derive(Debug, Args)]
pub struct Files {
    /// An .npy file, or raw little-endian elements with --type; - is standard input
    input: OsString,

    /// The output file; an existing one is replaced once the result is complete; - is standard output [default: -]
    #[arg(short, long)]
    output: Option<OsString>,

    /// The type of the elements, which an .npy file states itself: u32, i32, f32, u64, i64 or f64
    #[arg(long = "type", value_name = "TYPE", value_enum, hide_possible_values = true)]
    pub element: Option<ElementType>,
}

impl Files {
    /// The input.
    pub fn source(&self) -> Source {
        self.input.clone().into()
    }

    /// The output; standard output by default.
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
