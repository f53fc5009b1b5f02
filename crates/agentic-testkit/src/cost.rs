//! What verbs cost as whole commands: processor time, and instructions where valgrind is installed.
//!
//! Wall time depends on the neighbours of a machine; these do not.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Error;

/// The instant at which measured commands run, so that they do the same each time.
const NOW: &str = "2026-01-01T00:00:00Z";
/// A flow that asks a human.
const ASK: &str = "hold(\"Go on?\").value\n";

/// A command whose cost is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredCommand {
    /// `agentic spawn`
    Spawn,
    /// `agentic commit --stdin`
    Commit,
    /// `agentic trace add`
    TraceAdd,
    /// `agentic commit --stdin --trace`, of one entry
    CommitTrace,
    /// `agentic decide`
    Decide,
    /// `agentic log -n 5`
    Log,
    /// `agentic agents`
    Agents,
    /// `agentic pending`
    Pending,
    /// `agentic relations`
    Relations,
    /// `agentic session list`
    Sessions,
}

impl MeasuredCommand {
    /// Everything that is measured, with its name.
    pub const ALL: [(MeasuredCommand, &'static str); 10] = [
        (MeasuredCommand::Spawn, "spawn"),
        (MeasuredCommand::Commit, "commit"),
        (MeasuredCommand::TraceAdd, "trace-add"),
        (MeasuredCommand::CommitTrace, "commit-trace"),
        (MeasuredCommand::Decide, "decide"),
        (MeasuredCommand::Log, "log"),
        (MeasuredCommand::Agents, "agents"),
        (MeasuredCommand::Pending, "pending"),
        (MeasuredCommand::Relations, "relations"),
        (MeasuredCommand::Sessions, "session-list"),
    ];
}

/// Where commands are measured: a repository with an agent `a1`, and the binary.
#[derive(Debug, Clone)]
pub struct CostBench {
    binary: PathBuf,
    folder: PathBuf,
    rounds: usize,
}

/// How a command is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartMethod {
    Nothing,
    Valgrind,
}

impl CostBench {
    /// Takes a repository and the binary.
    ///
    /// # Errors
    /// Fails when the flow that asks cannot be written.
    pub fn new(binary: &Path, folder: &Path) -> Result<CostBench, Error> {
        let binary = binary.canonicalize().map_err(Error::file("find the binary"))?;
        let folder = folder.canonicalize().map_err(Error::file("find the repository"))?;
        std::fs::write(folder.join("ask.rhai"), ASK).map_err(Error::file("write the flow"))?;
        Ok(CostBench { binary, folder, rounds: 0 })
    }

    /// Measures one run of a command in processor time, in seconds: its own and that of programs it
    /// starts. The system counts in hundredths, so only sums of many runs say something.
    ///
    /// # Errors
    /// Fails when the command does.
    pub fn processor_seconds(&mut self, hot: MeasuredCommand) -> Result<f64, Error> {
        let (arguments, stdin) = self.prepare(hot)?;
        let before = children_ticks();
        self.run(StartMethod::Nothing, &arguments, &stdin)?;
        Ok((children_ticks() - before) as f64 / ticks_a_second())
    }

    /// Counts the instructions of one run, in user space, of the command itself.
    ///
    /// # Errors
    /// Fails when the command does, or valgrind is not installed.
    pub fn instructions(&mut self, hot: MeasuredCommand) -> Result<u64, Error> {
        let (arguments, stdin) = self.prepare(hot)?;
        let said = self.run(StartMethod::Valgrind, &arguments, &stdin)?;
        let count = said.lines().find_map(|line| line.split_once("refs:"));
        let count = count.and_then(|(_, count)| count.trim().replace(',', "").parse().ok());
        let command = "valgrind".to_owned();
        count.ok_or(Error::Command { command, said })
    }

    /// Does what has to be there before a command, and returns its arguments and input.
    fn prepare(&mut self, hot: MeasuredCommand) -> Result<(Vec<String>, String), Error> {
        self.rounds += 1;
        let n = self.rounds;
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        // Another process may have been here before.
        let edit = format!("{{\"d{}/f\":\"{} {n}\"}}", n % 10, std::process::id());
        Ok(match hot {
            MeasuredCommand::Spawn => {
                (words(&format!("spawn s{}x{n} --empty -m x", std::process::id())), edit)
            }
            MeasuredCommand::Commit => (words("commit --agent a1 -m x --stdin"), edit),
            MeasuredCommand::TraceAdd => (words("trace add --agent a1 seen"), String::new()),
            MeasuredCommand::CommitTrace => {
                self.run(StartMethod::Nothing, &words("trace add --agent a1 seen"), "")?;
                (words("commit --agent a1 -m x --stdin --trace"), edit)
            }
            MeasuredCommand::Decide => {
                let key = format!("k{}x{n}", std::process::id());
                let start = words("session start a1 --flow ask.rhai --json --key");
                let started = self.run(StartMethod::Nothing, &[start, vec![key]].concat(), "")?;
                let request = started
                    .split_once("\"pending\":[\"")
                    .and_then(|(_, rest)| Some(rest.split_once('"')?.0.to_owned()));
                let command = "agentic session start".to_owned();
                let request = request.ok_or(Error::Command { command, said: started })?;
                (words(&format!("decide {request} approve")), String::new())
            }
            MeasuredCommand::Log => (words("log a1 -n 5"), String::new()),
            MeasuredCommand::Agents => (words("agents"), String::new()),
            MeasuredCommand::Pending => (words("pending"), String::new()),
            MeasuredCommand::Relations => (words("relations"), String::new()),
            MeasuredCommand::Sessions => (words("session list"), String::new()),
        })
    }

    fn run(&self, under: StartMethod, arguments: &[String], stdin: &str) -> Result<String, Error> {
        let mut command = match under {
            StartMethod::Nothing => Command::new(&self.binary),
            StartMethod::Valgrind => {
                let mut command = Command::new("valgrind");
                command.args(["--tool=cachegrind", "--cache-sim=no"]);
                command.arg("--cachegrind-out-file=/dev/null").arg(&self.binary);
                command
            }
        };
        command.args(arguments).current_dir(&self.folder).env_remove("AGENTIC_AGENT");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.env("TZ", "UTC").env("AGENTIC_NOW", NOW);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(Error::file("start the command"))?;
        let mut pipe = child.stdin.take().expect("the pipe was asked for");
        // One that does not read says why with its exit code.
        let _ = std::io::Write::write_all(&mut pipe, stdin.as_bytes());
        drop(pipe);
        let output = child.wait_with_output().map_err(Error::file("wait for the command"))?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        let is_done = output.status.success() || output.status.code() == Some(4);
        let command = arguments.join(" ");
        if is_done { Ok(said) } else { Err(Error::Command { command, said }) }
    }
}

/// Tells whether instructions can be counted here.
pub fn has_valgrind() -> bool {
    let mut command = Command::new("valgrind");
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Reads how much processor time the processes have used that this one waited for.
fn children_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    // The 16th and 17th field of the whole line; the first two are cut off.
    fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

fn ticks_a_second() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

/// Reads how much memory this process had at most since it began, in bytes; 0 where the system does not
/// tell.
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or_default() * 1024
}
