//! Conversations whose lines a transcript begins with, though it does not say so.
//!
//! Older versions of Claude Code let the file of a conversation that is resumed begin with copies of the
//! lines of the one before. Both begin with the same entry. So the files beside a transcript are looked at
//! once, when it is read from its beginning and its first line is older than the file: the newest first, and for half
//! a second at most, for a hook waits for it. What is not found then is taken in again.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant as Moment, UNIX_EPOCH};

use agentic_model::{Instant, Value};

use crate::cursor::open_at;
use crate::entry::EntryName;
use crate::import::find::FoundTranscript;
use crate::mapping::ConversationMapping;
use crate::transcript::{TranscriptLine, TranscriptPlace, TranscriptReader};
use crate::vendor_file::TranscriptForm;
use crate::{ConversationId, VendorFile};

/// How many files beside a transcript are looked at.
const FILES_MAX: usize = 4096;
/// How long they are looked at.
const LOOK_MAX: Duration = Duration::from_millis(500);
/// How many names in its folder are read to find the newest ones.
const NAMES_MAX: usize = 1 << 16;
/// How many lines are read until one is named.
const LINES_MAX: usize = 64;
/// How much of a file may stand before the line that both have, beside that itself, in bytes.
const BEFORE_BYTES_MAX: u64 = 64 << 10;
/// The most of a file that is searched for it, in bytes.
const SEARCHED_BYTES_MAX: u64 = 1 << 20;
/// How long before its file a first line is written as a rule.
const FILE_MADE_WITHIN: Duration = Duration::from_secs(2);
/// How old a first line is that may be a copy, where nobody knows when its file was made.
const OLD_AFTER: Duration = Duration::from_secs(60);

/// The first entry that its vendor has named.
struct FirstEntry {
    id: String,
    /// The vendor's name of its line.
    line: String,
    at: Instant,
    /// Where its line ends.
    end: u64,
}

/// Finds the conversations of which a transcript that is read from its beginning may have copies.
pub(super) fn resumed_from(
    file: &VendorFile,
    own: &ConversationId,
    now: Instant,
) -> Vec<ConversationId> {
    if file.form != TranscriptForm::Lines {
        return Vec::new();
    }
    let Some(first) = FirstEntry::of(file, own).filter(|first| first.is_older(file, now)) else {
        return Vec::new();
    };
    let until = Moment::now() + LOOK_MAX;
    let names = file.path.parent().map(newest_names).unwrap_or_default();
    let in_time = names.into_iter().take_while(|_| Moment::now() < until);
    let mut found: Vec<ConversationId> = in_time
        .filter_map(|name| {
            let id = FoundTranscript::of_path(&file.path.with_file_name(&name), own.source)?;
            let id = Some(id).filter(|it| it.subagent.is_none() && it.id != *own)?.id;
            let other = file.beside(&name).ok()?;
            let begins = first.may_stand_in(&other) && FirstEntry::of(&other, &id)?.id == first.id;
            begins.then_some(id)
        })
        .collect();
    found.sort();
    found
}

/// Lists the names of the files in a folder that were written last, the newest first.
fn newest_names(folder: &Path) -> Vec<OsString> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(NAMES_MAX);
    let dated = entries.filter_map(|entry| {
        let found = std::fs::metadata(entry.path()).ok().filter(std::fs::Metadata::is_file)?;
        Some((found.modified().ok()?, entry.file_name()))
    });
    let mut dated: Vec<_> = dated.collect();
    dated.sort_by(|one, other| other.cmp(one));
    dated.into_iter().take(FILES_MAX).map(|(_, name)| name).collect()
}

impl FirstEntry {
    fn of(file: &VendorFile, id: &ConversationId) -> Option<FirstEntry> {
        let place = TranscriptPlace::default();
        let mut lines = TranscriptReader::new(open_at(file, None, &[0; 32]).ok()?.input, place);
        let mut mapping = ConversationMapping::new(id.clone(), None);
        for _ in 0..LINES_MAX {
            let TranscriptLine::Whole { offset, bytes } = lines.next_line().ok()?? else {
                continue;
            };
            let end = offset + bytes.len() as u64;
            let entries = mapping.line(offset, bytes, &mut |_, _| None);
            if mapping.facts().forked_from().is_some() {
                return None;
            }
            let named = entries.into_iter().find(|entry| entry.named_by == EntryName::Vendor);
            if let Some(entry) = named {
                let line = entry.meta.get("line").and_then(Value::as_text)?.to_owned();
                return Some(FirstEntry { id: entry.id().to_owned(), line, at: entry.at, end });
            }
        }
        None
    }

    /// Tells whether it was said before its file was made.
    fn is_older(&self, file: &VendorFile, now: Instant) -> bool {
        let made = file.file.metadata().and_then(|found| found.created()).ok();
        let made = made.and_then(|made| made.duration_since(UNIX_EPOCH).ok());
        let age = |at: i64| Duration::from_millis((at - self.at.millis()).max(0).unsigned_abs());
        match made.and_then(|made| i64::try_from(made.as_millis()).ok()) {
            Some(made) => age(made) > FILE_MADE_WITHIN,
            None => age(now.millis()) > OLD_AFTER,
        }
    }

    /// Tells whether a file has its name near its beginning.
    fn may_stand_in(&self, file: &VendorFile) -> bool {
        let length = self.end.saturating_add(BEFORE_BYTES_MAX).min(SEARCHED_BYTES_MAX);
        let part = file.part_at(0, usize::try_from(length).unwrap_or(0)).unwrap_or_default();
        part.windows(self.line.len().max(1)).any(|part| part == self.line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn files_are_looked_at_from_the_newest_on_and_nothing_else_is() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, seconds) in [("old", 10), ("newest", 30), ("newer", 20)] {
            let file = File::create(folder.path().join(name)).expect("writable");
            file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).expect("writable");
        }
        std::fs::create_dir(folder.path().join("folder")).expect("writable");
        assert_eq!(newest_names(folder.path()), ["newest", "newer", "old"]);
        assert!(newest_names(&folder.path().join("none")).is_empty());
    }
}
