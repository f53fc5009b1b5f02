//! What a purge is about, in a file that is durable before anything changes: whoever finds it goes on
//! with the same purge.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use agentic_model::{Instant, Oid};
use agentic_session::purge::PurgeProgress;
use agentic_space::Space;
use agentic_store::Layout;
use agentic_store::file::{self, Persistence};
use serde::{Deserialize, Serialize};

use super::PurgeError;
use super::branches::BranchFate;

/// How many hexadecimal digits mark what was purged.
const ID_DIGITS: usize = 8;

/// A purge that has begun.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedPurge {
    /// What marks the places.
    pub id: String,
    /// When it began, in milliseconds.
    pub at: i64,
    /// Where refs were.
    pub tips: BTreeSet<String>,
    /// The objects that go, once it is known.
    pub going: BTreeSet<String>,
    /// The streams whose logs are cut.
    pub streams: BTreeSet<String>,
    /// What becomes of branches of agents.
    #[serde(default)]
    pub branches: BranchFate,
    /// Which commits of branches became which.
    #[serde(default)]
    pub commits: BTreeMap<String, String>,
    /// Whether it was found, and something may have changed.
    #[serde(skip)]
    is_found: bool,
}

fn path(layout: &Layout) -> PathBuf {
    layout.root().join("purge").join("unfinished")
}

impl UnfinishedPurge {
    /// Returns the purge that somebody began, else a new one.
    pub fn load_or_begin(
        space: &Space,
        branches: BranchFate,
    ) -> Result<UnfinishedPurge, PurgeError> {
        let layout = space.repository().layout();
        let path = path(layout);
        let known = std::fs::read(&path).ok();
        let known = known.and_then(|bytes| serde_json::from_slice::<UnfinishedPurge>(&bytes).ok());
        if let Some(known) = known {
            // What has begun with branches ends with them.
            let branches =
                if known.branches == BranchFate::Named { branches } else { known.branches };
            return Ok(UnfinishedPurge { is_found: true, branches, ..known });
        }
        let random = layout.root().join("purge").join("id");
        // Another one each time, and never a hash of anything that goes.
        file::remove(&random)?;
        let id = agentic_store::secret::key(layout, &random)?;
        file::remove(&random)?;
        let id: String = id.iter().take(ID_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
        let at = space.now().millis();
        Ok(UnfinishedPurge { id, at, branches, ..UnfinishedPurge::default() })
    }

    /// Tells whether something may have changed.
    pub fn progress(&self) -> PurgeProgress {
        if self.is_found { PurgeProgress::Begun } else { PurgeProgress::Before }
    }

    /// Returns which commits of branches are known to have become others.
    pub fn known_commits(&self) -> BTreeMap<Oid, Oid> {
        let pair =
            |(old, new): (&String, &String)| Some((Oid::parse(old).ok()?, Oid::parse(new).ok()?));
        self.commits.iter().filter_map(pair).collect()
    }

    /// Returns when it began.
    pub fn begun_at(&self) -> Instant {
        Instant::from_millis(self.at)
    }

    /// Writes it, durably.
    pub fn save(&self, space: &Space) -> Result<(), PurgeError> {
        let path = path(space.repository().layout());
        let folder = path.parent().unwrap_or(&path);
        std::fs::create_dir_all(folder).map_err(PurgeError::file("create", folder))?;
        let bytes = serde_json::to_vec(self).expect("texts and numbers are JSON");
        Ok(file::replace(&path, &bytes, Persistence::Synced)?)
    }

    /// Removes it: everything is done.
    pub fn done(space: &Space) -> Result<(), PurgeError> {
        let path = path(space.repository().layout());
        file::remove(&path)?;
        let _others_may_have_files_there = path.parent().map(std::fs::remove_dir);
        Ok(())
    }
}

/// Reads ids of git's that were written as texts.
pub fn oids(texts: &BTreeSet<String>) -> BTreeSet<Oid> {
    texts.iter().filter_map(|text| Oid::parse(text).ok()).collect()
}
