//! Many processes that write at the same time, and what stock git finds of it afterwards.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use agentic_space::model::Briefing;
use agentic_space::spawn::SpawnOrigin;
use agentic_space::{Durability, Options, Space};
use agentic_testkit::{Error, ProgramEnding, Sandbox, Setup, run};

use crate::fleet::Fleet;
use crate::worker::parse;

/// What many processes do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadWork {
    /// Each commits with a trace on its own agent.
    OwnBranches,
    /// All commit on one agent.
    OneBranch,
    /// Each spawns agents.
    Spawns,
    /// Each appends trace entries to its own agent.
    Entries,
    /// Each commits without a trace on its own agent.
    Commits,
    /// All commit without a trace on one agent.
    OneBranchCommits,
    /// Each commits batches of a hundred on its own agent.
    Batches,
    /// Each appends trace entries to its own agent, a thousand at a time.
    EntryBatches,
    /// Half of them commit on their own agents, half read.
    ReadersAmongWriters,
}

impl LoadWork {
    /// Every sort of work with its name.
    pub const ALL: [(LoadWork, &'static str); 9] = [
        (LoadWork::OwnBranches, "own-branches"),
        (LoadWork::OneBranch, "one-branch"),
        (LoadWork::Spawns, "spawns"),
        (LoadWork::Entries, "entries"),
        (LoadWork::Commits, "commits"),
        (LoadWork::OneBranchCommits, "one-branch-commits"),
        (LoadWork::Batches, "batches"),
        (LoadWork::EntryBatches, "entry-batches"),
        (LoadWork::ReadersAmongWriters, "readers"),
    ];

    /// Finds a sort of work by its name.
    pub fn parse(name: &str) -> Option<LoadWork> {
        LoadWork::ALL.iter().find(|(_, known)| *known == name).map(|(work, _)| *work)
    }

    fn name(self) -> &'static str {
        LoadWork::ALL.iter().find(|(work, _)| *work == self).map_or("", |(_, name)| name)
    }
}

/// How much is to be done.
#[derive(Debug, Clone)]
pub struct Load {
    /// What.
    pub work: LoadWork,
    /// By how many processes.
    pub n_processes: usize,
    /// With how many threads each.
    pub n_threads: usize,
    /// How often by each.
    pub n_rounds: usize,
    /// How many files the tree has.
    pub n_files: usize,
    /// How durably.
    pub durability: Durability,
    /// Where the repository is made: on the disk that is to be measured.
    pub place: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct LoadReport {
    /// How many writes were acknowledged.
    pub n_done: usize,
    /// How long everything took, from the moment at which all processes were ready.
    pub seconds: f64,
    /// How long one write took, sorted, in microseconds.
    pub micros: Vec<u64>,
    /// How many writes ended in an error.
    pub n_errors: usize,
    /// The processor time that all writers took from that moment on, in seconds.
    pub cpu_seconds: f64,
    /// How many acknowledged writes stock git does not find.
    pub n_lost: usize,
    /// What `git fsck --strict` says; nothing if all is well.
    pub fsck: String,
}

impl LoadReport {
    /// Returns a percentile of how long one write took, in milliseconds.
    pub fn percentile(&self, percent: usize) -> f64 {
        let at = (self.micros.len() * percent / 100).min(self.micros.len().saturating_sub(1));
        self.micros.get(at).map_or(0.0, |micros| *micros as f64 / 1000.0)
    }
}

/// Runs a load with worker processes: this same program, called with `worker` and what to do.
///
/// # Errors
/// Fails when the repository cannot be made or a worker not be started.
pub fn put_under_load(load: &Load) -> Result<LoadReport, Error> {
    let sandbox = match &load.place {
        Some(place) => Sandbox::in_folder(place, Setup::Repository)?,
        None => Sandbox::new(Setup::Repository)?,
    };
    add_files(&sandbox, load.n_files)?;
    prepare(&sandbox, load)?;
    let program = std::env::current_exe().map_err(Error::file("find this program"))?;
    let worker = |number: usize| {
        let mut command = Command::new(&program);
        command.args(["worker", &number.to_string()]).args(load.flags());
        command.env_clear().envs(sandbox.environment()).current_dir(sandbox.start());
        command
    };
    let voyage = Fleet::start((0..load.n_processes).map(worker))?.work()?;
    let mut report = LoadReport { seconds: voyage.seconds, ..LoadReport::default() };
    let mut acknowledged = Vec::new();
    for line in &voyage.lines {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["done", agent, what, micros] => {
                report.micros.push(micros.parse().unwrap_or(0));
                acknowledged.push((agent.to_owned(), what.to_owned()));
            }
            ["cpu", seconds] => report.cpu_seconds += seconds.parse().unwrap_or(0.0),
            _ => {
                eprintln!("{line}");
                report.n_errors += 1;
            }
        }
    }
    report.n_done = acknowledged.len();
    report.micros.sort_unstable();
    verify(&sandbox, load.work, &acknowledged, &mut report)?;
    Ok(report)
}

