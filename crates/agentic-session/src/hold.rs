//! Holds: what waits for a human, in all sessions.

pub mod book;
pub mod earlier;
pub mod name;
mod standing;

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{AgentName, Instant, Oid, Value, guidance};
use agentic_replay::{
    BEHAVIOUR_ADOPT, Body, HOLD, Handling, OpenHold, Path, RecordChain, Request, SessionId,
    StartRecord, parent_of,
};

pub(crate) use self::standing::HoldStanding;

use crate::decide::{Decision, Policy};
use crate::error::SessionError;
use crate::language::checked_kinds;
use crate::listing::{list_open_telling, may_be_open};
use crate::own::read_journal;
use crate::trial::doubt_of_question;
use crate::{Result, SessionSpace};
use crate::{own, summary};

/// How many sessions that wait for each other are listed at most.
const NESTING_MAX: usize = 256;

/// A hold with what it asks of its decision.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingHold {
    /// The hold.
    pub hold: OpenHold,
    /// What it asks of its decision.
    pub policy: Policy,
    /// Whether it is too late to decide it.
    pub overdue: bool,
    /// The decisions so far that count, oldest first: too few to settle it.
    pub votes: Vec<(Oid, Decision)>,
    /// Commits on the branch that say they decide it, and do not count.
    pub unverified: Vec<(Oid, Decision)>,
    /// The sessions that wait for the one that asks, from the outermost on, with their agents.
    pub waiting: Vec<(SessionId, AgentName)>,
    /// What is wrong with what it shows, as far as we know better than its program.
    pub warning: Option<String>,
}

/// Which holds are wanted.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Of this agent.
    pub agent: Option<AgentName>,
    /// Whether those of its descendants are wanted too.
    pub reach: HoldScope,
    /// Of this kind of request.
    pub kind: Option<String>,
    /// That this principal may decide.
    pub assignee: Option<String>,
    /// Only those that are overdue.
    pub overdue_only: Overdue,
}

/// Whose holds are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HoldScope {
    /// Those of the agent.
    #[default]
    Own,
    /// Those of the agent and of all that descend from it.
    Subtree,
}

/// Whether only overdue holds are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Overdue {
    /// All.
    #[default]
    Any,
    /// Only those.
    Only,
}

/// Lists the open holds, oldest first. Derived from the sessions' records each time.
///
/// # Errors
/// Fails when the sessions cannot be listed; one that is damaged is left out.
pub fn pending(space: &SessionSpace, filter: &Filter) -> Result<Vec<PendingHold>> {
    scan(space, filter, &mut ScanNotes::default())
}

/// What whoever looks for holds finds besides.
#[derive(Debug, Default)]
pub(crate) struct ScanNotes {
    /// The sessions without an open hold, with their agents.
    pub unheld: Vec<(SessionId, AgentName)>,
    /// What cannot be read.
    pub left_out: BTreeSet<String>,
}

impl ScanNotes {
    fn leave_out(&mut self, id: &SessionId, why: &crate::Error) {
        self.left_out.extend(left_out(id, why));
    }
}

/// Says that what a session asks cannot be read, and why. Of a start that was broken off before anything was
/// recorded there is nothing to say.
fn left_out(id: &SessionId, why: &crate::Error) -> Option<String> {
    let is_none = matches!(why, crate::Error::Session(SessionError::Unknown { .. }));
    (!is_none).then(|| format!("session {} is left out: {}", id.short(), guidance::chain(why)))
}

/// Finds the open holds that are wanted, and notes the sessions that have none and those that are damaged.
pub(crate) fn scan(
    space: &SessionSpace,
    filter: &Filter,
    notes: &mut ScanNotes,
) -> Result<Vec<PendingHold>> {
    let mut found = Vec::new();
    for id in wanted_sessions(space, filter, notes)? {
        let journal = match read_journal(space, &id) {
            Ok(journal) => journal,
            Err(why) => {
                notes.leave_out(&id, &why);
                continue;
            }
        };
        let agent = &journal.start().agent;
        if journal.is_over() || !is_in_reach(agent, filter) {
            continue;
        }
        let open = match summary::holds(space, &journal) {
            Ok(holds) => open_of(space, &journal, holds, &mut |why| notes.leave_out(&id, &why)),
            Err(why) => {
                notes.leave_out(&id, &why);
                continue;
            }
        };
        if open.is_empty() {
            notes.unheld.push((id, agent.clone()));
        }
        found.extend(open);
    }
    found.retain(|pending| matches(pending, filter));
    oldest_first(&mut found);
    Ok(found)
}

/// Tells whether an agent is the one that is meant, where no other is.
fn is_in_reach(agent: &AgentName, filter: &Filter) -> bool {
    filter.reach == HoldScope::Subtree || filter.agent.as_ref().is_none_or(|meant| meant == agent)
}

/// Reads the holds of a journal that are open, as far as their decisions can be read.
fn open_in(space: &SessionSpace, journal: &RecordChain) -> Result<Vec<PendingHold>> {
    if journal.is_over() {
        return Ok(Vec::new());
    }
    Ok(open_of(space, journal, summary::holds(space, journal)?, &mut |_| ()))
}

/// Reads the holds of a journal that are open; not those that are decided already and only not
/// applied. One whose decisions cannot be read is left out, and that is told.
fn open_of(
    space: &SessionSpace,
    journal: &RecordChain,
    holds: impl IntoIterator<Item = OpenHold>,
    tell: &mut dyn FnMut(crate::Error),
) -> Vec<PendingHold> {
    let mut open = Vec::new();
    for hold in holds {
        match HoldStanding::of(space, journal, hold, space.now()) {
            Ok(standing) if !standing.is_settled() => {
                open.push(PendingHold::of(space, journal.start(), standing));
            }
            Ok(_) => {}
            Err(why) => tell(why),
        }
    }
    open
}

