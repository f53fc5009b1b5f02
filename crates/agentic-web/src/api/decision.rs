//! A decision that a program sends: what the form of the page does, as JSON.

use agentic_api::verb::{DecisionRequest, HoldQuestion};
use agentic_api::view::QuestionView;
use agentic_api::{Refusal, Verb as _};
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
use crate::site::{SharedSite, WebSite};
use crate::status::RequestAim;

/// What stands between the instant of showing and the seal in a token.
const TOKEN_PARTS: char = '~';

/// Makes what a decision of a hold that was shown brings back.
pub fn seal(site: &WebSite, visitor: &Visitor, question: &QuestionView) -> String {
    let seal = ShownForm::of(question).seal(&site.sealer, visitor.form_owner());
    format!("{}{TOKEN_PARTS}{seal}", question.at)
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
    let sent: DecisionRequest = match serde_json::from_slice(&body) {
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
    request: String,
    sent: &DecisionRequest,
) -> Option<ShownHold> {
    let (at, seal) = sent.token.split_once(TOKEN_PARTS)?;
    let is_sealed = |request: &str| {
        let form = ShownForm { request, request_hash: &sent.request_hash, shown: &sent.shown, at };
        form.is_sealed(&site.sealer, visitor.form_owner(), seal)
    };
    let at = Instant::parse(at)?;
    if is_sealed(&request) {
        return Some(ShownHold { request, at });
    }
    let verb = HoldQuestion { request, node: None };
    let question = site.read_as(visitor, move |caller| Ok(verb.run(caller)?.answer)).await.ok()?;
    let request = question.hold.request;
    is_sealed(&request).then_some(ShownHold { request, at })
}
