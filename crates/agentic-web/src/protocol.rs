//! A protocol of programs that is served beside the page, at `/mcp`: to those with a token, and to
//! nobody by a cookie.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use agentic_api::Refusal;
use agentic_resident::{TokenBook, TokenGrant};
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest as _, Request, State};
use axum::http::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use tokio::sync::mpsc;

use crate::api::failed_as;
use crate::site::{SharedSite, WebSite};

/// A message of a program.
#[derive(Debug)]
pub struct ProtocolRequest {
    /// What the program may do.
    pub grant: TokenGrant,
    /// The message.
    pub body: Vec<u8>,
    heads: HeaderMap,
}

/// What a message is answered with.
#[derive(Debug)]
pub enum ProtocolAnswer {
    /// JSON, with a status.
    Json(u16, Vec<u8>),
    /// Nothing: it was taken.
    Taken,
    /// Server-sent events, as they come.
    Events(mpsc::Receiver<Vec<u8>>),
}

type ComingAnswer = Pin<Box<dyn Future<Output = ProtocolAnswer> + Send>>;

/// What answers in a protocol of programs.
#[derive(Clone)]
pub struct MountedProtocol {
    answer: Arc<dyn Fn(ProtocolRequest) -> ComingAnswer + Send + Sync>,
}

impl ProtocolRequest {
    /// Returns a head of the request.
    pub fn head(&self, name: &str) -> Option<String> {
        self.heads.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    }
}

impl MountedProtocol {
    /// Makes one of what answers a message.
    pub fn new<A: Future<Output = ProtocolAnswer> + Send + 'static>(
        answer: impl Fn(ProtocolRequest) -> A + Send + Sync + 'static,
    ) -> MountedProtocol {
        MountedProtocol { answer: Arc::new(move |request| Box::pin(answer(request))) }
    }
}

impl std::fmt::Debug for MountedProtocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MountedProtocol")
    }
}

/// Hands a message on to the protocol, if that is served and a token came with it.
pub async fn answer(
    State(site): State<SharedSite>,
    method: Method,
    heads: HeaderMap,
    request: Request,
) -> Response {
    let grant = match admit(&site, &heads) {
        Ok(grant) => grant,
        Err(refused) => return *refused,
    };
    let Some(protocol) = &site.protocol else {
        let hint = "start the process with `--mcp`";
        let refusal = Refusal::refused("no protocol of programs is served here", hint);
        return failed_as(StatusCode::NOT_FOUND, &refusal);
    };
    if method != Method::POST {
        // There are no sessions that could be listened to, or ended.
        let refusal = Refusal::usage("messages are posted", "send one message with each request");
        let mut answer = failed_as(StatusCode::METHOD_NOT_ALLOWED, &refusal);
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        return answer;
    }
    let content = heads.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content = content.and_then(|value| value.split(';').next()).map(str::trim);
    if !content.is_some_and(|content| content.eq_ignore_ascii_case("application/json")) {
        let refusal = Refusal::usage("messages are JSON", "say so in `Content-Type`");
        return failed_as(StatusCode::UNSUPPORTED_MEDIA_TYPE, &refusal);
    }
    let told = heads.clone();
    // Only now: nothing is kept of those who have no token.
    let body = match Bytes::from_request(request, &()).await {
        Ok(body) => body.to_vec(),
        Err(error) => {
            let refusal = Refusal::usage(&error.body_text(), "a message has at most 4 MiB");
            return failed_as(error.status(), &refusal);
        }
    };
    match (protocol.answer)(ProtocolRequest { grant, body, heads }).await {
        ProtocolAnswer::Json(status, body) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, [(CONTENT_TYPE, "application/json")], body).into_response()
        }
        ProtocolAnswer::Taken => StatusCode::ACCEPTED.into_response(),
        ProtocolAnswer::Events(events) => {
            let book = TokenBook::of(site.resident.space.repository().layout());
            let token = token(&told).unwrap_or_default().to_owned();
            let body = Body::from_stream(MessageStream { events, book, token });
            ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
        }
    }
}

/// Says what a program may do that asks.
fn admit(site: &WebSite, heads: &HeaderMap) -> Result<TokenGrant, Box<Response>> {
    if !is_own_origin(site, heads) {
        let refusal = Refusal::not_allowed("this was asked by another page", "ask from a program");
        return Err(Box::new(failed_as(StatusCode::FORBIDDEN, &refusal)));
    }
    let book = TokenBook::of(site.resident.space.repository().layout());
    let Some(grant) = token(heads).and_then(|token| book.find(token)) else {
        let hint = "`agentic serve token NAME` makes one; send it as `Authorization: Bearer …`";
        let refusal = Refusal::not_allowed("a token is wanted that is known here", hint);
        let mut answer = failed_as(StatusCode::UNAUTHORIZED, &refusal);
        answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return Err(Box::new(answer));
    };
    if let Err(error) = site.resident.check_place() {
        return Err(Box::new(failed_as(StatusCode::SERVICE_UNAVAILABLE, &Refusal::of(&error))));
    }
    let read_only = grant.read_only || site.resident.options.is_read_only;
    Ok(TokenGrant { read_only, ..grant })
}

/// Tells whether a request came from no page, or from one of ours.
fn is_own_origin(site: &WebSite, heads: &HeaderMap) -> bool {
    let mut given = heads.get_all(ORIGIN).iter();
    let (Some(found), None) = (given.next(), given.next()) else {
        return !heads.contains_key(ORIGIN);
    };
    site.hosts.as_ref().is_some_and(|names| {
        let programs = names.programs.iter().map(|name| format!("http://{name}"));
        let mut ours = std::iter::once(names.origin()).chain(programs);
        ours.any(|origin| found.as_bytes() == origin.as_bytes())
    })
}

/// Returns the token of a request; of two none counts.
fn token(heads: &HeaderMap) -> Option<&str> {
    let mut given = heads.get_all(AUTHORIZATION).iter();
    let (found, None) = (given.next()?, given.next()) else { return None };
    let (scheme, token) = found.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The messages of one answer, as long as the token is known.
struct MessageStream {
    events: mpsc::Receiver<Vec<u8>>,
    book: TokenBook,
    token: String,
}

impl futures_util::Stream for MessageStream {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.poll_recv(context).map(|part| {
            let part = part.filter(|_| self.book.find(&self.token).is_some());
            part.map(|part| Ok(Bytes::from(part)))
        })
    }
}
