//! What coding agents do in a repository becomes agents, traces, relations and holds of its store.
//!
//! - [`Source`]: whose conversations they are.
//! - [`wiring`]: what they are told, so that we hear of them.

mod source;
pub mod wiring;

pub use crate::source::{ConversationId, InvalidSource, Source};
