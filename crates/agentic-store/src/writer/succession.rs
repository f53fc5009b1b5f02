//! What becomes of a journal whose branch somebody wrote anew.
//!
//! Its records are not replayed any more, but its pending entries were acknowledged. Where a person
//! rewrote the branch they go on to be pending in the new journal. Where that is not certain they stay
//! where they are, and readers show them with where they came from. Where the name was spawned again
//! they belong to another agent.

use std::path::{Path, PathBuf};

use agentic_model::commit::Claims;
use agentic_model::{AgentName, Entry, Instant, Oid};

use super::mark::{make_mark, remove_mark};
use super::opening::opened;
use super::{Finding, Writer};
use crate::file::{self, Persistence};
use crate::ground::GroundStore;
use crate::journal::{self, JournalInheritance};
use crate::layout::{Layout, Stream};
use crate::{Error, Result};

/// The file in a journal that was set aside which says what became of its pending entries.
const FATE_FILE: &str = "fate";
/// How many journals of one name are set aside at most before numbers run out.
const ASIDES_MAX: u32 = 9999;

/// What became of the pending entries of a journal that was set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingOutcome {
    /// They are pending in the journal that took its place.
    CarriedOver,
    /// Nobody knows whether they belong to the branch: they are shown with where they came from.
    Shown,
    /// The name was spawned again, and they belong to the agent that was called so before.
    Left,
}

impl PendingOutcome {
    /// Returns the word for it in the file.
    fn word(self) -> &'static str {
        match self {
            PendingOutcome::CarriedOver => "carried-over",
            PendingOutcome::Shown => "shown",
            PendingOutcome::Left => "left",
        }
    }
}

/// Pending entries of a journal that was set aside.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingAside {
    /// The folder of the journal, below `agentic/`.
    pub folder: String,
    /// Its pending entries, oldest first.
    pub entries: Vec<Entry>,
}

impl<G: GroundStore> Writer<'_, G> {
    /// Begins a journal in place of the one for another genesis, which is set aside.
    pub(super) fn succeed(
        &mut self,
        genesis: Option<Oid>,
        head: Option<Oid>,
        now: Instant,
    ) -> Result<()> {
        let old = self.standing().and_then(|standing| standing.genesis);
        let pending = self.pending_entries()?;
        let n_pending = pending.len() as u64;
        let fate = match head {
            None => PendingOutcome::Left,
            Some(_) if is_rewritten(self.repository, &self.stream, old, genesis) => {
                PendingOutcome::CarriedOver
            }
            Some(_) => PendingOutcome::Shown,
        };
        let pending = if fate == PendingOutcome::CarriedOver { pending } else { Vec::new() };
        let heritage =
            JournalInheritance { genesis, head, notes: None, decisions: Vec::new(), pending };
        let aside = self.replace_journal(old, heritage, fate, now)?;
        self.found.push(Finding::SetAside { aside, n_pending, fate });
        self.is_rare = true;
        Ok(())
    }

    /// Puts a journal in the place of the one that a stream has; returns where that is now.
    pub(crate) fn replace_journal(
        &mut self,
        genesis: Option<Oid>,
        heritage: JournalInheritance,
        fate: PendingOutcome,
        now: Instant,
    ) -> Result<PathBuf> {
        let (layout, stream) = (self.repository.layout(), self.stream.clone());
        // Others may have forked from what only the old journal makes safe.
        self.repository.sync_filesystem()?;
        crate::boot::record(layout)?;
        // Whoever dies in between is followed by somebody who looks at this stream.
        let mark = layout.open_mark(&stream);
        make_mark(&mark, &layout.lock(&stream))?;
        journal::begin_beside(layout, &stream, heritage, now)?;
        let said = layout.journal(&stream).join(FATE_FILE);
        let text = format!("{stream} {}\n", fate.word());
        file::replace(&said, text.as_bytes(), Persistence::Synced)?;
        let aside = free_aside(layout, &stream, genesis)?;
        self.journal = None;
        journal::change_names(layout, &stream, &aside)?;
        (self.journal, _) = opened(layout, &stream)?;
        self.journal().mark_dirty(layout, &stream)?;
        // What could be read of one that was left out has been carried out by now.
        file::remove(&layout.left_out(&stream))?;
        remove_mark(&mark);
        Ok(aside)
    }
}

