//! Flow scripts: rhai as a deterministic, suspendable language.
//!
//! A [`Flow`] is a parsed script; [`Flow::program`] makes a run of it, a [`Program`] that any host
//! can drive. A script touches the world by these functions and no others:
//!
//! | call | does |
//! | --- | --- |
//! | `request(kind, payload)`, `request(kind, payload, #{timeout_ms, schema})` | asks, and gives the answer |
//! | `hold(question)`, `hold(question, #{schema, payload, assignees, deadline, …})` | asks a human; gives the decision, a map of `action`, `value` and `principal` |
//! | `suspend(tag)` | waits for a value from outside |
//! | `exec(command)`, `commit(#{…})`, `spawn(#{…})` | ask for effects of these kinds |
//! | `sleep(millis)` | waits |
//! | `trace(data)`, `print(text)`, `debug(value)` | say something |
//! | `now()`, `random()` | the time of the last record in milliseconds; a number from 0 up to 1 |
//! | `all([…])`, `any([…])` | run closures at the same time, each with its own copy of what it captured: all values or the first error; the first value or the first error of all. Closures that a loop makes and that share what it changes are refused: use `map` |
//! | `scope(name, closure)` | runs a closure in a scope of its own |
//! | `scope(name, value, closure)` | does the same with a closure that captures nothing: once it is over, a resume takes its recorded result and does not run it again |
//! | `patched(id)` | says whether the run knows a change of the script: `true`, but `false` where its records go on from before the change |
//! | `continue_with(state)` | ends the run, to go on as a new one with this input |
//!
//! A request that fails throws a map of `code`, `message` and `details`. Any of these calls may
//! stand anywhere, in closures of `map` and comparators of `sort` too: every branch of a run has
//! its own stack and simply stops there. Bounds ([`limits`]) end a run, whatever it catches.
//!
//! [`Program`]: agentic_replay::Program

mod branch;
mod closures;
mod context;
mod engine;
mod failure;
mod flow;
mod host;
mod language;
pub mod limits;
mod modules;
mod program;
mod scope;
mod strand;
mod value;
mod world;

pub use crate::failure::{
    BAD_CALL, CANCELLED, INTERNAL, SCRIPT_ERROR, THROWN, TIMED_OUT, TOO_LARGE,
};
pub use crate::flow::{Flow, check};
pub use crate::language::Rhai;
pub use crate::modules::{Modules, NoModules};
pub use crate::program::FlowProgram;

/// The name of the language in records.
pub const LANGUAGE: &str = "rhai";

/// Returns what a session records as its engine.
pub fn engine() -> agentic_replay::Engine {
    agentic_replay::Engine { language: LANGUAGE.to_owned(), semantics: limits::SEMANTICS }
}
