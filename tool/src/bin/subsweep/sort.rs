//! `subsweep sort`: sorts of keys or pairs, and argsorts.

use std::ops::Range;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use subsweep::device::Capabilities;
use subsweep::headless::{SortPhase, SortProgress, SortStream, StreamError, check_ranges};
use subsweep::sort::{
    SegmentedSortConfig, SegmentedSortPolicy, SortAlgorithm, SortConfig, SortPlan, ValueSize,
};
use subsweep::{ElementType, Error, FloatOrder};
use subsweep_tool::harness::{PlanConfig, PolicyName};
use subsweep_tool::table::{
    self, Padded, Table, TableError, TableReader, TableShape, Taken, Trimmed, padded_size,
};

use crate::args::{Common, Files, MemoryLimit, float_order};
use crate::command::{Run, Shown, ShownPolicy};
use crate::error::{CommandError, of_stream, usage};
use crate::files::input::{InputError, InputProblem, OpenTable};
use crate::files::{self, BegunOutput, Destination, Job, Outputs, Source, Spool, TemporaryFolder};
use crate::policy::{self, Algorithm};
use crate::terminal::Progress;
use crate::{device, fields, segments};

/// Sort an array, stable, keys alone or with values
///
/// Keys are in numeric order, floats in the order of --order. Equal keys keep their order in either direction. The output has the
/// format, type and shape of the input, which has one dimension, or two and --axis 1.
#[derive(Debug, Args)]
pub struct SortArgs {
    #[command(flatten)]
    pub files: Files,

    /// Sort from the greatest key to the least
    #[arg(long)]
    pub descending: bool,

    /// The order of floats
    #[arg(long, value_parser = float_order(), default_value_t = FloatOrder::Total)]
    pub order: FloatOrder,

    /// Sort the rows of a structured array by its fields of these names, of which - is before each whose greatest comes first; to
    /// 8 fields, together to 16 bytes. Rows are moved whole; --order is the order of all floats
    #[arg(long, value_name = "FIELD,…", allow_hyphen_values = true)]
    pub by: Option<String>,

    /// Compare only bits B to E - 1 of each key, bit 0 being the lowest, in the unsigned integer that has the key's
    /// order; fewer bits take less time [default: all]
    #[arg(long, value_name = "B:E", allow_hyphen_values = true, value_parser = parse_bits)]
    pub bits: Option<Range<u32>>,

    /// Move the values in FILE along with the keys: an .npy file with a number for each key, or a row of up to 16 KiB; or raw, 1, 2,
    /// 4 or 8 bytes for each key
    #[arg(long, value_name = "FILE")]
    pub values: Option<Source>,

    /// Write the values here, in the format and type of --values; - is standard output
    #[arg(long, value_name = "FILE")]
    pub values_output: Option<Destination>,

    /// Write the permutation instead of the keys, as u32, and of more than 2^32 keys as u64: a[result] is
    /// sorted
    #[arg(long)]
    pub argsort: bool,

    /// The axis along which to sort: 1 sorts each row of a table by itself, as np.sort(a, axis=1, kind='stable') does with --order
    /// numpy, and --argsort writes indices in the row
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=1))]
    pub axis: u32,

    /// Sort each segment by itself: FILE has the first index of each, ascending, as whole numbers, raw ones as u32; keys before the first
    /// segment are not moved. With --argsort the result holds indices into the whole array
    #[arg(long, value_name = "FILE")]
    pub segments: Option<Source>,

    /// Let each of --segments end where FILE says, at the index after its last key: segments may then leave out keys, which are not
    /// moved, and be in any order; they do not overlap
    #[arg(long, value_name = "FILE", requires = "segments")]
    pub segment_ends: Option<Source>,

    #[command(flatten)]
    pub memory: MemoryLimit,

    /// Write what the memory does not hold to temporary files in DIR, which are gone however the command ends [default:
    /// beside the output, and for a stream TMPDIR]
    #[arg(long, value_name = "DIR")]
    pub temp_dir: Option<PathBuf>,
}

impl Run for SortArgs {
    fn run(&self, common: &Common) -> Result<()> {
        device::check_one(&common.device, "sort")?;
        if let Some(by) = &self.by {
            return fields::sort(self, common, by);
        }
        policy::check_sort(common)?;
        self.check_values()?;
        self.check_segments(common)?;
        let job = self.job().row_numbers("--segments", &self.segments);
        let job = job.row_numbers("--segment-ends", &self.segment_ends).checked()?;
        if let Some(element) = self.files.raw.element {
            check_bits(self, element)?;
        }
        match &self.segments {
            _ if self.axis == 1 => self.run_along_rows(common, &job),
            Some(begins) => self.run_in_segments(common, &job, begins),
            None => self.run_in_chunks(common, &job),
        }
    }
}

