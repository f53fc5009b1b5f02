//! The process that stays: one for each repository, heard by its own page and its own user alone, and
//! a decision from its page is the one that the command makes.

mod address;
mod api;
mod clock;
mod cost;
mod crowd;
mod damage;
mod decision;
mod equal;
mod event;
mod head;
mod heavy;
mod hostile;
mod kill;
mod login;
mod neighbours;
mod notice;
mod open;
mod peer;
mod plain;
mod process;
mod race;
mod random;
mod replacement;
mod replied;
mod schema;
mod served;
mod siege;
mod standing;
mod tag;

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use agentic_api::view::question::text_hash;
use agentic_testkit::{Sandbox, Setup};
use serde_json::Value as Json;

pub(crate) use self::served::*;

#[test]
fn a_decision_from_the_page_is_the_one_of_the_command() {
    let served = Served::new();
    let (request, cookie, origin) = (served.hold(), served.log_in(), served.origin());
    let path = format!("/holds/{request}");
    let page = served.ask("GET", &path, &[("Cookie", &cookie)], "");
    assert_eq!(page.status, 200);
    assert!(!page.body.contains("<b>build"), "what a program says is text");
    let inbox = served.ask("GET", "/", &[("Cookie", &cookie)], "");
    assert!(inbox.body.contains(&path), "the inbox leads there");
    let await_count = |count: &str| {
        let begun = Instant::now();
        let told = format!("id=\"inbox-count\" data-rev=\"{count}\"");
        while !served.ask("GET", "/agents", &[("Cookie", &cookie)], "").body.contains(&told) {
            assert!(begun.elapsed() < PATIENCE, "no page says that {count} wait");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    await_count("1");

    let mut form = fields(&page.body);
    let shown = page.body.split_once("<pre id=\"shown\">").expect("the text").1;
    let shown = shown.split_once("</pre>").expect("its end").0;
    let shown = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    assert_eq!(text_hash(&shown), form["shown"], "the hash is that of what stands there");

    form.insert("action".to_owned(), "approve".to_owned());
    form.insert("reason".to_owned(), "looked".to_owned());
    let headers = [("Cookie", cookie.as_str()), ("Origin", &origin), ("Content-Type", FORM)];
    let decided = served.ask("POST", &format!("{path}/decision"), &headers, &encoded(&form));
    assert_eq!(decided.status, 303, "{}", decided.body);

    let log: Json = serde_json::from_str(&served.ok(&["log", "alice", "--json"])).expect("JSON");
    let commit = log.as_array().and_then(|log| log.iter().find(|one| one["kind"] == "decision"));
    let commit = commit.expect("a decision");
    let expected = [
        ("action", "approve"),
        ("client", "web"),
        ("principal", "user:ada"),
        ("shown", &form["shown"]),
        ("request_hash", &form["request_hash"]),
    ];
    for (name, value) in expected {
        assert_eq!(commit["fields"][name], value, "{name}");
    }
    // A process of its own goes on with the session.
    let begun = Instant::now();
    while !served.ok(&["session", "list"]).contains("done") {
        assert!(begun.elapsed() < PATIENCE, "nobody went on with it");
        std::thread::sleep(Duration::from_millis(20));
    }
    await_count("0");
}

#[test]
fn nobody_else_is_heard() {
    let served = Served::new();
    let (request, cookie, origin) = (served.hold(), served.log_in(), served.origin());
    let (host, path) = (served.host.clone(), format!("/holds/{request}"));
    let port = host.rsplit(':').next().expect("a port");

    let hosts: [&[(&str, &str)]; 7] = [
        &[("Host", "evil.example")],
        &[],
        &[("Host", &host), ("Host", &host)],
        &[("Host", &format!("ada@{host}"))],
        &[("Host", &host.replace(port, "1"))],
        &[("Host", "agentic")],
        &[("Host", &format!("127.0.0.1:{port}"))],
    ];
    for headers in hosts {
        let headers = [headers, &[("Cookie", cookie.as_str()), ("Connection", "close")]].concat();
        let answered = served.send("GET", &path, &headers, "");
        assert!(matches!(answered.status, 400 | 421), "{headers:?}: {}", answered.status);
        assert!(!answered.body.contains("Deploy"), "{headers:?}");
    }
    let programs = format!("127.0.0.1:{port}");
    let answered = served.send("GET", "/", &[("Host", &programs), ("Connection", "close")], "");
    assert!(answered.body.contains("agentic serve open") && !answered.body.contains(&host));
    for secret in ["", "agentic=", "agentic=00", &format!("{cookie}; {cookie}")] {
        let answered = served.ask("GET", &path, &[("Cookie", secret)], "");
        assert_eq!(answered.status, 401, "{secret}");
    }
    assert_eq!(served.ask("OPTIONS", "/", &[], "").status, 405);

    let mut form = fields(&served.ask("GET", &path, &[("Cookie", &cookie)], "").body);
    form.insert("action".to_owned(), "approve".to_owned());
    let decide = |headers: &[(&str, &str)], form: &BTreeMap<String, String>| {
        let headers = [headers, &[("Cookie", cookie.as_str())]].concat();
        served.ask("POST", &format!("{path}/decision"), &headers, &encoded(form)).status
    };
    let ours = ("Origin", origin.as_str());
    let form_type = ("Content-Type", FORM);
    assert_eq!(decide(&[form_type], &form), 403, "no origin");
    assert_eq!(decide(&[form_type, ("Origin", "null")], &form), 403);
    assert_eq!(decide(&[form_type, ("Origin", "http://evil.example")], &form), 403);
    assert_eq!(decide(&[form_type, ours, ("Sec-Fetch-Site", "same-site")], &form), 403);
    assert_eq!(decide(&[ours, ("Content-Type", "text/plain")], &form), 415);
    for name in ["token", "shown", "shown_at", "request_hash"] {
        let changed = |text: &String| format!("{}x", &text[..text.len() - 1]);
        let other = form.iter().map(|(key, value)| {
            (key.clone(), if key == name { changed(value) } else { value.clone() })
        });
        assert_eq!(decide(&[form_type, ours], &other.collect()), 403, "{name}");
    }
    served.ok(&["serve", "logout"]);
    assert_eq!(decide(&[form_type, ours], &form), 401, "after a logout");
    let pending: Json = serde_json::from_str(&served.ok(&["pending", "--json"])).expect("JSON");
    assert_eq!(pending.as_array().map(Vec::len), Some(1), "nothing was decided");
}

#[test]
fn one_process_serves_a_repository_and_a_killed_one_is_replaced() {
    let mut served = Served::new();
    let second = run(&served.sandbox, served.sandbox.start(), &["serve"]);
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1));
    assert!(
        said.contains(&served.process.id().to_string()) && said.contains(&served.host),
        "{said}"
    );

    served.process.kill().expect("it runs");
    assert_eq!(served.process.wait().expect("a child").signal(), Some(9));
    let status = run(&served.sandbox, served.sandbox.start(), &["serve", "status"]);
    assert_eq!(status.status.code(), Some(1), "nothing serves");
    let start = served.sandbox.start().to_owned();
    served.process = begin(&served.sandbox, &start, &[]);
    served.ok(&["serve", "stop"]);
    assert_eq!(served.process.wait().expect("a child").code(), Some(0));
    let stop = run(&served.sandbox, served.sandbox.start(), &["serve", "stop"]);
    assert_eq!(stop.status.code(), Some(1));
}

