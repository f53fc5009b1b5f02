//! Programs have an owner, whoever started them and whatever became of that.

use std::path::Path;
use std::time::Duration;

use agentic_providers::host::CancelFlag;
use agentic_providers::process::{
    Charge, Environment, Input, Launch, Leftover, Running, SignalReach, orphans,
};

const LIMIT: Duration = Duration::from_secs(20);

/// Starts a line of shell for a request, noted in a folder.
fn start(line: &str, folder: &Path) -> Running {
    let argv = ["sh", "-c", line].map(str::to_owned);
    let charge = Charge {
        agent: Some("alice".to_owned()),
        request: Some("abc".to_owned()),
        folder: Some(folder.join("process")),
    };
    let launch = Launch {
        argv: &argv,
        folder,
        input: Input::Whole(b"given"),
        environment: Environment::Inherited,
        variables: &[],
        limit: LIMIT,
        charge: &charge,
    };
    launch.start().expect("there is a shell")
}

fn wait(program: &Running) {
    while program.ended().expect("ours").is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_program_is_known_as_long_as_it_runs_and_can_be_ended_by_others() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = start("sleep 60", folder.path());
    let found = orphans(&folder.path().join("process")).expect("readable");
    let [orphan] = found.as_slice() else { panic!("one runs: {found:?}") };
    assert_eq!((orphan.request.as_str(), orphan.reach()), ("abc", SignalReach::Ours));
    assert!(orphan.left() > Duration::from_secs(10));
    let stop = CancelFlag::new();
    stop.set();
    assert!(!orphan.wait(&stop), "it runs on");
    orphan.end(LIMIT);
    wait(&program);
    program.finish(Leftover::Ended);
    assert!(orphans(&folder.path().join("process")).expect("readable").is_empty());
}

#[test]
fn what_a_program_left_running_is_known_by_the_lock() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let process = folder.path().join("process");
    let program = start("sleep 60 >&- 2>&- &", folder.path());
    wait(&program);
    let found = orphans(&process).expect("readable");
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
    let found = orphans(&other).expect("readable");
    assert_eq!(found[0].reach(), SignalReach::Unknown);
    assert!(!found[0].end(Duration::ZERO), "somebody holds the lock");
    assert!(program.ended().expect("ours").is_none(), "it was not signalled");
    program.finish(Leftover::Ended);
}

#[test]
fn a_file_that_was_never_finished_is_of_a_program_that_never_began() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("abc.1"), "boot x\npid 1\n").expect("writable");
    assert!(orphans(folder.path()).expect("readable").is_empty());
    assert!(!folder.path().join("abc.1").exists());
}
