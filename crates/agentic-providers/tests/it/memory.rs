//! Memories: what is added is found again, and once only.

use std::fs;
use std::os::unix::fs::symlink;
use std::thread;

use agentic_model::{Instant, Value, json};
use agentic_providers::configuration::Configuration;
use agentic_providers::host::CancelFlag;
use agentic_providers::provider::{CallStamp, Providers};
use agentic_replay::{Path, Request, RequestAnswer, RequestId};
use tempfile::TempDir;

/// The memories that are tried, each with the same cases.
const MEMORIES: [&str; 3] = ["memory://notes", "file://kept/notes.jsonl", "sqlite://kept/notes.db"];

struct World {
    root: TempDir,
    providers: Providers,
}

fn world() -> World {
    let root = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(root.path().join("inside")).expect("ours");
    let path = root.path().join("inside/agentic.toml");
    let configuration = Configuration::parse("", &path).expect("it is empty");
    World { root, providers: Providers::configured(configuration) }
}

impl World {
    /// Calls a memory as the request number `n`.
    fn call(&self, uri: &str, operation: &str, args: &str, n: u8) -> String {
        let (request, answer) = self.answer(uri, operation, args, n);
        match answer {
            RequestAnswer::Ok(value) => {
                value.get("json").and_then(Value::as_text).expect("JSON text").to_owned()
            }
            RequestAnswer::Failed(failure) => format!("{}: {}", failure.code, failure.message),
            other @ (RequestAnswer::TimedOut | RequestAnswer::Cancelled(_)) => {
                panic!("{request:?}: {other:?}")
            }
        }
    }

    fn answer(&self, uri: &str, operation: &str, args: &str, n: u8) -> (Request, RequestAnswer) {
        let payload = Value::map([
            ("memory", Value::text("M")),
            ("operation", Value::text(operation)),
            ("uri", Value::text(uri)),
            ("args", Value::text(args)),
        ]);
        let number = Request::new(Path::root(), "number", Value::Int(i64::from(n)));
        let hash = number.hash().expect("a number has a canonical form");
        let stamp = CallStamp {
            found: None,
            session: "test".to_owned(),
            request_id: RequestId::derive("test", &Path::root(), &hash),
            at: Instant::from_millis(i64::from(n) * 1000),
        };
        let request = Request::new(Path::root(), "memory", payload);
        let answer = self.providers.perform(&request, &stamp, &CancelFlag::new());
        (request, answer.expect("a memory answers"))
    }

    /// Checks which records a query finds, by their field `n`.
    fn finds(&self, uri: &str, query: &str, wanted: &[i64]) {
        let found = self.call(uri, "query", &format!("[{query}]"), 0);
        let found = json::from_text(&found).expect("records are JSON");
        let number = |envelope: &Value| envelope.get("record")?.get("n")?.as_int();
        let list = found.as_list().expect("records are a list");
        let numbers: Vec<i64> = list.iter().filter_map(number).collect();
        assert_eq!(numbers, wanted, "{uri} {query}");
    }
}

