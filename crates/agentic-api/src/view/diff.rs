//! What a commit changed, as JSON.

use std::ops::Range;

use agentic_git::{FilePair, FileSide, FileSort, LineChange, split_lines};
use agentic_space::difference::{CommitDifference, ContentDifference, TextDifference};
use schemars::JsonSchema;
use serde::Serialize;

/// How many lines around a change are shown with it.
const CONTEXT: usize = 3;

/// What a commit changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommitDiffView {
    /// The commit.
    pub commit: String,
    /// The parent that it is compared with; missing if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// How many parents it has.
    pub parents: usize,
    /// How many files differ.
    pub changed: usize,
    /// How many lines came, in all files that were compared.
    pub added: usize,
    /// How many lines went.
    pub deleted: usize,
    /// Whether there was too much to compare all files: then there are more lines.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The files, by path: all, or those that were asked for.
    pub files: Vec<FileDiffView>,
    /// The number of the file that comes next, where some are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
}

/// A file that a commit changed.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct FileDiffView {
    /// Its number, from 0.
    pub n: usize,
    /// Its path; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// `added`, `deleted`, `changed` or `moved`.
    pub status: String,
    /// Where it was before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// How much of its content stayed when it moved, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alike: Option<u8>,
    /// Its mode before, as git writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_mode: Option<String>,
    /// Its mode now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_mode: Option<String>,
    /// The blob before, or the commit of a submodule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The blob now, or the commit of a submodule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// `text`, `same`, `bytes`, `long`, `submodule`, `unreadable`, or `unread` where there was too much
    /// to compare.
    pub content: String,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many bytes there were, of what was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_bytes: Option<u64>,
    /// How many bytes there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_bytes: Option<u64>,
    /// How many lines came.
    pub added: usize,
    /// How many lines went.
    pub deleted: usize,
    /// Whether all lines, before and now, end in CR and LF.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub crlf: bool,
    /// How many lines the whole difference has, those around the changes included.
    pub lines: usize,
    /// The changes, those that are shown.
    pub hunks: Vec<DiffHunkView>,
    /// The line of the difference that comes next, where some are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
}

/// Lines that stand together.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DiffHunkView {
    /// The lines.
    pub lines: Vec<DiffLineView>,
}

/// A line of a difference.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DiffLineView {
    /// `+` for one that came, `-` for one that went, else a blank.
    pub sign: char,
    /// Its number before, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<usize>,
    /// Its number now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<usize>,
    /// What it says, without its line feed; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Whether no line feed ends it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unended: bool,
}

/// Which lines of the difference of a file are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DiffWindow {
    pub from: usize,
    pub most: usize,
}

impl CommitDiffView {
    /// Shows a commit's difference without any file.
    pub(crate) fn new(found: &CommitDifference) -> CommitDiffView {
        CommitDiffView {
            commit: found.commit.to_string(),
            parent: found.parent.map(|parent| parent.to_string()),
            parents: found.n_parents,
            changed: found.files.len(),
            added: 0,
            deleted: 0,
            partial: false,
            files: Vec::new(),
            next: None,
        }
    }
}

impl FileDiffView {
    /// Shows a file, without its content.
    pub(crate) fn new(n: usize, pair: &FilePair) -> FileDiffView {
        let mode = |side: Option<&FileSide>| side.map(|side| side.sort.mode().to_owned());
        let oid = |side: Option<&FileSide>| side.map(|side| side.oid.to_string());
        let path = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        let (status, moved_from, alike) = match pair {
            FilePair::Added(_) => ("added", None, None),
            FilePair::Deleted(_) => ("deleted", None, None),
            FilePair::Changed(..) => ("changed", None, None),
            FilePair::Moved(old, _, alike) => ("moved", Some(path(&old.path)), Some(*alike)),
        };
        FileDiffView {
            n,
            path: path(pair.path()),
            status: status.to_owned(),
            moved_from,
            alike,
            old_mode: mode(pair.before()),
            new_mode: mode(pair.after()),
            old: oid(pair.before()),
            new: oid(pair.after()),
            content: "unread".to_owned(),
            ..FileDiffView::default()
        }
    }

