//! Kernels for tests alone: `src/kernels/fixtures/NAME.comp`, with the feature compile-shaders.

/// Bytes aligned as words.
#[repr(C)]
pub struct Aligned<const N: usize> {
    pub words: [u32; 0],
    pub bytes: [u8; N],
}

/// The module of a fixture, aligned as words: `fixture!("spilling")`.
#[macro_export]
macro_rules! fixture {
    ($name:expr) => {{
        use $crate::fixture::Aligned;
        const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fixtures/", $name, ".spv"));
        const LENGTH: usize = BYTES.len();
        static SPIRV: Aligned<LENGTH> = Aligned {
            words: [],
            bytes: *include_bytes!(concat!(env!("OUT_DIR"), "/fixtures/", $name, ".spv")),
        };
        &SPIRV.bytes
    }};
}
