//! What a decision is, and how it stands in its commit.

use agentic_model::commit::{Claims, OpenFields};
use agentic_model::{Kind, Map, Value};
use agentic_replay::{Hold, HoldReason, Request, RequestId, WithdrawnRequest};

use super::{COMMAND_LINE, Decision, VERSION};
use crate::action::{Action, ApprovalScope};
use crate::admission::AdmittedAnswer;
use crate::decide::{DecisionDraft, Policy, ShownQuestion};
use crate::tests::{at, data, decision_of, draft_of, hold_of, oid, space_with_an_agent};

/// Makes the decision of a person about a hold that a program asks for.
fn made(payload: &str, draft: &DecisionDraft) -> Decision {
    let hold = hold_of("hold", HoldReason::Asked, payload);
    let policy = Policy::of_payload(hold.reason, &hold.payload);
    let value = policy.effective_value(draft.action, draft.value.as_ref());
    Decision::of_human(AdmittedAnswer { draft, value }, &hold, &policy)
}

fn text<'d>(decision: &'d Decision, key: &str) -> Option<&'d str> {
    decision.record.get(key).and_then(Value::as_text)
}

#[test]
fn a_decision_says_why_or_at_least_what() {
    let mut decision = decision_of("user:ada", Action::Approve, None);
    assert_eq!(decision.message(), "Approve by user:ada");
    decision.rationale = " \n".to_owned();
    assert_eq!(decision.message(), "Approve by user:ada");
    decision.rationale = "It was tested".to_owned();
    assert_eq!(decision.message(), "It was tested");
}

