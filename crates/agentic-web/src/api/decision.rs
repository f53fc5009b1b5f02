//! A decision that a program sends: what the form of the page does, as JSON.

use agentic_api::verb::{DecisionRequest, HoldFate};
use agentic_api::view::{HoldFateView, QuestionView};
use agentic_api::{Caller, Refusal, Verb as _};
use agentic_model::Instant;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::response::Response;

use super::answer::{ApiAnswer, KnownTags};
use super::{failed, failed_as, login_wanted};
use crate::decision::{ShownForm, after_expiry};
use crate::gate::Visitor;
use crate::object::JsonObject;
use crate::site::{SharedSite, WebSite};
use crate::status::RequestAim;

/// What stands between the request, the instant of showing and the seal in a token.
const TOKEN_PARTS: char = '~';

/// To a program nobody is named who decides.
const NOBODY: &str = "";

/// Makes what a decision of a hold that was shown brings back.
pub fn seal(site: &WebSite, visitor: &Visitor, question: &QuestionView) -> String {
    let seal = ShownForm::of(question, NOBODY).seal(&site.sealer, visitor.form_owner());
    let (request, at) = (&question.hold.request, &question.at);
    format!("{request}{TOKEN_PARTS}{at}{TOKEN_PARTS}{seal}")
}

/// Takes an answer: the decision is the commit that the command would make.
pub async fn decide(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(request): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    if !visitor.may_read() {
        return login_wanted();
    }
    let body = match body {
        Ok(body) => body,
        Err(error) => {
            let refusal = Refusal::usage(&error.body_text(), "a body has at most 4 MiB");
            return failed_as(error.status(), &refusal);
        }
    };
    let JsonObject::<DecisionRequest>(sent) = match serde_json::from_slice(&body) {
        Ok(sent) => sent,
        Err(error) => {
            let hint = "schemas/decision-request.json says what a decision is";
            return failed(&Refusal::usage(&error.to_string(), hint), RequestAim::Act);
        }
    };
    let shown = match visitor.may_decide() {
        true => shown_hold(&site, &visitor, request, &sent).await,
        false => None,
    };
    let Some(ShownHold { request, at }) = shown else {
        let refusal = Refusal::not_allowed(
            "nothing may be decided so",
            "send the token that came with the hold within the hour; some logins only read",
        );
        return failed(&refusal, RequestAim::Act);
    };
    let verb = sent.verb(&request, at);
    let decided = site.write(&visitor, move |caller| {
        let recorded = verb.record(caller)?;
        let session = recorded.session().to_string();
        Ok((recorded.view(caller)?, session))
    });
    match decided.await {
        Ok((view, session)) => {
            site.resident.resume(&session);
            ApiAnswer::one(&view).response(&site.resident.events.place(), &KnownTags::default())
        }
        Err(refusal) => {
            after_expiry(&site, &request, &refusal);
            failed(&refusal, RequestAim::Act)
        }
    }
}

/// A hold that was shown, and when.
struct ShownHold {
    request: String,
    at: Instant,
}

/// Finds the hold that a decision is about, if its token is ours. A token is that of the request, whatever
/// name of it was used: that of its agent, say, which may mean another hold by the time of the decision.
async fn shown_hold(
    site: &WebSite,
    visitor: &Visitor,
    name: String,
    sent: &DecisionRequest,
) -> Option<ShownHold> {
    let (request, rest) = sent.token.split_once(TOKEN_PARTS)?;
    let (at, seal) = rest.split_once(TOKEN_PARTS)?;
    let (request_hash, shown) = (&sent.request_hash, &sent.shown);
    let form = ShownForm { request, request_hash, shown, at, who: NOBODY };
    if !form.is_sealed(&site.sealer, visitor.form_owner(), seal) {
        return None;
    }
    let shown = ShownHold { request: request.to_owned(), at: Instant::parse(at)? };
    if name == shown.request {
        return Some(shown);
    }
    let request = shown.request.clone();
    let is_meant = move |caller: &Caller<'_>| Ok(is_name_of(caller, name, &request));
    site.read_as(visitor, is_meant).await.ok()?.then_some(shown)
}

/// Tells whether a name is one of a request: that of its agent, or one that leads to it.
fn is_name_of(caller: &Caller<'_>, name: String, request: &str) -> bool {
    let (session, _) = request.split_once('.').unwrap_or((request, ""));
    let session = caller.space.find_session(session);
    let session = session.and_then(|session| caller.space.session(&session));
    if session.is_ok_and(|session| session.agent.to_string() == name) {
        return true;
    }
    HoldFate { request: name }.run(caller).is_ok_and(|fate| match fate.answer {
        HoldFateView::Open(question) => question.hold.request == request,
        HoldFateView::Decided(hold) => hold.request == request,
    })
}
