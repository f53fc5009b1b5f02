//! Replies that do not count, in each language that calls models: refused, cut and filtered ones. And what models
//! cost where a program asks them again.

use std::time::Duration;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, run};
use serde_json::{Value as Json, json};

use crate::loopback::{Model, Reply};
use crate::stage::text;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(60);

const CONTEXT: &str = "import llm M from \"m\"\n\
    main agent A {\nmodel M\nrole \"R\"\ndescription \"D\"\n\
    main func(input) {\nx = generate({ input: \"go\", max_output: 50 })\n{ got: x }\n} }\n";
const CONTRACT: &str = "import llm M from \"m\"\n\
    main agent A {\nmodel M\nrole \"R\"\ndescription \"D\"\n\
    main func(input) {\ngenerate({ input: \"go\", attempts: 3 }) -> { a: string }\n} }\n";
const AGENTLANG: &str = "agent writer { tools: [] }\n\
    task think(topic: String) -> Obj{note: String} by agent {}\n\
    pipeline main(t: String) -> String { let a = think(t) by writer; return a.note; }\n";
const PIPELINE: &str = "memory static ( say )\n";
const REGISTRY: &str = r#"{"builtins":[{"name":"say","agent":"t/say","backends":["memory"],"retry":{"max_attempts":3,"initial_ms":1,"backoff":1},"run":{"model":"m"}}]}"#;

/// How replies end that do not count: the message of the model, why it ended, and what is said.
fn endings() -> [(Json, &'static str, &'static str); 3] {
    [
        (json!({"content": null, "refusal": "I cannot do that"}), "stop", "I cannot do that"),
        (json!({"content": "Half of a sent"}), "length", "cut"),
        (json!({"content": "Half of a sent"}), "content_filter", "filtered: Half of a sent"),
    ]
}

fn reply(message: &Json, reason: &str, input: u64, output: u64) -> Reply {
    let usage = json!({"prompt_tokens": input, "completion_tokens": output});
    let choice = json!({"message": message, "finish_reason": reason});
    Reply::Status(200, json!({"choices": [choice], "usage": usage}).to_string())
}

/// Makes a repository with the programs and a model that is configured.
fn sandbox(model: &Model) -> Sandbox {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let url = &model.url;
    let toml = format!(
        "default_model = \"m\"\n[models.m]\nuri = \"openai://m\"\nbase_url = \"{url}\"\nretries = 0\n"
    );
    let files = [
        ("context.as", CONTEXT),
        ("contract.as", CONTRACT),
        ("main.agent", AGENTLANG),
        ("pipeline.as", PIPELINE),
        ("r.json", REGISTRY),
        ("agentic.toml", &toml),
    ];
    for (name, content) in files {
        std::fs::write(sandbox.start().join(name), content).expect("writable");
    }
    sandbox
}

fn agentic(sandbox: &Sandbox, arguments: &[&str]) -> FinishedProgram {
    let mut command = sandbox.command("agentic", sandbox.start());
    command.args(arguments);
    run(command, b"", LIMIT).expect("the program can be started")
}

/// Runs a program that fails; returns what it prints as JSON.
fn failed(sandbox: &Sandbox, arguments: &[&str]) -> Json {
    let finished = agentic(sandbox, arguments);
    assert_eq!(finished.ending, ProgramEnding::Exit(1), "{arguments:?}: {}", text(&finished));
    serde_json::from_slice(&finished.stdout)
        .unwrap_or_else(|_| panic!("{arguments:?}: {}", text(&finished)))
}

fn message(said: &Json) -> &str {
    said["error"]["message"].as_str().unwrap_or_default()
}

