//! What the work of an effect has come to.

use agentic_providers::provider::ProviderResponse;
use agentic_replay::{RequestAnswer, SessionId};

/// What work has come to.
pub(super) enum EffectOutcome {
    /// The program of an `exec` ended.
    Exec(ExecOutcome),
    /// The probe of an effect in doubt ended.
    Probe(ExecOutcome),
    /// Somebody outside answered.
    Answer(ProviderResponse),
    /// Programs of an earlier driver are waited for no longer.
    Orphans {
        /// Whether nothing of them lives.
        are_over: bool,
    },
    /// A child session ran as far as it goes.
    Child(crate::Result<SessionId>),
}

/// What a program came to.
#[derive(Debug)]
pub struct ExecOutcome {
    /// The answer that it gives.
    pub answer: RequestAnswer,
    /// Why it may be tried again instead, where it may: nothing of it happened, or it says so
    /// itself.
    pub fault: Option<String>,
    /// Why it did not begin, where that is a fault of our own disk: the request has no answer then.
    pub no_room: Option<std::io::Error>,
}

impl From<RequestAnswer> for ExecOutcome {
    fn from(answer: RequestAnswer) -> ExecOutcome {
        ExecOutcome { answer, fault: None, no_room: None }
    }
}
