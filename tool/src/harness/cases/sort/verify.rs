//! Verification cases of sorts, except the covering ones.

use super::super::{LARGE, sizes};
use super::{
    ANY_COUNT, Case, CountFrom, MATCHING, OF_SEED, PolicyName, PrimitiveCase, SortCase, SortKeys, SortValues,
    algorithms, crossover,
};
use crate::harness::cases::UNPACKED;
use crate::harness::inputs::Input;
use subsweep::device::Capabilities;
use subsweep::sort::SortAlgorithm;
use subsweep::{ElementType, FloatOrder};

/// A sort for each specialization of a kernel by a selectable policy, in one key order.
pub(in crate::harness::cases) fn selectable_works(_: &Capabilities) -> Vec<SortCase> {
    let policies = [PolicyName::Default, PolicyName::Seed, PolicyName::SeedBinByBin];
    let mut sorts = Vec::new();
    for key in [ElementType::U32, ElementType::U64] {
        let onesweep = |values| {
            SortCase::keys_of_u32(SortAlgorithm::Onesweep, PolicyName::Default).with_types(key, values, false)
        };
        for values in SortValues::SIZES {
            for algorithm in SortAlgorithm::ALL {
                for policy in policies {
                    if policy == PolicyName::Default || algorithm.is_of_seed() {
                        sorts.push(SortCase::keys_of_u32(algorithm, policy).with_types(key, values, false));
                    }
                }
            }
            sorts.push(SortCase { has_large_counts: true, ..onesweep(values) });
        }
        // The last pass does not write the keys.
        sorts.push(onesweep(SortValues::Indices));
    }
    // Kernels that take packed keys as they are, but where the device lacks the feature.
    for key in [ElementType::U8, ElementType::U16] {
        let algorithms = SortAlgorithm::ALL.into_iter().filter(|other| *other != SortAlgorithm::Radix2Bit);
        for algorithm in algorithms {
            let sort = SortCase::keys_of_u32(algorithm, PolicyName::Default);
            sorts.extend(SortValues::SIZES.map(|values| sort.clone().with_types(key, values, false)));
        }
    }
    // The longest key transformation: descending doubles in the order of numpy.
    for algorithm in [SortAlgorithm::Radix4Bit, SortAlgorithm::Onesweep] {
        let sort = SortCase::keys_of_u32(algorithm, PolicyName::Default);
        sorts.push(sort.with_types(ElementType::F64, SortValues::None, true).with_order(FloatOrder::Numpy));
    }
    // A part of a structure's key: between one word and two.
    let onesweep = SortCase::keys_of_u32(SortAlgorithm::Onesweep, PolicyName::Default);
    sorts.push(onesweep.with_types(ElementType::U64, SortValues::B4, false).with_bits(0..40));
    sorts
}

/// Each of [`selectable_works`] in several tiles, aligned and misaligned.
pub(in crate::harness::cases) fn specialization_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for sort in selectable_works(capabilities) {
        let tile = sort.tile(capabilities);
        let is_single = sort.algorithm == SortAlgorithm::SingleWorkgroup;
        let count = if is_single { tile / 2 + 3 } else { 2 * tile + 3 };
        let values_misalignment = if sort.keys.values == SortValues::None { 0 } else { 4 };
        let misaligned = SortCase { misalignment: 4, values_misalignment, ..sort.clone() };
        for (sort, input) in [(sort, Input::EdgeValues), (misaligned, Input::TwoValued)] {
            cases.push(sort.case(count, input));
        }
    }
    cases
}

/// All cases except the covering ones and products.
pub(in crate::harness::cases) fn full_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = u32_key_cases(capabilities);
    cases.extend(typed_sort_cases(capabilities));
    cases.extend(boundary_cases(capabilities));
    cases.extend(matching_cases(capabilities));
    cases.extend(single_workgroup_cases(capabilities));
    cases.extend(crossover_cases(capabilities));
    cases.extend(bin_by_bin_cases(capabilities));
    cases.extend(large_count_cases(capabilities));
    cases.extend(misaligned_sort_cases(capabilities));
    cases.extend(counted_sort_cases(capabilities));
    cases.extend(double_buffer_cases(capabilities));
    for algorithm in ANY_COUNT {
        cases.push(SortCase::keys_of_u32(algorithm, PolicyName::Default).case(LARGE, Input::Uniform));
    }
    cases
}

