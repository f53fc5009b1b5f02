//! Cases of objects.

use super::*;

/// What every implementation promises of objects.
fn check<G: ObjectStore + Refs>(ground: G) -> Vec<Oid> {
    let CaseRepository { ground, commits } = CaseRepository::new(ground);
    let blob = GitObject { kind: GitKind::Blob, bytes: b"text\n".to_vec() };
    let oid = ground.name_object(&blob);
    assert!(!ground.has_object(oid), "to name an object does not write it");
    assert!(ground.verify_object(oid).is_err(), "what is missing is an error");
    let written = ground.write_objects(std::slice::from_ref(&blob)).expect("there is room");
    assert!(ground.has_object(oid));
    assert_eq!(ground.verify_object(oid).expect("it is there"), blob);
    let again = std::slice::from_ref(&blob);
    ground.confirm_objects(again, &written).expect("there is room");
    ground.write_again(&blob, oid).expect("there is room");
    assert_eq!(ground.verify_object(oid).expect("it is there"), blob);
    let is_ancestor = |old, new| ground.is_ancestor(old, new).expect("the history is sound");
    assert!(is_ancestor(commits[0], commits[2]));
    assert!(is_ancestor(commits[1], commits[1]));
    assert!(!is_ancestor(commits[2], commits[0]));
    assert!(!is_ancestor(oid_of_nothing(), commits[2]), "what is gone is nobody's ancestor");
    commits.into_iter().chain([oid]).collect()
}

fn oid_of_nothing() -> Oid {
    Oid::parse(&"1".repeat(40)).expect("40 digits")
}

/// Objects are named and kept alike.
pub fn objects_are_named_and_kept_alike<G: GroundStore>(make: impl Fn(&Path) -> G) {
    let named = on(&MemoryRepository::new, check);
    assert_eq!(on(&make, check), named);
}

/// An object that was taken away is written again.
pub fn an_object_that_was_taken_away_is_written_again<G: FragileGround>(make: impl Fn(&Path) -> G) {
    on(&make, |ground| {
        let blob = GitObject { kind: GitKind::Blob, bytes: b"text\n".to_vec() };
        let oid = ground.name_object(&blob);
        let written = ground.write_objects(std::slice::from_ref(&blob)).expect("there is room");
        ground.lose_object(oid);
        assert!(!ground.has_object(oid));
        ground.confirm_objects(std::slice::from_ref(&blob), &written).expect("there is room");
        assert!(ground.has_object(oid));
    });
}

/// A message is read with the date of its author.
pub fn a_message_is_read_with_the_date_of_its_author<G: GroundStore>(make: impl Fn(&Path) -> G) {
    fn check<G: ObjectStore + Refs>(ground: G) {
        let CaseRepository { ground, commits } = CaseRepository::new(ground);
        let message = ground.read_message(commits[1]).expect("it is there");
        assert_eq!((message.text.as_str(), message.authored_at), ("commit 2\n", ada().at));
        assert!(ground.read_message(oid_of_nothing()).is_err());
    }
    on(&make, check);
}
