//! `subsweep sort`: sorts of keys or pairs, and argsorts.

use anyhow::Result;
use subsweep::ElementType;
use subsweep::sort::{SegmentedSortConfig, SortConfig, SortPlan, ValueSize};
use subsweep::table::{Shape, Table, TableError, Taken};

use crate::args::{Common, PolicyKind, SortArgs};
use crate::error::Ended;
use crate::files::input::InputProblem;
use crate::files::{self, Destination, Output, Source};
use crate::words::Spinner;
use crate::{device, policy, segments};

/// Source and destination of the values.
struct Values {
    source: Source,
    destination: Destination,
}

/// Sorts a file's keys, or writes their permutation.
pub fn run(args: &SortArgs, common: &Common) -> Result<()> {
    device::check_one(&common.device, "sort")?;
    policy::check_sort(common)?;
    let source = args.files.source();
    let destination = args.files.destination();
    let values = check_values(args, &source, &destination)?;
    let segments_source = check_segments(args, common, &source, values.as_ref())?;
    if let Some(element) = args.files.element {
        check_bits(args, element)?;
    }
    let mut keys = read_keys(&source, args, common)?;
    check_bits(args, keys.element)?;
    let count = keys.shape.rows();
    let mut values_table = match &values {
        Some(Values { source, .. }) => {
            let _spinner = Spinner::new(format_args!("reading {source}"));
            Some(files::read_values(source, count as u64)?)
        }
        None => None,
    };
    let segments =
        segments_source.as_ref().map(|source| segments::read(source, "sort", count, "keys")).transpose()?;
    let config = config(args, &keys, values_table.as_ref())?;
    let values_source = values.as_ref().map(|values| &values.source);
    let sources: Vec<_> = std::iter::once(&source).chain(values_source).chain(&segments_source).collect();
    let output = Output::prepare(&destination, "-o", &sources)?;
    let values_output = values
        .as_ref()
        .map(|values| Output::prepare(&values.destination, "--values-output", &sources))
        .transpose()?;

    let gpu = device::open(common)?;
    let mut indices = Vec::new();
    {
        let _spinner = Spinner::new(format_args!("sorting {count} keys"));
        // In device memory, and again in the buffer for the readback.
        let size = 2 * count as u64 * (config.key_size() + config.value_size());
        let check = |scratch_size: u64| {
            device::check_memory(&gpu, size.saturating_add(scratch_size), "the keys and their scratch")
        };
        match &segments {
            Some(segments) => {
                let (segment_count, segments_size) = (segments.len() as u64, size_of_val(&**segments) as u64);
                let plan = gpu.plan(SegmentedSortConfig::from(config))?;
                let scratch = plan.scratch_requirements((count as u64, segment_count));
                check(scratch.size.saturating_add(segments_size))?;
                indices.resize(if args.argsort { count } else { 0 }, 0);
                let values = values_table.as_mut().map_or(&mut indices, |table| &mut table.words);
                gpu.segmented_sort_words(config, &mut keys.words, values, segments)?;
            }
            None => {
                let config = config.large_counts_for(count as u64);
                let config = config.policy(policy::of_sort(common, gpu.capabilities(), &config).policy);
                let plan = gpu.plan(config)?;
                check_algorithm(common, plan.max_count(), count as u64)?;
                check(plan.scratch_requirements(count as u64).size)?;
                indices.resize(if args.argsort { count } else { 0 }, 0);
                let values = values_table.as_mut().map_or(&mut indices, |table| &mut table.words);
                gpu.sort_words(config, &mut keys.words, values)?;
            }
        }
    }
    match (values_output, values_table) {
        (Some(values_output), Some(values)) => {
            files::commit_both((output, &keys), (values_output, &values))?;
        }
        _ if args.argsort => {
            let (element, shape) = (ElementType::U32, Shape::Flat { count });
            output.commit(&Table { format: keys.format, element, shape, words: indices })?;
        }
        _ => output.commit(&keys)?,
    }
    Ok(())
}

