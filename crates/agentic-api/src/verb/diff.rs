//! What a commit changed, file by file and line by line.

use agentic_git::FilePair;
use agentic_space::difference::ContentDifference;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{Reply, Verb};
use crate::view::{CommitDiffView, DiffWindow, FileDiffView};
use crate::{Caller, Refusal};

/// How many lines of differences one answer has.
pub const DIFF_LINES_MAX: usize = 2_000;
/// How many of them are of one file, where several are asked for.
pub const DIFF_FILE_LINES_MAX: usize = 400;
/// How many files one answer has.
pub const DIFF_FILES_MAX: usize = 50;
/// How much text is compared for one answer, in bytes.
const COMPARED_BYTES_MAX: usize = 16 << 20;

/// Show what a commit changed, against a parent.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommitDiff {
    /// The commit.
    pub commit: String,
    /// Against which of its parents, from 1; else the first.
    pub parent: Option<usize>,
    /// Only this file, by its number from 0.
    pub file: Option<usize>,
    /// From which line of that file's difference on.
    pub line: usize,
    /// From which file on, where no file is named.
    pub first: usize,
}

impl Verb for CommitDiff {
    type Answer = CommitDiffView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<CommitDiffView>, Refusal> {
        let commit = caller.space.repository().resolve_commit(&self.commit)?;
        let parent = self.parent.unwrap_or(1);
        let found = match parent.checked_sub(1) {
            Some(parent) => caller.space.commit_difference(commit, parent)?,
            None => None,
        };
        let Some(found) = found else {
            let message = format!("commit `{commit}` has no parent {parent}");
            return Err(Refusal::refused(&message, "parents are counted from 1"));
        };
        let mut view = CommitDiffView::new(&found);
        if let Some(wanted) = self.file.filter(|file| *file >= found.files.len()) {
            let message = format!("commit `{commit}` changed no file {wanted}");
            return Err(Refusal::refused(&message, "files are counted from 0"));
        }
        self.fill(caller, &found.files, &mut view);
        Ok(Reply::plain(view))
    }
}

impl CommitDiff {
    /// Compares all files, as far as there is room, and shows those that are wanted.
    fn fill(&self, caller: &Caller<'_>, files: &[FilePair], view: &mut CommitDiffView) {
        let (mut n_bytes, mut n_lines) = (0, 0);
        for (n, pair) in files.iter().enumerate() {
            let is_wanted = self.file.map_or(n >= self.first, |file| file == n);
            let has_room = view.files.len() < DIFF_FILES_MAX && n_lines < DIFF_LINES_MAX;
            let is_shown = is_wanted && has_room;
            if is_wanted && !has_room && view.next.is_none() {
                view.next = Some(n);
            }
            // A file that somebody names is compared, whatever came before it.
            let is_named = self.file == Some(n);
            if n_bytes > COMPARED_BYTES_MAX && !is_named {
                view.partial = true;
                view.files.extend(is_shown.then(|| FileDiffView::new(n, pair)));
                continue;
            }
            let content = caller.space.file_difference(pair);
            if let ContentDifference::Lines(text) = &content {
                n_bytes += text.old.len() + text.new.len();
            }
            let shown =
                FileDiffView::new(n, pair).with_content(&content, self.window(is_shown, n_lines));
            view.added += shown.added;
            view.deleted += shown.deleted;
            if is_shown {
                n_lines += shown.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>();
                view.files.push(shown);
            }
        }
    }

    fn window(&self, is_shown: bool, n_lines: usize) -> DiffWindow {
        let left = DIFF_LINES_MAX - n_lines.min(DIFF_LINES_MAX);
        match self.file {
            Some(_) if is_shown => DiffWindow { from: self.line, most: left },
            None if is_shown => DiffWindow { from: 0, most: left.min(DIFF_FILE_LINES_MAX) },
            Some(_) | None => DiffWindow { from: 0, most: 0 },
        }
    }
}
