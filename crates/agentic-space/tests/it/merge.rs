//! Merging.

use agentic_space::commit::TraceBinding;
use agentic_space::error::{BranchError, RemoteError};
use agentic_space::merge::{MergePlan, MergedWork, Target, merge};
use agentic_space::spawn::SpawnOrigin;
use agentic_space::{AgentBranch, Error, Result};

use crate::ask::rows;
use crate::place::{Place, kind, name, walk};

/// Makes alice with a file, and bob who was forked from her.
fn forked() -> Place {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("shared", Some("base\n"))]).expect("there is room");
    place.spawn("bob", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
    place
}

/// Merges bob into alice.
fn merge_bob(place: &Place) -> Result<MergedWork> {
    let target = Target::Agent(name("alice"));
    merge(&place.space, &AgentBranch::here(name("bob")), &target, &MergePlan::default())
}

#[test]
fn a_merge_has_what_both_did_and_is_made_once() {
    let place = forked();
    let ours = place.commit("alice", &[("a", Some("1"))]).expect("there is room").commit;
    let theirs = place.commit("bob", &[("b", Some("2"))]).expect("there is room").commit;
    let merged = merge_bob(&place).expect("nothing is in the way");
    let MergedWork::Commit { commit, parents, .. } = merged else { panic!("{merged:?}") };
    assert_eq!((place.head("alice"), parents), (commit, [ours, theirs]));
    assert_eq!(place.files("alice"), ["a", "b", "shared"]);
    let again = merge_bob(&place).expect("nothing is in the way");
    assert!(matches!(again, MergedWork::UpToDate { head } if head == commit), "{again:?}");
    assert_eq!(place.head("bob"), theirs, "who is merged stays where it is");
    place.check_sound();
}

#[test]
fn two_changes_of_one_line_are_a_conflict_and_nothing_moves() {
    let place = forked();
    place.commit("alice", &[("shared", Some("ours\n"))]).expect("there is room");
    place.commit("bob", &[("shared", Some("theirs\n"))]).expect("there is room");
    let before = place.head("alice");
    let merged = merge_bob(&place).expect("a conflict is an answer");
    let MergedWork::Conflict { conflicts } = merged else { panic!("{merged:?}") };
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    assert_eq!((place.head("alice"), place.file("alice", "shared")), (before, "ours".to_owned()));
}

#[test]
fn agents_that_share_no_commit_are_merged_upon_nothing() {
    let place = Place::with(&["alice", "bob"]);
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    place.commit("bob", &[("b", Some("2"))]).expect("there is room");
    let merged = merge_bob(&place).expect("nothing is in the way");
    assert!(matches!(merged, MergedWork::Commit { .. }), "{merged:?}");
    assert_eq!(place.files("alice"), ["a", "b"]);
}

#[test]
fn an_agent_is_not_merged_into_itself() {
    let place = Place::with(&["bob"]);
    let before = place.head("bob");
    let target = Target::Agent(name("bob"));
    let refused =
        merge(&place.space, &AgentBranch::here(name("bob")), &target, &MergePlan::default());
    assert!(matches!(refused, Err(Error::Branch(BranchError::SelfMerge { .. }))), "{refused:?}");
    assert_eq!(place.head("bob"), before);
}

#[test]
fn a_merge_that_is_broken_off_anywhere_is_made_once() {
    let prepare = || {
        let place = forked();
        place.commit("alice", &[("a", Some("1"))]).expect("there is room");
        place.commit("bob", &[("b", Some("2"))]).expect("there is room");
        place
    };
    let act = |place: &Place| _ = merge_bob(place);
    walk(prepare, act, |place, step| {
        merge_bob(place).unwrap_or_else(|error| panic!("step {step}: {error}"));
        assert_eq!(place.files("alice"), ["a", "b", "shared"], "step {step}");
        let merges = place.git(&["rev-list", "--merges", "--count", "agents/alice"]);
        assert_eq!(merges, "1", "step {step}");
    });
}

#[test]
fn a_conflict_is_concluded_with_a_resolved_tree() {
    let place = forked();
    place.commit("alice", &[("shared", Some("ours\n")), ("gone", Some("x"))]).expect("room");
    place.commit("bob", &[("shared", Some("theirs\n"))]).expect("there is room");
    let markers = place.beside("conflict");
    let plan = MergePlan { write_conflicts: Some(markers.clone()), ..MergePlan::default() };
    let target = Target::Agent(name("alice"));
    let bob = AgentBranch::here(name("bob"));
    let merged = merge(&place.space, &bob, &target, &plan).expect("a conflict is an answer");
    assert!(matches!(merged, MergedWork::Conflict { .. }), "{merged:?}");
    let text = std::fs::read_to_string(markers.join("shared")).expect("it is written");
    assert!(text.contains("<<<<<<< alice") && text.contains(">>>>>>> bob"), "{text}");
    let again = merge(&place.space, &bob, &target, &plan);
    assert!(matches!(again, Err(Error::Remote(RemoteError::NotEmpty { .. }))), "{again:?}");
    std::fs::write(markers.join("shared"), "both\n").expect("writable");
    let message = Some("Take both".to_owned());
    let plan = MergePlan { resolved: Some(markers), message, ..MergePlan::default() };
    let merged = merge(&place.space, &bob, &target, &plan).expect("it is resolved");
    assert!(matches!(merged, MergedWork::Commit { .. }), "{merged:?}");
    assert_eq!(place.file("alice", "shared"), "both");
    assert_eq!(place.git(&["log", "-1", "--format=%s", "agents/alice"]), "Take both");
}

