//! Worktrees.

mod damage;

use std::path::PathBuf;

use agentic_space::Error;
use agentic_space::commit::{CommitDraft, TreeSource, commit};
use agentic_space::error::WorktreeError;
use agentic_space::worktree::{UncommittedWork, add, check_place, default_path, remove, sync};

use crate::place::{Place, draft, git, name, walk};

#[test]
fn what_is_done_in_a_worktree_is_committed_from_there() {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    let folder = place.beside("alice");
    let worktree = add(&place.space, &name("alice"), &folder).expect("the folder is free");
    assert_eq!(std::fs::read_to_string(folder.join("a")).expect("it is checked out"), "1");
    std::fs::write(folder.join("b"), "2").expect("writable");
    let mut work = draft("From the worktree", &[]);
    work.source = TreeSource::Worktree(worktree);
    let done = commit(&place.space, &name("alice"), &work).expect("there is room");
    assert_eq!((done.changed, place.file("alice", "b")), (vec!["b".to_owned()], "2".to_owned()));
    let status = crate::place::git(&folder, &["status", "--porcelain"]);
    assert_eq!(status, "", "git sees nothing left to commit");
}

#[test]
fn files_follow_a_commit_that_was_made_elsewhere() {
    let place = Place::with(&["alice"]);
    let folder = place.beside("alice");
    add(&place.space, &name("alice"), &folder).expect("the folder is free");
    place.commit("alice", &[("a", Some("1"))]).expect("there is room");
    sync(&place.space, &name("alice")).expect("nothing is in the way");
    assert_eq!(std::fs::read_to_string(folder.join("a")).expect("it came along"), "1");
}

#[test]
fn work_that_is_not_committed_is_not_removed_by_mistake() {
    let place = Place::with(&["alice"]);
    let folder = place.beside("alice");
    add(&place.space, &name("alice"), &folder).expect("the folder is free");
    std::fs::write(folder.join("work"), "x").expect("writable");
    let refused = remove(&place.space, &name("alice"), UncommittedWork::Kept);
    let Err(Error::Worktree(WorktreeError::UncommittedWork { .. })) = refused else {
        panic!("{refused:?}")
    };
    assert!(folder.join("work").exists());
    remove(&place.space, &name("alice"), UncommittedWork::Discarded).expect("it may go");
    assert!(!folder.exists());
    place.head("alice");
}

#[test]
fn an_agent_has_one_worktree_in_a_folder_of_its_own() {
    let place = Place::with(&["alice", "bob"]);
    let folder = place.beside("alice");
    add(&place.space, &name("alice"), &folder).expect("the folder is free");
    let taken = add(&place.space, &name("bob"), &folder);
    assert!(matches!(taken, Err(Error::Worktree(WorktreeError::PathTaken { .. }))), "{taken:?}");
    let second = add(&place.space, &name("alice"), &place.beside("second"));
    assert!(matches!(second, Err(Error::Worktree(WorktreeError::CheckedOut { .. }))), "{second:?}");
    let missing = place.space.worktree_of(&name("bob"));
    assert!(matches!(missing, Err(Error::Worktree(WorktreeError::Missing { .. }))), "{missing:?}");
}

/// Makes alice with a file and a worktree.
fn at_work() -> (Place, PathBuf) {
    let place = Place::with(&["alice"]);
    place.commit("alice", &[("a", Some("1\n2\n3\n4\n5\n"))]).expect("there is room");
    let folder = place.beside("alice");
    add(&place.space, &name("alice"), &folder).expect("the folder is free");
    (place, folder)
}

fn snapshot(place: &Place) -> CommitDraft {
    let worktree = place.space.worktree_of(&name("alice")).expect("it is there");
    CommitDraft { source: TreeSource::Worktree(worktree), ..draft("From the worktree", &[]) }
}

#[test]
fn a_worktree_that_is_broken_off_anywhere_is_made_in_the_end() {
    let prepare = || {
        let place = Place::with(&["alice"]);
        place.commit("alice", &[("a", Some("1"))]).expect("there is room");
        place
    };
    let act = |place: &Place| _ = add(&place.space, &name("alice"), &place.beside("alice"));
    walk(prepare, act, |place, step| {
        let folder = place.beside("alice");
        match add(&place.space, &name("alice"), &folder) {
            Ok(_)
            | Err(Error::Worktree(
                WorktreeError::PathTaken { .. } | WorktreeError::CheckedOut { .. },
            )) => {}
            Err(other) => panic!("step {step}: {other}"),
        }
        let text = std::fs::read_to_string(folder.join("a"));
        assert_eq!(text.ok().as_deref(), Some("1"), "step {step}");
        assert_eq!(git(&folder, &["status", "--porcelain"]), "", "step {step}");
    });
}

