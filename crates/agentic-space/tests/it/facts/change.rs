//! Facts about what commits changed, and about what they say.

use agentic_space::commit::commit;
use agentic_space::model::{Map, Value};

use crate::ask::rows;
use crate::place::{Place, draft, kind, name};

/// What the newest commit of alice changed.
const NEWEST: &str = "? (P, S) agent(name: alice, head: _C), changed(_C, P, S).";
const COUNTED: &str = "? (P, X, Y) agent(name: alice, head: _C), lines(_C, P, X, Y).";

#[test]
fn each_sort_of_change_has_its_letter_and_its_lines() {
    let place = Place::with(&["alice"]);
    let commit = |files: &[(&str, Option<&str>)]| {
        place.commit("alice", files).expect("it changes something");
    };
    commit(&[("kept", Some("1\n")), ("gone", Some("1\n2\n")), ("dir/deep", Some("x"))]);
    assert_eq!(rows(&place.space, NEWEST), "dir/deep A; gone A; kept A");
    assert_eq!(rows(&place.space, COUNTED), "dir/deep 1 0; gone 2 0; kept 1 0");
    commit(&[("kept", Some("1\n2\n")), ("gone", None)]);
    assert_eq!(rows(&place.space, NEWEST), "gone D; kept M");
    assert_eq!(rows(&place.space, COUNTED), "gone 0 2; kept 1 0");
    // A file in the place of a folder is both: the folder's files are gone.
    commit(&[("dir/deep", None), ("dir", Some("now a file"))]);
    assert_eq!(rows(&place.space, NEWEST), "dir A; dir/deep D");
}

#[test]
fn what_is_no_text_has_no_lines() {
    let place = Place::with(&["alice"]);
    place
        .commit("alice", &[("image", Some("\0\u{1}\u{2}")), ("empty", Some(""))])
        .expect("there is room");
    assert_eq!(rows(&place.space, COUNTED), "empty 0 0; image null null");
}

#[test]
fn a_path_is_told_as_it_is() {
    let place = Place::with(&["alice"]);
    let paths = ["with blank", "quote\"d", "tab\tbed", "ümlaut", "ends\n"];
    let files: Vec<(&str, Option<&str>)> = paths.iter().map(|path| (*path, Some("1\n"))).collect();
    place.commit("alice", &files).expect("there is room");
    for path in ["with blank", "ümlaut"] {
        let asked = format!(
            "? agent(name: alice, head: _C), changed(_C, \"{path}\", S), lines(_C, \"{path}\", X, Y)."
        );
        assert_eq!(rows(&place.space, &asked), "A 1 0", "{path}");
    }
    let counted = "? (N) agent(name: alice, head: _C), N = count { lines(_C, _P, 1, 0) }.";
    assert_eq!(
        rows(&place.space, counted),
        paths.len().to_string(),
        "both readers agree on every path"
    );
}

#[test]
fn the_users_configuration_of_git_changes_no_fact() {
    let mut place = Place::with(&["alice"]);
    let old = "a\n{\n}\nb\n{\n}\n";
    place.commit("alice", &[("f", Some(old))]).expect("there is room");
    place.commit("alice", &[("f", Some("a\n{\n}\nc\n{\n}\nb\n{\n}\n"))]).expect("there is room");
    let before = (rows(&place.space, NEWEST), rows(&place.space, COUNTED));
    place.configure("diff.algorithm", "patience");
    place.configure("diff.external", "false");
    place.configure("diff.renames", "copies");
    place.configure("core.quotePath", "true");
    let cache = place.space.repository().layout().cache().join("query");
    std::fs::remove_dir_all(cache).expect("something was cached");
    assert_eq!((rows(&place.space, NEWEST), rows(&place.space, COUNTED)), before);
}

#[test]
fn a_message_is_told_in_its_parts() {
    let place = Place::with(&["alice"]);
    let mut spoken = draft("Title\n\nBody, first.\n\nBody, second.", &[("a", Some("1"))]);
    spoken.kind = Some(kind("finding"));
    let fields = [("severity", Value::text("low")), ("n", Value::Int(3))];
    spoken.fields = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map>();
    commit(&place.space, &name("alice"), &spoken).expect("there is room");
    let of_finding =
        |goal: &str| rows(&place.space, &format!("? commit(id: _C, kind: finding), {goal}."));
    assert_eq!(of_finding("subject(_C, T)"), "Title");
    assert!(of_finding("body(_C, T)").contains("Body, first."));
    assert_eq!(of_finding("field(_C, N, V)"), "n 3; severity low");
    assert_eq!(of_finding("claim(_C, kind, V)"), "finding");
    assert_eq!(of_finding("committer(_C, N, E)"), "Ada ada@example.com");
    // A commit without a body has no row, and one without fields none either.
    assert_eq!(rows(&place.space, "? (N) N = count { body(_C, _T) }."), "1");
    assert_eq!(rows(&place.space, "? (N) N = count distinct { _C: field(_C, _F, _V) }."), "1");
}

#[test]
fn what_a_commit_claims_counts_only_where_it_stands() {
    let place = Place::with(&["alice", "bob"]);
    let copied = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    let message = place.git(&["log", "-1", "--format=%B", &copied.to_string()]);
    let tree = place.git(&["rev-parse", "agents/bob^{tree}"]);
    let forged = place.git(&["commit-tree", "-p", "agents/bob", "-m", &message, &tree]);
    place.git(&["update-ref", "refs/heads/agents/bob", &forged]);
    let space = place.open_again();
    assert_eq!(rows(&space, "? (A, F) copied(_C, A, F)."), "bob alice");
    assert_eq!(
        rows(&space, "? (A, N) commit(id: _C, agent: A, n: N), claim(_C, agent, alice)."),
        "alice 0; alice 1; bob 1"
    );
}
