//! The kernels that compute a splat's depth while they sort, by `shaders/depth.sort32.glsl`.

use subsweep::{FunctionModule, Functions};

/// A module, aligned as words.
#[repr(C, align(4))]
struct Words<const N: usize>([u8; N]);

macro_rules! module {
    ($kernel:literal, $file:literal) => {{
        const BYTES: &[u8] = include_bytes!(concat!("shaders/precompiled/depth.sort.", $file, ".spv"));
        static MODULE: Words<{ BYTES.len() }> =
            Words(*include_bytes!(concat!("shaders/precompiled/depth.sort.", $file, ".spv")));
        // SAFETY: compiled with this version's kernels, from an include that keeps to the rules.
        unsafe { FunctionModule::new($kernel, &MODULE.0) }
    }};
}

static MODULES: &[FunctionModule] = &[
    module!("sort/digit_histogram:key1_bins", "digit_histogram.key1_bins"),
    module!("sort/onesweep:key1_value1", "onesweep.key1_value1"),
    module!("sort/single_workgroup:key1_value1", "single_workgroup.key1_value1"),
];

/// The depth of the splat whose index an element is.
// SAFETY: an element is a word, and the function reads six words of its data.
pub static DEPTH: Functions = unsafe { Functions::new("depth", 1, MODULES).with_data(6) };
