//! Engines that run programs durably.
//!
//! Whoever starts a run, looks at it, decides in it or stops it speaks to a [`DurableEngine`] and
//! does not know which: the embedded one keeps runs as sessions of a repository, another may keep
//! them on a server. What differs between them is behind the trait: how a run is named and found,
//! whom it runs as, who performs what it asks and who goes on with it after a pause. What is run is
//! a parameter of the trait: an engine belongs to no language.

mod error;

use std::fmt;

use agentic_model::{AgentName, Instant, Place, Value};

pub use self::error::{EngineError, EngineRefusal, OwnRefusal};
use crate::record::CancelMode;
use crate::{End, Path, ProgramFailure, SessionState};

/// What an engine answers.
pub type Result<T> = std::result::Result<T, EngineError>;

/// An engine that runs an `R` durably: what it said is recorded is there after every crash.
pub trait DurableEngine<R> {
    /// Starts a run, or finds the one that was started with the same agent, program, input and key.
    /// It is recorded when this returns; an attended run has also come as far as it goes without a
    /// human.
    ///
    /// # Errors
    /// Refuses a key of another run, agents whom nobody performs here, and what cannot be recorded.
    fn start(&self, start: RunStart<R>, attendance: RunAttendance) -> Result<RunId>;

    /// Finds a run by what people call it: its key, the agent it runs as, or its id.
    ///
    /// # Errors
    /// Fails with [`EngineRefusal::UnknownRun`] when there is none, and when several are meant.
    fn find(&self, name: &str) -> Result<RunId>;

    /// Goes on with a run as far as it goes without a human or a pause. Does nothing to one that is
    /// over.
    ///
    /// # Errors
    /// Fails when the run cannot be read, or does something else than was recorded.
    fn go_on(&self, run: &RunId) -> Result<()>;

    /// Lists the runs that can go further now and that nobody drives: a pause is over, a hold was
    /// answered, whoever drove them is gone. A run that a worker has looked at stays unlisted until
    /// something happens to it. Empty for engines that drive their runs by themselves.
    ///
    /// # Errors
    /// Fails when the runs cannot be listed.
    fn due(&self) -> Result<Vec<RunId>>;

    /// Tells how far a run has come.
    ///
    /// # Errors
    /// Fails when there is no such run or it cannot be read.
    fn status(&self, run: &RunId) -> Result<RunStatus>;

    /// Tells what a run came to; nothing while it is not over.
    ///
    /// # Errors
    /// Fails as [`DurableEngine::status`] does.
    fn result(&self, run: &RunId) -> Result<Option<End>>;

    /// Tells what happened in a run, oldest first.
    ///
    /// # Errors
    /// Fails as [`DurableEngine::status`] does.
    fn history(&self, run: &RunId) -> Result<Vec<RunEvent>>;

    /// Stops a run, its children first.
    ///
    /// # Errors
    /// Fails with [`EngineRefusal::RunOver`] when it is over.
    fn cancel(&self, run: &RunId, cancellation: &Cancellation) -> Result<()>;

    /// Decides a hold of a run; the first decision counts, and making it again changes nothing. The
    /// run goes on with [`DurableEngine::go_on`].
    ///
    /// # Errors
    /// Refuses before anything is recorded: [`EngineRefusal::HoldNotOpen`],
    /// [`EngineRefusal::HoldClosed`], [`EngineRefusal::ChoiceNotOffered`],
    /// [`EngineRefusal::NotAuthorised`].
    fn decide(&self, run: &RunId, decision: &RunDecision) -> Result<CountedDecision>;
}

/// Whether somebody waits for a run that is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunAttendance {
    /// Whoever starts it waits until it is over or held.
    Attended,
    /// It is only recorded; [`DurableEngine::due`] lists it until somebody goes on with it.
    Detached,
}

/// The name that an engine has for a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId(String);

/// What a run begins with.
#[derive(Debug, Clone)]
pub struct RunStart<R> {
    /// What runs.
    pub run: R,
    /// What flows into it.
    pub input: Value,
    /// The key under which the same start is the same run; a fresh one without.
    pub key: Option<String>,
    /// The agent that it runs as; the engine finds or makes one without.
    pub agent: Option<AgentName>,
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq)]
pub struct RunStatus {
    /// The run.
    pub id: RunId,
    /// The key it was started with.
    pub key: String,
    /// The agent it runs as.
    pub agent: AgentName,
    /// How it stands.
    pub state: SessionState,
    /// Its blocks: maps with `index`, `backend`, `mode`, `status`, `node_states`, and more once it
    /// is over.
    pub blocks: Vec<Value>,
    /// What waits for a human.
    pub holds: Vec<RunHold>,
    /// The earliest instant that it or one of its children waits for, if that is what it waits for.
    pub until: Option<Instant>,
    /// Why nobody could answer what it or one of its children asks, if that is what it waits for.
    pub unanswered: Option<ProgramFailure>,
    /// The page on which people see it, where its engine has one.
    pub page: Option<String>,
}

/// A place of a run that waits for a human.
#[derive(Debug, Clone, PartialEq)]
pub struct RunHold {
    /// The name of the request.
    pub request: String,
    /// Where in the program.
    pub path: Path,
    /// What is asked.
    pub question: Option<String>,
    /// What may be chosen.
    pub choices: Option<Value>,
}

/// One thing that happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEvent {
    /// Its position in the history.
    pub seq: u64,
    /// When.
    pub at: Instant,
    /// What sort of thing.
    pub event: &'static str,
    /// Where in the program.
    pub path: Option<Path>,
    /// Where in the source, if it is known.
    pub place: Option<Place>,
    /// What was asked for, how it was answered, who stopped it and why.
    pub note: String,
}

/// Who stops a run, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancellation {
    /// Who.
    pub who: String,
    /// Why.
    pub why: String,
    /// How.
    pub mode: CancelMode,
}

/// A decision of a hold, as pipelines speak of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunDecision {
    /// The node, the path or the name of the request that asks; the only open hold without.
    pub hold: Option<String>,
    /// One of the choices that are offered; `accept` and `reject` always are.
    pub choice: String,
    /// Who decides.
    pub actor: String,
    /// Why.
    pub note: String,
    /// The hash that the request must have.
    pub expect: Option<String>,
}

/// A decision that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedDecision {
    /// The run that was decided in: a child of the one that was named, if that is what waits.
    pub run: RunId,
    /// The name of the request.
    pub request: String,
    /// What was done: `approve`, `reject` or `respond`.
    pub action: String,
    /// Who decided.
    pub actor: String,
    /// Where the decision is kept: in the embedded engine its commit.
    pub receipt: String,
    /// What else is to be told: that it is durable, and not visible yet.
    pub remark: Option<String>,
}

impl RunId {
    /// Takes over the name that an engine has for a run.
    pub fn new(text: impl Into<String>) -> RunId {
        RunId(text.into())
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
