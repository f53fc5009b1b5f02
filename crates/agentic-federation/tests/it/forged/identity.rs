//! Keys that somebody has, and that do not speak for what is announced: those of another space of the same
//! peer, of an epoch that is over, and of another peer that they are claimed from.

use agentic_federation::contact::find_peer;
use agentic_federation::id::{PeerId, SpaceId, announce_ref};
use agentic_federation::identity::{
    ChainGrowth, ControlKeys, IdentityDocument, ListedSpace, SignedDocument,
};
use agentic_federation::key::PeerKey;
use agentic_federation::own::{public_key, require_own, save_chain, sign_document};
use agentic_model::Oid;

use super::{ForgedPlace, ForgeryEnd, sign, write_object, write_tree};
use crate::{FederatedPlace, git};

/// The ref of our own identity.
const IDENTITY_REF: &str = "refs/agentic/identity";

fn key_at(place: &FederatedPlace, name: &str) -> PeerKey {
    let path = place.path(&format!("{name}.key")).display().to_string();
    public_key(place.open("ada").repository(), &path).expect("it was made")
}

/// Has `ada` write a further document of her identity, which the keys of these names sign.
fn write_document(place: &FederatedPlace, by: &[&str], edit: impl FnOnce(&mut IdentityDocument)) {
    let space = place.open("ada");
    let own = require_own(&space).expect("it was begun");
    let mut chain = own.chain;
    let mut next = chain.newest().clone();
    (next.seq, next.previous) = (next.seq + 1, Some(chain.last().cid()));
    edit(&mut next);
    let keys: Vec<String> =
        by.iter().map(|name| place.path(&format!("{name}.key")).display().to_string()).collect();
    let keys: Vec<&String> = keys.iter().collect();
    let signed = sign_document(space.repository(), next, &keys).expect("they sign");
    assert_eq!(chain.take_in(signed), Ok(ChainGrowth::Grown));
    let tip = git(&place.path("ada"), &format!("rev-parse {IDENTITY_REF}"));
    let tip = Oid::parse(&tip).expect("an id");
    save_chain(&space, Some(tip), &chain, "test").expect("nobody else writes");
}

#[test]
fn a_key_of_another_space_of_the_peer_signs_nothing_for_this_one() {
    let forged = ForgedPlace::new();
    let place = &forged.place;
    place.make_key("lap");
    let lap = key_at(place, "lap");
    write_document(place, &["ada", "lap"], |next| {
        let (space, nick) = (SpaceId([9; 16]), "lap".to_owned());
        next.spaces.push(ListedSpace { space, nick, keys: vec![lap], resume: None });
    });
    place.announce().expect("nothing fails");
    place.fetch().expect("nothing fails");
    let commit = forged.wrap(&forged.next(&forged.tip()), &place.path("lap.key"));
    forged.check("the key of lap", &commit, ForgeryEnd::Refused("no key of that space"));
}

#[test]
fn an_epoch_that_is_over_does_not_come_back() {
    let forged = ForgedPlace::new();
    let place = &forged.place;
    let before = forged.next(&forged.tip());
    place.make_key("more");
    let more = key_at(place, "more");
    let resume = before.previous;
    // The old key stays, and still it signs for the epoch that there is now.
    write_document(place, &["ada", "more"], |next| {
        next.spaces[0].keys.push(more);
        next.spaces[0].resume = resume;
    });
    place.announce().expect("nothing fails");
    place.fetch().expect("nothing fails");
    let mut said = forged.next(&forged.tip());
    assert_eq!(said.epoch, 1);
    said.epoch = 0;
    let commit = forged.wrap(&said, &forged.key());
    forged.check("an old epoch", &commit, ForgeryEnd::Refused("goes back"));
}

/// Publishes an identity that somebody made up, with an announcement of it; returns its id.
fn publish(forged: &ForgedPlace, document: IdentityDocument, by: &[&str]) -> PeerId {
    let (place, folder) = (&forged.place, forged.ada());
    let bytes = document.to_bytes();
    let mut files = format!("100644 blob {}\t0\n", write_object(&folder, "blob", &bytes));
    for (at, name) in by.iter().enumerate() {
        let key = place.path(&format!("{name}.key"));
        let purpose = ["identity@agentic", "agentic identity 1\n"];
        let signature = sign(place, &key, purpose, &bytes);
        let signature = write_object(&folder, "blob", signature.as_bytes());
        files += &format!("100644 blob {signature}\t0.{at}.sig\n");
    }
    let identity = write_tree(&folder, &files);
    let body = write_tree(&folder, &format!("040000 tree {identity}\tidentity\n"));
    let space = document.spaces[0].space;
    let peer = SignedDocument::read(bytes, Vec::new()).expect("it is one").peer();
    let mut said = forged.next(&forged.tip());
    (said.peer, said.space, said.seq, said.previous) = (peer, space, 0, None);
    (said.identity, said.tree) = (peer.0, Oid::parse(&body).expect("an id"));
    (said.entries, said.parents) = (0, Vec::new());
    let commit = forged.wrap(&said, &place.path(&format!("{}.key", by[0])));
    git(&folder, &format!("push -q origin {commit}:{}", announce_ref(peer, space)));
    peer
}

#[test]
fn whoever_claims_the_key_of_somebody_else_is_not_found_by_it() {
    let forged = ForgedPlace::new();
    let place = &forged.place;
    place.make_key("eve");
    let (ada, eve) = (key_at(place, "ada"), key_at(place, "eve"));
    let begun = require_own(&place.open("ada")).expect("it was begun");
    let claiming = |keys: &[&PeerKey], nonce: u8| IdentityDocument {
        control: ControlKeys { keys: vec![eve.clone()], need: 1 },
        spaces: vec![ListedSpace {
            space: SpaceId([nonce; 16]),
            nick: "main".to_owned(),
            keys: keys.iter().map(|key| (*key).clone()).collect(),
            resume: None,
        }],
        decide: Vec::new(),
        nonce: vec![nonce; 16],
        ..begun.chain.newest().clone()
    };
    publish(&forged, claiming(&[&eve, &ada], 7), &["eve"]);
    let bob = place.open("bob");
    let found = find_peer(&bob, "origin", &ada).expect("ada alone has it");
    assert_eq!(found, place.ada().0);
    assert!(find_peer(&bob, "origin", &eve).is_err(), "a document that a key did not sign is none");
    // One that proves what it says is found.
    let honest = publish(&forged, claiming(&[&eve], 8), &["eve"]);
    assert_eq!(find_peer(&bob, "origin", &eve).expect("it is there"), honest);
}
