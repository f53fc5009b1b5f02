//! The person at the terminal of whoever runs a session.

use agentic_providers::host::CancelFlag;
use agentic_providers::provider::Response;

use super::provision::ProviderCall;

/// How a person at a terminal takes part in a run. There is none where nobody sits.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Asks for a line, as a field of an input; nothing if none comes.
    pub ask: fn(&str) -> Option<String>,
    /// Performs a call while the person watches the reply being written.
    pub watch: fn(&ProviderCall, &CancelFlag) -> Response,
}