#[test]
fn an_agent_may_only_look() {
    let served = Served::new();
    let mut open = served.sandbox.command("agentic", served.sandbox.start());
    let open = open.args(["serve", "open", "--print"]).env("AGENTIC_AGENT", "bob").output();
    assert_eq!(open.expect("it runs").status.code(), Some(9));

    let cookie = {
        let mut served = Served::with(&["--read-only"]);
        let (request, cookie, origin) = (served.hold(), served.log_in(), served.origin());
        let page = served.ask("GET", &format!("/holds/{request}"), &[("Cookie", &cookie)], "");
        assert_eq!(page.status, 200);
        assert!(!page.body.contains("id=\"decision\""), "there is no form");
        let headers = [("Cookie", cookie.as_str()), ("Origin", &origin), ("Content-Type", FORM)];
        let form = "action=approve&request_hash=x&shown=x&shown_at=x&token=x";
        let path = format!("/holds/{request}/decision");
        assert_eq!(served.ask("POST", &path, &headers, form).status, 403);
        served.process.kill().expect("it runs");
        cookie
    };
    let answered = served.ask("GET", "/", &[("Cookie", &cookie)], "");
    assert_eq!(answered.status, 401, "a login of another process is none");
}

#[test]
fn a_repository_with_a_long_path_has_a_socket_too() {
    let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let folder = sandbox.repositories().join("d".repeat(150)).join("e".repeat(150));
    std::fs::create_dir_all(&folder).expect("writable");
    sandbox.git(&folder, &["init", "--quiet"]).expect("git is installed");
    let mut process = begin(&sandbox, &folder, &["--no-tcp"]);
    ok(&sandbox, &folder, &["serve", "stop"]);
    assert_eq!(process.wait().expect("a child").code(), Some(0));
}

