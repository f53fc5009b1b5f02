//! Libraries: names that mean objects, moved by compare-and-swap.

mod behaviour;
mod damage;
mod removal;

use agentic_space::Error;
use agentic_space::error::LibraryError;
use agentic_space::library::{
    ContestEnd, Library, LibraryEntry, MoveOccasion, MovedName, NameMove, move_name,
};
use agentic_space::model::edge::Party;
use agentic_space::model::{Cid, LibraryName, Map, Object, Person, StoredRules};
use agentic_space::sync::{PushScope, fetch, push};
use agentic_space::{Result, Space};

use crate::place::{Place, git, name as agent, walk};

pub fn rules(source: &str) -> Object {
    let rules =
        StoredRules { source: source.to_owned(), uses: Default::default(), fields: Map::new() };
    rules.to_object().expect("it is short")
}

fn named(text: &str) -> LibraryName {
    LibraryName::parse(text).expect("a flat name")
}

pub fn entry(space: &Space, name: &str) -> LibraryEntry {
    space.library(Library::Rules).and_then(|state| state.entry(&named(name))).expect("sound")
}

pub fn meaning(space: &Space, name: &str) -> Option<Cid> {
    entry(space, name).pointer.map(|pointer| pointer.cid)
}

/// Moves a name as it was found to new rules.
pub fn moving(found: LibraryEntry, source: &str, by: &str) -> NameMove {
    let by = Party::parse(by).expect("a party");
    let author = by.agent().map(Person::of_agent);
    let (object, library, why) = (rules(source), Library::Rules, "a reason".to_owned());
    let contest = ContestEnd::Refused;
    let to = Some(object.cid());
    let occasion = MoveOccasion::Storing;
    NameMove { library, found, to, objects: vec![object], by, author, why, contest, occasion }
}

pub fn set(space: &Space, name: &str, source: &str, by: &str) -> Result<MovedName> {
    move_name(space, &moving(entry(space, name), source, by))
}

#[test]
fn a_name_means_what_it_was_moved_to_and_keeps_its_history() {
    let place = Place::new();
    set(&place.space, "fresh", "p(1).", "user:eve").expect("the name is free");
    set(&place.space, "other", "q(1).", "user:eve").expect("the name is free");
    set(&place.space, "fresh", "p(2).", "user:eve").expect("nobody moved it");
    let again = place.open_again();
    assert_eq!(meaning(&again, "fresh"), Some(rules("p(2).").cid()));
    let state = again.library(Library::Rules).expect("sound");
    assert!(state.object(rules("p(1).").cid()).is_ok(), "what was named before stays");
    let changes = state.changes(&again, &named("fresh")).expect("sound");
    let cids: Vec<Option<Cid>> = changes.iter().map(|change| change.cid).collect();
    assert_eq!(cids, [Some(rules("p(2).").cid()), Some(rules("p(1).").cid())]);
    assert!(changes.iter().all(|change| change.why == "a reason" && !change.is_signed));
    place.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(meaning(&place.open_again(), "fresh"), Some(rules("p(2).").cid()));
    place.check_sound();
}

#[test]
fn whoever_comes_second_is_told_even_if_the_name_came_back() {
    let place = Place::new();
    set(&place.space, "fresh", "p(1).", "user:eve").expect("the name is free");
    let seen = entry(&place.space, "fresh");
    set(&place.space, "fresh", "p(2).", "user:eve").expect("nobody moved it");
    set(&place.space, "fresh", "p(1).", "user:eve").expect("nobody moved it");
    let late = move_name(&place.space, &moving(seen, "p(3).", "user:eve"));
    assert!(matches!(late, Err(Error::Library(LibraryError::NameMoved { .. }))), "{late:?}");
    assert_eq!(meaning(&place.space, "fresh"), Some(rules("p(1).").cid()));
}

#[test]
fn an_agent_moves_what_agents_set_and_not_what_a_person_set() {
    let place = Place::new();
    set(&place.space, "mine", "p(1).", "alice").expect("the name is free");
    set(&place.space, "mine", "p(2).", "bob").expect("an agent set it");
    set(&place.space, "mine", "p(3).", "user:eve").expect("a person may");
    let refused = set(&place.space, "mine", "p(4).", "alice");
    assert!(
        matches!(refused, Err(Error::Library(LibraryError::PersonsName { .. }))),
        "{refused:?}"
    );
    let removal = NameMove {
        to: None,
        objects: Vec::new(),
        ..moving(entry(&place.space, "mine"), "p(4).", "alice")
    };
    let refused = move_name(&place.space, &removal);
    assert!(
        matches!(refused, Err(Error::Library(LibraryError::PersonsName { .. }))),
        "{refused:?}"
    );
    let author = place.git(&["log", "-1", "--skip=2", "--format=%ae", "refs/agentic/rules"]);
    assert_eq!(author, Person::of_agent(&agent("alice")).email);
}

