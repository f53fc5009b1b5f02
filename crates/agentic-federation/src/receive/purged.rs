//! What was purged here does not come back with an announcement.

use std::collections::BTreeSet;

use agentic_git::Repository;
use agentic_model::Oid;
use agentic_session::SessionSpace;

use crate::Result;

/// Finds something in what an announcement of ours reaches that a tombstone of this space names.
///
/// # Errors
/// Fails when the tombstones, or what it reaches, cannot be read.
pub fn reaches_purged(space: &SessionSpace, announced: Oid) -> Result<Option<String>> {
    ReachedObjects { tip: announced, known: None }.purged(space, space.repository())
}

/// What an announcement brings.
pub(super) struct ReachedObjects {
    /// Its commit.
    pub tip: Oid,
    /// The announcement that was accepted before.
    pub known: Option<Oid>,
}

impl ReachedObjects {
    /// Finds something that a tombstone of this space names. Typed objects are named by their content, and stand
    /// under that name in notes; everything else is named as git does.
    pub fn purged(&self, space: &SessionSpace, repository: &Repository) -> Result<Option<String>> {
        let purged = space.tombstones()?.into_iter().flat_map(|one| one.purged).collect();
        Ok(self.among(&purged, repository)?.into_iter().next())
    }

    /// Finds out which of some objects it reaches.
    pub fn among(
        &self,
        ids: &BTreeSet<String>,
        repository: &Repository,
    ) -> Result<BTreeSet<String>> {
        if ids.is_empty() {
            return Ok(BTreeSet::new());
        }
        let known = self.known.map(|known| format!("^{known}\n")).unwrap_or_default();
        let input = format!("{}\n{known}", self.tip);
        let arguments = ["--no-replace-objects", "rev-list", "--objects", "--stdin"];
        let end = repository.git_reading(&arguments, input.as_bytes())?;
        let listed = end.checked(&arguments[1..])?;
        let named = |line: &str| {
            let (oid, path) = line.split_once(' ').unwrap_or((line, ""));
            let name = path.rsplit('/').next().unwrap_or_default();
            [oid, name].into_iter().find(|id| ids.contains(*id)).map(str::to_owned)
        };
        Ok(listed.lines().filter_map(named).collect())
    }
}
