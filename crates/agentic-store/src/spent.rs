//! What was sealed, came back, and is good no more: one list for all processes of a space.
//!
//! Whoever takes back what is good once notes it here before it acts. A crash in between leaves something
//! that has to be handed out again, and never something that is good a second time.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::file::{self, Persistence};
use crate::lock::Lock;
use crate::{Error, Layout, Result};

/// How many are remembered. More cannot be taken back until some of them are forgotten.
const SPENT_MAX: usize = 16 << 10;
/// The longest list, in bytes: 2 MiB. A line has 64 digits and a time.
const LIST_BYTES_MAX: u64 = 2 << 20;
/// How long one is remembered after it would not be good any more: a clock may be set back.
const KEPT_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// What is taken back.
#[derive(Debug, Clone, Copy)]
pub struct SealedText<'t> {
    /// The text that was sealed, as it was before it was written down in any way.
    pub text: &'t str,
    /// Until when it is good, in milliseconds.
    pub until: i64,
    /// What time it is, in milliseconds.
    pub now: i64,
}

/// What became of something that came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "what was spent before is good no more"]
pub enum SealSpending {
    /// It is spent by this.
    Now,
    /// It was spent before, or too many were.
    Before,
}

/// Notes that something sealed came back. It stays noted whatever happens next.
///
/// # Errors
/// Fails when the list cannot be read or written; then nothing may be done with what came back.
pub fn spend(layout: &Layout, sealed: SealedText<'_>) -> Result<SealSpending> {
    let path = path(layout);
    let git_dir = layout.root().parent().expect("the folder is one of git's");
    let _turn = Lock::take(&layout.space_lock("spent"), git_dir)?;
    let known = match file::read_text(&path, LIST_BYTES_MAX) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Error::io("read", &path)(error)),
    };
    let mark = blake3::hash(sealed.text.as_bytes()).to_hex();
    let (mut list, mut n_kept) = (String::new(), 0);
    for line in known.lines() {
        let Some((spent, until)) = line.split_once(' ') else { continue };
        if spent == mark.as_str() {
            return Ok(SealSpending::Before);
        }
        let is_old = until.parse::<i64>().is_ok_and(|until| until < sealed.now - KEPT_MILLIS);
        if !is_old {
            list.push_str(line);
            list.push('\n');
            n_kept += 1;
        }
    }
    if n_kept >= SPENT_MAX {
        return Ok(SealSpending::Before);
    }
    writeln!(list, "{mark} {}", sealed.until).expect("a text takes all");
    file::replace(&path, list.as_bytes(), Persistence::Synced)?;
    Ok(SealSpending::Now)
}

fn path(layout: &Layout) -> PathBuf {
    layout.root().join("spent")
}

#[cfg(test)]
mod tests {
    use super::{KEPT_MILLIS, SealSpending, SealedText, path, spend};
    use crate::Layout;

    fn spent(layout: &Layout, text: &str, now: i64) -> SealSpending {
        spend(layout, SealedText { text, until: 1_000, now }).expect("writable")
    }

    #[test]
    fn what_is_sealed_is_spent_once_and_forgotten_long_after_it_was_good() {
        let folder = tempfile::tempdir().expect("writable");
        let layout = Layout::new(folder.path());
        for (text, now, came) in [
            ("a", 0, SealSpending::Now),
            ("a", 0, SealSpending::Before),
            ("b", 999, SealSpending::Now),
            ("a", KEPT_MILLIS, SealSpending::Before),
            ("c", 1_001 + KEPT_MILLIS, SealSpending::Now),
        ] {
            assert_eq!(spent(&layout, text, now), came, "{text} at {now}");
        }
        let list = std::fs::read_to_string(path(&layout)).expect("it is there");
        assert_eq!(list.lines().count(), 1, "{list}");
    }
}
