//! What waits for a human: all of it, one of it whole, and in the forms of other protocols.

use agentic_federation::reply::PeerHold;
use agentic_session::hold::book::{BookedOutlook, HoldBook};
use agentic_session::hold::name::HoldName;
use agentic_session::hold::{Filter, HoldScope, Overdue, PendingHold};
use agentic_session::outlook::{Outlook, outlook};
use agentic_session::ticket::{TicketTerms, hand_out};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::caller::agent_name;
use crate::verb::form::{FORM_MINUTES, check_form, fields};
use crate::verb::peer_reply::{ShownReplies, holds_of_peer, peer_hold, view_of};
use crate::verb::{Reply, Verb};
use crate::view::interop::{Protocol, a2a, mcp};
use crate::view::question::{question, text_hash};
use crate::view::{PendingView, QuestionView};
use crate::{Caller, Notice, Refusal, principal};

/// How many minutes a list is good that is handed out in the Agent2Agent protocol.
const TASK_MINUTES: u32 = 60;

/// List what waits for a human, oldest first.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PendingHolds {
    /// Only of this agent, and of those that descend from it.
    pub agent: Option<String>,
    /// Only requests of this kind.
    pub kind: Option<String>,
    /// Only what this principal may decide, such as `user:ada` or `role:lead`.
    pub assignee: Option<String>,
    /// Only what is overdue.
    pub overdue: bool,
    /// Of this peer's agents, as far as their notes are believed, instead of those here.
    pub peer: Option<String>,
}

impl PendingHolds {
    /// Lists what waits by what is known of it, without reading what is asked.
    ///
    /// # Errors
    /// Fails when sessions cannot be listed.
    pub fn among(
        self,
        caller: &Caller<'_>,
        book: &HoldBook,
    ) -> Result<Reply<BookedOutlook>, Refusal> {
        let found = book.outlook(caller.space, &self.filter()?)?;
        Ok(Reply { notices: Notice::of_booked(&found), ..Reply::plain(found) })
    }

    fn look(self, caller: &Caller<'_>) -> Result<Outlook, Refusal> {
        Ok(outlook(caller.space, &self.filter()?)?)
    }

    /// Tells whether a hold of a peer is one that is wanted.
    fn has_of_peer(&self, hold: &PeerHold) -> bool {
        let is_of = |agent: &String| *agent == hold.name || *agent == hold.of.agent.as_str();
        let pending = &hold.pending;
        let assignees = &pending.policy.assignees;
        let is_for = |wanted: &String| assignees.is_empty() || assignees.contains(wanted);
        self.agent.as_ref().is_none_or(is_of)
            && self.kind.as_ref().is_none_or(|kind| *kind == pending.hold.ask.kind)
            && self.assignee.as_ref().is_none_or(is_for)
            && (!self.overdue || pending.overdue)
    }

    fn filter(self) -> Result<Filter, Refusal> {
        Ok(Filter {
            agent: self.agent.as_deref().map(agent_name).transpose()?,
            reach: HoldScope::Subtree,
            kind: self.kind,
            assignee: self.assignee,
            overdue_only: if self.overdue { Overdue::Only } else { Overdue::Any },
        })
    }
}

impl Verb for PendingHolds {
    type Answer = Vec<PendingView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<PendingView>>, Refusal> {
        if let Some(peer) = &self.peer {
            let wanted = |hold: &PeerHold| self.has_of_peer(hold);
            return Ok(Reply::plain(holds_of_peer(caller, peer, &wanted)?));
        }
        let found = self.look(caller)?;
        let now = caller.space.now();
        let views = found.holds.iter().map(|hold| PendingView::new(hold, now));
        let mut views: Vec<PendingView> = views.collect();
        if !views.is_empty() {
            let replies = ShownReplies::read(caller)?;
            views.iter_mut().for_each(|view| replies.add_to(view));
        }
        Ok(Reply { notices: Notice::of_outlook(&found), ..Reply::plain(views) })
    }
}

/// Show one open hold whole, as it is put before whoever decides.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldQuestion {
    /// A request as it is listed, an agent with one open hold, or the key of a run.
    pub request: String,
    /// The node of a pipeline that asks, where the run has several holds.
    #[serde(default)]
    pub node: Option<String>,
}

impl Verb for HoldQuestion {
    type Answer = QuestionView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<QuestionView>, Refusal> {
        let name = HoldName { request: &self.request, node: self.node.as_deref() };
        let now = caller.space.now();
        let view = match name.open(caller.space) {
            Ok(pending) => {
                let mut view = PendingView::new(&pending, now);
                ShownReplies::read(caller)?.add_to(&mut view);
                view
            }
            Err(error) => match peer_hold(caller, &self.request)? {
                Some(hold) => view_of(caller, &hold)?,
                None => return Err(error.into()),
            },
        };
        Ok(Reply::plain(QuestionView::new(view, now)))
    }
}

/// Hand out what waits for a human in the form of another protocol, with a ticket that the answers
/// bring back.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandOutHolds {
    /// The protocol.
    pub protocol: Protocol,
    /// What is handed out.
    #[serde(default)]
    pub holds: PendingHolds,
    /// Who will answer, such as `user:ada`; else whom git knows here.
    #[serde(default)]
    pub by: Option<String>,
}

/// Holds in the form of another protocol.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct HandedOut(pub Json);

impl Verb for HandOutHolds {
    type Answer = HandedOut;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<HandedOut>, Refusal> {
        let space = caller.space;
        let found = self.holds.look(caller)?;
        let notices = Notice::of_outlook(&found);
        let now = space.now();
        let by = self.by.map_or_else(|| principal(space), Ok)?;
        check_form(caller, self.protocol, &by)?;
        let shown = |hold: &PendingHold| match self.protocol {
            Protocol::Mcp => {
                Some(text_hash(&question(&PendingView::new(hold, hold.hold.asked_at))))
            }
            Protocol::A2a => None,
        };
        let minutes = match self.protocol {
            Protocol::Mcp => FORM_MINUTES,
            Protocol::A2a => TASK_MINUTES,
        };
        let terms = TicketTerms { principal: &by, minutes };
        let ticket = hand_out(space, &found.holds, terms, shown)?;
        let form = match self.protocol {
            Protocol::Mcp => mcp(&found.holds, &ticket, fields),
            Protocol::A2a => a2a(&found.holds, &ticket, now),
        };
        Ok(Reply { notices, ..Reply::plain(HandedOut(form)) })
    }
}
