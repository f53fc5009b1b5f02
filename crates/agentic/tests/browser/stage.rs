//! A repository that is served, and people who look at it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
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
    folder: PathBuf,
    variables: Vec<(String, String)>,
    server: Child,
}

impl ServedRepository {
    /// Makes a repository and serves it.
    pub fn begin() -> ServedRepository {
        ServedRepository::begin_with(|_| Vec::new())
    }

    /// Makes a repository and serves it, by a process with these variables.
    pub fn begin_with(
        variables: impl FnOnce(&Sandbox) -> Vec<(String, String)>,
    ) -> ServedRepository {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let (folder, variables) = (sandbox.start().to_owned(), variables(&sandbox));
        ServedRepository::serve(sandbox, folder, variables)
    }

    fn serve(
        sandbox: Sandbox,
        folder: PathBuf,
        variables: Vec<(String, String)>,
    ) -> ServedRepository {
        let server = start(&sandbox, &folder, &variables);
        let served = ServedRepository { sandbox, folder, variables, server };
        served.await_answer();
        served
    }

    fn await_answer(&self) {
        let begun = Instant::now();
        while self.try_agentic(&["serve", "status"]).0 != 0 {
            assert!(begun.elapsed() < LIMIT, "nothing is served");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends the process that serves, has something done, and serves again.
    pub fn restart(&mut self, meanwhile: impl FnOnce(&ServedRepository)) {
        self.agentic(&["serve", "stop"]);
        self.server.wait().expect("it is a child");
        meanwhile(self);
        self.server = start(&self.sandbox, &self.folder, &self.variables);
        self.await_answer();
    }

    /// Makes a command of this repository.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_agentic"), &self.folder);
        command.args(arguments);
        command
    }

    /// Runs a command, and returns how it ended and what it printed.
    pub fn try_agentic(&self, arguments: &[&str]) -> (i32, String) {
        self.try_at(arguments, None)
    }

    /// Does the same at an instant, if one is given.
    fn try_at(&self, arguments: &[&str], now: Option<&str>) -> (i32, String) {
        let mut command = self.command(arguments);
        command.envs(now.map(|now| ("AGENTIC_NOW", now)));
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

    /// Runs a command that prints JSON, and returns it.
    pub fn json(&self, arguments: &[&str]) -> Json {
        let said = self.agentic(&[arguments, &["--json"]].concat());
        serde_json::from_str(&said).expect("it prints JSON")
    }

    /// Runs a command that must succeed, as if it were another instant.
    pub fn at(&self, now: &str, arguments: &[&str]) -> String {
        let (code, said) = self.try_at(arguments, Some(now));
        assert!(code == 0 || code == HELD, "agentic {arguments:?}: {said}");
        said
    }

    /// Starts a session of an agent whose flow asks a person; returns the request.
    pub fn ask(&self, agent: &str, flow: &str) -> String {
        self.agentic(&["spawn", agent, "-m", "x"]);
        let started = self.start_session(agent, flow, &[]);
        started["pending"][0].as_str().expect("a request").to_owned()
    }

    /// Starts a session of an agent that ends or waits for people, and returns what it is.
    pub fn start_session(&self, agent: &str, flow: &str, more: &[&str]) -> Json {
        let file = format!("{agent}.rhai");
        std::fs::write(self.folder.join(&file), flow).expect("writable");
        let start = ["session", "start", agent, "--flow", &file, "--json"];
        let (code, said) = self.try_agentic(&[&start[..], more].concat());
        assert!(code == 0 || code == HELD, "{said}");
        serde_json::from_str(&said).expect("it prints JSON")
    }

    /// Commits the files of a folder as an agent, and returns the commit.
    pub fn commit(&self, agent: &str, folder: &str, more: &[&str]) -> String {
        let head = self.sandbox.git(&self.folder, &["rev-parse", &format!("agents/{agent}")]);
        let head = head.expect("it has a branch");
        let what = ["commit", "--agent", agent, "--tree", folder, "--expect", head.trim()];
        let made = self.json(&[&what[..], more].concat());
        made["commit"].as_str().expect("an id").to_owned()
    }

    /// Writes a file of the folder that is committed.
    pub fn write(&self, path: &str, content: &[u8]) {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("writable");
        std::fs::write(path, content).expect("writable");
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
        self.log_in(&browser);
        browser
    }

    /// Logs in, in the tab that is open.
    pub fn log_in(&self, browser: &Browser) {
        browser.go(self.agentic(&["serve", "open", "--print"]).trim()).expect("the page opens");
        browser.wait_for("h1", "Inbox").expect("the code logs in");
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

fn start(sandbox: &Sandbox, folder: &Path, variables: &[(String, String)]) -> Child {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_agentic"), folder);
    command.arg("serve").envs(variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program is built")
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

/// Opens a page beside the one that is open.
pub fn go(browser: &Browser, path: &str) {
    browser.go(&beside(browser, path)).expect("the page opens");
}

/// Returns the instant so many milliseconds from now.
pub fn deadline_in(millis: i64) -> agentic_model::Instant {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = i64::try_from(since.expect("after 1970").as_millis()).expect("this age");
    agentic_model::Instant::from_millis(now + millis)
}

/// Checks that the console has said nothing since it was asked last.
pub fn is_silent(browser: &Browser, place: &str) {
    let said = browser.console().expect("the console can be read");
    assert_eq!(said, Vec::<String>::new(), "{place}");
}
