//! `subsweep histogram`: the number of values in each bin, or the sum of their weights.

use anyhow::{Result, bail};
use clap::{ArgGroup, Args};
use subsweep::histogram::{HistogramConfig, HistogramPolicy, edge_words, even_edges};
use subsweep::{ElementType, Error};
use subsweep_tool::table::{self, Format, Table, TableReader, TableShape, Taken};

use crate::args::{Common, Files, MemoryLimit};
use crate::command::{Run, Shown, ShownPolicy, plain_plans};
use crate::device;
use crate::error::{CommandError, usage};
use crate::files::{self, Source};
use crate::policy;

/// Count the values in each bin, of an array or of each column of a table
///
/// Equals numpy.histogram(a, bins=N, range=(A, B)), or with edges numpy.histogram(a, bins=edges): bin i has the values from
/// edge i on and below edge i + 1, and the last bin its upper edge as well. Other values and NaNs are not counted. The
/// output is u32 in the format of the input: a count for each bin, and for a table a row for each column. With --weights a count is
/// the sum of the weights in the bin, of their type.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("bins or edges").required(true).args(["bins", "edges"])))]
pub struct HistogramArgs {
    #[command(flatten)]
    pub files: Files,

    /// The number of bins of equal widths, up to 65,536
    #[arg(
        long,
        value_name = "N",
        requires = "range",
        allow_hyphen_values = true,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(HistogramConfig::MAX_BINS))
    )]
    pub bins: Option<u32>,

    /// The lower edge of the first bin, and the upper edge of the last
    #[arg(long, value_name = "A:B", allow_hyphen_values = true, value_parser = parse_range, requires = "bins")]
    pub range: Option<[f64; 2]>,

    /// The edges of bins of any widths, ascending: an .npy file, or raw numbers of the input's type; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "range")]
    pub edges: Option<Source>,

    /// Add the weights of values in place of their number, modulo 2^32: FILE has one for each element, in the same shape, i32 or u32,
    /// raw ones as u32
    #[arg(long, value_name = "FILE")]
    pub weights: Option<Source>,

    #[command(flatten)]
    pub memory: MemoryLimit,
}

// Counts are u32.
const TAKEN: Taken = Taken { elements: &ElementType::ALL, max_dimensions: 2, max_count: u32::MAX as u64 };

impl Run for HistogramArgs {
    fn run(&self, common: &Common) -> Result<()> {
        policy::check_none(common, "histogram")?;
        let source = &self.files.input;
        let job = self.files.job().input("--edges", &self.edges).input("--weights", &self.weights);
        let job = job.checked()?;
        let bins = self.bins.unwrap_or(1);
        let opened = self.files.open(None, &TAKEN)?;
        let TableReader { element, format, shape: known, .. } = opened.table;
        let shape = known.unwrap_or(TableShape::Flat { count: 0 });
        let edges = match (&self.edges, self.range) {
            (Some(source), _) => read_edges(source, element)?,
            (None, Some([low, high])) if (high - low).is_infinite() => bail!(usage!(
                "--range is wider than the greatest float of 64 bits; take a narrower one, or name edges with --edges"
            )),
            (None, range) => even_edges(element, bins, range.unwrap_or_default())
                .map_err(|error| usage!("--bins and --range: {error}"))?,
        };
        let config = self.config(source, element, shape, edges.len() as u32 - 1)?;
        let weights = self.weights.as_ref().map(Weights::read).transpose()?;
        if let (Some(weights), Some(shape)) = (&weights, known) {
            weights.check_shape(source, shape)?;
        }
        let outputs = job.prepare()?;

        let mut chunks =
            opened.chunks(source, shape.columns(), files::ROWS_AND_RESULTS, "counting", &self.memory)?;
        let gpu = device::open(common)?;
        let zeroed = || files::zeroed((config.counts_size() / 4) as usize, "the result");
        let (mut counts, mut of_chunk): (Vec<u32>, Vec<u32>) = (zeroed()?, zeroed()?);
        let mut element_count = 0;
        while let Some(rows) = chunks.next(0)? {
            let first = element_count;
            element_count += rows.len() / element.size();
            let added =
                weights.as_ref().map_or(Ok(&[][..]), |weights| weights.slice(first, element_count))?;
            device::run(&gpu, gpu.prepare_histogram(config, rows, added, &edges, &mut of_chunk)?)?;
            // No count exceeds the number of elements, which is a u32; sums of weights wrap.
            counts.iter_mut().zip(&of_chunk).for_each(|(count, more)| *count = count.wrapping_add(*more));
        }
        drop(chunks);
        if let Some(weights) = &weights {
            weights.check_shape(source, known.unwrap_or(TableShape::Flat { count: element_count }))?;
        }
        let (columns, bins) = (config.column_count() as usize, config.bins() as usize);
        let shape = match shape.is_flat() {
            true => TableShape::Flat { count: bins },
            false => TableShape::Grid { rows: columns, columns: bins },
        };
        let element = weights.map_or(ElementType::U32, |weights| weights.element);
        Ok(outputs.commit([Table { element, ..Table::of_u32(format, shape, &counts) }])?)
    }
}

