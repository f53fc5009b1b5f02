//! How fast sources compile and how much a node costs in memory.

use std::hint::black_box;
use std::sync::Arc;

use agentic_lang_pipeline::native::Natives;
use agentic_lang_pipeline::run::{AgentCall, FlowProgram, Options};
use agentic_lang_pipeline::{check, compile};
use agentic_model::{Instant, Value};
use agentic_plan::standard_registry;
use agentic_replay::{Answer, Failure, Request, Seed, Start, run_to_end};
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

fn perform(natives: &Natives, request: &Request) -> Answer {
    let function = request.payload.get("function").and_then(Value::as_text);
    let call = AgentCall::of(request).expect("natives are calls");
    match function.and_then(|function| natives.perform(function, &call)) {
        Some(Ok(value)) => Answer::Ok(value),
        _ => Answer::Failed(Failure::new("unknown-kind", "not a native")),
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
                let program = FlowProgram::new(&compiled, Options::default());
                run_to_end(program, &start, |request| perform(&natives, request))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, compiling, running);
criterion_main!(benches);
