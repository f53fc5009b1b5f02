//! Feeds `agentic_fuzz::acceptance`, which says what it checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agentic_fuzz::acceptance::check(data));