#[test]
fn the_record_of_a_decision_names_what_was_asked() {
    let decision = made(r#"{"question":"?","deadline":5}"#, &draft_of(Action::Approve));
    let hold = hold_of("hold", HoldReason::Asked, r#"{"question":"?","deadline":5}"#);
    let (hash, payload) = (hold.ask.hash.to_string(), hold.ask.payload.cid().to_string());
    for (key, wanted) in [
        ("path", "3"),
        ("kind", "hold"),
        ("reason", "asked"),
        ("scope", "once"),
        ("client", "test"),
        ("request_hash", hash.as_str()),
        ("payload", payload.as_str()),
        ("deadline", "1970-01-01T00:00:00.005Z"),
        ("requested_at", "1970-01-01T00:00:00.000Z"),
    ] {
        assert_eq!(text(&decision, key), Some(wanted), "{key}");
    }
    let offered = ["approve", "reject", "edit", "respond"].map(Value::text).to_vec();
    assert_eq!(decision.record.get("offered"), Some(&Value::List(offered)));
    assert_eq!(decision.deadline(), Some(at(5)));
    assert_eq!(decision.scope(), Some(ApprovalScope::Once));
}

#[test]
fn an_edit_names_what_it_put_in_place() {
    let draft = DecisionDraft { value: Some(Value::Int(6)), ..draft_of(Action::Edit) };
    let edited = made("{}", &draft);
    assert_eq!(edited.record.get("edited"), Some(&Value::Bool(true)));
    let bytes = agentic_model::canonical::encode(&Value::Int(6)).expect("it is data");
    let cid = agentic_model::Cid::of(&bytes).to_string();
    assert_eq!(text(&edited, "edited_payload"), Some(cid.as_str()));
    let draft = DecisionDraft { value: Some(Value::Int(6)), ..draft_of(Action::Respond) };
    assert_eq!(made("{}", &draft).record.get("edited"), None);
}

#[test]
fn what_a_person_saw_and_whose_word_was_taken_is_recorded() {
    let shown = ShownQuestion { hash: "abc".to_owned(), renderer: "text 1".to_owned(), at: at(7) };
    let accepts = Some((oid(9), "user:bob".to_owned()));
    let draft = DecisionDraft { shown: Some(shown), accepts, ..draft_of(Action::Approve) };
    let decision = made("{}", &draft);
    let commit = oid(9).to_string();
    for (key, wanted) in [
        ("shown", "abc"),
        ("renderer", "text 1"),
        ("shown_at", "1970-01-01T00:00:00.007Z"),
        ("accepts", commit.as_str()),
        ("on_behalf_of", "user:bob"),
    ] {
        assert_eq!(text(&decision, key), Some(wanted), "{key}");
    }
    let plain = made("{}", &draft_of(Action::Approve));
    assert!(
        ["shown", "accepts", "on_behalf_of"].iter().all(|key| !plain.record.contains_key(*key))
    );
}

#[test]
fn a_quorum_is_recorded_with_the_votes_that_were_there() {
    let decision = made(r#"{"quorum":{"need":2,"role":"lead"}}"#, &draft_of(Action::Approve));
    assert_eq!(decision.record.get("need"), Some(&Value::Int(2)));
    assert_eq!(decision.record.get("votes"), Some(&Value::List(vec![])));
    let alone = made("{}", &draft_of(Action::Approve));
    assert!(!alone.record.contains_key("need") && !alone.record.contains_key("votes"));
}

#[test]
fn a_form_that_shows_defaults_may_have_filled_the_answer_in() {
    let preselected = |payload: &str, client| {
        let draft = DecisionDraft { client, ..draft_of(Action::Approve) };
        made(payload, &draft).record.get("preselected").cloned()
    };
    let part = r#"{"schema":{"properties":{"n":{"default":1}}},"payload":{"n":1}}"#;
    let whole = r#"{"schema":{"default":1},"payload":1}"#;
    for payload in [part, whole] {
        assert_eq!(preselected(payload, "mcp"), Some(Value::Bool(true)), "{payload}");
        assert_eq!(preselected(payload, COMMAND_LINE), Some(Value::Bool(false)), "{payload}");
    }
    let without = r#"{"schema":{"type":"integer"},"payload":1}"#;
    assert_eq!(preselected(without, "mcp"), Some(Value::Bool(false)));
}

#[test]
fn a_decision_took_no_less_than_no_time() {
    let decision = made("{}", &draft_of(Action::Approve));
    for (made_at, latency) in [(5, 5), (0, 0), (-5, 0)] {
        let fields = decision.fields(oid(1), at(made_at));
        assert_eq!(fields.get("latency_ms"), Some(&Value::Int(latency)), "at {made_at}");
        assert_eq!(fields.get("v"), Some(&Value::Int(VERSION)));
        assert_eq!(fields.get("hold_head"), Some(&Value::text(oid(1).to_string())));
    }
}

#[test]
fn an_answer_belongs_to_the_time_at_which_it_was_asked() {
    let decision = made("{}", &draft_of(Action::Approve));
    let mut hold = hold_of("hold", HoldReason::Asked, "{}");
    assert!(decision.answers(&hold));
    hold.asked_at = at(1);
    assert!(!decision.answers(&hold), "it is asked once more, after a crash");
    assert!(!decision_of("user:ada", Action::Approve, None).answers(&hold), "it does not say");
}

#[test]
fn a_scope_in_an_unknown_word_is_none() {
    let scoped = |scope: Value| {
        let record = Map::from([("scope".to_owned(), scope)]);
        Decision { record, ..decision_of("user:ada", Action::Approve, None) }.scope()
    };
    assert_eq!(scoped(Value::text("rest-of-session")), Some(ApprovalScope::RestOfSession));
    assert_eq!(scoped(Value::text("for ever")), None);
    assert_eq!(scoped(Value::Int(1)), None);
}

#[test]
fn the_engine_decides_in_its_own_name() {
    let request = Request::new(agentic_replay::Path::root(), "hold", Value::Null);
    let id = RequestId::from_bytes([3; 32]);
    let stopped = agentic_replay::CancelExtent::NotStarted;
    let withdrawn = WithdrawnRequest { request: request.clone().into(), id, stopped };
    let decision = Decision::system(Action::Withdrawn, "system:withdrawn", &withdrawn);
    assert_eq!((decision.request, decision.value.clone()), (id, None));
    assert_eq!(decision.scope(), Some(ApprovalScope::Once));
    let hash = request.hash().expect("it is data");
    let hold = Hold { request: request.into(), id, hash, reason: HoldReason::Asked };
    let payload = data(r#"{"deadline":5,"on_expiry":"late"}"#);
    let policy = Policy::of_payload(HoldReason::Asked, &payload);
    let expired = Decision::expired(&hold, &policy, at(9));
    assert_eq!(
        (expired.action, expired.value.clone()),
        (Action::Expire, Some(Value::text("late")))
    );
    assert_eq!(expired.principal, "system:expiry");
    assert_eq!(expired.deadline(), Some(at(5)), "the deadline, not the time of the clock");
}

#[test]
fn a_head_is_named_only_where_one_is_known() {
    let decision = decision_of("user:ada", Action::Approve, None);
    assert_eq!(decision.clone().on(None).published(), None);
    assert_eq!(decision.on(Some("abc")).published(), Some("abc"));
}

/// Says whether an answer repeats a decision; `value` and `subject` are JSON.
fn repeats(decision: &Decision, draft: &DecisionDraft, subject: Option<&str>) -> bool {
    decision.is_repeated_by(draft, subject.map(data).as_ref())
}

#[test]
fn the_same_answer_of_the_same_person_is_the_same_decision() {
    let five = |action| DecisionDraft { value: Some(Value::Int(5)), ..draft_of(action) };
    let decided = decision_of("user:alice", Action::Respond, Some(Value::Int(5)));
    assert!(repeats(&decided, &five(Action::Respond), None));
    for other in [
        DecisionDraft { principal: "user:bob".to_owned(), ..five(Action::Respond) },
        DecisionDraft { value: Some(Value::Int(6)), ..draft_of(Action::Respond) },
        DecisionDraft { scope: ApprovalScope::RestOfSession, ..five(Action::Respond) },
        five(Action::Edit),
        draft_of(Action::Respond),
    ] {
        assert!(!repeats(&decided, &other, Some("5")), "{other:?}");
    }
}

#[test]
fn an_approval_without_a_value_repeats_one_of_what_was_offered() {
    let plain = draft_of(Action::Approve);
    let decided = |value| decision_of("user:alice", Action::Approve, value);
    assert!(repeats(&decided(Some(Value::Int(5))), &plain, Some("5")));
    assert!(!repeats(&decided(Some(Value::Int(6))), &plain, Some("5")), "another value was given");
    assert!(repeats(&decided(None), &plain, None));
    assert!(repeats(&decided(None), &plain, Some("null")), "a commit records no value as null");
    let rejected = decision_of("user:alice", Action::Reject, None);
    assert!(repeats(&rejected, &draft_of(Action::Reject), Some("5")), "nothing is offered to a no");
}

#[test]
fn what_an_effect_is_given_is_nothing_to_approve() {
    let payload = data(r#"{"argv":["true"],"payload":5}"#);
    for (reason, subject) in [("asked", Some(5)), ("not-allowed", None), ("in-doubt", None)] {
        let record = Map::from([("reason".to_owned(), Value::text(reason))]);
        let decided = Decision { record, ..decision_of("user:ada", Action::Approve, None) };
        assert_eq!(decided.subject_of(&payload), subject.map(Value::Int), "{reason}");
    }
}

/// Writes the message of a commit that claims to be a decision.
fn message(kind: &str, fields: &str, request: Option<&str>) -> String {
    let claims = Claims {
        kind: Kind::parse(kind).ok(),
        request: request.map(str::to_owned),
        fields: OpenFields::Inline(data(fields).as_map().cloned().expect("the case is a map")),
        ..Claims::default()
    };
    claims.write("Because").expect("it is short")
}

#[test]
fn a_decision_is_read_from_its_commit() {
    let (_folder, space, _) = space_with_an_agent();
    let request = RequestId::from_bytes([7; 32]).to_string();
    let fields = r#"{"action":"respond","principal":"user:ada","value":5}"#;
    let read = Decision::read(&space, &message("decision", fields, Some(&request)));
    let read = read.expect("it is one");
    assert_eq!((read.action, read.value), (Action::Respond, Some(Value::Int(5))));
    assert_eq!((read.principal.as_str(), read.rationale.trim()), ("user:ada", "Because"));
    assert_eq!(read.request, RequestId::from_bytes([7; 32]));
}

#[test]
fn a_commit_that_merely_looks_like_a_decision_is_none() {
    let (_folder, space, _) = space_with_an_agent();
    let request = RequestId::from_bytes([7; 32]).to_string();
    let whole = r#"{"action":"approve","principal":"user:ada","value":null}"#;
    let sound = message("decision", whole, Some(&request));
    assert_eq!(Decision::read(&space, &sound).map(|it| it.value), Some(None), "null is no value");
    for (what, message) in [
        ("another kind", message("finding", whole, Some(&request))),
        ("no request", message("decision", whole, None)),
        ("half a request", message("decision", whole, Some(&request[..40]))),
        ("no action", message("decision", r#"{"principal":"user:ada"}"#, Some(&request))),
        (
            "an unknown action",
            message("decision", r#"{"action":"burn","principal":"user:ada"}"#, Some(&request)),
        ),
        ("no principal", message("decision", r#"{"action":"approve"}"#, Some(&request))),
        ("no text", String::new()),
        ("trailers within the body", format!("{sound}\n\nMore words")),
    ] {
        assert_eq!(Decision::read(&space, &message), None, "{what}");
    }
}

#[test]
fn a_decision_whose_fields_are_elsewhere_and_gone_decides_nothing() {
    let (_folder, space, _) = space_with_an_agent();
    let claims = Claims {
        kind: Kind::parse("decision").ok(),
        request: Some(RequestId::from_bytes([7; 32]).to_string()),
        fields: OpenFields::Object(agentic_model::Cid::of(b"gone")),
        ..Claims::default()
    };
    let message = claims.write("Because").expect("it is short");
    assert_eq!(Decision::read(&space, &message), None);
}
