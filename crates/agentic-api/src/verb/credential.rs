//! The tokens with which agents act in somebody's name.

use std::time::Duration;

use agentic_providers::credential::{
    Authorization, CALLBACK_LIMIT, Error as CredentialError, Keyring, Settings,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{LocalVerb, Reply};
use crate::view::CredentialView;
use crate::{Refusal, Surroundings};

/// Let somebody authorize agents at a provider. The person has to be shown an address meanwhile.
#[derive(Debug, Clone)]
pub struct CredentialLogin {
    /// The provider.
    pub provider: String,
    /// Who authorizes.
    pub identity: String,
    /// What is to be allowed.
    pub scope: Vec<String>,
}

/// An authorization that the person has still to give.
#[must_use = "the person is waited for"]
pub struct AwaitedLogin {
    asked: Authorization,
    provider: String,
}

impl CredentialLogin {
    /// Begins an authorization.
    ///
    /// # Errors
    /// Fails when the provider is not described, and when nothing can listen for the person's return.
    pub fn begin(self, here: &Surroundings) -> Result<AwaitedLogin, Refusal> {
        let settings = Settings::of_process(here.folder.clone());
        let asked = Authorization::begin(settings, &self.identity, &self.provider, self.scope);
        let asked = asked.map_err(|error| refused(&error))?;
        Ok(AwaitedLogin { asked, provider: self.provider })
    }
}

impl AwaitedLogin {
    /// Returns the address that the person opens.
    pub fn address(&self) -> String {
        self.asked.address()
    }

    /// Waits for the person so long, within the bound of all authorizations.
    ///
    /// # Errors
    /// Fails when the person does not come back in time, or says no.
    pub fn finish(self, limit: Duration) -> Result<CredentialView, Refusal> {
        let identity = self.asked.finish(limit.min(CALLBACK_LIMIT));
        let identity = identity.map_err(|error| refused(&error))?;
        Ok(CredentialView { identity, provider: self.provider })
    }
}

/// List whose tokens of which providers there are.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListCredentials {}

impl LocalVerb for ListCredentials {
    type Answer = Vec<CredentialView>;

    fn run_here(self, here: &Surroundings) -> Result<Reply<Vec<CredentialView>>, Refusal> {
        let stored = keyring(here).list().map_err(|error| refused(&error))?;
        let view = |(identity, provider)| CredentialView { identity, provider };
        Ok(Reply::plain(stored.into_iter().map(view).collect()))
    }
}

/// Remove somebody's tokens of a provider.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetCredential {
    /// The provider.
    pub provider: String,
    /// Whose.
    pub identity: String,
}

impl LocalVerb for ForgetCredential {
    type Answer = CredentialView;

    fn run_here(self, here: &Surroundings) -> Result<Reply<CredentialView>, Refusal> {
        let ForgetCredential { provider, identity } = self;
        let forgotten = keyring(here).forget(&identity, &provider);
        if !forgotten.map_err(|error| refused(&error))? {
            return Err(Refusal::refused(
                &format!("there are no tokens of `{identity}` for `{provider}`"),
                "`agentic credential list` shows those that there are",
            ));
        }
        Ok(Reply::plain(CredentialView { identity, provider }))
    }
}

fn keyring(here: &Surroundings) -> Keyring {
    Keyring::new(Settings::of_process(here.folder.clone()), None)
}

fn refused(error: &CredentialError) -> Refusal {
    let hint = match error {
        CredentialError::Configuration { .. } => {
            "`agentic help credential` says what has to be set"
        }
        CredentialError::Store { .. } => {
            "check the folder and the key; `agentic help credential` names both"
        }
        CredentialError::Refused { .. } => "ask again with `agentic credential login`",
        CredentialError::Credential(_) => {
            "nothing was stored; ask again with `agentic credential login`"
        }
    };
    Refusal::refused(&error.to_string(), hint)
}
