//! Rows about agents.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use agentic_query::FactCell;

use super::SpaceFacts;
use super::line::CommitLine;
use super::roster::{AgentPlace, FactAgent};
use super::rows::FactRows;
use crate::Result;

/// Which column has the name.
const NAME: usize = 0;
/// Which column says whether it is private.
const PRIVATE: usize = 2;
/// The columns that commits are read for.
const OF_COMMITS: [usize; 4] = [4, 5, 6, 7];

impl SpaceFacts<'_> {
    /// `agent`.
    pub(super) fn agent_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let agents = self.agents(rows.bound(NAME).as_ref())?;
        let is_line_used = OF_COMMITS.iter().any(|column| rows.is_wanted(*column));
        if is_line_used {
            self.read_lines(&agents);
        }
        let private = match rows.is_wanted(PRIVATE) {
            true => self.space.repository().private_agents()?,
            false => BTreeSet::new(),
        };
        for agent in agents {
            // What a remote has was pushed.
            let is_private = agent.place != AgentPlace::Remote && private.contains(&agent.agent);
            // An agent whose commits cannot be read is there all the same.
            let line = is_line_used.then(|| self.noted_line(&agent, rows)).flatten();
            let shown = ShownAgent { agent: &agent, is_private, line: line.as_ref() };
            if shown.row(rows).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// `archived`.
    pub(super) fn archived_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        for agent in self.agents(rows.bound(NAME).as_ref())? {
            let Some((at, by)) = agent.archived else { continue };
            let since = FactCell::Int(at.millis());
            let row = [FactCell::Text(&agent.name), since, FactCell::Text(by.word())];
            if rows.row(&row).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// What a row says of an agent.
struct ShownAgent<'a> {
    agent: &'a FactAgent,
    is_private: bool,
    /// Its commits, where they are wanted and can be read.
    line: Option<&'a CommitLine>,
}

impl ShownAgent<'_> {
    fn row(&self, rows: &mut FactRows<'_, '_>) -> ControlFlow<()> {
        let ShownAgent { agent, is_private, line } = *self;
        let genesis = line.and_then(CommitLine::genesis);
        let claims = genesis.map(|genesis| genesis.claims()).unwrap_or_default();
        let genesis = genesis.map(|genesis| genesis.oid.to_string());
        let newest = line.and_then(CommitLine::newest).map(|newest| newest.at.millis());
        let parent = claims.parent.map(|parent| parent.to_string());
        let briefing = claims.briefing.map(|briefing| briefing.to_string());
        rows.row(&[
            FactCell::Text(&agent.name),
            FactCell::Text(agent.place.word()),
            FactCell::Bool(is_private),
            FactCell::Text(&agent.head.to_string()),
            text_or_null(&genesis),
            text_or_null(&parent),
            text_or_null(&briefing),
            newest.map_or(FactCell::Null, FactCell::Int),
        ])
    }
}

pub(super) fn text_or_null(text: &Option<String>) -> FactCell<'_> {
    text.as_deref().map_or(FactCell::Null, FactCell::Text)
}
