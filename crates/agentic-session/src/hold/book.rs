//! What a process that stays has read of open holds: enough to list them in their order.
//!
//! What it has read of a session can be written down, and recalled by a later process.
//!
//! A session is read again where its log, the branch and the notes of its agent or git's configuration
//! are not what they were, and where time may have changed what it waits for. Whoever shows a hold of
//! the list finds it in the session's records.

mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agentic_model::{AgentName, Cid, Instant, Oid, Value};
use agentic_replay::{HoldReason, Path, RequestId, SessionId};

use super::{Filter, HoldFamily, HoldScope, Overdue, PendingHold, is_in_reach, left_out, open_of};
use crate::decide::Policy;
use crate::listing::list_open_telling;
use crate::outlook::{self, Permanence};
use crate::own::read_journal;
use crate::{Result, SessionSpace, summary};

/// What is known of the sessions that are not over.
#[derive(Debug, Default)]
pub struct HoldBook(Mutex<HoldPages>);

/// How many sessions that were read since are remembered for whoever writes them down.
const NEWS_MAX: usize = 4_096;

/// The sessions of a book.
#[derive(Debug, Default)]
struct HoldPages {
    known: BTreeMap<SessionId, Arc<BookedSession>>,
    /// The sessions that were read, or are over, since somebody asked for them.
    news: BTreeSet<SessionId>,
}

/// The open holds as a list knows them, and what wants somebody to drive it.
#[derive(Debug)]
pub struct BookedOutlook {
    /// The open holds, oldest first.
    pub holds: Vec<BookedHold>,
    /// The sessions without an open hold that could go on and that nobody drives, with their agents.
    pub unattended: Vec<(SessionId, AgentName)>,
    /// What cannot be read, so that holds may be missing.
    pub left_out: BTreeSet<String>,
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
    /// A digest of what tells git's configuration from what it was; empty where nothing does.
    configuration: Arc<str>,
}

impl HoldBook {
    /// Takes what an earlier process has written down of a session, unless it is known already. It
    /// counts as long as nothing of what it derives from has changed. Says whether it can be read.
    pub fn recall(&self, session: &SessionId, written: &Value) -> bool {
        let read = written::read(*session, written);
        let can_be_read = read.is_some();
        if let Some(read) = read {
            self.pages().known.entry(*session).or_insert_with(|| Arc::new(read));
        }
        can_be_read
    }

    /// Reads a session, unless it is known as it is now. Of one that is damaged nothing is known.
    pub fn look(&self, space: &SessionSpace, id: &SessionId) {
        let known = self.pages().known.get(id).cloned();
        let mut reading = BookReading::new(space);
        let read = match known {
            Some(session) if reading.is_as_it_was(id, &session) => return,
            Some(_) | None => reading.read(id),
        };
        self.put(*id, read.map(Arc::new));
    }

    /// Returns what is to be written down of the sessions that were read since the last time, at most
    /// of so many: nothing of one that asks nothing any more.
    pub fn take_news(&self, most: usize) -> Vec<(SessionId, Option<Value>)> {
        let mut pages = self.pages();
        let ids: Vec<SessionId> = pages.news.iter().take(most).copied().collect();
        let news = ids.into_iter().map(|id| {
            pages.news.remove(&id);
            (id, pages.known.get(&id).and_then(|session| written::write(session)))
        });
        news.collect()
    }

    fn put(&self, id: SessionId, session: Option<Arc<BookedSession>>) {
        let mut pages = self.pages();
        match session {
            Some(session) => drop(pages.known.insert(id, session)),
            None => drop(pages.known.remove(&id)),
        }
        pages.note(id);
    }

