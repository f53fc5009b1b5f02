//! Programs of all languages, in memory and as sessions.

use agentic_api::program::{NamedText, ProgramSource};
use agentic_api::verb::{FlowCrosscheck, Run, RunAct, RunPipeline, RunPlace, SessionList};
use agentic_api::view::{CrosscheckAnswer, RunAnswer};
use agentic_api::{
    Caller, LocalVerb, Refusal, Reply, Surroundings, Verb, VerbCompletion, VerbEvent, VerbWatcher,
};
use agentic_model::guidance::ErrorClass;
use agentic_providers::host::CancelFlag;
use serde_json::{Value as Json, json, to_value};

use crate::place::{place, refusal};

/// A program of AgentLang whose task is made up.
const AGENTS: &str = r#"language "agentic 1";
task research(topic: String) -> Obj{notes: String} {}
pipeline main(topic: String) -> String {
  let r = research(topic);
  return r.notes;
}
test "adds" { assert 1 + 1 == 2; }
"#;
/// A program of the context language that asks no model.
const CONTEXT: &str = "main agent A {\n  main func(n) {\n    return n\n  }\n}\n";
/// A pipeline with a durable block.
const PIPELINE: &str = "temporal dynamic ( echo \"c\" >=> repeat 2 )\n";

fn source(name: &str, text: &str) -> ProgramSource {
    ProgramSource::of(NamedText::given(name, text))
}

fn agents(topic: &str) -> Run {
    Run {
        pipeline: Some("main".to_owned()),
        input: Some(json!({ "topic": topic }).to_string()),
        ..Run::of(source("main.agent", AGENTS))
    }
}

fn data(reply: &Reply<RunAnswer>) -> Json {
    to_value(&reply.answer).expect("data")
}

fn nowhere() -> Surroundings {
    Surroundings { folder: std::env::temp_dir(), ..Surroundings::default() }
}

fn here(run: Run) -> Result<Reply<RunAnswer>, Refusal> {
    let here = nowhere();
    run.prepare(&here)?.run_here(&here)
}

#[test]
fn a_program_of_agentlang_runs_is_tested_and_lowered_without_a_repository() {
    let done = here(agents("tea")).expect("it runs");
    assert!(matches!(done.completion, VerbCompletion::Whole));
    assert!(data(&done)["result"].as_str().is_some_and(|notes| notes.contains("tea")));
    let tests = here(Run { act: RunAct::Test, pipeline: None, input: None, ..agents("") });
    assert_eq!(data(&tests.expect("it has one"))["passed"], 1);
    let lowered = here(Run { act: RunAct::Lower, ..agents("") }).expect("it is there");
    assert_eq!(data(&lowered)["pipeline"], "main");

    let refused = refusal(here(Run { pipeline: Some("other".to_owned()), ..agents("") }));
    assert_eq!(refused.ended_with.as_deref(), Some("A0504"), "{refused:?}");
    // Whoever reads data is shown what happened before.
    let kept = Run { pipeline: Some("other".to_owned()), keep_trace: true, ..agents("") };
    let kept = here(kept).expect("it says what happened");
    assert!(matches!(kept.completion, VerbCompletion::Short(_)));
    assert!(data(&kept)["trace"].is_array() && data(&kept)["error"].is_object());
}

#[test]
fn what_is_wrong_with_a_program_is_the_answer() {
    for (name, text) in [("bad.agent", "pipeline {"), ("bad.as", "main agent {"), ("b.as", "|")] {
        let run = Run { pipeline: Some("main".to_owned()), ..Run::of(source(name, text)) };
        let run = if name.ends_with("agent") { run } else { Run { pipeline: None, ..run } };
        let faulty = here(run).expect("it is read");
        assert!(matches!(faulty.completion, VerbCompletion::Over(ErrorClass::Refused)), "{name}");
        let RunAnswer::Faulty(findings) = &faulty.answer else { panic!("{name} is wrong") };
        assert!(!findings.is_sound());
        assert!(data(&faulty)[0]["code"].is_string() && data(&faulty)[0]["line"].is_number());
    }
}

