//! Configuration of a scan plan, and the memory of a recording.

use super::Scan;
use super::operator::{Modules, RowShape, ScanOperator};
use super::policy::ScanPolicy;
use crate::device::{AddressRange, BufferRange, Capabilities, Recorder};
use crate::error::{Error, Result, in_range, refuse_if};
use crate::primitives::arguments::{Arguments, Role, size_of_rows};
use crate::primitives::packed::{Extent, PackedForm};
use crate::primitives::plan::{Buffers, configuration};
use crate::primitives::{Count, ElementType, Functions, Number, quad_alignment};

/// Inclusive or exclusive scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanKind {
    /// Each result includes the element itself.
    Inclusive,
    /// Each result excludes the element itself: the first is the operator's identity.
    Exclusive,
}

/// The refusal of an option of types of 8 and 16 bits.
pub(in crate::primitives) const UNPACKED_RESULTS: &str =
    "unpacked_results is an option of sums and other results of 8 and 16 bits";

/// Configuration of a [`ScanPlan`](super::ScanPlan).
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::scan::{ScanConfig, ScanOperator};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let mut offsets = [3u32, 1, 4, 1, 5];
/// gpu.scan(ScanConfig::exclusive(ElementType::U32), &mut offsets)?;
/// assert_eq!(offsets, [0, 3, 4, 8, 9]);
///
/// // The maximum from each element to the end.
/// let suffix = ScanConfig::inclusive(ElementType::F32).operator(ScanOperator::Max).reverse();
/// let mut heights = [2.5f32, 0.5, 1.5];
/// gpu.scan(suffix, &mut heights)?;
/// assert_eq!(heights, [2.5, 1.5, 1.5]);
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScanConfig {
    pub(super) kind: ScanKind,
    operation: Operation,
    columns: u32,
    pub(super) direction: Direction,
    pub(super) segments: Option<SegmentsBy>,
    pub(super) has_initial: bool,
    pub(super) has_indirect_count: bool,
    pub(super) is_out_of_place: bool,
    pub(super) has_unpacked_results: bool,
    /// The form of the elements in memory, where the operation is on unpacked ones.
    packed: Option<PackedForm>,
    pub(super) is_monotone: bool,
    pub(super) ranges: Ranges,
    pub(super) policy: Option<ScanPolicy>,
}

/// Operator and elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Operation {
    /// An operator of the library, on numbers.
    BuiltIn(ScanOperator, ElementType),
    /// An operator of the caller, which determines its elements.
    Custom(&'static Functions),
}

/// Alignment of source and destination in a plan's recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Ranges {
    /// Any address of the caller's ranges.
    AnyAddress,
    /// Aligned to 16 bytes, as arrays in scratch, with elements that fill whole quads.
    Scratch,
}

/// Direction of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    Forward,
    Reverse,
}

/// Representation of segments in [`ScanBuffers::segments`]. The first row always begins a segment, and each ends where the next
/// begins: a result stands in the place of its row, so that a row in two segments would have two results, and one in none no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentsBy {
    /// Head flags: a u32 per row, nonzero where a segment begins.
    Flags,
    /// A 32-bit key per row: a segment is a run of bitwise equal keys.
    Keys32,
    /// A 64-bit key per row.
    Keys64,
    /// Offsets: the rows at which segments begin, as u32, in any order; the size of [`ScanBuffers::segments`]
    /// determines their number. Duplicates, and offsets beyond the last row, have no effect.
    Offsets,
    /// Segments of so many rows each, the last of what is left: the rows of a table whose elements are the rows of the
    /// scan. Takes no memory.
    FixedSize(u32),
}

impl SegmentsBy {
    /// All representations in memory.
    pub const ALL: [Self; 4] = [Self::Flags, Self::Keys32, Self::Keys64, Self::Offsets];

    /// The name that selects it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flags => "flags",
            Self::Keys32 => "keys32",
            Self::Keys64 => "keys64",
            Self::Offsets => "offsets",
            Self::FixedSize(_) => "rows",
        }
    }

    /// Bytes per row; 0 for offsets and for segments of a number of rows.
    const fn size_per_row(self) -> u64 {
        match self {
            Self::Flags | Self::Keys32 => 4,
            Self::Keys64 => 8,
            Self::Offsets | Self::FixedSize(_) => 0,
        }
    }
}

