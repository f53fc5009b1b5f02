//! Answers of the API, refusals and events are what their schemas say, as a validator of the official
//! draft finds.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::event::EventListener;
use super::*;

/// Schemas that were read, by name.
type KnownSchemas = Mutex<BTreeMap<String, Arc<jsonschema::Validator>>>;

fn validator(name: &str) -> Arc<jsonschema::Validator> {
    static KNOWN: OnceLock<KnownSchemas> = OnceLock::new();
    let known = KNOWN.get_or_init(KnownSchemas::default);
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).expect("a schema");
        let schema: Json = serde_json::from_str(&text).expect("JSON");
        Arc::new(jsonschema::draft202012::new(&schema).expect("a schema"))
    };
    Arc::clone(known.entry(name.to_owned()).or_insert_with(read))
}

/// Checks that something is what a schema says.
pub(super) fn check_schema(name: &str, data: &Json) {
    let wrong: Vec<String> =
        validator(name).iter_errors(data).map(|wrong| wrong.to_string()).collect();
    assert!(wrong.is_empty(), "{name}: {wrong:?} in {data}");
}

/// Somebody who reads the API and checks all that it says.
struct Checker<'s> {
    served: &'s Served,
    cookie: String,
    /// The addresses that were read.
    paths: RefCell<BTreeSet<String>>,
}

