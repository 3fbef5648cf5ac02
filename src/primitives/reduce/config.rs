//! Configuration of a reduce plan, and the memory of a recording.

use super::Reduce;
use super::modules::{Modules, RowShape};
use super::policy::ReducePolicy;
use crate::device::{AddressRange, BufferRange, Capabilities};
use crate::error::{Result, in_range, refuse_if};
use crate::primitives::arguments::{Arguments, size_if, size_of_rows};
use crate::primitives::packed::{Extent, PackedForm};
use crate::primitives::plan::{Buffers, configuration};
use crate::primitives::scan::{ScanOperator, UNPACKED_RESULTS};
use crate::primitives::{Count, ElementType, FloatOrder, Functions};

/// Configuration of a [`ReducePlan`](super::ReducePlan).
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::reduce::{ReduceConfig, ReduceRuns};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let values = [1.0f32, 1.5, 2.0, 2.5];
/// let sum = ReduceConfig::sum(ElementType::F32);
/// assert_eq!(gpu.reduce(sum, &values)?, [7.0]);
/// assert_eq!(gpu.reduce(sum.columns(2), &values)?, [3.0, 4.0]);
/// assert_eq!(gpu.reduce(sum.along_rows(2), &values)?, [2.5, 4.5]);
/// assert_eq!(gpu.reduce_to_index(ReduceConfig::argmax(ElementType::F32), &values)?, [3]);
/// assert_eq!(gpu.reduce_to_index(ReduceConfig::argminmax(ElementType::F32), &values)?, [0, 3]);
/// assert_eq!(gpu.reduce_segments(sum.runs(ReduceRuns::Offsets), &values, &[0, 1])?, [1.0, 6.0]);
/// let by_key = gpu.reduce_by_key(sum.runs(ReduceRuns::Keys32), &[7u32, 7, 8, 7], &values)?;
/// assert_eq!(by_key, (vec![7, 8, 7], vec![2.5, 2.0, 2.5]));
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReduceConfig {
    pub(super) operation: Operation,
    pub(super) columns: u32,
    pub(super) runs: Option<ReduceRuns>,
    has_unpacked_results: bool,
    /// The form of the source's elements, where the operation is on unpacked ones.
    packed_source: Option<PackedForm>,
    pub(super) has_indirect_count: bool,
    pub(super) policy: Option<ReducePolicy>,
}

/// Operator and elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    /// An operator of the library, on numbers.
    BuiltIn(ScanOperator, ElementType),
    /// The index of the minimum or maximum.
    Index(ScanOperator, ElementType),
    /// The indices of both.
    BothIndices(ElementType),
    /// An operator of the caller, which determines its elements.
    Custom(&'static Functions),
}

/// Runs of rows with a result each, and their representation in [`ReduceBuffers::segments`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReduceRuns {
    /// Segments by offsets: the first row of each, as u32, ascending. A segment ends where the next begins, and the last
    /// with the rows; of two that begin at the same row, the first is empty. Rows before the first are in no segment. The
    /// size of the range determines their number.
    Offsets,
    /// Segments by ranges: the first row of each in [`ReduceBuffers::segments`], and the row after its last in
    /// [`ReduceBuffers::segment_ends`], as u32. They may overlap, leave out rows, and be in any order; one that ends before it
    /// begins is empty.
    Ranges,
    /// Runs of bitwise equal 32-bit keys, one per row.
    Keys32,
    /// Runs of bitwise equal 64-bit keys, one per row.
    Keys64,
    /// Runs of equal keys of f32 in [`FloatOrder::Numpy`], one per row. The key of a run is its first.
    FloatKeys32,
    /// Runs of equal keys of f64, as [`Self::FloatKeys32`].
    FloatKeys64,
    /// Runs of bitwise equal 8-bit keys, one per row.
    Keys8,
    /// Runs of bitwise equal 16-bit keys, one per row.
    Keys16,
    /// Runs of equal keys of f16, as [`Self::FloatKeys32`].
    FloatKeys16,
    /// Runs of equal keys of bf16, as [`Self::FloatKeys32`].
    BrainKeys16,
    /// Segments of so many rows each, the last of what is left: the rows of a table whose elements are the rows of the
    /// reduction, in one column. Takes no memory.
    FixedSize(u32),
}

impl ReduceRuns {
    /// All representations in memory.
    pub const ALL: [Self; 10] = [
        Self::Offsets,
        Self::Keys32,
        Self::Keys64,
        Self::FloatKeys32,
        Self::FloatKeys64,
        Self::Keys8,
        Self::Keys16,
        Self::FloatKeys16,
        Self::BrainKeys16,
        Self::Ranges,
    ];

