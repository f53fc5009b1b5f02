//! What a purge is about, in a file that is durable before anything changes: whoever finds it goes on
//! with the same purge.

use std::collections::BTreeSet;
use std::path::PathBuf;

use agentic_model::{Instant, Oid};
use agentic_session::purge::PurgeProgress;
use agentic_space::Space;
use agentic_store::Layout;
use agentic_store::file::{self, Persistence};
use serde::{Deserialize, Serialize};

use super::PurgeError;

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
    /// Whether it was found, and something may have changed.
    #[serde(skip)]
    is_found: bool,
}

fn path(layout: &Layout) -> PathBuf {
    layout.root().join("purge").join("unfinished")
}

impl UnfinishedPurge {
    /// Returns the purge that somebody began, else a new one.
    pub fn load_or_begin(space: &Space) -> Result<UnfinishedPurge, PurgeError> {
        let layout = space.repository().layout();
        let path = path(layout);
        let known = std::fs::read(&path).ok();
        let known = known.and_then(|bytes| serde_json::from_slice::<UnfinishedPurge>(&bytes).ok());
        if let Some(known) = known {
            return Ok(UnfinishedPurge { is_found: true, ..known });
        }
        let random = layout.root().join("purge").join("id");
        // Another one each time, and never a hash of anything that goes.
        file::remove(&random)?;
        let id = agentic_store::secret::key(&random)?;
        file::remove(&random)?;
        let id: String = id.iter().take(ID_DIGITS / 2).map(|byte| format!("{byte:02x}")).collect();
        Ok(UnfinishedPurge { id, at: space.now().millis(), ..UnfinishedPurge::default() })
    }

    /// Tells whether something may have changed.
    pub fn progress(&self) -> PurgeProgress {
        if self.is_found { PurgeProgress::Begun } else { PurgeProgress::Before }
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
