//! `subsweep select` and `subsweep partition`: the elements that satisfy a predicate.

mod chunks;

use std::mem;

use anyhow::{Result, bail};
use clap::Args;
use subsweep::headless::{Gpu, SelectInputs, Selected};
use subsweep::select::{Comparison, Operands, SelectAlgorithm, SelectConfig, SelectPlan, SelectPolicy};
use subsweep::{ElementType, FloatOrder};
use subsweep_tool::table::{self, Flags, Table, TableShape, Taken};

use crate::args::{Common, Files, MemoryLimit, float_order};
use crate::command::{Run, Shown, ShownPolicy};
use crate::error::{CommandError, usage};
use crate::files::{self, Destination, Source};
use crate::policy::Algorithm;
use crate::terminal;
use crate::{device, number};

/// Select the elements that a predicate keeps, in order
///
/// Equals a[mask] in numpy, a[a >= 3] for --where 'x >= 3', where floats compare as in numpy (-0 equals 0, and nan satisfies
/// != alone), and np.unique(a) for --unique of elements that are sorted in the same --order: of others it keeps the first of
/// each run of equal ones. --flags also selects rows of a table.
#[derive(Debug, Args)]
pub struct SelectArgs {
    #[command(flatten)]
    files: Files,

    #[command(flatten)]
    by: Predicate,

    /// Keep the first of each run of equal elements
    #[arg(long)]
    unique: bool,

    /// With --unique: the order of floats, by which elements are equal
    #[arg(long, value_parser = float_order(), default_value_t = FloatOrder::Numpy, requires = "unique")]
    order: FloatOrder,

    /// With --unique: compare the keys in FILE, one for each element or row of the input: an .npy file, or raw unsigned
    /// numbers of 1, 2, 4 or 8 bytes
    #[arg(long, value_name = "FILE")]
    by_key: Option<Source>,

    /// With --by-key: write the keys that are kept
    #[arg(long, value_name = "FILE")]
    keys_output: Option<Destination>,

    #[command(flatten)]
    moved: Moved,

    #[command(flatten)]
    memory: MemoryLimit,
}

/// Partition elements: those that a predicate keeps first, the others after them, each in order
///
/// Equals np.concatenate([a[mask], a[~mask]]) in numpy. With --and-then there are three parts: of the elements that
/// --where rejects, those that satisfy it come second. The sizes of the parts are printed on standard error, or written
/// to --count.
#[derive(Debug, Args)]
pub struct PartitionArgs {
    #[command(flatten)]
    files: Files,

    #[command(flatten)]
    by: Predicate,

    /// With --where: a second part, of the elements that it rejects, such as 'x < 9'
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    and_then: Option<Condition>,

    /// Write the sizes of all parts, u32, instead of printing them
    #[arg(long, value_name = "FILE")]
    count: Option<Destination>,

    #[command(flatten)]
    moved: Moved,

    #[command(flatten)]
    memory: MemoryLimit,
}

/// The predicates of both commands.
#[derive(Debug, Args)]
struct Predicate {
    /// Keep the elements or rows whose flag is not 0: an .npy file of bool, u8 or u32, or raw flags of 1 or 4 bytes
    #[arg(long, value_name = "FILE")]
    flags: Option<Source>,

    /// Keep the elements that satisfy a condition: 'x < 3', with <, <=, ==, !=, >= or >, or '3 <= x < 9'
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    condition: Option<Condition>,
}

/// What is written besides the elements.
#[derive(Debug, Args)]
struct Moved {
    /// Write the indices of the elements as well, as u32
    #[arg(long, value_name = "FILE")]
    indices: Option<Destination>,

    /// Move the values in FILE along with the elements: an .npy file with a number for each element, or a row of up to 16 KiB; or
    /// raw, 1, 2, 4 or 8 bytes for each element
    #[arg(long, value_name = "FILE")]
    values: Option<Source>,

    /// Write the values here, in the format and type of --values; - is standard output
    #[arg(long, value_name = "FILE")]
    values_output: Option<Destination>,
}

/// A comparison with numbers whose type the input determines.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    comparison: Comparison,
    operands: Vec<String>,
}

