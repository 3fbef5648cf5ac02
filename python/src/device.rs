//! A device, and its calls on arrays.
//!
//! All arrays are one-dimensional, contiguous, and of bytes, the lowest of a number first: of the host, or on the device. Where one
//! is on the device, results are. Indices and counts are u32.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use subsweep::difference::{DifferenceBuffers, DifferenceConfig};
use subsweep::gather::{GatherBuffers, GatherConfig};
use subsweep::headless::keys_in_no_segment;
use subsweep::histogram::{HistogramBuffers, HistogramConfig, edge_words};
use subsweep::merge::{MergeBuffers, MergeConfig};
use subsweep::reduce::{ReduceBuffers, ReduceConfig, ReduceRuns};
use subsweep::run_length::{RunLengthBuffers, RunLengthConfig};
use subsweep::scan::{InitialValue, ScanBuffers, ScanConfig, ScanKind, ScanOperator, SegmentsBy};
use subsweep::search::{SearchBuffers, SearchConfig};
use subsweep::select::{Comparison, Operands, SelectBuffers, SelectConfig};
use subsweep::sort::{
    Field, Key, SegmentedSortBuffers, SegmentedSortConfig, SortBuffers, SortConfig, StructureSortBuffers,
    StructureSortConfig, ValueSize,
};
use subsweep::top_k::{TopKBuffers, TopKConfig};
use subsweep::{ElementType, FloatOrder, Result};

use crate::array::{Buffer, Bytes, Output, Source, slice};
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

/// A type of the size of rows of 8 or 16 bits, which are moved as they are.
fn packed_row(row_size: u32) -> Option<ElementType> {
    match row_size {
        1 => Some(ElementType::U8),
        2 => Some(ElementType::U16),
        _ => None,
    }
}

fn words(words: &[u32]) -> Source<'_> {
    Source::Host(bytemuck::cast_slice(words))
}

/// The beginnings of segments; none of none.
fn offsets<'a>(segments: Option<&'a PyReadonlyArray1<'_, u32>>) -> PyResult<Source<'a>> {
    segments.map_or(Ok(Source::Host(&[])), |segments| slice(segments).map(words))
}

fn directed(config: SortConfig, descending: bool) -> SortConfig {
    if descending { config.descending() } else { config }
}

fn key(fields: Vec<(String, u32, bool)>, order: &str) -> PyResult<Key> {
    let order = float_order(order)?;
    let field = |(element, offset, is_descending): (String, u32, bool)| {
        let field = Field::new(element_type(&element)?, offset).order(order);
        Ok(if is_descending { field.descending() } else { field })
    };
    Ok(Key::fields(fields.into_iter().map(field).collect::<PyResult<Vec<_>>>()?))
}

