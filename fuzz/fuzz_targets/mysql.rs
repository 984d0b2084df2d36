//! What a server of the MySQL family may say: see `drivers::fuzzing::mysql`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| drivers::fuzzing::mysql(data));
