//! One hold, and the form that answers it.

use agentic_api::Refusal;
use agentic_api::view::{ClosedHoldView, PendingView, QuestionView, visible, visible_line};
use maud::{Markup, html};

use super::{PageFrame, instant};

/// Above so many bytes of text only a rejection is offered here.
const TEXT_BYTES_MAX: usize = 256 << 10;
/// The action that is always offered.
const REJECT: &str = "reject";

/// Who would decide.
pub struct DecidingPerson {
    /// As decisions name the person.
    pub principal: String,
}

/// What the form of a hold needs besides the hold.
pub struct HoldForm {
    /// Whether the login may decide.
    pub may_decide: bool,
    /// The seal of the form.
    pub token: String,
    /// What was typed before.
    pub given: TypedAnswer,
}

/// What a person has typed, and why it was not taken.
#[derive(Debug, Clone, Default)]
pub struct TypedAnswer {
    /// The action.
    pub action: String,
    /// The value.
    pub value: String,
    /// Why.
    pub reason: String,
    /// Why it was not taken.
    pub refusal: Option<Refusal>,
}

/// Shows a hold.
pub fn page(
    frame: &PageFrame,
    question: &QuestionView,
    person: &DecidingPerson,
    form: &HoldForm,
) -> Markup {
    let hold = &question.hold;
    frame.around(&html! {
        h1 { (visible_line(hold.question.as_deref().unwrap_or(&hold.kind))) }
        p.about {
            (hold.agent) " asks · " (instant(&hold.asked_at))
            @if let Some(deadline) = &hold.deadline { " · until " (instant(deadline)) }
        }
        @if let Some(refusal) = &form.given.refusal { (why_refused(refusal)) }
        pre #shown { (question.text) }
        @if form.may_decide {
            (answer_form(question, person, form))
        } @else {
            p { "This login may only look. " code { "agentic decide " (hold.request) } " answers." }
        }
    })
}

/// Shows a hold that is decided: by whom, how and when; and why an answer came too late, if one did.
pub fn closed(frame: &PageFrame, hold: &ClosedHoldView, late: Option<&Refusal>) -> Markup {
    frame.around(&html! {
        h1 { "Decided: " (hold.action) }
        @if let Some(refusal) = late { (why_refused(refusal)) }
        dl #decided {
            dt { "Answer" } dd { (hold.action) }
            dt { "By" } dd { (visible_line(&hold.principal)) }
            @if let Some(at) = &hold.at { dt { "At" } dd { (instant(at)) } }
            @if let Some(commit) = &hold.commit { dt { "Commit" } dd { a href={ "/commits/" (commit) } { code { (commit) } } } }
            dt { "Session" } dd { code { (hold.session) } }
            @if !hold.reason.is_empty() { dt { "Reason" } dd.text { (visible(&hold.reason)) } }
        }
        p { a href="/" { "Back to the inbox" } }
    })
}

fn why_refused(refusal: &Refusal) -> Markup {
    html! {
        div.refusal role="alert" {
            p { (visible(&refusal.sentence())) }
            p { (visible(&refusal.hint)) }
        }
    }
}

fn answer_form(question: &QuestionView, person: &DecidingPerson, form: &HoldForm) -> Markup {
    let hold = &question.hold;
    let is_long = question.text.len() > TEXT_BYTES_MAX;
    let offered = hold.actions.iter().filter(|action| !is_long || *action == REJECT);
    let (given, hidden) = (
        &form.given,
        [
            ("request_hash", &hold.request_hash),
            ("shown", &question.shown),
            ("shown_at", &question.at),
            ("token", &form.token),
        ],
    );
    html! {
        form #decision method="post" action={ "/holds/" (hold.request) "/decision" } {
            @for (name, value) in hidden { input type="hidden" name=(name) value=(value); }
            fieldset {
                legend { "Answer" }
                @for action in offered { (choice(action, hold, given)) }
            }
            @if hold.actions.iter().any(|action| action == "edit" || action == "respond") {
                label for="value" { "Value, as JSON" }
                textarea id="value" name="value" rows="4" spellcheck="false" { (given.value) }
            }
            label for="reason" { "Reason" }
            textarea id="reason" name="reason" rows="2" { (given.reason) }
            p { "Deciding as " strong { (person.principal) } "." }
            @if is_long {
                p { "This text is too long to approve here: " code { "agentic decide " (hold.request) } "." }
            }
            button type="submit" { "Decide" }
        }
    }
}

fn choice(action: &str, hold: &PendingView, given: &TypedAnswer) -> Markup {
    html! {
        label.choice {
            input type="radio" name="action" value=(action) required checked[given.action == action];
            " " (action)
            @if let Some(meaning) = hold.means.get(action) { span.meaning { " — " (meaning) } }
        }
    }
}