/// Keys of u32 alone, at the boundaries of every policy.
fn u32_key_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    let policies = [PolicyName::Default, PolicyName::Small, PolicyName::Seed];
    let tuned = policies.into_iter().flat_map(|policy| {
        algorithms(policy).iter().map(move |&algorithm| SortCase::keys_of_u32(algorithm, policy))
    });
    for keys in tuned {
        let tile = keys.tile(capabilities);
        let counts = sizes(capabilities, tile).into_iter();
        cases.extend(counts.map(|count| keys.case(count, Input::Uniform)));
        cases.extend(Input::ALL.map(|input| keys.case(3 * tile + 7, input)));
        // A bit range keeps the order of the other bits, which keys alone can show.
        for bits in [0..0, 0..1, 3..11, 8..32, 13..14, 24..32, 31..32] {
            cases.push(keys.clone().with_bits(bits).case(2 * tile + 1, Input::Uniform));
        }
        for misalignment in [4, 8, 12] {
            cases.push(SortCase { misalignment, ..keys.clone() }.case(2 * tile + 3, Input::Uniform));
        }
    }
    cases
}

/// Every type of keys with every kind of values, in either order, with the algorithms in turn.
///
/// One policy suffices to verify them: the small one has several levels with few keys.
fn typed_sort_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut sorts = Vec::new();
    for (index, element) in UNPACKED.into_iter().enumerate() {
        for (step, values) in SortValues::ALL.into_iter().enumerate() {
            for is_descending in [false, true] {
                let turn = index + step + usize::from(is_descending);
                let is_known = (element, values) == (ElementType::U32, SortValues::None) && !is_descending;
                for policy in [PolicyName::Small, PolicyName::Default, PolicyName::Seed] {
                    if !is_known {
                        let algorithms = algorithms(policy);
                        let keys = SortCase::keys_of_u32(algorithms[turn % algorithms.len()], policy);
                        sorts.push(keys.with_types(element, values, is_descending));
                    }
                }
            }
        }
    }
    let mut cases = Vec::new();
    for sort in sorts {
        let tile = sort.tile(capabilities);
        let counts = [0, 1, 2, tile - 1, tile + 1];
        cases.extend(counts.map(|count| sort.case(count, Input::Uniform)));
        // Whole tiles of equal keys, and few distinct keys: their values must stay in order.
        let inputs = [Input::TwoValued, Input::Entropy { ands: 4 }, Input::Constant(u32::MAX)];
        cases.extend(inputs.map(|input| sort.case(2 * tile + 3, input)));
        cases.push(sort.case(3 * tile + 7, Input::EdgeValues));
        cases.extend(Input::ALL.map(|input| sort.case(4 * tile + 1, input)));
        if sort.policy == PolicyName::Small {
            cases.push(sort.case((tile * tile + 1).min(1 << 17), Input::EdgeValues));
        }
        cases.push(sort.case((1 << 20) + 1, Input::Uniform));
    }
    cases
}

/// Keys and values of 4 and 8 bytes, each misaligned alone and together; and bit ranges.
fn misaligned_sort_cases(capabilities: &Capabilities) -> Vec<Case> {
    let (none, b4, b8, argsort) = (SortValues::None, SortValues::B4, SortValues::B8, SortValues::Indices);
    let mut cases = Vec::new();
    for (index, (element, values, is_descending, bits, misalignment, values_misalignment)) in [
        (ElementType::U32, b4, false, 0..32, 0, 4),
        (ElementType::U64, b8, true, 31..33, 4, 0),
        (ElementType::I32, b8, false, 24..32, 8, 12),
        (ElementType::F64, b4, true, 30..64, 12, 8),
        (ElementType::F32, argsort, false, 0..32, 4, 4),
        (ElementType::I64, none, true, 33..34, 12, 0),
        (ElementType::I32, b4, true, 0..0, 4, 4),
        (ElementType::F32, argsort, true, 9..9, 0, 0),
        (ElementType::U64, argsort, true, 3..11, 0, 0),
    ]
    .into_iter()
    .enumerate()
    {
        let sort = SortCase::keys_of_u32(ANY_COUNT[index % ANY_COUNT.len()], PolicyName::Small).with_types(
            element,
            values,
            is_descending,
        );
        let sort = SortCase { misalignment, values_misalignment, ..sort.with_bits(bits) };
        let tile = sort.tile(capabilities);
        cases.push(sort.case(2 * tile + 3, Input::EdgeValues));
        cases.push(sort.case(1, Input::Uniform));
        cases.push(sort.case(40 * tile + 7, Input::Entropy { ands: 2 }));
    }
    cases
}

