//! A device, and its calls on arrays.
//!
//! All arrays are one-dimensional, contiguous, and of 32-bit words, the lowest first: of the host, or on the device. Where one is
//! on the device, results are. Those of 64-bit numbers are aligned to 8 bytes.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use subsweep::difference::{DifferenceBuffers, DifferenceConfig};
use subsweep::gather::{GatherBuffers, GatherConfig};
use subsweep::histogram::{HistogramBuffers, HistogramConfig, edge_words};
use subsweep::merge::{MergeBuffers, MergeConfig};
use subsweep::reduce::{ReduceBuffers, ReduceConfig, ReduceRuns};
use subsweep::run_length::{RunLengthBuffers, RunLengthConfig};
use subsweep::scan::{InitialValue, ScanBuffers, ScanConfig, ScanKind, ScanOperator, SegmentsBy};
use subsweep::search::{SearchBuffers, SearchConfig};
use subsweep::select::{Comparison, Operands, SelectBuffers, SelectConfig};
use subsweep::sort::{SegmentedSortBuffers, SegmentedSortConfig, SortBuffers, SortConfig, ValueSize};
use subsweep::top_k::{TopKBuffers, TopKConfig};
use subsweep::{ElementType, FloatOrder, Result};

use crate::array::{Buffer, Output, Source, Words, slice};
use crate::call::{Completed, Inputs};
use crate::error::exception;
use crate::list::kind;
use crate::opened::Opened;

/// An opened device.
#[pyclass(frozen, module = "subsweep._subsweep")]
pub struct Device {
    pub opened: Arc<Opened>,
}

/// The element type of a name, as in Rust.
fn element_type(name: &str) -> PyResult<ElementType> {
    named(name, ElementType::ALL, ElementType::name)
}

fn float_order(name: &str) -> PyResult<FloatOrder> {
    FloatOrder::ALL.into_iter().find(|order| order.name() == name).ok_or_else(|| {
        PyValueError::new_err(format!(
            "order is '{name}', and there are 'numpy' (NaN last, -0 equals 0) and 'total' (by sign and bits)"
        ))
    })
}

fn named<T: Copy, const N: usize>(name: &str, all: [T; N], name_of: fn(T) -> &'static str) -> PyResult<T> {
    let found = all.into_iter().find(|&one| name_of(one) == name);
    found.ok_or_else(|| PyValueError::new_err(format!("'{name}': {}", all.map(name_of).join(", "))))
}

fn directed(config: SortConfig, descending: bool) -> SortConfig {
    if descending { config.descending() } else { config }
}

fn scan_config(element: &str, operator: &str, is_exclusive: bool) -> PyResult<ScanConfig> {
    let operator = named(operator, ScanOperator::ALL, ScanOperator::name)?;
    let kind = if is_exclusive { ScanKind::Exclusive } else { ScanKind::Inclusive };
    Ok(ScanConfig::new(kind, element_type(element)?).operator(operator))
}

impl Device {
    /// Runs the plan of a configuration without the lock of the interpreter, and what takes its results.
    fn call<C: subsweep::Config, T: Send>(
        &self,
        py: Python<'_>,
        config: C,
        buffers: <C::Primitive as subsweep::Primitive>::Buffers,
        count: impl Into<<C::Primitive as subsweep::Primitive>::Count> + Send,
        inputs: &Inputs<'_>,
        take: impl FnOnce(Completed<'_>) -> Result<T> + Send,
    ) -> PyResult<T>
    where
        <C::Primitive as subsweep::Primitive>::Buffers: Send + Sync,
    {
        self.opened.run(py, |gpu| take(self.opened.call(&*gpu.plan(config)?, buffers, count, inputs)?))
    }
}

#[pymethods]
impl Device {
    /// Opens the device of a selector, `INDEX`, `NAME`, `uuid:…` or `driver:…`; the best one without.
    #[new]
    fn new(py: Python<'_>, selector: Option<&str>) -> PyResult<Self> {
        Ok(Self { opened: Arc::new(Opened::open(py, selector)?) })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.opened.gpu().identity().name
    }

    #[getter]
    fn kind(&self) -> &'static str {
        kind(self.opened.gpu().identity())
    }

    #[getter]
    fn driver(&self) -> String {
        self.opened.gpu().identity().driver_text()
    }

    #[getter]
    fn uuid(&self) -> String {
        self.opened.gpu().identity().device_uuid_text()
    }

