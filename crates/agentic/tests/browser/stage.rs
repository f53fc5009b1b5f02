//! A repository that is served, and people who look at it.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use agentic_testkit::{Browser, ProgramEnding, Sandbox, Setup, run};
use serde_json::Value as Json;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(60);
/// The exit code of a session that waits for a person.
const HELD: i32 = 4;

/// A repository that is served. Dropping it ends the process that serves it.
pub struct ServedRepository {
    /// Where it is.
    pub sandbox: Sandbox,
    server: Child,
}

impl ServedRepository {
    /// Makes a repository and serves it.
    pub fn begin() -> ServedRepository {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_agentic"), sandbox.start());
        command.arg("serve").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = command.spawn().expect("the program is built");
        let served = ServedRepository { sandbox, server };
        let begun = Instant::now();
        while served.try_agentic(&["serve", "status"]).0 != 0 {
            assert!(begun.elapsed() < LIMIT, "nothing is served");
            std::thread::sleep(Duration::from_millis(50));
        }
        served
    }

    fn try_agentic(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_agentic"), self.sandbox.start());
        command.args(arguments);
        let finished = run(command, b"", LIMIT).expect("the program is built");
        let ProgramEnding::Exit(code) = finished.ending else { panic!("{:?}", finished.ending) };
        let stream = if code == 0 || code == HELD { finished.stdout } else { finished.stderr };
        (code, String::from_utf8(stream).expect("it prints text"))
    }

    /// Runs a command, and returns what it prints.
    pub fn agentic(&self, arguments: &[&str]) -> String {
        let (code, said) = self.try_agentic(arguments);
        assert_eq!(code, 0, "agentic {arguments:?}: {said}");
        said
    }

    /// Starts a session of an agent whose flow asks a person; returns the request.
    pub fn ask(&self, agent: &str, flow: &str) -> String {
        let file = format!("{agent}.rhai");
        std::fs::write(self.sandbox.start().join(&file), flow).expect("writable");
        self.agentic(&["spawn", agent, "-m", "x"]);
        let start = ["session", "start", agent, "--flow", &file, "--json"];
        let (code, said) = self.try_agentic(&start);
        assert_eq!(code, HELD, "{said}");
        let started: Json = serde_json::from_str(&said).expect("it prints JSON");
        started["pending"][0].as_str().expect("a request").to_owned()
    }

    /// Returns the fields of an agent's newest decision.
    pub fn decision(&self, agent: &str) -> Json {
        let said = self.agentic(&["log", agent, "--kind", "decision", "--json"]);
        let mut log: Json = serde_json::from_str(&said).expect("it prints JSON");
        log[0]["fields"].take()
    }

    /// Opens a browser, and logs in by the address that a person is given.
    pub fn visit(&self) -> Browser {
        let browser = Browser::open(&tools()).expect("`cargo xtask browser` gets one");
        browser.go(self.agentic(&["serve", "open", "--print"]).trim()).expect("the page opens");
        browser.wait_for("h1", "Inbox").expect("the code logs in");
        browser
    }

    /// Opens a browser that runs no script, and logs in by typing the code.
    pub fn visit_without_script(&self) -> Browser {
        let browser = Browser::open(&tools()).expect("`cargo xtask browser` gets one");
        let address = self.agentic(&["serve", "open", "--print"]);
        let (login, code) = address.trim().split_once('#').expect("the code stands behind `#`");
        browser.forbid_scripts().expect("the browser can do without");
        browser.go(login).expect("the page opens");
        browser.type_into("#code", code).expect("there is a field");
        browser.click("#login button").expect("there is a button");
        browser.wait_for("h1", "Inbox").expect("the code logs in");
        browser
    }
}

impl Drop for ServedRepository {
    fn drop(&mut self) {
        let _it_may_have_ended = self.server.kill();
        let _it_may_have_ended = self.server.wait();
    }
}

/// Returns the folder below the target folder in which browsers and pictures are kept.
pub fn tools() -> PathBuf {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    target.parent().expect("it is below the target folder").join("browser")
}

/// Returns the address of a page beside the one that is open.
pub fn beside(browser: &Browser, path: &str) -> String {
    let address = browser.address().expect("a page is open");
    let host = address.split('/').nth(2).expect("an address has a host");
    format!("http://{host}{path}")
}
