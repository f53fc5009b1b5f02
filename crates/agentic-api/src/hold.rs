//! Which hold a text names.

use agentic_session::answer::find_hold_of;
use agentic_session::engine::request_at;
use agentic_session::error::RequestError;
use agentic_session::hold::{NamedRequest, PendingHold, find_hold};
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

impl HoldName<'_> {
    /// Finds the hold that is meant.
    pub(crate) fn find(&self, space: &SessionSpace) -> Result<NamedRequest, Refusal> {
        let named = match self.node {
            Some(node) => {
                let run = find_run(space, self.request)?;
                find_hold(space, &request_at(space, &run, node)?)
            }
            None => find_hold(space, self.request).or_else(|error| {
                if matches!(error, Error::Request(RequestError::Ambiguous { .. })) {
                    return Err(error);
                }
                // What names no run either is told as it was said.
                find_hold_of(space, &find_run(space, self.request).map_err(|_| error)?)
            }),
        };
        Ok(named?)
    }

    /// Finds the open hold that is meant; one that was decided is refused with who did that.
    pub(crate) fn open(&self, space: &SessionSpace) -> Result<PendingHold, Refusal> {
        match self.find(space)? {
            NamedRequest::Open(pending) => Ok(*pending),
            NamedRequest::Decided(earlier) => Err(earlier.refusal(space).into()),
        }
    }
}