impl Checker<'_> {
    fn get(&self, path: &str, name: &str) -> Json {
        let headers = [("Cookie", self.cookie.as_str())];
        let answered = self.served.ask("GET", &format!("/api/v1/{path}"), &headers, "");
        assert_eq!(answered.status, 200, "{path}: {}", answered.body);
        let said = serde_json::from_str(&answered.body).expect("JSON");
        check_schema(name, &said);
        let address = path.split('?').next().expect("an address");
        self.paths.borrow_mut().insert(address.to_owned());
        said
    }

    /// Checks a list; returns how many items it has.
    fn list(&self, path: &str, name: &str) -> usize {
        let page = self.get(path, "list-page");
        check_schema(name, &page["items"]);
        page["items"].as_array().map_or(0, Vec::len)
    }

    /// Checks that something is refused, in the form of every refusal.
    fn refused(&self, method: &str, path: &str, body: &str) -> u16 {
        let origin = self.served.origin();
        let headers = [
            ("Cookie", self.cookie.as_str()),
            ("Origin", origin.as_str()),
            ("Content-Type", "application/json"),
        ];
        let answered = self.served.ask(method, &format!("/api/v1/{path}"), &headers, body);
        check_schema("error", &serde_json::from_str(&answered.body).expect("JSON"));
        answered.status
    }

    /// Checks the lists that every state has something of.
    fn check_lists(&self) {
        for (path, name) in [
            ("agents", "agents"),
            ("agents/bob/log", "log"),
            ("agents/bob/relations", "relations"),
            ("agents/alice/sessions", "sessions"),
            ("sessions", "sessions"),
            ("tree", "tree"),
            ("query?q=%3F%20%28A%29%20agent%28name%3A%20A%29.", "query"),
        ] {
            assert!(self.list(path, name) > 0, "{path} has nothing to be checked");
        }
        self.list("pending", "pending");
        for session in self.served.printed(&["session", "list"]).as_array().expect("a list") {
            let session = session["session"].as_str().expect("an id");
            self.get(&format!("sessions/{session}"), "session");
            self.get(&format!("sessions/{session}?at=1"), "session");
            self.get(&format!("sessions/{session}/diff/{session}"), "session-diff");
        }
        self.get("statistics", "statistics");
        self.get("stats?by=agent", "stats");
        self.get("health", "serve-status");
    }

    /// Checks what there is about one commit and its trace.
    fn check_commit(&self, oid: &str, cid: &str) {
        let history = format!("commits/{oid}/trace-history");
        assert!(self.list(&history, "trace-history") > 0, "it has a trace");
        for (path, name) in [
            ("agents/bob".to_owned(), "show"),
            (format!("commits/{oid}"), "show"),
            (format!("commits/{oid}/diff"), "commit-diff"),
            (format!("commits/{oid}/trace"), "trace"),
            (format!("traces/{cid}"), "trace"),
            (format!("objects/{cid}"), "object-console-trace"),
        ] {
            self.get(&path, name);
        }
    }

    /// Checks what comes with a hold, what is sent, and what is answered, early and late.
    fn check_decision(&self, request: &str) {
        let hold = self.get(&format!("pending/{request}"), "pending-request");
        let body = serde_json::json!({
            "action": "approve",
            "reason": "looked",
            "request_hash": hold["request_hash"],
            "shown": hold["shown"],
            "token": hold["token"],
        });
        check_schema("decision-request", &body);
        let origin = self.served.origin();
        let json = ("Content-Type", "application/json");
        let headers = [("Cookie", self.cookie.as_str()), ("Origin", &origin), json];
        let path = format!("/api/v1/pending/{request}/decision");
        let decided = self.served.ask("POST", &path, &headers, &body.to_string());
        assert_eq!(decided.status, 200, "{}", decided.body);
        check_schema("decide", &serde_json::from_str(&decided.body).expect("JSON"));
        let path = format!("pending/{request}/decision");
        let late = body.to_string().replace("approve", "reject");
        assert_eq!(self.refused("POST", &path, &late), 409);
        assert_eq!(self.refused("POST", &path, "{}"), 400);
    }

    /// Checks that every address that programs are told of was read.
    fn check_that_all_was_read(&self) {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
        let page = std::fs::read_to_string(page).expect("a page");
        let (_, table) = page.split_once("## What can be read").expect("a section");
        let table = table.split("\n## ").next().expect("a section");
        let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
        let cells = rows.map(|row| row.split_once(" | ").expect("two cells").0);
        let told = cells.flat_map(|cell| cell.split("`, `")).map(|told| told.trim_end_matches('`'));
        let is_name = |part: &str| part.bytes().all(|letter| letter.is_ascii_uppercase());
        let read = self.paths.borrow();
        let mut n_told = 0;
        for told in told.map(|told| told.split('?').next().expect("an address")) {
            let is_it = |path: &&String| {
                let (told, read): (Vec<&str>, Vec<&str>) =
                    (told.split('/').collect(), path.split('/').collect());
                let fits = |(told, read): (&&str, &&str)| is_name(told) || told == read;
                told.len() == read.len() && told.iter().zip(&read).all(fits)
            };
            assert!(told == "events" || read.iter().any(|path| is_it(&path)), "{told} is not read");
            n_told += 1;
        }
        assert!(n_told > 15, "only {n_told} addresses are told of");
    }
}

/// Has somebody else's agents here too, and one that is archived.
fn fetch_others(served: &Served) {
    let start = served.sandbox.start().to_owned();
    let there = served.sandbox.repositories().join("there");
    let git = |folder: &Path, arguments: &[&str]| {
        served.sandbox.git(folder, arguments).expect("git does it");
    };
    let (here, path) = (start.to_str().expect("text"), there.to_str().expect("text"));
    git(&served.sandbox.repositories(), &["clone", "--quiet", here, path]);
    git(&there, &["branch", "agents/carol", "origin/agents/bob"]);
    git(&start, &["remote", "add", "there", path]);
    git(&start, &["fetch", "--quiet", "there"]);
    served.ok(&["spawn", "dan", "-m", "look"]);
    served.ok(&["archive", "dan"]);
}

