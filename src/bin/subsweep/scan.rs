//! `subsweep scan`: scans of an array or of a table's columns.

use anyhow::Result;
use subsweep::ElementType;
use subsweep::headless::ScanInputs;
use subsweep::scan::{ScanConfig, ScanKind, ScanOperator, ScanPolicy, SegmentsBy};
use subsweep::table::{Table, Taken};

use crate::args::{Common, PolicyKind, ScanArgs};
use crate::error::Ended;
use crate::files::{self, Output, Source};
use crate::number::Number;
use crate::words::Spinner;
use crate::{device, policy, segments};

// The device's memory limits the count; it is checked once the device is open.
const TAKEN: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 2, max_count: u64::MAX };

/// Scans a file's columns.
pub fn run(args: &ScanArgs, common: &Common) -> Result<()> {
    let kind = if args.exclusive { ScanKind::Exclusive } else { ScanKind::Inclusive };
    let operator = ScanOperator::from(args.op);
    check(kind, args, common)?;
    if let Some(element) = args.files.element {
        check_operator(operator, element)?;
    }
    let source = args.files.source();
    let segments_source = args.segments.clone().map(Source::from);
    if source == Source::Stdin && segments_source == Some(Source::Stdin) {
        return Err(Ended::usage("standard input is one table; name a file for --segments").into());
    }
    let destination = args.files.destination();
    let mut table = {
        let _spinner = Spinner::new(format_args!("reading {source}"));
        files::read(&source, args.files.element, &TAKEN)?
    };
    check_operator(operator, table.element)?;
    let columns = check_columns(&source, &table)?;
    check_seed(common, operator, &table)?;
    let initial = args.init.as_deref().map(|text| initial_row(text, &table)).transpose()?;
    let segments = segments_source
        .as_ref()
        .map(|source| segments::read(source, "scan", table.shape.rows(), "rows"))
        .transpose()?;
    let mut config = ScanConfig::new(kind).element(table.element).operator(operator).columns(columns);
    if args.reverse {
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
        let _spinner = Spinner::new(format_args!("scanning {} elements", table.shape.element_count()));
        let scratch_size = gpu.plan(config)?.scratch_requirements(table.shape.rows() as u64).size;
        // In device memory, and again in the buffer for the readback.
        let copies = if gpu.plan(config)?.scans_in_place() { 2 } else { 3 };
        let size = copies * size_of_val(table.words.as_slice()) as u64;
        let size = size + segments.as_deref().map_or(0, size_of_val) as u64;
        device::check_memory(&gpu, size.saturating_add(scratch_size), "the table and its scratch")?;
        let inputs =
            ScanInputs { initial: initial.as_deref(), segments: segments.as_deref().unwrap_or_default() };
        gpu.scan_words(config, &mut table.words, inputs)?;
    }
    Ok(output.commit(&table)?)
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
    let number = Number::parse(text, table.element).map_err(|why| Ended::usage(format!("--init: {why}")))?;
    Ok(number.words().repeat(table.shape.columns()))
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
