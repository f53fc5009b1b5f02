//! What is told of tasks that do not end as they should.

use agentic_replay::{Engine, Kinds, PinnedProgram, Session, SessionOpening, TraceDetail};
use agentic_session::{SessionSpace, flow_object, languages};
use agentic_space::model::{AgentName, Value};
use agentic_store::Durability;
use agentic_store::journal::LogFile;
use serde_json::{Value as Json, json};

use crate::line::{LineClient, McpPlace};

const SOURCE: &str = "hold(\"Go on?\")";
/// A byte of the first record of a log: a good one follows it.
const FIRST_RECORD: usize = 100;

/// Begins a session as a later version of the program would, whose language means something else.
fn begin_later(space: &SessionSpace, agent: &str) -> String {
    let agent = AgentName::parse(agent).expect("valid");
    let flow = flow_object(SOURCE).expect("it is short");
    let rhai = languages().find(|it| it.name() == "rhai").expect("it is built in");
    let here = rhai.engine();
    let objects = |_: &_| None;
    let pinned = PinnedProgram {
        flow: &flow,
        objects: &objects,
        semantics: here.semantics,
        detail: TraceDetail::Told,
    };
    let opening = SessionOpening {
        stamp: false,
        agent: agent.clone(),
        flow: flow.cid(),
        engine: Engine { semantics: here.semantics + 1, ..here },
        input: Value::Null,
        key: "later".to_owned(),
        allow: Vec::new(),
        head: Some(space.head(&agent).expect("it was spawned").to_string()),
        configuration: None,
        host: None,
    };
    let id = opening.session().expect("the input is data").to_string();
    let program = rhai.program(&pinned).expect("it parses");
    let started = Session::start(opening, space.now(), program, &Kinds::built_in());
    let (_, progress) = started.expect("the input is data");
    let folder = space.repository().layout().open_sessions().join(&id[..2]).join(&id);
    std::fs::create_dir_all(folder.join("objects")).expect("writable");
    let object = folder.join("objects").join(flow.cid().to_string());
    std::fs::write(object, flow.bytes()).expect("writable");
    let (mut log, _) = LogFile::open(&folder.join("log")).expect("writable");
    // One by one, as they are acknowledged.
    for link in &progress.links {
        log.append(&[link.bytes.as_slice()], Durability::Full).expect("writable");
    }
    id
}

/// Asks how a task stands, as a client that knows tasks does.
fn stand(client: &mut LineClient, id: &str) -> Json {
    let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    client.ask("tasks/get", json!({ "taskId": id }), &can)["result"].clone()
}

#[test]
fn a_task_that_diverged_has_failed_and_says_why() {
    let place = McpPlace::new();
    let id = begin_later(&place.space(), "alice");
    let mut client = place.writing("alice");
    let found = stand(&mut client, &id);
    assert_eq!(found["status"], "failed", "{found}");
    assert!(found["error"]["message"].as_str().is_some_and(|it| it.contains("rhai")), "{found}");
    client.end();
}

#[test]
fn a_task_whose_records_are_damaged_has_failed() {
    let place = McpPlace::new();
    let id = begin_later(&place.space(), "alice");
    let folder = place.space().repository().layout().open_sessions().join(&id[..2]).join(&id);
    let log = std::fs::read_dir(folder.join("log")).expect("it is there");
    for file in log {
        let path = file.expect("readable").path();
        let mut bytes = std::fs::read(&path).expect("readable");
        bytes[FIRST_RECORD] ^= 1;
        std::fs::write(&path, bytes).expect("writable");
    }
    let mut client = place.writing("alice");
    let found = stand(&mut client, &id);
    assert_eq!(found["status"], "failed", "{found}");
    client.end();
}
