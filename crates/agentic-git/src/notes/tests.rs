use agentic_model::commit::CommitData;
use agentic_model::{Instant, Person, Signature};

use super::*;
use agentic_store::journal::{GitKind, GitObject};

/// Makes a state of notes with one entry in its root.
fn check(name: &str, expected: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    gix::init_bare(folder.path()).expect("a new repository");
    let repository = Repository::open(folder.path()).expect("it opens");
    let write = |kind, bytes| {
        let written = repository.write_loose(&[GitObject { kind, bytes }]);
        written.expect("the disk has room")[0]
    };
    let blob = write(GitKind::Blob, b"text\n".to_vec());
    let line = [format!("100644 {name}\0").as_bytes(), blob.as_bytes()].concat();
    let tree = write(GitKind::Tree, line);
    let person = Person::new("Ada", "ada@example.invalid");
    let author = Signature { person, at: Instant::from_millis(0), offset_minutes: 0 };
    let (committer, message) = (author.clone(), "notes\n".to_owned());
    let commit = CommitData { tree, parents: Vec::new(), author, committer, message };
    let tip = write(GitKind::Commit, commit.to_bytes());
    let notes = repository.notes_at(Some(tip)).expect("its commit is sound");
    let listed = notes.all_notes().expect("its tree is sound");
    assert_eq!(listed.len(), expected, "{name}");
    for (commit, text) in listed {
        assert_eq!(notes.note(commit).expect("its tree is sound"), Some(text), "{name}");
    }
}

#[test]
fn every_note_that_is_listed_is_found() {
    check("abcd0100b02b03632f7da16613c802685685ff38", 1);
    check("ABCD0100B02B03632F7DA16613C802685685FF38", 0);
    check("README", 0);
}
