//! Killing real processes at random, and checking with stock git what they had printed as done.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Error, ProgramEnding, Sandbox, Setup, run};

/// What the processes do until they are killed: commits with and without traces, in a worktree and
/// without, merges into a branch that is checked out, entries, edges and bindings. Each writes a line to the ledger when a command said that
/// it is done.
const WORK: &str = r#"
done_() { printf '%s\n' "$*" >> "$LEDGER"; }
round=0
while :; do
    round=$((round + 1)); id="$RUN-$AGENT-$round"
    # In every other life much time passes between two rounds, so that logs are cut.
    [ $((RUN % 2)) = 0 ] || export AGENTIC_NOW=$((1900000000000 + (RUN * 1000 + round) * 660000))
    agentic trace add --agent "$AGENT" "token-$id-a-end" && done_ "entry $AGENT token-$id-a-end"
    oid=$(printf '{"f/%s-%s":"%s"}' "$AGENT" "$((round % 7))" "$id" |
        agentic commit --agent "$AGENT" -m "commit $id" --stdin --trace) && done_ "bound $AGENT $oid"
    oid=$(agentic merge "$AGENT" --into main) && done_ "merged main $oid"
    agentic trace add --agent "$AGENT" "token-$id-b-end" && done_ "entry $AGENT token-$id-b-end"
    agentic trace attach "agents/$AGENT" --agent "$AGENT" > /dev/null && done_ "note $AGENT"
    agentic relate "$AGENT" reviews "user:u$id" > /dev/null && done_ "edge $AGENT user:u$id"
    if [ -d "../$AGENT" ]; then
        echo "$id" > "../$AGENT/file-$AGENT"
        oid=$(agentic -C "../$AGENT" commit -m "work $id") && done_ "commit $AGENT $oid"
    fi
    agentic spawn "s-$id" --from "$AGENT" -m x > /dev/null && done_ "spawned s-$id"
done
"#;

/// How many processes work at the same time, each on its own agent.
const WORKERS: [&str; 3] = ["alice", "bob", "carol"];
/// The longest that the processes live, in microseconds.
const LIFE_MICROS_MAX: u64 = 120_000;
/// How long the next command may take.
const LIMIT: Duration = Duration::from_secs(60);

