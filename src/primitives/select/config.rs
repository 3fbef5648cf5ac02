//! Configuration of a selection, and the memory of a recording.

use super::policy::{SelectAlgorithm, SelectPolicy};
use super::{Select, SelectPlan};
use crate::device::{AddressRange, BufferRange, Capabilities};
use crate::error::{Error, Result, in_range, refuse_if};
use crate::gather::GatherConfig;
use crate::kernels::{Family, Kernel};
use crate::primitives::arguments::{Arguments, size_if};
use crate::primitives::packed::{self, Extent, PackedForm};
use crate::primitives::plan::{Buffers, configuration};
use crate::primitives::{Count, ElementType, FloatOrder, Functions, Number};

named! {
    /// Comparison of a key with one operand, or with the two of a range. Floats compare as in IEEE 754: -0 equals +0, and a
    /// NaN satisfies [`Self::NotEqual`] alone.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[repr(u32)]
    pub enum Comparison {
        /// `key < bound`.
        Less = "less",
        /// `key <= bound`.
        LessEqual = "less-equal",
        /// `key == bound`.
        Equal = "equal",
        /// `key != bound`.
        NotEqual = "not-equal",
        /// `key >= bound`.
        GreaterEqual = "greater-equal",
        /// `key > bound`.
        Greater = "greater",
        /// `first <= key < end`, with two operands.
        Range = "range",
    }
}

impl Comparison {
    /// Number of operands.
    pub const fn operand_count(self) -> usize {
        match self {
            Self::Range => 2,
            _ => 1,
        }
    }
}

/// Predicate of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Predicate {
    /// A flag of 8 bits for each element, which is selected if it is not 0.
    Flags8,
    /// Likewise of 32 bits.
    Flags32,
    /// A comparison of each element.
    Compare(Comparison),
    /// The first of each run of equal elements, as `np.unique` of sorted ones.
    Unique,
    /// A function of the caller, `keep`.
    Function(&'static Functions),
}

impl Predicate {
    /// The values of `PREDICATE` and `COMPARISON` in `predicate.glsl`.
    pub(super) const fn numbers(self) -> (u32, u32) {
        match self {
            Self::Flags8 => (0, 0),
            Self::Flags32 => (1, 0),
            Self::Compare(comparison) => (2, comparison as u32),
            Self::Unique => (3, 0),
            Self::Function(_) => (4, 0),
        }
    }

    /// The name in ids and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flags8 => "flags8",
            Self::Flags32 => "flags32",
            Self::Compare(comparison) => comparison.name(),
            Self::Unique => "unique",
            Self::Function(functions) => functions.name(),
        }
    }

    /// Whether it takes flags.
    pub const fn has_flags(self) -> bool {
        matches!(self, Self::Flags8 | Self::Flags32)
    }
}

/// Result of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Parts {
    /// The selected elements.
    Selected,
    /// The selected elements, followed by the others.
    Two,
    /// The selected elements, of the others those that satisfy the comparison, and the rest.
    Three(Comparison),
}

impl Parts {
    pub(super) const fn count(self) -> u32 {
        match self {
            Self::Selected => 1,
            Self::Two => 2,
            Self::Three(_) => 3,
        }
    }

    /// Numbers of elements in the result's memory: of all parts but the last.
    pub(super) const fn kept_counts(self) -> u64 {
        match self {
            Self::Selected | Self::Two => 1,
            Self::Three(_) => 2,
        }
    }
}

/// Configuration of a [`SelectPlan`](super::SelectPlan).
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions, SelectInputs}};
/// use subsweep::select::{Comparison, Operands, SelectConfig};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let numbers = [1.0f32, 3.5, 2.0, 0.5];
/// let below = SelectConfig::compare(ElementType::F32, Comparison::Less);
/// let inputs = SelectInputs::new(&numbers).operands(Operands::host(&[2.0f32])?);
/// assert_eq!(gpu.select(below, &inputs)?.elements::<f32>()?, [1.0, 0.5]);
///
/// // The others follow; counts hold the number of those below.
/// let parted = gpu.select(below.partition(), &inputs)?;
/// assert_eq!((parted.elements::<f32>()?, parted.counts), (vec![1.0, 0.5, 3.5, 2.0], vec![2]));
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SelectConfig {
    pub(super) predicate: Predicate,
    /// Of keys, which are compared with each other or with a bound.
    pub(super) keys: Option<ElementType>,
    order: FloatOrder,
    /// The type of packed elements, each of which kernels have in a word.
    pub(super) packed: Option<ElementType>,
    words_per_element: u32,
    words_per_value: u32,
    has_elements: bool,
    pub(super) has_indices: bool,
    pub(super) has_large_counts: bool,
    pub(super) parts: Parts,
    pub(super) has_indirect_count: bool,
    pub(super) policy: Option<SelectPolicy>,
}

