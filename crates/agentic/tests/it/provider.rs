//! Models and endpoints behind pipelines, played on loopback: in memory, durably, killed at each
//! request and run again.

use std::time::Duration;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, run};
use serde_json::{Value as Json, json};

use crate::loopback::{Model, Reply};
use crate::stage::text;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(120);

/// A program whose agents are models.
struct Case {
    name: &'static str,
    /// What stands between the parentheses of its block.
    body: &'static str,
    registry: &'static str,
    /// How many calls of models it makes.
    n_asked: usize,
    /// What its result must hold, as pointers and values.
    wanted: &'static [(&'static str, &'static str)],
}

const COUNT: &str = r#"{"name":"count","agent":"t/count","backends":["memory","temporal"],"effect":"read","run":{"exec":["echo","2"]}}"#;

const CASES: [Case; 4] = [
    Case {
        name: "converge",
        body: r#"converge ( question: "why?" max_rounds: 3 )"#,
        registry: "",
        n_asked: 4,
        wanted: &[("/text", r#""draft 2""#), ("/rounds", "2"), ("/converged", "true")],
    },
    Case {
        name: "tool-agent",
        body: r#"tool_agent ( task: "count" tools: [count] )"#,
        registry: COUNT,
        n_asked: 2,
        wanted: &[
            ("/text", r#""two""#),
            ("/steps/0/tool", r#""count""#),
            ("/steps/0/result", "2"),
            ("/steps/1/final", "true"),
        ],
    },
    Case {
        name: "supervisor",
        body: r#"supervisor ( question: "what is a? what is b?" max_rounds_per_child: 2 )"#,
        registry: "",
        n_asked: 8,
        wanted: &[
            ("/success_count", "2"),
            ("/sub_answers/0/text", r#""draft 2""#),
            ("/sub_answers/1/rounds", "2"),
        ],
    },
    Case {
        name: "registered",
        body: r#"say >=> supervisor ( max_rounds_per_child: 2 )"#,
        registry: r#"{"name":"say","agent":"t/say","backends":["memory","temporal"],"run":{"model":"m","system":"You say things."}},
            {"name":"split","agent":"sibyl/decompose","backends":["memory","temporal"],"run":{"model":"m"}},
            {"name":"unite","agent":"sibyl/synthesize","backends":["memory","temporal"],"run":{"model":"m"}}"#,
        n_asked: 7,
        wanted: &[("/success_count", "1"), ("/text", r#""all in all""#)],
    },
];

/// Plays a model: what it replies depends on its role and what it is told alone, so it has no
/// state that a second run could find.
fn model(_number: usize, asked: &Json) -> Reply {
    let message = |at: usize| asked["messages"][at]["content"].as_str().unwrap_or_default();
    let (system, user) = (message(0), message(1));
    let input: Json = serde_json::from_str(user).unwrap_or_default();
    let reply = if system.starts_with("You answer questions") {
        let is_first = input["previous_answer"] == "";
        (if is_first { "draft 1" } else { "draft 2" }).to_owned()
    } else if system.starts_with("You judge") {
        let approved = input["answer"] == "draft 2";
        json!({"approved": approved, "confidence": 0.5, "feedback": "more"}).to_string()
    } else if system.starts_with("You work on a task") {
        match input["history"].as_array().map(Vec::len) {
            Some(0) => json!({"action": "tool", "reasoning": "r", "tool": "count", "args": {}}),
            _ => json!({"action": "final", "reasoning": "r", "answer": "two"}),
        }
        .to_string()
    } else if system.starts_with("You split") {
        json!(["what is c?"]).to_string()
    } else if system.starts_with("You put answers together") {
        "all in all".to_owned()
    } else {
        format!("{system} {user}")
    };
    Reply::Says(reply)
}

/// Makes a repository with a program, a registry, and a model at an address.
fn sandbox(server: &str, backend: &str, body: &str, registry: &str) -> Sandbox {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let files = [
        ("main.as", format!("{backend} static ( {body} )\n")),
        ("r.json", format!("{{\"builtins\":[{}]}}", registry.replace("SERVER", server))),
        (
            "agentic.toml",
            format!(
                "default_model = \"m\"\n[models.m]\nuri = \"openai://m\"\nbase_url = \"{server}\"\n"
            ),
        ),
    ];
    for (name, content) in files {
        std::fs::write(sandbox.start().join(name), content).expect("writable");
    }
    sandbox
}

fn agentic(sandbox: &Sandbox, arguments: &[&str], crash_at: Option<usize>) -> FinishedProgram {
    let mut command = sandbox.command("agentic", sandbox.start());
    command.args(arguments);
    if let Some(number) = crash_at {
        command.env("AGENTIC_CRASH_AT", format!("before-answer:{number}"));
    }
    run(command, b"", LIMIT).expect("the program can be started")
}

fn flow_run(sandbox: &Sandbox, key: &str, crash_at: Option<usize>) -> FinishedProgram {
    let arguments = ["--json", "flow", "run", "main.as", "--registry", "r.json", "--run-id", key];
    let arguments = if key.is_empty() { &arguments[..6] } else { &arguments[..] };
    agentic(sandbox, arguments, crash_at)
}

/// Returns the result of the only block.
fn result(finished: &FinishedProgram) -> Json {
    let said: Json = serde_json::from_slice(&finished.stdout)
        .unwrap_or_else(|_| panic!("no result: {}", text(finished)));
    said["blocks"][0]["result"].clone()
}

impl Case {
    fn check(&self, found: &Json) {
        for (pointer, wanted) in self.wanted {
            let wanted: Json = serde_json::from_str(wanted).expect("what is wanted is JSON");
            assert_eq!(found.pointer(pointer), Some(&wanted), "{}{pointer}: {found}", self.name);
        }
    }

    /// Runs the case killed before the answer to one request, and once more; counts the calls.
    fn check_killed(&self, server: &Model, whole: &Json, number: usize) {
        let sandbox = sandbox(&server.url, "temporal", self.body, self.registry);
        let killed = flow_run(&sandbox, "k", Some(number));
        let place = format!("{} killed at {number}", self.name);
        assert!(matches!(killed.ending, ProgramEnding::Signal(_)), "{place}: {}", text(&killed));
        let resumed = flow_run(&sandbox, "k", None);
        assert_eq!(result(&resumed), *whole, "{place}: {}", text(&resumed));
        // Only calls without a recorded answer are made again; several may be under way.
        let n_asked = server.take_n_asked();
        let bound = self.n_asked + 2;
        assert!((self.n_asked..=bound).contains(&n_asked), "{place}: {n_asked} calls");
        let replayed = agentic(&sandbox, &["session", "replay", "--all"], None);
        assert_eq!(replayed.ending, ProgramEnding::Exit(0), "{place}: {}", text(&replayed));
        assert_eq!(server.take_n_asked(), 0, "{place}: a replay calls");
    }
}

#[test]
fn models_play_the_roles_of_loops_in_memory_and_durably() {
    let server = Model::new(model);
    for case in &CASES {
        let memory = sandbox(&server.url, "memory", case.body, case.registry);
        let in_memory = result(&flow_run(&memory, "", None));
        case.check(&in_memory);
        assert_eq!(server.take_n_asked(), case.n_asked, "{} in memory", case.name);
        let durable = sandbox(&server.url, "temporal", case.body, case.registry);
        let whole = result(&flow_run(&durable, "w", None));
        assert_eq!(whole, in_memory, "{}", case.name);
        assert_eq!(server.take_n_asked(), case.n_asked, "{} durably", case.name);
        for number in [1, case.n_asked / 2 + 1] {
            case.check_killed(&server, &whole, number);
        }
    }
}

#[test]
fn a_recorded_call_says_what_it_cost_and_the_next_node_sees_its_text() {
    let server = Model::new(model);
    let registry = r#"{"name":"say","agent":"t/say","backends":["temporal"],"run":{"model":"m","system":"You say"}}"#;
    let sandbox = sandbox(&server.url, "temporal", "say >=> upper", registry);
    let finished = agentic(
        &sandbox,
        &["flow", "run", "main.as", "--registry", "r.json", "--run-id", "u", "--input", "\"hi\""],
        None,
    );
    assert_eq!(finished.stdout, b"YOU SAY HI\n", "{}", text(&finished));
    let shown = agentic(&sandbox, &["session", "show", "run-u", "--json"], None);
    let shown: Json = serde_json::from_slice(&shown.stdout).expect("a session is JSON");
    let answer = &shown["requests"][0]["answer"]["ok"];
    assert_eq!(answer["usage"], json!({"input_tokens": 3, "output_tokens": 5}));
    assert_eq!(shown["requests"][0]["kind"], "model");
}

/// A model that fails: how often it is asked, and with which code the node fails.
#[test]
fn replies_that_do_not_count_are_final() {
    let status = |status, body: &str| Reply::Status(status, body.to_owned());
    for reply in [status(200, "{\"choices\":"), Reply::Says("I think so.".to_owned())] {
        let (server, finished) = failing_call(reply, r#"tool_agent ( task: "t" )"#);
        assert_eq!(finished.ending, ProgramEnding::Exit(1), "{}", text(&finished));
        let said: Json = serde_json::from_slice(&finished.stdout).expect("the result so far");
        let code = &said["blocks"][0]["error"]["details"]["cause"]["code"];
        assert_eq!(code, "InvalidLLMResponse", "{said}");
        assert_eq!(server.take_n_asked(), 1);
    }
}

#[test]
fn a_model_that_cannot_be_asked_is_waited_for() {
    for (reply, reason) in [(Reply::Busy, "429"), (Reply::Status(401, "{}".to_owned()), "401")] {
        let (server, finished) = failing_call(reply, "say");
        assert_eq!(finished.ending, ProgramEnding::Exit(4), "{reason}: {}", text(&finished));
        assert!(text(&finished).contains(reason), "{reason}: {}", text(&finished));
        assert!(server.take_n_asked() >= 1, "{reason}");
    }
}

/// Runs a durable pipeline whose model always replies so.
fn failing_call(reply: Reply, body: &str) -> (Model, FinishedProgram) {
    let server = Model::new(move |_, _| reply.clone());
    let retry = r#""retry":{"max_attempts":3,"initial_ms":1,"backoff":1}"#;
    let registry = format!(
        r#"{{"name":"say","agent":"t/say","backends":["temporal"],{retry},"run":{{"model":"m"}}}}"#
    );
    let sandbox = sandbox(&server.url, "temporal", body, &registry);
    let finished = flow_run(&sandbox, "f", None);
    (server, finished)
}

#[test]
fn a_call_under_way_is_interrupted_when_another_node_fails() {
    let registry = r#"
        {"name":"ask","agent":"t/ask","backends":["memory","temporal"],"timeout_ms":3600000,"run":{"http":"SERVER/"}},
        {"name":"think","agent":"t/think","backends":["memory","temporal"],"timeout_ms":3600000,"run":{"model":"m"}},
        {"name":"fail","agent":"t/fail","backends":["memory","temporal"],"retry":{"max_attempts":1},"run":{"exec":["sh","-c","sleep 0.3; exit 3"]}}"#;
    for waiting in ["ask", "think"] {
        for backend in ["memory", "temporal"] {
            let server = Model::new(|_, _| Reply::Hangs);
            let body = format!("( {waiting} <*> fail )");
            let sandbox = sandbox(&server.url, backend, &body, registry);
            let key = if backend == "memory" { "" } else { "i" };
            let finished = flow_run(&sandbox, key, None);
            assert_eq!(finished.ending, ProgramEnding::Exit(1), "{backend}: {}", text(&finished));
            assert!(text(&finished).contains("ended with status 3"), "{}", text(&finished));
            server.left();
        }
    }
}
