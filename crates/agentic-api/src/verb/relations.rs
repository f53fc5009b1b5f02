//! What holds between agents now.

use std::collections::BTreeSet;

use agentic_model::Kind;
use agentic_model::edge::Party;
use agentic_space::relations::{MERGED_INTO, REVIEWS, SUB_AGENT_OF};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::caller::agent_name;
use crate::verb::{Reply, Verb};
use crate::view::RelationView;
use crate::{Caller, Refusal};

/// List what holds between agents now.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListRelations {
    /// Only relations that this agent or person is part of.
    pub of: Option<String>,
    /// Only this relation.
    pub kind: Option<String>,
}

impl Verb for ListRelations {
    type Answer = Vec<RelationView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<RelationView>>, Refusal> {
        let usage = |error: String| {
            Refusal::usage(&error, "`agentic relations` without options lists all that holds")
        };
        let of = self.of.as_deref().map(Party::parse).transpose();
        let of = of.map_err(|error| usage(error.to_string()))?;
        let kind = self.kind.as_deref().map(Kind::parse).transpose();
        let kind = kind.map_err(|error| usage(error.to_string()))?;
        let relations = caller.space.relations()?;
        let facts = relations
            .facts()
            .filter(|fact| of.as_ref().is_none_or(|of| fact.source == *of || fact.target == *of))
            .filter(|fact| kind.as_ref().is_none_or(|kind| fact.relation == *kind));
        Ok(Reply::plain(facts.map(RelationView::from).collect()))
    }
}

/// List the agents that were forked from an agent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubAgents {
    /// The agent.
    pub agent: String,
    /// Also those forked from them, and so on.
    #[serde(default)]
    pub all: bool,
}

impl Verb for SubAgents {
    type Answer = Vec<String>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<String>>, Refusal> {
        let depth = if self.all { Depth::All } else { Depth::Direct };
        sources(caller, SUB_AGENT_OF, &self.agent, depth)
    }
}

/// List who reviews an agent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reviewers {
    /// The agent.
    pub agent: String,
}

impl Verb for Reviewers {
    type Answer = Vec<String>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<String>>, Refusal> {
        sources(caller, REVIEWS, &self.agent, Depth::Direct)
    }
}

/// List the agents whose work was merged into an agent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergedAgents {
    /// The agent.
    pub agent: String,
}

impl Verb for MergedAgents {
    type Answer = Vec<String>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<String>>, Refusal> {
        sources(caller, MERGED_INTO, &self.agent, Depth::Direct)
    }
}

/// How far a relation is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    Direct,
    All,
}

fn sources(
    caller: &Caller<'_>,
    relation: &str,
    agent: &str,
    depth: Depth,
) -> Result<Reply<Vec<String>>, Refusal> {
    let agent = agent_name(agent)?;
    caller.space.head(&agent)?;
    let (relations, target) = (caller.space.relations()?, Party::Agent(agent));
    let found: BTreeSet<Party> = match depth {
        Depth::Direct => relations.sources(relation, &target),
        Depth::All => relations.sources_closure(relation, &target),
    };
    Ok(Reply::plain(found.iter().map(Party::to_string).collect()))
}
