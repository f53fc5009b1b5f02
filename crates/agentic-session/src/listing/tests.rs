//! What is read to find a session and to look at it, and what a lost cache changes: nothing.

use std::path::Path;

use agentic_model::{AgentName, Value};
use agentic_replay::record::CancelMode;
use agentic_store::Durability;
use agentic_store::journal::LogFile;

use super::{newest_with_key, with_key};
use crate::folder::Folder;
use crate::hold::{Filter, pending};
use crate::own::read_journal;
use crate::stamp::{FolderStamp, Shard};
use crate::tests::{agent_in, repository};
use crate::{Begin, KeySource, cancel, flow_object, start};
use crate::{SessionOptions, SessionSpace};

/// Makes a repository with agents that each have a session of many records under their own name.
fn space_with_long_sessions(folder: &Path, agents: &[&str]) -> SessionSpace {
    let space = repository(folder);
    let flow = flow_object("for n in 0..1200 { sleep(0); } hold(\"Go on?\")").expect("it is short");
    for name in agents {
        let agent = agent_in(&space, name);
        let (key, allow) = ((*name).to_owned(), Vec::new());
        let begin = Begin {
            agent,
            flow: flow.clone(),
            parts: Vec::new(),
            input: Value::Null,
            key,
            key_source: KeySource::Named,
            allow,
        };
        start(&space, begin).expect("it runs to its question");
    }
    space
}

/// Opens a space as a new command does, which knows nothing yet.
fn new_command(folder: &Path) -> SessionSpace {
    SessionSpace::open(folder, SessionOptions::default()).expect("it is a repository")
}

/// Counts the bytes that this thread reads from files while something runs.
fn bytes_read<T>(run: impl FnOnce() -> T) -> (T, u64) {
    let count = || {
        let io = std::fs::read_to_string("/proc/thread-self/io").expect("the kernel counts reads");
        let line = io.lines().find_map(|line| line.strip_prefix("rchar: "));
        line.and_then(|count| count.parse::<u64>().ok()).expect("the first line counts bytes")
    };
    let before = count();
    let done = run();
    (done, count() - before)
}

#[test]
fn a_session_is_found_without_reading_the_others() {
    let folder = crate::tests::temporary_folder();
    let names = ["alice", "bob", "carol"];
    let space = space_with_long_sessions(folder.path(), &names);
    let alice = AgentName::parse("alice").expect("a valid name");
    let id = space.find_session("alice").expect("it was started");
    let space = new_command(folder.path());
    let (_, whole) = bytes_read(|| read_journal(&space, &id).expect("its records are sound"));

    let space = new_command(folder.path());
    let (found, by_agent) = bytes_read(|| space.find_session("alice"));
    assert_eq!(found.ok(), Some(id));
    assert!(by_agent < 2 * whole, "read {by_agent} bytes where one journal has {whole}");
    let (found, by_key) = bytes_read(|| with_key(&space, &alice, "alice"));
    assert_eq!(found.ok(), Some(vec![id]));
    assert!(by_key < whole, "read {by_key} bytes where one journal has {whole}");
    let (found, by_run) = bytes_read(|| newest_with_key(&space, "alice"));
    assert_eq!(found.ok(), Some(Some(id)));
    assert!(by_run < whole, "read {by_run} bytes where one journal has {whole}");
    let filter = Filter { agent: Some(alice), ..Filter::default() };
    let space = new_command(folder.path());
    let (found, by_hold) = bytes_read(|| pending(&space, &filter).expect("they can be listed"));
    assert_eq!(found.len(), 1);
    assert!(by_hold < 2 * whole, "read {by_hold} bytes where one journal has {whole}");
}

/// Waits until the folders of sessions have been as they are for so long that their stamps are kept.
fn settle(space: &SessionSpace) {
    let stamp = |shard: Shard| FolderStamp::of(&shard).expect("it can be looked at");
    let layout = space.repository().layout();
    while !Shard::all(layout).filter_map(stamp).all(|stamp| stamp.is_settled()) {
        std::thread::yield_now();
    }
}

#[test]
fn a_key_is_found_whatever_became_of_the_cache() {
    let folder = crate::tests::temporary_folder();
    let names = ["alice", "bob"];
    let space = space_with_long_sessions(folder.path(), &names);
    let found = || {
        let space = new_command(folder.path());
        names.map(|name| {
            let agent = AgentName::parse(name).expect("a valid name");
            with_key(&space, &agent, name).expect("they can be listed").len()
        })
    };
    let cache = space.repository().layout().cache().join("sessions");
    std::fs::remove_file(&cache).expect("starting a session writes it");
    settle(&space);
    assert_eq!(found(), [1, 1]);
    let whole = std::fs::read(&cache).expect("a look for a key writes it");
    for length in (0..whole.len()).step_by(7) {
        std::fs::write(&cache, &whole[..length]).expect("writable");
        assert_eq!(found(), [1, 1], "with {length} of {} bytes", whole.len());
    }
    // Another version starts one, which knows nothing of the cache.
    std::fs::write(&cache, &whole).expect("writable");
    drop(space_with_long_sessions(folder.path(), &["carol"]));
    std::fs::write(&cache, &whole).expect("writable");
    let carol = AgentName::parse("carol").expect("a valid name");
    let known = with_key(&new_command(folder.path()), &carol, "carol");
    assert_eq!(known.expect("they can be listed").len(), 1);
}