impl SortArgs {
    /// The job, but for segments.
    pub fn job(&self) -> Job<'_> {
        self.files.job().input("--values", &self.values).output("--values-output", &self.values_output)
    }

    /// Sorts files of any size.
    fn run_in_chunks(&self, common: &Common, job: &Job<'_>) -> Result<()> {
        const TAKEN: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 1, max_count: u64::MAX };
        let (source, values) = (&self.files.input, self.values.as_ref());
        let opened = self.files.open(None, &TAKEN);
        let mut opened = opened.map_err(|error| with_remedy(error.into(), OF_ROWS))?;
        let (element, format) = (opened.table.element, opened.table.format);
        check_bits(self, element)?;
        let outputs = job.prepare()?;
        let folder = self.folder_of_runs(&outputs);
        if self.temp_dir.is_some() {
            Spool::new_in(&folder)?;
        }
        // The size of raw values follows from both numbers, so that neither is left open; and a program may write the keys
        // to a pipe before the values to another.
        if values.is_some() && !opened.table.is_file() {
            opened = opened.spooled(source, &folder)?;
        }
        let count = opened.table.shape.map(|shape| shape.rows() as u64);
        let open_values = |(values, count)| {
            files::open_values(values, count, 2, &folder).map_err(|error| with_remedy(error, OF_VALUES))
        };
        let values_table = values.zip(count).map(open_values).transpose()?;
        let value_size = values_table.as_ref().map(|values| values.table.row_size());
        let config = config(self, element, value_size)?;
        let (mut keys_reader, count) = opened.forward(source)?;

        let gpu = device::open(common)?;
        let config = match common.is_plain() {
            true => config,
            false => config.policy(policy::of_sort(common, gpu.capabilities(), &config).policy),
        };
        let progress = Progress::of_bytes(format_args!("sorting {source}"), None);
        let mut show = |at: SortProgress| {
            let phase = match at.phase {
                SortPhase::Merging { round_count: 1, .. } => "merging".to_owned(),
                SortPhase::Merging { round, round_count } => {
                    format!("merging, round {round} of {round_count}")
                }
                SortPhase::Writing => "writing".to_owned(),
                _ => format!("sorting {source}"),
            };
            progress.show_bytes(phase, at.done_size, at.size);
        };
        let shape = count.map(|count| TableShape::Flat { count: count as usize });
        let header_of = |(format, element, shape): (_, _, Option<_>)| {
            shape.map_or(Vec::new(), |shape| table::header(format, element, shape))
        };
        let ended = |error, output: &BegunOutput| match error {
            StreamError::Device(error) => too_many(common, error),
            error => of_stream(error, source, |error| output.error(error), &folder, &self.memory),
        };
        let mut tables = vec![(format, element, shape)];
        if self.argsort {
            let is_wide = count.is_some_and(|count| count > 1 << 32);
            tables = vec![(format, if is_wide { ElementType::U64 } else { ElementType::U32 }, shape)];
        }
        tables.extend(
            values_table.as_ref().map(|OpenTable { table, .. }| (table.format, table.element, table.shape)),
        );
        let value_size = value_size.unwrap_or(4);
        let mut values_reader = match values.zip(values_table) {
            Some((values, table)) => Some(Padded::new(table.forward(values)?.0, value_size)),
            None => None,
        };
        let mut outputs = outputs.begin_all()?;
        for (output, table) in outputs.iter_mut().zip(tables) {
            output.header = header_of(table);
        }
        let mut sinks = outputs.iter_mut();
        let sorted_keys = if self.argsort { None } else { sinks.next().map(|output| output as _) };
        let mut sorted_values = sinks.next().map(|output| Trimmed::new(output, value_size));
        let sorted = gpu.sort_stream(
            config,
            SortStream {
                keys: &mut keys_reader,
                values: values_reader.as_mut().map(|reader| reader as _),
                sorted_keys,
                sorted_values: sorted_values.as_mut().map(|output| output as _),
                count,
                memory_size: self.memory.size(),
                chunk_size: None,
                as_on_gpu: None,
                temporary: &mut || tempfile::tempfile_in(&folder.path),
                progress: Some(&mut show),
            },
        );
        match sorted {
            Ok(_) => Ok(files::finish_all(outputs)?),
            Err(error) => Err(ended(error, &outputs[0])),
        }
    }

    /// Sorts each row of a table of any size by itself.
    fn run_along_rows(&self, common: &Common, job: &Job<'_>) -> Result<()> {
        const TAKEN: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 2, max_count: u64::MAX };
        let source = &self.files.input;
        let opened = self.files.open(None, &TAKEN)?;
        let TableReader { element, format, shape, .. } = opened.table;
        let shape = shape.unwrap_or(TableShape::Flat { count: 0 });
        let columns = files::row_length(source, shape)?;
        check_bits(self, element)?;
        let length = u32::try_from(columns).map_err(|_| {
            let max = u32::MAX;
            usage!("{source}: has rows of {columns} keys, and up to {max} are sorted; split them")
        })?;
        let config = SegmentedSortConfig::new(config(self, element, None)?).along_rows(length);
        let outputs = job.prepare()?;
        let mut chunks =
            opened.chunks(source, columns, files::ROWS_AND_RESULTS, "sorting rows of", &self.memory)?;

        let gpu = device::open(common)?;
        // Before anything is written: the device may lack the type.
        gpu.declared(config)?;
        let [mut output] = outputs.begin()?;
        let written = if self.argsort { ElementType::U32 } else { element };
        output.header = table::header(format, written, shape);
        while let Some(keys) = chunks.next(0)? {
            let count = if self.argsort { keys.len() / element.size() } else { 0 };
            let mut indices = files::zeroed::<u32>(count, "the indices")?;
            let values = bytemuck::cast_slice_mut(&mut indices);
            device::run(&gpu, gpu.prepare_segmented_sort(config, keys, values, &[])?)?;
            output.write_bytes(if self.argsort { bytemuck::cast_slice(&indices) } else { keys })?;
        }
        Ok(output.finish()?)
    }

    /// The folder of temporary files.
    fn folder_of_runs(&self, outputs: &Outputs) -> TemporaryFolder {
        TemporaryFolder {
            path: self.temp_dir.clone().unwrap_or_else(|| outputs.temporary_folder().path),
            another: "name another folder with --temp-dir",
        }
    }

    /// Sorts each segment by itself, in memory.
    fn run_in_segments(&self, common: &Common, job: &Job<'_>, begins: &Source) -> Result<()> {
        device::check_inputs(common, job)?;
        let mut keys = read_keys(&self.files)?;
        check_bits(self, keys.element)?;
        let count = keys.shape.rows();
        let read = |source| {
            let read = files::read_values_of(source, keys.shape);
            read.map_err(|error| with_remedy(error.into(), OF_VALUES))
        };
        let mut values = self.values.as_ref().map(read).transpose()?;
        let segments = match &self.segment_ends {
            Some(ends) => {
                let ranges = segments::read_ranges([begins, ends], "sort", count, "keys")?;
                let checked = check_ranges(ranges.split_at(ranges.len() / 2).into(), count as u64);
                checked.map_err(|error| match error {
                    Error::SegmentOutOfOrder { index, begin, earliest, .. } => usage!(
                        "{begins}: segment {index} begins at {begin}, before the end of another one, {earliest}; make them disjoint"
                    ),
                    _ => usage!("{begins}: {error}"),
                })?;
                ranges
            }
            None => segments::read(begins, "sort", count, "keys")?,
        };
        let value_size = values.as_ref().map(Table::row_size);
        let config = SegmentedSortConfig::new(config(self, keys.element, value_size)?);
        let config = if self.segment_ends.is_some() { config.ranges() } else { config };
        let outputs = job.prepare()?;
        if let Some(values) = &mut values {
            values.pad();
        }

        let gpu = device::open(common)?;
        let mut indices = vec![0; if self.argsort { 4 * count } else { 0 }];
        device::run_whole(&gpu, format_args!("sorting {count} keys"), || {
            let values = values.as_mut().map_or(&mut indices, |table| &mut table.payload);
            gpu.prepare_segmented_sort(config, &mut keys.payload, values, &segments)
        })?;
        if self.argsort {
            keys = Table { element: ElementType::U32, payload: indices, ..keys };
        }
        Ok(outputs.commit([keys].into_iter().chain(values.map(Table::trimmed)))?)
    }

    /// Refuses options of values that contradict each other.
    pub fn check_values(&self) -> Result<(), CommandError> {
        let what = match (&self.values, &self.values_output) {
            (None, None) => return Ok(()),
            _ if self.argsort => "--argsort makes the values; leave out --values and --values-output",
            (Some(_), None) => "--values go somewhere; name a file with --values-output",
            (None, Some(_)) => "--values-output has no values; name a file with --values",
            (Some(_), Some(_)) => return Ok(()),
        };
        Err(CommandError::usage(what))
    }

    /// Refuses options that a segmented sort does not support.
    pub fn check_segments(&self, common: &Common) -> Result<(), CommandError> {
        let option = match (&self.segments, self.axis) {
            (None, 0) => return Ok(()),
            (None, _) => "--axis 1",
            (Some(_), 0) => "--segments",
            _ => {
                return Err(usage!("--segments are of an array of one dimension; leave out --axis 1"));
            }
        };
        if self.axis == 1 && self.values.is_some() {
            return Err(usage!(
                "--axis 1 moves no values; write --argsort, and take them by numpy.take_along_axis"
            ));
        }
        if self.axis == 1 && self.temp_dir.is_some() {
            return Err(usage!("--axis 1 writes no temporary files; leave out --temp-dir"));
        }
        if self.axis == 0 && (self.memory.is_given() || self.temp_dir.is_some()) {
            return Err(usage!(
                "segments may be of any length and are sorted in memory; leave out --segments, or --memory and --temp-dir"
            ));
        }
        if let Some(algorithm) = common.algorithm {
            return Err(usage!(
                "each segment is sorted by what suits its length; leave out one of {option} and --algorithm {}",
                algorithm.name()
            ));
        }
        match common.seed() {
            Some(_) => Err(usage!("the seed has no {option}; leave out one of --policy and {option}")),
            None => Ok(()),
        }
    }
}

