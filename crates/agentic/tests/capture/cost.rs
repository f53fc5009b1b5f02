//! What a hook costs does not grow with what there is already: it reads what is new, and little else.
//!
//! Bytes and calls are counted, not time: `bench/capture` measures that.

use std::fs::{self, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::Duration;

use agentic_model::{AgentName, Entry, Instant, Kind};
use agentic_space::{Options, Space};
use serde_json::{Value, json};

use crate::opencode::Database;
use crate::stage::CaptureStage;
use crate::talk::{Talk, prompts};

/// How long a long transcript is, in bytes.
const TRANSCRIPT_BYTES: u64 = 500 << 20;
/// How many entries are pending where many are.
const PENDING: usize = 100_000;
/// How many agents there are where there are many.
const AGENTS: usize = 10_000;

/// What a program and those that it started have read and written.
#[derive(Debug, Clone, Copy)]
struct Toll {
    n_bytes: u64,
    n_calls: u64,
}

/// Sends an event, and counts what the hook reads.
fn toll(stage: &CaptureStage, talk: &Talk<'_>) -> Toll {
    let payload = json!({
        "session_id": talk.id,
        "cwd": stage.folder.join(&talk.folder),
        "transcript_path": talk.transcript(),
        "hook_event_name": "UserPromptSubmit",
    });
    toll_of(stage, "claude", &payload)
}

fn toll_of(stage: &CaptureStage, source: &str, payload: &Value) -> Toll {
    // A shell is told what those have read that it waited for.
    let line = format!("{} hook {source}; cat /proc/$$/io", env!("CARGO_BIN_EXE_agentic"));
    let ended = stage.program("sh", "shop", &["-c", &line], &[], payload.to_string().as_bytes());
    assert_eq!(ended.exit, 0, "{}", ended.stderr);
    let number = |name: &str| {
        let line = ended.stdout.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|number| number.trim().parse().ok()).expect("the system counts")
    };
    Toll { n_bytes: number("rchar:"), n_calls: number("syscr:") }
}

/// Takes the toll of one new line, once everything before was read.
fn settled(stage: &CaptureStage, talk: &Talk<'_>) -> Toll {
    append(&talk.transcript(), "the last but one");
    talk.event("Stop", &[]);
    append(&talk.transcript(), "one more");
    toll(stage, talk)
}

fn check(name: &str, small: Toll, large: Toll) {
    println!("{name}: {small:?} {large:?}");
    let is_flat = |small: u64, large: u64, spare: u64| large <= small + small / 5 + spare;
    assert!(is_flat(small.n_bytes, large.n_bytes, 64 << 10), "{name}: {small:?} {large:?}");
    assert!(is_flat(small.n_calls, large.n_calls, 40), "{name}: {small:?} {large:?}");
}

/// Waits until a hook has read so far that nothing is left.
fn read_all(stage: &CaptureStage, talk: &Talk<'_>, n_prompts: usize) {
    for _ in 0..100 {
        talk.event("Stop", &[]);
        if prompts(stage, "fix-cart").len() >= n_prompts {
            return;
        }
    }
    panic!("it never came to the end");
}

fn space(stage: &CaptureStage) -> Space {
    Space::open(&stage.folder.join("shop"), Options::default()).expect("a repository")
}

#[test]
fn a_hook_reads_what_is_new_however_long_the_transcript_is() {
    let stage = CaptureStage::new();
    let (short, long) = (Talk::new(&stage, 1), Talk::new(&stage, 2));
    short.say("one");
    long.say("one");
    // A line that is longer than any that is read: of its zeros nothing is on the disk.
    let mut file = OpenOptions::new().write(true).open(long.transcript()).expect("there");
    file.set_len(TRANSCRIPT_BYTES).expect("writable");
    file.seek(SeekFrom::End(0)).expect("writable");
    file.write_all(b"\n").expect("writable");
    drop(file);
    append(&long.transcript(), "two");
    read_all(&stage, &long, 2);
    check("transcript", settled(&stage, &short), settled(&stage, &long));
}

fn append(path: &Path, text: &str) {
    let uuid = format!("{text} {}", fs::metadata(path).expect("there").len());
    let line = json!({"type": "user", "uuid": uuid, "timestamp": "2026-11-20T09:00:01.037Z",
        "message": {"role": "user", "content": text}});
    let mut file = OpenOptions::new().append(true).open(path).expect("there");
    writeln!(file, "{line}").expect("writable");
}

