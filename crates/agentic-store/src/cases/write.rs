//! Every step of a write fails in turn, and the next writer finds all of it or nothing.

use std::path::Path;

use agentic_model::commit::CommitData;
use agentic_model::{AgentName, Entry, Instant, Kind, Oid, Person, Signature, Value};

use crate::failing::{FailingAt, FailureMoment};
use crate::ground::GroundStore;
use crate::journal::{BranchMove, GitKind, GitObject, NotesEdit, TakenEntries, Transaction};
use crate::layout::Stream;
use crate::memory::MemoryRepository;
use crate::writer::{Writer, WriterOutcome};
use crate::{Durability, Result};

/// More steps than a write has.
const STEPS_MAX: u64 = 100;

pub(super) fn now() -> Instant {
    Instant::from_millis(1_700_000_000_000)
}

pub(super) fn agent() -> AgentName {
    AgentName::parse("alice").expect("a flat name")
}

pub(super) fn ada() -> Signature {
    Signature { person: Person::new("Ada", "ada@example.com"), at: now(), offset_minutes: 0 }
}

pub(super) fn entry(text: &str) -> Entry {
    let kind = Kind::parse("log").expect("valid");
    Entry::new(kind, now(), Value::text(text))
}

/// A branch with two commits of which the second is on its way.
pub(super) struct WriteScenario {
    pub first: Oid,
    pub second: Oid,
}

/// Makes the write of a commit upon another one, with a note that says which it is.
pub(super) fn commit<G: GroundStore>(
    ground: &G,
    parent: Option<Oid>,
    taken: TakenEntries,
) -> (Oid, Transaction) {
    let tree = GitObject { kind: GitKind::Tree, bytes: Vec::new() };
    let data = CommitData {
        tree: ground.name_object(&tree),
        parents: parent.into_iter().collect(),
        author: ada(),
        committer: ada(),
        message: "a commit\n".to_owned(),
    };
    let object = GitObject { kind: GitKind::Commit, bytes: data.to_bytes() };
    let new = ground.name_object(&object);
    let mut write = Transaction::keeping("commit", agent().notes_ref(), Vec::new(), (ada(), ada()));
    write.objects = vec![tree, object];
    write.branch = Some(BranchMove { name: agent().branch_ref(), expect: parent, new });
    let notes = vec![(new, format!("{new}\n"))];
    write.notes = Some(NotesEdit { name: agent().notes_ref(), notes, objects: Vec::new() });
    write.taken = taken;
    (new, write)
}

/// Opens a writer and carries out one write.
pub(super) fn carry_out<G: GroundStore>(ground: &G, write: &Transaction) -> Result<WriterOutcome> {
    let mut writer = Writer::open(ground, &Stream::Agent(agent()), now())?;
    writer.carry_out(write.clone(), Durability::Git, now())
}

/// Makes the first commit and two pending entries, and names the second commit.
pub(super) fn prepare<G: GroundStore>(ground: &G) -> (WriteScenario, Transaction) {
    let (first, write) = commit(ground, None, TakenEntries::default());
    let mut writer = Writer::open(ground, &Stream::Agent(agent()), now()).expect("sound");
    writer.begin(Some(first), None, now()).expect("there is room");
    let done = writer.carry_out(write, Durability::Git, now()).expect("there is room");
    assert!(matches!(done, WriterOutcome::Done), "{done:?}");
    let entries = vec![entry("one"), entry("two")];
    writer.append_entries(entries, now(), Durability::Git).expect("there is room");
    let (second, write) = commit(ground, Some(first), TakenEntries { from: 0, count: 2 });
    (WriteScenario { first, second }, write)
}

/// Checks that the second commit is there with all that belongs to it, or not at all; tells which.
pub(super) fn check_whole<G: GroundStore>(ground: &G, scene: &WriteScenario) -> bool {
    let writer = Writer::open(ground, &Stream::Agent(agent()), now()).expect("it is mended");
    let head = ground.find_ref(&agent().branch_ref()).expect("sound");
    let n_pending = writer.pending_entries().expect("sound").len();
    let note = ground.read_note(&agent().notes_ref(), scene.second).expect("sound");
    if head == Some(scene.first) {
        assert_eq!((n_pending, note), (2, None), "nothing of it is there");
        return false;
    }
    assert_eq!(head, Some(scene.second));
    assert_eq!((n_pending, note), (0, Some(format!("{}\n", scene.second))), "all of it is there");
    ground.verify_object(scene.second).expect("it is there");
    true
}

