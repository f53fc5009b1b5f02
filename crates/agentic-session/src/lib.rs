//! Sessions: durable runs of flows on behalf of agents; the holds of theirs that wait for people, and
//! the decisions that answer them.
//!
//! What a session is, and what every record means, is decided in `agentic-replay`. Here is what
//! surrounds it: the folder that keeps its records (`folder`), how it is found (`listing`), the summary that is read from them
//! without running anything ([`summary`]), and the driver that makes records durable, performs
//! effects and applies decisions.

mod admission;
mod apply;
pub mod archive;
mod beginning;
mod block;
mod children;
mod configuration;
mod consequence;
pub mod decide;
mod decision;
pub mod doctor;
mod drive;
mod effect;
pub mod engine;
pub mod error;
mod executor;
mod folder;
mod fork;
pub mod hold;
mod inbox;
mod language;
mod listing;
mod load;
pub mod log;
mod look;
mod memory;
mod observer;
mod orphan;
pub mod outlook;
mod overtaken;
mod own;
mod performer;
mod policy;
mod probe;
mod process;
mod proof;
mod provision;
mod publish;
mod rebuild;
mod recent;
mod recording;
mod replay;
mod reply;
mod retell;
mod retry;
mod roll;
mod roster;
mod run;
mod script;
mod seal;
mod segment;
mod shelf;
mod space;
mod stamp;
mod start;
mod stop;
mod summary;
pub mod ticket;
mod trace;
pub mod tree;
mod trust;
mod unanswered;
mod unique;
mod unsynced;
mod watch;
mod work;

pub use agentic_space::{AgentBranch, Clock, Durability, Written};

pub use self::children::children;
pub use self::configuration::{PinnedConfiguration, configuration};
pub use self::error::{Error, Result};
pub use self::executor::{Carrier, Executor};
pub use self::fork::{Children, ForkPlan, fork, upgrade};
pub use self::language::{AgentLangFlow, agents_of, flow_object};
pub use self::memory::Memory;
pub use self::observer::{Interest, Observer, Pause, Presence, Question, ReplyPiece, RunEvent};
pub use self::overtaken::{Overtaken, decisions, overtaken};
pub use self::performer::CommandLine;
pub use self::performer::agents::SharedTasks;
pub use self::proof::{Proof, prove};
pub use self::provision::ProviderCall;
pub use self::rebuild::rebuild;
pub use self::replay::{Difference, Verdict, diff, replay};
pub use self::retell::retell;
pub use self::run::{blocks, find_run, pinned_adapter};
pub use self::space::{Options, SessionSpace};
pub use self::start::{Begin, KeySource, cancel, go_on, record, resume, signal, start, tick};
pub use self::unanswered::unanswered;
pub use self::unique::unique_id;
pub use self::watch::{Noted, Watch};
pub use agentic_lang_context::{Cast, ContextFlow, Models, Tools};
pub use agentic_lang_pipeline::{Pinned, pin};
pub use agentic_replay::{OpenHold, State, Summary};

use agentic_lang_agent::Capture;
use agentic_model::{Cid, Object};
use agentic_replay::{Engine, Failure, Program, SessionId, TraceDetail};

use self::language::language_of;
use self::shelf::Shelf;

impl SessionSpace {
    /// Reads how a session stands, from its records alone.
    ///
    /// # Errors
    /// Fails when there is no such session or its records are damaged.
    pub fn session(&self, id: &SessionId) -> Result<Summary> {
        let mut summary = summary::read(self, id)?;
        if summary.state.is_over() {
            return Ok(summary);
        }
        // A pinned program can differ from its records only where its language means another thing.
        let flow = flow_of(self, &folder::Folder::of(self, id), &summary.flow);
        let here = flow.and_then(|flow| Ok(language_of(&flow)?.engine_since(&summary.engine)));
        if here.is_ok_and(|here| here != summary.engine) {
            let Engine { language, semantics } = &summary.engine;
            let message = format!("nothing here runs version {semantics} of `{language}`");
            summary.state = State::Diverged;
            summary.failure = Some(Failure::new("ENGINE", message));
        }
        Ok(summary)
    }

    /// Reads how a session stood after so many records.
    ///
    /// # Errors
    /// Fails as [`Space::session`] does.
    pub fn session_at(&self, id: &SessionId, n_records: u64) -> Result<Summary> {
        let journal = recent::read_journal(self, id)?;
        summary::of_past(self, &journal.up_to(n_records))
    }

    /// Lists the sessions of this space, oldest first.
    ///
    /// # Errors
    /// Fails when the folders cannot be read.
    pub fn sessions(&self) -> Result<Vec<SessionId>> {
        listing::list_all(self)
    }

    /// Counts the sessions of this space.
    ///
    /// # Errors
    /// Fails when the folders cannot be read.
    pub fn n_sessions(&self) -> Result<usize> {
        Ok(listing::list_known(self)?.len())
    }

    /// Finds the session that a text names: an id or a unique prefix of eight or more digits, or
    /// an agent's only session that is not over, else its newest.
    ///
    /// # Errors
    /// Fails when there is none, or several.
    pub fn find_session(&self, text: &str) -> Result<SessionId> {
        listing::find(self, text)
    }
}

/// Makes a run of the flow that an object holds, with the flows that it imports, as a version of its
/// language runs it.
pub(crate) fn program_of(
    space: &SessionSpace,
    folder: &folder::Folder,
    flow: &Object,
    engine: &Engine,
) -> Result<Box<dyn Program>> {
    program_heard(Shelf { space, folder, given: &[] }, flow, engine)
}

/// Makes such a run, which traces what it does if somebody wants to hear that.
fn program_heard(shelf: Shelf<'_>, flow: &Object, engine: &Engine) -> Result<Box<dyn Program>> {
    let detail = match shelf.space.observer().map(Observer::trace) {
        Some(Capture::On) => TraceDetail::Everything,
        Some(Capture::Off) | None => TraceDetail::Told,
    };
    shelf.program(flow, engine, detail)
}

/// Reads the object of a flow: from the session's own folder, else from wherever the space has it.
pub(crate) fn flow_of(space: &SessionSpace, folder: &folder::Folder, cid: &Cid) -> Result<Object> {
    match folder.read_object(cid)? {
        Some(bytes) => Ok(Object::decode(&bytes)?),
        None => Ok(space.object(*cid)?),
    }
}

#[cfg(test)]
mod tests;
