//! Chains of documents: which count, and what proves that a peer said two things.

use super::*;
use crate::announcement::tests::{TestKey, cid};

/// The keys of these tests by a letter.
fn key(letter: char) -> TestKey {
    TestKey::new(letter as u8)
}

fn space(number: u8) -> SpaceId {
    SpaceId([number; 16])
}

/// A document: its control keys, how many it needs, and the keys of space 1; letters name keys.
fn document(
    before: Option<&SignedDocument>,
    control: &str,
    need: u64,
    of_space: &str,
) -> IdentityDocument {
    let keys = |letters: &str| letters.chars().map(|letter| key(letter).public()).collect();
    let listed = ListedSpace {
        space: space(1),
        nick: "main".to_owned(),
        keys: keys(of_space),
        resume: None,
    };
    IdentityDocument {
        project: cid("project"),
        seq: before.map_or(0, |before| before.document.seq + 1),
        previous: before.map(SignedDocument::cid),
        name: "Ada".to_owned(),
        control: ControlKeys { keys: keys(control), need },
        spaces: vec![listed],
        decide: Vec::new(),
        time: 1,
        nonce: vec![1],
    }
}

fn signed(document: IdentityDocument, by: &str) -> SignedDocument {
    let bytes = document.to_bytes();
    let sign = |letter| key(letter).sign(SignedDocument::text(&bytes));
    let signatures = by.chars().map(sign).collect();
    SignedDocument { document, bytes, signatures }
}

/// Begins with control keys `a`, `b` and `c` of which two are needed, and the key `s` of space 1.
fn begun() -> IdentityChain {
    let first = signed(document(None, "abc", 2, "s"), "abcs");
    IdentityChain::begin(first).expect("all keys signed")
}

#[test]
fn all_keys_sign_the_first_document() {
    let first = document(None, "ab", 1, "s");
    assert!(IdentityChain::begin(signed(first.clone(), "abs")).is_ok());
    for by in ["", "a", "ab", "as", "abx", "absx", "abss", "aabs"] {
        assert!(IdentityChain::begin(signed(first.clone(), by)).is_err(), "{by}");
    }
}

#[test]
fn the_control_keys_before_and_every_new_key_sign_the_next() {
    let chain = begun();
    let next = |control: &str, of_space: &str| document(Some(chain.last()), control, 2, of_space);
    for (document, by, counts) in [
        (next("abc", "s"), "ab", true),
        (next("abc", "s"), "bc", true),
        (next("abc", "s"), "abc", true),
        (next("abc", "s"), "a", false),
        (next("abc", "s"), "as", false),
        (next("abc", "t"), "abt", true),
        (next("abc", "t"), "ab", false),
        (next("abd", "s"), "abd", true),
        // The control keys of the document before count, not its own.
        (next("ade", "s"), "ade", false),
        (next("abc", "s"), "abx", false),
    ] {
        let told = format!("{:?} by {by}", document.control.keys.len());
        let taken = chain.clone().take_in(signed(document, by));
        assert_eq!(matches!(taken, Ok(ChainGrowth::Grown)), counts, "{told}: {taken:?}");
    }
}

#[test]
fn a_document_follows_the_one_before() {
    let chain = begun();
    let good = document(Some(chain.last()), "abc", 2, "s");
    let gap = IdentityDocument { seq: 2, ..good.clone() };
    let other = IdentityDocument { previous: Some(cid("other")), ..good.clone() };
    let elsewhere = IdentityDocument { project: cid("elsewhere"), ..good };
    for wrong in [gap, other, elsewhere] {
        assert!(chain.clone().take_in(signed(wrong, "ab")).is_err());
    }
}

#[test]
fn two_documents_of_one_number_are_a_fork_only_if_both_count() {
    let mut chain = begun();
    let next = signed(document(Some(chain.last()), "abc", 2, "s"), "ab");
    let other = IdentityDocument { nonce: vec![2], ..next.document.clone() };
    let before = chain.clone();
    assert_eq!(chain.take_in(next.clone()), Ok(ChainGrowth::Grown));
    assert_eq!(chain.take_in(next.clone()), Ok(ChainGrowth::Known));
    assert!(chain.take_in(signed(other.clone(), "a")).is_err(), "it lacks a signature");
    let fork = chain.take_in(signed(other, "bc"));
    let Ok(ChainGrowth::Forked(fork)) = fork else { panic!("{fork:?}") };
    assert_eq!(fork.known, next);
    // The same bytes with other signatures say nothing else.
    let wrapped_otherwise = signed(next.document.clone(), "bc");
    assert_eq!(chain.take_in(wrapped_otherwise), Ok(ChainGrowth::Known));
    assert_eq!(before.documents().len(), 1);
}

