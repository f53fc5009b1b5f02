//! What the store asks of notes.

use agentic_model::{Cid, Oid};

use crate::Result;
use crate::journal::{ComparedNotes, LoggedEdits, NotesEdit, Transaction};

/// What is known of a notes ref before it is edited.
pub struct Upkeep<'a> {
    /// The state in which all edits of the log were seen last.
    pub compared: Option<Oid>,
    /// Reads those edits, if that state says too little.
    pub log: &'a dyn Fn() -> Result<Option<LoggedEdits>>,
}

impl Upkeep<'_> {
    /// Nothing is looked for: the caller has done so, or does so when the log is cut.
    pub const NONE: Upkeep<'static> = Upkeep { compared: None, log: &|| Ok(None) };
}

/// What a notes ref lacks of the edits of its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesGap {
    /// What is to be applied again.
    pub edit: NotesEdit,
    /// The commits whose notes a person removed by themselves; they stay removed.
    pub removed: Vec<Oid>,
}

impl NotesGap {
    /// Nothing lacks.
    pub fn none(name: &str) -> NotesGap {
        let edit = NotesEdit { name: name.to_owned(), notes: Vec::new(), objects: Vec::new() };
        NotesGap { edit, removed: Vec::new() }
    }

    /// Tells whether nothing is to be applied again.
    pub fn is_closed(&self) -> bool {
        self.edit.notes.is_empty() && self.edit.objects.is_empty()
    }
}

/// Texts by commit and typed objects by id, each state of them named by a ref.
pub trait Notes {
    /// Reads the note of a commit in the current state of a notes ref.
    ///
    /// # Errors
    /// Fails when that state is damaged.
    fn read_note(&self, name: &str, commit: Oid) -> Result<Option<String>>;

    /// Reads a typed object in the current state of a notes ref.
    ///
    /// # Errors
    /// Fails when that state or the object is damaged.
    fn read_noted(&self, name: &str, cid: Cid) -> Result<Option<Vec<u8>>>;

    /// Applies the notes edit of a write to whatever the notes ref holds, after what has vanished from
    /// it. Doing it again changes nothing. Returns the state that this very move left.
    ///
    /// # Errors
    /// Fails when the ref is locked or cannot be written, and when its state cannot be read.
    fn apply_notes(
        &self,
        edit: &NotesEdit,
        write: &Transaction,
        upkeep: &Upkeep<'_>,
    ) -> Result<ComparedNotes>;

    /// Unites another state of a notes ref into ours. Objects are united, note texts line by line.
    /// Returns whether anything changed.
    ///
    /// # Errors
    /// Fails as [`Notes::apply_notes`] does.
    fn unite_notes(&self, name: &str, theirs: Oid, write: &Transaction) -> Result<bool>;

    /// Puts a notes ref back to its newest state that can be read whole, if it is damaged. `tips` are
    /// states that journals recorded, `known` one that is durable.
    ///
    /// # Errors
    /// Fails when it cannot be written.
    fn restore_notes_ref(&self, name: &str, tips: &[Oid], known: Option<Oid>) -> Result<()>;

    /// Tells whether a state can be read with its history, as far back as to `known`.
    fn has_whole_notes(&self, tip: Oid, known: Option<Oid>) -> bool;

    /// Lists what a state of a notes ref lacks of logged edits, or has in a way that cannot be read.
    ///
    /// # Errors
    /// Fails when that state cannot be read, and when it lacks what nothing here has.
    fn notes_gap(&self, name: &str, tip: Option<Oid>, edits: &LoggedEdits) -> Result<NotesGap>;

    /// Lists what vanished from a notes ref, which is at `tip`, since it was looked at last.
    ///
    /// # Errors
    /// Fails when neither the older state nor the log can be read.
    fn vanished_notes(&self, name: &str, tip: Option<Oid>, upkeep: &Upkeep<'_>)
    -> Result<NotesGap>;
}

/// Keeps the lines of `ours`, and appends those of `theirs` that it lacks.
pub fn unite_lines(ours: &str, theirs: &str) -> String {
    let mut lines: Vec<&str> = ours.lines().collect();
    for line in theirs.lines() {
        if line.is_empty() || !lines.contains(&line) {
            lines.push(line);
        }
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}
