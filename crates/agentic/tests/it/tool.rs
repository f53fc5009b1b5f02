//! Tools that models ask for, in memory and as sessions: programs and the web, what the trace says
//! of them, and that a run which is killed in the middle of a conversation goes on there.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, run};
use serde_json::{Value as Json, json};

use crate::loopback::{Model, Reply};
use crate::stage::text;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(60);

const PROGRAM: &str = "\
    tool look(place: String) -> Obj{seen: String} {}\n\
    tool web_search(query: String) -> List[Obj{title: String, url: String, snippet: String}] {}\n\
    agent scout { tools: [look, web_search] }\n\
    task think(topic: String) -> Obj{note: String} by agent {}\n\
    pipeline main(t: String) -> String { let r = think(t) by scout; return r.note; }\n\
    pipeline both(t: String) -> String {\n\
      parallel { let a = think(t) by scout; let b = think(t) by scout; } join;\n\
      return a.note + b.note;\n\
    }\n";

/// Notes that it was called and says what it was asked.
const LOOK: &str = "#!/bin/sh\n\
    read line\n\
    echo \"$line\" >>calls\n\
    case \"$line\" in *broken*) echo '{\"class\":\"Boom\",\"message\":\"it broke\"}'; exit;; esac\n\
    echo '{\"ok\":{\"seen\":\"a tree\"}}'\n";

/// What a search finds.
const FOUND: &str = r#"{"Heading":"Tea","AbstractText":"A drink.","AbstractURL":"u","RelatedTopics":[
    {"Text":"Green - a tea","FirstURL":"g"},{"Text":"Black","FirstURL":"b"}]}"#;

/// How many requests the conversation of [`scout`] has: three of the model, three of tools.
const N_REQUESTS: u64 = 6;
/// Which of them run a program.
const PROGRAMS: [u64; 2] = [2, 3];

fn sandbox(model: &Model) -> Sandbox {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let url = &model.url;
    let toml = format!(
        "default_model = \"fast\"\n[models.fast]\nuri = \"openai://small\"\nbase_url = \"{url}\"\n\
         retries = 0\n[tools]\nsearch = \"{url}/find\"\n"
    );
    for (file, text) in [("main.agent", PROGRAM), ("look", LOOK), ("agentic.toml", &toml)] {
        std::fs::write(sandbox.start().join(file), text).expect("the sandbox is writable");
    }
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(sandbox.start().join("look"), mode).expect("it is ours");
    sandbox
}

/// Runs a command line; aborts before the answer of this number.
fn perform(sandbox: &Sandbox, line: &str, crash_at: Option<u64>) -> FinishedProgram {
    let mut command = sandbox.command("sh", sandbox.start());
    command.args(["-c", &format!("exec agentic {line}")]);
    if let Some(number) = crash_at {
        command.env("AGENTIC_CRASH_AT", format!("before-answer:{number}"));
    }
    run(command, b"", LIMIT).expect("there is a shell")
}

const RUN: &str = r#"run main.agent main --input '{"t":"tea"}' --tool look=./look"#;
const SESSION: &str = "--session --run-id k";

fn assert_result(finished: &FinishedProgram, wanted: &str) {
    let given = serde_json::from_slice::<Json>(&finished.stdout).ok();
    let is_done = finished.ending == ProgramEnding::Exit(0);
    assert!(is_done && given.is_some_and(|it| it["result"] == wanted), "{}", text(finished));
}

fn call(id: &str, name: &str, args: &Json) -> Json {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": args.to_string()}})
}

fn wants(calls: &[Json]) -> Reply {
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let reply = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
    Reply::Status(200, reply.to_string())
}

/// Looks twice, searches once, then tells what it was given. What it says depends on what it is
/// told, not on how often it was asked.
fn scout() -> Model {
    Model::new(|_, asked| {
        let Some(messages) = asked["messages"].as_array() else {
            return Reply::Status(200, FOUND.to_owned());
        };
        let look = |place: &str| json!({"place": place});
        match messages.len() {
            2 => wants(&[call("c1", "look", &look("here")), call("c2", "look", &look("there"))]),
            5 => wants(&[call("c3", "web_search", &json!({"query": "green tea & milk"}))]),
            _ => {
                let told = messages.iter().filter(|message| message["role"] == "tool");
                let told: Vec<&str> =
                    told.filter_map(|message| message["content"].as_str()).collect();
                Reply::Says(json!({"note": told.join(" ")}).to_string())
            }
        }
    })
}

