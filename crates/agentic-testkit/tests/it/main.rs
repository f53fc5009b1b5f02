//! The sandbox isolates, the runner ends what runs too long, the state shows what changed.

use std::fs;
use std::time::{Duration, Instant};

use agentic_testkit::{GroundState, ProgramEnding, Sandbox, Setup, Templates, run};

fn sandbox(setup: Setup) -> Sandbox {
    Sandbox::new(setup).expect("git is installed")
}

/// Runs a line of shell and returns how it ended and what it wrote to standard output.
fn shell(sandbox: &Sandbox, line: &str, limit: Duration) -> (ProgramEnding, String) {
    let mut command = sandbox.command("sh", sandbox.start());
    command.args(["-c", line]);
    let finished = run(command, b"", limit).expect("sh starts");
    (finished.ending, String::from_utf8_lossy(&finished.stdout).into_owned())
}

#[test]
fn every_setup_starts_in_the_folder_it_names() {
    for (setup, name) in Setup::ALL {
        let sandbox = sandbox(setup);
        let inside = sandbox.try_git(sandbox.start(), &["rev-parse", "--git-dir"]);
        let is_repository = inside.expect("git starts").ending == ProgramEnding::Exit(0);
        assert_eq!(is_repository, setup != Setup::NoRepository, "{name}");
        assert_eq!(Setup::parse(name), Some(setup));
    }
}

#[test]
fn nothing_of_the_outside_environment_gets_in() {
    let sandbox = sandbox(Setup::NoRepository);
    let (_, found) = shell(&sandbox, "env | sort; git config user.name", Duration::from_secs(10));
    assert!(!found.contains("CARGO"), "{found}");
    assert!(!found.contains("AGENTIC_"), "{found}");
    assert!(found.ends_with("Ada\n"), "{found}");
}

#[test]
fn exit_signal_and_time_limit_are_told_apart() {
    let sandbox = sandbox(Setup::NoRepository);
    let limit = Duration::from_millis(300);
    assert_eq!(shell(&sandbox, "exit 7", limit).0, ProgramEnding::Exit(7));
    assert_eq!(shell(&sandbox, "kill -9 $$", limit).0, ProgramEnding::Signal(9));
    let started = Instant::now();
    let (ending, said) = shell(&sandbox, "echo first; sleep 60 & sleep 60", limit);
    assert_eq!((ending, said.as_str()), (ProgramEnding::TimeLimit, "first\n"));
    assert!(started.elapsed() < Duration::from_secs(30), "what it started was ended too");
}

#[test]
fn the_state_names_what_changed() {
    let sandbox = sandbox(Setup::Repository);
    let before = GroundState::read(&sandbox).expect("readable");
    assert_eq!(before.difference(&GroundState::read(&sandbox).expect("readable")), [""; 0]);
    sandbox.git(sandbox.start(), &["branch", "other"]).expect("a new name");
    let journal = sandbox.start().join(".git/agentic/journal/alice");
    fs::create_dir_all(&journal).expect("writable");
    fs::write(journal.join("1.log"), "x").expect("writable");
    fs::remove_file(sandbox.start().join("README.md")).expect("it is there");
    let after = GroundState::read(&sandbox).expect("readable");
    assert_eq!(
        before.difference(&after),
        [
            "removed repo/README.md",
            "added repo/.git/agentic/journal/alice/1.log",
            "added repo/.git:refs/heads/other",
        ]
    );
}

#[test]
fn unprivileged_commands_obey_permissions_even_for_root() {
    let sandbox = sandbox(Setup::NoRepository);
    let line = "mkdir closed && chmod 500 closed && unprivileged touch closed/file";
    assert_ne!(shell(&sandbox, line, Duration::from_secs(10)).0, ProgramEnding::Exit(0));
    assert_eq!(
        shell(&sandbox, "unprivileged true", Duration::from_secs(10)).0,
        ProgramEnding::Exit(0)
    );
}

#[test]
fn a_copy_of_a_template_stands_alone() {
    let templates = Templates::default();
    for (setup, name) in Setup::ALL {
        let (first, second) = (templates.sandbox(setup), templates.sandbox(setup));
        let (first, second) = (first.expect("git is installed"), second.expect("git is installed"));
        if setup == Setup::NoRepository {
            continue;
        }
        let status = second.try_git(second.start(), &["fsck", "--strict"]).expect("git starts");
        assert_eq!(status.ending, ProgramEnding::Exit(0), "{name}");
        drop(first);
        let url = second.try_git(second.start(), &["config", "remote.origin.url"]);
        let url = String::from_utf8_lossy(&url.expect("git starts").stdout).into_owned();
        let own = second.root().to_string_lossy().into_owned();
        assert!(url.is_empty() || url.starts_with(&own), "{name}: {url}");
    }
}
