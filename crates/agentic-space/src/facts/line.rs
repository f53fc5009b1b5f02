//! Own lines: the commits of one agent from its head down to its genesis, as one piece of bytes that
//! is cached by the head.
//!
//! A head that has moved costs its new commits: what is cached of the line below it is taken over.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use agentic_git::{CommitInfo, CommitterLine};
use agentic_model::commit::Claims;
use agentic_model::{AgentName, Instant, Oid, guidance};

use super::SpaceFacts;
use super::cache::{CacheEntry, PackedReader, PackedWriter};
use super::parallel::ReadPace;
use super::roster::{AgentPlace, FactAgent};
use crate::agent::{is_genesis_of, kind_on};
use crate::{Result, Space};

/// How many commits a line has at most.
const LINE_COMMITS_MAX: usize = 10_000_000;

/// The own commits of an agent.
#[derive(Debug, Clone)]
pub(super) struct CommitLine {
    /// A byte that says whether the line ends in a genesis, then the commits, newest first.
    bytes: Arc<[u8]>,
    n_commits: usize,
}

/// A commit of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineCommit<'a> {
    pub oid: Oid,
    pub tree: Oid,
    parents: &'a [u8],
    pub at: Instant,
    pub author: &'a str,
    pub committer: &'a str,
    pub committer_email: &'a str,
    /// Its kind on this branch.
    pub kind: &'a str,
    /// Which agent it claims to come from, and whose work it claims to take in; empty if it does not.
    pub parent_claim: &'a str,
    pub merged_claim: &'a str,
    pub message: &'a str,
}

/// The commits of a line that are new.
#[derive(Debug)]
pub(super) struct NewCommits<'a> {
    /// The commits.
    pub oldest_first: Vec<LineCommit<'a>>,
    /// The commit that they go on from; nothing where they are all of the line.
    pub below: Option<LineCommit<'a>>,
}

/// Lines that a query has read, and why others cannot be.
#[derive(Debug, Default)]
pub(super) struct KnownLines {
    by_agent: BTreeMap<String, std::result::Result<CommitLine, String>>,
    here: Option<Rc<HashSet<Oid>>>,
}

/// A line that has to be read from git.
struct UnreadLine {
    agent: Rc<FactAgent>,
    /// What was cached of it.
    older: Option<CommitLine>,
}

impl CommitLine {
    /// Takes the bytes of a cache, if they are a line.
    fn of(bytes: Arc<[u8]>) -> Option<CommitLine> {
        let mut line = CommitLine { bytes, n_commits: 0 };
        let mut reader = PackedReader::new(line.bytes.get(1..)?);
        let mut n_commits = 0;
        while !reader.is_at_end() {
            reader.bytes()?;
            n_commits += 1;
        }
        line.n_commits = n_commits;
        (n_commits > 0).then_some(line)
    }

    pub fn len(&self) -> usize {
        self.n_commits
    }

    /// Lists the commits, newest first.
    pub fn commits(&self) -> impl Iterator<Item = LineCommit<'_>> {
        self.records().filter_map(LineCommit::decode)
    }

    /// Returns the newest commit.
    pub fn newest(&self) -> Option<LineCommit<'_>> {
        self.commits().next()
    }

    /// Returns the genesis, if the line ends in one.
    pub fn genesis(&self) -> Option<LineCommit<'_>> {
        (self.bytes.first() == Some(&1))
            .then(|| self.records().last())
            .flatten()
            .and_then(LineCommit::decode)
    }

    /// Returns the commits that came after one of the line; all of them where that is none of it.
    pub fn after(&self, older: Option<Oid>) -> NewCommits<'_> {
        let mut new = NewCommits { oldest_first: Vec::new(), below: None };
        for commit in self.commits() {
            if older == Some(commit.oid) {
                new.below = Some(commit);
                break;
            }
            new.oldest_first.push(commit);
        }
        new.oldest_first.reverse();
        new
    }

    /// Says whether a commit is one of the line.
    pub fn has(&self, oid: Oid) -> bool {
        self.commits().any(|commit| commit.oid == oid)
    }

    fn records(&self) -> impl Iterator<Item = &[u8]> {
        let mut reader = PackedReader::new(self.bytes.get(1..).unwrap_or_default());
        std::iter::from_fn(move || reader.bytes())
    }

    /// Returns the bytes from a commit on, if it is one of the line.
    fn from(&self, oid: Oid) -> Option<&[u8]> {
        let mut rest = self.bytes.get(1..)?;
        let mut reader = PackedReader::new(rest);
        while let Some(record) = reader.bytes() {
            if PackedReader::new(record).bytes() == Some(oid.as_bytes()) {
                return Some(rest);
            }
            rest = &rest[record.len() + 4..];
        }
        None
    }
}

