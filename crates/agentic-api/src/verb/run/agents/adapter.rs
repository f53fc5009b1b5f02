//! Who performs the tasks of agents in a run of an AgentLang program.

use agentic_model::AgentName;
use agentic_providers::configuration::Configuration;
use agentic_providers::model::{ADAPTER_VARIABLE, Adapter};
use agentic_session::pinned_adapter;

use super::PreparedAgents;
use crate::verb::run::RunAct;
use crate::verb::run::durable::DurableSetting;
use crate::{Caller, Refusal, Surroundings};

/// Chooses the adapter: the one that was named, else that of the session that goes on, else that of
/// the environment. Without any, models perform where one is configured, but never in tests: these
/// compare what the mock answers.
pub(super) fn choose(
    here: &Surroundings,
    caller: Option<&Caller<'_>>,
    wish: &PreparedAgents,
) -> Result<Adapter, Refusal> {
    let usual = of_environment()?;
    if let Some(named) = wish.adapter {
        return Ok(named);
    }
    if !wish.module.has_model_tasks() {
        return Ok(Adapter::Mock);
    }
    if let Some((caller, setting)) = caller.zip(wish.session.as_ref())
        && let Some(pinned) = of_session(caller, setting)?
    {
        return Ok(pinned);
    }
    match (usual, wish.act) {
        (Some(usual), _) => Ok(usual),
        (None, RunAct::Test) => Ok(Adapter::Mock),
        (None, RunAct::Run | RunAct::Lower) => {
            let configuration = Configuration::find(&here.folder)?;
            let has_model = configuration.default_model().is_some();
            Ok(if has_model { Adapter::Live } else { Adapter::Mock })
        }
    }
}

fn of_environment() -> Result<Option<Adapter>, Refusal> {
    let Some(name) = std::env::var_os(ADAPTER_VARIABLE).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let name = name.to_string_lossy().trim().to_lowercase();
    Adapter::parse(&name).map(Some).ok_or_else(|| {
        Refusal::refused(
            &format!("`{ADAPTER_VARIABLE}` names the adapter `{name}`, and there is none"),
            &format!("set it to one of {}", names()),
        )
    })
}

/// Returns the adapter of the session that was begun under the same key.
fn of_session(caller: &Caller<'_>, setting: &DurableSetting) -> Result<Option<Adapter>, Refusal> {
    let Some(key) = &setting.key else { return Ok(None) };
    let space = caller.space;
    let agent = match caller.known_agent(setting.agent.as_deref())? {
        Some(agent) => Some(agent),
        None => AgentName::parse(&format!("run-{key}")).ok(),
    };
    let Some(agent) = agent.filter(|agent| space.head(agent).is_ok()) else { return Ok(None) };
    Ok(pinned_adapter(space, &agent, key)?)
}

fn names() -> String {
    Adapter::ALL.map(Adapter::as_str).join(", ")
}
