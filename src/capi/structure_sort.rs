//! Structure sort.

use super::functions::functions;
use super::*;
use crate::sort::{Field, Key, StructureSort, StructureSortBuffers, StructureSortConfig};

/// Options of a field: several of SUBSWEEP_FIELD_..._BIT, or 0.
pub type SubsweepFieldFlags = u32;
/// Descending order of the field.
pub const SUBSWEEP_FIELD_DESCENDING_BIT: SubsweepFieldFlags = 1;
/// The field is a float in the order of numpy, as with SUBSWEEP_SORT_NUMPY_ORDER_BIT.
pub const SUBSWEEP_FIELD_NUMPY_ORDER_BIT: SubsweepFieldFlags = 2;

/// A field of a structure, by which it is sorted.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct SubsweepField {
    /// Its type.
    pub element_type: SubsweepElementType,
    /// Its offset in a structure in bytes: a multiple of its size, and for 64 bits of 4.
    pub offset: u32,
    /// Options.
    pub flags: SubsweepFieldFlags,
}

/// Options of a structure sort plan: several of SUBSWEEP_STRUCTURE_SORT_..._BIT, or 0.
pub type SubsweepStructureSortFlags = u32;
/// Recordings may have an indirect count, read from device memory.
pub const SUBSWEEP_STRUCTURE_SORT_INDIRECT_COUNT_BIT: SubsweepStructureSortFlags = 1;
/// Sorts from `structures` to `sorted`; the input is unchanged. Saves a copy, and an array of the structures in
/// scratch.
pub const SUBSWEEP_STRUCTURE_SORT_OUT_OF_PLACE_BIT: SubsweepStructureSortFlags = 2;
/// Writes the permutation that sorts the structures, as uint32_t, and leaves them unchanged. Not with
/// SUBSWEEP_STRUCTURE_SORT_OUT_OF_PLACE_BIT.
pub const SUBSWEEP_STRUCTURE_SORT_ARGSORT_BIT: SubsweepStructureSortFlags = 4;

/// The most fields of a key.
pub const SUBSWEEP_MAX_FIELDS: u32 = 8;

/// The parameters of subsweep_structure_sort_plan_create.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepStructureSortPlanCreateInfo {
    /// sizeof(SubsweepStructureSortPlanCreateInfo).
    pub struct_size: u32,
    /// Options.
    pub flags: SubsweepStructureSortFlags,
    /// Size of a structure in bytes: a multiple of 4, up to 2^20. 0 with functions.
    pub structure_size: u32,
    /// The number of fields in the key, 1 to SUBSWEEP_MAX_FIELDS. 0 with functions.
    pub field_count: u32,
    /// The key: fields of up to 16 bytes together, the most significant first. Those after field_count are not read.
    pub fields: [SubsweepField; SUBSWEEP_MAX_FIELDS as usize],
    /// Functions whose less compares structures, which are their elements; structure_size and field_count are 0 then. 0 for a
    /// sort by fields.
    pub functions: SubsweepFunctions,
}

// SAFETY: numbers.
versioned!(unsafe SubsweepStructureSortPlanCreateInfo, fields, 112);

/// The memory and the count of one recording of a structure sort.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SubsweepStructureSortInfo {
    /// sizeof(SubsweepStructureSortInfo).
    pub struct_size: u32,
    /// 0.
    pub flags: u32,
    /// The count of structures.
    pub count: SubsweepCount,
    /// The structures; sorted in place unless flags of the plan say otherwise.
    pub structures: SubsweepAddressRange,
    /// With SUBSWEEP_STRUCTURE_SORT_OUT_OF_PLACE_BIT the sorted structures; otherwise 0.
    pub sorted: SubsweepAddressRange,
    /// With SUBSWEEP_STRUCTURE_SORT_ARGSORT_BIT the permutation, uint32_t; otherwise 0.
    pub indices: SubsweepAddressRange,
    /// Scratch, as subsweep_plan_scratch_requirements says.
    pub scratch: SubsweepBufferRange,
    /// What a function of the caller reads besides, of any size; an empty range for none.
    pub functions_data: SubsweepAddressRange,
}

// SAFETY: numbers and handles.
versioned!(unsafe SubsweepStructureSortInfo, scratch, 112);

exported!(StructureSort, "a structure sort", max_count);

