//! Replays: the program once more over its records, and what they say beside what they name.

use agentic_session::decide::Action;
use agentic_session::{ReplayVerdict, flow_object, prove, replay, retell};

use crate::kit::{Stage, draft};

const SOURCE: &str = "trace(\"began\"); exec([\"sh\", \"-c\", \"echo x >> ran\"]); hold(\"?\"); 1";

#[test]
fn a_replay_makes_the_same_requests_and_performs_none() {
    let stage = Stage::new();
    let id = stage.start(SOURCE);
    stage.answer(&draft(Action::Approve)).expect("it may");
    let verdict = replay(&stage.space, &id, None).expect("readable");
    assert!(matches!(verdict, ReplayVerdict::Same), "{verdict:?}");
    let ran = std::fs::read_to_string(stage.path("ran")).expect("it ran");
    assert_eq!(ran, "x\n");
}

#[test]
fn a_replay_of_another_program_tells_where_it_differs() {
    let stage = Stage::new();
    let id = stage.start(SOURCE);
    let other = flow_object("hold(\"?\")").expect("it is short");
    let verdict = replay(&stage.space, &id, Some(&other)).expect("readable");
    assert!(matches!(verdict, ReplayVerdict::Diverged(_)), "{verdict:?}");
}

#[test]
fn what_a_program_said_is_told_again_from_its_records() {
    let stage = Stage::new();
    let id = stage.start(SOURCE);
    let mut told = Vec::new();
    let mut listen = |event: agentic_replay::ProgramEvent| told.push(event.data);
    retell(&stage.space, &id, &mut listen).expect("readable");
    assert_eq!(told, [agentic_model::Value::text("began")]);
}

#[test]
fn a_proof_counts_the_decision_of_a_session_that_is_over() {
    let stage = Stage::new();
    let id = stage.start(SOURCE);
    stage.answer(&draft(Action::Approve)).expect("it may");
    let proof = prove(&stage.space, &id).expect("all of it is sound");
    assert_eq!((proof.n_decisions, proof.uncompared.len()), (1, 0), "{proof:?}");
}
