//! Requests that are closed: who closed them and how, and what that makes of another answer.

use agentic_model::{Oid, Value};
use agentic_replay::{AskedRequest, Body, HOLD, OpenHold, Path, RecordChain, RequestId, SessionId};
use agentic_space::WriteNotices;

use crate::decide::{Action, Decision, DecisionDraft, DecisionOutcome, Policy};
use crate::error::DecisionError;
use crate::hold::PendingHold;
use crate::{Error, Result, SessionSpace};

/// A request that was decided, and by whom.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierAnswer {
    /// The session.
    pub session: SessionId,
    /// The id of the request.
    pub id: RequestId,
    /// The commit, if it was decided by one that can be read.
    pub commit: Option<Oid>,
    /// The decision.
    pub decision: Option<Decision>,
    /// Who told its session to stop, where that closed it.
    pub cancelled_by: Option<String>,
    /// What an approval without a value gave.
    pub subject: Option<Value>,
}

impl EarlierAnswer {
    /// Tells how a request of a session was closed. One that has no answer yet is closed all the same
    /// once its session was told to stop.
    pub(super) fn of_request(
        space: &SessionSpace,
        journal: &RecordChain,
        asked: &AskedRequest,
    ) -> Option<EarlierAnswer> {
        let cancelled_by = cancelled_by(journal, &asked.path);
        let start = journal.start();
        if asked.answer.is_none() && (cancelled_by.is_none() || start.allows(&asked.kind)) {
            return None;
        }
        let commit = asked.decision();
        let decision = commit.and_then(|commit| Decision::of_commit(space, commit).ok().flatten());
        let subject = decision.as_ref().and_then(|decision| decision.subject_of(&asked.payload));
        let (session, id) = (start.session, asked.id);
        Some(EarlierAnswer { session, id, commit, decision, cancelled_by, subject })
    }

    /// Tells how a hold was closed that its session does not have any more.
    pub(crate) fn of_gone(journal: &RecordChain, hold: &OpenHold) -> EarlierAnswer {
        let (session, id) = (hold.session, hold.id);
        let cancelled_by = cancelled_by(journal, &hold.ask.path);
        EarlierAnswer { session, id, commit: None, decision: None, cancelled_by, subject: None }
    }

    /// Tells how a hold was decided that its session has not gone on with yet.
    pub fn of_settled(pending: &PendingHold) -> Option<EarlierAnswer> {
        let (commit, decision) = pending.policy.settle(&pending.votes)?;
        let session = pending.hold.session;
        Some(EarlierAnswer::of_decision(session, commit, decision, &pending.policy))
    }

    /// Makes that of a decision which stands on the branch, whether or not its session knows of it.
    pub(crate) fn of_decision(
        session: SessionId,
        commit: Oid,
        decision: &Decision,
        policy: &Policy,
    ) -> EarlierAnswer {
        EarlierAnswer {
            session,
            id: decision.request,
            commit: Some(commit),
            decision: Some(decision.clone()),
            cancelled_by: None,
            subject: policy.subject.clone(),
        }
    }

    /// Says who was first; the same principal repeating the same answer succeeds.
    ///
    /// # Errors
    /// Fails unless it is the same answer of the same principal.
    pub(crate) fn again(
        self,
        space: &SessionSpace,
        draft: &DecisionDraft,
    ) -> Result<DecisionOutcome> {
        match (self.commit, self.decision) {
            (Some(commit), Some(decision))
                if decision.is_repeated_by(draft, self.subject.as_ref()) =>
            {
                let written = WriteNotices::default();
                Ok(DecisionOutcome { commit, decision, session: self.session, written })
            }
            (commit, decision) => Err(EarlierAnswer { commit, decision, ..self }.refusal(space)),
        }
    }

    /// Says who was first, or that nobody was in time.
    pub fn refusal(self, space: &SessionSpace) -> Error {
        if let Some(decision) = &self.decision
            && decision.action == Action::Expire
        {
            return Error::Decision(DecisionError::HoldExpired {
                request: self.session.short_request(&self.id),
                deadline: decision.deadline().unwrap_or(space.now()),
                value: decision.value.clone(),
                commit: self.commit,
            });
        }
        self.already_decided()
    }

    /// Says who was first, whoever that is.
    pub fn already_decided(self) -> Error {
        let request = self.session.short_request(&self.id);
        let (principal, action) = self.winner();
        let commit = self.commit;
        Error::Decision(DecisionError::AlreadyDecided { request, principal, action, commit })
    }

    /// Says who closed it and how: whoever decided, whoever told its session to stop, or the session
    /// itself.
    pub fn winner(&self) -> (String, &'static str) {
        match (&self.decision, &self.cancelled_by) {
            // The engine closed it for whoever did that.
            (Some(Decision { action: Action::Withdrawn, .. }) | None, Some(who)) => {
                (who.clone(), "cancelled")
            }
            (Some(decision), _) => (decision.principal.clone(), decision.action.name()),
            (None, None) => ("the session".to_owned(), "answered"),
        }
    }
}

/// Tells whether a request waited for a human when its session was told to stop.
pub(super) fn is_stopped_hold(journal: &RecordChain, asked: &AskedRequest) -> bool {
    asked.kind == HOLD && cancelled_by(journal, &asked.path).is_some()
}

/// Finds who told a session to stop while a request was open.
fn cancelled_by(journal: &RecordChain, path: &Path) -> Option<String> {
    let mut who = None;
    for record in journal.records().iter().rev() {
        if let Body::Cancel(cancel) = &record.body {
            // The first one counts: nothing could be decided from then on.
            who = Some(cancel.who.clone());
        } else if matches!(&record.body, Body::Answer(answer) if answer.path == *path) {
            // What came after the answer did not close it.
            who = None;
        } else if matches!(&record.body, Body::Ask(ask) if ask.path == *path) {
            return who;
        } else if matches!(record.body, Body::Start(_)) {
            return None;
        }
    }
    None
}
