//! What a process that stays has read of open holds: enough to list them in their order.
//!
//! A session is read again where its log, the branch and the notes of its agent or git's configuration
//! are not what they were, and where time may have changed what it waits for. Whoever shows a hold of
//! the list finds it in the session's records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentic_model::{AgentName, Instant, Oid};
use agentic_replay::{HoldReason, Path, RequestId, SessionId};

use super::{Filter, HoldFamily, HoldScope, Overdue, PendingHold, is_in_reach, open_in, open_of};
use crate::decide::Policy;
use crate::listing::list_open;
use crate::outlook::{self, Permanence};
use crate::own::read_journal;
use crate::{Result, SessionSpace};

/// What is known of the sessions that are not over.
#[derive(Debug, Default)]
pub struct HoldBook(Mutex<BTreeMap<SessionId, Arc<BookedSession>>>);

/// The open holds as a list knows them, and what wants somebody to drive it.
#[derive(Debug)]
pub struct BookedOutlook {
    /// The open holds, oldest first.
    pub holds: Vec<BookedHold>,
    /// The sessions without an open hold that could go on and that nobody drives, with their agents.
    pub unattended: Vec<(SessionId, AgentName)>,
    /// For how long all that is so while nothing is written.
    pub permanence: Permanence,
}

/// A hold as a list knows it: without what is asked and what was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct BookedHold {
    /// The session that asks.
    pub session: SessionId,
    /// Its agent.
    pub agent: AgentName,
    /// The id of the request.
    pub id: RequestId,
    /// Where in the program.
    pub path: Path,
    /// What sort of request.
    pub kind: String,
    /// Why a human is asked.
    pub reason: HoldReason,
    /// When it was asked.
    pub asked_at: Instant,
    /// Who may decide, and until when; nothing of what is asked.
    pub policy: Policy,
    /// Whether it is too late to decide it.
    pub overdue: bool,
    /// Who has voted.
    pub voters: BTreeSet<String>,
}

/// What a session had when it was read.
#[derive(Debug)]
struct BookedSession {
    agent: AgentName,
    mark: SessionMark,
    read_at: Instant,
    holds: Vec<BookedHold>,
    is_unattended: bool,
    permanence: Permanence,
}

/// What a session's holds derive from, but for time.
#[derive(Debug, PartialEq, Eq)]
struct SessionMark {
    log_bytes: Option<u64>,
    /// Where the branch and the notes of its agent were.
    refs: [Option<Oid>; 2],
    configuration: String,
}

impl HoldBook {
    /// Lists the open holds that are wanted, and reads the sessions that are not known as they are now.
    ///
    /// # Errors
    /// Fails when the sessions cannot be listed; one that is damaged is left out.
    pub fn outlook(&self, space: &SessionSpace, filter: &Filter) -> Result<BookedOutlook> {
        let mut listed = BookedOutlook {
            holds: Vec::new(),
            unattended: Vec::new(),
            permanence: Permanence::Still,
        };
        let mut family = filter.agent.as_ref().map(|agent| HoldFamily::of(space, agent));
        for (id, session) in self.sessions(space)? {
            let agent = &session.agent;
            let is_meant = match filter.reach {
                HoldScope::Own => is_in_reach(agent, filter),
                HoldScope::Subtree => family.as_mut().is_none_or(|family| family.has(agent)),
            };
            if !is_meant {
                continue;
            }
            listed.permanence = listed.permanence.min(session.permanence);
            listed.unattended.extend(session.is_unattended.then(|| (id, agent.clone())));
            listed
                .holds
                .extend(session.holds.iter().filter(|hold| hold.is_wanted(filter)).cloned());
        }
        listed.holds.sort_by(|left, right| left.place().cmp(&right.place()));
        Ok(listed)
    }