fn scan_config(element: &str, operator: &str, is_exclusive: bool, is_monotone: bool) -> PyResult<ScanConfig> {
    let operator = named(operator, ScanOperator::ALL, ScanOperator::name)?;
    let kind = if is_exclusive { ScanKind::Exclusive } else { ScanKind::Inclusive };
    let config = ScanConfig::new(kind, element_type(element)?).operator(operator);
    Ok(if is_monotone { config.monotone() } else { config })
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

    /// Memory of `size` bytes on the device, of which the first are `bytes`.
    fn allocate(&self, py: Python<'_>, bytes: PyReadonlyArray1<'_, u8>, size: usize) -> PyResult<Buffer> {
        let bytes = slice(&bytes)?;
        let memory = self.opened.run(py, |gpu| {
            let memory = gpu.allocate(size as u64)?;
            gpu.upload(&memory, 0, bytes)?;
            Ok(memory)
        })?;
        Ok(Buffer::new(&self.opened, memory, size))
    }

    /// Sorts keys, each segment or row of `row_length` keys by itself, and moves values of `value_size` bytes along: the keys, and the values.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn sort(
        &self,
        py: Python<'_>,
        keys: Bytes<'_>,
        element: &str,
        values: Option<Bytes<'_>>,
        value_size: usize,
        descending: bool,
        order: &str,
        row_length: Option<u32>,
        segments: Option<PyReadonlyArray1<'_, u32>>,
        ends: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<(Output, Output)> {
        let element = element_type(element)?;
        let config = match value_size {
            0 => SortConfig::keys(element),
            size => SortConfig::pairs(element, ValueSize::new(size).map_err(exception)?),
        };
        let config = directed(config.order(float_order(order)?), descending);
        let (keys, values) = (keys.source()?, Source::or_empty(values.as_ref())?);
        let inputs = [("keys", keys), ("values", values)];
        let segments = segments_of(segments.as_ref(), ends.as_ref())?;
        self.sorted(py, config, &inputs, row_length, segments, |mut sorted| {
            Ok((sorted.take("keys", keys.size())?, sorted.take("values", values.size())?))
        })
    }

    /// The permutation that sorts the keys, each segment by itself, or each row of `row_length` keys with the indices in it.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn argsort(
        &self,
        py: Python<'_>,
        keys: Bytes<'_>,
        element: &str,
        descending: bool,
        order: &str,
        row_length: Option<u32>,
        segments: Option<PyReadonlyArray1<'_, u32>>,
        ends: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<Output> {
        let config = SortConfig::argsort(element_type(element)?).order(float_order(order)?);
        let config = directed(config, descending);
        let keys = keys.source()?;
        let segments = segments_of(segments.as_ref(), ends.as_ref())?;
        let count = keys.count(config.key_size());
        let others = segments.map(|segments| keys_in_no_segment(segments, count as u32)).unwrap_or_default();
        self.sorted(py, config, &[("keys", keys)], row_length, segments, |mut sorted| {
            // The device writes no indices for keys that are in no segment.
            for range in others {
                sorted.replace("values", range.start.into(), &range.collect::<Vec<_>>())?;
            }
            sorted.take("values", 4 * keys.count(config.key_size()))
        })
    }

    /// Sorts structures by fields, each a type, an offset and whether it is descending.
    fn sort_structures(
        &self,
        py: Python<'_>,
        structures: Bytes<'_>,
        structure_size: u32,
        fields: Vec<(String, u32, bool)>,
        order: &str,
    ) -> PyResult<Output> {
        let config = StructureSortConfig::structures(structure_size, key(fields, order)?).out_of_place();
        self.sorted_structures(py, config, structures.source()?, "sorted")
    }

    /// The permutation that sorts structures.
    fn argsort_structures(
        &self,
        py: Python<'_>,
        structures: Bytes<'_>,
        structure_size: u32,
        fields: Vec<(String, u32, bool)>,
        order: &str,
    ) -> PyResult<Output> {
        let config = StructureSortConfig::argsort(structure_size, key(fields, order)?);
        self.sorted_structures(py, config, structures.source()?, "indices")
    }

    /// Scans columns, rows of `row_length` numbers, or segments; `unpacked` results of 8 and 16 bits have 32, and so has `initial`.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn scan(
        &self,
        py: Python<'_>,
        numbers: Bytes<'_>,
        element: &str,
        operator: &str,
        unpacked: bool,
        exclusive: bool,
        reverse: bool,
        monotone: bool,
        columns: u32,
        row_length: Option<u32>,
        segments: Option<PyReadonlyArray1<'_, u32>>,
        initial: Option<PyReadonlyArray1<'_, u8>>,
    ) -> PyResult<Output> {
        let mut config = scan_config(element, operator, exclusive, monotone)?.columns(columns);
        if unpacked {
            config = config.unpacked_results();
        }
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
            // Words of any type.
            let element = if unpacked { ElementType::U32 } else { element_type(element)? };
            buffers = buffers.initial(InitialValue::of_bytes(element, slice(row)?).map_err(exception)?);
            config = config.with_initial();
        }
        let numbers = numbers.source()?;
        let inputs = [("source", numbers), ("segments", offsets(segments.as_ref())?)];
        self.call(py, config, buffers, numbers.count(config.row_size()), &inputs, |mut scanned| {
            scanned.take_all("destination")
        })
    }

    /// Sorts the keys that `next` returns, bytes of an array or none at the end, and passes bytes of the result to `write`.
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
        monotone: bool,
        initial: Option<PyReadonlyArray1<'_, u8>>,
    ) -> PyResult<()> {
        let config = scan_config(element, operator, exclusive, monotone)?;
        let initial = initial.as_ref().map(slice).transpose()?;
        self.opened.scan_stream(py, config, next, write, initial)
    }

    /// Reduces columns, rows of `row_length` numbers, or segments; `argmin`, `argmax` and `argminmax` give indices, and `unpacked` results of 8
    /// and 16 bits have 32.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn reduce(
        &self,
        py: Python<'_>,
        numbers: Bytes<'_>,
        element: &str,
        operator: &str,
        unpacked: bool,
        columns: u32,
        row_length: Option<u32>,
        segments: Option<PyReadonlyArray1<'_, u32>>,
        ends: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<Output> {
        let element = element_type(element)?;
        let config = match operator {
            "argmin" => ReduceConfig::argmin(element),
            "argmax" => ReduceConfig::argmax(element),
            "argminmax" => ReduceConfig::argminmax(element),
            name => ReduceConfig::new(named(name, ScanOperator::ALL, ScanOperator::name)?, element),
        };
        let mut config = config.columns(columns);
        if unpacked {
            config = config.unpacked_results();
        }
        if ends.is_some() {
            config = config.runs(ReduceRuns::Ranges);
        } else if segments.is_some() {
            config = config.runs(ReduceRuns::Offsets);
        } else if let Some(length) = row_length {
            config = config.along_rows(length);
        }
        let numbers = numbers.source()?;
        let inputs = [
            ("source", numbers),
            ("segments", offsets(segments.as_ref())?),
            ("segment_ends", offsets(ends.as_ref())?),
        ];
        self.call(
            py,
            config,
            ReduceBuffers::default(),
            numbers.count(config.row_size()),
            &inputs,
            |mut reduced| reduced.take_all("destination"),
        )
    }

    /// The first key of each run of equal keys, and the reduction of its rows of `columns` numbers.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn reduce_by_key(
        &self,
        py: Python<'_>,
        keys: Bytes<'_>,
        key_element: &str,
        numbers: Bytes<'_>,
        element: &str,
        operator: &str,
        columns: u32,
        order: &str,
    ) -> PyResult<(Output, Output)> {
        let operator = named(operator, ScanOperator::ALL, ScanOperator::name)?;
        let runs = ReduceRuns::keys_in(element_type(key_element)?, float_order(order)?);
        let config = ReduceConfig::new(operator, element_type(element)?).columns(columns).runs(runs);
        let numbers = numbers.source()?;
        let inputs = [("source", numbers), ("segments", keys.source()?)];
        let count = numbers.count(config.row_size());
        self.call(py, config, ReduceBuffers::default(), count, &inputs, |mut reduced| {
            let run_count = u64::from(reduced.read::<u32>("run_count", 1)?[0]);
            let keys = reduced.take("unique_keys", run_count * runs.key_size())?;
            Ok((keys, reduced.take("destination", run_count * config.result_size())?))
        })
    }

    /// Selects rows of `row_size` bytes, 1, 2 or a multiple of 4, by flags of 8 bits, or partitions them: the rows, their indices,
    /// and the number of those selected.
    fn select_flagged(
        &self,
        py: Python<'_>,
        numbers: Bytes<'_>,
        row_size: u32,
        flags: PyReadonlyArray1<'_, u8>,
        partition: bool,
        indices: bool,
    ) -> PyResult<(Output, Output, u64)> {
        let mut padded = slice(&flags)?.to_vec();
        padded.resize(padded.len().next_multiple_of(4), 0);
        let inputs = [("source", numbers.source()?), ("flags", Source::Host(&padded))];
        let config = packed_row(row_size).map_or(SelectConfig::flags8(row_size / 4), SelectConfig::flags8_of);
        self.select(py, config, SelectBuffers::default(), &inputs, partition, indices)
    }

    /// Selects numbers by a comparison with one operand, or the two of a range, which have 32 or 64 bits.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn select_compared(
        &self,
        py: Python<'_>,
        numbers: Bytes<'_>,
        element: &str,
        comparison: &str,
        operands: PyReadonlyArray1<'_, u8>,
        partition: bool,
        indices: bool,
    ) -> PyResult<(Output, Output, u64)> {
        let element = element_type(element)?;
        let config = SelectConfig::compare(element, named(comparison, Comparison::ALL, Comparison::name)?);
        let operands = bytemuck::pod_collect_to_vec(slice(&operands)?);
        let operands = Operands::of_words(element, &operands).map_err(exception)?;
        let buffers = SelectBuffers::default().operands(operands);
        self.select(py, config, buffers, &[("source", numbers.source()?)], partition, indices)
    }

    /// The first of each run of equal numbers.
    fn unique(&self, py: Python<'_>, numbers: Bytes<'_>, element: &str, order: &str) -> PyResult<Output> {
        let config = SelectConfig::unique(element_type(element)?).order(float_order(order)?);
        let inputs = [("source", numbers.source()?)];
        Ok(self.select(py, config, SelectBuffers::default(), &inputs, false, false)?.0)
    }

    /// Values, counts and first indices of runs of equal numbers.
    fn runs(
        &self,
        py: Python<'_>,
        numbers: Bytes<'_>,
        element: &str,
        order: &str,
    ) -> PyResult<(Output, Output, Output)> {
        let config = RunLengthConfig::encode(element_type(element)?).order(float_order(order)?).offsets();
        let numbers = numbers.source()?;
        let (count, inputs) = (numbers.count(config.element_size()), [("elements", numbers)]);
        self.call(py, config, RunLengthBuffers::default(), count, &inputs, |mut runs| {
            let run_count = u64::from(runs.read::<u32>("result_count", 1)?[0]);
            let values = runs.take("values", run_count * config.element_size())?;
            Ok((values, runs.take("counts", 4 * run_count)?, runs.take("offsets", 4 * run_count)?))
        })
    }

    /// The number of values in each bin, or the sum of their weights, on the host.
    fn histogram<'py>(
        &self,
        py: Python<'py>,
        numbers: Bytes<'_>,
        element: &str,
        edges: PyReadonlyArray1<'py, f64>,
        even: bool,
        weights: Option<PyReadonlyArray1<'py, u32>>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let (element, edges) = (element_type(element)?, slice(&edges)?);
        let bounds = edge_words(element, edges).map_err(exception)?;
        // Later bins have no values.
        let possible_bins = bounds.len() / element.words() as usize - 1;
        let possible_bins = u32::try_from(possible_bins).unwrap_or(u32::MAX);
        let config = match even {
            true => HistogramConfig::even(element, possible_bins),
            false => HistogramConfig::by_edges(element, possible_bins),
        };
        let config = if weights.is_some() { config.weighted() } else { config };
        let numbers = numbers.source()?;
        let inputs =
            [("source", numbers), ("edges", words(&bounds)), ("weights", offsets(weights.as_ref())?)];
        let count = numbers.count(config.row_size());
        let mut counts = self.call(py, config, HistogramBuffers::default(), count, &inputs, |counted| {
            counted.read::<u32>("counts", possible_bins.into())
        })?;
        counts.resize(edges.len() - 1, 0);
        Ok(counts.into_pyarray(py))
    }

    /// The `k` largest or smallest numbers of each row of `columns`, and their columns.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn top_k(
        &self,
        py: Python<'_>,
        numbers: Bytes<'_>,
        element: &str,
        columns: u32,
        k: u32,
        largest: bool,
        order: &str,
        sorted: bool,
        segments: Option<PyReadonlyArray1<'_, u32>>,
        ks: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<(Output, Output)> {
        let element = element_type(element)?;
        let config = match largest {
            true => TopKConfig::largest(element, columns, k),
            false => TopKConfig::smallest(element, columns, k),
        };
        let config = config.order(float_order(order)?);
        let config = if sorted { config } else { config.unsorted() };
        let config = if segments.is_some() { config.segments() } else { config };
        let config = if ks.is_some() { config.own_k() } else { config };
        let numbers = numbers.source()?;
        let [segments, ks] = [offsets(segments.as_ref())?, offsets(ks.as_ref())?];
        let count = if config.has_segments() { segments.count(4) } else { numbers.count(config.row_size()) };
        let inputs = [("source", numbers), ("segments", segments), ("ks", ks)];
        self.call(py, config, TopKBuffers::default(), count, &inputs, |mut top| {
            Ok((top.take_all("destination")?, top.take_all("destination_indices")?))
        })
    }

    /// The lower bounds of needles in sorted numbers, or the upper ones, u32, in 2^32 numbers and more u64; in rows of `lengths`
    /// numbers and needles, in each row.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn search(
        &self,
        py: Python<'_>,
        sorted: Bytes<'_>,
        needles: Bytes<'_>,
        element: &str,
        order: &str,
        upper: bool,
        lengths: Option<(u32, u32)>,
    ) -> PyResult<Output> {
        let element = element_type(element)?;
        let config =
            if upper { SearchConfig::upper_bound(element) } else { SearchConfig::lower_bound(element) };
        let config = match lengths {
            Some((sorted_length, needle_length)) => config.along_rows(sorted_length, needle_length),
            None => config,
        };
        let config = config.order(float_order(order)?);
        let [sorted, needles] = [sorted.source()?, needles.source()?];
        let counts = [sorted, needles].map(|keys| keys.count(element.size() as u64));
        let config = config.large_counts_for(counts[0]);
        let inputs = [("sorted", sorted), ("needles", needles)];
        self.call(py, config, SearchBuffers::default(), (counts[0], counts[1]), &inputs, |mut found| {
            found.take_all("positions")
        })
    }

    /// Two sorted arrays as one, and with each key a value of `value_size` bytes, a multiple of 4: the keys, and the values.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn merge(
        &self,
        py: Python<'_>,
        a: Bytes<'_>,
        b: Bytes<'_>,
        element: &str,
        a_values: Option<Bytes<'_>>,
        b_values: Option<Bytes<'_>>,
        value_size: u32,
        descending: bool,
        order: &str,
    ) -> PyResult<(Output, Output)> {
        let element = element_type(element)?;
        let config = MergeConfig::keys(element).values(value_size / 4).order(float_order(order)?);
        let config = if descending { config.descending() } else { config };
        let [a, b] = [a.source()?, b.source()?];
        let counts = [a, b].map(|keys| keys.count(element.size() as u64));
        let config = config.large_counts_for(counts[0] + counts[1]);
        let [a_values, b_values] =
            [Source::or_empty(a_values.as_ref())?, Source::or_empty(b_values.as_ref())?];
        let inputs = [("a", a), ("b", b), ("a_values", a_values), ("b_values", b_values)];
        self.call(py, config, MergeBuffers::default(), (counts[0], counts[1]), &inputs, |mut merged| {
            Ok((merged.take_all("destination")?, merged.take_all("destination_values")?))
        })
    }

    /// Each row less the one before it, or each column.
    fn difference(
        &self,
        py: Python<'_>,
        numbers: Bytes<'_>,
        element: &str,
        columns: u32,
        along_rows: bool,
    ) -> PyResult<Output> {
        let config = DifferenceConfig::new(element_type(element)?).columns(columns);
        let config = if along_rows { config.along_rows() } else { config };
        let numbers = numbers.source()?;
        let (count, inputs) = (numbers.count(config.row_size()), [("source", numbers)]);
        self.call(py, config, DifferenceBuffers::default(), count, &inputs, |mut differences| {
            differences.take_all("destination")
        })
    }

    /// Rows of `row_size` bytes, 1, 2 or a multiple of 4, by their indices.
    fn gather(
        &self,
        py: Python<'_>,
        numbers: Bytes<'_>,
        row_size: u32,
        indices: Bytes<'_>,
    ) -> PyResult<Output> {
        let config = packed_row(row_size).map_or(GatherConfig::elements(row_size / 4), GatherConfig::numbers);
        let (numbers, indices) = (numbers.source()?, indices.source()?);
        let inputs = [("source", numbers), ("indices", indices)];
        self.call(py, config, GatherBuffers::default(), indices.count(4), &inputs, |mut gathered| {
            gathered.take_all("destination")
        })
    }
}

