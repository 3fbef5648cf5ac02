//! Cases of structure sorts: keys of one part and of two, small and large structures, and what is written.

use std::cmp::Ordering;
use std::sync::Arc;

use super::id::Id;
use super::pairwise::{CoveringSet, InputTurns, axis};
use super::{
    BenchScale, Case, CountFrom, Effort, Known, Needs, Prepared, PrimitiveCase, SortValues, small_workgroup,
    uniform_cases,
};
use crate::harness::expected::Expected;
use crate::harness::inputs::Input;
use crate::harness::keys::keys_and_values;
use crate::reference::oracle::{self, Key as _};
use crate::reference::packed;
use subsweep::device::Capabilities;
use subsweep::error::Result;
use subsweep::internal::named;
use subsweep::sort::{
    Direction, Field, Key, StructureSortBuffers, StructureSortConfig, StructureSortPlan, StructureSortPolicy,
};
use subsweep::{ElementType, FloatOrder, NumberKind};

use Direction::{Ascending, Descending};
use ElementType::{Bf16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

/// Parameters of a structure sort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructureSortCase {
    /// The structure and its key.
    pub shape: StructureShape,
    /// What is written.
    pub output: StructureSortOutput,
    /// Host or indirect count.
    pub count_from: CountFrom,
    /// Whether tiles are small, so that few structures take many.
    pub has_small_tiles: bool,
    /// Offset of the ranges from a multiple of 16, in bytes.
    pub misalignment: u32,
}

named! {
    /// A structure, and the fields by which it is sorted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StructureShape {
        /// A word.
        Word = "word",
        /// A float, descending and as numpy, and an index, in 12 bytes.
        Depth = "depth",
        /// 40 bits of a key, in 8 bytes.
        Bits40 = "bits40",
        /// A half float in the high bytes of a word.
        Half = "half",
        /// An integer of 128 bits.
        Int128 = "int128",
        /// Numbers of 32, 64 and 32 bits: the middle one is in both parts of the key.
        Across = "across",
        /// Eight fields of 16 bytes together.
        Eight = "eight",
        /// The last bytes of a structure of 1,028.
        Large = "large",
    }
}

impl StructureShape {
    /// Bytes of a structure.
    const fn size(self) -> u32 {
        match self {
            Self::Word | Self::Half => 4,
            Self::Bits40 => 8,
            Self::Depth => 12,
            Self::Int128 => 16,
            Self::Across => 20,
            Self::Eight => 24,
            Self::Large => 1028,
        }
    }

    /// 32-bit words of a structure.
    pub const fn words(self) -> usize {
        self.size() as usize / 4
    }

    /// The fields, the most significant first.
    pub fn fields(self) -> Vec<Field> {
        let of =
            |fields: &[(ElementType, u32, Direction)]| fields.iter().map(|&field| field.into()).collect();
        let numpy = |field: Field| field.order(FloatOrder::Numpy);
        match self {
            Self::Word => of(&[(U32, 0, Ascending)]),
            Self::Depth => vec![numpy(Field::new(F32, 4)).descending(), Field::new(I32, 0)],
            Self::Bits40 => of(&[(I8, 3, Descending), (F32, 4, Ascending)]),
            Self::Half => vec![numpy(Field::new(F16, 2))],
            Self::Int128 => of(&[(I64, 8, Ascending), (U64, 0, Ascending)]),
            Self::Across => vec![
                Field::new(U32, 16).descending(),
                numpy(Field::new(F64, 4)).descending(),
                Field::new(I32, 0),
            ],
            Self::Eight => vec![
                Field::new(U8, 1).descending(),
                Field::new(I8, 0),
                numpy(Field::new(Bf16, 6)).descending(),
                Field::new(F16, 8).descending(),
                Field::new(I16, 2),
                Field::new(U16, 22),
                numpy(Field::new(F16, 10)),
                numpy(Field::new(F32, 12)),
            ],
            Self::Large => of(&[(F64, 1020, Descending), (U8, 5, Ascending)]),
        }
    }
}

named! {
    /// What a [`StructureSortCase`] writes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StructureSortOutput {
        /// The structures, in place.
        InPlace = "in-place",
        /// The structures, out of place.
        OutOfPlace = "out-of-place",
        /// Their indices.
        Indices = "argsort",
    }
}

impl StructureSortOutput {
    /// The argument of the result.
    const fn argument(self) -> &'static str {
        match self {
            Self::InPlace => "structures",
            Self::OutOfPlace => "sorted",
            Self::Indices => "indices",
        }
    }
}

impl StructureSortCase {
    /// Structures of a shape, sorted in place in default tiles.
    pub const fn new(shape: StructureShape) -> Self {
        Self {
            shape,
            output: StructureSortOutput::InPlace,
            count_from: CountFrom::Host,
            has_small_tiles: false,
            misalignment: 0,
        }
    }

