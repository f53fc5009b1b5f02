//! The pages that look at things, asked of a served repository: what they show is what the commands
//! say, and no address makes more of them than a page.

mod damaged;
mod large;
mod line;

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixStream;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use agentic_testkit::{Sandbox, Setup};
use serde_json::Value as Json;

/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A repository that is served to its user alone, by a socket.
struct SocketServed {
    sandbox: Sandbox,
    process: Child,
}

/// What was answered.
struct PageAnswer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl PageAnswer {
    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("a page is text")
    }
}

impl SocketServed {
    fn new() -> SocketServed {
        let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
        sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
        let served = SocketServed { process: SocketServed::begin(&sandbox), sandbox };
        served.wait();
        served
    }

    /// Ends the server, and starts another.
    fn restart(&mut self) {
        self.ok(&["serve", "stop"]);
        self.process.wait().expect("a child");
        self.process = SocketServed::begin(&self.sandbox);
        self.wait();
    }

    fn begin(sandbox: &Sandbox) -> Child {
        let mut command = sandbox.command("agentic", sandbox.start());
        command.args(["serve", "--no-tcp"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("it starts")
    }

    fn wait(&self) {
        let begun = Instant::now();
        while !self.run(&["serve", "status"]).status.success() {
            assert!(begun.elapsed() < PATIENCE, "it never answers");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.sandbox.command("agentic", self.sandbox.start());
        command.args(arguments).stdin(Stdio::null()).output().expect("it runs")
    }

    /// Runs a command that must succeed, and returns what it printed.
    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn json(&self, arguments: &[&str]) -> Json {
        serde_json::from_str(&self.ok(arguments)).expect("JSON")
    }

    /// Asks for something, of which the answer is to be read.
    fn ask(&self, path: &str) -> UnixStream {
        let folder = self.sandbox.start().join(".git/agentic/serve");
        let mut stream = UnixStream::connect(folder.join("sock")).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let request = format!("GET {path} HTTP/1.1\r\nHost: agentic\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    }

    /// Listens to what is told from now on.
    fn listen(&self) -> UnixStream {
        let mut stream = self.ask("/api/v1/events");
        let mut first = [0; 1];
        stream.read_exact(&mut first).expect("it answers");
        stream
    }

    fn get(&self, path: &str) -> PageAnswer {
        let mut stream = self.ask(path);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        let end = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let body = answer[end + 4..].to_vec();
        let body = match head.contains("transfer-encoding: chunked") {
            true => panic!("an answer has its length"),
            false => body,
        };
        PageAnswer { status: status.expect("a status"), head, body }
    }

    /// Gets a page that is there, checks that it is as small as all are, and returns it.
    fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        let text = answer.text();
        assert_eq!(answer.status, 200, "{path}: {text}");
        assert!(text.len() <= 100 << 10, "{path}: {} bytes", text.len());
        // No command counts what the page of statistics counts.
        let has_command = text.contains("the same as a command: ");
        assert_eq!(has_command, !path.starts_with("/statistics"), "{path}");
        assert!(text.contains("data-rev="), "{path}");
        text
    }

    /// Commits the files of a folder as an agent, and returns the commit.
    fn commit(&self, agent: &str, folder: &str, more: &[&str]) -> String {
        let branch = format!("agents/{agent}");
        let head = self.sandbox.git(self.sandbox.start(), &["rev-parse", &branch]);
        let head = head.expect("it has a branch");
        let (made, expect) = (["commit", "--agent", agent, "-m", "work", "--json"], head.trim());
        let snapshot = ["--tree", folder, "--expect", expect];
        let made = self.json(&[&made[..], &snapshot, more].concat());
        made["commit"].as_str().expect("an id").to_owned()
    }

    fn write(&self, path: &str, content: &[u8]) {
        let path = self.sandbox.start().join(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("writable");
        fs::write(path, content).expect("writable");
    }
}

impl Drop for SocketServed {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn lines(n: usize) -> Vec<u8> {
    (0..n).flat_map(|n| format!("line {n} of a file\n").into_bytes()).collect()
}

#[test]
fn a_commit_page_shows_every_sort_of_change() {
    let served = SocketServed::new();
    served.ok(&["spawn", "alice", "--empty", "-m", "change files"]);
    let at = |name: &str| format!("tree/{name}");
    served.write(&at("moves"), &lines(40));
    served.write(&at("runs"), b"#!/bin/sh\n");
    served.write(&at("picture"), b"\0\x01\x02");
    served.write(&at("windows"), b"a\r\nb\r\n");
    served.write(&at("becomes-a-link"), b"text\n");
    served.commit("alice", "tree", &[]);
    let folder = served.sandbox.start().join("tree");
    fs::rename(folder.join("moves"), folder.join("moved")).expect("it is there");
    fs::set_permissions(folder.join("runs"), fs::Permissions::from_mode(0o755)).expect("writable");
    served.write(&at("picture"), b"\0\x01\x02\x03");
    served.write(&at("windows"), b"a\r\nc\r\n");
    fs::remove_file(folder.join("becomes-a-link")).expect("it is there");
    symlink("moved", folder.join("becomes-a-link")).expect("writable");
    served.write(&at("empty"), b"");
    served.write(&at("<script>alert(1)<script>"), b"<script>alert(2)</script>\n");
    served.write(&at("long"), &lines(10_000));
    let commit = served.commit("alice", "tree", &[]);
    let page = served.page(&format!("/commits/{commit}"));
    for text in [
        "moves → moved",
        "mode 100644 → 100755",
        "binary: 3 bytes → 4 bytes",
        "lines end in CR LF",
        "mode 100644 → 120000",
        "added · mode 100644 · empty",
        "&lt;script&gt;alert(2)",
        "class=\"added\"",
        "class=\"removed\"",
        "lines more of this file",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("<script>alert"), "{page}");
    // All lines of the long file are there, page by page, each once.
    let counted =
        served.sandbox.git(served.sandbox.start(), &["show", "--numstat", "--format=", &commit]);
    let n_files = counted.expect("git works").lines().count();
    assert!(page.contains(&format!("{n_files} files")), "{page}");
    let number = (0..n_files).find(|n| {
        served.page(&format!("/commits/{commit}?file={n}")).contains("line 1999 of a file")
    });
    let (mut line, mut seen) = (0, 0);
    let number = number.expect("one is long");
    while line < 10_000 {
        let page = served.page(&format!("/commits/{commit}?file={number}&line={line}"));
        seen += page.matches(" of a file\n").count();
        let Some((_, next)) = page.split_once(&format!("?file={number}&amp;line=")) else { break };
        let digits: String = next.chars().take_while(char::is_ascii_digit).collect();
        line = digits.parse().expect("a number");
    }
    assert_eq!(seen, 10_000);
    for (path, status) in [
        (format!("/commits/{commit}?file=99"), 404),
        (format!("/commits/{commit}?parent=0"), 404),
        (format!("/commits/{commit}?parent=7"), 404),
        (format!("/commits/{commit}?nonsense=1"), 400),
        (format!("/commits/{commit}?file=-1"), 400),
    ] {
        assert_eq!(served.get(&path).status, status, "{path}");
    }
}

#[test]
fn a_commit_page_shows_submodules_beside_files() {
    let served = SocketServed::new();
    served.ok(&["spawn", "alice", "--empty", "-m", "take in another repository"]);
    let start = served.sandbox.start();
    let git = |arguments: &[&str], input: &str| {
        let made = served.sandbox.git_with_input(start, arguments, input.as_bytes());
        let made = made.expect("git is installed");
        String::from_utf8(made.stdout).expect("text").trim().to_owned()
    };
    let plain = git(&["hash-object", "-w", "--stdin"], "a file\n");
    let tree = |module: &str| {
        let entries = format!("100644 blob {plain}\tfile\n160000 commit {module}\tmodule\n");
        git(&["mktree", "--missing"], &entries)
    };
    let (first, second) = ("1".repeat(40), "2".repeat(40));
    let mut head = git(&["rev-parse", "agents/alice"], "");
    for (module, said) in [
        (&first, format!("added · submodule · commit nothing → {}", &first[..10])),
        (&second, format!("changed · submodule · commit {} → {}", &first[..10], &second[..10])),
    ] {
        head = git(&["commit-tree", &tree(module), "-p", &head, "-m", "take it in"], "");
        git(&["update-ref", "refs/heads/agents/alice", &head], "");
        let page = served.page(&format!("/commits/{head}"));
        assert!(page.contains(&said), "{said}: {page}");
    }
}

#[test]
fn a_trace_that_was_bound_again_has_a_history_that_opens_the_first() {
    let served = SocketServed::new();
    served.ok(&["spawn", "alice", "--empty", "-m", "look"]);
    served.ok(&["trace", "add", "--agent", "alice", "the first look"]);
    served.write("tree/file", b"x\n");
    let commit = served.commit("alice", "tree", &["--trace"]);
    for text in ["the second look", "the third look"] {
        served.ok(&["trace", "add", "--agent", "alice", text]);
        served.ok(&["trace", "attach", &commit, "--agent", "alice"]);
    }
    let page = served.page(&format!("/commits/{commit}"));
    assert!(page.contains("the third look"), "{page}");
    let history = served.page(&format!("/commits/{commit}/history"));
    assert!(history.contains("3 bindings"), "{history}");
    let listed = served.json(&["trace", "history", &commit, "--json"]);
    let first = listed[2]["cid"].as_str().expect("an id");
    assert!(history.contains(&format!("href=\"/traces/{first}\"")), "{history}");
    assert!(served.page(&format!("/traces/{first}")).contains("the first look"));
    let bytes = served.get(&format!("/traces/{first}/entries/1"));
    assert_eq!((bytes.status, bytes.body.as_slice()), (200, b"the first look".as_slice()));
    for header in [
        "content-type: application/octet-stream",
        "content-disposition: attachment",
        "content-security-policy: sandbox",
        "x-content-type-options: nosniff",
    ] {
        assert!(bytes.head.contains(header), "{header}: {}", bytes.head);
    }
    assert!(served.page(&format!("/objects/{first}")).contains("console-trace"));
    let stored = served.get(&format!("/objects/{first}/bytes"));
    assert!(stored.status == 200 && !stored.body.is_empty());
    for path in ["entries/0", "entries/2"] {
        assert_eq!(served.get(&format!("/traces/{first}/{path}")).status, 404, "{path}");
    }
}

#[test]
fn commit_hold_and_session_lead_to_each_other() {
    let served = SocketServed::new();
    served.ok(&["spawn", "alice", "-m", "deploy"]);
    served.write("ask.rhai", br#"hold("Deploy <b>build</b> 91?").action"#);
    let started = served.run(&["session", "start", "alice", "--flow", "ask.rhai", "--json"]);
    let started: Json = serde_json::from_slice(&started.stdout).expect("JSON");
    let request = started["pending"][0].as_str().expect("a request").to_owned();
    let session = started["session"].as_str().expect("an id").to_owned();
    assert!(served.page(&format!("/holds/{request}")).contains(&format!("/sessions/{session}")));
    assert!(served.page(&format!("/sessions/{session}")).contains(&format!("/holds/{request}")));
    let decided = served.json(&["decide", &request, "approve", "-m", "go", "--json"]);
    let commit = decided["commit"].as_str().expect("an id");
    let to = |page: &str, path: String| {
        let text = served.page(page);
        assert!(text.contains(&format!("href=\"{path}\"")), "{page} leads to {path}: {text}");
    };
    to(&format!("/commits/{commit}"), format!("/holds/{request}"));
    to(&format!("/commits/{commit}"), format!("/sessions/{session}"));
    to(&format!("/holds/{request}"), format!("/commits/{commit}"));
    to(&format!("/holds/{request}"), format!("/sessions/{session}"));
    to(&format!("/sessions/{session}"), format!("/commits/{commit}"));
    let shown = served.json(&["session", "show", &session, "--json"]);
    let seq = &shown["requests"][0]["seq"];
    to(&format!("/sessions/{session}/requests/{seq}"), format!("/holds/{request}"));
    to("/sessions", format!("/sessions/{session}"));
    to("/agents/alice/sessions", format!("/sessions/{session}"));
    let page = served.page(&format!("/sessions/{session}"));
    assert!(!page.contains("<b>build"), "{page}");
}

#[test]
fn the_scrubber_shows_what_the_command_shows_at_every_record() {
    let served = SocketServed::new();
    served.ok(&["spawn", "alice", "-m", "ask"]);
    served.write("ask.rhai", br#"let a = hold("One?").action; let b = hold("Two?").action; a + b"#);
    let started = served.run(&["session", "start", "alice", "--flow", "ask.rhai", "--json"]);
    let started: Json = serde_json::from_slice(&started.stdout).expect("JSON");
    let session = started["session"].as_str().expect("an id").to_owned();
    served.run(&["decide", "alice", "approve", "-m", "yes"]);
    served.run(&["decide", "alice", "reject", "-m", "no"]);
    let whole = served.json(&["session", "show", &session, "--json"]);
    let last = whole["records"].as_u64().expect("a count");
    assert!(last > 4, "{whole}");
    for at in 1..=last {
        let then = served.json(&["session", "show", &session, "--at", &at.to_string(), "--json"]);
        let page = served.page(&format!("/sessions/{session}?at={at}"));
        let state = then["state"].as_str().expect("a state");
        assert!(page.contains(&format!("</code> · {state}</h1>")), "{at}: {page}");
        assert!(page.contains(&format!("{at}/{last} records")), "{at}: {page}");
        let asked = then["requests"].as_array().map_or(0, Vec::len);
        assert_eq!(page.matches("<th scope=\"row\">").count(), asked, "{at}: {page}");
    }
    let again = served.json(&["session", "show", &session, "--json"]);
    assert_eq!(again["chain"], whole["chain"], "nothing was performed");
    for at in ["0", "99999", "18446744073709551615"] {
        assert_eq!(served.get(&format!("/sessions/{session}?at={at}")).status, 404, "{at}");
    }
    assert_eq!(served.get(&format!("/sessions/{session}?at=x")).status, 400);
    // A fork is compared with the session that it came from.
    let forked = served.run(&["session", "fork", &session, "--at", "3", "--json"]);
    let forked: Json = serde_json::from_slice(&forked.stdout).expect("JSON");
    let fork = forked["session"].as_str().expect("an id").to_owned();
    let said = served.run(&["session", "diff", &session, &fork, "--json"]);
    let said: Json = serde_json::from_slice(&said.stdout).expect("JSON");
    let page = served.page(&format!("/sessions/{session}/diff/{fork}"));
    assert!(page.contains(&format!("record {}", said["at"])), "{said}: {page}");
    let parent = served.page(&format!("/sessions/{session}"));
    assert!(parent.contains(&format!("/sessions/{session}/diff/{fork}")), "{parent}");
    let chosen = served.get(&format!("/sessions/{session}/compare?with={fork}"));
    assert_eq!(chosen.status, 303);
    assert!(chosen.head.contains(&format!("location: /sessions/{session}/diff/{fork}")));
}

#[test]
fn statistics_count_what_the_log_lists() {
    let served = SocketServed::new();
    for agent in ["alice", "bob"] {
        served.ok(&["spawn", agent, "--empty", "-m", "work"]);
        for n in 0..3 {
            served.write("tree/file", format!("{agent} {n}\n").as_bytes());
            served.commit(agent, "tree", &["--kind", "finding"]);
        }
    }
    let n_logged: usize = ["alice", "bob"]
        .iter()
        .map(|agent| served.json(&["log", agent, "--json"]).as_array().map_or(0, Vec::len))
        .sum();
    let page = served.page("/statistics");
    assert!(page.contains(&format!("{n_logged} commits")), "{page}");
    let csv = served.get("/statistics/commits.csv?by=week").text();
    let counts =
        csv.lines().skip(1).filter_map(|line| line.rsplit(',').next()?.parse::<usize>().ok());
    assert_eq!(counts.sum::<usize>(), n_logged, "{csv}");
    assert!(csv.contains(",finding,6"), "{csv}");
    let alone = served.get("/statistics/commits.csv?by=week&agent=bob").text();
    assert!(alone.contains(",finding,3"), "{alone}");
    for (path, status) in [
        ("/statistics?by=year", 400),
        ("/statistics?from=2026-11-01&to=2026-10-01", 400),
        ("/statistics?from=1970-01-01&by=day", 400),
        ("/statistics/nonsense.csv", 404),
    ] {
        assert_eq!(served.get(path).status, status, "{path}");
    }
}

#[test]
fn agents_are_listed_drawn_and_looked_at_part_by_part() {
    let served = SocketServed::new();
    served.ok(&["spawn", "alice", "--empty", "-m", "look <b>here</b>"]);
    served.ok(&["spawn", "bob", "--from", "alice", "-m", "help"]);
    served.ok(&["spawn", "eve", "--empty", "-m", "rest"]);
    served.ok(&["relate", "bob", "reviews", "alice"]);
    served.ok(&["archive", "eve"]);
    served.ok(&["trace", "add", "--agent", "alice", "not bound yet"]);
    let table = served.page("/agents");
    assert!(table.contains("2 agents") && table.contains("archived 1"), "{table}");
    assert!(served.page("/agents?place=archived").contains("eve"));
    let tree = served.page("/agents?view=tree");
    assert!(tree.contains("<path class=\"child\" d=\"M"), "{tree}");
    assert!(tree.contains("<path class=\"review\" d=\"M"), "{tree}");
    assert!(tree.contains("reviewed by bob"), "{tree}");
    assert!(served.page("/agents?name=bo").contains("1 agent "), "it is narrowed");
    assert!(served.page("/agents/alice").contains("look &lt;b&gt;here"));
    for (part, text) in [
        ("traces", "not bound yet"),
        ("sub-agents", "/agents/bob"),
        ("sessions", "no session"),
        ("relations", "reviews"),
    ] {
        let page = served.page(&format!("/agents/alice/{part}"));
        assert!(page.contains(text), "{part}: {page}");
    }
}

#[test]
fn a_wrong_address_is_a_page_and_never_more() {
    let served = SocketServed::new();
    served.ok(&["spawn", "alice", "--empty", "-m", "look"]);
    let long = "x".repeat(3_000);
    let names = [
        "..%2f..%2fconfig",
        "%00",
        "%ff%fe",
        "%c0%ae%c0%ae",
        "a%0d%0ab",
        "-",
        "%27%22%3Cb%3E",
        &long,
    ];
    let places = [
        "/agents/{}",
        "/agents/{}/log",
        "/agents/alice/{}",
        "/commits/{}",
        "/commits/{}/history",
        "/traces/{}",
        "/traces/{}/entries/1",
        "/objects/{}",
        "/objects/{}/bytes",
        "/sessions/{}",
        "/sessions/{}/requests/1",
        "/sessions/{}/diff/{}",
        "/sessions/{}/compare?with=x",
        "/statistics/{}",
        "/sessions?agent={}",
        "/statistics?agent={}",
        "/statistics?from={}",
        "/agents?after={}",
        "/sessions?after={}",
    ];
    for place in places {
        for name in names {
            let path = place.replace("{}", name);
            if path.len() > 4_000 {
                continue;
            }
            let answer = served.get(&path);
            let is_refused = matches!(answer.status, 400 | 404);
            let text = String::from_utf8_lossy(&answer.body);
            assert!(is_refused, "{path}: {} {text}", answer.status);
            let is_page = text.contains("<main") && !text.contains("<b>");
            assert!(is_page, "{path} is refused by a page: {text}");
        }
    }
    let behind = [
        "/agents?after=",
        "/agents?view=tree&after=",
        "/agents?place=remote&after=",
        "/agents/alice/sessions?skip=",
        "/sessions?after=",
        "/commits/agents%2Falice?first=",
        "/commits/agents%2Falice?from=",
    ];
    for place in behind {
        let path = format!("{place}{}", usize::MAX);
        assert_eq!(served.get(&path).status, 200, "{path} is a place behind the end");
    }
}