/// Reads the keys of a segmented sort, whose offsets have 32 bits.
fn read_keys(files: &Files) -> Result<Table> {
    let taken = Taken { elements: &ElementType::ALL, max_dimensions: 1, max_count: SortPlan::MAX_COUNT };
    let source = &files.input;
    files.read(&taken).map_err(|error| match &error.problem {
        InputProblem::Table(TableError::TooMany { max }) => usage!(
            "{source}: --segments takes up to {max} keys, and there are more; leave it out, or split them"
        )
        .into(),
        _ => with_remedy(error.into(), OF_ROWS),
    })
}

const OF_ROWS: &str =
    "and one is sorted; --axis 1 sorts each row; for columns, save numpy.ascontiguousarray(a.T)";
const OF_VALUES: &str = "and a value is a number or a row for each key; leave out --values, sort with --argsort, and take the \
                         values at the indices that it writes";

/// The error of an input, with the remedy of a sort if it is a table of several rows and columns.
fn with_remedy(error: anyhow::Error, remedy: &str) -> anyhow::Error {
    match error.downcast_ref() {
        Some(InputError {
            input,
            problem: InputProblem::Table(TableError::Dimensions { shape, count, is_line: false, .. }),
        }) => usage!("{input}: has {count} dimensions, shape {shape}, {remedy}").into(),
        Some(InputError {
            input,
            problem: InputProblem::Table(TableError::ElementNotTaken { found, .. }),
        }) if found.starts_with('[') => {
            usage!("{input}: holds rows of {found}; name the fields to sort by with --by").into()
        }
        _ => error,
    }
}

