//! Credentials: their sources, the store, and authorizations against a server of our own.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use agentic_plan::AuthSource;
use agentic_providers::credential::{Authorization, CredentialCaller, Keyring, Settings};
use agentic_providers::endpoint::{EndpointCall, EndpointReply, Exchange};
use agentic_providers::executable::{Executable, ProgramOutcome};
use agentic_providers::host::CancelFlag;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use tempfile::TempDir;

use crate::loopback::{Asked, Server, json};

const SECRET: &str = "hunter2-hunter2";
const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const LIMIT: Duration = Duration::from_secs(10);

/// A folder with a configuration of git, and the variables of a run in it.
struct Place {
    folder: TempDir,
    variables: BTreeMap<String, String>,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let tokens = folder.path().join("tokens").display().to_string();
        let variables = [("AGENTIC_TOKENS", tokens.as_str()), ("AGENTIC_TOKEN_KEY", KEY)];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let place = Place { variables: variables.into(), folder };
        place.git(&["init", "--quiet"]);
        place
    }

    fn with(mut self, name: &str, value: &str) -> Place {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    fn git(&self, arguments: &[&str]) {
        let status = Command::new("git").args(arguments).current_dir(self.path()).status();
        assert!(status.expect("git is there").success(), "{arguments:?}");
    }

    fn provider(&self, url: &str) {
        self.git(&["config", "agentic.oauth.mail.authorizeUrl", "https://mail.example/authorize"]);
        self.git(&["config", "agentic.oauth.mail.tokenUrl", &format!("{url}/token")]);
        self.git(&["config", "agentic.oauth.mail.clientId", "agentic"]);
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        let path = self.path().join(name);
        std::fs::write(&path, text).expect("the folder can be written");
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&path, permissions).expect("the file is ours");
    }

    fn settings(&self) -> Settings {
        Settings::with_variables(self.path().to_owned(), self.variables.clone())
    }

    fn caller(&self, auth: AuthSource, identity: Option<&str>) -> CredentialCaller {
        let keyring = Keyring::new(self.settings(), identity.map(str::to_owned));
        CredentialCaller { keyring, auth, run: "run 1".to_owned() }
    }

    /// Looks a credential up and says what came of it.
    fn found(&self, auth: AuthSource, identity: Option<&str>) -> String {
        let keyring = Keyring::new(self.settings(), identity.map(str::to_owned));
        match keyring.look_up(&auth, "run 1", &CancelFlag::new()) {
            Ok(Some(credential)) => credential.expose().to_owned(),
            Ok(None) => "nothing".to_owned(),
            Err(error) => {
                assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
                error.code().to_owned()
            }
        }
    }

    /// Authorizes `user:alice`, with a browser that answers by `browse`.
    fn login(&self, browse: impl Fn(&str) -> String + Send + 'static) -> Result<String, String> {
        let scopes = vec!["mail.read".to_owned(), "mail.send".to_owned()];
        let begun = Authorization::begin(self.settings(), "user:alice", "mail", scopes);
        let begun = begun.map_err(|error| error.code().to_owned())?;
        let address = begun.address();
        let browser = std::thread::spawn(move || visit(&browse(&address)));
        let finished = begun.finish(LIMIT).map_err(|error| error.code().to_owned());
        browser.join().expect("the browser does not panic");
        finished
    }
}

fn oauth() -> AuthSource {
    AuthSource::OAuth { provider: "mail".to_owned(), scopes: Vec::new() }
}

/// Opens an address of this machine.
fn visit(address: &str) {
    let rest = address.strip_prefix("http://").expect("a loopback address");
    let (host, target) = rest.split_once('/').expect("an address has a path");
    let mut stream = TcpStream::connect(host).expect("somebody listens");
    write!(stream, "GET /{target} HTTP/1.1\r\nhost: {host}\r\n\r\n").expect("it can be sent");
    let _ = stream.read_to_end(&mut Vec::new());
}

