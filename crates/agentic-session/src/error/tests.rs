//! With what code each error ends a command, and what it tells people.

use agentic_model::guidance::Guidance;
use agentic_model::{AgentName, Instant};

use crate::Error;
use crate::error::{DecisionError, ProgramError, RequestError, SessionError};
use crate::tests::oid;

fn text(text: &str) -> String {
    text.to_owned()
}

/// Makes one of each error, with the code that it ends a command with.
fn all() -> Vec<(Error, u8)> {
    let (id, reason) = (|| text("id"), || text("reason"));
    let agent = AgentName::parse("alice").expect("a valid name");
    let programs = [
        ProgramError::NotAPlan { id: id(), kind: text("Cycle"), reason: reason() },
        ProgramError::Unperformed { reason: reason() },
        ProgramError::NoFlowOf { agent, builtin: text("b") },
        ProgramError::NotAFlow { id: id() },
        ProgramError::BrokenFlow { id: id(), reason: reason() },
        ProgramError::BadRequest { reason: reason() },
        ProgramError::BadScript { reason: reason() },
    ];
    let sessions = [
        (SessionError::Unknown { id: id() }, 1),
        (SessionError::Ambiguous { prefix: id(), candidates: vec![text("a"), text("b")] }, 1),
        (SessionError::KeyTaken { key: text("k"), session: id() }, 3),
        (SessionError::Over { id: id() }, 8),
        (SessionError::InboxFull { id: id() }, 1),
        (SessionError::NotRebuilt { id: id(), reason: reason() }, 5),
    ];
    let requests = [
        (RequestError::Unknown { id: id() }, 1),
        (RequestError::Ambiguous { id: id(), candidates: vec![text("a")] }, 1),
        (RequestError::NoHold { run: id(), node: text("n1") }, 1),
        (RequestError::Other { request: id(), expected: text("a"), found: text("b") }, 3),
        (RequestError::Stale { request: id() }, 3),
        (RequestError::ValueMisfit { pointer: text("/n"), reason: reason() }, 7),
    ];
    let (request, deadline) = (id, Instant::from_millis(0));
    let decided = |commit| DecisionError::AlreadyDecided {
        request: request(),
        principal: text("user:ada"),
        action: "approve",
        commit,
    };
    let expired = DecisionError::HoldExpired { request: id(), deadline, value: None, commit: None };
    let decisions = [
        (decided(None), 8),
        (decided(Some(oid(1))), 8),
        (DecisionError::NotADecision { commit: oid(1), request: id() }, 1),
        (DecisionError::NotAllowed { what: text("decide"), reason: reason() }, 9),
        (expired, 12),
        (DecisionError::NotForSession { request: id(), reason: "so" }, 2),
    ];
    let programs = programs.into_iter().map(|error| (error.into(), 1));
    let sessions = sessions.into_iter().map(|(error, code)| (error.into(), code));
    let requests = requests.into_iter().map(|(error, code)| (error.into(), code));
    let decisions = decisions.into_iter().map(|(error, code)| (error.into(), code));
    programs.chain(sessions).chain(requests).chain(decisions).collect()
}

#[test]
fn every_error_has_its_exit_code() {
    for (error, code) in all() {
        assert_eq!(error.class().exit_code(), code, "{error}");
    }
}

#[test]
fn every_error_says_what_to_do_next() {
    for (error, _) in all() {
        assert!(!error.hint().is_empty(), "{error}");
        assert!(!error.hint().ends_with('.'), "{error}: {}", error.hint());
    }
}

#[test]
fn messages_are_lower_case_without_a_final_period() {
    for (error, _) in all() {
        let message = error.to_string();
        assert!(!message.ends_with('.'), "{message}");
        assert!(!message.starts_with(char::is_uppercase), "{message}");
    }
}

#[test]
fn only_a_divergence_is_a_fault_of_ours_among_them() {
    assert!(all().iter().all(|(error, _)| !error.is_fault()));
}

#[test]
fn what_is_known_besides_is_told() {
    let because = |error: Error| error.because();
    let ambiguous =
        SessionError::Ambiguous { prefix: text("ab"), candidates: vec![text("abc"), text("abd")] };
    let told = because(ambiguous.into()).expect("it names them");
    assert!(told.contains("abc") && told.contains("abd"), "{told}");
    let commit = Some(oid(1));
    let (request, principal) = (text("r"), text("user:ada"));
    let decided = DecisionError::AlreadyDecided { request, principal, action: "reject", commit };
    assert!(because(decided.into()).is_some_and(|told| told.contains(&oid(1).to_string())));
}

#[test]
fn a_hold_that_expired_says_what_the_program_got() {
    let message = |value, commit| {
        let (request, deadline) = (text("r"), Instant::from_millis(0));
        DecisionError::HoldExpired { request, deadline, value, commit }.to_string()
    };
    let plain = message(None, None);
    assert!(plain.ends_with("1970-01-01T00:00:00.000Z, without a value"), "{plain}");
    let value = Some(agentic_model::Value::text("late"));
    let told = message(value, Some(oid(1)));
    assert!(told.contains(r#"with the value "late""#) && told.contains("system:expiry"), "{told}");
}
