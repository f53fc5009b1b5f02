//! One hold: what is asked, and a person's answer.

use agentic_api::verb::{
    AfterDecision, Decide, HoldAnswer, HoldFate, SeenQuestion, ShowDecider, why_nobody_decides,
};
use agentic_api::view::{DeciderView, HoldFateView, PendingView, QuestionView, visible_line};
use agentic_api::{Refusal, Verb as _};
use agentic_model::guidance::ErrorClass;
use agentic_model::{AgentName, Instant, json};
use agentic_session::SessionSpace;
use agentic_session::decide::{Action, ApprovalScope};
use agentic_space::Error as SpaceError;
use axum::Extension;
use axum::extract::{Path, RawForm, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value as Json;

use crate::decision::{ShownForm, after_expiry, check_decider, mark_of};
use crate::gate::Visitor;
use crate::page::field::ValueForm;
use crate::page::hold::{
    CHOOSE_AGAIN, EditedValue, HoldForm, REJECT, TEXT_BYTES_MAX, TypedAnswer, claims_mark,
};
use crate::page::{self, PageFrame};
use crate::route::decision_form::DecisionForm;
use crate::route::reply::{html, refused};
use crate::site::{SharedSite, WebSite};
use crate::status::{RequestAim, status_of};

/// The action whose value is shown as a difference before it decides.
const EDIT: &str = "edit";
/// Shows a hold.
pub async fn show(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(request): Path<String>,
) -> Response {
    let frame = frame(&site, &visitor, &request);
    match look(&site, &visitor, &request).await {
        Ok(SeenHold { fate: HoldFateView::Open(question), decider, gone, nobody }) => {
            let frame = asking(frame, &question, gone.as_ref());
            let form = form_of(&site, &visitor, &question, decider, TypedAnswer::default());
            let form = HoldForm { gone, nobody, ..form };
            html(StatusCode::OK, page::hold::page(&frame, &question, &form))
        }
        Ok(SeenHold { fate: HoldFateView::Decided(hold), .. }) => {
            let said = format!("{} has decided this: {}.", hold.principal, hold.action);
            let frame = frame.with_state("decided", &visible_line(&said));
            html(StatusCode::OK, page::hold::closed(&frame, &hold, None))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

/// Says when the page of an open hold is another one: not when only its seal is.
fn asking(frame: PageFrame, question: &QuestionView, gone: Option<&Refusal>) -> PageFrame {
    let hold = &question.hold;
    let is_gone = if gone.is_some() { " gone" } else { "" };
    let state = format!("{} {} {}{is_gone}", question.shown, hold.overdue, claims_mark(hold));
    let said = match (hold.overdue, hold.unverified.is_empty() && hold.replies.is_empty()) {
        _ if gone.is_some() => "This cannot be answered any more: the branch of its agent is gone.",
        (true, _) => "It is too late to answer this.",
        (false, true) => "What is asked has changed.",
        (false, false) => "What is asked, or what others say of it, has changed.",
    };
    frame.with_state(&state, said)
}

/// Takes an answer: the decision is the commit that the command would make.
pub async fn decide(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(request): Path<String>,
    RawForm(sent): RawForm,
) -> Response {
    let form = match DecisionForm::parse(&sent) {
        Ok(form) => form,
        Err(refusal) => return refused(&site, &visitor, &refusal, RequestAim::Act),
    };
    let is_ours =
        form.shown(&request).is_sealed(&site.sealer, visitor.form_owner(), form.field("token"));
    if !visitor.may_decide() || !is_ours {
        let refusal = Refusal::not_allowed(
            "this form may not decide",
            "load the page of the hold again; a login that may only read never decides",
        );
        return refused(&site, &visitor, &refusal, RequestAim::Act);
    }
    let given = form.typed();
    let sent = |given| SentAnswer { request: &request, shown: form.field("shown"), given };
    let answer = match read_answer(&site, &visitor, &request, &form).await {
        Ok(PostedAnswer::Decide(answer)) => answer,
        Ok(PostedAnswer::Show(value)) => {
            return confirm(&site, &visitor, sent(given), value).await;
        }
        Err(refusal) => {
            return again(&site, &visitor, sent(given), &refusal).await;
        }
    };
    let verb = match decision(&request, &form, answer, &given.reason) {
        Ok(verb) => verb,
        Err(refusal) => {
            return again(&site, &visitor, sent(given), &refusal).await;
        }
    };
    let (of, who) = (request.clone(), form.field("who").to_owned());
    let decided = site.write(&visitor, move |caller| {
        check_decider(caller, &of, &who)?;
        let recorded = verb.record(caller)?;
        Ok(recorded.session().to_string())
    });
    match decided.await {
        Ok(session) => {
            site.resident.resume(&session);
            Redirect::to(&format!("/holds/{request}")).into_response()
        }
        Err(refusal) => {
            after_expiry(&site, &request, &refusal);
            again(&site, &visitor, sent(given), &refusal).await
        }
    }
}

/// Leads who asks for the address of an answer to the hold.
pub async fn show_instead(Path(request): Path<String>) -> Redirect {
    Redirect::to(&format!("/holds/{}", utf8_percent_encode(&request, NON_ALPHANUMERIC)))
}

/// What a form asks for.
enum PostedAnswer {
    /// To decide.
    Decide(HoldAnswer),
    /// To show what another value changes, before it decides.
    Show(Json),
}

/// An answer that is not taken as it was sent.
struct SentAnswer<'f> {
    request: &'f str,
    /// The hash of the text that was answered.
    shown: &'f str,
    given: TypedAnswer,
}

/// Reads the answer of a form, with the fields that the hold gives it.
async fn read_answer(
    site: &WebSite,
    visitor: &Visitor,
    request: &str,
    form: &DecisionForm,
) -> Result<PostedAnswer, Refusal> {
    let usage = |what: &str| Refusal::usage(what, "choose what to answer");
    let scope = match form.field("scope") {
        "" => ApprovalScope::default(),
        text => ApprovalScope::parse(text).ok_or_else(|| usage("there is no such scope"))?,
    };
    let accepted = form.field("accept");
    if !accepted.is_empty() {
        let commit = accepted.to_owned();
        return Ok(PostedAnswer::Decide(HoldAnswer::Accept { commit, scope }));
    }
    let name = form.field("action");
    let action = Action::parse(name).ok_or_else(|| usage("no action was chosen"))?;
    let act = |value: Option<Json>| {
        let value = value.map(json::from_json).transpose();
        let value = value.map_err(|error| {
            Refusal::schema(&format!("the value is none: {error}"), "write it otherwise")
        })?;
        Ok(PostedAnswer::Decide(HoldAnswer::Act { action, value, scope }))
    };
    let edited = form.field("edited");
    if !edited.is_empty() {
        if !is_confirmed(site, visitor, request, form) {
            return Err(usage("this value was not shown, or long ago"));
        }
        return act(Some(serde_json::from_str(edited).map_err(|_| usage("the form is broken"))?));
    }
    // Who decided meanwhile, the verb says.
    let HoldFateView::Open(question) = look(site, visitor, request).await?.fate else {
        return act(None);
    };
    if name != REJECT && question.text.len() > TEXT_BYTES_MAX {
        let hint = format!("`agentic decide {request}` shows it and takes any answer");
        return Err(Refusal::usage("this is too long to be approved on a page", &hint));
    }
    let value = typed_value(&question.hold, name, form)?;
    match value {
        Some(value) if name == EDIT || is_other(&question.hold, name) => {
            Ok(PostedAnswer::Show(value))
        }
        value => act(value),
    }
}

/// Tells whether a value of an answer takes the place of what is offered, as that of an edit does.
fn is_other(hold: &PendingView, action: &str) -> bool {
    let is_offered = ValueForm::of(hold).is_some_and(|fields| !fields.offered(hold).is_empty());
    action == "approve" && is_offered
}

/// Reads the value that was typed. What was only offered is not the value of other answers than an edit.
fn typed_value(
    hold: &PendingView,
    action: &str,
    form: &DecisionForm,
) -> Result<Option<Json>, Refusal> {
    let Some(fields) = ValueForm::of(hold) else { return Ok(None) };
    let typed = form.typed().value.unwrap_or_default();
    let is_own = matches!(action, EDIT | "respond");
    let offered = fields.offered(hold);
    let is_same = offered.iter().all(|(name, text)| typed.get(name) == Some(text))
        && typed.iter().all(|(name, text)| text.is_empty() || offered.contains_key(name));
    if !is_own && is_same { Ok(None) } else { fields.read(&typed, hold) }
}

/// What is sealed of a value that a person is shown as a difference.
#[derive(Clone, Copy)]
struct ShownEdit<'f> {
    action: &'f str,
    request: &'f str,
    shown: &'f str,
    value: &'f str,
}

impl<'f> ShownEdit<'f> {
    fn fields(self) -> [&'f str; 5] {
        ["value", self.action, self.request, self.shown, self.value]
    }
}

fn is_confirmed(site: &WebSite, visitor: &Visitor, request: &str, form: &DecisionForm) -> bool {
    let (action, shown) = (form.field("action"), form.field("shown"));
    let edit = ShownEdit { action, request, shown, value: form.field("edited") };
    site.sealer.is_sealed(form.field("confirmed"), visitor.form_owner(), &edit.fields())
}

/// Shows what another value changes.
async fn confirm(
    site: &WebSite,
    visitor: &Visitor,
    answer: SentAnswer<'_>,
    value: Json,
) -> Response {
    let request = answer.request;
    match look(site, visitor, request).await {
        Ok(SeenHold { gone: Some(gone), .. }) => again(site, visitor, answer, &gone).await,
        Ok(SeenHold { fate: HoldFateView::Open(question), .. })
            if question.shown != answer.shown =>
        {
            let refusal = Refusal::conflict("what is asked is another text now", CHOOSE_AGAIN);
            again(site, visitor, answer, &refusal).await
        }
        Ok(SeenHold { fate: HoldFateView::Open(question), decider, .. }) => {
            let text = value.to_string();
            let action = &answer.given.action;
            let edit = ShownEdit { action, request, shown: &question.shown, value: &text };
            let seal = site.sealer.seal(visitor.form_owner(), &edit.fields());
            let form = form_of(site, visitor, &question, decider, answer.given);
            let frame = asking(frame(site, visitor, request), &question, None);
            let edited = EditedValue { value: &value, seal: &seal };
            html(StatusCode::OK, page::hold::edited(&frame, &question, &form, &edited))
        }
        Ok(SeenHold { fate: HoldFateView::Decided(hold), .. }) => {
            let frame = frame(site, visitor, request);
            html(StatusCode::CONFLICT, page::hold::closed(&frame, &hold, None))
        }
        Err(refusal) => refused(site, visitor, &refusal, RequestAim::Act),
    }
}

/// Shows the hold as it is now, with what was refused and what the person had typed. Where another text
/// was answered, it shows what changed, and nothing is chosen.
async fn again(
    site: &WebSite,
    visitor: &Visitor,
    answer: SentAnswer<'_>,
    refusal: &Refusal,
) -> Response {
    let SentAnswer { request, shown, mut given } = answer;
    let (status, frame) =
        (status_of(refusal.class, RequestAim::Act), frame(site, visitor, request));
    match look(site, visitor, request).await {
        Ok(SeenHold { fate: HoldFateView::Open(question), decider, gone, nobody }) => {
            given.refusal = Some(refusal.clone());
            if question.shown != shown {
                given = given.about_another(refusal, site.shown.find(shown));
            }
            let frame = asking(frame, &question, gone.as_ref());
            let form = form_of(site, visitor, &question, decider, given);
            let form = HoldForm { gone, nobody, ..form };
            html(status, page::hold::page(&frame, &question, &form))
        }
        Ok(SeenHold { fate: HoldFateView::Decided(hold), .. }) => {
            html(status, page::hold::closed(&frame, &hold, Some(refusal)))
        }
        Err(_) => refused(site, visitor, refusal, RequestAim::Act),
    }
}

/// A hold, who may decide it here, and why nobody can.
struct SeenHold {
    fate: HoldFateView,
    decider: Option<DeciderView>,
    /// Its agent has no branch.
    gone: Option<Refusal>,
    /// Git does not know who is here.
    nobody: Option<Refusal>,
}

/// Reads a hold, and who may decide it here.
async fn look(site: &WebSite, visitor: &Visitor, request: &str) -> Result<SeenHold, Refusal> {
    let request = request.to_owned();
    site.read_as(visitor, move |caller| {
        let decider = ShowDecider { request: request.clone() }.run(caller)?.answer;
        let fate = HoldFate { request }.run(caller)?.answer;
        let gone = match &fate {
            HoldFateView::Open(question) => why_gone(caller.space, &question.hold.agent),
            HoldFateView::Decided(_) => None,
        };
        Ok(SeenHold { fate, decider, gone, nobody: why_nobody_decides(caller) })
    })
    .await
}

/// Says why no answer to a hold of an agent can be taken, as the verb would: a decision is a commit on the
/// agent's branch, and somebody deleted that or gave it another name.
pub fn why_gone(space: &SessionSpace, agent: &str) -> Option<Refusal> {
    let agent = AgentName::parse(agent).ok()?;
    match space.head(&agent) {
        Err(error @ SpaceError::Agent(_)) => Some(Refusal::of(&error)),
        Ok(_) | Err(_) => None,
    }
}

fn frame(site: &WebSite, visitor: &Visitor, request: &str) -> PageFrame {
    PageFrame::new(site, visitor, "Hold").with_command(&format!("agentic pending {request}"))
}

/// Makes the form of a hold, sealed for whoever looks at it.
pub fn form_of(
    site: &WebSite,
    visitor: &Visitor,
    question: &QuestionView,
    decider: Option<DeciderView>,
    given: TypedAnswer,
) -> HoldForm {
    site.shown.keep(&question.shown, &question.text);
    let who = decider.as_ref().map(mark_of).unwrap_or_default();
    let token = ShownForm::of(question, &who).seal(&site.sealer, visitor.form_owner());
    HoldForm {
        decider,
        may_decide: visitor.may_decide(),
        who,
        token,
        given,
        gone: None,
        nobody: None,
    }
}

/// Makes the verb of a form.
fn decision(
    request: &str,
    form: &DecisionForm,
    answer: HoldAnswer,
    reason: &str,
) -> Result<Decide, Refusal> {
    let missing = || Refusal::new(ErrorClass::Usage, "the form has no instant", "load it again");
    let at = Instant::parse(form.field("shown_at")).ok_or_else(missing)?;
    Ok(Decide {
        request: request.to_owned(),
        node: None,
        answer,
        why: reason.to_owned(),
        expect: Some(form.field("request_hash").to_owned()),
        by: None,
        seen: Some(SeenQuestion { shown: form.field("shown").to_owned(), at }),
        then: AfterDecision::Leave,
        for_person: None,
        grant: None,
    })
}
