//! Events: what is told of our commands and of plain git, soon, and by ids alone.

use std::collections::BTreeSet;

use super::schema::check_schema;
use super::*;

/// How long a write may take until it is told of.
const SOON: Duration = Duration::from_secs(10);

/// Somebody who listens to events.
pub(super) struct EventListener {
    stream: TcpStream,
    heard: String,
    /// A line whose end is still to come.
    begun: String,
}

impl EventListener {
    pub(super) fn begin(served: &Served, cookie: &str) -> EventListener {
        EventListener::begin_from(served, cookie, "")
    }

    /// Does so from a place on.
    pub(super) fn begin_from(served: &Served, cookie: &str, from: &str) -> EventListener {
        let port = served.host.rsplit(':').next().and_then(|port| port.parse().ok());
        let address = (Ipv4Addr::LOCALHOST, port.expect("a port"));
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let host = &served.host;
        write!(
            stream,
            "GET /api/v1/events{from} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n"
        )
        .expect("it reads");
        let (_, begun) = split_head(&read_until(&mut stream, "\r\n\r\n"));
        EventListener { stream, heard: String::new(), begun }
    }

    /// Waits for an event of a name whose data has these fields; takes everything before it away.
    pub(super) fn hear(&mut self, name: &str, fields: &[(&str, &str)]) -> Json {
        self.hear_one(&|found, data| found == name && has(data, fields))
            .unwrap_or_else(|| panic!("nobody tells {name} {fields:?}"))
    }

    /// Waits for the next event of a name.
    pub(super) fn next(&mut self, name: &str) -> Json {
        self.hear(name, &[])
    }

    /// Waits for such an event, or to be told to fetch anew.
    pub(super) fn reset_or(&mut self, name: &str, fields: &[(&str, &str)]) {
        let is_it =
            |found: &str, data: &Json| found == "reset" || (found == name && has(data, fields));
        assert!(self.hear_one(&is_it).is_some(), "nobody tells {name} {fields:?}, nor a reset");
    }

    /// Hears events until there was one of each name; returns those of which there is none.
    pub(super) fn hear_all<'n>(&mut self, names: &[&'n str]) -> BTreeSet<&'n str> {
        let mut awaited: BTreeSet<&str> = names.iter().copied().collect();
        let mut heard = BTreeSet::new();
        while !awaited.is_empty() {
            let is_new = |name: &str, _: &Json| !heard.contains(name);
            let Some(name) = self.hear_name(&is_new) else { break };
            awaited.remove(name.as_str());
            heard.insert(name);
        }
        awaited
    }

    fn hear_name(&mut self, is_it: &dyn Fn(&str, &Json) -> bool) -> Option<String> {
        let name = std::cell::RefCell::new(None);
        let found = |found: &str, data: &Json| {
            let is_it = is_it(found, data);
            if is_it {
                *name.borrow_mut() = Some(found.to_owned());
            }
            is_it
        };
        self.hear_one(&found)?;
        name.into_inner()
    }

    fn hear_one(&mut self, is_it: &dyn Fn(&str, &Json) -> bool) -> Option<Json> {
        let begun = Instant::now();
        loop {
            // What came with the head may be all that comes for a while.
            let end = self.begun.rfind('\n').map_or(0, |place| place + 1);
            // Parts of one answer come with their lengths in between.
            self.heard.push_str(&without_lengths(&self.begun[..end]));
            self.begun.drain(..end);
            while let Some((event, rest)) = self.heard.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.heard = rest;
                let line = |begin: &str| event.lines().find_map(|line| line.strip_prefix(begin));
                let (Some(found), Some(data)) = (line("event: "), line("data: ")) else { continue };
                assert!(data.len() <= 512, "{data}");
                let data: Json = serde_json::from_str(data).expect("JSON");
                check_schema("event", &data);
                if is_it(found, &data) {
                    assert!(begun.elapsed() < SOON, "{found} took {:?}", begun.elapsed());
                    return Some(data);
                }
            }
            let mut part = [0; 4096];
            self.stream.set_read_timeout(Some(SOON)).expect("a socket");
            let n_read = self.stream.read(&mut part).ok().filter(|n_read| *n_read > 0)?;
            self.begun.push_str(&String::from_utf8_lossy(&part[..n_read]).replace('\r', ""));
        }
    }
}

/// Splits what came first behind the head of an answer: of the rest a part may have come with it.
fn split_head(said: &str) -> (String, String) {
    let (head, rest) = said.split_once("\r\n\r\n").expect("it was read to there");
    assert!(head.contains("text/event-stream"), "{head}");
    (head.to_owned(), rest.replace('\r', ""))
}

fn has(data: &Json, fields: &[(&str, &str)]) -> bool {
    fields.iter().all(|(field, value)| data[*field] == *value)
}

