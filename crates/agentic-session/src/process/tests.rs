//! Programs of `exec`: how their payloads are read, and what comes of running them.

use std::time::Duration;

use agentic_model::Value;
use agentic_providers::host::CancelFlag;
use agentic_replay::{CancelExtent, Path, Request, RequestAnswer};

use super::{
    Bounds, ExecOutcome, OUTPUT_BYTES_MAX, TIME_LIMIT, command_of, not_started, probe_of, run,
    time_limit,
};
use crate::tests::{data, temporary_folder};

/// Runs a program in a folder of its own, with these bounds.
fn ran_within(payload: &str, limit: Duration, stop: &CancelFlag) -> ExecOutcome {
    let folder = temporary_folder();
    std::fs::create_dir(folder.path().join("inner")).expect("writable");
    run(&data(payload), folder.path(), Bounds { limit, stop })
}

fn ran(payload: &str) -> ExecOutcome {
    ran_within(payload, Duration::from_secs(60), &CancelFlag::new())
}

/// Returns the status and the output of a program that ended.
fn said(outcome: &ExecOutcome) -> (i64, &str, &str) {
    let RequestAnswer::Ok(value) = &outcome.answer else { panic!("{outcome:?}") };
    let text = |key: &str| value.get(key).and_then(Value::as_text).expect("it is a text");
    let status = value.get("status").and_then(Value::as_int).expect("it has a status");
    (status, text("stdout"), text("stderr"))
}