impl SelectConfig {
    /// Maximum size of an element or value, words: 1 GiB.
    pub const MAX_WORDS: u32 = GatherConfig::MAX_WORDS;

    const fn new(predicate: Predicate, keys: Option<ElementType>, words_per_element: u32) -> Self {
        Self {
            predicate,
            keys,
            order: FloatOrder::Numpy,
            packed: None,
            words_per_element,
            words_per_value: 0,
            has_elements: true,
            has_indices: false,
            has_large_counts: false,
            parts: Parts::Selected,
            has_indirect_count: false,
            policy: None,
        }
    }

    /// Selects elements of `words_per_element` 32-bit words, 1 to [`Self::MAX_WORDS`], by flags of 8 bits.
    pub const fn flags8(words_per_element: u32) -> Self {
        Self::new(Predicate::Flags8, None, words_per_element)
    }

    /// Likewise by flags of 32 bits.
    pub const fn flags32(words_per_element: u32) -> Self {
        Self::new(Predicate::Flags32, None, words_per_element)
    }

    /// Selects the elements that satisfy a comparison with the operands of each recording.
    pub const fn compare(element: ElementType, comparison: Comparison) -> Self {
        Self::with_type(Predicate::Compare(comparison), element).of_keys(element)
    }

    /// Selects the first element of each run of equal ones; of sorted elements each once.
    pub const fn unique(element: ElementType) -> Self {
        Self::with_type(Predicate::Unique, element).of_keys(element)
    }

    /// As [`Self::flags8`], of elements of any type.
    pub const fn flags8_of(element: ElementType) -> Self {
        Self::with_type(Predicate::Flags8, element)
    }

    /// As [`Self::flags32`], of elements of any type.
    pub const fn flags32_of(element: ElementType) -> Self {
        Self::with_type(Predicate::Flags32, element)
    }

    /// Selects the elements that a function of the caller keeps: `bool keep(Element element, uint index, Words data)`.
    pub const fn custom(functions: &'static Functions) -> Self {
        Self::new(Predicate::Function(functions), None, functions.element_words())
    }

    const fn with_type(predicate: Predicate, element: ElementType) -> Self {
        let packed = if element.is_packed() { Some(element) } else { None };
        Self { packed, ..Self::new(predicate, None, element.words()) }
    }

    const fn of_keys(mut self, element: ElementType) -> Self {
        self.keys = Some(element);
        self
    }

    setters! {
        /// Sets the order of floats, by which elements of [`Self::unique`] are equal; by default [`FloatOrder::Numpy`].
        order(order: FloatOrder) => order = order;
        /// Moves a value of `words_per_value` words, 1 to [`Self::MAX_WORDS`], with each element. With
        /// [`Self::unique`]: unique by key.
        values(words_per_value: u32) => words_per_value = words_per_value;
        /// Writes the indices of the elements as well, as u32, or with [`Self::large_counts`] as u64.
        indices() => has_indices = true;
        /// Writes no elements, only values or indices.
        without_elements() => has_elements = false;
        /// Partitions: after the selected elements, writes the others. Both parts keep their order.
        partition() => parts = Parts::Two;
        /// Partitions in three: of the elements that are not selected, those that satisfy `comparison` are the second part,
        /// and the others the third. For selections by a comparison.
        partition_in_three(comparison: Comparison) => parts = Parts::Three(comparison);
        /// Supports 2^32 elements and more; indices and the counts of the result are u64. Requires
        /// [`SelectAlgorithm::ReduceThenScan`](super::SelectAlgorithm), which reads elements twice. Moves elements and
        /// values of at most 8 bytes, elements of 8 and 16 bits in partitions alone, and takes no function of the caller.
        large_counts() => has_large_counts = true;
        /// Supports indirect counts, [`Count::Indirect`].
        indirect_count() => has_indirect_count = true;
        /// Sets the policy; by default [`SelectPolicy::choose`] chooses it.
        policy(policy: SelectPolicy) => policy = Some(policy);
    }

