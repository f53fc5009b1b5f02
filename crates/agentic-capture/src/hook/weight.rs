//! How much of an agent is pending: weighed rarely, for whoever weighs reads all of it.
//!
//! What a journal has grown by is the most that can have been added since, so that what was weighed
//! counts until that could matter.

use std::fs;
use std::path::PathBuf;

use agentic_model::AgentName;
use agentic_space::capture::PendingWriter;
use agentic_store::file::{self, Persistence};
use agentic_store::{Layout, Stream};

use crate::CaptureError;

/// How much may be pending before it is bound although nobody commits, in bytes: 16 MiB.
const PENDING_BYTES_MAX: u64 = 16 << 20;
/// The longest note that is read, in bytes: two numbers.
const WEIGHT_BYTES_MAX: u64 = 64;

/// What was weighed.
struct PendingWeight {
    /// How long the journal was then, in bytes.
    journal: u64,
    /// How long the texts of what was pending were.
    pending: u64,
}

/// Tells whether so much is pending that it should be bound.
pub(super) fn is_too_long(
    layout: &Layout,
    agent: &AgentName,
    writer: &PendingWriter<'_>,
) -> Result<bool, CaptureError> {
    let folder = layout.journal(&Stream::Agent(agent.clone()));
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let journal: u64 = files.filter_map(|file| file.metadata().ok()).map(|it| it.len()).sum();
    if writer.n_pending() == 0 || journal <= PENDING_BYTES_MAX {
        return Ok(false);
    }
    if PendingWeight::load(layout, agent).is_some_and(|weight| weight.is_surely_light(journal)) {
        return Ok(false);
    }
    let pending: usize = writer.pending_entries()?.iter().map(|entry| entry.body_length()).sum();
    let weight = PendingWeight { journal, pending: pending as u64 };
    weight.save(layout, agent)?;
    Ok(weight.pending > PENDING_BYTES_MAX)
}

impl PendingWeight {
    fn is_surely_light(&self, journal: u64) -> bool {
        let added = journal.checked_sub(self.journal);
        added.is_some_and(|added| self.pending.saturating_add(added) <= PENDING_BYTES_MAX)
    }

    fn load(layout: &Layout, agent: &AgentName) -> Option<PendingWeight> {
        let text = file::read_text(&place(layout, agent), WEIGHT_BYTES_MAX).ok()?;
        let (journal, pending) = text.split_once(' ')?;
        Some(PendingWeight { journal: journal.parse().ok()?, pending: pending.parse().ok()? })
    }

    fn save(&self, layout: &Layout, agent: &AgentName) -> Result<(), CaptureError> {
        let path = place(layout, agent);
        fs::create_dir_all(path.parent().expect("in a folder"))
            .map_err(|source| CaptureError::Io { source })?;
        let text = format!("{} {}", self.journal, self.pending);
        Ok(file::replace(&path, text.as_bytes(), Persistence::Lazy)?)
    }
}

fn place(layout: &Layout, agent: &AgentName) -> PathBuf {
    layout.capture().join("weight").join(agent.as_str())
}
