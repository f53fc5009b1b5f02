//! What holds between agents now, by rules that come with the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use agentic_model::edge::Party;
use agentic_model::{InvalidName, Kind};
use agentic_query::QueryValue;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::caller::agent_name;
use crate::verb::{Reply, Verb, ask_shipped};
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
        let of = self.of.as_deref().map(RelatedParty::parse).transpose();
        let of = of.map_err(|error| usage(error.to_string()))?;
        let kind = self.kind.as_deref().map(Kind::parse).transpose();
        let kind = kind.map_err(|error| usage(error.to_string()))?;
        let rows = ask_shipped(caller, "relations", BTreeMap::new())?;
        let found: BTreeSet<HoldingRelation> =
            rows.iter().filter_map(|row| HoldingRelation::of(row)).collect();
        let views = found
            .into_iter()
            .filter(|one| of.as_ref().is_none_or(|of| one.source == *of || one.target == *of))
            .filter(|one| kind.as_ref().is_none_or(|kind| one.relation == *kind))
            .map(HoldingRelation::view);
        Ok(Reply::plain(views.collect()))
    }
}

/// Somebody who is related to others, in the order in which they are listed.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RelatedParty {
    /// An agent here, a person or a branch.
    Here(Party),
    /// An agent of a remote or a peer.
    Elsewhere(String),
}

impl RelatedParty {
    fn parse(text: &str) -> Result<RelatedParty, InvalidName> {
        match Party::parse(text) {
            Err(_) if text.contains('/') => Ok(RelatedParty::Elsewhere(text.to_owned())),
            party => party.map(RelatedParty::Here),
        }
    }
}

impl fmt::Display for RelatedParty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RelatedParty::Here(party) => write!(f, "{party}"),
            RelatedParty::Elsewhere(name) => f.write_str(name),
        }
    }
}

/// A relation that holds, in the order in which relations are listed.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HoldingRelation {
    source: RelatedParty,
    relation: Kind,
    target: RelatedParty,
    is_derived: bool,
}

impl HoldingRelation {
    fn of(row: &[QueryValue]) -> Option<HoldingRelation> {
        match row {
            [source, relation, target, QueryValue::Bool(is_derived)] => Some(HoldingRelation {
                source: party(source)?,
                relation: Kind::parse(text(relation)?).ok()?,
                target: party(target)?,
                is_derived: *is_derived,
            }),
            _ => None,
        }
    }

    fn view(self) -> RelationView {
        RelationView {
            source: self.source.to_string(),
            relation: self.relation.to_string(),
            target: self.target.to_string(),
            derived: self.is_derived,
        }
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
        let rules = if self.all { "sub-agents" } else { "direct-sub-agents" };
        related(caller, rules, &self.agent)
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
        related(caller, "reviewers", &self.agent)
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
        related(caller, "merged", &self.agent)
    }
}

/// Lists who is related to an agent: agents first, then people, then agents of peers.
fn related(caller: &Caller<'_>, rules: &str, agent: &str) -> Result<Reply<Vec<String>>, Refusal> {
    let agent = agent_name(agent)?;
    caller.space.head(&agent)?;
    let params = BTreeMap::from([("agent".to_owned(), agent.to_string())]);
    let rows = ask_shipped(caller, rules, params)?;
    let found: BTreeSet<RelatedParty> =
        rows.iter().filter_map(|row| row.first().and_then(party)).collect();
    Ok(Reply::plain(found.iter().map(RelatedParty::to_string).collect()))
}

fn party(value: &QueryValue) -> Option<RelatedParty> {
    RelatedParty::parse(text(value)?).ok()
}

fn text(value: &QueryValue) -> Option<&str> {
    match value {
        QueryValue::Text(text) => Some(text),
        QueryValue::Null | QueryValue::Bool(_) | QueryValue::Int(_) | QueryValue::Float(_) => None,
    }
}
