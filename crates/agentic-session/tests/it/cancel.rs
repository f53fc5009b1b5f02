//! Cancelling: nothing stays without an answer.

use agentic_replay::record::CancelMode;
use agentic_session::decide::{Action, decide};
use agentic_session::error::{DecisionError, SessionError};
use agentic_session::hold::name::{NamedRequest, find_hold};
use agentic_session::{Error, SessionState, cancel};

use crate::kit::{Stage, draft, walk};

const ALICE: &str = "user:alice";

#[test]
fn a_session_that_is_cancelled_asks_nobody_any_more() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\")");
    let hold = stage.only_hold();
    cancel(&stage.space, &id, CancelMode::Cooperative, ALICE, "too late").expect("it stops");
    assert!(stage.state(&id).is_over());
    assert!(stage.holds().is_empty());
    assert!(decide(&stage.space, &hold, &draft(Action::Approve)).is_err());
}

#[test]
fn a_session_that_is_killed_is_cancelled_whatever_its_script_would_do() {
    let stage = Stage::new();
    let id = stage.start("let said = (); try { hold(\"Go on?\") } catch { } hold(\"Still?\")");
    cancel(&stage.space, &id, CancelMode::Kill, ALICE, "enough").expect("it stops");
    assert_eq!(stage.state(&id), SessionState::Cancelled);
}

#[test]
fn a_child_is_cancelled_with_its_parent() {
    let stage = Stage::new();
    let id = stage.start("spawn(#{briefing: \"b\", flow: \"hold(\\\"Go on?\\\")\"})");
    let child = stage.only_hold().hold.session;
    assert_ne!(child, id);
    cancel(&stage.space, &id, CancelMode::Cooperative, ALICE, "too late").expect("it stops");
    assert!(stage.state(&child).is_over());
    assert!(stage.state(&id).is_over());
}

#[test]
fn a_session_that_is_over_cannot_be_cancelled() {
    let stage = Stage::new();
    let id = stage.start("1");
    let refused = cancel(&stage.space, &id, CancelMode::Kill, ALICE, "again");
    assert!(matches!(refused, Err(Error::Session(SessionError::Over { .. }))), "{refused:?}");
    assert_eq!(stage.state(&id), SessionState::Done);
}

#[test]
fn a_cancellation_that_is_broken_off_anywhere_can_be_repeated() {
    let prepare = || {
        let stage = Stage::new();
        stage.start("all([|| hold(\"One?\"), || sleep(1000000), || suspend(\"go\")])");
        stage
    };
    let act = |stage: &Stage| {
        let id = stage.space.find_session("alice").expect("it was started");
        let _ = cancel(&stage.space, &id, CancelMode::Cooperative, ALICE, "enough");
    };
    walk(prepare, act, |stage, step| {
        let id = stage.space.find_session("alice").expect("it was started");
        if !stage.state(&id).is_over() {
            // It may have been told to stop already: then it comes to its end all the same.
            let _ = cancel(&stage.space, &id, CancelMode::Cooperative, ALICE, "again");
        }
        let summary = stage.space.session(&id).expect("readable");
        assert!(summary.state.is_over(), "step {step}: {:?}", summary.state);
        assert!(summary.asked.iter().all(|asked| asked.answer.is_some()), "step {step}");
        assert_eq!(stage.holds(), [], "step {step}");
    });
}

#[test]
fn a_decision_that_was_made_before_has_its_say() {
    let stage = Stage::new();
    let id = stage.start("let a = hold(\"Go on?\").action; trace(a); hold(\"And now?\")");
    decide(&stage.space, &stage.only_hold(), &draft(Action::Approve)).expect("it may");
    cancel(&stage.space, &id, CancelMode::Cooperative, ALICE, "enough").expect("it stops");
    assert!(stage.told().contains(&"approve".to_owned()), "{:?}", stage.told());
    let summary = stage.space.session(&id).expect("readable");
    assert!(summary.asked[0].decision().is_some(), "{summary:?}");
}

#[test]
fn a_script_that_is_told_to_stop_may_clean_up_and_ask_nobody() {
    let stage = Stage::new();
    let source = "let said = (); try { hold(\"Go on?\") } catch (e) { exec([\"touch\", \"cleaned\"]); said = e.code } said";
    let id = stage.start(source);
    cancel(&stage.space, &id, CancelMode::Cooperative, ALICE, "enough").expect("it stops");
    assert!(stage.path("cleaned").exists());
    assert_eq!(stage.state(&id), SessionState::Cancelled, "whatever it came to");
    let stage = Stage::new();
    let id = stage.start("try { hold(\"Go on?\") } catch { hold(\"Really?\") }");
    cancel(&stage.space, &id, CancelMode::Cooperative, ALICE, "enough").expect("it stops");
    assert_eq!((stage.state(&id), stage.holds().len()), (SessionState::Cancelled, 0));
}

#[test]
fn a_program_that_runs_is_ended_when_its_session_is_stopped() {
    let stage = Stage::new();
    let (started, gate) = (stage.pipe("started"), stage.pipe("gate"));
    let source = "exec([\"sh\", \"-c\", \"echo > started; cat gate; touch after\"])";
    let begin = stage.begin(source);
    let id = begin.session().expect("the input is data");
    // The kinds that need nobody's leave are part of how it begins, not of its name.
    std::thread::scope(|scope| {
        let driver = stage.beside();
        let driven = scope.spawn(move || agentic_session::start(&driver, begin));
        std::fs::read(&started).expect("the program says that it runs");
        cancel(&stage.space, &id, CancelMode::Kill, ALICE, "enough").expect("it stops");
        driven.join().expect("no panic").expect("its session is over");
    });
    assert_eq!(stage.state(&id), SessionState::Cancelled);
    assert!(!stage.path("after").exists());
    drop(gate);
}

#[test]
fn who_stopped_a_session_has_closed_its_holds() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\")");
    let hold = stage.only_hold();
    cancel(&stage.space, &id, CancelMode::Cooperative, "user:bob", "enough").expect("it stops");
    let refused = decide(&stage.space, &hold, &draft(Action::Approve));
    let Err(Error::Decision(DecisionError::AlreadyDecided { principal, .. })) = refused else {
        panic!("{refused:?}")
    };
    assert!(["user:bob", "system:withdrawn"].contains(&principal.as_str()), "{principal}");
    let named = find_hold(&stage.space, &hold.hold.session.short_request(&hold.hold.id));
    let Ok(NamedRequest::Decided(named)) = named else { panic!("{named:?}") };
    assert_eq!(named.cancelled_by.as_deref(), Some("user:bob"));
    assert_eq!(named.winner().0, "user:bob");
}
