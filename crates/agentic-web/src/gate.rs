//! Which requests are heard at all, and what every answer says to a browser.
//!
//! Other pages in the same browser, other servers on this machine and names that lead here are kept
//! out by the host, the origin and the login; the head of every answer forbids whatever the page does
//! not need.

use agentic_api::{ProvenPerson, Refusal};
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HOST, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse as _, Response};

use crate::api::failed_as;
use crate::entrance::{RequestEntrance, SocketPeer};
use crate::host::SOCKET_HOST;
use crate::login::{Login, LoginRole};
use crate::page;
use crate::site::{SharedSite, WebSite};

/// The longest address that is read, in bytes.
const ADDRESS_BYTES_MAX: usize = 4 << 10;
/// The longest content that is read of somebody who is not logged in, in bytes: a code or a
/// signature.
const STRANGER_BYTES_MAX: usize = 16 << 10;
/// Where the protocol of programs is: under every name, and to tokens alone.
pub const PROTOCOL_PATH: &str = "/mcp";
/// Where somebody logs in by a key: a command of theirs asks, which has no origin.
pub const LOGIN_PATHS: [&str; 2] = ["/login/challenge", "/login/key"];
/// Where the API is: programs read its refusals.
const API: &str = "/api";
/// What is heard, where that is told.
const METHODS: &str = "GET, HEAD, POST";
/// In which a browser says whose page asks.
const FETCH_SITE: &str = "sec-fetch-site";
/// The cookie of a login.
pub const LOGIN_COOKIE: &str = "agentic";
/// What a browser may do with anything of ours.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

/// The login of those who ask through the socket.
pub const SOCKET_LOGIN: &str = "socket";

/// Who asks.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// The login, if there is one.
    pub login: Option<Login>,
}

impl Visitor {
    /// Says whether this visitor may look.
    pub fn may_read(&self) -> bool {
        self.login.is_some()
    }

    /// Says whether this visitor may answer holds.
    pub fn may_decide(&self) -> bool {
        self.login.as_ref().is_some_and(|login| login.role == LoginRole::Decide)
    }

    /// Returns who they have shown to be; nobody where they are the person of this repository.
    pub fn person(&self) -> Option<ProvenPerson> {
        self.login.as_ref().and_then(|login| login.person.clone())
    }

    /// Returns what forms are bound to.
    pub fn form_owner(&self) -> &str {
        self.login.as_ref().map_or("", |login| &login.id)
    }
}

/// Hears a request or refuses it, and says what a browser may do with the answer.
pub async fn guard(State(site): State<SharedSite>, mut request: Request, next: Next) -> Response {
    let entrance =
        request.extensions().get::<RequestEntrance>().copied().unwrap_or(RequestEntrance::Tcp);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let begun = std::time::Instant::now();
    let mut response = match admit(&site, entrance, &request) {
        Ok(Admission::Elsewhere) => Html(page::elsewhere().into_string()).into_response(),
        Ok(Admission::Visitor(visitor)) => {
            let visitor = Visitor { login: still_in(&site, visitor.login).await };
            if visitor.login.is_none() && path != PROTOCOL_PATH {
                DefaultBodyLimit::max(STRANGER_BYTES_MAX).apply(&mut request);
            }
            request.extensions_mut().insert(visitor);
            next.run(request).await
        }
        Err(refusal) => refused(refusal, &path),
    };
    add_headers(response.headers_mut(), &path);
    let status = response.status().as_u16();
    tracing::debug!(%method, path, status, took = ?begun.elapsed(), "answered");
    response
}

/// Returns a login as long as its person may log in: who is taken off the list of keys is out at once.
pub async fn still_in(site: &WebSite, login: Option<Login>) -> Option<Login> {
    let login = login?;
    let Some(person) = login.person.clone() else { return Some(login) };
    match site.read(move |caller| person.is_still_known(caller)).await {
        Ok(true) => Some(login),
        Ok(false) => {
            site.logins.end(&login.id);
            None
        }
        // Nobody is let in whom nobody can look up.
        Err(_) => None,
    }
}

type GateRefusal = (StatusCode, &'static str);

/// Answers a request that is not heard.
fn refused((status, why): GateRefusal, path: &str) -> Response {
    let mut response = match is_for_programs(path) {
        true => failed_as(status, &refusal_of(status, why)),
        false => (status, format!("{why}\n")).into_response(),
    };
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static(METHODS));
    }
    response
}

/// Tells whether what is at an address is read by programs.
fn is_for_programs(path: &str) -> bool {
    is_below_api(path) || path == PROTOCOL_PATH || LOGIN_PATHS.contains(&path)
}