    /// Sets [`Self::large_counts`] if `count` requires it and the configuration supports it.
    pub fn large_counts_for(self, count: u64) -> Self {
        let is_chained = self.policy.is_some_and(|policy| policy.algorithm == SelectAlgorithm::Chained);
        let is_large = count > SelectPlan::MAX_COUNT && !is_chained;
        if is_large && self.check_large_counts().is_ok() { self.large_counts() } else { self }
    }

    /// The predicate.
    pub const fn predicate(&self) -> Predicate {
        self.predicate
    }

    /// The type of compared elements; `None` with flags.
    pub const fn element_type(&self) -> Option<ElementType> {
        self.keys
    }

    /// `KEY_NUMBERS` of the kernels: comparisons depend on no order.
    pub(super) fn key_numbers(&self) -> u32 {
        let order = if self.predicate == Predicate::Unique { self.order } else { FloatOrder::Total };
        self.keys.map_or(0, |element| element.unpacked().key_numbers(order))
    }

    /// Size of an element in `source`, bytes.
    pub const fn element_size(&self) -> u64 {
        match self.packed {
            Some(element) => element.size() as u64,
            None => self.words_per_element as u64 * 4,
        }
    }

    /// Size of a value, bytes; 0 without values.
    pub const fn value_size(&self) -> u64 {
        self.words_per_value as u64 * 4
    }

    /// Whether elements are written.
    pub const fn has_elements(&self) -> bool {
        self.has_elements
    }

    /// Whether indices are written.
    pub const fn has_indices(&self) -> bool {
        self.has_indices
    }

    /// Number of parts in the result: 1 for a selection, 2 or 3 for a partition.
    pub const fn part_count(&self) -> u32 {
        self.parts.count()
    }

    /// Size of an index, and of each of the counts, bytes: 4, with [`Self::large_counts`] 8.
    pub const fn index_size(&self) -> u64 {
        if self.has_large_counts { 8 } else { 4 }
    }

    /// Size of the counts in [`SelectBuffers::counts`], bytes: of one number, of three parts of two.
    pub const fn counts_size(&self) -> u64 {
        self.parts.kept_counts() * self.index_size()
    }

    /// Number of operands of the first comparison.
    const fn first_operand_count(&self) -> usize {
        match self.predicate {
            Predicate::Compare(comparison) => comparison.operand_count(),
            _ => 0,
        }
    }

    /// Number of operands of the comparisons.
    pub const fn operand_count(&self) -> usize {
        let first = self.first_operand_count();
        match self.parts {
            Parts::Three(comparison) => first + comparison.operand_count(),
            Parts::Selected | Parts::Two => first,
        }
    }

    /// Size of a flag, bytes; 0 without flags.
    pub const fn flag_size(&self) -> u64 {
        match self.predicate {
            Predicate::Flags8 => 1,
            Predicate::Flags32 => 4,
            Predicate::Compare(_) | Predicate::Unique | Predicate::Function(_) => 0,
        }
    }

    /// Bytes of `source` that a recording of `count` elements reads; none with flags and without elements.
    const fn source_size(&self, count: u64) -> u64 {
        let is_tested = !self.predicate.has_flags();
        if self.has_elements || is_tested { count.saturating_mul(self.element_size()) } else { 0 }
    }

    /// The form of elements that are packed.
    pub(super) const fn form(&self) -> Option<PackedForm> {
        match self.packed {
            Some(element) => PackedForm::numbers(element),
            None => None,
        }
    }

    /// The same selection of unpacked elements.
    fn of_unpacked(mut self) -> Self {
        (self.keys, self.packed) = (self.keys.map(ElementType::unpacked), None);
        self
    }