/// The error of a plan; more keys than the chosen algorithm supports on this device are an error of usage.
pub fn too_many(common: &Common, error: subsweep::Error) -> anyhow::Error {
    match (common.algorithm, error) {
        (Some(algorithm), subsweep::Error::TooManyElements { count, max, .. }) => usage!(
            "--algorithm {} sorts up to {max} keys on this device, and there are {count}; leave it out",
            algorithm.name()
        )
        .into(),
        (_, error) => error.into(),
    }
}

/// Refuses bits that a key does not have.
pub fn check_bits(args: &SortArgs, element: ElementType) -> Result<(), CommandError> {
    match &args.bits {
        Some(bits) if bits.end > element.bits() => Err(usage!(
            "--bits {}:{} exceeds the {} bits of a {element}; leave it out to compare all",
            bits.start,
            bits.end,
            element.bits()
        )),
        _ => Ok(()),
    }
}

/// The configuration of a sort of `keys`, with values of so many bytes.
pub fn config(args: &SortArgs, keys: ElementType, value_size: Option<usize>) -> Result<SortConfig> {
    let config = match value_size {
        Some(size) => SortConfig::pairs(keys, ValueSize::new(padded_size(size)).map_err(|_| {
            usage!(
                "--values has rows of {size} bytes, and up to {} are moved; write --argsort, and take them at its indices",
                ValueSize::MAX.bytes()
            )
        })?),
        None if args.argsort => SortConfig::argsort(keys),
        None => SortConfig::keys(keys),
    };
    let config = if args.descending { config.descending() } else { config }.order(args.order);
    Ok(match &args.bits {
        Some(bits) => config.bits(bits.clone()),
        None => config,
    })
}

