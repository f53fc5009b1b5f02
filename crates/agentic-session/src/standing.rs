//! How agents stand, as facts that queries ask for.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{AgentName, guidance};
use agentic_query::{
    FactCell, FactColumn, FactFailure, FactPredicate, FactRequest, FactSink, FactSource, IdMatch,
    QueryType, QueryValue, column,
};
use agentic_space::agent::SoundAgents;

use crate::tree::AgentStanding;
use crate::{Result, SessionSpace};

/// Which columns there are.
const AGENT: usize = 0;
const STATE: usize = 1;

/// Its columns.
const COLUMNS: &[FactColumn] = &[
    column("agent", QueryType::Text, "the agent"),
    column("state", QueryType::Text, "idle, running, waiting, diverged or held"),
];

/// The facts about how the agents of a space stand.
pub struct StandingFacts<'a> {
    space: &'a SessionSpace,
    predicates: [FactPredicate; 1],
}

impl<'a> StandingFacts<'a> {
    /// Begins with nothing read.
    pub fn new(space: &'a SessionSpace) -> StandingFacts<'a> {
        let standing = FactPredicate::described(
            "standing",
            ["How an agent of this space stands, as `agentic tree` says it.", "its sessions"],
            COLUMNS,
        );
        StandingFacts { space, predicates: [standing] }
    }

    fn standings(
        &self,
        named: Option<&[QueryValue]>,
        tell: &mut dyn FnMut(String),
    ) -> Result<BTreeMap<AgentName, AgentStanding>> {
        let names = match named {
            Some(values) => self.those_here(values)?,
            None => {
                let SoundAgents { agents, damaged } = self.space.sound_agents()?;
                damaged.iter().for_each(|agent| tell(agent.to_string()));
                let open = agents.into_iter().map(|(name, _)| name);
                let archived = self.space.archived_agents()?.into_iter();
                open.chain(archived.map(|entry| entry.archived.agent)).collect()
            }
        };
        let mut found: BTreeMap<AgentName, AgentStanding> =
            names.into_iter().map(|name| (name, AgentStanding::Idle)).collect();
        for (name, standing) in self.space.standings(tell)? {
            if let Some(known) = found.get_mut(&name) {
                *known = standing.max(*known);
            }
        }
        Ok(found)
    }

    /// Returns those of some agents that are here.
    fn those_here(&self, values: &[QueryValue]) -> Result<BTreeSet<AgentName>> {
        let mut found = BTreeSet::new();
        for value in values {
            let QueryValue::Text(text) = value else { continue };
            let Ok(name) = AgentName::parse(text) else { continue };
            let is_open = self.space.repository().find_ref(&name.branch_ref())?.is_some();
            if is_open || self.space.archived_agent(&name)?.is_some() {
                found.insert(name);
            }
        }
        Ok(found)
    }
}

impl FactSource for StandingFacts<'_> {
    fn predicates(&self) -> &[FactPredicate] {
        &self.predicates
    }

    fn read(
        &self,
        request: &FactRequest,
        sink: &mut FactSink<'_>,
    ) -> std::result::Result<(), FactFailure> {
        let standings = self.standings(request.values(AGENT), &mut |told| sink.note(told));
        let standings = standings.map_err(|error| FactFailure(guidance::chain(&error)))?;
        for (name, standing) in standings {
            let cells = [FactCell::Text(name.as_str()), FactCell::Text(standing.name())];
            let is_wanted = request.values(STATE).is_none_or(|values| {
                values.iter().any(|value| *value == QueryValue::text(standing.name()))
            });
            let row: Vec<FactCell<'_>> = request.columns.iter().map(|c| cells[*c]).collect();
            if is_wanted && sink.row(&row).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn resolve(&self, _: QueryType, _: &str) -> IdMatch {
        IdMatch::Unknown
    }
}
