//! Answers that many routes give.

use agentic_api::Refusal;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse as _, Response};
use maud::Markup;

use crate::api::unknown_address;
use crate::gate::{Visitor, is_below_api};
use crate::page;
use crate::page::PageFrame;
use crate::site::{SharedSite, WebSite};
use crate::status::{RequestAim, status_of};

/// Answers with a page.
pub fn html(status: StatusCode, page: Markup) -> Response {
    (status, Html(page.into_string())).into_response()
}

/// Answers with why there is no page of what was asked for.
pub fn refused(site: &WebSite, visitor: &Visitor, refusal: &Refusal, aim: RequestAim) -> Response {
    let status = status_of(refusal.class, aim);
    let frame = PageFrame::new(site, visitor, status.canonical_reason().unwrap_or("Refused"));
    html(status, page::refusal(&frame, refusal))
}

/// Answers with bytes that a browser is to keep and never to show, whatever they hold.
pub fn download(bytes: Vec<u8>, name: &str) -> Response {
    // Ids and numbers make the name: nothing in it can end the quotes.
    let attachment = format!("attachment; filename=\"{name}\"");
    let headers = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_DISPOSITION, attachment),
        (CONTENT_SECURITY_POLICY, "sandbox".to_owned()),
    ];
    (headers, bytes).into_response()
}

/// Lets those in who are logged in, and asks the others for a login.
pub async fn require_login(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    request: Request,
    next: Next,
) -> Response {
    if !visitor.may_read() {
        return login_wanted(&site, &visitor);
    }
    let response = next.run(request).await;
    if is_bare_refusal(&response) {
        let hint = "the links at the top lead to all pages";
        let refusal = Refusal::usage("this address is not understood", hint);
        return refused(&site, &visitor, &refusal, RequestAim::Show);
    }
    response
}

/// Tells whether an address was refused before any page was asked: by a line of text alone.
fn is_bare_refusal(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    response.status() == StatusCode::BAD_REQUEST
        && kind.is_some_and(|kind| kind.starts_with("text/plain"))
}

/// Answers somebody who is not logged in.
fn login_wanted(site: &WebSite, visitor: &Visitor) -> Response {
    let frame = PageFrame::new(site, visitor, "Log in");
    html(StatusCode::UNAUTHORIZED, page::login::page(&frame, None))
}

/// Answers where there is nothing.
pub async fn no_such_page(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    uri: Uri,
) -> Response {
    if is_below_api(uri.path()) {
        return unknown_address(&visitor);
    }
    if !visitor.may_read() {
        return login_wanted(&site, &visitor);
    }
    let hint = "the links at the top lead to all pages";
    refused(&site, &visitor, &Refusal::refused("there is no such page", hint), RequestAim::Show)
}
