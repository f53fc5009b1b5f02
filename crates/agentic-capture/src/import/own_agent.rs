//! The agent of a conversation that is over: found by its briefing, or made as it was then.

use agentic_git::PrivacyChange;
use agentic_model::commit::Claims;
use agentic_model::{AgentName, Briefing, Instant, Object};
use agentic_session::SessionSpace;
use agentic_space::error::AgentError;
use agentic_space::privacy::change_privacy;
use agentic_space::spawn::{SpawnOrigin, spawn_past};
use agentic_store::Patience;
use agentic_store::error::RefError;

use super::belonging::genesis_of;
use crate::bind::NAMES;
use crate::{CaptureError, private};

/// What becomes of a name that a conversation's agent may have.
enum NameStanding {
    /// The agent is there, open or archived.
    Own,
    /// Nobody has it.
    Free,
    /// It is something else's.
    Taken,
}

/// Whether pushes leave an agent out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnVisibility {
    Private,
    Public,
}

/// An agent that is to be had.
pub(super) struct PastAgent {
    pub names: [AgentName; NAMES],
    pub briefing: String,
    pub origin: SpawnOrigin,
    pub visibility: OwnVisibility,
    pub at: Instant,
}

impl PastAgent {
    /// Finds the name under which it is there, or else that under which it can be.
    pub fn name(&self, space: &SessionSpace) -> Result<AgentName, CaptureError> {
        for name in &self.names {
            match self.standing(space, name)? {
                NameStanding::Taken => {}
                NameStanding::Own | NameStanding::Free => return Ok(name.clone()),
            }
        }
        Err(CaptureError::NameTaken)
    }

    /// Makes it, under the name that is free.
    pub fn make(&self, space: &SessionSpace, name: &AgentName) -> Result<(), CaptureError> {
        if self.visibility == OwnVisibility::Private {
            // Before it is there: otherwise a crash would leave one that a push takes along.
            private::mark(space, name, Patience::Endless)?;
        }
        let briefing = self.object()?;
        match spawn_past(space, name, &briefing, &self.origin, self.at) {
            Ok(_) => Ok(()),
            // A hook of the same conversation was first.
            Err(agentic_space::Error::Agent(
                AgentError::Exists { .. } | AgentError::NameArchived { .. },
            )) if matches!(self.standing(space, name)?, NameStanding::Own) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn object(&self) -> Result<Object, CaptureError> {
        let briefing = Briefing::of_text(&self.briefing).to_object();
        Ok(briefing.map_err(agentic_space::Error::from)?)
    }

    fn standing(
        &self,
        space: &SessionSpace,
        name: &AgentName,
    ) -> Result<NameStanding, CaptureError> {
        let Some(genesis) = genesis_of(space, name)? else {
            let repository = space.repository();
            let is_there = repository.find_ref(&name.branch_ref())?.is_some()
                || repository.archive_entry(name)?.is_some();
            let is_taken = is_there || is_in_the_way(space, name)?;
            return Ok(if is_taken { NameStanding::Taken } else { NameStanding::Free });
        };
        let claims = Claims::read(&genesis.message);
        if claims.briefing == Some(self.object()?.cid()) {
            return Ok(NameStanding::Own);
        }
        // Of what type a subagent is, not every event says.
        let own = self.briefing.rsplit(' ').next().unwrap_or_default();
        let subject = genesis.message.lines().next().unwrap_or_default();
        let is_child = self.briefing.starts_with("Subagent ")
            && subject.contains(": Subagent ")
            && subject.ends_with(&format!(" {own}"));
        Ok(if is_child { NameStanding::Own } else { NameStanding::Taken })
    }
}

/// Tells whether a ref of somebody's keeps the branch of an agent from being made.
fn is_in_the_way(space: &SessionSpace, name: &AgentName) -> Result<bool, CaptureError> {
    use agentic_store::Error;
    match space.repository().check_place_of_ref(&name.branch_ref()) {
        Ok(()) => Ok(false),
        Err(Error::Ref(RefError::InTheWay { .. })) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Marks agents as private that will be made, all in one write.
pub(super) fn hide(space: &SessionSpace, names: &[AgentName]) -> Result<(), CaptureError> {
    let mut free = Vec::new();
    for name in names {
        let repository = space.repository();
        let is_there = repository.find_ref(&name.branch_ref())?.is_some()
            || repository.archive_entry(name)?.is_some();
        if !is_there {
            free.push(name.clone());
        }
    }
    if free.is_empty() {
        return Ok(());
    }
    Ok(change_privacy(space, &free, PrivacyChange::Private)?)
}
