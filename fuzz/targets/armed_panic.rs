//! Canary: the fuzzer must find `checks::planted::panic`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    std::hint::black_box(checks::planted::panic(bytes));
});
