//! Selections and partitions.

use super::functions::functions;
use super::*;
use crate::select::{Comparison, Operands, Select, SelectBuffers, SelectConfig};

/// The predicate of a selection: one of SUBSWEEP_SELECT_BY_....
pub type SubsweepSelectBy = u32;
/// A flag of 8 bits for each element, which is selected if it is not 0.
pub const SUBSWEEP_SELECT_BY_FLAGS8: SubsweepSelectBy = 0;
/// A flag of 32 bits for each element, likewise.
pub const SUBSWEEP_SELECT_BY_FLAGS32: SubsweepSelectBy = 1;
/// A comparison of each element.
pub const SUBSWEEP_SELECT_BY_COMPARISON: SubsweepSelectBy = 2;
/// The first of each run of equal elements.
pub const SUBSWEEP_SELECT_BY_UNIQUE: SubsweepSelectBy = 3;
/// The function keep of `functions`, which also define the element of the selection.
pub const SUBSWEEP_SELECT_BY_FUNCTION: SubsweepSelectBy = 4;

/// A comparison of an element x with one operand, or the two of a range: one of SUBSWEEP_COMPARISON_.... Floats
/// compare as in C: -0 equals +0, and a NaN satisfies SUBSWEEP_COMPARISON_NOT_EQUAL alone.
pub type SubsweepComparison = u32;
/// x < operand.
pub const SUBSWEEP_COMPARISON_LESS: SubsweepComparison = 0;
/// x <= operand.
pub const SUBSWEEP_COMPARISON_LESS_EQUAL: SubsweepComparison = 1;
/// x == operand.
pub const SUBSWEEP_COMPARISON_EQUAL: SubsweepComparison = 2;
/// x != operand.
pub const SUBSWEEP_COMPARISON_NOT_EQUAL: SubsweepComparison = 3;
/// x >= operand.
pub const SUBSWEEP_COMPARISON_GREATER_EQUAL: SubsweepComparison = 4;
/// x > operand.
pub const SUBSWEEP_COMPARISON_GREATER: SubsweepComparison = 5;
/// first operand <= x < second operand.
pub const SUBSWEEP_COMPARISON_RANGE: SubsweepComparison = 6;

/// Options of a selection plan: several of SUBSWEEP_SELECT_..._BIT, or 0.
pub type SubsweepSelectFlags = u32;
/// Recordings may have an indirect count, read from device memory.
pub const SUBSWEEP_SELECT_INDIRECT_COUNT_BIT: SubsweepSelectFlags = 1;
/// The indices of the elements are written as well, as uint32_t.
pub const SUBSWEEP_SELECT_INDICES_BIT: SubsweepSelectFlags = 2;
/// Elements are not written, only values or indices.
pub const SUBSWEEP_SELECT_WITHOUT_ELEMENTS_BIT: SubsweepSelectFlags = 4;
/// For SUBSWEEP_SELECT_BY_UNIQUE: floats are equal if their bits are. Without this flag -0 equals +0, and every NaN
/// is the same number.
pub const SUBSWEEP_SELECT_TOTAL_ORDER_BIT: SubsweepSelectFlags = 8;
/// Counts of 2^32 and more are supported; indices and the counts of the result are uint64_t. Elements are read twice.
/// Elements and values have at most 2 words; elements of 8 and 16 bits are written by partitions alone. Not for
/// functions.
pub const SUBSWEEP_SELECT_LARGE_COUNTS_BIT: SubsweepSelectFlags = 16;

