//! Programs have an owner, whoever started them and whatever became of that.

use std::path::Path;
use std::time::Duration;

use agentic_providers::host::CancelFlag;
use agentic_providers::process::{
    Charge, Launch, LaunchEnvironment, LaunchInput, Leftover, RunningProgram, SignalReach, remains,
    reserve,
};

const LIMIT: Duration = Duration::from_secs(20);

/// Starts a line of shell for a request, noted in a folder.
fn start(line: &str, folder: &Path) -> RunningProgram {
    start_with(line, folder, None)
}

/// Starts one with a file that was made for it.
fn start_with(line: &str, folder: &Path, reserved: Option<&Path>) -> RunningProgram {
    let argv = ["sh", "-c", line].map(str::to_owned);
    let charge = Charge {
        agent: Some("alice".to_owned()),
        request: Some("abc".to_owned()),
        folder: Some(folder.join("process")),
        reserved: reserved.map(Path::to_owned),
    };
    let launch = Launch {
        argv: &argv,
        folder,
        input: LaunchInput::Whole(b"given"),
        environment: LaunchEnvironment::Inherited,
        variables: &[],
        limit: LIMIT,
        charge: &charge,
    };
    launch.start().expect("there is a shell")
}

fn wait(program: &RunningProgram) {
    while program.ended().expect("ours").is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_program_is_known_as_long_as_it_runs_and_can_be_ended_by_others() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = start("sleep 60", folder.path());
    let found = remains(&folder.path().join("process")).expect("readable").orphans;
    let [orphan] = found.as_slice() else { panic!("one runs: {found:?}") };
    assert_eq!((orphan.request.as_str(), orphan.reach()), ("abc", SignalReach::Ours));
    assert!(orphan.left() > Duration::from_secs(10));
    let stop = CancelFlag::new();
    stop.set();
    assert!(!orphan.wait(&stop), "it runs on");
    orphan.end(LIMIT);
    wait(&program);
    program.finish(Leftover::Ended);
    assert!(remains(&folder.path().join("process")).expect("readable").orphans.is_empty());
}

#[test]
fn what_a_program_left_running_is_known_by_the_lock() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let process = folder.path().join("process");
    let program = start("sleep 60 >&- 2>&- &", folder.path());
    wait(&program);
    let found = remains(&process).expect("readable").orphans;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].reach(), SignalReach::Ours, "its variable tells");
    program.finish(Leftover::Ended);
}

#[test]
fn a_group_that_is_not_known_to_be_ours_is_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = start("sleep 60", folder.path());
    let pid = std::fs::read_dir(folder.path().join("process")).expect("readable").flatten();
    let texts = pid.map(|entry| std::fs::read_to_string(entry.path()).expect("readable"));
    let text = texts.collect::<String>().replace("start ", "start 9");
    // The same group under another request: neither its start nor its variable fits.
    let other = folder.path().join("other");
    std::fs::create_dir(&other).expect("writable");
    let file = std::fs::File::create(other.join("xyz.1")).expect("writable");
    file.lock().expect("free");
    std::io::Write::write_all(&mut &file, text.as_bytes()).expect("writable");
    let found = remains(&other).expect("readable").orphans;
    assert_eq!(found[0].reach(), SignalReach::Unknown);
    assert!(!found[0].end(Duration::ZERO), "somebody holds the lock");
    assert!(program.ended().expect("ours").is_none(), "it was not signalled");
    program.finish(Leftover::Ended);
}

#[test]
fn a_file_that_was_never_finished_is_of_a_program_that_never_began() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("abc.1"), "boot x\npid 1\n").expect("writable");
    assert!(remains(folder.path()).expect("readable").orphans.is_empty());
    assert!(!folder.path().join("abc.1").exists());
}

#[test]
fn a_program_that_room_was_made_for_is_known_not_to_have_begun_until_it_has() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let process = folder.path().join("process");
    let path = reserve(&process, "abc").expect("writable");
    for _ in 0..2 {
        let found = remains(&process).expect("readable");
        assert!(found.orphans.is_empty());
        let [unbegun] = found.unbegun.as_slice() else { panic!("one: {found:?}") };
        assert_eq!((unbegun.request.as_str(), &unbegun.path), ("abc", &path));
    }
    let program = start_with("sleep 60", folder.path(), Some(&path));
    let found = remains(&process).expect("readable");
    assert_eq!((found.orphans.len(), found.unbegun.len()), (1, 0));
    // A second program of the same request has a file of its own.
    let second = start_with("sleep 60", folder.path(), Some(&path));
    assert_eq!(remains(&process).expect("readable").orphans.len(), 2);
    program.finish(Leftover::Ended);
    second.finish(Leftover::Ended);
    assert_eq!(std::fs::read_dir(&process).expect("readable").count(), 0);
}

#[test]
fn a_copy_of_what_was_reserved_says_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = reserve(folder.path(), "abc").expect("writable");
    let copy = folder.path().join("abc.copy");
    std::fs::copy(&path, &copy).expect("writable");
    let found = remains(folder.path()).expect("readable");
    assert_eq!((found.orphans.len(), found.unbegun.len()), (0, 1));
    assert!(!copy.exists() && path.exists());
}
