//! Pass checks of reduce and downsweep: rows, columns and segments, in either direction.

use std::collections::HashSet;

use libtest_mimic::Failed;
use subsweep::ElementType;
use subsweep::headless::Gpu;
use subsweep::kernels::{self, Kernel};
use subsweep::scan::{ScanConfig, ScanPolicy, SegmentsBy};
use subsweep_tool::reference::Element;
use subsweep_tool::reference::passes::scan as model;
use subsweep_tool::reference::passes::segmented_scan::{Headed, Heads, mark_segments};

use super::numbers::{AnyRow, RowType};
use super::operators::Rows;
use super::rig::{
    Alignment, Rig, Selection, Tiles, Value, constants_in_memory, numbers_stored, sizes, small_workgroup,
    stored, type_in_memory,
};

/// The shape of a tile.
#[derive(Debug, Clone, Copy)]
pub struct TileShape {
    pub workgroup_size: u32,
    pub runs_per_invocation: u32,
    pub packs_per_run: u32,
}

impl TileShape {
    /// A tile of a small workgroup.
    pub fn small(gpu: &Gpu, runs_per_invocation: u32, packs_per_run: u32) -> Self {
        Self { workgroup_size: small_workgroup(gpu), runs_per_invocation, packs_per_run }
    }

    pub fn tile_items(&self, of: &RowType) -> usize {
        (self.workgroup_size * self.runs_per_invocation * self.packs_per_run) as usize * of.pack_items
    }

    pub fn constants(&self) -> [(&'static str, u32); 2] {
        [("RUNS_PER_INVOCATION", self.runs_per_invocation), ("PACKS_PER_RUN", self.packs_per_run)]
    }
}

/// The choice of a tile shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ShapeChoice {
    Small {
        runs: u32,
        packs: u32,
    },
    /// The default policy's items in one run per invocation.
    LongRun,
    /// The default policy's items in runs of one pack.
    ShortRuns,
}

impl ShapeChoice {
    fn shape(self, gpu: &Gpu, of: &RowType, is_segmented: bool) -> TileShape {
        let config = ScanConfig::inclusive(ElementType::U32).columns(of.words as u32);
        // In segmented scans an invocation has fewer rows, one bit for each.
        let config = if is_segmented { config.segments(SegmentsBy::Flags) } else { config };
        let ScanPolicy { workgroup_size, items_per_invocation, .. } =
            ScanPolicy::choose(gpu.capabilities(), &config).policy;
        let packs = items_per_invocation / of.pack_items as u32;
        match self {
            Self::Small { runs, packs } => TileShape::small(gpu, runs, packs),
            Self::LongRun => TileShape { workgroup_size, runs_per_invocation: 1, packs_per_run: packs },
            Self::ShortRuns => TileShape { workgroup_size, runs_per_invocation: packs, packs_per_run: 1 },
        }
    }
}

/// The direction of a scan, and the source of its tile count: combined, to save pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// Forward, with the tile count in push constants.
    Forward,
    /// Reverse, with a GPU-resident tile count.
    Reverse,
}

impl Order {
    /// The specialization constant `REVERSE`.
    pub fn constant(self) -> (&'static str, u32) {
        ("REVERSE", u32::from(self == Self::Reverse))
    }

    /// Rows in scan order.
    pub fn arrange<E: Element>(self, rows: Vec<E>, tile_items: usize) -> Vec<E> {
        match self {
            Self::Forward => rows,
            Self::Reverse => model::reversed(&rows, tile_items),
        }
    }

    /// The inverse of [`Self::arrange`], for `count` rows.
    pub fn undo<E>(self, mut rows: Vec<E>, count: usize) -> Vec<E> {
        if self == Self::Reverse {
            rows.reverse();
            rows.truncate(count);
        }
        rows
    }
}

/// The specialization of a kernel, except the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Specialization {
    shape_choice: ShapeChoice,
    alignment: Alignment,
    order: Order,
    heads: Option<Heads>,
    exclusive: bool,
    has_carry: bool,
    has_initial: bool,
}

