#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    faultlens_fuzz::targets::campaign::run(bytes);
});
