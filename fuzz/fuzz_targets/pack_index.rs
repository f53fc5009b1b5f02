//! Feeds `agentic_fuzz::pack_index`, which says what it checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agentic_fuzz::pack_index::check(data));