impl Specialization {
    fn plain(
        shape_choice: ShapeChoice,
        alignment: Alignment,
        order: Order,
        exclusive: bool,
        has_carry: bool,
    ) -> Self {
        Self { shape_choice, alignment, order, heads: None, exclusive, has_carry, has_initial: false }
    }

    /// Each value of each option once, in small tiles.
    fn small() -> Vec<Self> {
        let small = |runs, packs| ShapeChoice::Small { runs, packs };
        vec![
            Self::plain(small(2, 1), Alignment::Quads, Order::Forward, false, true),
            Self::plain(small(1, 2), Alignment::Words, Order::Forward, true, false),
            Self::plain(small(2, 2), Alignment::Quads, Order::Reverse, true, true),
        ]
    }

    /// The same with one run per invocation, for the textbook networks.
    fn of_networks() -> Vec<Self> {
        let small = |packs| ShapeChoice::Small { runs: 1, packs };
        vec![
            Self::plain(small(2), Alignment::Quads, Order::Forward, false, true),
            Self::plain(small(1), Alignment::Words, Order::Forward, true, false),
            Self::plain(ShapeChoice::LongRun, Alignment::Quads, Order::Forward, false, true),
        ]
    }

    /// All combinations of kind and carry in default tiles of one run, and half of them in tiles of short runs.
    fn in_default_tiles() -> Vec<Self> {
        let mut specializations = Vec::new();
        for (shape_choice, kinds) in [
            (ShapeChoice::LongRun, &[(false, true), (true, false), (false, false), (true, true)][..]),
            (ShapeChoice::ShortRuns, &[(false, true), (true, false)]),
        ] {
            for (alignment, order) in [
                (Alignment::Quads, Order::Forward),
                (Alignment::Words, Order::Forward),
                (Alignment::Quads, Order::Reverse),
            ] {
                let of_kind = |&(exclusive, has_carry)| {
                    Self::plain(shape_choice, alignment, order, exclusive, has_carry)
                };
                specializations.extend(
                    kinds
                        .iter()
                        .map(of_kind)
                        .filter(|specialization| order == Order::Forward || specialization.has_carry),
                );
            }
        }
        specializations
    }

    /// Every kind of heads in each order, with the other options alternating.
    fn of_segments() -> Vec<Self> {
        let mut specializations = Vec::new();
        for (index, heads) in Heads::ALL.into_iter().enumerate() {
            for order in [Order::Forward, Order::Reverse] {
                // The levels above the first are scanned forward.
                if heads == Heads::Tiles && order == Order::Reverse {
                    continue;
                }
                let number = specializations.len();
                specializations.push(Self {
                    shape_choice: ShapeChoice::Small { runs: 1 + number as u32 % 2, packs: 1 },
                    alignment: Alignment::ALL[index % 2],
                    order,
                    heads: Some(heads),
                    exclusive: (index % 2 == 0) == (order == Order::Forward),
                    has_carry: number % 4 != 3,
                    has_initial: number % 3 != 0 && heads != Heads::Tiles,
                });
            }
        }
        specializations
    }

