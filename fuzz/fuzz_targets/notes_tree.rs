//! Feeds `agentic_fuzz::notes_tree`, which says what it checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| agentic_fuzz::notes_tree::check(data));
