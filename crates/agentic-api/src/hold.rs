//! Which hold a text names, and what is said of one that was decided before.

use agentic_session::engine::request_at;
use agentic_session::error::DecisionError;
use agentic_session::hold::{DecidedRequest, NamedRequest, PendingHold, find_hold, winner};
use agentic_session::{Error, SessionSpace, find_run};

use crate::Refusal;

/// How a hold is named from outside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HoldName<'a> {
    /// A request as it is listed, an agent with one open hold, or the key of a run.
    pub(crate) request: &'a str,
    /// The node of a pipeline that asks, where `request` names a run.
    pub(crate) node: Option<&'a str>,
}

/// What a name leads to.
pub(crate) enum FoundHold {
    /// An open hold.
    Open(Box<PendingHold>),
    /// One that was decided before.
    Closed(EarlierDecision),
}

/// What was decided before.
pub(crate) struct EarlierDecision(pub(crate) Box<DecidedRequest>);

impl HoldName<'_> {
    /// Finds the hold that is meant.
    pub(crate) fn find(&self, space: &SessionSpace) -> Result<FoundHold, Refusal> {
        let named = match self.node {
            Some(node) => {
                let run = find_run(space, self.request)?;
                find_hold(space, &request_at(space, &run, node)?)?
            }
            None => find_hold(space, self.request).or_else(|error| {
                // The key of a run stands for its agent; anything else is told as it was said.
                let run = find_run(space, self.request).and_then(|id| space.session(&id));
                find_hold(space, run.map_err(|_| error)?.agent.as_str())
            })?,
        };
        Ok(match named {
            NamedRequest::Open(pending) => FoundHold::Open(pending),
            NamedRequest::Decided(earlier) => FoundHold::Closed(EarlierDecision(earlier)),
        })
    }

    /// Finds the open hold that is meant; one that was decided is refused with who did that.
    pub(crate) fn open(&self, space: &SessionSpace) -> Result<PendingHold, Refusal> {
        match self.find(space)? {
            FoundHold::Open(pending) => Ok(*pending),
            FoundHold::Closed(earlier) => Err(earlier.refusal(space)),
        }
    }
}

impl EarlierDecision {
    /// Returns the name of the request.
    pub(crate) fn request(&self) -> String {
        self.0.session.short_request(&self.0.id)
    }

    /// Says who was first, or that nobody was in time.
    pub(crate) fn refusal(self, space: &SessionSpace) -> Refusal {
        let request = self.request();
        let DecidedRequest { commit, decision, cancelled_by, .. } = *self.0;
        let (principal, action) = winner(decision.as_ref(), cancelled_by.as_deref());
        let error = match action {
            "expire" => {
                let recorded = decision.as_ref().and_then(|decision| decision.deadline());
                let deadline = recorded.unwrap_or(space.now());
                let value = decision.and_then(|decision| decision.value);
                DecisionError::HoldExpired { request, deadline, value, commit }
            }
            _ => DecisionError::AlreadyDecided { request, principal, action, commit },
        };
        Error::Decision(error).into()
    }
}
