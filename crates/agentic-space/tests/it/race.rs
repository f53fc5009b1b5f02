//! Lost races. The program that signs runs between the preparation of a write and its lock: here it
//! lets somebody else come first, so that each race is lost for certain.

use agentic_space::commit::{CommitDraft, TreeSource, commit};
use agentic_space::error::{AgentError, BranchError, LibraryError, WorktreeError};
use agentic_space::library::move_name;
use agentic_space::merge::{MergePlan, MergedWork, Target, merge};
use agentic_space::model::Oid;
use agentic_space::spawn::SpawnOrigin;
use agentic_space::worktree::add;
use agentic_space::{AgentBranch, Error};

use crate::library::{entry, meaning, moving, rules, set};
use crate::place::{Place, draft, name};
use crate::signing::{SIGNS, sign_with};

/// Makes a commit with a file `theirs` upon the head of an agent, and moves no branch there.
fn theirs_upon(place: &Place, agent: &str) -> String {
    let file = place.beside("theirs");
    std::fs::write(&file, "x").expect("writable");
    let blob = place.git(&["hash-object", "-w", &file.to_string_lossy()]);
    let branch = format!("refs/heads/agents/{agent}");
    place.git(&["read-tree", &branch]);
    let entry = format!("100644,{blob},theirs");
    place.git(&["update-index", "--add", "--cacheinfo", &entry]);
    let tree = place.git(&["write-tree"]);
    place.git(&["commit-tree", "-m", "Theirs", "-p", &branch, &tree])
}

