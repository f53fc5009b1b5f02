//! Starting: once for each key, and not at all where nothing could run.

use agentic_model::Value;
use agentic_replay::HoldReason;
use agentic_session::decide::{Action, decide};
use agentic_session::{Begin, SessionState, prove, record, resume, start};
use agentic_space::spawn::SpawnOrigin;

use crate::kit::{Stage, walk, with};

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

/// What a start does before it comes to its end.
const WORK: &str = "trace(\"began\"); exec([\"sh\", \"-c\", \"echo x >> ran\"]); \
                    commit(#{message: \"Work\", files: #{a: \"1\"}}); 7";

#[test]
fn a_start_that_is_broken_off_anywhere_is_taken_up_and_repeats_no_effect() {
    let act = |stage: &Stage| _ = start(&stage.space, stage.begin(WORK));
    walk(Stage::new, act, |stage, step| {
        let id = start(&stage.space, stage.begin(WORK)).expect("it is taken up");
        let n_ran = stage.n_lines("ran");
        // Where nobody can know whether the program ran, a person is asked; it never runs twice.
        for doubt in stage.holds() {
            assert_eq!(doubt.hold.reason, HoldReason::InDoubt, "step {step}");
            decide(&stage.space, &doubt, &with(Value::Null, Action::Respond)).expect("it may");
        }
        stage.resume(&id);
        assert_eq!(stage.result(&id), Some(Value::Int(7)), "step {step}");
        assert_eq!(stage.n_lines("ran"), n_ran, "step {step}");
        assert!(n_ran <= 1, "step {step}");
        let made = stage.git(&["log", "--format=%s", "agents/alice"]);
        assert_eq!(made.lines().filter(|subject| *subject == "Work").count(), 1, "step {step}");
        prove(&stage.space, &id).unwrap_or_else(|error| panic!("step {step}: {error}"));
    });
}

#[test]
fn starts_that_race_for_a_key_are_one_session() {
    let stage = Stage::new();
    let source = "exec([\"sh\", \"-c\", \"echo x >> ran\"]); 1";
    let ids: Vec<_> = std::thread::scope(|scope| {
        let begun: Vec<_> =
            (0..4).map(|_| scope.spawn(|| start(&stage.beside(), stage.begin(source)))).collect();
        begun
            .into_iter()
            .map(|thread| thread.join().expect("no panic").expect("it starts"))
            .collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!((stage.n_lines("ran"), stage.space.n_sessions().expect("readable")), (1, 1));
}

#[test]
fn a_key_belongs_to_an_agent() {
    let stage = Stage::new();
    let bob = stage.spawn("bob", &SpawnOrigin::Root);
    let (one, other) = (stage.start("1"), stage.start_as(&bob, "key", "2"));
    assert_ne!(one, other);
    assert_eq!(
        (stage.result(&one), stage.result(&other)),
        (Some(Value::Int(1)), Some(Value::Int(2)))
    );
}

#[test]
fn a_session_that_is_recorded_twice_is_one_and_has_not_run() {
    let stage = Stage::new();
    let one = record(&stage.space, stage.begin("1")).expect("it is recorded");
    let other = record(&stage.beside(), stage.begin("1")).expect("it is found");
    assert_eq!((one, stage.space.session(&one).expect("readable").n_records), (other, 1));
    assert_eq!(stage.space.n_sessions().expect("readable"), 1);
}

#[test]
fn a_record_that_is_broken_off_anywhere_is_made_again() {
    let act = |stage: &Stage| _ = record(&stage.space, stage.begin("6 * 7"));
    walk(Stage::new, act, |stage, step| {
        let id = record(&stage.space, stage.begin("6 * 7")).expect("it is recorded");
        stage.resume(&id);
        assert_eq!(stage.result(&id), Some(Value::Int(42)), "step {step}");
    });
}

#[test]
fn what_is_left_of_a_start_is_no_session() {
    let stage = Stage::new();
    let id = stage.begin("1").session().expect("the input is data");
    let folder = stage.log_file(&id);
    std::fs::create_dir_all(folder.parent().expect("a log stands in a folder")).expect("writable");
    assert_eq!(stage.space.sessions().expect("readable"), []);
    assert_eq!(stage.start("1"), id);
    assert_eq!(stage.result(&id), Some(Value::Int(1)));
}

#[test]
fn a_script_is_pinned_with_its_session() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\")");
    let flow = stage.space.session(&id).expect("readable").flow;
    assert_eq!(stage.space.object(flow).expect("it is kept"), stage.begin("hold(\"Go on?\")").flow);
}

#[test]
fn an_input_reaches_the_script_and_must_be_data() {
    let stage = Stage::new();
    let begin = Begin { input: Value::map([("n", Value::Int(20))]), ..stage.begin("input.n + 1") };
    let id = start(&stage.space, begin).expect("it starts");
    assert_eq!(stage.result(&id), Some(Value::Int(21)));
    let no_data = Begin { input: Value::Float(f64::NAN), key: "2".into(), ..stage.begin("1") };
    assert!(start(&stage.space, no_data).is_err());
    assert_eq!(stage.space.n_sessions().expect("readable"), 1);
}
