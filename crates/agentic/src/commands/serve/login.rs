//! Logging in at the page of a repository as another person than the one who serves it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use agentic_api::Refusal;
use agentic_api::verb::{LOGIN_NAMESPACE, LoginText};
use agentic_api::view::ServeAddressView;
use agentic_resident::{ResidentReply, post_to_page};
use agentic_session::SessionSpace;
use agentic_web::{PageCode, UNSAID_PORT, name_with_port};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::commands::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;

/// How long an answer of the page may take.
const ANSWER_WAIT: Duration = Duration::from_secs(20);

/// Who logs in, and where.
#[derive(Debug, clap::Args)]
pub struct LoginArgs {
    /// The address of the page, such as http://a-….localhost:42001
    #[arg(value_parser = page_address)]
    url: PageAddress,
    /// Who you are there, such as user:ada; else as git knows you here
    #[arg(long = "as", value_name = "PRINCIPAL")]
    principal: Option<String>,
    /// The key of SSH that signs; else the one that signs commits here
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

/// Where a page is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PageAddress {
    host: String,
    port: u16,
}

/// What the page gives to sign.
#[derive(Debug, Deserialize)]
struct GivenChallenge {
    challenge: String,
}

impl PageAddress {
    /// Returns the name that the page has, which is what is signed.
    fn name(&self) -> String {
        name_with_port(&self.host, self.port)
    }
}

/// Reads an address. Names below `localhost` mean this machine, where a tunnel may begin, as does
/// `127.0.0.1`, where a page is that was asked to be there.
fn page_address(text: &str) -> Result<PageAddress, String> {
    let found = text.strip_prefix("http://").and_then(|rest| {
        let name = rest.split(['/', '#', '?']).next()?;
        let (host, port) = match name.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().ok()?),
            None => (name, UNSAID_PORT),
        };
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
        let is_below = host.ends_with(".localhost") && host.chars().all(is_name);
        let is_ours = is_below || host == "127.0.0.1";
        is_ours.then_some(PageAddress { host: host.to_owned(), port })
    });
    found.ok_or_else(|| {
        "say the address that `agentic serve` prints: http://a-….localhost:PORT".to_owned()
    })
}

/// Signs what the page gives, and prints the address that logs in.
pub fn run(context: &Context, args: LoginArgs) -> VerbOutcome {
    let anywhere = PersonalSpace::open(context)?;
    let space = &anywhere.space;
    let caller = context.caller(space);
    caller.require_person("log in")?;
    let principal = args.principal.map_or_else(|| caller.principal(), Ok)?;
    let PageAddress { host, port } = &args.url;
    let ask = |path: &str, body: &Json| -> Result<ResidentReply, CommandFailure> {
        let reply = post_to_page(host, *port, path, body, ANSWER_WAIT);
        let reply = reply.map_err(|error| unreached(&args.url, &error))?;
        if reply.status == 200 { Ok(reply) } else { Err(refused(&reply).into()) }
    };
    let broken = |error: serde_json::Error| {
        let message = format!("the page speaks another language: {error}");
        Refusal::refused(&message, "it may be of another version than this program")
    };
    let given = ask("/login/challenge", &json!({}))?;
    let GivenChallenge { challenge } = serde_json::from_slice(&given.body).map_err(broken)?;
    let named = args.url.name();
    let text = LoginText { host: &named, principal: &principal, challenge: &challenge }.text();
    let key = args.key.map(|key| caller.path(&key));
    let signature = space.repository().sign_text(&text, LOGIN_NAMESPACE, key.as_deref());
    let signature = signature.map_err(|error| {
        let hint = "name a key with `--key FILE`, or set gpg.format to ssh and user.signingKey";
        Refusal::refused(&error.to_string(), hint)
    })?;
    let signed = json!({ "principal": principal, "challenge": challenge, "signature": signature });
    let code: PageCode =
        serde_json::from_slice(&ask("/login/key", &signed)?.body).map_err(broken)?;
    let address = format!("http://{named}/login#{}", code.code);
    context.format.answer(&ServeAddressView { address }, |view| view.address.clone());
    Ok(ExitCode::SUCCESS)
}

