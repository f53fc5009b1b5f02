//! What a session begins with.

use agentic_model::{AgentName, Object, Value};
use agentic_replay::{SessionId, SessionOpening};

use super::behaviour::check_allowed;
use super::language::language_of;
use crate::error::ProgramError;
use crate::{Error, Result};

/// What a session begins with.
#[derive(Debug, Clone)]
pub struct Begin {
    /// The agent it runs as.
    pub agent: AgentName,
    /// The flow, as its object.
    pub flow: Object,
    /// The pieces that the flow names and that are kept nowhere yet.
    pub parts: Vec<Object>,
    /// The input of the flow.
    pub input: Value,
    /// The start key.
    pub key: String,
    /// Where it comes from.
    pub key_source: KeySource,
    /// The kinds of effects that it may perform unasked.
    pub allow: Vec<String>,
}

/// Where a start key comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySource {
    /// Somebody named it, who may have done so before.
    Named,
    /// It was made for this start: no session has it.
    Fresh,
}

impl Begin {
    /// Derives the id of the session that this begins, or began.
    ///
    /// # Errors
    /// Fails when the input has no canonical form.
    pub fn session(&self) -> Result<SessionId> {
        self.opening(None)?.session().map_err(bad)
    }

    /// Allows what stays inside the space: it needs nobody's leave.
    pub(super) fn with_own_allowed(mut self) -> Begin {
        self.allow.extend(["commit".to_owned(), "spawn".to_owned()]);
        self.allow.sort();
        self.allow.dedup();
        self
    }

    /// Returns what the first record says.
    pub(super) fn opening(&self, head: Option<String>) -> Result<SessionOpening> {
        check_allowed(&self.flow, &self.allow)?;
        Ok(SessionOpening {
            stamp: true,
            agent: self.agent.clone(),
            flow: self.flow.cid(),
            engine: language_of(&self.flow)?.engine(),
            input: self.input.clone(),
            key: self.key.clone(),
            allow: self.allow.clone(),
            head,
            configuration: None,
            host: None,
        })
    }
}

/// Says that what a session is given is no data.
pub(super) fn bad(error: agentic_model::canonical::CanonicalError) -> Error {
    Error::Program(ProgramError::BadRequest { reason: error.to_string() })
}
