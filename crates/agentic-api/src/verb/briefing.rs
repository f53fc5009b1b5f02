//! What an agent was asked to do.

use agentic_model::{Briefing, Cid, Object, Value, json};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{Reply, Verb};
use crate::view::{AgentView, ObjectView};
use crate::{Caller, Refusal};

/// Show what an agent was asked to do.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShowBriefing {
    /// The agent; else the caller's.
    pub agent: Option<String>,
}

/// A briefing with its id.
#[derive(Debug)]
pub struct StoredBriefing {
    cid: Cid,
    object: Object,
}

impl ShowBriefing {
    /// Reads the briefing.
    ///
    /// # Errors
    /// Fails when there is no such agent, and when it has none.
    pub fn read(&self, caller: &Caller<'_>) -> Result<StoredBriefing, Refusal> {
        let agent = caller.agent(self.agent.as_deref())?;
        let (cid, object) = caller.space.briefing(&agent)?;
        Ok(StoredBriefing { cid, object })
    }

    /// Does the same for an agent of which it is known which briefing it has.
    ///
    /// # Errors
    /// Fails when it is not here.
    pub fn read_of(caller: &Caller<'_>, agent: &AgentView) -> Result<StoredBriefing, Refusal> {
        let name = caller.agent(Some(&agent.agent))?;
        let known = agent.briefing.as_deref().and_then(|cid| Cid::parse(cid).ok());
        let (cid, object) = match known {
            Some(cid) => caller.space.read_briefing(&name, cid)?,
            None => caller.space.briefing(&name)?,
        };
        Ok(StoredBriefing { cid, object })
    }
}

impl StoredBriefing {
    /// Returns all that it says, with its id.
    pub fn data(&self) -> ObjectView {
        let mut map = self.object.map().clone();
        map.insert("cid".to_owned(), Value::text(self.cid.to_string()));
        ObjectView(json::to_json(&Value::Map(map)))
    }

    /// Returns its text.
    ///
    /// # Errors
    /// Fails when it is no briefing.
    pub fn text(&self) -> Result<String, Refusal> {
        let briefing = Briefing::from_object(&self.object);
        Ok(briefing.map_err(agentic_session::Error::from)?.text)
    }
}

impl Verb for ShowBriefing {
    type Answer = ObjectView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<ObjectView>, Refusal> {
        Ok(Reply::plain(self.read(caller)?.data()))
    }
}
