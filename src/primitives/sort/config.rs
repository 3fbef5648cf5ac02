//! What a caller says to a sort: the configuration of a plan, and the memory of a recording.

use super::SortPlan;
use super::policy::{SortAlgorithm, SortPolicy};
use crate::device::{AddressRange, BufferRange};
use crate::error::{Error, Result};
use crate::primitives::{Count, ElementType, ScratchRequirements, check_apart};

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
    Indices,
}

impl Values {
    /// Words of 32 bits that go with each key.
    pub(super) const fn words(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Carried(size) => size.words(),
            Self::Indices => 1,
        }
    }
}

/// Where the result is to be: `aim` of `glsl/sort/digit_histogram.comp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// Where the keys were.
    InPlace,
    /// Where the last pass leaves it.
    Anywhere,
    /// The keys stay, and their places are told.
    Indices,
}

impl Output {
    pub(super) const fn number(self) -> u32 {
        match self {
            Self::InPlace => 0,
            Self::Anywhere => 1,
            Self::Indices => 2,
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
    pub(super) is_anywhere: bool,
    pub(super) counts_on_device: bool,
    pub(super) has_large_counts: bool,
    pub(super) policy: Option<SortPolicy>,
}

impl SortConfig {
    const fn new(key: ElementType, values: Values) -> Self {
        Self {
            key,
            values,
            is_descending: false,
            begin_bit: 0,
            end_bit: key.bits(),
            is_anywhere: false,
            counts_on_device: false,
            has_large_counts: false,
            policy: None,
        }
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
        Self::new(key, Values::Indices)
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

    /// The result stays where the last pass leaves it, which [`SortPlan::result`](super::SortPlan::result) tells: in the
    /// caller's memory, or in scratch, where a last copy would have to bring it back. Then every pass runs, even one in
    /// whose digit all keys agree, which is left out otherwise. An argsort's places are always the caller's.
    pub const fn anywhere(mut self) -> Self {
        self.is_anywhere = true;
        self
    }

    /// Recordings may take their count from the device; those with one from the host become no slower.
    pub const fn counts_on_device(mut self) -> Self {
        self.counts_on_device = true;
        self
    }

    /// Recordings may have 2^32 keys and more, whose places take two words: a few instructions more for each key. It takes
    /// `onesweep`, which is chosen then. Counts on the device are u32 nevertheless. Neither for an argsort, whose places are
    /// u32, nor for segments, which begin at such.
    pub const fn large_counts(mut self) -> Self {
        self.has_large_counts = true;
        self
    }

    /// The same, with [`Self::large_counts`] if only these take `count` keys, and it is not an argsort or another algorithm's.
    pub const fn large_counts_for(self, count: u64) -> Self {
        let is_onesweep = match self.policy {
            Some(policy) => matches!(policy.algorithm, SortAlgorithm::Onesweep),
            None => true,
        };
        if count > SortPlan::MAX_COUNT && is_onesweep && !self.is_argsort() {
            self.large_counts()
        } else {
            self
        }
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
        matches!(self.values, Values::Indices)
    }

    /// How many passes of so many bits there are.
    pub(super) const fn pass_count(&self, radix_bits: u32) -> u32 {
        match self.bit_count().div_ceil(radix_bits) {
            // Without bits nothing moves, but nobody has written the places yet.
            0 if self.is_argsort() => 1,
            passes => passes,
        }
    }

    pub(super) const fn output(&self) -> Output {
        match (self.is_argsort(), self.is_anywhere) {
            (true, _) => Output::Indices,
            (false, true) => Output::Anywhere,
            (false, false) => Output::InPlace,
        }
    }

    /// The bits to sort by.
    pub(super) const fn bit_count(&self) -> u32 {
        self.end_bit - self.begin_bit
    }

    /// Words of an offset in an array of keys.
    pub(super) const fn offset_words(&self) -> u32 {
        1 + self.has_large_counts as u32
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
        if self.has_large_counts && self.is_argsort() {
            let reason = "an argsort has no wide counts: its places are 32-bit numbers";
            return Err(Error::Unsupported { reason });
        }
        Ok(())
    }
}

/// Where the result of a sort lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SortResult {
    /// The keys; of an argsort as they were.
    pub keys: AddressRange,
    /// The values, or the places; of keys alone nothing.
    pub values: AddressRange,
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

    /// The same memory, cut to what `count` keys take, if it will do, also beside a count on the device.
    pub(super) fn checked(
        &self,
        config: &SortConfig,
        count: Count,
        scratch: ScratchRequirements,
    ) -> Result<Self> {
        let on_device = count.checked_on_device("the count")?;
        let count = count.max();
        if config.value_size() == 0 && self.values.size > 0 {
            return Err(Error::Unsupported {
                reason: "a sort of keys alone takes no values; make the plan for pairs or an argsort",
            });
        }
        let size = |size: u64| count.saturating_mul(size);
        let keys = self.keys.prefix("keys", size(config.key_size()))?.aligned("keys", 4)?;
        let values = self.values.prefix("values", size(config.value_size()))?.aligned("values", 4)?;
        let scratch = scratch.check(self.scratch)?;
        let ranges =
            [("the count", on_device), ("keys", keys), ("values", values), ("scratch", scratch.addresses())];
        for (index, range) in ranges.into_iter().enumerate() {
            check_apart(range, &ranges[index + 1..])?;
        }
        Ok(Self { keys, values, scratch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Capabilities;

    #[test]
    fn passes_are_as_many_as_the_bits_need() {
        let keys = SortConfig::keys(ElementType::U32);
        let counts = [2, 4, 8].map(|radix_bits| keys.pass_count(radix_bits));
        assert_eq!(counts, [16, 8, 4]);
        assert_eq!([keys.bits(3..12).pass_count(4), keys.bits(5..5).pass_count(8)], [3, 0]);
        assert_eq!(SortConfig::argsort(ElementType::F64).bits(5..5).pass_count(8), 1);
    }

    #[test]
    fn counts_are_wide_where_they_must_and_can_be() {
        let capabilities = Capabilities::default();
        let is_wide = |config: SortConfig, count| config.large_counts_for(count).has_large_counts;
        let keys = SortConfig::keys(ElementType::U32);
        assert_eq!([u32::MAX.into(), 1 << 32].map(|count| is_wide(keys, count)), [false, true]);
        assert!(!is_wide(SortConfig::argsort(ElementType::U32), 1 << 32));
        for algorithm in SortAlgorithm::ALL {
            let tuned = keys.policy(SortPolicy::tuned(algorithm, &capabilities, &keys));
            assert_eq!(is_wide(tuned, 1 << 32), algorithm == SortAlgorithm::Onesweep, "{algorithm:?}");
        }
        assert!(is_wide(keys.large_counts(), 5));
    }
}
