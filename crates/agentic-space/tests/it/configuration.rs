//! What a space that stays open learns of git's configuration.

use std::time::{Duration, Instant};

use agentic_space::commit::commit;

use crate::place::{Place, draft, name};

/// How long it may take until a change is noticed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tries until something holds.
fn until(holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "it is not noticed");
        std::thread::yield_now();
    }
}

#[test]
fn commits_name_whoever_git_knows_by_now_in_every_thread() {
    let place = Place::with(&["alice"]);
    place.git(&["config", "user.email", "eve@example.com"]);
    until(|| place.space.repository().committer().is_ok_and(|it| it.email == "eve@example.com"));
    std::thread::scope(|scope| {
        for path in ["a", "b"] {
            let space = &place.space;
            scope.spawn(move || {
                let done = commit(space, &name("alice"), &draft(path, &[(path, Some("x"))]));
                done.expect("edits fit on any head");
            });
        }
    });
    let committers = place.git(&["log", "-2", "--format=%ce", "agents/alice"]);
    assert_eq!(committers, "eve@example.com\neve@example.com");
    place.check_sound();
}

#[test]
fn remotes_come_and_go_while_a_space_is_open() {
    let place = Place::with(&["alice"]);
    let remotes = || place.space.repository().remotes();
    assert_eq!(remotes(), Vec::<String>::new());
    place.git(&["remote", "add", "elsewhere", "/nowhere"]);
    until(|| remotes() == ["elsewhere"]);
    place.git(&["remote", "rename", "elsewhere", "there"]);
    assert_eq!(remotes(), ["there"]);
    place.git(&["remote", "remove", "there"]);
    assert_eq!(remotes(), Vec::<String>::new());
}