impl Device {
    fn sorted_structures(
        &self,
        py: Python<'_>,
        config: StructureSortConfig,
        structures: Source<'_>,
        result: &'static str,
    ) -> PyResult<Output> {
        let inputs = [("structures", structures)];
        let count = structures.count(config.structure_size());
        self.call(py, config, StructureSortBuffers::default(), count, &inputs, |mut sorted| {
            sorted.take_all(result)
        })
    }

    fn sorted<T: Send>(
        &self,
        py: Python<'_>,
        config: SortConfig,
        inputs: &Inputs<'_>,
        row_length: Option<u32>,
        segments: Option<[&[u32]; 2]>,
        take: impl FnOnce(Completed<'_>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let count = inputs[0].1.count(config.key_size());
        if let Some(length) = row_length {
            let config = SegmentedSortConfig::from(config).along_rows(length);
            let counts = (count, count / u64::from(length));
            return self.call(py, config, SegmentedSortBuffers::default(), counts, inputs, take);
        }
        let Some([begins, ends]) = segments else {
            return self.call(
                py,
                config.large_counts_for(count),
                SortBuffers::default(),
                count,
                inputs,
                take,
            );
        };
        let counts = (count, begins.len() as u64);
        let of_segments = [("segments", words(begins)), ("segment_ends", words(ends))];
        let inputs: Vec<_> = inputs.iter().copied().chain(of_segments).collect();
        let config = SegmentedSortConfig::from(config);
        let config = if ends.is_empty() { config } else { config.ranges() };
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
    ) -> PyResult<(Output, Output, u64)> {
        let config = if partition { config.partition() } else { config };
        let count = inputs[0].1.count(config.element_size());
        // Indices are uint32.
        let config = if indices { config.indices() } else { config.large_counts_for(count) };
        self.call(py, config, buffers, count, inputs, |mut selected| {
            let selected_count = match config.index_size() {
                8 => selected.read::<u64>("counts", 1)?[0],
                _ => selected.read::<u32>("counts", 1)?[0].into(),
            };
            let kept = if partition { count } else { selected_count };
            let elements = selected.take("destination", kept * config.element_size())?;
            Ok((elements, selected.take("destination_indices", 4 * kept)?, selected_count))
        })
    }
}

/// The begins of segments, and their ends, none of which are given where each ends with the next.
fn segments_of<'a>(
    begins: Option<&'a PyReadonlyArray1<'_, u32>>,
    ends: Option<&'a PyReadonlyArray1<'_, u32>>,
) -> PyResult<Option<[&'a [u32]; 2]>> {
    let ends = ends.map(slice).transpose()?.unwrap_or_default();
    Ok(begins.map(slice).transpose()?.map(|begins| [begins, ends]))
}