fn without_lengths(text: &str) -> String {
    let is_length = |line: &&str| {
        !line.is_empty() && line.len() <= 4 && line.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    text.split_inclusive('\n').filter(|line| !is_length(&line.trim_end())).collect()
}

#[test]
fn everything_that_happens_is_told_by_ids() {
    let served = Served::new();
    let cookie = served.log_in();
    let start = served.sandbox.start().to_owned();
    let at = |folder: &Path, arguments: &[&str]| {
        served.sandbox.git(folder, arguments).expect("git does it")
    };
    let git = |arguments: &[&str]| at(&start, arguments);
    let mut listener = EventListener::begin(&served, &cookie);

    served.ok(&["spawn", "alice", "-m", "x"]);
    listener.hear("agent", &[("agent", "alice"), ("state", "new")]);
    served.ok(&["trace", "add", "--agent", "alice", "saw"]);
    listener.hear("trace", &[("agent", "alice")]);
    let commit = ["commit", "--agent", "alice", "-m", "A", "--trace", "--allow-empty", "--json"];
    let made: Json = serde_json::from_str(&served.ok(&commit)).expect("JSON");
    let (oid, cid) = (made["commit"].as_str().expect("one"), made["trace"].as_str().expect("one"));
    let told = listener.hear("commit", &[("agent", "alice"), ("commit", oid)]);
    assert!(told["n"].is_u64() && told["at"].is_string() && told["kind"].is_string(), "{told}");
    listener.hear("trace", &[("agent", "alice"), ("commit", oid), ("cid", cid)]);
    served.ok(&["relate", "alice", "reviews", "user:ada"]);
    let edge = listener.hear("relation", &[("agent", "alice")]);
    assert!(edge["cid"].as_str().is_some_and(|cid| cid.starts_with("bafy")), "{edge}");

    // Plain git.
    let head = git(&["rev-parse", "agents/alice"]);
    git(&["update-ref", "refs/heads/agents/bob", head.trim()]);
    listener.hear("agent", &[("agent", "bob"), ("state", "new")]);
    git(&["pack-refs", "--all"]);
    git(&["branch", "-D", "agents/bob"]);
    listener.hear("agent", &[("agent", "bob"), ("state", "gone")]);
    let genesis = git(&["rev-parse", "agents/alice~1"]);
    git(&["update-ref", "refs/heads/agents/alice", genesis.trim()]);
    listener.hear("agent", &[("agent", "alice"), ("state", "moved"), ("commit", genesis.trim())]);
    git(&["update-ref", "refs/heads/agents/alice", head.trim()]);
    listener.hear("commit", &[("agent", "alice"), ("commit", oid)]);

    // Agents of others, and those that are folded away.
    let there = served.sandbox.repositories().join("there");
    let path = there.to_str().expect("text");
    git(&["clone", "-q", ".", path]);
    at(&there, &["branch", "agents/carol", "origin/agents/alice"]);
    git(&["remote", "add", "there", path]);
    git(&["fetch", "-q", "there"]);
    listener.hear("agent", &[("agent", "there/carol"), ("state", "new")]);
    git(&["update-ref", "refs/agentic/remotes/there/notes/carol", "refs/notes/agentic/alice"]);
    // As any fetch that brings notes ends.
    git(&["fetch", "-q", "there"]);
    listener.hear("trace", &[("agent", "there/carol")]);
    served.ok(&["spawn", "dan", "-m", "x"]);
    served.ok(&["archive", "dan"]);
    listener.hear("agent", &[("agent", "dan"), ("state", "archived")]);

    // Sessions, and what people decide.
    std::fs::write(start.join("ask.rhai"), FLOW).expect("writable");
    let session = run(
        &served.sandbox,
        &start,
        &["session", "start", "alice", "--flow", "ask.rhai", "--json"],
    );
    let session: Json = serde_json::from_slice(&session.stdout).expect("JSON");
    let id = session["session"].as_str().expect("an id");
    let request = session["pending"][0].as_str().expect("a request");
    listener.hear("session", &[("session", id), ("agent", "alice"), ("state", "held")]);
    listener.hear("hold", &[("request", request), ("session", id), ("state", "open")]);
    served.ok(&["decide", request, "approve"]);
    let by = [("request", request), ("by", "user:ada"), ("agent", "alice"), ("session", id)];
    listener.hear("decision", &by);
    listener.hear("hold", &[("request", request), ("state", "closed")]);
}

#[test]
fn what_happened_while_the_process_was_stopped_is_told_after_it() {
    let served = Served::new();
    let cookie = served.log_in();
    let mut listener = EventListener::begin(&served, &cookie);
    let pid = served.process.id().to_string();
    let signal = |name: &str| {
        let done = std::process::Command::new("kill").args([name, &pid]).status();
        assert!(done.expect("it runs").success());
    };
    signal("-STOP");
    served.ok(&["spawn", "alice", "-m", "x"]);
    served.ok(&["spawn", "bob", "-m", "x"]);
    served.ok(&["archive", "bob"]);
    let status = run(&served.sandbox, served.sandbox.start(), &["serve", "status"]);
    assert_eq!(status.status.code(), Some(1), "one that hangs is none");
    signal("-CONT");
    // Both in either order: who came and went meanwhile is told of as archived.
    let mut awaited = BTreeSet::from([("alice", "new"), ("bob", "archived")]);
    while !awaited.is_empty() {
        let event = listener.next("agent");
        let told = (event["agent"].as_str(), event["state"].as_str());
        awaited.retain(|(agent, state)| told != (Some(agent), Some(state)));
    }
}

#[test]
fn a_place_that_nobody_gave_out_is_one_of_another_epoch() {
    let served = Served::new();
    let cookie = served.log_in();
    let port = served.host.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    for place in [&b"x"[..], b"\xff\xfe", "é-1".as_bytes(), b"0000000000000000-1"] {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let host = &served.host;
        let head = format!(
            "GET /api/v1/events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nLast-Event-ID: "
        );
        stream.write_all(&[head.as_bytes(), place, b"\r\n\r\n"].concat()).expect("it reads");
        read_until(&mut stream, "event: reset");
    }
}
