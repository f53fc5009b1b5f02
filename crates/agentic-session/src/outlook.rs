//! What people can expect of the open sessions: which ask them, and which only want somebody to drive
//! them. The latter are what a crash left behind a decision, runs that wait for a worker, and pauses
//! that are over.

use std::collections::BTreeSet;

use agentic_model::{AgentName, Instant};
use agentic_replay::{OpenHold, SessionId, SessionState};

use crate::Summary;
use crate::folder::Folder;
use crate::hold::{Filter, PendingHold, ScanNotes, scan};
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
    /// What cannot be read, so that holds may be missing.
    pub left_out: BTreeSet<String>,
}

/// For how long what was said of sessions stays so while nothing is written; the shorter comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permanence {
    /// Not at all: somebody may begin or cease to be at work on them, which no record says.
    Moves,
    /// Until an instant.
    Until(Instant),
    /// For good.
    Still,
}

impl Permanence {
    /// Returns how long something lasts that changes at an instant, if that is still to come.
    pub fn until(at: Option<Instant>, now: Instant) -> Permanence {
        at.filter(|at| *at > now).map_or(Permanence::Still, Permanence::Until)
    }

    /// Tells whether what was said at one instant is so at another. A clock may be set back.
    pub fn reaches(self, said_at: Instant, now: Instant) -> bool {
        match self {
            Permanence::Moves => false,
            Permanence::Until(end) => said_at <= now && now < end,
            Permanence::Still => true,
        }
    }

    /// Returns how long what is asked of the decisions of some holds stays so.
    pub fn of_holds<'h>(holds: impl IntoIterator<Item = &'h OpenHold>, now: Instant) -> Permanence {
        let deadline = |hold: &OpenHold| Policy::of_hold(hold, now).deadline;
        let ends = holds.into_iter().map(|hold| Permanence::until(deadline(hold), now));
        ends.min().unwrap_or(Permanence::Still)
    }
}

/// Says for how long a session stands as it does, and wants what it wants, while nothing is written.
///
/// # Errors
/// Fails when the records or the branch cannot be read.
pub fn permanence(space: &SessionSpace, summary: &Summary) -> Result<Permanence> {
    match summary.state {
        SessionState::Done
        | SessionState::Failed
        | SessionState::Cancelled
        | SessionState::Diverged => Ok(Permanence::Still),
        SessionState::Running => Ok(Permanence::Moves),
        SessionState::Held | SessionState::Waiting => {
            let now = space.now();
            let is_due = summary.until.is_some_and(|until| until <= now);
            if summary.depends_on_attendance || is_due || has_decision(space, summary)? {
                return Ok(Permanence::Moves);
            }
            let timer = Permanence::until(summary.until, now);
            Ok(timer.min(Permanence::of_holds(&summary.holds, now)))
        }
    }
}

/// Lists the open holds, and the sessions besides that only want somebody to drive them.
///
/// # Errors
/// Fails as [`pending`] does.
pub fn outlook(space: &SessionSpace, filter: &Filter) -> Result<Outlook> {
    let mut notes = ScanNotes::default();
    let holds = scan(space, filter, &mut notes)?;
    let ScanNotes { mut unheld, left_out } = notes;
    let is_unattended = |id: &SessionId| {
        let summary = space.session(id);
        summary.and_then(|summary| is_unattended(space, &summary)).unwrap_or(false)
    };
    unheld.retain(|(id, _)| is_unattended(id));
    Ok(Outlook { holds, unattended: unheld, left_out })
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
