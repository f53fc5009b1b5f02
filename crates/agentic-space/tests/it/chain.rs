//! Commits of several threads, and of several handles.

use std::thread;

use agentic_space::commit::commit;
use agentic_space::{Clock, Durability, Options, Space};

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

#[test]
fn threads_that_share_writes_each_hear_of_their_own_commit() {
    let place = Place::with(&["alice"]);
    // Only where the time is the machine's do threads write for each other.
    let options = Options { clock: Clock::System, durability: Some(Durability::Git) };
    let space = Space::open(&place.path(), options).expect("it is a repository");
    let made: Vec<_> = thread::scope(|scope| {
        let write = |number: usize| {
            let space = &space;
            scope.spawn(move || {
                let mut all = Vec::new();
                for round in 0..N_EACH {
                    let path = format!("{number}/{round}");
                    let change = draft(&path, &[(path.as_str(), Some("x"))]);
                    let done =
                        commit(space, &name("alice"), &change).expect("edits fit on any head");
                    all.push((path, done));
                }
                // One that cannot be committed is its own caller's error.
                let hostile = draft("Hostile", &[(".git/config", Some("x"))]);
                assert!(commit(space, &name("alice"), &hostile).is_err());
                all
            })
        };
        let all: Vec<_> = (0..N_THREADS).map(write).collect();
        all.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    for (path, done) in &made {
        let said = place.git(&["log", "-1", "--format=%s", &done.commit.to_string()]);
        assert_eq!((&said, &done.changed), (path, &vec![path.clone()]));
    }
    assert_eq!(place.files("alice").len(), N_THREADS * N_EACH);
    place.check_sound();
}
