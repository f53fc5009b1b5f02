//! Sessions: durable runs of flows on behalf of agents; the holds of theirs that wait for people, and
//! the decisions that answer them.
//!
//! What a session is, and what every record means, is decided in `agentic-replay`. Here is what
//! surrounds it: the folder that keeps its records (`folder`), how it is found (`listing`), the summary that is read from them
//! without running anything ([`summary`]), and the driver that makes records durable, performs
//! effects and applies decisions.

mod action;
mod admission;
mod apply;
pub mod archive;
mod backlog;
mod barrier;
mod begin;
pub mod behaviour;
mod block;
mod children;
mod configuration;
mod consequence;
pub mod decide;
mod deciding;
mod decision;
pub mod doctor;
mod draft;
mod drive;
mod effect;
pub mod elsewhere;
pub mod engine;
pub mod error;
mod executor;
mod facts;
mod folder;
mod foreign;
mod fork;
pub mod hold;
pub mod hosted;
mod inbox;
mod known;
mod language;
mod listing;
mod load;
pub mod log;
mod look;
mod orphan;
mod outcome;
pub mod outlook;
mod overtaken;
mod own;
mod policy;
mod probe;
mod process;
mod proof;
mod publish;
pub mod purge;
mod rebuild;
mod recording;
mod replay;
mod retell;
mod retry;
mod roll;
mod room;
mod roster;
mod run;
mod screen;
mod seal;
pub mod sealed;
mod segment;
mod session;
mod shelf;
mod space;
mod stamp;
mod standing;
mod start;
mod stop;
mod summary;
pub mod ticket;
mod trace;
pub mod tree;
pub mod trial;
mod trust;
mod unanswered;
mod unique;
mod unsynced;
mod verified;
mod vote;
mod watch;
mod work;

pub use agentic_space::{AgentBranch, Clock, CommitHome, Durability, WriteNotices};

pub use self::begin::{Begin, KeySource};
pub use self::children::children;
pub use self::configuration::{PinnedConfiguration, configuration};
pub use self::error::{Error, Result};
pub use self::executor::{
    executor_of, executor_of_agents, executor_of_answerers, executor_of_pipeline,
};
pub use self::facts::{QueriedFacts, QueriedSpace, SessionFacts, with_facts};
pub use self::fork::{ChildrenOfFork, ForkPlan, asks_people, fork, upgrade};
pub use self::language::{AgentLangFlow, agents_of, flow_object, language_of_file, languages};
pub use self::overtaken::{OvertakenDecision, decisions, overtaken};
pub use self::own::{OtherLine, other_lines};
pub use self::proof::{Proof, prove};
pub use self::rebuild::rebuild;
pub use self::replay::{Difference, ReplayVerdict, diff, replay};
pub use self::retell::retell;
pub use self::run::{blocks, find_run, pinned_adapter};
pub use self::screen::SecretScreen;
pub use self::seal::seal_open;
pub use self::space::{SessionOptions, SessionSpace};
pub use self::standing::StandingFacts;
pub use self::start::{cancel, go_on, record, resume, signal, start, tick};
pub use self::unanswered::unanswered;
pub use self::unique::unique_id;
pub use self::watch::{NotedRecord, Watch};
pub use agentic_lang_context::{ContextFlow, ProgramAnswerers, ProgramModels, ProgramTools};
pub use agentic_lang_pipeline::{PinnedSource, pin};
pub use agentic_replay::{OpenHold, SessionState, Summary};

#[cfg(test)]
mod tests;
