//! Logging in and out.

use agentic_api::Refusal;
use agentic_api::verb::LoginText;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::{Extension, Form, Json};
use serde::{Deserialize, Serialize};

use crate::api::failed_as;
use crate::gate::{LOGIN_COOKIE, Visitor};
use crate::login::{LoginGrant, LoginRefusal, LoginRole};
use crate::object::{JsonObject, status_of_body};
use crate::page::{self, PageFrame};
use crate::route::reply::html;
use crate::site::SharedSite;
use crate::status::{RequestAim, status_of};

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

/// What somebody is to sign who logs in by a key.
#[derive(Debug, Serialize)]
pub struct ChallengeAnswer {
    challenge: String,
}

/// What somebody has signed who logs in by a key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedLogin {
    principal: String,
    challenge: String,
    signature: String,
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

/// Makes what somebody is to sign.
pub async fn challenge(State(site): State<SharedSite>) -> Response {
    match site.logins.challenge() {
        Some(challenge) => Json(ChallengeAnswer { challenge }).into_response(),
        None => too_many(),
    }
}

fn too_many() -> Response {
    let refusal = Refusal::refused("too many log in at once, or were wrong", "wait a minute");
    failed_as(StatusCode::TOO_MANY_REQUESTS, &refusal)
}

/// Makes a code for whoever has signed what they were given.
pub async fn begin_by_key(
    State(site): State<SharedSite>,
    signed: Result<Json<JsonObject<SignedLogin>>, JsonRejection>,
) -> Response {
    let signed = match signed {
        Ok(Json(JsonObject(signed))) => signed,
        Err(error) => {
            let hint = "send principal, challenge and signature as JSON";
            return failed_as(status_of_body(&error), &Refusal::usage(&error.body_text(), hint));
        }
    };
    let Some(host) = site.hosts.as_ref().map(|names| names.page.clone()) else {
        let refusal = Refusal::refused("this process has no page", "start it without `--no-tcp`");
        return failed_as(StatusCode::NOT_FOUND, &refusal);
    };
    match site.logins.take_challenge(&signed.challenge) {
        Ok(()) => {}
        Err(LoginRefusal::TooMany) => return too_many(),
        Err(LoginRefusal::WrongCode) => {
            let hint = "begin anew: it is good once, for two minutes";
            let refusal = Refusal::not_allowed("this was not given to anybody to sign", hint);
            return failed_as(StatusCode::FORBIDDEN, &refusal);
        }
    }
    let proven = site.read(move |caller| {
        let SignedLogin { principal, challenge, signature } = &signed;
        LoginText { host: &host, principal, challenge }.prove(caller, signature)
    });
    let person = match proven.await {
        Ok(person) => person,
        Err(refusal) => return failed_as(status_of(refusal.class, RequestAim::Act), &refusal),
    };
    site.logins.note_right();
    tracing::info!(principal = person.principal, authn = person.authn, "logs in by a key");
    match site.issue_code(LoginGrant { role: LoginRole::Decide, person: Some(person) }) {
        Ok(code) => Json(code).into_response(),
        Err(error) => {
            let refusal = Refusal::io("make a code", &error);
            failed_as(StatusCode::SERVICE_UNAVAILABLE, &refusal)
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
