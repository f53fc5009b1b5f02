//! Rows about relations that follow from commits, and about who reviews.

use std::collections::BTreeSet;
use std::rc::Rc;

use agentic_query::FactCell;

use super::SpaceFacts;
use super::edge::settle;
use super::line::LineCommit;
use super::roster::{AgentPlace, FactAgent};
use super::rows::FactRows;
use crate::Result;
use crate::relation::{MERGED_INTO, REVIEWS, SUB_AGENT_OF};

/// Which column has the one that relates, and which the one it relates to.
const SOURCE: usize = 0;
const TARGET: usize = 1;

/// Pairs that stand in a relation.
pub(super) type RelatedPairs = BTreeSet<(String, String)>;

impl SpaceFacts<'_> {
    /// `sub_agent_of`.
    pub(super) fn sub_agent_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let agents = self.agents(rows.bound(SOURCE).as_ref())?;
        self.read_lines(&agents);
        let mut pairs = self.edge_pairs(SUB_AGENT_OF, rows)?;
        for agent in agents {
            let Some(line) = self.noted_line(&agent, rows) else { continue };
            let parent = line.genesis().map_or("", |genesis| genesis.parent_claim);
            if !parent.is_empty() {
                let parent = self.name_beside(&agent, parent.to_owned())?;
                pairs.insert((agent.name.clone(), parent));
            }
        }
        pair_rows(&pairs, rows);
        Ok(())
    }

    /// `merged_into`.
    pub(super) fn merged_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let agents = self.agents(rows.bound(TARGET).as_ref())?;
        let mut pairs = self.edge_pairs(MERGED_INTO, rows)?;
        let mut merges = Vec::new();
        self.each_commit(rows, &agents, &mut |_, own| {
            if let Some(merged) = merged_by(&own.commit) {
                merges.push((merged, Rc::clone(own.agent)));
            }
            std::ops::ControlFlow::Continue(())
        })?;
        for (merged, into) in merges {
            let merged = match merged {
                MergedAgent::Here(name) => self.name_beside(&into, name)?,
                MergedAgent::Peers(origin) => self.peer_names.name_of(&origin),
            };
            pairs.insert((merged, into.name.clone()));
        }
        pair_rows(&pairs, rows);
        Ok(())
    }

    /// `reviews`.
    pub(super) fn review_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let pairs = self.edge_pairs(REVIEWS, rows)?;
        pair_rows(&pairs, rows);
        Ok(())
    }

    /// Lists whose work was merged into what, as open agents and their notes say.
    pub(crate) fn merges_of_open_agents(&self) -> Result<KnownMerges> {
        let agents = self.agents_at(AgentPlace::Open)?;
        self.read_lines(&agents);
        let mut pairs = RelatedPairs::new();
        for agent in &agents {
            let Some(line) = self.or_left_out("the commits", agent, self.line(agent)) else {
                continue;
            };
            let merged = line.commits().filter_map(|commit| merged_by(&commit));
            let named = merged.map(|merged| match merged {
                MergedAgent::Here(name) => name,
                MergedAgent::Peers(origin) => self.peer_names.name_of(&origin),
            });
            pairs.extend(named.map(|merged| (merged, agent.name.clone())));
        }
        let mut events = Vec::new();
        for (agent, found) in agents.iter().zip(self.events(&agents)) {
            events.extend(self.or_left_out("the edges", agent, found).into_iter().flatten());
        }
        let edges = settle(events).into_iter().filter(|edge| edge.relation == MERGED_INTO);
        pairs.extend(edges.map(|edge| (edge.source, edge.target)));
        let left_out = self.take_left_out().into_iter().collect();
        Ok(KnownMerges { pairs: pairs.into_iter().collect(), left_out })
    }

    /// Takes what was read of an agent, or remembers to tell that it is damaged.
    fn or_left_out<T>(
        &self,
        what: &str,
        agent: &FactAgent,
        read: std::result::Result<T, String>,
    ) -> Option<T> {
        read.map_err(|why| self.leave_out(format!("{what} of agent `{agent}`: {why}"))).ok()
    }

    /// Lists the ends of the edges of a relation that hold.
    fn edge_pairs(&self, relation: &str, rows: &mut FactRows<'_, '_>) -> Result<RelatedPairs> {
        let keepers = self.keepers(rows, SOURCE)?;
        let edges = self.holding_edges(&keepers, rows);
        let edges = edges.iter().filter(|edge| edge.relation == relation);
        Ok(edges.map(|edge| (edge.source.clone(), edge.target.clone())).collect())
    }

    /// Returns what an agent is called that another names: beside one of a remote, the remote's.
    fn name_beside(&self, agent: &FactAgent, named: String) -> Result<String> {
        let remote = agent.name.strip_suffix(agent.agent.as_str());
        match (agent.place, remote) {
            (AgentPlace::Remote, Some(remote)) => {
                let there = format!("{remote}{named}");
                Ok(if self.agents(Some(&BTreeSet::from([there.clone()])))?.is_empty() {
                    named
                } else {
                    there
                })
            }
            (AgentPlace::Open | AgentPlace::Archived | AgentPlace::Remote, _) => Ok(named),
        }
    }
}

/// Whose work was merged into what, as far as that can be read.
#[derive(Debug)]
pub struct KnownMerges {
    /// Each agent with the agent or branch that took its work in.
    pub pairs: Vec<(String, String)>,
    /// What cannot be read.
    pub left_out: Vec<String>,
}

/// An agent whose work was taken in.
pub(super) enum MergedAgent {
    /// One that is named as the target names agents.
    Here(String),
    /// One of a peer: the peer, its space and the agent, with slashes between.
    Peers(String),
}

/// Returns the agent whose work a commit took in, if it is a merge that counts.
pub(super) fn merged_by(commit: &LineCommit<'_>) -> Option<MergedAgent> {
    let is_merge = commit.kind == "session-merge" && commit.parents().count() > 1;
    if !is_merge || commit.merged_claim.is_empty() {
        return None;
    }
    Some(match commit.claims().merged_from {
        Some(from) => MergedAgent::Peers(from.split(' ').next().unwrap_or_default().to_owned()),
        None => MergedAgent::Here(commit.merged_claim.to_owned()),
    })
}

fn pair_rows(pairs: &RelatedPairs, rows: &mut FactRows<'_, '_>) {
    for (source, target) in pairs {
        if rows.row(&[FactCell::Text(source), FactCell::Text(target)]).is_break() {
            break;
        }
    }
}
