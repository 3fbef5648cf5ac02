//! Fuzzes `checks::npy`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    checks::npy(bytes);
});