/// Lets somebody move a ref while the next write is signed, and while no later one is.
fn rival(place: &mut Place, name: &str, to: &str) {
    let first = r#"[ -e "$(dirname "$0")/signed" ]"#;
    let step = format!(r#"git -C "$(dirname "$0")/repo" update-ref {name} {to}"#);
    sign_with(place, &format!("{first} || {step} < /dev/null\n{SIGNS}"));
}

/// Makes alice, whose branch somebody else moves while her next commit is signed.
fn overtaken() -> (Place, Oid) {
    let mut place = Place::with(&["alice"]);
    let theirs = theirs_upon(&place, "alice");
    rival(&mut place, "refs/heads/agents/alice", &theirs);
    (place, Oid::parse(&theirs).expect("git prints an id"))
}

/// How often something was signed.
fn n_signed(place: &Place) -> usize {
    std::fs::read_to_string(place.beside("signed")).expect("something was signed").lines().count()
}

#[test]
fn edits_that_were_overtaken_are_made_again_upon_the_new_head() {
    let (place, theirs) = overtaken();
    let done = place.commit("alice", &[("ours", Some("1"))]).expect("edits fit on any head");
    assert_eq!((done.parents, n_signed(&place)), (vec![theirs], 2));
    assert_eq!(place.files("alice"), ["ours", "theirs"]);
    place.check_sound();
}

#[test]
fn a_head_that_was_expected_and_overtaken_while_it_was_signed_is_a_conflict() {
    let (place, theirs) = overtaken();
    let expect = Some(place.head("alice"));
    let late = CommitDraft { expect, ..draft("Late", &[("ours", Some("1"))]) };
    let refused = commit(&place.space, &name("alice"), &late);
    let Err(Error::Branch(BranchError::HeadMoved { found, .. })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((found, place.head("alice")), (Some(theirs), theirs));
}

#[test]
fn a_whole_folder_that_was_overtaken_removes_nothing_of_theirs() {
    let (place, theirs) = overtaken();
    let folder = place.beside("folder");
    std::fs::create_dir(&folder).expect("writable");
    std::fs::write(folder.join("ours"), "1").expect("writable");
    let whole = CommitDraft { source: TreeSource::Folder(folder), ..draft("All", &[]) };
    let refused = commit(&place.space, &name("alice"), &whole);
    assert!(matches!(refused, Err(Error::Branch(BranchError::HeadMoved { .. }))), "{refused:?}");
    assert_eq!((place.head("alice"), n_signed(&place)), (theirs, 1));
}

#[test]
fn a_worktree_that_was_overtaken_is_stale_and_keeps_its_work() {
    let mut place = Place::with(&["alice"]);
    let folder = place.beside("alice");
    let worktree = add(&place.space, &name("alice"), &folder).expect("the folder is free");
    let theirs = theirs_upon(&place, "alice");
    rival(&mut place, "refs/heads/agents/alice", &theirs);
    std::fs::write(folder.join("ours"), "1").expect("writable");
    let work = CommitDraft { source: TreeSource::Worktree(worktree), ..draft("Work", &[]) };
    let refused = commit(&place.space, &name("alice"), &work);
    assert!(matches!(refused, Err(Error::Worktree(WorktreeError::Stale { .. }))), "{refused:?}");
    assert_eq!(place.head("alice").to_string(), theirs);
    assert_eq!(std::fs::read_to_string(folder.join("ours")).expect("it is there"), "1");
}

#[test]
fn a_merge_that_was_overtaken_is_made_again_and_one_resolved_by_hand_is_not() {
    for is_resolved in [false, true] {
        let mut place = Place::with(&["alice"]);
        place.spawn("bob", &SpawnOrigin::Agent(name("alice"))).expect("the name is free");
        place.commit("bob", &[("b", Some("2"))]).expect("there is room");
        let theirs = theirs_upon(&place, "alice");
        rival(&mut place, "refs/heads/agents/alice", &theirs);
        let resolved = is_resolved.then(|| place.beside("resolved"));
        if let Some(folder) = &resolved {
            std::fs::create_dir(folder).expect("writable");
        }
        let plan = MergePlan { resolved, ..MergePlan::default() };
        let (bob, target) = (AgentBranch::here(name("bob")), Target::Agent(name("alice")));
        match merge(&place.space, &bob, &target, &plan) {
            Ok(MergedWork::Commit { parents, .. }) if !is_resolved => {
                assert_eq!(parents[0].to_string(), theirs);
                assert_eq!(place.files("alice"), ["b", "theirs"]);
            }
            Err(Error::Branch(BranchError::HeadMoved { .. })) if is_resolved => {
                assert_eq!(place.head("alice").to_string(), theirs);
            }
            other => panic!("resolved {is_resolved}: {other:?}"),
        }
        place.check_sound();
    }
}

#[test]
fn a_name_of_an_agent_that_was_taken_while_it_was_signed_stays_taken() {
    let mut place = Place::with(&["alice"]);
    let head = place.head("alice");
    rival(&mut place, "refs/heads/agents/bob", &head.to_string());
    let refused = place.spawn("bob", &SpawnOrigin::Root);
    assert!(matches!(refused, Err(Error::Agent(AgentError::Exists { .. }))), "{refused:?}");
    assert_eq!(place.head("bob"), head);
}

/// Lets somebody bring a library to where it was after a name was set, while the next is signed.
fn library_overtaken(rivals: &str) -> Place {
    let mut place = Place::new();
    set(&place.space, "fresh", "p(1).", "user:eve").expect("the name is free");
    let before = place.git(&["rev-parse", "refs/agentic/rules"]);
    set(&place.space, rivals, "p(2).", "user:ada").expect("nobody moved it");
    let after = place.git(&["rev-parse", "refs/agentic/rules"]);
    place.git(&["update-ref", "refs/agentic/rules", &before]);
    rival(&mut place, "refs/agentic/rules", &after);
    place
}

#[test]
fn a_name_is_moved_although_another_one_was_meanwhile() {
    let place = library_overtaken("other");
    set(&place.space, "fresh", "p(3).", "user:eve").expect("nobody moved this one");
    for (name, source) in [("fresh", "p(3)."), ("other", "p(2).")] {
        assert_eq!(meaning(&place.space, name), Some(rules(source).cid()), "{name}");
    }
    assert_eq!(n_signed(&place), 2);
    place.check_sound();
}

#[test]
fn a_name_that_was_moved_meanwhile_means_what_the_first_one_said() {
    let place = library_overtaken("fresh");
    let found = entry(&place.space, "fresh");
    let refused = move_name(&place.space, &moving(found, "p(3).", "user:eve"));
    let Err(Error::Library(LibraryError::NameMoved { found, .. })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(found, Some(rules("p(2).").cid()));
    assert_eq!(meaning(&place.space, "fresh"), found);
}
