//! How fast files are checked, statements run, and mock tasks called.

use std::fmt::Write as _;

use agentic_lang_agent::{MockTasks, RunOptions, check, compile, read};
use agentic_model::Instant;
use agentic_replay::{End, Seed, Start, run_to_end};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Writes a file of about so many lines: tasks, pipelines that call each other, branches, loops.
fn large_file(lines: usize) -> String {
    let mut text = String::from(
        "agent writer { model: \"m\", tools: [] }\n\
         task llm_complete(prompt: String) -> Obj{text: String} {}\n\
         task countdown(current: Number) -> Obj{next: Number, done: Bool} {}\n",
    );
    for at in 0..lines / 20 {
        write!(
            text,
            "-- part {at}\n\
             pipeline part{at}(topic: String, n: Number, o: Option[String]) -> Obj{{t: String, n: Number}} {{\n\
             \x20 let first = llm_complete(\"write about \" + topic) by writer retries 2;\n\
             \x20 let c = run countdown with {{ current: n + {at} }};\n\
             \x20 while c.done == false {{\n\
             \x20   let c = countdown(c.next);\n\
             \x20   if c.next == 3 {{\n\
             \x20     break;\n\
             \x20   }}\n\
             \x20 }}\n\
             \x20 if let v = o {{\n\
             \x20   return {{ t: v + first.text, n: c.next }};\n\
             \x20 }} else {{\n\
             \x20   assert topic != \"\", \"no topic\";\n\
             \x20 }}\n\
             \x20 let second = llm_complete(first.text) on_fail use {{ text: \"none\" }};\n\
             \x20 let list = llm_complete(second.text + \"!\");\n\
             \n\
             \x20 return {{ t: list.text, n: 1 + 2 + n }};\n\
             }}\n"
        )
        .expect("writing to a string never fails");
    }
    text
}

fn bench_check(criterion: &mut Criterion) {
    let text = large_file(100_000);
    let source = read("large.agent", text.as_bytes()).expect("the text is UTF-8");
    let mut group = criterion.benchmark_group("check");
    group.throughput(Throughput::Elements(text.lines().count() as u64));
    group.sample_size(20);
    group.bench_function("lines", |bencher| bencher.iter(|| assert!(check(&source).is_empty())));
    group.finish();
}

/// Runs a pipeline `go` with the built-in tasks.
fn go(text: &str, input: &str) -> impl Fn() + use<> {
    let source = read("go.agent", text.as_bytes()).expect("the text is UTF-8");
    let module = compile(&source).expect("the program is right");
    let start = Start { input: input.into(), seed: Seed([0; 32]), at: Instant::from_millis(0) };
    move || {
        let mut mock = MockTasks::default();
        let run = module.run("go", RunOptions::default());
        let finished = run_to_end(run, &start, |request| {
            mock.perform(request).expect("only built-in tasks are called")
        });
        assert!(matches!(finished.end, End::Done(_)), "{:?}", finished.end);
    }
}

fn bench_statements(criterion: &mut Criterion) {
    let rounds = 100_000;
    let text = "pipeline step(n: Number) -> Number { return n + 1; }\n\
        pipeline go(limit: Number) -> Number { \
          let n = step(0); \
          while n != limit { if n == 0 { assert false; } assert n != 0; let n = step(n); } \
          return n; }";
    let run = go(text, &format!("{{\"limit\":{rounds}}}"));
    let mut group = criterion.benchmark_group("run");
    // Every round is a loop, an if, an assert, a call and a return.
    group.throughput(Throughput::Elements(rounds * 5));
    group.bench_function("light statements", |bencher| bencher.iter(&run));
    group.finish();
}

fn bench_tasks(criterion: &mut Criterion) {
    let rounds = 20_000;
    let text = "task countdown(current: Number) -> Obj{next: Number, done: Bool} {}\n\
        pipeline go(n: Number) -> Number { \
          let c = countdown(n); \
          while c.done == false { let c = countdown(c.next); } \
          return c.next; }";
    let run = go(text, &format!("{{\"n\":{rounds}}}"));
    let mut group = criterion.benchmark_group("run");
    group.throughput(Throughput::Elements(rounds));
    group.bench_function("mock task calls", |bencher| bencher.iter(&run));
    group.finish();
}

criterion_group!(benches, bench_check, bench_statements, bench_tasks);
criterion_main!(benches);