/// Tells whether an address is one of the API, or would be if there were one.
pub fn is_below_api(path: &str) -> bool {
    path.strip_prefix(API).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Says to a program why it is not heard.
fn refusal_of(status: StatusCode, why: &str) -> Refusal {
    let hint = "docs/api.md says how programs ask";
    match status {
        StatusCode::FORBIDDEN => Refusal::not_allowed(why, hint),
        _ => Refusal::usage(why, hint),
    }
}

/// What becomes of a request that is heard.
enum Admission {
    /// It is answered, to somebody who may be logged in.
    Visitor(Visitor),
    /// It came under a name that programs use: it is told where the page is to be had.
    Elsewhere,
}

fn admit(
    site: &WebSite,
    entrance: RequestEntrance,
    request: &Request<Body>,
) -> Result<Admission, GateRefusal> {
    let headers = request.headers();
    if request.uri().to_string().len() > ADDRESS_BYTES_MAX {
        // To whoever asks for a page it is an address like others that name nothing.
        return Err((StatusCode::BAD_REQUEST, "the address is too long"));
    }
    let is_program_name = check_host(site, entrance, request)?;
    let is_protocol = request.uri().path() == PROTOCOL_PATH;
    match *request.method() {
        // It looks at what was sent itself.
        Method::GET | Method::POST | Method::DELETE if is_protocol => {
            return Ok(Admission::Visitor(Visitor { login: None }));
        }
        Method::GET | Method::HEAD => {}
        Method::POST if LOGIN_PATHS.contains(&request.uri().path()) => {
            check_program(site, headers)?
        }
        Method::POST => check_post(site, entrance, headers)?,
        _ => return Err((StatusCode::METHOD_NOT_ALLOWED, "only GET, HEAD and POST are heard")),
    }
    if is_program_name {
        let wrong = (StatusCode::MISDIRECTED_REQUEST, "`agentic serve open` opens the page");
        return if request.uri().path() == "/" { Ok(Admission::Elsewhere) } else { Err(wrong) };
    }
    let login = match entrance {
        RequestEntrance::Tcp => cookie(headers).and_then(|secret| site.logins.find(&secret)),
        RequestEntrance::Socket(peer) => {
            Some(Login { id: SOCKET_LOGIN.to_owned(), role: role_of(peer), person: None })
        }
    };
    let may_decide = match entrance {
        RequestEntrance::Tcp => site.lets_logins_decide(),
        RequestEntrance::Socket(_) => !site.resident.options.is_read_only,
    };
    let login = login.map(|login| match may_decide {
        true => login,
        false => Login { role: LoginRole::Read, ..login },
    });
    Ok(Admission::Visitor(Visitor { login }))
}

fn role_of(peer: SocketPeer) -> LoginRole {
    match peer {
        SocketPeer::Person => LoginRole::Decide,
        SocketPeer::Agent => LoginRole::Read,
    }
}

/// Checks that a request means us. Tells whether it came under a name that programs use.
fn check_host(
    site: &WebSite,
    entrance: RequestEntrance,
    request: &Request<Body>,
) -> Result<bool, GateRefusal> {
    let wrong = (StatusCode::MISDIRECTED_REQUEST, "this is not the host that is asked for");
    let mut hosts = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(wrong) };
    let host = host.to_str().map_err(|_| wrong)?;
    // An address that names a host itself must name the same one.
    if request.uri().authority().is_some_and(|authority| authority.as_str() != host) {
        return Err(wrong);
    }
    match (entrance, &site.hosts) {
        (RequestEntrance::Socket(_), _) if host == SOCKET_HOST => Ok(false),
        (RequestEntrance::Tcp, Some(names)) if names.is_page(host) => Ok(false),
        (RequestEntrance::Tcp, Some(names)) if names.is_of_programs(host) => Ok(true),
        _ => Err(wrong),
    }
}

/// Checks that what is to be done was asked by our own page, or by a program of this user.
fn check_post(
    site: &WebSite,
    entrance: RequestEntrance,
    headers: &HeaderMap,
) -> Result<(), GateRefusal> {
    let content = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content = content.and_then(|value| value.split(';').next()).map(str::trim);
    if !matches!(content, Some("application/x-www-form-urlencoded" | "application/json")) {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "send a form or JSON"));
    }
    if matches!(entrance, RequestEntrance::Socket(_)) {
        return Ok(());
    }
    check_origin(site, headers)
}

/// Checks that what is asked comes from no page, or from one of ours. Another page could not send JSON
/// without asking before whether it may.
fn check_program(site: &WebSite, headers: &HeaderMap) -> Result<(), GateRefusal> {
    let content = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content = content.and_then(|value| value.split(';').next()).map(str::trim);
    if !content.is_some_and(|content| content.eq_ignore_ascii_case("application/json")) {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "send JSON"));
    }
    let is_from_page = headers.contains_key(ORIGIN) || headers.contains_key(FETCH_SITE);
    if is_from_page { check_origin(site, headers) } else { Ok(()) }
}

/// Checks that one of our own pages asks.
fn check_origin(site: &WebSite, headers: &HeaderMap) -> Result<(), GateRefusal> {
    let other = (StatusCode::FORBIDDEN, "this was asked by another page");
    let origin = site.hosts.as_ref().map(|names| names.origin());
    let mut given = headers.get_all(ORIGIN).iter();
    let (Some(found), None) = (given.next(), given.next()) else { return Err(other) };
    if origin.is_none_or(|origin| found.as_bytes() != origin.as_bytes()) {
        return Err(other);
    }
    let site_of = headers.get(FETCH_SITE);
    match site_of.is_none_or(|value| value == "same-origin") {
        true => Ok(()),
        false => Err(other),
    }
}

/// Returns the secret of a login. Of two cookies of the name none counts.
fn cookie(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs =
        lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut ours = pairs.filter(|(name, _)| *name == LOGIN_COOKIE);
    let (_, secret) = ours.next()?;
    ours.next().is_none().then(|| secret.to_owned())
}

fn add_headers(headers: &mut HeaderMap, path: &str) {
    let fixed = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A file that somebody downloads has a stricter one of its own.
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    let caching = if is_below_api(path) { "private, no-cache" } else { "no-store" };
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static(caching));
}