#[test]
fn what_one_removed_and_the_other_changed_is_a_conflict() {
    let place = forked();
    place.commit("alice", &[("shared", None), ("a", Some("1"))]).expect("there is room");
    place.commit("bob", &[("shared", Some("changed\n"))]).expect("there is room");
    let merged = merge_bob(&place).expect("a conflict is an answer");
    let MergedWork::Conflict { conflicts } = merged else { panic!("{merged:?}") };
    assert_eq!(conflicts[0].path, "shared");
}

#[test]
fn work_is_merged_into_a_branch_that_no_agent_owns_and_the_agent_remembers() {
    let place = Place::new();
    let main = place.commit_on("main", "By hand");
    place.spawn("bob", &SpawnOrigin::Commit(main)).expect("the name is free");
    let theirs = place.commit("bob", &[("b", Some("2"))]).expect("there is room").commit;
    let target = Target::Branch("refs/heads/other".to_owned());
    let bob = AgentBranch::here(name("bob"));
    let nowhere = merge(&place.space, &bob, &target, &MergePlan::default());
    assert!(matches!(nowhere, Err(Error::Branch(BranchError::Unknown { .. }))), "{nowhere:?}");
    place.git(&["update-ref", "refs/heads/other", &main.to_string()]);
    let merged = merge(&place.space, &bob, &target, &MergePlan::default()).expect("it is there");
    let MergedWork::Commit { commit, parents, .. } = merged else { panic!("{merged:?}") };
    assert_eq!(parents, [main, theirs]);
    assert_eq!(place.git(&["rev-parse", "refs/heads/other"]), commit.to_string());
    assert_eq!(rows(&place.open_again(), "? merged_into(bob, B)."), "branch:other");
}

#[test]
fn a_merge_takes_the_trace_of_its_target_if_that_is_meant() {
    let place = forked();
    place.commit("bob", &[("b", Some("2"))]).expect("there is room");
    place.space.add_trace(&name("alice"), &kind("log"), b"merging").expect("there is room");
    let plan = MergePlan { capture: TraceBinding::WithTrace, ..MergePlan::default() };
    let target = Target::Agent(name("alice"));
    let merged = merge(&place.space, &AgentBranch::here(name("bob")), &target, &plan);
    let Ok(MergedWork::Commit { commit, trace, .. }) = merged else { panic!("{merged:?}") };
    assert_eq!(Some(place.space.trace_of_commit(commit).expect("it is bound").cid), trace);
}

#[test]
fn a_name_means_an_agent_or_a_branch_and_not_both() {
    let place = Place::with(&["alice"]);
    place.commit_on("main", "By hand");
    let target = |text: &str| place.space.merge_target(text).ok().map(|target| target.name());
    for (text, wanted) in [
        ("alice", Some("alice")),
        ("agents/alice", Some("alice")),
        ("refs/heads/agents/alice", Some("alice")),
        ("main", Some("main")),
        ("heads/main", Some("main")),
        ("refs/heads/main", Some("main")),
        ("nobody", None),
        ("", None),
        ("../main", None),
    ] {
        assert_eq!(target(text).as_deref(), wanted, "{text:?}");
    }
    place.commit_on("alice", "A branch of the same name");
    let both = place.space.merge_target("alice");
    assert!(matches!(both, Err(Error::Branch(BranchError::Ambiguous { .. }))), "{both:?}");
    assert_eq!(target("heads/alice").as_deref(), Some("alice"));
}

#[test]
fn merges_that_race_for_a_target_are_both_made() {
    let place = forked();
    place.spawn("carol", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
    for (agent, file) in [("bob", "b"), ("carol", "c")] {
        place.commit(agent, &[(file, Some("x"))]).expect("there is room");
    }
    std::thread::scope(|scope| {
        for agent in ["bob", "carol"] {
            let place = &place;
            scope.spawn(move || {
                let target = Target::Agent(name("alice"));
                let source = AgentBranch::here(name(agent));
                merge(&place.open_again(), &source, &target, &MergePlan::default()).expect("merged")
            });
        }
    });
    assert_eq!(place.files("alice"), ["b", "c", "shared"]);
    place.check_sound();
}
