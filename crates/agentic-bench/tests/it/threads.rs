//! Many commits in one write: by one caller, and by threads of one process that are killed at it.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use agentic_bench::small_draft;
use agentic_space::commit::commit_all;
use agentic_space::commit::{CommitDraft, TraceBinding, commit};
use agentic_space::error::CommitError;
use agentic_space::model::{AgentName, Briefing, Kind};
use agentic_space::spawn::{SpawnOrigin, spawn};
use agentic_space::{Error, Options, Space};
use agentic_testkit::{ProgramEnding, Sandbox, Setup, run};

/// How often the process is killed.
const KILLS: usize = 12;
/// How many batches are written.
const BATCHES: usize = 120;
/// How many packs there are at most meanwhile: those that come, those that were merged and stay
/// until the next merge, and the merged ones.
const PACKS_MAX: usize = 72;
/// How many threads it has.
const THREADS: &str = "8";

fn agent() -> AgentName {
    AgentName::parse("w0").expect("valid")
}

fn place() -> (Sandbox, Space) {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
        sandbox.git(sandbox.start(), &["config", key, value]).expect("writable");
    }
    let space = Space::open(sandbox.start(), Options::default()).expect("a repository");
    let briefing = Briefing::of_text("x").to_object().expect("short");
    spawn(&space, &agent(), &briefing, &SpawnOrigin::Root).expect("the name is free");
    (sandbox, space)
}

fn fsck(sandbox: &Sandbox) -> ProgramEnding {
    let arguments = ["fsck", "--strict", "--no-dangling", "--no-progress"];
    sandbox.try_git(sandbox.start(), &arguments).expect("git starts").ending
}

#[test]
fn a_batch_is_one_write_of_many_commits() {
    let (sandbox, space) = place();
    let kind = Kind::parse("log").expect("valid");
    space.add_traces(&agent(), &[(&kind, b"one"), (&kind, b"two")]).expect("writable");
    let drafts = [
        small_draft("a", "first", TraceBinding::Nothing),
        small_draft(".git/a", "bad path", TraceBinding::WithTrace),
        small_draft("a", "first", TraceBinding::Nothing),
        small_draft("b/c", "second", TraceBinding::WithTrace),
        small_draft("b/c", "third", TraceBinding::WithTrace),
        CommitDraft {
            expect: space.head(&agent()).ok(),
            ..small_draft("d", "expects", TraceBinding::Nothing)
        },
    ];
    let answers = commit_all(&space, &agent(), &drafts).expect("something can be committed");
    assert!(matches!(answers[1], Err(Error::Store(_))), "{:?}", answers[1]);
    assert!(
        matches!(answers[2], Err(Error::Commit(CommitError::Nothing { .. }))),
        "{:?}",
        answers[2]
    );
    assert!(matches!(answers[5], Err(Error::Commit(CommitError::NotInBatch))), "{:?}", answers[5]);
    let traces: Vec<bool> =
        answers.iter().flatten().map(|committed| committed.trace.is_some()).collect();
    assert_eq!(traces, [false, true, false]);
    let log = ["log", "--reverse", "--format=%s %T", "agents/w0"];
    let log = sandbox.git(sandbox.start(), &log).expect("git starts");
    let subjects: Vec<&str> = log.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(subjects, ["Spawn", "first", "second", "third"]);
    let reflog = sandbox.start().join(".git/logs/refs/heads/agents/w0");
    assert_eq!(fs::read_to_string(reflog).expect("readable").lines().count(), 2);
    assert_eq!(space.pending_trace(&agent()).expect("readable"), []);
    assert_eq!(fsck(&sandbox), ProgramEnding::Exit(0));

    // A batch without anything to commit is no write.
    let head = space.head(&agent()).expect("there");
    let again = commit_all(&space, &agent(), &drafts[4..5]).expect("an answer for each");
    assert!(matches!(again[0], Err(Error::Commit(CommitError::Nothing { .. }))));
    assert_eq!(space.head(&agent()).expect("there"), head);
}

#[test]
fn a_large_batch_is_whole_and_can_be_built_upon() {
    let (sandbox, space) = place();
    let drafts: Vec<CommitDraft> = (0..300)
        .map(|n| {
            small_draft(&format!("d{}/f{n}", n % 7), &format!("text {n}"), TraceBinding::Nothing)
        })
        .collect();
    let answers = commit_all(&space, &agent(), &drafts).expect("writable");
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(fsck(&sandbox), ProgramEnding::Exit(0));
    let n_commits = sandbox.git(sandbox.start(), &["rev-list", "--count", "agents/w0"]);
    assert_eq!(n_commits.expect("git starts").trim(), "301");
    // What follows is read from wherever the batch put it.
    commit(&space, &agent(), &small_draft("d0/f0", "changed", TraceBinding::Nothing))
        .expect("readable");
    assert_eq!(fsck(&sandbox), ProgramEnding::Exit(0));
}

