//! A journal that takes the place of another one.
//!
//! It is written whole and synced beside the old one, and only then do the names change: the old
//! folder goes aside, the new one takes its place. Whoever finds no journal and one that was begun
//! does the second step; one that was begun beside a journal counts for nothing.

use std::io::ErrorKind;
use std::path::Path;

use agentic_model::{Entry, Instant, Oid};

use super::{
    EncodedRecords, JournalBody, StreamPin, StreamStanding, encode_from, segment, sync_directory,
};
use crate::file::{self, Persistence};
use crate::layout::{Layout, Stream};
use crate::{Error, Result, fault};

/// What a journal begins with that takes the place of another one.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalInheritance {
    /// The first commit of the branch.
    pub genesis: Option<Oid>,
    /// The head of the branch.
    pub head: Option<Oid>,
    /// A state of the notes ref that is durable.
    pub notes: Option<Oid>,
    /// The commits that are decisions because the old journal said so, oldest first.
    pub decisions: Vec<Oid>,
    /// The entries that no commit has, oldest first.
    pub pending: Vec<Entry>,
}

/// Writes a journal beside the one that a stream has, durably.
///
/// # Errors
/// Fails when the disk does; the stream's journal is as before.
pub fn begin_beside(
    layout: &Layout,
    stream: &Stream,
    heritage: JournalInheritance,
    at: Instant,
) -> Result<()> {
    discard(layout, stream)?;
    let dir = layout.begun_journal(stream);
    std::fs::create_dir_all(&dir).map_err(Error::io("create", &dir))?;
    let JournalInheritance { genesis, head, notes, decisions, pending } = heritage;
    let mut standing = StreamStanding {
        genesis,
        head,
        taken_before: 0,
        n_pending: 0,
        notes,
        compared: None,
        pin: StreamPin::Unknown,
    };
    let mut items = vec![(JournalBody::Open, standing.clone())];
    if !decisions.is_empty() {
        items.push((JournalBody::Cut { before: 0, decisions }, standing.clone()));
    }
    for entry in pending {
        standing.n_pending += 1;
        items.push((JournalBody::Entry(entry), standing.clone()));
    }
    let EncodedRecords { bytes, .. } = encode_from(0, [0; 32], items, at, 0)?;
    fault::point("before-successor")?;
    file::replace(&segment::path(&dir, 0), &bytes, Persistence::Synced)?;
    for folder in [dir.parent(), Some(layout.root())].into_iter().flatten() {
        sync_directory(folder)?;
    }
    fault::point("after-successor")
}

/// Sets the journal of a stream aside and lets the one take its place that was begun beside it.
///
/// # Errors
/// Fails when a folder cannot be moved; the next one who opens the journal goes on.
pub fn change_names(layout: &Layout, stream: &Stream, aside: &Path) -> Result<()> {
    let dir = layout.journal(stream);
    let above = aside.parent().expect("folders aside stand in a folder");
    std::fs::create_dir_all(above).map_err(Error::io("create", above))?;
    sync_directory(layout.root())?;
    std::fs::rename(&dir, aside).map_err(Error::io("set aside", &dir))?;
    fault::renamed(&dir, aside);
    fault::point("predecessor-aside")?;
    take_place(layout, stream)?;
    sync_directory(above)
}

/// Lets a journal that was begun take the place of one that was set aside; tells whether there was
/// one.
///
/// # Errors
/// Fails when its folder cannot be moved.
pub fn take_place(layout: &Layout, stream: &Stream) -> Result<bool> {
    let (begun, dir) = (layout.begun_journal(stream), layout.journal(stream));
    if segment::list(&begun)?.is_empty() {
        return Ok(false);
    }
    std::fs::rename(&begun, &dir).map_err(Error::io("take the place of", &dir))?;
    fault::renamed(&begun, &dir);
    fault::point("successor-in-place")?;
    sync_directory(&layout.journals())?;
    Ok(true)
}

/// Removes a journal that was begun and never took the place of another one.
///
/// # Errors
/// Fails when it cannot be removed.
pub fn discard(layout: &Layout, stream: &Stream) -> Result<()> {
    let begun = layout.begun_journal(stream);
    match std::fs::remove_dir_all(&begun) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::io("remove", &begun)(error))
        }
        _ => Ok(()),
    }
}
