//! The pipeline language: text to plans, and plans to programs.
//!
//! ```text
//! temporal static ( (weather "SF" <*> stock "NVDA") >=> summarize )
//! ```
//!
//! The compiler is a row of phases, each a pure function with its findings
//! ([`CompilerPhase`]): parse, resolve, lower, finalize, validate. [`compile()`] is all of them. A
//! compiled source is a [`Program`](agentic_replay::Program): [`run::FlowProgram`] runs it on any host,
//! in memory or durably, and does not know which.
//!
//! This crate is pure: no clock, no randomness, no environment, no files, no threads. It has no
//! vendor, no credential and no network; whatever touches the world is a request.

pub mod ast;
mod compile;
mod explain;
mod finding;
mod format;
mod language;
mod lexer;
mod locator;
mod lower;
pub mod native;
mod parser;
mod phase;
mod planned;
mod printer;
mod resolve;
pub mod run;
mod store;
mod token;
mod translate;

pub use crate::compile::{CompiledBlock, CompiledSource, check, compile, source_text};
pub use crate::explain::{Needs, explain, explain_stored};
pub use crate::finding::{
    FindingKind, PhaseName, PipelineFinding, PipelineFindings, RENDERED_MAX, findings_to_values,
    render_findings,
};
pub use crate::format::format;
pub use crate::language::{
    PinnedSource, PipelineLanguage, part_of, pin, pinned_registry, place_of,
};
pub use crate::lower::{
    DYNAMIC_AGENT, FinalBlock, LoweredBlock, PlannedBlock, finalize, lower, validate,
};
pub use crate::parser::{NESTING_MAX, SOURCE_BYTES_MAX, parse, parse_program};
pub use crate::phase::CompilerPhase;
pub use crate::planned::PlannedRun;
pub use crate::printer::{canonical, canonical_program};
pub use crate::resolve::{ResolvedBlock, ResolvedNode, ResolvedScript, resolve, resolve_program};
pub use crate::translate::{
    Complete, REPAIRS_DEFAULT, TranslateError, grammar, instructions, translate,
};

/// The name of the language, as sessions pin it.
pub const LANGUAGE: &str = "pipeline";
/// The version of its meaning. Every change that can alter a request raises it.
///
/// Since 3 a reply that must be data may stand in a fenced block, and results tell what models cost.
pub const SEMANTICS_VERSION: u32 = 3;
/// The oldest version that programs can still be held to.
pub const SEMANTICS_OLDEST: u32 = 2;