impl HistogramArgs {
    /// The configuration for a table.
    fn config(
        &self,
        source: &Source,
        element: ElementType,
        shape: TableShape,
        bins: u32,
    ) -> Result<HistogramConfig, CommandError> {
        let config = match self.edges {
            Some(_) => HistogramConfig::by_edges(element, bins),
            None => HistogramConfig::even(element, bins),
        };
        let columns = shape.columns();
        let max = HistogramConfig::MAX_COLUMNS.min(HistogramConfig::MAX_COUNTS / bins);
        if columns > max as usize {
            return Err(usage!(
                "{source}: has {columns} columns, and with {bins} bins up to {max} are counted; save a[:, :{max}] and \
                 the rest apart"
            ));
        }
        let config = config.columns(columns as u32);
        Ok(if self.weights.is_some() { config.weighted() } else { config })
    }
}

/// Weights of all elements.
struct Weights<'a> {
    source: &'a Source,
    element: ElementType,
    /// None of raw weights, which go with elements of any shape.
    shape: Option<TableShape>,
    bytes: Vec<u8>,
}

impl<'a> Weights<'a> {
    fn read(source: &'a Source) -> Result<Self> {
        let elements = &[ElementType::U32, ElementType::I32];
        let taken = Taken { elements, max_dimensions: 2, max_count: u32::MAX.into() };
        let read = files::read_with_raw(source, ElementType::U32, &taken)?;
        let shape = (read.format != Format::Raw).then_some(read.shape);
        Ok(Self { source, element: read.element, shape, bytes: read.payload })
    }

    /// The weights of the elements from `first` on and before `end`.
    fn slice(&self, first: usize, end: usize) -> Result<&[u8], CommandError> {
        match self.bytes.get(4 * first..4 * end) {
            Some(weights) => Ok(weights),
            None => Err(self.mismatch(format_args!("{end} elements or more"))),
        }
    }

    /// Refuses weights of another number or shape than the elements of `input`.
    fn check_shape(&self, input: &Source, elements: TableShape) -> Result<(), CommandError> {
        let count = elements.element_count();
        if self.bytes.len() != 4 * count {
            return Err(self.mismatch(format_args!("{count} elements")));
        }
        match self.shape.filter(|shape| *shape != elements) {
            None => Ok(()),
            Some(shape) => Err(usage!(
                "{}: has shape {shape}, and {input} {elements}; give a weight for each element, in the same shape",
                self.source
            )),
        }
    }

    fn mismatch(&self, elements: std::fmt::Arguments<'_>) -> CommandError {
        let count = self.bytes.len() / 4;
        usage!("{}: has {count} weights for {elements}; give one for each", self.source)
    }
}

/// Reads edges for values of type `element`, and checks them.
fn read_edges(source: &Source, element: ElementType) -> Result<Vec<f64>> {
    let max_count = u64::from(HistogramConfig::MAX_BINS) + 1;
    let taken = Taken { elements: &ElementType::ALL, max_dimensions: 1, max_count };
    let read = files::read_with_raw(source, element, &taken)?;
    let edge = |bytes: &[u8]| table::real(bytes, read.element);
    let edges: Vec<_> = read.payload.chunks_exact(read.element.size()).map(edge).collect();
    edge_words(element, &edges).map_err(|error| match error {
        Error::OutOfRange { .. } => usage!("{source}: {error}; give one more than there are bins"),
        _ => usage!("{source}: {error}"),
    })?;
    Ok(edges)
}

fn parse_range(text: &str) -> Result<[f64; 2], String> {
    let parse = |text: &str| text.parse::<f64>().ok().filter(|edge| edge.is_finite());
    text.split_once(':')
        .and_then(|(low, high)| Some([parse(low)?, parse(high)?]))
        .filter(|[low, high]| low < high)
        .ok_or_else(|| "it is two numbers A:B with A < B, such as 0:1 or -2.5:1e3".into())
}

/// What `devices` and `inspect` show of histograms; no option changes their policy.
pub const SHOWN: Shown = Shown {
    policies: |_, capabilities| {
        let choice = HistogramPolicy::choose(capabilities, &HistogramConfig::even(ElementType::F32, 256));
        vec![ShownPolicy::new("histogram", "histogram policy", choice)]
    },
    plans: |common, _| {
        let configs = [
            HistogramConfig::even(ElementType::F32, 256),
            HistogramConfig::by_edges(ElementType::F32, 256),
            HistogramConfig::even(ElementType::U32, 4096),
            HistogramConfig::even(ElementType::F32, 256).columns(3),
            HistogramConfig::even(ElementType::F64, 256).weighted(),
            HistogramConfig::even(ElementType::F32, HistogramConfig::MAX_BINS),
        ];
        plain_plans(common, configs)
    },
};
