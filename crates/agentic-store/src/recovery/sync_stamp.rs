//! The number of the last sync of the filesystem, by which it can be told what a power cut can have
//! taken.
//!
//! Times do not serve: a clock may go backwards, and a write takes its time before it waits. So
//! checkpoints count their syncs, in one file: how many have begun, and how many of these have ended.
//! Whoever makes a ref then reads how many have begun. A later one that has ended covers that ref.

use std::fs::{File, OpenOptions, TryLockError};

use agentic_model::Oid;

use crate::file::{self, Persistence};
use crate::layout::{Layout, Stream};
use crate::lock::Patience;
use crate::{Error, Result};

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
        file::replace(&layout.syncs(), text.as_bytes(), Persistence::Cache)
    }

    /// Counts a sync. Whoever does has the turn, so that the counts only grow.
    fn count(self, layout: &Layout, sync: impl FnOnce() -> Result<()>) -> Result<()> {
        let number = self.begun + 1;
        Syncs { begun: number, ..self }.write(layout)?;
        sync()?;
        Syncs { begun: number, ended: number }.write(layout)
    }
}

/// Counts a sync of the filesystem that a checkpoint makes.
///
/// # Errors
/// Fails as `sync` does, and when the counts cannot be written.
pub fn counted(layout: &Layout, sync: impl FnOnce() -> Result<()>) -> Result<()> {
    let turn = turn(layout, Patience::Endless).map_err(Error::io("lock", &layout.syncs()));
    let _turn = turn?;
    Syncs::read(layout).count(layout, sync)
}

/// Has the filesystem synced, or finds that somebody else did who began after this was called: of many
/// who ask at once, two or three sync.
///
/// # Errors
/// Fails as `sync` does.
pub fn shared(layout: &Layout, sync: impl FnOnce() -> Result<()>) -> Result<()> {
    shared_within(layout, Patience::Endless, sync).map(drop)
}

/// Does the same, unless others sync for longer than somebody wants to wait. Tells whether it is done.
///
/// # Errors
/// Fails as `sync` does.
pub fn shared_within(
    layout: &Layout,
    patience: Patience,
    sync: impl FnOnce() -> Result<()>,
) -> Result<bool> {
    let asked = Syncs::read(layout);
    let _turn = match turn(layout, patience) {
        Ok(Some(turn)) => turn,
        Ok(None) => return Ok(false),
        // Where nothing can be counted, each syncs for itself.
        Err(_) => return sync().map(|()| true),
    };
    let found = Syncs::read(layout);
    if found.ended > asked.begun {
        return Ok(true);
    }
    let mut sync = Some(sync);
    let counted = found.count(layout, || sync.take().map_or(Ok(()), |sync| sync()));
    match sync {
        Some(sync) => sync().map(|()| true),
        None => counted.map(|()| true),
    }
}

/// Waits for the turn to sync and to count it; nothing if others have it for too long.
fn turn(layout: &Layout, patience: Patience) -> std::io::Result<Option<File>> {
    let path = layout.syncs().with_added_extension("lock");
    let turn = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    let look = || match turn.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    };
    Ok(patience.wait(look, || turn.lock())?.then_some(turn))
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
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

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

    #[test]
    fn each_who_asks_gets_a_sync_that_began_after_it_asked() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let layout = Layout::new(folder.path());
        std::fs::create_dir_all(layout.root()).expect("writable");
        let (clock, syncs) = (AtomicU64::new(0), Mutex::new(Vec::new()));
        let now = || clock.fetch_add(1, Ordering::SeqCst);
        let ask = || {
            for _ in 0..20 {
                let asked = now();
                let synced = shared(&layout, || {
                    syncs.lock().expect("nobody panics").push(now());
                    Ok(())
                });
                synced.expect("writable");
                let began = syncs.lock().expect("nobody panics");
                assert!(began.iter().any(|began| *began > asked), "nobody synced for it");
            }
        };
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(ask);
            }
        });
        let n_syncs = syncs.lock().expect("nobody panics").len();
        assert!((1..=160).contains(&n_syncs), "{n_syncs}");
    }

    #[test]
    fn whoever_asks_while_somebody_syncs_waits_for_the_next() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let layout = Layout::new(folder.path());
        std::fs::create_dir_all(layout.root()).expect("writable");
        let mut asked = Syncs::default();
        let sync = || counted(&layout, || Ok(())).expect("writable");
        counted(&layout, || {
            asked = Syncs::read(&layout);
            Ok(())
        })
        .expect("writable");
        let is_covered = || Syncs::read(&layout).ended > asked.begun;
        assert!(!is_covered(), "that one had begun");
        sync();
        assert!(is_covered());
    }

    #[test]
    fn a_sync_that_fails_is_nobodys_and_what_cannot_be_counted_is_synced() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let layout = Layout::new(&folder.path().join("nothing"));
        let mut n_syncs = 0;
        let mut sync = || {
            n_syncs += 1;
            Ok(())
        };
        shared(&layout, &mut sync).expect("nothing is counted");
        std::fs::create_dir_all(layout.root()).expect("writable");
        shared(&layout, || Err(Error::corrupt("the disk", "it is gone"))).expect_err("it failed");
        shared(&layout, &mut sync).expect("writable");
        std::fs::remove_file(layout.syncs()).expect("it is there");
        std::fs::create_dir(layout.syncs()).expect("writable");
        shared(&layout, &mut sync).expect("nothing is counted");
        assert_eq!(n_syncs, 3);
    }
}
