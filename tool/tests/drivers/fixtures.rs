//! Kernels of `src/kernels/fixtures`, which the library does not have: reproducers of drivers' bugs, arithmetic alone, the
//! pieces of a stranger, and a race.

use subsweep::kernels::{Family, Kernel, KernelAccess, PushConstant, SpecConstant, fixture};

/// All of them. A [`Rig`](super::passes::rig::Rig) takes them as it takes the library's kernels.
pub static FAMILY: Family = Family::new(&KERNELS);

static KERNELS: [&Kernel; 12] = [
    &BUG_FENCE,
    &BUG_LOOP,
    &BUG_RESULT,
    &BUG_BASE,
    &BUG_LANES,
    &BUG_SHUFFLE,
    &ADVANCE,
    &MERGE_PATH,
    &PIECE_SCAN,
    &PIECE_MATCH,
    &PIECE_COUNTERS,
    &RACE,
];

pub static BUG_FENCE: Kernel = kernel("bug_fence", &[RESULT], IS_AVOIDED);
pub static BUG_LOOP: Kernel = kernel("bug_loop", &[RESULT], IS_AVOIDED);
pub static BUG_RESULT: Kernel = kernel("bug_result", &[RESULT], IS_AVOIDED);
pub static BUG_BASE: Kernel = kernel("bug_base", &[RESULT], &[]);
pub static BUG_LANES: Kernel = kernel("bug_lanes", &[RESULT], &[]);
pub static BUG_SHUFFLE: Kernel = kernel("bug_shuffle", &[RESULT], &[]);
pub static ADVANCE: Kernel =
    kernel("advance", &[RESULT, word("low", 8), word("high", 12), word("step", 16), word("size", 20)], &[]);
pub static MERGE_PATH: Kernel = kernel(
    "merge_path",
    &[RESULT, word("extent", 8), word("extent_high", 12), word("border", 16), word("border_high", 20)],
    &[],
);
pub static PIECE_SCAN: Kernel = kernel(
    "piece_scan",
    &[
        pointer("maps", 0, KernelAccess::READ),
        pointer("by_subgroups", 1, KernelAccess::WRITE),
        pointer("by_invocations", 2, KernelAccess::WRITE),
        pointer("totals", 3, KernelAccess::WRITE),
        pointer("state", 4, KernelAccess::ATOMIC),
        pointer("observed", 5, KernelAccess::WRITE),
        word("workgroup_count", 48),
    ],
    &[],
);
pub static PIECE_MATCH: Kernel = kernel("piece_match", RANKING, SHAPE);
pub static PIECE_COUNTERS: Kernel = kernel("piece_counters", RANKING, SHAPE);
pub static RACE: Kernel = kernel(
    "race",
    &[pointer("result", 0, KernelAccess::WRITE)],
    &[constant("IS_ORDERED", 1, 0), constant("SHARED_WORDS", 2, 64)],
);

const RESULT: PushConstant = pointer("result", 0, KernelAccess::READ_WRITE);
const IS_AVOIDED: &[SpecConstant] = &[constant("IS_AVOIDED", 1, 0)];
const RANKING: &[PushConstant] = &[
    pointer("keys", 0, KernelAccess::READ),
    pointer("sorted", 1, KernelAccess::WRITE),
    pointer("bins", 2, KernelAccess::WRITE),
    word("extent", 24),
    word("shift", 28),
];
// The ids of `glsl/common/constants.glsl`.
const SHAPE: &[SpecConstant] = &[
    constant("RADIX_BITS", 3, 4),
    constant("ITEMS_PER_INVOCATION", 5, 16),
    constant("DESCENDING", 22, 0),
    constant("MAX_SUBGROUPS", 23, 16),
];

const fn kernel(
    name: &'static str,
    push_constants: &'static [PushConstant],
    spec_constants: &'static [SpecConstant],
) -> Kernel {
    // SAFETY: the build has compiled it for Vulkan 1.2, and its source has these push constants and constants.
    unsafe { Kernel::new(name, fixture(name), push_constants, spec_constants) }
}

const fn pointer(name: &'static str, index: u32, access: KernelAccess) -> PushConstant {
    PushConstant { name, offset: 8 * index, size: 8, access: Some(access) }
}

const fn word(name: &'static str, offset: u32) -> PushConstant {
    PushConstant { name, offset, size: 4, access: None }
}

const fn constant(name: &'static str, id: u32, default: u32) -> SpecConstant {
    SpecConstant { name, id, default }
}
