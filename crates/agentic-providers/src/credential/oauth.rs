//! What is said to an authorization server: a code against tokens, a renewal against new ones.

use std::time::Duration;

use agentic_model::{Value, json};
use agentic_plan::CredentialSecret;

use super::settings::Settings;
use super::{Error, Result};
use crate::host::CancelFlag;
use crate::http::{Client, HttpFault, HttpMessage, percent_encoded};

/// How long the server may take.
const SERVER_LIMIT: Duration = Duration::from_secs(30);
/// The longest reply of a server, in bytes.
const REPLY_BYTES_MAX: u64 = 1 << 20;
/// How many characters of a server's reason are told.
const REASON_CHARS_MAX: usize = 80;

/// An authorization server, as `agentic.oauth.NAME.*` of git's configuration has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AuthorizationServer {
    pub name: String,
    pub authorize_url: String,
    pub token_url: String,
    pub client_id: String,
}

/// What a server granted.
#[derive(Debug, Clone)]
pub(super) struct GrantedTokens {
    pub access: CredentialSecret,
    pub refresh: Option<CredentialSecret>,
    /// When the access ends, in milliseconds since 1970.
    pub ends_at: Option<i64>,
}

impl AuthorizationServer {
    pub fn configured(settings: &Settings, name: &str) -> Result<AuthorizationServer> {
        let setting = |key: &str| {
            let full = format!("agentic.oauth.{name}.{key}");
            settings.configured(&full).ok_or_else(|| Error::Configuration {
                what: format!("`{name}` is not set up: `git config {full}` names nothing"),
            })
        };
        Ok(AuthorizationServer {
            name: name.to_owned(),
            authorize_url: setting("authorizeUrl")?,
            token_url: setting("tokenUrl")?,
            client_id: setting("clientId")?,
        })
    }
}

/// A server that is asked, as long as somebody waits.
pub(super) struct TimedServer<'a> {
    pub provider: &'a AuthorizationServer,
    pub cancel: &'a CancelFlag,
}

impl TimedServer<'_> {
    /// Changes a code into tokens; the verifier proves that whoever asked for the code is here.
    pub fn exchange(
        &self,
        code: &CredentialSecret,
        verifier: &CredentialSecret,
        redirect: &str,
        now: i64,
    ) -> Result<GrantedTokens> {
        self.grant(
            &[
                ("grant_type", "authorization_code"),
                ("code", code.expose()),
                ("redirect_uri", redirect),
                ("client_id", &self.provider.client_id),
                ("code_verifier", verifier.expose()),
            ],
            now,
        )
    }

    /// Asks for new tokens.
    pub fn refresh(&self, renewal: &CredentialSecret, now: i64) -> Result<GrantedTokens> {
        self.grant(
            &[
                ("grant_type", "refresh_token"),
                ("refresh_token", renewal.expose()),
                ("client_id", &self.provider.client_id),
            ],
            now,
        )
    }

    fn grant(&self, fields: &[(&str, &str)], now: i64) -> Result<GrantedTokens> {
        let said = self.post(fields).map_err(|fault| self.refused(reason(&fault)))?;
        self.read(said, now)
    }

    /// Sends a form; returns the status and the body of the reply.
    fn post(&self, fields: &[(&str, &str)]) -> std::result::Result<(u16, Vec<u8>), HttpFault> {
        let fields: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", percent_encoded(value)))
            .collect();
        let headers =
            [("content-type", "application/x-www-form-urlencoded"), ("accept", "application/json")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let received = Client::new(SERVER_LIMIT, self.cancel).send(&HttpMessage {
            method: "POST",
            url: &self.provider.token_url,
            headers: &headers,
            body: Some(fields.join("&").as_bytes()),
        })?;
        let status = received.status;
        Ok((status, received.read_all(REPLY_BYTES_MAX)?))
    }

    fn refused(&self, reason: &str) -> Error {
        Error::Refused { provider: self.provider.name.clone(), reason: reason.to_owned() }
    }

    fn read(&self, (status, body): (u16, Vec<u8>), now: i64) -> Result<GrantedTokens> {
        let refused = |reason: &str| self.refused(reason);
        let said = std::str::from_utf8(&body).ok().and_then(|text| json::from_text(text).ok());
        let said = said.ok_or_else(|| refused(&format!("it answered {status} without JSON")))?;
        let text =
            |key: &str| said.get(key).and_then(Value::as_text).filter(|text| !text.is_empty());
        if !(200..300).contains(&status) {
            // Only the code of the error is told: a description may repeat what was sent.
            let is_code = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let code =
                text("error").filter(|code| code.chars().all(is_code)).unwrap_or("no reason");
            let code: String = code.chars().take(REASON_CHARS_MAX).collect();
            return Err(refused(&format!("it answered {status}, {code}")));
        }
        let is_bearer = text("token_type").is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
        if !is_bearer {
            return Err(refused("it granted another type of token than `bearer`"));
        }
        let seconds = said.get("expires_in").and_then(Value::as_int);
        Ok(GrantedTokens {
            access: CredentialSecret::new(
                text("access_token").ok_or_else(|| refused("it sent no token"))?,
            ),
            refresh: text("refresh_token").map(CredentialSecret::new),
            ends_at: seconds.map(|seconds| now.saturating_add(seconds.saturating_mul(1_000))),
        })
    }
}

/// Says why nothing came back, without anything that was sent.
fn reason(fault: &HttpFault) -> &'static str {
    match fault {
        HttpFault::Malformed(_) | HttpFault::Unreachable(_) | HttpFault::Transport(_) => {
            "it cannot be reached"
        }
        HttpFault::TimedOut(_) => "it took too long",
        HttpFault::Cancelled => "nobody waits for it any more",
        HttpFault::TooLong(_) => "it said too much",
    }
}
