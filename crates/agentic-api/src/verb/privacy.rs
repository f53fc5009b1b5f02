//! Whether pushes that name nobody take agents along.

use agentic_git::PrivacyChange;
use agentic_model::AgentName;
use agentic_space::error::AgentError;
use agentic_space::privacy::change_privacy;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::caller::agent_name;
use crate::verb::{Reply, Verb};
use crate::view::PrivacyView;
use crate::{Caller, Refusal};

/// Let pushes that name nobody leave agents out.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MakePrivate {
    /// The agents.
    pub agents: Vec<String>,
}

/// Let pushes take agents along again. A person's decision.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MakePublic {
    /// The agents.
    pub agents: Vec<String>,
}

impl Verb for MakePrivate {
    type Answer = Vec<PrivacyView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<PrivacyView>>, Refusal> {
        change(caller, &self.agents, PrivacyChange::Private)
    }
}

impl Verb for MakePublic {
    type Answer = Vec<PrivacyView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<PrivacyView>>, Refusal> {
        caller.require_person("make an agent public")?;
        change(caller, &self.agents, PrivacyChange::Public)
    }
}

fn change(
    caller: &Caller<'_>,
    texts: &[String],
    change: PrivacyChange,
) -> Result<Reply<Vec<PrivacyView>>, Refusal> {
    let space = caller.space;
    let agents: Vec<AgentName> =
        texts.iter().map(|text| agent_name(text)).collect::<Result<_, _>>()?;
    for agent in &agents {
        match space.head(agent) {
            Ok(_) | Err(agentic_space::Error::Agent(AgentError::Archived { .. })) => {}
            Err(error) => return Err(error.into()),
        }
    }
    change_privacy(space, &agents, change)?;
    let private = change == PrivacyChange::Private;
    let view = |agent: &AgentName| PrivacyView { agent: agent.to_string(), private };
    Ok(Reply::plain(agents.iter().map(view).collect()))
}
