//! Decisions across spaces: of holds of peers, and those of peers that somebody here accepts.

use agentic_federation::reply::PeerHold;
use agentic_session::hold::name::NamedRequest;

use super::{AfterDecision, Decide, DraftGround, HoldAnswer, RecordedDecision};
use crate::redaction::CallerRedactor;
use crate::verb::peer_reply::{AcceptedReply, accept_reply, answer_peer, delegation};
use crate::{Caller, Refusal};

impl Decide {
    /// Records the decision of a hold of a peer's agent: nothing here goes on with it.
    pub(super) fn record_elsewhere(
        self,
        caller: &Caller<'_>,
        hold: &PeerHold,
        principal: String,
    ) -> Result<RecordedDecision, Refusal> {
        if self.then != AfterDecision::Leave {
            return Err(Refusal::usage(
                &format!("`{}` is an agent of a peer: its session goes on there", hold.name),
                "say `--only`: the decision leaves with the next `agentic push`",
            ));
        }
        if self.seen.is_some() || matches!(self.answer, HoldAnswer::Accept { .. }) {
            return Err(Refusal::usage(
                "a hold of a peer takes an answer of yours alone",
                "say approve, reject, edit or respond",
            ));
        }
        let delegation = delegation(self.for_person.as_deref(), self.grant.as_deref())?;
        let following = self.following();
        let named = NamedRequest::Open(Box::new(hold.pending.clone()));
        let mut redactor = CallerRedactor::new(caller)?;
        let ground = DraftGround { named: &named, reply: None, principal };
        let draft = self.draft(caller, ground, &mut redactor)?;
        let done = answer_peer(caller, hold, &draft, delegation)?;
        let recorded = RecordedDecision::of(done, following, redactor.notices());
        Ok(RecordedDecision { elsewhere: Some(hold.name.clone()), ..recorded })
    }

    /// Finds the decision of a peer that is to be accepted, if it is one of a peer.
    pub(super) fn accepted_reply(
        &self,
        caller: &Caller<'_>,
        named: &NamedRequest,
    ) -> Result<Option<AcceptedReply>, Refusal> {
        match (&self.answer, named) {
            (HoldAnswer::Accept { commit, .. }, NamedRequest::Open(pending)) => {
                let commit = caller.space.repository().resolve_commit(commit)?;
                accept_reply(caller, commit, pending)
            }
            (HoldAnswer::Accept { .. }, NamedRequest::Decided(_))
            | (HoldAnswer::Act { .. } | HoldAnswer::Choice(_), _) => Ok(None),
        }
    }
}
