//! Opening a writer: its lock first, then its journal, then what an earlier process left.

use std::cell::RefCell;

use agentic_model::Instant;

use super::{KeptWriter, Writer};
use crate::ground::GroundStore;
use crate::journal::{Journal, KEEP_MILLIS, OpenedJournal};
use crate::layout::{Layout, Stream};
use crate::lock::Lock;
use crate::report::Finding;
use crate::{Error, Result};

impl<'a, G: GroundStore> Writer<'a, G> {
    /// Takes the lock of a stream and finishes what an earlier crash left.
    ///
    /// # Errors
    /// Fails when the repository cannot be written or the journal is damaged.
    pub fn open(repository: &'a G, stream: &Stream, now: Instant) -> Result<Writer<'a, G>> {
        let path = repository.layout().lock(stream);
        match repository.slot().take_kept(stream) {
            Some(KeptWriter { lock, journal, .. }) => {
                let lock = lock.take(repository.common_dir())?;
                Writer::with_lock(repository, stream, lock, journal, now)
            }
            None => {
                let lock = Lock::take(&path, repository.common_dir())?;
                Writer::with_lock(repository, stream, lock, None, now)
            }
        }
    }

    /// Takes the lock as [`Writer::open`] does, if nobody holds it.
    ///
    /// # Errors
    /// Fails as [`Writer::open`] does.
    pub fn try_open(
        repository: &'a G,
        stream: &Stream,
        now: Instant,
    ) -> Result<Option<Writer<'a, G>>> {
        let path = repository.layout().lock(stream);
        match Lock::try_take(&path, repository.common_dir())? {
            Some(lock) => Writer::with_lock(repository, stream, lock, None, now).map(Some),
            None => Ok(None),
        }
    }

    /// Takes the lock of a stream whose journal cannot be opened, to put another in its place.
    ///
    /// # Errors
    /// Fails when the repository cannot be written.
    pub(crate) fn open_without_journal(
        repository: &'a G,
        stream: &Stream,
    ) -> Result<Writer<'a, G>> {
        let lock = Lock::take(&repository.layout().lock(stream), repository.common_dir())?;
        repository.hold(stream);
        let (stream, lock) = (stream.clone(), Some(lock));
        Ok(Writer {
            repository,
            stream,
            lock,
            journal: None,
            found: Vec::new(),
            is_rare: false,
            compared: RefCell::default(),
            brought: Vec::new(),
            placed: Vec::new(),
            has_written: false,
        })
    }

    fn with_lock(
        repository: &'a G,
        stream: &Stream,
        lock: Lock,
        kept: Option<Journal>,
        now: Instant,
    ) -> Result<Writer<'a, G>> {
        let kept = kept.map_or(Ok(None), Journal::read_on)?;
        let (journal, found) = match kept {
            Some(journal) => (Some(journal), Vec::new()),
            None => {
                check_replayed(repository.layout(), stream)?;
                opened(repository.layout(), stream)?
            }
        };
        let is_rare = journal.as_ref().is_some_and(|journal: &Journal| {
            now.millis().saturating_sub(journal.last().at.millis()) >= KEEP_MILLIS
        });
        let (stream, lock) = (stream.clone(), Some(lock));
        let mut writer = Writer {
            repository,
            stream,
            lock,
            journal,
            found,
            is_rare,
            compared: RefCell::default(),
            brought: Vec::new(),
            placed: Vec::new(),
            has_written: false,
        };
        repository.hold(&writer.stream);
        writer.finish_earlier(now)?;
        for finding in &writer.found {
            tracing::info!(stream = %writer.stream, ?finding, "mended what an earlier writer left");
        }
        Ok(writer)
    }
}

/// Checks that a stream was not left out when journals were replayed: its branch may not have yet what
/// its records say.
fn check_replayed(layout: &Layout, stream: &Stream) -> Result<()> {
    if !layout.left_out(stream).exists() {
        return Ok(());
    }
    let reason = "it was left out after the machine was restarted";
    Err(Error::corrupt(format!("the journal of {}", stream.subject()), reason))
}

pub(super) fn opened(layout: &Layout, stream: &Stream) -> Result<(Option<Journal>, Vec<Finding>)> {
    Ok(match Journal::open(layout, stream)? {
        OpenedJournal::Absent { cut } => (None, cut_tail(cut)),
        OpenedJournal::Ready { journal, cut } => (Some(*journal), cut_tail(cut)),
    })
}

fn cut_tail(bytes: u64) -> Vec<Finding> {
    (bytes > 0).then_some(Finding::CutTail { bytes }).into_iter().collect()
}
