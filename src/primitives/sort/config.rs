//! Configuration of a sort plan, and the memory of a recording.

use super::policy::{SortAlgorithm, SortPolicy};
use super::{Sort, SortPlan};
use crate::device::{AddressRange, BufferRange, Capabilities};
use crate::error::{Error, Result, in_range, refuse_if};
use crate::kernels::{Define, Kernel};
use crate::merge::MergeConfig;
use crate::primitives::arguments::{Arguments, Role, size_if};
use crate::primitives::packed::{self, Content, Extent, PackedForm};
use crate::primitives::plan::{Buffers, configuration};
use crate::primitives::{Count, ElementType, FloatOrder, Functions};

/// Size of a value: a multiple of 4 bytes, up to [`Self::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ValueSize {
    words: u32,
}

impl ValueSize {
    /// 4 bytes.
    pub const B4: Self = Self { words: 1 };
    /// 8 bytes.
    pub const B8: Self = Self { words: 2 };
    /// The largest size: 16 KiB, as of a merge.
    pub const MAX: Self = Self { words: MergeConfig::MAX_VALUE_WORDS };

    /// The size of `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::Unsupported`] unless that is a multiple of 4 from 4 to [`Self::MAX`].
    pub const fn new(bytes: usize) -> Result<Self> {
        match Self::checked(bytes) {
            Some(size) => Ok(size),
            None => Err(Error::Unsupported {
                reason: "a value has a multiple of 4 bytes, up to 16,384; for others use an argsort",
            }),
        }
    }

    /// The size of a type.
    ///
    /// # Panics
    /// If [`Self::new`] fails; at compile time where it is the value of a constant.
    pub const fn of<V>() -> Self {
        Self::checked(size_of::<V>()).expect("a value has a multiple of 4 bytes, up to 16,384")
    }

    const fn checked(bytes: usize) -> Option<Self> {
        let is_size = bytes >= 4 && bytes as u64 <= Self::MAX.bytes() && bytes.is_multiple_of(4);
        if is_size { Some(Self { words: bytes as u32 / 4 }) } else { None }
    }

    /// Size, 32-bit words.
    pub const fn words(self) -> u32 {
        self.words
    }

    /// Size, bytes.
    pub const fn bytes(self) -> u64 {
        self.words as u64 * 4
    }
}

/// Values of a sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Values {
    /// Keys alone.
    None,
    /// A value goes with each key: of one or two words through every pass, a larger one by its index.
    Given(ValueSize),
    /// An argsort: writes the indices of the keys, and does not change the keys.
    Indices,
    /// Values that begin as the indices of the keys.
    Indexed,
}

impl Values {
    /// Words per key.
    pub(super) const fn words(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Given(size) => size.words(),
            Self::Indices | Self::Indexed => 1,
        }
    }
}

/// Memory of input and result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// The result replaces the input.
    InPlace,
    /// Between two buffers of the caller: the result is in the one that the last pass writes.
    DoubleBuffer,
    /// From the input to the output, by way of an array in scratch.
    OutOfPlace,
    /// From the input to the output, by way of the input.
    DestroysInput,
}

/// Configuration of a [`SortPlan`](super::SortPlan).
///
/// Integers are in numerical order, floats in [`FloatOrder::Total`] or, by [`Self::order`], in the order of numpy. The sort is
/// stable, also in descending order.
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::sort::{SortConfig, ValueSize};
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// let (mut depths, mut ids) = ([2.5f32, -1.0, 7.25], [10u32, 11, 12]);
/// let furthest_first = SortConfig::pairs(ElementType::F32, ValueSize::B4).descending();
/// gpu.sort_pairs(furthest_first, &mut depths, &mut ids)?;
/// assert_eq!((depths, ids), ([7.25, 2.5, -1.0], [12, 10, 11]));
///
/// // By the lowest byte alone: one pass, and stable.
/// let mut codes = [0x302u32, 0x101, 0x202];
/// gpu.sort(SortConfig::keys(ElementType::U32).bits(0..8), &mut codes)?;
/// assert_eq!(codes, [0x101, 0x302, 0x202]);
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SortConfig {
    pub(super) key: ElementType,
    /// Of the caller, which compute the keys.
    functions: Option<&'static Functions>,
    pub(super) values: Values,
    pub(super) is_descending: bool,
    order: FloatOrder,
    pub(super) begin_bit: u32,
    pub(super) end_bit: u32,
    pub(super) form: Form,
    discards_keys: bool,
    pub(super) has_indirect_count: bool,
    pub(super) has_large_counts: bool,
    pub(super) policy: Option<SortPolicy>,
}

