//! What models cost and how tests ended: `usage`, `test_result`.

use agentic_model::{Cid, Map, Object, Value};
use agentic_session::{ForkPlan, fork};
use agentic_space::write::LockedStream;
use agentic_store::Durability;
use agentic_store::journal::{KeptObject, NotesEdit, Transaction};

use super::question::{check, check_noted};
use crate::kit::Stage;

/// Makes an entry of a trace.
fn entry(kind: &str, body: Value, more: &[(&str, Value)]) -> Value {
    let fields = [("kind", Value::text(kind)), ("at", Value::Int(1_000)), ("body", body)];
    Value::map(fields.into_iter().chain(more.iter().cloned()))
}

/// Binds a trace of entries to the head of the agent, whatever stands in them.
fn bind(stage: &Stage, entries: Vec<Value>, more: &[(&str, Value)]) -> Cid {
    let fields = [
        ("type", Value::text("console-trace")),
        ("agent", Value::text(stage.agent.as_str())),
        ("entries", Value::List(entries)),
    ];
    let fields = fields.into_iter().chain(more.iter().cloned());
    let map: Map = fields.map(|(key, value)| (key.to_owned(), value)).collect();
    let object = Object::new(map).expect("it is short");
    let (locked, head) = LockedStream::agent(&stage.space, &stage.agent).expect("nobody writes");
    let signed = stage.space.signatures(&stage.agent).expect("git knows who");
    let transaction = Transaction {
        notes: Some(NotesEdit {
            name: stage.agent.notes_ref(),
            notes: vec![(head, format!("trace {}\n", object.cid()))],
            objects: vec![KeptObject::from(&object)],
        }),
        ..signed.transaction("trace attach")
    };
    locked.decide(transaction, None, Durability::Full).expect("writable").follow();
    object.cid()
}

#[test]
fn a_trace_tells_how_tests_ended_by_its_form_alone() {
    let stage = Stage::new();
    let result = |body: &str| entry("test-result", Value::text(body), &[]);
    let more = [("continues", Value::Bool(true))];
    let trace = bind(
        &stage,
        vec![
            entry("log", Value::text("{\"passed\":9,\"failed\":9}"), &[]),
            result("{\"passed\":3,\"failed\":1}"),
            result("test result: ok. 7 passed; 0 failed"),
            result("{\"passed\":-1,\"failed\":0}"),
            result("{\"passed\":1,\"failed\":0,\"more\":1}"),
            entry("test-result", Value::text("{\"passed\":"), &more),
            result("5,\"failed\":0}"),
            entry("test-result", Value::Bytes(b"{\"passed\":1,\"failed\":1}".to_vec()), &[]),
        ],
        &[],
    );
    check(
        &stage.space,
        "? test_result(T, N, A, P, F).",
        &format!("{trace} 1 alice 3 1; {trace} 5 alice 5 0"),
    );
    check(&stage.space, "? (P) test_result(agent: bob, passed: P).", "");
}

#[test]
fn a_trace_tells_what_models_cost_and_so_does_the_one_before() {
    let stage = Stage::new();
    let usage = |fields: &[(&str, Value)]| {
        let meta = [("usage", Value::map(fields.iter().cloned())), ("model", Value::text("fast"))];
        entry("reply", Value::text("x"), &[("meta", Value::map(meta))])
    };
    let first = bind(&stage, vec![usage(&[("in", Value::Int(10)), ("out", Value::Int(2))])], &[]);
    let cost = [("in", Value::Int(5)), ("cache_read", Value::Int(7)), ("cost", Value::Float(0.5))];
    let second = bind(
        &stage,
        vec![entry("log", Value::text("y"), &[]), usage(&cost)],
        &[("previous", Value::Link(first))],
    );
    let mut rows = [
        format!("{first} null 0 alice fast 10 2 null null null"),
        format!("{second} null 1 alice fast 5 null 7 null 0.5"),
    ];
    rows.sort();
    let program = "? (T, R, N, A, M, I, O, C, W, P) usage(trace: T, request: R, n: N, agent: A, \
                   model: M, input: I, output: O, cache_read: C, cache_write: W, cost: P).";
    check(&stage.space, program, &rows.join("; "));
    let git = |value: &str| {
        let arguments = ["config", "--add", "agentic.price", value];
        stage.space.repository().git(&arguments).expect("git runs");
    };
    git("fast 1000000 2000000");
    check(&stage.space, "? (N, P) usage(n: N, cost: P).", "0 14.0; 1 0.5");
    git("fast free");
    check_noted(&stage.space, "? P = sum { C : usage(cost: C) }.", "14.5", "names no price");
}