    fn rig<'g>(self, subject: &KernelUnderTest<'g>, more: &[(&'static str, u32)]) -> Result<Rig<'g>, Failed> {
        let shape = subject.shape(self);
        let mut constants = shape.constants().to_vec();
        constants.extend(self.alignment.constants());
        constants.push(self.order.constant());
        if let Some(heads) = self.heads {
            constants.push(("HEADS", heads as u32));
        }
        constants.extend((subject.of.constants)(subject.kernel));
        constants.extend(constants_in_memory(subject.kernel, subject.of.number));
        constants.extend(more);
        Rig::new(subject.gpu, subject.kernel, shape.workgroup_size, &constants)
    }
}

/// Head words of segments in `count` rows: many short segments, a long one, and a few longer ones.
fn head_words(heads: Heads, count: usize) -> Vec<u32> {
    let begins = |row: usize| match 3 * row / count {
        0 => row.is_multiple_of(5),
        1 => false,
        _ => row.is_multiple_of(41),
    };
    let mut number = 0;
    let mut key = |row| {
        number += u32::from(begins(row));
        number
    };
    match heads {
        Heads::Flags | Heads::Tiles => (0..count).map(|row| u32::from(begins(row)) * 0x100).collect(),
        Heads::Keys32 => (0..count).map(key).collect(),
        Heads::Keys64 => (0..count).map(&mut key).flat_map(|key| [key / 2, key.div_ceil(2)]).collect(),
        Heads::Bits => {
            let mut bits = vec![0; count.div_ceil(32)];
            let offsets: Vec<_> = (0..count).filter(|&row| begins(row)).map(|row| row as u32).collect();
            mark_segments(&offsets, &mut bits, count as u32);
            bits
        }
    }
}

/// A kernel, and the type and the number of columns of its rows.
struct KernelUnderTest<'g> {
    gpu: &'g Gpu,
    kernel: &'static Kernel,
    of: &'static RowType,
    column_count: usize,
}

/// Checks reduce or downsweep on the row types of its variant.
pub fn tiles(gpu: &Gpu, kernel: &'static Kernel, selection: Selection) -> Result<(), Failed> {
    let (stem, variant) = kernel.name.split_once(':').unwrap_or((kernel.name, ""));
    let Rows { column_count, types } = Rows::for_variant(variant).ok_or("no rows for this variant")?;
    let check = |of, specialization| {
        let subject = KernelUnderTest { gpu, kernel, of, column_count };
        if stem == "scan/reduce" { subject.reduce(specialization) } else { subject.downsweep(specialization) }
    };
    let mut specializations = match variant {
        _ if variant.ends_with("_segmented") => {
            let mut specializations = Specialization::of_segments();
            // Each module starts at other specializations.
            let of_stem = |name: &str| name.starts_with(stem) && name.ends_with("_segmented");
            let modules = kernels::all().map(|kernel| kernel.name).filter(|name| of_stem(name));
            let number = modules.take_while(|&name| name != kernel.name).count();
            let count = specializations.len();
            specializations.rotate_left(3 * number % count);
            let default = specializations[..2].iter().map(|&specialization| Specialization {
                shape_choice: ShapeChoice::LongRun,
                ..specialization
            });
            specializations.extend(default.collect::<Vec<_>>());
            specializations
        }
        _ if Rows::is_network(variant) => Specialization::of_networks(),
        _ => [Specialization::small(), Specialization::in_default_tiles()].concat(),
    };
    for specialization in &mut specializations {
        if variant.contains("_strided") {
            specialization.alignment = Alignment::Words;
        }
        if stem == "scan/reduce" {
            (specialization.exclusive, specialization.has_carry, specialization.has_initial) =
                (false, false, false);
        }
    }
    // Removes duplicates.
    let mut seen = HashSet::new();
    specializations.retain(|&specialization| seen.insert(specialization));
    let count = match variant {
        _ if Rows::is_network(variant) => 2,
        // Results of 8 and of 16 bits are stored by quads.
        "packed" => 4,
        _ => 3,
    };
    let first = selection.first(count, specializations.clone());
    if selection != Selection::Full {
        // The operator alternates from one specialization to the next.
        return first
            .into_iter()
            .zip(types.into_iter().cycle())
            .try_for_each(|(specialization, of)| check(of, specialization));
    }
    for (index, of) in types.into_iter().enumerate() {
        let is_whole = index == 0 || specializations[0].heads.is_some();
        let specializations =
            if is_whole { &specializations[..] } else { &specializations[index % 3..][..1] };
        specializations.iter().try_for_each(|&specialization| check(of, specialization))?;
    }
    Ok(())
}

/// The input of a check: `count` rows.
struct Input {
    tiles: Tiles,
    words: Vec<u32>,
    head_words: Vec<u32>,
    /// The rows of each column, in the order of the scan.
    columns: Vec<Vec<Headed<AnyRow>>>,
}

impl KernelUnderTest<'_> {
    fn case(&self, specialization: Specialization, count: usize) -> String {
        format!("{} of {}, {count} rows, {specialization:?}", self.kernel.name, (self.of.name)())
    }