fn parse_bits(text: &str) -> Result<Range<u32>, String> {
    let parse = |text: &str| text.parse::<u32>().ok().filter(|bit| *bit <= u64::BITS);
    text.split_once(':')
        .and_then(|(begin, end)| Some(parse(begin)?..parse(end)?))
        .filter(|bits| bits.start <= bits.end)
        .ok_or_else(|| "it is two numbers B:E with 0 <= B <= E <= 64, such as 8:16".into())
}

/// What `devices` and `inspect` show of sorts.
pub const SHOWN: Shown = Shown { policies, plans };

/// What `devices` and `inspect` show of segmented sorts; no option changes their policy.
pub const SHOWN_IN_SEGMENTS: Shown = Shown {
    policies: |_, capabilities| {
        let config = SortConfig::keys(ElementType::U32).into();
        vec![ShownPolicy::new(
            "segmented_sort",
            "in segments",
            SegmentedSortPolicy::choose(capabilities, &config),
        )]
    },
    plans: |common, _| match common.is_plain() {
        true => INSPECTED.map(|config| SegmentedSortConfig::new(config).into()).into(),
        false => Vec::new(),
    },
};

fn policies(common: &Common, capabilities: &Capabilities) -> Vec<ShownPolicy> {
    let shown =
        |key, label, config| ShownPolicy::new(key, label, policy::of_sort(common, capabilities, &config));
    vec![
        shown("sort", "sort policy", SortConfig::keys(ElementType::U32)),
        shown("sort_pairs", "sort of pairs", SortConfig::pairs(ElementType::U32, ValueSize::B4)),
        shown("sort_u64", "sort of u64", SortConfig::keys(ElementType::U64)),
    ]
}

/// Configurations that `inspect` shows; the simplest first.
const INSPECTED: [SortConfig; 3] = [
    SortConfig::keys(ElementType::U32),
    SortConfig::keys(ElementType::U64),
    SortConfig::pairs(ElementType::U32, ValueSize::B4),
];

fn plans(common: &Common, capabilities: &Capabilities) -> Vec<PlanConfig> {
    let policy = common.policy_name();
    let asked = match common.algorithm {
        Some(Algorithm::Sort(algorithm)) => Some(algorithm),
        Some(Algorithm::Scan(_)) => return Vec::new(),
        None => None,
    };
    let plan = |algorithm, policy: PolicyName, config: SortConfig| {
        PlanConfig::from(config.policy(policy.sort(capabilities, algorithm, &config)))
    };
    if let Some(algorithm) = asked {
        return INSPECTED.map(|config| plan(algorithm, policy, config)).into();
    }
    let is_taken = |algorithm: &SortAlgorithm| policy == PolicyName::Default || algorithm.is_of_seed();
    let algorithms = SortAlgorithm::ALL.into_iter().filter(is_taken);
    let algorithms = algorithms.map(|algorithm| plan(algorithm, policy, INSPECTED[0]));
    match policy {
        PolicyName::Default => {
            let chosen = INSPECTED.map(|config| plan(SortAlgorithm::ALL[0], PolicyName::Chosen, config));
            chosen.into_iter().chain(algorithms).collect()
        }
        _ => algorithms.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_lie_in_a_key_and_in_order() {
        assert_eq!(parse_bits("0:64"), Ok(0..64));
        assert_eq!(parse_bits("8:8"), Ok(8..8));
        for text in ["", ":", "8", "8:", ":8", "9:8", "0:65", "-1:8", "0:8:16", "a:b", "0:99999999999"] {
            assert!(parse_bits(text).is_err(), "{text}");
        }
    }
}
