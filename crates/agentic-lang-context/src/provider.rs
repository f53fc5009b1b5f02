//! Performing requests without a world.
//!
//! Each provider is a fold over the requests of one run: `answer` takes a payload, changes the
//! provider's state and returns the answer. The same requests in the same order give the same
//! answers, so a replay rebuilds the state by folding the recorded requests again.

mod dry_run;
mod effect;
mod memory;
mod mock;
mod scripted;
mod workspace;

use agentic_model::{Instant, Value};
use agentic_replay::{ProgramFailure, RequestAnswer, RequestId};

use crate::json::{self, Json};

pub use crate::provider::dry_run::dry_run;
pub use crate::provider::effect::effect_class;
pub use crate::provider::memory::{LocalMemories, LocalMemoryFault, MockMemory, Records};
pub use crate::provider::mock::{EmptyModel, mock_tool};
pub use crate::provider::scripted::{PreparedModel, PreparedReply};
pub use crate::provider::workspace::TextTree;

/// The code of the failure of a request that a provider refused.
pub const REFUSED: &str = "refused";

/// What identifies an effect: the same wherever and however often it is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EffectStamp<'a> {
    /// The id of the request.
    pub request_id: &'a RequestId,
    /// The time of the effect.
    pub at: Instant,
}

fn done(json: &Json) -> RequestAnswer {
    RequestAnswer::Ok(json::to_value(json))
}

fn refused(message: impl Into<String>) -> RequestAnswer {
    RequestAnswer::Failed(ProgramFailure::new(REFUSED, message))
}

fn text_field<'a>(payload: &'a Value, key: &str) -> &'a str {
    payload.get(key).and_then(Value::as_text).unwrap_or_default()
}

/// Returns the arguments of a call of a tool or memory.
fn args(payload: &Value) -> Vec<Json> {
    match json::parse(text_field(payload, "args")) {
        Ok(Json::List(args)) => args,
        Ok(_) | Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
