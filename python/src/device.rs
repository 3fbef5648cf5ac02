//! A device, and its calls on arrays.
//!
//! All arrays are one-dimensional, contiguous, and of 32-bit words, the lowest first; those of 64-bit numbers are aligned to 8
//! bytes. Where a method returns nothing, its first array receives the result.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use subsweep::ElementType;
use subsweep::difference::DifferenceConfig;
use subsweep::gather::GatherConfig;
use subsweep::headless::{
    DeviceSelector, Gpu, GpuOptions, ReducedWords, RunLengths, ScanInputs, SelectInputs, Selected, TopKWords,
    WorkOptions,
};
use subsweep::histogram::HistogramConfig;
use subsweep::merge::MergeConfig;
use subsweep::reduce::{ReduceConfig, ReduceRuns};
use subsweep::run_length::RunLengthConfig;
use subsweep::scan::{ScanConfig, ScanKind, ScanOperator, SegmentsBy};
use subsweep::search::SearchConfig;
use subsweep::select::{Comparison, Operands, SelectConfig};
use subsweep::sort::{SortConfig, ValueSize};
use subsweep::top_k::TopKConfig;

use crate::error::{check_reentry, exception, interrupted};
use crate::list::kind;

type Words<'py> = PyReadonlyArray1<'py, u32>;
type WordsMut<'py> = PyReadwriteArray1<'py, u32>;
type Array<'py> = Bound<'py, PyArray1<u32>>;

/// An opened device.
#[pyclass(frozen, module = "subsweep._subsweep")]
pub struct Device {
    gpu: Gpu,
}

/// The element type of a name, as in Rust.
pub fn element_type(name: &str) -> PyResult<ElementType> {
    named(name, ElementType::ALL, ElementType::name)
}

/// The words of an array.
pub fn slice<'a>(words: &'a Words<'_>) -> PyResult<&'a [u32]> {
    words.as_slice().map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Words as numbers of a type. The words of an empty array may have any address.
pub fn numbers<N: bytemuck::Pod>(words: &[u32]) -> &[N] {
    if words.is_empty() { &[] } else { bytemuck::cast_slice(words) }
}

fn slice_mut<'a>(words: &'a mut WordsMut<'_>) -> PyResult<&'a mut [u32]> {
    words.as_slice_mut().map_err(|error| PyValueError::new_err(error.to_string()))
}

fn slice_or_none<'a>(words: Option<&'a Words<'_>>) -> PyResult<&'a [u32]> {
    words.map_or(Ok(&[]), slice)
}

fn named<T: Copy, const N: usize>(name: &str, all: [T; N], name_of: fn(T) -> &'static str) -> PyResult<T> {
    let found = all.into_iter().find(|&one| name_of(one) == name);
    found.ok_or_else(|| PyValueError::new_err(format!("'{name}': {}", all.map(name_of).join(", "))))
}

/// The pairs of a sort, or its keys alone.
fn sort_config(element: ElementType, value_size: usize, is_descending: bool) -> PyResult<SortConfig> {
    let config = match value_size {
        0 => SortConfig::keys(element),
        size => SortConfig::pairs(element, ValueSize::new(size).map_err(exception)?),
    };
    Ok(if is_descending { config.descending() } else { config })
}

impl Device {
    /// Runs without the lock of the interpreter.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Gpu) -> subsweep::Result<T> + Send,
    ) -> PyResult<T> {
        check_reentry()?;
        py.detach(|| work(&self.gpu)).map_err(exception)
    }
}

#[pymethods]
impl Device {
    /// Opens the device of a selector, `INDEX`, `NAME`, `uuid:…` or `driver:…`; the best one without.
    #[new]
    fn new(py: Python<'_>, selector: Option<&str>) -> PyResult<Self> {
        let device = selector.map_or(DeviceSelector::Best, |selector| {
            let Ok(selector) = selector.parse();
            selector
        });
        let work = WorkOptions { interrupted: Some(Arc::new(interrupted)), ..WorkOptions::default() };
        let options = GpuOptions { device, work, ..GpuOptions::default() };
        let gpu = py.detach(|| Gpu::open(options)).map_err(exception)?;
        Ok(Self { gpu })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.gpu.identity().name
    }

