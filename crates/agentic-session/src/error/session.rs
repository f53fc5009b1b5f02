//! What keeps a session from being found, started or gone on with.

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};

/// What keeps a session from being found, started or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// No session answers to the name.
    #[error("there is no session `{id}`")]
    Unknown {
        /// The name as it was given.
        id: String,
    },
    /// A name means several sessions.
    #[error("`{prefix}` means several sessions")]
    Ambiguous {
        /// The name.
        prefix: String,
        /// What it could mean.
        candidates: Vec<String>,
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
    Over {
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
    /// Somebody else sealed a record in which a person answers who did not.
    #[error(
        "record {seq} of session {id} came from elsewhere, and no decision that counts here is behind it"
    )]
    Foreign {
        /// The session.
        id: String,
        /// The position of the record.
        seq: u64,
    },
    /// Another host drives the session.
    #[error("session {id} is driven by the engine at `{host}`")]
    Hosted {
        /// The session.
        id: String,
        /// The host.
        host: String,
    },
    /// No other host drives the session.
    #[error("session {id} is driven by no other engine")]
    NotHosted {
        /// The session.
        id: String,
    },
    /// The repository was copied: the space that its file names is elsewhere.
    #[error("this repository is a copy: the space that it names is at another place")]
    Copied,
    /// A session's commits could not be made again.
    #[error("session {id} cannot be rebuilt: {reason}")]
    NotRebuilt {
        /// The session.
        id: String,
        /// Why.
        reason: String,
    },
}

impl Guidance for SessionError {
    fn class(&self) -> ErrorClass {
        match self {
            SessionError::Unknown { .. }
            | SessionError::Ambiguous { .. }
            | SessionError::NotHosted { .. }
            | SessionError::InboxFull { .. } => ErrorClass::Refused,
            SessionError::KeyTaken { .. } | SessionError::Copied => ErrorClass::Conflict,
            SessionError::Foreign { .. } => ErrorClass::NotAllowed,
            SessionError::Over { .. } => ErrorClass::Decided,
            SessionError::Hosted { .. } => ErrorClass::Unreachable,
            SessionError::Diverged { .. } | SessionError::NotRebuilt { .. } => ErrorClass::Diverged,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            SessionError::Unknown { .. } => "`agentic session list` lists the sessions; a prefix needs eight digits or more".into(),
            SessionError::Ambiguous { .. } => "give more digits of the id".into(),
            SessionError::KeyTaken { .. } => "use another key, or the same flow and input".into(),
            SessionError::Over { .. } => "`agentic session show` shows how it ended; `agentic session fork` goes another way".into(),
            SessionError::InboxFull { .. } => "it takes more once its flow has asked for some with `suspend`".into(),
            SessionError::Diverged { .. } => "keep the pinned program, or fork before that record with `agentic session fork --at N --flow F`".into(),
            SessionError::Foreign { .. } => "`agentic.deciders` names whose signed decisions count; `agentic session fork --at N` goes on from before it".into(),
            SessionError::Copied => "remove `agentic/space` in the git folder to make it a space of its own".into(),
            SessionError::Hosted { .. } => "speak to that engine with `--sibyl-addr`; `agentic session show` reads what is sealed of it".into(),
            SessionError::NotHosted { .. } => "`agentic session resume` alone goes on with it".into(),
            SessionError::NotRebuilt { .. } => "the records and the branch disagree; `agentic session show` and `git log` show both".into(),
        }
    }

    fn because(&self) -> Option<String> {
        match self {
            SessionError::Diverged { divergence, .. } => Some(divergence.to_string()),
            SessionError::Ambiguous { candidates, .. } => {
                Some(agentic_model::guidance::any_of(candidates))
            }
            SessionError::Unknown { .. }
            | SessionError::KeyTaken { .. }
            | SessionError::Over { .. }
            | SessionError::InboxFull { .. }
            | SessionError::Foreign { .. }
            | SessionError::Hosted { .. }
            | SessionError::NotHosted { .. }
            | SessionError::Copied
            | SessionError::NotRebuilt { .. } => None,
        }
    }
}
