//! Decisions as pipelines speak of them: the node of a run, and a choice.

use agentic_replay::SessionId;
use agentic_replay::engine::{CountedDecision, RunDecision, RunId};

use crate::decide::{Action, ApprovalScope, DecisionDraft, ExpiryFollowing, answer};
use crate::hold::name::{find_at_node, find_hold, find_hold_of};
use crate::{Result, SessionSpace};

/// Decides a hold of a session.
pub(super) fn decide(
    space: &SessionSpace,
    client: &'static str,
    id: &SessionId,
    decision: &RunDecision,
) -> Result<CountedDecision> {
    let named = match decision.hold.as_deref() {
        Some(request) if request.contains('.') => find_hold(space, request)?,
        Some(node) => find_at_node(space, id, node)?,
        None => find_hold_of(space, id)?,
    };
    let (action, value) = Action::of_choice(&decision.choice);
    let draft = DecisionDraft {
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
    };
    let done = answer(space, named, &draft, ExpiryFollowing::GoOn)?;
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
