//! Deciding: who may, what, and what comes of it.

use agentic_model::Value;
use agentic_session::decide::{Action, ApprovalScope, DecisionDraft, decide};
use agentic_session::error::{DecisionError, RequestError};
use agentic_session::hold::name::NamedRequest;
use agentic_session::{Begin, Error, SessionState, prove, start, tick};

use crate::kit::{EPOCH_MS, Stage, by, draft, second, walk, with};

/// Checks what a script makes of the answer to its hold.
fn check(source: &str, draft: &DecisionDraft, wanted: &Value) {
    let stage = Stage::new();
    let id = stage.start(source);
    stage.answer(draft).expect("it may");
    let summary = stage.space.session(&id).expect("its records are sound");
    assert_eq!(summary.result.as_ref(), Some(wanted), "{source}: {:?}", summary.failure);
}

/// Checks that an answer is refused, and that the hold stays open.
fn check_refused(source: &str, draft: &DecisionDraft) -> Error {
    let stage = Stage::new();
    let id = stage.start(source);
    let refused = stage.answer(draft).expect_err("it may not");
    assert_eq!((stage.state(&id), stage.holds().len()), (SessionState::Held, 1), "{source}");
    refused
}

#[test]
fn a_script_is_told_what_was_decided() {
    let source = "hold(\"Go on?\").action";
    check(source, &draft(Action::Approve), &Value::text("approve"));
    check(source, &draft(Action::Reject), &Value::text("reject"));
}

#[test]
fn a_script_is_told_who_decided() {
    check("hold(\"Go on?\").principal", &by("user:bob", Action::Reject), &Value::text("user:bob"));
    let asked = "request(\"hold\", #{question: \"Go on?\"}).principal";
    check(asked, &draft(Action::Approve), &Value::text("user:alice"));
}

#[test]
fn a_response_is_the_value_of_the_hold() {
    check("hold(\"Which?\").value", &with(Value::Int(3), Action::Respond), &Value::Int(3));
}

#[test]
fn an_approval_gives_what_was_to_be_approved() {
    check("hold(\"This?\", #{payload: 5}).value", &draft(Action::Approve), &Value::Int(5));
}

#[test]
fn a_hold_that_is_assigned_is_decided_by_nobody_else() {
    let source = "hold(\"Go on?\", #{assignees: [\"user:bob\"]}).action";
    let refused = check_refused(source, &draft(Action::Approve));
    assert!(matches!(refused, Error::Decision(DecisionError::NotAllowed { .. })), "{refused}");
    check(source, &by("user:bob", Action::Approve), &Value::text("approve"));
}

#[test]
fn only_people_decide() {
    let refused = check_refused("hold(\"Go on?\")", &by("agent:alice", Action::Approve));
    assert!(matches!(refused, Error::Decision(DecisionError::NotAllowed { .. })), "{refused}");
}

#[test]
fn an_action_that_is_not_offered_is_refused() {
    let source = "hold(\"Go on?\", #{actions: [\"approve\"]})";
    let refused = check_refused(source, &draft(Action::Reject));
    assert!(matches!(refused, Error::Decision(DecisionError::NotAllowed { .. })), "{refused}");
}

#[test]
fn a_response_without_a_value_is_refused() {
    let refused = check_refused("hold(\"Which?\")", &draft(Action::Respond));
    assert!(matches!(refused, Error::Request(RequestError::ValueMisfit { .. })), "{refused}");
}

#[test]
fn a_value_that_does_not_fit_the_schema_is_refused_at_its_part() {
    let source = "hold(\"Which?\", #{schema: #{properties: #{n: #{type: \"integer\"}}}})";
    let value = Value::map([("n", Value::text("three"))]);
    let refused = check_refused(source, &with(value, Action::Respond));
    let Error::Request(RequestError::ValueMisfit { pointer, .. }) = refused else {
        panic!("{refused}")
    };
    assert_eq!(pointer, "/n");
}

#[test]
fn a_response_that_is_none_of_the_choices_is_refused() {
    let source = "hold(\"Which?\", #{choices: [\"red\", \"blue\"]}).value";
    check_refused(source, &with(Value::text("green"), Action::Respond));
    check(source, &with(Value::text("red"), Action::Respond), &Value::text("red"));
}

