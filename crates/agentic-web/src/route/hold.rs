//! One hold: what is asked, and a person's answer.

use agentic_api::verb::{AfterDecision, Decide, HoldAnswer, HoldFate, SeenQuestion};
use agentic_api::view::{HoldFateView, QuestionView, visible_line};
use agentic_api::{Refusal, Verb as _, principal};
use agentic_model::guidance::ErrorClass;
use agentic_model::{Instant, json};
use agentic_session::decide::{Action, ApprovalScope};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::{Extension, Form};
use serde::Deserialize;

use crate::gate::Visitor;
use crate::page::hold::{DecidingPerson, HoldForm, TypedAnswer};
use crate::page::{self, PageFrame};
use crate::route::reply::{html, refused};
use crate::site::{SharedSite, WebSite};
use crate::status::{RequestAim, status_of};

/// What the form of a decision holds.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct DecisionForm {
    /// The action; none was chosen if it is missing.
    #[serde(default)]
    action: String,
    /// The value, as JSON or, where the schema wants one, as text.
    #[serde(default)]
    value: String,
    /// Why.
    #[serde(default)]
    reason: String,
    /// For how long an approval counts.
    #[serde(default)]
    scope: String,
    request_hash: String,
    shown: String,
    shown_at: String,
    token: String,
}

/// Shows a hold.
pub async fn show(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(request): Path<String>,
) -> Response {
    let frame = frame(&site, &visitor, &request);
    match look(&site, &request).await {
        Ok((HoldFateView::Open(question), person)) => {
            let frame = frame.with_state(&question.shown, "What is asked has changed.");
            let form = form_of(&site, &visitor, &question, TypedAnswer::default());
            html(StatusCode::OK, page::hold::page(&frame, &question, &person, &form))
        }
        Ok((HoldFateView::Decided(hold), _)) => {
            let said = format!("{} has decided this: {}.", hold.principal, hold.action);
            let frame = frame.with_state("decided", &visible_line(&said));
            html(StatusCode::OK, page::hold::closed(&frame, &hold, None))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

/// Takes an answer: the decision is the commit that the command would make.
pub async fn decide(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(request): Path<String>,
    Form(form): Form<DecisionForm>,
) -> Response {
    if !visitor.may_decide() || !is_ours(&site, &visitor, &request, &form) {
        let refusal = Refusal::not_allowed(
            "this form may not decide",
            "load the page of the hold again; a login that may only read never decides",
        );
        return refused(&site, &visitor, &refusal, RequestAim::Act);
    }
    let given = TypedAnswer {
        action: form.action.clone(),
        value: form.value.clone(),
        reason: form.reason.clone(),
        ..TypedAnswer::default()
    };
    let verb = match decision(&request, form) {
        Ok(verb) => verb,
        Err(refusal) => return again(&site, &visitor, &request, given, &refusal).await,
    };
    let decided = site.write(move |caller| {
        let recorded = verb.record(caller)?;
        Ok(recorded.session().to_string())
    });
    match decided.await {
        Ok(session) => {
            site.resident.resume(&session);
            Redirect::to(&format!("/holds/{request}")).into_response()
        }
        Err(refusal) => again(&site, &visitor, &request, given, &refusal).await,
    }
}

/// Shows the hold as it is now, with what was refused and what the person had typed.
async fn again(
    site: &WebSite,
    visitor: &Visitor,
    request: &str,
    given: TypedAnswer,
    refusal: &Refusal,
) -> Response {
    let (status, frame) =
        (status_of(refusal.class, RequestAim::Act), frame(site, visitor, request));
    match look(site, request).await {
        Ok((HoldFateView::Open(question), person)) => {
            let given = TypedAnswer { refusal: Some(refusal.clone()), ..given };
            let frame = frame.with_state(&question.shown, "What is asked has changed.");
            let form = form_of(site, visitor, &question, given);
            html(status, page::hold::page(&frame, &question, &person, &form))
        }
        Ok((HoldFateView::Decided(hold), _)) => {
            html(status, page::hold::closed(&frame, &hold, Some(refusal)))
        }
        Err(_) => refused(site, visitor, refusal, RequestAim::Act),
    }
}

async fn look(site: &WebSite, request: &str) -> Result<(HoldFateView, DecidingPerson), Refusal> {
    let verb = HoldFate { request: request.to_owned() };
    site.read(move |caller| {
        let fate = verb.run(caller)?.answer;
        Ok((fate, DecidingPerson { principal: principal(caller.space)? }))
    })
    .await
}

fn frame(site: &WebSite, visitor: &Visitor, request: &str) -> PageFrame {
    PageFrame::new(site, visitor, "Hold").with_command(&format!("agentic pending {request}"))
}

/// What of a form may not be changed: what was shown, when, and of what.
fn sealed_fields<'f>(request: &'f str, hash: &'f str, shown: &'f str, at: &'f str) -> [&'f str; 5] {
    ["decide", request, hash, shown, at]
}

fn form_of(
    site: &WebSite,
    visitor: &Visitor,
    question: &QuestionView,
    given: TypedAnswer,
) -> HoldForm {
    let (hash, shown, at) = (&question.hold.request_hash, &question.shown, &question.at);
    let fields = sealed_fields(&question.hold.request, hash, shown, at);
    let token = site.sealer.seal(visitor.form_owner(), &fields);
    HoldForm { may_decide: visitor.may_decide(), token, given }
}

fn is_ours(site: &WebSite, visitor: &Visitor, request: &str, form: &DecisionForm) -> bool {
    let fields = sealed_fields(request, &form.request_hash, &form.shown, &form.shown_at);
    site.sealer.is_sealed(&form.token, visitor.form_owner(), &fields)
}

/// Reads a form.
fn decision(request: &str, form: DecisionForm) -> Result<Decide, Refusal> {
    let missing = |what: &str| Refusal::new(ErrorClass::Usage, what, "choose what to answer");
    let action = Action::parse(&form.action).ok_or_else(|| missing("no action was chosen"))?;
    let scope = match form.scope.as_str() {
        "" => ApprovalScope::default(),
        text => ApprovalScope::parse(text).ok_or_else(|| missing("there is no such scope"))?,
    };
    let value = match form.value.trim() {
        "" => None,
        text => Some(json::from_text(text).map_err(|error| {
            Refusal::schema(&format!("the value is no JSON: {error}"), "write texts in quotes")
        })?),
    };
    let at = Instant::parse(&form.shown_at).ok_or_else(|| missing("the form has no instant"))?;
    Ok(Decide {
        request: request.to_owned(),
        node: None,
        answer: HoldAnswer::Act { action, value, scope },
        why: form.reason,
        expect: Some(form.request_hash),
        by: None,
        seen: Some(SeenQuestion { shown: form.shown, at }),
        then: AfterDecision::Leave,
    })
}