    fn __eq__(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.opened, &other.opened)
    }

    fn __hash__(&self) -> usize {
        Arc::as_ptr(&self.opened).addr()
    }

    fn __repr__(&self) -> String {
        format!("<subsweep device '{}', {}>", self.name(), self.driver())
    }

    /// Memory of `len` words on the device, of which the first are `words`.
    fn allocate(&self, py: Python<'_>, words: PyReadonlyArray1<'_, u32>, len: usize) -> PyResult<Buffer> {
        let words = slice(&words)?;
        let memory = self.opened.run(py, |gpu| {
            let memory = gpu.allocate((len as u64).saturating_mul(4))?;
            gpu.upload(&memory, 0, words)?;
            Ok(memory)
        })?;
        Ok(Buffer::new(&self.opened, memory, len))
    }

    /// Sorts keys, each segment by itself, and moves values of `value_size` bytes along: the keys, and the values.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn sort(
        &self,
        py: Python<'_>,
        keys: Words<'_>,
        element: &str,
        values: Option<Words<'_>>,
        value_size: usize,
        descending: bool,
        order: &str,
        segments: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<(Output, Output)> {
        let element = element_type(element)?;
        let config = match value_size {
            0 => SortConfig::keys(element),
            size => SortConfig::pairs(element, ValueSize::new(size).map_err(exception)?),
        };
        let config = directed(config.order(float_order(order)?), descending);
        let (keys, values) = (keys.source()?, Source::or_empty(values.as_ref())?);
        let inputs = [("keys", keys), ("values", values)];
        let segments = segments.as_ref().map(slice).transpose()?;
        self.sorted(py, config, &inputs, segments, |mut sorted| {
            Ok((sorted.take("keys", keys.len() as u64)?, sorted.take("values", values.len() as u64)?))
        })
    }

    /// The permutation that sorts the keys, each segment by itself.
    fn argsort(
        &self,
        py: Python<'_>,
        keys: Words<'_>,
        element: &str,
        descending: bool,
        order: &str,
        segments: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<Output> {
        let config = SortConfig::argsort(element_type(element)?).order(float_order(order)?);
        let config = directed(config, descending);
        let keys = keys.source()?;
        let segments = segments.as_ref().map(slice).transpose()?;
        let first = segments.and_then(|segments| segments.first().copied()).unwrap_or(0);
        self.sorted(py, config, &[("keys", keys)], segments, |mut sorted| {
            // The device writes no indices for keys before the first segment.
            sorted.replace("values", &(0..first).collect::<Vec<_>>())?;
            sorted.take("values", keys.count(config.key_size()))
        })
    }

    /// Scans columns, rows of `row_length` numbers, or segments.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn scan(
        &self,
        py: Python<'_>,
        words: Words<'_>,
        element: &str,
        operator: &str,
        exclusive: bool,
        reverse: bool,
        columns: u32,
        row_length: Option<u32>,
        segments: Option<Words<'_>>,
        initial: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<Output> {
        let mut config = scan_config(element, operator, exclusive)?.columns(columns);
        if reverse {
            config = config.reverse();
        }
        if segments.is_some() {
            config = config.segments(SegmentsBy::Offsets);
        } else if let Some(length) = row_length {
            config = config.along_rows(length);
        }
        let mut buffers = ScanBuffers::default();
        if let Some(row) = &initial {
            buffers = buffers.initial(InitialValue::host(slice(row)?).map_err(exception)?);
            config = config.with_initial();
        }
        let words = words.source()?;
        let inputs = [("source", words), ("segments", Source::or_empty(segments.as_ref())?)];
        self.call(py, config, buffers, words.count(config.row_size()), &inputs, |mut scanned| {
            scanned.take("destination", words.len() as u64)
        })
    }

    /// Sorts the keys that `next` returns, words of an array or none at the end, and passes bytes of the result to `write`.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn sort_stream(
        &self,
        py: Python<'_>,
        next: Py<PyAny>,
        write: Py<PyAny>,
        element: &str,
        descending: bool,
        order: &str,
        memory: Option<u64>,
    ) -> PyResult<()> {
        let config = SortConfig::keys(element_type(element)?).order(float_order(order)?);
        self.opened.sort_stream(py, directed(config, descending), next, write, memory)
    }

    /// Scans the rows that `next` returns, and passes them to `write`, likewise.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn scan_stream(
        &self,
        py: Python<'_>,
        next: Py<PyAny>,
        write: Py<PyAny>,
        element: &str,
        operator: &str,
        exclusive: bool,
        initial: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<()> {
        let config = scan_config(element, operator, exclusive)?;
        let initial = initial.as_ref().map(slice).transpose()?;
        self.opened.scan_stream(py, config, next, write, initial)
    }

    /// Reduces columns, rows of `row_length` numbers, or segments; `argmin` and `argmax` give indices.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn reduce(
        &self,
        py: Python<'_>,
        words: Words<'_>,
        element: &str,
        operator: &str,
        columns: u32,
        row_length: Option<u32>,
        segments: Option<Words<'_>>,
    ) -> PyResult<Output> {
        let element = element_type(element)?;
        let config = match operator {
            "argmin" => ReduceConfig::argmin(element),
            "argmax" => ReduceConfig::argmax(element),
            name => ReduceConfig::new(named(name, ScanOperator::ALL, ScanOperator::name)?, element),
        };
        let mut config = config.columns(columns);
        if segments.is_some() {
            config = config.runs(ReduceRuns::Offsets);
        } else if let Some(length) = row_length {
            config = config.along_rows(length);
        }
        let (words, segments) = (words.source()?, Source::or_empty(segments.as_ref())?);
        let inputs = [("source", words), ("segments", segments)];
        self.call(
            py,
            config,
            ReduceBuffers::default(),
            words.count(config.row_size()),
            &inputs,
            |mut reduced| reduced.take_all("destination"),
        )
    }

    /// Selects rows of `words_per_row` words by flags of 8 bits, or partitions them: the rows, their indices, and the number
    /// of those selected.
    fn select_flagged(
        &self,
        py: Python<'_>,
        words: Words<'_>,
        words_per_row: u32,
        flags: PyReadonlyArray1<'_, u8>,
        partition: bool,
        indices: bool,
    ) -> PyResult<(Output, Output, u32)> {
        let flags = slice(&flags)?;
        let mut padded = vec![0; flags.len().div_ceil(4)];
        bytemuck::cast_slice_mut(&mut padded)[..flags.len()].copy_from_slice(flags);
        let inputs = [("source", words.source()?), ("flags", Source::Host(&padded))];
        let config = SelectConfig::flags8(words_per_row);
        self.select(py, config, SelectBuffers::default(), &inputs, partition, indices)
    }

    /// Selects numbers by a comparison with one operand, or the two of a range.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn select_compared(
        &self,
        py: Python<'_>,
        words: Words<'_>,
        element: &str,
        comparison: &str,
        operands: PyReadonlyArray1<'_, u32>,
        partition: bool,
        indices: bool,
    ) -> PyResult<(Output, Output, u32)> {
        let element = element_type(element)?;
        let config = SelectConfig::compare(element, named(comparison, Comparison::ALL, Comparison::name)?);
        let operands = Operands::of_words(element, slice(&operands)?).map_err(exception)?;
        let buffers = SelectBuffers::default().operands(operands);
        self.select(py, config, buffers, &[("source", words.source()?)], partition, indices)
    }

    /// The first of each run of equal numbers.
    fn unique(&self, py: Python<'_>, words: Words<'_>, element: &str, order: &str) -> PyResult<Output> {
        let config = SelectConfig::unique(element_type(element)?).order(float_order(order)?);
        let inputs = [("source", words.source()?)];
        Ok(self.select(py, config, SelectBuffers::default(), &inputs, false, false)?.0)
    }

    /// Values, counts and first indices of runs of equal numbers.
    fn runs(
        &self,
        py: Python<'_>,
        words: Words<'_>,
        element: &str,
        order: &str,
    ) -> PyResult<(Output, Output, Output)> {
        let config = RunLengthConfig::encode(element_type(element)?).order(float_order(order)?).offsets();
        let words = words.source()?;
        let (count, inputs) = (words.count(config.element_size()), [("elements", words)]);
        self.call(py, config, RunLengthBuffers::default(), count, &inputs, |mut runs| {
            let run_count = u64::from(runs.read("result_count", 1)?[0]);
            let values = runs.take("values", run_count * config.element_size() / 4)?;
            Ok((values, runs.take("counts", run_count)?, runs.take("offsets", run_count)?))
        })
    }

    /// The number of values in each bin, on the host.
    fn histogram<'py>(
        &self,
        py: Python<'py>,
        words: Words<'_>,
        element: &str,
        edges: PyReadonlyArray1<'py, f64>,
        even: bool,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let (element, edges) = (element_type(element)?, slice(&edges)?);
        let bounds = edge_words(element, edges).map_err(exception)?;
        // Later bins have no values.
        let possible_bins = u32::try_from(bounds.len() - 1).unwrap_or(u32::MAX);
        let config = match even {
            true => HistogramConfig::even(element, possible_bins),
            false => HistogramConfig::by_edges(element, possible_bins),
        };
        let words = words.source()?;
        let inputs = [("source", words), ("edges", Source::Host(&bounds))];
        let count = words.count(config.row_size());
        let mut counts = self.call(py, config, HistogramBuffers::default(), count, &inputs, |counted| {
            counted.read("counts", possible_bins.into())
        })?;
        counts.resize(edges.len() - 1, 0);
        Ok(counts.into_pyarray(py))
    }

    /// The `k` largest or smallest numbers of each row of `columns`, and their columns.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn top_k(
        &self,
        py: Python<'_>,
        words: Words<'_>,
        element: &str,
        columns: u32,
        k: u32,
        largest: bool,
        order: &str,
        sorted: bool,
    ) -> PyResult<(Output, Output)> {
        let element = element_type(element)?;
        let config = match largest {
            true => TopKConfig::largest(element, columns, k),
            false => TopKConfig::smallest(element, columns, k),
        };
        let config = config.order(float_order(order)?);
        let config = if sorted { config } else { config.unsorted() };
        let words = words.source()?;
        let (count, inputs) = (words.count(config.row_size()), [("source", words)]);
        self.call(py, config, TopKBuffers::default(), count, &inputs, |mut top| {
            Ok((top.take_all("destination")?, top.take_all("destination_indices")?))
        })
    }

    /// The lower bounds of needles in sorted numbers, or the upper ones.
    fn search(
        &self,
        py: Python<'_>,
        sorted: Words<'_>,
        needles: Words<'_>,
        element: &str,
        order: &str,
        upper: bool,
    ) -> PyResult<Output> {
        let element = element_type(element)?;
        let config =
            if upper { SearchConfig::upper_bound(element) } else { SearchConfig::lower_bound(element) };
        let config = config.order(float_order(order)?);
        let [sorted, needles] = [sorted.source()?, needles.source()?];
        let counts = [sorted, needles].map(|words| words.count(element.size() as u64));
        let inputs = [("sorted", sorted), ("needles", needles)];
        self.call(py, config, SearchBuffers::default(), (counts[0], counts[1]), &inputs, |mut found| {
            found.take("positions", counts[1])
        })
    }

    /// Two sorted arrays as one.
    fn merge(
        &self,
        py: Python<'_>,
        a: Words<'_>,
        b: Words<'_>,
        element: &str,
        order: &str,
    ) -> PyResult<Output> {
        let element = element_type(element)?;
        let config = MergeConfig::keys(element).order(float_order(order)?);
        let [a, b] = [a.source()?, b.source()?];
        let counts = [a, b].map(|keys| keys.count(element.size() as u64));
        let inputs = [("a", a), ("b", b)];
        self.call(py, config, MergeBuffers::default(), (counts[0], counts[1]), &inputs, |mut merged| {
            merged.take_all("destination")
        })
    }

    /// Each row less the one before it, or each column.
    fn difference(
        &self,
        py: Python<'_>,
        words: Words<'_>,
        element: &str,
        columns: u32,
        along_rows: bool,
    ) -> PyResult<Output> {
        let config = DifferenceConfig::new(element_type(element)?).columns(columns);
        let config = if along_rows { config.along_rows() } else { config };
        let words = words.source()?;
        let (count, inputs) = (words.count(config.row_size()), [("source", words)]);
        self.call(py, config, DifferenceBuffers::default(), count, &inputs, |mut differences| {
            differences.take_all("destination")
        })
    }

    /// Rows of `words_per_row` words by their indices.
    fn gather(
        &self,
        py: Python<'_>,
        words: Words<'_>,
        words_per_row: u32,
        indices: Words<'_>,
    ) -> PyResult<Output> {
        let config = GatherConfig::elements(words_per_row);
        let (words, indices) = (words.source()?, indices.source()?);
        let inputs = [("source", words), ("indices", indices)];
        self.call(py, config, GatherBuffers::default(), indices.len() as u64, &inputs, |mut gathered| {
            gathered.take_all("destination")
        })
    }
}

