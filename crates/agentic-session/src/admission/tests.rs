//! Whether an answer may be given: by this person, with this action and this value.

use agentic_git::run_git;
use agentic_model::Value;
use agentic_replay::{HoldReason, OpenHold};

use super::check;
use crate::action::{Action, ApprovalScope};
use crate::decide::{APPROVED_BYTES_MAX, DecisionDraft, Policy, VALUE_BYTES_MAX};
use crate::error::{DecisionError, RequestError};
use crate::tests::{data, draft_of, hold_of, space_with_an_agent};
use crate::{Error, SessionSpace};

/// Says in a word what is wrong with an answer; nothing if it may be given.
fn refusal(space: &SessionSpace, hold: &OpenHold, draft: &DecisionDraft) -> Option<String> {
    let policy = Policy::of_payload(hold.reason, &hold.payload);
    let error = check(space, hold, &policy, draft).err()?;
    Some(match error {
        Error::Request(RequestError::ValueMisfit { pointer, .. }) => {
            format!("misfit at {pointer:?}")
        }
        Error::Request(RequestError::Other { .. }) => "another request".to_owned(),
        Error::Decision(DecisionError::NotAllowed { .. }) => "not allowed".to_owned(),
        Error::Decision(DecisionError::NotForSession { .. }) => "not for a session".to_owned(),
        error @ (Error::Space(_)
        | Error::Session(_)
        | Error::Program(_)
        | Error::Request(_)
        | Error::Decision(_)) => error.to_string(),
    })
}

/// Checks what becomes of answers to a hold of a program.
fn check_all(payload: &str, cases: &[(Action, Option<&str>, Option<&str>)]) {
    let (_folder, space, _) = space_with_an_agent();
    let hold = hold_of("hold", HoldReason::Asked, payload);
    for (action, value, wanted) in cases {
        let value = value.map(data);
        let draft = DecisionDraft { value: value.clone(), ..draft_of(*action) };
        let found = refusal(&space, &hold, &draft);
        assert_eq!(found.as_deref(), *wanted, "{payload}: {action:?} {value:?}");
    }
}

#[test]
fn what_does_not_fit_is_told_with_its_place_where_that_is_a_part() {
    let said = |pointer: &str| {
        let (pointer, reason) = (pointer.to_owned(), "it is no number".to_owned());
        RequestError::ValueMisfit { pointer, reason }.to_string()
    };
    assert_eq!(said(""), "the value does not fit: it is no number");
    assert_eq!(said("/n"), "the value does not fit at `/n`: it is no number");
}

#[test]
fn an_answer_that_is_the_value_needs_one() {
    let none = r#"misfit at """#;
    check_all(
        "{}",
        &[
            (Action::Approve, None, None),
            (Action::Reject, None, None),
            (Action::Edit, None, Some(none)),
            (Action::Respond, None, Some(none)),
            (Action::Respond, Some("null"), None),
        ],
    );
}

