//! Configuration of a top-k, and the memory of a recording.

use super::TopK;
use super::policy::TopKPolicy;
use crate::device::{AddressRange, BufferRange, Capabilities};
use crate::error::{Result, at_most, in_range, refuse_if};
use crate::kernels::{Define, Kernel};
use crate::primitives::arguments::{Arguments, size_if};
use crate::primitives::packed::{self, Extent, PackedForm};
use crate::primitives::plan::{Buffers, configuration};
use crate::primitives::{Count, ElementType, FloatOrder, Functions};

/// Configuration of a [`TopKPlan`](super::TopKPlan).
///
/// Floats are in the order of numpy or, by [`Self::order`], in [`FloatOrder::Total`].
///
#[doc = example!()]
/// use subsweep::{ElementType, headless::{Gpu, GpuOptions}};
/// use subsweep::top_k::TopKConfig;
///
/// let gpu = Gpu::open(GpuOptions::default())?;
/// // The two largest of each row of three, and their columns.
/// let scores = [0.5f32, 2.0, 1.0, 3.0, 4.0, 5.0];
/// let (keys, columns) = gpu.top_k(TopKConfig::largest(ElementType::F32, 3, 2), &scores)?;
/// assert_eq!((keys, columns), (vec![2.0, 1.0, 5.0, 4.0], vec![1, 2, 2, 1]));
/// # Ok::<(), subsweep::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TopKConfig {
    pub(super) element: ElementType,
    pub(super) columns: u32,
    pub(super) k: u32,
    pub(super) is_smallest: bool,
    order: FloatOrder,
    pub(super) is_sorted: bool,
    has_keys: bool,
    has_indices: bool,
    words_per_value: u32,
    has_segments: bool,
    has_own_k: bool,
    functions: Option<&'static Functions>,
    pub(super) has_indirect_count: bool,
    pub(super) policy: Option<TopKPolicy>,
}

impl TopKConfig {
    /// Maximum number of columns.
    pub const MAX_COLUMNS: u32 = 1 << 28;
    /// Maximum size of a value, words: 16 KiB.
    pub const MAX_VALUE_WORDS: u32 = 1 << 12;

    /// The `k` largest keys of each row of `columns` keys, and their columns: the largest first, and of equal keys the key
    /// of the lowest column. 1 to [`Self::MAX_COLUMNS`] columns, and 1 to `columns` keys.
    pub const fn largest(element: ElementType, columns: u32, k: u32) -> Self {
        Self {
            element,
            columns,
            k,
            is_smallest: false,
            order: FloatOrder::Numpy,
            is_sorted: true,
            has_keys: true,
            has_indices: true,
            words_per_value: 0,
            has_segments: false,
            has_own_k: false,
            functions: None,
            has_indirect_count: false,
            policy: None,
        }
    }

    /// Likewise the `k` smallest keys, the smallest first: `np.argsort(a, axis=1, kind='stable')[:, :k]`.
    pub const fn smallest(element: ElementType, columns: u32, k: u32) -> Self {
        Self { is_smallest: true, ..Self::largest(element, columns, k) }
    }