impl SortConfig {
    const fn new(key: ElementType, values: Values) -> Self {
        Self {
            key,
            functions: None,
            values,
            is_descending: false,
            order: FloatOrder::Total,
            begin_bit: 0,
            end_bit: key.bits(),
            form: Form::InPlace,
            discards_keys: false,
            has_indirect_count: false,
            has_large_counts: false,
            policy: None,
        }
    }

    /// Sorts keys alone, ascending, by all of their bits.
    pub const fn keys(key: ElementType) -> Self {
        Self::new(key, Values::None)
    }

    /// Sorts pairs of keys and values of `size`, in separate arrays. Values of 4 and 8 bytes are carried through every pass;
    /// larger ones move once, by indices that are sorted with the keys. With `p` passes that is, for each value of `v` bytes,
    ///
    /// | | bytes read and written |
    /// |---|---|
    /// | carried | `2 p v` |
    /// | moved once | `8 p - 4` of indices, `4 + 2 v`, and in place `2 v` for a copy; a read of few bytes costs a whole memory transaction, of 32 to 128 bytes |
    ///
    /// Keys of 32 bits have four passes, of 64 bits eight: carrying 8 bytes moves 64 or 128, moving them once 104 or 136 with
    /// transactions of 64. Kernels carry no 12 or 16 bytes, which in four passes might be a draw, and would move less in one or two,
    /// of keys of 8 or 16 bits: 24 or 48 for 12 bytes, in place of 84 or 92.
    pub const fn pairs(key: ElementType, size: ValueSize) -> Self {
        Self::new(key, Values::Given(size))
    }

    /// Argsort: writes the permutation that sorts the keys, as u32 indices; the first is the index of the least key.
    /// The keys are unchanged.
    pub const fn argsort(key: ElementType) -> Self {
        Self::new(key, Values::Indices)
    }

    /// Sorts keys, and writes the index of each: pairs whose values begin as 0, 1, 2, … and are not read.
    pub const fn keys_and_indices(key: ElementType) -> Self {
        Self::new(key, Values::Indexed)
    }