impl std::str::FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refusal = || "it is 'x < 3', with <, <=, ==, !=, >= or >, or '3 <= x < 9'".to_owned();
        let (before, after) = text.split_once('x').ok_or_else(refusal)?;
        let operand = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let (comparison, operands) = match before.trim().strip_suffix("<=") {
            None if before.trim().is_empty() => {
                // The longer names first.
                const NAMES: [(&str, Comparison); 10] = [
                    ("<=", Comparison::LessEqual),
                    ("==", Comparison::Equal),
                    ("!=", Comparison::NotEqual),
                    (">=", Comparison::GreaterEqual),
                    ("≤", Comparison::LessEqual),
                    ("=", Comparison::Equal),
                    ("≠", Comparison::NotEqual),
                    ("≥", Comparison::GreaterEqual),
                    ("<", Comparison::Less),
                    (">", Comparison::Greater),
                ];
                let named = |(name, comparison)| Some((comparison, after.trim().strip_prefix(name)?));
                let (comparison, number) = NAMES.into_iter().find_map(named).ok_or_else(refusal)?;
                (comparison, vec![operand(number)])
            }
            Some(first) => {
                let end = after.trim().strip_prefix('<').ok_or_else(refusal)?;
                (Comparison::Range, vec![operand(first), operand(end)])
            }
            None => return Err(refusal()),
        };
        let operands: Option<Vec<_>> = operands.into_iter().collect();
        let is_number = |number: &String| !number.starts_with(['=', '<', '>']);
        let operands = operands.filter(|operands| operands.iter().all(is_number));
        Ok(Self { comparison, operands: operands.ok_or_else(refusal)? })
    }
}

impl Condition {
    /// The operands as words of kernels.
    fn operands(&self, option: &str, element: ElementType) -> Result<Vec<u32>, CommandError> {
        let parse = |text: &String| Ok(table::words(&number::parse(text, element)?, element));
        let operands = self.operands.iter().map(parse).collect::<Result<Vec<_>, String>>();
        Ok(operands.map_err(|error| usage!("{option}: {error}"))?.concat())
    }
}

impl Run for SelectArgs {
    fn run(&self, common: &Common) -> Result<()> {
        let tests = [self.by.flags.is_some(), self.by.condition.is_some(), self.unique];
        if tests.into_iter().filter(|&is_given| is_given).count() != 1 {
            bail!(usage!("select takes one of --flags FILE, --where CONDITION and --unique"));
        }
        if self.by_key.is_some() && !self.unique {
            bail!(usage!("--by-key is for --unique; leave it out"));
        }
        if self.by_key.is_none() && self.keys_output.is_some() {
            bail!(usage!("--keys-output has no keys; name their file with --by-key"));
        }
        if self.by_key.is_some() && self.moved.values.is_some() {
            bail!(usage!("with --by-key the input is the values; leave out --values"));
        }
        Selection {
            command: "select",
            files: &self.files,
            by: &self.by,
            moved: &self.moved,
            order: self.order,
            keys: &self.by_key,
            keys_output: &self.keys_output,
            and_then: None,
            count: &None,
            memory: &self.memory,
        }
        .run(common)
    }
}

impl Run for PartitionArgs {
    fn run(&self, common: &Common) -> Result<()> {
        if self.by.flags.is_some() == self.by.condition.is_some() {
            bail!(usage!("partition takes one of --flags FILE and --where CONDITION"));
        }
        if self.and_then.is_some() && self.by.condition.is_none() {
            bail!(usage!("--and-then goes with --where; leave it out with --flags"));
        }
        Selection {
            command: PARTITION,
            files: &self.files,
            by: &self.by,
            moved: &self.moved,
            order: FloatOrder::Numpy,
            keys: &None,
            keys_output: &None,
            and_then: self.and_then.as_ref(),
            count: &self.count,
            memory: &self.memory,
        }
        .run(common)
    }
}

const PARTITION: &str = "partition";

/// What both commands do.
struct Selection<'a> {
    command: &'static str,
    files: &'a Files,
    by: &'a Predicate,
    moved: &'a Moved,
    order: FloatOrder,
    keys: &'a Option<Source>,
    keys_output: &'a Option<Destination>,
    and_then: Option<&'a Condition>,
    count: &'a Option<Destination>,
    memory: &'a MemoryLimit,
}

