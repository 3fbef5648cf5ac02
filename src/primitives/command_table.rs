//! The table of commands in `docs/algorithms.md`, held to the plans of an NVIDIA H200: none of them needs a device to
//! be declared and recorded dry.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;

use super::{Config, ElementType, Plan, Primitive, tuning};
use crate::device::{AddressRange, BufferRange, Command, CommandCounts, Device, Recorder, Trace, Workgroups};
use crate::difference::{DifferenceBuffers, DifferenceConfig};
use crate::gather::{GatherBuffers, GatherConfig};
use crate::histogram::{HistogramBuffers, HistogramConfig};
use crate::merge::{MergeBuffers, MergeConfig};
use crate::reduce::{ReduceBuffers, ReduceConfig, ReduceRuns};
use crate::run_length::{RunLengthAlgorithm, RunLengthBuffers, RunLengthConfig, RunLengthPolicy};
use crate::scan::{ScanBuffers, ScanConfig, SegmentsBy};
use crate::search::{SearchBuffers, SearchConfig};
use crate::select::{Comparison, Operands, SelectAlgorithm, SelectBuffers, SelectConfig, SelectPolicy};
use crate::sort::{
    Direction, Field, Key, SegmentedSortBuffers, SegmentedSortConfig, SortAlgorithm, SortBuffers, SortConfig,
    SortPolicy, StructureSortBuffers, StructureSortConfig, ValueSize,
};
use crate::top_k::{TopKBuffers, TopKConfig};

const COUNTS: [u64; 2] = [1 << 16, 1 << 24];
const SEGMENT_EXTENT: u32 = 40;