    setters! {
        /// Descending order; still stable.
        descending() => is_descending = true;
        /// Sets the order of floats; by default [`FloatOrder::Total`].
        order(order: FloatOrder) => order = order;
        /// Sorts only by the bits in `range`, where bit 0 is the lowest, of the unsigned number with the order of the key:
        /// unsigned keys unchanged, signed keys with the sign bit flipped, floats with all bits flipped if negative, else
        /// the sign bit, and in numpy's order -0 as 0 and a NaN with all bits set. Fewer bits need fewer passes.
        bits(range: std::ops::Range<u32>) => begin_bit = range.start, end_bit = range.end;
        /// The result replaces the input: the default.
        in_place() => form = Form::InPlace;
        /// Sorts between two buffers of the caller, as CUB's `DoubleBuffer`: [`SortBuffers::keys`] and
        /// [`SortBuffers::keys_alt`], and likewise the values. The result is in the one that the last pass writes:
        /// [`SortPlan::is_result_in_alt`]. Saves the copy after an odd number of passes, and the alternate buffers in
        /// scratch; runs every pass, while a sort in place skips passes in whose digit all keys agree. Not for an argsort,
        /// whose indices are always in the caller's array.
        double_buffer() => form = Form::DoubleBuffer;
        /// Sorts from [`SortBuffers::keys`] and values to the ranges of [`SortBuffers::output`]; the input is unchanged.
        /// Runs every pass. Scratch has an array of keys, and of values, for more than one pass.
        out_of_place() => form = Form::OutOfPlace;
        /// As [`Self::out_of_place`]; the contents of the input become undefined, which saves the array in scratch. An even
        /// number of passes takes a copy, or in a segmented sort another pass.
        destroys_input() => form = Form::DestroysInput;
        /// Sorts pairs, or keys with their indices, of which only the values matter: the last pass does not write the keys.
        /// Where the result would have them, the contents are undefined. With [`Self::keys_and_indices`] it is an
        /// argsort whose keys need not be kept, with one array of keys in scratch instead of two.
        discards_keys() => discards_keys = true;
        /// Supports indirect counts, [`Count::Indirect`]. Does not slow down direct ones.
        indirect_count() => has_indirect_count = true;
        /// Large counts: supports 2^32 keys and more, by 64-bit offsets, which take a few more instructions per key.
        /// Requires `onesweep`, which is chosen by default then. Indirect counts remain u32. Not with indices, which are u32,
        /// with values of more than 8 bytes, or for a segmented sort.
        large_counts() => has_large_counts = true;
        /// Sorts by keys that a function of the caller computes from elements while they are loaded: `Key key_of(Words element,
        /// uint index, Words data)`, in the form of the key type. [`SortBuffers::keys`] are the elements, which are only read.
        /// For an argsort, or [out of place](Self::out_of_place) keys with their indices, or with values of more than 8 bytes, which
        /// may be the elements; keys of 32 or 64 bits; by `onesweep`, or in one workgroup.
        computed(functions: &'static Functions) => functions = Some(functions);
        /// Sets the policy; by default [`SortPolicy::choose`] chooses it.
        policy(policy: SortPolicy) => policy = Some(policy);
    }

    /// Whether a function of the caller computes the keys.
    pub const fn is_computed(&self) -> bool {
        self.functions.is_some()
    }

    /// The function that computes the keys.
    pub(super) const fn functions(&self) -> Option<&'static Functions> {
        self.functions
    }

