//! Rows about files that commits changed. What a commit changed follows from its id, so it is cached
//! by that; the entries of an agent are those of its line.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::rc::Rc;

use agentic_git::CommitInfo;
use agentic_model::commit::Claims;
use agentic_model::{Oid, guidance};
use agentic_query::FactCell;

use super::SpaceFacts;
use super::cache::{CacheEntry, FactCache, PackedReader, PackedWriter};
use super::line::CommitLine;
use super::roster::{AgentPlace, FactAgent, NAMED_MAX};
use super::rows::FactRows;
use crate::{Result, Space};

/// Which column has the commit.
const COMMIT: usize = 0;
/// The lines of how many commits are counted by one git.
const COUNTED_AT_ONCE: usize = 500;
/// What stands for a number of lines where the content is no text.
const NO_LINES: i64 = -1;

/// What is known of the commits of a line, by commit: bytes that say it.
type KnownChanges = HashMap<Oid, Rc<[u8]>>;
/// What was read of commits, or why it cannot be.
type ReadChanges = Vec<std::result::Result<Vec<u8>, String>>;

/// A commit whose changes have to be read.
#[derive(Debug, Clone, Copy)]
struct UnreadChange {
    oid: Oid,
    tree: Oid,
    parent: Option<Oid>,
}

/// How what commits changed is read, kept and handed over.
struct ChangeReading<'a> {
    cache: &'a FactCache,
    read: fn(&Space, &[UnreadChange]) -> ReadChanges,
    rows: fn(&str, &[u8], &mut FactRows<'_, '_>) -> ControlFlow<()>,
}

impl SpaceFacts<'_> {
    /// `changed`.
    pub(super) fn changed_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let cache = &self.caches.changes;
        self.each_change(rows, &ChangeReading { cache, read: read_changes, rows: status_rows })
    }

    /// `lines`.
    pub(super) fn line_count_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let cache = &self.caches.lines;
        self.each_change(rows, &ChangeReading { cache, read: read_counts, rows: count_rows })
    }

    fn each_change(&self, rows: &mut FactRows<'_, '_>, how: &ChangeReading<'_>) -> Result<()> {
        let wanted = rows.commits(COMMIT);
        let agents = self.agents_of(wanted.as_ref())?;
        self.read_lines(&agents);
        let mut seen = HashSet::new();
        for agent in agents {
            let Some(line) = self.noted_line(&agent, rows) else { continue };
            let here = match agent.place {
                AgentPlace::Remote => Some(self.commits_here()?),
                AgentPlace::Open | AgentPlace::Archived => None,
            };
            let is_wanted = |oid: &Oid| {
                wanted.as_ref().is_none_or(|wanted| wanted.contains(oid))
                    && !here.as_ref().is_some_and(|here| here.contains(oid))
            };
            let (known, failed) = self.changes_of(&agent.name, &line, &is_wanted, how);
            failed.into_iter().for_each(|note| rows.note(note));
            for commit in line.commits().filter(|commit| is_wanted(&commit.oid)) {
                let found = known.get(&commit.oid).filter(|_| seen.insert(commit.oid));
                if let Some(changes) = found
                    && (how.rows)(&commit.oid.to_string(), changes, rows).is_break()
                {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns what commits of a line changed, those of them that are wanted, and says which cannot be
    /// read.
    fn changes_of(
        &self,
        name: &str,
        line: &CommitLine,
        is_wanted: &dyn Fn(&Oid) -> bool,
        how: &ChangeReading<'_>,
    ) -> (KnownChanges, Vec<String>) {
        let cached = how.cache.find(name).map(|entry| entry.content).unwrap_or_default();
        let mut known = decode(&cached);
        let unread: Vec<UnreadChange> = line
            .commits()
            .filter(|commit| is_wanted(&commit.oid) && !known.contains_key(&commit.oid))
            .map(|commit| {
                let parent = commit.parents().next();
                UnreadChange { oid: commit.oid, tree: commit.tree, parent }
            })
            .collect();
        let mut failed = Vec::new();
        for (commit, read) in unread.iter().zip((how.read)(self.space, &unread)) {
            match read {
                Ok(changes) => drop(known.insert(commit.oid, Rc::from(changes))),
                Err(why) => failed.push(format!("what commit {} changed: {why}", commit.oid)),
            }
        }
        if failed.len() < unread.len() {
            let content = encode(line, &known);
            how.cache.keep(name, CacheEntry { key: String::new(), content });
        }
        (known, failed)
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

fn read_changes(space: &Space, commits: &[UnreadChange]) -> ReadChanges {
    super::parallel::map(commits, |commit| {
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

fn read_counts(space: &Space, commits: &[UnreadChange]) -> ReadChanges {
    let part = |commits: &[UnreadChange]| {
        count_lines(space, commits).map_err(|error| guidance::chain(&error))
    };
    let mut read = Vec::new();
    for commits in commits.chunks(COUNTED_AT_ONCE) {
        match part(commits) {
            Ok(counted) => read.extend(counted.into_iter().map(Ok)),
            // One that cannot be read must not take the others along.
            Err(_) => read.extend(commits.iter().map(|commit| {
                let counted = part(std::slice::from_ref(commit))?;
                Ok(counted.into_iter().next().unwrap_or_default())
            })),
        }
    }
    read
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
        known.insert(oid, Rc::from(changes));
    }
    known
}

/// Writes what is known of the commits that the line has now.
fn encode(line: &CommitLine, known: &KnownChanges) -> Rc<[u8]> {
    let mut content = PackedWriter::default();
    for commit in line.commits() {
        if let Some(changes) = known.get(&commit.oid) {
            content.bytes(commit.oid.as_bytes());
            content.bytes(changes);
        }
    }
    Rc::from(content.into_bytes())
}