#[test]
fn sealed_sessions_are_found_with_the_cache_and_without_it() {
    let folder = crate::tests::temporary_folder();
    let space = space_with_long_sessions(folder.path(), &["alice", "bob"]);
    let layout = space.repository().layout();
    let all = space.sessions().expect("they can be listed");
    let chains = |space: &SessionSpace| -> Vec<_> {
        let ids = space.sessions().expect("they can be listed");
        ids.iter().map(|id| space.session(id).expect("its records are sound").chain).collect()
    };
    let expected = chains(&space);
    std::fs::remove_dir_all(layout.open_sessions()).expect("they are there");
    assert_eq!(chains(&space), expected, "who has seen them reads them anew");
    let space = new_command(folder.path());
    assert!(layout.cache().join("segments").is_dir());
    assert_eq!((space.sessions().ok(), chains(&space)), (Some(all.clone()), expected.clone()));
    std::fs::remove_dir_all(layout.cache()).expect("it is there");
    assert_eq!((space.sessions().ok(), chains(&space)), (Some(all), expected));
    assert!(!layout.cache().exists(), "a reader writes no cache");
}

#[test]
fn a_command_reads_every_record_once() {
    let folder = crate::tests::temporary_folder();
    let started = space_with_long_sessions(folder.path(), &["alice"]);
    let id = started.find_session("alice").expect("it was started");
    let (_, by_starter) = bytes_read(|| read_journal(&started, &id).expect("it is sound"));

    let space = new_command(folder.path());
    let (first, whole) = bytes_read(|| read_journal(&space, &id).expect("it is sound"));
    let (again, by_reader) = bytes_read(|| read_journal(&space, &id).expect("it is sound"));
    assert_eq!(first, again);
    for little in [by_starter, by_reader] {
        assert!(little * 10 < whole, "read {little} bytes where the journal has {whole}");
    }
}

#[test]
fn what_others_append_is_read_on() {
    let folder = crate::tests::temporary_folder();
    drop(space_with_long_sessions(folder.path(), &["alice"]));
    let space = new_command(folder.path());
    let id = space.find_session("alice").expect("it was started");
    let (before, whole) = bytes_read(|| {
        read_journal(&new_command(folder.path()), &id).expect("its records are sound")
    });
    let cancel =
        |why: &str| cancel(&new_command(folder.path()), &id, CancelMode::Kill, "user:ada", why);
    cancel("enough").expect("it is not over");
    let (after, read) = bytes_read(|| read_journal(&space, &id).expect("its records are sound"));
    assert!(after.records().len() > before.records().len() && after.is_over());
    assert_eq!(after, read_journal(&new_command(folder.path()), &id).expect("it is sound"));
    assert!(read * 2 < whole, "read {read} bytes where the journal has {whole}");
}

#[test]
fn a_session_that_comes_to_its_end_meanwhile_is_one_and_readable() {
    let folder = crate::tests::temporary_folder();
    let space = space_with_long_sessions(folder.path(), &["alice"]);
    let id = space.find_session("alice").expect("it was started");
    let before = Folder::of(&space, &id);
    cancel(&space, &id, CancelMode::Kill, "user:ada", "enough").expect("it is not over");
    let after = Folder::of(&space, &id);
    assert_ne!(before.log(), after.log());
    let expected = after.frames(&space).expect("its records are sound");

    // What somebody sees who looks while the folder moves: it, in both places, and not all of it.
    for seen in [&[][..], &["00000001.log"]] {
        std::fs::create_dir_all(before.log()).expect("writable");
        for name in seen {
            std::fs::write(before.log().join(name), b"").expect("writable");
        }
        let space = new_command(folder.path());
        assert_eq!(space.find_session(&id.to_string()[..12]).ok(), Some(id));
        assert_eq!(space.find_session("alice").ok(), Some(id));
        assert_eq!(before.frames(&space).expect("they are elsewhere").0, expected.0);
        let first = before.first_frame(&space).expect("it is elsewhere");
        assert_eq!(first.as_ref(), expected.0.first());
    }
}

#[test]
fn a_log_that_was_cut_is_read_from_the_beginning() {
    let folder = crate::tests::temporary_folder();
    let space = space_with_long_sessions(folder.path(), &["alice"]);
    let id = space.find_session("alice").expect("it was started");
    let before = read_journal(&space, &id).expect("its records are sound");
    // A record that is not sealed yet is torn, and another one, longer than it was, takes its place.
    let last = before.records().last().expect("it began");
    let torn = before.chain().append(last.at, last.body.clone());
    let folder_of_log = Folder::of(&space, &id).log();
    let (mut log, _) = LogFile::open(&folder_of_log).expect("writable");
    log.append(&[torn.bytes.as_slice()], Durability::Full).expect("writable");
    drop(log);
    let longer = read_journal(&space, &id).expect("its records are sound");
    assert_eq!(longer.records().len(), before.records().len() + 1);
    let log = folder_of_log.join("00000000.log");
    let bytes = std::fs::read(&log).expect("it is there");
    std::fs::write(&log, &bytes[..bytes.len() - 1]).expect("writable");
    assert_eq!(read_journal(&space, &id).expect("its records are sound"), before);
    cancel(&new_command(folder.path()), &id, CancelMode::Kill, "user:ada", "enough")
        .expect("it is not over");
    let again = read_journal(&space, &id).expect("its records are sound");
    assert_eq!(again, read_journal(&new_command(folder.path()), &id).expect("it is sound"));
    assert!(again.is_over());
}
