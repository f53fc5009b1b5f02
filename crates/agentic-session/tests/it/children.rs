//! Children: sessions that a session begins, on branches of their own.

use agentic_model::Value;
use agentic_session::decide::Action;
use agentic_session::hold::{Filter, HoldScope, pending};
use agentic_session::{SessionState, children};

use crate::kit::{Stage, draft, name, walk};

const HELD_CHILD: &str = "spawn(#{briefing: \"b\", flow: \"hold(\\\"Go on?\\\").action\"})";

#[test]
fn a_parent_is_given_what_its_child_came_to() {
    let stage = Stage::new();
    let id = stage.start("spawn(#{briefing: \"b\", flow: \"6 * 7\"})");
    assert_eq!(stage.result(&id), Some(Value::Int(42)));
    assert_eq!(stage.space.n_sessions().expect("readable"), 2);
}

#[test]
fn a_parent_waits_for_the_hold_of_its_child_and_goes_on_with_it() {
    let stage = Stage::new();
    let id = stage.start(HELD_CHILD);
    let child = stage.only_hold().hold.session;
    assert_eq!(children(&stage.space, &id).expect("readable"), [child]);
    stage.answer(&draft(Action::Approve)).expect("it may");
    assert_eq!((stage.state(&child), stage.state(&id)), (SessionState::Done, SessionState::Done));
    assert_eq!(stage.result(&id), Some(Value::text("approve")));
    assert_eq!(children(&stage.space, &id).expect("readable"), []);
}

#[test]
fn a_child_runs_as_an_agent_of_its_own() {
    let stage = Stage::new();
    stage.start(HELD_CHILD);
    let child = stage.only_hold().hold.session;
    let agent = stage.space.session(&child).expect("readable").agent;
    assert_ne!(agent, stage.agent);
    assert!(stage.space.head(&agent).is_ok());
}

#[test]
fn a_child_may_do_no_more_than_its_parent() {
    let stage = Stage::new();
    let source = "spawn(#{briefing: \"b\", flow: \"exec([\\\"touch\\\", \\\"ran\\\"])\", \
                  allow: [\"exec\"]})";
    let begin = agentic_session::Begin { allow: Vec::new(), ..stage.begin(source) };
    agentic_session::start(&stage.space, begin).expect("it starts");
    assert_eq!(stage.only_hold().hold.ask.kind, "exec");
    assert!(!stage.path("ran").exists());
}

#[test]
fn a_spawn_that_is_broken_off_anywhere_has_one_child() {
    let source = "spawn(#{briefing: \"b\", flow: \"trace(\\\"hi\\\"); 6 * 7\"})";
    let act = |stage: &Stage| _ = agentic_session::start(&stage.space, stage.begin(source));
    walk(Stage::new, act, |stage, step| {
        let id = agentic_session::start(&stage.space, stage.begin(source)).expect("it is taken up");
        agentic_session::tick(&stage.space).expect("readable");
        assert_eq!(stage.result(&id), Some(Value::Int(42)), "step {step}");
        let agents = stage.git(&["for-each-ref", "--format=%(refname)", "refs/heads/agents"]);
        assert_eq!(agents.lines().count(), 2, "step {step}: {agents}");
        assert_eq!(stage.space.n_sessions().expect("readable"), 2, "step {step}");
    });
}

/// Starts a parent that drops a child that waits for a person, and says how both stand.
fn dropped(close: &str) -> (Stage, SessionState, Option<SessionState>) {
    let stage = Stage::new();
    let child = "spawn(#{briefing: \"b\", flow: \"hold(\\\"Go on?\\\")\", close: \"CLOSE\"})";
    let child = child.replace("CLOSE", close);
    let id = stage.start(&format!("any([|| {child}, || suspend(\"go\")]); 1"));
    agentic_session::signal(&stage.space, &id, "go", Value::Null).expect("it is taken");
    let sessions = stage.space.sessions().expect("readable");
    let child = sessions.into_iter().find(|other| *other != id);
    let of_child = child.map(|child| stage.state(&child));
    let state = stage.state(&id);
    (stage, state, of_child)
}

#[test]
fn a_child_that_nobody_waits_for_is_closed_by_its_policy() {
    let (_stage, parent, child) = dropped("cancel");
    assert_eq!((parent, child), (SessionState::Done, Some(SessionState::Cancelled)));
    let (stage, parent, child) = dropped("abandon");
    assert_eq!((parent, child), (SessionState::Done, Some(SessionState::Held)));
    stage.answer(&draft(Action::Approve)).expect("it goes on by itself");
    let (stage, parent, child) = dropped("wait");
    assert!(!parent.is_over(), "it is not over before its child");
    assert_eq!(child, Some(SessionState::Held));
    stage.answer(&draft(Action::Approve)).expect("it may");
    let all = stage.space.sessions().expect("readable");
    assert!(all.iter().all(|id| stage.state(id) == SessionState::Done));
}