/// Every count of keys from one small tile to two, for every fill of the last tile.
fn boundary_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for algorithm in ANY_COUNT {
        let small = SortCase::keys_of_u32(algorithm, PolicyName::Small);
        let sort = small.with_types(ElementType::U32, SortValues::B4, false);
        let tile = sort.tile(capabilities);
        cases.extend((tile..=2 * tile).map(|count| sort.case(count, Input::ConstantDigit)));
    }
    cases
}

/// Ranking by masks in shared memory, for each size of keys and values, and `onesweep` counting a tile after ranking.
/// Several portions, whole tiles of one digit, and skipped passes.
fn matching_cases(capabilities: &Capabilities) -> Vec<Case> {
    let masks = MATCHING.map(|algorithm| (algorithm, PolicyName::SmallMasks));
    let mut cases = Vec::new();
    let onesweeps = [PolicyName::SmallLate, PolicyName::SmallWindows];
    let onesweeps = onesweeps.map(|policy| (SortAlgorithm::Onesweep, policy));
    for (algorithm, policy) in masks.into_iter().chain(onesweeps) {
        for element in [ElementType::U8, ElementType::U16] {
            for values in SortValues::SIZES {
                let sort = SortCase::keys_of_u32(algorithm, policy).with_types(element, values, false);
                cases.push(sort.case(45 * sort.tile(capabilities) + 7, Input::EdgeValues));
            }
        }
        for element in [ElementType::U32, ElementType::U64] {
            for values in SortValues::SIZES {
                let sort = SortCase::keys_of_u32(algorithm, policy).with_types(element, values, false);
                let tile = sort.tile(capabilities);
                cases.extend([
                    sort.case(tile - 1, Input::Uniform),
                    sort.case(2 * tile, Input::TwoValued),
                    sort.case(3 * tile + 7, Input::ConstantDigit),
                    sort.case(45 * tile + 7, Input::EdgeValues),
                ]);
                // With offsets of 64 bits.
                if (algorithm, policy) == (SortAlgorithm::Onesweep, PolicyName::SmallMasks) {
                    let large = SortCase { has_large_counts: true, ..sort };
                    cases.push(large.case(45 * tile + 7, Input::EdgeValues));
                }
            }
            if (algorithm, policy) == (SortAlgorithm::Onesweep, PolicyName::SmallMasks) {
                let argsort =
                    SortCase::keys_of_u32(algorithm, policy).with_types(element, SortValues::Indices, false);
                let count = 3 * argsort.tile(capabilities) + 7;
                cases.push(argsort.case(count, Input::EdgeValues));
            }
        }
    }
    cases
}