    /// Runs of equal keys of a type; of floats in the order of numpy.
    pub const fn keys(element: ElementType) -> Self {
        Self::keys_in(element, FloatOrder::Numpy)
    }

    /// Runs of keys of a type that are equal in an order.
    pub const fn keys_in(element: ElementType, order: FloatOrder) -> Self {
        match (element.size(), element.is_float() && matches!(order, FloatOrder::Numpy)) {
            (1, _) => Self::Keys8,
            (2, false) => Self::Keys16,
            (2, true) if matches!(element, ElementType::F16) => Self::FloatKeys16,
            (2, true) => Self::BrainKeys16,
            (4, false) => Self::Keys32,
            (4, true) => Self::FloatKeys32,
            (_, false) => Self::Keys64,
            (_, true) => Self::FloatKeys64,
        }
    }

    /// A type of the keys that are packed, which compares as they do.
    const fn packed_keys(self) -> Option<ElementType> {
        match self {
            Self::Keys8 => Some(ElementType::U8),
            Self::Keys16 => Some(ElementType::U16),
            Self::FloatKeys16 => Some(ElementType::F16),
            Self::BrainKeys16 => Some(ElementType::Bf16),
            _ => None,
        }
    }

    /// The same runs, of unpacked keys.
    const fn of_unpacked(self) -> Self {
        match self {
            Self::Keys8 | Self::Keys16 => Self::Keys32,
            Self::FloatKeys16 | Self::BrainKeys16 => Self::FloatKeys32,
            _ => self,
        }
    }

    /// The name that selects it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Offsets => "offsets",
            Self::Ranges => "ranges",
            Self::Keys32 => "keys32",
            Self::Keys64 => "keys64",
            Self::FloatKeys32 => "float_keys32",
            Self::FloatKeys64 => "float_keys64",
            Self::Keys8 => "keys8",
            Self::Keys16 => "keys16",
            Self::FloatKeys16 => "float_keys16",
            Self::BrainKeys16 => "brain_keys16",
            Self::FixedSize(_) => "rows",
        }
    }

    /// Bytes of a key; 0 without keys.
    pub const fn key_size(self) -> u64 {
        match self {
            Self::Offsets | Self::Ranges | Self::FixedSize(_) => 0,
            Self::Keys8 => 1,
            Self::Keys16 | Self::FloatKeys16 | Self::BrainKeys16 => 2,
            Self::Keys32 | Self::FloatKeys32 => 4,
            Self::Keys64 | Self::FloatKeys64 => 8,
        }
    }

    /// The specialization constant `KEY_NUMBERS`: floats are compared by value, all other keys in their bits.
    pub(super) fn key_numbers(self) -> u32 {
        let are_floats = matches!(self, Self::FloatKeys32 | Self::FloatKeys64);
        if are_floats { ElementType::F32 } else { ElementType::U32 }.key_numbers(FloatOrder::Numpy)
    }
}

impl ReduceConfig {
    /// Maximum number of columns.
    pub const MAX_COLUMNS: u32 = 64;

    /// A sum, in one column.
    pub const fn sum(element: ElementType) -> Self {
        Self::new(ScanOperator::Add, element)
    }

    /// A reduction by `operator`, in one column.
    pub const fn new(operator: ScanOperator, element: ElementType) -> Self {
        Self::with_operation(Operation::BuiltIn(operator, element))
    }

    /// The index of the minimum, u32: of the first of equals.
    pub const fn argmin(element: ElementType) -> Self {
        Self::with_operation(Operation::Index(ScanOperator::Min, element))
    }

    /// The index of the maximum, u32: of the first of equals.
    pub const fn argmax(element: ElementType) -> Self {
        Self::with_operation(Operation::Index(ScanOperator::Max, element))
    }

    /// The indices of the minimum and of the maximum, of the first of equals: all results of [`Self::argmin`], then all
    /// results of [`Self::argmax`], by one read of the elements. Along rows the maxima follow the minima of as many rows as
    /// the count has, of an indirect count on the device, not its maximum.
    pub const fn argminmax(element: ElementType) -> Self {
        Self::with_operation(Operation::BothIndices(element))
    }

    /// A reduction by functions of the caller, with their own element, in one column.
    pub const fn custom(functions: &'static Functions) -> Self {
        Self::with_operation(Operation::Custom(functions))
    }

    const fn with_operation(operation: Operation) -> Self {
        Self {
            operation,
            columns: 1,
            runs: None,
            has_unpacked_results: false,
            packed_source: None,
            has_indirect_count: false,
            policy: None,
        }
    }

