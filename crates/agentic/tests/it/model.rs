//! Tasks of agents performed by models, in memory and as sessions: what is asked, what is made of
//! the replies, and that a run which was killed asks nothing twice that was answered.

use std::time::Duration;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, run};
use serde_json::Value as Json;

use crate::loopback::{Model, Reply};
use crate::stage::text;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(60);

const PROGRAM: &str = "agent writer { model: \"big\", tools: [] }\n\
    agent plain { tools: [] }\n\
    task think(topic: String) -> Obj{note: String} by agent {}\n\
    task research(topic: String) -> Obj{notes: String} {}\n\
    pipeline main(t: String) -> String {\n\
      let a = think(t) by writer;\n\
      let b = think(a.note) by plain;\n\
      let c = run research with { topic: b.note };\n\
      return c.notes;\n\
    }\n\
    pipeline patient(t: String) -> String {\n\
      let a = think(t) by writer retries 3 timeout 0.3 on_fail use { note: \"late\" };\n\
      return a.note;\n\
    }\n\
    pipeline once(t: String) -> String { let a = think(t) by writer; return a.note; }\n\
    test \"made up\" { let a = think(\"x\") by plain; assert a.note == \"[plain:think.note] x\"; }\n";

/// Makes a repository with the program, where a model is configured.
fn sandbox(model: &Model) -> Sandbox {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    write(&sandbox, "main.agent", PROGRAM);
    configure(&sandbox, model, "default_model = \"fast\"\n");
    sandbox
}

fn configure(sandbox: &Sandbox, model: &Model, default: &str) {
    let url = &model.url;
    let entry = |name: &str, at: &str| {
        format!("[models.{name}]\nuri = \"openai://{at}\"\nbase_url = \"{url}\"\nretries = 0\n")
    };
    let text = format!("{default}{}{}", entry("fast", "small-1"), entry("big", "large-1"));
    write(sandbox, "agentic.toml", &text);
}

fn write(sandbox: &Sandbox, file: &str, text: &str) {
    std::fs::write(sandbox.start().join(file), text).expect("the sandbox is writable");
}

