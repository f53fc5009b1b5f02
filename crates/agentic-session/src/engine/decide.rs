//! Decisions as pipelines speak of them: the node of a run, and a choice.

use agentic_replay::engine::{CountedDecision, RunDecision, RunId};
use agentic_replay::{RequestId, SessionId};

use crate::decide::{Action, ApprovalScope, DecisionDraft, ExpiryFollowing, answer};
use crate::hold::name::{NamedRequest, find_at_node, find_hold, find_hold_of};
use crate::{Result, SessionSpace};

/// Decides a hold of a session.
pub(super) fn decide(
    space: &SessionSpace,
    client: &'static str,
    id: &SessionId,
    decision: &RunDecision,
) -> Result<CountedDecision> {
    let named = named(space, id, decision)?;
    let done = answer(space, named, &draft(client, decision), ExpiryFollowing::GoOn)?;
    Ok(CountedDecision {
        run: RunId::new(done.session.to_string()),
        request: done.session.short_request(&done.decision.request),
        action: done.decision.action.name().to_owned(),
        actor: done.decision.principal,
        receipt: done.commit.to_string(),
        remark: done.written.deferred.map(|why| {
            format!("it is durable but not visible yet: {why}; the next command finishes it")
        }),
    })
}

/// A hold of a run, and how it is to be decided.
#[derive(Debug, Clone)]
pub struct RunHoldDraft {
    /// The session that asks.
    pub session: SessionId,
    /// The request.
    pub request: RequestId,
    /// How it is decided.
    pub draft: DecisionDraft,
}

/// Finds the hold that a decision is about, and says how it is decided.
pub(super) fn draft_of(
    space: &SessionSpace,
    client: &'static str,
    id: &SessionId,
    decision: &RunDecision,
) -> Result<RunHoldDraft> {
    let (session, request) = match named(space, id, decision)? {
        NamedRequest::Open(pending) => (pending.hold.session, pending.hold.id),
        NamedRequest::Decided(earlier) => (earlier.session, earlier.id),
    };
    Ok(RunHoldDraft { session, request, draft: draft(client, decision) })
}

fn named(space: &SessionSpace, id: &SessionId, decision: &RunDecision) -> Result<NamedRequest> {
    match decision.hold.as_deref() {
        Some(request) if request.contains('.') => find_hold(space, request),
        Some(node) => find_at_node(space, id, node),
        None => find_hold_of(space, id),
    }
}

fn draft(client: &'static str, decision: &RunDecision) -> DecisionDraft {
    let (action, value) = Action::of_choice(&decision.choice);
    DecisionDraft {
        action,
        value,
        scope: ApprovalScope::Once,
        rationale: decision.note.clone(),
        expect: decision.expect.clone(),
        principal: decision.actor.clone(),
        client,
        authn: None,
        shown: None,
        accepts: None,
    }
}