    /// A kernel that reads keys, or computes them.
    pub(super) fn kernel(&self, kernel: &'static Kernel) -> Result<&'static Kernel> {
        Functions::kernel_with(self.functions, kernel)
    }

    /// Sets [`Self::large_counts`] if `count` requires it and the configuration supports it.
    pub const fn large_counts_for(self, count: u64) -> Self {
        let is_onesweep = match self.policy {
            Some(policy) => matches!(policy.algorithm, SortAlgorithm::Onesweep),
            None => true,
        };
        if count > SortPlan::MAX_COUNT && is_onesweep && !self.of_kernels().begins_as_indices() {
            self.large_counts()
        } else {
            self
        }
    }

    /// The key type.
    pub const fn key_type(&self) -> ElementType {
        self.key
    }

    /// Whether the order is descending.
    pub const fn is_descending(&self) -> bool {
        self.is_descending
    }

    /// The order of floats.
    pub const fn float_order(&self) -> FloatOrder {
        self.order
    }

    /// The bits that are compared.
    pub const fn bit_range(&self) -> std::ops::Range<u32> {
        self.begin_bit..self.end_bit
    }

    /// The same sort in place that keeps its keys: of keys with indices for an argsort.
    #[cfg(feature = "headless")]
    pub(crate) const fn with_keys(mut self) -> Self {
        if matches!(self.values, Values::Indices) {
            self.values = Values::Indexed;
        }
        (self.form, self.discards_keys, self.has_large_counts) = (Form::InPlace, false, false);
        self
    }

    /// The same sort with values of `size` that are read.
    #[cfg(feature = "mpi")]
    pub(crate) const fn carrying(mut self, size: ValueSize) -> Self {
        self.values = Values::Given(size);
        self
    }

    /// Size of a key, bytes.
    pub const fn key_size(&self) -> u64 {
        self.key.size() as u64
    }

    /// Bytes per key in [`SortBuffers::keys`]: the size of a key, or of the element that it is computed from.
    pub const fn source_size(&self) -> u64 {
        match self.functions {
            Some(functions) => functions.element_size(),
            None => self.key_size(),
        }
    }

    /// Bytes per key in [`SortBuffers::values`]: the size of a value or an index, or 0.
    pub const fn value_size(&self) -> u64 {
        self.values.words() as u64 * 4
    }

    /// Whether it is an argsort, which does not change the keys.
    pub const fn is_argsort(&self) -> bool {
        matches!(self.values, Values::Indices)
    }

    /// Whether values move once, by indices that are sorted with the keys.
    pub(crate) const fn moves_values_once(&self) -> bool {
        matches!(self.values, Values::Given(size) if size.words() > 2)
    }

    /// The sort that kernels do: of keys and indices, where values move once.
    pub(super) const fn of_kernels(mut self) -> Self {
        if self.moves_values_once() {
            self.values = Values::Indexed;
        }
        self
    }

    /// Whether values begin as the indices of the keys, and are not read.
    pub(crate) const fn begins_as_indices(&self) -> bool {
        matches!(self.values, Values::Indices | Values::Indexed)
    }

    /// Whether it sorts between two buffers of the caller.
    pub const fn is_double_buffered(&self) -> bool {
        matches!(self.form, Form::DoubleBuffer)
    }

    /// Whether the result is elsewhere than the input.
    pub(super) const fn has_output(&self) -> bool {
        matches!(self.form, Form::OutOfPlace | Form::DestroysInput)
    }

    /// Whether the last pass writes no keys: they are discarded, or the caller's are kept.
    pub(crate) const fn has_no_last_keys(&self) -> bool {
        self.discards_keys || self.is_argsort()
    }

    /// Whether the order of equal keys cannot be seen in the result: they have the same bits, and no values.
    pub(super) const fn sorts_whole_keys_alone(&self) -> bool {
        let is_alone = self.value_size() == 0;
        is_alone
            && self.bit_count() == self.key.bits()
            && self.key.key_numbers(self.order) == self.key.numbers()
    }

    /// Bytes per key that passes omit: the first reads no indices, and the last may write no keys.
    pub(super) const fn omitted_size(&self) -> u64 {
        (if self.begins_as_indices() { self.value_size() } else { 0 })
            + (if self.has_no_last_keys() { self.key_size() } else { 0 })
    }

    /// Bytes that a kernel reads and writes per key that moves each key once.
    pub(super) const fn moved_once(&self) -> u64 {
        2 * (self.key_size() + self.value_size()) - self.omitted_size()
    }

    /// Whether the range of values is neither read nor written.
    const fn has_unused_values(&self) -> bool {
        self.begins_as_indices() && matches!(self.form, Form::OutOfPlace)
    }

    /// What a recording does with the keys, and with the values.
    const fn roles(&self) -> (Role, Role) {
        let is_kept = matches!(self.form, Form::OutOfPlace);
        let keys_are_kept = is_kept || (self.is_argsort() && matches!(self.form, Form::InPlace));
        let keys = if keys_are_kept { Role::Read } else { Role::ReadWrite };
        let values = match (self.begins_as_indices(), is_kept) {
            (true, _) => Role::Write,
            (false, true) => Role::Read,
            (false, false) => Role::ReadWrite,
        };
        (keys, values)
    }

    /// Whether indices or an output are written even where the order cannot change.
    pub(super) const fn must_write(&self) -> bool {
        self.begins_as_indices() || self.has_output()
    }

    /// Number of passes with digits of `radix_bits` bits.
    pub(super) const fn pass_count(&self, radix_bits: u32) -> u32 {
        match self.bit_count().div_ceil(radix_bits) {
            // Without bits the order of the input stays, but the indices or the output must be written.
            0 if self.must_write() => 1,
            passes => passes,
        }
    }

    /// `result` in `glsl/sort/digit_histogram.comp`.
    pub(super) const fn result(&self) -> u32 {
        let of_keys = match (self.is_argsort(), self.form) {
            (false, Form::InPlace) => 0,
            (false, Form::DoubleBuffer | Form::OutOfPlace | Form::DestroysInput) => 1,
            (true, _) => 2,
        };
        of_keys | (self.begins_as_indices() as u32) << 2 | (self.has_no_last_keys() as u32) << 3
    }

    /// Number of bits to sort by.
    pub(super) const fn bit_count(&self) -> u32 {
        self.end_bit - self.begin_bit
    }

    /// Words of an offset in an array of keys.
    pub(super) const fn offset_words(&self) -> u32 {
        1 + self.has_large_counts as u32
    }

    /// Words of a key and of a value, of which kernels are tuned.
    pub(super) const fn words(&self) -> [u32; 2] {
        [self.key.words(), self.of_kernels().values.words()]
    }

    /// Defines of kernels with keys and values.
    pub(super) const fn defines(&self) -> [Define; 2] {
        [packed::key_define(self.key), ("VALUE_WORDS", self.values.words())]
    }

    /// Specialization constants of kernels that read keys.
    pub(super) fn constants(&self) -> [(&'static str, u32); 2] {
        [("KEY_NUMBERS", self.key.key_numbers(self.order)), ("DESCENDING", self.is_descending.into())]
    }

    /// Bits of keys that kernels read and write as they are; `None` of whole words.
    pub(super) const fn packed_bits(&self) -> Option<u32> {
        if self.key.is_packed() { Some(self.key.bits()) } else { None }
    }

    /// Specialization constant of kernels that scatter.
    pub(super) fn last_keys_constant(&self) -> (&'static str, u32) {
        ("NO_LAST_KEYS", self.has_no_last_keys().into())
    }

    /// The form of keys that are packed.
    const fn form(&self) -> Option<PackedForm> {
        PackedForm::new(self.key, Content::Key(self.order))
    }

    /// The same sort of words that have the key's order in their low bits.
    pub(super) const fn of_unpacked(mut self) -> Self {
        if self.key.is_packed() {
            (self.key, self.order) = (ElementType::U32, FloatOrder::Total);
        }
        self
    }

    pub(super) fn check(&self, _: &Capabilities) -> Result<()> {
        in_range("the last bit of a sort", self.end_bit, 0..=self.key.bits())?;
        in_range("the first bit of a sort", self.begin_bit, 0..=self.end_bit)?;
        let reason = "an argsort has no double buffer or output of keys: it does not change the keys";
        refuse_if(self.form != Form::InPlace && self.is_argsort(), reason)?;
        let reason = "only a sort of pairs, or of keys with their indices, discards its keys";
        refuse_if(self.discards_keys && (self.is_argsort() || self.value_size() == 0), reason)?;
        let begins_as_indices = self.of_kernels().begins_as_indices();
        let has_output = self.form == Form::OutOfPlace && begins_as_indices;
        let reason = "computed keys have 32 or 64 bits, of an argsort, or out of place with indices or values of more than 8 bytes; \
                          on slices they are sorted by Gpu::argsort_computed alone";
        let takes_computed = !self.key.is_packed() && (self.is_argsort() || has_output);
        refuse_if(self.functions.is_some() && !takes_computed, reason)?;
        let reason = "an argsort has no large counts, nor have keys with indices, or with values of more than 8 bytes, which move by \
                          indices: these are 32-bit numbers";
        refuse_if(self.has_large_counts && begins_as_indices, reason)
    }
}

configuration!(SortConfig, SortPolicy of Sort, |config| config.of_unpacked());

/// The memory of one recording.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct SortBuffers {
    /// Keys, input and output; only input of an argsort.
    pub keys: AddressRange,
    /// Values, input and output; output of indices; empty for keys alone, and for indices out of place.
    pub values: AddressRange,
    /// Alternate keys of a [double buffer](SortConfig::double_buffer), or the output of a sort
    /// [out of place](SortConfig::out_of_place); contents undefined.
    pub keys_alt: AddressRange,
    /// Likewise for the values of pairs.
    pub values_alt: AddressRange,
    /// What a function of the caller reads besides.
    pub functions_data: AddressRange,
    /// Scratch of [`SortPlan::scratch_requirements`](super::SortPlan::scratch_requirements).
    pub scratch: BufferRange,
}

impl SortBuffers {
    /// Buffers of a sort of keys alone.
    pub const fn new(keys: AddressRange, scratch: BufferRange) -> Self {
        let none = AddressRange::new(0, 0);
        Self { keys, values: none, keys_alt: none, values_alt: none, functions_data: none, scratch }
    }

