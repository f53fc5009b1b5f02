//! Feeds `agentic_fuzz::query_compile`, which says what it checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agentic_fuzz::query_compile::check(data));