/// Lets one step of the second commit fail; tells whether the write has so many steps.
fn fail_at<G: GroundStore>(ground: G, moment: FailureMoment, n: u64) -> bool {
    let (scene, write) = prepare(&ground);
    let ground = FailingAt::new(ground, moment, n);
    let outcome = carry_out(&ground, &write);
    let is_there = check_whole(ground.inner(), &scene);
    match &outcome {
        Ok(WriterOutcome::Done | WriterOutcome::Deferred { .. }) => {
            assert!(is_there, "step {n}: it was decided")
        }
        Ok(WriterOutcome::Lost { found }) => {
            panic!("step {n}: nobody moved the branch to {found:?}")
        }
        Err(_) => assert!(!is_there, "step {n}: nothing was decided"),
    }
    if !is_there {
        let again = carry_out(ground.inner(), &write).expect("nothing stands in the way");
        assert!(matches!(again, WriterOutcome::Done), "step {n}: {again:?}");
        assert!(check_whole(ground.inner(), &scene));
    }
    // What comes after it finds nothing in its way either.
    let (_, next) = commit(ground.inner(), Some(scene.second), TakenEntries { from: 2, count: 0 });
    let done = carry_out(ground.inner(), &next).expect("nothing stands in the way");
    assert!(matches!(done, WriterOutcome::Done), "step {n}: {done:?}");
    ground.has_failed()
}

/// Lets each step of a write fail, one in each of as many new repositories.
fn walk<G: GroundStore>(make: impl Fn(&Path) -> G) -> u64 {
    let run = |moment, n| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fail_at(make(folder.path()), moment, n)
    };
    let n_steps = (1..STEPS_MAX).take_while(|n| run(FailureMoment::Before, *n)).count();
    let n_again = (1..STEPS_MAX).take_while(|n| run(FailureMoment::After, *n)).count();
    assert_eq!(n_steps, n_again, "where a step fails does not change how many there are before it");
    n_steps as u64
}

/// A write that fails at any step is there whole or not at all.
pub fn a_write_that_fails_at_any_step_is_there_whole_or_not_at_all<G: GroundStore>(
    make: impl Fn(&Path) -> G,
) {
    let n_steps = walk(make);
    assert!(n_steps >= 8, "{n_steps} steps are too few to be a write");
    assert_eq!(walk(MemoryRepository::new), n_steps, "all are asked the same");
}

/// Recovery that fails at any step is done by the next writer.
pub fn recovery_that_fails_at_any_step_is_done_by_the_next_writer<G: GroundStore>(
    make: impl Fn(&Path) -> G,
) {
    for n in 1..STEPS_MAX {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let ground = make(folder.path());
        let (scene, write) = prepare(&ground);
        // The write is decided, and its branch cannot be moved.
        let ground = deferred(ground, &write);
        let ground = FailingAt::new(ground, FailureMoment::Before, n);
        let opened = Writer::open(&ground, &Stream::Agent(agent()), now()).map(drop);
        assert_eq!(opened.is_err(), ground.has_failed(), "step {n}");
        assert!(check_whole(ground.inner(), &scene), "step {n}");
        if !ground.has_failed() {
            assert!(n > 3, "{n} steps are too few to be a recovery");
            return;
        }
    }
    panic!("a recovery has fewer steps than that");
}

/// Carries out a write whose step after the record fails.
pub(super) fn deferred<G: GroundStore>(mut ground: G, write: &Transaction) -> G {
    for n in 1..STEPS_MAX {
        let failing = FailingAt::new(ground, FailureMoment::Before, n);
        let outcome = carry_out(&failing, write);
        ground = failing.into_inner();
        match outcome {
            Ok(WriterOutcome::Deferred { .. }) => return ground,
            Ok(outcome) => panic!("step {n}: {outcome:?}"),
            Err(_) => {}
        }
    }
    panic!("no step comes after the record");
}

/// A branch that somebody deleted first refuses the write and keeps the entries.
pub fn a_branch_that_somebody_deleted_first_refuses_the_write_and_keeps_the_entries<
    G: GroundStore,
>(
    make: impl Fn(&Path) -> G,
) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ground = make(folder.path());
    let (scene, write) = prepare(&ground);
    ground.delete_refs(&[(agent().branch_ref(), scene.first)]).expect("there is room");
    let outcome = carry_out(&ground, &write).expect("it is an answer");
    assert!(matches!(outcome, WriterOutcome::Lost { found: None }), "{outcome:?}");
    let writer = Writer::open(&ground, &Stream::Agent(agent()), now()).expect("sound");
    assert_eq!(writer.pending_entries().expect("sound").len(), 2);
}
