//! Calls with the credential that they need: looked up, put in, masked in what comes back.

use agentic_plan::AuthSource;

use super::{Credential, Keyring, Result};
use crate::endpoint::{EndpointReply, Exchange};
use crate::executable::{Executable, ProgramOutcome};
use crate::host::CancelFlag;

/// The variable in which a program finds its credential.
pub const CREDENTIAL_VARIABLE: &str = "AGENTIC_CREDENTIAL";
/// The status of an endpoint that does not accept the credential.
const UNAUTHORIZED: u16 = 401;

/// Makes the calls of one agent.
#[derive(Debug, Clone)]
pub struct CredentialCaller {
    /// Where credentials are looked up.
    pub keyring: Keyring,
    /// What the agent needs.
    pub auth: AuthSource,
    /// The run that calls; the mask of the secret derives from it.
    pub run: String,
}

impl CredentialCaller {
    /// Runs a program.
    ///
    /// # Errors
    /// Fails when its credential cannot be had; it is not started then.
    pub fn execute(
        &self,
        mut executable: Executable,
        cancel: &CancelFlag,
    ) -> Result<ProgramOutcome> {
        let Some(credential) = self.keyring.look_up(&self.auth, &self.run, cancel)? else {
            return Ok(executable.run(cancel));
        };
        let secret = (CREDENTIAL_VARIABLE.to_owned(), credential.expose().to_owned());
        executable.environment.push(secret);
        Ok(match executable.run(cancel) {
            ProgramOutcome::Done(printed) => ProgramOutcome::Done(credential.mask_bytes(printed)),
            ProgramOutcome::Crashed { status, complaint } => {
                ProgramOutcome::Crashed { status, complaint: credential.mask(&complaint) }
            }
            other @ (ProgramOutcome::Lost(_)
            | ProgramOutcome::Flooded
            | ProgramOutcome::TimedOut
            | ProgramOutcome::Stopped) => other,
        })
    }

    /// Calls an endpoint; one that does not accept the credential once more, with a renewed one.
    ///
    /// # Errors
    /// Fails when the credential cannot be had or renewed.
    pub fn call(&self, exchange: Exchange, cancel: &CancelFlag) -> Result<EndpointReply> {
        let Some(credential) = self.keyring.look_up(&self.auth, &self.run, cancel)? else {
            return Ok(exchange.perform(cancel));
        };
        let reply = call_with(&credential, exchange.clone(), cancel);
        if !matches!(reply, EndpointReply::Said { status: UNAUTHORIZED, .. }) {
            return Ok(reply);
        }
        Ok(match self.keyring.renew(&self.auth, &self.run, cancel)? {
            Some(renewed) => call_with(&renewed, exchange, cancel),
            None => reply,
        })
    }
}

fn call_with(
    credential: &Credential,
    mut exchange: Exchange,
    cancel: &CancelFlag,
) -> EndpointReply {
    let header = format!("Bearer {}", credential.expose());
    exchange.headers.push(("authorization".to_owned(), header));
    match exchange.perform(cancel) {
        EndpointReply::Said { status, body } => {
            EndpointReply::Said { status, body: credential.mask_bytes(body) }
        }
        EndpointReply::Lost(reason) => EndpointReply::Lost(credential.mask(&reason)),
        other @ (EndpointReply::Flooded | EndpointReply::TimedOut | EndpointReply::Stopped) => {
            other
        }
    }
}
