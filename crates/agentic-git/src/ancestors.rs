//! Everything that a commit leads to, for whoever asks which commits a branch has.

use std::collections::HashSet;

use agentic_model::Oid;
use agentic_store::{Error, Result};

use super::{Repository, to_id, to_oid};

impl Repository {
    /// Lists a commit and all that it leads to by any parent. Those that are known already are left
    /// out, with what they lead to.
    ///
    /// # Errors
    /// Fails when history cannot be read.
    pub fn ancestors<'r>(&'r self, from: Oid, known: &'r HashSet<Oid>) -> Result<Vec<Oid>> {
        let doing = || format!("read the history of {from}");
        if known.contains(&from) {
            return Ok(Vec::new());
        }
        self.again(|| {
            let is_new = move |id: &gix::oid| !known.contains(&to_oid(id));
            let walk = self.inner.rev_walk([to_id(from)]);
            let walk = walk.selected(is_new).map_err(Error::git_with(doing))?;
            walk.map(|step| Ok(to_oid(&step.map_err(Error::git_with(doing))?.id))).collect()
        })
    }
}
