//! Ticks: timers that are due and holds that are overdue.

use agentic_model::Value;
use agentic_session::{SessionState, tick};

use crate::kit::{Stage, second};

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
