//! Durable runs of flows.

use agentic_api::verb::{
    AfterDecision, CompareSessions, Decide, FlowCancel, FlowHistory, FlowSource, FlowStatus,
    ForkedChildren, HoldAnswer, RecentSessions, ReplaySessions, ReplayedSession, SessionCancel,
    SessionDiff, SessionFork, SessionList, SessionResume, SessionShow, SessionSignal, SessionStart,
    SessionTick, SessionUpgrade, SessionVerify, SessionWatch, SetAnswer,
};
use agentic_api::view::SessionView;
use agentic_api::{Caller, NoticeTone, Surroundings, Verb, VerbCompletion, VerbEvent, VerbWatcher};
use agentic_model::Value;
use agentic_model::guidance::ErrorClass;
use agentic_session::decide::{Action, ApprovalScope};
use agentic_testkit::Sandbox;
use serde_json::{from_value, json};

use crate::place::{named, place, refusal};

fn flow(text: &str) -> FlowSource {
    FlowSource::Script(text.to_owned())
}

fn start(agent: &str, text: &str) -> SessionStart {
    SessionStart {
        agent: agent.to_owned(),
        flow: flow(text),
        input: Value::Int(3),
        key: Some("k".to_owned()),
        allow: Vec::new(),
    }
}

fn approve(request: &str) -> Decide {
    Decide {
        request: request.to_owned(),
        node: None,
        answer: HoldAnswer::Act {
            action: Action::Approve,
            value: None,
            scope: ApprovalScope::Once,
        },
        why: String::new(),
        expect: None,
        by: None,
        seen: None,
        then: AfterDecision::GoOn,
        for_person: None,
        grant: None,
    }
}

fn show(caller: &Caller<'_>, session: &str) -> SessionView {
    let verb = SessionShow { session: session.to_owned(), at: None };
    verb.run(caller).expect("it is there").answer
}

fn head(sandbox: &Sandbox, agent: &str) -> String {
    let branch = format!("agents/{agent}");
    sandbox.git(sandbox.start(), &["rev-parse", &branch]).expect("it is there")
}

#[test]
fn a_session_runs_once_and_says_what_it_came_to() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    let reply = start("alice", "input * 2").run(&caller).expect("it parses");
    assert!(matches!(reply.completion, VerbCompletion::Whole) && reply.notices.is_empty());
    let done = reply.answer;
    assert_eq!((done.state.as_str(), done.result), ("done", Some(json!(6))));
    // The same agent, flow, input and key are the same session.
    let again = start("alice", "input * 2").run(&caller).expect("it is there").answer;
    assert_eq!((again.session, again.records), (done.session.clone(), done.records));
    assert_eq!(refusal(start("alice", "input * 3").run(&caller)).class, ErrorClass::Conflict);
    let fresh = SessionStart { key: None, ..start("alice", "input * 2") };
    assert_ne!(fresh.run(&caller).expect("it parses").answer.session, done.session);
    assert_eq!(SessionList::default().run(&caller).expect("readable").answer.len(), 2);

    assert!(start("alice", "let").run(&caller).is_err());
    assert_eq!(refusal(start("nobody", "1").run(&caller)).class, ErrorClass::Refused);
    assert_eq!(refusal(start("A b", "1").run(&caller)).class, ErrorClass::Usage);
    let stored = SessionStart {
        flow: FlowSource::Stored("bafyr4inothing".to_owned()),
        ..start("alice", "")
    };
    assert_eq!(refusal(stored.run(&caller)).class, ErrorClass::Refused);
    assert_eq!(SessionList::default().run(&caller).expect("readable").answer.len(), 2);
}

