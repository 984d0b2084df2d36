//! What a server of PostgreSQL may say: see `drivers::fuzzing::postgres`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| drivers::fuzzing::postgres(data));