    setters! {
        /// Sets the range of values, or of an argsort's permutation.
        values(values: AddressRange) => values = values;
        /// Sets the alternate keys of a double buffer, and the alternate values, which are empty for keys alone.
        alternates(keys_alt: AddressRange, values_alt: AddressRange) =>
            keys_alt = keys_alt, values_alt = values_alt;
        /// Sets what a function of the caller reads besides, its `data`.
        functions_data(data: AddressRange) => functions_data = data;
    }

    /// For a kernel that reads and writes each key once: sorted keys, values, and sorted values.
    pub(super) fn of_one_pass(&self, config: &SortConfig) -> [AddressRange; 3] {
        let none = AddressRange::NONE;
        let values = if config.begins_as_indices() { none } else { self.values };
        let [sorted, sorted_values] =
            if config.has_output() { [self.keys_alt, self.values_alt] } else { [self.keys, self.values] };
        [if config.has_no_last_keys() { none } else { sorted }, values, sorted_values]
    }

    /// Sets the output of a sort out of place: the keys, and the values, which are empty for keys alone.
    pub const fn output(self, keys: AddressRange, values: AddressRange) -> Self {
        self.alternates(keys, values)
    }
}

impl Buffers<Sort> for SortBuffers {
    fn arguments(&mut self, config: &SortConfig, count: &mut Count, table: &mut Arguments<'_>) -> Result<()> {
        self.rows(config, count, table, Role::Write)
    }
}

impl SortBuffers {
    /// The table of a sort; of segments, keys that are in none stay in an output: `output` tells what is done with one that is
    /// packed.
    pub(super) fn rows(
        &mut self,
        config: &SortConfig,
        count: &mut Count,
        table: &mut Arguments<'_>,
        output: Role,
    ) -> Result<()> {
        let reason = "a sort of keys alone takes no values; make the plan for pairs or an argsort";
        refuse_if(config.value_size() == 0 && (self.values.size > 0 || self.values_alt.size > 0), reason)?;
        let reason = "the plan takes no alternate buffers; make it with double_buffer or out_of_place";
        let are_given = self.keys_alt.size > 0 || self.values_alt.size > 0;
        refuse_if(config.form == Form::InPlace && are_given, reason)?;
        let size = |size: u64| count.max().saturating_mul(size);
        let (keys_size, values_size) = (size(config.key_size()), size(config.value_size()));
        let source_size = size(config.source_size());
        let has_alternates = config.form != Form::InPlace;
        let given_values_size = size_if(!config.has_unused_values(), values_size);
        let (keys, values) = config.roles();
        table.count("count", count)?;
        let (form, extent) = (config.form(), Extent::new(*count));
        table.up_to(form, extent).addresses("keys", keys, &mut self.keys, source_size)?;
        table.addresses("values", values, &mut self.values, given_values_size)?;
        let output = if form.is_some() { output } else { Role::Write };
        let alternates_size = size_if(has_alternates, keys_size);
        table.up_to(form, extent).addresses("keys_alt", output, &mut self.keys_alt, alternates_size)?;
        table.write("values_alt", &mut self.values_alt, size_if(has_alternates, values_size))?;
        Functions::read_data(config.functions, &mut self.functions_data, table)?;
        table.scratch(&mut self.scratch)
    }
}

#[cfg(test)]
mod tests;
