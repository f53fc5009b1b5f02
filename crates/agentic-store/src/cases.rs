//! The cases that every implementation of ground state answers in the same way; for tests alone.
//!
//! [`ground_cases`](crate::ground_cases) makes tests of them: here in memory, in `agentic-git` in git.
//! A case is a list of steps and what is said to them. Names of refs stand below `refs/heads/`; `1`,
//! `2` and `3` are commits, each the child of the one before, and `-` is none.

pub mod notes;
pub mod objects;
pub mod packs;
pub mod recovery;
pub mod refs;
pub mod write;

use std::path::Path;

use agentic_model::commit::CommitData;
use agentic_model::{Instant, Oid, Person, Signature};

use crate::failing::{FailingAt, FailureMoment};
use crate::ground::{GroundStore, ObjectStore, Packs, Refs, Upkeep};
use crate::journal::{BranchMove, GitKind, GitObject};
use crate::memory::MemoryRepository;

/// How many commits a case may name.
const N_COMMITS: usize = 3;

/// A repository with some commits that no ref names.
struct CaseRepository<G> {
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

impl<G: ObjectStore + Refs> CaseRepository<G> {
    fn new(ground: G) -> CaseRepository<G> {
        let tree = GitObject { kind: GitKind::Tree, bytes: Vec::new() };
        let (mut objects, mut commits) = (vec![tree], Vec::new());
        let tree = ground.name_object(&objects[0]);
        for number in 1..=N_COMMITS {
            let made = commit(number, commits.last().copied(), tree);
            commits.push(ground.name_object(&made));
            objects.push(made);
        }
        let _written = ground.write_objects(&objects).expect("there is room");
        CaseRepository { ground, commits }
    }

    /// Has a step of the case fail.
    fn failing(self, moment: FailureMoment, n: u64) -> CaseRepository<FailingAt<G>> {
        let CaseRepository { ground, commits } = self;
        CaseRepository { ground: FailingAt::new(ground, moment, n), commits }
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

/// Runs a case upon a new ground.
fn on<G, T>(make: &impl Fn(&Path) -> G, run: impl FnOnce(G) -> T) -> T {
    let folder = tempfile::tempdir().expect("a temporary folder");
    run(make(folder.path()))
}

/// A ground whose objects a test can damage.
pub trait FragileGround: GroundStore {
    /// Takes an object away, as a collection by git may that found no ref to it.
    fn lose_object(&self, oid: Oid);

    /// Changes the bytes of an object, as a power cut may that came before they were written.
    fn spoil_object(&self, oid: Oid);
}

impl FragileGround for MemoryRepository {
    fn lose_object(&self, oid: Oid) {
        MemoryRepository::lose_object(self, oid);
    }

    fn spoil_object(&self, oid: Oid) {
        MemoryRepository::spoil_object(self, oid);
    }
}

/// Writes a test for each case, upon grounds that the given function makes in a folder.
#[macro_export]
macro_rules! ground_cases {
    ($make:expr; $($module:ident: $($case:ident)+;)+) => {
        $(mod $module {
            $(#[test]
            fn $case() {
                $crate::cases::$module::$case($make);
            })+
        })+
    };
    ($make:expr) => {
        $crate::ground_cases! { $make;
            notes: notes_are_kept_alike
                states_of_notes_are_united_and_restored_alike;
            objects: objects_are_named_and_kept_alike
                an_object_that_was_taken_away_is_written_again
                a_message_is_read_with_the_date_of_its_author;
            packs: packs_are_kept_alike;
            recovery: what_a_power_cut_took_comes_back_from_the_journal
                a_replay_that_fails_at_any_step_is_done_by_the_next
                a_branch_that_a_person_deleted_stays_away_and_its_commit_is_kept
                a_log_is_cut_once_the_ground_has_what_it_says
                a_checkpoint_that_fails_at_any_step_loses_nothing
                a_damaged_journal_is_set_aside_and_its_pending_entries_stay;
            refs: a_ref_is_made_where_there_is_none
                a_ref_moves_only_from_where_it_is_expected
                a_listing_is_in_order_and_below_its_prefix
                refs_are_deleted_where_they_are_expected_and_the_others_stay
                a_ref_has_a_place_unless_another_stands_in_it
                a_step_that_fails_has_done_nothing_or_all_of_it;
            write: a_write_that_fails_at_any_step_is_there_whole_or_not_at_all
                recovery_that_fails_at_any_step_is_done_by_the_next_writer
                a_branch_that_somebody_deleted_first_refuses_the_write_and_keeps_the_entries;
        }
    };
}

#[cfg(test)]
mod tests {
    ground_cases!(crate::memory::MemoryRepository::new);
}