#[test]
fn batches_leave_few_packs_and_no_loose_objects() {
    let (sandbox, space) = place();
    let packs = sandbox.start().join(".git/objects/pack");
    let n_packs = || {
        let names = fs::read_dir(&packs).expect("readable").flatten();
        names.filter(|entry| entry.path().extension().is_some_and(|end| end == "pack")).count()
    };
    // A pack that git keeps, and one that its index of all packs names, are left alone.
    let keep_one = || {
        let first = fs::read_dir(&packs).expect("readable").flatten().map(|entry| entry.path());
        let first = first.filter(|path| path.extension().is_some_and(|end| end == "pack")).min();
        first.expect("there is one").with_extension("keep")
    };
    let mut kept = None;
    for round in 0..BATCHES {
        let drafts: Vec<CommitDraft> = (0..50)
            .map(|n| {
                small_draft(&format!("d/f{n}"), &format!("{round} {n}"), TraceBinding::Nothing)
            })
            .collect();
        commit_all(&space, &agent(), &drafts).expect("writable");
        assert!(n_packs() <= PACKS_MAX, "{} packs after batch {round}", n_packs());
        if round == 3 {
            let keep = keep_one();
            fs::write(&keep, "").expect("writable");
            sandbox.git(sandbox.start(), &["multi-pack-index", "write"]).expect("git starts");
            kept = Some(keep.with_extension("pack"));
        }
    }
    assert!(kept.is_some_and(|kept| kept.exists()));
    let loose = sandbox.git(sandbox.start(), &["count-objects"]).expect("git starts");
    let n_loose: usize = loose.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    assert!(n_loose < BATCHES, "{loose}");
    assert_eq!(fsck(&sandbox), ProgramEnding::Exit(0));
    let n_commits = sandbox.git(sandbox.start(), &["rev-list", "--count", "agents/w0"]);
    assert_eq!(n_commits.expect("git starts").trim(), (BATCHES * 50 + 1).to_string());
    // What another space sees, and what git makes of it all.
    sandbox.git(sandbox.start(), &["gc", "--quiet", "--prune=now"]).expect("git starts");
    commit(&space, &agent(), &small_draft("d/f0", "changed", TraceBinding::Nothing))
        .expect("readable");
    assert_eq!(fsck(&sandbox), ProgramEnding::Exit(0));
}

#[test]
fn threads_that_are_killed_lose_nothing_that_was_acknowledged() {
    let (sandbox, space) = place();
    let mut acknowledged = BTreeSet::new();
    for life in 1..=KILLS {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_load"), sandbox.start());
        let number = life.to_string();
        command.args(["worker", &number, "--work", "one-branch", "--rounds", "1000000"]);
        command.args(["--threads", THREADS]);
        let finished = run(command, b"", Duration::from_millis(60 + 13 * life as u64));
        let finished = finished.expect("the program starts");
        assert_eq!(finished.ending, ProgramEnding::TimeLimit);
        let said = String::from_utf8_lossy(&finished.stdout).into_owned();
        let lines = said.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        for line in lines.filter_map(|line| line.strip_prefix("done w0 ")) {
            acknowledged.extend(line.split(' ').next().map(str::to_owned));
        }
        Space::open(sandbox.start(), Options::default()).expect("recovered");
        assert_eq!(fsck(&sandbox), ProgramEnding::Exit(0), "life {life}");
        let log = sandbox.git(sandbox.start(), &["log", "--format=%H %s", "agents/w0"]);
        let log = log.expect("git starts");
        let commits: BTreeSet<&str> = log.lines().filter_map(|line| line.get(..40)).collect();
        let lost = acknowledged.iter().filter(|oid| !commits.contains(oid.as_str())).count();
        assert_eq!(lost, 0, "life {life}");
    }
    check_entries(&sandbox, &space, &acknowledged);
    assert!(acknowledged.len() > KILLS, "the process did next to nothing");
}

/// Checks that the entry which came before each acknowledged commit is bound or pending, once.
fn check_entries(sandbox: &Sandbox, space: &Space, acknowledged: &BTreeSet<String>) {
    let notes = space.repository().notes(&agent().notes_ref()).expect("readable");
    let kind = Kind::parse("console-trace").expect("valid");
    let mut kept = String::new();
    for (_, bytes) in notes.read_objects(&kind).expect("readable") {
        kept.push_str(&String::from_utf8_lossy(&bytes));
    }
    for entry in space.pending_trace(&agent()).expect("readable") {
        kept.push_str(entry.body.as_text().unwrap_or_default());
    }
    let log = sandbox.git(sandbox.start(), &["log", "--format=%H %s", "agents/w0"]);
    for line in log.expect("git starts").lines() {
        let (oid, token) = line.split_once(' ').unwrap_or_default();
        if acknowledged.contains(oid) {
            assert_eq!(kept.matches(token).count(), 1, "{token}");
        }
    }
}