/// The parameters of subsweep_select_plan_create.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepSelectPlanCreateInfo {
    /// sizeof(SubsweepSelectPlanCreateInfo).
    pub struct_size: u32,
    /// Options.
    pub flags: SubsweepSelectFlags,
    /// The predicate.
    pub by: SubsweepSelectBy,
    /// The type of an element, of comparisons and SUBSWEEP_SELECT_BY_UNIQUE.
    pub element_type: SubsweepElementType,
    /// Size of an element in 32-bit words, 1 to 2^28, of flags; 0 for elements of element_type, of
    /// 8 or 16 bits, and of functions, which have their own.
    pub words_per_element: u32,
    /// Size of a value that moves with each element in 32-bit words, up to 2^28; 0 without values.
    pub words_per_value: u32,
    /// Parts of the result: 0 or 1 for a selection; 2 for a partition, in which the elements that are not selected
    /// follow the others; 3, of comparisons, for a partition in three.
    pub part_count: u32,
    /// The comparison of SUBSWEEP_SELECT_BY_COMPARISON.
    pub comparison: SubsweepComparison,
    /// Of 3 parts, the comparison of the elements that the first one rejects: those that satisfy it are the second
    /// part.
    pub second_comparison: SubsweepComparison,
    /// Of SUBSWEEP_SELECT_BY_FUNCTION the functions; otherwise 0.
    pub functions: SubsweepFunctions,
}

// SAFETY: numbers.
versioned!(unsafe SubsweepSelectPlanCreateInfo, second_comparison, 36);

/// The memory and the count of one recording of a selection.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepSelectInfo {
    /// sizeof(SubsweepSelectInfo).
    pub struct_size: u32,
    /// Number of `operands`.
    pub operand_count: u32,
    /// The count of elements.
    pub count: SubsweepCount,
    /// The elements.
    pub source: SubsweepAddressRange,
    /// Flags, rounded up to a multiple of 4 bytes.
    pub element_flags: SubsweepAddressRange,
    /// The values.
    pub values: SubsweepAddressRange,
    /// Room for all elements.
    pub destination: SubsweepAddressRange,
    /// Room for all values.
    pub destination_values: SubsweepAddressRange,
    /// Room for an index of each element, uint32_t; with SUBSWEEP_SELECT_LARGE_COUNTS_BIT uint64_t.
    pub destination_indices: SubsweepAddressRange,
    /// The number of selected elements, uint32_t; of 3 parts the sizes of the first two. With
    /// SUBSWEEP_SELECT_LARGE_COUNTS_BIT uint64_t.
    pub result_counts: SubsweepAddressRange,
    /// Operands of the comparisons in device memory, of the element type, the first one's before the second one's; an
    /// empty range if they are in `operands`.
    pub device_operands: SubsweepAddressRange,
    /// The bits of the operands, in the low bits of each: one of each comparison, two of a range.
    pub operands: [u64; 4],
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
    /// What a function of the caller reads besides, of any size; an empty range for none.
    pub functions_data: SubsweepAddressRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepSelectInfo, scratch, 224);

exported!(Select, "a selection", max_count);

fn comparison(what: &'static str, value: SubsweepComparison) -> Result<Comparison> {
    let comparison = Comparison::ALL.get(value as usize).copied();
    comparison.ok_or_else(|| unknown(what, value, "see SUBSWEEP_COMPARISON_..."))
}

