//! How long it takes to take a session up again: cold from its journal, and warm.
//!
//! `cargo bench -p agentic-flow` prints both by the number of recorded requests.

use std::collections::BTreeMap;
use std::hint::black_box;

use agentic_flow::{Flow, FlowProgram, engine};
use agentic_model::{AgentName, Cid, Instant, Value};
use agentic_replay::{
    AnswerSource, Kinds, Path, RecordChain, RequestAnswer, Session, SessionOpening,
    SessionProgress, SessionSetting,
};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// Asks for ever; each request carries the answer before.
const SOURCE: &str = "let last = (); let n = 0; \
                      loop { last = request(\"step\", #{ n: n, last: last }); n += 1; }";

fn begin(flow: &Flow) -> (Session<FlowProgram>, SessionProgress) {
    let opening = SessionOpening {
        stamp: false,
        agent: AgentName::parse("alice").expect("a valid name"),
        flow: Cid::of(SOURCE.as_bytes()),
        engine: engine(),
        input: Value::Null,
        key: "bench".to_owned(),
        allow: vec!["*".to_owned()],
        head: None,
        configuration: None,
        host: None,
    };
    let at = Instant::from_millis(0);
    Session::start(opening, at, flow.program(), &Kinds::built_in()).expect("the input is data")
}

/// Answers the one open request.
fn step(session: &mut Session<FlowProgram>, n: u64) -> SessionProgress {
    let path = Path::root().child(&n.to_string());
    let value =
        Value::map([("text", Value::text("an answer of some length")), ("n", Value::Int(1))]);
    let at = Instant::from_millis(1_000 + n as i64);
    session
        .answered(&path, RequestAnswer::Ok(value), AnswerSource::Executor, at)
        .expect("it is open")
}

/// Returns the frames of a session with so many answered requests.
fn recorded(flow: &Flow, n_requests: u64) -> Vec<Vec<u8>> {
    let (mut session, progress) = begin(flow);
    let mut frames: Vec<Vec<u8>> = progress.links.into_iter().map(|link| link.bytes).collect();
    for n in 0..n_requests {
        frames.extend(step(&mut session, n).links.into_iter().map(|link| link.bytes));
    }
    frames
}

fn cold(criterion: &mut Criterion) {
    let flow = Flow::parse(SOURCE).expect("the source is valid");
    let (kinds, engine) = (Kinds::built_in(), engine());
    let objects = BTreeMap::new();
    let mut group = criterion.benchmark_group("cold");
    group.sample_size(10);
    for n_requests in [10, 1_000, 10_000] {
        let frames = recorded(&flow, n_requests);
        group.throughput(Throughput::Elements(n_requests));
        group.bench_with_input(
            BenchmarkId::from_parameter(n_requests),
            &frames,
            |bench, frames| {
                bench.iter(|| {
                    let journal = RecordChain::read(frames.clone()).expect("it is a journal");
                    let setting =
                        SessionSetting { engine: &engine, kinds: &kinds, objects: &objects };
                    let loaded = Session::load(&journal, flow.program(), setting, &mut |_, _| {});
                    black_box(loaded.expect("nothing changed").1.perform.len())
                });
            },
        );
    }
    group.finish();
}

/// Reading alone: bytes to checked records.
fn read(criterion: &mut Criterion) {
    let flow = Flow::parse(SOURCE).expect("the source is valid");
    let frames = recorded(&flow, 1_000);
    criterion.bench_function("read/1000", |bench| {
        bench.iter(|| black_box(RecordChain::read(frames.clone()).is_ok()));
    });
}

fn warm(criterion: &mut Criterion) {
    let flow = Flow::parse(SOURCE).expect("the source is valid");
    let mut group = criterion.benchmark_group("warm");
    for n_requests in [10, 1_000, 10_000] {
        let (mut session, _progress) = begin(&flow);
        for n in 0..n_requests {
            let _progress = step(&mut session, n);
        }
        let mut next = n_requests;
        group.bench_function(BenchmarkId::from_parameter(n_requests), |bench| {
            bench.iter(|| {
                let progress = step(&mut session, next);
                next += 1;
                black_box(progress.links.len())
            });
        });
    }
    group.finish();
}

fn parse(criterion: &mut Criterion) {
    criterion.bench_function("parse", |bench| {
        bench.iter(|| black_box(Flow::parse(SOURCE).is_ok()));
    });
}

criterion_group!(benches, cold, read, warm, parse);
criterion_main!(benches);
