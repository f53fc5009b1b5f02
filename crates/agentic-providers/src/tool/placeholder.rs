//! What stands for a secret variable of the environment inside programs.
//!
//! A program reads `${secret:NAME:…}`, derived from the name and the session. What it sends in
//! addresses, headers and bodies of HTTP has the value put in at the last moment; where the value
//! comes back in a reply it is covered again. So no record, hash or prompt ever holds it, and a
//! replay needs no secret.

use agentic_model::Cid;
use agentic_plan::{CredentialSecret, Redactor};

use crate::http::percent_encoded;

/// What a placeholder begins with.
const START: &str = "${secret:";
/// How many characters tell placeholders of different sessions apart.
const MARK_LENGTH: usize = 16;

/// The secrets that were put into something that is sent.
#[derive(Debug, Default)]
pub(super) struct RevealedSecrets {
    secrets: Vec<(CredentialSecret, String)>,
}

/// Makes the placeholder of a variable in a session.
pub(super) fn placeholder(name: &str, session: &str) -> String {
    let mark = Cid::of(format!("secret {session} {name}").as_bytes()).to_string();
    let mark = &mark[mark.len() - MARK_LENGTH..];
    format!("{START}{name}:{mark}}}")
}

impl RevealedSecrets {
    /// Puts the values of variables in the places of their placeholders. One of another session
    /// stays as it is.
    pub fn reveal(&mut self, text: &str, session: &str) -> String {
        self.reveal_as(text, session, str::to_owned)
    }

    /// Does the same in an address, where a value is one part, whatever stands in it.
    pub fn reveal_in_address(&mut self, address: &str, session: &str) -> String {
        self.reveal_as(address, session, percent_encoded)
    }

    fn reveal_as(&mut self, text: &str, session: &str, write: fn(&str) -> String) -> String {
        let (mut out, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(at) = rest.find(START) {
            out.push_str(&rest[..at]);
            let tail = &rest[at + START.len()..];
            let name = tail.split(':').next().unwrap_or_default();
            let whole = placeholder(name, session);
            let value = std::env::var(name).ok().filter(|value| !value.is_empty());
            match value.filter(|_| rest[at..].starts_with(&whole)) {
                Some(value) => {
                    out.push_str(&write(&value));
                    rest = &rest[at + whole.len()..];
                    self.secrets.push((CredentialSecret::new(value), whole));
                }
                None => {
                    out.push_str(START);
                    rest = tail;
                }
            }
        }
        out.push_str(rest);
        out
    }

    /// Takes note of the value of a variable that is given to somebody.
    pub fn give(&mut self, name: &str, session: &str) -> String {
        let value = std::env::var(name).unwrap_or_default();
        if !value.is_empty() {
            self.secrets.push((CredentialSecret::new(value.as_str()), placeholder(name, session)));
        }
        value
    }

    /// Makes the mask of the values that were put in.
    pub fn redactor(self) -> Redactor {
        Redactor::of_any_length(self.secrets)
    }
}