    setters! {
        /// Sets the number of columns, 1 to 64. Columns are reduced independently.
        columns(columns: u32) => columns = columns;
        /// Reduces each segment or run independently; `runs` is their representation.
        runs(runs: ReduceRuns) => runs = Some(runs);
        /// Of elements of 8 and 16 bits: results of 32, u32, i32 or f32, as they are accumulated. By default they have the type of
        /// the elements: sums and products modulo 2^8 or 2^16, or, of floats, rounded once.
        unpacked_results() => has_unpacked_results = true;
        /// Supports indirect counts, [`Count::Indirect`].
        indirect_count() => has_indirect_count = true;
        /// Sets the policy; by default [`ReducePolicy::choose`] chooses it.
        policy(policy: ReducePolicy) => policy = Some(policy);
    }

    /// Reduces along the rows of a table, each of `length` elements, as `ufunc.reduce(table, axis=1)` and `argmin(axis=1)`
    /// do; an index is within its row. The count of a recording is the number of all elements.
    pub const fn along_rows(self, length: u32) -> Self {
        self.runs(ReduceRuns::FixedSize(length))
    }

    /// The element type; `None` for functions of the caller.
    pub const fn element_type(&self) -> Option<ElementType> {
        match self.operation {
            Operation::BuiltIn(_, element)
            | Operation::Index(_, element)
            | Operation::BothIndices(element) => Some(element),
            Operation::Custom(_) => None,
        }
    }

    /// Number of columns.
    pub const fn column_count(&self) -> u32 {
        self.columns
    }

    /// The representation of runs; `None` for a reduction of all rows.
    pub const fn reduced_runs(&self) -> Option<ReduceRuns> {
        self.runs
    }

    /// Whether results are indices.
    pub const fn is_index(&self) -> bool {
        self.index_count() > 0
    }

    /// Indices that are results of a column: 2 of [`Self::argminmax`].
    pub const fn index_count(&self) -> u32 {
        match self.operation {
            Operation::BothIndices(_) => 2,
            Operation::Index(..) => 1,
            Operation::BuiltIn(..) | Operation::Custom(_) => 0,
        }
    }

    /// Whether results depend on the order of operations: sums and products of floats.
    pub fn rounds(&self) -> bool {
        matches!(self.operation, Operation::BuiltIn(ScanOperator::Add | ScanOperator::Mul, element) if element.is_float())
    }

    /// Whether it reduces runs of equal keys to results that do not depend on the order of operations, one column each.
    pub(super) fn is_exact_by_key(&self) -> bool {
        let is_built_in = matches!(self.operation, Operation::BuiltIn(..));
        self.has_keys() && is_built_in && self.columns == 1 && !self.rounds()
    }

    /// Words of a key and a row.
    pub(super) fn key_and_row_words(&self) -> u32 {
        ((self.row_size() + self.runs.map_or(0, ReduceRuns::key_size)) / 4) as u32
    }

    /// Size of a row, bytes.
    pub const fn row_size(&self) -> u64 {
        let element_size = match self.operation {
            Operation::BuiltIn(_, element)
            | Operation::Index(_, element)
            | Operation::BothIndices(element) => element.size() as u64,
            Operation::Custom(functions) => functions.element_size(),
        };
        self.columns as u64 * element_size
    }

    /// Size of a row of the source, bytes: the size of a row, unless functions compute elements.
    pub const fn source_size(&self) -> u64 {
        match (self.functions(), self.packed_source) {
            (Some(functions), _) => functions.source_size(),
            (None, Some(form)) => self.columns as u64 * form.element.size() as u64,
            (None, None) => self.row_size(),
        }
    }

    /// The form of packed elements that kernels take as they are: all but the elements of runs of keys.
    pub(super) const fn packed_source(&self) -> Option<PackedForm> {
        match self.element_type() {
            Some(element) if element.is_packed() && !self.has_keys() => self.form(Some(element)),
            _ => self.packed_source,
        }
    }

    /// The form of packed results that kernels store as they are: the results of segments in memory.
    pub(super) const fn packed_results(&self) -> Option<PackedForm> {
        if self.has_segments() { self.form(self.result_type()) } else { None }
    }

    const fn has_segments(&self) -> bool {
        matches!(self.runs, Some(ReduceRuns::Offsets | ReduceRuns::Ranges))
    }

