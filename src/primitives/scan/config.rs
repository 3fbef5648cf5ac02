//! What a caller says to a scan: the configuration of a plan, and the memory of a recording.

use super::custom::CustomOperator;
use super::operator::{Modules, RowShape, ScanOperator};
use super::policy::ScanPolicy;
use crate::device::{AddressRange, BufferRange, Capabilities};
use crate::error::{Error, Result};
use crate::primitives::{Count, ElementType, Number, ScratchRequirements, check_apart};

/// Whether an element's result counts the element itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanKind {
    /// It does.
    Inclusive,
    /// It does not: the first result is the operator's identity.
    Exclusive,
}

/// What a [`ScanPlan`](super::ScanPlan) is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScanConfig {
    pub(super) kind: ScanKind,
    element: ElementType,
    operator: ScanOperator,
    custom: Option<&'static CustomOperator>,
    columns: u32,
    pub(super) direction: Direction,
    pub(super) segments: Option<SegmentsBy>,
    pub(super) has_initial: bool,
    pub(super) counts_on_device: bool,
    pub(super) is_out_of_place: bool,
    pub(super) policy: Option<ScanPolicy>,
}

/// From which end a scan begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    Forward,
    Reverse,
}

/// What says where segments begin: the meaning of [`ScanBuffers::segments`]. The first row begins one in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SegmentsBy {
    /// A u32 for each row: not 0 where a segment begins.
    Flags,
    /// A key of 32 bits for each row: a segment is a run of equal ones, bit for bit.
    Keys32,
    /// A key of 64 bits for each row.
    Keys64,
    /// The rows at which segments begin, as u32, in any order, as many as [`ScanBuffers::segments`] has room for. Equal
    /// ones are one; those beyond the last row are none.
    Offsets,
}

impl SegmentsBy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Flags, Self::Keys32, Self::Keys64, Self::Offsets];

    /// The name that stands for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flags => "flags",
            Self::Keys32 => "keys32",
            Self::Keys64 => "keys64",
            Self::Offsets => "offsets",
        }
    }

    /// Bytes that say it of one row, where there are some for each.
    const fn size_per_row(self) -> u64 {
        match self {
            Self::Flags | Self::Keys32 => 4,
            Self::Keys64 => 8,
            Self::Offsets => 0,
        }
    }
}

impl ScanConfig {
    /// The most columns that a row may have.
    pub const MAX_COLUMNS: u32 = 16;

    /// A scan of `kind`: the sums of single u32, until something else is said.
    pub const fn new(kind: ScanKind) -> Self {
        let (element, operator, custom) = (ElementType::U32, ScanOperator::Add, None);
        Self {
            kind,
            element,
            operator,
            custom,
            columns: 1,
            direction: Direction::Forward,
            segments: None,
            has_initial: false,
            counts_on_device: false,
            is_out_of_place: false,
            policy: None,
        }
    }

    /// An inclusive scan: the sums of single u32, until something else is said.
    pub const fn inclusive() -> Self {
        Self::new(ScanKind::Inclusive)
    }

    /// An exclusive scan: the sums of single u32, until something else is said.
    pub const fn exclusive() -> Self {
        Self::new(ScanKind::Exclusive)
    }

    /// Over numbers of this type.
    pub const fn element(mut self, element: ElementType) -> Self {
        self.element = element;
        self
    }

    /// By this operator.
    pub const fn operator(mut self, operator: ScanOperator) -> Self {
        self.operator = operator;
        self
    }

    /// By an operator of the caller's own, on elements of its own, in single columns: in place of what
    /// [`Self::element`] and [`Self::operator`] say.
    pub const fn custom(mut self, operator: &'static CustomOperator) -> Self {
        self.custom = Some(operator);
        self
    }

    /// Over rows of `columns` elements, 1 to 16, each column for itself.
    pub const fn columns(mut self, columns: u32) -> Self {
        self.columns = columns;
        self
    }

    /// From the last row to the first: what a scan of the rows in reverse order gives, in reverse order.
    pub const fn reverse(mut self) -> Self {
        self.direction = Direction::Reverse;
        self
    }

    /// Each segment for itself, said by `segments` where they begin.
    pub const fn segments(mut self, segments: SegmentsBy) -> Self {
        self.segments = Some(segments);
        self
    }

    /// From an initial value that every recording brings: see [`ScanBuffers::initial`].
    pub const fn with_initial(mut self) -> Self {
        self.has_initial = true;
        self
    }

    /// For counts that may be [`Count::Device`](crate::Count::Device).
    pub const fn counts_on_device(mut self) -> Self {
        self.counts_on_device = true;
        self
    }

    /// With the promise that source and destination never overlap, which lets [`ScanPolicy::choose`] take the single
    /// pass. A recording in place is refused then.
    pub const fn out_of_place(mut self) -> Self {
        self.is_out_of_place = true;
        self
    }

