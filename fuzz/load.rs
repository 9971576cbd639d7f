#![no_main]

mod entry;

libfuzzer_sys::fuzz_target!(|data: &[u8]| entry::load(data));