/// What the program comes to with so many hits of the search.
fn note(n_hits: usize) -> String {
    let hits = [
        r#"{"snippet":"A drink.","title":"Tea","url":"u"}"#,
        r#"{"snippet":"Green - a tea","title":"Green","url":"g"}"#,
        r#"{"snippet":"Black","title":"Black","url":"b"}"#,
    ];
    let seen = r#"{"seen":"a tree"}"#;
    format!("{seen} {seen} [{}]", hits[..n_hits].join(","))
}

/// Returns the lines that the program of the tool was given.
fn calls(sandbox: &Sandbox) -> Vec<Json> {
    let lines = std::fs::read_to_string(sandbox.start().join("calls")).unwrap_or_default();
    lines.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// Reads the trace without its times.
fn story(sandbox: &Sandbox) -> Vec<String> {
    let bytes = std::fs::read(sandbox.start().join("trace.json")).expect("a trace was written");
    let trace: Json = serde_json::from_slice(&bytes).expect("it is JSON");
    let events = trace["trace"].as_array().expect("a trace is a list");
    let line = |event: &Json| {
        let mut event = event.as_object().expect("an event is an object").clone();
        event.retain(|key, _| key != "timestamp" && key != "duration_s");
        Json::Object(event).to_string()
    };
    events.iter().map(line).collect()
}

#[test]
fn a_model_calls_programs_and_the_web() {
    let mut stories = Vec::new();
    for session in ["", SESSION] {
        let model = scout();
        let sandbox = sandbox(&model);
        let line = format!("{RUN} --output-trace trace.json {session}");
        assert_result(&perform(&sandbox, &line, None), &note(3));
        let asked = model.asked();
        let names: Vec<&str> = asked[0]["tools"]
            .as_array()
            .expect("tools are offered")
            .iter()
            .filter_map(|tool| tool["function"]["name"].as_str())
            .collect();
        assert_eq!(names, ["look", "web_search"]);
        let here = json!({"tool": "look", "args": {"place": "here"}, "agent": "scout"});
        assert_eq!(calls(&sandbox)[0], here);
        assert_eq!(calls(&sandbox).len(), 2);
        stories.push(story(&sandbox));
    }
    assert_eq!(stories[0], stories[1]);
    let tools: Vec<&String> =
        stories[0].iter().filter(|event| event.contains("\"type\":\"tool_")).collect();
    assert_eq!(tools.len(), 6, "{tools:#?}");
    let found = r#"{"args":{"query":"green tea & milk"},"id":"task:think:1","tool":"web_search","type":"tool_call"}"#;
    assert_eq!(tools[4], found);
}

fn with_results(sandbox: &Sandbox, given: &str) -> FinishedProgram {
    let mut command = sandbox.command("sh", sandbox.start());
    command.args(["-c", &format!("exec agentic {RUN}")]).env("AGENTLANG_WEB_RESULTS", given);
    run(command, b"", LIMIT).expect("there is a shell")
}

#[test]
fn the_environment_says_how_many_hits_a_search_gives() {
    for (given, n_hits) in [("1", 1), ("2", 2), (" 9 ", 3), ("0", 0)] {
        let sandbox = sandbox(&scout());
        assert_result(&with_results(&sandbox, given), &note(n_hits));
    }
}

#[test]
fn a_search_that_nobody_can_make_is_a_failed_attempt() {
    let sandbox = sandbox(&scout());
    let failed = with_results(&sandbox, "many");
    assert_eq!(failed.ending, ProgramEnding::Exit(1), "{}", text(&failed));
    let wanted = "Tool 'web_search' failed: unconfigured: `AGENTLANG_WEB_RESULTS` is no number";
    assert!(text(&failed).contains(wanted), "{}", text(&failed));
}

#[test]
fn a_conversation_that_is_killed_anywhere_goes_on_there() {
    for number in 1..=N_REQUESTS {
        let model = scout();
        let sandbox = sandbox(&model);
        let line = format!("{RUN} {SESSION} --output-trace trace.json");
        let killed = perform(&sandbox, &line, Some(number));
        assert!(matches!(killed.ending, ProgramEnding::Signal(_)), "{number}: {}", text(&killed));
        let mut resumed = perform(&sandbox, &line, None);
        if PROGRAMS.contains(&number) {
            // Nobody knows what the program did before the kill.
            assert_eq!(resumed.ending, ProgramEnding::Exit(4), "{number}: {}", text(&resumed));
            let decided = perform(&sandbox, "decide run-k approve", None);
            assert_eq!(decided.ending, ProgramEnding::Exit(0), "{number}: {}", text(&decided));
            resumed = perform(&sandbox, &line, None);
        }
        assert_result(&resumed, &note(3));
        let is_program = PROGRAMS.contains(&number);
        // Three calls of the model, one of the search; what was under way is asked again.
        let n_asked = 4 + usize::from(!is_program);
        assert_eq!(model.asked().len(), n_asked, "{number}");
        assert_eq!(calls(&sandbox).len(), 2 + usize::from(is_program), "{number}");
        let tools = story(&sandbox).iter().filter(|event| event.contains("\"tool_end\"")).count();
        assert_eq!(tools, 3, "{number}");
        for verb in ["verify", "replay"] {
            let checked = perform(&sandbox, &format!("session {verb} run-k"), None);
            assert_eq!(checked.ending, ProgramEnding::Exit(0), "{number}: {}", text(&checked));
        }
        assert_eq!(model.asked().len(), n_asked, "a replay asks nothing");
    }
}

#[test]
fn branches_have_conversations_of_their_own() {
    let both = RUN.replace("main.agent main", "main.agent both");
    let model = scout();
    let sandbox = sandbox(&model);
    let wanted = note(3).repeat(2);
    assert_result(&perform(&sandbox, &both, None), &wanted);
    assert_result(&perform(&sandbox, &format!("{both} {SESSION}"), None), &wanted);
    let shown = perform(&sandbox, "session show run-k --json", None);
    let shown: Json = serde_json::from_slice(&shown.stdout).expect("it is JSON");
    let requests = shown["requests"].as_array().expect("a session lists its requests");
    let mut paths: Vec<&str> = requests.iter().filter_map(|it| it["path"].as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths.len(), 12, "{paths:?}");
    let (one, other) = paths.split_at(6);
    let other: Vec<String> = other.iter().map(|path| path.replace("b1", "b0")).collect();
    assert_eq!(one, other, "where a request stands does not depend on who was first");
}

#[test]
fn hostile_wishes_are_failed_attempts() {
    let long = "x".repeat(100_000);
    let nested = json!({"place": "here", "more": "deep"});
    let table = [
        (wants(&[call("c", "rm", &json!({}))]), "Tool 'rm' is not declared."),
        (wants(&[call("c", &long, &json!({}))]), "is not declared."),
        (wants(&[call("c", "look", &json!([]))]), "arguments that are no JSON object"),
        (wants(&[call("c", "look", &json!({"place": 7}))]), "has invalid value 7 for type String"),
        (
            wants(&[call("c", "look", &json!({"place": "broken"}))]),
            "Tool 'look' failed: Boom: it broke",
        ),
        (wants(&[call("c", "look", &nested)]), "got unknown arguments: ['more']"),
        (wants(&vec![call("c", "look", &json!({"place": ""})); 65]), "asked for 65 tools at once"),
        (wants(&[call("c", "look", &json!({"place": ""}))]), "asked for tools more than 8 times"),
        (wants(&[json!({"id": 7})]), "cannot be read"),
        (wants(&[json!({})]), "Tool '' is not declared."),
    ];
    for (reply, wanted) in table {
        let model = Model::new(move |_, _| reply.clone());
        let failed = perform(&sandbox(&model), RUN, None);
        assert_eq!(failed.ending, ProgramEnding::Exit(1), "{wanted}: {}", text(&failed));
        assert!(text(&failed).contains(wanted), "{wanted}: {}", text(&failed));
        assert!(text(&failed).len() < 4000, "{wanted}: {}", text(&failed).len());
    }
}

#[test]
fn a_tool_that_nobody_performs_is_named() {
    let model = scout();
    let failed = perform(&sandbox(&model), &RUN.replace("--tool look=./look", ""), None);
    assert_eq!(failed.ending, ProgramEnding::Exit(1), "{}", text(&failed));
    let wanted = "No runtime handler registered for tool 'look'.";
    assert!(text(&failed).contains(wanted), "{}", text(&failed));
}
