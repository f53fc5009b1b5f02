//! Whose conversations are: made again from bound traces and pending entries where that was lost.
//!
//! What lies below `capture/` may be deleted. A mark in each folder that would be missed says that it was
//! not: without all of them whoever can take the time reads the traces of all agents, and remembers again
//! which conversation is whose. How far files were read is not known then, so that their entries are looked
//! up once.

use std::path::PathBuf;

use agentic_model::{AgentName, Map, Value};
use agentic_space::Space;
use agentic_space::capture::FetchedAgents;
use agentic_store::file::{self, Persistence};
use agentic_store::{Layout, Stream, journal};

use crate::catch_up::mark_unsure;
use crate::conversation::{BindReason, ConversationRecord};
use crate::cursor::CursorOwner;
use crate::known::{each_trace, notes_of};
use crate::{CaptureError, ConversationId, Source};

/// The folders in which what is remembered lies.
const FOLDERS: [&str; 2] = ["conversation", "cursor"];
/// How many journals are looked at before it is left to others to make it whole.
const AGENTS_MAX: usize = 64;

/// Tells whether what is remembered is all that there was.
pub fn are_whole(layout: &Layout) -> bool {
    marks(layout).iter().all(|mark| mark.exists())
}

/// Says that what is remembered is all, where no agent has notes, nor anything that waits for a commit:
/// nothing can have been lost.
///
/// # Errors
/// Fails when refs or journals cannot be read, or the marks cannot be written.
pub fn begin(space: &Space) -> Result<(), CaptureError> {
    let repository = space.repository();
    let layout = repository.layout();
    if are_whole(layout) || repository.has_refs_below(AgentName::NOTES_REFS)? {
        return Ok(());
    }
    let is_new = repository.all_archive_entries()?.is_empty() && !may_have_pending(layout)?;
    if is_new { put_marks(layout) } else { Ok(()) }
}

/// Tells whether an agent has entries that wait for a commit, or there are too many agents to tell.
fn may_have_pending(layout: &Layout) -> Result<bool, CaptureError> {
    let journals = std::fs::read_dir(layout.journals()).into_iter().flatten().flatten();
    for (number, journal) in journals.enumerate() {
        let stream = journal.file_name().to_str().and_then(Stream::parse);
        if let Some(agent) = stream.as_ref().and_then(Stream::agent)
            && (number >= AGENTS_MAX || has_pending(layout, agent)?)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes it whole again, if it is not, and takes in what fetches brought.
///
/// # Errors
/// Fails when notes or journals cannot be read, or records cannot be written.
pub fn rebuild(space: &Space) -> Result<(), CaptureError> {
    let layout = space.repository().layout();
    let fetched = FetchedAgents::take(layout)?;
    if are_whole(layout) {
        for agent in fetched.iter().flat_map(|fetched| &fetched.agents) {
            rebuild_from(space, agent, notes_of(space, agent)?)?;
        }
        return fetched.map_or(Ok(()), |fetched| Ok(fetched.forget()?));
    }
    for (agent, _) in space.agent_names()? {
        let tip = space.repository().find_ref(&agent.notes_ref())?;
        rebuild_from(space, &agent, tip)?;
        if has_pending(layout, &agent)? {
            for entry in space.pending_trace(&agent)? {
                remember(space, &agent, &entry_place(&entry.meta))?;
            }
        }
    }
    for entry in space.archived_agents()? {
        rebuild_from(space, &entry.archived.agent, entry.archived.notes)?;
    }
    put_marks(layout)?;
    fetched.map_or(Ok(()), |fetched| Ok(fetched.forget()?))
}

fn rebuild_from(
    space: &Space,
    agent: &AgentName,
    tip: Option<agentic_model::Oid>,
) -> Result<(), CaptureError> {
    let mut said = Vec::new();
    each_trace(space, tip, |object| {
        let captured = object.map().get("captured").and_then(Value::as_list).unwrap_or_default();
        said.extend(captured.iter().filter_map(Value::as_map).cloned());
    })?;
    for said in said {
        remember(space, agent, &said)?;
    }
    Ok(())
}

/// Reads whose words an entry has.
fn entry_place(meta: &Map) -> Map {
    let text = |key: &str| meta.get(key).and_then(Value::as_text);
    let (source, conversation) =
        text("conversation").unwrap_or_default().split_once(':').unwrap_or_default();
    let subagent = text("subagent").map(|id| ("subagent".to_owned(), Value::text(id)));
    let named = [
        ("source".to_owned(), Value::text(source)),
        ("conversation".to_owned(), Value::text(conversation)),
    ];
    named.into_iter().chain(subagent).collect()
}

fn remember(space: &Space, agent: &AgentName, said: &Map) -> Result<(), CaptureError> {
    let layout = space.repository().layout();
    let text = |key: &str| said.get(key).and_then(Value::as_text).filter(|it| !it.is_empty());
    let source = text("source").and_then(|name| Source::parse(name).ok());
    let (Some(source), Some(native)) = (source, text("conversation")) else { return Ok(()) };
    let conversation = ConversationId { source, native: native.to_owned() };
    mark_unsure(layout, &CursorOwner { conversation: &conversation, subagent: text("subagent") })?;
    let id = match text("subagent") {
        Some(subagent) => ConversationId { source, native: subagent.to_owned() },
        None => conversation.clone(),
    };
    if ConversationRecord::load(layout, &id).is_some() {
        return Ok(());
    }
    let reason = text("reason").and_then(BindReason::parse).unwrap_or(BindReason::Conversation);
    let mut record = ConversationRecord::new(&id, agent, reason, space.now());
    if text("subagent").is_some() {
        (record.reason, record.parent) = (BindReason::Parent, Some(conversation.native));
    } else if let Some(parent) = text("parent") {
        record.parent = Some(parent.to_owned());
    }
    // Whether it goes on its next event says.
    record.ended = Some(space.now().millis());
    record.save(layout)
}

/// Tells whether entries of an agent wait for a commit.
fn has_pending(layout: &Layout, agent: &AgentName) -> Result<bool, CaptureError> {
    let tail = journal::tail(layout, &Stream::Agent(agent.clone()))?;
    Ok(tail.is_some_and(|record| record.standing.n_pending > 0))
}

/// Whoever loses a folder loses its mark.
fn marks(layout: &Layout) -> [PathBuf; FOLDERS.len()] {
    FOLDERS.map(|folder| layout.capture().join(folder).join("whole"))
}

fn put_marks(layout: &Layout) -> Result<(), CaptureError> {
    for mark in marks(layout) {
        let folder = mark.parent().expect("marks stand in a folder");
        std::fs::create_dir_all(folder).map_err(|source| CaptureError::Io { source })?;
        file::replace(&mark, b"", Persistence::Lazy)?;
    }
    Ok(())
}
