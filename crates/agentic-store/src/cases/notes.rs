//! Cases of notes.

use agentic_model::{Cid, Kind};

use super::*;
use crate::journal::{Content, KeptObject, NotesEdit, Transaction};

/// The ref whose notes are written, and another one.
const NAME: &str = "refs/notes/agentic/a";
const OTHER: &str = "refs/notes/agentic/b";

/// A case on its way.
struct NotesCase<G> {
    bench: CaseRepository<G>,
}

/// A write that edits no notes by itself.
fn write() -> Transaction {
    Transaction::keeping("note", NAME, Vec::new(), (ada(), ada()))
}

/// The typed object with this content.
fn object(content: Content, cid: Cid) -> KeptObject {
    KeptObject { kind: Kind::parse("briefing").expect("valid"), cid, content }
}

impl<G: GroundStore> NotesCase<G> {
    fn new(ground: G) -> NotesCase<G> {
        NotesCase { bench: CaseRepository::new(ground) }
    }

    fn ground(&self) -> &G {
        &self.bench.ground
    }

    /// Sets the note of a commit and keeps an object; returns the state.
    fn note(&self, name: &str, number: usize, text: &str, objects: Vec<KeptObject>) -> Oid {
        let notes = vec![(self.bench.commits[number - 1], text.to_owned())];
        let edit = NotesEdit { name: name.to_owned(), notes, objects };
        let applied = self.ground().apply_notes(&edit, &write(), &Upkeep::NONE);
        let tip = applied.expect("there is room").tip;
        assert_eq!(self.ground().find_ref(name).expect("sound"), tip);
        tip.expect("the edit made a state")
    }

    fn read(&self, name: &str, number: usize) -> Option<String> {
        self.ground().read_note(name, self.bench.commits[number - 1]).expect("sound")
    }
}

/// An edit that is applied twice leaves the state that it left at first.
fn edits_are_applied_once<G: GroundStore>(ground: G) {
    let case = NotesCase::new(ground);
    assert_eq!(case.read(NAME, 1), None);
    let first = case.note(NAME, 1, "one\n", Vec::new());
    assert_eq!(case.note(NAME, 1, "one\n", Vec::new()), first);
    assert_eq!(case.read(NAME, 1).as_deref(), Some("one\n"));
    let second = case.note(NAME, 2, "two\n", Vec::new());
    assert_ne!(second, first);
    assert_eq!(case.read(NAME, 1).as_deref(), Some("one\n"));
    assert!(case.ground().is_ancestor(first, second).expect("sound"));
}

/// An object is found by its id, whether its bytes came with the edit or were stored before.
fn objects_are_kept<G: GroundStore>(ground: G) {
    let case = NotesCase::new(ground);
    let inline = b"inline".to_vec();
    let blob = GitObject { kind: GitKind::Blob, bytes: b"stored".to_vec() };
    let _written = case.ground().write_objects(std::slice::from_ref(&blob)).expect("room");
    let stored = Content::Stored(case.ground().name_object(&blob));
    let cids = [Cid::of(&inline), Cid::of(&blob.bytes)];
    let objects = vec![object(Content::Inline(inline.clone()), cids[0]), object(stored, cids[1])];
    case.note(NAME, 1, "one\n", objects);
    let read = |cid| case.ground().read_noted(NAME, cid).expect("sound");
    assert_eq!([read(cids[0]), read(cids[1])], [Some(inline), Some(blob.bytes)]);
    assert_eq!(read(Cid::of(b"nothing")), None);
}

/// Two states that grew apart become one that has what either had.
fn states_are_united<G: GroundStore>(ground: G) {
    let case = NotesCase::new(ground);
    case.note(NAME, 1, "ours\n", Vec::new());
    case.note(OTHER, 1, "theirs\n", Vec::new());
    let theirs = case.note(OTHER, 2, "two\n", Vec::new());
    let unite = || case.ground().unite_notes(NAME, theirs, &write()).expect("sound");
    assert_eq!([unite(), unite()], [true, false]);
    assert_eq!(case.read(NAME, 1).as_deref(), Some("ours\ntheirs\n"));
    assert_eq!(case.read(NAME, 2).as_deref(), Some("two\n"));
    let fresh = case.ground().unite_notes("refs/notes/agentic/c", theirs, &write());
    assert!(fresh.expect("sound"), "where there is no ref, theirs becomes ours");
    assert_eq!(case.read("refs/notes/agentic/c", 2).as_deref(), Some("two\n"));
}

/// A ref that names a state which is gone comes back to the newest that is there.
fn a_damaged_state_is_left<G: GroundStore>(ground: G) {
    let case = NotesCase::new(ground);
    let good = case.note(NAME, 1, "one\n", Vec::new());
    let gone = Oid::parse(&"1".repeat(40)).expect("40 digits");
    let step = BranchMove { name: NAME.to_owned(), expect: Some(good), new: gone };
    let _moved = case.ground().move_ref(&step, &ada(), "a case").expect("there is room");
    let commit = case.bench.commits[0];
    assert!(case.ground().read_note(NAME, commit).is_err(), "damage is an error");
    case.ground().restore_notes_ref(NAME, &[good, gone], None).expect("there is room");
    assert_eq!(case.ground().find_ref(NAME).expect("sound"), Some(good));
    assert_eq!(case.read(NAME, 1).as_deref(), Some("one\n"));
}

/// Notes are kept alike.
pub fn notes_are_kept_alike<G: GroundStore>(make: impl Fn(&Path) -> G) {
    on(&make, edits_are_applied_once);
    on(&make, objects_are_kept);
}

/// States of notes are united and restored alike.
pub fn states_of_notes_are_united_and_restored_alike<G: GroundStore>(make: impl Fn(&Path) -> G) {
    on(&make, states_are_united);
    on(&make, a_damaged_state_is_left);
}
