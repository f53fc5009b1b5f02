//! What every durable engine answers: one table of cases, driven against the embedded engine and
//! against one in memory.

mod memory;

use std::sync::Arc;

use agentic_git::run_git;
use agentic_lang_pipeline::PlannedRun;
use agentic_lang_pipeline::compile;
use agentic_lang_pipeline::run::{BlockOrder, RunResult};
use agentic_model::{Value, json};
use agentic_plan::standard_registry;
use agentic_replay::End;
use agentic_replay::engine::{
    Cancellation, DurableEngine, EngineError, RunAttendance, RunDecision, RunStart,
};
use agentic_replay::record::CancelMode;

use self::memory::Memory;
use super::EmbeddedEngine;
use crate::{SessionOptions, SessionSpace};

/// Cases: what is done, a line each, and under it what every engine answers.
const CASES: [(&str, &str); 9] = [
    (
        "a run comes to its result, once",
        r#"
start a temporal static ( echo "x" >=> upper )
> done
start a temporal static ( echo "x" >=> upper )
> done
status a
> done ok n0=done n1=done
result run-a
> ["X"]
events a
> start, ask b0/n0/0 1:19, answer b0/n0/0 1:19, ask b0/n1/0 1:32, answer b0/n1/0 1:32, end
go a
> done
due
>
"#,
    ),
    (
        "a key names one run",
        r#"
start a temporal static ( echo "x" )
> done
start a temporal static ( echo "y" )
> KeyTaken
result a
> ["x"]
"#,
    ),
    (
        "a hold takes the first good decision",
        r#"
start a temporal static ( echo "x" >=> hold ( question: "?" choices: ["ship", "wait"] ) >=> upper )
> held
result a
> nothing yet
status a
> held running n0=done n1=running n2=pending
decide a n1 burn user:alice
> ChoiceNotOffered
decide a n7 ship user:alice
> HoldNotOpen
decide a n1 ship agent:bob
> NotAuthorised
decide a n1 ship user:alice
> respond
decide a n1 ship user:alice
> respond
decide a n1 wait user:bob
> HoldClosed
go a
> done
result a
> ["X"]
decide a n1 ship user:alice
> respond
decide a n1 ship user:bob
> HoldClosed
"#,
    ),
    (
        "a detached run waits for a worker, and so does an answered hold",
        r#"
record a temporal static ( echo "x" >=> hold "go?" )
> running
due
> a
due
>
record a temporal static ( echo "x" >=> hold "go?" )
> running
go a
> held
decide a - accept user:alice
> approve
due
> a
go a
> done
due
>
"#,
    ),
    (
        "what fails says where",
        r#"
start a temporal static ( echo "x" >=> pick 3 )
> failed
result a
> NodeFailed: node `n1` (`agentscript/pick`) at 1:32 failed: the input is not a tuple
status a
> failed failed n0=done n1=failed
"#,
    ),
    (
        "a run is cancelled once",
        r#"
start a temporal static ( echo "x" >=> hold "go?" )
> held
cancel a
> cancelled
cancel a
> RunOver
result a
> cancelled
decide a n1 accept user:alice
> HoldClosed
due
>
"#,
    ),
    (
        "a run that was only recorded is cancelled before it asks anything of the world",
        r#"
record a temporal static ( echo "x" >=> upper )
> running
status a
> running running n0=running n1=pending
cancel a
> cancelled
go a
> cancelled
due
>
"#,
    ),
    (
        "several holds are told apart",
        r#"
start a temporal static ( hold "one?" <*> hold "two?" )
> held
decide a - accept user:alice
> Own
decide a n0 accept user:alice
> approve
go a
> held
decide a b0/n1/0 reject user:bob
> reject
go a
> failed
"#,
    ),
    (
        "nobody knows a run that was not started",
        r#"
status a
> UnknownRun
result a
> UnknownRun
events a
> UnknownRun
cancel a
> UnknownRun
decide a n0 accept user:alice
> UnknownRun
"#,
    ),
];

#[test]
fn an_engine_in_memory_answers_the_cases() {
    for (title, script) in CASES {
        check(&Memory::default(), title, script);
    }
}

#[test]
fn the_embedded_engine_answers_the_cases() {
    for (title, script) in CASES {
        let folder = crate::tests::temporary_folder();
        for arguments in [
            &["init", "--quiet", "."][..],
            &["config", "user.name", "Alice"],
            &["config", "user.email", "alice@example.com"],
        ] {
            let done = run_git(folder.path(), arguments).expect("git runs");
            done.checked(arguments).expect("it works");
        }
        let space = SessionSpace::open(folder.path(), SessionOptions::default())
            .expect("it is a repository");
        check(&EmbeddedEngine::new(&space, "test"), title, script);
    }
}