#[test]
fn a_reply_that_does_not_count_is_a_failure_with_its_words_in_each_language_that_calls_models() {
    for (said, reason, wanted) in endings() {
        let model = Model::new(move |_, _| reply(&said, reason, 7, 2));
        let sandbox = sandbox(&model);
        let context = failed(&sandbox, &["--json", "run", "context.as"]);
        assert!(message(&context).contains(wanted), "{context}");
        let event = &context["trace"][0]["data"];
        assert_eq!((&event["ok"], &event["usage"]["input_tokens"]), (&json!(false), &json!(7)));
        assert!(event["failed_replies"][0].is_string(), "{event}");
        // It is no reply that could be mended.
        let contract = failed(&sandbox, &["--json", "run", "contract.as"]);
        assert_eq!(contract["trace"][0]["data"]["attempts"], 1, "{contract}");
        let run = ["--json", "run", "main.agent", "main", "--input", r#"{"t":"tea"}"#];
        let agentlang = failed(&sandbox, &run);
        assert!(message(&agentlang).contains(wanted), "{agentlang}");
        let kinds: Vec<&Json> = agentlang["trace"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|event| &event["type"])
            .collect();
        assert_eq!(kinds, ["pipeline_call", "task_start", "retry", "task_error"]);
        let told = json!({"input_tokens": 7, "output_tokens": 2});
        assert_eq!(agentlang["trace"][3]["usage"], told, "{agentlang}");
        model.take_n_asked();
        let run = ["--json", "flow", "run", "pipeline.as", "--registry", "r.json"];
        let run = [&run[..], &["--output-trace", "t"]].concat();
        let pipeline = failed(&sandbox, &run);
        assert!(message(&pipeline).contains(wanted), "{pipeline}");
        assert_eq!(pipeline["usage"], json!({"calls": 1, "input_tokens": 7, "output_tokens": 2}));
        let trace = std::fs::read_to_string(sandbox.start().join("t")).expect("it was written");
        let trace: Json = serde_json::from_str(&trace).expect("it is JSON");
        assert_eq!(trace["trace"][1], json!({"kind": "block", "data": pipeline["blocks"][0]}));
        assert_eq!(model.take_n_asked(), 1, "an attempt more would end as this one");
    }
}

#[test]
fn a_flow_that_asks_a_model_catches_a_reply_that_does_not_count() {
    for (said, reason, wanted) in endings() {
        let model = Model::new(move |_, _| reply(&said, reason, 7, 2));
        let sandbox = sandbox(&model);
        let flow = "try { return request(\"model\", \"go\").text; } \
            catch (e) { return [e.code, e.message, e.details.usage.input_tokens]; }";
        std::fs::write(sandbox.start().join("run.rhai"), flow).expect("writable");
        agentic(&sandbox, &["spawn", "alice", "-m", "x"]);
        let start = ["session", "start", "alice", "--flow", "run.rhai", "--allow", "model"];
        let finished = agentic(&sandbox, &[&["--json"], &start[..]].concat());
        let shown: Json = serde_json::from_slice(&finished.stdout).expect("a session");
        assert!(shown["result"][1].as_str().is_some_and(|it| it.contains(wanted)), "{shown}");
        assert_eq!(shown["result"][2], 7, "{shown}");
        assert_eq!(model.take_n_asked(), 1);
    }
}

#[test]
fn a_session_tells_what_happened_before_it_failed() {
    let model = Model::new(|_, _| reply(&json!({"content": "Half"}), "length", 7, 2));
    let sandbox = sandbox(&model);
    let run = ["--json", "run", "context.as", "--session", "--run-id", "k", "--output-trace", "t"];
    let said = failed(&sandbox, &run);
    assert_eq!(said["trace"][0]["data"]["failed_replies"], json!(["Half"]));
    let written = std::fs::read_to_string(sandbox.start().join("t")).expect("it was written");
    let written: Json = serde_json::from_str(&written).expect("it is JSON");
    assert_eq!(written["trace"], said["trace"]);
    let replayed = agentic(&sandbox, &["session", "replay", "--all"]);
    assert_eq!(replayed.ending, ProgramEnding::Exit(0), "{}", text(&replayed));
}

#[test]
fn what_attempts_cost_is_added_up() {
    let model = Model::new(|number, _| match number {
        0 | 1 => reply(&json!({"content": "no JSON"}), "stop", 1000, 500),
        _ => reply(&json!({"content": "{\"a\":\"x\"}"}), "stop", 10, 5),
    });
    let sandbox = sandbox(&model);
    let finished = agentic(&sandbox, &["run", "contract.as"]);
    let said: Json = serde_json::from_slice(&finished.stdout).expect("a value and a trace");
    let event = &said["trace"][0]["data"];
    assert_eq!(event["usage"], json!({"input_tokens": 2010, "output_tokens": 1005}));
    let each = |input: u64, output: u64| json!({"input_tokens": input, "output_tokens": output});
    let wanted = json!([each(1000, 500), each(1000, 500), each(10, 5)]);
    assert_eq!(event["usage_of_attempts"], wanted);
    assert_eq!(event["failed_replies"], json!(["no JSON", "no JSON"]));
}

#[test]
fn a_hint_that_a_model_refuses_is_left_out_of_the_next_attempts_and_said() {
    let model = Model::new(|number, asked| match number {
        0 => Reply::Status(400, json!({"error": {"message": "no temperature here"}}).to_string()),
        _ if asked.get("temperature").is_some() => Reply::Status(400, "told again".to_owned()),
        1 => reply(&json!({"content": "no JSON"}), "stop", 1, 1),
        _ => reply(&json!({"content": "{\"a\":\"x\"}"}), "stop", 1, 1),
    });
    let sandbox = sandbox(&model);
    let hinted = CONTRACT.replace("attempts: 3", "attempts: 3, temperature: 0.5, debug: true");
    std::fs::write(sandbox.start().join("contract.as"), hinted).expect("writable");
    let finished = agentic(&sandbox, &["run", "contract.as", "--quiet"]);
    assert_eq!(finished.ending, ProgramEnding::Exit(0), "{}", text(&finished));
    assert_eq!(model.take_n_asked(), 3);
    let said = String::from_utf8_lossy(&finished.stderr);
    for wanted in ["does not take it:\ntemperature", "Raw output:\nno JSON", "Validation:\nok"] {
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn what_attempts_of_a_task_cost_is_added_up() {
    let model = Model::new(|number, _| match number {
        0 => reply(&json!({"content": "no JSON"}), "stop", 1000, 500),
        1 => reply(&json!({"content": "{\"note\":7}"}), "stop", 1000, 500),
        _ => reply(&json!({"content": "{\"note\":\"x\"}"}), "stop", 10, 5),
    });
    let sandbox = sandbox(&model);
    let program = AGENTLANG.replace("by writer", "by writer retries 2");
    std::fs::write(sandbox.start().join("main.agent"), program).expect("writable");
    let each = |input: u64, output: u64| json!({"input_tokens": input, "output_tokens": output});
    for flags in [&[][..], &["--session", "--run-id", "k"]] {
        let run = ["run", "main.agent", "main", "--input", r#"{"t":"tea"}"#, "--output-trace", "t"];
        let finished = agentic(&sandbox, &[&run, flags].concat());
        assert_eq!(finished.ending, ProgramEnding::Exit(0), "{}", text(&finished));
        let trace = std::fs::read_to_string(sandbox.start().join("t")).expect("it was written");
        let trace: Json = serde_json::from_str(&trace).expect("it is JSON");
        let event = trace["trace"].as_array().and_then(|events| events.last()).expect("an end");
        if flags.is_empty() {
            assert_eq!(event["usage"], each(2010, 1005), "{event}");
            let wanted = json!([each(1000, 500), each(1000, 500), each(10, 5)]);
            assert_eq!(event["usage_of_attempts"], wanted, "{event}");
        } else {
            assert_eq!(event["usage_of_attempts"], json!([each(10, 5)]), "{event}");
        }
    }
    let replayed = agentic(&sandbox, &["session", "replay", "--all"]);
    assert_eq!(replayed.ending, ProgramEnding::Exit(0), "{}", text(&replayed));
}
