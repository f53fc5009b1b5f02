//! The note that a worktree has still to follow its branch.
//!
//! A branch moves first, then the worktree that has it checked out comes along. What a worktree has
//! to do is noted beside the journals before the branch moves, and that note goes when it is done:
//! whoever finds one whose maker died lets the worktree follow.

use std::io::ErrorKind;
use std::path::Path;

use agentic_model::{AgentName, Oid};

use crate::{Checkout, Repository, Worktree};
use agentic_store::file::{self, Persistence};
use agentic_store::journal::{Follow, Transaction};
use agentic_store::layout::{Layout, Stream};
use agentic_store::{Error, Result};

/// What a commit has at a path, or what git would add of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileEntry {
    /// Which sort of file, as git writes it.
    pub mode: u32,
    /// The content.
    pub oid: Oid,
}

/// Where a worktree has to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trail {
    /// The full name of the branch.
    pub branch: String,
    /// The commit that its files are at; nothing if they are where they have to be, and only the
    /// index is behind.
    pub files_from: Option<Oid>,
    /// The commit that the branch moves to.
    pub to: Oid,
    /// Whether somebody has tried in vain.
    pub attempt: FollowAttempt,
    /// What was made of files that were edited meanwhile.
    pub merges: Vec<NotedMerge>,
}

/// What a merge made of a file, noted before it replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedMerge {
    /// Its path, in bytes.
    pub path: Vec<u8>,
    /// What it was.
    pub found: FileEntry,
    /// What it becomes.
    pub result: FileEntry,
}

impl NotedMerge {
    fn parse(line: &str) -> Option<NotedMerge> {
        let fields: Vec<&str> = line.split(' ').collect();
        let [path, found_mode, found, result_mode, result] = fields[..] else { return None };
        let entry = |mode, oid| {
            let mode = u32::from_str_radix(mode, 8).ok()?;
            Some(FileEntry { mode, oid: Oid::parse(oid).ok()? })
        };
        let byte = |at| u8::from_str_radix(path.get(at..at + 2)?, 16).ok();
        let path = (0..path.len()).step_by(2).map(byte).collect::<Option<Vec<u8>>>()?;
        let (found, result) = (entry(found_mode, found)?, entry(result_mode, result)?);
        Some(NotedMerge { path, found, result })
    }

    fn line(&self) -> String {
        let path: String = self.path.iter().map(|byte| format!("{byte:02x}")).collect();
        let NotedMerge { found, result, .. } = self;
        format!("{path} {:o} {} {:o} {}\n", found.mode, found.oid, result.mode, result.oid)
    }
}

/// Whether somebody has tried in vain to let a worktree follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowAttempt {
    /// Nobody has: the next command tries.
    Due,
    /// Somebody has: it is tried again by those who need that worktree.
    Failed,
}

impl Trail {
    /// Returns what a write asks of the worktree that it names.
    fn of(transaction: &Transaction) -> Option<Trail> {
        let branch = transaction.branch.as_ref()?;
        let files_from = match transaction.follow.as_ref()? {
            Follow::Index(_) => None,
            Follow::Files(_) => branch.expect,
        };
        let (name, to) = (branch.name.clone(), branch.new);
        Some(Trail {
            branch: name,
            files_from,
            to,
            attempt: FollowAttempt::Due,
            merges: Vec::new(),
        })
    }

    /// Returns what was made of a file that was edited meanwhile, if it was noted.
    pub(crate) fn merge_of(&self, path: &[u8]) -> Option<&NotedMerge> {
        self.merges.iter().find(|noted| noted.path == path)
    }

    /// Returns the stream whose writes move the branch.
    pub fn stream(&self) -> Stream {
        match AgentName::from_branch_ref(&self.branch) {
            Some(agent) => Stream::Agent(agent),
            None => Stream::of_branch(&self.branch),
        }
    }

