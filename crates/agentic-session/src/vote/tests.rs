//! Which answer settles a hold.

use agentic_model::{Oid, Value};
use proptest::prelude::*;

use crate::action::Action;
use crate::decision::Decision;
use crate::policy::Policy;
use crate::tests::{data, decision_of, oid};
use crate::vote::n_agreeing;
use agentic_replay::HoldReason;

/// Reads answers: `NAME:ACTION` or `NAME:ACTION=VALUE`, one word each. Their commits are counted from 1.
fn answers(text: &str) -> Vec<(Oid, Decision)> {
    let answer = |(at, word): (usize, &str)| {
        let (who, rest) = word.split_once(':').expect("a case has a name");
        let (action, value) =
            rest.split_once('=').map_or((rest, None), |(a, v)| (a, Some(data(v))));
        let action = Action::parse_any(action).expect("a case has an action");
        (oid(at as u64 + 1), decision_of(&format!("user:{who}"), action, value))
    };
    text.split_whitespace().enumerate().map(answer).collect()
}

/// Returns which of the answers settles a hold, counted from 1; 0 if none does.
fn settled(quorum: &str, text: &str) -> usize {
    let payload = data(&format!(r#"{{"question":"?"{quorum}}}"#));
    let policy = Policy::of_payload(HoldReason::Asked, &payload);
    let found = answers(text);
    let place = |commit| found.iter().position(|(oid, _)| *oid == commit).map_or(0, |at| at + 1);
    policy.settle(&found).map_or(0, |(commit, _)| place(commit))
}

#[test]
fn the_first_answer_settles_a_hold_that_asks_for_one() {
    assert_eq!(settled("", ""), 0);
    assert_eq!(settled("", "ada:approve"), 1);
    assert_eq!(settled("", "ada:reject bob:approve"), 1);
}

#[test]
fn a_quorum_is_of_different_people() {
    let two = r#","quorum":{"need":2}"#;
    assert_eq!(settled(two, "ada:approve"), 0);
    assert_eq!(settled(two, "ada:approve ada:approve"), 0);
    assert_eq!(settled(two, "ada:approve ada:approve bob:approve"), 3);
}

#[test]
fn a_quorum_is_of_the_same_answer() {
    let two = r#","quorum":{"need":2,"reject":2}"#;
    assert_eq!(settled(two, "ada:respond=1 bob:respond=2"), 0);
    assert_eq!(settled(two, "ada:respond=1 bob:respond=2 eve:respond=1"), 3);
    assert_eq!(settled(two, "ada:respond=1 bob:edit=1"), 0);
    assert_eq!(settled(two, "ada:approve bob:reject"), 0);
    // What a rejection says beside its no is no other answer.
    assert_eq!(settled(two, r#"ada:reject="never" bob:reject="later""#), 2);
}

#[test]
fn those_who_agree_are_those_who_gave_one_answer() {
    for (text, agreeing) in [
        ("", 0),
        ("ada:reject bob:reject", 0),
        ("ada:approve bob:reject", 1),
        ("ada:respond=1 bob:respond=2", 1),
        ("ada:respond=1 bob:edit=1", 1),
        ("ada:approve ada:approve", 1),
        ("ada:respond=1 bob:respond=2 eve:respond=1", 2),
    ] {
        assert_eq!(n_agreeing(&answers(text)), agreeing, "{text}");
    }
}

#[test]
fn who_has_answered_does_not_change_the_answer() {
    let two = r#","quorum":{"need":2}"#;
    assert_eq!(settled(two, "ada:respond=1 ada:respond=2 bob:respond=2"), 0);
    assert_eq!(settled(two, "ada:approve ada:reject"), 0, "a second voice is none");
}

#[test]
fn one_rejection_is_enough_unless_more_are_asked_for() {
    assert_eq!(settled(r#","quorum":{"need":3}"#, "ada:approve bob:reject"), 2);
    assert_eq!(settled(r#","quorum":{"need":3,"reject":2}"#, "ada:reject"), 0);
    assert_eq!(settled(r#","quorum":{"need":3,"reject":2}"#, "ada:reject bob:reject"), 2);
}

#[test]
fn the_engine_needs_no_quorum() {
    let five = r#","quorum":{"need":5,"reject":5}"#;
    for action in ["expire", "withdrawn"] {
        assert_eq!(settled(five, &format!("ada:approve clock:{action}")), 2, "{action}");
    }
}

#[test]
fn a_quorum_that_cannot_be_read_is_never_reached() {
    for quorum in [r#","quorum":2"#, r#","quorum":{"need":0}"#, r#","quorum":{"need":"2"}"#] {
        assert_eq!(settled(quorum, "ada:approve bob:approve eve:approve"), 0, "{quorum}");
    }
}

/// Makes answers of few people, so that they repeat and contradict each other.
fn any_answers() -> impl Strategy<Value = Vec<(Oid, Decision)>> {
    let actions = [Action::Approve, Action::Reject, Action::Respond, Action::Edit, Action::Expire];
    let answer = (0..4_u8, prop::sample::select(actions.to_vec()), prop::option::of(0..2_i64));
    prop::collection::vec(answer, 0..12).prop_map(|all| {
        let made = all.into_iter().enumerate().map(|(at, (who, action, value))| {
            let decision = decision_of(&format!("user:{who}"), action, value.map(Value::Int));
            (oid(at as u64), decision)
        });
        made.collect()
    })
}

proptest! {
    /// A decision is final: whatever comes after it settles nothing else.
    #[test]
    fn what_settles_a_hold_settles_it_for_ever(found in any_answers(), need in 1_i64..4) {
        let quorum = Value::map([("need", Value::Int(need)), ("reject", Value::Int(need))]);
        let payload = Value::map([("quorum", quorum)]);
        let policy = Policy::of_payload(HoldReason::Asked, &payload);
        let winners: Vec<_> = (0..=found.len())
            .filter_map(|n| policy.settle(&found[..n]).map(|(commit, _)| commit))
            .collect();
        prop_assert!(winners.windows(2).all(|pair| pair[0] == pair[1]), "{:?}", winners);
    }

    /// Nobody is heard twice: without the later answers of whoever has answered the same wins.
    #[test]
    fn second_voices_change_nothing(found in any_answers(), need in 1_i64..4) {
        let payload = Value::map([("quorum", Value::map([("need", Value::Int(need))]))]);
        let policy = Policy::of_payload(HoldReason::Asked, &payload);
        let mut heard = std::collections::BTreeSet::new();
        let first: Vec<_> =
            found.iter().filter(|(_, one)| heard.insert(one.principal.clone())).cloned().collect();
        let (all, once) = (policy.settle(&found), policy.settle(&first));
        prop_assert_eq!(all.map(|(commit, _)| commit), once.map(|(commit, _)| commit));
    }
}
