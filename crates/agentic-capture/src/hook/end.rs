//! The end of a conversation: what is still pending is bound, and agents that were made for it go to
//! the archive.

use std::path::PathBuf;

use agentic_model::AgentName;
use agentic_session::SessionSpace;
use agentic_space::error::{AgentError, CommitError, WorktreeError};
use agentic_store::Layout;
use agentic_store::file::{self, Persistence};

use super::capture::BoundEvent;
use crate::conversation::{BindReason, ConversationRecord, file_name_of};
use crate::{CaptureError, ConversationId};

/// How many children of one conversation are archived at its end.
const CHILDREN_MAX: usize = 4096;

/// Binds what is pending to the agent's newest commit.
pub(super) fn attach(space: &SessionSpace, agent: &AgentName) -> Result<(), CaptureError> {
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
pub(super) fn note_child(layout: &Layout, record: &ConversationRecord) -> Result<(), CaptureError> {
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

/// Archives the children of a conversation that is over, and its own agent if it was adopted. What
/// somebody still works on stays.
pub(super) fn archive(event: &BoundEvent<'_>) -> Result<(), CaptureError> {
    let (space, binding) = (event.scene.space, event.binding);
    let layout = space.repository().layout();
    let mut agents = Vec::new();
    collect_children(layout, &binding.id, &mut agents);
    let own = ConversationRecord::load(layout, &binding.id);
    let digits = crate::bind::id_digits(&binding.id.native);
    let own_names =
        [&digits.short, &digits.long].map(|digits| crate::bind::adopted_name(&binding.id, digits));
    if own.is_some() && own_names.contains(&binding.agent) {
        agents.push(binding.agent.clone());
    }
    archive_closed(space, agents)
}

/// Archives those agents of a list that nobody works on, in one write.
pub fn archive_closed(
    space: &SessionSpace,
    mut agents: Vec<AgentName>,
) -> Result<(), CaptureError> {
    agents.retain(|agent| space.head(agent).is_ok());
    agents.sort();
    agents.dedup();
    for agent in &agents {
        attach(space, agent)?;
    }
    while !agents.is_empty() {
        let busy = match agentic_session::archive::archive(space, &agents) {
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
    match error {
        Error::Agent(AgentError::TracePending { agent })
        | Error::Agent(AgentError::SessionOpen { agent, .. })
        | Error::Worktree(WorktreeError::CheckedOut { agent, .. }) => Ok(agent),
        Error::Agent(AgentError::Unknown { name } | AgentError::Archived { name }) => Ok(name),
        error => Err(error.into()),
    }
}

fn collect_children(layout: &Layout, parent: &ConversationId, agents: &mut Vec<AgentName>) {
    let mut ahead = vec![parent.clone()];
    while let Some(parent) = ahead.pop() {
        let files = std::fs::read_dir(children_of(layout, &parent)).into_iter().flatten().flatten();
        for file in files {
            let native = std::fs::read_to_string(file.path()).unwrap_or_default();
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
