//! Feeds `agentic_fuzz::reply`, which says what it checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agentic_fuzz::reply::check(data));
