//! What a decision makes of the hold that it settles.

use agentic_model::{Map, Value};
use agentic_replay::record::PermitScope;
use agentic_replay::{HOLD, HoldReason, RequestAnswer};

use super::{Consequence, consequence};
use crate::action::{Action, ApprovalScope};
use crate::decision::Decision;
use crate::policy::Policy;
use crate::tests::{data, decision_of};

const ALL: [Action; 6] = [
    Action::Approve,
    Action::Reject,
    Action::Edit,
    Action::Respond,
    Action::Expire,
    Action::Withdrawn,
];

/// Says what comes of a decision, in a word and with its value.
fn told(kind: &str, reason: HoldReason, decision: &Decision) -> String {
    let payload = data(r#"{"question":"?","payload":"subject"}"#);
    match consequence(kind, reason, decision, &Policy::of_payload(reason, &payload)) {
        Consequence::Answer(RequestAnswer::Ok(value)) => agentic_model::json::to_text(&value),
        Consequence::Answer(RequestAnswer::Failed(failure)) => failure.code,
        Consequence::Answer(RequestAnswer::TimedOut | RequestAnswer::Cancelled(_)) => {
            "no answer".to_owned()
        }
        Consequence::Permit(edited, PermitScope::Once) => {
            format!(
                "once {}",
                edited.as_ref().map_or("as asked".into(), agentic_model::json::to_text)
            )
        }
        Consequence::Permit(edited, PermitScope::RestOfSession) => format!("on and on {edited:?}"),
        Consequence::Permit(_, PermitScope::Under(_)) => "under another".to_owned(),
        Consequence::Nothing => "nothing".to_owned(),
    }
}

fn by_ada(action: Action) -> Decision {
    decision_of("user:ada", action, Some(Value::Int(7)))
}

#[test]
fn a_hold_of_the_program_is_answered_with_action_value_and_principal() {
    for action in ALL {
        let value = if action == Action::Withdrawn { "null" } else { "7" };
        let name = action.name();
        assert_eq!(
            told(HOLD, HoldReason::Asked, &by_ada(action)),
            format!(r#"{{"action":"{name}","principal":"user:ada","value":{value}}}"#)
        );
    }
}

#[test]
fn an_approval_without_a_value_gives_what_was_to_be_approved() {
    let approved = decision_of("user:ada", Action::Approve, None);
    assert!(told(HOLD, HoldReason::Asked, &approved).contains(r#""value":"subject""#));
    let rejected = decision_of("user:ada", Action::Reject, None);
    assert!(told(HOLD, HoldReason::Asked, &rejected).contains(r#""value":null"#));
}

#[test]
fn another_kind_that_a_human_answers_is_given_the_value_alone() {
    let told = |action| told("suspend", HoldReason::Asked, &by_ada(action));
    assert_eq!(ALL.map(told), ["7", "rejected", "7", "7", "expired", "nothing"]);
}

#[test]
fn an_effect_that_is_not_allowed_begins_as_it_was_asked_or_edited() {
    let told = |action| told("exec", HoldReason::NotAllowed, &by_ada(action));
    assert_eq!(ALL.map(told), ["once as asked", "rejected", "once 7", "7", "expired", "nothing"]);
}

#[test]
fn an_effect_in_doubt_is_performed_again_or_answered_with_what_happened() {
    let told = |action| told("exec", HoldReason::InDoubt, &by_ada(action));
    assert_eq!(ALL.map(told), ["once as asked", "rejected", "once 7", "7", "expired", "nothing"]);
}

/// Makes an approval that says for how long it counts, in any word.
fn scoped(word: &str) -> Decision {
    let record = Map::from([("scope".to_owned(), Value::text(word))]);
    Decision { record, ..decision_of("user:ada", Action::Approve, None) }
}

#[test]
fn only_a_permission_counts_for_the_rest_of_a_session() {
    let rest = scoped(ApprovalScope::RestOfSession.name());
    assert_eq!(told("exec", HoldReason::NotAllowed, &rest), "on and on None");
    assert_eq!(told("exec", HoldReason::InDoubt, &rest), "once as asked");
    assert_eq!(told("suspend", HoldReason::Asked, &rest), "null");
}

#[test]
fn a_scope_that_nobody_knows_counts_once() {
    assert_eq!(told("exec", HoldReason::NotAllowed, &scoped("for ever")), "once as asked");
}
