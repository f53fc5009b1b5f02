//! A server whose index hangs replaces itself by the same program: whoever is logged in stays so, whoever
//! waits is answered, and nothing is left behind.

use std::path::PathBuf;

use super::*;

/// What an operation of the index waits for: that a file goes away.
const HANG: &str = r#"while [ -e "$HANG" ]; do sleep 0.05; done"#;
/// How long a process has to see a second time that an operation never comes back, with room to spare.
const LOOKS: Duration = Duration::from_secs(2);

/// A server whose index can be made to hang.
struct HangingServer {
    served: Served,
    hang: PathBuf,
}

impl HangingServer {
    fn begin(arguments: &[&str], variables: &[(&str, &str)]) -> HangingServer {
        let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
        sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
        let (start, hang) = (sandbox.start().to_owned(), sandbox.root().join("hang"));
        // As `--detach` does it.
        std::fs::create_dir_all(start.join(".git/agentic/serve")).expect("writable");
        let log = std::fs::File::options().append(true).create(true).open(log_of(&sandbox));
        let mut command = sandbox.command("agentic", &start);
        command.arg("serve").args(arguments).envs(variables.iter().copied());
        command.env("AGENTIC_RUN", HANG).env("HANG", &hang);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log.expect("writable"));
        let process = command.spawn().expect("it starts");
        let process = await_answer(&sandbox, &start, process).expect("it ended");
        HangingServer { served: Served::of(sandbox, process), hang }
    }

    fn hang(&self) {
        std::fs::write(&self.hang, "").expect("writable");
    }

    fn go_on(&self) {
        std::fs::remove_file(&self.hang).expect("it is there");
    }

    fn log(&self) -> String {
        std::fs::read_to_string(log_of(&self.served.sandbox)).expect("a log")
    }

    fn status(&self) -> Json {
        serde_json::from_str(&self.served.ok(&["serve", "status", "--json"])).expect("JSON")
    }

    fn wait_until(&self, what: &str, is_so: impl Fn(&HangingServer) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            assert!(begun.elapsed() < PATIENCE, "{what}: {}{}", self.log(), self.status());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn are_indexes(&self, state: &str) -> bool {
        let index = &self.status()["index"];
        index["main"]["state"] == state && index["text"]["state"] == state
    }

    /// Connects, and sends the beginning of a request.
    fn send(&self, text: &str) -> TcpStream {
        let port = self.served.host.rsplit(':').next().and_then(|port| port.parse().ok());
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port.expect("a port")));
        let mut stream = stream.expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        stream.write_all(text.as_bytes()).expect("it reads");
        stream
    }

    fn get(&self, path: &str, cookie: &str, more: &str) -> TcpStream {
        let host = &self.served.host;
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n{more}\r\n"))
    }
}

fn log_of(sandbox: &Sandbox) -> PathBuf {
    sandbox.start().join(".git/agentic/serve/log")
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

/// Returns the children of a process, each with its state.
fn children(pid: u32) -> Vec<(u32, String)> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let pids: Vec<u32> = lists
        .flat_map(|list| list.split_ascii_whitespace().map(str::to_owned).collect::<Vec<String>>())
        .map(|pid| pid.parse().expect("a number"))
        .collect();
    let state = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some((pid, stat.rsplit_once(") ")?.1[..1].to_owned()))
    };
    pids.into_iter().filter_map(state).collect()
}

