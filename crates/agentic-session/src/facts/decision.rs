//! Decisions: the commits that say they decide a request, and whether they count.
//!
//! A commit counts if the records of its session name it, or if an open hold takes it. One that came
//! after the answer is late, as it is where a session is shown. Everything else is unverified.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use agentic_model::commit::Claims;
use agentic_model::{AgentName, Instant, Oid};
use agentic_replay::{Body, RequestId, SessionId};
use agentic_store::Stream;
use agentic_store::journal;

use super::line::DecisionLines;
use super::reading::ReadSessions;
use super::request::own_asks;
use super::row::{ColumnValue, SessionRows};
use super::scope::SessionScope;
use crate::Result;
use crate::decide::Decision;
use crate::hold::HoldStanding;

/// Whether a decision counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DecisionStanding {
    Counted,
    Late,
    Unverified,
}

/// A commit that says it decides something.
struct ClaimedDecision {
    commit: Oid,
    committed_at: Instant,
    decision: Decision,
    /// The session that it names.
    session: Option<SessionId>,
}

/// What the records of a session say about the decisions of one of its requests.
#[derive(Default)]
struct RequestDecisions {
    /// Whether nothing can be decided about it any more.
    is_closed: bool,
    /// The commits that it was answered by, or that let its effect begin.
    commits: BTreeSet<String>,
    /// Those that were noted as votes.
    votes: BTreeSet<String>,
    /// Whether one of its commits was seen: what stands before it had its say.
    had_say: bool,
}

/// A session whose decisions are looked at.
struct SessionDecisions {
    requests: BTreeMap<RequestId, RequestDecisions>,
    open: Rc<Vec<HoldStanding>>,
}

/// The decisions on the branch of one agent.
struct DecidingBranch<'r, 'a> {
    read: &'r ReadSessions<'a>,
    agent: &'r AgentName,
    commits: &'r [Oid],
    sessions: BTreeMap<SessionId, Option<SessionDecisions>>,
    /// Those of the commits that the journal of the agent records as decisions.
    recorded: OnceCell<BTreeSet<Oid>>,
}

impl DecisionStanding {
    fn name(self) -> &'static str {
        match self {
            DecisionStanding::Counted => "counted",
            DecisionStanding::Late => "late",
            DecisionStanding::Unverified => "unverified",
        }
    }
}

/// Reads `decision` rows.
pub(super) fn decisions(
    read: &ReadSessions<'_>,
    scope: &SessionScope,
    rows: &mut SessionRows<'_, '_>,
) -> Result<()> {
    let agents = agents_of(read, scope);
    let found = DecisionLines::of(read, agents.as_ref())?;
    found.damage.into_iter().for_each(|damage| rows.note(damage));
    for line in &found.lines {
        let is_bound = |oid: &Oid| rows.may_be("commit", &oid.to_string());
        if rows.is_over() || !line.commits.iter().any(is_bound) {
            continue;
        }
        let branch = DecidingBranch {
            read,
            agent: &line.agent,
            commits: &line.commits,
            sessions: BTreeMap::new(),
            recorded: OnceCell::new(),
        };
        branch.read_rows(rows);
    }
    Ok(())
}

/// Finds the agents whose branches hold the decisions of the sessions in question; nothing if any may.
fn agents_of(read: &ReadSessions<'_>, scope: &SessionScope) -> Option<BTreeSet<AgentName>> {
    let agent = |id: &SessionId| Some(read.first(id).ok()??.start.agent);
    scope.ids()?.iter().map(agent).collect()
}

impl DecidingBranch<'_, '_> {
    /// Reads the rows, newest first.
    fn read_rows(mut self, rows: &mut SessionRows<'_, '_>) {
        for commit in self.commits {
            if rows.is_over() {
                break;
            }
            let claimed = match self.claimed(*commit) {
                Ok(Some(claimed)) => claimed,
                Ok(None) => continue,
                Err(error) => {
                    rows.note(format!("commit {commit} is left out: {error}"));
                    continue;
                }
            };
            let is_own = self.is_own(&claimed);
            let (standing, decision) = match rows.wants("standing") {
                true if is_own => self.standing(&claimed, rows),
                true | false => (DecisionStanding::Unverified, None),
            };
            let decision = decision.as_ref().unwrap_or(&claimed.decision);
            let request = claimed.session.filter(|_| is_own);
            rows.row(|column| match column {
                "commit" => ColumnValue::id(commit),
                "request" => ColumnValue::maybe(request, |session| {
                    ColumnValue::text(format!("{session}.{}", decision.request))
                }),
                "action" => ColumnValue::text(decision.action.name()),
                "who" => ColumnValue::text(&decision.principal),
                "at" => ColumnValue::at(claimed.at()),
                "standing" => ColumnValue::text(standing.name()),
                _ => ColumnValue::maybe(decision.value.as_ref(), ColumnValue::data),
            });
        }
    }

