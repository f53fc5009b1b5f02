//! What holds of any bytes that our readers are given. Each module has one function that takes any
//! bytes, and panics where a promise is broken. The targets in `fuzz/` hand them to the fuzzer; the
//! tests of this crate feed them the seeds, so that they are never behind the code.

pub mod acceptance;
pub mod agentlang;
pub mod announcement;
pub mod capability;
pub mod context;
mod folder;
pub mod frame;
pub mod identity;
pub mod json_agent;
pub mod json_context;
pub mod json_model;
pub mod notes_text;
pub mod notes_tree;
pub mod pack_index;
pub mod pipeline;
pub mod query;
pub mod query_compile;
pub mod record;
pub mod redact;
pub mod reply;
mod seeds;
pub mod shard;
pub mod trailer;

pub use seeds::{FuzzSeed, seeds};

/// A name, and the function that checks one input.
pub type FuzzTarget = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [FuzzTarget; 21] = [
    ("acceptance", acceptance::check),
    ("agentlang", agentlang::check),
    ("announcement", announcement::check),
    ("capability", capability::check),
    ("context", context::check),
    ("frame", frame::check),
    ("identity", identity::check),
    ("json_agent", json_agent::check),
    ("json_context", json_context::check),
    ("json_model", json_model::check),
    ("notes_text", notes_text::check),
    ("notes_tree", notes_tree::check),
    ("pack_index", pack_index::check),
    ("pipeline", pipeline::check),
    ("query", query::check),
    ("query_compile", query_compile::check),
    ("record", record::check),
    ("redact", redact::check),
    ("reply", reply::check),
    ("shard", shard::check),
    ("trailer", trailer::check),
];

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
