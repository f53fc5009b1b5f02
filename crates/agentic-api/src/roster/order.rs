//! Agents in the order of their families, and those of them that are meant.

use std::collections::BTreeSet;

use agentic_index::EdgeRow;
use agentic_space::relation::REVIEWS;

use super::{AgentRoster, RosterAgent, agent_view};
use crate::view::{AgentView, FamilyView};

/// Which agents are wanted.
#[derive(Debug, Clone, Default)]
pub struct RosterFilter {
    /// Only those in this state.
    pub state: String,
    /// Only those that made a commit of this kind.
    pub kind: String,
    /// Only those whose name holds this.
    pub name: String,
    /// Whether those that they descend from are wanted too, so that they hang together.
    pub with_ancestors: bool,
    /// How many to pass by.
    pub after: usize,
    /// At most so many.
    pub limit: usize,
}

/// A part of the agents.
#[derive(Debug)]
pub struct RosterPage {
    /// Some of those that are wanted.
    pub rows: Vec<RosterRow>,
    /// How many are wanted.
    pub n_rows: usize,
    /// The reviews of those agents that hold, where those that they descend from are wanted too.
    pub reviews: Vec<RosterReview>,
    /// How many agents there are.
    pub n_agents: usize,
    /// The kinds of all their commits.
    pub kinds: Vec<String>,
    /// What is damaged, so that some may be missing.
    pub left_out: Vec<String>,
    /// Whether some may be missing, because they have not been read yet.
    pub is_checking: bool,
}

/// A review that holds: who, and whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RosterReview {
    /// Who reviews.
    pub who: String,
    /// The agent.
    pub agent: String,
}

/// An agent in a family.
#[derive(Debug)]
pub struct RosterRow {
    /// How many agents stand above it.
    pub depth: usize,
    /// What it did, without its children.
    pub family: FamilyView,
    /// What it did last.
    pub newest: AgentView,
}

/// Where an agent stands: below how many others, and its place by name.
type FamilyPlace = (usize, usize);

impl AgentRoster {
    /// Shows a part of the agents.
    pub fn page(&self, filter: &RosterFilter) -> RosterPage {
        let places = self.meant(filter);
        let into = self.merged_into();
        let shown = places.iter().skip(filter.after).take(filter.limit);
        let row = |(depth, at): &FamilyPlace| RosterRow {
            depth: *depth,
            family: self.agents[*at].family(&into),
            newest: agent_view(self.agents[*at].row.row()),
        };
        let kinds = self.agents.iter().flat_map(|agent| agent.row.kinds());
        let kinds: BTreeSet<&str> = kinds.map(|(kind, _)| kind).collect();
        let rows: Vec<RosterRow> = shown.map(row).collect();
        RosterPage {
            reviews: if filter.with_ancestors { self.reviews(&rows) } else { Vec::new() },
            rows,
            n_rows: places.len(),
            n_agents: self.agents.len(),
            kinds: kinds.into_iter().map(str::to_owned).collect(),
            left_out: self.left_out.iter().cloned().collect(),
            is_checking: self.is_checking,
        }
    }

    /// Lists who reviews the agents of some rows.
    fn reviews(&self, rows: &[RosterRow]) -> Vec<RosterReview> {
        let shown: BTreeSet<&str> = rows.iter().map(|row| row.family.agent.as_str()).collect();
        let edges = self.holding(REVIEWS).filter(|edge| shown.contains(edge.target.as_str()));
        let review = |edge: EdgeRow| RosterReview { who: edge.source, agent: edge.target };
        edges.map(review).collect()
    }

    /// Shows the agents without a parent here, each with its descendants.
    pub fn families(&self) -> Vec<FamilyView> {
        let into = self.merged_into();
        // By depth, those that have no parent yet; the last one first.
        let mut below: Vec<Vec<FamilyView>> = Vec::new();
        for (depth, at) in self.places().into_iter().rev() {
            below.resize_with(below.len().max(depth + 2), Vec::new);
            let mut family = self.agents[at].family(&into);
            family.children = std::mem::take(&mut below[depth + 1]);
            family.children.reverse();
            below[depth].push(family);
        }
        let mut roots = below.into_iter().next().unwrap_or_default();
        roots.reverse();
        roots
    }

    fn meant(&self, filter: &RosterFilter) -> Vec<FamilyPlace> {
        let mut places = self.places();
        let is_meant = |agent: &RosterAgent| {
            (filter.state.is_empty() || agent.state() == filter.state)
                && (filter.kind.is_empty() || agent.has_kind(&filter.kind))
                && (filter.name.is_empty() || agent.row.name().contains(&filter.name))
        };
        // How deep the last one stands that was kept: whoever is above it is kept with it.
        let mut wanted_above = 0;
        let mut kept: Vec<FamilyPlace> = Vec::new();
        while let Some((depth, at)) = places.pop() {
            let is_above = filter.with_ancestors && depth < wanted_above;
            if is_meant(&self.agents[at]) || is_above {
                wanted_above = depth;
                kept.push((depth, at));
            }
        }
        kept.reverse();
        kept
    }

    /// Lists the agents, each before those that were forked from it.
    fn places(&self) -> Vec<FamilyPlace> {
        let by_name =
            |name: &str| self.agents.binary_search_by(|agent| agent.row.name().cmp(name)).ok();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.agents.len()];
        let mut roots = Vec::new();
        for (at, agent) in self.agents.iter().enumerate() {
            let parent = agent.row.parent().and_then(by_name);
            match parent.filter(|parent| *parent != at) {
                Some(parent) => children[parent].push(at),
                None => roots.push(at),
            }
        }
        let mut places = Vec::with_capacity(self.agents.len());
        let mut is_placed = vec![false; self.agents.len()];
        // Parents written by hand can form a cycle, which has no root of its own.
        for root in roots.into_iter().chain(0..self.agents.len()) {
            let mut waiting = vec![(0, root)];
            while let Some((depth, at)) = waiting.pop() {
                if std::mem::replace(&mut is_placed[at], true) {
                    continue;
                }
                places.push((depth, at));
                waiting.extend(children[at].iter().rev().map(|child| (depth + 1, *child)));
            }
        }
        places
    }
}
