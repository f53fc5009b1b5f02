//! Several hosts in one process: each hears its own runs, and stops alone.

use std::path::Path;
use std::sync::mpsc::Receiver;
use std::thread;

use agentic_host::{Interest, Observer, ScreenEvent, ScreenPresence};
use agentic_lang_agent::TraceCapture;
use agentic_model::{Object, Value};
use agentic_providers::host::CancelFlag;
use agentic_replay::SessionId;

use super::{agent_in, repository};
use crate::{Begin, KeySource, SessionOptions, SessionSpace, SessionState, flow_object, start};

/// How often each program says something.
const N_SAID: usize = 200;

/// A space that is watched.
fn watched(folder: &Path, stop: CancelFlag) -> (SessionSpace, Receiver<ScreenEvent>) {
    drop(repository(folder));
    let interest = Interest { trace: TraceCapture::Off, presence: ScreenPresence::Nobody };
    let (observer, told) = Observer::channel(interest);
    let options = SessionOptions { observer: Some(observer), stop, ..SessionOptions::default() };
    (SessionSpace::open(folder, options).expect("it is a repository"), told)
}

fn begin(space: &SessionSpace, flow: Object) -> SessionId {
    let begin = Begin {
        agent: agent_in(space, "alice"),
        flow,
        parts: Vec::new(),
        input: Value::Null,
        key: "run".to_owned(),
        key_source: KeySource::Named,
        allow: vec!["*".to_owned()],
    };
    start(space, begin).expect("it starts")
}

/// Runs a program that says a word many times. Returns the session, and what its watcher was told.
fn say(word: &str) -> (SessionId, Vec<(SessionId, String)>) {
    let folder = crate::tests::temporary_folder();
    let (space, told) = watched(folder.path(), CancelFlag::new());
    let source = format!("for i in 0..{N_SAID} {{ trace(\"{word}\") }}");
    let flow = flow_object(&source).expect("it is short");
    let watcher = thread::spawn(move || {
        let said = told.into_iter().filter_map(|event| match event {
            ScreenEvent::Said { session, event } => {
                Some((session, event.data.as_text().unwrap_or_default().to_owned()))
            }
            ScreenEvent::Writing(_)
            | ScreenEvent::Written
            | ScreenEvent::Question(_)
            | ScreenEvent::Pause(_) => None,
        });
        said.collect()
    });
    let id = begin(&space, flow);
    drop(space);
    (id, watcher.join().expect("it only collects"))
}

#[test]
fn two_spaces_of_one_process_do_not_hear_each_other() {
    let runs: Vec<_> = ["one", "two"].map(|word| (word, thread::spawn(move || say(word)))).into();
    for (word, run) in runs {
        let (id, told) = run.join().expect("it runs");
        assert_eq!(told, vec![(id, word.to_owned()); N_SAID]);
    }
}

#[test]
fn a_space_that_is_to_stop_does_not_stop_another() {
    let flow = || flow_object("exec([\"true\"]).status").expect("it is short");
    let stop = CancelFlag::new();
    stop.set();
    let states = [stop, CancelFlag::new()].map(|stop| {
        let folder = crate::tests::temporary_folder();
        let (space, _told) = watched(folder.path(), stop);
        let id = begin(&space, flow());
        space.session(&id).expect("its records are sound").state
    });
    assert_eq!(states, [SessionState::Waiting, SessionState::Done]);
}

#[test]
fn a_run_does_not_wait_for_a_watcher_that_has_gone() {
    let folder = crate::tests::temporary_folder();
    let (space, told) = watched(folder.path(), CancelFlag::new());
    drop(told);
    let id = begin(&space, flow_object("trace(\"alone\"); 7").expect("it is short"));
    let summary = space.session(&id).expect("its records are sound");
    assert_eq!(summary.result, Some(Value::Int(7)));
}

#[test]
fn a_run_is_left_once_its_watcher_has_seen_all_of_it() {
    let folder = crate::tests::temporary_folder();
    let (space, told) = watched(folder.path(), CancelFlag::new());
    let (seen, left) = std::sync::mpsc::channel();
    let left_by_run = seen.clone();
    let watcher = thread::spawn(move || {
        for event in told {
            let is_pause = matches!(event, ScreenEvent::Pause(_));
            if is_pause {
                let _ = seen.send("seen");
            }
        }
    });
    begin(&space, flow_object("trace(\"look\")").expect("it is short"));
    let _ = left_by_run.send("left");
    drop((space, left_by_run));
    watcher.join().expect("it only looks");
    let order: Vec<&str> = left.into_iter().collect();
    assert_eq!(order, ["seen", "left"]);
}