#[test]
fn the_answer_of_a_model_tells_what_it_cost() {
    let stage = Stage::new();
    let parent = stage.start("try { request(\"model\", #{model: \"fast\"}) } catch { }");
    check(&stage.space, "? usage(request: R).", "");
    let usage = [("input_tokens", Value::Int(3)), ("output_tokens", Value::Int(5))];
    let value = Value::map([("text", Value::text("hi")), ("usage", Value::map(usage))]);
    let who = "user:alice".to_owned();
    let plan = ForkPlan { at: Some(1), set: vec![(1, value)], who, ..ForkPlan::default() };
    let id = fork(&stage.space, &parent, &plan).expect("it is forked");
    check(
        &stage.space,
        "? (S, T, N, M, I, O) usage(trace: T, request: R, n: N, agent: A, model: M, input: I, \
         output: O), request(id: R, session: S).",
        &format!("{id} null null fast 3 5"),
    );
}

#[test]
fn amounts_that_nobody_can_believe_are_nothing() {
    let stage = Stage::new();
    let usage = Value::map([
        ("in", Value::Int(-1)),
        ("out", Value::Int(i64::MAX)),
        ("cache_read", Value::Float(1.5)),
        ("cache_write", Value::text("7")),
        ("cost", Value::Float(-0.5)),
    ]);
    let meta = Value::map([("usage", usage)]);
    bind(&stage, vec![entry("reply", Value::text("x"), &[("meta", meta)])], &[]);
    check_noted(
        &stage.space,
        "? (M, I, O, R, W, C) usage(model: M, input: I, output: O, cache_read: R, cache_write: W, \
         cost: C).",
        "null null null null null null",
        "5 amounts of usage",
    );
}

#[test]
fn what_is_remembered_of_traces_and_branches_changes_no_answer() {
    let stage = Stage::new();
    let result = |passed: i64| {
        let body = format!("{{\"passed\":{passed},\"failed\":0}}");
        entry("test-result", Value::text(body), &[])
    };
    let log = || entry("log", Value::text("nothing"), &[]);
    let passed = "? (P) test_result(passed: P).";
    let first = bind(&stage, vec![result(1)], &[]);
    check(&stage.space, passed, "1");
    check(&stage.space, passed, "1");
    bind(&stage, vec![log()], &[]);
    check(&stage.space, passed, "");
    bind(&stage, vec![result(2)], &[("previous", Value::Link(first))]);
    check(&stage.space, passed, "1; 2");
    check(&stage.space, "? (P) test_result(agent: alice, passed: P).", "1; 2");
    check(&stage.space, "? decision(commit: C).", "");
    let caches = stage.space.repository().layout().cache().join("query");
    for content in [None, Some(&b""[..]), Some(b"x\ny"), Some(&[0xff; 100])] {
        let deciding = std::fs::read_dir(caches.join("deciding")).expect("it is there");
        let deciding = deciding.map(|entry| entry.expect("readable").path());
        for place in std::iter::once(caches.join("telling")).chain(deciding) {
            match content {
                Some(content) => std::fs::write(place, content).expect("writable"),
                None => _ = std::fs::remove_file(place),
            }
        }
        check(&stage.space, passed, "1; 2");
        check(&stage.space, "? decision(commit: C).", "");
    }
}