    /// Reads a note; one that a power cut spoilt counts as none, since journals are replayed then.
    pub(crate) fn read(note: &Path) -> Result<Option<Trail>> {
        match std::fs::read_to_string(note) {
            Ok(text) => Ok(Trail::parse(&text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == ErrorKind::InvalidData => Ok(None),
            Err(error) => Err(Error::io("read", note)(error)),
        }
    }

    fn parse(text: &str) -> Option<Trail> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let fields: Vec<&str> = lines.next()?.split(' ').collect();
        let [branch, from, to, attempt] = fields[..] else { return None };
        let files_from = match from {
            "-" => None,
            from => Some(Oid::parse(from).ok()?),
        };
        let attempt = match attempt {
            "due" => FollowAttempt::Due,
            "failed" => FollowAttempt::Failed,
            _ => return None,
        };
        let merges = lines.map(NotedMerge::parse).collect::<Option<Vec<NotedMerge>>>()?;
        let (branch, to) = (branch.to_owned(), Oid::parse(to).ok()?);
        Some(Trail { branch, files_from, to, attempt, merges })
    }

    /// Writes the note. The system writes it to the disk when it finds the time: after a power cut
    /// the journals tell the same.
    pub(crate) fn write(&self, note: &Path) -> Result<()> {
        let from = self.files_from.map_or("-".to_owned(), |from| from.to_string());
        let attempt = match self.attempt {
            FollowAttempt::Due => "due",
            FollowAttempt::Failed => "failed",
        };
        let mut lines = format!("{} {from} {} {attempt}\n", self.branch, self.to);
        lines.extend(self.merges.iter().map(NotedMerge::line));
        let folder = note.parent().expect("notes stand in a folder");
        std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        file::replace(note, lines.as_bytes(), Persistence::Lazy)
    }
}

/// Notes what the worktree that a write names has still to do, if it still has the branch.
pub(crate) fn note(repository: &Repository, transaction: &Transaction) -> Result<()> {
    let (Some(trail), Some(follow)) = (Trail::of(transaction), &transaction.follow) else {
        return Ok(());
    };
    let (Follow::Index(path) | Follow::Files(path)) = follow;
    match repository.checkout_of(&trail.branch)? {
        // The record has bytes that are no text replaced.
        Checkout::Here(worktree) if worktree.path.to_string_lossy() == path.as_str() => {
            trail.write(&repository.layout().trail(&worktree.key()))
        }
        Checkout::Here(_)
        | Checkout::Nowhere
        | Checkout::Gone(_)
        | Checkout::Unlinked(_)
        | Checkout::Occupied(..) => Ok(()),
    }
}

/// Tells whether a worktree is on its way to where its branch is, or was when its process died.
pub fn is_on_its_way(layout: &Layout, worktree: &Worktree) -> bool {
    layout.trail(&worktree.key()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_reads_as_it_was_written_and_a_spoilt_one_not_at_all() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let note = dir.path().join("trail/note");
        let to = Oid::parse(&"12".repeat(20)).expect("an id");
        let branch = "refs/heads/main".to_owned();
        let entry = FileEntry { mode: 0o100_755, oid: to };
        let merge = NotedMerge { path: b"a b\xff\n".to_vec(), found: entry, result: entry };
        for files_from in [None, Some(to)] {
            for attempt in [FollowAttempt::Due, FollowAttempt::Failed] {
                let (branch, merges) = (branch.clone(), vec![merge.clone(); 2]);
                let trail = Trail { branch, files_from, to, attempt, merges };
                trail.write(&note).expect("writable");
                assert_eq!(Trail::read(&note).expect("readable"), Some(trail));
            }
        }
        let whole = std::fs::read(&note).expect("readable");
        for spoilt in [&b""[..], &whole[..whole.len() - 1], &vec![0; whole.len()], b"\xff x y z\n"]
        {
            std::fs::write(&note, spoilt).expect("writable");
            assert_eq!(Trail::read(&note).expect("readable"), None, "{spoilt:?}");
        }
        file::remove(&note).expect("writable");
        assert_eq!(Trail::read(&note).expect("nothing to read"), None);
    }
}
