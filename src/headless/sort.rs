//! Sort on slices.

use super::segmented_sort::keys_in_no_segment;
use super::slices::{Slices, check_type, element_count};
use super::{Gpu, Prepared, check_value_type, check_values, zeroed};
#[cfg(feature = "mpi")]
use super::{GpuBuffer, scratch_range};
#[cfg(feature = "mpi")]
use crate::device::BufferRange;
use crate::error::{Error, Result, refuse_if};
use crate::primitives::{Number, Primitive};
use crate::sort::{SortBuffers, SortConfig};

/// The bytes of keys, which an argsort only reads.
pub(crate) enum Keys<'a> {
    Sorted(&'a mut [u8]),
    Read(&'a [u8]),
}

impl Keys<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Sorted(bytes) => bytes,
            Self::Read(bytes) => bytes,
        }
    }
}

impl Gpu {
    /// Sorts `keys` in place. For more than 2^32 - 1 keys [`SortConfig::large_counts`] is set automatically.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if they are not of the configuration's type, [`Error::ValueSizeMismatch`] if it is
    /// for pairs or an argsort, and the errors of [`Self::sort_bytes`].
    pub fn sort<N: Number>(&self, config: SortConfig, keys: &mut [N]) -> Result<()> {
        check_type::<N>(config.key_type())?;
        check_value_size(&config, 0)?;
        self.sort_bytes(config, bytemuck::cast_slice_mut(keys), &mut [])
    }

    /// Sorts `keys` in place, and permutes `values` likewise; leaves keys that the configuration discards unchanged.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if the keys are not of the configuration's type, [`Error::ValueSizeMismatch`] if the
    /// values are not of its size, [`Error::Unsupported`] for an argsort, and the errors of [`Self::sort_bytes`].
    pub fn sort_pairs<N: Number, V: bytemuck::Pod>(
        &self,
        config: SortConfig,
        keys: &mut [N],
        values: &mut [V],
    ) -> Result<()> {
        check_pairs::<N, V>(
            &config,
            "indices are no input: Gpu::argsort and Gpu::sort_with_indices make them",
        )?;
        self.sort_bytes(config, bytemuck::cast_slice_mut(keys), bytemuck::cast_slice_mut(values))
    }

    /// Returns the permutation that sorts `keys`: the first is the index of the least key, or, descending, of the
    /// greatest.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if they are not of the configuration's type, [`Error::Unsupported`] if it is not a
    /// [`SortConfig::argsort`], and the errors of [`Self::sort_bytes`].
    pub fn argsort<N: Number>(&self, config: SortConfig, keys: &[N]) -> Result<Vec<u32>> {
        check_type::<N>(config.key_type())?;
        refuse_if(!config.is_argsort(), "Gpu::argsort takes a SortConfig::argsort")?;
        let mut indices = zeroed(keys.len())?;
        let values = bytemuck::cast_slice_mut(&mut indices);
        self.prepare_keys(config, Keys::Read(bytemuck::cast_slice(keys)), values)?.run()?;
        Ok(indices)
    }

    /// As [`Self::argsort`], of elements that a configuration computes keys from; `data` is what the function reads besides,
    /// whole words.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if it is not a [`SortConfig::argsort`] with [`SortConfig::computed`] keys, and the errors of
    /// [`Self::prepare_sort`].
    ///
    /// # Safety
    /// `data` is what the function reads; addresses in it point to live memory of the device.
    pub unsafe fn argsort_computed<T: bytemuck::Pod>(
        &self,
        config: SortConfig,
        elements: &[T],
        data: &[u8],
    ) -> Result<Vec<u32>> {
        let reason = "Gpu::argsort_computed takes a computed SortConfig::argsort";
        refuse_if(!config.is_argsort() || !config.is_computed(), reason)?;
        let elements = bytemuck::cast_slice(elements);
        let count = element_count(elements, config.source_size())?;
        let inputs = [("keys", elements), ("functions_data", data)];
        let slices = self.slices(self.declared(config)?, SortBuffers::default(), count, &inputs)?;
        slices.run(&inputs)?.read("values", count)
    }

    /// Sorts `keys` in place, unless the configuration discards them, and returns the index that each had.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if they are not of the configuration's type, [`Error::Unsupported`] if it is not one of
    /// [`SortConfig::keys_and_indices`], and the errors of [`Self::sort_bytes`].
    pub fn sort_with_indices<N: Number>(&self, config: SortConfig, keys: &mut [N]) -> Result<Vec<u32>> {
        check_type::<N>(config.key_type())?;
        let reason = "Gpu::sort_with_indices takes a SortConfig::keys_and_indices";
        refuse_if(config.is_argsort() || !config.begins_as_indices(), reason)?;
        let mut indices = zeroed(keys.len())?;
        self.sort_bytes(config, bytemuck::cast_slice_mut(keys), bytemuck::cast_slice_mut(&mut indices))?;
        Ok(indices)
    }