impl ScanConfig {
    /// Maximum number of columns.
    pub const MAX_COLUMNS: u32 = 64;

    /// A scan of `kind`; by default sums in one column.
    pub const fn new(kind: ScanKind, element: ElementType) -> Self {
        Self::with_operation(kind, Operation::BuiltIn(ScanOperator::Add, element))
    }

    const fn with_operation(kind: ScanKind, operation: Operation) -> Self {
        Self {
            kind,
            operation,
            columns: 1,
            direction: Direction::Forward,
            segments: None,
            has_initial: false,
            has_indirect_count: false,
            is_out_of_place: false,
            has_unpacked_results: false,
            packed: None,
            is_monotone: false,
            ranges: Ranges::AnyAddress,
            policy: None,
        }
    }

    /// An inclusive scan; by default sums in one column. Sums of non-negative floats may decrease, unless they are
    /// [`Self::monotone`].
    pub const fn inclusive(element: ElementType) -> Self {
        Self::new(ScanKind::Inclusive, element)
    }

    /// An exclusive scan; by default sums in one column.
    pub const fn exclusive(element: ElementType) -> Self {
        Self::new(ScanKind::Exclusive, element)
    }

    /// A scan of `kind` by functions of the caller, with their own element, in one column.
    pub const fn custom(kind: ScanKind, functions: &'static Functions) -> Self {
        Self::with_operation(kind, Operation::Custom(functions))
    }

    /// Sets the operator; has no effect on a custom one.
    pub const fn operator(mut self, operator: ScanOperator) -> Self {
        if let Operation::BuiltIn(current, _) = &mut self.operation {
            *current = operator;
        }
        self
    }

    setters! {
        /// Sets the number of columns, 1 to 64. Columns are scanned independently.
        columns(columns: u32) => columns = columns;
        /// Scans from the last row to the first: suffix sums.
        reverse() => direction = Direction::Reverse;
        /// Scans each segment independently; `segments` is the representation of their beginnings.
        segments(segments: SegmentsBy) => segments = Some(segments);
        /// Starts from an initial value, given with every recording: see [`ScanBuffers::initial`].
        with_initial() => has_initial = true;
        /// Supports indirect counts, [`Count::Indirect`](crate::Count::Indirect).
        indirect_count() => has_indirect_count = true;
        /// Declares that source and destination never overlap, so that [`ScanPolicy::choose`] may choose the single pass. A
        /// recording in place is an error then.
        out_of_place() => is_out_of_place = true;
        /// Keeps sums of non-negative floats from decreasing, as a cumulative distribution needs it: rounding alone may make a
        /// result less than the one before it, by as much as the error bound. A recording continues with the running maxima of
        /// the results, in the direction and the segments of the scan, which are exact and in the same bound; it then reads and
        /// writes the results once more, or reads them twice. Of numbers that are negative the results are such maxima, too.
        monotone() => is_monotone = true;
        /// Of elements of 8 and 16 bits: results of 32, u32, i32 or f32, as they are accumulated, out of place. By default they
        /// have the type of the elements: sums and products modulo 2^8 or 2^16, or, of floats, rounded once.
        unpacked_results() => has_unpacked_results = true;
        /// Sets the policy; by default [`ScanPolicy::choose`] chooses it.
        policy(policy: ScanPolicy) => policy = Some(policy);
    }

    /// Scans along the rows of a table, each of `length` elements, as `ufunc.accumulate(table, axis=1)` does. The count of
    /// a recording is the number of all elements. Pipelines are for one length: each other length compiles its own.
    pub const fn along_rows(self, length: u32) -> Self {
        self.segments(SegmentsBy::FixedSize(length))
    }

    /// The same scan, whose sums may decrease.
    pub(crate) const fn without_order(mut self) -> Self {
        self.is_monotone = false;
        self
    }

    /// The running maxima of the results, in place.
    pub(crate) const fn maxima_in_place(mut self) -> Self {
        self.kind = ScanKind::Inclusive;
        (self.has_initial, self.is_out_of_place, self.policy) = (false, false, None);
        self.without_order().operator(ScanOperator::Max)
    }

