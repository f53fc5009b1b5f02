//! Driving programs that do not keep their contract.

use agentic_model::{Instant, Value};
use agentic_replay::{
    DEFECT, Delivery, End, Path, Program, ProgramRun, REQUESTS_AFTER_CANCEL_MAX, Request,
    RequestAnswer, STALLED, Seed, Start, Turn, run_to_end,
};

use crate::tree::{Node, Tree};

fn start() -> Start {
    Start { input: Value::Null, seed: Seed([0; 32]), at: Instant::from_millis(0) }
}

/// Opens what it is told to, turn by turn.
struct Script(std::vec::IntoIter<Turn>);

impl Program for Script {
    fn start(&mut self, _start: &Start) -> Turn {
        self.0.next().unwrap_or_default()
    }

    fn deliver(&mut self, _delivery: Delivery) -> Turn {
        self.0.next().unwrap_or_default()
    }

    fn cancel(&mut self, _reason: &str, _at: Instant) -> Turn {
        self.0.next().unwrap_or_default()
    }
}

fn open(paths: &[&str]) -> Turn {
    let request =
        |path: &&str| Request::new(Path::parse(path).expect("a valid path"), "mock", Value::Null);
    Turn { opened: paths.iter().map(request).collect(), ..Turn::default() }
}

fn check(turns: Vec<Turn>, code: &str) {
    let program = Script(turns.into_iter());
    let finished = run_to_end(program, &start(), |_| RequestAnswer::Ok(Value::Null));
    match finished.end {
        End::Failed(failure) => assert_eq!(failure.code, code),
        end @ (End::Done(_) | End::Cancelled) => panic!("{end:?} in place of `{code}`"),
    }
}

#[test]
fn programs_that_break_their_contract_end_as_failed() {
    check(vec![Turn::default()], STALLED);
    check(vec![open(&["0"]), Turn::default()], STALLED);
    check(vec![open(&["0", "0"])], DEFECT);
    check(vec![open(&["0", "1"]), open(&["1"])], DEFECT);
    let mut turn = open(&["0"]);
    turn.opened[0].payload = Value::Float(f64::NAN);
    check(vec![turn], DEFECT);
    let mut turn = open(&["0"]);
    turn.opened[0].kind = "k".repeat(1_000_000);
    check(vec![turn], DEFECT);
}

#[test]
fn what_is_opened_and_withdrawn_in_one_turn_is_never_seen() {
    let mut turn = open(&["0", "1"]);
    turn.withdrawn = vec![Path::root().child("0"), Path::root().child("7")];
    let (_run, step) = ProgramRun::begin(Script(vec![turn].into_iter()), &start());
    assert_eq!(step.opened.len(), 1);
    assert!(step.withdrawn.is_empty());
}

#[test]
fn a_program_that_does_not_stop_is_stopped() {
    let paths: Vec<String> = (0..200).map(|n| n.to_string()).collect();
    let turns: Vec<Turn> = paths.iter().map(|path| open(&[path])).collect();
    let (mut run, _step) = ProgramRun::begin(Script(turns.into_iter()), &start());
    let mut step = run.cancel("enough", Instant::from_millis(0));
    let mut n_answers = 0;
    while step.end.is_none() {
        let path = step.opened[0].path.clone();
        step = run.deliver(&path, RequestAnswer::Ok(Value::Null), Instant::from_millis(0));
        n_answers += 1;
    }
    assert_eq!((step.end, n_answers), (Some(End::Cancelled), REQUESTS_AFTER_CANCEL_MAX));
}

#[test]
fn answers_arrive_as_their_record_would_give_them_back() {
    let node = Node::Ask("mock", 1);
    let finished =
        run_to_end(Tree::new(&node), &start(), |_| RequestAnswer::Ok(Value::Float(-0.0)));
    assert_eq!(format!("{:?}", finished.end), "Done(0.0)");
    let finished =
        run_to_end(Tree::new(&node), &start(), |_| RequestAnswer::Ok(Value::Float(f64::NAN)));
    assert_eq!(format!("{:?}", finished.end), r#"Done("failed")"#);
}
