//! A repository with very many agents, made quickly, to measure what a verb costs in it.
//!
//! Agents are made by `git fast-import` with the bytes that the verbs would write: a genesis, a
//! commit, and notes with the briefing and a trace. All but some of them are archived by the verb
//! itself.

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant as Moment;

use agentic_session::archive::archive;
use agentic_session::{SessionOptions, SessionSpace};
use agentic_space::archive::ArchiveWish;
use agentic_space::model::commit::Claims;
use agentic_space::model::{
    AgentName, Briefing, ConsoleTrace, Entry, Instant, Kind, Object, Person, Value,
};

use agentic_testkit::Error;

/// How many agents are made before git packs their refs and those to archive are.
const PART: usize = 2_000;
/// When the first agent is made, in seconds: long ago, so that nothing is young.
const AT: i64 = 1_700_000_000;
/// How many words there are.
const WORDS: usize = 100_000;

/// How large a repository is to be.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// How many agents it has.
    pub n_agents: usize,
    /// How many of them are not archived.
    pub n_open: usize,
    /// How many trace entries each agent has bound.
    pub n_entries_each: usize,
    /// How many further words each entry has, to be searched for; entries with some differ in time.
    pub n_words_each: usize,
    /// How many commits each agent has beside its genesis; the first one binds the trace.
    pub n_commits_each: usize,
    /// How many seconds after each other agents are made; 0 if all of them are at once, which costs git most.
    pub n_seconds_apart: usize,
}

/// An agent that is made.
struct MadeAgent {
    name: AgentName,
    /// The number of its commit in the stream.
    mark: usize,
    /// When, in seconds.
    at: i64,
}

/// How long making it took, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct ScaleTime {
    /// The agents.
    pub agents: f64,
    /// Archiving.
    pub archive: f64,
}

/// Makes such a repository in a folder that does not exist yet.
///
/// # Errors
/// Fails when the folder exists, or git or the store refuses.
pub fn make(folder: &Path, scale: Scale) -> Result<ScaleTime, Error> {
    std::fs::create_dir(folder).map_err(Error::file("make the folder"))?;
    git(folder, &["init", "--quiet", "--initial-branch=main"])?;
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com"), ("gc.auto", "0")]
    {
        git(folder, &["config", key, value])?;
    }
    let mut made = ScaleTime { agents: 0.0, archive: 0.0 };
    let mut from = 0;
    while from < scale.n_agents {
        let to = (from + PART).min(scale.n_agents);
        let started = Moment::now();
        import(folder, from..to, scale)?;
        git(folder, &["pack-refs", "--all"])?;
        made.agents += started.elapsed().as_secs_f64();
        // Part by part, since each write of the archive writes all packed refs again.
        let started = Moment::now();
        let closed: Vec<AgentName> = (from.max(scale.n_open)..to).map(name).collect();
        if !closed.is_empty() {
            let space = SessionSpace::open(folder, SessionOptions::default()).map_err(refused)?;
            archive(&space, ArchiveWish::by_person(&closed)).map_err(refused)?;
        }
        made.archive += started.elapsed().as_secs_f64();
        from = to;
    }
    git(folder, &["symbolic-ref", "HEAD", "refs/heads/agents/a0"])?;
    git(folder, &["branch", "main", "agents/a0"])?;
    git(folder, &["symbolic-ref", "HEAD", "refs/heads/main"])?;
    pack_everything(folder)?;
    git(folder, &["pack-refs", "--all"])?;
    Ok(made)
}

/// Puts all objects into one pack, as they come. Nobody asks how small it is: `git repack` would walk
/// from 200,000 refs, and that takes longer than everything else.
fn pack_everything(folder: &Path) -> Result<(), Error> {
    let packs = folder.join(".git/objects/pack");
    let before = files_of(&packs)?;
    let mut listing = Command::new("git");
    listing.args(["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)"]);
    let listing = listing.current_dir(folder).stdout(Stdio::piped()).spawn();
    let mut listing = listing.map_err(Error::file("start git"))?;
    let ids = listing.stdout.take().expect("the pipe was asked for");
    let mut packing = Command::new("git");
    packing.args(["pack-objects", "--quiet", "--window=0", ".git/objects/pack/pack"]);
    let packed = packing.current_dir(folder).stdin(ids).output();
    let packed = packed.map_err(Error::file("start git"))?;
    let listed = listing.wait().map_err(Error::file("wait for git"))?;
    if !packed.status.success() || !listed.success() {
        let said = String::from_utf8_lossy(&packed.stderr).into_owned();
        return Err(Error::Command { command: "git pack-objects".to_owned(), said });
    }
    // The pack may be one that was there: the only one.
    let kept = format!("pack-{}.", String::from_utf8_lossy(&packed.stdout).trim());
    for name in before.iter().filter(|name| !name.starts_with(&kept)) {
        std::fs::remove_file(packs.join(name)).map_err(Error::file("remove a pack"))?;
    }
    git(folder, &["prune-packed", "--quiet"])
}

fn files_of(folder: &Path) -> Result<Vec<String>, Error> {
    let entries = std::fs::read_dir(folder).map_err(Error::file("list the packs"))?;
    let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    Ok(entries.flatten().map(name).collect())
}