#[test]
fn a_command_is_a_line_or_a_list_of_words() {
    let words = |payload: &str| command_of(&data(payload));
    let line = Some(["sh", "-c", "ls | wc"].map(str::to_owned).to_vec());
    assert_eq!(words(r#"{"command":"ls | wc"}"#), line);
    assert_eq!(words(r#"{"argv":["ls","-l"]}"#), Some(vec!["ls".to_owned(), "-l".to_owned()]));
    assert_eq!(words(r#"{"command":"ls | wc","argv":["rm"]}"#), line, "the line comes first");
    for none in ["{}", "5", r#"{"argv":[]}"#, r#"{"argv":["ls",5]}"#, r#"{"argv":"ls"}"#] {
        assert_eq!(words(none), None, "{none}");
    }
}

#[test]
fn a_probe_is_a_line_a_list_or_a_map_and_runs_where_its_effect_runs() {
    let probe = |payload: &str| probe_of(&data(payload));
    assert_eq!(probe(r#"{"argv":["x"]}"#), None);
    let found = |text: &str| Some(Ok(data(text)));
    assert_eq!(probe(r#"{"probe":"test -e x"}"#), found(r#"{"command":"test -e x"}"#));
    assert_eq!(probe(r#"{"probe":["test","-e"]}"#), found(r#"{"argv":["test","-e"]}"#));
    assert_eq!(
        probe(r#"{"probe":{"argv":["t"]},"cwd":"a"}"#),
        found(r#"{"argv":["t"],"cwd":"a"}"#)
    );
    let own = r#"{"probe":{"argv":["t"],"cwd":"b"},"cwd":"a"}"#;
    assert_eq!(probe(own), found(r#"{"argv":["t"],"cwd":"b"}"#));
    for none in ["5", "null", "true", "[]", "{}", r#"{"argv":[]}"#] {
        let payload = format!(r#"{{"probe":{none}}}"#);
        assert_eq!(probe(&payload), Some(Err("`probe` is no program")), "{none}");
    }
}

#[test]
fn the_limit_of_the_request_counts_before_that_of_its_payload() {
    let limit = |payload: &str, own: Option<u64>| {
        let request = Request::new(Path::root(), "exec", data(payload));
        time_limit(&Request { timeout_ms: own, ..request })
    };
    assert_eq!(limit("{}", None), TIME_LIMIT);
    assert_eq!(limit(r#"{"timeout_ms":5}"#, None), Duration::from_millis(5));
    assert_eq!(limit(r#"{"timeout_ms":5}"#, Some(7)), Duration::from_millis(7));
    for odd in [r#"{"timeout_ms":-5}"#, r#"{"timeout_ms":"5"}"#, r#"{"timeout_ms":1.5}"#] {
        assert_eq!(limit(odd, None), TIME_LIMIT, "{odd}");
    }
}

#[test]
fn a_program_that_cannot_begin_has_failed_or_is_tried_again_or_found_no_room() {
    use std::io::ErrorKind;
    for (kind, tries_again, no_room) in [
        (ErrorKind::NotFound, false, false),
        (ErrorKind::PermissionDenied, false, false),
        (ErrorKind::ExecutableFileBusy, true, false),
        (ErrorKind::OutOfMemory, true, false),
        (ErrorKind::WouldBlock, true, false),
        (ErrorKind::StorageFull, false, true),
        (ErrorKind::QuotaExceeded, false, true),
        (ErrorKind::FileTooLarge, false, true),
    ] {
        let outcome = not_started(kind.into());
        assert_eq!(outcome.fault.is_some(), tries_again, "{kind:?}");
        assert_eq!(outcome.no_room.is_some(), no_room, "{kind:?}");
        let RequestAnswer::Failed(failure) = outcome.answer else { panic!("{kind:?}") };
        assert_eq!(failure.code, "exec", "{kind:?}");
    }
}

#[test]
fn a_program_tells_its_status_and_what_it_printed() {
    let outcome = ran(r#"{"command":"cat; pwd | grep -c inner; echo bad >&2; exit 3",
                          "stdin":"in ","cwd":"inner"}"#);
    assert_eq!(said(&outcome), (3, "in 1\n", "bad\n"));
    assert!(outcome.fault.is_none() && outcome.no_room.is_none());
}

#[test]
fn what_is_no_program_is_a_failure_that_the_program_can_catch() {
    for payload in [
        "{}",
        r#"{"argv":[]}"#,
        r#"{"argv":["no such program"]}"#,
        r#"{"argv":["true"],"cwd":"no such folder"}"#,
    ] {
        let outcome = ran(payload);
        assert!(matches!(outcome.answer, RequestAnswer::Failed(_)), "{payload}: {outcome:?}");
        assert!(outcome.fault.is_none(), "{payload}");
    }
}

#[test]
fn a_program_says_that_it_failed_for_the_time_being_only_where_it_may_be_tried_again() {
    let outcome = ran(r#"{"command":"exit 75","retries":1}"#);
    assert!(outcome.fault.is_some(), "{outcome:?}");
    assert_eq!(said(&outcome).0, 75);
    assert!(ran(r#"{"command":"exit 75"}"#).fault.is_none());
    assert!(ran(r#"{"command":"exit 74","retries":1}"#).fault.is_none());
}

#[test]
fn of_a_flood_the_beginning_is_kept() {
    let n_more = 100_000;
    let command = format!("head -c {} /dev/zero | tr '\\\\0' x", OUTPUT_BYTES_MAX + n_more);
    let outcome = ran(&format!(r#"{{"command":"{command}"}}"#));
    assert_eq!((said(&outcome).0, said(&outcome).1.len()), (0, OUTPUT_BYTES_MAX));
}

#[test]
fn bytes_that_are_no_text_are_shown_as_such() {
    let outcome = ran(r#"{"command":"printf '\\377ok'"}"#);
    assert_eq!(said(&outcome).1, "\u{fffd}ok");
}

#[test]
fn a_program_that_takes_too_long_is_ended_with_all_that_it_started() {
    let payload = r#"{"command":"sleep 600 & sleep 600"}"#;
    let outcome = ran_within(payload, Duration::from_millis(1), &CancelFlag::new());
    assert_eq!(outcome.answer, RequestAnswer::TimedOut);
}

#[test]
fn a_program_that_nobody_waits_for_is_stopped() {
    let stop = CancelFlag::new();
    stop.set();
    let payload = r#"{"command":"sleep 600"}"#;
    let outcome = ran_within(payload, Duration::from_secs(60), &stop);
    assert_eq!(outcome.answer, RequestAnswer::Cancelled(CancelExtent::Stopped));
}
