//! `subsweep sort --by`: structured arrays, by their fields.

use anyhow::Result;
use subsweep::sort::{Field, Key, StructureSortConfig, StructureSortPolicy};
use subsweep::{ElementType, FloatOrder};
use subsweep_tool::table::{Format, NamedField, Structure, Table, TableShape};

use crate::args::Common;
use crate::command::{Shown, ShownPolicy, plain_plans};
use crate::device;
use crate::error::{CommandError, usage};
use crate::files::{self, Source};
use crate::policy;
use crate::sort::SortArgs;

/// Sorts the rows of a structured array by the fields `by`.
///
/// # Errors
/// The array or the names are refused; errors of the device and of the output.
pub fn sort(args: &SortArgs, common: &Common, by: &str) -> Result<()> {
    policy::check_none(common, "sort --by")?;
    check_options(args)?;
    let source = &args.files.input;
    let job = args.job().checked()?;
    device::check_inputs(common, &job)?;
    let mut rows = files::read_structures(source)?;
    let config = config(args, source, &rows.structure, by)?;
    let count = rows.count();
    let outputs = job.prepare()?;

    let gpu = device::open(common)?;
    let name = format_args!("sorting {count} rows");
    if args.argsort {
        let mut indices = files::zeroed(count, "the indices")?;
        device::run_whole(&gpu, name, || gpu.prepare_structure_argsort(config, &rows.payload, &mut indices))?;
        let table = Table::of_u32(Format::Npy, TableShape::Flat { count }, &indices);
        return Ok(outputs.commit([table])?);
    }
    device::run_whole(&gpu, name, || gpu.prepare_structure_sort(config, &mut rows.payload))?;
    Ok(outputs.commit_parts([&rows.header, &rows.payload])?)
}

/// Refuses options that rows of fields do not take.
fn check_options(args: &SortArgs) -> Result<(), CommandError> {
    let (values, why) = ("--values", "the row moves with its fields");
    let given = [
        (args.files.raw.element.is_some(), "--type", "the file says the types of its fields"),
        (args.bits.is_some(), "--bits", "all bits of a field are compared"),
        (args.axis == 1, "--axis 1", "structures are sorted along their only axis"),
        (args.values.is_some(), values, why),
        (args.values_output.is_some(), "--values-output", why),
        (
            args.segments.is_some(),
            "--segments",
            "rows of all segments are one array; name a field of the segment first",
        ),
        (
            args.memory.is_given() || args.temp_dir.is_some(),
            "--memory and --temp-dir",
            "rows are sorted in memory",
        ),
    ];
    match given.into_iter().find(|(is_given, ..)| *is_given) {
        Some((_, option, why)) => Err(usage!("{why}; leave out one of --by and {option}")),
        None => Ok(()),
    }
}

/// The configuration for the rows of `source`, by fields as `a,-b`.
fn config(
    args: &SortArgs,
    source: &Source,
    structure: &Structure,
    by: &str,
) -> Result<StructureSortConfig, CommandError> {
    let size = structure.size;
    // Fields of a byte or two align no row to 4.
    let has_words =
        structure.fields.iter().any(|field| field.number.is_some_and(|number| number.size() >= 4));
    let padded = match has_words {
        true => "numpy.lib.recfunctions.repack_fields(a, align=True)",
        false => {
            "numpy.lib.recfunctions.repack_fields(numpy.lib.recfunctions.append_fields(a, 'pad', numpy.zeros(len(a), \
             'u4'), usemask=False), align=True)"
        }
    };
    if size == 0 || !size.is_multiple_of(4) {
        return Err(usage!(
            "{source}: has rows of {size} bytes, and only rows of a multiple of 4 bytes are sorted; save {padded}"
        ));
    }
    let most = StructureSortConfig::MAX_STRUCTURE_SIZE;
    let size = u32::try_from(size).ok().filter(|&size| size <= most).ok_or_else(|| {
        usage!(
            "{source}: has rows of {size} bytes, and up to {most} are sorted; save the fields of --by alone for --argsort"
        )
    })?;
    let fields: Vec<_> =
        by.split(',').map(|name| field(args, source, structure, name.trim())).collect::<Result<_, _>>()?;
    let key_size: usize = fields.iter().map(|field| field.element_type().size()).sum();
    if fields.len() > Key::MAX_FIELDS || key_size > Key::MAX_SIZE as usize {
        return Err(usage!(
            "--by names {} fields of {key_size} bytes, and up to {} of {} are compared at once; sort by the last of them \
             first, and what that writes by the others",
            fields.len(),
            Key::MAX_FIELDS,
            Key::MAX_SIZE
        ));
    }
    let misaligned = fields.iter().find(|field| {
        let alignment = field.element_type().size().min(4) as u32;
        !field.offset().is_multiple_of(alignment)
    });
    if let Some(field) = misaligned {
        return Err(usage!(
            "{source}: has a {} at byte {} of a row, which is not a multiple of its size; save {padded}",
            field.element_type(),
            field.offset()
        ));
    }
    let key = Key::fields(fields);
    Ok(match args.argsort {
        true => StructureSortConfig::argsort(size, key),
        false => StructureSortConfig::structures(size, key),
    })
}

