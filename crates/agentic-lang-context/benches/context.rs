//! How fast texts are read, prompts are built and statements run.

use std::hint::black_box;

use agentic_diag::SourceText;
use agentic_lang_context::json::{self, Json};
use agentic_lang_context::{
    CheckOptions, ContextModule, ContextOptions, EntryPoint, TraceMode, check, compile,
};
use agentic_model::Instant;
use agentic_replay::{Path, ProgramRun, RequestAnswer, Seed, Start, run_to_end};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

const HEAD: &str = "import llm M from 'mock://m'\nmain agent A {\n    model M\n    role 'R'\n    \
                    description 'D'\n";

fn no_files(_: &str) -> Result<String, String> {
    Err("no files here".to_owned())
}

fn module(text: &str) -> ContextModule {
    compile(SourceText::new("main.as", text), &CheckOptions::default(), &mut no_files)
        .unwrap_or_else(|checked| panic!("{:?}", checked.findings))
}

/// A program of many functions of everyday code, 10 lines each.
fn program(functions: usize) -> String {
    let mut text = format!("{HEAD}    main func(input) {{\n        input\n    }}\n");
    for number in 0..functions {
        text.push_str(&format!(
            "\n    func step{number}(item) {{\n        // one step\n        total = 0\n        \
             for part in item.parts max 10 {{\n            total += part.size * 2\n        }}\n        \
             use item.text max 2k as text\n        \
             generate({{ input: \"Go\", max_output: 800 }}) -> {{ ok: boolean }}\n    }}\n"
        ));
    }
    text.push_str("}\n");
    text
}

fn reading(criterion: &mut Criterion) {
    let text = program(5_000);
    let mut group = criterion.benchmark_group("read");
    group.sample_size(20);
    group.throughput(Throughput::Elements(text.lines().count() as u64));
    group.bench_function("parse and analyze, lines", |bencher| {
        bencher.iter(|| {
            let source = SourceText::new("main.as", text.as_str());
            let checked = check(source, &CheckOptions::default(), &mut no_files);
            assert!(checked.findings.is_empty());
        });
    });
    group.finish();
}

fn start(input: &Json) -> Start {
    let at = Instant::from_millis(0);
    Start { input: json::to_value(input), seed: Seed([0; 32]), at }
}

fn run(module: &ContextModule, start: &Start, tracing: TraceMode) {
    let options = ContextOptions { tracing, ..ContextOptions::default() };
    let program = module.run(&EntryPoint::default(), options).expect("the entry is there");
    black_box(run_to_end(program, start, |_| answer()));
}

fn prompts(criterion: &mut Criterion) {
    let items = (0..100_000).map(|number| {
        Json::object([
            ("id", Json::count(number)),
            ("text", Json::text(format!("item {number} {}", "x".repeat(60)))),
        ])
    });
    let list = Json::List(items.collect());
    let size = json::pretty(&list).len();
    assert!(size > 10_000_000, "{size}");
    let input = Json::object([("list", list), ("text", Json::text("word ".repeat(2_000_000)))]);
    let start = start(&input);
    let mut group = criterion.benchmark_group("prompt");
    group.sample_size(20);
    for (name, source) in [
        ("list of 10 MB, whole", "use input.list"),
        ("list of 10 MB, clipped", "use input.list max 5000k"),
        ("text of 10 MB, clipped", "use input.text max 5000k"),
    ] {
        let twice = "generate({ input: 'Go' })\ngenerate({ input: 'Go' })";
        let module = module(&format!("{HEAD}main func(input) {{\n{source}\n{twice}\n}}\n}}"));
        group.bench_function(name, |bencher| {
            // The answer to the first `generate` leads to the second prompt and to nothing else.
            bencher.iter_batched(
                || begin(&module, &start),
                |(mut run, path)| {
                    let step = run.deliver(&path, answer(), start.at);
                    assert_eq!(step.opened.len(), 1);
                    (run, step)
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

fn answer() -> RequestAnswer {
    RequestAnswer::Ok(agentic_model::Value::map([("text", "done".into())]))
}

/// Runs a program to its first request.
fn begin(
    module: &ContextModule,
    start: &Start,
) -> (ProgramRun<agentic_lang_context::ContextRun>, Path) {
    let options = ContextOptions { tracing: TraceMode::Off, ..ContextOptions::default() };
    let program = module.run(&EntryPoint::default(), options).expect("the entry is there");
    let (run, step) = ProgramRun::begin(program, start);
    let path = step.opened[0].path.clone();
    (run, path)
}

fn statements(criterion: &mut Criterion) {
    const ROUNDS: u64 = 200_000;
    let body = "n = 0\ntotal = 0\nrepeat * 200000 {\nn += 1\nif n > 3 {\ntotal = total + n\n}\n\
                last = n == total\n}\ntotal";
    let module = module(&format!("{HEAD}main func(input) {{\n{body}\n}}\n}}"));
    let start = start(&Json::Null);
    let mut group = criterion.benchmark_group("run");
    group.sample_size(20);
    group.throughput(Throughput::Elements(ROUNDS * 4));
    group.bench_function("light statements", |bencher| {
        bencher.iter(|| run(&module, &start, TraceMode::Full));
    });
    group.finish();
}

criterion_group!(benches, reading, prompts, statements);
criterion_main!(benches);