    /// The kernels of a family of `glsl/select/`.
    pub(super) fn kernel(&self, family: &'static Family) -> Result<&'static Kernel> {
        let kernel = match self.packed {
            Some(element) => family.module(&[packed::key_define(element), ("UNPACKS_KEYS", 1)]),
            None => family.module(&[("KEY_WORDS", self.keys.map_or(1, |element| element.words()))]),
        };
        match self.predicate {
            Predicate::Function(functions) => functions.kernel(kernel),
            _ => Ok(kernel),
        }
    }

    pub(super) fn check(&self, _: &Capabilities) -> Result<()> {
        in_range("words per element of a selection", self.words_per_element, 1..=Self::MAX_WORDS)?;
        in_range("words per value of a selection", self.words_per_value, 0..=Self::MAX_WORDS)?;
        let reason = "a partition in three compares elements twice; make it with SelectConfig::compare";
        let compares = matches!(self.predicate, Predicate::Compare(_));
        refuse_if(matches!(self.parts, Parts::Three(_)) && !compares, reason)?;
        if self.has_large_counts { self.check_large_counts() } else { Ok(()) }
    }

    /// Fails for a configuration that takes no large counts.
    fn check_large_counts(&self) -> Result<()> {
        let writes_packed = self.packed.is_some() && self.has_elements && self.parts == Parts::Selected;
        let reason = match self.predicate {
            Predicate::Function(_) => {
                "a function takes an index of 32 bits; select without large counts, in chunks"
            }
            _ if self.gathered() != [0, 0] => {
                "with large counts elements and values have at most 8 bytes; select in chunks"
            }
            _ if writes_packed => {
                "with large counts elements of 8 and 16 bits are not selected; partition them, or select in chunks"
            }
            _ => return Ok(()),
        };
        Err(Error::Unsupported { reason })
    }
}

configuration!(SelectConfig, SelectPolicy of Select, |config| config.of_unpacked());

/// Operands of the comparisons of a recording: one for each comparison, two for a range; the operands of the second
/// comparison of a partition in three follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Operands {
    /// No operands.
    #[default]
    None,
    /// Given at recording.
    Host(HostOperands),
    /// In device memory, of the element type.
    Device(AddressRange),
}

/// Up to four operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostOperands {
    words: [[u32; 2]; Self::MAX],
    len: usize,
    /// `None` for bits of any type.
    element: Option<ElementType>,
}

impl HostOperands {
    /// Operands of two ranges.
    const MAX: usize = 4;

    /// The operands of both comparisons: a bound and the end of a range each.
    pub(super) fn bounds(&self, config: &SelectConfig) -> [[u32; 2]; 4] {
        let first = config.first_operand_count();
        let operand = |index: usize| self.words.get(index).copied().unwrap_or_default();
        [operand(0), operand(1), operand(first), operand(first + 1)]
    }
}

impl Operands {
    /// Operands of the plan's element type.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if there are more than four.
    pub fn host<N: Number>(operands: &[N]) -> Result<Self> {
        Self::of_all(N::TYPE, N::TYPE.unpacked_words(bytemuck::cast_slice(operands)))
    }

    /// As [`Self::host`], for operands of `element` as words in memory order; of a type of 8 or 16 bits the words of u32, i32
    /// or f32.
    ///
    /// # Errors
    /// Errors of [`Self::host`].
    pub fn of_words(element: ElementType, operands: &[u32]) -> Result<Self> {
        Self::of_all(element, operands.iter().copied())
    }

    /// Without an allocation, which a recording must not make.
    fn of_all(element: ElementType, operands: impl Iterator<Item = u32>) -> Result<Self> {
        let words_each = element.words() as usize;
        let (mut words, mut len) = ([[0; 2]; HostOperands::MAX], 0);
        for (index, word) in operands.enumerate() {
            let reason = "comparisons have at most four operands";
            let operand = words.get_mut(index / words_each).ok_or(Error::Unsupported { reason })?;
            operand[index % words_each] = word;
            len = (index + 1) / words_each;
        }
        Ok(Self::Host(HostOperands { words, len, element: Some(element) }))
    }

    /// At most four operands of any type, as bits.
    #[cfg(feature = "capi")]
    pub(crate) fn of_bits(operands: &[u64]) -> Self {
        let mut words = [[0; 2]; HostOperands::MAX];
        for (to, &operand) in words.iter_mut().zip(operands) {
            *to = [operand as u32, (operand >> 32) as u32];
        }
        Self::Host(HostOperands { words, len: operands.len(), element: None })
    }

    /// The bits of packed numbers become the words of unpacked ones.
    fn unpack(&mut self, config: &SelectConfig) {
        if let (Self::Host(operands), Some(packed)) = (self, config.packed)
            && operands.element.is_none()
        {
            for word in &mut operands.words {
                word[0] = packed.unpack(word[0] as u16);
            }
            operands.element = Some(packed);
        }
    }

    /// Checks that they are the operands of the configuration.
    fn check(&self, config: &SelectConfig) -> Result<()> {
        let needed = config.operand_count();
        let got = match self {
            Self::None => 0,
            Self::Host(operands) => {
                if let (Some(expected), Some(got)) = (config.keys, operands.element)
                    && ![got, got.unpacked()].contains(&expected)
                {
                    return Err(Error::ElementMismatch { expected, got });
                }
                operands.len
            }
            Self::Device(_) => needed,
        };
        let reason = "the operands do not match the plan's comparisons: one each, two for a range";
        refuse_if(got != needed, reason)
    }
}