    /// The plan's configuration without its policy.
    pub fn config(&self) -> StructureSortConfig {
        let (size, key) = (self.shape.size(), Key::fields(self.shape.fields()));
        let config = match self.output {
            StructureSortOutput::InPlace => StructureSortConfig::structures(size, key),
            StructureSortOutput::OutOfPlace => StructureSortConfig::structures(size, key).out_of_place(),
            StructureSortOutput::Indices => StructureSortConfig::argsort(size, key),
        };
        if self.count_from.is_indirect() { config.indirect_count() } else { config }
    }

    /// The policy of its plan on a device.
    pub fn policy(&self, capabilities: &Capabilities) -> StructureSortPolicy {
        if self.has_small_tiles {
            StructureSortPolicy::tiled(small_workgroup(capabilities), 3)
        } else {
            StructureSortPolicy::choose(capabilities, &self.config()).policy
        }
    }

    fn tile(&self, capabilities: &Capabilities) -> u64 {
        self.policy(capabilities).tile_items().into()
    }

    /// The permutation that sorts structures by fields, by the standard library's stable sort.
    pub fn sorted(fields: &[Field], structures: &[&[u8]]) -> Vec<u32> {
        let mut indices: Vec<_> = (0..structures.len() as u32).collect();
        oracle::sort_by(&mut indices, |&a, &b| {
            let [a, b] = [a, b].map(|index| structures[index as usize]);
            let of_field = |ordering: Ordering, field| ordering.then_with(|| compare(field, a, b));
            fields.iter().fold(Ordering::Equal, of_field)
        });
        indices
    }
}

/// Compares a field of two structures, by its direction; of 8 and 16 bits as the numbers of 32 that they equal.
fn compare(field: &Field, a: &[u8], b: &[u8]) -> Ordering {
    let (element, order) = (field.element_type(), field.float_order());
    let both = [a, b].map(|structure| {
        let bytes = &structure[field.offset() as usize..][..element.size()];
        let bits = bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
        if element.is_packed() { packed::unpacked(element, bits as u16).into() } else { bits }
    });
    let [a, b] = both;
    let ordering = match (element.kind(), element.size() == 8) {
        (NumberKind::Unsigned, _) => a.cmp(&b),
        (NumberKind::Signed, true) => (a as i64).cmp(&(b as i64)),
        (NumberKind::Signed, false) => (a as i32).cmp(&(b as i32)),
        (NumberKind::Float, true) => f64::from_bits(a).compare(f64::from_bits(b), order),
        (NumberKind::Float, false) => f32::from_bits(a as u32).compare(f32::from_bits(b as u32), order),
    };
    if field.sort_direction() == Descending { ordering.reverse() } else { ordering }
}

impl PrimitiveCase for StructureSortCase {
    type Plan = StructureSortPlan;

    fn id(&self) -> Id {
        Id::new(format_args!("structure_sort:{}", self.output))
            .with("key", self.shape)
            .unless(CountFrom::Host, "count", self.count_from)
            .tiles(self.has_small_tiles)
            .with("misalign", self.misalignment)
    }

    fn row_size(&self) -> u64 {
        self.shape.size().into()
    }

    fn variant(&self) -> String {
        self.shape.name().to_owned()
    }

    fn item_count(&self, count: u64) -> u64 {
        count * self.row_size() / 4
    }

    fn generate(&self, count: u64, input: Input) -> [Vec<u32>; 2] {
        keys_and_values(F32, SortValues::None, input, self.item_count(count))
    }

    fn prepare(&self, plan: Arc<StructureSortPlan>, count: u64, _: Input, _: &Known) -> Result<Prepared> {
        let (counted, operands) = self.count_from.operand("count", count);
        let destination = self.output.argument();
        let in_place = self.output == StructureSortOutput::InPlace;
        let needs = Needs {
            source: "structures",
            destination,
            in_place,
            ..Needs::new(counted.max(), self.misalignment, operands)
        };
        let case = self.clone();
        let expected = move |source: &[u32]| {
            let size = case.row_size() as usize;
            let structures: Vec<&[u8]> = bytemuck::cast_slice(source).chunks_exact(size).collect();
            let indices = Self::sorted(&case.shape.fields(), &structures);
            let structure = |&index: &u32| &source[index as usize * size / 4..][..size / 4];
            let words = match case.output {
                StructureSortOutput::Indices => indices,
                _ => indices.iter().flat_map(structure).copied().collect(),
            };
            (Expected::exact(words), Vec::new())
        };
        let traffic_size = plan.traffic_size(count);
        Prepared::new(traffic_size, plan, StructureSortBuffers::default(), counted, needs, expected)
    }
}

/// The inputs: with equal structures, equal fields, and special floats.
const INPUTS: [Input; 4] = [Input::Uniform, Input::TwoValued, Input::EdgeValues, Input::Constant(7)];

