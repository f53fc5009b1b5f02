//! Why nothing can be served.

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};
use agentic_resident::ResidentError;

/// What a step gives.
pub type Result<T> = std::result::Result<T, WebError>;

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The process cannot stay.
    #[error(transparent)]
    Resident(#[from] ResidentError),
    /// No port is free.
    #[error("cannot listen on port {port} of this machine")]
    Port {
        /// The port.
        port: u16,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Guidance for WebError {
    fn class(&self) -> ErrorClass {
        match self {
            WebError::Resident(error) => error.class(),
            WebError::Port { .. } => ErrorClass::Refused,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            WebError::Resident(error) => error.hint(),
            WebError::Port { .. } => {
                "choose another with `--port`, or use the socket alone with `--no-tcp`".into()
            }
        }
    }
}