    fn shape(&self, specialization: Specialization) -> TileShape {
        specialization.shape_choice.shape(self.gpu, self.of, specialization.heads.is_some())
    }

    /// The type of a number in memory.
    fn in_memory(&self) -> ElementType {
        type_in_memory(self.kernel, self.of.number)
    }

    /// The type of a result: of packed numbers half of the kernels have results of 32 bits.
    fn result(&self, specialization: Specialization) -> ElementType {
        if specialization.exclusive { self.of.number } else { self.in_memory() }
    }

    /// A column of a table.
    fn column(&self, words: &[u32], column: usize) -> impl Iterator<Item = AnyRow> {
        AnyRow::of_words(self.of, words).skip(column).step_by(self.column_count)
    }

    /// The table of these columns.
    fn table(&self, columns: &[Vec<AnyRow>]) -> Vec<u32> {
        let rows = columns.first().map_or(0, Vec::len);
        (0..rows).flat_map(|row| columns.iter().flat_map(move |column| column[row].words(self.of))).collect()
    }

    fn input(&self, specialization: Specialization, count: usize, tile_items: usize) -> Input {
        let words = numbers_stored(self.in_memory(), (self.of.input)(count, count * self.column_count));
        let (head_words, heads) = match specialization.heads {
            None => (Vec::new(), vec![false; count]),
            Some(heads) => {
                let words = head_words(heads, count);
                let of_rows = heads.head_flags(&words, count, specialization.order == Order::Reverse);
                (words, of_rows)
            }
        };
        let in_order = |index| {
            let rows = self.column(&words, index).zip(&heads);
            let rows = rows.map(|(value, &is_head)| Headed { value, is_head });
            specialization.order.arrange(rows.collect(), tile_items)
        };
        let columns = (0..self.column_count).map(in_order).collect();
        Input { tiles: Tiles::new(count, tile_items), words, head_words, columns }
    }

    fn reduce(&self, specialization: Specialization) -> Result<(), Failed> {
        let rig = specialization.rig(self, &[])?;
        let tile_items = self.shape(specialization).tile_items(self.of);
        for count in sizes(tile_items) {
            let Input { tiles, words, head_words, columns } = self.input(specialization, count, tile_items);
            let totals: Vec<_> = columns.iter().map(|rows| model::tile_totals(rows, tile_items)).collect();
            let values = |totals: &Vec<Headed<AnyRow>>| totals.iter().map(|total| total.value).collect();
            let expected: Vec<Vec<AnyRow>> = totals.iter().map(values).collect();
            let expected_heads: Vec<_> = totals[0].iter().map(|total| u32::from(total.is_head)).collect();

            let has_heads = specialization.heads.is_some();
            let values = [
                ("source", Value::input(stored(self.in_memory(), &words)).at(specialization.alignment)),
                ("sums", Value::output(self.table(&expected)).at(specialization.alignment)),
                ("heads", Value::input(head_words).only_if(has_heads)),
                ("sum_heads", Value::output(expected_heads).only_if(has_heads)),
                ("column_count", Value::Number(self.column_count)),
            ];
            let case = self.case(specialization, count);
            let values = values.into_iter().chain(tiles.push(specialization.order == Order::Reverse));
            rig.check(&case, values, tiles.tile_count * self.column_count)?;
        }
        Ok(())
    }