#[test]
fn a_hook_reads_the_rows_that_are_new_however_many_there_are() {
    let few_and_many = [4, 600].map(|n_turns| {
        let stage = CaptureStage::new();
        let database = Database::new(&stage);
        let folder = stage.folder.join("shop.agents/fix-cart").display().to_string();
        let idle = |session: &str| {
            let event = json!({"event": "session.idle", "session": session, "directory": folder});
            toll_of(&stage, "opencode", &event)
        };
        // As much is pending there as here.
        for (session, first, n_turns) in [("ses_2", 1_000, 604 - n_turns), ("ses_1", 0, n_turns)] {
            database.session(session, None, &folder);
            database.turns(session, first..first + n_turns);
            let told = format!("Fix it {}", first + n_turns - 1);
            for _ in 0..n_turns {
                (0..10).for_each(|_| _ = idle(session));
                if prompts(&stage, "fix-cart").contains(&told) {
                    break;
                }
            }
        }
        database.turn("ses_1", n_turns, "one more");
        idle("ses_1");
        database.turn("ses_1", n_turns + 1, "one more");
        let toll = idle("ses_1");
        let told = format!("Fix it {}", n_turns + 1);
        assert!(prompts(&stage, "fix-cart").contains(&told), "{n_turns}");
        toll
    });
    check("rows", few_and_many[0], few_and_many[1]);
}

#[test]
fn a_hook_does_not_look_at_what_is_pending() {
    let stage = CaptureStage::new();
    let talk = Talk::new(&stage, 1);
    talk.say("one");
    let small = settled(&stage, &talk);
    let space = space(&stage);
    let agent = AgentName::parse("fix-cart").expect("a name");
    let kind = Kind::parse("log").expect("a kind");
    let entry = |number: usize| {
        Entry::new(
            kind.clone(),
            Instant::from_millis(0),
            agentic_model::Value::text(format!("entry {number}")),
        )
    };
    for from in (0..PENDING).step_by(PENDING / 100) {
        let writer = space.pending_writer_within(&agent, Duration::from_secs(60));
        let mut writer = writer.expect("readable").expect("nobody else writes");
        writer.append((from..from + PENDING / 100).map(entry).collect()).expect("writable");
    }
    check("pending", small, settled(&stage, &talk));
}

#[test]
fn what_is_too_long_is_bound_although_nobody_commits() {
    let stage = CaptureStage::new();
    let talk = Talk::new(&stage, 1);
    talk.say("one");
    let space = space(&stage);
    let agent = AgentName::parse("fix-cart").expect("a name");
    let add = |count: usize| {
        let kind = Kind::parse("log").expect("a kind");
        let text = agentic_model::Value::text("x".repeat(250 << 10));
        let entry = || Entry::new(kind.clone(), Instant::from_millis(0), text.clone());
        let writer = space.pending_writer_within(&agent, Duration::from_secs(60));
        let mut writer = writer.expect("readable").expect("nobody else writes");
        writer.append((0..count).map(|_| entry()).collect()).expect("writable");
    };
    let n_pending = || space.pending_trace(&agent).expect("readable").len();
    // The journal is longer than what may be pending; what is pending is not.
    add(65);
    talk.event("Stop", &[]);
    assert_eq!(n_pending(), 66);
    talk.event("Stop", &[]);
    assert_eq!(n_pending(), 66);
    add(2);
    append(&talk.transcript(), "two");
    talk.event("Stop", &[]);
    assert_eq!(n_pending(), 0);
    assert_eq!(stage.bound_entries("fix-cart").len(), 69);
    stage.check();
}

#[test]
fn a_hook_does_not_look_at_other_agents() {
    let stage = CaptureStage::new();
    let talk = Talk::new(&stage, 1);
    talk.say("one");
    let small = settled(&stage, &talk);
    let head = stage.git("shop", "rev-parse agents/other").trim().to_owned();
    let made: String =
        (0..AGENTS).map(|n| format!("create refs/heads/agents/many-{n} {head}\n")).collect();
    let words = ["update-ref", "--stdin"];
    let ended = stage.program("git", "shop", &words, &[], made.as_bytes());
    assert_eq!(ended.exit, 0, "{}", ended.stderr);
    stage.git("shop", "pack-refs --all");
    check("agents", small, settled(&stage, &talk));
    assert!(
        fs::metadata(stage.folder.join("shop/.git/packed-refs")).expect("there").len() > 500_000
    );
}

#[test]
fn nothing_is_written_and_nearly_nothing_read_where_nobody_asked_for_it() {
    let stage = CaptureStage::new();
    let talk = Talk::new(&stage, 1);
    talk.say("one");
    let on = settled(&stage, &talk);
    stage.git("shop", "config agentic.capture off");
    let written = prompts(&stage, "fix-cart");
    let off = toll(&stage, &talk);
    assert_eq!(prompts(&stage, "fix-cart"), written);
    assert!(off.n_calls < on.n_calls, "{off:?} {on:?}");
}
