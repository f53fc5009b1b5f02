//! A repository that is served, and how tests speak to it: by commands and by HTTP.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use agentic_testkit::{Sandbox, Setup};
use serde_json::Value as Json;

/// How long anything here may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// A program that asks a person.
pub(crate) const FLOW: &str = r#"hold("Deploy <b>build</b> 91?").action"#;
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";

/// A repository that is served.
pub(crate) struct Served {
    pub(crate) sandbox: Sandbox,
    pub(crate) process: Child,
    /// The name under which the page is heard, with its port.
    pub(crate) host: String,
}

/// What was answered.
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Served {
    pub(crate) fn new() -> Served {
        Served::with(&[])
    }

    pub(crate) fn with(arguments: &[&str]) -> Served {
        let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
        sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
        let process = begin(&sandbox, sandbox.start(), arguments);
        Served::of(sandbox, process)
    }

    /// Takes a process that serves.
    pub(crate) fn of(sandbox: Sandbox, process: Child) -> Served {
        let mut served = Served { sandbox, process, host: String::new() };
        let status: Json =
            serde_json::from_str(&served.ok(&["serve", "status", "--json"])).expect("JSON");
        let url = status["url"].as_str().expect("it has a page");
        served.host = url.trim_start_matches("http://").to_owned();
        served
    }

    /// Runs a command that must succeed, and returns what it printed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        ok(&self.sandbox, self.sandbox.start(), arguments)
    }

    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answered {
        let mut all = vec![("Host", self.host.as_str()), ("Connection", "close")];
        all.extend(headers);
        self.send(method, path, &all, body)
    }

    /// Sends exactly these headers, but for the length.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answered {
        let port = self.host.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let lines: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        // In one piece: who is refused may be answered before the rest is read, and the rest then breaks
        // the connection.
        let request =
            format!("{method} {path} HTTP/1.1\r\n{lines}Content-Length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        // Stored bytes may be any; nobody here looks at more than their head.
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status =
            head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Answered { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.host)
    }

    /// Logs in, and returns the cookie.
    pub(crate) fn log_in(&self) -> String {
        let address = self.ok(&["serve", "open", "--print"]);
        let (page, code) = address.trim().split_once('#').expect("a code");
        assert_eq!(page, format!("http://{}/login", self.host));
        let origin = self.origin();
        let headers = [("Origin", origin.as_str()), ("Content-Type", FORM)];
        let answered = self.ask("POST", "/login", &headers, &format!("code={code}"));
        assert_eq!(answered.status, 303, "{}", answered.body);
        let again = self.ask("POST", "/login", &headers, &format!("code={code}"));
        assert_eq!(again.status, 401, "a code is good once");
        let cookie = answered.head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.expect("a cookie");
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        cookie.split(';').next().expect("a pair").to_owned()
    }

    /// Has a program ask a person, and returns the request.
    pub(crate) fn hold(&self) -> String {
        let flow = self.sandbox.start().join("ask.rhai");
        std::fs::write(flow, FLOW).expect("writable");
        self.ok(&["spawn", "alice", "-m", "deploy"]);
        let start = run(
            &self.sandbox,
            self.sandbox.start(),
            &["session", "start", "alice", "--flow", "ask.rhai"],
        );
        assert_eq!(start.status.code(), Some(4), "it waits for a person");
        let pending: Json = serde_json::from_str(&self.ok(&["pending", "--json"])).expect("JSON");
        pending[0]["request"].as_str().expect("one request").to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Begins a process that serves, and waits until it answers.
pub(crate) fn begin(sandbox: &Sandbox, folder: &Path, arguments: &[&str]) -> Child {
    let mut command = sandbox.command("agentic", folder);
    command.arg("serve").args(arguments);
    // Whoever runs the tests is not asked for a passphrase.
    command.env("SSH_ASKPASS", "false").env("SSH_ASKPASS_REQUIRE", "force");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let process = command.spawn().expect("it starts");
    await_answer(sandbox, folder, process).expect("it ended")
}

/// Waits until a process that serves answers; nothing where it ended before.
pub(crate) fn await_answer(sandbox: &Sandbox, folder: &Path, mut process: Child) -> Option<Child> {
    let begun = Instant::now();
    loop {
        let status = run(sandbox, folder, &["serve", "status", "--json"]);
        let is_this = serde_json::from_slice::<Json>(&status.stdout)
            .is_ok_and(|status| status["pid"] == process.id());
        if is_this {
            return Some(process);
        }
        if process.try_wait().expect("a child").is_some() {
            return None;
        }
        assert!(begun.elapsed() < PATIENCE, "it never answers");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn run(sandbox: &Sandbox, folder: &Path, arguments: &[&str]) -> Output {
    sandbox
        .command("agentic", folder)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("it runs")
}

pub(crate) fn ok(sandbox: &Sandbox, folder: &Path, arguments: &[&str]) -> String {
    let output = run(sandbox, folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

/// Reads the hidden fields of the form of a decision.
pub(crate) fn fields(page: &str) -> BTreeMap<String, String> {
    let form = &page[page.find("id=\"decision\"").expect("a form")..];
    let hidden = form.split("<input type=\"hidden\" name=\"").skip(1);
    let field = |text: &str| {
        let (name, rest) = text.split_once("\" value=\"").expect("a value");
        let (value, _) = rest.split_once('"').expect("its end");
        (name.to_owned(), value.to_owned())
    };
    hidden.map(field).collect()
}

pub(crate) fn encoded(fields: &BTreeMap<String, String>) -> String {
    // Ids, hashes, instants and seals need no more than this.
    let pairs = fields.iter().map(|(name, value)| format!("{name}={}", value.replace(':', "%3A")));
    pairs.collect::<Vec<String>>().join("&")
}
