//! Who performs the tasks of agents in a run of an AgentLang program.

use agentic_lang_agent::Module;
use agentic_model::AgentName;
use agentic_providers::configuration::Configuration;
use agentic_providers::model::{ADAPTER_VARIABLE, Adapter};
use agentic_session::pinned_adapter;

use super::agentlang::{Act, AgentlangRequest};
use super::durable::DurableSetting;
use crate::context::Context;
use crate::failure::CommandFailure;

/// Reads the name of an adapter.
pub fn parse(text: &str) -> Result<Adapter, String> {
    Adapter::parse(text).ok_or_else(|| format!("an adapter is one of {}", names()))
}

/// Chooses the adapter: the one that was named, else that of the session that goes on, else that of
/// the environment. Without any, models perform where one is configured, but never in tests: these
/// compare what the mock answers.
pub fn choose(
    context: &Context,
    module: &Module,
    wish: &AgentlangRequest,
) -> Result<Adapter, CommandFailure> {
    let usual = of_environment()?;
    if let Some(named) = wish.adapter {
        return Ok(named);
    }
    if !module.has_model_tasks() {
        return Ok(Adapter::Mock);
    }
    if let Some(pinned) = of_session(context, wish.session.as_ref())? {
        return Ok(pinned);
    }
    match (usual, wish.act) {
        (Some(usual), _) => Ok(usual),
        (None, Act::Test) => Ok(Adapter::Mock),
        (None, Act::Run | Act::Lower) => {
            let configuration = Configuration::find(&context.directory)?;
            let has_model = configuration.default_model().is_some();
            Ok(if has_model { Adapter::Live } else { Adapter::Mock })
        }
    }
}

fn of_environment() -> Result<Option<Adapter>, CommandFailure> {
    let Some(name) = std::env::var_os(ADAPTER_VARIABLE).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let name = name.to_string_lossy().trim().to_lowercase();
    Adapter::parse(&name).map(Some).ok_or_else(|| {
        CommandFailure::refused(
            &format!("`{ADAPTER_VARIABLE}` names the adapter `{name}`, and there is none"),
            &format!("set it to one of {}", names()),
        )
    })
}

/// Returns the adapter of the session that was begun under the same key.
fn of_session(
    context: &Context,
    setting: Option<&DurableSetting>,
) -> Result<Option<Adapter>, CommandFailure> {
    let Some((setting, key)) = setting.and_then(|it| Some((it, it.key.as_ref()?))) else {
        return Ok(None);
    };
    let space = context.space()?;
    let agent = match context.known_agent(&space, setting.agent.as_ref())? {
        Some(agent) => Some(agent),
        None => AgentName::parse(&format!("run-{key}")).ok(),
    };
    let Some(agent) = agent.filter(|agent| space.head(agent).is_ok()) else { return Ok(None) };
    Ok(pinned_adapter(&space, &agent, key)?)
}

fn names() -> String {
    Adapter::ALL.map(Adapter::as_str).join(", ")
}