/// Runs a pipeline with further flags; aborts before the answer of this number.
fn perform(
    sandbox: &Sandbox,
    pipeline: &str,
    flags: &[&str],
    crash_at: Option<u64>,
) -> FinishedProgram {
    let mut command = sandbox.command("agentic", sandbox.start());
    command.args(["run", "main.agent", pipeline, "--input", r#"{"t":"tea"}"#]).args(flags);
    if let Some(number) = crash_at {
        command.env("AGENTIC_CRASH_AT", format!("before-answer:{number}"));
    }
    run(command, b"", LIMIT).expect("the program can be started")
}

fn assert_result(finished: &FinishedProgram, wanted: &str) {
    let given = serde_json::from_slice::<Json>(&finished.stdout).ok();
    let is_done = finished.ending == ProgramEnding::Exit(0);
    assert!(is_done && given.is_some_and(|it| it["result"] == wanted), "{}", text(finished));
}

/// Replies to each call with its number.
fn counting() -> Model {
    Model::new(|number, asked| {
        let is_research = asked.to_string().contains("notes");
        let field = if is_research { "notes" } else { "note" };
        Reply::Says(format!("Here you are:\n```json\n{{\"{field}\":\"reply {number}\"}}\n```"))
    })
}

fn user(asked: &Json) -> &str {
    asked["messages"][1]["content"].as_str().expect("a prompt is text")
}

#[test]
fn a_configured_model_performs_the_tasks_of_agents() {
    for flags in [&[][..], &["--session", "--run-id", "k"]] {
        let model = counting();
        let sandbox = sandbox(&model);
        assert_result(&perform(&sandbox, "main", flags, None), "reply 2");
        let asked = model.asked();
        let models: Vec<_> = asked.iter().map(|asked| asked["model"].clone()).collect();
        assert_eq!(models, ["large-1", "small-1", "small-1"]);
        assert!(user(&asked[0]).contains(r#"{"topic":"tea"}"#), "{asked:?}");
        assert!(user(&asked[1]).contains(r#"{"topic":"reply 0"}"#), "{asked:?}");
        assert!(user(&asked[2]).contains("Task: research"), "{asked:?}");
    }
}

#[test]
fn the_mock_performs_them_where_it_is_asked_for_and_in_tests() {
    let model = counting();
    let sandbox = sandbox(&model);
    let made_up = "[default-agent] key points for '[plain:think.note] [writer:think.note] tea'";
    assert_result(&perform(&sandbox, "main", &["--adapter", "mock"], None), made_up);
    let tested = perform(&sandbox, "main", &["--test"], None);
    assert_eq!(tested.ending, ProgramEnding::Exit(0), "{}", text(&tested));
    configure(&sandbox, &model, "");
    assert_result(&perform(&sandbox, "main", &[], None), made_up);
    assert_eq!(model.asked().len(), 0);
    // A plain name that nothing configures is one of OpenAI, which wants a key.
    let live = perform(&sandbox, "main", &["--adapter", "live"], None);
    assert_eq!(live.ending, ProgramEnding::Exit(1), "{}", text(&live));
    assert!(text(&live).contains("OPENAI_API_KEY"), "{}", text(&live));
    assert_eq!(model.asked().len(), 1, "the model of `writer` has an entry");
}

#[test]
fn a_killed_session_asks_nothing_again_that_was_answered() {
    for number in 1..=3 {
        let model = counting();
        let sandbox = sandbox(&model);
        let flags = ["--session", "--run-id", "k"];
        let killed = perform(&sandbox, "main", &flags, Some(number));
        assert!(matches!(killed.ending, ProgramEnding::Signal(_)), "{}", text(&killed));
        assert_eq!(model.asked().len() as u64, number);
        // One that was under way is asked again: to ask a model changes nothing.
        assert_result(&perform(&sandbox, "main", &flags, None), "reply 3");
        let topics: Vec<bool> =
            model.asked().iter().map(|asked| user(asked).contains(r#""topic":"tea""#)).collect();
        assert_eq!(
            topics.iter().filter(|is_first| **is_first).count(),
            1 + usize::from(number == 1)
        );
        assert_eq!(topics.len(), 4);
        assert_result(&perform(&sandbox, "main", &flags, None), "reply 3");
        assert_eq!(model.asked().len(), 4, "what is over asks nothing");
        for verb in [["session", "verify", "run-k"], ["session", "replay", "run-k"]] {
            let mut command = sandbox.command("agentic", sandbox.start());
            command.args(verb);
            let checked = run(command, b"", LIMIT).expect("the program can be started");
            assert_eq!(checked.ending, ProgramEnding::Exit(0), "{}", text(&checked));
        }
    }
}

#[test]
fn who_performs_the_tasks_of_a_session_does_not_change() {
    let flags = ["--session", "--run-id", "k"];
    let model = counting();
    let from_models = sandbox(&model);
    perform(&from_models, "main", &flags, Some(2));
    configure(&from_models, &model, "");
    let mut resumed = from_models.command("agentic", from_models.start());
    resumed.args(["run", "main.agent", "main", "--input", r#"{"t":"tea"}"#]).args(flags);
    resumed.env("AGENTLANG_ADAPTER", "mock").env("AGENTLANG_DEFAULT_MODEL", "big");
    let resumed = run(resumed, b"", LIMIT).expect("the program can be started");
    assert_result(&resumed, "reply 3");
    assert_eq!(model.asked().len(), 4);

    let model = counting();
    let from_mock = sandbox(&model);
    configure(&from_mock, &model, "");
    perform(&from_mock, "main", &flags, Some(2));
    configure(&from_mock, &model, "default_model = \"fast\"\n");
    let made_up = "[default-agent] key points for '[plain:think.note] [writer:think.note] tea'";
    assert_result(&perform(&from_mock, "main", &flags, None), made_up);
    assert_eq!(model.asked().len(), 0);
    // Who says it aloud is told that this is another run.
    let other =
        perform(&from_mock, "main", &["--session", "--run-id", "k", "--adapter", "live"], None);
    assert_eq!(other.ending, ProgramEnding::Exit(3), "{}", text(&other));
}

#[test]
fn a_model_that_keeps_silent_is_not_waited_for() {
    for flags in [&[][..], &["--session", "--run-id", "k"]] {
        let model = Model::new(|_, _| Reply::Hangs);
        let sandbox = sandbox(&model);
        assert_result(&perform(&sandbox, "patient", flags, None), "late");
        assert_eq!(model.asked().len(), 1, "a task that took too long is not tried again");
    }
}

#[test]
fn hostile_replies_are_failed_attempts() {
    let nested = "[".repeat(100_000);
    let garbage = "no JSON at all ".repeat(1000);
    let says = |text: &str| Reply::Says(text.to_owned());
    let table = [
        (says(r#"{"note":7}"#), "A0603"),
        (says("[]"), "A0603"),
        (says(""), "the model did not return JSON"),
        (says(&garbage), "the model did not return JSON: no JSON at all"),
        (says(&nested), "Last error: "),
        (says(r#"{"note":1e999}"#), "Last error: "),
        (Reply::Status(200, "{}".to_owned()), "makes no sense"),
        (Reply::Status(200, "\u{0}".to_owned()), "makes no sense"),
        (Reply::Status(429, "slow down".to_owned()), "status 429: slow down"),
        (Reply::Status(500, r#"{"error":{"message":"on fire"}}"#.to_owned()), "on fire"),
    ];
    for (reply, wanted) in table {
        let shown = format!("{reply:.100?}");
        let model = Model::new(move |_, _| reply.clone());
        let sandbox = sandbox(&model);
        let failed = perform(&sandbox, "once", &[], None);
        assert_eq!(failed.ending, ProgramEnding::Exit(1), "{shown}: {}", text(&failed));
        assert!(text(&failed).contains(wanted), "{shown}: {}", text(&failed));
        assert!(text(&failed).len() < 4000, "{shown}: {}", text(&failed).len());
    }
}
