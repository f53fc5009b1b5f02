//! Decisions of holds of runs that another host drives. A decision is a commit on the agent's branch, as
//! everywhere; the host is told what it makes of the hold.

use std::sync::Arc;

use agentic_model::{Oid, Value};
use agentic_replay::record::{PermitScope, VoteRecord};
use agentic_replay::{
    CancelExtent, Hold, OpenHold, Request, RequestAnswer, RequestId, SessionId, WithdrawnRequest,
};

use super::claim::is_claimed;
use crate::consequence::{Consequence, consequence};
use crate::decide::{
    Action, COMMAND_LINE, Decision, DecisionDraft, decide_for_host, record_system,
};
use crate::error::SessionError;
use crate::folder::Folder;
use crate::hold::name::{NamedRequest, find_request};
use crate::own::read_journal;
use crate::policy::Policy;
use crate::summary;
use crate::trust::{self, Look};
use crate::{Error, Result, SessionSpace};

/// What a decision makes of its hold.
#[derive(Debug, Clone, PartialEq)]
pub enum HostedFate {
    /// The request has this answer.
    Answer(RequestAnswer),
    /// Its effect may begin, with another payload where the decision edited it.
    Permit(Option<Value>, PermitScope),
    /// It stays open: more people have to agree, or nothing was to be decided.
    Open,
}

/// A vote for an answer that more people have to give.
pub type HostedVote = VoteRecord;

/// A decision that is durable.
#[derive(Debug, Clone, PartialEq)]
pub struct HostedDecision {
    /// Its commit.
    pub commit: Oid,
    /// Who decided.
    pub principal: String,
    /// What.
    pub action: &'static str,
    /// The commit that settles the hold, where one does.
    pub settled_by: Option<Oid>,
    /// What it makes of the hold.
    pub fate: HostedFate,
    /// What is to be noted of one that does not settle it.
    pub vote: Option<HostedVote>,
}

/// A decision that counts, of an open hold of a run that another host drives from here.
#[derive(Debug, Clone)]
pub struct BranchDecision {
    /// The session.
    pub session: SessionId,
    /// The request.
    pub request: RequestId,
    /// The same decision, to be told the host.
    pub draft: DecisionDraft,
}

/// Lists the decisions that count of open holds of runs that other hosts drive from here: those that came
/// with the branch of the agent are known to no host before somebody tells it.
///
/// # Errors
/// Fails when sessions, their records or the branch cannot be read.
pub fn branch_decisions(space: &SessionSpace) -> Result<Vec<BranchDecision>> {
    let mut found = Vec::new();
    for session in crate::listing::list_local_open(space)? {
        if !is_claimed(&Folder::open(space, &session)) {
            continue;
        }
        let journal = match read_journal(space, &session) {
            // Nothing of it is sealed yet.
            Err(Error::Session(SessionError::Unknown { .. })) => continue,
            read => read?,
        };
        for hold in summary::holds(space, &journal)? {
            let counted = trust::find(space, &journal, &hold.id, Look::Free)?.counted;
            let of_people = counted.iter().filter(|(_, made)| !made.principal.starts_with(SYSTEM));
            let drafts = of_people.map(|(_, made)| made.drafted_again(COMMAND_LINE));
            found.extend(drafts.map(|draft| BranchDecision { session, request: hold.id, draft }));
        }
    }
    Ok(found)
}

/// What the names of those begin with that decide for the engine.
const SYSTEM: &str = "system:";

