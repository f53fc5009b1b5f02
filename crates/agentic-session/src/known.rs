//! The journals that are known already, as values: how they were read is told in `own`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use agentic_replay::{Body, RecordChain, RecordLink, SessionId};
use agentic_space::locked;
use agentic_store::journal::LogPlace;

/// How many journals are remembered: a session, those that wait for each other with it, and those
/// that it is compared with.
const JOURNALS_MAX: usize = 4;

/// How much the journals may be together that are remembered, in bytes; the latest one may be longer.
const JOURNALS_BYTES_MAX: usize = 64 << 20;
/// How many times the bytes of its records a journal takes: they are kept as they are read and as they
/// were written.
const BYTES_PER_BYTE: usize = 3;

/// The journals that were looked at last, the latest one first.
#[derive(Debug, Default)]
pub struct RecentJournals(Mutex<VecDeque<KnownJournal>>);

/// A journal as far as it was read.
#[derive(Debug)]
pub struct KnownJournal {
    /// The session.
    pub id: SessionId,
    /// Its records; of a fork, with those that it shares.
    pub journal: Arc<RecordChain>,
    /// The bytes of the session's own records.
    pub frames: Vec<Vec<u8>>,
    /// Where they end in its log; nothing if that lacks some, and they were read from its sealed
    /// segments.
    pub end: Option<LogPlace>,
}

impl RecentJournals {
    /// Takes in records that were appended to the log of a session just now, from one place in it to
    /// another.
    pub fn appended(&self, id: &SessionId, links: Vec<RecordLink>, from: LogPlace, to: LogPlace) {
        let mut links = links.into_iter();
        let known = match self.take(id) {
            Some(known) => Some(known).filter(|known| known.end == Some(from)),
            None if from.is_beginning() => links.next().and_then(|first| self.begin(id, first)),
            None => None,
        };
        if let Some(known) = known.and_then(|known| known.grow(links, to)) {
            self.keep(known);
        }
    }

    /// Begins with the first record of a session. That of a fork follows records of its parent, which
    /// was read if it was forked just now.
    fn begin(&self, id: &SessionId, first: RecordLink) -> Option<KnownJournal> {
        let Body::Start(start) = &first.record.body else { return None };
        let journal = match start.parent {
            None => RecordChain::read([&first.bytes]).ok()?,
            Some(point) => {
                let recent = locked(&self.0);
                let parent = recent.iter().find(|known| known.id == point.session)?;
                let mut journal = parent.journal.up_to(point.seq);
                journal.push(first.record, first.hash).ok()?;
                journal
            }
        };
        Some(KnownJournal {
            id: *id,
            journal: Arc::new(journal),
            frames: vec![first.bytes],
            end: None,
        })
    }

    /// Takes in that the records of a session stand elsewhere in its log now.
    pub fn moved(&self, id: &SessionId, from: LogPlace, to: LogPlace) {
        let mut recent = locked(&self.0);
        let known = recent.iter_mut().find(|known| known.id == *id && known.end == Some(from));
        if let Some(known) = known {
            known.end = Some(to);
        }
    }

    /// Takes out what is known of a session.
    pub fn take(&self, id: &SessionId) -> Option<KnownJournal> {
        let mut recent = locked(&self.0);
        let at = recent.iter().position(|known| known.id == *id)?;
        recent.remove(at)
    }

    /// Keeps what is known of a session, in place of what was.
    pub fn keep(&self, known: KnownJournal) {
        // What was read from the seal has no place in a log from which it could be read on.
        if known.end.is_none() {
            return;
        }
        let mut recent = locked(&self.0);
        // Another thread may have read it meanwhile.
        recent.retain(|other| other.id != known.id);
        recent.push_front(known);
        recent.truncate(JOURNALS_MAX);
        let mut n_bytes = 0;
        let fits = |known: &&KnownJournal| {
            n_bytes += known.n_bytes();
            n_bytes <= JOURNALS_BYTES_MAX
        };
        let n_kept = recent.iter().take_while(fits).count().max(1);
        recent.truncate(n_kept);
    }
}

impl KnownJournal {
    /// Returns how much memory it takes, about.
    fn n_bytes(&self) -> usize {
        self.frames.iter().map(Vec::len).sum::<usize>() * BYTES_PER_BYTE
    }

    /// Takes in records that continue the journal.
    fn grow(
        mut self,
        links: impl Iterator<Item = RecordLink>,
        end: LogPlace,
    ) -> Option<KnownJournal> {
        let journal = Arc::make_mut(&mut self.journal);
        for link in links {
            journal.push(link.record, link.hash).ok()?;
            self.frames.push(link.bytes);
        }
        Some(KnownJournal { end: Some(end), ..self })
    }
}