    /// Scans arrays in scratch, which are aligned to 16 bytes, and of whole quads.
    pub(in crate::primitives) const fn in_scratch(mut self) -> Self {
        self.ranges = Ranges::Scratch;
        self
    }

    /// The element type; `None` for functions of the caller.
    pub const fn element_type(&self) -> Option<ElementType> {
        match self.operation {
            Operation::BuiltIn(_, element) => Some(element),
            Operation::Custom(_) => None,
        }
    }

    /// Number of columns.
    pub const fn column_count(&self) -> u32 {
        self.columns
    }

    /// Inclusive or exclusive.
    pub const fn kind(&self) -> ScanKind {
        self.kind
    }

    /// Whether it scans from the last row to the first.
    pub const fn is_reverse(&self) -> bool {
        matches!(self.direction, Direction::Reverse)
    }

    /// The representation of segments; `None` without segments.
    pub const fn segments_by(&self) -> Option<SegmentsBy> {
        self.segments
    }

    /// Whether results do not decrease: see [`Self::monotone`].
    pub const fn is_monotone(&self) -> bool {
        self.is_monotone
    }

    /// The built-in operator; `None` for a custom one.
    pub const fn built_in_operator(&self) -> Option<ScanOperator> {
        match self.operation {
            Operation::BuiltIn(operator, _) => Some(operator),
            Operation::Custom(_) => None,
        }
    }

    /// The same scan, inclusive.
    #[cfg(feature = "mpi")]
    pub(crate) const fn as_inclusive(mut self) -> Self {
        self.kind = ScanKind::Inclusive;
        self
    }

    /// The scan that combines results of this one.
    #[cfg(feature = "mpi")]
    pub(crate) const fn combining(mut self) -> Self {
        (self.direction, self.is_out_of_place, self.policy) = (Direction::Forward, false, None);
        self.as_inclusive().unsegmented()
    }

    /// The same scan without segments and initial value.
    #[cfg(feature = "headless")]
    pub(crate) const fn unsegmented(mut self) -> Self {
        (self.segments, self.has_initial) = (None, false);
        self
    }

    /// Size of a row, bytes.
    pub const fn row_size(&self) -> u64 {
        let element_size = match self.operation {
            Operation::BuiltIn(_, element) => element.size() as u64,
            Operation::Custom(functions) => functions.element_size(),
        };
        self.columns as u64 * element_size
    }

    /// Words of a row in kernels.
    const fn row_words(&self) -> u32 {
        match self.operation {
            Operation::BuiltIn(_, element) => self.columns * element.words(),
            Operation::Custom(functions) => functions.element_words(),
        }
    }

    /// Size of a row of the source, bytes: the size of a row, unless functions compute elements.
    pub const fn source_size(&self) -> u64 {
        match (self.operation, self.packed) {
            (Operation::Custom(functions), _) => functions.source_size(),
            (Operation::BuiltIn(..), Some(form)) => form.element.size() as u64,
            (Operation::BuiltIn(..), None) => self.row_size(),
        }
    }