#[test]
fn a_chain_goes_on_with_the_side_of_a_fork_that_is_chosen() {
    let mut chain = begun();
    let next = signed(document(Some(chain.last()), "abc", 2, "t"), "abt");
    let other = IdentityDocument { nonce: vec![2], ..next.document.clone() };
    let other = signed(other, "abt");
    chain.take_in(next.clone()).expect("it counts");
    let later = signed(document(Some(chain.last()), "abc", 2, "u"), "abu");
    chain.take_in(later.clone()).expect("it counts");
    let mut turned = chain.turned(other.clone()).expect("it goes on from the first one");
    assert_eq!(turned.last(), &other);
    assert_eq!(turned.documents().len(), 2);
    assert!(turned.is_beside(&chain) && chain.is_beside(&turned));
    assert!(!begun().is_beside(&chain) && !chain.is_beside(&begun()));
    assert!(turned.take_in(later).is_err(), "it goes on from the other side");
    let forked = turned.take_in(next);
    assert!(matches!(forked, Ok(ChainGrowth::Forked(_))), "{forked:?}");
    assert!(
        chain.turned(chain.documents()[0].clone()).is_err(),
        "another first one is another peer"
    );
    let apart = signed(document(Some(&other), "abc", 2, "v"), "abv");
    assert!(chain.turned(apart).is_err(), "it goes on from what is not in this chain");
}

#[test]
fn an_epoch_begins_with_the_document_that_changes_the_keys_of_a_space() {
    let mut chain = begun();
    for (of_space, by) in [("s", "ab"), ("t", "abt"), ("t", "ab"), ("ts", "abs")] {
        let next = document(Some(chain.last()), "abc", 2, of_space);
        assert_eq!(chain.take_in(signed(next, by)), Ok(ChainGrowth::Grown), "{of_space}");
    }
    assert_eq!(chain.epoch(space(1)), Some(4));
    assert_eq!(chain.epoch(space(2)), None);
    let keys = |epoch| chain.in_epoch(space(1), epoch).map(|listed| listed.keys.len());
    assert_eq!([0, 1, 2, 3, 4, 5].map(keys), [Some(1), None, Some(1), None, Some(2), None]);
}

#[test]
fn what_is_not_as_it_would_be_made_is_no_document() {
    let good = document(None, "ab", 1, "s");
    assert_eq!(IdentityDocument::decode(&good.to_bytes()).as_ref(), Ok(&good));
    let listed = good.spaces[0].clone();
    let wrong = [
        IdentityDocument {
            control: ControlKeys { need: 0, ..good.control.clone() },
            ..good.clone()
        },
        IdentityDocument {
            control: ControlKeys { need: 3, ..good.control.clone() },
            ..good.clone()
        },
        IdentityDocument { spaces: vec![listed.clone(), listed.clone()], ..good.clone() },
        IdentityDocument {
            spaces: vec![ListedSpace { keys: Vec::new(), ..listed.clone() }],
            ..good.clone()
        },
        IdentityDocument {
            spaces: vec![ListedSpace { nick: "a/b".to_owned(), ..listed }],
            ..good.clone()
        },
        IdentityDocument { previous: Some(cid("x")), ..good.clone() },
        IdentityDocument { seq: 1, ..good.clone() },
        IdentityDocument { time: -1, ..good.clone() },
    ];
    for (number, wrong) in wrong.iter().enumerate() {
        assert!(IdentityDocument::decode(&wrong.to_bytes()).is_err(), "{number}");
    }
    let bytes = good.to_bytes();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        if let Ok(read) = IdentityDocument::decode(&changed) {
            assert_ne!(read, good, "a changed byte says something else, at {at}");
        }
        assert!(IdentityDocument::decode(&bytes[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn a_document_signed_for_something_else_is_not_signed() {
    let first = document(None, "a", 1, "a");
    let bytes = first.to_bytes();
    let text = crate::announcement::SignedAnnouncement::text(&bytes);
    let signature = key('a').sign(text);
    let forged = SignedDocument { document: first, bytes, signatures: vec![signature] };
    assert!(IdentityChain::begin(forged).is_err());
}