/// Where git says who a person is: the repository here or, where there is none, an empty one that goes away
/// with the command. What the person's own configuration says holds in both.
struct PersonalSpace {
    space: SessionSpace,
    _folder: Option<TempDir>,
}

impl PersonalSpace {
    fn open(context: &Context) -> Result<PersonalSpace, CommandFailure> {
        if let Some(space) = context.space_if_any()? {
            return Ok(PersonalSpace { space, _folder: None });
        }
        let folder = empty_repository();
        let folder = folder.map_err(|error| CommandFailure::io("make a folder", &error))?;
        let space = context.at(folder.path().to_owned()).space_as_is()?;
        Ok(PersonalSpace { space, _folder: Some(folder) })
    }
}

/// Makes as much of a bare repository as git asks for.
fn empty_repository() -> std::io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("agentic-").tempdir()?;
    for part in ["objects", "refs"] {
        std::fs::create_dir(folder.path().join(part))?;
    }
    std::fs::write(folder.path().join("config"), "[core]\n\tbare = true\n")?;
    std::fs::write(folder.path().join("HEAD"), "ref: refs/heads/main\n")?;
    Ok(folder)
}

/// Says that nobody serves a page there.
fn unreached(url: &PageAddress, error: &std::io::Error) -> Refusal {
    let hint = "look there whether it runs with `agentic serve status`, and whether a tunnel \
                leads to its port; `agentic serve` starts it";
    let message = format!("no page answers at http://{}", url.name());
    let mut refusal = Refusal::refused(&message, hint);
    refusal.because = Some(error.to_string());
    refusal
}

/// Says why the page gave nothing.
fn refused(reply: &ResidentReply) -> Refusal {
    let said: Json = serde_json::from_slice(&reply.body).unwrap_or_default();
    let text = |name: &str| said["error"][name].as_str().map(str::to_owned);
    let message = text("message").unwrap_or_else(|| match reply.status {
        421 => "another page is there, or none".to_owned(),
        status => format!("the page answers with {status}"),
    });
    let hint = text("hint").unwrap_or_else(|| "look whether the address is right".to_owned());
    match reply.status {
        403 => Refusal::not_allowed(&message, &hint),
        _ => Refusal::refused(&message, &hint),
    }
}

#[cfg(test)]
mod tests {
    use super::{PageAddress, page_address};

    #[test]
    fn addresses_are_names_below_localhost() {
        let ada = PageAddress { host: "a-b2.localhost".to_owned(), port: 42_001 };
        for text in ["http://a-b2.localhost:42001", "http://a-b2.localhost:42001/login"] {
            assert_eq!(page_address(text), Ok(ada.clone()), "{text}");
        }
        assert_eq!(ada.name(), "a-b2.localhost:42001");
        let unsaid = PageAddress { port: 80, ..ada };
        for text in ["http://a-b2.localhost", "http://a-b2.localhost:80/login#x"] {
            assert_eq!(page_address(text), Ok(unsaid.clone()), "{text}");
        }
        assert_eq!(unsaid.name(), "a-b2.localhost");
        let plain = PageAddress { host: "127.0.0.1".to_owned(), port: 42_001 };
        assert_eq!(page_address("http://127.0.0.1:42001"), Ok(plain));
        for text in [
            "http://127.0.0.2:42001",
            "http://localhost:42001",
            "https://a-b2.localhost:42001",
            "http://a-b2.localhost:",
            "http://evil.example:42001",
            "http://a@b.localhost:42001",
            "http://a.localhost:99999",
            "a-b2.localhost:42001",
        ] {
            assert!(page_address(text).is_err(), "{text}");
        }
    }
}
