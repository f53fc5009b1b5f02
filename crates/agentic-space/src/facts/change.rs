//! Rows about files that commits changed. What a commit changed follows from its id, so it is cached
//! by that; the entries of an agent are those of its line.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use agentic_git::CommitInfo;
use agentic_model::commit::Claims;
use agentic_model::{Oid, guidance};
use agentic_query::FactCell;

use super::SpaceFacts;
use super::cache::{CacheEntry, FactCache, PackedReader, PackedWriter};
use super::line::CommitLine;
use super::parallel::ReadPace;
use super::roster::{AgentPlace, FactAgent, NAMED_MAX};
use super::rows::FactRows;
use crate::{Result, Space};

/// Which column has the commit.
const COMMIT: usize = 0;
/// The lines of how many commits are counted by one git.
const COUNTED_AT_ONCE: usize = 500;
/// Of how many agents the changes are read together.
const AGENTS_AT_ONCE: usize = 1024;
/// What stands for a number of lines where the content is no text.
const NO_LINES: i64 = -1;

/// What is known of the commits of a line, by commit: bytes that say it.
type KnownChanges = HashMap<Oid, Arc<[u8]>>;
/// What was read of commits, or why it cannot be.
type ReadChanges = Vec<std::result::Result<Vec<u8>, String>>;

/// A commit whose changes have to be read.
#[derive(Debug, Clone, Copy)]
struct UnreadChange {
    oid: Oid,
    tree: Oid,
    parent: Option<Oid>,
}

/// What the commits of one agent changed.
struct AgentChanges {
    agent: String,
    line: CommitLine,
    known: KnownChanges,
    /// The commits that are asked about, newest first, and those of them that no cache has.
    wanted: Vec<Oid>,
    unknown: Vec<UnreadChange>,
}

/// How what commits changed is read, kept and handed over.
struct ChangeReading<'a> {
    /// What is read, as people call it.
    what: &'static str,
    cache: &'a FactCache,
    read: fn(&Space, &[UnreadChange], ReadPace<'_>) -> ReadChanges,
    rows: fn(&str, &[u8], &mut FactRows<'_, '_>) -> ControlFlow<()>,
}

