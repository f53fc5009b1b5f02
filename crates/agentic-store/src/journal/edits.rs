//! The notes edits of a log, taken together.
//!
//! Of several edits of one note only the last counts: an earlier one, applied again, would undo it. A
//! note that a person removed counts no more either.

use std::collections::BTreeMap;

use agentic_model::{Cid, Oid};

use super::{JournalBody, JournalRecord, KeptObject, NotesEdit, Transaction};

/// What a log says of one notes ref.
#[derive(Debug)]
pub struct LoggedEdits {
    /// The notes, by commit.
    pub notes: BTreeMap<Oid, LoggedNote>,
    /// The objects.
    pub objects: BTreeMap<Cid, KeptObject>,
    /// States that the ref has had, oldest first.
    pub tips: Vec<Oid>,
    /// Who wrote last, and by which verb; nothing else of that write.
    pub last: Transaction,
}

/// A note as the log has it last.
#[derive(Debug)]
pub struct LoggedNote {
    /// The text of ours.
    pub text: String,
    /// Where the ref was before.
    pub before: Option<Oid>,
}

/// Collects what the records of a log say of notes refs, by the name of the ref. Writes that were
/// given up do not count.
pub fn logged_edits(records: &[JournalRecord]) -> BTreeMap<String, LoggedEdits> {
    let mut all = BTreeMap::new();
    let mut open: Option<(&Transaction, Option<Oid>)> = None;
    for record in records {
        match &record.body {
            JournalBody::Transaction(transaction) => {
                take(&mut all, open.take());
                open = Some((transaction, record.standing.notes));
            }
            JournalBody::Abort { .. } => open = None,
            JournalBody::Done { removed } => {
                take(&mut all, open.take());
                for edits in all.values_mut() {
                    for commit in removed {
                        edits.notes.remove(commit);
                    }
                }
            }
            JournalBody::Open | JournalBody::Entry(_) | JournalBody::Cut { .. } => {}
        }
    }
    take(&mut all, open);
    all
}

fn take(all: &mut BTreeMap<String, LoggedEdits>, write: Option<(&Transaction, Option<Oid>)>) {
    let Some((transaction, before)) = write else { return };
    let Some(edit) = &transaction.notes else { return };
    let signatures = (transaction.author.clone(), transaction.committer.clone());
    let last = Transaction::keeping(&transaction.verb, &edit.name, Vec::new(), signatures);
    let edits = all.entry(edit.name.clone()).or_insert_with(|| LoggedEdits {
        notes: BTreeMap::new(),
        objects: BTreeMap::new(),
        tips: Vec::new(),
        last: last.clone(),
    });
    edits.last = last;
    edits.tips.extend(before);
    edits.add(edit, before);
}

impl LoggedEdits {
    fn add(&mut self, edit: &NotesEdit, before: Option<Oid>) {
        for (commit, text) in &edit.notes {
            self.notes.insert(*commit, LoggedNote { text: text.clone(), before });
        }
        for object in &edit.objects {
            self.objects.insert(object.cid, object.clone());
        }
    }

    /// Tells whether nothing is asked of the ref.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty() && self.objects.is_empty()
    }
}
