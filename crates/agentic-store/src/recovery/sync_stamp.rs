//! The number of the last sync of the filesystem, by which it can be told what a power cut can have
//! taken.
//!
//! Times do not serve: a clock may go backwards, and a write takes its time before it waits. So
//! checkpoints count their syncs, in one file: how many have begun, and how many of these have ended.
//! Whoever makes a ref then reads how many have begun. A later one that has ended covers that ref.

use agentic_model::Oid;

use crate::Result;
use crate::file::{self, Persistence};
use crate::layout::{Layout, Stream};

/// How many syncs there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Syncs {
    begun: u64,
    ended: u64,
}

impl Syncs {
    /// Reads the counts; none where nothing of them can be read.
    fn read(layout: &Layout) -> Syncs {
        let text = std::fs::read_to_string(layout.syncs()).unwrap_or_default();
        let mut counts = text.split_whitespace().map_while(|word| word.parse().ok());
        match (counts.next(), counts.next()) {
            (Some(begun), Some(ended)) => Syncs { begun, ended },
            _ => Syncs::default(),
        }
    }

    fn write(self, layout: &Layout) -> Result<()> {
        let text = format!("{} {}\n", self.begun, self.ended);
        // A count that a power cut takes back only makes refs look younger than they are.
        file::replace(&layout.syncs(), text.as_bytes(), Persistence::Lazy)
    }
}

/// Counts a sync of the filesystem that a checkpoint makes.
///
/// # Errors
/// Fails as `sync` does, and when the counts cannot be written.
pub fn counted(layout: &Layout, sync: impl FnOnce() -> Result<()>) -> Result<()> {
    let Syncs { begun, ended } = Syncs::read(layout);
    let number = begun + 1;
    Syncs { begun: number, ended }.write(layout)?;
    sync()?;
    let begun = Syncs::read(layout).begun.max(number);
    Syncs { begun, ended: number }.write(layout)
}

/// Notes in the mark of a stream that its branch was made just now. A note that is lost makes the
/// branch look younger than it is, so nobody has to hear of a failure.
pub fn note_made(layout: &Layout, stream: &Stream, head: Oid) {
    let text = format!("made {} {head}\n", Syncs::read(layout).begun);
    let _derived = std::fs::write(layout.dirty(stream), text);
}

/// Tells whether a sync that has ended began after the branch of a stream was made at `head`.
pub fn covers(layout: &Layout, stream: &Stream, head: Oid) -> bool {
    let note = std::fs::read_to_string(layout.dirty(stream)).unwrap_or_default();
    let mut words = note.split_whitespace();
    let number = match (words.next(), words.next().map(str::parse::<u64>), words.next()) {
        (Some("made"), Some(Ok(number)), Some(oid)) if oid == head.to_string() => number,
        _ => return false,
    };
    Syncs::read(layout).ended > number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_covers_what_was_made_before_it_began() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let layout = Layout::new(folder.path());
        std::fs::create_dir_all(layout.dirty_marks()).expect("writable");
        let stream = Stream::Space;
        let head = Oid::parse(&"1".repeat(40)).expect("an id");
        let other = Oid::parse(&"2".repeat(40)).expect("an id");
        let sync = || counted(&layout, || Ok(())).expect("writable");
        assert!(!covers(&layout, &stream, head), "nothing is known");
        sync();
        note_made(&layout, &stream, head);
        assert!(!covers(&layout, &stream, head), "it is younger than the last sync");
        let made_meanwhile = counted(&layout, || {
            note_made(&layout, &stream, other);
            Ok(())
        });
        made_meanwhile.expect("writable");
        assert!(!covers(&layout, &stream, other), "the sync had begun");
        sync();
        assert!(covers(&layout, &stream, other));
        assert!(!covers(&layout, &stream, head), "the note is of another life of the branch");
    }
}