#[test]
fn a_server_whose_index_hangs_replaces_itself_once_and_nobody_is_logged_out() {
    let variables = [("AGENTIC_RUN_AT", "index-flush:*")];
    let server = HangingServer::begin(&["--drive"], &variables);
    let (request, cookie, origin) =
        (server.served.hold(), server.served.log_in(), server.served.origin());
    let hold = format!("/holds/{request}");
    let mut form = fields(&server.served.ask("GET", &hold, &[("Cookie", &cookie)], "").body);
    form.insert("action".to_owned(), "approve".to_owned());
    server.wait_until("it is driven", |server| server.status()["driven"] == true);
    let pid = server.served.process.id();
    let workers = children(pid);
    assert_eq!(workers.len(), 1, "{workers:?}");
    let mut stream = server.get("/api/v1/events", &cookie, "");
    read_until(&mut stream, "text/event-stream");
    let host = &server.served.host;
    let mut pending = server.send(&format!(
        "POST /login HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nContent-Type: {FORM}\r\n\
         Content-Length: 7\r\n\r\ncode"
    ));

    server.hang();
    server.wait_until("it notices", |server| server.log().contains("replaces itself"));
    let mut waiting = server.get("/agents", &cookie, "Connection: close\r\n");
    pending.write_all(b"=xx").expect("it reads");
    read_until(&mut pending, "HTTP/1.1 401");
    let mut told = Vec::new();
    stream.read_to_end(&mut told).expect("a stream ends");
    server.wait_until("it is back", |server| count(&server.log(), "serving http") == 2);
    server.go_on();
    read_until(&mut waiting, "/agents/alice");

    let status = server.status();
    assert_eq!(status["pid"], pid);
    assert_eq!(status["url"], server.served.origin());
    let mut again = server.get("/api/v1/events", &cookie, "Last-Event-ID: 00ff-7\r\n");
    read_until(&mut again, "event: reset");
    let headers = [("Cookie", cookie.as_str()), ("Origin", &origin), ("Content-Type", FORM)];
    let decided = server.served.ask("POST", &format!("{hold}/decision"), &headers, &encoded(&form));
    assert_eq!(decided.status, 303, "a form of before is still good: {}", decided.body);
    server
        .wait_until("it goes on", |server| server.served.ok(&["session", "list"]).contains("done"));
    server.wait_until("both are made anew", |server| server.are_indexes("ready"));
    server.wait_until("all that ended is waited for", |_| children(pid) == workers);
    assert_eq!(server.status()["driven"], true, "the worker is the one of before");

    server.hang();
    server.wait_until("it hangs again", |server| server.are_indexes("absent"));
    std::thread::sleep(LOOKS);
    assert_eq!(server.served.ask("GET", "/agents", &[("Cookie", &cookie)], "").status, 200);
    let log = server.log();
    assert_eq!((count(&log, "replaces itself"), count(&log, "serving http")), (1, 2), "{log}");
    server.go_on();
    server.wait_until("it answers again", |server| server.are_indexes("ready"));
    let mut served = server.served;
    served.ok(&["serve", "stop"]);
    assert_eq!(served.process.wait().expect("a child").code(), Some(0));
}

#[test]
fn a_server_that_cannot_replace_itself_goes_on_with_another_index() {
    let variables = [("AGENTIC_RUN_AT", "index-flush:1"), ("AGENTIC_FAIL_AT", "replacement")];
    let server = HangingServer::begin(&[], &variables);
    let cookie = server.served.log_in();
    server.served.ok(&["spawn", "alice", "-m", "x"]);
    server.hang();
    server.wait_until("it tries", |server| server.log().contains("cannot replace itself"));
    server.wait_until("both are made anew", |server| server.are_indexes("ready"));
    let agents = server.served.ask("GET", "/agents", &[("Cookie", &cookie)], "");
    assert_eq!(agents.status, 200);
    assert!(agents.body.contains("/agents/alice"));
    let mut stream = server.get("/api/v1/events", &cookie, "");
    read_until(&mut stream, "text/event-stream");
    server.served.ok(&["trace", "add", "--agent", "alice", "a word"]);
    read_until(&mut stream, "event: trace");
    server.go_on();
    let mut served = server.served;
    served.ok(&["serve", "stop"]);
    assert_eq!(served.process.wait().expect("a child").code(), Some(0));
}

#[test]
fn nobody_says_again_by_hand() {
    let sandbox = Sandbox::new(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    let refused = run(&sandbox, sandbox.start(), &["serve", "--again"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("cannot take over"), "{said}");
}
