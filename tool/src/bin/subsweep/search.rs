//! `subsweep search`: positions of needles in a sorted array.

use anyhow::Result;
use clap::{Args, ValueEnum};
use subsweep::search::{SearchConfig, SearchPlan, SearchPolicy};
use subsweep::{ElementType, FloatOrder};
use subsweep_tool::table::{Table, Taken, one_type, promoted};

use crate::args::{Common, RawType, float_order};
use crate::command::{Run, Shown, ShownPolicy, plain_plans};
use crate::device;
use crate::error::{CommandError, usage};
use crate::files::input::InputError;
use crate::files::{self, Destination, Job, Source};
use crate::policy;

/// Search for needles in a sorted array: the position of each
///
/// Equals numpy.searchsorted(sorted, needles, side), as u32, and in 2^32 elements and more as u64: with left, the number of
/// elements that are less than the needle, and with right, of those that are not greater. That SORTED is sorted is not checked.
/// The output has the format and shape of the needles.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// A sorted array: an .npy file, or raw little-endian elements with --type; - is standard input
    sorted: Source,

    /// The elements to search for, an array or a table: likewise. Of two types both are converted to the one of
    /// numpy.promote_types
    needles: Source,

    /// The output file; an existing one is replaced once the result is complete; - is standard output [default: -]
    #[arg(short, long)]
    pub output: Option<Destination>,

    #[command(flatten)]
    pub raw: RawType,

    /// The axis along which to search: 1 searches for the needles of each row of a table in the same row of SORTED, a table of as
    /// many rows, and writes positions in the row
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=1))]
    pub axis: u32,

    /// The side of elements that equal the needle
    #[arg(long, value_enum, default_value_t = Side::Left)]
    pub side: Side,

    /// The order of floats, as of the sort of SORTED
    #[arg(long, value_parser = float_order(), default_value_t = FloatOrder::Numpy)]
    pub order: FloatOrder,
}

/// The side of equal elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Side {
    /// The lower bound: before them
    Left,
    /// The upper bound: after them
    Right,
}

// The device's memory limits the count; it is checked once the device is open.
const NEEDLES: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 2, max_count: u64::MAX };
const SORTED: Taken = Taken { max_dimensions: 1, ..NEEDLES };
const SORTED_ROWS: Taken = Taken { max_count: SearchPlan::MAX_SORTED_COUNT, ..NEEDLES };

impl Run for SearchArgs {
    fn run(&self, common: &Common) -> Result<()> {
        policy::check_none(common, "search")?;
        let sources @ [sorted_source, needles_source] = [&self.sorted, &self.needles];
        let job = Job::new(&self.output).input("SORTED", sorted_source);
        let job = job.input("NEEDLES", needles_source).checked()?;
        device::check_inputs(common, &job)?;
        let taken = if self.axis == 0 { SORTED } else { SORTED_ROWS };
        let sorted = files::read(sorted_source, self.raw.element, &taken)?;
        let needles = files::read(needles_source, self.raw.element, &NEEDLES)?;
        let element = promoted(sorted.element, needles.element).ok_or_else(|| {
            let remedy = one_type([(sorted_source, sorted.element), (needles_source, needles.element)]);
            usage!(
                "{needles_source}: has elements of {}, and {sorted_source} of {}, which have no common type; {remedy}",
                needles.element,
                sorted.element
            )
        })?;
        let lengths = (self.axis == 1).then(|| row_lengths(sources, [&sorted, &needles])).transpose()?;
        let convert = |table: Table, source: &Source| {
            table.converted(element).map_err(|error| InputError::new(source, error))
        };
        let (sorted, needles) = (convert(sorted, sorted_source)?, convert(needles, needles_source)?);
        let outputs = job.prepare()?;

        let gpu = device::open(common)?;
        let config = match self.side {
            Side::Left => SearchConfig::lower_bound(sorted.element),
            Side::Right => SearchConfig::upper_bound(sorted.element),
        }
        .order(self.order);
        let config = match lengths {
            Some([sorted_length, needle_length]) => config.along_rows(sorted_length, needle_length),
            None => config.large_counts_for(sorted.shape.element_count() as u64),
        };
        let count = needles.shape.element_count();
        let element = position_type(&config);
        let mut positions = files::zeroed(count * element.size(), "the result")?;
        device::run_whole(&gpu, format_args!("searching for {count} elements"), || {
            gpu.prepare_search(config, &sorted.payload, &needles.payload, &mut positions)
        })?;
        Ok(outputs.commit([Table { element, payload: positions, ..needles }])?)
    }
}

/// The type of positions.
const fn position_type(config: &SearchConfig) -> ElementType {
    if config.position_size() == 8 { ElementType::U64 } else { ElementType::U32 }
}

/// Elements of a row of both tables, which have as many rows.
fn row_lengths(
    sources @ [of_sorted, of_needles]: [&Source; 2],
    tables: [&Table; 2],
) -> Result<[u32; 2], CommandError> {
    let of = |index: usize| -> Result<_, CommandError> {
        let length = files::row_length(sources[index], tables[index].shape)?;
        // More are refused when the files are read, or by the plan.
        Ok(u32::try_from(length).unwrap_or(u32::MAX))
    };
    let lengths = [of(0)?, of(1)?];
    match tables.map(|table| table.shape.rows()) {
        [sorted, needles] if sorted != needles => Err(usage!(
            "{of_needles}: has {needles} rows, and {of_sorted} has {sorted}; give a row of needles for each sorted one"
        )),
        _ => Ok(lengths),
    }
}

/// What `devices` and `inspect` show of searches; no option changes their policy.
pub const SHOWN: Shown = Shown {
    policies: |_, capabilities| {
        let choice = SearchPolicy::choose(capabilities, &SearchConfig::lower_bound(ElementType::U32));
        vec![ShownPolicy::new("search", "search policy", choice)]
    },
    plans: |common, _| {
        plain_plans(
            common,
            [SearchConfig::lower_bound(ElementType::F32), SearchConfig::upper_bound(ElementType::F64)],
        )
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_have_64_bits_in_more_elements_than_32_count() {
        let config = SearchConfig::upper_bound(ElementType::U8);
        let of = |config: SearchConfig, count| position_type(&config.large_counts_for(count));
        assert_eq!([5, (1 << 32) - 1].map(|count| of(config, count)), [ElementType::U32; 2]);
        assert_eq!([1 << 32, (1 << 32) + 5].map(|count| of(config, count)), [ElementType::U64; 2]);
        assert_eq!(of(config.along_rows(1 << 20, 1), 1 << 32), ElementType::U32);
    }
}