#[test]
fn an_approval_where_a_value_is_due_needs_one_or_a_subject() {
    let asks = r#"{"schema":{"type":"integer"}}"#;
    check_all(
        asks,
        &[(Action::Approve, None, Some(r#"misfit at """#)), (Action::Reject, None, None)],
    );
    let offers = r#"{"schema":{"type":"integer"},"payload":5}"#;
    check_all(offers, &[(Action::Approve, None, None)]);
    let misfit = r#"{"schema":{"type":"integer"},"payload":"five"}"#;
    check_all(misfit, &[(Action::Approve, None, Some(r#"misfit at """#))]);
}

#[test]
fn every_answer_but_a_rejection_fits_the_schema() {
    let payload = r#"{"schema":{"properties":{"n":{"type":"integer"}},"required":["n"]}}"#;
    for action in [Action::Approve, Action::Edit, Action::Respond] {
        check_all(
            payload,
            &[
                (action, Some(r#"{"n":1}"#), None),
                (action, Some(r#"{"n":"one"}"#), Some(r#"misfit at "/n""#)),
                (action, Some("{}"), Some(r#"misfit at """#)),
            ],
        );
    }
    check_all(payload, &[(Action::Reject, Some(r#""too early""#), None)]);
}

#[test]
fn a_response_is_one_of_the_choices_and_an_edit_need_not_be() {
    check_all(
        r#"{"choices":["red","blue"]}"#,
        &[
            (Action::Respond, Some(r#""red""#), None),
            (Action::Respond, Some(r#""Red""#), Some(r#"misfit at """#)),
            (Action::Respond, Some("5"), Some(r#"misfit at """#)),
            (Action::Edit, Some(r#""green""#), None),
        ],
    );
}

#[test]
fn a_value_that_is_no_data_or_too_long_is_refused() {
    let (_folder, space, _) = space_with_an_agent();
    let hold = hold_of("hold", HoldReason::Asked, "{}");
    let text = |n_chars| Value::text("x".repeat(n_chars));
    let refusal = |value| {
        let draft = DecisionDraft { value: Some(value), ..draft_of(Action::Respond) };
        refusal(&space, &hold, &draft)
    };
    // Its two quotation marks count.
    assert_eq!(refusal(text(VALUE_BYTES_MAX - 2)), None);
    assert_eq!(refusal(text(VALUE_BYTES_MAX - 1)).as_deref(), Some(r#"misfit at """#));
    assert_eq!(refusal(Value::Float(f64::NAN)).as_deref(), Some(r#"misfit at """#));
    let deep = (0..100).fold(Value::Null, |inner, _| Value::List(vec![inner]));
    assert_eq!(refusal(deep).as_deref(), Some(r#"misfit at """#));
}

#[test]
fn what_was_offered_is_approved_as_far_as_a_decision_can_keep_it() {
    let (_folder, space, _) = space_with_an_agent();
    let long = "x".repeat(APPROVED_BYTES_MAX);
    let hold = hold_of("hold", HoldReason::Asked, &format!(r#"{{"payload":"{long}"}}"#));
    for (action, value, wanted) in [
        (Action::Approve, None, Some(r#"misfit at """#)),
        (Action::Approve, Some(Value::text("shorter")), None),
        (Action::Edit, Some(Value::text("shorter")), None),
        (Action::Reject, None, None),
    ] {
        let draft = DecisionDraft { value, ..draft_of(action) };
        assert_eq!(refusal(&space, &hold, &draft).as_deref(), wanted, "{action:?}");
    }
}

#[test]
fn only_a_person_answers() {
    let (_folder, space, _) = space_with_an_agent();
    let hold = hold_of("hold", HoldReason::Asked, "{}");
    for principal in ["", "user:", "agent:alice", "system:expiry", "role:lead", "ada", "User:ada"] {
        let draft = DecisionDraft { principal: principal.to_owned(), ..draft_of(Action::Approve) };
        assert_eq!(refusal(&space, &hold, &draft).as_deref(), Some("not allowed"), "{principal:?}");
    }
    assert_eq!(refusal(&space, &hold, &draft_of(Action::Approve)), None);
}

#[test]
fn who_has_a_role_is_what_gits_configuration_says() {
    let (folder, space, _) = space_with_an_agent();
    let set = ["config", "--add", "agentic.role.lead", "user:alice"];
    run_git(folder.path(), &set).expect("git runs").checked(&set).expect("it works");
    let by = |payload: &str, principal: &str| {
        let hold = hold_of("hold", HoldReason::Asked, payload);
        let draft = DecisionDraft { principal: principal.to_owned(), ..draft_of(Action::Approve) };
        refusal(&space, &hold, &draft).is_none()
    };
    for payload in [r#"{"assignees":["role:lead"]}"#, r#"{"quorum":{"role":"lead"}}"#] {
        assert_eq!(["user:alice", "user:bob"].map(|who| by(payload, who)), [true, false]);
    }
    // Who is assigned needs the role besides.
    let both = r#"{"assignees":["user:alice","user:bob"],"quorum":{"role":"lead"}}"#;
    assert_eq!(["user:alice", "user:bob"].map(|who| by(both, who)), [true, false]);
    // A role that is called like an option of git, and one that nobody has.
    for payload in [r#"{"assignees":["role:--help"]}"#, r#"{"assignees":["role:"]}"#] {
        assert!(!by(payload, "user:alice"), "{payload}");
    }
}

#[test]
fn an_answer_to_another_request_is_none_to_this() {
    let (_folder, space, _) = space_with_an_agent();
    let hold = hold_of("hold", HoldReason::Asked, "{}");
    let hash = hold.ask.hash.to_string();
    let expecting = |expect: &str| {
        let draft = DecisionDraft { expect: Some(expect.to_owned()), ..draft_of(Action::Approve) };
        refusal(&space, &hold, &draft)
    };
    for known in [hash.as_str(), &hash[..10]] {
        assert_eq!(expecting(known), None, "{known}");
    }
    for other in ["", &hash[..9], "0000000000", &format!("{hash}0")] {
        assert_eq!(expecting(other).as_deref(), Some("another request"), "{other}");
    }
}

#[test]
fn only_the_approval_of_a_permission_counts_for_the_rest_of_a_session() {
    let (_folder, space, _) = space_with_an_agent();
    let lasting = |reason, action, value: Option<&str>| {
        let hold = hold_of("exec", reason, r#"{"argv":["true"]}"#);
        let scope = ApprovalScope::RestOfSession;
        let draft = DecisionDraft { scope, value: value.map(data), ..draft_of(action) };
        refusal(&space, &hold, &draft)
    };
    assert_eq!(lasting(HoldReason::NotAllowed, Action::Approve, None), None);
    let refused = Some("not for a session".to_owned());
    assert_eq!(lasting(HoldReason::Asked, Action::Approve, None), refused);
    assert_eq!(lasting(HoldReason::InDoubt, Action::Approve, None), refused);
    assert_eq!(lasting(HoldReason::NotAllowed, Action::Reject, None), refused);
    let edited = r#"{"argv":["false"]}"#;
    assert_eq!(lasting(HoldReason::NotAllowed, Action::Edit, Some(edited)), refused);
}

#[test]
fn an_edited_exec_names_a_program() {
    let (_folder, space, _) = space_with_an_agent();
    let hold = hold_of("exec", HoldReason::NotAllowed, r#"{"argv":["true"]}"#);
    for (value, may) in [
        (r#"{"argv":["ls","-l"]}"#, true),
        (r#"{"command":"ls -l"}"#, true),
        (r#"{"argv":[]}"#, false),
        (r#"{"argv":["ls",5]}"#, false),
        (r#"{"argv":"ls"}"#, false),
        (r#"{"command":["ls"]}"#, false),
        (r#""ls""#, false),
        ("{}", false),
    ] {
        let draft = DecisionDraft { value: Some(data(value)), ..draft_of(Action::Edit) };
        assert_eq!(refusal(&space, &hold, &draft).is_none(), may, "{value}");
    }
}
