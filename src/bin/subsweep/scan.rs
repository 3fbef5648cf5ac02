//! `subsweep scan`: scans of an array or of a table's columns.

use std::ffi::OsString;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use subsweep::ElementType;
use subsweep::device::Capabilities;
use subsweep::harness::{PlanConfig, PolicyName};
use subsweep::headless::ScanInputs;
use subsweep::scan::{ScanAlgorithm, ScanConfig, ScanKind, ScanOperator, ScanPolicy, SegmentsBy};
use subsweep::table::{Table, Taken};

use crate::args::{Common, Files, PolicyKind};
use crate::command::{Run, Shown, ShownPolicy};
use crate::error::Ended;
use crate::files::{self, Output, Source};
use crate::policy::{self, Algorithm};
use crate::words::Progress;
use crate::{device, number, segments};

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
    #[arg(long, default_value_t, value_parser = operators())]
    pub op: ScanOperator,

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

// The device's memory limits the count; it is checked once the device is open.
const TAKEN: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 2, max_count: u64::MAX };

impl Run for ScanArgs {
    fn run(&self, common: &Common) -> Result<()> {
        let kind = if self.exclusive { ScanKind::Exclusive } else { ScanKind::Inclusive };
        let operator = self.op;
        check(kind, self, common)?;
        if let Some(element) = self.files.element {
            check_operator(operator, element)?;
        }
        let source = self.files.source();
        let segments_source = self.segments.clone().map(Source::from);
        if source == Source::Stdin && segments_source == Some(Source::Stdin) {
            return Err(Ended::usage("standard input is one table; name a file for --segments").into());
        }
        let destination = self.files.destination();
        let mut table = files::read(&source, self.files.element, &TAKEN)?;
        check_operator(operator, table.element)?;
        let columns = check_columns(&source, &table)?;
        check_seed(common, operator, &table)?;
        let initial = self.init.as_deref().map(|text| initial_row(text, &table)).transpose()?;
        let segments = segments_source
            .as_ref()
            .map(|source| segments::read(source, "scan", table.shape.rows(), "rows"))
            .transpose()?;
        let mut config = ScanConfig::new(kind, table.element).operator(operator).columns(columns);
        if self.reverse {
            config = config.reverse();
        }
        if segments.is_some() {
            config = config.segments(SegmentsBy::Offsets);
        }
        if initial.is_some() {
            config = config.with_initial();
        }
        policy::check_config(common, &config)?;
        let inputs: Vec<_> = std::iter::once(&source).chain(&segments_source).collect();
        let output = Output::prepare(&destination, "-o", &inputs)?;

        let gpu = device::open(common)?;
        let config = config.policy(policy::of_scan(common, gpu.capabilities(), &config).policy);
        {
            let _spinner =
                Progress::of_one(format_args!("scanning {} elements", table.shape.element_count()));
            let segments = segments.as_deref().unwrap_or_default();
            let inputs = ScanInputs { initial: initial.as_deref(), segments };
            let scan = gpu.prepare_scan(config, &mut table.words, inputs)?;
            device::check_memory(&gpu, scan.device_size(), "the table and its scratch")?;
            scan.run()?;
        }
        Ok(output.commit(&table)?)
    }
}

/// Refuses options that contradict each other.
fn check(kind: ScanKind, args: &ScanArgs, common: &Common) -> Result<(), Ended> {
    device::check_one(&common.device, "scan")?;
    policy::check_scan(common)?;
    let is_seed = common.policy == Some(PolicyKind::Seed);
    for (is_given, option) in [
        (args.reverse, "--reverse"),
        (args.init.is_some(), "--init"),
        (args.segments.is_some(), "--segments"),
    ] {
        if is_seed && is_given {
            return Err(Ended::usage(format!("--policy seed has no {option}; leave out one of the two")));
        }
    }
    match (kind, common.policy) {
        (ScanKind::Exclusive, Some(PolicyKind::Seed | PolicyKind::SeedBinByBin)) => {
            Err(Ended::usage("--policy seed scans inclusively only; leave out one of it and --exclusive"))
        }
        (ScanKind::Inclusive, _) | (_, None | Some(PolicyKind::Default)) => Ok(()),
    }
}

/// The initial value `text` for every column.
fn initial_row(text: &str, table: &Table) -> Result<Vec<u32>, Ended> {
    let words = number::parse(text, table.element).map_err(|why| Ended::usage(format!("--init: {why}")))?;
    Ok(words.repeat(table.shape.columns()))
}

fn check_operator(operator: ScanOperator, element: ElementType) -> Result<(), Ended> {
    if operator.takes(element) {
        return Ok(());
    }
    Err(Ended::usage(format!(
        "--op {operator} is of whole numbers, and the elements are {element}; save a.view('<u{}')",
        element.size()
    )))
}

