//! Cases of recovery: what a power cut, a person or a full disk leaves, and what comes back.

use std::path::Path;

use super::write::{agent, carry_out, check_whole, commit, entry, now, prepare};
use super::{FragileGround, on};
use crate::failing::{FailingAt, FailureMoment};
use crate::ground::GroundStore;
use crate::journal::{self, KEEP_MILLIS, TakenEntries, Transaction};
use crate::layout::Stream;
use crate::recovery::{self, Checkpoint};
use crate::report::RecoveryAct;
use crate::writer::{Writer, WriterOutcome};
use crate::{Durability, Result};

/// More steps than a replay or a checkpoint has.
const STEPS_MAX: u64 = 200;

fn stream() -> Stream {
    Stream::Agent(agent())
}

/// Makes two commits; returns the scene that has them.
fn written<G: GroundStore>(ground: &G) -> super::write::WriteScenario {
    let (scene, write) = prepare(ground);
    done(ground, &write);
    scene
}

/// Carries out a write that nothing stands in the way of.
fn done<G: GroundStore>(ground: &G, write: &Transaction) {
    let done = carry_out(ground, write).expect("there is room");
    assert!(matches!(done, WriterOutcome::Done), "{done:?}");
}

/// Takes away what the disk need not have had: refs, an object, the bytes of another.
fn cut_power<G: FragileGround>(ground: &G, scene: &super::write::WriteScenario) {
    for name in [agent().branch_ref(), agent().notes_ref()] {
        let at = ground.find_ref(&name).expect("sound").expect("it was made");
        ground.delete_refs(&[(name, at)]).expect("nothing is in the way");
    }
    ground.lose_object(scene.second);
    ground.spoil_object(scene.first);
    assert!(ground.verify_object(scene.first).is_err(), "a spoilt object is no object");
}

fn replay<G: GroundStore>(ground: &G) -> Result<Vec<RecoveryAct>> {
    let report = recovery::replay(ground, &[stream()], now())?;
    Ok(report.into_iter().map(|one| one.mended).collect())
}

/// Has each step fail in turn, on grounds of their own, until a run has no step more.
fn each_step<G>(make: &impl Fn(&Path) -> G, run: impl Fn(G, FailureMoment, u64) -> bool) {
    for moment in [FailureMoment::Before, FailureMoment::After] {
        let n_steps =
            (1..STEPS_MAX).take_while(|n| on(make, |ground| run(ground, moment, *n))).count();
        assert!((4..100).contains(&n_steps), "{n_steps} steps are too few or too many");
    }
}

/// What a power cut took comes back from the journal.
pub fn what_a_power_cut_took_comes_back_from_the_journal<G: FragileGround>(
    make: impl Fn(&Path) -> G,
) {
    on(&make, |ground| {
        let scene = written(&ground);
        cut_power(&ground, &scene);
        let mended = replay(&ground).expect("there is room");
        assert!(mended.contains(&RecoveryAct::BranchMadeAgain(scene.second)), "{mended:?}");
        assert!(mended.contains(&RecoveryAct::Object(scene.second)), "{mended:?}");
        assert!(check_whole(&ground, &scene));
        ground.verify_object(scene.first).expect("it is written again");
        assert_eq!(replay(&ground).expect("there is room"), [], "there is nothing left to do");
    });
}

/// A replay that fails at any step is done by the next.
pub fn a_replay_that_fails_at_any_step_is_done_by_the_next<G: FragileGround>(
    make: impl Fn(&Path) -> G,
) {
    each_step(&make, |ground, moment, n| {
        let scene = written(&ground);
        cut_power(&ground, &scene);
        let ground = FailingAt::new(ground, moment, n);
        let _whatever_became_of_it = replay(&ground);
        replay(ground.inner()).expect("nothing stands in the way");
        assert!(check_whole(ground.inner(), &scene), "step {n}");
        ground.has_failed()
    });
}

/// A branch that a person deleted stays away and its commit is kept.
pub fn a_branch_that_a_person_deleted_stays_away_and_its_commit_is_kept<G: GroundStore>(
    make: impl Fn(&Path) -> G,
) {
    on(&make, |ground| {
        let scene = written(&ground);
        let branch = (agent().branch_ref(), scene.second);
        ground.delete_refs(&[branch]).expect("nothing is in the way");
        // A command of the same boot finds it missing: no power cut took it.
        recovery::note_missing_agent(&ground, &agent());
        let mended = replay(&ground).expect("there is room");
        let name = stream().rescue_ref(scene.second);
        let rescued = RecoveryAct::Rescued { commit: scene.second, name: name.clone() };
        assert!(mended.contains(&rescued), "{mended:?}");
        assert_eq!(ground.find_ref(&agent().branch_ref()).expect("sound"), None);
        assert_eq!(ground.find_ref(&name).expect("sound"), Some(scene.second));
    });
}