#[test]
fn a_move_that_is_broken_off_anywhere_is_made_once() {
    let prepare = || {
        let place = Place::new();
        set(&place.space, "fresh", "p(1).", "user:eve").expect("the name is free");
        place
    };
    let act = |place: &Place| _ = set(&place.space, "fresh", "p(2).", "user:eve");
    walk(prepare, act, |place, step| {
        let found = meaning(&place.space, "fresh");
        let both = [Some(rules("p(1).").cid()), Some(rules("p(2).").cid())];
        assert!(both.contains(&found), "step {step}: {found:?}");
        set(&place.space, "fresh", "p(2).", "user:eve").expect("nobody moved it");
        assert_eq!(meaning(&place.space, "fresh"), Some(rules("p(2).").cid()), "step {step}");
        let state = place.space.library(Library::Rules).expect("sound");
        assert_eq!(state.changes(&place.space, &named("fresh")).expect("sound").len(), 2);
    });
}

#[test]
fn those_who_race_for_names_lose_nothing() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let place = &place;
            scope.spawn(move || {
                let space = place.open_again();
                let (name, source) = (format!("n{number}"), format!("p({number})."));
                set(&space, &name, &source, "user:eve").expect("the name is free");
            });
        }
    });
    let state = place.space.library(Library::Rules).expect("sound");
    assert_eq!(state.entries().expect("sound").entries.len(), 6);
    place.check_sound();
}

