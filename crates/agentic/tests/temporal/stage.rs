//! A repository, a real server and a worker, which tests may kill.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, TemporalServer, run};
use serde_json::Value as Json;

/// How long one command may take.
pub const LIMIT: Duration = Duration::from_secs(120);
/// How often is looked whether something has happened.
const LOOK_EVERY: Duration = Duration::from_millis(50);
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
    /// The program of the server, which also speaks to it.
    program: PathBuf,
    /// The worker, while it lives.
    pub worker: Option<Child>,
}

impl Stage {
    /// Makes a repository with the programs of the tests, starts a server and a worker.
    pub fn new() -> Stage {
        let mut stage = Stage::without_worker();
        stage.work();
        stage
    }

    /// Makes a repository with the programs of the tests and starts a server.
    pub fn without_worker() -> Stage {
        let program = Stage::program();
        let sandbox = sandbox();
        let folder = sandbox.root().join("server");
        let server = TemporalServer::begin(&program, &folder).expect("it starts");
        Stage { sandbox, server, program, worker: None }
    }

    /// Returns the program of the server.
    pub fn program() -> PathBuf {
        let binary = PathBuf::from(env!("CARGO_BIN_EXE_agentic"));
        let target = binary.ancestors().nth(2).expect("the binary lies in the target folder");
        let program = target.join("temporal/venv/bin/temporal");
        assert!(program.exists(), "`cargo xtask temporal install` gets the server");
        program
    }

    /// Starts a worker.
    pub fn work(&mut self) {
        self.work_within("");
    }

    /// Starts a worker after some words of the shell, which bound what it may do.
    pub fn work_within(&mut self, bounds: &str) {
        let mut command = self.sandbox.command("sh", self.sandbox.start());
        command.env("S", self.server.address());
        command.args(["-c", &format!("{bounds} exec agentic flow worker --sibyl-addr $S")]);
        self.work_as(command);
    }

    /// Starts a worker with these arguments and variables.
    pub fn work_with(&mut self, arguments: &[&str], variables: &[(&str, &str)]) {
        let mut command = self.sandbox.command("agentic", self.sandbox.start());
        command.args(["flow", "worker"]).args(arguments).envs(variables.iter().copied());
        self.work_as(command);
    }

    fn work_as(&mut self, mut command: std::process::Command) {
        let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.worker = Some(silent.spawn().expect("it starts"));
    }

    /// Kills the worker, as a power failure would.
    pub fn kill_worker(&mut self) {
        let mut worker = self.worker.take().expect("one works");
        worker.kill().expect("it is ours");
        worker.wait().expect("it is ours");
    }

    /// Writes files of the repository; what begins with `#!` may be executed.
    pub fn write(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.sandbox.start().join(name);
            std::fs::write(&path, text).expect("the sandbox is writable");
            if text.starts_with("#!") {
                std::fs::set_permissions(&path, Permissions::from_mode(0o755))
                    .expect("the sandbox is writable");
            }
        }
    }

    /// Says how many lines a file of the repository has.
    pub fn n_lines(&self, name: &str) -> usize {
        let text = std::fs::read_to_string(self.sandbox.start().join(name));
        text.map_or(0, |text| text.lines().count())
    }

    /// Starts a line of the shell and lets it run.
    pub fn start(&self, line: &str) -> Child {
        let mut command = self.sandbox.command("sh", self.sandbox.start());
        command.env("S", self.server.address()).args(["-c", line]);
        let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        silent.spawn().expect("there is a shell")
    }

    /// Asks the server about workflows with its own program; the text that it prints.
    pub fn server_says(&self, arguments: &[&str]) -> String {
        let address = self.server.address();
        let said = std::process::Command::new(&self.program)
            .args(arguments)
            .args(["--address", &address])
            .output()
            .expect("it is installed");
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    /// Starts a program and lets it run; returns the id of its workflow.
    pub fn detach(&self, line: &str) -> String {
        // It may be held already when this returns.
        let detach = format!("agentic flow run {line} --sibyl-addr $S --detach --json");
        let started = self.json(&format!("{detach} || test $? = 4"));
        started["session"].as_str().expect("it has an id").to_owned()
    }

    /// Waits until the server has tried an activity of a run in vain.
    pub fn until_tried_in_vain(&self, workflow: &str) {
        self.until("an activity fails", |stage| {
            let said = stage.server_says(&["workflow", "describe", "-w", workflow, "-o", "json"]);
            let described: Json = serde_json::from_str(&said).expect("it is JSON");
            let pending = described["pendingActivities"].as_array().cloned().unwrap_or_default();
            pending.iter().any(|one| one["attempt"].as_u64().unwrap_or(0) > 1)
        });
    }

    /// Waits until something is so.
    pub fn until(&self, what: &str, is_so: impl Fn(&Stage) -> bool) {
        let started = Instant::now();
        while !is_so(self) {
            assert!(started.elapsed() < LIMIT, "it never comes to this: {what}");
            std::thread::sleep(LOOK_EVERY);
        }
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
