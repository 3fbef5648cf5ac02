//! Scan on slices.

use super::slices::{check_type, element_count, row_count};
use super::{Gpu, Prepared};
#[cfg(feature = "mpi")]
use super::{GpuBuffer, scratch_range};
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, refuse_if};
use crate::primitives::{ElementType, Number};
use crate::scan::{InitialValue, ScanBuffers, ScanConfig};

/// Optional inputs of a scan.
#[derive(Debug, Clone, Copy)]
pub struct ScanInputs<'a, N> {
    /// Initial value: a row, one value per column.
    pub initial: Option<&'a [N]>,
    /// Beginnings of segments, in the form of [`ScanConfig::segments`].
    pub segments: &'a [u32],
}

impl<N> Default for ScanInputs<'_, N> {
    fn default() -> Self {
        Self { initial: None, segments: &[] }
    }
}

impl Gpu {
    /// Scans `values` in place: a row-major table with the configuration's columns. Elements of a caller's functions are
    /// rows of words, of any 32-bit type.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if they are not of the configuration's type (u32 stands for any type of 32 bits), and
    /// the errors of [`Self::scan_bytes`].
    pub fn scan<N: Number>(&self, config: ScanConfig, values: &mut [N]) -> Result<()> {
        self.scan_with(config, values, ScanInputs::default())
    }

    /// As [`Self::scan`], with an initial value, segments, or both.
    ///
    /// # Errors
    /// Errors of [`Self::scan`].
    pub fn scan_with<N: Number>(
        &self,
        config: ScanConfig,
        values: &mut [N],
        inputs: ScanInputs<'_, N>,
    ) -> Result<()> {
        check_type::<N>(config.element_type())?;
        let ScanInputs { initial, segments } = inputs;
        let inputs = ScanInputs { initial: initial.map(bytemuck::cast_slice), segments };
        self.scan_bytes(config, bytemuck::cast_slice_mut(values), inputs)
    }

    /// As [`Self::scan_with`], for values of any type as bytes in memory order.
    ///
    /// # Errors
    /// Errors of [`Self::prepare_scan`] and [`Prepared::run`].
    pub fn scan_bytes(&self, config: ScanConfig, rows: &mut [u8], inputs: ScanInputs<'_, u8>) -> Result<()> {
        self.prepare_scan(config, rows, inputs)?.run_or_keep()
    }

    /// Returns the scan of `elements` by functions of the caller, whole results as words: of elements, and results, that they
    /// compute as well. `data` is what they read besides, whole words.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a built-in operator, and the errors of [`Self::scan_with`].
    ///
    /// # Safety
    /// `data` is what the functions read; addresses in it point to live memory of the device.
    pub unsafe fn scan_computed<T: bytemuck::Pod>(
        &self,
        mut config: ScanConfig,
        elements: &[T],
        inputs: ScanInputs<'_, u32>,
        data: &[u8],
    ) -> Result<Vec<u32>> {
        refuse_if(config.element_type().is_some(), "Gpu::scan_computed takes a ScanConfig::custom")?;
        let mut initial = InitialValue::Identity;
        if let Some(row) = inputs.initial {
            (initial, config) = (InitialValue::host(row)?, config.with_initial());
        }
        let elements = bytemuck::cast_slice(elements);
        let count = element_count(elements, config.source_size())?;
        let segments = bytemuck::cast_slice(inputs.segments);
        let inputs = [("source", elements), ("segments", segments), ("functions_data", data)];
        let buffers = ScanBuffers::default().initial(initial);
        let slices = self.slices(self.declared(config)?, buffers, count, &inputs)?;
        let words = slices.size("destination") / 4;
        slices.run(&inputs)?.read("destination", words)
    }

    /// Scans the first `count` rows of a buffer to another, and waits.
    #[cfg(feature = "mpi")]
    pub(crate) fn scan_buffers(
        &self,
        mut config: ScanConfig,
        source: &GpuBuffer,
        result: &mut GpuBuffer,
        count: u64,
        initial: Option<&[u32]>,
    ) -> Result<()> {
        let mut initial_value = InitialValue::Identity;
        if let Some(row) = initial {
            initial_value = InitialValue::host(row)?;
            config = config.with_initial();
        }
        let size = usize::try_from(count.saturating_mul(config.row_size())).unwrap_or(usize::MAX);
        let [source, result] = [self.checked(source, 0, size)?, self.checked(result, 0, size)?];
        let plan = self.declared(config)?;
        let scratch = self.allocate_scratch(plan.scratch_requirements(count).size)?;
        let buffers = ScanBuffers::new(source.addresses(), result.addresses(), scratch_range(&scratch))
            .initial(initial_value);
        // SAFETY: the buffers are this device's, live until `submit` has waited, and used by nothing else.
        unsafe { self.submit_plan(&plan, &buffers, count) }
    }

    /// Prepares [`Self::scan_bytes`]: creates the plan, and computes the size of the memory, before any is allocated.
    ///
    /// # Errors
    /// [`Error::PartialElement`], [`Error::RowLengthMismatch`], and the errors of [`ScanPlan`](crate::scan::ScanPlan).
    pub fn prepare_scan<'a>(
        &'a self,
        mut config: ScanConfig,
        rows: &'a mut [u8],
        inputs: ScanInputs<'a, u8>,
    ) -> Result<Prepared<'a>> {
        check_in_place(&config)?;
        let mut initial = InitialValue::Identity;
        if let Some(row) = inputs.initial {
            initial = InitialValue::of_bytes(config.element_type().unwrap_or(ElementType::U32), row)?;
            config = config.with_initial();
        }
        let plan = self.declared(config)?;
        let value_size = config.element_type().map_or(config.row_size(), |element| element.size() as u64);
        let count = row_count(rows, config.row_size(), value_size)?;
        let buffers = ScanBuffers::default().initial(initial);
        let is_in_place = plan.scans_in_place();
        let segments = bytemuck::cast_slice(inputs.segments);
        let given = [("source", &*rows), ("segments", segments)];
        let slices = self.slices(plan, buffers, count, &given)?.in_place(is_in_place);
        Ok(Prepared::new(slices.device_size(), move |on_error| {
            let scanned = slices.run(&[("source", &*rows), ("segments", segments)])?;
            scanned.read_back([("destination", rows)], on_error)
        }))
    }
}

/// Fails for results of another size than the elements.
pub(super) fn check_in_place(config: &ScanConfig) -> Result<()> {
    let reason =
        "slices and streams are scanned in place; call scan_computed for functions with transform or store";
    refuse_if(config.stages().is_some(), reason)?;
    let reason = "slices and streams are scanned in place: results of 32 bits are for recordings of the plan";
    refuse_if(config.result_size() != config.row_size(), reason)
}