/// A row's name, and its last cells.
type CommandRow = (&'static str, [String; 4]);

/// Counts indirect dispatches.
#[derive(Default)]
struct IndirectDispatches(AtomicU32);

impl Trace for IndirectDispatches {
    fn record(&self, _: vk::CommandBuffer, command: &Command<'_>) {
        if matches!(command, Command::Dispatch { workgroups: Workgroups::Indirect(_), .. }) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// An array of any size, beside all others.
fn array(index: u64) -> AddressRange {
    AddressRange::new((index + 1) << 40, 1 << 39)
}

fn scratch() -> BufferRange {
    let AddressRange { address, size } = array(100);
    let usage = vk::BufferUsageFlags::from_raw(!0);
    BufferRange { buffer: vk::Handle::from_raw(1), offset: 0, size, address, usage }
}

/// The row of a plan; `recording` returns configuration, memory and counts for a number of elements.
fn row<C: Config, N>(
    device: &Device,
    name: &'static str,
    recording: impl Fn(u64) -> (C, <C::Primitive as Primitive>::Buffers, N),
) -> CommandRow
where
    N: Into<<C::Primitive as Primitive>::Count>,
{
    let counted = COUNTS.map(|count| {
        let (config, buffers, count) = recording(count);
        let plan =
            Plan::<C::Primitive>::declare(device, config).unwrap_or_else(|error| panic!("{name}: {error}"));
        let indirect = IndirectDispatches::default();
        let mut recorder = Recorder::dry(device).traced_by(&indirect);
        plan.record(&mut recorder, &buffers, count).unwrap_or_else(|error| panic!("{name}: {error}"));
        let CommandCounts { dispatches, barriers, transfers } = recorder.counts();
        [transfers, dispatches, indirect.0.into_inner(), barriers]
    });
    let cell = |column: usize| match counted.map(|numbers| numbers[column]) {
        [few, many] if few == many => few.to_string(),
        [few, many] => format!("{few} / {many}"),
    };
    (name, std::array::from_fn(cell))
}

const U32: ElementType = ElementType::U32;
const F32: ElementType = ElementType::F32;

fn sorts(device: &Device) -> Vec<CommandRow> {
    let keys = SortConfig::keys(U32);
    let of_keys = SortBuffers::new(array(0), scratch());
    let of_values = of_keys.values(array(1));
    let by = |algorithm| keys.policy(SortPolicy::tuned(algorithm, device.capabilities(), &keys));
    let sort = |name, config: SortConfig, buffers| row(device, name, move |count| (config, buffers, count));
    let alternates = of_keys.alternates(array(2), AddressRange::NONE);
    let wide_pairs = SortConfig::pairs(U32, ValueSize::of::<[u32; 16]>());
    let segmented = |count: u64| {
        let buffers = SegmentedSortBuffers::new(of_keys, array(3));
        (SegmentedSortConfig::from(keys), buffers, (count, count / u64::from(SEGMENT_EXTENT)))
    };
    let along_rows = |count: u64| {
        let (config, buffers, counts) = segmented(count);
        (config.along_rows(SEGMENT_EXTENT), buffers, counts)
    };
    vec![
        sort("sort of u32 keys, `onesweep`", keys, of_keys),
        sort("sort of u32 keys of a double buffer, `onesweep`", keys.double_buffer(), alternates),
        sort("sort of u32 keys out of place, `onesweep`", keys.out_of_place(), alternates),
        sort("sort of u32 pairs, `onesweep`", SortConfig::pairs(U32, ValueSize::B4), of_values),
        sort("sort of u32 with values of 64 bytes, `onesweep`", wide_pairs, of_values),
        sort("argsort of u32, `onesweep`", SortConfig::argsort(U32), of_values),
        sort("sort of u64 keys, `onesweep`", SortConfig::keys(ElementType::U64), of_keys),
        sort("sort of u32 keys, `radix-8bit`", by(SortAlgorithm::Radix8Bit), of_keys),
        sort("sort of u32 keys, `radix-4bit`", by(SortAlgorithm::Radix4Bit), of_keys),
        row(device, "sort of 8,192 u32 keys, `single-workgroup`", |_| (keys, of_keys, 1 << 13)),
        row(device, "segmented sort of u32 keys", segmented),
        row(device, "sort of u32 keys along rows of 40", along_rows),
    ]
}

fn structure_sorts(device: &Device) -> Vec<CommandRow> {
    let narrow = Key::fields([Field::new(U32, 0)]);
    let wide = [(ElementType::I64, 8, Direction::Ascending), (ElementType::U64, 0, Direction::Ascending)];
    let argsort = StructureSortConfig::argsort(16, Key::fields(wide));
    let in_place = StructureSortConfig::structures(16, narrow);
    let buffers = StructureSortBuffers::new(array(0), scratch());
    let sort =
        |name, config: StructureSortConfig, buffers| row(device, name, move |count| (config, buffers, count));
    vec![
        sort("sort of structures by a u32", in_place, buffers),
        sort("sort of structures by a u32, out of place", in_place.out_of_place(), buffers.sorted(array(1))),
        sort("argsort of structures by 128 bits", argsort, buffers.indices(array(1))),
    ]
}

fn scans(device: &Device) -> Vec<CommandRow> {
    let sums = ScanConfig::inclusive(U32);
    let buffers = ScanBuffers::new(array(0), array(1), scratch());
    let in_place = ScanBuffers::in_place(array(0), scratch());
    let floats = ScanConfig::inclusive(F32).out_of_place();
    let scan = |name, config: ScanConfig, buffers| row(device, name, move |count| (config, buffers, count));
    vec![
        scan("scan of u32 out of place, `chained`", sums.out_of_place(), buffers),
        scan("scan of f32 out of place, `chained`", floats, buffers),
        scan("scan of u32 in place, `reduce-then-scan`", sums, in_place),
        scan("scan along rows of 40", sums.along_rows(SEGMENT_EXTENT), in_place),
        row(device, "scan of segments by offsets, `reduce-then-scan`", |count| {
            let offsets = AddressRange { size: count / u64::from(SEGMENT_EXTENT) * 4, ..array(2) };
            (sums.segments(SegmentsBy::Offsets), in_place.segments(offsets), count)
        }),
    ]
}

fn selections(device: &Device) -> Vec<CommandRow> {
    let less = SelectConfig::compare(U32, Comparison::Less);
    let by_count = SelectPolicy::tuned(SelectAlgorithm::ReduceThenScan, device.capabilities(), &less);
    let buffers = SelectBuffers::new(array(0), array(1), array(2), scratch());
    let compared = buffers.operands(Operands::host(&[7u32]).expect("a u32 is an operand"));
    let select =
        |name, config: SelectConfig, buffers| row(device, name, move |count| (config, buffers, count));
    vec![
        select("select by comparison, `chained`", less, compared),
        select("select by flags of 8 bits, `chained`", SelectConfig::flags8(1), buffers.flags(array(3))),
        select("unique, `chained`", SelectConfig::unique(U32), buffers),
        select("select by comparison, `reduce-then-scan`", less.policy(by_count), compared),
        select("partition in two, `reduce-then-scan`", less.partition(), compared),
    ]
}

fn run_lengths(device: &Device) -> Vec<CommandRow> {
    let encode = RunLengthConfig::encode(U32);
    let [by_selection, non_trivial] = [encode, encode.non_trivial()].map(|config| {
        let algorithm = RunLengthAlgorithm::Selection;
        config.policy(RunLengthPolicy::tuned(algorithm, device.capabilities(), &config))
    });
    let buffers = RunLengthBuffers::new(array(0), array(1), array(2), array(3), scratch()).offsets(array(4));
    let run = |name, config: RunLengthConfig| row(device, name, move |count| (config, buffers, count));
    vec![
        run("run lengths, `chained`", encode),
        run("runs of more than one element, `chained`", encode.non_trivial()),
        run("run lengths, `selection`", by_selection),
        run("runs of more than one element, `selection`", non_trivial),
        run("decode run lengths", RunLengthConfig::decode(U32)),
    ]
}

fn reductions(device: &Device) -> Vec<CommandRow> {
    let sum = ReduceConfig::sum(U32);
    let buffers = ReduceBuffers::new(array(0), array(1), scratch());
    let by_key = buffers.keys(array(2), array(3), array(4));
    let reduce =
        |name, config: ReduceConfig, buffers| row(device, name, move |count| (config, buffers, count));
    let floats = ReduceConfig::sum(F32).runs(ReduceRuns::Keys32);
    vec![
        reduce("reduce, u32 sum", sum, buffers),
        reduce("reduce, argmin of f32", ReduceConfig::argmin(F32), buffers),
        reduce("reduce, argmin and argmax of f32", ReduceConfig::argminmax(F32), buffers),
        reduce("reduce along rows of 40", sum.along_rows(SEGMENT_EXTENT), buffers),
        row(device, "reduce segments by offsets", |count| {
            let offsets = AddressRange { size: count / u64::from(SEGMENT_EXTENT) * 4, ..array(2) };
            (sum.runs(ReduceRuns::Offsets), buffers.segments(offsets), count)
        }),
        reduce("reduce by key, u32 sum, `chained`", sum.runs(ReduceRuns::Keys32), by_key),
        reduce("reduce by key, f32 sum, `segments`", floats, by_key),
    ]
}

fn histograms(device: &Device) -> Vec<CommandRow> {
    let buffers = HistogramBuffers::new(array(0), array(1), array(2)).scratch(scratch());
    let even = |name, bins| row(device, name, |count| (HistogramConfig::even(F32, bins), buffers, count));
    let of_weights = HistogramConfig::even(F32, 256).weighted();
    vec![
        even("histogram of f32, 256 even bins", 256),
        even("histogram of f32, 65,536 even bins", 65_536),
        row(device, "histogram of f32 with weights, 256 even bins", move |count| {
            (of_weights, buffers.weights(array(3)), count)
        }),
    ]
}

fn others(device: &Device) -> Vec<CommandRow> {
    let top_k = |name, k| {
        let buffers = TopKBuffers::new(array(0), array(1), array(2), scratch());
        row(device, name, move |count| (TopKConfig::largest(F32, count as u32, k), buffers, 1))
    };
    let search = SearchBuffers::new(array(0), array(1), array(2)).scratch(scratch());
    let merge = MergeBuffers::new(array(0), array(1), array(2)).scratch(scratch());
    let difference = DifferenceBuffers::new(array(0), array(1)).scratch(scratch());
    let gather = GatherBuffers::new(array(0), array(1), array(2)).scratch(scratch());
    vec![
        row(device, "search", |count| (SearchConfig::lower_bound(U32), search, (count, count))),
        row(device, "search along rows of 40", |count| {
            let config = SearchConfig::lower_bound(U32).along_rows(SEGMENT_EXTENT, SEGMENT_EXTENT);
            (config, search, (count, count))
        }),
        row(device, "merge", |count| (MergeConfig::keys(U32), merge, (count / 2, count / 2))),
        row(device, "adjacent difference", |count| (DifferenceConfig::new(F32), difference, count)),
        top_k("top-k of a row, k = 32, by tiles", 32),
        top_k("top-k of a row, k = 8,192, by a sort", 8192),
        row(device, "gather", |count| (GatherConfig::elements(1), gather, count)),
    ]
}

/// Elements of 8 and 16 bits, on a device that stores them and on one that does not.
fn packed(device: &Device) -> Vec<CommandRow> {
    const U8: ElementType = ElementType::U8;
    let mut capabilities = tuning::h200();
    let enabled = &mut capabilities.enabled;
    (enabled.storage_buffer8_bit_access, enabled.storage_buffer16_bit_access) = (true, true);
    let storing = &Device::absent(capabilities);
    let keys = SortConfig::keys(ElementType::U16);
    let of_keys = SortBuffers::new(array(0), scratch());
    let scan = ScanBuffers::new(array(0), array(1), scratch());
    let select = SelectBuffers::new(array(0), array(1), array(2), scratch()).flags(array(3));
    let reduce = ReduceBuffers::new(array(0), array(1), scratch());
    let merge = MergeBuffers::new(array(0), array(1), array(2)).scratch(scratch());
    let gather = GatherBuffers::new(array(0), array(1), array(2)).scratch(scratch());
    vec![
        row(storing, "sort of u16 keys, `onesweep`", |count| (keys, of_keys, count)),
        row(device, "the same by way of words", |count| (keys, of_keys, count)),
        row(device, "scan of u8 out of place, `chained`", |count| {
            (ScanConfig::inclusive(U8).out_of_place(), scan, count)
        }),
        row(storing, "select u8 by flags of 8 bits, `chained`", |count| {
            (SelectConfig::flags8_of(U8), select, count)
        }),
        row(device, "the same by way of words", |count| (SelectConfig::flags8_of(U8), select, count)),
        row(device, "reduce, u8 sum", |count| (ReduceConfig::sum(U8), reduce, count)),
        row(storing, "merge of u8", |count| (MergeConfig::keys(U8), merge, (count / 2, count / 2))),
        row(device, "gather of u8", |count| (GatherConfig::numbers(U8), gather, count)),
    ]
}

/// Functions of fixtures; without `compile-shaders` there are none.
#[cfg(not(feature = "compile-shaders"))]
fn functions(_: &Device) -> Vec<CommandRow> {
    Vec::new()
}

#[cfg(feature = "compile-shaders")]
fn functions(device: &Device) -> Vec<CommandRow> {
    use super::{FunctionModule, Functions};
    use crate::kernels::fixture;
    use crate::scan::ScanKind;
    macro_rules! functions {
        ($name:literal, $words:literal, $data:literal, [$($kernel:literal),*]) => {{
            static MODULES: &[FunctionModule] = &[$(
                // SAFETY: the build has compiled the module for Vulkan 1.2, from an include that follows the rules.
                unsafe { FunctionModule::new($kernel, fixture(concat!($name, ".", $kernel))) }
            ),*];
            // SAFETY: as above.
            static FUNCTIONS: Functions = unsafe { Functions::new($name, $words, MODULES).with_data($data) };
            &FUNCTIONS
        }};
    }
    let keep = functions!("even", 1, 0, ["select/count:key1", "select/compact:key1", "select/chained:key1"]);
    let key_of = functions!(
        "distance",
        5,
        3,
        [
            "sort/digit_histogram:key1_bins",
            "sort/onesweep:key1_value1",
            "sort/single_workgroup:key1_value1",
            "top_k/rows:key1",
            "top_k/select:key1",
            "top_k/orders:key1",
            "top_k/take:key1",
            "histogram/count"
        ]
    );
    let less =
        functions!("record", 7, 1, ["search/search:key1", "merge/merge:rounds_key1", "sort/merge_runs"]);
    let combine = functions!(
        "matrix",
        4,
        0,
        [
            "scan/reduce:words32x1",
            "scan/downsweep:words32x1",
            "reduce/reduce:words32",
            "reduce/segments:words32"
        ]
    );
    let data = array(9);
    let structures = StructureSortBuffers::new(array(0), scratch()).functions_data(data);
    let of_keys = SortBuffers::new(array(0), scratch()).values(array(1)).functions_data(data);
    let select = SelectBuffers::new(array(0), array(1), array(2), scratch());
    let search = SearchBuffers::new(array(0), array(1), array(2)).functions_data(data);
    let merge = MergeBuffers::new(array(0), array(1), array(2)).functions_data(data);
    let sort =
        |name, config: StructureSortConfig, buffers| row(device, name, move |count| (config, buffers, count));
    vec![
        sort("sort of structures by `less`", StructureSortConfig::custom(less), structures),
        sort(
            "sort of structures by `less`, out of place",
            StructureSortConfig::custom(less).out_of_place(),
            structures.sorted(array(1)),
        ),
        sort(
            "argsort of structures by `less`",
            StructureSortConfig::custom_argsort(less),
            structures.indices(array(1)),
        ),
        row(device, "search by `less`", |count| {
            (SearchConfig::custom_lower_bound(less), search, (count, count))
        }),
        row(device, "merge by `less`", |count| (MergeConfig::custom(less), merge, (count / 2, count / 2))),
        row(device, "argsort by a `key_of` of 32 bits, `onesweep`", |count| {
            (SortConfig::argsort(U32).computed(key_of), of_keys, count)
        }),
        row(device, "top-k of a row by a `key_of` of 32 bits, k = 32", |count| {
            let buffers = TopKBuffers::new(array(0), array(1), array(2), scratch()).functions_data(data);
            (TopKConfig::smallest(U32, count as u32, 32).computed(key_of), buffers, 1)
        }),
        row(device, "histogram by a `key_of` of 32 bits, 256 even bins", |count| {
            let buffers = HistogramBuffers::new(array(0), array(1), array(2)).functions_data(data);
            (HistogramConfig::even(U32, 256).computed(key_of), buffers, count)
        }),
        row(device, "select by `keep`, `chained`", |count| (SelectConfig::custom(keep), select, count)),
        row(device, "scan by `combine`, `reduce-then-scan`", |count| {
            let buffers = ScanBuffers::new(array(0), array(1), scratch());
            (ScanConfig::custom(ScanKind::Inclusive, combine), buffers, count)
        }),
        row(device, "reduce by `combine`", |count| {
            (ReduceConfig::custom(combine), ReduceBuffers::new(array(0), array(1), scratch()), count)
        }),
    ]
}

/// The rows between two marks of a page, and their numbers in place of what stands in their last cells.
fn with_numbers(page: &str, rows: &[CommandRow]) -> String {
    let (begin, end) = ("<!-- commands -->\n", "<!-- end of commands -->\n");
    let from = page.find(begin).expect("the table begins") + begin.len();
    let to = from + page[from..].find(end).expect("the table ends");
    let mut lines = page[from..to].lines();
    let mut table: Vec<String> = lines.by_ref().take(2).map(str::to_owned).collect();
    let mut rows = rows.iter();
    for line in lines {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let [_, name, bytes, ..] = cells[..] else { panic!("{line}") };
        let Some((expected, numbers)) = rows.next() else {
            // The last rows are those with functions.
            assert!(!cfg!(feature = "compile-shaders") && name.contains('`'), "no plan of {name}");
            table.push(line.to_owned());
            continue;
        };
        assert_eq!(name, *expected, "rows are in the order of the plans");
        table.push(format!("| {name} | {bytes} | {} |", numbers.join(" | ")));
    }
    assert_eq!(rows.next(), None, "a plan without a row");
    format!("{}{}\n{}", &page[..from], table.join("\n"), &page[to..])
}

fn all_rows() -> Vec<CommandRow> {
    let device = Device::absent(tuning::h200());
    let primitives = [sorts, structure_sorts, scans, selections, run_lengths, histograms, reductions, others];
    primitives.iter().chain(&[packed, functions]).flat_map(|rows| rows(&device)).collect()
}

/// `SUBSWEEP_BLESS=1` writes the numbers.
#[test]
fn the_table_of_commands_is_that_of_the_plans() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/algorithms.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let expected = with_numbers(&page, &all_rows());
    if std::env::var_os("SUBSWEEP_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    for (line, expected) in page.lines().zip(expected.lines()) {
        assert_eq!(line, expected, "SUBSWEEP_BLESS=1 cargo test --lib command_table writes the numbers");
    }
}

#[test]
fn a_wrong_number_of_commands_is_noticed() {
    let table = |numbers: &str| {
        format!("<!-- commands -->\n| | |\n|-|-|\n| a scan | 2n | {numbers} |\n<!-- end of commands -->\n")
    };
    let rows = [("a scan", ["1", "0 / 1", "0", "1"].map(str::to_owned))];
    let right = table("1 | 0 / 1 | 0 | 1");
    assert_eq!(with_numbers(&right, &rows), right);
    assert_eq!(with_numbers(&table("1 | 1 | 0 | 1"), &rows), right);
}
