//! What the fuzz targets check. Each module has one function that takes any bytes, and panics where
//! a promise is broken; the files in `fuzz_targets/` hand them to the fuzzer.

pub mod agentlang;
pub mod context;
pub mod frame;
pub mod json_agent;
pub mod json_context;
pub mod json_model;
pub mod notes_text;
pub mod notes_tree;
pub mod pack_index;
pub mod pipeline;
pub mod record;
pub mod trailer;

/// Takes a byte off the front; 0 where nothing is left.
fn take_byte(data: &mut &[u8]) -> u8 {
    match data.split_first() {
        Some((first, rest)) => {
            *data = rest;
            *first
        }
        None => 0,
    }
}

/// Takes a number of two bytes off the front.
fn take_number(data: &mut &[u8]) -> usize {
    usize::from(take_byte(data)) << 8 | usize::from(take_byte(data))
}

/// Reads bytes as text, which most targets want.
fn text_of(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}
