//! The doctor: what it finds, what it mends, and what it leaves alone.

use agentic_session::SessionState;
use agentic_session::doctor::{DoctorReport, Locks, ReplayChoice, Treatment, examine};

use crate::kit::{Stage, second};

fn examined(stage: &Stage) -> DoctorReport {
    examine(&stage.space, Treatment::default()).expect("the repository can be read")
}

#[test]
fn a_sound_space_has_nothing_to_mend() {
    let stage = Stage::new();
    stage.start("hold(\"Go on?\")");
    stage.commit(&stage.agent, "a", "1");
    for replay in [ReplayChoice::AsNeeded, ReplayChoice::Always] {
        let treatment = Treatment { replay, ..Treatment::default() };
        let report = examine(&stage.space, treatment).expect("the repository can be read");
        assert_eq!((&report.damaged, report.n_sessions), (&vec![], 1), "{report:?}");
        assert!(report.n_objects > 0 && !report.is_read_only && report.questionable.is_empty());
    }
}

#[test]
fn locks_of_git_are_reported_and_broken_only_if_that_is_meant() {
    let stage = Stage::new();
    let lock = stage.path(".git/refs/heads/agents/alice.lock");
    std::fs::write(&lock, "").expect("writable");
    assert_eq!(examined(&stage).locks.len(), 1);
    assert!(lock.exists(), "it may belong to a running git");
    let treatment = Treatment { locks: Locks::Broken, ..Treatment::default() };
    examine(&stage.space, treatment).expect("the repository can be read");
    assert!(!lock.exists());
}

#[test]
fn a_session_that_a_crash_left_goes_on() {
    let stage = Stage::new();
    let id = agentic_session::record(&stage.space, stage.begin("6 * 7")).expect("it is recorded");
    assert_eq!(examined(&stage).n_resumed, 1);
    assert_eq!(stage.state(&id), SessionState::Done);
}

#[test]
fn a_damaged_log_of_a_session_is_named_and_the_others_are_well() {
    let stage = Stage::new();
    let id = stage.start_as(&stage.agent, "a", "hold(\"One?\")");
    let other = stage.start_as(&stage.agent, "b", "hold(\"Two?\")");
    // It is sound in itself, and not the log of this session.
    std::fs::copy(stage.log_file(&other), stage.log_file(&id)).expect("writable");
    let stage = stage.reopened();
    let report = examined(&stage);
    let told: Vec<_> = report.damaged.iter().filter(|what| what.contains(&id.short())).collect();
    assert_eq!(told.len(), 1, "{:?}", report.damaged);
    assert_eq!(stage.state(&other), SessionState::Held);
}

#[test]
fn a_log_that_is_put_right_is_told_and_is_no_damage() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\")");
    let log = stage.log_file(&id);
    let mut bytes = std::fs::read(&log).expect("readable");
    bytes[20] ^= 1;
    std::fs::write(&log, &bytes).expect("writable");
    let stage = stage.reopened();
    assert_eq!(examined(&stage).damaged, Vec::<String>::new());
    let told = stage.space.take_mended();
    assert!(told.iter().any(|told| told.contains("sealed records back")), "{told:?}");
    assert_eq!(stage.state(&id), SessionState::Held);
}

#[test]
fn what_vanished_from_git_comes_back_from_the_journal() {
    let stage = Stage::new();
    let commit = stage.commit(&stage.agent, "a", "1").to_string();
    let object = stage.path(".git/objects").join(&commit[..2]).join(&commit[2..]);
    std::fs::remove_file(&object).expect("it is loose");
    let stage = stage.reopened();
    let report = examined(&stage);
    assert!(object.exists(), "{report:?}");
    stage.git(&["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn what_is_damaged_of_notes_is_written_again_or_named_and_never_mended_without_end() {
    let stage = Stage::new();
    stage.start("hold(\"Go on?\")");
    let notes = stage.agent.notes_ref();
    let tip = stage.git(&["rev-parse", &notes]).trim().to_owned();
    let all = stage.git(&["rev-list", "--objects", "--no-object-names", "-1", &notes]);
    let objects: Vec<&str> = all.lines().collect();
    assert!(objects.len() > 4, "a commit, trees and blobs: {all}");
    for oid in objects {
        let stage = stage.copied();
        let path = stage.path(".git/objects").join(&oid[..2]).join(&oid[2..]);
        std::fs::remove_file(&path).expect("it is loose");
        std::fs::write(&path, "garbage").expect("writable");
        let stage = stage.reopened();
        let report = examined(&stage);
        let is_mended = report.damaged.is_empty();
        assert!(is_mended || oid != tip, "the log has what the newest one says: {report:?}");
        if is_mended {
            stage.git(&["fsck", "--strict", "--no-dangling"]);
        }
        let again = examined(&stage.reopened());
        assert!(again.mended.is_empty(), "{oid}, a second time: {again:?}");
        assert_eq!(again.damaged.is_empty(), is_mended, "{oid}: {again:?}");
    }
}

#[test]
fn an_object_of_an_agent_that_is_gone_for_good_is_named_wherever_it_stands() {
    let stage = Stage::new();
    stage.start("hold(\"Go on?\")");
    stage.commit(&stage.agent, "dir/a", "1");
    let later = stage.reopened_at(second(100_000));
    assert_eq!(examined(&later).n_cut, 1, "no log has it any more");
    let notes = later.agent.notes_ref();
    let heads = format!("{}^@", later.agent.branch_ref());
    let list = |range: &[&str]| {
        let objects = [&["rev-list", "--objects", "--no-object-names"], range].concat();
        later.git(&objects).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let head = list(&[&later.agent.branch_ref(), &format!("^{heads}")]);
    let own = [list(&["-1", &notes]), head].concat();
    for oid in own {
        let copy = later.copied();
        let path = copy.path(".git/objects").join(&oid[..2]).join(&oid[2..]);
        if std::fs::remove_file(&path).is_err() {
            continue;
        }
        let report = examined(&copy.reopened());
        assert!(!report.damaged.is_empty(), "{oid}: {report:?}");
    }
}
