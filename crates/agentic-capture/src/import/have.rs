//! Having the agent of a conversation: made as it was then, brought back, and remembered.

use agentic_model::{AgentName, Oid};
use agentic_space::archive::restore;
use agentic_space::error::AgentError;
use agentic_space::spawn::SpawnOrigin;

use super::belonging::genesis_of;
use super::take::Importer;
use super::whose::TakenBinding;
use crate::CaptureError;
use crate::conversation::ConversationRecord;
use crate::hook::end;

impl Importer<'_> {
    /// Makes the agent, or brings it back from the archive, and returns the commit that has its entries.
    pub fn have(&self, bound: &TakenBinding) -> Result<Oid, CaptureError> {
        if !self.is_open(&bound.agent)? {
            if let Some(SpawnOrigin::Agent(parent)) = bound.past.as_ref().map(|past| &past.origin) {
                self.is_open(parent)?;
            }
            if let Some(past) = &bound.past {
                past.make(self.space, &bound.agent)?;
            }
        }
        let genesis = genesis_of(self.space, &bound.agent)?.map(|genesis| genesis.oid);
        let genesis = genesis.map_or_else(|| Ok(self.space.head(&bound.agent)?), Ok);
        self.remember(bound)?;
        genesis
    }

    /// Tells whether there is an agent; one that only the archive has is brought back.
    fn is_open(&self, agent: &AgentName) -> Result<bool, CaptureError> {
        use agentic_space::Error;
        match self.space.head(agent) {
            Ok(_) => Ok(true),
            Err(Error::Agent(AgentError::Archived { .. })) => {
                match restore(self.space, std::slice::from_ref(agent)) {
                    Ok(_) | Err(Error::Agent(AgentError::NotArchived { .. })) => Ok(true),
                    Err(error) => Err(error.into()),
                }
            }
            Err(Error::Agent(AgentError::Unknown { .. })) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Tells whether there is an agent, open or archived.
    pub fn is_there(&self, agent: &AgentName) -> Result<bool, CaptureError> {
        let repository = self.space.repository();
        Ok(repository.find_ref(&agent.branch_ref())?.is_some()
            || repository.archive_entry(agent)?.is_some())
    }

    /// Remembers whose conversation it is.
    pub fn remember(&self, bound: &TakenBinding) -> Result<(), CaptureError> {
        let layout = self.space.repository().layout();
        if bound.known.as_ref().and_then(ConversationRecord::agent).as_ref() == Some(&bound.agent) {
            return Ok(());
        }
        let now = self.space.now();
        let mut record =
            ConversationRecord::new(&bound.id, &bound.agent, bound.reason, bound.began);
        record.ended = Some(now.millis());
        record.parent = bound.parent.as_ref().map(|parent| parent.native.clone());
        record.sort.clone_from(&bound.sort);
        record.transcript = bound.parent.is_none().then(|| bound.path.clone());
        record.save(layout)?;
        end::note_child(layout, &record)
    }
}
