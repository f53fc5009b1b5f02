//! What is wrong with the request that somebody asks about or answers.

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};

/// What is wrong with the request that somebody asks about or answers.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// No request answers to the name.
    #[error("there is no open request `{id}`")]
    Unknown {
        /// The name as it was given.
        id: String,
    },
    /// A name means several requests.
    #[error("`{id}` has several open requests")]
    Ambiguous {
        /// The name.
        id: String,
        /// What it could mean.
        candidates: Vec<String>,
    },
    /// A run asks nobody at a node.
    #[error("the run {run} has no hold at `{node}`")]
    NoHold {
        /// The session.
        run: String,
        /// The node or path.
        node: String,
    },
    /// The request is not the one that was looked at.
    #[error("request {request} has the hash `{found}`, not `{expected}`")]
    Other {
        /// The request.
        request: String,
        /// The hash that was expected.
        expected: String,
        /// The hash that it has.
        found: String,
    },
    /// What a client sends back was handed out before something changed.
    #[error("request `{request}` is not as it was when it was handed out")]
    Stale {
        /// The request.
        request: String,
    },
    /// The value does not fit what was asked for.
    #[error("the value does not fit{}: {reason}", place(.pointer))]
    ValueMisfit {
        /// Where, as a JSON pointer; nothing where it is the whole value.
        pointer: String,
        /// How.
        reason: String,
    },
}

/// Names the place of what does not fit; the whole value needs no name.
fn place(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" at `{pointer}`") }
}

impl Guidance for RequestError {
    fn class(&self) -> ErrorClass {
        match self {
            RequestError::Unknown { .. }
            | RequestError::Ambiguous { .. }
            | RequestError::NoHold { .. } => ErrorClass::Refused,
            RequestError::Other { .. } | RequestError::Stale { .. } => ErrorClass::Conflict,
            RequestError::ValueMisfit { .. } => ErrorClass::Schema,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            RequestError::Unknown { .. } => "`agentic pending` lists what is open".into(),
            RequestError::Ambiguous { .. } => {
                "name one of them as `agentic pending` prints it".into()
            }
            RequestError::NoHold { .. } => "`agentic flow status RUN` shows where it waits".into(),
            RequestError::Other { .. } => "look at the request again: `agentic pending`".into(),
            RequestError::Stale { .. } => {
                "list it again with `agentic pending --format` and answer that".into()
            }
            RequestError::ValueMisfit { .. } => "`agentic pending --json` shows the schema".into(),
        }
    }

    fn because(&self) -> Option<String> {
        match self {
            RequestError::Ambiguous { candidates, .. } => {
                Some(agentic_model::guidance::any_of(candidates))
            }
            RequestError::Unknown { .. }
            | RequestError::NoHold { .. }
            | RequestError::Other { .. }
            | RequestError::Stale { .. }
            | RequestError::ValueMisfit { .. } => None,
        }
    }
}