#[test]
fn agents_and_commits_have_pages_and_writes_are_told() {
    let served = Served::new();
    served.ok(&["spawn", "alice", "-m", "look <i>here</i>"]);
    let cookie = served.log_in();
    let get = |path: &str| served.ask("GET", path, &[("Cookie", &cookie)], "");
    assert!(get("/agents").body.contains("href=\"/agents/alice\""));

    let port = served.host.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let host = &served.host;
    write!(stream, "GET /api/v1/events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n")
        .expect("it reads");
    read_until(&mut stream, "text/event-stream");

    served.ok(&["trace", "add", "--agent", "alice", "--kind", "log", "saw </pre><script>"]);
    read_until(&mut stream, "event: trace");
    let commit =
        ["commit", "--agent", "alice", "-m", "Add <b>a</b>", "--trace", "--allow-empty", "--json"];
    let made: Json = serde_json::from_str(&served.ok(&commit)).expect("JSON");
    let oid = made["commit"].as_str().expect("a commit");
    read_until(&mut stream, oid);

    let agent = get("/agents/alice");
    assert!(agent.body.contains(&format!("href=\"/commits/{oid}\"")), "what was told is there");
    let page = get(&format!("/commits/{oid}"));
    assert_eq!(page.status, 200);
    for page in [&agent.body, &page.body] {
        assert!(
            !page.contains("<b>a") && !page.contains("<script>") && !page.contains("<i>here"),
            "{page}"
        );
    }
    for path in [
        "/agents/nobody",
        "/agents/..%2f..%2fconfig",
        "/agents/%00",
        "/commits/zz",
        "/holds/1",
        "/x",
    ] {
        let status = get(path).status;
        assert!(matches!(status, 400 | 404), "{path}: {status}");
    }
    assert_eq!(get("/agents?after=x").status, 400);
    for path in ["/agents?after=", &format!("/commits/{oid}?from=")] {
        assert_eq!(get(&format!("{path}{}", usize::MAX)).status, 200, "a place behind the end");
    }
    assert_eq!(served.ask("GET", "/api/v1/events", &[], "").status, 401);
}

/// Reads until a text was said.
fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let (mut said, mut part) = (String::new(), [0; 4096]);
    while !said.contains(wanted) {
        let n_read = stream.read(&mut part).expect("it goes on");
        assert!(n_read > 0, "it ended after {said}");
        said.push_str(&String::from_utf8_lossy(&part[..n_read]));
    }
    said
}
