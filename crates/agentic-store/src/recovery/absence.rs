//! Branches that are missing: which of them a person deleted, and which a power cut took.
//!
//! A branch that was made before the last sync of the filesystem was on the disk, so only a person
//! can have taken it away. Of a younger one that is known only if some command of the same boot found
//! it missing. Such a command notes that beside the mark of the stream, durably, with the number of
//! the last record: a branch that was made later is not meant.

use std::fs::File;

use agentic_model::{AgentName, Oid};

use super::sync_stamp;
use crate::boot::{self, Boot};
use crate::file::{self, Persistence};
use crate::ground::GroundStore;
use crate::journal::{self, JournalBody, JournalRecord};
use crate::layout::{Layout, Stream, streams_in};
use crate::{Error, Result};

/// Notes which agents have a journal worth replaying and no branch, although no write is under way
/// that would make it. What cannot be read or noted is left to the next command.
pub fn note_missing<G: GroundStore>(repository: &G, is_there: impl Fn(&AgentName) -> bool) {
    let Ok(streams) = streams_in(&repository.layout().dirty_marks()) else { return };
    for agent in streams.iter().filter_map(Stream::agent).filter(|agent| !is_there(agent)) {
        note_missing_agent(repository, agent);
    }
}

/// Notes that an agent has no branch, if it has a journal worth replaying.
pub fn note_missing_agent<G: GroundStore>(repository: &G, agent: &AgentName) {
    let _for_the_next_command = try_note(repository, agent);
}

fn try_note<G: GroundStore>(repository: &G, agent: &AgentName) -> Result<()> {
    let (layout, stream) = (repository.layout(), Stream::Agent(agent.clone()));
    // After a restart it may be the power cut that took the branch.
    let is_replayed = || boot::compare(layout).is_ok_and(|boot| boot == Boot::Same);
    if !layout.dirty(&stream).exists() || layout.left_out(&stream).exists() || !is_replayed() {
        return Ok(());
    }
    let Some(last) = journal::tail(layout, &stream)? else { return Ok(()) };
    // Looked at after the journal: a branch is made before the record is followed by another.
    let is_under_way = matches!(last.body, JournalBody::Transaction(_) | JournalBody::Open);
    if is_under_way || repository.find_ref(&agent.branch_ref())?.is_some() {
        return Ok(());
    }
    if repository.find_archived(agent)?.is_some() {
        return Ok(());
    }
    let (path, text) = (layout.missing(&stream), note(last.seq, last.standing.genesis));
    if std::fs::read_to_string(&path).is_ok_and(|found| found == text) {
        return Ok(());
    }
    // The record that the note names must not be younger on the disk than the note.
    if let Some(segment) = journal::segments(layout, &stream)?.last() {
        let path = journal::segment_path(layout, &stream, segment.number);
        File::open(&path).and_then(|file| file.sync_data()).map_err(Error::io("sync", &path))?;
    }
    file::replace(&path, text.as_bytes(), Persistence::Synced)
}

fn note(seq: u64, genesis: Option<Oid>) -> String {
    let genesis = genesis.map_or("none".to_owned(), |oid| oid.to_string());
    format!("{seq} {genesis}\n")
}

/// What the records of a journal say of its branch, as far as it takes to tell who took it away.
pub struct BranchHistory {
    genesis: Option<Oid>,
    /// Every move that was not given up, oldest first.
    moves: Vec<BranchStep>,
}

struct BranchStep {
    /// The number of its record.
    seq: u64,
    name: String,
    /// Whether it made the branch.
    makes: bool,
    new: Oid,
}

impl BranchHistory {
    /// Collects the moves of some records.
    pub fn of(records: &[JournalRecord]) -> BranchHistory {
        let mut moves: Vec<BranchStep> = Vec::new();
        for record in records {
            match &record.body {
                JournalBody::Transaction(transaction) => {
                    moves.extend(transaction.branch.as_ref().map(|step| BranchStep {
                        seq: record.seq,
                        name: step.name.clone(),
                        makes: step.expect.is_none(),
                        new: step.new,
                    }));
                }
                JournalBody::Abort { .. } => {
                    moves.retain(|step| step.seq + 1 != record.seq);
                }
                JournalBody::Open
                | JournalBody::Entry(_)
                | JournalBody::Done { .. }
                | JournalBody::Cut { .. } => {}
            }
        }
        let genesis = records.last().and_then(|record| record.standing.genesis);
        BranchHistory { genesis, moves }
    }

    /// Tells whether the branch, which is missing, was deleted by a person.
    pub fn is_deleted(&self, layout: &Layout, stream: &Stream, branch: &str) -> bool {
        if self.is_noted(layout, stream) {
            return true;
        }
        let made = self.moves.iter().rev().find(|step| step.makes && step.name == branch);
        // One that was made before the oldest record is covered: what a journal begins upon is synced.
        made.is_none_or(|step| sync_stamp::covers(layout, stream, step.new))
    }

    fn is_noted(&self, layout: &Layout, stream: &Stream) -> bool {
        let Some(last) = self.moves.last() else { return false };
        let found = std::fs::read_to_string(layout.missing(stream)).unwrap_or_default();
        let seq = found.split(' ').next().and_then(|word| word.parse::<u64>().ok());
        seq.is_some_and(|seq| last.seq < seq && found == note(seq, self.genesis))
    }
}