fn import(folder: &Path, numbers: std::ops::Range<usize>, scale: Scale) -> Result<(), Error> {
    let mut command = Command::new("git");
    command.args(["fast-import", "--quiet", "--force"]).current_dir(folder).stdin(Stdio::piped());
    let mut child = command.spawn().map_err(Error::file("start git"))?;
    let pipe = child.stdin.take().expect("the pipe was asked for");
    let mut stream = BufWriter::with_capacity(1 << 20, pipe);
    for (mark, number) in numbers.enumerate() {
        let later = i64::try_from(number * scale.n_seconds_apart).unwrap_or(0);
        let made = MadeAgent { name: name(number), mark: mark + 1, at: AT + later };
        let said = write_agent(&made, scale);
        stream.write_all(&said).map_err(Error::file("write to git"))?;
    }
    stream.flush().map_err(Error::file("write to git"))?;
    drop(stream);
    let status = child.wait().map_err(Error::file("wait for git"))?;
    let command = "git fast-import".to_owned();
    match status.success() {
        true => Ok(()),
        false => Err(Error::Command { command, said: status.to_string() }),
    }
}

/// Writes one agent for `git fast-import`.
fn write_agent(made: &MadeAgent, scale: Scale) -> Vec<u8> {
    let MadeAgent { name: agent, mark, at } = made;
    let (who, branch) = (Person::of_agent(agent), agent.branch_ref());
    let briefing = Briefing::of_text(&format!("Work as {agent}")).to_object().expect("short");
    let claims = |kind: &str| Claims {
        kind: Kind::parse(kind).ok(),
        agent: Some(agent.clone()),
        ..Claims::default()
    };
    let genesis = Claims { briefing: Some(briefing.cid()), ..claims("spawn") };
    let genesis = genesis.write(&format!("Spawn {agent}")).expect("a message");
    let work = claims("finding").write("Look into it").expect("a message");
    let (trace, note) = trace_of(made, scale);
    let mut out = Vec::new();
    let commit = |out: &mut Vec<u8>, name: &str, mark: &str, message: &str| {
        let head = format!(
            "commit {name}\n{mark}author {0} <{1}> {at} +0000\n\
             committer Ada <ada@example.com> {at} +0000\n",
            who.name, who.email
        );
        out.extend_from_slice(head.as_bytes());
        data(out, message.as_bytes());
    };
    commit(&mut out, &branch, "", &genesis);
    commit(&mut out, &branch, &format!("mark :{mark}\n"), &work);
    out.extend_from_slice(b"M 100644 inline found.txt\n");
    data(&mut out, format!("found by {agent}\n").as_bytes());
    for number in 1..scale.n_commits_each {
        commit(&mut out, &branch, "", &work);
        out.extend_from_slice(b"M 100644 inline found.txt\n");
        data(&mut out, format!("found by {agent} {number}\n").as_bytes());
    }
    commit(&mut out, &agent.notes_ref(), "", "agentic commit\n");
    for object in [&briefing, &trace] {
        let line = format!("M 100644 inline objects/{}/{}\n", object.kind(), object.cid());
        out.extend_from_slice(line.as_bytes());
        data(&mut out, object.bytes());
    }
    out.extend_from_slice(format!("N inline :{mark}\n").as_bytes());
    data(&mut out, note.as_bytes());
    out
}

fn trace_of(made: &MadeAgent, scale: Scale) -> (Object, String) {
    let MadeAgent { name: agent, mark, at } = made;
    let seed = agent
        .as_str()
        .bytes()
        .fold(7, |seed: u64, byte| seed.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte));
    let mut dice = Dice(seed);
    let entry = |number: usize| {
        let mut text = format!("step {number} of {agent}");
        for _ in 0..scale.n_words_each {
            text.push_str(&format!(" word{}", dice.rank()));
        }
        let later = if scale.n_words_each > 0 { mark * 1_000 + number } else { 0 };
        let kind = Kind::parse("log").expect("a valid name");
        let at = Instant::from_millis(at * 1000 + i64::try_from(later).unwrap_or(0));
        Entry::new(kind, at, Value::text(text))
    };
    let entries = (0..scale.n_entries_each).map(entry).collect();
    let trace = ConsoleTrace::new(agent.clone(), entries);
    let object = trace.to_objects().expect("short").pop().expect("there is one");
    let note = trace.note_text(object.cid());
    (object, note)
}

/// Words as people use them: the most frequent one is twice as frequent as the second.
struct Dice(u64);

impl Dice {
    fn rank(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (self.0 >> 11) as f64 / (1_u64 << 53) as f64;
        (share * (WORDS as f64).ln()).exp() as u64
    }
}

fn data(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(format!("data {}\n", bytes.len()).as_bytes());
    out.extend_from_slice(bytes);
    out.push(b'\n');
}

fn name(number: usize) -> AgentName {
    AgentName::parse(&format!("a{number}")).expect("a valid name")
}

fn refused(error: agentic_session::Error) -> Error {
    Error::Command { command: "agentic archive".to_owned(), said: error.to_string() }
}

fn git(folder: &Path, arguments: &[&str]) -> Result<(), Error> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder);
    let output = command.output().map_err(Error::file("start git"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Error::Command { command: format!("git {}", arguments.join(" ")), said })
}
