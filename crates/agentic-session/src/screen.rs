//! Looking for secrets in what programs want written where others read it: commits, briefings, relations
//! and proposals.
//!
//! A program is told that its effect failed, and the failure is its recorded answer: what was recorded is
//! replayed and rebuilt as it was, whatever rules there are by then.

use std::fmt;
use std::sync::Arc;

use agentic_model::Value;
use agentic_replay::Request;
use agentic_space::Space;

use crate::error::ProgramError;
use crate::{Error, Result, SessionSpace};

/// The contents of files, which no redaction looks into.
const FILES: &str = "files";

/// Tells which rule finds a secret in a value, if one does, or why nobody can look.
type FindSecret =
    dyn Fn(&Space, &Value) -> std::result::Result<Option<String>, String> + Send + Sync;

/// What looks for secrets.
#[derive(Clone)]
pub struct SecretScreen(Arc<FindSecret>);

impl SecretScreen {
    /// Makes one of a function that tells which rule finds a secret in a value, or why nobody can look.
    pub fn new(
        find: impl Fn(&Space, &Value) -> std::result::Result<Option<String>, String>
        + Send
        + Sync
        + 'static,
    ) -> SecretScreen {
        SecretScreen(Arc::new(find))
    }
}

impl fmt::Debug for SecretScreen {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SecretScreen")
    }
}

/// Refuses a request that would write a secret, where this space looks for them.
///
/// # Errors
/// Fails when there is one, and when nobody can look.
pub fn refuse_secrets(space: &SessionSpace, request: &Request) -> Result<()> {
    let Some(SecretScreen(find)) = space.screen() else { return Ok(()) };
    let payload = if let Value::Map(fields) = &request.payload {
        let written = fields.iter().filter(|(key, _)| key.as_str() != FILES);
        Value::Map(written.map(|(key, value)| (key.clone(), value.clone())).collect())
    } else {
        request.payload.clone()
    };
    let kind = &request.kind;
    let reason = match find(space, &payload) {
        Ok(None) => return Ok(()),
        Ok(Some(rule)) => format!("what `{kind}` would write has a secret, found by rule `{rule}`"),
        Err(why) => format!("nothing is written while secrets cannot be looked for: {why}"),
    };
    Err(Error::Program(ProgramError::BadRequest { reason }))
}