#[test]
fn of_those_who_race_for_one_name_every_one_is_told_the_truth() {
    let place = Place::new();
    let found = entry(&place.space, "fresh");
    let made: Vec<bool> = std::thread::scope(|scope| {
        let make = |number: usize| {
            let (place, found) = (&place, found.clone());
            scope.spawn(move || {
                let moving = moving(found, &format!("p({number})."), "user:eve");
                move_name(&place.open_again(), &moving).is_ok()
            })
        };
        let all: Vec<_> = (0..4).map(make).collect();
        all.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(made.iter().filter(|made| **made).count(), 1);
}

/// Makes two places that share a remote and a name.
fn shared() -> (Place, Place) {
    let mut place = Place::new();
    set(&place.space, "fresh", "p(1).", "user:eve").expect("the name is free");
    let remote = place.make_remote();
    push(&place.space, "origin", PushScope::All).expect("the remote is empty");
    assert_eq!(git(&remote, &["for-each-ref", "--format=%(refname)"]), "refs/agentic/rules");
    let mut other = Place::new();
    other.add_remote(&remote);
    fetch(&other.space, "origin", &[]).expect("it is there");
    assert_eq!(meaning(&other.space, "fresh"), Some(rules("p(1).").cid()));
    (place, other)
}

#[test]
fn a_name_that_moved_there_alone_follows_beside_one_that_moved_here() {
    let (place, other) = shared();
    set(&other.space, "fresh", "p(2).", "user:ada").expect("nobody moved it");
    set(&other.space, "theirs", "t(1).", "user:ada").expect("the name is free");
    push(&other.space, "origin", PushScope::All).expect("it is ahead");
    set(&place.space, "ours", "o(1).", "user:eve").expect("the name is free");
    let fetched = fetch(&place.space, "origin", &[]).expect("it is there");
    assert!(fetched.contested.is_empty(), "{fetched:?}");
    for (name, source) in [("fresh", "p(2)."), ("theirs", "t(1)."), ("ours", "o(1).")] {
        assert_eq!(meaning(&place.space, name), Some(rules(source).cid()), "{name}");
        let state = place.space.library(Library::Rules).expect("sound");
        assert!(state.object(rules(source).cid()).is_ok(), "{name}");
    }
    push(&place.space, "origin", PushScope::All).expect("it is ahead");
    place.check_sound();
}

#[test]
fn a_name_that_moved_on_both_sides_stays_here_until_it_is_resolved() {
    let (place, other) = shared();
    set(&other.space, "fresh", "p(2).", "user:ada").expect("nobody moved it");
    push(&other.space, "origin", PushScope::All).expect("it is ahead");
    set(&place.space, "fresh", "p(3).", "user:eve").expect("nobody moved it");
    for _ in 0..2 {
        let fetched = fetch(&place.space, "origin", &[]).expect("it is there");
        assert_eq!(fetched.contested, [(Library::Rules, named("fresh"))]);
    }
    let found = entry(&place.space, "fresh");
    assert_eq!(found.pointer.as_ref().map(|it| it.cid), Some(rules("p(3).").cid()));
    assert_eq!(found.contested.as_ref().map(|it| it.cid), Some(rules("p(2).").cid()));
    let refused = set(&place.space, "fresh", "p(4).", "user:eve");
    assert!(matches!(refused, Err(Error::Library(LibraryError::Contested { .. }))), "{refused:?}");
    let stays = push(&place.space, "origin", PushScope::All).expect("there is nothing else");
    let contested = vec![(Library::Rules, named("fresh"))];
    assert_eq!((stays.contested, stays.refs), (contested, Vec::new()));
    let contest = ContestEnd::Resolved;
    let resolve = |by| NameMove { contest, ..moving(found.clone(), "p(2).", by) };
    let refused = move_name(&place.space, &resolve("alice"));
    assert!(
        matches!(refused, Err(Error::Library(LibraryError::PersonsName { .. }))),
        "{refused:?}"
    );
    move_name(&place.space, &resolve("user:eve")).expect("nobody moved it");
    push(&place.space, "origin", PushScope::All).expect("it is ahead");
    fetch(&other.space, "origin", &[]).expect("it is there");
    assert_eq!(meaning(&other.space, "fresh"), Some(rules("p(2).").cid()));
    assert_eq!(entry(&other.space, "fresh").contested, None);
    place.check_sound();
}

#[test]
fn another_change_there_stands_beside_ours_and_the_same_one_ends_it() {
    let (place, other) = shared();
    set(&place.space, "fresh", "p(3).", "user:eve").expect("nobody moved it");
    for source in ["p(2).", "p(5)."] {
        set(&other.space, "fresh", source, "user:ada").expect("nobody moved it");
        push(&other.space, "origin", PushScope::All).expect("it is ahead");
        fetch(&place.space, "origin", &[]).expect("it is there");
        let contested = entry(&place.space, "fresh").contested.map(|it| it.cid);
        assert_eq!(contested, Some(rules(source).cid()));
    }
    set(&other.space, "fresh", "p(3).", "user:ada").expect("nobody moved it");
    push(&other.space, "origin", PushScope::All).expect("it is ahead");
    let fetched = fetch(&place.space, "origin", &[]).expect("it is there");
    assert!(fetched.contested.is_empty(), "{fetched:?}");
    assert_eq!(meaning(&place.space, "fresh"), Some(rules("p(3).").cid()));
    push(&place.space, "origin", PushScope::All).expect("it is ahead");
}

#[test]
fn a_union_that_is_broken_off_anywhere_is_made_once() {
    let prepare = || {
        let (place, other) = shared();
        set(&other.space, "fresh", "p(2).", "user:ada").expect("nobody moved it");
        push(&other.space, "origin", PushScope::All).expect("it is ahead");
        set(&place.space, "fresh", "p(3).", "user:eve").expect("nobody moved it");
        place
    };
    let act = |place: &Place| _ = fetch(&place.space, "origin", &[]);
    walk(prepare, act, |place, step| {
        assert_eq!(meaning(&place.space, "fresh"), Some(rules("p(3).").cid()), "step {step}");
        fetch(&place.space, "origin", &[]).expect("it is there");
        let contested = entry(&place.space, "fresh").contested.map(|it| it.cid);
        assert_eq!(contested, Some(rules("p(2).").cid()), "step {step}");
    });
}

#[test]
fn another_remote_than_the_own_one_moves_no_name_here() {
    let (mut place, other) = shared();
    set(&other.space, "fresh", "p(2).", "user:bob").expect("nobody moved it");
    place.git(&["remote", "add", "bob", &other.path().to_string_lossy()]);
    place.space = place.open_again();
    fetch(&place.space, "bob", &[]).expect("it is there");
    assert_eq!(meaning(&place.space, "fresh"), Some(rules("p(1).").cid()));
    let theirs = place.space.library_of(Library::Rules, "bob").expect("sound");
    let theirs = theirs.entry(&named("fresh")).expect("sound").pointer;
    assert_eq!(theirs.map(|it| it.cid), Some(rules("p(2).").cid()));
    let pushed = push(&place.space, "bob", PushScope::All).expect("theirs stays theirs");
    assert_eq!(pushed.refs, Vec::<String>::new());
}
