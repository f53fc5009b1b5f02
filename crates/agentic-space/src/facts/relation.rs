//! Rows about relations of agents.

use agentic_query::FactCell;

use super::SpaceFacts;
use super::rows::FactRows;
use crate::Result;

/// Which column of `sub_agent_of` has the agent.
const AGENT: usize = 0;

impl SpaceFacts<'_> {
    /// `sub_agent_of`.
    pub(super) fn sub_agent_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let agents = self.agents(rows.bound(AGENT).as_ref())?;
        self.read_lines(&agents);
        for agent in agents {
            let Some(line) = self.noted_line(&agent, rows) else { continue };
            let parent = line.genesis().and_then(|genesis| genesis.claims().parent);
            if let Some(parent) = parent
                && rows
                    .row(&[FactCell::Text(&agent.name), FactCell::Text(parent.as_str())])
                    .is_break()
            {
                break;
            }
        }
        Ok(())
    }
}
