//! Rewrites that agents' notes keep.

use agentic_space::model::{Oid, Rewrite};

use crate::place::{Place, name};

fn kept(place: &Place) -> Vec<Rewrite> {
    let space = place.open_again();
    let tip = space.repository().find_ref(&name("alice").notes_ref()).expect("refs can be read");
    space.kept_rewrites(tip).expect("notes can be read")
}

fn rewrite(to: char) -> Rewrite {
    let oid = |digit: char| Oid::parse(&digit.to_string().repeat(40)).expect("valid");
    Rewrite { from: vec![oid('a'), oid('b')], to: oid(to), by: "window".to_owned() }
}

#[test]
fn a_rewrite_is_kept_once() {
    let place = Place::with(&["alice"]);
    let alice = name("alice");
    for _ in 0..2 {
        place.space.keep_rewrites(&alice, &[rewrite('c')]).expect("there is room");
    }
    assert_eq!(kept(&place), [rewrite('c')]);
    place.space.keep_rewrites(&alice, &[rewrite('c'), rewrite('d')]).expect("there is room");
    assert_eq!(kept(&place).len(), 2);
}

#[test]
fn nobody_keeps_a_rewrite_of_nothing() {
    let place = Place::with(&["alice"]);
    let nothing = Rewrite { from: Vec::new(), ..rewrite('c') };
    assert!(place.space.keep_rewrites(&name("alice"), &[nothing]).is_err());
    assert!(kept(&place).is_empty());
}