#[test]
fn a_policy_that_is_none_begins_no_child() {
    let stage = Stage::new();
    let source = "let said = (); try { spawn(#{briefing: \"b\", flow: \"1\", close: \"burn\"}) } catch (e) { said = e.code } said";
    let id = stage.start(source);
    assert_eq!(stage.result(&id), Some(Value::text("refused")));
    assert_eq!(stage.space.n_sessions().expect("readable"), 1);
    assert_eq!(stage.git(&["for-each-ref", "refs/heads/agents"]).lines().count(), 1);
}

#[test]
fn a_flow_that_does_not_parse_makes_no_agent() {
    let stage = Stage::new();
    let id =
        stage.start("let said = (); try { spawn(#{briefing: \"b\", flow: \"let = ;\"}) } catch (e) { said = e.code } said");
    assert_eq!(stage.result(&id), Some(Value::text("refused")));
    assert_eq!(stage.git(&["for-each-ref", "refs/heads/agents"]).lines().count(), 1);
}

#[test]
fn what_a_child_fails_with_its_parent_can_catch() {
    let stage = Stage::new();
    let id = stage.start(
        "let said = (); try { spawn(#{briefing: \"b\", flow: \"throw \\\"no bread\\\"\"}) } catch (e) { said = e.message } said",
    );
    let result = stage.result(&id).and_then(|value| value.as_text().map(str::to_owned));
    assert!(result.as_deref().is_some_and(|text| text.contains("no bread")), "{result:?}");
}

#[test]
fn a_child_that_was_cancelled_is_a_failure_of_its_parent() {
    let stage = Stage::new();
    let child = HELD_CHILD.trim_end_matches(".action\"})").to_owned() + "\"})";
    let id = stage
        .start(&format!("let said = (); try {{ {child} }} catch (e) {{ said = e.code }} said"));
    let child = stage.only_hold().hold.session;
    let mode = agentic_replay::record::CancelMode::Kill;
    agentic_session::cancel(&stage.space, &child, mode, "user:alice", "enough").expect("it stops");
    assert_eq!(stage.result(&id), Some(Value::text("cancelled")));
}

#[test]
fn who_waits_for_a_hold_is_listed_from_the_outermost_on() {
    let stage = Stage::new();
    let inner = "spawn(#{briefing: \"c\", flow: `hold(\"Go on?\").action`})";
    let middle = format!("spawn(#{{briefing: \"b\", flow: {}}})", quoted(inner));
    let id = stage.start(&middle);
    let hold = stage.only_hold();
    let waiting: Vec<_> = hold.waiting.iter().map(|(id, _)| *id).collect();
    assert_eq!(waiting.len(), 2);
    assert_eq!(waiting[0], id);
    assert_eq!(children(&stage.space, &id).expect("readable"), [waiting[1]]);
    assert_eq!(children(&stage.space, &waiting[1]).expect("readable"), [hold.hold.session]);
    stage.answer(&draft(Action::Approve)).expect("it may");
    assert_eq!(stage.result(&id), Some(Value::text("approve")));
}

/// Quotes a script as a text of another one.
fn quoted(source: &str) -> String {
    agentic_model::json::to_text(&Value::text(source))
}

#[test]
fn an_agent_may_be_made_that_runs_nothing() {
    let stage = Stage::new();
    let id = stage.start("spawn(#{briefing: \"b\", name: \"bob\"}).agent");
    assert_eq!(stage.result(&id), Some(Value::text("bob")));
    assert!(stage.space.head(&name("bob")).is_ok());
    assert_eq!(stage.space.n_sessions().expect("readable"), 1);
    let taken = stage.start_as(
        &stage.agent,
        "again",
        "let said = (); try { spawn(#{briefing: \"b\", name: \"bob\"}) } catch (e) { said = e.code } said",
    );
    assert_eq!(stage.result(&taken), Some(Value::text("refused")), "the name is taken");
}

#[test]
fn a_child_is_held_in_the_name_of_its_own_agent_and_its_parent_waits() {
    let stage = Stage::new();
    let id = stage.start(HELD_CHILD);
    assert_eq!(stage.state(&id), SessionState::Waiting);
    let own = Filter { agent: Some(stage.agent.clone()), ..Filter::default() };
    assert_eq!(pending(&stage.space, &own).expect("readable"), []);
    let family = Filter { reach: HoldScope::Subtree, ..own };
    assert_eq!(pending(&stage.space, &family).expect("readable").len(), 1);
}