impl Selection<'_> {
    fn is_partition(&self) -> bool {
        self.command == PARTITION
    }

    /// The word of the progress before the input.
    fn verb(&self) -> &'static str {
        if self.is_partition() { "partitioning" } else { "selecting from" }
    }

    fn run(&self, common: &Common) -> Result<()> {
        let algorithm = algorithm(common, self.command)?;
        if self.moved.values.is_some() != self.moved.values_output.is_some() {
            bail!(usage!("--values and --values-output go together; give both or neither"));
        }
        let (input_source, moved) = (&self.files.input, self.moved);
        let job = self.files.job().input("--flags", &self.by.flags);
        let job = job.input("--by-key", self.keys).input("--values", &moved.values);
        let job =
            job.output("--keys-output", self.keys_output).output("--values-output", &moved.values_output);
        let job = job.output("--indices", &moved.indices).output("--count", self.count).checked()?;

        if let [_] = job.sources()[..] {
            return self.run_in_chunks(common, algorithm, &job);
        }
        if self.memory.is_given() {
            bail!(usage!("flags, keys and values are taken in memory; leave out them or --memory"));
        }
        device::check_inputs(common, &job)?;
        let takes_rows = self.by.flags.is_some() || self.keys.is_some();
        // Indices and sizes of parts are u32.
        let is_counted = self.moved.indices.is_some() || self.count.is_some();
        let taken = Taken {
            elements: &ElementType::ALL,
            max_dimensions: if takes_rows { 2 } else { 1 },
            max_count: if is_counted && !takes_rows { SelectPlan::MAX_COUNT } else { u64::MAX },
        };
        let mut input = self.files.read(&taken)?;
        let count = input.shape.rows() as u64;
        if is_counted && count > SelectPlan::MAX_COUNT {
            let max = SelectPlan::MAX_COUNT;
            let what = "--indices and --count are of 32 bits; leave them out, or split the file";
            bail!(usage!("{input_source}: has {count} rows, of which up to {max} are counted: {what}"));
        }
        let flags = self.by.flags.as_ref().map(|source| files::read_flags(source, count)).transpose()?;
        let keys = self.keys.as_ref().map(|source| files::read_values(source, count)).transpose()?;
        let of_elements = TableShape::Flat { count: count as usize };
        let read = |source| files::read_values_of(source, of_elements);
        let mut values = moved.values.as_ref().map(read).transpose()?;
        let named_values = moved.values.as_ref().zip(values.as_ref());
        let (config, operands) =
            self.config(input.element, input.shape, flags.as_ref(), keys.as_ref(), named_values)?;

        let outputs = job.prepare()?;
        // Values, and rows of several elements, are moved as words.
        let is_moved = keys.is_some() || input.shape.columns() > 1;
        for table in is_moved.then_some(&mut input).into_iter().chain(&mut values) {
            table.pad();
        }
        let gpu = device::open(common)?;
        let config = with_algorithm(config, algorithm, &gpu);
        // With --by-key the input's rows are the values of the keys.
        let (elements, moved) = match &keys {
            Some(keys) => (keys, Some(&input)),
            None => (&input, values.as_ref()),
        };
        let inputs = SelectInputs::of_bytes(&elements.payload);
        let inputs = match &flags {
            Some(Flags::U8(flags)) => inputs.flags8(flags),
            Some(Flags::U32(flags)) => inputs.flags32(flags),
            None => inputs,
        };
        let inputs = match moved {
            Some(values) => inputs.values_of_bytes(&values.payload),
            None => inputs,
        };
        let operands = Operands::of_words(elements.element, &operands)?;
        let mut selected = Selected::default();
        let inputs = inputs.operands(operands);
        device::run_whole(&gpu, format_args!("{} {count} elements", self.verb()), || {
            gpu.prepare_select(config, &inputs, &mut selected)
        })?;
        let sizes = self.sizes(&selected.counts, count);
        let kept_count = sizes.iter().sum::<u64>() as usize;
        let of = |table: &Table, payload: Vec<u8>, is_moved| {
            let selected = Table { shape: table.shape.with_rows(kept_count), payload, ..*table };
            if is_moved { selected.trimmed() } else { selected }
        };
        let whole =
            |numbers: &[u32]| Table::of_u32(input.format, TableShape::Flat { count: numbers.len() }, numbers);
        let take = |(option, _): &(&str, _)| match (*option, &keys, &values) {
            ("-o", Some(_), _) => of(&input, mem::take(&mut selected.values), true),
            ("-o", None, _) => of(&input, mem::take(&mut selected.elements), is_moved),
            ("--keys-output", Some(keys), _) => of(keys, mem::take(&mut selected.elements), false),
            ("--values-output", _, Some(values)) => of(values, mem::take(&mut selected.values), true),
            ("--count", ..) => whole(&sizes.iter().map(|&size| size as u32).collect::<Vec<_>>()),
            _ => whole(&selected.indices),
        };
        outputs.commit(job.outputs().iter().map(take))?;
        self.print_sizes(&sizes);
        Ok(())
    }

    /// The sizes of all parts of `count` elements, of which the device counts all but the last; of a selection the number of
    /// the selected.
    fn sizes(&self, counts: &[u64], count: u64) -> Vec<u64> {
        let mut sizes = counts.to_vec();
        if self.is_partition() {
            sizes.push(count - sizes.iter().sum::<u64>());
        }
        sizes
    }

    /// Prints the sizes of the parts of a partition, unless they are written.
    fn print_sizes(&self, sizes: &[u64]) {
        let names: &[_] = match sizes.len() {
            2 => &["kept", "rejected"],
            _ => &["kept", "second part", "rejected"],
        };
        if self.is_partition() && self.count.is_none() {
            let parts: Vec<_> =
                names.iter().zip(sizes).map(|(name, size)| format!("{name} {size}")).collect();
            terminal::print_line(parts.join(", "));
        }
    }

    /// The configuration, and the operands of its comparisons as words.
    fn config(
        &self,
        element: ElementType,
        shape: TableShape,
        flags: Option<&Flags>,
        keys: Option<&Table>,
        values: Option<(&Source, &Table)>,
    ) -> Result<(SelectConfig, Vec<u32>), CommandError> {
        let row_words = || {
            let max = SelectConfig::MAX_WORDS;
            files::row_words(&self.files.input, element, shape.columns(), max, "selected")
        };
        let mut operands = Vec::new();
        let config = match (flags, &self.by.condition, keys) {
            (Some(Flags::U8(_)), ..) if shape.columns() == 1 => SelectConfig::flags8_of(element),
            (Some(Flags::U32(_)), ..) if shape.columns() == 1 => SelectConfig::flags32_of(element),
            (Some(Flags::U8(_)), ..) => SelectConfig::flags8(row_words()?),
            (Some(Flags::U32(_)), ..) => SelectConfig::flags32(row_words()?),
            (None, Some(condition), _) => {
                operands = condition.operands("--where", element)?;
                SelectConfig::compare(element, condition.comparison)
            }
            (None, None, Some(keys)) => {
                let config = SelectConfig::unique(keys.element).order(self.order).values(row_words()?);
                if self.keys_output.is_some() { config } else { config.without_elements() }
            }
            (None, None, None) => SelectConfig::unique(element).order(self.order),
        };
        let config = match values {
            Some((source, Table { element, shape, .. })) => {
                let max = SelectConfig::MAX_WORDS;
                config.values(files::row_words(source, *element, shape.columns(), max, "moved")?)
            }
            None => config,
        };
        let config = if self.moved.indices.is_some() { config.indices() } else { config };
        let config = match self.and_then {
            Some(condition) => {
                operands.extend(condition.operands("--and-then", element)?);
                config.partition_in_three(condition.comparison)
            }
            None if self.is_partition() => config.partition(),
            None => config,
        };
        Ok((config, operands))
    }
}

