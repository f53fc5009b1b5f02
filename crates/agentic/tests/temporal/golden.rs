//! Histories that a real server has recorded of programs of the four languages, replayed without it: what a
//! later build makes of them is what the earlier one made. `cargo xtask temporal record-histories` records
//! them anew.

use std::path::{Path, PathBuf};

use agentic_session::SessionOptions;
use agentic_temporal::{ServerSettings, read_history, replay_history};
use agentic_testkit::{ProgramEnding, Sandbox, Setup, run};
use serde_json::{Value as Json, json};

use crate::stage::{Stage, errors};

/// Says that the histories are to be recorded anew.
const RECORD: &str = "AGENTIC_RECORD_HISTORIES";

/// What stands before a text that is one of bytes.
const BYTES: &str = "bytes:";

/// A program whose history is kept.
struct GoldenProgram {
    name: &'static str,
    /// The name of its file, and its text.
    file: (&'static str, &'static str),
    /// The lines that run it, each with how it ends; the engine is `--sibyl-addr $S`.
    lines: &'static [(&'static str, i32)],
}

/// A hold, a pause, an effect that may happen once, a child, a roll-over, and programs of two more languages.
const PROGRAMS: [GoldenProgram; 6] = [
    GoldenProgram {
        name: "hold",
        file: ("p.as", "temporal static ( echo \"a\" >=> hold \"go?\" >=> upper )\n"),
        lines: &[
            ("agentic flow run p.as --run-id k --sibyl-addr $S", 4),
            ("agentic decide k --choice accept --as user:ada", 0),
            ("agentic flow result k", 0),
        ],
    },
    GoldenProgram {
        name: "pause-and-effect",
        file: (
            "p.rhai",
            "let said = exec(\"echo hi\").stdout; sleep(50); commit(#{message: \"After a pause\"}); said",
        ),
        lines: &[(
            "agentic session start alice --flow p.rhai --key k --allow exec --sibyl-addr $S",
            0,
        )],
    },
    GoldenProgram {
        name: "child",
        file: (
            "p.rhai",
            "spawn(#{name: \"kid\", briefing: \"b\", flow: \"commit(#{message: \\\"Kid\\\"}); input * 2\", input: 21})",
        ),
        lines: &[("agentic session start alice --flow p.rhai --key k --sibyl-addr $S", 0)],
    },
    GoldenProgram {
        name: "roll-over",
        file: ("p.rhai", "let n = 0; for i in 0..8 { n += exec(\"exit \" + i).status; } n"),
        lines: &[(
            "AGENTIC_TEMPORAL_EVENTS_MAX=20 agentic session start alice --flow p.rhai --key k \
             --allow exec --sibyl-addr $S",
            0,
        )],
    },
    GoldenProgram {
        name: "agentlang",
        file: (
            "p.agent",
            "task flaky_fetch(key: String, failures_before_success: Number) -> Obj{data: String} {}
pipeline main(key: String) -> String {
  let r = run flaky_fetch with { key: key, failures_before_success: 1 } retries 1;
  return r.data;
}
",
        ),
        lines: &[(
            "agentic run p.agent main --session --run-id k --input '{\"key\":\"z\"}' --sibyl-addr $S",
            0,
        )],
    },
    GoldenProgram {
        name: "context",
        file: (
            "p.as",
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
        lines: &[(
            "agentic run p.as --session --run-id k --mock --input '{\"topic\":\"tea\"}' --sibyl-addr $S",
            0,
        )],
    },
];

/// Where the history of a program is kept.
fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/temporal/golden/{name}.json"))
}

/// Runs a program on a real server, and keeps the histories of all its executions, with what its repository
/// holds.
fn record(program: &GoldenProgram) {
    let stage = Stage::new();
    stage.write(&[program.file]);
    stage.ends("agentic spawn alice -m x", 0);
    for (line, code) in program.lines {
        stage.ends(line, *code);
    }
    let listed = stage.server_says(&["workflow", "list", "-o", "json"]);
    let listed: Json = serde_json::from_str(&listed).expect("it is JSON");
    let executions = listed.as_array().expect("it lists executions").iter().map(|it| {
        let id = |key: &str| it["execution"][key].as_str().expect("it has an id").to_owned();
        let (workflow, run) = (id("workflowId"), id("runId"));
        let (address, folder) = (stage.server.address(), stage.sandbox.start());
        let settings = ServerSettings::find(Some(&address), folder).expect("it is one");
        let history = read_history(&settings.expect("it is named"), &workflow, &run);
        let history: Json =
            serde_json::from_str(&history.expect("it is there")).expect("it is JSON");
        told(history)
    });
    let executions: Vec<Json> = executions.collect();
    let bundle = stage.ends("git bundle create -q - --all | base64 -w 0", 0);
    let kept_text = json!({ "bundle": bundle, "executions": executions });
    std::fs::create_dir_all(kept("x").parent().expect("it stands in a folder")).expect("writable");
    std::fs::write(kept(program.name), format!("{kept_text}\n")).expect("writable");
}