    /// As [`Self::sort_pairs`], for keys and values of any type and size as bytes in memory order. `values` is
    /// empty for keys alone, and receives an index for each key of an argsort, which leaves the keys unchanged, and of keys
    /// with indices.
    ///
    /// # Errors
    /// Errors of [`Self::prepare_sort`] and [`Prepared::run`].
    pub fn sort_bytes(&self, config: SortConfig, keys: &mut [u8], values: &mut [u8]) -> Result<()> {
        self.prepare_sort(config, keys, values)?.run_or_keep()
    }

    /// Prepares [`Self::sort_bytes`]: creates the plan, and computes the size of the memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if the bytes are not whole keys or values, [`Error::ValueCountMismatch`] unless
    /// there is a value for each key, [`Error::ValueSizeMismatch`] for values of keys alone, and the errors of
    /// [`SortPlan`](crate::sort::SortPlan).
    pub fn prepare_sort<'a>(
        &'a self,
        config: SortConfig,
        keys: &'a mut [u8],
        values: &'a mut [u8],
    ) -> Result<Prepared<'a>> {
        self.prepare_keys(config, Keys::Sorted(keys), values)
    }

    pub(crate) fn prepare_keys<'a>(
        &'a self,
        config: SortConfig,
        keys: Keys<'a>,
        values: &'a mut [u8],
    ) -> Result<Prepared<'a>> {
        // Slices are sorted in place, whatever the form of a recording.
        let config = config.in_place();
        let count = check_bytes(&config, keys.bytes(), values)?;
        let plan = self.declared(config.large_counts_for(count))?;
        let inputs = [("keys", keys.bytes()), ("values", &*values)];
        let slices = self.slices(plan, SortBuffers::default(), count, &inputs)?;
        Ok(slices.sorted(config, keys, values, None))
    }

    /// Sorts the first `count` keys and values of buffers in place, and waits.
    #[cfg(feature = "mpi")]
    pub(crate) fn sort_buffers(
        &self,
        config: SortConfig,
        keys: &mut GpuBuffer,
        values: Option<&mut GpuBuffer>,
        count: u64,
    ) -> Result<()> {
        let size = |bytes: u64| usize::try_from(count.saturating_mul(bytes)).unwrap_or(usize::MAX);
        let keys = self.checked(keys, 0, size(config.key_size()))?;
        let values = values.map(|values| self.checked(values, 0, size(config.value_size()))).transpose()?;
        let plan = self.declared(config.large_counts_for(count))?;
        plan.check_count(count)?;
        let scratch = self.allocate_scratch(plan.scratch_requirements(count).size)?;
        let buffers = SortBuffers::new(keys.addresses(), scratch_range(&scratch))
            .values(values.as_ref().map(BufferRange::addresses).unwrap_or_default());
        // SAFETY: the buffers are this device's, live until `submit` has waited, and borrowed for this alone.
        unsafe { self.submit_plan(&plan, &buffers, count) }
    }
}

impl<'a, P: Primitive> Slices<'a, P> {
    /// A sort, which of segments, by their begins and where they have such their ends, leaves those keys that are in none.
    pub(super) fn sorted(
        self,
        config: SortConfig,
        keys: Keys<'a>,
        values: &'a mut [u8],
        segments: Option<[&'a [u32]; 2]>,
    ) -> Prepared<'a> {
        Prepared::new(self.device_size(), move |on_error| {
            let of_segments = segments.map(|[begins, ends]| [("segments", begins), ("segment_ends", ends)]);
            let of_segments = of_segments.into_iter().flatten();
            let of_segments = of_segments.map(|(name, indices)| (name, bytemuck::cast_slice(indices)));
            let inputs = [("keys", keys.bytes()), ("values", &*values)];
            let completed = self.run(&inputs.into_iter().chain(of_segments).collect::<Vec<_>>())?;
            let sorted = match keys {
                Keys::Sorted(keys) if !config.has_no_last_keys() => Some(("keys", keys)),
                _ => None,
            };
            completed.read_back(sorted.into_iter().chain([("values", &mut *values)]), on_error)?;
            if let (Some(segments), true) = (segments, config.begins_as_indices()) {
                // The device writes no indices for keys that are in no segment.
                let others = keys_in_no_segment(segments, (values.len() / 4) as u32);
                for index in others.into_iter().flatten() {
                    values[4 * index as usize..][..4].copy_from_slice(&index.to_ne_bytes());
                }
            }
            Ok(())
        })
    }
}

/// Checks the types of pairs; `reason` is the error's for an argsort.
pub(super) fn check_pairs<N: Number, V>(config: &SortConfig, reason: &'static str) -> Result<()> {
    check_type::<N>(config.key_type())?;
    refuse_if(config.begins_as_indices(), reason)?;
    check_value_size(config, size_of::<V>() as u64)
}

pub(super) fn check_value_size(config: &SortConfig, got: u64) -> Result<()> {
    let expected = config.value_size();
    if expected == got { Ok(()) } else { Err(Error::ValueSizeMismatch { expected, got }) }
}

/// Number of keys. Checks that there is a whole value for each whole key, or no value for keys alone.
pub(super) fn check_bytes(config: &SortConfig, keys: &[u8], values: &[u8]) -> Result<u64> {
    check_value_type(config.value_size(), values)?;
    let key_count = element_count(keys, config.source_size())?;
    check_values(config.value_size(), key_count, values)?;
    Ok(key_count)
}
