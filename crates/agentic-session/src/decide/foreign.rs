//! Decisions that were made elsewhere, of holds here: a peer sends the commit, and whether its maker may
//! decide is known to whoever takes it in.

use agentic_model::commit::Claims;
use agentic_model::{AgentName, Instant, Oid, Value};
use agentic_replay::SessionId;
use agentic_space::signing::SigningChoice;
use agentic_store::journal::{GitKind, GitObject};

use super::{Decider, DecisionOutcome, NewDecision, WrittenDecision, overdue};
use crate::decision::{ACCEPTS, Decision};
use crate::error::{RequestError, SessionError};
use crate::folder::Folder;
use crate::hold::PendingHold;
use crate::hold::name::{NamedRequest, find_request};
use crate::own::read_journal;
use crate::policy::Policy;
use crate::trust::{self, Look};
use crate::{Error, Result, SessionSpace, hosted, summary};

/// A decision that was made elsewhere.
#[derive(Debug, Clone)]
pub struct ForeignDecision {
    /// Its commit.
    pub commit: Oid,
    /// What it says.
    pub decision: Decision,
    /// The session that asked, as it says.
    pub session: SessionId,
    /// When it came here: a deadline is held against that, not against what it says.
    pub arrived_at: Instant,
    /// The head on which it was made.
    parent: Oid,
    /// The bytes of the commit.
    bytes: Vec<u8>,
}

/// How a decision from elsewhere stands to the hold that it is about.
#[derive(Debug)]
pub enum ForeignStanding {
    /// The hold is open.
    Open(Box<PendingHold>),
    /// It counts here: the branch has it, or a decision that accepts it.
    Taken {
        /// The commit by which it counts.
        by: Oid,
        /// Whether its session has not gone on with it yet.
        is_waiting: bool,
    },
    /// The hold had its answer before.
    Late,
    /// There is no such hold here.
    Unknown,
}

impl ForeignDecision {
    /// Reads a commit that is to be a decision of an agent's hold; nothing if it is none, or changes files.
    ///
    /// # Errors
    /// Fails when the commit cannot be read.
    pub fn read(
        space: &SessionSpace,
        commit: Oid,
        agent: &AgentName,
        arrived_at: Instant,
    ) -> Result<Option<ForeignDecision>> {
        let repository = space.repository();
        let GitObject { kind, bytes } = repository.verify_object(commit)?;
        if kind != GitKind::Commit {
            return Ok(None);
        }
        let read = repository.read_sound_commit(commit)?;
        let ([parent], claims) = (read.parents.as_slice(), Claims::read(&read.message)) else {
            return Ok(None);
        };
        let session = claims.session.as_deref().and_then(SessionId::parse);
        let is_whole = claims.agent.as_ref() == Some(agent)
            && repository.read_commit(*parent)?.tree == read.tree;
        let decision = Decision::read(space, &read.message);
        let (Some(session), Some(decision), true) = (session, decision, is_whole) else {
            return Ok(None);
        };
        let parent = *parent;
        Ok(Some(ForeignDecision { commit, decision, session, arrived_at, parent, bytes }))
    }

    /// Returns the bytes of its commit, which its maker has signed.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the commit as an object.
    pub(super) fn object(&self) -> GitObject {
        GitObject { kind: GitKind::Commit, bytes: self.bytes.clone() }
    }

    /// Returns the head on which it was made.
    pub(super) fn parent(&self) -> Oid {
        self.parent
    }

    /// Tells how the hold stands that it is about.
    ///
    /// # Errors
    /// Fails when the records or the branch cannot be read.
    pub fn standing(&self, space: &SessionSpace) -> Result<ForeignStanding> {
        let journal = match read_journal(space, &self.session) {
            Err(Error::Session(SessionError::Unknown { .. })) => {
                return Ok(ForeignStanding::Unknown);
            }
            read => read?,
        };
        let request = self.decision.request;
        let is_this = |commit: Oid, decision: &Decision| {
            commit == self.commit || decision.accepted() == Some(self.commit)
        };
        let found = trust::find(space, &journal, &request, Look::Free)?.counted;
        let by = found.iter().find(|(commit, decision)| is_this(*commit, decision));
        if let Some((commit, _)) = by {
            let open = summary::holds(space, &journal)?;
            let is_waiting = open.iter().any(|hold| hold.id == request);
            return Ok(ForeignStanding::Taken { by: *commit, is_waiting });
        }
        Ok(match find_request(space, &self.session, &request) {
            Ok(NamedRequest::Open(pending)) if pending.policy.settle(&pending.votes).is_some() => {
                ForeignStanding::Late
            }
            Ok(NamedRequest::Open(pending)) => ForeignStanding::Open(pending),
            Ok(NamedRequest::Decided(earlier)) => match (earlier.commit, &earlier.decision) {
                (Some(commit), Some(decision)) if is_this(commit, decision) => {
                    ForeignStanding::Taken { by: commit, is_waiting: false }
                }
                (Some(_) | None, Some(_) | None) => ForeignStanding::Late,
            },
            Err(Error::Request(RequestError::Unknown { .. })) => ForeignStanding::Unknown,
            Err(error) => return Err(error),
        })
    }

    /// Says what keeps it from answering an open hold, whoever made it: it is about another question, it came
    /// too late, or the person whose voice it is may not give that answer.
    pub fn misfit(&self, space: &SessionSpace, pending: &PendingHold) -> Option<String> {
        let policy = Policy::of_hold(&pending.hold, self.arrived_at);
        if policy.is_overdue(self.arrived_at) {
            return Some("it came after the deadline".to_owned());
        }
        trust::misfit(space, &pending.hold, &self.decision, &policy)
    }

    /// Lets it decide a hold. The branch goes to its very commit if it still stands where that was made, else a
    /// decision of our own accepts it. Who made it has been looked at before.
    ///
    /// # Errors
    /// Fails when another host drives the session, and when somebody else was first; nothing is written then.
    pub fn take(&self, space: &SessionSpace, pending: &PendingHold) -> Result<DecisionOutcome> {
        record_foreign(space, pending, self)
    }
}

/// Records a decision that was made elsewhere: the branch goes to its very commit if it still stands where
/// that was made, else a decision of our own accepts it.
fn record_foreign(
    space: &SessionSpace,
    pending: &PendingHold,
    made: &ForeignDecision,
) -> Result<DecisionOutcome> {
    let hold = &pending.hold;
    hosted::refuse(space, &Folder::of(space, &hold.session))?;
    let policy = Policy::of_hold(hold, made.arrived_at);
    let mut decision = made.decision.clone();
    decision.record.insert(ACCEPTS.to_owned(), Value::text(made.commit.to_string()));
    let signing = SigningChoice::of_people(space)?;
    let (agent, session, decider) = (&hold.agent, hold.session, Decider::Elsewhere(hold, made));
    let new =
        NewDecision { agent, session, decision: &decision, policy: &policy, decider, signing };
    match new.record_under_lock(space)? {
        WrittenDecision::New { commit, written } => {
            let decision = if commit == made.commit { made.decision.clone() } else { decision };
            Ok(DecisionOutcome { commit, decision, session, written })
        }
        WrittenDecision::Before(earlier) => Err(earlier.refusal(space)),
        WrittenDecision::Other => {
            let request = session.short_request(&hold.id);
            Err(Error::Request(RequestError::Stale { request }))
        }
        WrittenDecision::Overdue => Err(overdue(space, hold, &policy)),
    }
}