/// Indirect counts, with kinds of keys and values in turn.
fn counted_sort_cases(capabilities: &Capabilities) -> Vec<Case> {
    let kinds = [
        (ElementType::U32, SortValues::B4, false),
        (ElementType::F64, SortValues::Indices, true),
        (ElementType::I64, SortValues::None, false),
        (ElementType::F32, SortValues::B8, true),
    ];
    let algorithms = ANY_COUNT.into_iter().chain([SortAlgorithm::SingleWorkgroup]);
    let mut cases = Vec::new();
    for (index, algorithm) in algorithms.enumerate() {
        for (step, (element, values, is_descending)) in kinds.into_iter().enumerate() {
            let is_single = algorithm == SortAlgorithm::SingleWorkgroup;
            let is_default = is_single || step == index % kinds.len();
            let policy = if is_default { PolicyName::Default } else { PolicyName::Small };
            let sort = SortCase::keys_of_u32(algorithm, policy).with_types(element, values, is_descending);
            let tile = sort.tile(capabilities);
            let most = if is_single { tile * 2 / 3 - 2 } else { 45 * tile.min(1 << 9) + 7 };
            for (turn, count) in [0, 1, tile / 2, most].into_iter().enumerate() {
                for count_from in CountFrom::INDIRECT {
                    // An indirect count has a maximum above 0.
                    if (count, count_from) != (0, CountFrom::DeviceBeyond) {
                        let input = [Input::EdgeValues, Input::ConstantDigit][turn % 2];
                        cases.push(SortCase { count_from, ..sort.clone() }.case(count, input));
                    }
                }
            }
        }
    }
    cases
}

/// Double-buffered output, after odd and even numbers of passes; also with equal keys and indirect counts.
fn double_buffer_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for algorithm in ANY_COUNT {
        let radix_bits = algorithm.radix_bits();
        let kinds = [
            (ElementType::U32, SortValues::B4, 3 * radix_bits),
            (ElementType::I64, SortValues::None, 3 * radix_bits - 1),
            (ElementType::F32, SortValues::B8, 32),
            (ElementType::I32, SortValues::B4, radix_bits),
        ];
        for (step, (element, values, end_bit)) in kinds.into_iter().enumerate() {
            let small =
                SortCase::keys_of_u32(algorithm, PolicyName::Small).with_types(element, values, false);
            let tile = small.tile(capabilities);
            let inputs = [Input::Uniform, Input::Constant(u32::MAX), Input::ConstantDigit];
            for (turn, input) in inputs.into_iter().enumerate() {
                let count_from =
                    [CountFrom::Host, CountFrom::DeviceBeyond, CountFrom::Device][(step + turn) % 3];
                let part = small.clone().with_bits(0..end_bit);
                let sort = SortCase { is_double_buffered: true, count_from, ..part };
                cases.push(sort.case(5 * tile + 3, input));
            }
        }
    }
    cases
}

/// Plans with 64-bit offsets: in several portions, which indirect counts leave empty; and the chosen policy, with one
/// workgroup and with many. Offsets beyond 2^32 exceed the memory; checks of single passes cover them.
fn large_count_cases(capabilities: &Capabilities) -> Vec<Case> {
    let small = SortCase::keys_of_u32(SortAlgorithm::Onesweep, PolicyName::Small);
    let mut cases = Vec::new();
    for sort in [small, SortCase::chosen()] {
        let large = SortCase { has_large_counts: true, ..sort };
        let (is_small, tile) = (large.policy == PolicyName::Small, large.tile(capabilities));
        let most = if is_small { 45 * tile + 7 } else { 5000 };
        let more = large.clone().with_types(ElementType::F64, SortValues::B8, true);
        for (index, kind) in large.kinds().into_iter().chain([more]).enumerate() {
            cases.extend([
                kind.case(most, Input::EdgeValues),
                kind.case(0, Input::Uniform),
                kind.case(tile + 1, Input::EdgeValues),
                kind.case(most, Input::ConstantDigit),
            ]);
            if is_small {
                let bits = 3..kind.keys.bits.end - 5;
                let (is_double_buffered, count_from) = (index % 2 == 0, CountFrom::Device);
                let part = kind.with_bits(bits);
                let part = SortCase { misalignment: 4, is_double_buffered, count_from, ..part };
                cases.extend([0, tile / 2, most].map(|count| part.case(count, Input::EdgeValues)));
            }
        }
    }
    cases
}

