//! Rows about files that commits changed. What a commit changed follows from its id, so it is cached
//! by that; the entries of an agent are those of its line.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::rc::Rc;

use agentic_model::{Oid, guidance};
use agentic_query::FactCell;

use super::SpaceFacts;
use super::cache::{CacheEntry, PackedReader, PackedWriter};
use super::line::CommitLine;
use super::roster::AgentPlace;
use super::rows::FactRows;
use crate::{Result, Space};

/// Which column has the commit.
const COMMIT: usize = 0;

/// What is known of the commits of a line, by commit: bytes that say it.
type KnownChanges = HashMap<Oid, Rc<[u8]>>;

/// A commit whose changes have to be read.
#[derive(Debug, Clone, Copy)]
struct UnreadChange {
    oid: Oid,
    tree: Oid,
    parent: Option<Oid>,
}

impl SpaceFacts<'_> {
    /// `changed`.
    pub(super) fn changed_rows(&self, rows: &mut FactRows<'_, '_>) -> Result<()> {
        let wanted = wanted_commits(rows);
        let mut seen = HashSet::new();
        let agents = self.agents_of(wanted.as_ref())?;
        self.read_lines(&agents);
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
            let (known, failed) = self.changes_of(&agent.name, &line, &is_wanted);
            failed.into_iter().for_each(|note| rows.note(note));
            for commit in line.commits().filter(|commit| is_wanted(&commit.oid)) {
                let Some(changes) = known.get(&commit.oid).filter(|_| seen.insert(commit.oid))
                else {
                    continue;
                };
                if change_rows(commit.oid, changes, rows).is_break() {
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
    ) -> (KnownChanges, Vec<String>) {
        let cached = self.change_cache.find(name).map(|entry| entry.content).unwrap_or_default();
        let mut known = decode(&cached);
        let unread: Vec<UnreadChange> = line
            .commits()
            .filter(|commit| is_wanted(&commit.oid) && !known.contains_key(&commit.oid))
            .map(|commit| {
                let parent = commit.parents().next();
                UnreadChange { oid: commit.oid, tree: commit.tree, parent }
            })
            .collect();
        let space = self.space;
        let read = super::parallel::map(&unread, |commit| {
            read_changes(space, commit).map_err(|error| guidance::chain(&error))
        });
        let mut failed = Vec::new();
        for (commit, read) in unread.iter().zip(read) {
            match read {
                Ok(changes) => drop(known.insert(commit.oid, Rc::from(changes))),
                Err(why) => failed.push(format!("what commit {} changed: {why}", commit.oid)),
            }
        }
        if failed.len() < unread.len() {
            let content = encode(line, &known);
            self.change_cache.keep(name, CacheEntry { key: String::new(), content });
        }
        (known, failed)
    }

    /// Returns the agents on whose lines commits may stand: those that the commits name, if all of
    /// them are found there, else all.
    pub(super) fn agents_of(
        &self,
        commits: Option<&HashSet<Oid>>,
    ) -> Result<Vec<Rc<super::roster::FactAgent>>> {
        let Some(commits) = commits else { return self.agents(None) };
        let mut names = BTreeSet::new();
        for commit in commits {
            let claims = |info: agentic_git::CommitInfo| {
                agentic_model::commit::Claims::read(&info.message).agent
            };
            match self.space.read_commit(*commit).ok().and_then(claims) {
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

/// Returns the commits that the first column is restricted to.
pub(super) fn wanted_commits(rows: &FactRows<'_, '_>) -> Option<HashSet<Oid>> {
    let texts = rows.bound(COMMIT)?;
    Some(texts.iter().filter_map(|text| Oid::parse(text).ok()).collect())
}

fn read_changes(space: &Space, commit: &UnreadChange) -> Result<Vec<u8>> {
    let repository = space.repository();
    let parent = match commit.parent {
        Some(parent) => repository.tree_of(parent)?,
        None => repository.empty_tree(),
    };
    let mut changes = PackedWriter::default();
    for change in repository.file_changes(parent, commit.tree)? {
        changes.bytes(change.status.letter().as_bytes());
        changes.bytes(String::from_utf8_lossy(&change.path).as_bytes());
    }
    Ok(changes.into_bytes())
}

fn change_rows(commit: Oid, changes: &[u8], rows: &mut FactRows<'_, '_>) -> ControlFlow<()> {
    let commit = commit.to_string();
    let mut reader = PackedReader::new(changes);
    while let (Some(status), Some(path)) = (reader.text(), reader.text()) {
        rows.row(&[FactCell::Text(&commit), FactCell::Text(path), FactCell::Text(status)])?;
    }
    ControlFlow::Continue(())
}

fn decode(bytes: &[u8]) -> KnownChanges {
    let mut reader = PackedReader::new(bytes);
    let mut known = KnownChanges::new();
    while let (Some(oid), Some(changes)) = (reader.bytes(), reader.bytes()) {
        if let Ok(oid) = Oid::from_bytes(oid) {
            known.insert(oid, Rc::from(changes));
        }
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