#[test]
fn a_request_of_another_hash_is_not_decided() {
    let expect = Some("0000000000000".to_owned());
    let other = DecisionDraft { expect, ..draft(Action::Approve) };
    let refused = check_refused("hold(\"Go on?\")", &other);
    assert!(matches!(refused, Error::Request(RequestError::Other { .. })), "{refused}");
}

#[test]
fn a_quorum_is_settled_by_as_many_people_as_it_needs() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\", #{quorum: #{need: 2}}).action");
    stage.answer(&draft(Action::Approve)).expect("it may");
    assert_eq!(stage.state(&id), SessionState::Held);
    // Who has answered once has no second voice.
    assert!(stage.answer(&draft(Action::Reject)).is_err());
    stage.answer(&by("user:bob", Action::Approve)).expect("it may");
    assert_eq!(stage.result(&id), Some(Value::text("approve")));
}

#[test]
fn a_decision_is_made_once_and_the_loser_is_told_who_won() {
    let stage = Stage::new();
    stage.start("hold(\"Go on?\").action");
    let hold = stage.only_hold();
    let first = decide(&stage.space, &hold, &draft(Action::Approve)).expect("it may");
    let again = decide(&stage.space, &hold, &draft(Action::Approve)).expect("it said the same");
    assert_eq!(again.commit, first.commit);
    let refused = decide(&stage.space, &hold, &by("user:bob", Action::Reject));
    let Err(Error::Decision(DecisionError::AlreadyDecided { principal, .. })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(principal, "user:alice");
}

#[test]
fn what_a_session_may_not_do_waits_for_leave() {
    let stage = Stage::new();
    let source = "exec([\"touch\", \"ran\"]); 1";
    let id = start(&stage.space, Begin { allow: Vec::new(), ..stage.begin(source) });
    let id = id.expect("it starts");
    assert_eq!(stage.state(&id), SessionState::Held);
    assert!(!stage.path("ran").exists());
    stage.answer(&draft(Action::Approve)).expect("it may");
    assert!(stage.path("ran").exists());
    assert_eq!(stage.state(&id), SessionState::Done);
}

#[test]
fn an_approval_for_the_rest_of_a_session_is_asked_for_once() {
    let stage = Stage::new();
    let source = "exec([\"touch\", \"one\"]); exec([\"touch\", \"one\"]); 1";
    let id = start(&stage.space, Begin { allow: Vec::new(), ..stage.begin(source) });
    let id = id.expect("it starts");
    let scope = ApprovalScope::RestOfSession;
    stage.answer(&DecisionDraft { scope, ..draft(Action::Approve) }).expect("it may");
    assert_eq!(stage.state(&id), SessionState::Done);
}

#[test]
fn a_decision_that_is_broken_off_anywhere_is_made_or_not_and_never_both() {
    let prepare = || {
        let stage = Stage::new();
        stage.start("hold(\"Go on?\").action");
        stage
    };
    let act = |stage: &Stage| {
        let hold = stage.only_hold();
        if decide(&stage.space, &hold, &draft(Action::Approve)).is_ok() {
            let _ = agentic_session::resume(&stage.space, &hold.hold.session);
        }
    };
    walk(prepare, act, |stage, step| {
        let id = stage.space.find_session("alice").expect("it was started");
        agentic_session::tick(&stage.space).expect("readable");
        // Whoever was not heard may say no now; whoever was has decided.
        let wanted = match stage.holds().is_empty() {
            true => "approve",
            false => {
                stage.answer(&by("user:bob", Action::Reject)).expect("it is still open");
                "reject"
            }
        };
        assert_eq!(stage.result(&id), Some(Value::text(wanted)), "step {step}");
        let kinds =
            stage.git(&["log", "--format=%(trailers:key=Agentic-Kind,valueonly)", "agents/alice"]);
        assert_eq!(kinds.matches("decision").count(), 1, "step {step}");
        prove(&stage.space, &id).unwrap_or_else(|error| panic!("step {step}: {error}"));
    });
}

#[test]
fn of_people_who_race_one_decides_and_the_others_are_told_who() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Which?\").value");
    let hold = stage.only_hold();
    let told: Vec<_> = std::thread::scope(|scope| {
        let answer = |number: i64| {
            let (hold, stage) = (&hold, &stage);
            scope.spawn(move || {
                let draft = with(Value::Int(number), Action::Respond);
                let draft = DecisionDraft { principal: format!("user:p{number}"), ..draft };
                decide(&stage.beside(), hold, &draft)
            })
        };
        let all: Vec<_> = (0..4).map(answer).collect();
        all.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    stage.resume(&id);
    let winner = stage.result(&id).and_then(|value| value.as_int()).expect("somebody was first");
    for (number, told) in told.into_iter().enumerate() {
        match told {
            Ok(_) => assert_eq!(number as i64, winner),
            Err(Error::Decision(DecisionError::AlreadyDecided { principal, .. })) => {
                assert_eq!(principal, format!("user:p{winner}"));
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_decision_counts_before_the_session_has_gone_on() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\").action");
    let hold = stage.only_hold();
    decide(&stage.space, &hold, &draft(Action::Approve)).expect("it may");
    let stage = stage.reopened();
    assert_eq!(stage.holds(), [], "nobody is asked any more");
    assert_eq!(stage.state(&id), SessionState::Held, "and its records do not say so yet");
    assert!(decide(&stage.space, &hold, &by("user:bob", Action::Reject)).is_err());
    agentic_session::tick(&stage.space).expect("readable");
    assert_eq!(stage.result(&id), Some(Value::text("approve")));
}

#[test]
fn a_decision_is_a_commit_that_changes_no_file_and_says_why() {
    let stage = Stage::new();
    stage.start("hold(\"Go on?\", #{payload: 5}).action");
    let before = stage.git(&["rev-parse", "agents/alice^{tree}"]);
    let why = DecisionDraft { rationale: "It was tested".to_owned(), ..draft(Action::Approve) };
    let commit = stage.answer(&why).expect("it may").commit.to_string();
    assert_eq!(stage.git(&["rev-parse", &format!("{commit}^{{tree}}")]), before);
    assert_eq!(stage.git(&["log", "-1", "--format=%s", &commit]), "It was tested");
    let note = stage.git(&["notes", "--ref=agentic/alice", "show", &commit]);
    assert!(note.contains("approve by user:alice"), "{note}");
    stage.git(&["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn the_same_decision_again_succeeds_whatever_its_value() {
    for (options, draft) in [
        ("#{payload: 5}", draft(Action::Approve)),
        ("#{payload: ()}", draft(Action::Approve)),
        ("#{}", with(Value::Null, Action::Respond)),
        ("#{}", with(Value::Int(5), Action::Respond)),
        ("#{}", draft(Action::Reject)),
    ] {
        let stage = Stage::new();
        stage.start(&format!("hold(\"This?\", {options})"));
        let hold = stage.only_hold();
        let first = decide(&stage.space, &hold, &draft).expect("it may").commit;
        let again = decide(&stage.space, &hold, &draft);
        assert_eq!(again.expect(options).commit, first, "{options}");
        stage.resume(&hold.hold.session);
        let later = decide(&stage.space, &hold, &draft);
        assert_eq!(later.expect(options).commit, first, "{options}: the session has gone on");
    }
}

#[test]
fn an_edit_of_an_effect_is_what_happens() {
    let stage = Stage::new();
    let id = stage.start_asking("exec([\"touch\", \"asked\"]).status");
    let edited = with(
        agentic_model::json::from_text(r#"{"argv":["touch","edited"]}"#).expect("JSON"),
        Action::Edit,
    );
    stage.answer(&edited).expect("it may");
    assert_eq!(stage.result(&id), Some(Value::Int(0)));
    assert!(stage.path("edited").exists() && !stage.path("asked").exists());
}

#[test]
fn an_effect_that_is_refused_is_a_failure_that_the_script_can_catch() {
    let stage = Stage::new();
    let source =
        "let said = (); try { exec([\"touch\", \"ran\"]) } catch (e) { said = e.code } said";
    let id = stage.start_asking(source);
    stage.answer(&draft(Action::Reject)).expect("it may");
    assert_eq!(stage.result(&id), Some(Value::text("rejected")));
    assert!(!stage.path("ran").exists());
}

#[test]
fn a_permission_for_the_rest_covers_the_same_program_and_no_other() {
    let stage = Stage::new();
    let source = "exec([\"touch\", \"one\"]); exec([\"touch\", \"two\"]); exec([\"true\"]); 1";
    let id = stage.start_asking(source);
    let scope = ApprovalScope::RestOfSession;
    stage.answer(&DecisionDraft { scope, ..draft(Action::Approve) }).expect("it may");
    assert!(stage.path("one").exists() && stage.path("two").exists());
    assert_eq!(stage.state(&id), SessionState::Held, "another program has a question of its own");
    stage.answer(&draft(Action::Approve)).expect("it may");
    assert_eq!(stage.state(&id), SessionState::Done);
}

#[test]
fn nothing_is_decided_on_a_branch_that_is_being_rebased() {
    let stage = Stage::new();
    stage.start("hold(\"Go on?\")");
    stage.commit(&stage.agent, "a", "1");
    stage.git(&["worktree", "add", "--quiet", "--detach", "elsewhere", "agents/alice"]);
    let busy = stage.path(".git/worktrees/elsewhere/rebase-merge");
    std::fs::create_dir(&busy).expect("writable");
    std::fs::write(busy.join("head-name"), "refs/heads/agents/alice\n").expect("writable");
    let before = stage.git(&["rev-parse", "agents/alice"]);
    let hold = stage.only_hold();
    assert!(decide(&stage.space, &hold, &draft(Action::Approve)).is_err());
    assert_eq!((stage.git(&["rev-parse", "agents/alice"]), stage.holds().len()), (before, 1));
    std::fs::remove_dir_all(&busy).expect("it is there");
    decide(&stage.space, &hold, &draft(Action::Approve)).expect("it is not busy any more");
}

#[test]
fn a_decision_from_elsewhere_is_shown_and_decides_nothing_until_somebody_here_accepts_it() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\").action");
    let other = stage.copied();
    let theirs = other.answer(&by("user:bob", Action::Reject)).expect("it may").commit;
    stage.take_branch_of(&other);
    let stage = stage.reopened();
    stage.resume(&id);
    let hold = stage.only_hold();
    let seen: Vec<_> = hold.unverified.iter().map(|(commit, _)| *commit).collect();
    assert_eq!((stage.state(&id), seen), (SessionState::Held, vec![theirs]));
    let named = NamedRequest::Open(Box::new(hold));
    let made = named.proposed(&stage.space, theirs).expect("it says that it decides this").clone();
    assert_eq!((made.principal.as_str(), made.action), ("user:bob", Action::Reject));
    let head = stage.space.read_commit(theirs).expect("it came along").parents[0];
    assert!(named.proposed(&stage.space, head).is_err(), "another commit proposes nothing");
    let accepts = Some((theirs, made.principal));
    stage.answer(&DecisionDraft { accepts, ..draft(made.action) }).expect("it may");
    assert_eq!(stage.result(&id), Some(Value::text("reject")));
}

#[test]
fn whoever_answers_a_hold_that_has_expired_since_it_was_found_is_told_so() {
    let stage = Stage::at(second(0));
    let deadline = EPOCH_MS + 5000;
    stage.start(&format!("hold(\"Go on?\", #{{deadline: {deadline}, on_expiry: \"late\"}})"));
    let hold = stage.only_hold();
    let stage = stage.reopened_at(second(6));
    tick(&stage.space).expect("readable");
    let told = decide(&stage.space, &hold, &draft(Action::Approve));
    let Err(Error::Decision(DecisionError::HoldExpired { commit, value, .. })) = told else {
        panic!("{told:?}")
    };
    assert_eq!((commit.is_some(), value), (true, Some(Value::text("late"))));
}
