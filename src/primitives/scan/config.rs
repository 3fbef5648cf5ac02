//! What a caller says to a scan: the configuration of a plan, and the memory of a recording.

use super::custom::CustomOperator;
use super::operator::{Modules, RowShape, ScanOperator};
use super::policy::ScanPolicy;
use crate::error::{Error, Result};
use crate::primitives::{ElementType, ScratchRequirements};
use crate::vk::{AddressRange, BufferRange, Capabilities};

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
    pub(super) is_out_of_place: bool,
    pub(super) policy: Option<ScanPolicy>,
}

impl ScanConfig {
    /// The most columns that a row may have.
    pub const MAX_COLUMNS: u32 = 16;

    /// A scan of `kind`: the sums of single u32, until something else is said.
    pub const fn new(kind: ScanKind) -> Self {
        let (element, operator, custom) = (ElementType::U32, ScanOperator::Add, None);
        Self { kind, element, operator, custom, columns: 1, is_out_of_place: false, policy: None }
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
            return operator.check();
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
            Some(operator) => Modules::custom(operator),
            None => Modules::new(self.element, self.operator, self.columns),
        }
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

    /// How kernels see a row.
    pub(super) const fn row_shape(&self) -> RowShape {
        match self.custom {
            Some(operator) => RowShape::whole(operator.element_words()),
            None => RowShape::new(self.element.words(), self.columns),
        }
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
}

impl ScanBuffers {
    /// A scan from one range to another.
    pub const fn new(source: AddressRange, destination: AddressRange, scratch: BufferRange) -> Self {
        Self { source, destination, scratch }
    }

    /// A scan over `elements` where they are.
    pub const fn in_place(elements: AddressRange, scratch: BufferRange) -> Self {
        Self::new(elements, elements, scratch)
    }

    /// The same memory, cut to what `count` rows take, if it will do.
    pub(super) fn checked(&self, row_size: u64, count: u64, scratch: ScratchRequirements) -> Result<Self> {
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
        for (range, name) in [(source, "source"), (destination, "destination")] {
            if scratch.addresses().overlaps(&range) {
                return Err(Error::Overlap { first: name, second: "scratch" });
            }
        }
        Ok(Self { source, destination, scratch })
    }
}