    /// The caller's functions.
    const fn functions(&self) -> Option<&'static Functions> {
        match self.operation {
            Operation::BuiltIn(..) => None,
            Operation::Custom(functions) => Some(functions),
        }
    }

    /// The constant of functions that compute elements or results, for pipelines of the elements.
    pub(crate) fn stages(&self) -> Option<(&'static str, u32)> {
        let stages = self.functions().map_or(0, |functions| functions.stages(true, true));
        (stages > 0).then_some(("OPERATOR", stages))
    }

    /// The type of the results; `None` for functions of the caller.
    pub const fn result_type(&self) -> Option<ElementType> {
        match self.element_type() {
            Some(element) if self.has_unpacked_results => Some(element.unpacked()),
            element => element,
        }
    }

    /// Size of a row of results, bytes.
    pub const fn result_size(&self) -> u64 {
        match (self.result_type(), self.functions()) {
            (Some(_), _) if self.packed.is_some() && !self.has_unpacked_results => self.source_size(),
            (Some(element), _) => self.columns as u64 * element.size() as u64,
            (None, Some(functions)) => functions.result_size(),
            (None, None) => self.row_size(),
        }
    }

    /// The form of elements, or of results, that are packed.
    const fn form(&self, element: Option<ElementType>) -> Option<PackedForm> {
        PackedForm::by(element, self.built_in_operator())
    }

    /// The form of packed elements that kernels take as they are, and write so unless results are unpacked: the elements
    /// of single columns without segments and initial values, not monotone, by the algorithms that policies choose.
    pub(super) fn packed(&self) -> Option<PackedForm> {
        let is_plain = self.columns == 1 && self.segments.is_none() && !self.has_initial && !self.is_monotone;
        let has_kernel = self.policy.is_none_or(|policy| policy.takes_packed());
        self.packed.or(self.form(self.element_type()).filter(|_| is_plain && has_kernel))
    }

    /// The alignments of source and destination where kernels access quads.
    pub(super) fn quad_alignments(&self) -> [u64; 2] {
        let packed = self.packed();
        [packed, packed.filter(|_| !self.has_unpacked_results)].map(quad_alignment)
    }

    /// The same scan of unpacked elements, of packed ones in memory where kernels take those.
    pub(super) fn of_unpacked(self) -> Self {
        let (packed, has_unpacked_results) = (self.packed(), self.has_unpacked_results);
        let config = self.of_words();
        match packed {
            Some(_) => Self { packed, has_unpacked_results, ..config },
            None => config,
        }
    }

    /// The same scan of sums, which are not packed.
    pub(super) const fn of_sums(self) -> Self {
        Self { packed: None, ..self }
    }

    /// The same scan of unpacked elements.
    pub(crate) const fn of_words(mut self) -> Self {
        if let Operation::BuiltIn(_, element) = &mut self.operation {
            *element = element.unpacked();
        }
        self.has_unpacked_results = false;
        self
    }

    /// Checks that a device supports the configuration.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if no device does, [`Error::MissingFeature`] if this one lacks a feature.
    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<()> {
        in_range("columns of a scan", self.columns, 1..=Self::MAX_COLUMNS)?;
        if let Some(SegmentsBy::FixedSize(length)) = self.segments {
            in_range("the length of a segment", length, 1..=u32::MAX)?;
        }
        let is_packed = self.packed.is_some() || self.element_type().is_some_and(ElementType::is_packed);
        refuse_if(self.has_unpacked_results && !is_packed, UNPACKED_RESULTS)?;
        let is_sum_of_floats = self.rounds() && self.built_in_operator() == Some(ScanOperator::Add);
        refuse_if(self.is_monotone && !is_sum_of_floats, "monotone is an option of sums of floats")?;
        match self.operation {
            Operation::Custom(functions) => {
                refuse_if(self.columns != 1, "functions scan single columns; let their element be the row")?;
                functions.check_combined()
            }
            Operation::BuiltIn(operator, element) => operator.check(element, capabilities),
        }
    }

    /// The kernels of a configuration that passes [`Self::check`].
    pub(super) fn modules(&self) -> Result<Modules> {
        let is_segmented = self.segments.is_some();
        match self.operation {
            Operation::BuiltIn(operator, element) => {
                Ok(Modules::new(element, operator, self.columns, is_segmented).of_packed(self))
            }
            Operation::Custom(functions) => Modules::custom(functions, is_segmented),
        }
    }

    /// Whether it is a forward scan without segments, initial value or indirect counts.
    pub(super) fn is_plain(&self) -> bool {
        self.direction == Direction::Forward && self.is_plain_either_way()
    }

    /// Likewise, forward or reverse.
    pub(super) fn is_plain_either_way(&self) -> bool {
        self.segments.is_none() && !self.has_initial && !self.has_indirect_count
    }

    /// Whether results depend on the order of operations: sums and products of floats.
    pub fn rounds(&self) -> bool {
        matches!(self.operation, Operation::BuiltIn(ScanOperator::Add | ScanOperator::Mul, element) if element.is_float())
    }

    /// Whether it is the sum of u32, as in the seed.
    pub(super) fn is_sum_of_u32(&self) -> bool {
        self.operation == Operation::BuiltIn(ScanOperator::Add, ElementType::U32)
    }

    /// Whether the single pass supports it.
    pub(super) fn is_chainable(&self) -> bool {
        matches!(self.operation, Operation::BuiltIn(..)) && self.columns == 1 && self.segments.is_none()
    }

    /// Layout of a row in kernels.
    pub(super) const fn row_shape(&self) -> RowShape {
        match self.operation {
            Operation::BuiltIn(_, element) => {
                RowShape::new(element.words(), self.columns, self.segments.is_some())
            }
            Operation::Custom(functions) => RowShape::whole(functions.element_words()),
        }
    }
}

