//! What opencode keeps: rows of its database, which it may have open, and files of before.

use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use rusqlite::{Connection, params};
use serde_json::{Value, json};

use crate::stage::CaptureStage;

/// The tables of opencode, as far as they count here.
const TABLES: &str = "
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT,
        slug TEXT NOT NULL, directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL,
        time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL,
        time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
        time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
    CREATE INDEX part_message ON part (message_id, id);
    CREATE INDEX message_session ON message (session_id, time_created, id);";
/// When the first session began.
const BEGAN: i64 = 1_763_540_000_000;

/// The database, as opencode has it open.
pub struct Database {
    connection: Connection,
    path: PathBuf,
    shop: String,
}

impl Database {
    pub fn new(stage: &CaptureStage) -> Database {
        let path = stage.folder.join("home/.local/share/opencode/opencode.db");
        fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
        let connection = Connection::open(&path).expect("writable");
        connection.pragma_update(None, "journal_mode", "wal").expect("a pragma");
        connection.execute_batch(TABLES).expect("tables");
        Database { connection, path, shop: stage.folder.join("shop").display().to_string() }
    }

    /// Begins a session.
    pub fn session(&self, id: &str, parent: Option<&str>, directory: &str) {
        let row = "INSERT INTO session VALUES (?1, 'p', ?2, 's', ?3, 'Fix', '1.18.33', ?4, ?4)";
        self.connection.execute(row, params![id, parent, directory, BEGAN]).expect("a row");
    }

    fn message(&self, session: &str, id: &str, at: i64, data: &Value) {
        let row = "INSERT OR REPLACE INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        let values = params![id, session, BEGAN + at, data.to_string()];
        self.connection.execute(row, values).expect("a row");
    }

    fn part(&self, session: &str, message: &str, id: &str, data: &Value) {
        let row = "INSERT INTO part VALUES (?1, ?2, ?3, 0, 0, ?4)";
        let values = params![id, message, session, data.to_string()];
        self.connection.execute(row, values).expect("a row");
    }

    /// Many turns at once.
    pub fn turns(&self, session: &str, numbers: Range<i64>) {
        self.connection.execute_batch("BEGIN").expect("nobody writes");
        numbers.for_each(|number| self.turn(session, number, "hello"));
        self.connection.execute_batch("COMMIT").expect("there is room");
    }

    /// A question, what was thought about it, a call, an answer and what that cost.
    pub fn turn(&self, session: &str, number: i64, secret: &str) {
        let (asked, said) = (format!("msg_{number}a"), format!("msg_{number}b"));
        let part = |message: &str, id: u8, data: Value| {
            self.part(session, message, &format!("prt_{number}{id}"), &data);
        };
        self.message(session, &asked, number * 1000, &json!({"role": "user"}));
        part(&asked, 1, json!({"type": "text", "text": format!("Fix it {number}")}));
        let answer = json!({"role": "assistant", "modelID": "gpt-5.5", "cost": 0.5,
            "time": {"created": BEGAN, "completed": BEGAN + 1},
            "tokens": {"input": 10, "output": 20, "reasoning": 3, "cache": {"read": 1, "write": 2}}});
        self.message(session, &said, number * 1000 + 1, &answer);
        part(&said, 2, json!({"type": "reasoning", "text": "Hm."}));
        let state = json!({"status": "completed", "output": "ok",
            "input": {"command": format!("echo {secret}")}, "time": {"start": BEGAN + 5}});
        let call = json!({"type": "tool", "tool": "bash", "callID": format!("call_{number}"), "state": state});
        part(&said, 3, call);
        part(&said, 4, json!({"type": "text", "text": "Done."}));
    }
}

fn import(stage: &CaptureStage, words: &str) -> Vec<Value> {
    let text = stage.agentic("shop", &format!("import {words} --json"));
    serde_json::from_str::<Value>(&text).expect("JSON").as_array().expect("a list").clone()
}

fn kinds(stage: &CaptureStage, agent: &str) -> Vec<String> {
    let entries = stage.entries(agent);
    let kinds = entries.iter().filter_map(|it| Some(it["kind"].as_str()?.to_owned()));
    let mut kinds: Vec<String> = kinds.collect();
    kinds.sort();
    kinds
}