/// The field of a name, after a `-` in descending order.
fn field(args: &SortArgs, source: &Source, structure: &Structure, name: &str) -> Result<Field, CommandError> {
    let found = |name: &str| structure.fields.iter().find(|field| field.name == name);
    let (found, is_reversed) = match (found(name), name.strip_prefix('-')) {
        (None, Some(rest)) => (found(rest), true),
        (field, _) => (field, false),
    };
    let Some(field) = found else {
        let names: Vec<_> = structure.fields.iter().map(|field| field.name.as_str()).collect();
        let name = name.strip_prefix('-').unwrap_or(name);
        return Err(usage!(
            "--by: {source} has no field '{}'; it has {}",
            subsweep::internal::printable(name.as_bytes(), 60),
            subsweep::internal::printable(names.join(", ").as_bytes(), 200)
        ));
    };
    let element = field.number.ok_or_else(|| no_key(source, field))?;
    let offset = u32::try_from(field.offset).unwrap_or(u32::MAX);
    let of_order = Field::new(element, offset).order(args.order);
    Ok(if is_reversed == args.descending { of_order } else { of_order.descending() })
}

/// The refusal of a field that is no number.
fn no_key(source: &Source, field: &NamedField) -> CommandError {
    let NamedField { name, descr, .. } = field;
    let name = subsweep::internal::printable(name.as_bytes(), 60);
    let type_of = descr.replace(['\'', '"'], "");
    let add = |numbers: String| {
        format!("add a field: numpy.lib.recfunctions.append_fields(a, 'key', {numbers}, usemask=False)")
    };
    let remedy = match type_of.as_bytes() {
        [b'>', ..] => "save a.astype(a.dtype.newbyteorder('<'))".to_owned(),
        [b'<' | b'|', b'U' | b'S', ..] => add(format!("numpy.unique(a['{name}'], return_inverse=True)[1]")),
        [b'<', b'M' | b'm', ..] => add(format!("a['{name}'].view('<i8')")),
        [b'[', ..] => add("NUMBERS".to_owned()),
        _ if type_of.contains(", (") => add(format!("a['{name}'][:, 0]")),
        _ => add("NUMBERS".to_owned()),
    };
    usage!("{source}: its field '{name}' is of {type_of}, which is no key; {remedy}")
}

/// What `devices` and `inspect` show of structure sorts.
pub const SHOWN: Shown = Shown {
    policies: |_, capabilities| {
        let choice = StructureSortPolicy::choose(capabilities, &plain(4, &[ElementType::U32]));
        vec![ShownPolicy::new("structure_sort", "structure policy", choice)]
    },
    plans: |common, _| {
        let wide = [ElementType::I64, ElementType::U64];
        plain_plans(common, [plain(8, &[ElementType::U32]), plain(16, &wide)])
    },
};

/// Structures of `size` bytes that begin with fields of these types.
fn plain(size: u32, fields: &[ElementType]) -> StructureSortConfig {
    let mut offset = 0;
    let key = fields.iter().map(|&element| {
        let field = Field::new(element, offset).order(FloatOrder::Total);
        offset += element.size() as u32;
        field
    });
    StructureSortConfig::structures(size, Key::fields(key))
}