    /// The caller's functions.
    const fn functions(&self) -> Option<&'static Functions> {
        match self.operation {
            Operation::Custom(functions) => Some(functions),
            Operation::BuiltIn(..) | Operation::Index(..) | Operation::BothIndices(_) => None,
        }
    }

    /// The constant `OPERATOR` of functions that compute elements or results; 0 for pipelines without.
    pub(super) fn stages(&self, is_first: bool, is_last: bool) -> u32 {
        self.functions().map_or(0, |functions| functions.stages(is_first, is_last))
    }

    /// The type of the results; `None` for functions of the caller. Of indices that is u32.
    pub const fn result_type(&self) -> Option<ElementType> {
        match self.operation {
            Operation::BuiltIn(_, element) if self.has_unpacked_results => Some(element.unpacked()),
            Operation::BuiltIn(_, element) => match self.packed_source {
                Some(form) if self.has_segments() => Some(form.element),
                _ => Some(element),
            },
            Operation::Index(..) | Operation::BothIndices(_) => Some(ElementType::U32),
            Operation::Custom(_) => None,
        }
    }

    /// Size of a result, bytes: a row, or an index for each column, or two.
    pub const fn result_size(&self) -> u64 {
        match (self.index_count(), self.result_type(), self.functions()) {
            (0, Some(element), _) => self.columns as u64 * element.size() as u64,
            (0, None, Some(functions)) => functions.result_size(),
            (0, None, None) => self.row_size(),
            (indices, ..) => self.columns as u64 * indices as u64 * 4,
        }
    }

    /// Bytes of a row of partial results of indices beside them: elements, then indices.
    pub(super) const fn partial_sizes(&self) -> [u64; 2] {
        match self.index_count() {
            0 => [self.row_size(), 0],
            indices => [self.row_size() * indices as u64, self.result_size()],
        }
    }

    /// The form of rows, or of results, that are packed.
    const fn form(&self, element: Option<ElementType>) -> Option<PackedForm> {
        match self.operation {
            Operation::BuiltIn(operator, _) => PackedForm::by(element, Some(operator)),
            Operation::Index(..) | Operation::BothIndices(_) | Operation::Custom(_) => {
                PackedForm::by(element, None)
            }
        }
    }

    /// The same reduction of unpacked elements and keys.
    fn of_unpacked(mut self) -> Self {
        self.packed_source = self.packed_source();
        if let Operation::BuiltIn(_, element)
        | Operation::Index(_, element)
        | Operation::BothIndices(element) = &mut self.operation
        {
            *element = element.unpacked();
        }
        self.runs = self.runs.map(ReduceRuns::of_unpacked);
        self.has_unpacked_results &= self.packed_source.is_some();
        self
    }

    /// Whether it reduces runs of equal keys.
    pub(super) const fn has_keys(&self) -> bool {
        matches!(self.runs, Some(runs) if runs.key_size() > 0)
    }

    /// Checks that a device supports the configuration.
    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<()> {
        in_range("columns of a reduction", self.columns, 1..=Self::MAX_COLUMNS)?;
        let has_packed = matches!(self.operation, Operation::BuiltIn(_, element) if element.is_packed())
            || self.packed_source.is_some();
        refuse_if(self.has_unpacked_results && !has_packed, UNPACKED_RESULTS)?;
        if let Some(ReduceRuns::FixedSize(length)) = self.runs {
            // Kernels multiply by the bytes of a row.
            let row_size = self.row_size().max(self.source_size());
            in_range("the length of a row", length, 1..=u32::MAX / row_size as u32)?;
            let reason = "rows are reduced in one column; reduce the columns of each by segments";
            refuse_if(self.columns > 1, reason)?;
        }
        match self.operation {
            Operation::Custom(functions) => {
                let reason = "functions reduce single columns; let their element be the row";
                refuse_if(self.columns != 1, reason)?;
                functions.check_combined()
            }
            Operation::BuiltIn(operator, element) => operator.check(element, capabilities),
            Operation::Index(..) | Operation::BothIndices(_) => refuse_if(
                self.has_segments() || self.has_keys(),
                "the index of a minimum or maximum is of all rows or along rows; reduce segments by min or max",
            ),
        }
    }

    /// The kernels of a configuration that passes [`Self::check`].
    pub(super) fn modules(&self) -> Result<Modules> {
        Modules::new(self.operation, self.packed_source)
    }

    /// The same reduction of results of tiles, which are not packed.
    pub(super) const fn of_results(self) -> Self {
        Self { packed_source: None, ..self }
    }

    /// Layout of rows in kernels.
    pub(super) const fn row_shape(&self) -> RowShape {
        RowShape::new(&self.operation, self.columns, self.runs.is_some())
    }
}

configuration!(ReduceConfig, ReducePolicy of Reduce, |config| config.of_unpacked());

