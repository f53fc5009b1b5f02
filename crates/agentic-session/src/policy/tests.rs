//! What a hold asks of its decision, read from its payload, hostile ones included.

use agentic_model::Value;
use agentic_replay::HoldReason;

use super::{ESCALATIONS_MAX, Escalation, NOBODY, Policy};
use crate::action::Action;
use crate::tests::{at, data};

fn policy(payload: &str) -> Policy {
    Policy::of_payload(HoldReason::Asked, &data(payload))
}

/// Says who may decide, and in what role besides.
fn voters(payload: &str) -> (Vec<String>, Option<String>) {
    let policy = policy(payload);
    (policy.assignees, policy.role)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn what_is_offered_depends_on_why_a_human_is_asked() {
    use Action::{Approve, Edit, Reject, Respond};
    let offered = |reason| Policy::of_payload(reason, &data("{}")).actions;
    assert_eq!(offered(HoldReason::Asked), [Approve, Reject, Edit, Respond]);
    assert_eq!(offered(HoldReason::NotAllowed), [Approve, Reject, Edit]);
    assert_eq!(offered(HoldReason::InDoubt), [Approve, Reject, Respond]);
}

#[test]
fn a_hold_names_its_own_actions() {
    assert_eq!(
        policy(r#"{"actions":["reject","approve"]}"#).actions,
        [Action::Reject, Action::Approve]
    );
    // What nobody knows is not offered; if nothing is left the usual ones are.
    assert_eq!(policy(r#"{"actions":["burn","approve"]}"#).actions, [Action::Approve]);
    assert_eq!(policy(r#"{"actions":["burn"]}"#).actions.len(), 4);
}

#[test]
fn the_payload_of_an_effect_is_no_policy() {
    let payload = data(
        r#"{"assignees":["user:eve"],"deadline":5,"quorum":{"need":9},"actions":["approve"],
            "payload":1,"schema":{"type":"string"},"choices":["a"],"on_expiry":2}"#,
    );
    for reason in [HoldReason::NotAllowed, HoldReason::InDoubt] {
        let policy = Policy::of_payload(reason, &payload);
        let plain = Policy::of_payload(reason, &Value::Null);
        assert_eq!(policy, plain, "an agent would decide for itself who may let it go on");
    }
}

#[test]
fn assignees_are_one_or_several() {
    assert_eq!(voters("{}"), (vec![], None));
    assert_eq!(voters(r#"{"assignees":"user:ada"}"#), (names(&["user:ada"]), None));
    let two = r#"{"assignees":["user:ada","role:lead"]}"#;
    assert_eq!(voters(two), (names(&["user:ada", "role:lead"]), None));
}

#[test]
fn assignees_that_cannot_be_read_let_nobody_in() {
    for payload in [
        r#"{"assignees":5}"#,
        r#"{"assignees":{"user":"ada"}}"#,
        r#"{"assignees":["user:ada",5]}"#,
        r#"{"assignees":null}"#,
        r#"{"assignees":true}"#,
    ] {
        assert_eq!(voters(payload), (names(&[NOBODY]), None), "{payload}");
    }
}

#[test]
fn the_role_of_a_quorum_is_needed_besides_the_assignment() {
    assert_eq!(voters(r#"{"quorum":{"role":"lead"}}"#), (names(&["role:lead"]), None));
    assert_eq!(voters(r#"{"quorum":{"role":"role:lead"}}"#), (names(&["role:lead"]), None));
    let both = r#"{"assignees":"user:ada","quorum":{"role":"lead"}}"#;
    assert_eq!(voters(both), (names(&["user:ada"]), Some("role:lead".to_owned())));
    assert_eq!(voters(r#"{"quorum":{"role":5}}"#), (names(&[NOBODY]), None));
}

#[test]
fn how_many_must_agree_is_a_number_above_zero() {
    for (quorum, need, rejections) in [
        (r#"{"need":1}"#, 1, 1),
        (r#"{"need":3,"reject":2}"#, 3, 2),
        (r#"{"reject":2}"#, 1, 2),
        ("{}", 1, 1),
        // What cannot be read is never reached; a rejection always is.
        (r#"{"need":0}"#, usize::MAX, 1),
        (r#"{"need":-1,"reject":-1}"#, usize::MAX, 1),
        (r#"{"need":2.0}"#, usize::MAX, 1),
        ("2", usize::MAX, 1),
        ("[]", usize::MAX, 1),
    ] {
        let policy = policy(&format!(r#"{{"quorum":{quorum}}}"#));
        assert_eq!((policy.need, policy.rejections), (need, rejections), "{quorum}");
    }
}

#[test]
fn a_deadline_is_an_instant_in_milliseconds_or_as_text() {
    assert_eq!(policy(r#"{"deadline":5}"#).deadline, Some(at(5)));
    let text = r#"{"deadline":"1970-01-01T00:00:01.000Z"}"#;
    assert_eq!(policy(text).deadline, Some(at(1000)));
    for payload in [r#"{"deadline":"soon"}"#, r#"{"deadline":null}"#, r#"{"deadline":1.5}"#] {
        assert_eq!(policy(payload).deadline, None, "{payload}");
    }
}

#[test]
fn it_is_too_late_from_the_deadline_on() {
    let policy = policy(r#"{"deadline":5}"#);
    assert_eq!([4, 5, 6].map(|now| policy.is_overdue(at(now))), [false, true, true]);
    assert!(!Policy::of_payload(HoldReason::Asked, &data("{}")).is_overdue(at(i64::MAX)));
}

/// A hold that goes from Ada to Bob after 5 milliseconds and to the leads 10 later.
const CHAIN: &str = r#"{"assignees":"user:ada","deadline":5,"on_expiry":{"escalate":
    {"to":"user:bob","after_ms":10,"on_expiry":{"escalate":
        {"to":["role:lead"],"deadline":100,"on_expiry":"late"}}}}}"#;

#[test]
fn a_chain_of_other_people_is_read_to_its_value() {
    let policy = policy(CHAIN);
    let step = |to: &str, deadline, on_expiry: Option<&str>| Escalation {
        to: names(&[to]),
        deadline: Some(at(deadline)),
        on_expiry: on_expiry.map(Value::text),
    };
    assert_eq!(policy.on_expiry, None, "at first it goes on to others, and no value counts");
    assert_eq!(
        policy.escalations,
        [step("user:bob", 15, None), step("role:lead", 100, Some("late"))]
    );
}

#[test]
fn steps_are_taken_when_their_time_has_come() {
    for (now, level, deadline, assignees) in [
        (4, 0, 5, &["user:ada"][..]),
        (5, 1, 15, &["user:ada", "user:bob"]),
        (14, 1, 15, &["user:ada", "user:bob"]),
        (15, 2, 100, &["user:ada", "user:bob", "role:lead"]),
        (1000, 2, 100, &["user:ada", "user:bob", "role:lead"]),
    ] {
        let policy = policy(CHAIN).at(0, at(now));
        assert_eq!((policy.level, policy.deadline), (level, Some(at(deadline))), "at {now}");
        assert_eq!(policy.assignees, names(assignees), "at {now}");
        assert_eq!(policy.is_overdue(at(now)), now >= 100, "at {now}");
    }
}

#[test]
fn a_step_that_was_recorded_is_taken_whatever_the_clock_says() {
    let policy = policy(CHAIN).at(2, at(0));
    assert_eq!((policy.level, policy.on_expiry), (2, Some(Value::text("late"))));
}

#[test]
fn a_hold_for_anyone_stays_for_anyone() {
    let payload = r#"{"deadline":5,"on_expiry":{"escalate":{"to":"user:bob"}}}"#;
    let policy = policy(payload).at(0, at(5));
    assert_eq!((policy.level, policy.assignees), (1, vec![]));
    assert_eq!(policy.deadline, None, "the last step waits for ever");
}

#[test]
fn a_chain_has_an_end_whatever_is_written() {
    let mut form = Value::text("late");
    for _ in 0..3 * ESCALATIONS_MAX {
        let to =
            [("to", Value::text("user:bob")), ("after_ms", Value::Int(1)), ("on_expiry", form)];
        form = Value::map([("escalate", Value::map(to))]);
    }
    let payload = Value::map([("deadline", Value::Int(0)), ("on_expiry", form)]);
    let policy = Policy::of_payload(HoldReason::Asked, &payload);
    assert_eq!(policy.escalations.len(), ESCALATIONS_MAX);
}

#[test]
fn what_comes_of_times_beyond_all_bounds_is_no_panic() {
    let payload = r#"{"deadline":9223372036854775807,"on_expiry":{"escalate":
        {"to":"user:bob","after_ms":9223372036854775807,"on_expiry":1}}}"#;
    let policy = policy(payload).at(0, at(i64::MAX));
    assert!(policy.level <= 1);
}

#[test]
fn a_node_of_a_plan_offers_the_standard_choices_besides_its_own() {
    let choices = |payload: &str| policy(payload).choices;
    assert_eq!(choices(r#"{"choices":["ship"]}"#), ["ship"]);
    let node = r#"{"choices":["ship","reject"],"node":"n1","input":null}"#;
    assert_eq!(choices(node), ["ship", "reject", "accept"]);
    assert_eq!(choices(r#"{"node":"n1","input":1}"#), ["accept", "reject"]);
    assert_eq!(choices(r#"{"node":"n1"}"#), Vec::<String>::new(), "a program wrote that itself");
    assert_eq!(choices(r#"{"choices":"ship"}"#), Vec::<String>::new());
}

#[test]
fn only_an_approval_takes_what_was_offered() {
    let policy = policy(r#"{"payload":5}"#);
    let given = Value::Int(6);
    assert_eq!(policy.effective_value(Action::Approve, None), Some(Value::Int(5)));
    assert_eq!(policy.effective_value(Action::Approve, Some(&given)), Some(Value::Int(6)));
    for action in [Action::Reject, Action::Edit, Action::Respond] {
        assert_eq!(policy.effective_value(action, None), None, "{action:?}");
        assert_eq!(policy.effective_value(action, Some(&given)), Some(Value::Int(6)), "{action:?}");
    }
}
