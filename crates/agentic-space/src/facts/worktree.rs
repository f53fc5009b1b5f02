//! Rows about worktrees.

use agentic_query::FactCell;

use super::SpaceFacts;
use super::rows::FactRows;
use crate::Result;

impl SpaceFacts<'_> {
    /// `worktree`.
    pub(super) fn worktree_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        for found in self.space.agent_worktrees()? {
            let row = rows.row(&[
                FactCell::Text(&found.worktree.path.to_string_lossy()),
                FactCell::Text(found.agent.as_str()),
                FactCell::Text(&found.base.to_string()),
            ]);
            if row.is_break() {
                break;
            }
        }
        Ok(())
    }
}
