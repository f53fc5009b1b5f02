//! The roles in pipelines that models play.

use std::cell::OnceCell;
use std::path::Path;

use agentic_lang_pipeline::run::{AgentCall, RequestKind, reply_schema};
use agentic_replay::Request;

use super::performer::{Configured, Part, ProviderCall, configured};

/// Lets models play the roles of one run.
#[derive(Debug, Default)]
pub(super) struct Roles {
    /// The models, once one was needed.
    providers: OnceCell<Configured>,
}

impl Roles {
    /// Says whether a model plays the role that a request asks for.
    pub fn knows(request: &Request) -> bool {
        RequestKind::of(request) == Some(RequestKind::Model)
    }

    /// Returns the call of a model that performs a request; which there are is configured in a
    /// folder.
    pub fn call(&self, request: &Request, folder: &Path) -> Option<ProviderCall> {
        let agent = AgentCall::of(request).filter(|_| Roles::knows(request))?.agent;
        Some(ProviderCall {
            providers: self.providers.get_or_init(|| configured(folder)).clone(),
            request: request.clone(),
            part: Part::Role(reply_schema(&agent)),
        })
    }
}
