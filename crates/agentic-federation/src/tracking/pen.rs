//! Drawing refs: very few by ourselves, others by git.

use std::collections::BTreeMap;

use agentic_git::{RefMove, Repository};
use agentic_model::{Instant, Oid};
use agentic_session::SessionSpace;
use agentic_store::ground::PACKED_REFS;
use agentic_store::journal::BranchMove;
use agentic_store::{Lock, fault};

use crate::durable::{lock, mover, tell_of_refs};
use crate::{Error, Result};

/// The lock under which refs are drawn.
const TRACKING_LOCK: &str = "tracking";
/// From how many refs on that change at once they are packed.
const PACKED_FROM: usize = 100;
/// Which ones are packed: those that are drawn here.
const PACKED: [&str; 2] = ["refs/remotes/*/agents/*", "refs/agentic/remotes/*"];
/// Up to how many refs git is not started for.
const FEW: usize = 8;

/// Who may draw refs: one process at a time.
pub(super) struct RefPen<'r> {
    repository: &'r Repository,
    /// When.
    at: Instant,
    lock: Lock,
}

impl<'r> RefPen<'r> {
    pub(super) fn take(space: &'r SessionSpace) -> Result<RefPen<'r>> {
        let (repository, at) = (space.repository(), space.now());
        Ok(RefPen { repository, at, lock: lock(repository, TRACKING_LOCK)? })
    }

    /// Makes refs what they should be, in one transaction of git's; returns those that were elsewhere. Where we die
    /// over it, whoever draws next removes the locks that git left.
    pub(super) fn write(
        &self,
        found: &BTreeMap<String, Oid>,
        wanted: &BTreeMap<String, Oid>,
    ) -> Result<Vec<String>> {
        let (mut lines, mut written, mut moved) = (String::new(), Vec::new(), Vec::new());
        for (name, old, new) in differing(found, wanted) {
            match (old, new) {
                (Some(old), Some(new)) => lines += &format!("update {name} {new} {old}\n"),
                (None, Some(new)) => lines += &format!("create {name} {new}\n"),
                (Some(old), None) => lines += &format!("delete {name} {old}\n"),
                (None, None) => continue,
            }
            written.push(name.as_str());
            if old.is_some() {
                moved.push(name.clone());
            }
        }
        if lines.is_empty() {
            return Ok(moved);
        }
        fault::point("tracking-drawn")?;
        if written.len() <= FEW && written.iter().all(|name| wanted.contains_key(*name)) {
            self.move_few(&written, found, wanted)?;
            tell_of_refs(self.repository);
            return Ok(moved);
        }
        let arguments = ["-c", "core.hooksPath=/dev/null", "update-ref", "--stdin"];
        let locked: Vec<&str> = written.iter().copied().chain([PACKED_REFS]).collect();
        let done = self.lock.announced(&locked, || {
            self.repository.git_reading(&arguments, lines.as_bytes())?.checked(&arguments[2..])
        });
        done.map_err(|error| self.repository.blame_packed_lock(error))?;
        if written.len() >= PACKED_FROM {
            self.pack(&locked)?;
        }
        tell_of_refs(self.repository);
        Ok(moved)
    }

    /// Moves a few refs without git, which takes longer to start than they take. Of one that somebody else moves
    /// meanwhile the next who draws says so.
    fn move_few(
        &self,
        names: &[&str],
        found: &BTreeMap<String, Oid>,
        wanted: &BTreeMap<String, Oid>,
    ) -> Result<()> {
        let who = mover(self.repository, self.at)?;
        for name in names {
            let Some(new) = wanted.get(*name).copied() else { continue };
            let step =
                BranchMove { name: (*name).to_owned(), expect: found.get(*name).copied(), new };
            let moved = self
                .lock
                .announced(&[name], || self.repository.move_ref(&step, &who, "agentic fetch"))?;
            if let RefMove::Lost { .. } = moved {
                return Err(Error::conflict(
                    format!("somebody else moves `{name}`"),
                    "nothing writes to the refs of peers but agentic: try again",
                ));
            }
        }
        Ok(())
    }

    /// Has git put refs into its one file for all: each command of git's reads very many files else.
    fn pack(&self, locked: &[&str]) -> Result<()> {
        let mut arguments = vec!["pack-refs"];
        arguments.extend(PACKED.iter().flat_map(|pattern| ["--include", pattern]));
        // A git that cannot pack some refs alone leaves them as they are.
        self.lock.announced(locked, || self.repository.git(&arguments))?;
        Ok(())
    }
}

/// Lists the refs that differ between two lists, in the order of their names, with where they are in each.
fn differing<'r>(
    found: &'r BTreeMap<String, Oid>,
    wanted: &'r BTreeMap<String, Oid>,
) -> Vec<(&'r String, Option<&'r Oid>, Option<&'r Oid>)> {
    let mut differing = Vec::new();
    // Most are the same, and there are very many: none is looked for.
    let mut found = found.iter().peekable();
    for (name, new) in wanted {
        while let Some((gone, old)) = found.next_if(|(before, _)| *before < name) {
            differing.push((gone, Some(old), None));
        }
        let old = found.next_if(|(same, _)| *same == name).map(|(_, old)| old);
        if old != Some(new) {
            differing.push((name, old, Some(new)));
        }
    }
    differing.extend(found.map(|(gone, old)| (gone, Some(old), None)));
    differing
}