/// The configuration with a policy of an algorithm.
fn with_algorithm(config: SelectConfig, algorithm: Option<SelectAlgorithm>, gpu: &Gpu) -> SelectConfig {
    match algorithm {
        Some(algorithm) => config.policy(SelectPolicy::tuned(algorithm, gpu.capabilities(), &config)),
        None => config,
    }
}

/// The algorithm that `--algorithm` asks for. Refuses options without meaning for a selection.
fn algorithm(common: &Common, command: &'static str) -> Result<Option<SelectAlgorithm>, CommandError> {
    device::check_one(&common.device, command)?;
    if common.seed().is_some() {
        return Err(usage!("the seed has no {command}; leave out --policy"));
    }
    let Some(asked) = common.algorithm else { return Ok(None) };
    match SelectAlgorithm::ALL.into_iter().find(|algorithm| algorithm.name() == asked.name()) {
        Some(SelectAlgorithm::Chained) if command == PARTITION => Err(usage!(
            "a partition needs the sizes of its parts before it moves an element; leave out --algorithm chained"
        )),
        Some(algorithm) => Ok(Some(algorithm)),
        None => {
            let is_of_command = |of: &_| command != PARTITION || *of != SelectAlgorithm::Chained;
            let of_command = SelectAlgorithm::ALL.into_iter().filter(is_of_command);
            let names = of_command.map(SelectAlgorithm::name).collect::<Vec<_>>().join(", ");
            Err(usage!("{} is no algorithm of {command}, which has {names}", asked.name()))
        }
    }
}