#[test]
fn files_that_are_brought_along_are_there_wherever_that_is_broken_off() {
    let prepare = || at_work().0;
    let act = |place: &Place| _ = place.commit("alice", &[("b", Some("new")), ("a", None)]);
    walk(prepare, act, |place, step| {
        let folder = place.beside("alice");
        sync(&place.space, &name("alice")).unwrap_or_else(|error| panic!("step {step}: {error}"));
        let is_committed = place.files("alice") == ["b"];
        assert_eq!(folder.join("b").exists(), is_committed, "step {step}");
        assert_eq!(folder.join("a").exists(), !is_committed, "step {step}");
        assert_eq!(git(&folder, &["status", "--porcelain"]), "", "step {step}");
    });
}

#[test]
fn work_that_is_in_the_way_keeps_a_branch_where_it_is() {
    let (place, folder) = at_work();
    std::fs::write(folder.join("a"), "edited\n").expect("writable");
    let before = place.head("alice");
    let refused = place.commit("alice", &[("b", Some("1"))]);
    let Err(Error::Worktree(WorktreeError::Busy { .. })) = refused else { panic!("{refused:?}") };
    assert_eq!(place.head("alice"), before);
    assert_eq!(std::fs::read_to_string(folder.join("a")).expect("it is there"), "edited\n");
}

#[test]
fn a_snapshot_of_a_worktree_that_is_behind_reverts_nothing() {
    let (place, folder) = at_work();
    std::fs::write(folder.join("mine"), "x").expect("writable");
    let by_hand =
        place.git(&["commit-tree", "-p", "agents/alice", "-m", "By hand", "agents/alice^{tree}"]);
    place.git(&["update-ref", "refs/heads/agents/alice", &by_hand]);
    let refused = commit(&place.space, &name("alice"), &snapshot(&place));
    let Err(Error::Worktree(WorktreeError::Stale { .. })) = refused else { panic!("{refused:?}") };
    let synced = sync(&place.space, &name("alice")).expect("nothing is in the way");
    assert_eq!(synced.to.to_string(), by_hand);
    commit(&place.space, &name("alice"), &snapshot(&place)).expect("it is where the head is");
    assert_eq!(place.files("alice"), ["a", "mine"]);
}

/// Moves the branch of alice to a commit that changes the first line of her file.
fn changed_elsewhere(place: &Place) {
    let blob = place.beside("blob");
    std::fs::write(&blob, "one\n2\n3\n4\n5\n").expect("writable");
    let blob = place.git(&["hash-object", "-w", &blob.to_string_lossy()]);
    let index = place.beside("index").to_string_lossy().into_owned();
    let script = format!(
        "export GIT_INDEX_FILE='{index}'; git update-index --add --cacheinfo 100644,{blob},a && \
         tree=$(git write-tree) && new=$(git commit-tree -p agents/alice -m x $tree) && \
         git update-ref refs/heads/agents/alice $new"
    );
    let ran =
        std::process::Command::new("sh").arg("-c").arg(script).current_dir(place.path()).status();
    assert!(ran.is_ok_and(|status| status.success()));
}

