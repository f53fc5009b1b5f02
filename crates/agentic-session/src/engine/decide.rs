//! Decisions as pipelines speak of them: the node of a run, and a choice.

use agentic_replay::engine::{CountedDecision, RunDecision, RunId};
use agentic_replay::{HOLD, Path, SessionId};

use crate::answer::{answer, find_hold_of};
use crate::decide::{Action, ApprovalScope, DecisionDraft};
use crate::error::RequestError;
use crate::hold::find_hold;
use crate::{Error, Result, SessionSpace};

/// Decides a hold of a session.
pub(super) fn decide(
    space: &SessionSpace,
    client: &'static str,
    id: &SessionId,
    decision: &RunDecision,
) -> Result<CountedDecision> {
    let named = match decision.hold.as_deref() {
        Some(request) if request.contains('.') => find_hold(space, request)?,
        Some(node) => find_hold(space, &request_at(space, id, node)?)?,
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
        shown: None,
        accepts: None,
    };
    let done = answer(space, named, &draft)?;
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

/// Finds the request of the hold that a session has at a node, open or decided.
///
/// # Errors
/// Fails when there is none, or several.
pub fn request_at(space: &SessionSpace, id: &SessionId, node: &str) -> Result<String> {
    let summary = space.session(id)?;
    let stands_there = |path: &Path| path.as_str().split('/').any(|part| part == node);
    let holds = summary.asked.iter().filter(|asked| asked.kind == HOLD);
    let found: Vec<String> = holds
        .filter(|asked| asked.path.as_str() == node || stands_there(&asked.path))
        .map(|asked| id.short_request(&asked.id))
        .collect();
    match found.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(Error::Request(RequestError::NoHold { run: id.short(), node: node.to_owned() })),
        _ => {
            Err(Error::Request(RequestError::Ambiguous { id: node.to_owned(), candidates: found }))
        }
    }
}