/// How many threads share a handle.
const SHARERS: usize = 16;
/// How many verbs they carry out together.
const VERBS: usize = 1000;

/// One handle serves threads that do everything at once: to agents of their own and to one of all.
#[test]
fn one_handle_serves_many_threads() {
    fn is_shared<T: Send + Sync>(value: &T) -> &T {
        value
    }
    let (sandbox, space) = place();
    let space = is_shared(&space);
    let commits: usize = std::thread::scope(|scope| {
        let each = VERBS.div_ceil(SHARERS);
        let carry_out =
            move |thread| (0..each).map(|round| one_verb(space, thread, round)).sum::<usize>();
        let share = |thread| scope.spawn(move || carry_out(thread));
        let threads: Vec<_> = (0..SHARERS).map(share).collect();
        threads.into_iter().map(|thread| thread.join().expect("no verb panics")).sum()
    });
    assert_eq!(fsck(&sandbox), ProgramEnding::Exit(0));
    let n_commits = sandbox.git(sandbox.start(), &["rev-list", "--count", "agents/w0"]);
    assert_eq!(n_commits.expect("git starts").trim(), (commits + 1).to_string());
    let n_entries = sandbox.git(sandbox.start(), &["for-each-ref", "refs/heads/agents/own-*"]);
    assert_eq!(n_entries.expect("git starts").lines().count(), SHARERS);
    // Another handle sees the same.
    let other = Space::open(sandbox.start(), Options::default()).expect("nothing to recover");
    assert_eq!(other.recovered(), []);
    assert_eq!(other.head(&agent()).expect("there"), space.head(&agent()).expect("there"));
    assert_eq!(
        other.pending_trace(&agent()).expect("readable"),
        space.pending_trace(&agent()).expect("readable")
    );
}

/// Carries out the verb of one round of one thread; returns how many commits it made on the agent that
/// all share.
fn one_verb(space: &Space, thread: usize, round: usize) -> usize {
    let own = AgentName::parse(&format!("own-{thread}")).expect("valid");
    let text = format!("{thread} {round}");
    let note = Kind::parse("log").expect("valid");
    match round % 8 {
        0 if round == 0 => {
            let briefing = Briefing::of_text(&text).to_object().expect("short");
            spawn(space, &own, &briefing, &SpawnOrigin::Agent(agent())).expect("the name is free");
        }
        0 | 1 => {
            let draft = small_draft(&format!("t{thread}/{round}"), &text, TraceBinding::WithTrace);
            commit(space, &agent(), &draft).expect("nobody else writes this file");
            return 1;
        }
        2 => {
            let draft = small_draft(&format!("own/{round}"), &text, TraceBinding::WithTrace);
            commit(space, &own, &draft).expect("writable");
        }
        3 => drop(space.add_trace(&agent(), &note, text.as_bytes()).expect("writable")),
        4 => drop(space.add_trace(&own, &note, text.as_bytes()).expect("writable")),
        5 => {
            let head = space.head(&agent()).expect("there");
            let info = space.repository().read_commit(head).expect("readable");
            assert!(info.message.starts_with(|c: char| c.is_ascii_digit() || c == 'S'), "{info:?}");
        }
        6 => {
            let names = space.agent_names().expect("readable");
            assert!(names.iter().any(|(name, _)| *name == own), "{own} is not listed");
        }
        _ => {
            let head = space.head(&own).expect("there");
            space.trace_of_commit(head).map(drop).or_else(unbound).expect("readable");
        }
    }
    0
}

/// A commit need not have a trace.
fn unbound(error: Error) -> Result<(), Error> {
    if matches!(error, Error::Commit(CommitError::NoTrace { .. })) { Ok(()) } else { Err(error) }
}

#[test]
fn a_commit_that_a_prune_took_is_still_an_ancestor() {
    let (sandbox, space) = place();
    let one =
        commit(&space, &agent(), &small_draft("a", "1", TraceBinding::Nothing)).expect("written");
    let two =
        commit(&space, &agent(), &small_draft("a", "2", TraceBinding::Nothing)).expect("written");
    let (name, objects) = (one.commit.to_string(), sandbox.start().join(".git/objects"));
    fs::remove_file(objects.join(&name[..2]).join(&name[2..])).expect("it was there");
    // Nothing is remembered there.
    let other = Space::open(sandbox.start(), Options::default()).expect("nothing to recover");
    let is_ancestor = other.repository().is_ancestor(one.commit, two.commit).expect("readable");
    assert!(is_ancestor, "the journal has it");
    drop(other);
    assert_eq!(fsck(&sandbox), ProgramEnding::Exit(0));
}
