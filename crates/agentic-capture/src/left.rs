//! Conversations that are over, and whose last facts wait in the spool: others held the agent's lock for
//! too long, or what it takes to make the agent. No event of their own will come to take them along, so
//! that the next event of any conversation does.
//!
//! A mark names each. It is made after the facts are durable, and goes after they are in the journal; a
//! lost one costs nothing but that the facts wait until an import. Nobody waits for a lock here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agentic_model::AgentName;
use agentic_space::Space;
use agentic_space::error::AgentError;
use agentic_store::file::{self, Persistence};
use agentic_store::{Layout, Patience};

use crate::bind::{Binder, HookPlace};
use crate::conversation::{BindReason, ConversationRecord, file_name_of};
use crate::spool::{self, SpoolOwner};
use crate::{CaptureError, ConversationId, HookEnvironment, Source};

/// How many are taken in at one event.
const LEFT_MAX: usize = 4;
/// The longest mark that is read, in bytes.
const MARK_BYTES_MAX: u64 = 16 << 10;

/// What became of facts that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeftFacts {
    /// They are in the journal, or an import has to take them in.
    Done,
    /// Others are still at it.
    Wait,
}

/// Notes that a conversation is over and that facts of it wait.
///
/// # Errors
/// Fails when the folder cannot be written.
pub fn note(layout: &Layout, id: &ConversationId) -> Result<(), CaptureError> {
    let folder = folder(layout);
    std::fs::create_dir_all(&folder).map_err(|source| CaptureError::Io { source })?;
    let text = format!("{}\n{}", id.source, id.native);
    Ok(file::replace(&folder.join(file_name_of(id)), text.as_bytes(), Persistence::Lazy)?)
}

/// Takes in what waits of conversations that are over, as far as nobody is in the way.
///
/// # Errors
/// Fails when journals cannot be read or written; what waits then goes on waiting.
pub fn take_in(space: &Space) -> Result<(), CaptureError> {
    // Where nobody was ever put off at the end, this is one call that finds no folder.
    let Ok(found) = std::fs::read_dir(folder(space.repository().layout())) else { return Ok(()) };
    let marks = found.flatten().map(|entry| entry.path());
    for mark in marks.filter(|path| path.extension().is_none()).take(LEFT_MAX) {
        let left = match read(&mark) {
            Some(id) => take_in_one(space, &id)?,
            None => LeftFacts::Done,
        };
        if left == LeftFacts::Done {
            file::remove(&mark)?;
        }
    }
    Ok(())
}

fn take_in_one(space: &Space, id: &ConversationId) -> Result<LeftFacts, CaptureError> {
    use agentic_space::Error;
    let layout = space.repository().layout();
    let known = ConversationRecord::load(layout, id).and_then(|record| record.agent());
    if known.is_none() && spool::waiting(layout, SpoolOwner::Conversation(id)).is_empty() {
        // A purge took them: nothing is made for what has nothing to say.
        return Ok(LeftFacts::Done);
    }
    let agent = match known.map_or_else(|| adopted(space, id), Ok) {
        Ok(agent) => agent,
        Err(error) if error.is_busy() => return Ok(LeftFacts::Wait),
        // Nobody will ever be able to, until an import says so to a person.
        Err(CaptureError::NameTaken) => return Ok(LeftFacts::Done),
        Err(error) => return Err(error),
    };
    match space.pending_writer_within(&agent, Duration::ZERO) {
        Ok(Some(mut writer)) => {
            spool::drain(layout, &agent, id, &mut writer)?;
            Ok(LeftFacts::Done)
        }
        Ok(None) => Ok(LeftFacts::Wait),
        // An import brings such an agent back.
        Err(Error::Agent(AgentError::Archived { .. } | AgentError::Unknown { .. })) => {
            Ok(LeftFacts::Done)
        }
        Err(error) => Err(error.into()),
    }
}

/// Makes the agent of a conversation that ended before it had one.
fn adopted(space: &Space, id: &ConversationId) -> Result<AgentName, CaptureError> {
    let binder = Binder {
        space,
        environment: &HookEnvironment::of([("", ""); 0]),
        place: &HookPlace::default(),
        patience: Patience::of(Duration::ZERO),
        remarks: Vec::new(),
    };
    let (agent, _) = binder.adopt(id)?;
    let now = space.now();
    let mut record = ConversationRecord::new(id, &agent, BindReason::Adopted, now);
    record.ended = Some(now.millis());
    record.save(space.repository().layout())?;
    Ok(agent)
}

fn read(mark: &Path) -> Option<ConversationId> {
    let text = file::read_small(mark, MARK_BYTES_MAX).ok()?;
    let text = String::from_utf8(text).ok()?;
    let (source, native) = text.split_once('\n')?;
    Some(ConversationId { source: Source::parse(source).ok()?, native: native.to_owned() })
}

fn folder(layout: &Layout) -> PathBuf {
    layout.capture().join("left")
}
