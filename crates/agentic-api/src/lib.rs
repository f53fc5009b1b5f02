//! Every verb as data: what is asked, and what is answered or refused.
//!
//! A surface (command line, page, MCP) makes a verb's value from what it was given, runs it for a
//! [`Caller`] and shows the answer. Names, permissions, defaults and hints are decided here, once.
//!
//! - [`verb`]: what may be asked, one type for each verb, and [`Command`] for any of them;
//! - [`view`]: the JSON shapes of the answers, and their schemas;
//! - [`Refusal`]: why there is none, with class, reason and what to do next.

mod behaviours;
mod caller;
mod command;
mod facts;
mod list_place;
mod memory;
mod notice;
mod person;
pub mod program;
mod redaction;
mod refusal;
pub mod repl;
mod replacement;
pub mod roster;
mod rule_files;
pub mod search;
pub mod shipped;
mod trace_file;
pub mod verb;
pub mod view;
mod watcher;
mod write_mark;

pub use crate::caller::{
    AddressedEngine, Caller, EngineFinder, HeldRequest, HostedAnswer, PageFinder, ProvenPerson,
    RunEngine, SessionWord, Surroundings, agent_name, chosen_agent, is_of_others,
};
pub use crate::command::{Answer, Command};
pub use crate::list_place::{ListPlace, ListSearch};
pub use crate::notice::{Notice, NoticeTone};
pub use crate::person::{
    is_below_conversation, is_in_worktree_of_agent, principal, require_person,
};
pub use crate::refusal::Refusal;
pub use crate::replacement::Replacement;
pub use crate::verb::{LocalVerb, Reply, Verb, VerbCompletion};
pub use crate::watcher::{VerbEvent, VerbWatcher};
pub use crate::write_mark::WriteMark;
