//! One sandbox of the walk: how commands run in it and what can be seen from outside.

use std::fs;
use std::path::Path;
use std::time::Duration;

use agentic_testkit::crash::CrashFault;
use agentic_testkit::{FinishedProgram, ProgramEnding, Sandbox, Setup, Templates, run};
use serde_json::Value as Json;

/// How long one command may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);
/// The exit code of a Rust program that panicked.
const PANIC_EXIT: i32 = 101;

/// The flow of every scenario: an effect, a hold, an effect if approved, a commit.
const FLOW: &str = r#"
let log = " >> '" + input.log + "'";
if input.nap { sleep(1000); }
if "signal" in input { suspend(input.signal); }
exec("echo before" + log);
let answer = ();
try {
    answer = hold("Go on?", #{deadline: "2026-11-21T23:00:00.000Z", on_expiry: "late"});
} catch (e) {
    exec("echo cleaned" + log);
    throw e;
}
if answer.action == "approve" { exec("echo after" + log); }
commit(#{message: "Result", files: #{"result.txt": answer.action}});
answer.action
"#;

/// How the flow ends that a session goes on with.
const NEXT_END: &str = "\nanswer.action + \" by another flow\"\n";

/// The branches of a flow whose hold stands beside others: what it begins with, and what it goes on
/// with, which asks one thing more.
const BRANCHES: [&str; 2] = ["all([|| GO])[0]", "all([|| GO, || sleep(0)])[0]"];

/// Makes the flow whose hold stands beside others.
fn wide_flow(flow: &str, branches: &str) -> String {
    let hold = flow.split_once("answer = hold(").and_then(|(_, rest)| rest.split_once(");\n"));
    let hold = format!("hold({})", hold.expect("the flow has a hold").0);
    flow.replacen(&hold, &branches.replace("GO", &hold), 1)
}

/// A flow whose first effect stands in a scope and, where it is flaky, has to be tried twice; its
/// hold goes on to somebody else when nobody decides in time.
const SCOPED: &str = r#"
let first = "echo before >> '" + input.log + "'";
if input.flaky {
    let tried = "'" + input.log + ".tried'";
    first = "if test -e " + tried + "; then " + first + "; else touch " + tried + "; exit 75; fi";
}
scope("prepare", first, |first| exec(#{command: first, retries: 2}));
let late = #{to: ["user:eve"], deadline: "2026-11-21T23:45:00.000Z", on_expiry: "late"};
let answer = hold("Go on?", #{deadline: "2026-11-21T23:00:00.000Z", on_expiry: #{escalate: late}});
if answer.action == "approve" { exec("echo after >> '" + input.log + "'"); }
commit(#{message: "Result", files: #{"result.txt": answer.action}});
answer.action
"#;

/// How many steps come before and after the hold of the long flow: enough that each part of the
/// session's log is written anew, shorter, once it is sealed.
const LONG_STEPS: usize = 100;

/// Makes the flow whose log is long.
fn long_flow() -> String {
    let steps = format!("for n in 0..{LONG_STEPS} {{ sleep(0); }}\n");
    format!("{steps}{}", FLOW.replacen("commit(", &format!("{steps}commit("), 1))
}

/// A repository with the agent `alice` and the flow, and a log outside the store.
pub struct World {
    sandbox: Sandbox,
    now: String,
}

impl World {
    /// Makes a world at the given instant.
    pub fn new(templates: &Templates) -> Result<World, String> {
        let sandbox = templates.sandbox(Setup::Repository).map_err(|error| error.to_string())?;
        let binary = Path::new(env!("CARGO_BIN_EXE_agentic"));
        sandbox.install("agentic", binary).map_err(|error| error.to_string())?;
        let next = FLOW.replacen("\nanswer.action\n", NEXT_END, 1);
        let long = long_flow();
        let [wide, wider] = BRANCHES;
        let (wide, wider) = (wide_flow(FLOW, wide), wide_flow(&next, wider));
        let flows = [
            ("wide.rhai", wide.as_str()),
            ("wider.rhai", wider.as_str()),
            ("flow.rhai", FLOW),
            ("scoped.rhai", SCOPED),
            ("next.rhai", next.as_str()),
            ("long.rhai", long.as_str()),
        ];
        for (name, flow) in flows {
            fs::write(sandbox.root().join(name), flow).map_err(|error| error.to_string())?;
        }
        let world = World { sandbox, now: "2026-11-21T22:00:00.000Z".to_owned() };
        world.succeed("agentic spawn alice -m Briefing", &[0])?;
        Ok(world)
    }

    /// Sets the clock.
    pub fn set_now(&mut self, now: &str) {
        now.clone_into(&mut self.now);
    }

    /// Runs a line of shell whose last command is `agentic`, with a fault if there is one.
    pub fn run(&self, line: &str, fault: Option<&CrashFault>) -> Result<FinishedProgram, String> {
        let mut command = self.sandbox.command("sh", self.sandbox.start());
        command.args(["-c", &format!("exec {line}")]);
        command.env("AGENTIC_NOW", &self.now);
        command.env("FLOW", self.sandbox.root().join("flow.rhai"));
        command.env("SCOPED", self.sandbox.root().join("scoped.rhai"));
        command.env("NEXT", self.sandbox.root().join("next.rhai"));
        command.env("WIDE", self.sandbox.root().join("wide.rhai"));
        command.env("WIDER", self.sandbox.root().join("wider.rhai"));
        command.env("LONG", self.sandbox.root().join("long.rhai"));
        command.env("LOG", self.log());
        if let Some(fault) = fault {
            fault.arm(&mut command);
        }
        let finished = run(command, b"", COMMAND_LIMIT).map_err(|error| error.to_string())?;
        match finished.ending {
            ProgramEnding::Exit(PANIC_EXIT) | ProgramEnding::TimeLimit => {
                Err(self.told(line, &finished))
            }
            ProgramEnding::Exit(_) | ProgramEnding::Signal(_) => Ok(finished),
        }
    }

    /// Runs a line that must end with one of the exit codes.
    pub fn succeed(&self, line: &str, codes: &[i32]) -> Result<FinishedProgram, String> {
        let finished = self.run(line, None)?;
        match finished.ending {
            ProgramEnding::Exit(code) if codes.contains(&code) => Ok(finished),
            ProgramEnding::Exit(_) | ProgramEnding::Signal(_) | ProgramEnding::TimeLimit => {
                Err(self.told(line, &finished))
            }
        }
    }

    /// Runs a line that must end with one of the exit codes and print JSON.
    pub fn json(&self, line: &str, codes: &[i32]) -> Result<Json, String> {
        let finished = self.succeed(line, codes)?;
        serde_json::from_slice(&finished.stdout).map_err(|_| self.told(line, &finished))
    }

    /// Returns what git prints.
    pub fn git(&self, arguments: &[&str]) -> Result<String, String> {
        self.sandbox.git(self.sandbox.start(), arguments).map_err(|error| error.to_string())
    }

    /// Counts how often an effect happened.
    pub fn effects(&self, name: &str) -> usize {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        log.lines().filter(|line| *line == name).count()
    }

    /// Returns the sandbox.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    fn log(&self) -> std::path::PathBuf {
        self.sandbox.root().join("effects")
    }

    fn told(&self, line: &str, finished: &FinishedProgram) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        let (out, err) = (text(&finished.stdout), text(&finished.stderr));
        // A session as JSON is long; how it failed stands in `error`.
        let error = out.split_once("\"error\":").map_or(out.as_str(), |(_, error)| error);
        let verb: Vec<&str> = line.split(' ').take(4).collect();
        format!("`{}` ended with {:?}: {err} {error}", verb.join(" "), finished.ending)
    }
}
