//! Commits that agents made with plain git: their notes bind traces to them, and their lines lack them.
//!
//! Whoever binds a trace to a commit on a branch that is not the agent's own says so by an edge. Only the
//! notes of agents with such an edge are looked through.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::rc::Rc;

use agentic_git::CommitInfo;
use agentic_model::Oid;
use agentic_query::FactCell;

use super::SpaceFacts;
use super::roster::{AgentPlace, FactAgent};
use super::rows::FactRows;
use crate::Result;

/// Which column has the agent.
const AGENT: usize = 1;
/// The relation of an agent to a branch of somebody else on which it committed.
pub const COMMITTED_ON: &str = "committed-on";

/// A commit that an agent made with plain git.
pub(super) struct LinkedCommit {
    pub agent: Rc<FactAgent>,
    pub info: CommitInfo,
}

impl SpaceFacts<'_> {
    /// `linked`.
    pub(super) fn linked_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let agents = match rows.bound(AGENT) {
            Some(names) => self.agents(Some(&names))?,
            None => self.all_here()?,
        };
        for linked in self.linked_commits(&agents, rows)? {
            let row = rows.row(&[
                FactCell::Text(&linked.info.oid.to_string()),
                FactCell::Text(&linked.agent.name),
                FactCell::Int(linked.info.at.millis()),
            ]);
            if row.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Lists the commits that agents of this space made with plain git. One that is gone is left out.
    pub(super) fn linked_commits(
        &self,
        agents: &[Rc<FactAgent>],
        rows: &mut FactRows<'_, '_>,
    ) -> Result<Vec<LinkedCommit>> {
        let keepers = self.all_here()?;
        let edges = self.holding_edges(&keepers, rows);
        let related = edges.iter().filter(|edge| edge.relation == COMMITTED_ON);
        let related: BTreeSet<&str> = related.map(|edge| edge.source.as_str()).collect();
        let is_here = |agent: &&Rc<FactAgent>| {
            agent.place != AgentPlace::Remote && related.contains(agent.name.as_str())
        };
        let agents: Vec<Rc<FactAgent>> = agents.iter().filter(is_here).cloned().collect();
        let mut found = Vec::new();
        for (agent, traces) in agents.iter().zip(self.trace_lists(&agents)) {
            let what = format!("the traces of agent `{agent}`");
            let (Some(traces), Some(line)) =
                (rows.noted(&what, traces), self.noted_line(agent, rows))
            else {
                continue;
            };
            let mut bound: BTreeSet<Oid> = BTreeSet::new();
            let _ = self.each_bound(agent, &traces, &mut |row| {
                bound.insert(row.commit);
                ControlFlow::Continue(())
            })?;
            for commit in bound.into_iter().filter(|commit| !line.has(*commit)) {
                let info = self.space.read_commit(commit).ok();
                found.extend(info.map(|info| LinkedCommit { agent: Rc::clone(agent), info }));
            }
        }
        Ok(found)
    }
}
