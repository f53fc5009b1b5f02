//! Finding commits by how their ids begin.

use std::collections::HashSet;

use agentic_model::Oid;
use agentic_store::Result;
use gix::hash::Prefix;

use super::{Repository, to_oid};
use agentic_store::Error;

impl Repository {
    /// Lists the commits whose ids begin with these hexadecimal digits, four at least, in order. No
    /// branch has to lead to them.
    ///
    /// # Errors
    /// Fails when the objects cannot be listed.
    pub fn commits_beginning(&self, digits: &str) -> Result<Vec<Oid>> {
        let Ok(prefix) = Prefix::from_hex(digits) else { return Ok(Vec::new()) };
        let mut found = HashSet::new();
        self.inner
            .objects
            .lookup_prefix(prefix, Some(&mut found))
            .map_err(Error::git("look for ids that begin alike"))?;
        let is_commit = |id: &gix::ObjectId| {
            self.inner.find_header(*id).is_ok_and(|header| header.kind().is_commit())
        };
        let mut commits: Vec<Oid> =
            found.iter().filter(|id| is_commit(id)).map(|id| to_oid(id)).collect();
        commits.sort();
        Ok(commits)
    }
}