    /// Lists the open holds that are wanted, and reads the sessions that are not known as they are now.
    ///
    /// # Errors
    /// Fails when the sessions cannot be listed; one that is damaged is left out.
    pub fn outlook(&self, space: &SessionSpace, filter: &Filter) -> Result<BookedOutlook> {
        let mut listed = BookedOutlook {
            holds: Vec::new(),
            unattended: Vec::new(),
            left_out: BTreeSet::new(),
            permanence: Permanence::Still,
        };
        let mut family = filter.agent.as_ref().map(|agent| HoldFamily::of(space, agent));
        for (id, session) in self.sessions(space, &mut listed.left_out)? {
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
        if !listed.left_out.is_empty() {
            // What is mended need not be written anew.
            listed.permanence = Permanence::Moves;
        }
        listed.holds.sort_by(|left, right| left.place().cmp(&right.place()));
        Ok(listed)
    }

    /// Returns how the sessions stand that are not over, and notes which cannot be read.
    fn sessions(
        &self,
        space: &SessionSpace,
        left_out: &mut BTreeSet<String>,
    ) -> Result<Vec<(SessionId, Arc<BookedSession>)>> {
        let open = list_open_telling(space, &mut |told| left_out.extend([told]))?;
        let known = self.pages().known.clone();
        let mut reading = BookReading::new(space);
        let mut found = Vec::with_capacity(open.len());
        for id in open {
            let session = match known.get(&id) {
                Some(session) if reading.is_as_it_was(&id, session) => Some(Arc::clone(session)),
                Some(_) | None => {
                    self.pages().note(id);
                    reading.read(&id).map(Arc::new)
                }
            };
            found.extend(session.map(|session| (id, session)));
        }
        let mut pages = self.pages();
        // Whoever asked at the same time has found as much.
        let now: BTreeMap<SessionId, Arc<BookedSession>> = found.iter().cloned().collect();
        known.keys().filter(|id| !now.contains_key(*id)).for_each(|id| pages.note(*id));
        pages.known = now;
        left_out.extend(reading.left_out);
        Ok(found)
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds whole entries.
    fn pages(&self) -> MutexGuard<'_, HoldPages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HoldPages {
    /// Notes that a session is to be written down. Where too many wait for it, whoever recalls what was
    /// written before reads the session again.
    fn note(&mut self, id: SessionId) {
        if self.news.len() < NEWS_MAX {
            self.news.insert(id);
        }
    }
}

/// One look at the sessions.
struct BookReading<'a> {
    space: &'a SessionSpace,
    configuration: Arc<str>,
    /// Where the branches and notes of agents are: many sessions may be of one.
    refs: BTreeMap<AgentName, [Option<Oid>; 2]>,
    /// What cannot be read.
    left_out: BTreeSet<String>,
}

impl BookReading<'_> {
    fn new(space: &SessionSpace) -> BookReading<'_> {
        let mark = space.repository().configuration_mark();
        let digest = (!mark.is_empty()).then(|| Cid::of(mark.as_bytes()).to_string());
        BookReading {
            space,
            configuration: digest.unwrap_or_default().into(),
            refs: BTreeMap::new(),
            left_out: BTreeSet::new(),
        }
    }

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
        Ok(SessionMark { log_bytes, refs, configuration: Arc::clone(&self.configuration) })
    }

    /// Reads a session; nothing where it is over, or damaged, which is noted.
    fn read(&mut self, id: &SessionId) -> Option<BookedSession> {
        let read = self.read_sound(id);
        read.unwrap_or_else(|why| {
            self.left_out.extend(left_out(id, &why));
            None
        })
    }

    fn read_sound(&mut self, id: &SessionId) -> Result<Option<BookedSession>> {
        let space = self.space;
        let agent = space.agent_of_session(id)?;
        // Before what it marks: what is written meanwhile is found by the next look.
        let (mark, read_at) = (self.mark(id, &agent)?, space.now());
        let journal = read_journal(space, id)?;
        let summary = space.session(id)?;
        if journal.is_over() {
            return Ok(None);
        }
        let asked = match summary.depends_on_attendance {
            true => Permanence::Moves,
            false => Permanence::of_holds(&summary.holds, read_at),
        };
        let rest = outlook::permanence(space, &summary).unwrap_or(Permanence::Moves);
        let n_left_out = self.left_out.len();
        let tell = &mut |why| self.left_out.extend(left_out(id, &why));
        let holds = open_of(space, &journal, summary.holds.clone(), tell);
        let holds: Vec<BookedHold> = holds.iter().map(BookedHold::of).collect();
        let is_unattended =
            holds.is_empty() && outlook::is_unattended(space, &summary).unwrap_or(false);
        // What is mended need not be written anew.
        let is_whole = self.left_out.len() == n_left_out;
        let permanence = if is_whole { asked.min(rest) } else { Permanence::Moves };
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
        let journal =
            read_journal(space, &self.session).ok().filter(|journal| !journal.is_over())?;
        let holds = summary::holds(space, &journal).ok()?;
        // The others of its session are not asked how they stand.
        let own = holds.into_iter().filter(|hold| hold.id == self.id);
        open_of(space, &journal, own, &mut |_| ()).pop()
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