fn config(info: &SubsweepSelectPlanCreateInfo) -> Result<SelectConfig> {
    let is_function = info.by == SUBSWEEP_SELECT_BY_FUNCTION;
    if !is_function && info.functions != 0 {
        return Err(unknown("functions", info.functions, "they go with SUBSWEEP_SELECT_BY_FUNCTION"));
    }
    if is_function && info.words_per_element != 0 {
        return Err(unknown(
            "words_per_element",
            info.words_per_element,
            "it is 0 with functions, which have it",
        ));
    }
    let config = match info.by {
        SUBSWEEP_SELECT_BY_FLAGS8 | SUBSWEEP_SELECT_BY_FLAGS32
            if info.words_per_element == 0
                && element_type("element_type", info.element_type)?.is_packed() =>
        {
            let element = element_type("element_type", info.element_type)?;
            match info.by {
                SUBSWEEP_SELECT_BY_FLAGS8 => SelectConfig::flags8_of(element),
                _ => SelectConfig::flags32_of(element),
            }
        }
        SUBSWEEP_SELECT_BY_FLAGS8 => SelectConfig::flags8(info.words_per_element),
        SUBSWEEP_SELECT_BY_FLAGS32 => SelectConfig::flags32(info.words_per_element),
        SUBSWEEP_SELECT_BY_COMPARISON => {
            let element = element_type("element_type", info.element_type)?;
            SelectConfig::compare(element, comparison("comparison", info.comparison)?)
        }
        SUBSWEEP_SELECT_BY_UNIQUE => SelectConfig::unique(element_type("element_type", info.element_type)?),
        SUBSWEEP_SELECT_BY_FUNCTION => match functions(info.functions)? {
            Some(functions) => SelectConfig::custom(functions),
            None => return Err(unknown("functions", 0, "SUBSWEEP_SELECT_BY_FUNCTION takes one")),
        },
        value => return Err(unknown("by", value, "see SUBSWEEP_SELECT_BY_...")),
    }
    .values(info.words_per_value);
    let config = match info.part_count {
        0 | 1 => config,
        2 => config.partition(),
        3 => config.partition_in_three(comparison("second_comparison", info.second_comparison)?),
        value => return Err(unknown("part_count", value, "there are up to 3 parts")),
    };
    let flags = flags("SubsweepSelectFlags", info.flags, 2 * SUBSWEEP_SELECT_LARGE_COUNTS_BIT - 1)?;
    Ok(options!(config, flags,
        SUBSWEEP_SELECT_INDIRECT_COUNT_BIT => indirect_count, SUBSWEEP_SELECT_INDICES_BIT => indices,
        SUBSWEEP_SELECT_WITHOUT_ELEMENTS_BIT => without_elements,
        SUBSWEEP_SELECT_LARGE_COUNTS_BIT => large_counts,
        SUBSWEEP_SELECT_TOTAL_ORDER_BIT => order(FloatOrder::Total)
    ))
}

/// Creates a selection plan.
///
/// Scratch: 4 bytes for each tile of some thousand elements, or 8, and 16 bytes or the scan of these; 32 bytes with
/// an indirect count, and for elements and for values of more than two words; 4 bytes for each element where these
/// are and no indices are written. With SUBSWEEP_SELECT_LARGE_COUNTS_BIT twice the bytes of tiles.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for sizes out of range, for 3 parts without a comparison, and for what large
/// counts do not go with.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_select_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepSelectPlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |_: &Device, info: &SubsweepSelectPlanCreateInfo| config(info);
    // SAFETY: as the caller promises.
    unsafe { create_plan::<Select, _>(device, info, plan, config) }
}

/// Records the selection, or the partition, of `info->count` elements.
///
/// 3. Commands: a fill, a barrier and one dispatch, or a dispatch, a scan of the tiles' counts and another dispatch
///    with barriers; for elements and for values of more than two words a barrier and two dispatches more. An
///    indirect count takes more dispatches.
/// 4. Limits: a count of 0, direct or indirect, writes 0 to `result_counts`.
/// 5. Result: the selected elements, values and indices, in order, followed by the other parts; the sizes of
///    the parts are in `result_counts`. A selection leaves the rest of the ranges unchanged.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for operands that do not match the comparisons.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_select(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepSelectInfo,
) -> VkResult {
    let buffers = |info: &SubsweepSelectInfo| {
        let operands = info.operands.get(..info.operand_count as usize);
        let operands =
            operands.ok_or_else(|| unknown("operand_count", info.operand_count, "there are up to 4"))?;
        let device_operands = info.device_operands.checked("device_operands")?;
        let operands = match (device_operands.size, operands) {
            (0, []) => Operands::None,
            (0, operands) => Operands::of_bits(operands),
            (_, []) => Operands::Device(device_operands),
            (_, operands) => {
                let known = "operands are of the host or in device memory";
                return Err(unknown("operand_count", operands.len() as u32, known));
            }
        };
        let mut buffers = buffers!(
            info,
            SelectBuffers {
                source,
                values,
                destination,
                destination_values,
                destination_indices,
                functions_data
            }
        );
        buffers.flags = info.element_flags.checked("element_flags")?;
        buffers.counts = info.result_counts.checked("result_counts")?;
        buffers.operands = operands;
        Ok((buffers, info.count.checked()?))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<Select, _>(plan, command_buffer, info, buffers) }
}

#[cfg(test)]
mod tests;
