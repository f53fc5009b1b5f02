//! Programs of every language: the same sessions, requests and results as in the embedded engine.

use agentic_testkit::{ProgramEnding, Sandbox};
use serde_json::{Value as Json, json};

use crate::stage::{Stage, errors, sandbox, say};

/// Programs by the names of their files.
const PROGRAMS: [(&str, &str); 4] = [
    (
        "work.rhai",
        "let said = exec(\"echo hi\").stdout;
let made = commit(#{message: \"Add a file\", files: #{\"a.txt\": said}});
let beside = all([|| exec(\"echo 1\").stdout, || exec(\"echo 2\").stdout]);
#{said: said, beside: beside, asked: hold(\"Ship it?\").action}
",
    ),
    (
        "work.agent",
        "task flaky_fetch(key: String, failures_before_success: Number) -> Obj{data: String} {}
pipeline main(key: String) -> String {
  let r = run flaky_fetch with { key: key, failures_before_success: 1 } retries 1;
  return r.data;
}
",
    ),
    (
        "work.as",
        "import llm M from \"mock://model\"

main agent Probe {
    model M
    role \"Tester\"
    description \"Checks one rule.\"

    main func(input) {
        use input.topic as topic
        generate({ input: \"Write one line.\" }) -> { title: string }
    }
}
",
    ),
    ("pipe.as", "temporal static ( echo \"a\" >=> hold \"go?\" >=> upper )\n"),
];

/// Lines that start them; the engine follows each.
const STARTS: [(&str, i32); 4] = [
    ("agentic session start alice --flow work.rhai --key k --allow exec", 4),
    ("agentic run work.agent main --session --run-id agents --input '{\"key\":\"z\"}'", 0),
    ("agentic run work.as --session --run-id context --mock --input '{\"topic\":\"tea\"}'", 0),
    ("agentic flow run pipe.as --run-id pipe", 4),
];

/// What waits for a human.
const PENDING: &str = "agentic pending --json";

/// Finds the request that an agent waits for.
pub fn held_by(pending: &Json, agent: &str) -> String {
    let holds = pending.as_array().expect("it lists holds");
    let held = holds.iter().find(|hold| hold["agent"] == agent).expect("it waits for a human");
    held["request"].as_str().expect("it has an id").to_owned()
}

/// Puts the programs into a repository that has an agent.
fn with_programs(sandbox: &Sandbox) {
    for (file, text) in PROGRAMS {
        std::fs::write(sandbox.start().join(file), text).expect("the sandbox is writable");
    }
    let said = say(sandbox, "", "agentic spawn alice -m x");
    assert_eq!(said.ending, ProgramEnding::Exit(0), "{}", errors(&said));
}

/// Tells what sessions came to, but for what depends on the time.
pub fn told(sessions: &Json, show: &dyn Fn(&str) -> Json) -> Vec<Json> {
    let sessions = sessions.as_array().expect("it lists sessions");
    let one = |session: &Json| {
        let shown = show(session["session"].as_str().expect("it has an id"));
        let asked: Vec<Json> = shown["requests"]
            .as_array()
            .expect("it lists its requests")
            .iter()
            .map(|it| {
                // What a sleep asks is an instant.
                let id = if it["kind"] == "sleep" { &Json::Null } else { &it["request"] };
                json!([id, it["path"], it["kind"], timeless(&it["answer"])])
            })
            .collect();
        let result = timeless(&shown["result"]);
        json!([shown["session"], shown["agent"], shown["state"], result, asked])
    };
    sessions.iter().map(one).collect()
}

/// Leaves out what depends on the time.
fn timeless(value: &Json) -> Json {
    match value {
        Json::Object(fields) => {
            let timed = ["commit", "parent", "committer", "by", "at", "duration_ms", "genesis"];
            let fields = fields.iter().filter(|(name, _)| !timed.contains(&name.as_str()));
            fields.map(|(name, value)| (name.clone(), timeless(value))).collect()
        }
        Json::Array(items) => items.iter().map(timeless).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.clone(),
    }
}

#[test]
fn programs_of_every_language_give_what_they_give_in_the_embedded_engine() {
    let (stage, embedded) = (Stage::new(), sandbox());
    let here = |line: &str, code: i32| {
        let said = say(&embedded, "", line);
        assert_eq!(said.ending, ProgramEnding::Exit(code), "{line}: {}", errors(&said));
        String::from_utf8_lossy(&said.stdout).into_owned()
    };
    with_programs(&stage.sandbox);
    with_programs(&embedded);
    for (line, code) in STARTS {
        stage.ends(&format!("{line} --sibyl-addr $S"), code);
        here(line, code);
    }
    let decide = |request: &str| format!("agentic decide {request} approve --as user:bob");
    let read = |said: String| serde_json::from_str(&said).expect("it is JSON");
    stage.ends(&decide(&held_by(&stage.json(PENDING), "alice")), 0);
    here(&decide(&held_by(&read(here(PENDING, 0)), "alice")), 0);
    let line = "agentic decide pipe --choice accept --as user:bob";
    stage.ends(line, 0);
    here(line, 0);
    stage.ends("agentic flow result pipe --sibyl-addr $S", 0);
    let list = "agentic session list --json";
    let sent =
        told(&stage.json(list), &|id| stage.json(&format!("agentic session show {id} --json")));
    let show_here = |id: &str| read(here(&format!("agentic session show {id} --json"), 0));
    let kept = told(&read(here(list, 0)), &show_here);
    assert_eq!(sent.len(), STARTS.len());
    for session in &sent {
        assert!(kept.contains(session), "{session:#}\nis not among\n{kept:#?}");
    }
    stage.ends("agentic session replay --all", 0);
    for session in &sent {
        stage.ends(&format!("agentic session verify {} --rebuild", session[0]), 0);
    }
}

#[test]
fn a_run_in_memory_has_no_engine() {
    let stage = Stage::new();
    with_programs(&stage.sandbox);
    stage.ends("agentic run work.agent main --input '{\"key\":\"z\"}' --sibyl-addr $S", 2);
}

#[test]
fn a_sleep_that_names_no_instant_fails_as_in_the_embedded_engine() {
    let stage = Stage::new();
    with_programs(&stage.sandbox);
    std::fs::write(stage.sandbox.start().join("bad.rhai"), "request(\"sleep\", #{})\n")
        .expect("the sandbox is writable");
    let said = stage.say("agentic session start alice --flow bad.rhai --key k --sibyl-addr $S");
    assert!(errors(&said).contains("`sleep` needs `until`"), "{}", errors(&said));
}
