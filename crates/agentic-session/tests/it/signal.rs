//! Signals: what comes from outside while a session waits, or before it does.

use agentic_model::Value;
use agentic_session::decide::Action;
use agentic_session::error::SessionError;
use agentic_session::{Error, SessionState, signal};

use crate::kit::{Stage, draft, walk};

#[test]
fn a_signal_is_the_answer_of_the_request_that_waits_for_it() {
    let stage = Stage::new();
    let id = stage.start("suspend(\"go\")");
    assert!(!stage.state(&id).is_over());
    signal(&stage.space, &id, "go", Value::Int(7)).expect("it is taken");
    assert_eq!((stage.state(&id), stage.result(&id)), (SessionState::Done, Some(Value::Int(7))));
}

#[test]
fn a_signal_of_another_name_answers_nothing() {
    let stage = Stage::new();
    let id = stage.start("suspend(\"go\")");
    signal(&stage.space, &id, "stay", Value::Null).expect("it is taken");
    assert!(!stage.state(&id).is_over());
}

#[test]
fn a_signal_that_comes_too_early_waits_for_its_request() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\"); suspend(\"go\")");
    signal(&stage.space, &id, "go", Value::Int(7)).expect("it is taken");
    assert_eq!(stage.state(&id), SessionState::Held);
    stage.answer(&draft(Action::Approve)).expect("it may");
    assert_eq!(stage.result(&id), Some(Value::Int(7)));
}

#[test]
fn a_session_that_is_over_takes_no_signal() {
    let stage = Stage::new();
    let id = stage.start("1");
    let refused = signal(&stage.space, &id, "go", Value::Null);
    assert!(matches!(refused, Err(Error::Session(SessionError::Over { .. }))), "{refused:?}");
}

#[test]
fn a_signal_that_is_too_long_is_refused() {
    let stage = Stage::new();
    let id = stage.start("suspend(\"go\")");
    let long = Value::text("x".repeat(agentic_session::decide::VALUE_BYTES_MAX + 1));
    assert!(signal(&stage.space, &id, "go", long).is_err());
    assert!(!stage.state(&id).is_over());
}

#[test]
fn a_signal_that_is_broken_off_anywhere_is_heard_once_or_not_at_all() {
    let prepare = || {
        let stage = Stage::new();
        stage.start("let one = suspend(\"go\"); let two = suspend(\"go\"); [one, two]");
        stage
    };
    let act = |stage: &Stage| {
        let id = stage.space.find_session("alice").expect("it was started");
        let _ = signal(&stage.space, &id, "go", Value::Int(1));
    };
    walk(prepare, act, |stage, step| {
        let id = stage.space.find_session("alice").expect("it was started");
        agentic_session::tick(&stage.space).expect("readable");
        signal(&stage.space, &id, "go", Value::Int(2)).expect("it is taken");
        if !stage.state(&id).is_over() {
            signal(&stage.space, &id, "go", Value::Int(3)).expect("it is taken");
        }
        let heard = stage.result(&id).expect("it has both");
        let heard: Vec<_> =
            heard.as_list().into_iter().flatten().filter_map(Value::as_int).collect();
        assert!([[1, 2], [2, 3]].contains(&[heard[0], heard[1]]), "step {step}: {heard:?}");
    });
}

#[test]
fn signals_of_one_name_are_heard_in_the_order_in_which_they_came() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\"); [suspend(\"go\"), suspend(\"go\"), suspend(\"go\")]");
    for number in 1..=3 {
        signal(&stage.space, &id, "go", Value::Int(number)).expect("it is taken");
    }
    stage.answer(&draft(Action::Approve)).expect("it may");
    let all = [1, 2, 3].map(Value::Int).to_vec();
    assert_eq!(stage.result(&id), Some(Value::List(all)));
}

#[test]
fn so_many_signals_wait_and_no_more() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\")");
    for number in 0..agentic_replay::SIGNALS_MAX {
        let letter = letter(&number.to_string(), 1);
        put(&stage, &id, &format!("{number:020}-1-1"), &letter);
    }
    stage.resume(&id);
    let before = stage.space.session(&id).expect("readable").n_records;
    let refused = signal(&stage.space, &id, "go", Value::Null);
    let is_full = matches!(refused, Err(Error::Session(SessionError::InboxFull { .. })));
    assert!(is_full, "{refused:?}");
    assert_eq!(stage.space.session(&id).expect("readable").n_records, before);
}

