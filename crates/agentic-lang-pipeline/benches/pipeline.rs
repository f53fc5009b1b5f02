//! How fast sources compile and how much a node costs in memory.

use std::hint::black_box;
use std::sync::Arc;

use agentic_lang_pipeline::native::Natives;
use agentic_lang_pipeline::run::{AgentCall, PipelineOptions, PipelineProgram};
use agentic_lang_pipeline::{check, compile};
use agentic_model::{Instant, Value};
use agentic_plan::standard_registry;
use agentic_replay::{ProgramFailure, ProgramRun, Request, RequestAnswer, Seed, Start, run_to_end};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const BLOCKS: usize = 1_000;

fn source() -> String {
    let block = "temporal static (\n  ( echo \"a\" <*> echo \"b\"\n    >=> wrap \"<\" \">\" )\n  \
                 >=> concat \", \"\n  // a comment\n  >=> repeat 2 ( sep: \"-\" )\n  >=> upper\n)\n\n";
    block.repeat(BLOCKS)
}

fn compiling(criterion: &mut Criterion) {
    let (source, registry) = (source(), Arc::new(standard_registry()));
    let mut group = criterion.benchmark_group("compile");
    group.throughput(Throughput::Elements(source.lines().count() as u64));
    group.bench_function("lines", |bencher| {
        bencher.iter(|| compile(black_box(&source), Arc::clone(&registry)).expect("valid"));
    });
    group.bench_function("lines, check only", |bencher| {
        bencher.iter(|| check(black_box(&source), &registry).expect("valid"));
    });
    group.finish();
}

fn perform(natives: &Natives, request: &Request) -> RequestAnswer {
    let function = request.payload.get("function").and_then(Value::as_text);
    let call = AgentCall::of(request).expect("natives are calls");
    match function.and_then(|function| natives.perform(function, &call)) {
        Some(Ok(value)) => RequestAnswer::Ok(value),
        _ => RequestAnswer::Failed(ProgramFailure::new("unknown-kind", "not a native")),
    }
}

fn running(criterion: &mut Criterion) {
    let chain = format!("echo \"x\" >=> {}", vec!["upper"; 1_999].join(" >=> "));
    let wide = format!("( {} ) >=> concat \"\"", vec!["echo \"x\""; 1_998].join(" <*> "));
    let start = Start { input: Value::Null, seed: Seed([0; 32]), at: Instant::from_millis(0) };
    let natives = Natives::default();
    let mut group = criterion.benchmark_group("run");
    for (name, body) in [("chain", chain), ("wide", wide)] {
        let source = format!("memory static ( {body} )");
        let compiled = compile(&source, Arc::new(standard_registry())).expect("valid");
        group.throughput(Throughput::Elements(compiled.blocks[0].plan.nodes().len() as u64));
        group.bench_function(format!("{name}, a node"), |bencher| {
            bencher.iter(|| {
                let program = PipelineProgram::new(&compiled, PipelineOptions::default());
                run_to_end(program, &start, |request| perform(&natives, request))
            });
        });
    }
    group.finish();
}

/// How many plans are under way at once.
const PLANS: usize = 1_000;
/// How many nodes each of them has.
const STAGES: usize = 20;

/// All plans in one thread, each given one answer in turn.
fn side_by_side(criterion: &mut Criterion) {
    let body = format!("echo \"x\" >=> {}", vec!["upper"; STAGES - 1].join(" >=> "));
    let source = format!("memory static ( {body} )");
    let compiled = compile(&source, Arc::new(standard_registry())).expect("valid");
    let start = Start { input: Value::Null, seed: Seed([0; 32]), at: Instant::from_millis(0) };
    let natives = Natives::default();
    let begin = || -> Vec<ProgramRun<PipelineProgram>> {
        let program = || PipelineProgram::new(&compiled, PipelineOptions::default());
        (0..PLANS).map(|_| ProgramRun::begin(program(), &start).0).collect()
    };
    let advance = |run: &mut ProgramRun<PipelineProgram>| {
        let request = run.open().values().next().cloned();
        if let Some(request) = request {
            run.deliver(&request.path, perform(&natives, &request), run.now());
        }
    };
    let before = resident_bytes();
    let mut runs = begin();
    runs.iter_mut().for_each(advance);
    let bytes = resident_bytes().saturating_sub(before);
    println!(
        "{PLANS} plans of {STAGES} nodes under way: {} bytes a node",
        bytes / (PLANS * STAGES)
    );
    let mut group = criterion.benchmark_group("side by side");
    group.throughput(Throughput::Elements((PLANS * STAGES) as u64));
    group.bench_function("1,000 plans, a node", |bencher| {
        bencher.iter(|| {
            let mut runs = begin();
            while runs.iter().any(|run| !run.has_ended()) {
                runs.iter_mut().for_each(advance);
            }
        });
    });
    group.finish();
}

/// Returns how much memory this process holds, as Linux says it.
#[expect(clippy::disallowed_methods, reason = "a bench may look at its own process")]
fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4_096
}

criterion_group!(benches, compiling, running, side_by_side);
criterion_main!(benches);
