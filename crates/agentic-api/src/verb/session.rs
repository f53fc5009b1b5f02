//! Sessions: durable runs of flows on behalf of agents.

mod check;
mod drive;
mod look;
mod watch;

pub use self::check::{ReplaySessions, SessionVerify};
pub use self::drive::{
    ForkedChildren, SessionCancel, SessionFork, SessionResume, SessionSignal, SessionStart,
    SessionTick, SessionUpgrade, SetAnswer,
};
pub use self::look::{SessionDetail, SessionDiff, SessionList, SessionShow, session_reply};
pub use self::watch::SessionWatch;

use agentic_model::Object;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Caller, Refusal};

/// A flow as it comes from outside.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowSource {
    /// The text of a script.
    Script(String),
    /// The id of a stored one, or a prefix of it.
    Stored(String),
}

impl FlowSource {
    fn object(&self, caller: &Caller<'_>) -> Result<Object, Refusal> {
        Ok(match self {
            FlowSource::Script(text) => agentic_session::flow_object(text)?,
            FlowSource::Stored(id) => caller.space.object(caller.space.find_object(id)?)?,
        })
    }
}
