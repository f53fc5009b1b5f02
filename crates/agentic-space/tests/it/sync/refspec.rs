//! What a remote is asked for, by whom it was named and before us.

use agentic_space::sync::{fetch, init};
use agentic_space::worktree::add;

use super::shared;
use crate::place::{Place, git, name};

/// Prints what git fetches from `origin`.
fn fetched(place: &Place) -> String {
    place.git(&["config", "--get-all", "remote.origin.fetch"])
}

#[test]
fn a_remote_is_told_once_what_to_fetch() {
    let mut place = Place::with(&["alice"]);
    place.make_remote();
    let changed = init(&place.space, &["origin".to_owned()]).expect("it is there");
    assert_eq!(changed, ["origin"]);
    let known = fetched(&place);
    assert!(known.contains("+refs/notes/agentic/*:refs/agentic/remotes/origin/notes/*"), "{known}");
    assert!(!known.contains(":refs/notes/"), "what was not pushed would be overwritten: {known}");
    assert_eq!(
        init(&place.space, &["origin".to_owned()]).expect("it is there"),
        Vec::<String>::new()
    );
    assert!(init(&place.space, &["elsewhere".to_owned()]).is_err());
}

#[test]
fn a_clone_of_one_branch_fetches_agents_all_the_same() {
    let (place, mut other) = shared();
    place.commit_on("main", "By hand");
    place.git(&["push", "--quiet", "origin", "main"]);
    let heads = "+refs/heads/agents/*:refs/remotes/origin/agents/*";
    for (before, is_added) in [
        ("+refs/heads/main:refs/remotes/origin/main", true),
        ("+refs/heads/*:refs/remotes/origin/*", false),
    ] {
        other.git(&["config", "--replace-all", "remote.origin.fetch", before]);
        other.space = other.open_again();
        fetch(&other.space, "origin", &[]).expect("it is there");
        let known = fetched(&other);
        assert_eq!(known.lines().any(|line| line == heads), is_added, "{known}");
        let alice = other.git(&["rev-parse", "refs/remotes/origin/agents/alice"]);
        assert_eq!(alice, other.head("alice").to_string());
    }
}

#[test]
fn the_pattern_that_let_a_rebase_rewrite_the_notes_of_others_goes() {
    let mut place = Place::with(&["alice"]);
    place.configure("notes.rewriteRef", "refs/notes/agentic/*");
    place.configure("notes.rewriteRef", "refs/notes/commits");
    let changed = init(&place.space, &[]).expect("the configuration is ours");
    assert_eq!(changed, ["notes.rewriteRef"]);
    let known = place.git(&["config", "--get-all", "notes.rewriteRef"]);
    assert_eq!(known, "refs/notes/commits", "what the user chose stays");
}

#[test]
fn a_worktree_that_plain_git_made_is_told_of_the_notes_of_its_agent() {
    let place = Place::with(&["alice", "bob"]);
    add(&place.space, &name("bob"), &place.beside("bob")).expect("the folder is free");
    let folder = place.beside("alice");
    place.git(&["worktree", "add", "--quiet", &folder.to_string_lossy(), "agents/alice"]);
    for wanted in [vec!["worktrees"], vec![]] {
        assert_eq!(init(&place.space, &[]).expect("the configuration is ours"), wanted);
    }
    for agent in ["alice", "bob"] {
        let own = git(&place.beside(agent), &["config", "--get-all", "notes.rewriteRef"]);
        assert_eq!(own, format!("refs/notes/agentic/{agent}"));
    }
}
