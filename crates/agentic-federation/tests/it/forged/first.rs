//! Announcements that say they are the first of the chain, put above what the space announced. Anybody who may push
//! can do that: what lies below is received, heard and kept from being signed twice, as if they were not there.

use agentic_federation::announcement::SpaceAnnouncement;
use agentic_federation::changes::{Rotation, rotate};
use agentic_federation::id::{PeerId, SpaceId, announce_ref};
use agentic_federation::receive::SpaceResult;
use agentic_model::{Cid, Oid};

use super::ForgedPlace;
use crate::{FederatedPlace, git};

/// What makes an announcement say that it is the first.
type FirstEdit = fn(&mut SpaceAnnouncement);

/// The ways to say that an announcement is the first, or somebody else's first.
const WAYS: [(&str, FirstEdit); 5] = [
    ("none before", |said| said.previous = None),
    ("a cut", |said| said.cut = Some("forged".to_owned())),
    ("a cut with none before", |said| {
        (said.cut, said.previous) = (Some("forged".to_owned()), None);
    }),
    ("of another peer", |said| (said.peer, said.previous) = (PeerId(Cid::of(b"peer")), None)),
    ("of another space", |said| {
        (said.space, said.previous) = (SpaceId::parse(&"ab".repeat(16)).expect("an id"), None);
    }),
];

impl ForgedPlace {
    /// Puts what says that it is the first above a commit, signed by a key of that name.
    fn put_first(&self, above: &str, key: &str, way: FirstEdit) -> String {
        let mut said = self.next(above);
        said.seq = 0;
        way(&mut said);
        self.wrap(&said, &self.place.path(&format!("{key}.key")))
    }
}

/// Begins with an announcement that `bob` has not seen.
fn unseen() -> ForgedPlace {
    let place = FederatedPlace::new();
    let (peer, space) = place.ada();
    place.work();
    place.announce().expect("nothing fails");
    place.make_key("other");
    ForgedPlace { place, name: announce_ref(peer, space) }
}

#[test]
fn what_lies_below_is_accepted() {
    for (told, way) in WAYS {
        let forged = unseen();
        for round in ["at first contact", "later"] {
            let newest = forged.tip();
            let lower = forged.put_first(&newest, "bob", way);
            forged.serve(&forged.put_first(&lower, "other", way));
            let outcome = forged.receive().outcome;
            assert_eq!(outcome.result, SpaceResult::Accepted, "{told} {round}: {:?}", outcome.junk);
            assert_eq!(outcome.junk.len(), 2, "{told} {round}: {:?}", outcome.junk);
            let believed = git(&forged.place.path("bob"), "rev-parse refs/remotes/ada/agents/x");
            assert_eq!(believed, git(&forged.ada(), "rev-parse agents/x"), "{told} {round}");
            forged.serve(&newest);
            forged.place.work();
            forged.place.announce().expect("nothing fails");
        }
    }
}

#[test]
fn what_contradicts_below_is_heard() {
    for (told, way) in WAYS {
        let forged = ForgedPlace::new();
        forged.place.make_key("other");
        let first = forged.tip();
        forged.place.work();
        forged.place.announce().expect("nothing fails");
        forged.place.fetch().expect("nothing fails");
        let mut said = forged.next(&first);
        said.time += 1_000;
        let second = forged.wrap(&said, &forged.key());
        forged.serve(&forged.put_first(&second, "other", way));
        assert_eq!(forged.receive().outcome.result, SpaceResult::Frozen, "{told}");
    }
}

#[test]
fn a_restored_space_signs_no_number_twice() {
    for (told, way) in WAYS {
        let forged = ForgedPlace::new();
        forged.place.make_key("other");
        let (folder, first) = (forged.ada(), forged.tip());
        let head = git(&folder, "rev-parse agents/x");
        forged.place.work();
        forged.place.announce().expect("nothing fails");
        let newest = forged.tip();
        git(&folder, &format!("update-ref {} {first}", forged.name));
        git(&folder, &format!("update-ref refs/heads/agents/x {head}"));
        forged.serve(&forged.put_first(&newest, "other", way));
        let error = forged.place.announce().expect_err(told).to_string();
        assert!(error.contains("older state of itself"), "{told}: {error}");
        assert_eq!(forged.tip(), first, "{told}");
    }
}

#[test]
fn a_key_that_was_taken_away_hides_nothing() {
    let place = FederatedPlace::new();
    let (peer, space) = place.ada();
    place.work();
    place.announce().expect("nothing fails");
    place.make_key("new");
    let of = |key: &str| vec![place.path(&format!("{key}.key")).display().to_string()];
    let void = vec![std::fs::read_to_string(place.path("ada.key.pub")).expect("it was made")];
    let rotation = Rotation { add: of("new"), void, ..Rotation::default() };
    rotate(&place.open("ada"), &rotation).expect("it signs");
    git(&place.path("ada"), &format!("config agentic.announceKey {}", of("new")[0]));
    place.work();
    place.announce().expect("nothing fails");
    let forged = ForgedPlace { place, name: announce_ref(peer, space) };
    let first = forged.tip();
    forged.serve(&forged.put_first(&first, "ada", |said| {
        (said.previous, said.epoch, said.seq) = (None, 0, 9);
    }));
    let outcome = forged.receive().outcome;
    assert_eq!(outcome.result, SpaceResult::Accepted, "{:?}", outcome.junk);
    let accepted = git(&forged.place.path("bob"), "rev-parse refs/remotes/ada/agents/x");
    assert_eq!(accepted, git(&forged.ada(), "rev-parse agents/x"));
}

#[test]
fn what_a_first_one_announces_is_not_the_way_to_it() {
    let forged = unseen();
    let agent = git(&forged.ada(), "rev-parse agents/x");
    let mut said = forged.next(&forged.tip());
    (said.seq, said.previous, said.parents) = (0, None, vec![Oid::parse(&agent).expect("an id")]);
    forged.serve(&forged.wrap(&said, &forged.place.path("other.key")));
    let outcome = forged.receive().outcome;
    assert!(matches!(outcome.result, SpaceResult::Refused(_)), "{:?}", outcome.result);
    assert_eq!(outcome.junk.len(), 1, "{:?}", outcome.junk);
}