    setters! {
        /// The same keys in the order of their columns. Saves the sort.
        unsorted() => is_sorted = false;
        /// Sets the order of floats; by default [`FloatOrder::Numpy`].
        order(order: FloatOrder) => order = order;
        /// Moves a value of `words_per_value` 32-bit words, 1 to [`Self::MAX_VALUE_WORDS`], with each selected key; 0 for none.
        values(words_per_value: u32) => words_per_value = words_per_value;
        /// Writes no keys, only columns and values.
        without_keys() => has_keys = false;
        /// Writes no columns, only keys and values.
        without_indices() => has_indices = false;
        /// Rows of unequal lengths, of up to `columns` keys, which begin at the indices in [`TopKBuffers::segments`]. A row of fewer
        /// than k keys has as many results: in the other slots of its k are keys and values of 0, and indices of 2^32 - 1. Longer rows
        /// are cut off. Each ends where the next begins: keys that no row takes are a row of their own, with a k of 0 by
        /// [`Self::own_k`]. Scratch and the maximum number of rows are as for rows of `columns` keys, and keys of 8 and 16 bits
        /// are no more together.
        segments() => has_segments = true;
        /// A k of its own for each row in [`TopKBuffers::ks`], of which none is greater than k: likewise.
        own_k() => has_own_k = true;
        /// Selects by keys that a function of the caller computes from elements while they are loaded: `Key key_of(Words
        /// element, uint index, Words data)`, in the form of the type. [`TopKBuffers::source`] has the elements.
        computed(functions: &'static Functions) => functions = Some(functions);
        /// Supports indirect counts, [`Count::Indirect`].
        indirect_count() => has_indirect_count = true;
        /// Sets the policy; by default [`TopKPolicy::choose`] chooses it.
        policy(policy: TopKPolicy) => policy = Some(policy);
    }

    /// Type of the keys.
    pub const fn element_type(&self) -> ElementType {
        self.element
    }

    /// Keys of a row.
    pub const fn column_count(&self) -> u32 {
        self.columns
    }

    /// Keys that are selected of a row.
    pub const fn k(&self) -> u32 {
        self.k
    }

    /// Whether a function of the caller computes the keys.
    pub const fn is_computed(&self) -> bool {
        self.functions.is_some()
    }

    /// The kernel, or in its place that with functions.
    pub(super) fn kernel(&self, kernel: &'static Kernel) -> Result<&'static Kernel> {
        Functions::kernel_with(self.functions, kernel)
    }

    /// Size of a key of the source, bytes, or of the element that it is computed from.
    pub const fn source_size(&self) -> u64 {
        match self.functions {
            Some(functions) => functions.element_size(),
            None => self.element.size() as u64,
        }
    }

    /// Size of a row, bytes.
    pub const fn row_size(&self) -> u64 {
        self.columns as u64 * self.source_size()
    }

    /// Size of the selected keys of a row, bytes; 0 if none are written.
    pub const fn keys_size(&self) -> u64 {
        if self.has_keys { self.k as u64 * self.element.size() as u64 } else { 0 }
    }

    /// Size of their columns, bytes; 0 if none are written.
    pub const fn indices_size(&self) -> u64 {
        if self.has_indices { self.k as u64 * 4 } else { 0 }
    }

    /// Size of a value, bytes; 0 without values.
    pub const fn value_size(&self) -> u64 {
        self.words_per_value as u64 * 4
    }

    /// Whether rows have lengths of their own.
    pub const fn has_segments(&self) -> bool {
        self.has_segments
    }

    /// Whether rows have a k of their own.
    pub const fn has_own_k(&self) -> bool {
        self.has_own_k
    }

    /// Whether rows have lengths or a k of their own.
    pub(super) const fn is_unequal(&self) -> bool {
        self.has_segments || self.has_own_k
    }

    /// The constant of the kernels that move values.
    pub(super) const fn value_constant(&self) -> (&'static str, u32) {
        ("WORDS_PER_VALUE", self.words_per_value)
    }

    /// The constants of the kernels that compare keys.
    pub(super) const fn order_constants(&self) -> [(&'static str, u32); 2] {
        [("KEY_NUMBERS", self.element.key_numbers(self.order)), ("DESCENDING", !self.is_smallest as u32)]
    }

    /// The define of every kernel.
    pub(super) const fn key_define(&self) -> [Define; 1] {
        [packed::key_define(self.element)]
    }

    pub(super) fn check(&self, _: &Capabilities) -> Result<()> {
        in_range("columns of a top-k", self.columns, 1..=Self::MAX_COLUMNS)?;
        in_range("k of a top-k, up to the columns of a row", self.k, 1..=self.columns)?;
        in_range("words per value of a top-k", self.words_per_value, 0..=Self::MAX_VALUE_WORDS)?;
        Functions::check_keys(self.functions, self.element)?;
        let reason = "a top-k writes keys, indices or values; leave out without_keys or without_indices";
        refuse_if(!self.has_keys && !self.has_indices && self.words_per_value == 0, reason)
    }
}

configuration!(
    TopKConfig,
    TopKPolicy of TopK,
    |config| Self { element: config.element.unpacked(), ..*config }
);

/// The memory of one recording. Ranges that the configuration does not use are ignored.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct TopKBuffers {
    /// Rows of keys; [with segments](TopKConfig::segments) all keys, of which there is at least one.
    pub source: AddressRange,
    /// Indices of the first key of each row, u32, in ascending order, with [`TopKConfig::segments`]. A row ends where the next
    /// begins, and the last with the keys.
    pub segments: AddressRange,
    /// The k of each row, u32, with [`TopKConfig::own_k`].
    pub ks: AddressRange,
    /// The selected keys: k for each row.
    pub destination: AddressRange,
    /// The columns of the selected keys, u32: k for each row.
    pub destination_indices: AddressRange,
    /// A value for each key.
    pub source_values: AddressRange,
    /// The values of the selected keys: k for each row.
    pub destination_values: AddressRange,
    /// Scratch of [`TopKPlan::scratch_requirements`](super::TopKPlan::scratch_requirements).
    pub scratch: BufferRange,
    /// What a function of the caller reads besides, if it does.
    pub functions_data: AddressRange,
}

impl TopKBuffers {
    /// Rows, and the memory of the result, without values.
    pub const fn new(
        source: AddressRange,
        destination: AddressRange,
        destination_indices: AddressRange,
        scratch: BufferRange,
    ) -> Self {
        let none = AddressRange::NONE;
        let (source_values, destination_values) = (none, none);
        let (segments, ks) = (none, none);
        Self {
            source,
            segments,
            ks,
            destination,
            destination_indices,
            source_values,
            destination_values,
            scratch,
            functions_data: none,
        }
    }

    setters! {
        /// Sets the data of a function of the caller.
        functions_data(data: AddressRange) => functions_data = data;
        /// Sets where rows begin, with [`TopKConfig::segments`].
        segments(segments: AddressRange) => segments = segments;
        /// Sets the k of each row, with [`TopKConfig::own_k`].
        ks(ks: AddressRange) => ks = ks;
    }

    /// The number of keys in `source`, with segments.
    pub(super) fn key_count(&self, config: &TopKConfig) -> u32 {
        let count = self.source.size / config.source_size();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Sets the values, and the memory of the selected ones.
    pub const fn values(mut self, source_values: AddressRange, destination_values: AddressRange) -> Self {
        (self.source_values, self.destination_values) = (source_values, destination_values);
        self
    }
}

impl Buffers<TopK> for TopKBuffers {
    fn arguments(&mut self, config: &TopKConfig, count: &mut Count, table: &mut Arguments<'_>) -> Result<()> {
        let max = count.max();
        let size = |row_size: u64| max.saturating_mul(row_size);
        let values_size = |key_count: u32| size(u64::from(key_count) * config.value_size());
        table.count("count", count)?;
        table.read("segments", &mut self.segments, size_if(config.has_segments, size(4)))?;
        table.read("ks", &mut self.ks, size_if(config.has_own_k, size(4)))?;
        let form = PackedForm::numbers(config.element);
        if config.has_segments && self.source.size > 0 {
            let key_size = config.source_size();
            let key_count = self.source.size / key_size;
            if form.is_some() && max > 0 {
                // Scratch has room for the words of as many.
                at_most(key_count, size(config.columns.into()), "a top-k of these rows of 8 or 16 bits")?;
            }
            table.with_form(form).read("source", &mut self.source, key_count * key_size)?;
            let values_size = key_count.saturating_mul(config.value_size());
            table.read("source_values", &mut self.source_values, values_size)?;
        } else {
            table.up_to(form, Extent::new(*count).rows(config.columns, 0)).read(
                "source",
                &mut self.source,
                size(config.row_size()),
            )?;
            table.read("source_values", &mut self.source_values, values_size(config.columns))?;
        }
        Functions::read_data(config.functions, &mut self.functions_data, table)?;
        table.up_to(form, Extent::new(*count).rows(config.k, 0)).write(
            "destination",
            &mut self.destination,
            size(config.keys_size()),
        )?;
        table.write("destination_indices", &mut self.destination_indices, size(config.indices_size()))?;
        table.write("destination_values", &mut self.destination_values, values_size(config.k))?;
        table.scratch(&mut self.scratch)
    }
}