fn checkpoint<G: GroundStore>(ground: &G, later: i64) -> Result<Checkpoint> {
    let at = now().plus_millis(later);
    let mut done = recovery::checkpoint(ground, &[stream()], at)?;
    done.pop().expect("there is an answer for each stream").1
}

/// A log is cut once the ground has what it says.
pub fn a_log_is_cut_once_the_ground_has_what_it_says<G: FragileGround>(make: impl Fn(&Path) -> G) {
    on(&make, |ground| {
        let (scene, write) = prepare(&ground);
        assert_eq!(checkpoint(&ground, 0).expect("sound"), Checkpoint::TooEarly);
        ground.lose_object(scene.first);
        assert_eq!(checkpoint(&ground, KEEP_MILLIS).expect("sound"), Checkpoint::Cut);
        ground.verify_object(scene.first).expect("it is written again before the cut");
        assert_eq!(checkpoint(&ground, KEEP_MILLIS * 3).expect("sound"), Checkpoint::Nothing);
        let records = journal::records(ground.layout(), &stream()).expect("sound");
        assert!(records.iter().all(|record| record.transaction().is_none()), "{records:?}");
        // The pending entries outlive the records before them, with new numbers.
        let standing = records.last().expect("a log is never empty").standing.clone();
        let taken = TakenEntries { from: standing.taken_before, count: standing.n_pending };
        assert_eq!(taken.count, 2);
        done(&ground, &Transaction { taken, ..write });
        assert!(check_whole(&ground, &scene));
    });
}

/// A checkpoint that fails at any step loses nothing.
pub fn a_checkpoint_that_fails_at_any_step_loses_nothing<G: FragileGround>(
    make: impl Fn(&Path) -> G,
) {
    each_step(&make, |ground, moment, n| {
        let scene = written(&ground);
        ground.lose_object(scene.second);
        let ground = FailingAt::new(ground, moment, n);
        let _whatever_became_of_it = checkpoint(&ground, KEEP_MILLIS);
        let again = checkpoint(ground.inner(), KEEP_MILLIS * 3).expect("nothing is in the way");
        assert!(matches!(again, Checkpoint::Cut | Checkpoint::Nothing), "step {n}: {again:?}");
        assert!(check_whole(ground.inner(), &scene), "step {n}");
        ground.has_failed()
    });
}

/// A damaged journal is set aside and its pending entries stay.
pub fn a_damaged_journal_is_set_aside_and_its_pending_entries_stay<G: GroundStore>(
    make: impl Fn(&Path) -> G,
) {
    on(&make, |ground| {
        let (scene, _) = prepare(&ground);
        let layout = ground.layout();
        assert_eq!(recovery::salvage(&ground, &stream(), now()).expect("sound"), None);
        let last = journal::segments(layout, &stream()).expect("sound").pop().expect("it has one");
        let path = journal::segment_path(layout, &stream(), last.number);
        let mut bytes = std::fs::read(&path).expect("readable");
        // In the record of the first commit, which is the longest.
        let at = bytes.windows(9).position(|window| window == b"a commit\n").expect("it is there");
        bytes[at] ^= 1;
        std::fs::write(&path, bytes).expect("writable");
        assert!(journal::records(layout, &stream()).is_err(), "a flipped bit is damage");
        let report = recovery::salvage(&ground, &stream(), now()).expect("there is room");
        let mended: Vec<RecoveryAct> =
            report.expect("it was damaged").into_iter().map(|it| it.mended).collect();
        let [.., RecoveryAct::Salvaged { aside, n_lost: 1, n_pending: 2 }] = &mended[..] else {
            panic!("{mended:?}")
        };
        assert!(aside.exists(), "nothing of it is thrown away");
        let mut writer = Writer::open(&ground, &stream(), now()).expect("it is sound");
        writer.append_entries(vec![entry("three")], now(), Durability::Git).expect("room");
        assert_eq!(writer.pending_entries().expect("sound").len(), 3);
        drop(writer);
        let standing =
            journal::tail(layout, &stream()).expect("sound").expect("it has one").standing;
        let taken = TakenEntries { from: standing.taken_before, count: standing.n_pending };
        let (second, write) = commit(&ground, Some(scene.first), taken);
        done(&ground, &write);
        assert_eq!(ground.find_ref(&agent().branch_ref()).expect("sound"), Some(second));
    });
}
