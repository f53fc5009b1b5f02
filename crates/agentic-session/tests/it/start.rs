//! Starting: once for each key, and not at all where nothing could run.

use agentic_model::Value;
use agentic_session::{Begin, SessionState, record, resume, start};

use crate::kit::Stage;

#[test]
fn a_script_runs_to_its_end_and_gives_its_value() {
    let stage = Stage::new();
    let id = stage.start("6 * 7");
    assert_eq!((stage.state(&id), stage.result(&id)), (SessionState::Done, Some(Value::Int(42))));
}

#[test]
fn the_same_key_gives_the_same_session() {
    let stage = Stage::new();
    let source = "exec([\"sh\", \"-c\", \"echo x >> ran\"]); 1";
    assert_eq!(stage.start(source), stage.start(source));
    let ran = std::fs::read_to_string(stage.path("ran")).expect("it ran");
    assert_eq!(ran, "x\n");
}

#[test]
fn a_key_is_not_used_again_for_another_input() {
    let stage = Stage::new();
    stage.start("1");
    let other = Begin { input: Value::Int(2), ..stage.begin("1") };
    let refused = start(&stage.space, other).expect_err("the key has a session");
    assert!(refused.to_string().contains("key"), "{refused}");
    assert_eq!(stage.space.n_sessions().expect("readable"), 1);
}

#[test]
fn a_script_that_does_not_parse_makes_no_session() {
    let stage = Stage::new();
    assert!(start(&stage.space, stage.begin("let = ;")).is_err());
    assert_eq!(stage.space.sessions().expect("readable"), []);
}

#[test]
fn an_agent_that_is_not_there_has_no_session() {
    let stage = Stage::new();
    let nobody = agentic_model::AgentName::parse("nobody").expect("a valid name");
    assert!(start(&stage.space, Begin { agent: nobody, ..stage.begin("1") }).is_err());
}

#[test]
fn what_is_only_recorded_runs_when_it_is_resumed() {
    let stage = Stage::new();
    let source = "exec([\"touch\", \"ran\"]); 1";
    let id = record(&stage.space, stage.begin(source)).expect("it is recorded");
    assert!(!stage.path("ran").exists());
    assert!(!stage.state(&id).is_over());
    resume(&stage.space, &id).expect("it runs");
    assert!(stage.path("ran").exists());
    assert_eq!(stage.state(&id), SessionState::Done);
}

#[test]
fn a_script_that_throws_has_failed_with_what_it_threw() {
    let stage = Stage::new();
    let id = stage.start("throw \"no bread\"");
    let summary = stage.space.session(&id).expect("readable");
    assert_eq!(summary.state, SessionState::Failed);
    let message = summary.failure.expect("it says why").message;
    assert!(message.contains("no bread"), "{message}");
}

#[test]
fn a_session_is_found_by_its_agent_and_by_the_beginning_of_its_id() {
    let stage = Stage::new();
    let id = stage.start("1");
    for text in ["alice".to_owned(), id.to_string(), id.to_string()[..8].to_owned()] {
        assert_eq!(stage.space.find_session(&text).expect(&text), id);
    }
    assert!(stage.space.find_session("ffffffff00000000").is_err());
}
