//! Which decisions of peers have come, for a process that stays and tells of those that are new.

use std::collections::BTreeSet;

use agentic_federation::accepted::ACCEPTED_REFS;
use agentic_federation::reply::{ArrivedReply, arrived_replies};
use agentic_git::RefName;
use agentic_model::{AgentName, Oid};
use agentic_replay::SessionId;
use agentic_session::SessionSpace;

use crate::Refusal;

/// A decision that a peer sent for a request here, by the ids that lead to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NoticedReply {
    /// The request.
    pub request: String,
    /// The session that asked, as the decision says.
    pub session: SessionId,
    /// The agent whose session it is.
    pub agent: AgentName,
    /// The commit of the decision.
    pub commit: Oid,
}

/// The decisions that had come when somebody looked, whether or not they count.
#[derive(Debug, Default)]
pub struct NoticedReplies {
    /// Which announcements of peers were believed then: no other way leads here.
    accepted: Vec<RefName>,
    replies: BTreeSet<NoticedReply>,
}

impl NoticedReplies {
    /// Reads all that have come.
    ///
    /// # Errors
    /// Fails when an accept record or an announcement cannot be read.
    pub fn read(space: &SessionSpace) -> Result<NoticedReplies, Refusal> {
        let accepted = space.repository().list_refs(ACCEPTED_REFS)?;
        let replies = arrived_replies(space)?.into_iter().filter_map(|reply| {
            let made = reply.decision?;
            let request = made.session.short_request(&made.decision.request);
            let ArrivedReply { commit, to, .. } = reply;
            Some(NoticedReply { request, session: made.session, agent: to.agent, commit })
        });
        Ok(NoticedReplies { accepted, replies: replies.collect() })
    }

    /// Looks again, where anything else is believed of peers by now, and returns those that came since.
    ///
    /// # Errors
    /// Fails as [`NoticedReplies::read`] does.
    pub fn renew(&mut self, space: &SessionSpace) -> Result<Vec<NoticedReply>, Refusal> {
        if space.repository().list_refs(ACCEPTED_REFS)? == self.accepted {
            return Ok(Vec::new());
        }
        let now = NoticedReplies::read(space)?;
        let new = now.replies.difference(&self.replies).cloned().collect();
        *self = now;
        Ok(new)
    }
}
