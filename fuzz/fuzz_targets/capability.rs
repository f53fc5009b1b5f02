//! Feeds `agentic_fuzz::capability`, which says what it checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agentic_fuzz::capability::check(data));