/// Lists the sessions that may have the holds that are wanted.
fn wanted_sessions(
    space: &SessionSpace,
    filter: &Filter,
    notes: &mut ScanNotes,
) -> Result<Vec<SessionId>> {
    if let (Some(agent), HoldScope::Own) = (&filter.agent, filter.reach) {
        return may_be_open(space, &BTreeSet::from([agent]));
    }
    let mut open = list_open_telling(space, &mut |told| notes.left_out.extend([told]))?;
    if let Some(agent) = &filter.agent {
        let mut family = HoldFamily::of(space, agent);
        open.retain(|id| {
            let beginning = own::first(space, id);
            beginning.is_ok_and(|beginning| family.has(&beginning.start.agent))
        });
    }
    Ok(open)
}

/// An agent and all that descend from it. What is found out about one is remembered for all that
/// descend from that one.
struct HoldFamily<'a> {
    space: &'a SessionSpace,
    /// The agents that were asked about, and whether each belongs to it.
    known: BTreeMap<AgentName, bool>,
}

impl<'a> HoldFamily<'a> {
    fn of(space: &'a SessionSpace, agent: &AgentName) -> HoldFamily<'a> {
        HoldFamily { space, known: BTreeMap::from([(agent.clone(), true)]) }
    }

    /// Tells whether an agent belongs to it. One whose branch is gone descends from nobody.
    fn has(&mut self, agent: &AgentName) -> bool {
        let mut line: Vec<AgentName> = Vec::new();
        let mut at = Some(agent.clone());
        let mut belongs = false;
        while let Some(name) = at {
            if let Some(known) = self.known.get(&name) {
                belongs = *known;
                break;
            }
            // Until more is known; that also ends a circle.
            self.known.insert(name.clone(), false);
            at = self.space.parent_of(&name).ok().flatten();
            line.push(name);
        }
        if belongs {
            self.known.extend(line.into_iter().map(|name| (name, true)));
        }
        belongs
    }
}

/// Lists the sessions that wait for the one with this start key, from the outermost on.
fn waiting_for(space: &SessionSpace, key: &str) -> Vec<(SessionId, AgentName)> {
    let mut waiting = Vec::new();
    let mut parent = parent_of(key);
    while let Some(id) = parent.filter(|_| waiting.len() < NESTING_MAX) {
        let Ok(beginning) = own::first(space, &id) else { break };
        parent = parent_of(&beginning.start.key);
        waiting.push((id, beginning.start.agent));
    }
    waiting.reverse();
    waiting
}

/// Sorts holds as they are listed; what was asked at once, in the order of the program.
pub(crate) fn oldest_first(holds: &mut [PendingHold]) {
    fn key(pending: &PendingHold) -> (Instant, SessionId, &Path) {
        (pending.hold.asked_at, pending.hold.session, &pending.hold.ask.path)
    }
    holds.sort_by(|left, right| key(left).cmp(&key(right)));
}

fn matches(pending: &PendingHold, filter: &Filter) -> bool {
    let kind = filter.kind.as_ref().is_none_or(|kind| *kind == pending.hold.ask.kind);
    let assignees = &pending.policy.assignees;
    let assignee = filter
        .assignee
        .as_ref()
        .is_none_or(|assignee| assignees.is_empty() || assignees.contains(assignee));
    kind && assignee && (filter.overdue_only == Overdue::Any || pending.overdue)
}

impl PendingHold {
    fn of(space: &SessionSpace, start: &StartRecord, standing: HoldStanding) -> PendingHold {
        let HoldStanding { hold, policy, found } = standing;
        let overdue = policy.is_overdue(space.now());
        let (votes, unverified) = (found.counted, found.unverified);
        let waiting = waiting_for(space, &start.key);
        let shown = match hold.ask.kind.as_str() {
            HOLD => hold.payload.get("payload"),
            BEHAVIOUR_ADOPT => Some(&hold.payload),
            _ => None,
        };
        let warning = shown.and_then(|shown| doubt_of_question(space, shown));
        PendingHold { hold, policy, overdue, votes, unverified, waiting, warning }
    }

    /// Returns the question that is asked, if there is one.
    pub fn question(&self) -> Option<&str> {
        self.hold.payload.get("question").and_then(Value::as_text)
    }

    /// Says why nobody could ask it so any more: its policy is malformed, or its program was cancelled
    /// before it asked.
    ///
    /// # Errors
    /// Fails when the records cannot be read.
    pub fn flaw(&self, space: &SessionSpace) -> Result<Option<String>> {
        let (ask, payload) = (&self.hold.ask, self.hold.payload.clone());
        if ask.handling != Handling::Decision {
            return Ok(None);
        }
        let request = Request::new(ask.path.clone(), ask.kind.clone(), payload);
        if let Some(failure) = checked_kinds().refusal(&request) {
            return Ok(Some(failure.message));
        }
        let journal = read_journal(space, &self.hold.session)?;
        let newest_first = journal.records().iter().rev();
        let mut older = newest_first.skip_while(
            |record| !matches!(&record.body, Body::Ask(asked) if asked.path == ask.path),
        );
        let is_cancelled = older.any(|record| matches!(record.body, Body::Cancel(_)));
        Ok(is_cancelled.then(|| "it was asked after its session was cancelled".to_owned()))
    }

    /// Returns how long it has been waiting, in milliseconds.
    pub fn age_millis(&self, now: Instant) -> i64 {
        (now.millis() - self.hold.asked_at.millis()).max(0)
    }
}
