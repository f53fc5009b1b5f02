//! What can go wrong with a session, a hold or a decision.

use agentic_model::object::ObjectError;
use agentic_model::{AgentName, Oid};

/// An error of a verb. A variant exists where a caller can do something different about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A verb of the space failed.
    #[error(transparent)]
    Space(#[from] agentic_space::Error),
    /// No session answers to the name.
    #[error("there is no session `{id}`")]
    UnknownSession {
        /// The name as it was given.
        id: String,
    },
    /// A name means several sessions.
    #[error("`{prefix}` means several sessions")]
    AmbiguousSession {
        /// The name.
        prefix: String,
        /// What it could mean.
        candidates: Vec<String>,
    },
    /// An object is no plan that can run.
    #[error("object {id} is no plan that can run (Plan{kind}): {reason}")]
    NotAPlan {
        /// Its id.
        id: String,
        /// The name of what is wrong.
        kind: String,
        /// What is wrong.
        reason: String,
    },
    /// Nobody performs an agent of a run.
    #[error("{reason}")]
    Unperformed {
        /// Which, and why.
        reason: String,
    },
    /// A builtin stands for an agent whose flow is not known.
    #[error("the agent `{agent}` of builtin `{builtin}` has run no flow yet")]
    NoFlowOf {
        /// The agent.
        agent: AgentName,
        /// The builtin.
        builtin: String,
    },
    /// A run asks nobody at a node.
    #[error("the run {run} has no hold at `{node}`")]
    NoHold {
        /// The session.
        run: String,
        /// The node or path.
        node: String,
    },
    /// The start key was used for another session.
    #[error("the key `{key}` was used with another flow or input, by session {session}")]
    KeyTaken {
        /// The key.
        key: String,
        /// The session that has it.
        session: String,
    },
    /// The session is over.
    #[error("session {id} is over")]
    SessionOver {
        /// The session.
        id: String,
    },
    /// So many signals wait in a session that no other is taken.
    #[error("session {id} has {max} signals that nobody has asked for", max = agentic_replay::SIGNALS_MAX)]
    InboxFull {
        /// The session.
        id: String,
    },
    /// The program does something else than was recorded.
    #[error("session {id} diverges from its records")]
    Diverged {
        /// The session.
        id: String,
        /// Where, and how.
        divergence: Box<agentic_replay::Divergence>,
    },
    /// The object is no flow.
    #[error("object `{id}` is no flow")]
    NotAFlow {
        /// Its id.
        id: String,
    },
    /// The flow does not parse.
    #[error("the flow `{id}` does not parse: {reason}")]
    BrokenFlow {
        /// Its id.
        id: String,
        /// The first finding.
        reason: String,
    },
    /// A request of a program cannot be performed as it is.
    #[error("{reason}")]
    BadRequest {
        /// What is wrong with it.
        reason: String,
    },
    /// No request answers to the name.
    #[error("there is no open request `{id}`")]
    UnknownRequest {
        /// The name as it was given.
        id: String,
    },
    /// A name means several requests.
    #[error("`{id}` has several open requests")]
    AmbiguousRequest {
        /// The name.
        id: String,
        /// What it could mean.
        candidates: Vec<String>,
    },
    /// The request is not the one that was looked at.
    #[error("request {request} has the hash `{found}`, not `{expected}`")]
    OtherRequest {
        /// The request.
        request: String,
        /// The hash that was expected.
        expected: String,
        /// The hash that it has.
        found: String,
    },
    /// Somebody was first.
    #[error("request {request} was decided: {action} by {principal}")]
    AlreadyDecided {
        /// The request.
        request: String,
        /// Who decided.
        principal: String,
        /// What.
        action: &'static str,
        /// The commit.
        commit: Option<Oid>,
    },
    /// A commit is no decision of a request that somebody could accept.
    #[error("commit {commit} is no unverified decision of request `{request}`")]
    NotADecision {
        /// The commit.
        commit: Oid,
        /// The request.
        request: String,
    },
    /// What a client sends back was handed out before something changed.
    #[error("request `{request}` is not as it was when it was handed out")]
    StaleState {
        /// The request.
        request: String,
    },
    /// It is too late to decide.
    #[error("request {request} expired at {deadline}{}", went_on(value.as_ref(), *commit))]
    HoldExpired {
        /// The request.
        request: String,
        /// Its deadline.
        deadline: agentic_model::Instant,
        /// The value that the program got instead, if there was one.
        value: Option<agentic_model::Value>,
        /// The decision of the clock, once it is made.
        commit: Option<Oid>,
    },
    /// The one who asks may not do this.
    #[error("you may not {what}: {reason}")]
    NotAllowed {
        /// What was asked for.
        what: String,
        /// Why not.
        reason: String,
    },
    /// An answer cannot count for the rest of a session.
    #[error("request {request} cannot be approved for the rest of the session: {reason}")]
    NotForSession {
        /// The request.
        request: String,
        /// Why not.
        reason: &'static str,
    },
    /// The value does not fit what was asked for.
    #[error("the value does not fit at `{pointer}`: {reason}")]
    ValueMisfit {
        /// Where, as a JSON pointer.
        pointer: String,
        /// How.
        reason: String,
    },
    /// A script of answers cannot be read.
    #[error("the script of answers cannot be used: {reason}")]
    BadScript {
        /// What is wrong with it.
        reason: String,
    },
    /// A session's commits could not be made again.
    #[error("session {id} cannot be rebuilt: {reason}")]
    NotRebuilt {
        /// The session.
        id: String,
        /// Why.
        reason: String,
    },
}

impl From<agentic_store::Error> for Error {
    fn from(error: agentic_store::Error) -> Error {
        Error::Space(error.into())
    }
}

impl From<ObjectError> for Error {
    fn from(error: ObjectError) -> Error {
        Error::Space(error.into())
    }
}

/// What a verb of sessions returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Tells whether it is a fault of ours or of the machine, not an answer to the caller.
    pub fn is_fault(&self) -> bool {
        match self {
            Error::Space(error) => error.is_fault(),
            other => matches!(other, Error::Diverged { .. }),
        }
    }
}

/// Says what became of a hold that nobody decided in time.
fn went_on(value: Option<&agentic_model::Value>, commit: Option<Oid>) -> String {
    let value = value.map_or(", without a value".to_owned(), |value| {
        format!(", with the value {}", agentic_model::json::to_text(value))
    });
    let commit = commit.map(|commit| format!(", by system:expiry in {commit}"));
    format!("{value}{}", commit.unwrap_or_default())
}
