//! What waits for a human, and the answers.

use agentic_api::verb::{
    AfterDecision, Decide, DecideFrom, HandOutHolds, HoldAnswer, HoldQuestion,
};
use agentic_api::verb::{PendingHolds, SeenQuestion};
use agentic_api::view::PendingView;
use agentic_api::view::interop::Protocol;
use agentic_api::{Caller, Verb, VerbCompletion};
use agentic_model::guidance::ErrorClass;
use agentic_model::{Instant, Value};
use agentic_session::decide::{Action, ApprovalScope};
use agentic_testkit::Sandbox;
use serde_json::{Value as Json, from_value, json};

use crate::place::{as_agent, place, refusal, start};

/// A flow that asks once, and ends with what it is told.
const ASKS: &str = "hold(\"Deploy?\").value";

fn act(action: Action, value: Option<Value>) -> HoldAnswer {
    HoldAnswer::Act { action, value, scope: ApprovalScope::Once }
}

fn answer(request: &str, answer: HoldAnswer) -> Decide {
    Decide {
        request: request.to_owned(),
        node: None,
        answer,
        why: String::new(),
        expect: None,
        by: None,
        seen: None,
        then: AfterDecision::GoOn,
        for_person: None,
        grant: None,
    }
}

fn approve(request: &str) -> Decide {
    answer(request, act(Action::Approve, None))
}

fn open(caller: &Caller<'_>) -> Vec<PendingView> {
    PendingHolds::default().run(caller).expect("readable").answer
}

fn question(request: &str) -> HoldQuestion {
    HoldQuestion { request: request.to_owned(), node: None }
}

fn head(sandbox: &Sandbox) -> String {
    sandbox.git(sandbox.start(), &["rev-parse", "agents/alice"]).expect("it is there")
}

#[test]
fn a_hold_is_listed_shown_and_decided_once() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let session = start(&space, "alice", ASKS);
    let holds = open(&caller);
    let [hold] = holds.as_slice() else { panic!("it asks once") };
    assert_eq!((hold.agent.as_str(), hold.reason.as_str()), ("alice", "asked"));
    let shown = question("alice").run(&caller).expect("it is open").answer;
    assert_eq!(
        (&shown.hold.request, &shown.hold.request_hash),
        (&hold.request, &hold.request_hash)
    );
    assert!(shown.text.contains("alice asks: Deploy?"), "{}", shown.text);

    let verb = Decide { why: "looked at it".to_owned(), ..approve("alice") };
    let reply = verb.run(&caller).expect("Ada may");
    assert!(matches!(reply.completion, VerbCompletion::Whole) && reply.notices.is_empty());
    let done = reply.answer;
    assert_eq!((done.action.as_str(), done.state.as_str()), ("approve", "done"));
    assert_eq!((done.principal.as_str(), done.session), ("user:ada", session.to_string()));
    assert!(open(&caller).is_empty());

    // The same answer of the same person again is no other one.
    let again = approve(&done.request).run(&caller).expect("it is the same").answer;
    assert_eq!((again.commit, again.state.as_str()), (done.commit, "done"));
    for verb in [
        answer(&done.request, act(Action::Reject, None)),
        Decide { by: Some("user:eve".to_owned()), ..approve(&done.request) },
        // The name of an agent does not say which question was meant.
        approve("alice"),
    ] {
        let refused = refusal(verb.run(&caller));
        assert_eq!(refused.class, ErrorClass::Decided);
        assert!(refused.message.contains("user:ada"), "{}", refused.message);
    }
    assert_eq!(refusal(question(&done.request).run(&caller)).class, ErrorClass::Decided);
}

#[test]
fn an_agent_decides_nothing_however_it_asks() {
    let (sandbox, space) = place();
    start(&space, "alice", ASKS);
    let before = head(&sandbox);
    let agent = as_agent("alice", &space, &sandbox);
    let from = DecideFrom { protocol: Protocol::Mcp, reply: Value::Null, by: None };
    assert_eq!(refusal(from.run(&agent)).class, ErrorClass::NotAllowed);
    for given in [
        act(Action::Approve, None),
        HoldAnswer::Choice("accept".to_owned()),
        HoldAnswer::Accept { commit: "HEAD".to_owned(), scope: ApprovalScope::Once },
    ] {
        let verb = Decide { by: Some("user:ada".to_owned()), ..answer("alice", given) };
        assert_eq!(refusal(verb.run(&agent)).class, ErrorClass::NotAllowed);
    }
    assert_eq!(head(&sandbox), before);
    // To look is free.
    assert_eq!(open(&agent).len(), 1);
}

