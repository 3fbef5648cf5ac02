//! What a caller says to a sort: the configuration of a plan, and the memory of a recording.

use super::policy::SortPolicy;
use crate::error::{Error, Result};
use crate::primitives::{ElementType, ScratchRequirements};
use crate::vk::{AddressRange, BufferRange};

/// Bytes of a value that goes with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueSize {
    /// 4 bytes.
    B4,
    /// 8 bytes.
    B8,
}

impl ValueSize {
    /// Both.
    pub const ALL: [Self; 2] = [Self::B4, Self::B8];

    /// The size of so many bytes.
    ///
    /// # Errors
    /// [`Error::Unsupported`] unless that is 4 or 8. Values of other sizes are sorted by their places and then gathered.
    pub const fn new(bytes: usize) -> Result<Self> {
        match bytes {
            4 => Ok(Self::B4),
            8 => Ok(Self::B8),
            _ => Err(Error::Unsupported {
                reason: "a sort carries values of 4 or 8 bytes; argsort, and gather others",
            }),
        }
    }

    /// In words of 32 bits.
    pub const fn words(self) -> u32 {
        match self {
            Self::B4 => 1,
            Self::B8 => 2,
        }
    }

    /// In bytes.
    pub const fn bytes(self) -> u64 {
        self.words() as u64 * 4
    }
}

/// What a sort does beside putting keys in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Values {
    /// Nothing.
    None,
    /// A value goes with each key.
    Carried(ValueSize),
    /// It tells where each key came from, and leaves the keys where they are.
    Places,
}

impl Values {
    /// Words of 32 bits that go with each key.
    pub(super) const fn words(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Carried(size) => size.words(),
            Self::Places => 1,
        }
    }
}

/// What a [`SortPlan`](super::SortPlan) is to do.
///
/// Keys are in the order of their numbers; floats in that of [`f32::total_cmp`] and [`f64::total_cmp`]: NaNs of negative
/// sign, -∞, …, -0, +0, …, +∞, NaNs of positive sign. Keys that compare equal keep the order in which they came, in
/// either direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SortConfig {
    pub(super) key: ElementType,
    pub(super) values: Values,
    pub(super) is_descending: bool,
    pub(super) begin_bit: u32,
    pub(super) end_bit: u32,
    pub(super) policy: Option<SortPolicy>,
}

impl SortConfig {
    const fn new(key: ElementType, values: Values) -> Self {
        Self { key, values, is_descending: false, begin_bit: 0, end_bit: key.bits(), policy: None }
    }

    /// Keys alone, ascending, by all of their bits.
    pub const fn keys(key: ElementType) -> Self {
        Self::new(key, Values::None)
    }

    /// Keys, and with each a value of `size`, in memory of its own.
    pub const fn pairs(key: ElementType, size: ValueSize) -> Self {
        Self::new(key, Values::Carried(size))
    }

    /// Where keys would come from, were they sorted: a permutation of u32, in which the first is the place of the least
    /// key. The keys stay as they are.
    pub const fn argsort(key: ElementType) -> Self {
        Self::new(key, Values::Places)
    }

    /// From the greatest key to the least; equal ones still in the order in which they came.
    pub const fn descending(mut self) -> Self {
        self.is_descending = true;
        self
    }

    /// Only by the bits in `range`, the lowest being bit 0, of the unsigned number that is ordered as the key is: the key
    /// itself, i32 and i64 with the sign bit flipped, floats with all bits flipped if they are negative and else the sign
    /// bit. Fewer bits are fewer passes.
    pub const fn bits(mut self, range: std::ops::Range<u32>) -> Self {
        self.begin_bit = range.start;
        self.end_bit = range.end;
        self
    }

    /// With this policy, not the one that [`SortPolicy::choose`] would take.
    pub const fn policy(mut self, policy: SortPolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// The type of the keys.
    pub const fn key_type(&self) -> ElementType {
        self.key
    }

    /// Bytes of a key.
    pub const fn key_size(&self) -> u64 {
        self.key.size() as u64
    }

    /// Bytes of what lies in [`SortBuffers::values`] for each key: of its value, of its place, or 0.
    pub const fn value_size(&self) -> u64 {
        self.values.words() as u64 * 4
    }

    /// Whether the keys stay as they are.
    pub const fn is_argsort(&self) -> bool {
        matches!(self.values, Values::Places)
    }

    /// The bits to sort by.
    pub(super) const fn bit_count(&self) -> u32 {
        self.end_bit - self.begin_bit
    }

    /// What every kernel that knows keys specialises.
    pub(super) fn constants(&self) -> [(&'static str, u32); 2] {
        [("KEY_NUMBERS", self.key.numbers()), ("DESCENDING", self.is_descending.into())]
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.begin_bit > self.end_bit || self.end_bit > self.key.bits() {
            return Err(Error::Unsupported {
                reason: match self.key.bits() {
                    32 => "the bit range of a sort of 32-bit keys lies within 0..32",
                    _ => "the bit range of a sort of 64-bit keys lies within 0..64",
                },
            });
        }
        Ok(())
    }
}

/// The memory of one recording.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SortBuffers {
    /// The keys, before and, but for an argsort, after.
    pub keys: AddressRange,
    /// The values, before and after, or an argsort's permutation, after; nothing of a sort of keys alone.
    pub values: AddressRange,
    /// As [`SortPlan::scratch_requirements`](super::SortPlan::scratch_requirements) says.
    pub scratch: BufferRange,
}

impl SortBuffers {
    /// Keys that are sorted where they are.
    pub fn new(keys: AddressRange, scratch: BufferRange) -> Self {
        Self { keys, values: AddressRange::default(), scratch }
    }

    /// With their values, or where their permutation is to go.
    pub const fn values(mut self, values: AddressRange) -> Self {
        self.values = values;
        self
    }

    /// The same memory, cut to what `count` keys take, if it will do.
    pub(super) fn checked(
        &self,
        config: &SortConfig,
        count: u64,
        scratch: ScratchRequirements,
    ) -> Result<Self> {
        let size = |size: u64| count.saturating_mul(size);
        let keys = self.keys.prefix("keys", size(config.key_size()))?.aligned("keys", 4)?;
        let values = self.values.prefix("values", size(config.value_size()))?.aligned("values", 4)?;
        let scratch = scratch.check(self.scratch)?;
        let ranges = [("keys", keys), ("values", values), ("scratch", scratch.addresses())];
        for (index, (second, range)) in ranges.iter().enumerate() {
            if let Some((first, _)) = ranges[..index].iter().find(|(_, earlier)| earlier.overlaps(range)) {
                return Err(Error::Overlap { first, second });
            }
        }
        Ok(Self { keys, values, scratch })
    }
}
