//! The cases that every implementation of ground state answers in the same way.
//!
//! A case is a list of steps and what is said to them. Names of refs stand below `refs/heads/`; `1`,
//! `2` and `3` are commits, each the child of the one before, and `-` is none.

mod notes;
mod objects;
mod packs;
mod refs;

use agentic_model::commit::CommitData;
use agentic_model::{Instant, Oid, Person, Signature};

use super::{GroundStore, Objects, Packs, Refs, Upkeep};
use crate::failing::{FailingAt, FailureMoment};
use crate::git::Repository;
use crate::journal::{BranchMove, GitKind, GitObject};
use crate::memory::MemoryRepository;

/// How many commits a case may name.
const N_COMMITS: usize = 3;

/// A repository with some commits that no ref names.
struct Bench<G> {
    ground: G,
    commits: Vec<Oid>,
}

/// Says who writes.
fn ada() -> Signature {
    let at = Instant::from_millis(1_700_000_000_000);
    Signature { person: Person::new("Ada", "ada@example.com"), at, offset_minutes: 0 }
}

/// Makes a commit upon another one.
fn commit(number: usize, parent: Option<Oid>, tree: Oid) -> GitObject {
    let parents = parent.into_iter().collect();
    let message = format!("commit {number}\n");
    let data = CommitData { tree, parents, author: ada(), committer: ada(), message };
    GitObject { kind: GitKind::Commit, bytes: data.to_bytes() }
}

impl<G: Objects + Refs> Bench<G> {
    fn new(ground: G) -> Bench<G> {
        let tree = GitObject { kind: GitKind::Tree, bytes: Vec::new() };
        let (mut objects, mut commits) = (vec![tree], Vec::new());
        let tree = ground.name_object(&objects[0]);
        for number in 1..=N_COMMITS {
            let made = commit(number, commits.last().copied(), tree);
            commits.push(ground.name_object(&made));
            objects.push(made);
        }
        let _written = ground.write_objects(&objects).expect("there is room");
        Bench { ground, commits }
    }

    /// Has a step of the case fail.
    fn failing(self, moment: FailureMoment, n: u64) -> Bench<FailingAt<G>> {
        let Bench { ground, commits } = self;
        Bench { ground: FailingAt::new(ground, moment, n), commits }
    }

    /// Finds the commit that a word names.
    fn commit(&self, word: &str) -> Option<Oid> {
        let number = word.parse::<usize>().ok()?;
        Some(self.commits[number - 1])
    }

    /// Names a commit as cases do.
    fn word(&self, oid: Option<Oid>) -> String {
        let Some(oid) = oid else { return "-".to_owned() };
        match self.commits.iter().position(|commit| *commit == oid) {
            Some(at) => (at + 1).to_string(),
            None => oid.to_string(),
        }
    }
}

/// Runs a case in a new repository in memory.
fn in_memory(run: impl FnOnce(MemoryRepository)) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    run(MemoryRepository::new(folder.path()));
}

/// Runs a case in a new repository of git's.
fn in_git(run: impl FnOnce(Repository)) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    gix::init_bare(folder.path()).expect("a new repository");
    run(Repository::open(folder.path()).expect("just made"));
}