/// Decides a hold whose question is sealed. The same decision again succeeds, as long as it counts.
///
/// # Errors
/// Fails as [`crate::decide::decide`] does.
pub fn decide_hosted(
    space: &SessionSpace,
    session: &SessionId,
    request: &RequestId,
    draft: &DecisionDraft,
) -> Result<HostedDecision> {
    let named = find_request(space, session, request)?;
    let hold = match &named {
        NamedRequest::Open(pending) => Some(pending.hold.clone()),
        NamedRequest::Decided(_) => None,
    };
    let outcome = match named {
        NamedRequest::Open(pending) => decide_for_host(space, &pending, draft)?,
        NamedRequest::Decided(earlier) => earlier.again(space, draft)?,
    };
    let Decision { principal, action, .. } = outcome.decision;
    let settled = hold.map_or(Ok(None), |hold| settle(space, session, &hold))?;
    let (commit, action) = (outcome.commit, action.name());
    Ok(match settled {
        Some(HoldSettlement::By(settled_by, fate)) => {
            let settled_by = Some(settled_by);
            HostedDecision { commit, principal, action, settled_by, fate, vote: None }
        }
        Some(HoldSettlement::Voted(path)) => {
            let (decision, action_text) = (commit.to_string(), action.to_owned());
            let voter = principal.clone();
            let vote = VoteRecord { path, decision, principal: voter, action: action_text };
            let (fate, vote) = (HostedFate::Open, Some(vote));
            HostedDecision { commit, principal, action, settled_by: None, fate, vote }
        }
        None => {
            let fate = HostedFate::Open;
            HostedDecision { commit, principal, action, settled_by: None, fate, vote: None }
        }
    })
}

/// Whether the decisions of a hold settle it.
enum HoldSettlement {
    By(Oid, HostedFate),
    Voted(agentic_replay::Path),
}

fn settle(
    space: &SessionSpace,
    session: &SessionId,
    hold: &OpenHold,
) -> Result<Option<HoldSettlement>> {
    let journal = read_journal(space, session)?;
    let counted = trust::find(space, &journal, &hold.id, Look::Free)?.counted;
    let policy = Policy::of_hold(hold, space.now());
    let Some((commit, decision)) = policy.settle(&counted) else {
        return Ok(Some(HoldSettlement::Voted(hold.ask.path.clone())));
    };
    let fate = match consequence(&hold.ask.kind, hold.reason, decision, &policy) {
        Consequence::Answer(answer) => HostedFate::Answer(answer),
        Consequence::Permit(edited, scope) => HostedFate::Permit(edited, scope),
        Consequence::Nothing => HostedFate::Open,
    };
    Ok(Some(HoldSettlement::By(commit, fate)))
}

/// Records that nobody decided a hold in time, if that is so. Returns what the hold came to; nothing
/// where it has still time.
///
/// # Errors
/// Fails when the hold is not sealed, and when the decision cannot be written.
pub fn expire_hosted(
    space: &SessionSpace,
    session: &SessionId,
    request: &RequestId,
) -> Result<Option<(Oid, HostedFate)>> {
    let journal = read_journal(space, session)?;
    let open = summary::holds(space, &journal)?;
    let Some(open) = open.into_iter().find(|hold| hold.id == *request) else { return Ok(None) };
    let policy = Policy::of_hold(&open, space.now());
    let counted = trust::find(space, &journal, request, Look::Free)?.counted;
    if policy.settle(&counted).is_none() && policy.is_overdue(space.now()) {
        let decision = Decision::expired(&live(&open), &policy, space.now());
        let decision = decision.on(open.published.as_deref());
        record_system(space, journal.start(), &decision, &policy)?;
    }
    Ok(match settle(space, session, &open)? {
        Some(HoldSettlement::By(commit, fate)) => Some((commit, fate)),
        Some(HoldSettlement::Voted(_)) | None => None,
    })
}

/// Records that nobody waits for a hold any more, unless somebody has decided it. Returns the commit.
///
/// # Errors
/// Fails when the decision cannot be written.
pub fn withdraw_hosted(
    space: &SessionSpace,
    session: &SessionId,
    request: Arc<Request>,
    id: RequestId,
) -> Result<Option<Oid>> {
    let journal = read_journal(space, session)?;
    let withdrawn = &WithdrawnRequest { request, id, stopped: CancelExtent::NotStarted };
    let decision = Decision::system(Action::Withdrawn, "system:withdrawn", withdrawn);
    let policy = Policy::of(agentic_replay::HoldReason::Asked, &withdrawn.request);
    record_system(space, journal.start(), &decision, &policy)
}

/// Returns a hold as its session lists it.
fn live(open: &OpenHold) -> Hold {
    let request = Request::new(open.ask.path.clone(), &open.ask.kind, open.payload.clone());
    Hold { request: Arc::new(request), id: open.id, hash: open.ask.hash, reason: open.reason }
}