/// How often to kill, and how.
#[derive(Debug, Clone)]
pub struct Kills {
    /// The binary.
    pub program: PathBuf,
    /// How many times.
    pub n_kills: usize,
    /// What chooses the moments.
    pub seed: u64,
    /// After how many kills everything is checked.
    pub check_every: usize,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KillReport {
    /// How many times processes were killed.
    pub n_kills: usize,
    /// How many commands had said that they were done.
    pub n_acknowledged: usize,
    /// How many times the next command had something to finish.
    pub n_recovered: usize,
    /// Every promise that was broken.
    pub broken: Vec<String>,
}

/// Kills working processes again and again.
///
/// # Errors
/// Fails when the sandbox cannot be made or programs not be started; a broken promise is in the
/// report.
pub fn kill_at_random(kills: &Kills) -> Result<KillReport, Error> {
    let sandbox = Sandbox::in_memory(Setup::Repository)?;
    sandbox.install("agentic", &kills.program)?;
    let ledger = sandbox.root().join("ledger");
    for agent in WORKERS {
        let worktree = format!("../{agent}");
        let mut spawn = sandbox.command("agentic", sandbox.start());
        spawn.args(["spawn", agent, "-m", "work", "--at", "main"]);
        if agent != "carol" {
            spawn.args(["--worktree", &worktree]);
        }
        run(spawn, b"", LIMIT)?;
    }
    let mut report = KillReport::default();
    let mut random = kills.seed;
    for number in 1..=kills.n_kills {
        let_work(&sandbox, &ledger, number, next(&mut random) % LIFE_MICROS_MAX)?;
        report.n_kills += 1;
        let finished = run(command(&sandbox, &["agents", "--json"]), b"", LIMIT)?;
        report.n_recovered += usize::from(!finished.stderr.is_empty());
        if finished.ending != ProgramEnding::Exit(0) {
            let said = String::from_utf8_lossy(&finished.stderr).into_owned();
            report.broken.push(format!("after kill {number} the next command fails: {said}"));
        }
        if number % kills.check_every == 0 || number == kills.n_kills {
            let found = check(&sandbox, &ledger, &mut report)?;
            report.broken.extend(found.into_iter().map(|line| format!("kill {number}: {line}")));
        }
        if !report.broken.is_empty() {
            break;
        }
    }
    Ok(report)
}

fn command(sandbox: &Sandbox, arguments: &[&str]) -> std::process::Command {
    let mut command = sandbox.command("agentic", sandbox.start());
    command.args(arguments);
    command
}

/// Lets the workers work for a while; then each is killed, with all that it started.
fn let_work(sandbox: &Sandbox, ledger: &Path, number: usize, micros: u64) -> Result<(), Error> {
    let life = Duration::from_micros(20_000 + micros);
    let works = WORKERS.map(|agent| {
        let mut command = sandbox.command("bash", sandbox.start());
        command.args(["-c", WORK]).env("AGENT", agent).env("RUN", number.to_string());
        command.env("LEDGER", ledger);
        std::thread::spawn(move || run(command, b"", life))
    });
    for work in works {
        work.join().expect("a worker's thread does not panic")?;
    }
    Ok(())
}

/// Checks everything that the ledger says with stock git, and soundness as git sees it.
fn check(sandbox: &Sandbox, ledger: &Path, report: &mut KillReport) -> Result<Vec<String>, Error> {
    let mut broken = Vec::new();
    let folder = sandbox.start();
    let fsck = sandbox.try_git(folder, &["fsck", "--strict", "--no-dangling", "--no-progress"])?;
    if fsck.ending != ProgramEnding::Exit(0) {
        let said = [fsck.stdout, fsck.stderr].concat();
        broken.push(format!("git fsck: {}", String::from_utf8_lossy(&said)));
    }
    let mut views = BTreeMap::new();
    for agent in WORKERS {
        views.insert(agent, View::read(sandbox, agent)?);
        let worktree = sandbox.repositories().join(agent);
        if worktree.is_dir() {
            let status = sandbox.git(&worktree, &["status", "--porcelain"])?;
            // A file may have been written and not committed when the process was killed.
            let written = [" M", "??"].map(|state| format!("{state} file-{agent}\n"));
            if !status.is_empty() && !written.contains(&status) {
                broken.push(format!("the worktree of {agent} shows {status:?}"));
            }
        }
    }
    let status = sandbox.git(folder, &["status", "--porcelain"])?;
    if !status.is_empty() {
        broken.push(format!("the worktree of main shows {status:?}"));
    }
    let merged = sandbox.git(folder, &["rev-list", "main"])?;
    let merged: BTreeSet<&str> = merged.lines().collect();
    let heads = sandbox.git(folder, &["for-each-ref", "--format=%(refname)", "refs/heads"])?;
    let heads: BTreeSet<&str> = heads.lines().collect();
    let text = fs::read_to_string(ledger).unwrap_or_default();
    report.n_acknowledged = text.lines().count();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let is_kept = match words[..] {
            ["spawned", name] => heads.contains(format!("refs/heads/agents/{name}").as_str()),
            ["entry", agent, token] => views[agent].count(token) == 1,
            ["merged", _, oid] => merged.contains(oid),
            ["commit", agent, oid] => views[agent].commits.contains(oid),
            ["bound", agent, oid] => {
                views[agent].commits.contains(oid) && views[agent].noted.contains(oid)
            }
            ["edge", agent, target] => views[agent].kept.contains(target),
            _ => true,
        };
        if !is_kept {
            broken.push(format!("acknowledged and not there, or there twice: {line}"));
        }
    }
    Ok(broken)
}

/// What stock git finds of one agent, and what is still pending.
struct View {
    commits: BTreeSet<String>,
    noted: BTreeSet<String>,
    kept: String,
    pending: String,
}

impl View {
    fn read(sandbox: &Sandbox, agent: &str) -> Result<View, Error> {
        let folder = sandbox.start();
        let commits = sandbox.git(folder, &["rev-list", &format!("agents/{agent}")])?;
        let notes = format!("--ref=agentic/{agent}");
        let noted = sandbox.try_git(folder, &["notes", &notes, "list"])?;
        let tip = format!("refs/notes/agentic/{agent}");
        let listed = sandbox.try_git(folder, &["ls-tree", "-r", &tip, "objects"])?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let oids: String =
            listed.lines().filter_map(|line| Some(format!("{}\n", line.get(12..52)?))).collect();
        let kept = sandbox.git_with_input(folder, &["cat-file", "--batch"], oids.as_bytes())?;
        let pending = command(sandbox, &["trace", "pending", "--json", "--agent", agent]);
        let pending = run(pending, b"", LIMIT)?;
        let noted = String::from_utf8_lossy(&noted.stdout).into_owned();
        Ok(View {
            commits: commits.lines().map(str::to_owned).collect(),
            noted: noted
                .lines()
                .filter_map(|line| Some(line.split_once(' ')?.1.to_owned()))
                .collect(),
            kept: String::from_utf8_lossy(&kept.stdout).into_owned(),
            pending: String::from_utf8_lossy(&pending.stdout).into_owned(),
        })
    }

    /// Counts how often a trace entry is bound or pending.
    fn count(&self, token: &str) -> usize {
        self.kept.matches(token).count() + self.pending.matches(token).count()
    }
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
