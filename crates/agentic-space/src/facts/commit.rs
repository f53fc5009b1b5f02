//! Rows about commits of agents.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::rc::Rc;

use agentic_model::Oid;
use agentic_query::FactCell;

use super::SpaceFacts;
use super::line::{CommitLine, LineCommit};
use super::roster::{AgentPlace, FactAgent};
use super::rows::FactRows;
use crate::Result;

/// Which column has the commit, of predicates that say something about one.
const COMMIT: usize = 0;
/// Which column of `commit` has the agent.
const AGENT: usize = 1;

/// A commit on the line of an agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnCommit<'a> {
    pub agent: &'a Rc<FactAgent>,
    pub commit: LineCommit<'a>,
    /// Its place in the line, from 0.
    pub n: usize,
}

impl SpaceFacts<'_> {
    /// `commit`.
    pub(super) fn commit_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let agents = self.agents(rows.bound(AGENT).as_ref())?;
        self.each_commit(rows, &agents, &mut |rows, own| {
            rows.row(&[
                FactCell::Text(&own.commit.oid.to_string()),
                FactCell::Text(&own.agent.name),
                FactCell::Int(own.n as i64),
                FactCell::Text(own.commit.kind),
                FactCell::Int(own.commit.at.millis()),
                FactCell::Text(own.commit.author),
            ])
        })
    }

    /// `committer`.
    pub(super) fn committer_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        self.each_distinct(rows, &mut |rows, own| {
            rows.row(&[
                FactCell::Text(&own.commit.oid.to_string()),
                FactCell::Text(own.commit.committer),
                FactCell::Text(own.commit.committer_email),
            ])
        })
    }

    /// `parent`.
    pub(super) fn parent_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        self.each_distinct(rows, &mut |rows, own| {
            let commit = own.commit.oid.to_string();
            own.commit.parents().enumerate().try_for_each(|(n, parent)| {
                rows.row(&[
                    FactCell::Text(&commit),
                    FactCell::Text(&parent.to_string()),
                    FactCell::Int(n as i64),
                ])
            })
        })
    }

    /// Visits each commit once, on whichever line it stands, if it is among those that the first
    /// column is restricted to.
    pub(super) fn each_distinct(
        &self,
        rows: &mut FactRows<'_, '_>,
        visit: &mut dyn FnMut(&mut FactRows<'_, '_>, OwnCommit<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let wanted = rows.commits(COMMIT);
        let agents = self.agents_of(wanted.as_ref())?;
        let mut seen = HashSet::<Oid>::new();
        self.each_commit(rows, &agents, &mut |rows, own| {
            let oid = own.commit.oid;
            let is_wanted = wanted.as_ref().is_none_or(|wanted| wanted.contains(&oid));
            if !is_wanted || !seen.insert(oid) {
                return ControlFlow::Continue(());
            }
            visit(rows, own)
        })
    }

    /// Visits the commits of the lines of agents. Of a remote's agent only those that no agent here
    /// has.
    pub(super) fn each_commit(
        &self,
        rows: &mut FactRows<'_, '_>,
        agents: &[Rc<FactAgent>],
        visit: &mut dyn FnMut(&mut FactRows<'_, '_>, OwnCommit<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.read_lines(agents);
        for agent in agents {
            let Some(line) = self.noted_line(agent, rows) else { continue };
            let here = match agent.place {
                AgentPlace::Remote => Some(self.commits_here()?),
                AgentPlace::Open | AgentPlace::Archived => None,
            };
            for (older, commit) in line.commits().enumerate() {
                if here.as_ref().is_some_and(|here| here.contains(&commit.oid)) {
                    continue;
                }
                let n = line.len() - 1 - older;
                if visit(rows, OwnCommit { agent, commit, n }).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the line of an agent; if it cannot be read, says so and returns nothing.
    pub(super) fn noted_line(
        &self,
        agent: &Rc<FactAgent>,
        rows: &mut FactRows<'_, '_>,
    ) -> Option<CommitLine> {
        rows.noted(format_args!("the commits of agent `{agent}`"), self.line(agent))
    }
}
