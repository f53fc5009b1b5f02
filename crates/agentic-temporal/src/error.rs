//! What keeps a run from being hosted.

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
    /// Nobody answers at the address.
    #[error("no server answers at `{address}`: {reason}")]
    Unreachable {
        /// The address.
        address: String,
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
