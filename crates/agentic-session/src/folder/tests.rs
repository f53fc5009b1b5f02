//! The folder of a session, and what somebody else may have done to it.

use agentic_model::Cid;
use agentic_replay::{SessionId, StoredObjects};

use super::{Folder, Values, place};
use crate::own::{self, read_journal};
use crate::tests::{anew, is_damage, space_with_an_agent, started};

#[test]
fn a_session_stands_in_a_folder_by_its_first_digits() {
    let root = std::path::Path::new("/sessions");
    let id = SessionId::from_bytes([0xab; 32]);
    assert_eq!(place(root, &id), root.join("ab").join("ab".repeat(32)));
}

#[test]
fn a_value_that_is_damaged_is_as_good_as_gone_and_a_proof_finds_it() {
    let (_folder, space, _) = space_with_an_agent();
    let folder = Folder::of(&space, &SessionId::from_bytes([1; 32]));
    let cid = Cid::of(b"value");
    folder.keep_object(&cid, b"value").expect("writable");
    assert_eq!(folder.read_object(&cid).expect("readable"), Some(b"value".to_vec()));
    assert!(folder.check_objects().is_ok());
    let file = folder.log().with_file_name("objects").join(cid.to_string());
    for content in [&b""[..], b"valu", b"values", b"VALUE"] {
        std::fs::write(&file, content).expect("writable");
        assert_eq!(folder.read_object(&cid).expect("readable"), None, "{content:?}");
        assert!(folder.check_objects().is_err_and(|error| is_damage(&error)), "{content:?}");
    }
    folder.keep_object(&cid, b"value").expect("it is put in place of what is there");
    assert!(folder.check_objects().is_ok());
    assert_eq!(folder.read_object(&Cid::of(b"other")).expect("readable"), None);
}

#[test]
fn what_is_no_value_in_the_folder_is_passed_over() {
    let (_folder, space, _) = space_with_an_agent();
    let folder = Folder::of(&space, &SessionId::from_bytes([1; 32]));
    assert_eq!(folder.object_ids(), []);
    let mut kept = [Cid::of(b"one"), Cid::of(b"two")];
    folder.keep_object(&kept[0], b"one").expect("writable");
    folder.keep_object(&kept[1], b"two").expect("writable");
    let objects = folder.log().with_file_name("objects");
    std::fs::write(objects.join("bafyr4i"), b"x").expect("writable");
    std::fs::write(objects.join(".swp"), b"x").expect("writable");
    kept.sort();
    assert_eq!(folder.object_ids(), kept);
}

#[test]
fn who_reads_while_a_session_comes_to_its_end_finds_it_where_it_is_now() {
    let (_folder, space, agent) = space_with_an_agent();
    let id = started(&space, &agent, "hold(\"Go on?\")");
    let before = Folder::of(&space, &id);
    let expected = before.frames(&space).expect("readable").0;
    before.retire(&space).expect("nobody drives it");
    assert!(!before.exists());
    assert_eq!(before.frames(&space).expect("it is elsewhere").0, expected);
    assert_eq!(before.first_frame(&space).expect("it is elsewhere").as_ref(), expected.first());
    assert!(own::has_begun(&space, &before, &agent).expect("it is elsewhere"));
    let now = Folder::of(&space, &id);
    now.retire(&space).expect("it is there already");
    assert!(now.exists());
}

#[test]
fn one_drives_a_session_at_a_time() {
    let (_folder, space, agent) = space_with_an_agent();
    let id = started(&space, &agent, "hold(\"Go on?\")");
    let folder = Folder::of(&space, &id);
    assert!(!folder.is_driven(&space).expect("readable"));
    let (_, lock) = Folder::lock(&space, &id).expect("nobody drives it");
    let other = anew(&space);
    assert!(folder.is_driven(&other).expect("readable"));
    assert!(Folder::try_lock(&other, &id).expect("readable").is_none());
    drop(lock);
    assert!(!folder.is_driven(&other).expect("readable"));
}

#[test]
fn a_session_that_nobody_began_has_neither_records_nor_a_beginning() {
    let (_folder, space, agent) = space_with_an_agent();
    let folder = Folder::of(&space, &SessionId::from_bytes([1; 32]));
    assert_eq!(folder.frames(&space).expect("there are none"), (vec![], None));
    assert_eq!(folder.first_frame(&space).expect("there is none"), None);
    assert!(!own::has_begun(&space, &folder, &agent).expect("it has not"));
    std::fs::create_dir_all(folder.log()).expect("writable");
    assert!(!own::has_begun(&space, &folder, &agent).expect("an empty log is no beginning"));
}

#[test]
fn a_long_value_is_found_in_the_folder_and_in_the_seal() {
    let (_folder, space, agent) = space_with_an_agent();
    let id = started(&space, &agent, "let t = \"x\"; for n in 0..19 { t += t; } hold(t)");
    let journal = read_journal(&space, &id).expect("sound");
    let folder = Folder::of(&space, &id);
    let long =
        |cid: &Cid| folder.read_object(cid).ok().flatten().is_some_and(|it| it.len() > 1 << 18);
    let cid = folder.object_ids().into_iter().find(|cid| long(cid)).expect("it is long");
    let values = Values::of(&space, &journal);
    let bytes = values.bytes(&cid).expect("it is here");
    std::fs::remove_dir_all(folder.log().with_file_name("objects")).expect("it is there");
    assert_eq!(values.bytes(&cid), Some(bytes), "and it travels with the notes");
    assert_eq!(values.bytes(&Cid::of(b"other")), None);
}