/// Finds a name for a journal that is set aside.
fn free_aside(layout: &Layout, stream: &Stream, genesis: Option<Oid>) -> Result<PathBuf> {
    let tag = genesis.map_or("none".to_owned(), |oid| oid.short());
    let numbered = (2..=ASIDES_MAX).map(|number| format!("{tag}-{number}"));
    let mut names = std::iter::once(tag.clone()).chain(numbered);
    let free = names.find_map(|tag| {
        let path = layout.aside(stream, &tag);
        (!path.exists()).then_some(path)
    });
    let full = || std::io::Error::other("too many journals of this name were set aside");
    free.ok_or_else(|| Error::io("set aside", &layout.journal(stream))(full()))
}

/// Tells whether a person rewrote a branch: its first commit was made again with the briefing and the
/// author's date that it had. A new spawn has a date of its own.
fn is_rewritten<G: GroundStore>(
    repository: &G,
    stream: &Stream,
    old: Option<Oid>,
    new: Option<Oid>,
) -> bool {
    let origin = |oid: Option<Oid>| {
        let oid = oid?;
        let message = repository.read_message(oid).ok()?;
        let claims = Claims::read(&message.text);
        let is_spawn = claims.kind.is_some_and(|kind| kind.as_str() == "spawn");
        let is_own = claims.agent.as_ref() == stream.agent() && claims.agent.is_some();
        let briefing = claims.briefing.filter(|_| is_spawn && is_own)?;
        Some((briefing, message.authored_at))
    };
    origin(old).is_some_and(|old| origin(new) == Some(old))
}

/// Reads the pending entries of the journals of an agent that were set aside and of which nobody knows
/// whether they belong to its branch. A journal that cannot be read any more is left out.
///
/// # Errors
/// Fails when the folder of journals that were set aside cannot be read.
pub fn pending_aside(layout: &Layout, agent: &AgentName) -> Result<Vec<PendingAside>> {
    let asides = layout.asides();
    let entries = match std::fs::read_dir(&asides) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", &asides)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.map_err(Error::io("read", &asides))?.file_name();
        let Some(name) = name.to_str().filter(|name| is_shown(&asides.join(name), name, agent))
        else {
            continue;
        };
        let entries = journal::pending_in(&asides.join(name)).unwrap_or_default();
        if !entries.is_empty() {
            found.push(PendingAside { folder: format!("aside/{name}"), entries });
        }
    }
    found.sort_by(|left, right| left.folder.cmp(&right.folder));
    Ok(found)
}

/// Tells whether the entries of a journal that was set aside are shown with those of an agent.
fn is_shown(folder: &Path, name: &str, agent: &AgentName) -> bool {
    match std::fs::read_to_string(folder.join(FATE_FILE)) {
        Ok(text) => text == format!("{agent} {}\n", PendingOutcome::Shown.word()),
        // Earlier releases did not say what became of them.
        Err(_) => name
            .strip_prefix(agent.as_str())
            .and_then(|rest| rest.strip_prefix('-'))
            .is_some_and(is_tag),
    }
}

/// Recognises how the folder of a journal that was set aside ends after the name of its agent.
fn is_tag(text: &str) -> bool {
    let (tag, number) = text.split_once('-').map_or((text, None), |(tag, rest)| (tag, Some(rest)));
    let is_id = tag.len() == 10 && tag.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_number = |text: &str| text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_id || tag == "none") && number.is_none_or(is_number)
}
