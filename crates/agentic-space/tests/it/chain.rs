//! Commits of several threads, and of several handles.

use std::thread;

use agentic_space::commit::commit;

use crate::place::{Place, draft, name};

/// How many threads write at once.
const N_THREADS: usize = 8;
/// How many commits each makes.
const N_EACH: usize = 4;

#[test]
fn threads_that_share_a_handle_make_one_line_of_all_their_commits() {
    let place = Place::with(&["alice"]);
    thread::scope(|scope| {
        for number in 0..N_THREADS {
            let space = &place.space;
            scope.spawn(move || {
                for round in 0..N_EACH {
                    let path = format!("{number}/{round}");
                    let change = draft("Add a file", &[(path.as_str(), Some("x"))]);
                    commit(space, &name("alice"), &change).expect("edits fit on any head");
                }
            });
        }
    });
    let line = place.git(&["rev-list", "--first-parent", "--count", "agents/alice"]);
    let all = place.git(&["rev-list", "--count", "agents/alice"]);
    assert_eq!((line.as_str(), line.as_str()), (all.as_str(), "33"), "the genesis and 32 commits");
    assert_eq!(place.files("alice").len(), N_THREADS * N_EACH);
    place.check_sound();
}

#[test]
fn handles_of_their_own_see_what_the_others_wrote() {
    let place = Place::with(&["alice"]);
    let other = place.open_again();
    for (space, path) in [(&place.space, "a"), (&other, "b"), (&place.space, "c")] {
        commit(space, &name("alice"), &draft("Add", &[(path, Some("x"))])).expect("there is room");
    }
    assert_eq!(place.files("alice"), ["a", "b", "c"]);
    assert_eq!(other.head(&name("alice")).expect("sound"), place.head("alice"));
}
