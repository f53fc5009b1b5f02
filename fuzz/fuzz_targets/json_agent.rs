//! Feeds `agentic_fuzz::json_agent`, which says what it checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agentic_fuzz::json_agent::check(data));