#[test]
fn how_a_session_ends_is_how_its_verb_ends() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    for agent in ["held", "failed", "waits"] {
        named(agent).run(&caller).expect("the name is free");
    }
    let held = start("held", "hold(\"Deploy?\").value").run(&caller).expect("it parses");
    assert_eq!((held.completion.exit_code(), held.answer.state.as_str()), (4, "held"));
    let [notice] = held.notices.as_slice() else { panic!("it waits for a human") };
    let request = held.answer.pending[0].clone();
    assert!(notice.sentence().contains(&request) && notice.tone() == NoticeTone::Remark);

    let failed = start("failed", "throw \"no\"").run(&caller).expect("it parses");
    let VerbCompletion::Short(why) = &failed.completion else { panic!("it failed") };
    assert_eq!((why.class, failed.completion.exit_code()), (ErrorClass::Refused, 1));
    assert!(why.hint.contains("agentic session show"), "{}", why.hint);

    let waits = start("waits", "suspend(\"deployed\")").run(&caller).expect("it parses");
    assert_eq!((waits.completion.exit_code(), waits.answer.state.as_str()), (4, "held"));
    let signal = |name: &str| SessionSignal {
        session: "waits".to_owned(),
        name: name.to_owned(),
        value: Value::text("v1"),
    };
    assert_eq!(refusal(signal("").run(&caller)).class, ErrorClass::Usage);
    assert_eq!(refusal(signal(&"x".repeat(257)).run(&caller)).class, ErrorClass::Usage);
    let told = signal("deployed").run(&caller).expect("it waits for that").answer;
    assert_eq!((told.state.as_str(), told.result), ("done", Some(json!("v1"))));

    let cancel = SessionCancel { session: "held".to_owned(), kill: false, why: "late".to_owned() };
    assert_eq!(cancel.run(&caller).expect("it is open").answer.state, "cancelled");
    let resume = SessionResume { session: "held".to_owned(), take_over: false };
    let resumed = resume.run(&caller).expect("it is over");
    assert!(matches!(resumed.completion, VerbCompletion::Over(ErrorClass::Refused)));
    assert_eq!(refusal(approve(&request).run(&caller)).class, ErrorClass::Decided);
}

#[test]
fn a_session_is_shown_as_it_is_and_as_it_was() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    let text = "let a = hold(\"One?\").action; let b = hold(\"Two?\").action; a + b";
    let held = start("alice", text).run(&caller).expect("it parses").answer;
    approve(&held.pending[0]).run(&caller).expect("Ada may");
    let now = show(&caller, "alice");
    let requests = now.requests.as_ref().expect("it is shown whole");
    assert_eq!(requests.len(), 2);
    let decision = requests[0].decision.as_ref().expect("it was decided");
    assert_eq!(decision.principal, "user:ada");
    let at = Some(held.records);
    let then = SessionShow { session: now.session[..12].to_owned(), at };
    let then = then.run(&caller).expect("it had so many records").answer;
    assert_eq!(then.requests.as_ref().map(Vec::len), Some(1));
    for at in [0, now.records + 1, u64::MAX] {
        let beyond = SessionShow { session: now.session.clone(), at: Some(at) };
        let refused = refusal(beyond.run(&caller));
        assert_eq!(refused.class, ErrorClass::Refused, "{at}");
        assert!(refused.hint.contains(&format!("the last one is {}", now.records)), "{at}");
    }
    for session in ["nobody", "000000000000", ""] {
        let unknown = SessionShow { session: session.to_owned(), at: None };
        assert!(unknown.run(&caller).is_err(), "{session:?}");
    }
    let of = |agent: &str| SessionList { agent: Some(agent.to_owned()) }.run(&caller);
    assert_eq!(of("alice").expect("readable").answer.len(), 1);
    assert!(of("bob").expect("readable").answer.is_empty());
    assert_eq!(refusal(of("A b")).class, ErrorClass::Usage);
    let ticked = SessionTick {}.run(&caller).expect("readable").answer;
    assert!(ticked.is_empty());
}