    fn downsweep(&self, specialization: Specialization) -> Result<(), Failed> {
        let results = ("UNPACKED_RESULTS", u32::from(!self.result(specialization).is_packed()));
        let results = if self.in_memory().is_packed() { &[results][..] } else { &[] };
        let exclusive = [&[("EXCLUSIVE", specialization.exclusive.into())], results].concat();
        let rig = specialization.rig(self, &exclusive)?;
        let is_same_type = self.result(specialization) == self.in_memory();
        for count in sizes(self.shape(specialization).tile_items(self.of)) {
            for in_place in [false, true].into_iter().take(1 + usize::from(is_same_type)) {
                self.downsweep_of(&rig, specialization, count, in_place, false)?;
            }
        }
        // The whole scan of several tiles, by modules of one column. Products of floats in another order overflow, and plans
        // of rounded results never ask for it.
        let name = (self.of.name)();
        let is_rounded = (name.starts_with("add") || name.starts_with("mul")) && name.contains(" f");
        let has_constant =
            self.kernel.spec_constants.iter().any(|constant| constant.name == "REDUCES_BEFORE");
        if has_constant && self.column_count == 1 && !is_rounded {
            let constants = [&exclusive[..], &[("REDUCES_BEFORE", 1)]].concat();
            let rig = specialization.rig(self, &constants)?;
            for count in sizes(self.shape(specialization).tile_items(self.of)) {
                self.downsweep_of(&rig, specialization, count, false, true)?;
            }
        }
        Ok(())
    }

    fn downsweep_of(
        &self,
        rig: &Rig<'_>,
        specialization: Specialization,
        count: usize,
        in_place: bool,
        reduces_before: bool,
    ) -> Result<(), Failed> {
        let column_count = self.column_count;
        let tile_items = self.shape(specialization).tile_items(self.of);
        let Input { tiles, words, head_words, columns } = self.input(specialization, count, tile_items);
        let carry_words = (self.of.input)(count + 1, tiles.tile_count * column_count);
        let initial_words = (self.of.input)(count + 2, column_count);
        let results_of = |(index, rows): (usize, &Vec<Headed<AnyRow>>)| {
            let carries = self.column(&carry_words, index);
            let carries: Vec<_> = carries.map(|value| Headed { value, is_head: false }).collect();
            // Combined with the identity, since the operator canonicalizes NaNs.
            let initial = self.column(&initial_words, index).next().filter(|_| specialization.has_initial);
            let initial = initial.map_or(AnyRow::IDENTITY, |initial| AnyRow::IDENTITY.combine(initial));
            let scanned = model::scan_tiles(
                rows,
                // As if all were one tile.
                if reduces_before { rows.len() } else { tile_items },
                specialization.exclusive,
                specialization.has_carry.then_some(&*carries),
            );
            let result = |(&scanned, row): (&Headed<AnyRow>, &Headed<AnyRow>)| match specialization.heads {
                Some(heads) => heads.result(initial, scanned, row.is_head, specialization.exclusive),
                None => scanned.value,
            };
            specialization.order.undo(scanned.iter().zip(rows).map(result).collect(), count)
        };
        let expected: Vec<_> = columns.iter().enumerate().map(results_of).collect();

        let words = stored(self.in_memory(), &words);
        let results = stored(self.result(specialization), &self.table(&expected));
        let (source, destination) = match in_place {
            true => (Value::changed(&words, results), Value::SameAs("source")),
            false => (Value::input(&words), Value::output(results)),
        };
        let values = [
            ("source", source.at(specialization.alignment)),
            ("destination", destination.at(specialization.alignment)),
            (
                "carries",
                Value::input(&carry_words).at(specialization.alignment).only_if(specialization.has_carry),
            ),
            ("heads", Value::input(&head_words).only_if(specialization.heads.is_some())),
            ("initial", Value::input(&initial_words).only_if(specialization.has_initial)),
            ("column_count", Value::Number(column_count)),
        ];
        let case = self.case(specialization, count);
        let case = format!("{case}, in place: {in_place}, reduces what is before: {reduces_before}");
        let values = values.into_iter().chain(tiles.push(specialization.order == Order::Reverse));
        rig.check(&case, values, tiles.tile_count * column_count)
    }
}
