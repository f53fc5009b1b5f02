//! Asking a person for leave: the code grant with PKCE, answered on a loopback address.
//!
//! The person opens an address of the authorization server, which sends them back here with a
//! code. The state tells their answer from anybody else's; the code is worth nothing without the
//! verifier, which never leaves this process before it is changed into tokens. Those go into the
//! store and nowhere else.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use agentic_plan::{CredentialError, CredentialSecret};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use percent_encoding::percent_decode_str;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

use super::oauth::{AuthorizationServer, TimedServer};
use super::settings::Settings;
use super::store::{SealedTokens, TokenStore};
use super::{Error, Result};
use crate::host::CancelFlag;
use crate::http::percent_encoded;

/// How long the person may take.
pub const CALLBACK_LIMIT: Duration = Duration::from_secs(30 * 60);
/// How long whoever connects may take to say what they want.
const REQUEST_LIMIT: Duration = Duration::from_secs(5);
/// The longest request line, in bytes.
const REQUEST_BYTES_MAX: u64 = 16 << 10;
/// What ends the head of a request.
const EMPTY_LINE: &str = "\r\n";
/// How often it is looked whether somebody came back.
const POLL: Duration = Duration::from_millis(20);
/// How many random bytes state and verifier have.
const RANDOM_BYTES: usize = 32;
/// Where the server sends people back to.
const CALLBACK_PATH: &str = "/callback";

/// An authorization that waits for its person.
pub struct Authorization {
    settings: Settings,
    provider: AuthorizationServer,
    identity: String,
    listener: TcpListener,
    redirect: String,
    state: String,
    verifier: CredentialSecret,
    scopes: Vec<String>,
}

impl Authorization {
    /// Begins an authorization of somebody at a provider.
    ///
    /// # Errors
    /// Fails when the provider is not set up, when the tokens could not be stored, and when there
    /// is no loopback address to come back to.
    pub fn begin(
        settings: Settings,
        identity: &str,
        provider: &str,
        scopes: Vec<String>,
    ) -> Result<Authorization> {
        let provider = AuthorizationServer::configured(&settings, provider)?;
        // A person is not asked for what could not be kept.
        TokenStore::open(&settings)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(no_address)?;
        let port = listener.local_addr().map_err(no_address)?.port();
        listener.set_nonblocking(true).map_err(no_address)?;
        Ok(Authorization {
            settings,
            provider,
            identity: identity.to_owned(),
            listener,
            redirect: format!("http://127.0.0.1:{port}{CALLBACK_PATH}"),
            state: random()?,
            verifier: CredentialSecret::new(random()?),
            scopes,
        })
    }

    /// Returns the address that the person is to open.
    pub fn address(&self) -> String {
        let challenge = digest(&SHA256, self.verifier.expose().as_bytes());
        let scope = self.scopes.join(" ");
        let fields = [
            ("response_type", "code"),
            ("client_id", &self.provider.client_id),
            ("redirect_uri", &self.redirect),
            ("state", &self.state),
            ("code_challenge", &URL_SAFE_NO_PAD.encode(challenge)),
            ("code_challenge_method", "S256"),
            ("scope", &scope),
        ];
        let given = fields.iter().filter(|(_, value)| !value.is_empty());
        let query: Vec<String> =
            given.map(|(name, value)| format!("{name}={}", percent_encoded(value))).collect();
        let mark = if self.provider.authorize_url.contains('?') { '&' } else { '?' };
        format!("{}{mark}{}", self.provider.authorize_url, query.join("&"))
    }

    /// Waits for the person, changes the code into tokens and stores them. Gives the identity.
    ///
    /// # Errors
    /// Fails when nobody answers in time, when the answer belongs to another question, and when
    /// the person or the server refuses.
    pub fn finish(self, limit: Duration) -> Result<String> {
        let code = self.wait(limit)?;
        let now = self.settings.now();
        let server = TimedServer { provider: &self.provider, cancel: &CancelFlag::new() };
        let tokens = server.exchange(&code, &self.verifier, &self.redirect, now)?;
        let Authorization { settings, provider, identity, .. } = self;
        let sealed = SealedTokens { identity: identity.clone(), provider: provider.name, tokens };
        TokenStore::open(&settings)?.put(&sealed)?;
        Ok(identity)
    }

    fn wait(&self, limit: Duration) -> Result<CredentialSecret> {
        let deadline = Instant::now() + limit;
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if let Some(answer) = self.receive(stream) {
                        return answer;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    if Instant::now() >= deadline {
                        return Err(CredentialError::CallbackTimeout.into());
                    }
                    std::thread::sleep(POLL);
                }
                Err(error) => return Err(no_address(error)),
            }
        }
    }

    /// Reads one request; nothing if it is not the answer that is waited for.
    fn receive(&self, stream: TcpStream) -> Option<Result<CredentialSecret>> {
        stream.set_nonblocking(false).ok()?;
        stream.set_read_timeout(Some(REQUEST_LIMIT)).ok()?;
        stream.set_write_timeout(Some(REQUEST_LIMIT)).ok()?;
        let (mut line, mut rest) = (String::new(), String::new());
        let mut reader = BufReader::new((&stream).take(REQUEST_BYTES_MAX));
        reader.read_line(&mut line).ok()?;
        // Whoever is cut off while they still speak may not hear the answer.
        while reader.read_line(&mut rest).is_ok_and(|n_bytes| n_bytes > EMPTY_LINE.len()) {
            rest.clear();
        }
        let target = line.strip_prefix("GET ")?.split(' ').next()?;
        let query = target.strip_prefix(CALLBACK_PATH)?.strip_prefix('?');
        let Some(query) = query else {
            respond(stream, "400 Bad Request", "This is not an answer.");
            return None;
        };
        let field = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(key, _)| *key == name).map(|(_, value)| percent_decoded(value)).next()
        };
        let answer = match (field("state"), field("code"), field("error")) {
            (Some(state), ..) if !is_same(&state, &self.state) => {
                Err(CredentialError::CsrfViolation.into())
            }
            (None, ..) => Err(CredentialError::CsrfViolation.into()),
            (Some(_), Some(code), _) if !code.is_empty() => Ok(CredentialSecret::new(code)),
            (Some(_), _, reason) => Err(Error::Refused {
                provider: self.provider.name.clone(),
                reason: refusal(reason.as_deref().unwrap_or_default()),
            }),
        };
        let (status, text) = match &answer {
            Ok(_) => ("200 OK", "Thank you. You may close this page."),
            Err(_) => ("400 Bad Request", "This was not granted. You may close this page."),
        };
        respond(stream, status, text);
        Some(answer)
    }
}

fn refusal(code: &str) -> String {
    let known = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if code.is_empty() || !code.chars().all(known) {
        return "it was refused".to_owned();
    }
    format!("it was refused with `{}`", code.chars().take(80).collect::<String>())
}

/// Compares without telling by its duration how much was right.
fn is_same(left: &str, right: &str) -> bool {
    let differs = left.bytes().zip(right.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
    left.len() == right.len() && differs == 0
}

fn respond(mut stream: TcpStream, status: &str, text: &str) {
    let length = text.len();
    // The person's browser may have gone away; their answer counts all the same.
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    );
}

fn random() -> Result<String> {
    let mut bytes = [0; RANDOM_BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| Error::Configuration { what: "the system gives no randomness".to_owned() })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Decodes a value of a query, in which a plus stands for a blank.
fn percent_decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

fn no_address(error: std::io::Error) -> Error {
    Error::Configuration { what: format!("there is no address to come back to: {error}") }
}