fn check_seed(common: &Common, operator: ScanOperator, table: &Table) -> Result<(), Ended> {
    let max = ScanPolicy::MAX_SEED_COLUMNS;
    let is_seed = common.policy == Some(PolicyKind::Seed);
    let is_its_own = operator == ScanOperator::Add
        && table.element == ElementType::U32
        && table.shape.columns() <= max as usize;
    if is_seed && !is_its_own {
        return Err(Ended::usage(format!(
            "--policy seed sums up u32 in up to {max} columns only; leave it out"
        )));
    }
    Ok(())
}

fn check_columns(source: &Source, table: &Table) -> Result<u32, Ended> {
    let columns = table.shape.columns();
    u32::try_from(columns).ok().filter(|columns| *columns <= ScanConfig::MAX_COLUMNS).ok_or_else(|| {
        let max = ScanConfig::MAX_COLUMNS;
        Ended::usage(format!("{source}: has {columns} columns, and 1 to {max} are scanned; save a[:, :{max}] and the rest apart"))
    })
}

/// Parses the name of an operator.
fn operators() -> impl TypedValueParser<Value = ScanOperator> {
    let value = |operator: ScanOperator| {
        let help = match operator {
            ScanOperator::Add => "Sums",
            ScanOperator::Mul => "Products",
            ScanOperator::Min => "Minima; NaN propagates",
            ScanOperator::Max => "Maxima; NaN propagates",
            ScanOperator::And => "Bitwise and",
            ScanOperator::Or => "Bitwise or",
            ScanOperator::Xor => "Bitwise exclusive or",
            _ => "",
        };
        PossibleValue::new(operator.name()).help(help)
    };
    PossibleValuesParser::new(ScanOperator::ALL.map(value)).try_map(|name| {
        ScanOperator::ALL.into_iter().find(|operator| operator.name() == name).ok_or("it is no operator")
    })
}

/// What `devices` and `inspect` show of scans.
pub const SHOWN: Shown = Shown { policies, plans };

fn policies(common: &Common, capabilities: &Capabilities) -> Vec<ShownPolicy> {
    let shown =
        |key, label, config| ShownPolicy::new(key, label, policy::of_scan(common, capabilities, &config));
    let plain = ScanConfig::inclusive(ElementType::U32);
    vec![
        shown("scan", "scan policy", plain),
        shown("scan_out_of_place", "out of place", plain.out_of_place()),
        shown("scan_u64", "scan of u64", ScanConfig::inclusive(ElementType::U64)),
    ]
}

/// Configurations that `inspect` shows; the simplest first.
const INSPECTED: [ScanConfig; 8] = [
    ScanConfig::inclusive(ElementType::U32),
    ScanConfig::exclusive(ElementType::U32),
    ScanConfig::inclusive(ElementType::U32).reverse(),
    ScanConfig::inclusive(ElementType::U32).out_of_place(),
    ScanConfig::inclusive(ElementType::U32).columns(4),
    ScanConfig::inclusive(ElementType::F32),
    ScanConfig::inclusive(ElementType::U64),
    ScanConfig::inclusive(ElementType::U32).segments(SegmentsBy::Offsets),
];

fn plans(common: &Common, capabilities: &Capabilities) -> Vec<PlanConfig> {
    let asked = match common.algorithm {
        Some(Algorithm::Scan(algorithm)) => Some(algorithm),
        Some(Algorithm::Sort(_)) => return Vec::new(),
        None => None,
    };
    let plan = |algorithm, policy: PolicyName, config: ScanConfig| {
        PlanConfig::from(config.policy(policy.scan(capabilities, algorithm, &config)))
    };
    let plainest = INSPECTED[0];
    match (common.policy_name(), asked) {
        // The variant without packed counters is one of sorts only.
        (PolicyName::SeedBinByBin, _) => Vec::new(),
        // The seed's scan takes rows of few columns only, and has one algorithm.
        (PolicyName::Seed, _) => {
            let of = |columns| plan(ScanAlgorithm::ALL[0], PolicyName::Seed, plainest.columns(columns));
            [1, 4].map(of).into()
        }
        (policy, Some(algorithm)) => {
            let taken = INSPECTED.into_iter().filter(|config| algorithm.refusal(config).is_none());
            taken.map(|config| plan(algorithm, policy, config)).collect()
        }
        (policy, None) => {
            let chosen = INSPECTED.map(|config| plan(ScanAlgorithm::ALL[0], PolicyName::Chosen, config));
            let algorithms = ScanAlgorithm::ALL.map(|algorithm| plan(algorithm, policy, plainest));
            chosen.into_iter().chain(algorithms).collect()
        }
    }
}