    /// With this policy, not the one that [`ScanPolicy::choose`] would take.
    pub const fn policy(mut self, policy: ScanPolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// The type of an element; none of one of the caller's own.
    pub const fn element_type(&self) -> Option<ElementType> {
        match self.custom {
            Some(_) => None,
            None => Some(self.element),
        }
    }

    /// Elements of a row.
    pub const fn column_count(&self) -> u32 {
        self.columns
    }

    /// Bytes of a row.
    pub const fn row_size(&self) -> u64 {
        let element_words = match self.custom {
            Some(operator) => operator.element_words(),
            None => self.element.words(),
        };
        self.columns as u64 * element_words as u64 * 4
    }

    /// Whether there can be such a scan on a device.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if there is none anywhere, [`Error::MissingFeature`] if it is the device that lacks
    /// something.
    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<()> {
        if !(1..=Self::MAX_COLUMNS).contains(&self.columns) {
            return Err(Error::Unsupported {
                reason: "a scan takes 1 to 16 columns; scan the table in parts",
            });
        }
        if let Some(operator) = self.custom {
            if self.columns != 1 {
                return Err(Error::Unsupported {
                    reason: "a custom operator scans single columns; let its element be the row",
                });
            }
            return operator.check(self.segments.is_some());
        }
        if !self.operator.takes(self.element) {
            return Err(Error::Unsupported {
                reason: "and, or and xor are of whole numbers; scan the bits of floats as u32 or u64",
            });
        }
        if self.operator.needs_float64(self.element) && !capabilities.enabled.shader_float64 {
            return Err(Error::MissingFeature {
                device: capabilities.identity.name.clone(),
                missing: "the feature shaderFloat64, which sums and products of f64 need".into(),
            });
        }
        Ok(())
    }

    /// The kernels of a scan that passes [`Self::check`].
    pub(super) fn modules(&self) -> Modules {
        match self.custom {
            Some(operator) => Modules::custom(operator, self.segments.is_some()),
            None => Modules::new(self.element, self.operator, self.columns, self.segments.is_some()),
        }
    }

    /// Whether it asks for no more than one scan of all rows, from the first on.
    pub(super) fn is_plain(&self) -> bool {
        self.direction == Direction::Forward && self.is_plain_either_way()
    }

    /// The same from either end.
    pub(super) fn is_plain_either_way(&self) -> bool {
        self.segments.is_none() && !self.has_initial && !self.counts_on_device
    }

    /// Whether results depend on the order in which elements are combined: those of sums and products of floats.
    pub fn rounds(&self) -> bool {
        let is_float = self.element.is_float();
        self.custom.is_none() && is_float && matches!(self.operator, ScanOperator::Add | ScanOperator::Mul)
    }

    /// Whether it is what the source documents scan.
    pub(super) fn is_sum_of_u32(&self) -> bool {
        self.custom.is_none() && (self.element, self.operator) == (ElementType::U32, ScanOperator::Add)
    }

    /// Whether there is a single pass for it.
    pub(super) fn is_chainable(&self) -> bool {
        self.custom.is_none() && self.columns == 1 && self.segments.is_none()
    }

    /// How kernels see a row.
    pub(super) const fn row_shape(&self) -> RowShape {
        match self.custom {
            Some(operator) => RowShape::whole(operator.element_words()),
            None => RowShape::new(self.element.words(), self.columns, self.segments.is_some()),
        }
    }
}

/// What comes before the first row, or with segments before the first row of each: a row, as it lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum InitialValue {
    /// Nothing.
    #[default]
    Identity,
    /// Words that are known while recording.
    Host(InitialRow),
    /// A row in memory of the device, such as the last row of another scan's results.
    Device(AddressRange),
}

/// A row of at most 128 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InitialRow {
    words: [u32; Self::MAX_WORDS],
    len: usize,
    element: ElementType,
}

impl InitialRow {
    const MAX_WORDS: usize = 32;

    pub(super) fn words(&self) -> &[u32] {
        &self.words[..self.len]
    }
}

impl InitialValue {
    /// The row of `values`, which are of the plan's type; u32 stand for the words of any.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if they are more than the 128 bytes of the widest row.
    pub fn host<N: Number>(values: &[N]) -> Result<Self> {
        let given: &[u32] = bytemuck::cast_slice(values);
        if given.len() > InitialRow::MAX_WORDS {
            return Err(Error::Unsupported { reason: "an initial value is one row, of at most 128 bytes" });
        }
        let mut words = [0; InitialRow::MAX_WORDS];
        words[..given.len()].copy_from_slice(given);
        Ok(Self::Host(InitialRow { words, len: given.len(), element: N::TYPE }))
    }