impl SpaceFacts<'_> {
    /// `changed`.
    pub(super) fn changed_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let cache = &self.caches.changes;
        let (what, read) = ("files of commits", read_changes);
        self.each_change(rows, &ChangeReading { what, cache, read, rows: status_rows })
    }

    /// `lines`.
    pub(super) fn line_count_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let cache = &self.caches.lines;
        let (what, read) = ("lines of commits", read_counts);
        self.each_change(rows, &ChangeReading { what, cache, read, rows: count_rows })
    }

    fn each_change(&self, rows: &mut FactRows<'_, '_>, how: &ChangeReading<'_>) -> Result<()> {
        let wanted = rows.commits(COMMIT);
        let agents = self.agents_of(wanted.as_ref())?;
        self.read_lines(&agents);
        let mut seen = HashSet::new();
        // Those of many agents are read together, so that all cores have something to do.
        for agents in agents.chunks(AGENTS_AT_ONCE) {
            let mut changes = Vec::new();
            for agent in agents {
                let Some(line) = self.noted_line(agent, rows) else { continue };
                changes.push(self.changes_known(agent, line, wanted.as_ref(), how)?);
            }
            for note in self.read_unknown(&mut changes, how) {
                rows.note(note);
            }
            for of_agent in &changes {
                for commit in &of_agent.wanted {
                    let found = of_agent.known.get(commit).filter(|_| seen.insert(*commit));
                    if let Some(found) = found
                        && (how.rows)(&commit.to_string(), found, rows).is_break()
                    {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns what the cache has of what commits of a line changed, those of them that are wanted.
    fn changes_known(
        &self,
        agent: &FactAgent,
        line: CommitLine,
        wanted: Option<&HashSet<Oid>>,
        how: &ChangeReading<'_>,
    ) -> Result<AgentChanges> {
        let here = match agent.place {
            AgentPlace::Remote => Some(self.commits_here()?),
            AgentPlace::Open | AgentPlace::Archived => None,
        };
        let is_wanted = |oid: &Oid| {
            wanted.is_none_or(|wanted| wanted.contains(oid))
                && !here.as_ref().is_some_and(|here| here.contains(oid))
        };
        let cached = how.cache.find(&agent.name).map(|entry| entry.content).unwrap_or_default();
        let known = decode(&cached);
        let (mut all, mut unknown) = (Vec::new(), Vec::new());
        for commit in line.commits().filter(|commit| is_wanted(&commit.oid)) {
            all.push(commit.oid);
            if !known.contains_key(&commit.oid) {
                let parent = commit.parents().next();
                unknown.push(UnreadChange { oid: commit.oid, tree: commit.tree, parent });
            }
        }
        how.cache.count(all.len(), unknown.len());
        Ok(AgentChanges { agent: agent.name.clone(), line, known, wanted: all, unknown })
    }

    /// Reads what commits changed that no cache has, and says which cannot be read.
    fn read_unknown(&self, changes: &mut [AgentChanges], how: &ChangeReading<'_>) -> Vec<String> {
        let unknown: Vec<UnreadChange> =
            changes.iter().flat_map(|of_agent| of_agent.unknown.iter().copied()).collect();
        let mut read = (how.read)(self.space, &unknown, self.pace(how.what)).into_iter();
        let mut failed = Vec::new();
        for of_agent in changes {
            let mut n_read = 0;
            for commit in &of_agent.unknown {
                match read.next() {
                    Some(Ok(found)) => {
                        n_read += 1;
                        of_agent.known.insert(commit.oid, Arc::from(found));
                    }
                    Some(Err(why)) => {
                        failed.push(format!("what commit {} changed: {why}", commit.oid));
                    }
                    None => {}
                }
            }
            if n_read > 0 {
                let content = encode(&of_agent.line, &of_agent.known);
                how.cache.keep(&of_agent.agent, CacheEntry { key: String::new(), content });
            }
        }
        failed
    }

    /// Returns the agents on whose lines commits may stand: those that the commits name, if all of
    /// them are found there, else all.
    pub(super) fn agents_of(&self, commits: Option<&HashSet<Oid>>) -> Result<Vec<Rc<FactAgent>>> {
        let Some(commits) = commits.filter(|commits| commits.len() <= NAMED_MAX) else {
            return self.agents(None);
        };
        let claimed = |info: CommitInfo| Claims::read(&info.message).agent;
        let mut names = BTreeSet::new();
        for commit in commits {
            match self.space.read_commit(*commit).ok().and_then(claimed) {
                Some(agent) => names.insert(agent.to_string()),
                None => return self.agents(None),
            };
        }
        let agents = self.agents(Some(&names))?;
        self.read_lines(&agents);
        let mut missing = commits.clone();
        for line in agents.iter().filter_map(|agent| self.line(agent).ok()) {
            for commit in line.commits() {
                missing.remove(&commit.oid);
            }
        }
        if missing.is_empty() { Ok(agents) } else { self.agents(None) }
    }
}

fn read_changes(space: &Space, commits: &[UnreadChange], pace: ReadPace<'_>) -> ReadChanges {
    super::parallel::map(commits, pace, |commit| {
        read_status(space, commit).map_err(|error| guidance::chain(&error))
    })
}

fn read_status(space: &Space, commit: &UnreadChange) -> Result<Vec<u8>> {
    let old = tree_before(space, commit)?;
    let mut changes = PackedWriter::default();
    for change in space.repository().file_changes(old, commit.tree)? {
        changes.bytes(String::from_utf8_lossy(&change.path).as_bytes());
        changes.bytes(change.status.letter().as_bytes());
    }
    Ok(changes.into_bytes())
}

fn tree_before(space: &Space, commit: &UnreadChange) -> Result<Oid> {
    Ok(match commit.parent {
        Some(parent) => space.repository().tree_of(parent)?,
        None => space.repository().empty_tree(),
    })
}

fn read_counts(space: &Space, commits: &[UnreadChange], pace: ReadPace<'_>) -> ReadChanges {
    let part = |commits: &[UnreadChange]| {
        count_lines(space, commits).map_err(|error| guidance::chain(&error))
    };
    super::parallel::map_parts(commits, COUNTED_AT_ONCE, pace, |commits| match part(commits) {
        Ok(counted) => counted.into_iter().map(Ok).collect(),
        // One that cannot be read must not take the others along.
        Err(_) => {
            let one = |commit| {
                let counted = part(std::slice::from_ref(commit))?;
                Ok(counted.into_iter().next().unwrap_or_default())
            };
            commits.iter().map(one).collect()
        }
    })
}

fn count_lines(space: &Space, commits: &[UnreadChange]) -> Result<Vec<Vec<u8>>> {
    let pair = |commit: &UnreadChange| Ok((tree_before(space, commit)?, commit.tree));
    let pairs = commits.iter().map(pair).collect::<Result<Vec<(Oid, Oid)>>>()?;
    let counted = space.repository().line_counts(&pairs)?;
    let written = counted.into_iter().map(|files| {
        let mut content = PackedWriter::default();
        for file in files {
            content.bytes(file.path.as_bytes());
            let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
            let (added, deleted) = file
                .lines
                .map_or((NO_LINES, NO_LINES), |(added, deleted)| (number(added), number(deleted)));
            content.number(added);
            content.number(deleted);
        }
        content.into_bytes()
    });
    Ok(written.collect())
}

fn status_rows(commit: &str, changes: &[u8], rows: &mut FactRows<'_, '_>) -> ControlFlow<()> {
    let mut reader = PackedReader::new(changes);
    while let (Some(path), Some(status)) = (reader.text(), reader.text()) {
        rows.row(&[FactCell::Text(commit), FactCell::Text(path), FactCell::Text(status)])?;
    }
    ControlFlow::Continue(())
}

fn count_rows(commit: &str, counts: &[u8], rows: &mut FactRows<'_, '_>) -> ControlFlow<()> {
    let cell = |number: i64| match number {
        NO_LINES => FactCell::Null,
        number => FactCell::Int(number),
    };
    let mut reader = PackedReader::new(counts);
    while let (Some(path), Some(added), Some(deleted)) =
        (reader.text(), reader.number(), reader.number())
    {
        rows.row(&[FactCell::Text(commit), FactCell::Text(path), cell(added), cell(deleted)])?;
    }
    ControlFlow::Continue(())
}

fn decode(bytes: &[u8]) -> KnownChanges {
    let mut reader = PackedReader::new(bytes);
    let mut known = KnownChanges::new();
    while let (Some(oid), Some(changes)) = (reader.oid(), reader.bytes()) {
        known.insert(oid, Arc::from(changes));
    }
    known
}

/// Writes what is known of the commits that the line has now.
fn encode(line: &CommitLine, known: &KnownChanges) -> Arc<[u8]> {
    let mut content = PackedWriter::default();
    for commit in line.commits() {
        if let Some(changes) = known.get(&commit.oid) {
            content.bytes(commit.oid.as_bytes());
            content.bytes(changes);
        }
    }
    Arc::from(content.into_bytes())
}
