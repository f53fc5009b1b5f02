//! Records of what is believed of a space.
//!
//! - One that is read says the same when it is written and read again.

use std::path::Path;

use agentic_federation::acceptance::Acceptance;
use agentic_model::commit::CommitData;
use agentic_model::{Instant, Oid, Person, Signature};
use agentic_store::ground::ObjectStore as _;
use agentic_store::journal::{GitKind, GitObject};
use agentic_store::memory::MemoryRepository;

use crate::take_number;

/// The place of the file of what is held back.
const PLACE: [&str; 2] = ["00", "00"];

/// Checks one input: how long the record is, the record, then a file of what is held back.
pub fn check(mut data: &[u8]) {
    let length = take_number(&mut data).min(data.len());
    let (record, held) = data.split_at(length);
    let store = MemoryRepository::new(Path::new("nowhere"));
    let put = |kind: GitKind, bytes: Vec<u8>| {
        let object = GitObject { kind, bytes };
        let _written = store.write_objects(std::slice::from_ref(&object)).expect("there is room");
        store.name_object(&object)
    };
    let tree = |entries: &[(&str, &str, Oid)]| {
        let line = |(mode, name, oid): &(&str, &str, Oid)| {
            [format!("{mode} {name}\0").as_bytes(), oid.as_bytes()].concat()
        };
        put(GitKind::Tree, entries.iter().flat_map(line).collect())
    };
    let record = ("100644", "record", put(GitKind::Blob, record.to_vec()));
    let whole = match held.is_empty() {
        true => tree(&[record]),
        false => {
            let shard = tree(&[("100644", PLACE[1], put(GitKind::Blob, held.to_vec()))]);
            tree(&[("40000", "held", tree(&[("40000", PLACE[0], shard)])), record])
        }
    };
    let commit = |tree: Oid| {
        let (person, at) = (Person::new("a", "a@example.com"), Instant::from_millis(0));
        let signature = Signature { person, at, offset_minutes: 0 };
        let (author, committer) = (signature.clone(), signature);
        let message = "record\n".to_owned();
        let data = CommitData { tree, parents: Vec::new(), author, committer, message };
        put(GitKind::Commit, data.to_bytes())
    };
    let Ok(read) = Acceptance::read(&store, commit(whole)) else { return };
    let (again, objects) = read.to_objects(&store);
    let _written = store.write_objects(&objects).expect("there is room");
    assert_eq!(Acceptance::read(&store, commit(again)).expect("what is written is read"), read);
}
