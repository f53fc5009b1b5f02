//! Answers that many routes give.

use agentic_api::Refusal;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{Html, IntoResponse as _, Response};
use maud::Markup;

use crate::gate::Visitor;
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

/// Lets those in who are logged in, and asks the others for a login.
pub async fn require_login(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    request: Request,
    next: Next,
) -> Response {
    if visitor.may_read() { next.run(request).await } else { login_wanted(&site, &visitor) }
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
) -> Response {
    if !visitor.may_read() {
        return login_wanted(&site, &visitor);
    }
    let hint = "the links at the top lead to all pages";
    refused(&site, &visitor, &Refusal::refused("there is no such page", hint), RequestAim::Show)
}
