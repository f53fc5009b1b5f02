//! Ticks: timers that are due and holds that are overdue.

use agentic_model::Value;
use agentic_session::decide::{Action, decide};
use agentic_session::{SessionState, tick};

use crate::kit::{Stage, draft, second, walk};

#[test]
fn a_timer_fires_when_it_is_due_and_not_before() {
    let stage = Stage::at(second(0));
    let id = stage.start("sleep(10000); 1");
    assert_eq!(stage.state(&id), SessionState::Waiting);
    let stage = stage.reopened_at(second(9));
    assert_eq!(tick(&stage.space).expect("readable"), []);
    let stage = stage.reopened_at(second(10));
    assert_eq!(tick(&stage.space).expect("readable"), [id]);
    assert_eq!(stage.state(&id), SessionState::Done);
}

#[test]
fn a_hold_that_nobody_decides_in_time_gets_the_value_that_it_names() {
    let stage = Stage::at(second(0));
    let deadline = 1_800_000_005_000_i64;
    let id = stage
        .start(&format!("hold(\"Go on?\", #{{deadline: {deadline}, on_expiry: \"late\"}}).value"));
    let stage = stage.reopened_at(second(4));
    tick(&stage.space).expect("readable");
    assert_eq!(stage.state(&id), SessionState::Held);
    let stage = stage.reopened_at(second(6));
    tick(&stage.space).expect("readable");
    assert_eq!(stage.result(&id), Some(Value::text("late")));
}

#[test]
fn timers_fire_in_the_order_of_their_instants() {
    let stage = Stage::at(second(0));
    let id = stage.start(
        "let said = []; all([|| { sleep(3000); trace(\"third\") }, || { sleep(1000); trace(\"first\") }, \
         || { sleep(2000); trace(\"second\") }]); 1",
    );
    let stage = stage.reopened_at(second(3));
    tick(&stage.space).expect("readable");
    assert_eq!(stage.state(&id), SessionState::Done);
    let told: Vec<_> = stage
        .told()
        .into_iter()
        .filter(|told| ["first", "second", "third"].contains(&told.as_str()))
        .collect();
    assert_eq!(told, ["first", "second", "third"]);
}

#[test]
fn a_tick_that_is_broken_off_anywhere_fires_in_the_end_and_once() {
    let prepare = || {
        let stage = Stage::at(second(0));
        stage.start("sleep(10000); exec([\"sh\", \"-c\", \"echo x >> ran\"]).status");
        stage.reopened_at(second(10))
    };
    let act = |stage: &Stage| _ = tick(&stage.space);
    walk(prepare, act, |stage, step| {
        let id = stage.space.find_session("alice").expect("it was started");
        let space = stage.beside_at(second(10));
        tick(&space).expect("readable");
        for doubt in stage.holds() {
            decide(&space, &doubt, &draft(Action::Approve)).expect("it may");
            tick(&space).expect("readable");
        }
        assert_eq!(stage.state(&id), SessionState::Done, "step {step}");
        assert!((1..=2).contains(&stage.n_lines("ran")), "step {step}");
    });
}

#[test]
fn a_session_that_cannot_go_on_keeps_no_other_from_it() {
    let stage = Stage::at(second(0));
    let broken = stage.start_as(&stage.agent, "a", "sleep(1000); 1");
    let sound = stage.start_as(&stage.agent, "b", "sleep(1000); 2");
    let log = stage.log_file(&broken);
    let mut bytes = std::fs::read(&log).expect("readable");
    bytes[20] ^= 1;
    std::fs::write(&log, &bytes).expect("writable");
    let stage = stage.reopened_at(second(1));
    assert_eq!(tick(&stage.space).expect("readable"), [sound]);
    let told = stage.space.take_mended();
    let of_broken = format!("session {} cannot go on", broken.short());
    assert!(told.iter().any(|told| told.starts_with(&of_broken)), "{told:?}");
}
