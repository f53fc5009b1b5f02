//! Private agents: of many who hide theirs at once, one writes for all.

use agentic_git::PRIVATE_REF;
use agentic_space::privacy::hide_beside_others;
use agentic_space::{Options, Space};

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
        hide_beside_others(&place.space, &name(agent)).expect("there is room");
        assert!(is_private(&place, agent), "{agent}");
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
                hide_beside_others(&space, &name(agent)).expect("there is room");
                assert!(space.repository().is_private(&name(agent)).expect("sound"), "{agent}");
            });
        }
    });
    assert!(names.iter().all(|agent| is_private(&place, agent)));
    assert!(n_writes(&place) <= names.len());
    place.check_sound();
}
