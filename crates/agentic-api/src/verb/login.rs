//! Logging in by a key: another person than the one of this repository shows that they hold a key which
//! git's configuration names for them.

use agentic_session::decide::{PersonKey, has_key, text_signed_by};

use crate::{Caller, ProvenPerson, Refusal};

/// For what texts of logins are signed: no signature of a commit is one of a login, nor the other way.
pub const LOGIN_NAMESPACE: &str = "agentic-login";
/// How it is known who decides who logged in so, before the fingerprint of their key.
const AUTHN: &str = "login:ssh:";

/// What a person signs to log in.
#[derive(Debug, Clone, Copy)]
pub struct LoginText<'t> {
    /// The host and port of the page, so that no other server can hand the text on.
    pub host: &'t str,
    /// Who they say they are, such as `user:ada`.
    pub principal: &'t str,
    /// What the page has made for this one login.
    pub challenge: &'t str,
}

impl LoginText<'_> {
    /// Returns the text.
    pub fn text(self) -> String {
        let LoginText { host, principal, challenge } = self;
        format!("log in to {host}\nas {principal}\nchallenge {challenge}\n")
    }

    /// Finds out who has signed it.
    ///
    /// # Errors
    /// Fails when it is not signed by a key that `agentic.deciders` names for them.
    pub fn prove(self, caller: &Caller<'_>, signature: &str) -> Result<ProvenPerson, Refusal> {
        let (principal, text) = (self.principal, self.text());
        let is_line = !principal.contains(|c: char| c.is_control());
        let is_person = principal.strip_prefix("user:").is_some_and(|name| !name.is_empty());
        let found = match is_line && is_person {
            true => text_signed_by(caller.space, principal, &text, LOGIN_NAMESPACE, signature)?,
            false => None,
        };
        let Some(PersonKey { named, fingerprint }) = found else {
            return Err(Refusal::not_allowed(
                "this key is nobody's who may log in so",
                "`git config --add agentic.deciders 'user:NAME SSH-KEY'` in the repository names one",
            ));
        };
        let (principal, authn) = (principal.to_owned(), format!("{AUTHN}{fingerprint}"));
        Ok(ProvenPerson { principal, authn, key: named })
    }
}

impl ProvenPerson {
    /// Tells whether `agentic.deciders` still names their key for them.
    ///
    /// # Errors
    /// Fails when the configuration cannot be read.
    pub fn is_still_known(&self, caller: &Caller<'_>) -> Result<bool, Refusal> {
        Ok(has_key(caller.space, &self.principal, &self.key)?)
    }
}
