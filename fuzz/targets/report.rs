//! Fuzzes `checks::report`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = checks::report(bytes);
});
