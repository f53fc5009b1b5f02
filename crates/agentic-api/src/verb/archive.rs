//! Agents that are done: folding them away, bringing them back, listing them.

use agentic_model::AgentName;
use agentic_session::archive::archive;
use agentic_space::archive::{ArchiveWish, restore};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::caller::agent_name;
use crate::verb::{Reply, Verb};
use crate::view::ArchivedView;
use crate::{Caller, Refusal};

/// Fold agents away that are done; all of them or none.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Archive {
    /// The agents.
    pub agents: Vec<String>,
}

impl Verb for Archive {
    type Answer = Vec<ArchivedView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<ArchivedView>>, Refusal> {
        let agents = names(&self.agents)?;
        // What an agent archives says nothing of what people think of the work.
        let wish = match caller.require_person("archive as a person") {
            Ok(()) => ArchiveWish::by_person(&agents),
            Err(_) => ArchiveWish::by_program(&agents),
        };
        let moved = archive(caller.space, wish)?;
        Ok(Reply::written(moved.entries.iter().map(ArchivedView::from).collect(), &moved.written))
    }
}

/// Bring agents back, each with the branch and the notes that it had.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// The agents.
    pub agents: Vec<String>,
}

impl Verb for Restore {
    type Answer = Vec<ArchivedView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<ArchivedView>>, Refusal> {
        let moved = restore(caller.space, &names(&self.agents)?)?;
        Ok(Reply::written(moved.entries.iter().map(ArchivedView::from).collect(), &moved.written))
    }
}

/// List the agents that are archived.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListArchive {}

impl Verb for ListArchive {
    type Answer = Vec<ArchivedView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<ArchivedView>>, Refusal> {
        let entries = caller.space.archived_agents()?;
        Ok(Reply::plain(entries.iter().map(ArchivedView::from).collect()))
    }
}

fn names(texts: &[String]) -> Result<Vec<AgentName>, Refusal> {
    texts.iter().map(|text| agent_name(text)).collect()
}
