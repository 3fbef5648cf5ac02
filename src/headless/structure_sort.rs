//! Sort of structures on slices.

use super::slices::{element_count, result_of};
use super::{Gpu, Prepared, zeroed};
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, refuse_if};
use crate::sort::{StructureSortBuffers, StructureSortConfig};

impl Gpu {
    /// Sorts structures in place by the fields of the configuration's key, or by its function.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a structure has another size than the configuration's, and the errors of
    /// [`Self::prepare_structure_sort`] and [`Prepared::run`].
    pub fn sort_structures<S: bytemuck::Pod>(
        &self,
        config: StructureSortConfig,
        structures: &mut [S],
    ) -> Result<()> {
        check_size::<S>(&config)?;
        self.prepare_structure_sort(config, bytemuck::cast_slice_mut(structures))?.run_or_keep()
    }

    /// As [`Self::sort_structures`], by a function of the caller that reads `data` besides.
    ///
    /// # Errors
    /// Errors of [`Self::sort_structures`], and [`Error::RangeTooSmall`] for less data than the function reads.
    ///
    /// # Safety
    /// `data` is what the function reads, whole words; addresses in it point to live memory of the device.
    pub unsafe fn sort_structures_custom<S: bytemuck::Pod>(
        &self,
        config: StructureSortConfig,
        structures: &mut [S],
        data: &[u8],
    ) -> Result<()> {
        check_size::<S>(&config)?;
        self.prepared_structure_sort(config, bytemuck::cast_slice_mut(structures), data)?.run_or_keep()
    }

    /// Returns the permutation that sorts structures.
    ///
    /// # Errors
    /// [`Error::OutOfHostMemory`], [`Error::Unsupported`] if a structure has another size than the configuration's, and
    /// the errors of [`Self::prepare_structure_argsort`] and [`Prepared::run`].
    pub fn argsort_structures<S: bytemuck::Pod>(
        &self,
        config: StructureSortConfig,
        structures: &[S],
    ) -> Result<Vec<u32>> {
        self.argsorted_structures(config, structures, &[])
    }

    /// As [`Self::argsort_structures`], by a function of the caller that reads `data` besides.
    ///
    /// # Errors
    /// Errors of [`Self::argsort_structures`], and [`Error::RangeTooSmall`] for less data than the function reads.
    ///
    /// # Safety
    /// `data` is what the function reads, whole words; addresses in it point to live memory of the device.
    pub unsafe fn argsort_structures_custom<S: bytemuck::Pod>(
        &self,
        config: StructureSortConfig,
        structures: &[S],
        data: &[u8],
    ) -> Result<Vec<u32>> {
        self.argsorted_structures(config, structures, data)
    }

    fn argsorted_structures<S: bytemuck::Pod>(
        &self,
        config: StructureSortConfig,
        structures: &[S],
        data: &[u8],
    ) -> Result<Vec<u32>> {
        check_size::<S>(&config)?;
        let mut indices = zeroed(structures.len())?;
        let structures = bytemuck::cast_slice(structures);
        self.prepared_structure_argsort(config, [structures, data], &mut indices)?.run()?;
        Ok(indices)
    }

    /// Prepares [`Self::sort_structures`] of structures as bytes in memory order: creates the plan, and computes the size of
    /// the memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if they are not whole structures, [`Error::Unsupported`] for an argsort, and the
    /// errors of [`StructureSortPlan`](crate::sort::StructureSortPlan).
    pub fn prepare_structure_sort<'a>(
        &'a self,
        config: StructureSortConfig,
        structures: &'a mut [u8],
    ) -> Result<Prepared<'a>> {
        self.prepared_structure_sort(config, structures, &[])
    }

    fn prepared_structure_sort<'a>(
        &'a self,
        config: StructureSortConfig,
        structures: &'a mut [u8],
        data: &'a [u8],
    ) -> Result<Prepared<'a>> {
        let reason = "an argsort moves no structures: Gpu::argsort_structures returns its indices";
        refuse_if(config.is_argsort(), reason)?;
        let plan = self.declared(config.in_place())?;
        let count = element_count(structures, config.structure_size())?;
        let inputs = [("structures", &*structures), ("functions_data", data)];
        let slices = self.slices(plan, StructureSortBuffers::default(), count, &inputs)?;
        Ok(Prepared::new(slices.device_size(), move |on_error| {
            let sorted = slices.run(&[("structures", &*structures), ("functions_data", data)])?;
            sorted.read_back([("structures", structures)], on_error)
        }))
    }

    /// Prepares [`Self::argsort_structures`] likewise, into `indices`.
    ///
    /// # Errors
    /// Errors of [`Self::prepare_structure_sort`], [`Error::Unsupported`] for a sort that is not an argsort, and
    /// [`Error::RangeTooSmall`] for less than an index of each structure.
    pub fn prepare_structure_argsort<'a>(
        &'a self,
        config: StructureSortConfig,
        structures: &'a [u8],
        indices: &'a mut [u32],
    ) -> Result<Prepared<'a>> {
        self.prepared_structure_argsort(config, [structures, &[]], indices)
    }

    fn prepared_structure_argsort<'a>(
        &'a self,
        config: StructureSortConfig,
        [structures, data]: [&'a [u8]; 2],
        indices: &'a mut [u32],
    ) -> Result<Prepared<'a>> {
        refuse_if(!config.is_argsort(), "Gpu::argsort_structures takes a StructureSortConfig::argsort")?;
        let plan = self.declared(config)?;
        let count = element_count(structures, config.structure_size())?;
        let indices = result_of(bytemuck::cast_slice_mut(indices), count.saturating_mul(4), "the indices")?;
        let inputs = [("structures", structures), ("functions_data", data)];
        let slices = self.slices(plan, StructureSortBuffers::default(), count, &inputs)?;
        Ok(Prepared::new(slices.device_size(), move |on_error| {
            slices.run(&inputs)?.read_back([("indices", indices)], on_error)
        }))
    }
}

fn check_size<S>(config: &StructureSortConfig) -> Result<()> {
    let reason = "the structures have another size than the configuration says; give it their size_of";
    refuse_if(size_of::<S>() as u64 != config.structure_size(), reason)
}
