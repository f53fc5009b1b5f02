//! Agents of their own for conversations that nobody else's agent has.

use agentic_model::{AgentName, Briefing, Object};
use agentic_space::error::AgentError;
use agentic_space::spawn::{SpawnDraft, SpawnOrigin, spawn_draft};
use agentic_store::error::RefError;

use super::{Binder, NAMES, adopted_names};
use crate::{CaptureError, ConversationId, private};

/// An agent that is to be made for a conversation, unless it is there.
pub(super) struct WantedAgent {
    /// The names that it may have, the first that is free or its own.
    pub names: [AgentName; NAMES],
    /// What seeds it; by this it is known again.
    pub briefing: Object,
    /// Where it begins.
    pub origin: SpawnOrigin,
    /// Whether pushes leave it out.
    pub visibility: AgentVisibility,
}

/// Whether pushes and announcements take an agent along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentVisibility {
    /// They do.
    Public,
    /// They do not, until somebody says so.
    Private,
}

impl Binder<'_> {
    /// Gives a conversation the agent of its own, and tells whether it was made now.
    pub(crate) fn adopt(&self, id: &ConversationId) -> Result<(AgentName, bool), CaptureError> {
        let head = self.space.repository().head_commit()?;
        self.have(&WantedAgent {
            names: adopted_names(id),
            briefing: briefing(&format!("Conversation {id}"))?,
            origin: head.map_or(SpawnOrigin::Root, SpawnOrigin::Commit),
            visibility: AgentVisibility::Private,
        })
    }

    /// Finds the agent under one of its names, or makes it under the first that is free.
    pub(super) fn have(&self, wanted: &WantedAgent) -> Result<(AgentName, bool), CaptureError> {
        use agentic_space::Error;
        let mut in_the_way = None;
        for name in &wanted.names {
            if self.brought_back(name)? {
                if self.is_briefed(name, &wanted.briefing)? {
                    return Ok((name.clone(), false));
                }
                continue;
            }
            if wanted.visibility == AgentVisibility::Private {
                // Before it is there: otherwise a crash would leave one that a push takes along.
                private::mark(self.space, name, self.patience)?;
            }
            let draft = SpawnDraft {
                briefing: &wanted.briefing,
                origin: &wanted.origin,
                behaviour: None,
                asker: None,
                patience: self.patience,
            };
            match spawn_draft(self.space, name, draft) {
                Ok(_) => return Ok((name.clone(), true)),
                // Somebody was first: the same conversation, or something else of that name.
                Err(Error::Agent(AgentError::Exists { .. } | AgentError::NameArchived { .. })) => {
                    if self.brought_back(name)? && self.is_briefed(name, &wanted.briefing)? {
                        return Ok((name.clone(), false));
                    }
                }
                // A branch of somebody's stands where this one would need a folder, or the other way round.
                Err(error @ Error::Store(agentic_store::Error::Ref(RefError::InTheWay { .. }))) => {
                    in_the_way = Some(error)
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(in_the_way.map_or(CaptureError::NameTaken, CaptureError::from))
    }

    /// Tells whether an agent was made for what a briefing says.
    fn is_briefed(&self, name: &AgentName, wanted: &Object) -> Result<bool, CaptureError> {
        let Some(genesis) = self.space.genesis(name)? else { return Ok(false) };
        let claims = agentic_model::commit::Claims::read(&genesis.message);
        Ok(claims.briefing == Some(wanted.cid()))
    }
}

/// Makes a briefing of one line.
pub(super) fn briefing(text: &str) -> Result<Object, CaptureError> {
    Ok(Briefing::of_text(text).to_object().map_err(agentic_space::Error::from)?)
}
