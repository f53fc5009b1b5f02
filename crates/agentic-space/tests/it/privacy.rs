//! Private agents: of many who hide theirs at once, one writes for all.

use agentic_git::PRIVATE_REF;
use agentic_space::privacy::hide_beside_others;
use agentic_space::{Options, Space};
use agentic_store::{Lock, Patience, Stream};

use crate::place::{Place, name};

/// Counts how often the list was written.
fn n_writes(place: &Place) -> usize {
    let log = place.git(&["rev-list", "--count", PRIVATE_REF]);
    log.trim().parse().expect("a number")
}

fn is_private(place: &Place, agent: &str) -> bool {
    place.space.repository().is_private(&name(agent)).expect("the list is sound")
}

#[test]
fn whoever_writes_takes_along_who_waits_and_nobody_who_is_there() {
    let place = Place::with(&["open"]);
    let folder = place.space.repository().layout().capture().join("private");
    std::fs::create_dir_all(&folder).expect("writable");
    // `open` was left by somebody who died, and is nobody's now.
    for said in ["b", "c", "open", ".not a name"] {
        std::fs::write(folder.join(said), "").expect("writable");
    }
    for agent in ["a", "b", "c"] {
        let is_hidden = hide_beside_others(&place.space, &name(agent), Patience::Endless);
        assert!(is_hidden.expect("there is room") && is_private(&place, agent), "{agent}");
        assert_eq!(n_writes(&place), 1, "{agent}");
    }
    assert!(!is_private(&place, "open"));
    let left = std::fs::read_dir(&folder).expect("it is there").flatten();
    let left: Vec<_> = left.map(|file| file.file_name()).collect();
    assert_eq!(left, [".not a name"]);
}

#[test]
fn all_are_private_who_ask_at_once() {
    let place = Place::new();
    let folder = place.space.repository().common_dir().to_owned();
    let names: Vec<String> = (0..16).map(|number| format!("a-{number}")).collect();
    std::thread::scope(|threads| {
        for agent in &names {
            let folder = &folder;
            threads.spawn(move || {
                let space = Space::open(folder, Options::default()).expect("it is there");
                let is_hidden = hide_beside_others(&space, &name(agent), Patience::Endless);
                assert!(is_hidden.expect("there is room"), "{agent}");
                assert!(space.repository().is_private(&name(agent)).expect("sound"), "{agent}");
            });
        }
    });
    assert!(names.iter().all(|agent| is_private(&place, agent)));
    assert!(n_writes(&place) <= names.len());
    place.check_sound();
}

#[test]
fn whoever_cannot_wait_is_taken_along_by_the_next_who_writes() {
    let place = Place::new();
    let repository = place.space.repository();
    let path = repository.layout().lock(&Stream::of_branch(PRIVATE_REF));
    let held = Lock::take(&path, repository.common_dir()).expect("nobody holds it");
    let hide = |agent: &str| {
        let hurry = Patience::of(std::time::Duration::ZERO);
        hide_beside_others(&place.space, &name(agent), hurry).expect("the list is sound")
    };
    for agent in ["a", "b", "b"] {
        assert!(!hide(agent), "somebody else writes");
        assert!(!is_private(&place, agent), "{agent}");
    }
    drop(held);
    assert!(hide("b"));
    assert!(is_private(&place, "a") && is_private(&place, "b"));
    assert!(hide("a"), "it is private already");
    assert_eq!(n_writes(&place), 1);
    place.check_sound();
}