    /// Whether it is a row of a configuration.
    fn check(&self, config: &ScanConfig) -> Result<()> {
        let row_size = config.row_size();
        if let (Self::Host(row), Some(expected)) = (self, config.element_type())
            && ![expected, ElementType::U32].contains(&row.element)
        {
            return Err(Error::ElementMismatch { expected, got: row.element });
        }
        let got = match self {
            Self::Identity => return Ok(()),
            Self::Host(row) => size_of_val(row.words()) as u64,
            // Kernels take a null pointer for none.
            Self::Device(range) if range.address == 0 => 0,
            Self::Device(range) => range.aligned("the initial value", 4)?.size,
        };
        if got < row_size {
            return Err(Error::RangeTooSmall { what: "the initial value", needed: row_size, got });
        }
        if got > row_size && matches!(self, Self::Host(_)) {
            return Err(Error::Unsupported { reason: "an initial value is one row, and no more" });
        }
        Ok(())
    }
}

/// The memory of one recording.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ScanBuffers {
    /// What is scanned.
    pub source: AddressRange,
    /// Where the sums go; the same range as `source` to scan in place.
    pub destination: AddressRange,
    /// As [`ScanPlan::scratch_requirements`](super::ScanPlan::scratch_requirements) says.
    pub scratch: BufferRange,
    /// For a plan with [`ScanConfig::with_initial`].
    pub initial: InitialValue,
    /// For a plan with [`ScanConfig::segments`], which says what is in it. Of offsets there are as many as the size has
    /// room for; of flags and keys there may be more than the rows need.
    pub segments: AddressRange,
}

impl ScanBuffers {
    /// A scan from one range to another.
    pub const fn new(source: AddressRange, destination: AddressRange, scratch: BufferRange) -> Self {
        let (initial, segments) = (InitialValue::Identity, AddressRange::new(0, 0));
        Self { source, destination, scratch, initial, segments }
    }

    /// A scan over `elements` where they are.
    pub const fn in_place(elements: AddressRange, scratch: BufferRange) -> Self {
        Self::new(elements, elements, scratch)
    }

    /// The same from an initial value.
    pub const fn initial(mut self, initial: InitialValue) -> Self {
        self.initial = initial;
        self
    }

    /// The same in segments.
    pub const fn segments(mut self, segments: AddressRange) -> Self {
        self.segments = segments;
        self
    }

    /// The same memory, cut to what `count` rows take, if it will do.
    pub(super) fn checked(
        &self,
        config: &ScanConfig,
        count: Count,
        scratch: ScratchRequirements,
    ) -> Result<Self> {
        let on_device = count.checked_on_device("the count")?;
        let count = count.max();
        let row_size = config.row_size();
        let size = count.checked_mul(row_size).ok_or(Error::TooManyElements {
            count,
            max: u64::MAX / row_size,
            what: "64-bit sizes in bytes",
        })?;
        let source = self.source.prefix("source", size)?.aligned("source", 4)?;
        let destination = self.destination.prefix("destination", size)?.aligned("destination", 4)?;
        if source != destination && source.overlaps(&destination) {
            return Err(Error::Overlap { first: "source", second: "destination" });
        }
        let scratch = scratch.check(self.scratch)?;
        match (config.has_initial, self.initial != InitialValue::Identity) {
            (false, true) => {
                return Err(Error::Unsupported {
                    reason: "the plan takes no initial value; make it with one",
                });
            }
            (true, false) => {
                return Err(Error::Unsupported {
                    reason: "the plan begins with an initial value; give the recording one",
                });
            }
            (false, false) | (true, true) => {}
        }
        self.initial.check(config)?;
        let segments = match config.segments {
            None if self.segments.size > 0 => {
                return Err(Error::Unsupported {
                    reason: "the plan takes no segments; make it with segments",
                });
            }
            None => AddressRange::default(),
            Some(SegmentsBy::Offsets) => self.segments.prefix("segments", self.segments.size / 4 * 4)?,
            Some(by) => self.segments.prefix("segments", count.saturating_mul(by.size_per_row()))?,
        }
        .aligned("segments", 4)?;
        let initial = match self.initial {
            InitialValue::Device(range) => range.prefix("the initial value", row_size)?,
            InitialValue::Identity | InitialValue::Host(_) => AddressRange::default(),
        };
        let ranges = [
            ("the count", on_device),
            ("segments", segments),
            ("the initial value", initial),
            ("source", source),
            ("destination", destination),
        ];
        for range in &ranges[..3] {
            check_apart(*range, &ranges[4..])?;
        }
        for range in ranges {
            check_apart(range, &[("scratch", scratch.addresses())])?;
        }
        Ok(Self { source, destination, scratch, initial: self.initial, segments })
    }
}
