//! The bell: how a process that stays hears at once that somebody wrote.
//!
//! Whoever listens keeps a named pipe open. Who has written leaves one line there when the write is
//! acknowledged, and never waits: where nobody listens, where the listener hangs and where the pipe
//! is full, nothing happens. A line is a hint and no proof; who hears it looks at ground state.

use std::collections::BTreeSet;

use crate::layout::{Layout, Stream};
use crate::os::{LINE_BYTES_MAX, PipeEnd, leave_line};
use crate::{Error, Result};

/// What a write changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroundChange {
    /// Something of a stream: its journal, and maybe its branch and notes.
    Stream(Stream),
    /// The records of a session, by its id, or the first digits of it.
    Session(String),
    /// Refs; which ones is not known.
    Refs,
    /// Anything may have changed.
    Anything,
}

/// Tells a listener, if there is one, that a write is done.
pub fn ring(layout: &Layout, changed: &GroundChange) {
    leave_line(&layout.bell(), &line_of(changed));
}

fn line_of(changed: &GroundChange) -> String {
    let line = match changed {
        GroundChange::Stream(stream) => format!("a {stream}\n"),
        GroundChange::Session(session) => format!("s {session}\n"),
        GroundChange::Refs => "r\n".to_owned(),
        GroundChange::Anything => "*\n".to_owned(),
    };
    if line.len() <= LINE_BYTES_MAX { line } else { "*\n".to_owned() }
}

/// Reads a line; whatever else it says, somebody rang.
fn changed_by(line: &str) -> GroundChange {
    match line.split_once(' ') {
        Some(("a", name)) => {
            Stream::parse(name).map_or(GroundChange::Anything, GroundChange::Stream)
        }
        Some(("s", id)) if is_session(id) => GroundChange::Session(id.to_owned()),
        None if line == "r" => GroundChange::Refs,
        Some(_) | None => GroundChange::Anything,
    }
}

/// Tells whether a text can be the id of a session, or its first digits.
pub(crate) fn is_session(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A bell that is listened to.
#[derive(Debug)]
pub struct Bell {
    pub(crate) pipe: PipeEnd,
}

impl Bell {
    /// Hangs the bell of a repository up, in place of one that a dead process left. The caller holds
    /// the lock of those who stay.
    ///
    /// # Errors
    /// Fails when the folder cannot be made, or cannot have a pipe.
    pub fn hang_up(layout: &Layout) -> Result<Bell> {
        let path = layout.bell();
        crate::file::make_private_folder(&layout.resident())?;
        let pipe = PipeEnd::make(&path).map_err(Error::io("create", &path))?;
        Ok(Bell { pipe })
    }

    /// Takes what was rung since the last call, without waiting.
    pub fn take(&mut self) -> BTreeSet<GroundChange> {
        let heard = self.pipe.take();
        let mut changed: BTreeSet<GroundChange> = heard.text.lines().map(changed_by).collect();
        if heard.is_full {
            changed.insert(GroundChange::Anything);
        }
        changed
    }
}

#[cfg(test)]
mod tests;