    #[getter]
    fn kind(&self) -> &'static str {
        kind(self.gpu.identity())
    }

    #[getter]
    fn driver(&self) -> String {
        self.gpu.identity().driver_text()
    }

    #[getter]
    fn uuid(&self) -> String {
        self.gpu.identity().device_uuid_text()
    }

    fn __repr__(&self) -> String {
        format!("<subsweep device '{}', {}>", self.name(), self.driver())
    }

    /// Sorts keys, each segment by itself, and moves values of `value_size` bytes along.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn sort(
        &self,
        py: Python<'_>,
        mut keys: WordsMut<'_>,
        element: &str,
        mut values: Option<WordsMut<'_>>,
        value_size: usize,
        descending: bool,
        segments: Option<Words<'_>>,
    ) -> PyResult<()> {
        let config = sort_config(element_type(element)?, value_size, descending)?;
        let keys = slice_mut(&mut keys)?;
        let values = values.as_mut().map_or(Ok(&mut [][..]), slice_mut)?;
        let segments = segments.as_ref().map(slice).transpose()?;
        self.run(py, |gpu| match segments {
            None => gpu.prepare_sort(config, keys, values)?.run(),
            Some(segments) => gpu.prepare_segmented_sort(config, keys, values, segments)?.run(),
        })
    }

    /// The permutation that sorts the keys, each segment by itself.
    fn argsort<'py>(
        &self,
        py: Python<'py>,
        keys: Words<'py>,
        element: &str,
        descending: bool,
        segments: Option<Words<'py>>,
    ) -> PyResult<Array<'py>> {
        // The keys are unchanged only as numbers of their type.
        macro_rules! argsort {
            ($gpu:ident, $config:ident, $keys:ident, $segments:ident, $number:ty) => {{
                let keys: &[$number] = numbers($keys);
                match $segments {
                    None => $gpu.argsort($config, keys),
                    Some(segments) => $gpu.segmented_argsort($config, keys, segments),
                }
            }};
        }
        let element = element_type(element)?;
        let config = SortConfig::argsort(element);
        let config = if descending { config.descending() } else { config };
        let keys = slice(&keys)?;
        let segments = segments.as_ref().map(slice).transpose()?;
        let indices = self.run(py, |gpu| match element {
            ElementType::U32 => argsort!(gpu, config, keys, segments, u32),
            ElementType::I32 => argsort!(gpu, config, keys, segments, i32),
            ElementType::F32 => argsort!(gpu, config, keys, segments, f32),
            ElementType::U64 => argsort!(gpu, config, keys, segments, u64),
            ElementType::I64 => argsort!(gpu, config, keys, segments, i64),
            ElementType::F64 => argsort!(gpu, config, keys, segments, f64),
        })?;
        Ok(indices.into_pyarray(py))
    }

    /// Scans columns, rows of `row_length` numbers, or segments, in place.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn scan(
        &self,
        py: Python<'_>,
        mut words: WordsMut<'_>,
        element: &str,
        operator: &str,
        exclusive: bool,
        reverse: bool,
        columns: u32,
        row_length: Option<u32>,
        segments: Option<Words<'_>>,
        initial: Option<Words<'_>>,
    ) -> PyResult<()> {
        let operator = named(operator, ScanOperator::ALL, ScanOperator::name)?;
        let kind = if exclusive { ScanKind::Exclusive } else { ScanKind::Inclusive };
        let mut config = ScanConfig::new(kind, element_type(element)?).operator(operator).columns(columns);
        if reverse {
            config = config.reverse();
        }
        if segments.is_some() {
            config = config.segments(SegmentsBy::Offsets);
        } else if let Some(length) = row_length {
            config = config.along_rows(length);
        }
        let words = slice_mut(&mut words)?;
        let initial = initial.as_ref().map(slice).transpose()?;
        let inputs = ScanInputs { initial, segments: slice_or_none(segments.as_ref())? };
        self.run(py, |gpu| gpu.prepare_scan(config, words, inputs)?.run())
    }

    /// Reduces columns, rows of `row_length` numbers, or segments; `argmin` and `argmax` give indices.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn reduce<'py>(
        &self,
        py: Python<'py>,
        words: Words<'py>,
        element: &str,
        operator: &str,
        columns: u32,
        row_length: Option<u32>,
        segments: Option<Words<'py>>,
    ) -> PyResult<Array<'py>> {
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
        let (words, segments) = (slice(&words)?, slice_or_none(segments.as_ref())?);
        let reduced = self.run(py, |gpu| {
            let mut reduced = ReducedWords::default();
            gpu.prepare_reduce(config, words, segments, &mut reduced)?.run()?;
            Ok(reduced)
        })?;
        Ok(reduced.results.into_pyarray(py))
    }

    /// Selects rows of `words_per_row` words by flags of 8 bits, or partitions them: the rows, their indices, and the number
    /// of those selected.
    fn select_flagged<'py>(
        &self,
        py: Python<'py>,
        words: Words<'py>,
        words_per_row: u32,
        flags: PyReadonlyArray1<'py, u8>,
        partition: bool,
        indices: bool,
    ) -> PyResult<(Array<'py>, Array<'py>, u32)> {
        let flags = flags.as_slice().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let inputs = SelectInputs::new(slice(&words)?).flags8(flags);
        self.select(py, SelectConfig::flags8(words_per_row), &inputs, partition, indices)
    }

    /// Selects numbers by a comparison with one operand, or the two of a range.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn select_compared<'py>(
        &self,
        py: Python<'py>,
        words: Words<'py>,
        element: &str,
        comparison: &str,
        operands: Words<'py>,
        partition: bool,
        indices: bool,
    ) -> PyResult<(Array<'py>, Array<'py>, u32)> {
        let element = element_type(element)?;
        let comparison = named(comparison, Comparison::ALL, Comparison::name)?;
        let operands = Operands::of_words(element, slice(&operands)?).map_err(exception)?;
        let inputs = SelectInputs::new(slice(&words)?).operands(operands);
        self.select(py, SelectConfig::compare(element, comparison), &inputs, partition, indices)
    }

    /// The first of each run of equal numbers.
    fn unique<'py>(&self, py: Python<'py>, words: Words<'py>, element: &str) -> PyResult<Array<'py>> {
        let inputs = SelectInputs::new(slice(&words)?);
        Ok(self.select(py, SelectConfig::unique(element_type(element)?), &inputs, false, false)?.0)
    }

    /// Values, counts and first indices of runs of equal numbers.
    fn runs<'py>(
        &self,
        py: Python<'py>,
        words: Words<'py>,
        element: &str,
    ) -> PyResult<(Array<'py>, Array<'py>, Array<'py>)> {
        let config = RunLengthConfig::encode(element_type(element)?).offsets();
        let words = slice(&words)?;
        let runs = self.run(py, |gpu| {
            let mut runs = RunLengths::default();
            gpu.prepare_run_length_encode(config, words, &mut runs)?.run()?;
            Ok(runs)
        })?;
        Ok((runs.values.into_pyarray(py), runs.counts.into_pyarray(py), runs.offsets.into_pyarray(py)))
    }

    /// The number of values in each bin.
    fn histogram<'py>(
        &self,
        py: Python<'py>,
        words: Words<'py>,
        element: &str,
        edges: PyReadonlyArray1<'py, f64>,
        even: bool,
    ) -> PyResult<Array<'py>> {
        let edges = edges.as_slice().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let (element, words) = (element_type(element)?, slice(&words)?);
        let bins = u32::try_from(edges.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let config = match even {
            true => HistogramConfig::even(element, bins),
            false => HistogramConfig::by_edges(element, bins),
        };
        let counts = self.run(py, |gpu| {
            // A number of bins beyond the greatest is refused before there are counts.
            let mut counts = vec![0; bins.min(HistogramConfig::MAX_BINS) as usize];
            gpu.prepare_histogram(config, words, edges, &mut counts)?.run()?;
            Ok(counts)
        })?;
        Ok(counts.into_pyarray(py))
    }

    /// The `k` largest or smallest numbers of each row of `columns`, and their columns.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn top_k<'py>(
        &self,
        py: Python<'py>,
        words: Words<'py>,
        element: &str,
        columns: u32,
        k: u32,
        largest: bool,
        sorted: bool,
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let element = element_type(element)?;
        let config = match largest {
            true => TopKConfig::largest(element, columns, k),
            false => TopKConfig::smallest(element, columns, k),
        };
        let config = if sorted { config } else { config.unsorted() };
        let words = slice(&words)?;
        let top = self.run(py, |gpu| {
            let mut top = TopKWords::default();
            gpu.prepare_top_k(config, words, &[], &mut top)?.run()?;
            Ok(top)
        })?;
        Ok((top.keys.into_pyarray(py), top.indices.into_pyarray(py)))
    }

    /// The lower bounds of needles in sorted numbers, or the upper ones.
    fn search<'py>(
        &self,
        py: Python<'py>,
        sorted: Words<'py>,
        needles: Words<'py>,
        element: &str,
        upper: bool,
    ) -> PyResult<Array<'py>> {
        let element = element_type(element)?;
        let config =
            if upper { SearchConfig::upper_bound(element) } else { SearchConfig::lower_bound(element) };
        let (sorted, needles) = (slice(&sorted)?, slice(&needles)?);
        let positions = self.run(py, |gpu| {
            let mut positions = vec![0; needles.len() / element.words() as usize];
            gpu.prepare_search(config, sorted, needles, &mut positions)?.run()?;
            Ok(positions)
        })?;
        Ok(positions.into_pyarray(py))
    }

    /// Two sorted arrays as one, with values of `value_size` bytes: the keys, and the values.
    #[expect(clippy::too_many_arguments, reason = "arguments of Python")]
    fn merge<'py>(
        &self,
        py: Python<'py>,
        a: Words<'py>,
        b: Words<'py>,
        element: &str,
        a_values: Option<Words<'py>>,
        b_values: Option<Words<'py>>,
        value_size: u32,
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let mut config = MergeConfig::keys(element_type(element)?);
        if value_size > 0 {
            config = config.values(value_size / 4);
        }
        let keys = [slice(&a)?, slice(&b)?];
        let values = [slice_or_none(a_values.as_ref())?, slice_or_none(b_values.as_ref())?];
        let (merged, merged_values) = self.run(py, |gpu| {
            let [mut merged, mut merged_values] =
                [keys, values].map(|[a, b]: [&[u32]; 2]| vec![0; a.len() + b.len()]);
            gpu.prepare_merge(config, keys, values, [&mut merged, &mut merged_values])?.run()?;
            Ok((merged, merged_values))
        })?;
        Ok((merged.into_pyarray(py), merged_values.into_pyarray(py)))
    }

    /// Each row less the one before it, or each column.
    fn difference<'py>(
        &self,
        py: Python<'py>,
        words: Words<'py>,
        element: &str,
        columns: u32,
        along_rows: bool,
    ) -> PyResult<Array<'py>> {
        let config = DifferenceConfig::new(element_type(element)?).columns(columns);
        let config = if along_rows { config.along_rows() } else { config };
        let words = slice(&words)?;
        let result = self.run(py, |gpu| {
            let count = words.len() as u64 * 4 / config.row_size().max(1);
            let mut result = vec![0; config.result_size(count) as usize / 4];
            gpu.prepare_difference(config, words, &mut result)?.run()?;
            Ok(result)
        })?;
        Ok(result.into_pyarray(py))
    }

    /// Rows of `words_per_row` words by their indices.
    fn gather<'py>(
        &self,
        py: Python<'py>,
        words: Words<'py>,
        words_per_row: u32,
        indices: Words<'py>,
    ) -> PyResult<Array<'py>> {
        let config = GatherConfig::elements(words_per_row);
        let (words, indices) = (slice(&words)?, slice(&indices)?);
        let gathered = self.run(py, |gpu| gpu.gather_words(config, words, indices))?;
        Ok(gathered.into_pyarray(py))
    }
}

impl Device {
    fn select<'py>(
        &self,
        py: Python<'py>,
        config: SelectConfig,
        inputs: &SelectInputs<'_>,
        partition: bool,
        indices: bool,
    ) -> PyResult<(Array<'py>, Array<'py>, u32)> {
        let config = if partition { config.partition() } else { config };
        let config = if indices { config.indices() } else { config };
        let Selected { elements, indices, counts, .. } = self.run(py, |gpu| gpu.select(config, inputs))?;
        let count = counts.first().copied().unwrap_or(0);
        Ok((elements.into_pyarray(py), indices.into_pyarray(py), count))
    }
}
