//! Rows about kinds.

use agentic_model::Kind;
use agentic_query::FactCell;

use super::SpaceFacts;
use super::agent::text_or_null;
use super::rows::FactRows;
use crate::Result;

impl SpaceFacts<'_> {
    /// `kind`.
    pub(super) fn kind_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        for entry in self.space.kinds()?.entries() {
            let parent = entry.parent.as_ref().map(Kind::to_string);
            if rows.row(&[FactCell::Text(entry.name.as_str()), text_or_null(&parent)]).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// `is_a`.
    pub(super) fn is_a_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let kinds = self.space.kinds()?;
        for entry in kinds.entries() {
            // A cycle that somebody wrote by hand comes by again and again.
            let ancestors: std::collections::BTreeSet<&Kind> =
                kinds.ancestors(&entry.name).collect();
            let name = FactCell::Text(entry.name.as_str());
            let mut above = ancestors.into_iter();
            if above.any(|kind| rows.row(&[name, FactCell::Text(kind.as_str())]).is_break()) {
                break;
            }
        }
        Ok(())
    }
}