/// Initial value: a row that precedes the first row, or, with segments, the first row of each segment.
#[expect(clippy::large_enum_variant, reason = "a recording does not allocate")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum InitialValue {
    /// The operator's identity.
    #[default]
    Identity,
    /// A row given at recording.
    Host(InitialRow),
    /// A row in device memory, such as the last row of another scan's results.
    Device(AddressRange),
}

/// A row of at most 512 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InitialRow {
    words: [u32; Self::MAX_WORDS],
    len: usize,
    element: ElementType,
}

impl InitialRow {
    const MAX_WORDS: usize = 128;

    pub(super) fn words(&self) -> &[u32] {
        &self.words[..self.len]
    }
}

impl InitialValue {
    /// A row of `values`, of the plan's element type, or u32 for its words; a type of 8 or 16 bits has the words of the
    /// [unpacked](ElementType::unpacked) one.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if they exceed 512 bytes, the largest row.
    pub fn host<N: Number>(values: &[N]) -> Result<Self> {
        Self::of_bytes(N::TYPE, bytemuck::cast_slice(values))
    }

    /// As [`Self::host`], of numbers of `element` as bytes in memory order.
    ///
    /// # Errors
    /// Errors of [`Self::host`]; [`Error::Unsupported`] if the last number is not whole.
    pub fn of_bytes(element: ElementType, numbers: &[u8]) -> Result<Self> {
        let reason = "an initial value is whole numbers of its type";
        refuse_if(!numbers.len().is_multiple_of(element.size()), reason)?;
        let len = numbers.len() / element.size() * element.words() as usize;
        refuse_if(len > InitialRow::MAX_WORDS, "an initial value is one row, of at most 512 bytes")?;
        let mut words = [0; InitialRow::MAX_WORDS];
        words.iter_mut().zip(element.unpacked_words(numbers)).for_each(|(to, word)| *to = word);
        Ok(Self::Host(InitialRow { words, len, element }))
    }

    /// Checks that the configuration takes it, and that on the host it is a row.
    fn check(&self, config: &ScanConfig) -> Result<()> {
        let is_given = *self != Self::Identity;
        refuse_if(is_given && !config.has_initial, "the plan takes no initial value; make it with one")?;
        let reason = "the plan begins with an initial value; give the recording one";
        refuse_if(config.has_initial && !is_given, reason)?;
        let Self::Host(row) = self else { return Ok(()) };
        if let Some(expected) = config.element_type()
            && ![expected, ElementType::U32].contains(&row.element)
            && row.element.unpacked() != expected
        {
            return Err(Error::ElementMismatch { expected, got: row.element });
        }
        match (size_of_val(row.words()) as u64, u64::from(config.row_words()) * 4) {
            (got, needed) if got < needed => Err(Error::RangeTooSmall { what: "initial", needed, got }),
            (got, needed) => refuse_if(got > needed, "an initial value is one row, and no more"),
        }
    }
}

configuration!(ScanConfig, ScanPolicy of Scan, |config| config.of_unpacked());

/// The memory of one recording.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct ScanBuffers {
    /// The rows to scan.
    pub source: AddressRange,
    /// The results; the same range as `source` to scan in place.
    pub destination: AddressRange,
    /// Scratch of [`ScanPlan::scratch_requirements`](super::ScanPlan::scratch_requirements).
    pub scratch: BufferRange,
    /// Initial value, for a plan with [`ScanConfig::with_initial`].
    pub initial: InitialValue,
    /// Segments, for a plan with [`ScanConfig::segments`], in its representation. The size determines the number of
    /// offsets; flags and keys may exceed the rows. Empty for segments of a fixed size.
    pub segments: AddressRange,
    /// What functions of the caller read besides, if they do.
    pub functions_data: AddressRange,
}