#[test]
fn a_session_that_is_driven_gets_a_signal_through_its_inbox() {
    let stage = Stage::new();
    let (started, gate) = (stage.pipe("started"), stage.pipe("gate"));
    let source =
        "all([|| exec([\"sh\", \"-c\", \"echo > started; cat gate\"]).status, || suspend(\"go\")])";
    let begin = stage.begin(source);
    let id = begin.session().expect("the input is data");
    std::thread::scope(|scope| {
        let driver = stage.beside();
        let driven = scope.spawn(move || agentic_session::start(&driver, begin));
        std::fs::read(&started).expect("the program says that it runs");
        signal(&stage.space, &id, "go", Value::Int(7)).expect("it is taken");
        // It is durable; whoever drives the session passes it on in a moment.
        let is_heard = || {
            let asked = stage.space.session(&id).expect("readable").asked;
            asked.iter().any(|asked| asked.kind == "suspend" && asked.answer.is_some())
        };
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !is_heard() {
            assert!(std::time::Instant::now() < deadline, "the request has no answer");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::fs::write(&gate, "on").expect("the program reads it");
        driven.join().expect("no panic").expect("it comes to its end");
    });
    assert_eq!(stage.result(&id), Some(Value::List(vec![Value::Int(0), Value::Int(7)])));
}

/// Writes a signal as a letter.
fn letter(id: &str, value: i64) -> Vec<u8> {
    let letter = Value::map([
        ("signal", Value::text("go")),
        ("id", Value::text(id)),
        ("value", Value::Int(value)),
    ]);
    agentic_model::canonical::encode(&letter).expect("it is data")
}

/// Puts a file into the inbox of a session, as a crash or somebody hostile might.
fn put(stage: &Stage, id: &agentic_replay::SessionId, name: &str, bytes: &[u8]) {
    let log = stage.log_file(id);
    let folder = log.parent().and_then(|log| log.parent()).expect("a log stands in a folder");
    std::fs::create_dir_all(folder.join("inbox")).expect("writable");
    std::fs::write(folder.join("inbox").join(name), bytes).expect("writable");
}

#[test]
fn letters_that_are_none_are_put_aside_and_hold_nobody_up() {
    let stage = Stage::new();
    let id = stage.start("suspend(\"go\")");
    let encoded = |text: &str| {
        let value = agentic_model::json::from_text(text).expect("the case is JSON");
        agentic_model::canonical::encode(&value).expect("it is data")
    };
    for (name, bytes) in [
        ("00000000000000000001-1-1", b"".to_vec()),
        ("00000000000000000001-1-2", b"\xff\xff".to_vec()),
        ("00000000000000000001-1-3", encoded("5")),
        ("00000000000000000001-1-4", encoded(r#"{"signal":"go"}"#)),
        ("00000000000000000001-1-5", encoded(r#"{"signal":"go","value":1}"#)),
        ("00000000000000000001-1-6", encoded(r#"{"cancel":"eve","kill":true}"#)),
        ("00000000000000000001-1-7", encoded(r#"{"signal":"go","id":"x","value":7}"#)),
    ] {
        put(&stage, &id, name, &bytes);
    }
    stage.resume(&id);
    assert_eq!(stage.result(&id), Some(Value::Int(7)), "the sound one is heard");
    let told = stage.space.take_mended();
    assert_eq!(told.iter().filter(|told| told.contains("damaged letter")).count(), 6, "{told:?}");
}

#[test]
fn a_letter_that_a_crash_left_in_the_inbox_counts_once() {
    let stage = Stage::new();
    let id = stage.start("[suspend(\"go\"), suspend(\"go\")]");
    let bytes = letter("one", 1);
    for name in ["00000000000000000001-1-1", "00000000000000000001-1-2"] {
        put(&stage, &id, name, &bytes);
        stage.resume(&id);
    }
    assert!(!stage.state(&id).is_over(), "the same signal twice is one");
    signal(&stage.space, &id, "go", Value::Int(2)).expect("it is taken");
    let both = [1, 2].map(Value::Int).to_vec();
    assert_eq!(stage.result(&id), Some(Value::List(both)));
}
