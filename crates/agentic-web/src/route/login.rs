//! Logging in and out.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::{Extension, Form};
use serde::Deserialize;

use crate::gate::{LOGIN_COOKIE, Visitor};
use crate::login::LoginRefusal;
use crate::page::{self, PageFrame};
use crate::route::reply::html;
use crate::site::SharedSite;

/// How long a browser keeps a login, in seconds.
const COOKIE_SECONDS: u64 = 7 * 24 * 3600;

/// What the form of a login holds.
#[derive(Debug, Deserialize)]
pub struct LoginForm {
    code: String,
}

/// What the form that logs everybody out holds.
#[derive(Debug, Deserialize)]
pub struct LogoutForm {
    token: String,
}

/// Shows the form.
pub async fn show(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let frame = PageFrame::new(&site, &visitor, "Log in");
    html(StatusCode::OK, page::login::page(&frame, None))
}

/// Begins a login.
pub async fn begin(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Form(form): Form<LoginForm>,
) -> Response {
    match site.logins.begin(form.code.trim().trim_start_matches('#')) {
        Ok(secret) => {
            let cookie = format!(
                "{LOGIN_COOKIE}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={COOKIE_SECONDS}"
            );
            ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response()
        }
        Err(refusal) => {
            let status = match refusal {
                LoginRefusal::WrongCode => StatusCode::UNAUTHORIZED,
                LoginRefusal::TooMany => StatusCode::TOO_MANY_REQUESTS,
            };
            let frame = PageFrame::new(&site, &visitor, "Log in");
            html(status, page::login::page(&frame, Some(refusal)))
        }
    }
}

/// Ends all logins.
pub async fn end_all(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Form(form): Form<LogoutForm>,
) -> Response {
    if !site.sealer.is_sealed(&form.token, visitor.form_owner(), &["logout"]) {
        return (StatusCode::FORBIDDEN, "this form is too old: load the page again\n")
            .into_response();
    }
    site.logins.end_all();
    Redirect::to("/login").into_response()
}
