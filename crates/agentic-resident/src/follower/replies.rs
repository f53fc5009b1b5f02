//! What peers decided of requests here, as the last fetch found it.

use agentic_api::verb::NoticedReply;
use agentic_api::view::{EventName, EventView};

use super::{Follower, blank};

impl Follower {
    /// Tells of the decisions that came.
    pub(super) fn sweep_replies(&mut self) {
        let Ok(new) = self.replies.renew(&self.space) else { return };
        for NoticedReply { request, session, agent, commit } in new {
            let (agent, session) = (Some(agent.to_string()), Some(session.to_string()));
            let (request, commit) = (Some(request), Some(commit.to_string()));
            let state = Some("replied".to_owned());
            let view = EventView { agent, session, request, commit, state, ..blank() };
            self.tell(EventName::Hold, view);
        }
    }
}
