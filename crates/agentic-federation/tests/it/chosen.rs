//! Choosing between two documents of our own identity, with every step made to fail: nothing is announced by the one
//! that was set aside.

use agentic_federation::changes::{Rotation, rotate};
use agentic_federation::known::{KnownPeer, evidence_ref};
use agentic_federation::own::{IDENTITY_REF, own_chain};
use agentic_federation::receive::resolve;
use agentic_git::RefMove;
use agentic_store::fault::failing_at;

use crate::{FederatedPlace, STEPS_MAX, git};

#[test]
fn a_step_of_choosing_a_document_that_fails_announces_nothing_by_the_other() {
    let place = FederatedPlace::new();
    place.announce().expect("nothing fails");
    let (peer, _) = place.ada();
    let folder = place.path("ada");
    let of = |name: &str| git(&folder, &format!("rev-parse {name}"));
    let first = of(IDENTITY_REF);
    let rotated = |key: &str| {
        place.make_key(key);
        let add = vec![place.path(&format!("{key}.key")).display().to_string()];
        rotate(&place.open("ada"), &Rotation { add, ..Rotation::default() }).expect("it signs")
    };
    let chosen = rotated("desk");
    git(&folder, &format!("update-ref {IDENTITY_REF} {first}"));
    let left = rotated("lap");
    let state = of(IDENTITY_REF);
    let side = chosen.last().cid();
    for visit in 1..STEPS_MAX {
        git(&folder, &format!("update-ref {IDENTITY_REF} {state}"));
        git(&folder, &format!("update-ref -d {}", evidence_ref(peer)));
        let space = place.open("ada");
        let mut known = KnownPeer::default();
        known.hear_own(space.repository(), peer).expect("it is whole");
        known.hear_documents(peer, chosen.documents().to_vec());
        assert!(known.is_frozen());
        assert_eq!(known.save(&space, peer).expect("nothing fails"), RefMove::Moved);
        assert!(place.announce().is_err(), "two documents have one number");

        let (_, was_met) = failing_at("*", visit, || resolve(&space, peer, side, "The desk"));
        if let Ok(made) = place.announce() {
            let identity = made.wrapped.signed.announcement.identity;
            assert_ne!(identity, left.last().cid(), "after step {visit}");
        }
        resolve(&space, peer, side, "The desk").unwrap_or_else(|why| panic!("{visit}: {why}"));
        let own = own_chain(space.repository()).expect("it is whole").expect("it was begun");
        assert_eq!(own, chosen, "after step {visit}");
        let made = place.announce().unwrap_or_else(|why| panic!("{visit}: {why}"));
        assert_eq!(made.wrapped.signed.announcement.identity, side, "after step {visit}");
        if !was_met {
            assert!(visit > 3, "there are steps to fail at");
            break;
        }
    }
    place.fetch().expect("nothing fails");
    place.check("after all steps");
}