fn field(info: &SubsweepField) -> Result<Field> {
    let known = 2 * SUBSWEEP_FIELD_NUMPY_ORDER_BIT - 1;
    let flags = flags("SubsweepFieldFlags", info.flags, known)?;
    let field = Field::new(element_type("a field's element_type", info.element_type)?, info.offset);
    Ok(options!(field, flags,
        SUBSWEEP_FIELD_DESCENDING_BIT => descending, SUBSWEEP_FIELD_NUMPY_ORDER_BIT => order(FloatOrder::Numpy)
    ))
}

/// Creates the plan of a sort of structures by several fields, or by a function of the caller.
///
/// Scratch: for each structure a key of 4 or 8 bytes, unless of an argsort an index, and in place the structure; and
/// the scratch of a sort of keys with indices that discards them. With functions an index in place of key and scratch.
///
/// Also returns SUBSWEEP_ERROR_UNSUPPORTED for a size of structures, a number of fields or a size of the key out of
/// range, and for a field that is outside of the structure or misaligned.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_structure_sort_plan_create(
    device: *const SubsweepDevice,
    info: *const SubsweepStructureSortPlanCreateInfo,
    plan: *mut *mut SubsweepPlan,
) -> VkResult {
    let config = |_: &Device, info: &SubsweepStructureSortPlanCreateInfo| {
        let known = 2 * SUBSWEEP_STRUCTURE_SORT_ARGSORT_BIT - 1;
        let flags = flags("SubsweepStructureSortFlags", info.flags, known)?;
        let given = info.fields.get(..info.field_count as usize).ok_or_else(|| {
            unknown("field_count", info.field_count, "a key has up to SUBSWEEP_MAX_FIELDS fields")
        })?;
        let key = Key::fields(given.iter().map(field).collect::<Result<Vec<_>>>()?);
        let both = SUBSWEEP_STRUCTURE_SORT_ARGSORT_BIT | SUBSWEEP_STRUCTURE_SORT_OUT_OF_PLACE_BIT;
        if flags & both == both {
            return Err(unknown("SubsweepStructureSortFlags", both, "an argsort moves no structures"));
        }
        let is_argsort = flags & SUBSWEEP_STRUCTURE_SORT_ARGSORT_BIT != 0;
        let config = match functions(info.functions)? {
            Some(_) if (info.structure_size, info.field_count) != (0, 0) => {
                let known = "structure_size and field_count are 0 with functions, which have theirs";
                return Err(match info.structure_size {
                    0 => unknown("field_count", info.field_count, known),
                    size => unknown("structure_size", size, known),
                });
            }
            Some(functions) if is_argsort => StructureSortConfig::custom_argsort(functions),
            Some(functions) => StructureSortConfig::custom(functions),
            None if is_argsort => StructureSortConfig::argsort(info.structure_size, key),
            None => StructureSortConfig::structures(info.structure_size, key),
        };
        Ok(options!(config, flags,
            SUBSWEEP_STRUCTURE_SORT_INDIRECT_COUNT_BIT => indirect_count,
            SUBSWEEP_STRUCTURE_SORT_OUT_OF_PLACE_BIT => out_of_place
        ))
    };
    // SAFETY: as the caller promises.
    unsafe { create_plan::<StructureSort, _>(device, info, plan, config) }
}

/// Records the sort of `info->count` structures.
///
/// 2. Memory: faster with `structures` and `sorted` at multiples of 16 and a structure size that is a multiple of 16.
/// 4. Limits: a count of 1 in place records nothing either.
/// 5. Result: in `structures`, in `sorted` or in `indices`, as the flags of the plan say. Stable: structures that agree
///    in all fields of the key, or neither of which is less, keep their order. Bytes that are not of the key may be anything.
///
/// # Safety
/// As at the top of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn subsweep_cmd_structure_sort(
    plan: *const SubsweepPlan,
    command_buffer: VkCommandBuffer,
    info: *const SubsweepStructureSortInfo,
) -> VkResult {
    let buffers = |info: &SubsweepStructureSortInfo| {
        flags("SubsweepStructureSortInfo.flags", info.flags, 0)?;
        let buffers = buffers!(info, StructureSortBuffers { structures, sorted, indices, functions_data });
        Ok((buffers, info.count.checked()?))
    };
    // SAFETY: as the caller promises.
    unsafe { record::<StructureSort, _>(plan, command_buffer, info, buffers) }
}
