//! Feeds `agentic_fuzz::identity`, which says what it checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agentic_fuzz::identity::check(data));