impl Device {
    fn sorted<T: Send>(
        &self,
        py: Python<'_>,
        config: SortConfig,
        inputs: &Inputs<'_>,
        segments: Option<&[u32]>,
        take: impl FnOnce(Completed<'_>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let count = inputs[0].1.count(config.key_size());
        let Some(segments) = segments else {
            return self.call(
                py,
                config.large_counts_for(count),
                SortBuffers::default(),
                count,
                inputs,
                take,
            );
        };
        let counts = (count, segments.len() as u64);
        let inputs: Vec<_> = inputs.iter().copied().chain([("segments", Source::Host(segments))]).collect();
        let config = SegmentedSortConfig::from(config);
        self.call(py, config, SegmentedSortBuffers::default(), counts, &inputs, take)
    }

    fn select(
        &self,
        py: Python<'_>,
        config: SelectConfig,
        buffers: SelectBuffers,
        inputs: &Inputs<'_>,
        partition: bool,
        indices: bool,
    ) -> PyResult<(Output, Output, u32)> {
        let config = if partition { config.partition() } else { config };
        let config = if indices { config.indices() } else { config };
        let count = inputs[0].1.count(config.element_size());
        self.call(py, config, buffers, count, inputs, |mut selected| {
            let selected_count = selected.read("counts", 1)?[0];
            let kept = if partition { count } else { selected_count.into() };
            let elements = selected.take("destination", kept * config.element_size() / 4)?;
            Ok((elements, selected.take("destination_indices", kept)?, selected_count))
        })
    }
}
