//! Scripts that loop for ever, grow without bound, recurse or catch everything end cleanly.

use std::collections::BTreeMap;

use agentic_flow::limits::{LIMIT, WORK_MAX};
use agentic_flow::{Flow, FlowProgram};
use agentic_model::{Cid, Instant, Value};
use agentic_replay::{End, Program, ProgramRun, RequestAnswer, Seed, Start, run_to_end};

fn program(source: &str) -> FlowProgram {
    Flow::parse(source).unwrap_or_else(|findings| panic!("{source}: {findings:?}")).program()
}

fn start() -> Start {
    Start { input: Value::Null, seed: Seed([1; 32]), at: Instant::from_millis(0) }
}

fn end(source: &str) -> End {
    run_to_end(program(source), &start(), |_| RequestAnswer::Ok(Value::Int(1))).end
}

/// A script that has to end with a bound, also with everything around it caught.
fn bounded(source: &str) {
    let caught = format!("try {{ {source} }} catch {{ }} \"survived\"");
    let in_closure = format!("try {{ [1].map(|x| {{ {source} }}) }} catch {{ }} \"survived\"");
    let in_branch = format!("try {{ all([|| {{ {source} }}]) }} catch {{ }} \"survived\"");
    let in_race =
        format!("try {{ any([|| request(\"k\", 1), || {{ {source} }}, || 1]) }} catch {{ }}");
    for source in [source, &caught, &in_closure, &in_branch, &in_race] {
        match end(source) {
            End::Failed(failure) => assert_eq!(failure.code, LIMIT, "{source}: {failure:?}"),
            end @ (End::Done(_) | End::Cancelled) => panic!("{source}: {end:?}"),
        }
    }
}

#[test]
fn endless_loops_end() {
    bounded("loop { }");
    bounded("while true { let x = 1; }");
    bounded("loop { try { throw 1 } catch { } }");
    bounded("for i in 0..9223372036854775807 { }");
    bounded("let n = 0; loop { try { n += 1; [n].map(|x| x.nosuch()) } catch { } }");
    bounded("loop { print(\"x\") }");
    bounded("loop { trace(1) }");
}

#[test]
fn what_grows_without_bound_ends() {
    bounded("let s = \"x\"; loop { s += s; }");
    bounded("let a = [1]; loop { a += a; }");
    bounded("let a = []; loop { a.push(a.len()); }");
    bounded("let a = []; loop { a = [a]; }");
    bounded("let m = #{}; loop { m = #{m: m}; }");
    bounded("let m = #{}; let n = 0; loop { m[n.to_string()] = n; n += 1; }");
    bounded("let a = []; a.pad(1000000000, 1);");
    bounded("let s = \"\"; s.pad(1000000000, \"x\"); s");
    bounded("let f = || 1; loop { let g = f; f = || g.call(); }");
    bounded("let f = || 1; loop { let g = [f]; f = || g; }");
    bounded("let f = || 1; loop { f = f.curry(f); }");
    bounded("let s = \"x\"; for i in 0..18 { s += s; } let a = []; loop { a.push(s + s.len()); }");
}

#[test]
fn a_bound_that_a_module_hits_ends_the_run() {
    let source = "fn f() { f() } f();".to_owned();
    let cid = Cid::of(source.as_bytes());
    let modules = BTreeMap::from([(cid, source)]);
    let script = format!("try {{ import \"{cid}\" as m; }} catch {{ }} \"survived\"");
    let flow = Flow::parse_with(&script, modules).expect("a valid flow");
    let end = run_to_end(flow.program(), &start(), |_| RequestAnswer::Ok(Value::Null)).end;
    assert!(matches!(&end, End::Failed(failure) if failure.code == LIMIT), "{end:?}");
}

#[test]
fn endless_recursion_ends() {
    let functions = [
        "fn f() { f() } f()",
        "fn f(x) { f(x + 1) } f(1)",
        "fn f() { try { f() } catch { 1 } } f()",
        "fn f() { try { [1].map(|x| f()) } catch { 77 } } f()",
        "fn f() { [2, 1].sort(|a, b| f()); 0 } f()",
        "fn f() { scope(\"s\", || f()) } f()",
        "fn f() { all([|| f()]) } f()",
        "fn f() { any([|| f(), || f()]) } f()",
    ];
    for source in functions {
        match end(source) {
            End::Failed(failure) => assert_eq!(failure.code, LIMIT, "{source}: {failure:?}"),
            end @ (End::Done(_) | End::Cancelled) => panic!("{source}: {end:?}"),
        }
    }
}

#[test]
fn deep_expressions_in_deep_calls_fit_the_stack() {
    let deep = format!("{}f(n - 1){}", "(1 + ".repeat(20), ")".repeat(20));
    let source = format!("fn f(n) {{ if n < 1 {{ 0 }} else {{ {deep} }} }} f(60)");
    assert_eq!(end(&source), End::Done(Value::Int(1_200)));
    let source = "fn f(n) { if n < 1 { 0 } else { [n].map(|x| f(x - 1))[0] + 1 } } f(20)";
    assert_eq!(end(source), End::Done(Value::Int(20)));
}

#[test]
fn work_is_counted_between_answers_and_the_same_every_time() {
    let source =
        "let t = 0; for i in 0..20 { for j in 0..1000 { t += j; } t += request(\"k\", t); } t";
    let count = || {
        let mut program = program(source);
        let end = run_to_end(&mut program, &start(), |_| RequestAnswer::Ok(Value::Int(1))).end;
        (program.work(), end)
    };
    let first = count();
    assert!(first.0 > WORK_MAX / 4, "{first:?}");
    assert!(matches!(first.1, End::Done(_)), "{first:?}");
    for _ in 0..5 {
        assert_eq!(count(), first);
    }
}

#[test]
fn a_dropped_run_ends_wherever_it_stands() {
    let places = [
        "request(\"k\", 1)",
        "try { [2, 1, 3].sort(|a, b| request(\"k\", a)) } catch { } loop { }",
        "[1, 2].map(|x| request(\"k\", x))",
        "all([|| request(\"k\", 1), || any([|| request(\"k\", 2), || request(\"k\", 3)])])",
        "fn f(n) { if n < 1 { request(\"k\", 1) } else { try { f(n - 1) } catch { f(n - 1) } } } f(50)",
        "loop { try { request(\"k\", 1) } catch { } }",
    ];
    for source in places {
        let (mut run, step) = ProgramRun::begin(program(source), &start());
        assert!(!step.opened.is_empty(), "{source}");
        assert_eq!(run.kill().end, Some(End::Cancelled));
        drop(run);
    }
}

#[test]
fn a_thousand_runs_can_wait_at_once() {
    let flow = Flow::parse("request(\"k\", 1)").expect("a valid flow");
    let runs: Vec<_> = (0..1_000)
        .map(|_| {
            let mut program = flow.program();
            assert_eq!(program.start(&start()).opened.len(), 1);
            program
        })
        .collect();
    assert_eq!(runs.len(), 1_000);
}

#[test]
fn nothing_of_the_machine_is_within_reach() {
    for source in [
        "timestamp()",
        "import \"x\" as x;",
        "import \"bafyr4iamissingmodule\" as x;",
        "sqrt(2.0)",
        "rand()",
        "open_file(\"x\")",
        "call_fn(\"x\")",
    ] {
        match end(source) {
            End::Failed(failure) => assert_eq!(failure.code, "script-error", "{source}"),
            end @ (End::Done(_) | End::Cancelled) => panic!("{source}: {end:?}"),
        }
    }
}