#[test]
fn what_is_added_is_found_newest_first() {
    for uri in MEMORIES {
        let world = world();
        world.finds(uri, "{}", &[]);
        let added = world.call(uri, "add", r#"[{"z":1,"n":1,"kind":"fact","text":"Hello"}]"#, 1);
        let start = r#"","created_at":"1970-01-01T00:00:01.000Z","updated_at":"1970-01-01T00:00:01.000Z","record":{"z":1,"n":1,"kind":"fact","text":"Hello"}}"#;
        assert!(added.ends_with(start), "{uri}: {added}");
        world.call(uri, "add", r#"[{"n":2,"kind":"plan","deep":{"a":1,"b":[2]}}]"#, 2);
        world.call(uri, "add", "[{\"n\":3,\n \"kind\":\"fact\",\"text\":\"hell\"}]", 3);
        world.finds(uri, "{}", &[3, 2, 1]);
        world.finds(uri, r#"{"limit":2}"#, &[3, 2]);
        world.finds(uri, r#"{"kind":"fact"}"#, &[3, 1]);
        world.finds(uri, r#"{"kind":"fact","limit":1}"#, &[3]);
        world.finds(uri, r#"{"text":"HELLO"}"#, &[1]);
        world.finds(uri, r#"{"text":"deep"}"#, &[2]);
        world.finds(uri, r#"{"where":{"n":2.0}}"#, &[2]);
        world.finds(uri, r#"{"where":{"deep":{"a":1,"b":[2]}}}"#, &[2]);
        world.finds(uri, r#"{"where":{"deep":{"b":[2],"a":1}}}"#, &[]);
        world.finds(uri, r#"{"where":{"kind":"fact","n":1}}"#, &[1]);
        world.finds(uri, r#"{"kind":null,"text":null,"where":null,"limit":null}"#, &[3, 2, 1]);
    }
}

#[test]
fn a_request_that_is_performed_again_adds_nothing() {
    for uri in MEMORIES {
        let world = world();
        let first = world.call(uri, "add", r#"[{"n":1}]"#, 1);
        assert_eq!(world.call(uri, "add", r#"[{"n":1}]"#, 1), first, "{uri}");
        world.call(uri, "add", r#"[{"n":1}]"#, 2);
        world.finds(uri, "{}", &[1, 1]);
    }
}

#[test]
fn wrong_calls_are_refused() {
    for uri in MEMORIES {
        let world = world();
        let check = |operation: &str, args: &str, part: &str| {
            let found = world.call(uri, operation, args, 1);
            assert!(found.starts_with("refused: ") && found.contains(part), "{uri}: {found}");
        };
        check("add", "[3]", "expects an object record");
        check("add", "[]", "takes 1 argument");
        check("query", "[[]]", "expects an object query");
        check("query", r#"[{"where":[]}]"#, "where must be an object");
        for limit in ["0", "-1", "1.5", "\"2\""] {
            check("query", &format!(r#"[{{"limit":{limit}}}]"#), "a positive integer");
        }
        check("forget", "[{}]", "no method `forget`");
        let long = format!(r#"[{{"text":"{}"}}]"#, "x".repeat(5 << 20));
        check("add", &long, "at most 4194304 bytes");
        let deep = format!(r#"[{{"where":{{"a":{}{}}}}}]"#, "[".repeat(500), "]".repeat(500));
        check("query", &deep, "nests too deep");
    }
    let world = world();
    let found = world.call("redis://x", "query", "[{}]", 1);
    assert_eq!(found, "refused: no memory is called by `redis://`");
}

#[test]
fn nothing_outside_of_the_workspace_is_touched() {
    let world = world();
    let inside = world.root.path().join("inside");
    fs::create_dir(world.root.path().join("outside")).expect("ours");
    symlink("../outside", inside.join("out")).expect("ours");
    symlink("../outside/new", inside.join("file")).expect("ours");
    let absolute = world.root.path().join("outside/new").display().to_string();
    for path in ["../outside/new", "out/new", "file", absolute.as_str(), "/etc/passwd", ""] {
        for scheme in ["file", "sqlite"] {
            for (operation, args) in [("add", r#"[{"n":1}]"#), ("query", "[{}]")] {
                let found = world.call(&format!("{scheme}://{path}"), operation, args, 1);
                assert!(found.starts_with("refused: "), "{scheme} {path}: {found}");
            }
        }
    }
    assert_eq!(fs::read_dir(world.root.path().join("outside")).expect("ours").count(), 0);
    // A path from the root may lead into the workspace.
    let own = format!("file://{}", inside.join("own.jsonl").display());
    world.call(&own, "add", r#"[{"n":1}]"#, 1);
    world.finds("file://own.jsonl", "{}", &[1]);
}

#[test]
fn what_a_crash_left_of_a_line_is_no_record() {
    let world = world();
    let uri = "file://notes.jsonl";
    world.call(uri, "add", r#"[{"n":1,"text":"é"}]"#, 1);
    let path = world.root.path().join("inside/notes.jsonl");
    let whole = fs::read(&path).expect("it is there");
    world.call(uri, "add", r#"[{"n":2,"text":"é"}]"#, 2);
    let both = fs::read(&path).expect("it is there");
    for cut in whole.len()..both.len() - 1 {
        fs::write(&path, &both[..cut]).expect("ours");
        world.finds(uri, "{}", &[1]);
        world.call(uri, "add", r#"[{"n":3}]"#, 3);
        world.finds(uri, "{}", &[3, 1]);
    }
    // All but the line break may have come through.
    fs::write(&path, &both[..both.len() - 1]).expect("ours");
    world.finds(uri, "{}", &[2, 1]);
    world.call(uri, "add", r#"[{"n":3}]"#, 3);
    world.finds(uri, "{}", &[3, 2, 1]);
}

#[test]
fn a_file_that_is_no_memory_is_refused_and_kept() {
    let world = world();
    let path = world.root.path().join("inside/notes");
    let check = |scheme: &str, content: &[u8], part: &str| {
        fs::write(&path, content).expect("ours");
        for (operation, args) in [("add", r#"[{"n":1}]"#), ("query", "[{}]")] {
            let found = world.call(&format!("{scheme}://notes"), operation, args, 1);
            assert!(found.starts_with("refused: ") && found.contains(part), "{found}");
        }
        assert_eq!(fs::read(&path).expect("it is there"), content);
    };
    check("file", b"garbage\n{}\n", "not JSON at line 1");
    check("file", b"{}\n", "no record in its envelope at line 1");
    check("file", b"\xff\n", "not JSON at line 1");
    let no_object = br#"{"id":"1","created_at":"","updated_at":"","record":3}"#;
    check("file", no_object, "its record is no object");
    check("sqlite", &[b'x'; 4096], "file is not a database");
    let taken = rusqlite::Connection::open(world.root.path().join("inside/taken.db"));
    let taken = taken.expect("ours");
    taken.execute("CREATE TABLE agentic_memory (x)", []).expect("ours");
    let found = world.call("sqlite://taken.db", "query", "[{}]", 1);
    assert!(found.contains("no such column"), "{found}");
}

#[test]
fn namespaces_are_apart() {
    let world = world();
    world.call("sqlite://m.db#a", "add", r#"[{"n":1}]"#, 1);
    world.call("sqlite://m.db#b", "add", r#"[{"n":2}]"#, 1);
    world.call("sqlite://m.db", "add", r#"[{"n":3}]"#, 1);
    world.finds("sqlite://m.db#a", "{}", &[1]);
    world.finds("sqlite://m.db#b", "{}", &[2]);
    world.finds("sqlite://m.db#memory", "{}", &[3]);
}

#[test]
fn many_writers_lose_nothing() {
    for uri in MEMORIES {
        let world = world();
        thread::scope(|scope| {
            for writer in 0..4 {
                let world = &world;
                scope.spawn(move || {
                    for n in 0..5 {
                        let n = writer * 5 + n;
                        let added = world.call(uri, "add", &format!(r#"[{{"n":{n}}}]"#), n + 1);
                        assert!(added.starts_with(r#"{"id""#), "{uri}: {added}");
                    }
                });
            }
        });
        let found = world.call(uri, "query", r#"[{"limit":99}]"#, 0);
        let found = json::from_text(&found).expect("records are JSON");
        assert_eq!(found.as_list().expect("a list").len(), 20, "{uri}");
    }
}

#[test]
fn a_memory_of_a_run_is_recalled_in_a_later_process() {
    let (first, later) = (world(), world());
    let (request, answer) = first.answer("memory://m", "add", r#"[{"n":1}]"#, 1);
    later.providers.recall(&request, &answer);
    later.providers.recall(&request, &answer);
    later.finds("memory://m", "{}", &[1]);
    let (request, failed) = first.answer("memory://m", "add", "[3]", 2);
    later.providers.recall(&request, &failed);
    later.finds("memory://m", "{}", &[1]);
}

#[test]
fn no_memory_is_kept_where_programs_are_configured() {
    let world = world();
    fs::create_dir_all(world.root.path().join("inside/.git/hooks")).expect("ours");
    for path in [".git/hooks/x.jsonl", "agentic.toml", "a/.GIT/x", ".agentic/x"] {
        for scheme in ["file", "sqlite"] {
            let uri = format!("{scheme}://./{path}");
            let said = world.call(&uri, "add", r#"[{"a":1}]"#, 1);
            assert!(said.contains("configures or starts programs"), "{uri}: {said}");
        }
    }
}
