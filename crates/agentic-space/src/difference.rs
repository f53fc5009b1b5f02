//! What a commit changed: which files, and in each of them which lines.

use agentic_git::{FilePair, FileSide, FileSort, LineChange, is_text, line_changes, split_lines};
use agentic_model::{Oid, guidance};

use crate::{Result, Space};

/// The longest file that is compared line by line, in bytes.
const TEXT_BYTES_MAX: u64 = 2 << 20;

/// The files by which a commit differs from a parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitDifference {
    /// The commit.
    pub commit: Oid,
    /// The parent; nothing of a commit that has none.
    pub parent: Option<Oid>,
    /// How many parents it has.
    pub n_parents: usize,
    /// The files, by path.
    pub files: Vec<FilePair>,
}

/// How the content of a file differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentDifference {
    /// Not at all: only its mode or its path does.
    Same,
    /// Line by line.
    Lines(TextDifference),
    /// It is no text: how many bytes there were, and are.
    Bytes {
        /// How many there were.
        old: Option<u64>,
        /// How many there are.
        new: Option<u64>,
    },
    /// It is too long to be compared.
    Long {
        /// How many bytes there were.
        old: Option<u64>,
        /// How many there are.
        new: Option<u64>,
    },
    /// It is a commit of another repository.
    Submodule,
    /// It cannot be read, and why.
    Unreadable(String),
}

/// Two texts, and where they differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextDifference {
    /// As it was.
    pub old: Vec<u8>,
    /// As it is.
    pub new: Vec<u8>,
    /// Where they differ.
    pub changes: Vec<LineChange>,
}

impl Space {
    /// Lists the files by which a commit differs from one of its parents, counted from 0; one
    /// without parents differs from nothing.
    ///
    /// # Errors
    /// Fails when it cannot be read. A parent that it does not have is nothing.
    pub fn commit_difference(
        &self,
        commit: Oid,
        parent: usize,
    ) -> Result<Option<CommitDifference>> {
        let info = self.read_commit(commit)?;
        let n_parents = info.parents.len();
        let parent = match info.parents.get(parent) {
            Some(parent) => Some(*parent),
            None if n_parents == 0 && parent == 0 => None,
            None => return Ok(None),
        };
        let old = match parent {
            Some(parent) => self.repository().tree_of(parent)?,
            None => self.repository().empty_tree(),
        };
        let files = self.repository().file_pairs(old, info.tree)?;
        Ok(Some(CommitDifference { commit, parent, n_parents, files }))
    }

    /// Compares the content of a file.
    pub fn file_difference(&self, pair: &FilePair) -> ContentDifference {
        let compared = self.compare(pair);
        compared.unwrap_or_else(|error| ContentDifference::Unreadable(guidance::chain(&error)))
    }

    fn compare(&self, pair: &FilePair) -> Result<ContentDifference> {
        let (old, new) = (pair.before(), pair.after());
        let is_submodule =
            |side: Option<&FileSide>| side.is_some_and(|side| side.sort == FileSort::Submodule);
        if is_submodule(old) && is_submodule(new) {
            return Ok(ContentDifference::Submodule);
        }
        if old.zip(new).is_some_and(|(old, new)| old.oid == new.oid) {
            return Ok(ContentDifference::Same);
        }
        // The other side of what became a submodule, or was one, is shown as the file that it is.
        let blob = |side: Option<&FileSide>| {
            side.filter(|side| side.sort != FileSort::Submodule).map(|side| side.oid)
        };
        let (old, new) = (blob(old), blob(new));
        if old.is_none() && new.is_none() {
            return Ok(ContentDifference::Submodule);
        }
        let size = |blob: Option<Oid>| blob.map(|oid| self.repository().blob_size(oid)).transpose();
        let (n_old, n_new) = (size(old)?, size(new)?);
        let longest = n_old.max(n_new).unwrap_or_default();
        if longest > TEXT_BYTES_MAX {
            return Ok(ContentDifference::Long { old: n_old, new: n_new });
        }
        let read = |blob: Option<Oid>| match blob {
            Some(oid) => self.repository().read_blob(oid),
            None => Ok(Vec::new()),
        };
        let (old, new) = (read(old)?, read(new)?);
        if !is_text(&old) || !is_text(&new) {
            return Ok(ContentDifference::Bytes { old: n_old, new: n_new });
        }
        let changes = line_changes(&split_lines(&old), &split_lines(&new));
        Ok(ContentDifference::Lines(TextDifference { old, new, changes }))
    }
}