#[test]
fn what_means_nothing_to_a_language_is_refused() {
    let context = || Run::of(source("a.as", CONTEXT));
    for run in [
        Run { mock: true, ..agents("") },
        Run { act: RunAct::Test, ..context() },
        Run { live: true, ..context() },
        Run { key: Some("k".to_owned()), ..context() },
        Run { dry_run: true, mock: true, ..context() },
        Run { branches: true, ..context() },
        Run { workers: Some(0), ..context() },
        Run { input: Some("[]".to_owned()), ..agents("") },
        Run { input: Some("{".to_owned()), ..context() },
        Run { pipeline: None, ..agents("") },
        Run::of(source("a.rhai", "1")),
        Run::of(source("a.txt", "1")),
        Run::of(ProgramSource { language: Some("none".to_owned()), ..source("a.as", CONTEXT) }),
    ] {
        let shown = format!("{run:?}");
        assert_eq!(refusal(here(run)).class, ErrorClass::Usage, "{shown}");
    }
    let missing = refusal(here(Run::of(ProgramSource::of(NamedText::file("no/such.as")))));
    assert_eq!(missing.class, ErrorClass::Refused);
}

#[test]
fn a_context_program_gives_its_value_and_what_it_did() {
    let run = || Run { input: Some("{\"n\": 7}".to_owned()), ..Run::of(source("a.as", CONTEXT)) };
    let done = data(&here(run()).expect("it runs"));
    assert_eq!(done["value"], json!({"n": 7}));
    assert!(done["trace"].is_array());
    let quiet = data(&here(Run { quiet: true, ..run() }).expect("it runs"));
    assert_eq!(quiet, json!({"n": 7}));
    // What the people who watch wanted to see is told, and is no part of the answer.
    let (watcher, told) = VerbWatcher::channel(CancelFlag::new());
    let watched = Surroundings { watcher, ..nowhere() };
    let shown = Run { trace: true, quiet: true, ..run() };
    let shown = shown.prepare(&watched).expect("it compiles").run_here(&watched);
    drop(watched);
    assert_eq!(data(&shown.expect("it runs")), json!({"n": 7}));
    assert!(told.iter().any(|event| matches!(event, VerbEvent::Shown(_))));
}

#[test]
fn a_program_runs_as_a_session_of_an_agent_and_once_under_a_key() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let run = |run: Run| Run { place: RunPlace::Session, key: Some("k".to_owned()), ..run };
    let prepared = run(agents("tea")).prepare(&caller.surroundings).expect("it compiles");
    assert!(prepared.is_durable());
    let done = prepared.run(&caller).expect("it runs");
    assert!(data(&done)["result"].is_string());
    let begun: Vec<String> = done.notices.iter().map(|notice| notice.sentence()).collect();
    assert!(begun.iter().any(|said| said.ends_with("of run-k")), "{begun:?}");
    run(agents("tea")).run(&caller).expect("it is there");
    assert_eq!(SessionList::default().run(&caller).expect("readable").answer.len(), 1);
    assert_eq!(refusal(run(agents("coffee")).run(&caller)).class, ErrorClass::Conflict);

    let context =
        Run { agent: None, key: Some("c".to_owned()), ..run(Run::of(source("a.as", CONTEXT))) };
    assert_eq!(data(&context.run(&caller).expect("it runs"))["value"], json!({}));
    // Without a space there is no session.
    let held = Run { act: RunAct::Run, ..agents("tea") };
    assert!(held.prepare(&nowhere()).is_ok_and(|prepared| !prepared.is_durable()));
}

#[test]
fn a_pipeline_runs_as_it_says_and_alike_in_memory_and_durably() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let flow = |text: &str| RunPipeline {
        program: source("a.as", text),
        input: None,
        identity: None,
        key: Some("k".to_owned()),
        agent: None,
        registry: None,
        parallel_blocks: false,
        output_trace: None,
        detached: false,
    };
    let done = flow(PIPELINE).run(&caller).expect("it runs");
    assert_eq!(data(&done)["blocks"][0]["status"], "ok", "{}", data(&done));
    let refused = RunPipeline { identity: Some("alice".to_owned()), ..flow(PIPELINE) };
    assert_eq!(refusal(refused.run(&caller)).class, ErrorClass::Usage);
    let check = FlowCrosscheck {
        program: source("a.as", PIPELINE),
        input: None,
        registry: None,
        script: None,
        pipeline: None,
    };
    let same = check.run_here(&caller.surroundings).expect("both run");
    let CrosscheckAnswer::Compared(view) = same.answer else { panic!("it compiles") };
    assert!(view.same, "{view:?}");
}