#[test]
fn a_fork_goes_another_way_and_leaves_its_parent() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    named("bob").run(&caller).expect("the name is free");
    let text = "suspend(\"first\") + 1";
    start("alice", text).run(&caller).expect("it parses");
    let signal = SessionSignal {
        session: "alice".to_owned(),
        name: "first".to_owned(),
        value: Value::Int(1),
    };
    signal.run(&caller).expect("it waits for that");
    let parent = show(&caller, "alice");
    let asked = parent.requests.as_ref().expect("whole")[0].seq;
    let before = head(&sandbox, "alice");
    let fork = || SessionFork {
        session: "alice".to_owned(),
        at: None,
        flow: None,
        agent: None,
        set: vec![SetAnswer { seq: asked, value: Value::Int(41) }],
        children: ForkedChildren::Share,
    };
    let forked = fork().run(&caller).expect("it asked that").answer;
    assert_eq!(forked.result, Some(json!(42)));
    assert_eq!(forked.parent.as_ref(), Some(&parent.session));
    assert_eq!((show(&caller, "alice").result, head(&sandbox, "alice")), (Some(json!(2)), before));
    let differ = SessionDiff { left: parent.session.clone(), right: forked.session.clone() };
    assert!(differ.run(&caller).expect("both are there").answer.at.is_some());
    let same = SessionDiff { left: parent.session.clone(), right: parent.session.clone() };
    assert_eq!(same.run(&caller).expect("it is there").answer.at, None);

    let (left, right) = (parent.session.clone(), forked.session.clone());
    let compared = CompareSessions { left, right }.run(&caller).expect("both are there").answer;
    assert!(!compared.difference.same && compared.requests.iter().any(|row| !row.same));
    let replayed = ReplayedSession { session: parent.session.clone(), at: Some(1) };
    let replayed = replayed.run(&caller).expect("it has one").answer;
    assert_eq!((replayed.session.records, replayed.records), (1, parent.records));
    assert_eq!(replayed.forks.len(), 1);
    assert_eq!(replayed.forks[0].session, forked.session);
    let none = ReplayedSession { session: parent.session.clone(), at: Some(0) };
    assert_eq!(refusal(none.run(&caller)).class, ErrorClass::Refused);
    let recent = RecentSessions::default().run(&caller).expect("readable").answer;
    assert_eq!(recent.items.len(), 2);
    let passed =
        RecentSessions { after: 1, state: Some("done".to_owned()), ..RecentSessions::default() };
    assert_eq!(passed.run(&caller).expect("readable").answer.items.len(), 1);
    let far = SessionFork { at: Some(999), set: Vec::new(), ..fork() };
    assert!(far.run(&caller).is_err());
    let bad = SessionFork { agent: Some("A b".to_owned()), ..fork() };
    assert_eq!(refusal(bad.run(&caller)).class, ErrorClass::Usage);
    let nobody = SessionFork { session: "nobody".to_owned(), ..fork() };
    assert_eq!(refusal(nobody.run(&caller)).class, ErrorClass::Refused);
}

#[test]
fn a_session_is_held_against_its_program() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    start("alice", "hold(\"Deploy?\").action").run(&caller).expect("it parses");
    let replay = |text: Option<&str>| ReplaySessions {
        session: Some("alice".to_owned()),
        flow: text.map(flow),
    };
    let same = replay(None).run(&caller).expect("it is there");
    assert!(matches!(same.completion, VerbCompletion::Whole));
    assert_eq!(same.answer[0].verdict, "same");
    let other = replay(Some("hold(\"Delete?\").action")).run(&caller).expect("it parses");
    let VerbCompletion::Short(why) = &other.completion else { panic!("it asks something else") };
    assert_eq!((why.class, other.completion.exit_code()), (ErrorClass::Diverged, 5));
    assert_eq!(ReplaySessions::default().run(&caller).expect("readable").answer.len(), 1);

    let upgrade = |text: &str| SessionUpgrade { session: "alice".to_owned(), flow: flow(text) };
    assert_eq!(refusal(upgrade("hold(\"Delete?\")").run(&caller)).class, ErrorClass::Diverged);
    let upgraded =
        upgrade("hold(\"Deploy?\").action + \"d\"").run(&caller).expect("it fits").answer;
    let done = approve(&upgraded.pending[0]).run(&caller).expect("Ada may").answer;
    assert_eq!(done.state, "done");
    assert_eq!(show(&caller, "alice").result, Some(json!("approved")));
    let verify = |rebuild| SessionVerify { session: "alice".to_owned(), rebuild }.run(&caller);
    let proven = verify(true).expect("it is sound").answer;
    assert!(proven.rebuilt.is_some());
    assert_eq!(proven.records, show(&caller, "alice").records);
    let unknown = SessionVerify { session: "nobody".to_owned(), rebuild: false };
    assert_eq!(refusal(unknown.run(&caller)).class, ErrorClass::Refused);
}

