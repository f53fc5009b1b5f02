//! The end of a conversation: what is still pending is bound, and agents that were made for it go to
//! the archive.

use std::path::PathBuf;

use agentic_model::edge::{EdgeEvent, Party};
use agentic_model::{AgentName, Kind};
use agentic_session::SessionSpace;
use agentic_space::archive::ArchiveWish;
use agentic_space::error::{AgentError, CommitError, WorktreeError};
use agentic_space::relate::relate;
use agentic_store::Layout;
use agentic_store::file::{self, Persistence};

use super::capture::BoundEvent;
use crate::bind::adopted_names;
use crate::conversation::{BindReason, ConversationRecord, file_name_of};
use crate::{CaptureError, ConversationId};

/// The relation of an agent to the one whose conversation was forked.
const FORKED_FROM: &str = "forked-from";
/// How many children of one conversation are archived at its end.
const CHILDREN_MAX: usize = 4096;
/// The longest id of a child that is read, in bytes.
const ID_BYTES_MAX: u64 = 64 << 10;

/// Binds what is pending to the agent's newest commit.
pub(crate) fn attach(space: &SessionSpace, agent: &AgentName) -> Result<(), CaptureError> {
    use agentic_space::Error;
    let head = space.head(agent)?;
    match space.attach_trace(agent, head) {
        Ok(_) => Ok(()),
        // Somebody committed it meanwhile, or there was nothing.
        Err(Error::Commit(CommitError::NoTrace { .. })) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Notes that a conversation has a child, so that its end finds it without a look at all others.
pub(crate) fn note_child(layout: &Layout, record: &ConversationRecord) -> Result<(), CaptureError> {
    let (Some(id), Some(parent)) = (record.id(), record.parent.clone()) else { return Ok(()) };
    let parent = ConversationId { source: id.source, native: parent };
    let folder = children_of(layout, &parent);
    std::fs::create_dir_all(&folder).map_err(|source| CaptureError::Io { source })?;
    let path = folder.join(file_name_of(&id));
    Ok(file::replace(&path, id.native.as_bytes(), Persistence::Lazy)?)
}

fn children_of(layout: &Layout, parent: &ConversationId) -> PathBuf {
    layout.capture().join("children").join(file_name_of(parent))
}

/// Relates an agent of its own to the agent of the conversation that this one was forked from.
pub(crate) fn relate_fork(
    space: &SessionSpace,
    (agent, id): (&AgentName, &ConversationId),
    from: &str,
) -> Result<(), CaptureError> {
    if !is_own_agent(agent, id) || from == id.native {
        return Ok(());
    }
    let from = ConversationId { source: id.source, native: from.to_owned() };
    let known = ConversationRecord::load(space.repository().layout(), &from);
    let Some(other) = known.and_then(|record| record.agent()) else { return Ok(()) };
    if other == *agent {
        return Ok(());
    }
    let relation = Kind::parse(FORKED_FROM).expect("the name of a kind");
    let target = Party::Agent(other);
    let tip = space.repository().notes(&agent.notes_ref())?.tip();
    let is_known = space
        .kept_edges(tip)?
        .iter()
        .any(|(_, edge)| edge.relation == relation && edge.target == target);
    if !is_known {
        let source = Party::Agent(agent.clone());
        let _written = relate(space, &source, &relation, &target, EdgeEvent::Assert)?.written;
    }
    Ok(())
}

/// Tells whether the agent of a conversation was made for it.
pub(crate) fn is_own_agent(agent: &AgentName, id: &ConversationId) -> bool {
    adopted_names(id).contains(agent)
}

/// Archives the children of a conversation that is over, and its own agent if it was adopted. What
/// somebody still works on stays.
pub(super) fn archive(event: &BoundEvent<'_>) -> Result<(), CaptureError> {
    let (space, binding) = (event.scene.space, event.binding);
    let layout = space.repository().layout();
    let mut agents = Vec::new();
    collect_children(layout, &binding.id, &mut agents);
    let own = ConversationRecord::load(layout, &binding.id);
    if own.is_some() && is_own_agent(&binding.agent, &binding.id) {
        agents.push(binding.agent.clone());
    }
    archive_closed(space, agents)
}

/// Archives those agents of a list that nobody works on, in one write.
pub fn archive_closed(space: &SessionSpace, mut all: Vec<AgentName>) -> Result<(), CaptureError> {
    all.retain(|agent| space.head(agent).is_ok());
    all.sort();
    all.dedup();
    let mut agents = Vec::new();
    for agent in all {
        match attach(space, &agent) {
            Ok(()) => agents.push(agent),
            // Whoever holds its lock works on it.
            Err(error) if error.is_busy() => {}
            Err(error) => return Err(error),
        }
    }
    while !agents.is_empty() {
        let wish = ArchiveWish::by_program(&agents);
        let busy = match agentic_session::archive::archive(space, wish) {
            Ok(_) => return Ok(()),
            Err(agentic_session::Error::Space(error)) => busy_agent(error)?,
            Err(_) => return Err(CaptureError::Other { code: "archive" }),
        };
        let n_before = agents.len();
        agents.retain(|agent| *agent != busy);
        if agents.len() == n_before {
            return Err(CaptureError::Other { code: "archive" });
        }
    }
    Ok(())
}

/// Names the agent that cannot go to the archive now.
fn busy_agent(error: agentic_space::Error) -> Result<AgentName, CaptureError> {
    use agentic_space::Error;
    // All others say nothing of one agent: they end the archiving.
    if let Error::Agent(
        AgentError::TracePending { agent: busy }
        | AgentError::SessionOpen { agent: busy, .. }
        | AgentError::Unknown { name: busy }
        | AgentError::Archived { name: busy },
    )
    | Error::Worktree(WorktreeError::CheckedOut { agent: busy, .. }) = error
    {
        return Ok(busy);
    }
    Err(error.into())
}

fn collect_children(layout: &Layout, parent: &ConversationId, agents: &mut Vec<AgentName>) {
    let mut ahead = vec![parent.clone()];
    while let Some(parent) = ahead.pop() {
        let files = std::fs::read_dir(children_of(layout, &parent)).into_iter().flatten().flatten();
        for file in files {
            let native = file::read_text(&file.path(), ID_BYTES_MAX).unwrap_or_default();
            let id = ConversationId { source: parent.source, native };
            let Some(record) = ConversationRecord::load(layout, &id) else { continue };
            let Some(agent) = record.agent() else { continue };
            let is_new = record.reason == BindReason::Parent && !agents.contains(&agent);
            if is_new && agents.len() < CHILDREN_MAX {
                agents.push(agent);
                ahead.push(id);
            }
        }
    }
}