#[test]
fn the_database_is_read_beside_its_program_and_twice_makes_nothing_new() {
    let stage = CaptureStage::new();
    let database = Database::new(&stage);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    database.session("ses_1", None, &database.shop);
    database.session("ses_2", Some("ses_1"), &database.shop);
    database.session("ses_3", None, "/elsewhere");
    for session in [1, 2, 3] {
        database.turn(&format!("ses_{session}"), session, &secret);
    }
    let before = fs::read(&database.path).expect("readable");
    let taken = import(&stage, "opencode --all");
    assert_eq!(fs::read(&database.path).expect("readable"), before, "it is only read");
    assert_eq!(taken.len(), 3, "{taken:?}");
    let agent = taken[0]["agent"].as_str().expect("an agent").to_owned();
    assert!(agent.starts_with("opencode-"), "{agent}");
    assert_eq!(taken[0]["new"], 6, "{taken:?}");
    let child = taken[1]["agent"].as_str().expect("an agent").to_owned();
    assert!(child.starts_with(&format!("{agent}.")), "{child}");
    assert_eq!(taken[2]["reason"], "elsewhere");
    let settled = stage.git("shop", "for-each-ref");
    let again = import(&stage, "opencode --all");
    assert!(again.iter().all(|it| it["new"] != json!(1)), "{again:?}");
    assert_eq!(stage.git("shop", "for-each-ref"), settled);
    // A reply that is still being written waits; then it is taken.
    database.message("ses_1", "msg_9a", 9000, &json!({"role": "user"}));
    database.part("ses_1", "msg_9a", "prt_91", &json!({"type": "text", "text": "Go on"}));
    let open = json!({"role": "assistant", "time": {"created": BEGAN}});
    database.message("ses_1", "msg_9b", i64::MAX / 4, &open);
    database.part("ses_1", "msg_9b", "prt_92", &json!({"type": "text", "text": "I wr"}));
    assert_eq!(import(&stage, "opencode --all")[0]["new"], 1);
    let closed = json!({"role": "assistant", "time": {"created": BEGAN, "completed": BEGAN + 1}});
    database.message("ses_1", "msg_9b", i64::MAX / 4, &closed);
    assert_eq!(import(&stage, "opencode --all")[0]["new"], 1);
    stage.agentic("shop", &format!("archive --restore {agent} {child}"));
    let all = "event prompt reply thinking tool-call tool-result usage";
    for kind in kinds(&stage, &agent) {
        assert!(all.contains(&kind), "{kind}");
    }
    assert_eq!(
        kinds(&stage, &child),
        ["prompt", "reply", "thinking", "tool-call", "tool-result", "usage"]
    );
    let shown = stage.agentic("shop", &format!("trace show {child} --json"));
    assert!(shown.contains("[redacted:github-token:") && !shown.contains(&secret), "{shown}");
    let bound = stage.bound_entries(&child);
    let usage = bound.iter().find(|it| it["kind"] == "usage").expect("there is one");
    assert_eq!(usage["meta"]["usage"]["cache_read"], 1, "{usage}");
    let status: Value =
        serde_json::from_str(&stage.agentic("shop", "capture status --json")).expect("JSON");
    let sources = status["sources"].as_array().expect("a list");
    let own = sources.iter().find(|it| it["source"] == "opencode").expect("it is known");
    assert_eq!(
        (&own["conversations"], &own["unread"], &own["gone"]),
        (&json!(1), &json!(0), &json!(0))
    );
    stage.check();
}

#[test]
fn what_a_hook_has_told_is_not_told_again_by_an_import() {
    let stage = CaptureStage::new();
    let send = |payload: Value| {
        let mut payload = payload;
        payload["v"] = json!(1);
        payload["session"] = json!("ses_1");
        payload["directory"] = json!(stage.folder.join("shop.agents/fix-cart"));
        let ended = stage.hook(&["opencode"], &payload.to_string(), &[]);
        assert_eq!((ended.exit, ended.stderr.as_str()), (0, ""));
    };
    let said = json!([{"id": "prt_11", "type": "text", "text": "Fix it 1"}]);
    send(
        json!({"event": "chat.message", "message": {"id": "msg_1a", "role": "user"}, "parts": said}),
    );
    send(
        json!({"event": "tool.execute.after", "tool": "bash", "call": "call_1", "output": {"output": "ok"}}),
    );
    assert_eq!(kinds(&stage, "fix-cart"), ["prompt", "tool-result"]);
    send(json!({"event": "session.deleted"}));
    let database = Database::new(&stage);
    database.session(
        "ses_1",
        None,
        &stage.folder.join("shop.agents/fix-cart").display().to_string(),
    );
    database.turn("ses_1", 1, "hello");
    assert_eq!(import(&stage, "opencode --all")[0]["agent"], "fix-cart");
    let found: Vec<String> =
        kinds(&stage, "fix-cart").into_iter().filter(|kind| kind != "event").collect();
    assert_eq!(found, ["prompt", "reply", "thinking", "tool-call", "tool-result", "usage"]);
}