    /// Shows how its content differs, and of its lines those that are wanted.
    #[must_use]
    pub(crate) fn with_content(mut self, found: &ContentDifference, wanted: DiffWindow) -> Self {
        let content = match found {
            ContentDifference::Same => "same",
            ContentDifference::Submodule => "submodule",
            ContentDifference::Lines(text) => {
                let bytes = |text: &[u8]| u64::try_from(text.len()).unwrap_or(u64::MAX);
                self.old_bytes = self.old.as_ref().map(|_| bytes(&text.old));
                self.new_bytes = self.new.as_ref().map(|_| bytes(&text.new));
                self.compare(text, wanted);
                "text"
            }
            ContentDifference::Bytes { old, new } => {
                (self.old_bytes, self.new_bytes) = (*old, *new);
                "bytes"
            }
            ContentDifference::Long { old, new } => {
                (self.old_bytes, self.new_bytes) = (*old, *new);
                "long"
            }
            ContentDifference::Unreadable(reason) => {
                self.reason = Some(reason.clone());
                "unreadable"
            }
        };
        content.clone_into(&mut self.content);
        self
    }

    fn compare(&mut self, text: &TextDifference, wanted: DiffWindow) {
        let (old, new) = (split_lines(&text.old), split_lines(&text.new));
        self.added = text.changes.iter().map(|change| change.new.len()).sum();
        self.deleted = text.changes.iter().map(|change| change.old.len()).sum();
        let mut lines = old.iter().chain(&new).peekable();
        self.crlf = lines.peek().is_some() && lines.all(|line| line.ends_with(b"\r\n"));
        let end = wanted.from.saturating_add(wanted.most);
        for hunk in hunks(&text.changes, old.len()) {
            let mut shown = Vec::new();
            for place in hunk {
                if (wanted.from..end).contains(&self.lines) {
                    shown.push(DiffLineView::new(place, &old, &new));
                }
                self.lines += 1;
            }
            if !shown.is_empty() {
                self.hunks.push(DiffHunkView { lines: shown });
            }
        }
        self.next = (self.lines > end).then_some(end);
    }

    /// Says whether it is a symbolic link, before or now.
    pub fn is_link(&self) -> bool {
        let link = Some(FileSort::Link.mode());
        self.old_mode.as_deref() == link || self.new_mode.as_deref() == link
    }
}

/// Where a line of a difference stands.
#[derive(Debug, Clone, Copy)]
enum DiffLinePlace {
    Same(usize, usize),
    Went(usize),
    Came(usize),
}

/// Joins changes that are near each other, each with the lines around it.
fn hunks(changes: &[LineChange], n_old: usize) -> Vec<Vec<DiffLinePlace>> {
    let mut hunks = Vec::new();
    let mut rest = changes;
    while let Some(first) = rest.first() {
        let is_far = |pair: &[LineChange]| pair[1].old.start - pair[0].old.end > 2 * CONTEXT;
        let n = rest.windows(2).position(is_far).map_or(rest.len(), |at| at + 1);
        let (together, after) = rest.split_at(n);
        let begin = first.old.start.saturating_sub(CONTEXT);
        let end = together.last().map_or(begin, |last| (last.old.end + CONTEXT).min(n_old));
        hunks.push(places(together, begin..end));
        rest = after;
    }
    hunks
}

fn places(changes: &[LineChange], old: Range<usize>) -> Vec<DiffLinePlace> {
    let mut places = Vec::new();
    // As many lines before the first change are in the one as in the other.
    let mut shift = changes.first().map_or((0, 0), |first| (first.old.start, first.new.start));
    let mut at = old.start;
    let same = |from: usize, to: usize, (old, new): (usize, usize)| {
        (from..to).map(move |line| DiffLinePlace::Same(line, line + new - old))
    };
    for change in changes {
        places.extend(same(at, change.old.start, shift));
        places.extend(change.old.clone().map(DiffLinePlace::Went));
        places.extend(change.new.clone().map(DiffLinePlace::Came));
        at = change.old.end;
        shift = (change.old.end, change.new.end);
    }
    places.extend(same(at, old.end, shift));
    places
}