/// Writes bytes as the text that they are, and leaves out what is not there and who recorded it.
fn told(value: Json) -> Json {
    match value {
        Json::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            let fields = fields.map(|(key, value)| match key.as_str() {
                "identity" => (key, Json::from("")),
                _ => (key, told(value)),
            });
            Json::Object(fields.collect())
        }
        Json::Array(items) => {
            let byte = |item: &Json| item.as_u64().and_then(|item| u8::try_from(item).ok());
            let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
            let text = bytes.filter(|bytes| !bytes.is_empty()).map(String::from_utf8);
            match text {
                Some(Ok(text)) => Json::from(format!("{BYTES}{text}")),
                Some(Err(_)) | None => Json::Array(items.into_iter().map(told).collect()),
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value,
    }
}

/// Makes texts bytes again that were.
fn untold(value: Json) -> Json {
    match value {
        Json::Object(fields) => {
            Json::Object(fields.into_iter().map(|(key, value)| (key, untold(value))).collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(untold).collect()),
        Json::String(text) => match text.strip_prefix(BYTES) {
            Some(text) => Json::from(text.as_bytes()),
            None => Json::String(text),
        },
        Json::Null | Json::Bool(_) | Json::Number(_) => value,
    }
}

/// Reads what is kept of a program: its repository, and the histories of its executions.
fn read(name: &str) -> (Sandbox, Vec<String>) {
    let text = std::fs::read_to_string(kept(name)).expect("it is kept");
    let found: Json = serde_json::from_str(&text).expect("it is JSON");
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    let bundle = found["bundle"].as_str().expect("it has its repository");
    std::fs::write(sandbox.start().join(".git/bundle.txt"), bundle).expect("writable");
    let mut command = sandbox.command("sh", sandbox.start());
    let unpack = "base64 -d .git/bundle.txt >.git/bundle && git fetch -q --update-head-ok .git/bundle '+refs/*:refs/*'";
    command.args(["-c", unpack]);
    let unpacked = run(command, b"", crate::stage::LIMIT).expect("there is a shell");
    assert_eq!(unpacked.ending, ProgramEnding::Exit(0), "{}", errors(&unpacked));
    let executions = found["executions"].as_array().expect("it has histories").iter();
    (sandbox, executions.map(|history| untold(history.clone()).to_string()).collect())
}

/// Replays a history on a repository.
fn replay(sandbox: &Sandbox, history: &str) -> Result<(), String> {
    let folder = sandbox.start().to_owned();
    let replayed = replay_history(folder, SessionOptions::default(), history);
    replayed.map_err(|error| error.to_string())
}

#[test]
fn histories_of_earlier_builds_are_replayed_without_a_server() {
    for program in &PROGRAMS {
        if std::env::var_os(RECORD).is_some() {
            record(program);
        }
        let (sandbox, executions) = read(program.name);
        assert!(!executions.is_empty(), "{}", program.name);
        for history in executions {
            let replayed = replay(&sandbox, &history);
            assert_eq!(replayed, Ok(()), "{}: {history}", program.name);
        }
    }
}

#[test]
fn a_history_of_another_hold_is_not_this_one() {
    let (sandbox, executions) = read("hold");
    let history: Json = serde_json::from_str(&executions[0]).expect("it is JSON");
    let ids = activity_ids(&history);
    let hold = ids.first().expect("its hold is sealed under the id of its request");
    let other = executions[0].replace(&format!("\"{hold}\""), &format!("\"{}\"", "0".repeat(64)));
    let refused = replay(&sandbox, &other).expect_err("another hold was asked");
    assert!(refused.contains("nondeterministic"), "{refused}");
}

/// Lists the ids of the activities of a history that are ids of requests, in order.
fn activity_ids(value: &Json) -> Vec<String> {
    match value {
        Json::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| match (key.as_str(), value.as_str()) {
                ("activity_id", Some(id)) if id.len() == 64 => vec![id.to_owned()],
                _ => activity_ids(value),
            })
            .collect(),
        Json::Array(items) => items.iter().flat_map(activity_ids).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Vec::new(),
    }
}
