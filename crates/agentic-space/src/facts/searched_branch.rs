//! A branch of people in which the work of agents is looked for.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use agentic_model::{Instant, Oid};

use super::patch::BranchPatches;
use super::revert::standing_reverts;
use super::young_branch::YoungBranch;
use crate::{Result, Space};

/// One branch of people, as far as it is younger than the oldest agent.
pub(super) struct SearchedBranch {
    pub name: String,
    young: YoungBranch,
    pub arrivals: HashMap<Oid, Oid>,
    pub times: HashMap<Oid, Instant>,
    /// Which commits were reverted, and when.
    pub reverted: BTreeMap<Oid, Instant>,
    patches: OnceCell<BranchPatches>,
}

impl SearchedBranch {
    /// Takes what was read of it.
    pub fn of(name: &str, young: YoungBranch) -> SearchedBranch {
        SearchedBranch {
            name: name.to_owned(),
            arrivals: young.arrivals(),
            times: young.commits.iter().map(|commit| (commit.oid, commit.at)).collect(),
            reverted: standing_reverts(&young.commits),
            young,
            patches: OnceCell::new(),
        }
    }

    /// Returns what its commits changed.
    pub fn patches(&self, space: &Space) -> Result<&BranchPatches> {
        if let Some(known) = self.patches.get() {
            return Ok(known);
        }
        let read = BranchPatches::of(space, &self.young)?;
        Ok(self.patches.get_or_init(|| read))
    }
}