impl DiffLineView {
    fn new(place: DiffLinePlace, old: &[&[u8]], new: &[&[u8]]) -> DiffLineView {
        let (sign, before, now, line) = match place {
            DiffLinePlace::Same(before, now) => (' ', Some(before), Some(now), new[now]),
            DiffLinePlace::Went(before) => ('-', Some(before), None, old[before]),
            DiffLinePlace::Came(now) => ('+', None, Some(now), new[now]),
        };
        let text = line.strip_suffix(b"\n");
        DiffLineView {
            sign,
            old: before.map(|line| line + 1),
            new: now.map(|line| line + 1),
            text: String::from_utf8_lossy(text.unwrap_or(line)).into_owned(),
            unended: text.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use agentic_git::{line_changes, split_lines};
    use agentic_space::difference::{ContentDifference, TextDifference};

    use super::{DiffWindow, FileDiffView};

    /// Shows how two texts differ: sign, number before, number now, text; hunks apart.
    fn shown(old: &str, new: &str, wanted: DiffWindow) -> (FileDiffView, Vec<String>) {
        let (before, after) = (split_lines(old.as_bytes()), split_lines(new.as_bytes()));
        let changes = line_changes(&before, &after);
        let text = TextDifference { old: old.into(), new: new.into(), changes };
        let view = FileDiffView::default().with_content(&ContentDifference::Lines(text), wanted);
        let number = |n: Option<usize>| n.map_or("-".to_owned(), |n| n.to_string());
        let lines = view.hunks.iter().flat_map(|hunk| {
            let line = |line: &super::DiffLineView| {
                format!("{}{} {} {}", line.sign, number(line.old), number(line.new), line.text)
            };
            std::iter::once("@".to_owned()).chain(hunk.lines.iter().map(line)).collect::<Vec<_>>()
        });
        let lines = lines.collect();
        (view, lines)
    }

    const ALL: DiffWindow = DiffWindow { from: 0, most: usize::MAX };

    #[test]
    fn changes_stand_among_the_lines_around_them() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n5\n", "\n5\nnew\n").replace("\n18\n", "\n");
        let (view, lines) = shown(&old, &new, ALL);
        assert_eq!((view.added, view.deleted, view.lines), (1, 1, 13));
        let expected = "@, 3 3 3, 4 4 4, 5 5 5,+- 6 new, 6 7 6, 7 8 7, 8 9 8,\
                        @, 15 16 15, 16 17 16, 17 18 17,-18 - 18, 19 19 19, 20 20 20";
        assert_eq!(lines.join(","), expected);
        let (view, lines) = shown(&old, &new, DiffWindow { from: 4, most: 4 });
        assert_eq!(lines.join(","), "@, 6 7 6, 7 8 7, 8 9 8,@, 15 16 15");
        assert_eq!((view.next, view.lines), (Some(8), 13));
    }

    #[test]
    fn changes_near_each_other_stand_together() {
        let old: String = (1..=9).map(|n| format!("{n}\n")).collect();
        let new = old.replace("1\n", "one\n").replace("8\n", "eight\n");
        assert_eq!(shown(&old, &new, ALL).1.iter().filter(|line| *line == "@").count(), 1);
        let new = old.replace("1\n", "one\n").replace("9\n", "nine\n");
        assert_eq!(shown(&old, &new, ALL).1.iter().filter(|line| *line == "@").count(), 2);
    }

    #[test]
    fn ends_of_lines_are_told() {
        let (view, lines) = shown("a\r\nb\r\n", "a\r\nc\r\n", ALL);
        assert!(view.crlf, "{lines:?}");
        let (view, lines) = shown("a\r\nb\r\n", "a\nb\n", ALL);
        assert!(!view.crlf);
        assert_eq!(lines.join(","), "@,-1 - a\r,-2 - b\r,+- 1 a,+- 2 b");
        let (view, _) = shown("a\n", "a", ALL);
        assert_eq!(
            view.hunks[0].lines.iter().map(|line| line.unended).collect::<Vec<_>>(),
            [false, true]
        );
        let (view, lines) = shown("", "", ALL);
        assert!(!view.crlf && lines.is_empty());
    }
}
