//! Whoever speaks through the socket is known by their process: a program of an agent reads, and
//! decides nothing, neither by the API nor by the form of the page.

use std::os::unix::net::UnixStream;
use std::process::Command;

use serde_json::json;

use super::decision::{DecisionFields, whole, with};
use super::*;

/// The variable that makes this program a client of a socket: its path.
const SOCKET: &str = "AGENTIC_TEST_SOCKET";
/// What that client sends.
const SENT: &str = "AGENTIC_TEST_SENT";

/// Where a client stands, and for which agent it works, if for any.
struct SocketClient<'s> {
    served: &'s Served,
    folder: &'s Path,
    agent: &'s str,
}

impl SocketClient<'_> {
    /// Sends something from a process of its own, and returns what is answered.
    fn send(&self, sent: &str) -> String {
        let socket = self.served.sandbox.start().join(".git/agentic/serve/sock");
        let mut client = Command::new(std::env::current_exe().expect("this program"));
        client.args(["--exact", "serve::peer::a_client_of_the_socket", "--nocapture"]);
        client.env_remove("AGENTIC_REQUEST").env("AGENTIC_AGENT", self.agent);
        client.current_dir(self.folder).env(SOCKET, &socket).env(SENT, sent);
        String::from_utf8(client.output().expect("it runs").stdout).expect("text")
    }

    fn get(&self, path: &str) -> String {
        self.send(&format!("GET {path} HTTP/1.0\r\nHost: agentic\r\n\r\n"))
    }

    fn post(&self, path: &str, content: &str, body: &str) -> String {
        let length = body.len();
        self.send(&format!(
            "POST {path} HTTP/1.0\r\nHost: agentic\r\nContent-Type: {content}\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        ))
    }
}

/// Somebody at the socket, an agent's program, and one that stands in an agent's worktree.
fn clients<'s>(served: &'s Served, worktree: &'s Path) -> [SocketClient<'s>; 3] {
    let start = served.sandbox.start();
    [("", start), ("bob", start), ("", worktree)].map(|(agent, folder)| SocketClient {
        served,
        folder,
        agent,
    })
}

fn worktree(served: &Served) -> std::path::PathBuf {
    let folder = served.sandbox.repositories().join("carl");
    let path = folder.to_str().expect("text");
    served.ok(&["spawn", "carl", "-m", "x", "--at", "main", "--worktree", path]);
    std::fs::create_dir_all(folder.join("below")).expect("writable");
    folder.join("below")
}

fn n_pending(served: &Served) -> Option<usize> {
    let pending: Json = serde_json::from_str(&served.ok(&["pending", "--json"])).expect("JSON");
    pending.as_array().map(Vec::len)
}

#[test]
fn a_program_of_an_agent_decides_nothing_by_the_api() {
    let served = Served::new();
    let (request, folder) = (served.hold(), worktree(&served));
    let [person, others @ ..] = clients(&served, &folder);
    let path = format!("/api/v1/pending/{request}");
    let shown = person.get(&path);
    assert!(shown.contains("\"token\""), "{shown}");
    for other in &others {
        let shown = other.get(&path);
        assert!(shown.contains("\"shown\"") && !shown.contains("\"token\""), "{shown}");
    }
    let body = shown.split("\r\n\r\n").nth(1).expect("a body").lines().next().expect("a line");
    let hold: Json = serde_json::from_str(body).expect("JSON");
    let sent = json!({
        "action": "approve",
        "request_hash": hold["request_hash"],
        "shown": hold["shown"],
        "token": hold["token"],
    })
    .to_string();
    let path = format!("{path}/decision");
    for other in &others {
        let refused = other.post(&path, "application/json", &sent);
        assert!(refused.contains("HTTP/1.0 403"), "{refused}");
    }
    assert_eq!(n_pending(&served), Some(1));
    let decided = person.post(&path, "application/json", &sent);
    assert!(decided.contains("HTTP/1.0 200"), "{decided}");
}

#[test]
fn a_program_of_an_agent_decides_nothing_by_the_form_of_the_page() {
    let served = Served::new();
    let (request, folder) = (served.hold(), worktree(&served));
    let [person, others @ ..] = clients(&served, &folder);
    let path = format!("/holds/{request}");
    let form = with(&fields(&person.get(&path)), &[("action", "approve")]);
    let path = format!("{path}/decision");
    for other in &others {
        for page in ["/", &format!("/holds/{request}")] {
            let shown = other.get(page);
            let is_plain = shown.contains("Deploy") && !shown.contains("name=\"token\" value=\"1");
            assert!(shown.contains("may only look"), "{shown}");
            assert!(is_plain || !shown.contains("class=\"decision\""), "{shown}");
        }
        let refused = other.post(&path, FORM, &whole(&form));
        assert!(refused.contains("HTTP/1.0 403"), "{refused}");
        let forged: DecisionFields = with(&form, &[("token", "")]);
        let refused = other.post(&path, FORM, &whole(&forged));
        assert!(refused.contains("HTTP/1.0 403"), "{refused}");
    }
    assert_eq!(n_pending(&served), Some(1));
    let decided = person.post(&path, FORM, &whole(&form));
    assert!(decided.contains("HTTP/1.0 303"), "{decided}");
    assert_eq!(n_pending(&served), Some(0));
}

#[test]
fn the_socket_alone_serves_programs_with_a_token() {
    let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let start = sandbox.start().to_owned();
    ok(&sandbox, &start, &["spawn", "alice", "-m", "x"]);
    let mut process = begin(&sandbox, &start, &["--no-tcp", "--mcp"]);
    let token = ok(&sandbox, &start, &["serve", "token", "--agent", "alice", "reader"]);
    let asked = |token: &str| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
        let length = body.len();
        let mut stream = UnixStream::connect(start.join(".git/agentic/serve/sock")).expect("one");
        // In one piece: a stranger is refused before the body is read.
        let sent = format!(
            "POST /mcp HTTP/1.0\r\nHost: agentic\r\nAuthorization: Bearer {token}\r\n\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(sent.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    };
    let told = asked(token.trim());
    assert!(told.contains("HTTP/1.0 200") && told.contains("session_cancel"), "{told}");
    assert!(asked("none").contains("HTTP/1.0 401"));
    ok(&sandbox, &start, &["serve", "stop"]);
    assert_eq!(process.wait().expect("a child").code(), Some(0));
}

/// Is a client of the socket where the environment says so, for the tests before this one: whose
/// program asks is told by its environment and its folder.
#[test]
fn a_client_of_the_socket() {
    let (Some(socket), Ok(sent)) = (std::env::var_os(SOCKET), std::env::var(SENT)) else { return };
    let mut stream = UnixStream::connect(socket).expect("it listens");
    stream.write_all(sent.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    println!("\n{answer}");
}
