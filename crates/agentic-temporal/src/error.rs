//! What keeps a run from being hosted.

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};

use temporalio_sdk::ActivityExecutionError;

use crate::wire::BadWire;

/// What a fallible function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// What keeps a run from being hosted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An address is none.
    #[error("`{address}` is no address of a server: {reason}")]
    BadAddress {
        /// As it was given.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What says how a server is spoken to cannot be used.
    #[error("{0}")]
    BadSettings(String),
    /// A key would be sent for everybody to read.
    #[error("no key goes to `{address}` without TLS")]
    KeyInTheOpen {
        /// The address.
        address: String,
    },
    /// Nobody answers at the address.
    #[error("no server answers at `{address}`: {reason}")]
    Unreachable {
        /// The address.
        address: String,
        /// What stood in the way.
        reason: String,
    },
    /// The server does not know the namespace.
    #[error("the server at `{address}` has no namespace `{namespace}`")]
    NoNamespace {
        /// The address.
        address: String,
        /// The namespace.
        namespace: String,
    },
    /// The server does not let us do something.
    #[error("the server does not let us {doing}: {reason}")]
    Denied {
        /// What was asked.
        doing: &'static str,
        /// What it says.
        reason: String,
    },
    /// The server drives a run of the same id for another repository.
    #[error("session {session} is driven by this server for another repository")]
    OtherSpace {
        /// The session.
        session: String,
    },
    /// The server cannot be reached any more.
    #[error("the server cannot be asked to {doing}: {reason}")]
    Lost {
        /// What was asked.
        doing: &'static str,
        /// What stood in the way.
        reason: String,
    },
    /// The server refused something.
    #[error("the server does not {doing}: {reason}")]
    Server {
        /// What was asked.
        doing: &'static str,
        /// What it says.
        reason: String,
    },
    /// A queue of a worker needs a repository.
    #[error("the queue `{queue}` needs the repository that it is named after")]
    NoRepository {
        /// The queue.
        queue: String,
    },
    /// Threads or a runtime cannot be had.
    #[error("cannot start what speaks to the server: {0}")]
    Runtime(String),
    /// The session layer refused or failed.
    #[error(transparent)]
    Session(#[from] agentic_session::Error),
    /// What crossed the server cannot be read.
    #[error(transparent)]
    Wire(#[from] BadWire),
}

/// What was asked of a server that was to begin a run.
pub(crate) const START: &str = "start the run";

impl Error {
    /// Says whether the run that was to begin has certainly not begun.
    pub(crate) fn began_nothing(&self) -> bool {
        match self {
            Error::OtherSpace { .. } => true,
            Error::Denied { doing, .. } => *doing == START,
            Error::BadAddress { .. }
            | Error::BadSettings(_)
            | Error::KeyInTheOpen { .. }
            | Error::Unreachable { .. }
            | Error::NoNamespace { .. }
            | Error::Lost { .. }
            | Error::Server { .. }
            | Error::NoRepository { .. }
            | Error::Runtime(_)
            | Error::Session(_)
            | Error::Wire(_) => false,
        }
    }

    /// Takes over what is wrong with a file.
    pub(crate) fn bad_settings(error: &dyn std::error::Error) -> Error {
        Error::BadSettings(whole(error))
    }
}

impl Guidance for Error {
    fn class(&self) -> ErrorClass {
        match self {
            Error::BadAddress { .. }
            | Error::Unreachable { .. }
            | Error::NoNamespace { .. }
            | Error::Lost { .. } => ErrorClass::Unreachable,
            Error::BadSettings(_) | Error::KeyInTheOpen { .. } => ErrorClass::Usage,
            Error::Denied { .. } => ErrorClass::NotAllowed,
            Error::OtherSpace { .. } => ErrorClass::Decided,
            Error::Server { .. }
            | Error::NoRepository { .. }
            | Error::Runtime(_)
            | Error::Wire(_) => ErrorClass::Refused,
            Error::Session(error) => error.class(),
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Error::BadAddress { .. } | Error::Unreachable { .. } => {
                "`--sibyl-addr HOST:PORT` names a server, `local:` this repository"
            }
            Error::BadSettings(_) => {
                "`[temporal]` of `agentic.toml` and the variables `TEMPORAL_…` say how a server is spoken to"
            }
            Error::KeyInTheOpen { .. } => "take `TEMPORAL_TLS=false` back, or say `tls = {}`",
            Error::NoNamespace { .. } => {
                "`temporal operator namespace create` makes it; `temporal://HOST:PORT/NAMESPACE` names another"
            }
            Error::Denied { .. } => "look at the key, and at what it may do in this namespace",
            Error::OtherSpace { .. } => "use another key, another agent or another namespace",
            Error::Lost { .. } => "the same command again goes on where this one stopped",
            Error::Server { .. } | Error::Runtime(_) | Error::Wire(_) => {
                "look at the server, and at what its workers say"
            }
            Error::NoRepository { .. } => {
                "start the worker in that repository, or serve another queue with `--queue`"
            }
            Error::Session(error) => return error.hint(),
        }
        .into()
    }

    fn because(&self) -> Option<String> {
        match self {
            Error::Session(error) => error.because(),
            Error::BadAddress { .. }
            | Error::BadSettings(_)
            | Error::KeyInTheOpen { .. }
            | Error::Unreachable { .. }
            | Error::NoNamespace { .. }
            | Error::Denied { .. }
            | Error::OtherSpace { .. }
            | Error::Lost { .. }
            | Error::Server { .. }
            | Error::NoRepository { .. }
            | Error::Runtime(_)
            | Error::Wire(_) => None,
        }
    }
}

/// Tells an error with everything that it says of its causes, on one line.
pub(crate) fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

/// What stands before what is told of a program that does something else than was recorded.
pub(crate) const DIVERGED: &str = "DIVERGED";

/// Returns what an activity says of another program than was recorded, if it says that.
pub(crate) fn divergence(error: &ActivityExecutionError) -> Option<&str> {
    let failure = error.failure()?;
    let inner = failure.cause.as_deref().unwrap_or(failure);
    inner.message.starts_with(DIVERGED).then_some(inner.message.as_str())
}

/// Tells that a program does something else than was recorded, and what.
pub(crate) fn diverged(error: &agentic_session::Error) -> String {
    match error.because() {
        Some(difference) => format!("{DIVERGED} {error}: {difference}"),
        None => format!("{DIVERGED} {}", whole(error)),
    }
}
