//! AgentLang: typed tasks, agents, pipelines and workflows, checked before anything runs.
//!
//! A host reads a file with [`read`], compiles it with [`compile`] and drives a [`Run`] as any
//! [`Program`](agentic_replay::Program). Whatever a program asks of the world is a request; the
//! built-in tasks are answered by [`MockTasks`], everything else by the host.
//!
//! ```
//! use agentic_lang_agent::{RunOptions, compile, read};
//!
//! let text = b"pipeline main(a: Number) -> Number { return a + 1; }";
//! let source = read("main.agent", text).expect("the text is UTF-8");
//! let module = compile(&source).expect("the program is right");
//! assert_eq!(module.pipelines()[0].name, "main");
//! let _run = module.run("main", RunOptions::default());
//! ```
//!
//! # Beyond the original language
//!
//! A file whose first line is `language "agentic 1";` may use what follows; `language` and
//! `approve` are no reserved words.
//!
//! - `let d = approve "question";` asks a human by a request of kind `hold`, answered by a
//!   decision: a map of `action`, `value` and `principal`. `d` is an
//!   `Obj{approved: Bool, feedback: String, principal: String}`: approved by `approve` and `edit`,
//!   not by `reject` and `respond`; the feedback is the value.
//!   [`AgentModule::may_hold`] tells beforehand which pipelines may ask.
//!
//! # Limits
//!
//! Nesting in the source ([`NESTING_MAX`]), size and depth of types and of values
//! ([`VALUE_BYTES_MAX`], [`VALUE_DEPTH_MAX`]), digits of whole numbers ([`DIGITS_MAX`]), 128 calls
//! of pipelines inside each other: findings, or errors that a program can catch. What ends the run:
//! the work of more than [`STATEMENTS_MAX`] statements between two answers, more than
//! [`REQUESTS_MAX`] requests, more than [`STRANDS_MAX`] branches at once. What a model may ask of
//! tools is bounded by [`ROUNDS_MAX`], [`CALLS_MAX`] and [`CONVERSATION_BYTES_MAX`]: more is a
//! failed attempt. Of what is traced between
//! two answers [`TRACE_BYTES_MAX`] are kept; an event `trace_gap` counts the others.
//!
//! This crate is pure: no clock, no randomness, no threads, no files.

mod ast;
mod check;
pub mod code;
mod data;
mod hint;
pub mod invocation;
mod language;
mod lexer;
mod lower;
pub mod mock;
mod module;
mod parser;
mod printer;
mod program;
pub mod report;
mod resolve;
mod symbol;
mod token;
mod types;

pub use crate::data::{
    DIGITS_MAX, Data, DataJsonError, DataList, DataObject, Integer, TooLarge, VALUE_BYTES_MAX,
    VALUE_DEPTH_MAX, json,
};
pub use crate::language::{AgentLang, LANGUAGE, SEMANTICS_VERSION, pinned_handlers, pinned_tools};
pub use crate::mock::MockTasks;
pub use crate::module::{AgentModule, SignatureInfo, check, compile, format, lower, read};
pub use crate::parser::NESTING_MAX;
pub use crate::program::{
    AGENT_TASK, AGENT_TOOL, BY_WEB, CALLS_MAX, CONVERSATION_BYTES_MAX, MOCK, ModuleRun, PROGRESS,
    REQUESTS_MAX, ROUNDS_MAX, RunOptions, STATEMENTS_MAX, STRANDS_MAX, StoreHandlers, TASK, TRACE,
    TRACE_BYTES_MAX, TaskAgents, TestResult, TraceCapture, answer, argument_text, register_kinds,
};