/// The memory of one recording. Ranges that the configuration does not use are ignored.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SelectBuffers {
    /// The elements.
    pub source: AddressRange,
    /// Flags, 8 or 32 bits for each element; rounded up to a multiple of 4 bytes.
    pub flags: AddressRange,
    /// The values.
    pub values: AddressRange,
    /// Operands of the comparisons.
    pub operands: Operands,
    /// What a function of the caller reads besides.
    pub functions_data: AddressRange,
    /// The selected elements, with room for all.
    pub destination: AddressRange,
    /// Their values, likewise.
    pub destination_values: AddressRange,
    /// Their indices, likewise, u32; with [`SelectConfig::large_counts`] u64.
    pub destination_indices: AddressRange,
    /// The number of selected elements, u32; of three parts the sizes of the first and the second. With
    /// [`SelectConfig::large_counts`] u64.
    pub counts: AddressRange,
    /// Scratch of [`SelectPlan::scratch_requirements`](super::SelectPlan::scratch_requirements).
    pub scratch: BufferRange,
}

impl SelectBuffers {
    /// Elements to select from, and the memory of the result.
    pub const fn new(
        source: AddressRange,
        destination: AddressRange,
        counts: AddressRange,
        scratch: BufferRange,
    ) -> Self {
        let none = AddressRange::NONE;
        Self {
            source,
            flags: none,
            values: none,
            operands: Operands::None,
            functions_data: none,
            destination,
            destination_values: none,
            destination_indices: none,
            counts,
            scratch,
        }
    }

    setters! {
        /// Sets the flags.
        flags(flags: AddressRange) => flags = flags;
        /// Sets the operands of the comparisons.
        operands(operands: Operands) => operands = operands;
        /// Sets what a function of the caller reads besides, its `data`.
        functions_data(data: AddressRange) => functions_data = data;
        /// Sets the values, and the memory of the selected ones.
        values(values: AddressRange, destination_values: AddressRange) =>
            values = values, destination_values = destination_values;
        /// Sets the memory of the indices.
        indices(destination_indices: AddressRange) => destination_indices = destination_indices;
    }
}

impl Buffers<Select> for SelectBuffers {
    fn arguments(
        &mut self,
        config: &SelectConfig,
        count: &mut Count,
        table: &mut Arguments<'_>,
    ) -> Result<()> {
        self.operands.unpack(config);
        self.operands.check(config)?;
        let max = count.max();
        let kept_size = size_if(config.has_elements, max.saturating_mul(config.element_size()));
        let values_size = max.saturating_mul(config.value_size());
        let indices_size = size_if(config.has_indices, max.saturating_mul(config.index_size()));
        table.count("count", count)?;
        let form = config.form();
        table.up_to(form, Extent::new(*count)).read("source", &mut self.source, config.source_size(max))?;
        table.read(
            "flags",
            &mut self.flags,
            max.saturating_mul(config.flag_size()).checked_next_multiple_of(4).unwrap_or(u64::MAX),
        )?;
        table.read("values", &mut self.values, values_size)?;
        if let Operands::Device(range) = &mut self.operands {
            let operand_size = config.keys.map_or(0, |element| element.size() as u64);
            table.with_form(form).read("operands", range, config.operand_count() as u64 * operand_size)?;
        }
        let functions = match config.predicate {
            Predicate::Function(functions) => Some(functions),
            _ => None,
        };
        Functions::read_data(functions, &mut self.functions_data, table)?;
        let written = match config.parts {
            Parts::Selected => Extent::written(self.counts, max),
            Parts::Two | Parts::Three(_) => Extent::new(*count),
        };
        table.up_to(form, written).write("destination", &mut self.destination, kept_size)?;
        table.write("destination_values", &mut self.destination_values, values_size)?;
        table.write("destination_indices", &mut self.destination_indices, indices_size)?;
        table.write("counts", &mut self.counts, config.counts_size())?;
        table.scratch(&mut self.scratch)
    }

    fn unknown(config: &SelectConfig) -> Self {
        let has_operands = config.operand_count() > 0;
        let operands = if has_operands { Operands::Device(AddressRange::NONE) } else { Operands::None };
        Self::default().operands(operands)
    }
}

#[cfg(test)]
mod tests;