    /// Reads a commit that says it decides something; nothing if it does not say what.
    fn claimed(&self, commit: Oid) -> Result<Option<ClaimedDecision>> {
        let info = self.read.space.repository().read_sound_commit(commit)?;
        let session = Claims::read(&info.message).session;
        let session = session.as_deref().and_then(SessionId::parse);
        let decision = Decision::read(self.read.space, &info.message);
        Ok(decision.map(|decision| ClaimedDecision {
            commit,
            committed_at: info.at,
            decision,
            session,
        }))
    }

    /// Tells whether a commit may decide what it names: it stands on the branch of that session's
    /// agent. Of a session that is not here nobody knows.
    fn is_own(&self, claimed: &ClaimedDecision) -> bool {
        let first = claimed.session.and_then(|id| self.read.first(&id).ok().flatten());
        first.is_none_or(|first| first.start.agent == *self.agent)
    }

    /// Finds out whether a commit counts; with the decision as its signer signed it, where that is
    /// what counts.
    fn standing(
        &mut self,
        claimed: &ClaimedDecision,
        rows: &mut SessionRows<'_, '_>,
    ) -> (DecisionStanding, Option<Decision>) {
        let is_recorded = self.is_recorded(claimed.commit, rows);
        let by_record = match is_recorded {
            true => DecisionStanding::Counted,
            false => DecisionStanding::Unverified,
        };
        let Some(session) = claimed.session.and_then(|id| self.session(&id, rows)) else {
            return (by_record, None);
        };
        let open = session.open.iter().find(|it| it.hold.id == claimed.decision.request);
        let Some(request) = session.requests.get_mut(&claimed.decision.request) else {
            return (DecisionStanding::Unverified, None);
        };
        let commit = claimed.commit.to_string();
        if request.commits.contains(&commit) {
            request.had_say = true;
            return (DecisionStanding::Counted, None);
        }
        if request.votes.contains(&commit) {
            return (DecisionStanding::Counted, None);
        }
        if let Some(open) = open {
            let is_it = |(oid, _): &&(Oid, Decision)| *oid == claimed.commit;
            return match open.found.counted.iter().find(is_it) {
                Some((_, signed)) => (DecisionStanding::Counted, Some(signed.clone())),
                None => (DecisionStanding::Unverified, None),
            };
        }
        match request.is_closed && !request.had_say {
            true => (DecisionStanding::Late, None),
            false => (by_record, None),
        }
    }

    /// Tells whether the journal of the agent records a commit as a decision.
    fn is_recorded(&self, commit: Oid, rows: &mut SessionRows<'_, '_>) -> bool {
        let recorded = self.recorded.get_or_init(|| {
            let stream = Stream::Agent(self.agent.clone());
            let wanted: BTreeSet<Oid> = self.commits.iter().copied().collect();
            let layout = self.read.space.repository().layout();
            match journal::decided(layout, &stream, &wanted) {
                Ok(recorded) => recorded.into_keys().collect(),
                Err(error) => {
                    rows.note(format!("what was decided for agent {}: {error}", self.agent));
                    BTreeSet::new()
                }
            }
        });
        recorded.contains(&commit)
    }

    /// Reads what the records of a session say about decisions, once.
    fn session(
        &mut self,
        id: &SessionId,
        rows: &mut SessionRows<'_, '_>,
    ) -> Option<&mut SessionDecisions> {
        let read = self.read;
        let known = self.sessions.entry(*id);
        known.or_insert_with(|| SessionDecisions::of(id, read, rows)).as_mut()
    }
}

impl ClaimedDecision {
    /// Returns when it says that it was made.
    fn at(&self) -> Instant {
        let said = self.decision.decided_at().and_then(Instant::parse);
        said.unwrap_or(self.committed_at)
    }
}

impl SessionDecisions {
    fn of(
        id: &SessionId,
        read: &ReadSessions<'_>,
        rows: &mut SessionRows<'_, '_>,
    ) -> Option<SessionDecisions> {
        let journal = read.journal_or_note(id, rows)?;
        let mut requests: BTreeMap<RequestId, RequestDecisions> = BTreeMap::new();
        for asked in own_asks(&journal) {
            let request = requests.entry(asked.id(id)).or_default();
            for record in &asked.later {
                request.read(&record.body);
            }
        }
        let open = read.holds_or_note(id, &journal, rows);
        Some(SessionDecisions { requests, open })
    }
}

impl RequestDecisions {
    /// Takes in what was recorded about the request next.
    fn read(&mut self, body: &Body) {
        if let Some(vote) = body.as_vote() {
            self.votes.insert(vote.decision.clone());
        } else {
            self.commits.extend(body.decision().map(str::to_owned));
        }
        // A stop too: from then on nothing that was asked before can be decided.
        self.is_closed |= matches!(body, Body::Answer(_) | Body::Cancel(_) | Body::Withdraw(_));
    }
}
