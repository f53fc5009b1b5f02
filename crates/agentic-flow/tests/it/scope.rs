//! Finished scopes cost a resume one delivery each, and a changed program nothing of its checks;
//! changes that a run did not know are told to it as such.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use agentic_flow::{Flow, FlowProgram, engine};
use agentic_model::{AgentName, Cid, Instant, Value};
use agentic_replay::{
    AnswerSource, Delivery, Divergence, End, Kinds, PATCH, Path, Program, RecordChain, ReplayError,
    RequestAnswer, ScopeStep, Seed, Session, SessionOpening, SessionProgress, SessionSetting,
    Start, Turn,
};

/// A flow that counts what is delivered to it.
struct Counting {
    flow: FlowProgram,
    n_deliveries: Rc<Cell<usize>>,
}

impl Program for Counting {
    fn start(&mut self, start: &Start) -> Turn {
        self.flow.start(start)
    }

    fn deliver(&mut self, delivery: Delivery) -> Turn {
        self.n_deliveries.set(self.n_deliveries.get() + 1);
        self.flow.deliver(delivery)
    }

    fn cancel(&mut self, reason: &str, at: Instant) -> Turn {
        self.flow.cancel(reason, at)
    }

    fn reseed(&mut self, seed: Seed) {
        self.flow.reseed(seed);
    }

    fn skip_scopes(&mut self, scopes: BTreeSet<Path>) {
        self.flow.skip_scopes(scopes);
    }

    fn take_scopes(&mut self) -> Vec<ScopeStep> {
        self.flow.take_scopes()
    }
}

fn flow(source: &str) -> FlowProgram {
    Flow::parse(source).expect("the source is valid").program()
}

/// Runs a flow whose requests are all answered with their payload, changes with `true`, until it
/// asks for `hold`.
fn recorded(source: &str) -> Vec<Vec<u8>> {
    let opening = SessionOpening {
        stamp: false,
        agent: AgentName::parse("alice").expect("a valid name"),
        flow: Cid::of(source.as_bytes()),
        engine: engine(),
        input: Value::Null,
        key: "scopes".to_owned(),
        allow: vec!["*".to_owned()],
        head: None,
        configuration: None,
        host: None,
    };
    let at = Instant::from_millis(0);
    let started = Session::start(opening, at, flow(source), &Kinds::built_in());
    let (mut session, mut progress) = started.expect("the input is data");
    let mut frames = Vec::new();
    loop {
        frames.extend(progress.links.drain(..).map(|link| link.bytes));
        let Some(performance) = progress.perform.pop() else { return frames };
        let request = &performance.request;
        let is_patch = request.kind == PATCH;
        let value = if is_patch { Value::Bool(true) } else { request.payload.clone() };
        let answer = RequestAnswer::Ok(value);
        progress = session
            .answered(&request.path, answer, AnswerSource::Executor, at)
            .expect("it is open");
    }
}

type Loaded = Result<(usize, Session<Counting>, SessionProgress), ReplayError>;

fn load(frames: &[Vec<u8>], source: &str, how: How) -> Loaded {
    let journal = RecordChain::read(frames.to_vec()).expect("it is a journal");
    let n_deliveries = Rc::new(Cell::new(0));
    let program = Counting { flow: flow(source), n_deliveries: Rc::clone(&n_deliveries) };
    let (engine, kinds, objects) = (engine(), Kinds::built_in(), BTreeMap::new());
    let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &objects };
    let (session, progress) = match how {
        How::Load => Session::load(&journal, program, setting, &mut |_, _| {}),
        How::Resume => Session::resume(&journal, program, setting, &mut |_, _| {}),
    }?;
    Ok((n_deliveries.get(), session, progress))
}

#[derive(Clone, Copy)]
enum How {
    Load,
    Resume,
}

fn diverged(outcome: Loaded) -> Divergence {
    match outcome {
        Err(ReplayError::Diverged(divergence)) => *divergence,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it did not diverge"),
    }
}

const TEN_SCOPES: &str = r#"
    let total = 0;
    for n in 0..10 {
        total += scope("sum", n, |n| { for m in 0..100 { request("a", m); } n });
    }
    hold(`${total}?`)
"#;

#[test]
fn a_finished_scope_costs_a_resume_one_delivery() {
    let frames = recorded(TEN_SCOPES);
    let count = |how| load(&frames, TEN_SCOPES, how).expect("nothing changed").0;
    assert_eq!((count(How::Load), count(How::Resume)), (1000, 10));
    let pending = |how| load(&frames, TEN_SCOPES, how).expect("nothing changed").1.pending();
    assert_eq!(pending(How::Load), pending(How::Resume));
}

#[test]
fn a_replay_goes_into_finished_scopes() {
    let frames = recorded(TEN_SCOPES);
    let changed = TEN_SCOPES.replace("request(\"a\", m)", "request(\"a\", m + 1)");
    let divergence = diverged(load(&frames, &changed, How::Load));
    assert_eq!(divergence.path.as_str(), "sum.0/0");
    let other_result = TEN_SCOPES.replace("} n })", "} n + 1 })");
    let divergence = diverged(load(&frames, &other_result, How::Load));
    assert_eq!(divergence.path.as_str(), "sum.0");
    let without = TEN_SCOPES.replace("\"sum\", n, |n|", "\"sum\", ||");
    diverged(load(&frames, &without, How::Load));
}

#[test]
fn a_change_that_a_run_did_not_know_is_told_to_it_as_such() {
    let old = r#"request("a", 1); request("b", 2); hold("Go on?"); "old""#;
    let new = r#"
        request("a", 1);
        if patched("more") { request("more", 1); }
        request("b", 2);
        hold("Go on?");
        if patched("end") { request("end", 1); }
        "new"
    "#;
    let frames = recorded(old);
    let (_, mut session, progress) = load(&frames, new, How::Load).expect("it is the same so far");
    assert!(progress.links.is_empty());
    let at = session.chain().at();
    let hold = session.pending()[0].request.path.clone();
    let progress = session
        .answered(&hold, RequestAnswer::Ok(Value::Null), AnswerSource::Executor, at)
        .expect("it is open");
    let patch = progress.perform[0].request.clone();
    assert_eq!((patch.kind.as_str(), patch.path.as_str()), (PATCH, "patch-end.0"));
    let mut all = [frames, progress.links.into_iter().map(|link| link.bytes).collect()].concat();
    let answer = RequestAnswer::Ok(Value::Bool(true));
    let progress =
        session.answered(&patch.path, answer, AnswerSource::Executor, at).expect("it is open");
    let end = progress.perform[0].request.clone();
    all.extend(progress.links.into_iter().map(|link| link.bytes));
    let progress =
        session.answered(&end.path, RequestAnswer::Ok(Value::Null), AnswerSource::Executor, at);
    let progress = progress.expect("it is open");
    assert_eq!(progress.end, Some(End::Done(Value::text("new"))));
    all.extend(progress.links.into_iter().map(|link| link.bytes));
    let (_, session, _) = load(&all, new, How::Resume).expect("it is what happened");
    assert_eq!(session.end(), Some(&End::Done(Value::text("new"))));
}

#[test]
fn a_new_run_knows_every_change() {
    let source = r#"if patched("more") { request("more", 1); } hold("Go on?")"#;
    let frames = recorded(source);
    let (_, session, _) = load(&frames, source, How::Resume).expect("nothing changed");
    let hold = &session.pending()[0].request.path;
    assert_eq!(hold.as_str(), "1");
}
