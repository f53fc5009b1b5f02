//! What coding agents do in a repository becomes agents, traces, relations and holds of its store.
//!
//! - [`Source`]: whose conversations they are.

mod source;

pub use crate::source::{ConversationId, InvalidSource, Source};
