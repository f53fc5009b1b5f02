//! A repository, a real server and a worker, which tests may kill.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, TemporalServer, run};
use serde_json::Value as Json;

/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(120);
/// What asks nobody.
const PLAIN: &str = "temporal static ( echo \"a\" >=> upper )\n";
/// What asks somebody.
const ASKING: &str = "temporal static ( echo \"a\" >=> hold \"go?\" >=> upper )\n";

/// A repository, a server, and a worker of both.
pub struct Stage {
    /// The repository.
    pub sandbox: Sandbox,
    /// The server.
    pub server: TemporalServer,
    /// The worker, while it lives.
    pub worker: Option<Child>,
}

impl Stage {
    /// Makes a repository with the programs of the tests, starts a server and a worker.
    pub fn new() -> Stage {
        let binary = PathBuf::from(env!("CARGO_BIN_EXE_agentic"));
        let target = binary.ancestors().nth(2).expect("the binary lies in the target folder");
        let program = target.join("temporal/venv/bin/temporal");
        assert!(program.exists(), "`cargo xtask temporal install` gets the server");
        let sandbox = sandbox();
        let folder = sandbox.root().join("server");
        let server = TemporalServer::begin(&program, &folder).expect("it starts");
        let mut stage = Stage { sandbox, server, worker: None };
        stage.work();
        stage
    }

    /// Starts a worker.
    pub fn work(&mut self) {
        let mut command = self.sandbox.command("agentic", self.sandbox.start());
        command.args(["flow", "worker", "--sibyl-addr", &self.server.address()]);
        let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.worker = Some(silent.spawn().expect("it starts"));
    }

    /// Kills the worker, as a power failure would.
    pub fn kill_worker(&mut self) {
        let mut worker = self.worker.take().expect("one works");
        worker.kill().expect("it is ours");
        worker.wait().expect("it is ours");
    }

    /// Runs a line of the shell in which `$S` is the address of the server.
    pub fn say(&self, line: &str) -> FinishedProgram {
        say(&self.sandbox, &self.server.address(), line)
    }

    /// Runs a line that must end so; returns what it printed.
    pub fn ends(&self, line: &str, code: i32) -> String {
        let finished = self.say(line);
        assert_eq!(finished.ending, ProgramEnding::Exit(code), "{line}: {}", errors(&finished));
        String::from_utf8_lossy(&finished.stdout).into_owned()
    }

    /// Runs a line that must end well; returns the JSON that it printed.
    pub fn json(&self, line: &str) -> Json {
        let said = self.ends(line, 0);
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{line}: {error}: {said}"))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.worker.is_some() {
            self.kill_worker();
        }
        self.server.kill();
    }
}

/// Makes a repository with the programs of the tests.
pub fn sandbox() -> Sandbox {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    sandbox.install("agentic", env!("CARGO_BIN_EXE_agentic").as_ref()).expect("writable");
    for (file, text) in [("plain.as", PLAIN), ("asking.as", ASKING)] {
        std::fs::write(sandbox.start().join(file), text).expect("the sandbox is writable");
    }
    sandbox
}

/// Runs a line of the shell in a repository.
pub fn say(sandbox: &Sandbox, address: &str, line: &str) -> FinishedProgram {
    let mut command = sandbox.command("sh", sandbox.start());
    command.env("S", address).args(["-c", line]);
    run(command, b"", LIMIT).expect("there is a shell")
}

/// Returns what a program complained of.
pub fn errors(finished: &FinishedProgram) -> String {
    String::from_utf8_lossy(&finished.stderr).into_owned()
}