impl ScanBuffers {
    /// A scan out of place.
    pub const fn new(source: AddressRange, destination: AddressRange, scratch: BufferRange) -> Self {
        let (initial, none) = (InitialValue::Identity, AddressRange::new(0, 0));
        Self { source, destination, scratch, initial, segments: none, functions_data: none }
    }

    /// A scan in place.
    pub const fn in_place(elements: AddressRange, scratch: BufferRange) -> Self {
        Self::new(elements, elements, scratch)
    }

    setters! {
        /// Sets the initial value.
        initial(initial: InitialValue) => initial = initial;
        /// Sets the segments.
        segments(segments: AddressRange) => segments = segments;
        /// Sets the data of functions of the caller.
        functions_data(data: AddressRange) => functions_data = data;
    }

    /// The initial value on the device: a row of the host is at `offset` of the scratch, where [`Self::write_initial`] writes
    /// it.
    pub(super) fn initial_row(&self, offset: u64, row_size: u64) -> AddressRange {
        match self.initial {
            InitialValue::Identity => AddressRange::NONE,
            InitialValue::Host(_) => self.scratch.slice(offset, row_size).addresses(),
            InitialValue::Device(range) => AddressRange::new(range.address, row_size),
        }
    }

    /// Writes an initial value of the host. Returns whether there is one, which a barrier follows.
    pub(super) fn write_initial(&self, recorder: &mut Recorder<'_>, offset: u64, row_size: u64) -> bool {
        let InitialValue::Host(row) = &self.initial else { return false };
        recorder.update(self.scratch.slice(offset, row_size), row.words());
        true
    }
}

impl Buffers<Scan> for ScanBuffers {
    fn arguments(&mut self, config: &ScanConfig, count: &mut Count, table: &mut Arguments<'_>) -> Result<()> {
        let (max, row_size) = (count.max(), config.row_size());
        let size = size_of_rows(max, config.source_size())?;
        let is_in_place = self.source.address == self.destination.address && self.source.address > 0;
        let reason = "the plan was made for scans out of place; make one without out_of_place";
        refuse_if(config.is_out_of_place && is_in_place, reason)?;
        let reason =
            "a scan with transform or store has other results than elements; give it another destination";
        refuse_if(config.stages().is_some() && is_in_place, reason)?;
        self.initial.check(config)?;
        let segments_size = match config.segments {
            None | Some(SegmentsBy::FixedSize(_)) => {
                let reason =
                    "the plan takes no segments in memory; make it with segments by flags, keys or offsets";
                refuse_if(self.segments.size > 0, reason)?;
                0
            }
            Some(SegmentsBy::Offsets) => self.segments.size / 4 * 4,
            Some(by) => max.saturating_mul(by.size_per_row()),
        };
        table.count("count", count)?;
        table.read("segments", &mut self.segments, segments_size)?;
        if let InitialValue::Device(range) = &mut self.initial {
            table.with_form(config.form(config.element_type())).read("initial", range, row_size)?;
        }
        Functions::read_data(config.functions(), &mut self.functions_data, table)?;
        let extent = Extent::new(*count).rows(config.columns, 0);
        let packed = config.packed();
        match packed {
            Some(form) => table.as_is(form),
            None => table.up_to(config.form(config.element_type()), extent),
        };
        table.read("source", &mut self.source, size)?;
        let is_out_of_place = config.is_out_of_place || config.stages().is_some();
        let destination = if is_out_of_place { Role::Write } else { Role::WriteInPlace };
        let size = size_of_rows(max, config.result_size())?;
        match packed.filter(|_| !config.has_unpacked_results) {
            Some(form) => table.as_is(form),
            None => table.up_to(config.form(config.result_type()), extent),
        };
        table.addresses("destination", destination, &mut self.destination, size)?;
        table.scratch(&mut self.scratch)
    }

    fn unknown(config: &ScanConfig) -> Self {
        let initial = if config.has_initial {
            InitialValue::Device(AddressRange::NONE)
        } else {
            InitialValue::Identity
        };
        Self::default().initial(initial)
    }
}