#[test]
fn what_is_decided_is_what_was_shown() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    start(&space, "alice", "hold(\"Deploy?\", #{quorum: #{need: 2}}).action");
    let shown = question("alice").run(&caller).expect("it is open").answer;
    let at = Instant::parse(&shown.at).expect("an instant");
    let seen = || Some(SeenQuestion { shown: shown.shown.clone(), at });
    let first = Decide { by: Some("user:bob".to_owned()), seen: seen(), ..approve("alice") };
    first.run(&caller).expect("it is what was shown");
    let before = head(&sandbox);
    // Now it says that Bob has approved.
    let stale = refusal(Decide { seen: seen(), ..approve("alice") }.run(&caller));
    assert_eq!(stale.class, ErrorClass::Conflict);
    assert_eq!(head(&sandbox), before);
    let now = question("alice").run(&caller).expect("it is open").answer;
    assert!(now.text.contains("vote: approve by user:bob"), "{}", now.text);
    let seen = Some(SeenQuestion { shown: now.shown.clone(), at });
    let second = Decide { seen, ..approve("alice") }.run(&caller).expect("it is what was shown");
    assert_eq!(second.answer.state, "done");
    let log = sandbox.git(sandbox.start(), &["log", "-1", "--format=%B", "agents/alice"]);
    let fields = log.expect("readable");
    assert!(fields.contains(&now.shown) && fields.contains(&now.renderer), "{fields}");
}

#[test]
fn an_answer_that_does_not_fit_leaves_the_hold_open() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let flow = "hold(\"Size?\", #{assignees: [\"user:ada\"], schema: #{type: \"integer\"}}).value";
    start(&space, "alice", flow);
    let before = head(&sandbox);
    let text = act(Action::Respond, Some(Value::text("many")));
    let cases = [
        (answer("alice", text), ErrorClass::Schema),
        (Decide { by: Some("user:eve".to_owned()), ..approve("alice") }, ErrorClass::NotAllowed),
        (Decide { expect: Some("other".to_owned()), ..approve("alice") }, ErrorClass::Conflict),
        (approve("bob"), ErrorClass::Refused),
        (approve("000000000000.000000000000"), ErrorClass::Refused),
        (Decide { node: Some("n9".to_owned()), ..approve("alice") }, ErrorClass::Refused),
    ];
    for (verb, class) in cases {
        let name = format!("{verb:?}");
        assert_eq!(refusal(verb.run(&caller)).class, class, "{name}");
    }
    assert_eq!(head(&sandbox), before);
    let fits = act(Action::Respond, Some(Value::Int(3)));
    assert_eq!(answer("alice", fits).run(&caller).expect("it fits").answer.state, "done");
}

#[test]
fn who_decides_may_leave_the_session_to_others() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    start(&space, "alice", ASKS);
    let left = Decide { then: AfterDecision::Leave, ..approve("alice") };
    let done = left.run(&caller).expect("Ada may").answer;
    assert_eq!(done.state, "held");
    // Nobody is asked any more, and somebody should drive it. A program that another test starts can
    // hold a lock of this process for a moment.
    let mut looks = (0..1000).map(|_| PendingHolds::default().run(&caller).expect("readable"));
    let reply = looks.find(|reply| !reply.notices.is_empty()).expect("it wants to be driven");
    assert!(reply.answer.is_empty());
    let sentence = reply.notices[0].sentence();
    assert!(sentence.contains("of alice can go on"), "{sentence}");
}

#[test]
fn a_choice_answers_a_hold_by_the_key_of_its_run() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    start(&space, "run-k", "hold(\"When?\", #{choices: [\"now\", \"later\"]}).value");
    let never = answer("k", HoldAnswer::Choice("never".to_owned()));
    assert_eq!(refusal(never.run(&caller)).class, ErrorClass::Schema);
    let now = || answer("k", HoldAnswer::Choice("now".to_owned()));
    let done = now().run(&caller).expect("it is offered").answer;
    assert_eq!((done.action.as_str(), done.state.as_str()), ("respond", "done"));
    assert_eq!(now().run(&caller).expect("it is the same").answer.commit, done.commit);
    let other = answer("k", HoldAnswer::Choice("later".to_owned()));
    assert_eq!(refusal(other.run(&caller)).class, ErrorClass::Decided);
}