/// All pairs of parameters in small tiles.
pub(super) fn covering_sets(_: &Capabilities) -> [CoveringSet<StructureSortCase>; 1] {
    let plain = StructureSortCase { has_small_tiles: true, ..StructureSortCase::new(StructureShape::Word) };
    let axes = [
        axis(&StructureShape::ALL, |sort: &mut StructureSortCase, shape| sort.shape = shape),
        axis(&StructureSortOutput::ALL, |sort, output| sort.output = output),
        axis(&CountFrom::ALL, |sort, count_from| sort.count_from = count_from),
        axis(&[0, 4], |sort, misalignment| sort.misalignment = misalignment),
    ];
    [CoveringSet::new(plain, axes, |_| true)]
}

/// The covering set, and the default tiles.
pub(super) fn covering_cases(capabilities: &Capabilities) -> Vec<Case> {
    let [set] = covering_sets(capabilities);
    let mut inputs = InputTurns::new(INPUTS);
    let mut cases = Vec::new();
    for (index, covering) in set.works().into_iter().enumerate() {
        let tile = covering.work.tile(capabilities);
        // An indirect count has a maximum above 0.
        let few = if covering.work.count_from == CountFrom::DeviceBeyond { 2 } else { index as u64 % 3 };
        for count in [2 * tile + 3, few] {
            cases.push(covering.work.case(count, inputs.take(&covering)));
        }
    }
    // Structures that are copied back by accesses of either width.
    for misalignment in [0, 4] {
        let copied = StructureSortCase { misalignment, ..StructureSortCase::new(StructureShape::Bits40) };
        cases.push(copied.case(100, Input::EdgeValues));
    }
    // More than one workgroup sorts.
    let across = StructureSortCase::new(StructureShape::Across);
    let inputs = [Input::TwoValued, Input::EdgeValues];
    cases.extend(inputs.map(|input| across.case(20_000, input)));
    cases
}

/// Plans of the default policy for one part of a key, and for two.
pub(super) fn selectable_works(_: &Capabilities) -> [StructureSortCase; 3] {
    [StructureShape::Word, StructureShape::Bits40, StructureShape::Across].map(StructureSortCase::new)
}

/// Each of [`selectable_works`] with an indirect count.
pub(super) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let works = selectable_works(capabilities).into_iter();
    let counted = works.map(|sort| StructureSortCase { count_from: CountFrom::Device, ..sort });
    counted.map(|sort| sort.case(2 * sort.tile(capabilities) + 3, Input::EdgeValues)).collect()
}

/// All cases except the covering ones: every shape and output, with more structures than one workgroup sorts.
pub(super) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for shape in StructureShape::ALL {
        for output in StructureSortOutput::ALL {
            let sort = StructureSortCase { output, ..StructureSortCase::new(shape) };
            cases.extend(INPUTS.map(|input| sort.case(9000, input)));
            let beyond = StructureSortCase { count_from: CountFrom::DeviceBeyond, ..sort };
            cases.extend([1, sort_count(capabilities)].map(|count| beyond.case(count, Input::TwoValued)));
        }
    }
    cases.push(StructureSortCase::new(StructureShape::Across).case(1_299_709, Input::Uniform));
    cases
}

/// Structures of several tiles.
fn sort_count(capabilities: &Capabilities) -> u64 {
    3 * StructureSortCase::new(StructureShape::Word).tile(capabilities) + 1
}

/// The benchmarks: a key of 32 bits, of 64, and of 128; none of the quick ones, which take half a minute.
pub(super) fn bench_cases(scale: BenchScale) -> Vec<Case> {
    let shapes = [StructureShape::Word, StructureShape::Depth, StructureShape::Int128];
    match scale.effort {
        Effort::Quick => Vec::new(),
        Effort::Normal | Effort::Full => uniform_cases(shapes.map(StructureSortCase::new), &scale.counts()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As numpy sorts `[(nan, 1), (-0.0, 2), (0.0, 1), (1.0, 0)]`, the floats descending.
    #[test]
    fn later_fields_order_what_is_equal_in_earlier_ones() {
        let structures = [(1, f32::NAN), (2, -0.0), (1, 0.0), (0, 1.0)];
        let bytes = structures.map(|(index, depth): (u32, f32)| [index, depth.to_bits(), 0]);
        let structures: Vec<&[u8]> = bytes.iter().map(|words| bytemuck::cast_slice(words)).collect();
        assert_eq!(StructureSortCase::sorted(&StructureShape::Depth.fields(), &structures), [0, 3, 2, 1]);
    }

    #[test]
    fn a_field_of_few_bits_is_compared_as_a_number() {
        let halves = [0x3c00u32, 0xbc00, 0x7e00, 0x8000, 0].map(|half| [half << 16]);
        let structures: Vec<&[u8]> = halves.iter().map(|words| bytemuck::cast_slice(words)).collect();
        assert_eq!(StructureSortCase::sorted(&StructureShape::Half.fields(), &structures), [1, 3, 4, 0, 2]);
    }
}