/// The memory of one recording.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct ReduceBuffers {
    /// The rows to reduce.
    pub source: AddressRange,
    /// The results: one, one for each segment, or for each run, of which there may be as many as rows.
    pub destination: AddressRange,
    /// Scratch of [`ReducePlan::scratch_requirements`](super::ReducePlan::scratch_requirements).
    pub scratch: BufferRange,
    /// Segments or keys, for a plan with [`ReduceConfig::runs`], in its representation.
    pub segments: AddressRange,
    /// The end of each segment, for a plan with [`ReduceRuns::Ranges`].
    pub segment_ends: AddressRange,
    /// The key of each run, for a plan with keys.
    pub unique_keys: AddressRange,
    /// The number of runs, u32, for a plan with keys.
    pub run_count: AddressRange,
    /// What functions of the caller read besides, if they do.
    pub functions_data: AddressRange,
}

impl ReduceBuffers {
    /// A reduction of all rows.
    pub const fn new(source: AddressRange, destination: AddressRange, scratch: BufferRange) -> Self {
        let none = AddressRange::new(0, 0);
        let (segments, segment_ends, unique_keys, run_count) = (none, none, none, none);
        let functions_data = none;
        Self { source, destination, scratch, segments, segment_ends, unique_keys, run_count, functions_data }
    }

    setters! {
        /// Sets the offsets of segments.
        segments(offsets: AddressRange) => segments = offsets;
        /// Sets the ranges of segments.
        ranges(begins: AddressRange, ends: AddressRange) => segments = begins, segment_ends = ends;
        /// Sets the keys of rows, and the results beside `destination`: the key of each run, and the number of runs.
        keys(keys: AddressRange, unique_keys: AddressRange, run_count: AddressRange) =>
            segments = keys, unique_keys = unique_keys, run_count = run_count;
        /// Sets the data of functions of the caller.
        functions_data(data: AddressRange) => functions_data = data;
    }
}

impl Buffers<Reduce> for ReduceBuffers {
    fn arguments(
        &mut self,
        config: &ReduceConfig,
        count: &mut Count,
        table: &mut Arguments<'_>,
    ) -> Result<()> {
        let max = count.max();
        let size = size_of_rows(max, config.source_size())?;
        let key_size = config.runs.map_or(0, ReduceRuns::key_size);
        let reason = "the plan takes no keys; make it with runs of keys";
        refuse_if(key_size == 0 && (self.unique_keys.size > 0 || self.run_count.size > 0), reason)?;
        let reason = "the plan takes no segments; make it with runs";
        refuse_if(!config.has_segments() && key_size == 0 && self.segments.size > 0, reason)?;
        let has_ranges = config.runs == Some(ReduceRuns::Ranges);
        let reason = "the plan takes no ends of segments; make it with ranges";
        refuse_if(!has_ranges && self.segment_ends.size > 0, reason)?;
        let keys_size = max.saturating_mul(key_size);
        let (segments_size, result_count) = match config.runs {
            None => (0, 1),
            Some(ReduceRuns::FixedSize(length)) => (0, max.div_ceil(length.into())),
            Some(_) if config.has_segments() => (self.segments.size / 4 * 4, self.segments.size / 4),
            Some(_) => (keys_size, max),
        };
        let results_size = result_count.saturating_mul(config.result_size());
        table.count("count", count)?;
        Functions::read_data(config.functions(), &mut self.functions_data, table)?;
        let extent = Extent::new(*count).rows(config.columns, 0);
        match config.packed_source() {
            Some(form) => table.as_is(form),
            None => table.up_to(config.form(config.element_type()), extent),
        }
        .read("source", &mut self.source, size)?;
        let keys = config.runs.and_then(ReduceRuns::packed_keys).and_then(PackedForm::numbers);
        table.up_to(keys, Extent::new(*count)).read("segments", &mut self.segments, segments_size)?;
        table.read("segment_ends", &mut self.segment_ends, size_if(has_ranges, segments_size))?;
        let form = config.form(config.result_type());
        let runs = Extent::written(self.run_count, max);
        match (config.runs, config.packed_results()) {
            (_, Some(form)) => table.as_is(form),
            (Some(ReduceRuns::FixedSize(length)), _) => table.up_to(form, Extent::new(*count).per(length)),
            (Some(_), _) if key_size > 0 => table.up_to(form, runs.rows(config.columns, 0)),
            _ => table.with_form(form),
        };
        table.write("destination", &mut self.destination, results_size)?;
        table.up_to(keys, runs).write("unique_keys", &mut self.unique_keys, keys_size)?;
        table.write("run_count", &mut self.run_count, size_if(key_size > 0, 4))?;
        table.scratch(&mut self.scratch)
    }
}