/// Returns a field of the query of an address, decoded.
fn query(address: &str, name: &str) -> String {
    let (_, fields) = address.split_once('?').expect("an address with a query");
    let mut pairs = fields.split('&').filter_map(|pair| pair.split_once('='));
    let value = pairs.find(|(key, _)| *key == name).map_or("", |(_, value)| value);
    value.replace("%3A", ":").replace("%2F", "/").replace("%20", " ")
}

/// Comes back with a code, as a person does who agreed.
fn agree(address: &str) -> String {
    format!("{}?state={}&code=c0de", query(address, "redirect_uri"), query(address, "state"))
}

fn granted(token: &str, more: &str) -> Vec<u8> {
    json("200 OK", &format!(r#"{{"access_token":"{token}","token_type":"Bearer"{more}}}"#))
}

/// Everything in a folder as one text.
fn everything(folder: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            all.push_str(&everything(&entry.path()));
        } else {
            let bytes = std::fs::read(entry.path()).expect("the file is ours");
            all.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    all
}

#[test]
fn a_variable_is_a_credential_if_it_is_set() {
    let place = Place::new().with("TOKEN", SECRET).with("EMPTY", "");
    let check = |var: &str, wanted: &str| {
        assert_eq!(place.found(AuthSource::Env { var: var.to_owned() }, None), wanted, "{var}");
    };
    check("TOKEN", SECRET);
    check("EMPTY", "MissingCredential");
    check("ABSENT", "MissingCredential");
    assert_eq!(place.found(AuthSource::None, None), "nothing");
}

#[test]
fn a_file_is_a_credential_if_nobody_else_can_read_it() {
    let place = Place::new();
    place.write("good", &format!("{SECRET}\n"), 0o600);
    place.write("bare", SECRET, 0o400);
    place.write("open", SECRET, 0o644);
    place.write("group", SECRET, 0o640);
    place.write("empty", "\n", 0o600);
    let check = |path: &str, wanted: &str| {
        assert_eq!(place.found(AuthSource::File { path: path.to_owned() }, None), wanted, "{path}");
    };
    check("good", SECRET);
    check("bare", SECRET);
    check("open", "InsecureCredentialFile");
    check("group", "InsecureCredentialFile");
    check("empty", "MissingCredential");
    check("absent", "MissingCredential");
}

#[test]
fn a_command_prints_a_credential() {
    let check = |line: Option<&str>, wanted: &str| {
        let place = Place::new();
        if let Some(line) = line {
            place.git(&["config", "agentic.secretCommand", line]);
        }
        let source = AuthSource::Secret { name: "mail key".to_owned() };
        assert_eq!(place.found(source, None), wanted, "{line:?}");
    };
    check(Some("test \"$1\" = 'mail key' && echo hunter2-hunter2"), SECRET);
    check(Some("echo hunter2-hunter2 >&2; false"), "MissingCredential");
    check(Some("true"), "MissingCredential");
    check(Some("printf '\\377'"), "MissingCredential");
    check(Some("yes"), "MissingCredential");
    check(None, "ConfigurationError");
}

#[test]
fn an_authorization_ends_with_a_sealed_token() {
    let place = Place::new();
    let server = Server::new(1, |_, _| granted(SECRET, ""));
    place.provider(&server.url);
    let (tell, told) = std::sync::mpsc::channel();
    let browse = move |address: &str| {
        tell.send(address.to_owned()).expect("somebody listens");
        agree(address)
    };
    assert_eq!(place.login(browse), Ok("user:alice".to_owned()));
    let address = told.recv().expect("the browser was opened");
    assert!(address.starts_with("https://mail.example/authorize?response_type=code"), "{address}");
    assert_eq!(query(&address, "scope"), "mail.read mail.send");
    assert_eq!(query(&address, "code_challenge_method"), "S256");
    assert_eq!(query(&address, "state").len(), 43);
    let asked: Vec<Asked> = server.finish();
    let verifier = asked[0].field("code_verifier").expect("a verifier is sent");
    let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
    assert_eq!(query(&address, "code_challenge"), challenge);
    assert_eq!(asked[0].field("code").as_deref(), Some("c0de"));
    assert_eq!(place.found(oauth(), Some("user:alice")), SECRET);
    assert_eq!(place.found(oauth(), Some("user:bob")), "MissingCredential");
    assert_eq!(place.found(oauth(), None), "MissingIdentity");
    let kept = everything(place.path());
    assert!(!kept.contains(SECRET) && !kept.contains("alice"), "a token stands in the open");
    let keyring = Keyring::new(place.settings(), None);
    let listed = keyring.list().expect("the store is whole");
    assert_eq!(listed, [("user:alice".to_owned(), "mail".to_owned())]);
    assert!(keyring.forget("user:alice", "mail").expect("the store is whole"));
    assert_eq!(place.found(oauth(), Some("user:alice")), "MissingCredential");
}

#[test]
fn an_answer_to_another_question_is_refused() {
    let check = |browse: fn(&str) -> String, wanted: &str| {
        let place = Place::new();
        place.provider("http://127.0.0.1:1");
        assert_eq!(place.login(browse), Err(wanted.to_owned()));
    };
    check(|address| format!("{}?state=x&code=c", query(address, "redirect_uri")), "CsrfViolation");
    check(|address| format!("{}?code=c", query(address, "redirect_uri")), "CsrfViolation");
    let denied = |address: &str| {
        let (redirect, state) = (query(address, "redirect_uri"), query(address, "state"));
        format!("{redirect}?state={state}&error=access_denied")
    };
    check(denied, "MissingCredential");
    // The person agreed, and the server cannot be reached.
    check(agree, "MissingCredential");
}

#[test]
fn nobody_is_waited_for_for_ever() {
    let place = Place::new();
    place.provider("http://127.0.0.1:1");
    let begun = Authorization::begin(place.settings(), "user:alice", "mail", Vec::new());
    let ended = begun.expect("it is set up").finish(Duration::from_millis(50));
    assert_eq!(ended.expect_err("nobody came").code(), "CallbackTimeout");
}

#[test]
fn what_is_not_set_up_is_told_before_anybody_is_asked() {
    let place = Place::new();
    let code = |place: &Place| {
        let begun = Authorization::begin(place.settings(), "user:alice", "mail", Vec::new());
        begun.err().map(|error| error.code())
    };
    assert_eq!(code(&place), Some("ConfigurationError"));
    place.provider("http://127.0.0.1:1");
    assert_eq!(code(&place), None);
    for key in ["", "00", "zz0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"] {
        let place = Place::new().with("AGENTIC_TOKEN_KEY", key);
        place.provider("http://127.0.0.1:1");
        assert_eq!(code(&place), Some("ConfigurationError"), "{key}");
    }
}

/// Stores a token that was granted with `more`.
fn authorized(more: &'static str) -> Place {
    let place = Place::new();
    let server = Server::new(1, move |_, _| granted("old-token-old", more));
    place.provider(&server.url);
    place.login(agree).expect("it is granted");
    server.finish();
    place
}

#[test]
fn a_token_is_renewed_before_its_end() {
    let place = authorized(r#","refresh_token":"renewal-1","expires_in":1"#);
    let server = Server::new(1, |_, _| granted(SECRET, r#","expires_in":3600"#));
    place.provider(&server.url);
    assert_eq!(place.found(oauth(), Some("user:alice")), SECRET);
    assert_eq!(place.found(oauth(), Some("user:alice")), SECRET);
    let asked = server.finish();
    assert_eq!(asked[0].field("grant_type").as_deref(), Some("refresh_token"));
    assert_eq!(asked[0].field("refresh_token").as_deref(), Some("renewal-1"));
}

#[test]
fn a_token_that_has_ended_and_cannot_be_renewed_is_missing() {
    let place = authorized(r#","expires_in":1"#);
    assert_eq!(place.found(oauth(), Some("user:alice")), "MissingCredential");
    let place = authorized(r#","refresh_token":"renewal-1","expires_in":1"#);
    let server = Server::new(1, |_, _| json("400 Bad Request", r#"{"error":"invalid_grant"}"#));
    place.provider(&server.url);
    assert_eq!(place.found(oauth(), Some("user:alice")), "MissingCredential");
    server.finish();
}

#[test]
fn a_store_with_another_key_or_a_damaged_file_is_told() {
    let place = authorized("");
    let other = "ff".repeat(32);
    let place = place.with("AGENTIC_TOKEN_KEY", &other);
    assert_eq!(place.found(oauth(), Some("user:alice")), "ConfigurationError");
    let place = place.with("AGENTIC_TOKEN_KEY", KEY);
    let tokens = std::fs::read_dir(place.path().join("tokens")).expect("there is a store");
    let file = tokens.flatten().next().expect("it has a token").path();
    let whole = std::fs::read(&file).expect("the file is ours");
    for n_bytes in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[n_bytes] ^= 1;
        std::fs::write(&file, &damaged).expect("the file is ours");
        assert_eq!(place.found(oauth(), Some("user:alice")), "ConfigurationError", "{n_bytes}");
        std::fs::write(&file, &whole[..n_bytes]).expect("the file is ours");
        assert_eq!(place.found(oauth(), Some("user:alice")), "ConfigurationError", "{n_bytes}");
    }
}

fn exchange(url: &str) -> Exchange {
    let call = EndpointCall { url: url.to_owned(), method: "POST".to_owned(), body: b"1".to_vec() };
    Exchange { call, key: "k".to_owned(), headers: Vec::new(), limit: LIMIT }
}

#[test]
fn an_endpoint_that_refuses_a_token_is_asked_once_more_with_a_new_one() {
    let check = |second: &'static str, wanted: u16| {
        let place = authorized(r#","refresh_token":"renewal-1""#);
        let server = Server::new(3, move |n, asked| match n {
            0 => json("401 Unauthorized", "\"no\""),
            1 => granted(SECRET, ""),
            _ => json(second, &format!("\"{}\"", asked.header("authorization").unwrap_or(""))),
        });
        place.provider(&server.url);
        let caller = place.caller(oauth(), Some("user:alice"));
        let reply =
            caller.call(exchange(&server.url), &CancelFlag::new()).expect("there is a token");
        let EndpointReply::Said { status, body } = reply else { panic!("{reply:?}") };
        assert_eq!(status, wanted);
        let said = String::from_utf8_lossy(&body);
        assert!(said.starts_with("\"Bearer secret-") && !said.contains(SECRET), "{said}");
        let asked = server.finish();
        assert_eq!(asked[0].header("authorization"), Some("Bearer old-token-old"));
        assert_eq!(asked[2].header("authorization"), Some("Bearer hunter2-hunter2"));
    };
    check("200 OK", 200);
    check("401 Unauthorized", 401);
}

#[test]
fn a_program_finds_its_credential_and_nobody_hears_of_it() {
    let place = Place::new().with("TOKEN", "say \"hunter2\"");
    let caller = place.caller(AuthSource::Env { var: "TOKEN".to_owned() }, None);
    let run = |script: &str| {
        let executable = Executable {
            argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
            folder: place.path().to_owned(),
            input: Vec::new(),
            environment: Vec::new(),
            limit: LIMIT,
        };
        caller.execute(executable, &CancelFlag::new()).expect("there is a credential")
    };
    let said = match run("printf '%s' \"$AGENTIC_CREDENTIAL\"") {
        ProgramOutcome::Done(printed) => String::from_utf8_lossy(&printed).into_owned(),
        other @ (ProgramOutcome::Crashed { .. }
        | ProgramOutcome::Lost(_)
        | ProgramOutcome::Flooded
        | ProgramOutcome::TimedOut
        | ProgramOutcome::Stopped) => panic!("{other:?}"),
    };
    assert!(said.starts_with("secret-"), "{said}");
    let escaped = r#"printf '"%s"' 'say \"hunter2\"'"#;
    let ProgramOutcome::Done(printed) = run(escaped) else { panic!("it ends well") };
    assert!(!String::from_utf8_lossy(&printed).contains("hunter2"));
    let ProgramOutcome::Crashed { complaint, .. } = run("echo \"$AGENTIC_CREDENTIAL\" >&2; exit 3")
    else {
        panic!("it fails")
    };
    assert!(complaint.starts_with("secret-"), "{complaint}");
}