#[test]
fn what_was_edited_meanwhile_is_merged_or_stays_as_it_is() {
    let (place, folder) = at_work();
    changed_elsewhere(&place);
    std::fs::write(folder.join("a"), "1\n2\n3\n4\nfive\n").expect("writable");
    sync(&place.space, &name("alice")).expect("the changes do not touch");
    assert_eq!(
        std::fs::read_to_string(folder.join("a")).expect("it is there"),
        "one\n2\n3\n4\nfive\n"
    );
    let (place, folder) = at_work();
    changed_elsewhere(&place);
    std::fs::write(folder.join("a"), "mine\n2\n3\n4\n5\n").expect("writable");
    let refused = sync(&place.space, &name("alice"));
    let Err(Error::Worktree(WorktreeError::SyncConflict { conflicts, .. })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(conflicts, ["a"]);
    let text = std::fs::read_to_string(folder.join("a")).expect("it is there");
    assert_eq!(text, "mine\n2\n3\n4\n5\n", "no markers are written");
    let stale = commit(&place.space, &name("alice"), &snapshot(&place));
    assert!(matches!(stale, Err(Error::Worktree(WorktreeError::Stale { .. }))), "{stale:?}");
}

#[test]
fn a_worktree_whose_folder_is_gone_is_forgotten() {
    let (place, folder) = at_work();
    std::fs::remove_dir_all(&folder).expect("it is there");
    let gone = place.space.worktree_of(&name("alice"));
    assert!(matches!(gone, Err(Error::Worktree(WorktreeError::Gone { .. }))), "{gone:?}");
    remove(&place.space, &name("alice"), UncommittedWork::Kept).expect("there is nothing to lose");
    add(&place.space, &name("alice"), &folder).expect("the folder is free again");
}

#[test]
fn worktrees_of_several_agents_are_made_at_once() {
    let place = Place::with(&["a", "b", "c"]);
    std::thread::scope(|scope| {
        for agent in ["a", "b", "c"] {
            let place = &place;
            scope.spawn(move || {
                let folder = place.beside(agent);
                add(&place.open_again(), &name(agent), &folder).expect("each has its own folder")
            });
        }
    });
    let listed = place.open_again().agent_worktrees().expect("readable");
    let agents: Vec<_> = listed.iter().map(|one| one.agent.as_str()).collect();
    assert_eq!(agents, ["a", "b", "c"]);
    assert!(listed.iter().all(|one| one.base == one.head));
}

#[test]
fn a_worktree_names_the_notes_of_its_own_agent() {
    let (_place, folder) = at_work();
    for key in ["notes.displayRef", "notes.rewriteRef"] {
        assert_eq!(
            git(&folder, &["config", "--get-all", key]),
            "refs/notes/agentic/alice",
            "{key}"
        );
    }
}

#[test]
fn a_folder_that_holds_something_is_no_place_for_a_worktree() {
    let place = Place::with(&["alice"]);
    let folder = place.beside("taken");
    std::fs::create_dir(&folder).expect("writable");
    add(&place.space, &name("alice"), &folder).expect("an empty folder is free");
    let file = place.beside("file");
    std::fs::write(&file, "x").expect("writable");
    let taken = check_place(&place.space, &file);
    assert!(matches!(taken, Err(Error::Worktree(WorktreeError::PathTaken { .. }))), "{taken:?}");
    let path = default_path(&place.space, &name("alice"));
    assert_eq!(path, place.beside("repo.agents").join("alice"));
}

#[test]
fn a_session_of_the_folder_itself_is_committed_from_there() {
    let place = Place::with(&["alice"]);
    place.git(&["symbolic-ref", "HEAD", "refs/heads/agents/alice"]);
    place.git(&["reset", "--quiet", "--hard"]);
    std::fs::write(place.path().join("a"), "1").expect("writable");
    let here = Place::open_again(&place);
    let worktree = here.worktree_of(&name("alice")).expect("the main one has it");
    let work = CommitDraft { source: TreeSource::Worktree(worktree), ..draft("Work", &[]) };
    commit(&here, &name("alice"), &work).expect("there is room");
    assert_eq!(
        (place.files("alice"), place.git(&["status", "--porcelain"])),
        (vec!["a".to_owned()], String::new())
    );
}

#[test]
fn a_sync_that_is_broken_off_anywhere_loses_no_work() {
    let prepare = || {
        let (place, folder) = at_work();
        changed_elsewhere(&place);
        std::fs::write(folder.join("work"), "mine").expect("writable");
        place
    };
    let act = |place: &Place| _ = sync(&place.space, &name("alice"));
    walk(prepare, act, |place, step| {
        sync(&place.space, &name("alice")).unwrap_or_else(|error| panic!("step {step}: {error}"));
        let folder = place.beside("alice");
        let work = std::fs::read_to_string(folder.join("work"));
        assert_eq!(work.ok().as_deref(), Some("mine"), "step {step}");
        assert_eq!(git(&folder, &["status", "--porcelain"]), "?? work", "step {step}");
    });
}
