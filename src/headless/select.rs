//! Selections and partitions on slices.

use std::borrow::Cow;

use super::slices::element_count;
use super::{Gpu, Prepared, numbers, zeroed};
use crate::error::{Error, Result, refuse_if};
use crate::primitives::{ElementType, Number};
use crate::select::{Operands, SelectBuffers, SelectConfig};

/// What a selection reads, on slices.
#[derive(Debug, Clone, Default)]
pub struct SelectInputs<'a> {
    source: &'a [u8],
    flags: Flags<'a>,
    values: &'a [u8],
    operands: Operands,
    functions_data: &'a [u8],
    /// The type of the numbers in `source`; `None` for words of any type.
    element: Option<ElementType>,
}

#[derive(Debug, Clone, Copy, Default)]
enum Flags<'a> {
    #[default]
    None,
    U8(&'a [u8]),
    U32(&'a [u32]),
}

impl<'a> SelectInputs<'a> {
    /// Elements to select from, each of one or more numbers; u32 are words of any type.
    pub fn new<N: Number>(source: &'a [N]) -> Self {
        let element = Some(N::TYPE).filter(|&element| element != ElementType::U32);
        Self { source: bytemuck::cast_slice(source), element, ..Self::default() }
    }

    /// As [`Self::new`], of elements of any type as bytes in memory order.
    pub fn of_bytes(source: &'a [u8]) -> Self {
        Self { source, ..Self::default() }
    }

    setters! {
        /// Sets flags of 8 bits.
        flags8(flags: &'a [u8]) => flags = Flags::U8(flags);
        /// Sets flags of 32 bits.
        flags32(flags: &'a [u32]) => flags = Flags::U32(flags);
        /// Sets the values, as bytes in memory order.
        values_of_bytes(values: &'a [u8]) => values = values;
        /// Sets the operands of the comparisons.
        operands(operands: Operands) => operands = operands;
    }

    /// Sets the values.
    pub fn values<N: Number>(self, values: &'a [N]) -> Self {
        self.values_of_bytes(bytemuck::cast_slice(values))
    }

    /// Sets what a function of the caller reads besides, its `data`, as bytes in memory order: whole words.
    ///
    /// # Safety
    /// It is what the function reads; addresses in it point to live memory of the device.
    pub const unsafe fn functions_data(mut self, data: &'a [u8]) -> Self {
        self.functions_data = data;
        self
    }

    /// What a recording reads, with flags of whole words.
    fn given<'i>(&self, flags: &'i [u8]) -> [(&'static str, &'i [u8]); 4]
    where
        'a: 'i,
    {
        [
            ("source", self.source),
            ("flags", flags),
            ("values", self.values),
            ("functions_data", self.functions_data),
        ]
    }

    /// The number of elements; fails unless there is a flag and a value for each.
    fn count(&self, config: &SelectConfig) -> Result<u64> {
        if let (Some(expected), Some(got)) = (config.element_type(), self.element)
            && expected != got
        {
            return Err(Error::ElementMismatch { expected, got });
        }
        let of = |bytes: &[u8], size: u64| match bytes.is_empty() {
            true => Ok(0),
            false => element_count(bytes, size),
        };
        let flag_count = match (config.flag_size(), self.flags) {
            (0, Flags::None) => None,
            (1, Flags::U8(flags)) => Some(flags.len() as u64),
            (4, Flags::U32(flags)) => Some(flags.len() as u64),
            _ => {
                return Err(Error::Unsupported {
                    reason: "the flags are not as the configuration says: of 8 bits, of 32 bits, or none",
                });
            }
        };
        let source_count = of(self.source, config.element_size())?;
        let count = match flag_count {
            Some(count) if !config.has_elements() => count,
            _ => source_count,
        };
        let values_count =
            if config.value_size() > 0 { of(self.values, config.value_size())? } else { count };
        match flag_count {
            Some(flag_count) if flag_count != count => {
                Err(Error::FlagCountMismatch { element_count: count, flag_count })
            }
            _ if values_count != count => {
                Err(Error::ValueCountMismatch { key_count: count, value_count: values_count })
            }
            _ => Ok(count),
        }
    }
}

/// The result of a selection or partition, as bytes in memory order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selected {
    /// The elements; none of a configuration without elements.
    pub elements: Vec<u8>,
    /// Their values, if the configuration moves some.
    pub values: Vec<u8>,
    /// Their indices, if the configuration writes them.
    pub indices: Vec<u32>,
    /// Likewise, with large counts.
    pub large_indices: Vec<u64>,
    /// The number of selected elements; of a partition in three the sizes of the first and the second part.
    pub counts: Vec<u64>,
}

impl Selected {
    /// The elements as numbers.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if their bytes are not whole numbers of the type.
    pub fn elements<N: Number>(&self) -> Result<Vec<N>> {
        numbers(&self.elements)
    }

    /// The values as numbers.
    ///
    /// # Errors
    /// Errors of [`Self::elements`].
    pub fn values<N: Number>(&self) -> Result<Vec<N>> {
        numbers(&self.values)
    }
}

impl Gpu {
    /// Selects elements, or partitions them. For more than 2^32 - 1 elements [`SelectConfig::large_counts`] is set
    /// automatically.
    ///
    /// # Errors
    /// Errors of [`Self::prepare_select`] and [`Prepared::run`].
    pub fn select(&self, config: SelectConfig, inputs: &SelectInputs<'_>) -> Result<Selected> {
        let mut selected = Selected::default();
        self.prepare_select(config, inputs, &mut selected)?.run()?;
        Ok(selected)
    }

    /// Prepares [`Self::select`] into `selected`: creates the plan, and computes the size of the memory, before any is
    /// allocated.
    ///
    /// # Errors
    /// [`Error::ElementMismatch`] if the elements are not of the configuration's type, [`Error::PartialElement`]
    /// if elements or values are not whole, [`Error::FlagCountMismatch`] and [`Error::ValueCountMismatch`] unless
    /// there is a flag and a value for each element, [`Error::Unsupported`] for flags of another size,
    /// [`Error::OutOfHostMemory`], and the errors of [`SelectPlan`](crate::select::SelectPlan).
    pub fn prepare_select<'a>(
        &'a self,
        config: SelectConfig,
        inputs: &SelectInputs<'a>,
        selected: &'a mut Selected,
    ) -> Result<Prepared<'a>> {
        let inputs = inputs.clone();
        let count = inputs.count(&config)?;
        let config = config.large_counts_for(count);
        let plan = self.declared(config)?;
        plan.check_count(count)?;
        let flags: Cow<'a, [u8]> = match inputs.flags {
            Flags::None => Cow::Borrowed(&[]),
            Flags::U8(flags) => {
                let mut bytes = zeroed(flags.len().next_multiple_of(4))?;
                bytes[..flags.len()].copy_from_slice(flags);
                Cow::Owned(bytes)
            }
            Flags::U32(flags) => Cow::Borrowed(bytemuck::cast_slice(flags)),
        };
        let is_on_device = matches!(inputs.operands, Operands::Device(_));
        refuse_if(is_on_device, "operands of a selection from slices are of the host")?;
        let buffers = SelectBuffers::default().operands(inputs.operands);
        let slices = self.slices(plan, buffers, count, &inputs.given(&flags))?;
        Ok(Prepared::new(slices.device_size(), move |_| {
            let completed = slices.run(&inputs.given(&flags))?;
            let is_large = config.index_size() == 8;
            let counts = match is_large {
                true => completed.read("counts", config.counts_size() / 8)?,
                false => completed
                    .read::<u32>("counts", config.counts_size() / 4)?
                    .into_iter()
                    .map(u64::from)
                    .collect(),
            };
            let kept_count = if config.part_count() > 1 { count } else { counts[0] };
            *selected = Selected {
                elements: completed.read("destination", kept_count * config.element_size())?,
                values: completed.read("destination_values", kept_count * config.value_size())?,
                indices: completed.read("destination_indices", if is_large { 0 } else { kept_count })?,
                large_indices: completed
                    .read("destination_indices", if is_large { kept_count } else { 0 })?,
                counts,
            };
            Ok(())
        }))
    }
}