#[test]
fn holds_are_listed_by_agent_kind_and_who_may_decide() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    start(&space, "alice", "hold(\"A?\", #{assignees: [\"user:ada\"]})");
    start(&space, "bob", "hold(\"B?\", #{assignees: [\"user:bob\"]})");
    let listed = |holds: PendingHolds| {
        let views = holds.run(&caller).expect("readable").answer;
        views.into_iter().map(|view| view.agent).collect::<Vec<_>>()
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(listed(PendingHolds::default()).len(), 2);
    assert_eq!(listed(PendingHolds { agent: some("bob"), ..PendingHolds::default() }), ["bob"]);
    let ada = PendingHolds { assignee: some("user:ada"), ..PendingHolds::default() };
    assert_eq!(listed(ada), ["alice"]);
    let exec = PendingHolds { kind: some("exec"), ..PendingHolds::default() };
    assert!(listed(exec).is_empty());
    assert!(listed(PendingHolds { overdue: true, ..PendingHolds::default() }).is_empty());
    let bad = PendingHolds { agent: some("A b"), ..PendingHolds::default() };
    assert_eq!(refusal(bad.run(&caller)).class, ErrorClass::Usage);
}

/// Hands out what waits, and answers it as a client of MCP does.
fn client_answers(caller: &Caller<'_>, action: &str) -> DecideFrom {
    let (protocol, holds) = (Protocol::Mcp, PendingHolds::default());
    let response = |action: &str| json!({"action": action, "content": {"action": "approve"}});
    let out = HandOutHolds { protocol, holds, by: None }.run(caller).expect("readable").answer.0;
    let requests = out["inputRequests"].as_object().expect("a map").keys();
    let responses: serde_json::Map<String, Json> =
        requests.map(|request| (request.clone(), response(action))).collect();
    let reply = json!({"inputResponses": responses, "requestState": out["requestState"]});
    let bytes = reply.to_string().into_bytes();
    DecideFrom::of_bytes(protocol, &bytes, None).expect("it is JSON")
}

#[test]
fn a_client_of_another_protocol_answers_with_its_ticket_once() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    start(&space, "alice", ASKS);
    let dismissed = client_answers(&caller, "cancel").run(&caller).expect("its ticket is good");
    assert_eq!(
        (dismissed.answer[0].action.as_str(), &dismissed.answer[0].commit),
        ("cancel", &None)
    );
    assert_eq!(open(&caller).len(), 1);
    let accepting = client_answers(&caller, "accept");
    let foreign = DecideFrom { by: Some("user:eve".to_owned()), ..accepting.clone() };
    assert_eq!(refusal(foreign.run(&caller)).class, ErrorClass::NotAllowed);
    let done = accepting.clone().run(&caller).expect("its ticket is good").answer;
    assert_eq!((done[0].action.as_str(), done[0].state.as_str()), ("approve", "done"));
    assert_eq!(refusal(accepting.run(&caller)).class, ErrorClass::Decided);
}

#[test]
fn a_reply_that_is_none_is_refused_as_a_value_that_does_not_fit() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    for protocol in [Protocol::Mcp, Protocol::A2a] {
        for bytes in [&b"\xff"[..], b"{", b""] {
            let refused = DecideFrom::of_bytes(protocol, bytes, None).expect_err("no JSON");
            assert_eq!(refused.class, ErrorClass::Schema);
            assert!(refused.hint.contains("requestState"), "{}", refused.hint);
        }
        for text in ["{}", "[]", r#"{"inputResponses":{},"requestState":1}"#] {
            let verb = DecideFrom::of_bytes(protocol, text.as_bytes(), None).expect("it is JSON");
            assert_eq!(refusal(verb.run(&caller)).class, ErrorClass::Schema, "{text}");
        }
    }
    let forged = r#"{"inputResponses":{},"requestState":"00"}"#;
    let verb = DecideFrom::of_bytes(Protocol::Mcp, forged.as_bytes(), None).expect("it is JSON");
    assert_eq!(refusal(verb.run(&caller)).class, ErrorClass::NotAllowed);
}

#[test]
fn an_answer_comes_as_json() {
    let act = json!({"act": {"action": "edit", "value": null, "scope": "rest-of-session"}});
    let text = json!({"request": "alice", "answer": act, "then": "leave"});
    let verb: Decide = from_value(text).expect("a decision");
    let HoldAnswer::Act { action, value, scope } = verb.answer else { panic!("an action") };
    assert_eq!(
        (action, value, scope),
        (Action::Edit, Some(Value::Null), ApprovalScope::RestOfSession)
    );
    for bad in [
        json!({"request": "alice"}),
        json!({"request": "alice", "answer": {"act": {"action": "expire"}}}),
        json!({"request": "alice", "answer": {"act": {"action": "edit", "scope": "always"}}}),
        json!({"request": "alice", "answer": {"choice": "a"}, "seen": {"shown": "x", "at": "now"}}),
    ] {
        assert!(from_value::<Decide>(bad.clone()).is_err(), "{bad}");
    }
}