/// Begins sessions that wait, fail, are over and are cancelled, and one that asks two people by a day.
fn begin_sessions(served: &Served) {
    let flow = served.sandbox.start().join("state.rhai");
    let start = |key: &str, source: &str| {
        std::fs::write(&flow, source).expect("writable");
        let arguments = ["session", "start", "bob", "--flow", "state.rhai", "--key", key];
        let output = run(&served.sandbox, served.sandbox.start(), &arguments);
        assert_ne!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    };
    start("waits", "sleep(100000000); 1");
    start("done", "1 + 1");
    start("failed", "throw \"no\"");
    start("voted", "hold(\"Sure?\", #{quorum: 2, deadline: \"2999-01-01T00:00:00Z\"}).action");
    start("cancelled", "hold(\"Never?\").action");
    let sessions = served.printed(&["session", "list", "--agent", "bob"]);
    let last = sessions.as_array().expect("a list").iter().find(|one| one["key"] == "cancelled");
    let id = last.and_then(|one| one["session"].as_str()).expect("an id");
    served.ok(&["session", "cancel", id]);
}

#[test]
fn every_answer_and_every_event_is_what_its_schema_says() {
    let served = Served::new();
    let checker = Checker { served: &served, cookie: served.log_in(), paths: RefCell::default() };
    // Where there is nothing yet, there are lists of nothing.
    for (path, name) in
        [("agents", "agents"), ("sessions", "sessions"), ("tree", "tree"), ("pending", "pending")]
    {
        assert_eq!(checker.list(path, name), 0, "{path}");
    }
    let mut listener = EventListener::begin(&served, &checker.cookie);
    let request = served.hold();
    served.ok(&["spawn", "bob", "-m", "look", "--from", "alice"]);
    served.ok(&["relate", "bob", "reviews", "alice"]);
    served.ok(&["trace", "add", "--agent", "bob", "saw it"]);
    let commit = ["commit", "--agent", "bob", "-m", "Look", "--kind", "finding", "--trace"];
    let made = served.printed(&[&commit[..], &["--allow-empty"]].concat());
    let (oid, cid) = (made["commit"].as_str().expect("one"), made["trace"].as_str().expect("one"));
    checker.check_lists();
    checker.check_commit(oid, cid);
    begin_sessions(&served);
    fetch_others(&served);
    // A process that has just begun may not know of a remote that came since.
    let begun = Instant::now();
    while !checker.get("agents", "list-page").to_string().contains("there") {
        assert!(begun.elapsed() < PATIENCE, "no agent of a remote is among them");
        std::thread::sleep(Duration::from_millis(50));
    }
    checker.check_lists();
    checker.check_commit(oid, cid);
    let found = checker.get("search?q=look", "search");
    assert!(found["items"].as_array().is_some_and(|hits| !hits.is_empty()), "{found}");

    for (path, status) in
        [("agents/nobody", 404), ("agents?x=1", 400), ("nothing", 404), ("search?q=in%3Ax", 400)]
    {
        assert_eq!(checker.refused("GET", path, ""), status, "{path}");
    }
    assert_eq!(checker.refused("DELETE", "agents", ""), 405);
    assert_eq!(checker.refused("POST", "pending/0.0/decision", "no JSON"), 400);
    checker.check_decision(&request);
    checker.check_lists();
    checker.check_that_all_was_read();

    // Of agents that came since the last look only that is told: these are known by now.
    served.ok(&["commit", "--agent", "bob", "-m", "Look again", "--allow-empty"]);
    served.ok(&["relate", "alice", "reviews", "bob"]);
    // Each event is checked as it is heard: one of every name.
    served.ok(&["serve", "rebuild"]);
    let names = ["agent", "commit", "trace", "session", "hold", "decision", "relation", "index"];
    let heard = listener.hear_all(&names);
    assert!(heard.is_empty(), "nobody tells of {heard:?}");
    // Whoever asks for what another process told is told to fetch anew.
    let mut stranger = EventListener::begin_from(&served, &checker.cookie, "?from=another-1");
    let reset = stranger.next("reset");
    assert!(reset["n"].as_u64().is_some_and(|n| n > 0), "{reset}");
}