fn check(engine: &dyn DurableEngine<PlannedRun>, title: &str, script: &str) {
    let mut lines = script.trim().lines();
    while let Some(line) = lines.next() {
        let wanted = lines.next().and_then(|line| line.strip_prefix('>')).expect("an answer");
        let found = act(engine, line).unwrap_or_else(|error| format!("{:?}", error.refusal));
        assert_eq!(found, wanted.trim(), "{title}: {line}");
    }
}

/// Does what a line of a case says, and tells what the engine answered.
fn act(engine: &dyn DurableEngine<PlannedRun>, line: &str) -> Result<String, EngineError> {
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        ["start", key, ..] => begin(engine, key, line, RunAttendance::Attended),
        ["record", key, ..] => begin(engine, key, line, RunAttendance::Detached),
        ["due"] => {
            let due = engine.due()?;
            let keys: Result<Vec<String>, EngineError> =
                due.iter().map(|run| Ok(engine.status(run)?.key)).collect();
            Ok(keys?.join(" "))
        }
        ["go", key] => {
            let run = engine.find(key)?;
            engine.go_on(&run)?;
            Ok(engine.status(&run)?.state.as_str().to_owned())
        }
        ["status", key] => status(engine, key),
        ["result", key] => {
            Ok(engine.result(&engine.find(key)?)?.map_or("nothing yet".into(), told))
        }
        ["events", key] => events(engine, key),
        ["cancel", key] => {
            let run = engine.find(key)?;
            let (who, why) = ("user:alice".to_owned(), "enough".to_owned());
            engine.cancel(&run, &Cancellation { who, why, mode: CancelMode::Cooperative })?;
            Ok(engine.status(&run)?.state.as_str().to_owned())
        }
        ["decide", key, hold, choice, actor] => {
            let decision = RunDecision {
                hold: (*hold != "-").then(|| (*hold).to_owned()),
                choice: (*choice).to_owned(),
                actor: (*actor).to_owned(),
                note: String::new(),
                expect: None,
            };
            Ok(engine.decide(&engine.find(key)?, &decision)?.action)
        }
        _ => panic!("nobody knows how to `{line}`"),
    }
}

fn begin(
    engine: &dyn DurableEngine<PlannedRun>,
    key: &str,
    line: &str,
    attendance: RunAttendance,
) -> Result<String, EngineError> {
    let source = line.splitn(3, ' ').nth(2).expect("a case has a program").to_owned();
    let compiled = compile(&source, Arc::new(standard_registry())).expect("it compiles");
    let order = BlockOrder::Sequential;
    let run = PlannedRun { source, compiled, order, invoked_by: None, script: None };
    let start = RunStart { run, input: Value::Null, key: Some(key.to_owned()), agent: None };
    let id = engine.start(start, attendance)?;
    Ok(engine.status(&id)?.state.as_str().to_owned())
}

fn status(engine: &dyn DurableEngine<PlannedRun>, key: &str) -> Result<String, EngineError> {
    let status = engine.status(&engine.find(key)?)?;
    let block = &status.blocks[0];
    let nodes = block.get("node_states").and_then(Value::as_map).into_iter().flatten();
    let nodes: Vec<String> = nodes
        .map(|(node, state)| format!("{node}={}", state.as_text().unwrap_or_default()))
        .collect();
    let block = block.get("status").and_then(Value::as_text).unwrap_or_default();
    Ok(format!("{} {block} {}", status.state.as_str(), nodes.join(" ")))
}

fn events(engine: &dyn DurableEngine<PlannedRun>, key: &str) -> Result<String, EngineError> {
    let events = engine.history(&engine.find(key)?)?;
    let told = events.iter().map(|event| {
        let path = event.path.as_ref().map(|path| format!(" {path}")).unwrap_or_default();
        let place = event.place.map(|place| format!(" {place}")).unwrap_or_default();
        format!("{}{path}{place}", event.event)
    });
    Ok(told.collect::<Vec<_>>().join(", "))
}

fn told(end: End) -> String {
    match end {
        // A hold gives a map; what flows on is its text.
        End::Done(result) => json::to_text(&Value::List(RunResult::values_of(&result))),
        End::Failed(failure) => format!("{}: {}", failure.code, failure.message),
        End::Cancelled => "cancelled".to_owned(),
    }
}