/// Sends an event of a session that is had in the worktree of `fix-cart`, which says nothing.
fn send(stage: &CaptureStage, session: &str, mut payload: Value) {
    payload["v"] = json!(1);
    payload["session"] = json!(session);
    payload["directory"] = json!(stage.folder.join("shop.agents/fix-cart"));
    let ended = stage.hook(&["opencode"], &payload.to_string(), &[]);
    assert_eq!((ended.exit, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
}

/// Sends an event until these kinds were said: for what one has no time, the next has.
fn send_until(stage: &CaptureStage, payload: &Value, kinds: &[&str]) {
    for _ in 0..32 {
        send(stage, "ses_1", payload.clone());
        if said(stage).len() >= kinds.len() {
            break;
        }
    }
    assert_eq!(said(stage), kinds);
}

/// What opencode tells when a turn is over.
fn idle() -> Value {
    json!({"event": "session.idle"})
}

/// Lists what was said, without events: the kind of each entry.
fn said(stage: &CaptureStage) -> Vec<String> {
    kinds(stage, "fix-cart").into_iter().filter(|kind| kind != "event").collect()
}

/// What one turn says.
const TURN: [&str; 6] = ["prompt", "reply", "thinking", "tool-call", "tool-result", "usage"];

#[test]
fn a_hook_reads_the_rows_that_are_new_and_an_import_finds_none() {
    let stage = CaptureStage::new();
    let database = Database::new(&stage);
    let folder = stage.folder.join("shop.agents/fix-cart").display().to_string();
    database.session("ses_1", None, &folder);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let before = fs::read(&database.path).expect("readable");
    // What is said is in the database a moment later: the next event takes it.
    send_prompt(&stage);
    assert_eq!(said(&stage), Vec::<String>::new());
    assert_eq!(fs::read(&database.path).expect("readable"), before, "it is only read");
    // An answer that is still being written waits.
    let question = |number: i64| {
        database.message(
            "ses_1",
            &format!("msg_{number}a"),
            number * 1000,
            &json!({"role": "user"}),
        );
        let text = json!({"type": "text", "text": format!("Fix it {number}")});
        database.part("ses_1", &format!("msg_{number}a"), &format!("prt_{number}1"), &text);
    };
    question(9);
    let open = json!({"role": "assistant", "time": {"created": BEGAN}});
    database.message("ses_1", "msg_9b", i64::MAX / 4, &open);
    let tool = json!({"event": "tool.execute.after", "tool": "bash", "call": "c", "output": {"output": "ok"}});
    send_until(&stage, &tool, &["prompt"]);
    let more = json!({"type": "text", "text": "and that"});
    database.part("ses_1", "msg_9a", "prt_92", &more);
    send_until(&stage, &idle(), &["prompt", "prompt"]);
    send(&stage, "ses_1", idle());
    assert_eq!(said(&stage), ["prompt", "prompt"]);
    let closed = json!({"role": "assistant", "time": {"created": BEGAN, "completed": BEGAN + 1}});
    database.message("ses_1", "msg_9b", i64::MAX / 4, &closed);
    database.part(
        "ses_1",
        "msg_9b",
        "prt_93",
        &json!({"type": "text", "text": format!("No {secret}")}),
    );
    send_until(&stage, &idle(), &["prompt", "prompt", "reply"]);
    let pending = stage.agentic("shop", "trace pending --agent fix-cart --json");
    assert!(pending.contains("[redacted:github-token:") && !pending.contains(&secret), "{pending}");
    // Rows that a rollback took away, and others in their place: what is known makes nothing.
    database.connection.execute("DELETE FROM part WHERE id = 'prt_93'", []).expect("a row");
    database.part("ses_1", "msg_9b", "prt_94", &json!({"type": "text", "text": "Yes"}));
    send_until(&stage, &idle(), &["prompt", "prompt", "reply", "reply"]);
    send(&stage, "ses_1", json!({"event": "session.deleted"}));
    let taken = import(&stage, "opencode --all");
    assert_eq!(
        (&taken[0]["agent"], &taken[0]["new"]),
        (&json!("fix-cart"), &json!(0)),
        "{taken:?}"
    );
    stage.check();
}

/// Has the hook say what a person asked, before the database has it.
fn send_prompt(stage: &CaptureStage) {
    let parts = json!([{"id": "prt_11", "type": "text", "text": "Fix it 1"}]);
    let message = json!({"id": "msg_1a"});
    send(stage, "ses_1", json!({"event": "chat.message", "message": message, "parts": parts}));
}

#[test]
fn what_a_hook_has_told_before_there_was_a_store_is_told_once() {
    let stage = CaptureStage::new();
    // Nobody has said anything here yet: what is remembered is all.
    stage.git("shop", "for-each-ref refs/notes");
    for folder in ["conversation", "cursor"] {
        fs::create_dir_all(stage.capture(folder)).expect("writable");
        fs::write(stage.capture(folder).join("whole"), "").expect("writable");
    }
    send_prompt(&stage);
    assert_eq!(said(&stage), ["prompt"]);
    let database = Database::new(&stage);
    let folder = stage.folder.join("shop.agents/fix-cart").display().to_string();
    database.session("ses_1", None, &folder);
    database.turn("ses_1", 1, "hello");
    // What it cost is told when another message comes.
    send_until(&stage, &idle(), &TURN[..5]);
    send(&stage, "ses_1", json!({"event": "session.deleted"}));
    assert_eq!(import(&stage, "opencode --all")[0]["agent"], "fix-cart");
    assert_eq!(said(&stage), TURN);
}

#[test]
fn a_damaged_database_leaves_what_hooks_tell() {
    let stage = CaptureStage::new();
    let path = stage.folder.join("home/.local/share/opencode/opencode.db");
    fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
    fs::write(&path, [7; 8192]).expect("writable");
    send_prompt(&stage);
    assert_eq!(said(&stage), ["prompt"]);
    assert_eq!(stage.errors(), ["transcript-damaged"]);
}

#[test]
fn what_a_database_cannot_say_while_it_is_written_the_hook_does() {
    let stage = CaptureStage::new();
    let database = Database::new(&stage);
    database.connection.pragma_update(None, "journal_mode", "delete").expect("a pragma");
    let folder = stage.folder.join("shop.agents/fix-cart").display().to_string();
    database.session("ses_1", None, &folder);
    database.turn("ses_1", 1, "hello");
    let writing = "BEGIN EXCLUSIVE; UPDATE session SET title = 'Mend'";
    database.connection.execute_batch(writing).expect("nobody writes");
    let parts = json!([{"id": "prt_11", "type": "text", "text": "Fix it 1"}]);
    let message = json!({"event": "chat.message", "message": {"id": "msg_1a"}, "parts": parts});
    send(&stage, "ses_1", message);
    assert_eq!(said(&stage), ["prompt"]);
    assert_eq!(stage.errors(), ["transcript-busy"]);
    database.connection.execute_batch("COMMIT").expect("it is ours");
    send_until(&stage, &idle(), &TURN[..5]);
}

#[test]
fn files_of_before_are_read_and_the_database_comes_before_them() {
    let stage = CaptureStage::new();
    let shop = stage.folder.join("shop").display().to_string();
    let write = |path: &str, data: Value| {
        stage.write(&format!("home/.local/share/opencode/storage/{path}.json"), &data.to_string());
    };
    for session in ["ses_1", "ses_2"] {
        let id = |word: &str| format!("{word}_{session}");
        write(
            &format!("session/p/{session}"),
            json!({"id": session, "directory": shop, "title": "Fix"}),
        );
        write(
            &format!("message/{session}/{}", id("msg")),
            json!({"role": "user", "time": {"created": BEGAN}}),
        );
        write(
            &format!("part/{}/{}", id("msg"), id("prt")),
            json!({"type": "text", "text": "Fix it"}),
        );
    }
    let taken = import(&stage, "opencode --all");
    assert_eq!(taken.len(), 2);
    assert!(taken.iter().all(|it| it["new"] == 1), "{taken:?}");
    // opencode has carried one of them over, and left the files.
    let database = Database::new(&stage);
    database.session("ses_1", None, &shop);
    database.message("ses_1", "msg_ses_1", 0, &json!({"role": "user"}));
    database.part("ses_1", "msg_ses_1", "prt_ses_1", &json!({"type": "text", "text": "Fix it"}));
    let again = import(&stage, "opencode --all");
    assert_eq!(again.len(), 2);
    assert!(again.iter().all(|it| it["new"] == 0), "{again:?}");
    stage.check();
}

#[test]
fn what_is_no_database_of_opencode_is_told_and_nothing_else_is_lost() {
    let stage = CaptureStage::new();
    let shop = stage.folder.join("shop").display().to_string();
    let line = json!({"type": "user", "uuid": "u", "cwd": shop, "timestamp": "2026-11-20T09:00:01.000Z",
        "message": {"role": "user", "content": "Hello"}});
    stage.write("home/.claude/projects/x/3f2a91c0-aa.jsonl", &format!("{line}\n"));
    let path = stage.folder.join("home/.local/share/opencode/opencode.db");
    fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
    let run = || {
        let program = env!("CARGO_BIN_EXE_agentic");
        let ended = stage.program(program, "shop", &["import", "--all", "--json"], &[], b"");
        let taken: Value = serde_json::from_str(&ended.stdout).expect("JSON");
        (ended.exit, taken)
    };
    for (number, content) in [&b""[..], b"nonsense", &[0; 8192]].into_iter().enumerate() {
        fs::write(&path, content).expect("writable");
        let (exit, taken) = run();
        assert_eq!(exit, 1, "{taken}");
        assert_eq!(taken[0]["new"], u8::from(number == 0), "{taken}");
        assert_eq!(taken[1]["reason"], "transcript-damaged", "{taken}");
    }
    // A database with rows that nobody would expect.
    fs::remove_file(&path).expect("there");
    let database = Database::new(&stage);
    database.session("ses_1", None, &shop);
    database.message("ses_1", "msg_1", 0, &json!("user"));
    database.message("ses_1", "msg_2", 1, &json!({"role": "user"}));
    for (id, data) in
        [("prt_1", "{"), ("prt_2", "null"), ("prt_3", "[[]]"), ("prt_4", "{\"type\":7}")]
    {
        let row = "INSERT INTO part VALUES (?1, 'msg_2', 'ses_1', 0, 0, ?2)";
        database.connection.execute(row, params![id, data]).expect("a row");
    }
    let (exit, taken) = run();
    assert_eq!(exit, 0, "{taken}");
    assert_eq!(taken[1]["source"], "opencode");
    assert!(taken[1]["new"].as_u64().is_some_and(|n| n >= 4), "{taken}");
    let settled = stage.git("shop", "for-each-ref");
    assert_eq!(run().1[1]["new"], 0);
    assert_eq!(stage.git("shop", "for-each-ref"), settled);
    stage.check();
}

#[test]
fn a_single_object_of_gemini_is_known_by_the_hash_of_its_folder() {
    let stage = CaptureStage::new();
    let shop = stage.folder.join("shop").display().to_string();
    let hash = |path: &str| {
        let text = stage.program("sha256sum", "shop", &[], &[], path.as_bytes()).stdout;
        text.split(' ').next().expect("a hash").to_owned()
    };
    let conversation = |project: &str, messages: Value| {
        let text = json!({"sessionId": format!("g-{}", &project[..4]), "projectHash": project,
            "startTime": "2026-11-18T14:00:00.000Z", "lastUpdated": "2026-11-18T14:00:09.000Z",
            "messages": messages});
        let path = format!(
            "home/.gemini/tmp/{project}/chats/session-2026-11-18T14-00-{}.json",
            &project[..8]
        );
        stage.write(&path, &serde_json::to_string_pretty(&text).expect("JSON"));
    };
    let message = |id: &str, kind: &str| json!({"id": id, "timestamp": "2026-11-18T14:00:01.000Z", "type": kind, "content": "Hello\nyou"});
    let (own, other) = (hash(&shop), hash("/elsewhere"));
    conversation(&own, json!([message("m1", "user"), message("m2", "gemini")]));
    conversation(&other, json!([message("n1", "user")]));
    let taken = import(&stage, "gemini --all");
    let of = |taken: &[Value], project: &str| {
        let native = format!("g-{}", &project[..4]);
        taken.iter().find(|it| it["conversation"] == native).cloned().expect("it is told of")
    };
    assert_eq!(of(&taken, &own)["new"], 2, "{taken:?}");
    assert_eq!(of(&taken, &other)["reason"], "elsewhere");
    let settled = stage.git("shop", "for-each-ref");
    assert_eq!(of(&import(&stage, "gemini --all"), &own)["new"], 0);
    assert_eq!(stage.git("shop", "for-each-ref"), settled);
    // The whole file is written again for each message.
    let more = json!([message("m1", "user"), message("m2", "gemini"), message("m3", "user")]);
    conversation(&own, more);
    assert_eq!(of(&import(&stage, "gemini --all"), &own)["new"], 1);
    let agent = of(&taken, &own)["agent"].as_str().expect("an agent").to_owned();
    stage.agentic("shop", &format!("archive --restore {agent}"));
    assert_eq!(kinds(&stage, &agent), ["prompt", "prompt", "reply"]);
}