/// Every type, kind of values and order in one workgroup, at every boundary up to its capacity.
fn single_workgroup_cases(capabilities: &Capabilities) -> Vec<Case> {
    let single = SortCase::keys_of_u32(SortAlgorithm::SingleWorkgroup, PolicyName::Default);
    let most = single.tile(capabilities);
    let mut cases = Vec::new();
    for keys in SortKeys::all() {
        let width = keys.element.bits();
        let sort = SortCase { keys, ..single.clone() };
        let counts = [0, 1, 2, 257, most - 1, most];
        cases.extend(counts.map(|count| sort.case(count, Input::EdgeValues)));
        cases.push(sort.case(most / 2 + 3, Input::Constant(u32::MAX)));
        let part = sort.clone().with_bits(width / 3..3 * width / 4);
        cases.push(part.case(most / 3, Input::Uniform));
        cases.push(sort.with_bits(5..5).case(100, Input::Uniform));
    }
    let pairs = single.with_types(ElementType::U32, SortValues::B4, false);
    cases.extend((1..most).map(|count| pairs.case(count, Input::ConstantDigit)));
    cases
}

/// Counts around the crossover from one workgroup to many: in the chosen policy of this device, and in the policy of a
/// GPU of many lanes.
fn crossover_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut sorts = SortCase::chosen().kinds().to_vec();
    let others = [
        (ElementType::F32, SortValues::Indices, false),
        (ElementType::I32, SortValues::B8, true),
        (ElementType::F64, SortValues::Indices, true),
    ];
    let of = |(element, values, is_descending)| SortCase::chosen().with_types(element, values, is_descending);
    sorts.extend(others.map(of));
    let onesweep = SortCase::keys_of_u32(SortAlgorithm::Onesweep, PolicyName::Crossover);
    sorts.push(onesweep.with_types(ElementType::U32, SortValues::B4, false));
    let mut cases = Vec::new();
    for sort in sorts {
        let last = crossover(&sort.policy(capabilities));
        let mut counts = vec![0, 1, 257, last - 1, last, last + 1, 2 * last, 4 * last + 11];
        counts.extend([last / 2, last / 2 + 1, last + last / 2 + 1, 16 * last + 1]);
        cases.extend(counts.into_iter().map(|count| sort.case(count, Input::EdgeValues)));
        cases.push(sort.case(last + 1, Input::Constant(u32::MAX)));
    }
    cases
}

/// The seed's chunks counted bin by bin. Only the counting differs from the other tables.
fn bin_by_bin_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    for algorithm in OF_SEED {
        let keys = SortCase::keys_of_u32(algorithm, PolicyName::SeedBinByBin);
        let tile = keys.tile(capabilities);
        for sort in keys.kinds() {
            cases.extend([
                sort.case(1, Input::EdgeValues),
                sort.case(tile - 1, Input::Uniform),
                sort.case(3 * tile + 7, Input::EdgeValues),
                sort.case(2 * tile, Input::Constant(u32::MAX)),
            ]);
        }
    }
    cases
}

/// Every type, kind of values, order and algorithm with every pair of bit bounds at 0, a third, three quarters and the
/// width of the key, in small tiles except for the single workgroup.
pub(in crate::harness::cases) fn product_cases(capabilities: &Capabilities) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |sort: SortCase| {
        let tile = sort.tile(capabilities);
        let (more, most) = match sort.algorithm {
            SortAlgorithm::SingleWorkgroup => (tile / 3 + 1, tile - 5),
            _ => (5 * tile + 9, tile * tile / 2 + 5),
        };
        // Counts and inputs that the other tables lack.
        cases.extend([
            sort.case(3, Input::EdgeValues),
            sort.case(tile, Input::OrganPipe),
            sort.case(more, Input::EdgeValues),
            sort.case(most, Input::Entropy { ands: 2 }),
        ]);
    };
    let small = ANY_COUNT.map(|algorithm| SortCase::keys_of_u32(algorithm, PolicyName::Small));
    let single = SortCase::keys_of_u32(SortAlgorithm::SingleWorkgroup, PolicyName::Default);
    for keys in SortKeys::all() {
        let width = keys.element.bits();
        let bounds = [0, width / 3, 3 * width / 4, width];
        for sort in small.iter().chain([&single]) {
            let sort = SortCase { keys: keys.clone(), ..sort.clone() };
            for (index, begin) in bounds.into_iter().enumerate() {
                bounds[index..].iter().for_each(|&end| add(sort.clone().with_bits(begin..end)));
            }
        }
    }
    cases
}
