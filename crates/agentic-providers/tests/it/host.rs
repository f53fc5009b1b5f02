//! The host in memory, driven by a small program that knows sequences, races and joins.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant as Tick};

use agentic_model::{Instant, Value};
use agentic_providers::host::{CancelFlag, Host, HostClock, HostExecutor, Limits, RequestPlace};
use agentic_replay::{
    Delivery, End, Path, Program, ProgramEvent, ProgramFailure, Request, RequestAnswer, Seed,
    Start, Turn,
};

/// How a [`Fan`] deals with its requests.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Join {
    /// Waits for all; a failure is a result like any other.
    All,
    /// The first answer wins; the others are withdrawn.
    Any,
    /// The first failure withdraws the others and ends the program.
    FailFast,
    /// One after the other.
    Chain,
}

/// Opens its requests, joins their answers and shows them as text.
struct Fan {
    join: Join,
    asks: Vec<Request>,
    answers: Vec<Option<String>>,
}

impl Fan {
    fn new(join: Join, asks: Vec<(&str, Value)>) -> Fan {
        let ask =
            |(n, (kind, payload)): (usize, (&str, Value))| Request::new(path(n), kind, payload);
        let asks: Vec<Request> = asks.into_iter().enumerate().map(ask).collect();
        Fan { join, answers: vec![None; asks.len()], asks }
    }

    fn timeout(mut self, millis: u64) -> Fan {
        self.asks.iter_mut().for_each(|ask| ask.timeout_ms = Some(millis));
        self
    }

    fn open(&self) -> Vec<Path> {
        let open = self.answers.iter().enumerate().filter(|(_, answer)| answer.is_none());
        open.map(|(n, _)| path(n)).collect()
    }

    fn end(&self) -> Option<End> {
        let texts = self.answers.iter().map(|answer| answer.clone().unwrap_or("-".to_owned()));
        Some(End::Done(Value::List(texts.map(Value::Text).collect())))
    }
}

impl Program for Fan {
    fn start(&mut self, _start: &Start) -> Turn {
        let first = if self.join == Join::Chain { 1 } else { self.asks.len() };
        Turn { opened: self.asks[..first].to_vec(), ..Turn::default() }
    }

    fn deliver(&mut self, delivery: Delivery) -> Turn {
        let n = (0..self.asks.len()).find(|n| path(*n) == delivery.path).expect("one of ours");
        let is_failure =
            matches!(delivery.answer, RequestAnswer::Failed(_) | RequestAnswer::TimedOut);
        self.answers[n] = Some(show(&delivery.answer));
        let open = self.open();
        let is_over = match self.join {
            Join::All => open.is_empty(),
            Join::Any => true,
            Join::FailFast => is_failure || open.is_empty(),
            Join::Chain => n + 1 == self.asks.len(),
        };
        let opened = if matches!(self.join, Join::Chain) && !is_over {
            vec![self.asks[n + 1].clone()]
        } else {
            Vec::new()
        };
        let event = ProgramEvent { kind: "print".to_owned(), data: Value::Int(n as i64) };
        let end = if is_over { self.end() } else { None };
        Turn { opened, end, events: vec![event], withdrawn: Vec::new() }
    }

    fn cancel(&mut self, _reason: &str, _at: Instant) -> Turn {
        Turn { withdrawn: self.open(), end: Some(End::Cancelled), ..Turn::default() }
    }
}

fn path(n: usize) -> Path {
    Path::root().child(&format!("b{n}")).child("0")
}

fn show(answer: &RequestAnswer) -> String {
    match answer {
        RequestAnswer::Ok(value) => format!("{value:?}"),
        RequestAnswer::Failed(failure) => failure.code.clone(),
        RequestAnswer::TimedOut => "timeout".to_owned(),
        RequestAnswer::Cancelled(_) => "cancelled".to_owned(),
    }
}

/// Performs what the kinds say; counts what ran to its end.
struct World {
    n_done: Arc<AtomicUsize>,
    barrier: Option<Barrier>,
}

impl HostExecutor for World {
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> RequestAnswer {
        let answer = match request.kind.as_str() {
            "echo" | "inline" => RequestAnswer::Ok(request.payload.clone()),
            "nan" => RequestAnswer::Ok(Value::Float(f64::NAN)),
            "fail" => RequestAnswer::Failed(ProgramFailure::new("broken", "as asked")),
            "panic" => panic!("as asked"),
            "meet" => {
                self.barrier.as_ref().expect("the case sets a barrier").wait();
                RequestAnswer::Ok(Value::Null)
            }
            "until-cancelled" => {
                cancel.wait(Duration::from_secs(30));
                RequestAnswer::Ok(Value::Null)
            }
            "hang" => loop {
                std::thread::park();
            },
            kind => unreachable!("no case asks for `{kind}`"),
        };
        self.n_done.fetch_add(1, Ordering::SeqCst);
        answer
    }

    fn place(&self, request: &Request) -> RequestPlace {
        if request.kind == "inline" { RequestPlace::Inline } else { RequestPlace::Pool }
    }
}

fn start() -> Start {
    Start { input: Value::Null, seed: Seed([0; 32]), at: Instant::from_millis(1_000) }
}

fn limits(workers_max: usize) -> Limits {
    Limits { workers_max, grace: Duration::from_secs(5) }
}

