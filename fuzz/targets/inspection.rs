//! Fuzzes `checks::inspection`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = checks::inspection(bytes);
});
