//! Answering the hold that a name has led to, whatever the surface.

use agentic_replay::SessionId;

use crate::action::Action;
use crate::decide::{DecisionOutcome, decide};
use crate::decision::GivenAnswer;
use crate::draft::DecisionDraft;
use crate::error::{DecisionError, RequestError};
use crate::hold::{EarlierAnswer, Filter, NamedRequest, PendingHold, find_hold, pending, winner};
use crate::{Error, Result, SessionSpace, WriteNotices, go_on};

/// Answers a hold. Where it was decided before, the same answer of the same principal succeeds once
/// more, and any other is told who was first. One that is overdue expires now.
///
/// # Errors
/// Fails as [`decide`] does.
pub fn answer(
    space: &SessionSpace,
    named: NamedRequest,
    draft: &DecisionDraft,
) -> Result<DecisionOutcome> {
    let pending = match named {
        NamedRequest::Open(pending) => pending,
        NamedRequest::Decided(earlier) => return earlier.again(space, draft),
    };
    let outcome = decide(space, &pending, draft);
    if !matches!(outcome, Err(Error::Decision(DecisionError::HoldExpired { .. }))) {
        return outcome;
    }
    // The session records the expiry and goes on; then it can be said who won.
    let session = pending.hold.session;
    go_on(space, &session)?;
    match find_hold(space, &session.short_request(&pending.hold.id)) {
        Ok(NamedRequest::Decided(earlier)) => earlier.again(space, draft),
        Ok(NamedRequest::Open(_)) | Err(_) => outcome,
    }
}

/// Finds the hold of a session: its only open one, else what was decided last.
///
/// # Errors
/// Fails when there is none, or several.
pub fn find_hold_of(space: &SessionSpace, id: &SessionId) -> Result<NamedRequest> {
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

impl EarlierAnswer {
    /// Says who was first; the same principal repeating the same answer succeeds.
    fn again(self, space: &SessionSpace, draft: &DecisionDraft) -> Result<DecisionOutcome> {
        let (action, value) = (draft.action, draft.value.as_ref());
        let answer = GivenAnswer { action, value, scope: draft.scope, principal: &draft.principal };
        match (self.commit, &self.decision) {
            (Some(commit), Some(decision))
                if decision.is_repeated_by(answer, self.subject.as_ref()) =>
            {
                Ok(DecisionOutcome {
                    commit,
                    decision: decision.clone(),
                    session: self.session,
                    written: WriteNotices::default(),
                })
            }
            (Some(_) | None, _) => Err(self.refusal(space)),
        }
    }

    /// Says who was first, or that nobody was in time.
    pub fn refusal(self, space: &SessionSpace) -> Error {
        let request = self.session.short_request(&self.id);
        let EarlierAnswer { commit, decision, cancelled_by, .. } = self;
        let is_expired = decision.as_ref().is_some_and(|one| one.action == Action::Expire);
        Error::Decision(match decision {
            Some(decision) if is_expired => DecisionError::HoldExpired {
                request,
                deadline: decision.deadline().unwrap_or(space.now()),
                value: decision.value,
                commit,
            },
            decision => {
                let (principal, action) = winner(decision.as_ref(), cancelled_by.as_deref());
                DecisionError::AlreadyDecided { request, principal, action, commit }
            }
        })
    }
}