/// Runs a program on few workers and a jumping clock; gives its end and what was performed.
fn run(program: Fan, workers_max: usize, cancel: &CancelFlag) -> (String, usize) {
    let n_done = Arc::new(AtomicUsize::new(0));
    let barrier = Some(Barrier::new(2));
    let host = Host::new(World { n_done: Arc::clone(&n_done), barrier })
        .with_limits(limits(workers_max))
        .with_clock(HostClock::Jumping);
    let end = host.run(program, &start(), cancel, &mut |_| {});
    let text = match end {
        End::Done(value) => format!("{value:?}"),
        End::Failed(failure) => failure.code,
        End::Cancelled => "cancelled".to_owned(),
    };
    (text, n_done.load(Ordering::SeqCst))
}

fn check(program: Fan, workers_max: usize, end: &str) {
    assert_eq!(run(program, workers_max, &CancelFlag::new()).0, end);
}

fn echo(n: i64) -> (&'static str, Value) {
    ("echo", Value::Int(n))
}

fn sleep(millis: i64) -> (&'static str, Value) {
    ("sleep", Value::map([("until", Value::Int(millis))]))
}

const NOTHING: Value = Value::Null;

#[test]
fn answers_come_back_to_their_requests() {
    check(
        Fan::new(Join::All, vec![echo(1), ("inline", Value::Int(2)), echo(3)]),
        2,
        r#"["1","2","3"]"#,
    );
    check(Fan::new(Join::Chain, (0..200).map(echo).collect()), 1, &numbers(200));
    check(Fan::new(Join::All, (0..2_000).map(echo).collect()), 8, &numbers(2_000));
}

fn numbers(n: usize) -> String {
    let texts: Vec<String> = (0..n).map(|n| format!("\"{n}\"")).collect();
    format!("[{}]", texts.join(","))
}

#[test]
fn requests_are_performed_at_the_same_time() {
    check(Fan::new(Join::All, vec![("meet", NOTHING), ("meet", NOTHING)]), 2, r#"["null","null"]"#);
}

#[test]
fn a_panic_and_a_value_that_is_no_data_are_failures() {
    check(
        Fan::new(Join::All, vec![("panic", NOTHING), ("nan", NOTHING), echo(1)]),
        1,
        r#"["panicked","not-data","1"]"#,
    );
}

#[test]
fn an_effect_that_hangs_times_out_and_gives_its_place_free() {
    let asks = vec![("hang", NOTHING), ("hang", NOTHING), echo(1)];
    let n_done = Arc::new(AtomicUsize::new(0));
    let host = Host::new(World { n_done, barrier: None })
        .with_limits(Limits { workers_max: 1, grace: Duration::from_millis(20) });
    let end =
        host.run(Fan::new(Join::All, asks).timeout(30), &start(), &CancelFlag::new(), &mut |_| {});
    assert_eq!(end, End::Done(texts(&["timeout", "timeout", "1"])));
}

fn texts(items: &[&str]) -> Value {
    Value::List(items.iter().map(|item| Value::text(*item)).collect())
}

#[test]
fn the_first_failure_stops_the_others_and_never_deadlocks() {
    let waiting = || ("until-cancelled", NOTHING);
    // Where there are workers for all, an answer could come before the failure does.
    for (workers_max, last) in [(2, echo(1)), (3, echo(1)), (8, waiting())] {
        let asks = vec![waiting(), ("fail", NOTHING), waiting(), waiting(), last];
        let (end, n_done) = run(Fan::new(Join::FailFast, asks), workers_max, &CancelFlag::new());
        assert_eq!(end, r#"["-","broken","-","-","-"]"#);
        assert!(n_done >= 2, "the run waits for what it withdrew, {n_done} came back");
    }
}

#[test]
fn the_first_answer_wins_and_the_rest_is_withdrawn() {
    check(Fan::new(Join::Any, vec![("until-cancelled", NOTHING), echo(7)]), 2, r#"["-","7"]"#);
    check(Fan::new(Join::Any, vec![sleep(9_000), sleep(5_000)]), 2, r#"["-","null"]"#);
}

#[test]
fn sleeps_end_in_the_order_of_their_instants_and_take_no_time() {
    let begun = Tick::now();
    let mut order = Vec::new();
    let asks = vec![sleep(3_600_000), sleep(i64::MIN), sleep(50_000), echo(1)];
    let host =
        Host::new(World { n_done: Arc::default(), barrier: None }).with_clock(HostClock::Jumping);
    let mut sink = |event: ProgramEvent| order.push(event.data.as_int().expect("a number"));
    let _ = host.run(Fan::new(Join::All, asks), &start(), &CancelFlag::new(), &mut sink);
    order.retain(|n| *n != 3);
    assert_eq!(order, [1, 2, 0]);
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn cancelling_ends_the_run() {
    let cancel = CancelFlag::new();
    cancel.set();
    let asks = || vec![("until-cancelled", NOTHING), sleep(i64::MAX)];
    assert_eq!(run(Fan::new(Join::All, asks()), 1, &cancel).0, "cancelled");
    let cancel = CancelFlag::new();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| run(Fan::new(Join::All, asks()), 1, &cancel).0);
        cancel.set();
        assert_eq!(run.join().expect("the run does not panic"), "cancelled");
    });
}

#[test]
fn a_program_that_waits_for_nothing_ends_as_stalled() {
    check(Fan::new(Join::All, Vec::new()), 1, "stalled");
}
