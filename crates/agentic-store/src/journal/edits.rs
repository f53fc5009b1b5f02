//! The notes edits of a log, taken together.
//!
//! Of several edits of one note only the last counts: an earlier one, applied again, would undo it. A
//! note that a person removed counts no more either.

use std::collections::BTreeMap;

use agentic_model::{Cid, Oid};

use super::{Content, JournalBody, JournalRecord, KeptObject, NotesEdit, Transaction};

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

/// What the records of a log say of notes refs, taken in one by one. Writes that were given up do not
/// count.
pub struct EditFold<'n> {
    all: BTreeMap<String, LoggedEdits>,
    /// The write of the last record, as long as it may still be given up.
    open: Option<LoggedWrite>,
    copied: CopiedContent<'n>,
}

/// How much of objects is kept.
#[derive(Clone, Copy)]
pub enum CopiedContent<'n> {
    /// Their bytes.
    Whole,
    /// The name of the blob that has them, given their bytes.
    Named(&'n dyn Fn(&[u8]) -> Oid),
}

/// A write that a record has.
struct LoggedWrite {
    edit: NotesEdit,
    last: Transaction,
    before: Option<Oid>,
}

/// Collects what the records of a log say of notes refs, by the name of the ref.
pub fn logged_edits(records: &[JournalRecord]) -> BTreeMap<String, LoggedEdits> {
    let mut fold = EditFold::new(CopiedContent::Whole);
    records.iter().for_each(|record| fold.add(record));
    fold.finish()
}

impl<'n> EditFold<'n> {
    /// Begins without records.
    pub fn new(copied: CopiedContent<'n>) -> EditFold<'n> {
        EditFold { all: BTreeMap::new(), open: None, copied }
    }

    /// Takes in the next record.
    pub fn add(&mut self, record: &JournalRecord) {
        match &record.body {
            JournalBody::Transaction(transaction) => {
                self.close();
                self.open = self.write_of(transaction, record.standing.notes);
            }
            JournalBody::Abort { .. } => self.open = None,
            JournalBody::Done { removed } => {
                self.close();
                for edits in self.all.values_mut() {
                    for commit in removed {
                        edits.notes.remove(commit);
                    }
                }
            }
            JournalBody::Open | JournalBody::Entry(_) | JournalBody::Cut { .. } => {}
        }
    }

    /// Returns what all of them say, by the name of the ref.
    pub fn finish(mut self) -> BTreeMap<String, LoggedEdits> {
        self.close();
        self.all
    }

    fn write_of(&self, transaction: &Transaction, before: Option<Oid>) -> Option<LoggedWrite> {
        let edit = transaction.notes.as_ref()?;
        let signatures = (transaction.author.clone(), transaction.committer.clone());
        let last = Transaction::keeping(&transaction.verb, &edit.name, Vec::new(), signatures);
        let edit = match self.copied {
            CopiedContent::Whole => edit.clone(),
            CopiedContent::Named(name) => NotesEdit {
                name: edit.name.clone(),
                notes: edit.notes.clone(),
                objects: edit.objects.iter().map(|object| named(object, name)).collect(),
            },
        };
        Some(LoggedWrite { edit, last, before })
    }

    fn close(&mut self) {
        let Some(LoggedWrite { edit, last, before }) = self.open.take() else { return };
        let edits = self.all.entry(edit.name.clone()).or_insert_with(|| LoggedEdits {
            notes: BTreeMap::new(),
            objects: BTreeMap::new(),
            tips: Vec::new(),
            last: last.clone(),
        });
        edits.last = last;
        edits.tips.extend(before);
        edits.add(edit, before);
    }
}

fn named(object: &KeptObject, name: &dyn Fn(&[u8]) -> Oid) -> KeptObject {
    let content = match &object.content {
        Content::Inline(bytes) => Content::Stored(name(bytes)),
        Content::Stored(blob) => Content::Stored(*blob),
    };
    KeptObject { kind: object.kind.clone(), cid: object.cid, content }
}

impl LoggedEdits {
    fn add(&mut self, edit: NotesEdit, before: Option<Oid>) {
        for (commit, text) in edit.notes {
            self.notes.insert(commit, LoggedNote { text, before });
        }
        for object in edit.objects {
            self.objects.insert(object.cid, object);
        }
    }

    /// Tells whether nothing is asked of the ref.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty() && self.objects.is_empty()
    }
}