    /// Returns how the sessions stand that are not over.
    fn sessions(&self, space: &SessionSpace) -> Result<Vec<(SessionId, Arc<BookedSession>)>> {
        let open = list_open(space)?;
        let known = self.known().clone();
        let mut reading = BookReading {
            space,
            configuration: space.repository().configuration_mark(),
            refs: BTreeMap::new(),
        };
        let mut found = Vec::with_capacity(open.len());
        for id in open {
            let session = match known.get(&id) {
                Some(session) if reading.is_as_it_was(&id, session) => Some(Arc::clone(session)),
                Some(_) | None => reading.read(&id)?.map(Arc::new),
            };
            found.extend(session.map(|session| (id, session)));
        }
        // Whoever asked at the same time has found as much.
        *self.known() = found.iter().map(|(id, session)| (*id, Arc::clone(session))).collect();
        Ok(found)
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds whole entries.
    fn known(&self) -> MutexGuard<'_, BTreeMap<SessionId, Arc<BookedSession>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One look at the sessions.
struct BookReading<'a> {
    space: &'a SessionSpace,
    configuration: String,
    /// Where the branches and notes of agents are: many sessions may be of one.
    refs: BTreeMap<AgentName, [Option<Oid>; 2]>,
}

impl BookReading<'_> {
    fn is_as_it_was(&mut self, id: &SessionId, session: &BookedSession) -> bool {
        session.permanence.reaches(session.read_at, self.space.now())
            && self.mark(id, &session.agent).is_ok_and(|mark| mark == session.mark)
    }

    fn mark(&mut self, id: &SessionId, agent: &AgentName) -> Result<SessionMark> {
        let refs = match self.refs.get(agent) {
            Some(known) => *known,
            None => {
                let find = |name: String| self.space.repository().find_ref(&name);
                let found = [find(agent.branch_ref())?, find(agent.notes_ref())?];
                self.refs.insert(agent.clone(), found);
                found
            }
        };
        let log_bytes = self.space.open_log_bytes(id);
        Ok(SessionMark { log_bytes, refs, configuration: self.configuration.clone() })
    }

    /// Reads a session; nothing where it is damaged or over.
    fn read(&mut self, id: &SessionId) -> Result<Option<BookedSession>> {
        let space = self.space;
        let Ok(agent) = space.agent_of_session(id) else { return Ok(None) };
        // Before what it marks: what is written meanwhile is found by the next look.
        let (mark, read_at) = (self.mark(id, &agent)?, space.now());
        let Ok(journal) = read_journal(space, id) else { return Ok(None) };
        let Ok(summary) = space.session(id) else { return Ok(None) };
        if journal.is_over() {
            return Ok(None);
        }
        let asked = match summary.depends_on_attendance {
            true => Permanence::Moves,
            false => Permanence::of_holds(&summary.holds, read_at),
        };
        let rest = outlook::permanence(space, &summary).unwrap_or(Permanence::Moves);
        let holds = open_of(space, &journal, summary.holds.clone());
        let holds: Vec<BookedHold> = holds.iter().map(BookedHold::of).collect();
        let is_unattended =
            holds.is_empty() && outlook::is_unattended(space, &summary).unwrap_or(false);
        let permanence = asked.min(rest);
        Ok(Some(BookedSession { agent, mark, read_at, holds, is_unattended, permanence }))
    }
}

impl BookedHold {
    fn of(pending: &PendingHold) -> BookedHold {
        let PendingHold { hold, policy, overdue, votes, .. } = pending;
        let policy = Policy {
            on_expiry: None,
            subject: None,
            schema: None,
            choices: Vec::new(),
            escalations: Vec::new(),
            ..policy.clone()
        };
        BookedHold {
            session: hold.session,
            agent: hold.agent.clone(),
            id: hold.id,
            path: hold.ask.path.clone(),
            kind: hold.ask.kind.clone(),
            reason: hold.reason,
            asked_at: hold.asked_at,
            policy,
            overdue: *overdue,
            voters: votes.iter().map(|(_, vote)| vote.principal.clone()).collect(),
        }
    }

    /// Returns the name that the request has where it is listed.
    pub fn request(&self) -> String {
        self.session.short_request(&self.id)
    }

    /// Finds it in the records of its session; nothing where it is not open any more.
    pub fn read(&self, space: &SessionSpace) -> Option<PendingHold> {
        let journal = read_journal(space, &self.session).ok()?;
        let open = open_in(space, &journal).ok()?;
        open.into_iter().find(|pending| pending.hold.id == self.id)
    }

    fn is_wanted(&self, filter: &Filter) -> bool {
        let kind = filter.kind.as_ref().is_none_or(|kind| *kind == self.kind);
        let assignees = &self.policy.assignees;
        let may = |who: &String| assignees.is_empty() || assignees.contains(who);
        kind && filter.assignee.as_ref().is_none_or(may)
            && (filter.overdue_only == Overdue::Any || self.overdue)
    }

    /// Where it stands in the list; what was asked at once, in the order of the program.
    fn place(&self) -> (Instant, SessionId, &Path) {
        (self.asked_at, self.session, &self.path)
    }
}
