//! Credentials: where they come from, where they are kept, and how they are put into a call.
//!
//! A secret is looked up by whoever sends a call, at that moment and for that call alone. It never
//! enters a program, a plan, a record, a trace or an error: programs see nothing of it, and what
//! comes back is masked before anybody else reads it. Nobody is ever taken for somebody else: a
//! call in a person's name without that person fails.

use agentic_plan::{AuthSource, CredentialError, CredentialSecret, Redactor, placeholder};

use crate::credential::oauth::{AuthorizationServer, GrantedTokens, TimedServer};
use crate::credential::store::{SealedTokens, TokenStore};
use crate::host::CancelFlag;

mod authorization;
mod caller;
mod oauth;
mod settings;
mod source;
mod store;

pub use crate::credential::authorization::{Authorization, CALLBACK_LIMIT};
pub use crate::credential::caller::{CREDENTIAL_VARIABLE, CredentialCaller};
pub use crate::credential::settings::Settings;

/// How long before its end a token is renewed, in milliseconds.
const LEEWAY_MS: i64 = 60_000;

/// Why a credential cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not there, or may not be used.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// Something that surrounds credentials is not set up.
    #[error("{what}")]
    Configuration {
        /// What.
        what: String,
    },
    /// The store of tokens cannot be read or written.
    #[error("the store of tokens cannot be used: {reason}")]
    Store {
        /// Why.
        reason: String,
    },
    /// The authorization server refused, or cannot be reached.
    #[error("`{provider}` did not grant a token: {reason}")]
    Refused {
        /// Which server.
        provider: String,
        /// What it said, without anything secret.
        reason: String,
    },
}

/// The result of a look-up.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns the code of the failure that programs see.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Credential(error) => error.code(),
            Error::Configuration { .. } | Error::Store { .. } => "ConfigurationError",
            Error::Refused { .. } => "MissingCredential",
        }
    }
}

/// Looks credentials up in the surroundings of this process.
#[derive(Debug, Clone)]
pub struct Keyring {
    settings: Settings,
    /// In whose name calls are made.
    identity: Option<String>,
}

/// A credential that was looked up for one call.
#[derive(Debug, Clone)]
pub struct Credential {
    secret: CredentialSecret,
    redactor: Redactor,
}

impl Keyring {
    /// Makes a keyring for calls in somebody's name.
    pub fn new(settings: Settings, identity: Option<String>) -> Keyring {
        Keyring { settings, identity }
    }

    /// Looks up what an agent needs, or until `cancel`; nothing for those that need nothing. `run`
    /// is what the mask of the secret derives from.
    ///
    /// # Errors
    /// Fails when there is none, or it must not be used. None of it is worth another attempt.
    pub fn look_up(
        &self,
        source: &AuthSource,
        run: &str,
        cancel: &CancelFlag,
    ) -> Result<Option<Credential>> {
        let (name, secret) = match source {
            AuthSource::None | AuthSource::Static => return Ok(None),
            AuthSource::Env { var } => (var, source::environment(&self.settings, var)?),
            AuthSource::File { path } => (path, source::file(&self.settings, path)?),
            AuthSource::Secret { name } => (name, source::command(&self.settings, name, cancel)?),
            AuthSource::OAuth { provider, .. } => {
                (provider, self.token(provider, Freshness::AsStored, cancel)?)
            }
        };
        Ok(Some(Credential::new(name, secret, run)))
    }

    /// Looks it up anew after it was refused; nothing where that would change nothing.
    ///
    /// # Errors
    /// Fails when the server grants no new one.
    pub fn renew(
        &self,
        source: &AuthSource,
        run: &str,
        cancel: &CancelFlag,
    ) -> Result<Option<Credential>> {
        match source {
            AuthSource::OAuth { provider, .. } => {
                let secret = self.token(provider, Freshness::Renewed, cancel)?;
                Ok(Some(Credential::new(provider, secret, run)))
            }
            AuthSource::None
            | AuthSource::Static
            | AuthSource::Env { .. }
            | AuthSource::File { .. }
            | AuthSource::Secret { .. } => Ok(None),
        }
    }

    fn token(
        &self,
        provider: &str,
        freshness: Freshness,
        cancel: &CancelFlag,
    ) -> Result<CredentialSecret> {
        let identity = self
            .identity
            .clone()
            .ok_or_else(|| CredentialError::MissingIdentity { provider: provider.to_owned() })?;
        let missing = || CredentialError::MissingCredential {
            identity: identity.clone(),
            provider: provider.to_owned(),
        };
        let store = TokenStore::open(&self.settings)?;
        let sealed = store.get(&identity, provider)?.ok_or_else(missing)?;
        let is_due = sealed.tokens.ends_at.is_some_and(|at| at - LEEWAY_MS <= self.settings.now());
        if freshness == Freshness::AsStored && !is_due {
            return Ok(sealed.tokens.access);
        }
        let Some(renewal) = &sealed.tokens.refresh else { return Err(missing().into()) };
        let server = TimedServer {
            provider: &AuthorizationServer::configured(&self.settings, provider)?,
            cancel,
        };
        let renewed = server.refresh(renewal, self.settings.now())?;
        // A server that sends no new renewal means the old one to stay.
        let refresh = renewed.refresh.clone().or(sealed.tokens.refresh.clone());
        let tokens = GrantedTokens { refresh, ..renewed };
        let access = tokens.access.clone();
        store.put(&SealedTokens { tokens, ..sealed })?;
        Ok(access)
    }

    /// Lists whose tokens of which providers are stored.
    ///
    /// # Errors
    /// Fails when the store cannot be read.
    pub fn list(&self) -> Result<Vec<(String, String)>> {
        TokenStore::open(&self.settings)?.list()
    }

    /// Removes the tokens of somebody at a provider; says whether there were any.
    ///
    /// # Errors
    /// Fails when the store cannot be written.
    pub fn forget(&self, identity: &str, provider: &str) -> Result<bool> {
        TokenStore::open(&self.settings)?.delete(identity, provider)
    }
}

/// Whether a token that is stored will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Freshness {
    AsStored,
    Renewed,
}

impl Credential {
    fn new(name: &str, secret: CredentialSecret, run: &str) -> Credential {
        let mask = placeholder(name, run);
        let masks = [(secret.clone(), mask)];
        Credential { secret, redactor: Redactor::new(masks) }
    }

    /// Returns the secret, for the moment of sending.
    pub fn expose(&self) -> &str {
        self.secret.expose()
    }

    /// Masks the secret in what came back.
    pub fn mask(&self, text: &str) -> String {
        self.redactor.text(text)
    }

    /// Masks the secret in bytes that came back, and in every text of the JSON that they are.
    pub fn mask_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.redactor.reply(bytes)
    }
}