impl Load {
    /// Reads what is to be done from the flags of a command line.
    pub fn parse(flags: &[String]) -> Option<Load> {
        let mut load = Load {
            work: LoadWork::OwnBranches,
            n_processes: 16,
            n_threads: 1,
            n_rounds: 50,
            n_files: 10,
            durability: Durability::Full,
            place: None,
        };
        for pair in flags.chunks(2) {
            let [flag, value] = pair else { return None };
            match flag.as_str() {
                "--work" => load.work = LoadWork::parse(value)?,
                "--processes" => load.n_processes = value.parse().ok()?,
                "--threads" => load.n_threads = value.parse().ok()?,
                "--rounds" => load.n_rounds = value.parse().ok()?,
                "--files" => load.n_files = value.parse().ok()?,
                "--durability" => load.durability = durability_of(value)?,
                "--in" => load.place = Some(value.into()),
                _ => return None,
            }
        }
        Some(load)
    }

    /// Writes the flags that a worker needs.
    fn flags(&self) -> Vec<String> {
        let durability = match self.durability {
            Durability::Full => "full",
            Durability::Git => "git",
        };
        let (rounds, threads) = (self.n_rounds.to_string(), self.n_threads.to_string());
        let flags = [
            ("--work", self.work.name()),
            ("--rounds", &rounds),
            ("--threads", &threads),
            ("--durability", durability),
        ];
        flags.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value.to_owned()]).collect()
    }
}

fn durability_of(text: &str) -> Option<Durability> {
    match text {
        "full" => Some(Durability::Full),
        "git" => Some(Durability::Git),
        _ => None,
    }
}

/// Gives `main` a tree of many files, thirty a folder.
fn add_files(sandbox: &Sandbox, n_files: usize) -> Result<(), Error> {
    let mut stream = String::from("commit refs/heads/main\ncommitter A <a@example.com> 1 +0000\n");
    stream.push_str("data 5\nfiles\nfrom refs/heads/main^0\n");
    for number in 0..n_files {
        let content = format!("content of file {number}\n");
        stream.push_str(&format!("M 100644 inline d{}/f{number}\n", number / 30));
        stream.push_str(&format!("data {}\n{content}\n", content.len()));
    }
    let finished =
        sandbox.git_with_input(sandbox.start(), &["fast-import", "--quiet"], stream.as_bytes())?;
    if finished.ending != ProgramEnding::Exit(0) {
        let said = String::from_utf8_lossy(&finished.stderr).into_owned();
        return Err(Error::Command { command: "git fast-import".to_owned(), said });
    }
    Ok(())
}

fn prepare(sandbox: &Sandbox, load: &Load) -> Result<(), Error> {
    let failed = |error: agentic_space::Error| Error::Command {
        command: "spawn".to_owned(),
        said: error.to_string(),
    };
    // The identity of whoever runs this must not matter.
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
        sandbox.git(sandbox.start(), &["config", key, value])?;
    }
    let space = Space::open(sandbox.start(), Options::default()).map_err(failed)?;
    let main = space.repository().resolve_commit("main").map_err(|error| failed(error.into()))?;
    for number in 0..load.n_processes * load.n_threads {
        let briefing = Briefing::of_text("load").to_object().expect("short");
        let name = parse(&format!("w{number}"));
        agentic_space::spawn::spawn(&space, &name, &briefing, &SpawnOrigin::Commit(main))
            .map_err(failed)?;
    }
    Ok(())
}

/// Looks every acknowledged write up with stock git.
fn verify(
    sandbox: &Sandbox,
    work: LoadWork,
    acknowledged: &[(String, String)],
    report: &mut LoadReport,
) -> Result<(), Error> {
    let folder = sandbox.start();
    let mut agents: Vec<&String> = acknowledged.iter().map(|(agent, _)| agent).collect();
    agents.sort();
    agents.dedup();
    let heads = sandbox
        .git(folder, &["for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/agents"])?;
    let heads: std::collections::BTreeSet<&str> = heads.lines().collect();
    for agent in agents {
        let commits = sandbox.git(folder, &["rev-list", &format!("agents/{agent}")])?;
        let noted =
            sandbox.try_git(folder, &["notes", &format!("--ref=agentic/{agent}"), "list"])?;
        let noted = String::from_utf8_lossy(&noted.stdout).into_owned();
        let commits: std::collections::BTreeSet<&str> = commits.lines().collect();
        let noted: std::collections::BTreeSet<&str> =
            noted.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
        let space = Space::open(folder, Options::default()).ok();
        let pending = space.and_then(|space| space.pending_trace(&parse(agent)).ok());
        let pending: std::collections::BTreeSet<String> = pending
            .unwrap_or_default()
            .iter()
            .filter_map(|entry| entry.body.as_text().map(str::to_owned))
            .collect();
        for (_, what) in acknowledged.iter().filter(|(of, _)| of == agent) {
            // On one branch another process's commit may have taken the entry.
            let is_noted = matches!(
                work,
                LoadWork::OneBranch
                    | LoadWork::Commits
                    | LoadWork::OneBranchCommits
                    | LoadWork::Batches
            ) || noted.contains(what.as_str());
            let is_there = (commits.contains(what.as_str()) && is_noted)
                || heads.contains(what.as_str())
                || pending.contains(what);
            report.n_lost += usize::from(!is_there);
        }
    }
    let arguments = ["fsck", "--strict", "--no-dangling", "--no-progress"];
    let finished = run(
        {
            let mut command = sandbox.command("git", folder);
            command.args(arguments);
            command
        },
        b"",
        Duration::from_secs(600),
    )?;
    if finished.ending != ProgramEnding::Exit(0) {
        let said = [finished.stdout, finished.stderr].concat();
        report.fsck = String::from_utf8_lossy(&said).into_owned();
    }
    Ok(())
}
