//! Decisions as pipelines speak of them: the node of a run, and a choice.

use agentic_model::Value;
use agentic_replay::engine::{CountedDecision, RunDecision, RunId};
use agentic_replay::{HOLD, Path, SessionId};

use crate::decide::{self, Action, ApprovalScope, DecisionDraft, GivenAnswer};
use crate::error::{DecisionError, RequestError};
use crate::go_on;
use crate::hold::{DecidedRequest, Filter, NamedRequest, PendingHold, find_hold, pending, winner};
use crate::{Error, Result, SessionSpace};

/// Decides a hold of a session.
pub(super) fn decide(
    space: &SessionSpace,
    client: &'static str,
    id: &SessionId,
    decision: &RunDecision,
) -> Result<CountedDecision> {
    let (action, value) = action_of(&decision.choice);
    let actor = decision.actor.as_str();
    let pending = match named(space, id, decision)? {
        NamedRequest::Open(pending) => pending,
        NamedRequest::Decided(earlier) => return repeated(space, *earlier, action, value, actor),
    };
    let session = pending.hold.session;
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
    match decide::decide(space, &pending, &draft) {
        Ok(done) => Ok(CountedDecision {
            run: RunId::new(session.to_string()),
            request: session.short_request(&pending.hold.id),
            action: done.decision.action.name().to_owned(),
            actor: done.decision.principal,
            receipt: done.commit.to_string(),
            remark: done.written.deferred.map(|why| {
                format!("it is durable but not visible yet: {why}; the next command finishes it")
            }),
        }),
        Err(error) => {
            if matches!(error, Error::Decision(DecisionError::HoldExpired { .. })) {
                // The session records the expiry and goes on; then it can be said who won.
                go_on(space, &session)?;
                let named = find_hold(space, &session.short_request(&pending.hold.id));
                if let Ok(NamedRequest::Decided(earlier)) = named {
                    return repeated(space, *earlier, action, draft.value, actor);
                }
            }
            Err(error)
        }
    }
}

/// Returns the action of a choice, with its value.
fn action_of(choice: &str) -> (Action, Option<Value>) {
    match choice {
        "accept" => (Action::Approve, None),
        "reject" => (Action::Reject, None),
        other => (Action::Respond, Some(Value::text(other))),
    }
}

/// Finds the hold that is meant, open or decided.
fn named(space: &SessionSpace, id: &SessionId, decision: &RunDecision) -> Result<NamedRequest> {
    if let Some(node) = &decision.hold {
        return match node.contains('.') {
            true => find_hold(space, node),
            false => find_hold(space, &request_at(space, id, node)?),
        };
    }
    let open = pending(space, &Filter::default())?;
    let mut own: Vec<PendingHold> =
        open.into_iter().filter(|pending| pending.hold.session == *id).collect();
    match own.len() {
        1 => Ok(NamedRequest::Open(Box::new(own.remove(0)))),
        0 => {
            // The agent's other sessions may be its children, and what was decided is told as such.
            let agent = space.session(id)?.agent;
            find_hold(space, agent.as_str())
        }
        _ => {
            let request = |pending: &PendingHold| id.short_request(&pending.hold.id);
            let candidates = own.iter().map(request).collect();
            Err(Error::Request(RequestError::Ambiguous { id: id.short(), candidates }))
        }
    }
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

/// Says who was first; the same person repeating the same choice succeeds.
fn repeated(
    space: &SessionSpace,
    earlier: DecidedRequest,
    action: Action,
    value: Option<Value>,
    actor: &str,
) -> Result<CountedDecision> {
    let DecidedRequest { session, id, commit, decision, cancelled_by, subject } = earlier;
    let request = session.short_request(&id);
    let (value, scope) = (value.as_ref(), ApprovalScope::Once);
    let answer = GivenAnswer { action, value, scope, principal: actor };
    if let (Some(decision), Some(commit)) = (&decision, commit)
        && decision.is_repeated_by(answer, subject.as_ref())
    {
        return Ok(CountedDecision {
            run: RunId::new(session.to_string()),
            request,
            action: decision.action.name().to_owned(),
            actor: decision.principal.clone(),
            receipt: commit.to_string(),
            remark: None,
        });
    }
    let (principal, action) = match decision {
        Some(decision) if decision.action == Action::Expire => {
            return Err(Error::Decision(DecisionError::HoldExpired {
                request,
                deadline: decision.deadline().unwrap_or(space.now()),
                value: decision.value.clone(),
                commit,
            }));
        }
        decision => winner(decision.as_ref(), cancelled_by.as_deref()),
    };
    Err(Error::Decision(DecisionError::AlreadyDecided { request, principal, action, commit }))
}
