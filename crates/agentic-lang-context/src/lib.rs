//! The context language: programs that declare what a model call may see.
//!
//! A program declares agents with functions. `use` makes a value visible to the model calls of its
//! scope, under a label and a budget; `generate` is the only model call, and its prompt holds the
//! declared sources and nothing else. Every contact with the world is a recorded request, so a run
//! can be replayed, resumed and audited.
//!
//! This crate is pure: texts come in through a [`TextResolver`], a run is an
//! [`agentic_replay::Program`], and whoever drives it performs its requests.
//!
//! - [`check`] says what is wrong with a program of any published version;
//! - [`compile`] makes a [`ContextModule`], and [`ContextModule::run`] a [`ContextRun`] of it;
//! - [`format`](fn@format) lays a text out anew;
//! - [`trace`] reads and prints what a run reported;
//! - [`provider`] performs requests without a world: mocks, scripts, memories, a workspace in
//!   memory.

/// The name of the language, as sessions pin it.
pub const LANGUAGE: &str = "context";

/// The version of the meaning of programs. Every change that can alter a request raises it.
///
/// Since 2 the addresses of resources stay out of prompts, and all values together have a bound.
/// What an address means that nobody answered before does not raise it.
pub const SEMANTICS_VERSION: u32 = 2;
/// The oldest version that programs can still be held to.
pub const SEMANTICS_OLDEST: u32 = 1;

pub use crate::dialect::{Dialect, Strictness, Version};
pub use crate::error::{Error, LIMIT, PROGRAM_FAILED, RunFault};
pub use crate::format::format;
pub use crate::language::{
    ContextFlow, ContextLanguage, ProgramAnswerers, ProgramModels, ProgramTools,
};
pub use crate::lexer::SOURCE_BYTES_MAX;
pub use crate::load::{DATA_BYTES_MAX, FILES_MAX, FileFinding, IMPORT_CHAIN_MAX, TextResolver};
pub use crate::module::{
    Calls, CheckFindings, CheckOptions, ContextModule, ContextOptions, EntryPoint, StoreReach,
    TraceMode, check, compile,
};
pub use crate::outline::{Declaration, DeclarationSort, Outline, outline};
pub use crate::parser::{HEIGHT_MAX, NESTING_MAX};
pub use crate::run::{CHILD_DEPTH_MAX, CHILD_REQUEST, OWN_FLOW};
pub use crate::run::{ContextRun, DEBUG_EVENT, TRACE_BYTES_MAX, TRACE_EVENT};
pub use crate::run::{INPUT_REQUEST, MEMORY_REQUEST, MODEL_REQUEST, TOOL_REQUEST};
pub use crate::value::{SHOWN_BYTES_MAX, SHOWN_VALUES_MAX};

pub mod json;
pub mod provider;
pub mod trace;

mod analyze;
mod ast;
mod code;
mod compile;
mod context;
mod dialect;
mod error;
mod format;
mod language;
mod lexer;
mod load;
mod module;
mod outline;
mod parser;
mod reply;
mod run;
mod scope;
mod source_text;
mod syntax;
mod value;
