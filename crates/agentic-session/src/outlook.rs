//! What people can expect of the open sessions: which ask them, and which only want somebody to drive
//! them. The latter are what a crash left behind a decision, runs that wait for a worker, and pauses
//! that are over.

use agentic_model::AgentName;
use agentic_replay::{SessionId, SessionState};

use crate::Summary;
use crate::folder::Folder;
use crate::hold::{Filter, PendingHold, scan};
use crate::own::read_journal;
use crate::policy::Policy;
use crate::trust::{self, Look};
use crate::{Result, SessionSpace};

/// What people can expect of the open sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// The open holds, oldest first.
    pub holds: Vec<PendingHold>,
    /// The sessions without an open hold that could go on and that nobody drives, with their agents.
    pub unattended: Vec<(SessionId, AgentName)>,
}

/// Lists the open holds, and the sessions besides that only want somebody to drive them.
///
/// # Errors
/// Fails as [`pending`] does.
pub fn outlook(space: &SessionSpace, filter: &Filter) -> Result<Outlook> {
    let mut unheld = Vec::new();
    let holds = scan(space, filter, Some(&mut unheld))?;
    let is_unattended = |id: &SessionId| {
        let summary = space.session(id);
        summary.and_then(|summary| is_unattended(space, &summary)).unwrap_or(false)
    };
    unheld.retain(|(id, _)| is_unattended(id));
    Ok(Outlook { holds, unattended: unheld })
}

/// Tells whether something can be done for a session without a human, while nobody is at it.
///
/// # Errors
/// Fails when the records or the branch cannot be read.
pub fn is_unattended(space: &SessionSpace, summary: &Summary) -> Result<bool> {
    let can_go_on = match summary.state {
        SessionState::Done
        | SessionState::Failed
        | SessionState::Cancelled
        | SessionState::Diverged => return Ok(false),
        SessionState::Running => true,
        SessionState::Held | SessionState::Waiting => {
            let is_due = summary.until.is_some_and(|until| until <= space.now());
            is_due || has_decision(space, summary)?
        }
    };
    Ok(can_go_on && !Folder::of(space, &summary.id).is_driven(space)?)
}

/// Tells whether a hold was decided that nobody has gone on with.
fn has_decision(space: &SessionSpace, summary: &Summary) -> Result<bool> {
    if summary.holds.is_empty() {
        return Ok(false);
    }
    let journal = read_journal(space, &summary.id)?;
    for hold in &summary.holds {
        let policy = Policy::of_payload(hold.reason, &hold.payload);
        let found = trust::find(space, &journal, &hold.id, Look::Free)?;
        if policy.settle(&found.counted).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