#[test]
fn a_run_is_spoken_of_by_its_key() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("run-monday").run(&caller).expect("the name is free");
    let begin =
        SessionStart { key: Some("monday".to_owned()), ..start("run-monday", "hold(\"Go?\")") };
    begin.run(&caller).expect("it parses");
    let run = || "monday".to_owned();
    let status = FlowStatus { run: run() }.run(&caller).expect("it is there").answer;
    assert_eq!((status.state.as_str(), status.holds.len()), ("held", 1));
    let events = FlowHistory { run: run() }.run(&caller).expect("it is there").answer;
    let told: Vec<&str> = events.iter().map(|event| event.event.as_str()).collect();
    assert_eq!(told[..2], ["start", "ask"]);
    let cancel = || FlowCancel { run: run(), kill: true, why: "late".to_owned() };
    assert_eq!(cancel().run(&caller).expect("it is open").answer.state, "cancelled");
    assert_eq!(refusal(cancel().run(&caller)).class, ErrorClass::Decided);
    let unknown = FlowStatus { run: "tuesday".to_owned() };
    assert_eq!(refusal(unknown.run(&caller)).class, ErrorClass::Refused);
    let unknown = FlowHistory { run: "tuesday".to_owned() };
    assert_eq!(refusal(unknown.run(&caller)).class, ErrorClass::Refused);
}

#[test]
fn a_start_comes_as_json() {
    let text = json!({"agent": "alice", "flow": {"script": "input"}});
    let verb: SessionStart = from_value(text).expect("a start");
    assert_eq!((verb.input, verb.key, verb.allow), (Value::Null, None, Vec::new()));
    for bad in [
        json!({"agent": "alice"}),
        json!({"agent": "alice", "flow": "input"}),
        json!({"agent": "alice", "flow": {"script": "1"}, "input": u64::MAX}),
        json!({"agent": "alice", "flow": {"script": "1"}, "more": 1}),
    ] {
        assert!(from_value::<SessionStart>(bad.clone()).is_err(), "{bad}");
    }
    let set = json!({"session": "a", "set": [{"seq": 2, "value": {"/": {"bytes": "AQI"}}}]});
    let verb: SessionFork = from_value(set).expect("a fork");
    assert_eq!(verb.set[0].value, Value::Bytes(vec![1, 2]));
}

#[test]
fn a_session_is_followed_to_its_end_or_as_long_as_somebody_waits() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    let held = start("alice", "hold(\"Go?\").action").run(&caller).expect("it parses").answer;
    let watch = |until_held, after, patience_ms| SessionWatch {
        session: "alice".to_owned(),
        until_held,
        after,
        patience_ms,
    };
    let seen = watch(true, None, None).run(&caller).expect("it is there");
    assert!(matches!(seen.completion, VerbCompletion::Held));
    assert_eq!(seen.answer[0].what, "start");
    // Nothing more happens: whoever is not ready to wait is told so.
    let last = seen.answer.last().map(|record| record.seq);
    let nothing = watch(false, last, Some(0)).run(&caller).expect("it is there");
    assert!(nothing.answer.is_empty() && matches!(nothing.completion, VerbCompletion::Whole));
    approve(&held.pending[0]).run(&caller).expect("Ada may");
    let rest = watch(false, last, None).run(&caller).expect("it is there").answer;
    assert_eq!(rest.last().map(|record| record.what.as_str()), Some("end"));

    let (watcher, told) = VerbWatcher::channel(agentic_providers::host::CancelFlag::new());
    let here = Surroundings { watcher, ..caller.surroundings.clone() };
    let listener = Caller { surroundings: here, ..Caller::new(&space, sandbox.start()) };
    // The channel holds all of so short a session.
    let unheard = watch(false, None, None).run(&listener).expect("it is there").answer;
    drop(listener);
    let heard = told.iter().filter(|event| matches!(event, VerbEvent::Record(_))).count();
    assert_eq!((unheard.len(), heard), (0, seen.answer.len() + rest.len()));
    assert!(
        SessionWatch { session: "nobody".to_owned(), ..watch(true, None, None) }
            .run(&caller)
            .is_err()
    );
}