impl<'a> LineCommit<'a> {
    fn decode(record: &'a [u8]) -> Option<LineCommit<'a>> {
        let mut reader = PackedReader::new(record);
        Some(LineCommit {
            oid: Oid::from_bytes(reader.bytes()?).ok()?,
            tree: Oid::from_bytes(reader.bytes()?).ok()?,
            parents: reader.bytes()?,
            at: Instant::from_millis(reader.number()?),
            author: reader.text()?,
            committer: reader.text()?,
            committer_email: reader.text()?,
            kind: reader.text()?,
            parent_claim: reader.text()?,
            merged_claim: reader.text()?,
            message: reader.text()?,
        })
    }

    fn encode(
        info: &CommitInfo,
        committer: &CommitterLine,
        kind: &str,
        claims: &Claims,
    ) -> Vec<u8> {
        let mut record = PackedWriter::default();
        record.bytes(info.oid.as_bytes());
        record.bytes(info.tree.as_bytes());
        let parents: Vec<u8> =
            info.parents.iter().flat_map(|oid| oid.as_bytes().to_vec()).collect();
        record.bytes(&parents);
        record.number(info.at.millis());
        for text in [&info.author, &committer.name, &committer.email] {
            record.bytes(text.as_bytes());
        }
        record.bytes(kind.as_bytes());
        for claim in [&claims.parent, &claims.merged] {
            record.bytes(claim.as_ref().map_or("", AgentName::as_str).as_bytes());
        }
        record.bytes(info.message.as_bytes());
        record.into_bytes()
    }

    /// Lists the parents, the first one first.
    pub fn parents(&self) -> impl Iterator<Item = Oid> + use<'a> {
        let length = self.oid.as_bytes().len();
        self.parents.chunks_exact(length).filter_map(|bytes| Oid::from_bytes(bytes).ok())
    }

    pub fn claims(&self) -> Claims {
        Claims::read(self.message)
    }
}

impl SpaceFacts<'_> {
    /// Returns the line of an agent, or why it cannot be read.
    pub(super) fn line(&self, agent: &Rc<FactAgent>) -> std::result::Result<CommitLine, String> {
        self.read_lines(std::slice::from_ref(agent));
        let known = self.lines.borrow();
        known.by_agent.get(&agent.name).cloned().unwrap_or_else(|| Err("it is gone".to_owned()))
    }

    /// Reads the lines of agents, those that are in no cache on all threads.
    pub(super) fn read_lines(&self, agents: &[Rc<FactAgent>]) {
        let mut unread = Vec::new();
        for agent in agents {
            if self.lines.borrow().by_agent.contains_key(&agent.name) {
                continue;
            }
            let found = self.caches.commits.find(&agent.name);
            let is_same = found.as_ref().is_some_and(|found| found.key == agent.head.to_string());
            match found.and_then(|found| CommitLine::of(found.content)) {
                Some(line) if is_same => {
                    self.caches.commits.count(line.len(), 0);
                    self.know(&agent.name, Ok(line));
                }
                older => unread.push(UnreadLine { agent: Rc::clone(agent), older }),
            }
        }
        let pace = self.pace("commits of agents");
        for (line, read) in unread.iter().zip(read_all(self.space, &unread, pace)) {
            let read = read.and_then(|bytes| {
                CommitLine::of(Arc::from(bytes)).ok_or_else(|| "it has no commits".to_owned())
            });
            if let Ok(read) = &read {
                let older = line.older.as_ref();
                let kept = older.filter(|it| it.newest().is_some_and(|one| read.has(one.oid)));
                let n_new = read.len() - kept.map_or(0, CommitLine::len).min(read.len());
                self.caches.commits.count(read.len(), n_new);
                let (key, content) = (line.agent.head.to_string(), Arc::clone(&read.bytes));
                self.caches.commits.keep(&line.agent.name, CacheEntry { key, content });
            }
            self.know(&line.agent.name, read);
        }
    }

    /// Returns the commits that agents of this space have made.
    pub(super) fn commits_here(&self) -> Result<Rc<HashSet<Oid>>> {
        if let Some(known) = &self.lines.borrow().here {
            return Ok(Rc::clone(known));
        }
        let agents = self.all_here()?;
        self.read_lines(&agents);
        let mut here = HashSet::new();
        for agent in agents.iter().filter(|agent| agent.place != AgentPlace::Remote) {
            if let Ok(line) = self.line(agent) {
                here.extend(line.commits().map(|commit| commit.oid));
            }
        }
        let here = Rc::new(here);
        self.lines.borrow_mut().here = Some(Rc::clone(&here));
        Ok(here)
    }

    fn know(&self, agent: &str, line: std::result::Result<CommitLine, String>) {
        self.lines.borrow_mut().by_agent.insert(agent.to_owned(), line);
    }
}

type ReadLine = std::result::Result<Vec<u8>, String>;

/// Reads lines from git, on as many threads as there are cores.
fn read_all(space: &Space, unread: &[UnreadLine], pace: ReadPace<'_>) -> Vec<ReadLine> {
    let wanted: Vec<(&FactAgent, Option<&[u8]>)> = unread
        .iter()
        .map(|line| (&*line.agent, line.older.as_ref().map(|older| &*older.bytes)))
        .collect();
    super::parallel::map(&wanted, pace, |(agent, older)| {
        let older = older.and_then(|bytes| CommitLine::of(Arc::from(bytes)));
        read_line(space, agent, older.as_ref()).map_err(|error| guidance::chain(&error))
    })
}

fn read_line(space: &Space, agent: &FactAgent, older: Option<&CommitLine>) -> Result<Vec<u8>> {
    let mut line = PackedWriter::default();
    let (mut next, mut n_seen, mut ends) = (Some(agent.head), 0, 0_u8);
    while let Some(oid) = next.filter(|_| n_seen < LINE_COMMITS_MAX) {
        if let Some(older) = older
            && let Some(rest) = older.from(oid)
        {
            return Ok([&older.bytes[..1], &line.into_bytes(), rest].concat());
        }
        let (info, committer) = space.repository().read_commit_and_committer(oid)?;
        let claims = Claims::read(&info.message);
        let kind = kind_on(&agent.agent, &claims);
        line.bytes(&LineCommit::encode(&info, &committer, kind.as_str(), &claims));
        ends = u8::from(is_genesis_of(&agent.agent, &claims));
        next = info.parents.first().copied().filter(|_| ends == 0);
        n_seen += 1;
    }
    Ok([&[ends], line.into_bytes().as_slice()].concat())
}