/// What `devices` and `inspect` show of selections.
pub const SHOWN: Shown = Shown {
    policies: |common, capabilities| {
        let config = SelectConfig::compare(ElementType::U32, Comparison::Less);
        let choice = match shown_algorithm(common) {
            Ok(Some(algorithm)) => subsweep::Choice {
                policy: SelectPolicy::tuned(algorithm, capabilities, &config),
                reason: "it is asked for with --algorithm, tuned for the device",
            },
            _ => SelectPolicy::choose(capabilities, &config),
        };
        vec![ShownPolicy::new("select", "select policy", choice)]
    },
    plans: |common, capabilities| {
        let Ok(algorithm) = shown_algorithm(common) else { return Vec::new() };
        let selections = [
            SelectConfig::compare(ElementType::U32, Comparison::Less),
            SelectConfig::flags8(1),
            SelectConfig::unique(ElementType::U64).values(1),
        ];
        let partition = SelectConfig::compare(ElementType::U32, Comparison::Less).partition();
        let of = |algorithm| {
            let plan = move |config: SelectConfig| {
                config.policy(SelectPolicy::tuned(algorithm, capabilities, &config)).into()
            };
            let partitions = (algorithm == SelectAlgorithm::ReduceThenScan).then_some(partition);
            selections.into_iter().chain(partitions).map(plan).collect::<Vec<_>>()
        };
        match algorithm {
            Some(algorithm) => of(algorithm),
            None => SelectAlgorithm::ALL.into_iter().flat_map(of).collect(),
        }
    },
};

/// The algorithm of selections that `--algorithm` asks for; an error for a policy or an algorithm that they lack.
fn shown_algorithm(common: &Common) -> Result<Option<SelectAlgorithm>, ()> {
    match (common.seed(), common.algorithm.map(Algorithm::name)) {
        (Some(_), _) => Err(()),
        (None, None) => Ok(None),
        (None, Some(name)) => {
            SelectAlgorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name).map(Some).ok_or(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_parsed() {
        let parsed = |text: &str| text.parse::<Condition>().map(|of| (of.comparison, of.operands.join(" ")));
        for (text, comparison, operands) in [
            ("x < 3", Comparison::Less, "3"),
            ("x<=-3.5", Comparison::LessEqual, "-3.5"),
            (" x == nan", Comparison::Equal, "nan"),
            ("x != 0", Comparison::NotEqual, "0"),
            ("x>= 1e3", Comparison::GreaterEqual, "1e3"),
            ("x > 7 ", Comparison::Greater, "7"),
            ("3 <= x < 9", Comparison::Range, "3 9"),
            ("-inf<=x<0", Comparison::Range, "-inf 0"),
            ("x = 3", Comparison::Equal, "3"),
            ("x≥3", Comparison::GreaterEqual, "3"),
        ] {
            assert_eq!(parsed(text), Ok((comparison, operands.to_owned())), "{text}");
        }
        for text in [
            "",
            "x",
            "x 3",
            "x <> 3",
            "y < 3",
            "3 < x",
            "x <",
            "3 <= x <= 9",
            "3 <= x",
            "x <== 3",
            "3 < x < 4",
        ] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }
}