/// Reads the keys; some options limit their count to 32 bits.
fn read_keys(source: &Source, args: &SortArgs, common: &Common) -> Result<Table> {
    // Indices of an argsort and segment offsets have 32 bits, as have the offsets of all algorithms but Onesweep.
    let narrow = match (args.argsort, &args.segments) {
        (true, _) => Some("--argsort".to_owned()),
        (_, Some(_)) => Some("--segments".to_owned()),
        _ => policy::without_large_counts(common),
    };
    let max_count = if narrow.is_some() { SortPlan::MAX_COUNT } else { u64::MAX };
    let taken = Taken { elements: &ElementType::ALL, max_dimensions: 1, max_count };
    let _spinner = Spinner::new(format_args!("reading {source}"));
    files::read(source, args.files.element, &taken).map_err(|error| match (&error.problem, narrow) {
        (InputProblem::Table(TableError::TooMany { max }), Some(option)) => Ended::usage(format!(
            "{source}: {option} takes up to {max} keys, and there are more; leave it out, or split them"
        ))
        .into(),
        _ => error.into(),
    })
}

/// Refuses options that contradict each other.
fn check_values(
    args: &SortArgs,
    source: &Source,
    destination: &Destination,
) -> Result<Option<Values>, Ended> {
    let (from, to) = match (&args.values, &args.values_output) {
        (None, None) => return Ok(None),
        _ if args.argsort => {
            return Err(Ended::usage("--argsort makes the values; leave out --values and --values-output"));
        }
        (Some(_), None) => {
            return Err(Ended::usage("--values go somewhere; name a file with --values-output"));
        }
        (None, Some(_)) => {
            return Err(Ended::usage("--values-output has no values; name a file with --values"));
        }
        (Some(from), Some(to)) => (from, to),
    };
    let values = Values { source: from.clone().into(), destination: to.clone().into() };
    if *source == Source::Stdin && values.source == Source::Stdin {
        return Err(Ended::usage("standard input is one table; name a file for --values"));
    }
    if *destination == Destination::Stdout && values.destination == Destination::Stdout {
        return Err(Ended::usage("standard output takes one table; name a file with -o or --values-output"));
    }
    if destination.is_same_file_as(&values.destination) {
        return Err(Ended::usage("-o and --values-output name the same file; give each its own"));
    }
    Ok(Some(values))
}

/// The source of segment offsets, if given. Refuses options that a segmented sort does not support.
fn check_segments(
    args: &SortArgs,
    common: &Common,
    source: &Source,
    values: Option<&Values>,
) -> Result<Option<Source>, Ended> {
    let Some(segments) = args.segments.clone().map(Source::from) else { return Ok(None) };
    if let Some(algorithm) = common.algorithm {
        return Err(Ended::usage(format!(
            "each segment is sorted by what suits its length; leave out one of --segments and --algorithm {}",
            algorithm.name()
        )));
    }
    if matches!(common.policy, Some(PolicyKind::Seed | PolicyKind::SeedBinByBin)) {
        return Err(Ended::usage("the seed has no --segments; leave out one of --policy and --segments"));
    }
    let others = std::iter::once(source).chain(values.map(|values| &values.source));
    if segments == Source::Stdin && others.into_iter().any(|other| *other == Source::Stdin) {
        return Err(Ended::usage("standard input is one table; name a file for --segments"));
    }
    Ok(Some(segments))
}

/// Refuses more keys than the chosen algorithm supports on this device.
fn check_algorithm(common: &Common, max_count: u64, count: u64) -> Result<(), Ended> {
    match common.algorithm {
        Some(algorithm) if count > max_count => Err(Ended::usage(format!(
            "--algorithm {} sorts up to {max_count} keys on this device, and there are {count}; leave it out",
            algorithm.name()
        ))),
        _ => Ok(()),
    }
}

fn check_bits(args: &SortArgs, element: ElementType) -> Result<(), Ended> {
    match &args.bits {
        Some(bits) if bits.end > element.bits() => Err(Ended::usage(format!(
            "--bits {}:{} exceeds the {} bits of a {element}",
            bits.start,
            bits.end,
            element.bits()
        ))),
        _ => Ok(()),
    }
}

fn config(args: &SortArgs, keys: &Table, values: Option<&Table>) -> Result<SortConfig> {
    let config = match values {
        Some(values) => SortConfig::pairs(keys.element, ValueSize::new(values.element.size())?),
        None if args.argsort => SortConfig::argsort(keys.element),
        None => SortConfig::keys(keys.element),
    };
    let config = if args.descending { config.descending() } else { config };
    Ok(match &args.bits {
        Some(bits) => config.bits(bits.clone()),
        None => config,
    })
}
