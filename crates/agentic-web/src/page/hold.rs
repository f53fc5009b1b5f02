//! One hold, and the form that answers it.

use agentic_api::Refusal;
use agentic_api::view::question::{pretty, subject, text_hash};
use agentic_api::view::{
    ClosedHoldView, DeciderView, PeerReplyView, PendingView, QuestionView, UnverifiedView,
    difference, visible, visible_line,
};
use agentic_model::guidance::ErrorClass;
use maud::{Markup, html};
use serde_json::Value as Json;

use super::clip::clip;
use super::field::{TypedValue, ValueForm};
use super::{PageFrame, instant, short};

/// Above so many bytes of text only a rejection is offered here.
pub const TEXT_BYTES_MAX: usize = 256 << 10;
/// The action that is always offered.
pub const REJECT: &str = "reject";
/// What to do where another text was answered.
pub const CHOOSE_AGAIN: &str = "read what is asked now, and choose again";
/// So many bytes of a reason are shown here.
const REASON_BYTES_MAX: usize = 4 << 10;
/// How many digits of a commit are shown in a sentence.
const ID_DIGITS: usize = 10;

/// What the form of a hold needs besides the hold.
pub struct HoldForm {
    /// Who would decide; nobody where the login only looks, or the hold is somebody else's.
    pub decider: Option<DeciderView>,
    /// Whether the login may decide what is this person's.
    pub may_decide: bool,
    /// Who that is, in short.
    pub who: String,
    /// The seal of the form.
    pub token: String,
    /// What was typed before.
    pub given: TypedAnswer,
    /// Why no answer can be taken, if so: the agent has no branch here.
    pub gone: Option<Refusal>,
    /// Why nobody here decides anything, if so: git does not know who is here.
    pub nobody: Option<Refusal>,
}

/// What a person has typed, and why it was not taken.
#[derive(Debug, Clone, Default)]
pub struct TypedAnswer {
    /// The action.
    pub action: String,
    /// The value; what is offered, if nothing was sent yet.
    pub value: Option<TypedValue>,
    /// Why.
    pub reason: String,
    /// Whether an approval is to count for the rest of the session.
    pub is_lasting: bool,
    /// Why it was not taken.
    pub refusal: Option<Refusal>,
    /// The text that was answered, where that is not the one that is shown now.
    pub before: Option<String>,
}

impl TypedAnswer {
    /// Takes back the choice where it was made about another text, and keeps what was typed.
    #[must_use]
    pub fn about_another(self, refusal: &Refusal, before: Option<String>) -> TypedAnswer {
        let refusal = Refusal { hint: CHOOSE_AGAIN.to_owned(), ..refusal.clone() };
        let action = String::new();
        TypedAnswer { action, is_lasting: false, refusal: Some(refusal), before, ..self }
    }
}

/// An edited value that a person has not seen as a difference yet.
pub struct EditedValue<'e> {
    /// The value.
    pub value: &'e Json,
    /// The seal that says it was shown.
    pub seal: &'e str,
}

/// Shows a hold.
pub fn page(frame: &PageFrame, question: &QuestionView, form: &HoldForm) -> Markup {
    let hold = &question.hold;
    let fault = form.given.refusal.as_ref().filter(|refusal| refusal.class != ErrorClass::Schema);
    // Where no answer is taken, that is why it was not.
    let fault = fault.filter(|_| form.gone.is_none());
    frame.around(&html! {
        (headline(hold, form))
        @if let Some(gone) = &form.gone { (why_unanswerable(gone)) }
        @if let Some(refusal) = fault { (why_refused(refusal)) }
        @if let Some(before) = &form.given.before {
            h2 { "What changed" }
            pre #changed { (difference::lines(before, &question.text)) }
            h2 { "What is asked now" }
        }
        pre #shown { (question.text) }
        @if form.gone.is_some() {
            (claimed(hold))
        } @else if let (true, Some(decider)) = (form.may_decide, &form.decider) {
            (answers(question, decider, form, ""))
        } @else {
            (why_no_form(hold, form))
            (claimed(hold))
        }
    })
}

/// Shows the forms that answer a hold; what is named in them begins with a text of their own, so that
/// there may be others on the page.
pub fn answers(
    question: &QuestionView,
    decider: &DeciderView,
    form: &HoldForm,
    prefix: &str,
) -> Markup {
    html! {
        (answer_form(question, decider, form, prefix))
        @for claim in claims(&question.hold) { (acceptance(question, &claim, form)) }
    }
}

/// A decision of somebody else, of a hold that is open.
struct DecisionClaim<'h> {
    commit: &'h str,
    said: Markup,
    /// What it is, and what it would be to accept it; nothing where that cannot be done.
    why: Option<&'static str>,
}

/// Lists what others say they decided of a hold: by commits on its branch, and as peers.
fn claims(hold: &PendingView) -> Vec<DecisionClaim<'_>> {
    let unverified = hold.unverified.iter().map(|claim| DecisionClaim {
        commit: &claim.commit,
        said: unverified(claim),
        why: Some(
            "It does not count: nothing here proves who made it. \
             To accept makes its answer and its value your own.",
        ),
    });
    let replies = hold.replies.iter().map(|reply| DecisionClaim {
        commit: &reply.commit,
        said: html! { (reply.sentence()) },
        why: match (reply.is_acceptable(), reply.reason.is_some()) {
            (false, _) => None,
            (true, false) => Some("It counts once somebody here accepts it."),
            (true, true) => {
                Some("It does not count. To accept makes its answer and its value your own.")
            }
        },
    });
    unverified.chain(replies).collect()
}

fn unverified(claim: &UnverifiedView) -> Markup {
    let UnverifiedView { commit, action, principal } = claim;
    html! {
        strong { "unverified: " }
        a href={ "/commits/" (commit) } { code { (commit.get(..ID_DIGITS).unwrap_or(commit)) } }
        " says " (action) " by " (visible_line(principal))
    }
}

/// Says when something else is claimed.
pub fn claims_mark(hold: &PendingView) -> String {
    let unverified = hold.unverified.iter().map(|claim| claim.commit.clone());
    let replies = hold.replies.iter().map(PeerReplyView::sentence);
    let all: String = unverified.chain(replies).collect();
    match all.is_empty() {
        true => all,
        false => text_hash(&all),
    }
}

/// Says what others say they decided of a hold, to whoever only looks.
pub fn claimed(hold: &PendingView) -> Markup {
    html! { @for claim in claims(hold) { p.about { (claim.said) } } }
}

/// Says that nobody can answer a hold here, why, and what to do.
pub fn why_unanswerable(gone: &Refusal) -> Markup {
    html! {
        div.refusal {
            p { strong { "This cannot be answered here: " } (visible(&gone.sentence())) }
            p { (visible(&gone.hint)) }
        }
    }
}

fn headline(hold: &PendingView, form: &HoldForm) -> Markup {
    html! {
        h1 { (visible_line(hold.question.as_deref().unwrap_or(&hold.kind))) }
        p.about {
            @if form.gone.is_some() { (hold.agent) } @else { a href={ "/agents/" (hold.agent) } { (hold.agent) } }
            " asks · " (instant(&hold.asked_at))
            @if let Some(deadline) = &hold.deadline { " · until " (until(deadline)) }
            @if hold.overdue { " · " strong { "overdue" } }
            @if !hold.assignees.is_empty() { " · for " (visible_line(&hold.assignees.join(", "))) }
            @if let Some(role) = &hold.role { " · only with " (visible_line(role)) }
            @if let Some(votes) = &hold.votes { " · " (votes.have) " of " (votes.need) }
            " · in session " a href={ "/sessions/" (hold.session) } { code { (short(&hold.session)) } }
            " › " (visible_line(&hold.path))
        }
    }
}

/// Shows until when something may be decided: the script counts, and puts the buttons out.
pub fn until(deadline: &str) -> Markup {
    html! { time datetime=(deadline) data-deadline { (deadline) } }
}

fn why_no_form(hold: &PendingView, form: &HoldForm) -> Markup {
    html! {
        @if let (true, Some(nobody)) = (form.may_decide, &form.nobody) {
            (why_unanswerable(nobody))
        } @else if form.may_decide {
            p { "This is for " (visible_line(&hold.assignees.join(", "))) " to decide." }
        } @else {
            p { "This login may only look. " code { "agentic decide " (hold.request) } " answers." }
        }
    }
}

/// Shows a hold that is decided: by whom, how and when; and why an answer came too late, if one did.
pub fn closed(frame: &PageFrame, hold: &ClosedHoldView, late: Option<&Refusal>) -> Markup {
    let reason = clip(&hold.reason, REASON_BYTES_MAX);
    frame.around(&html! {
        h1 { "Decided: " (hold.action) }
        @if let Some(refusal) = late { (why_refused(refusal)) }
        dl #decided {
            dt { "Answer" } dd { (hold.action) }
            dt { "By" } dd { (visible_line(&hold.principal)) }
            @if let Some(at) = &hold.at { dt { "At" } dd { (instant(at)) } }
            @if let Some(commit) = &hold.commit { dt { "Commit" } dd { a href={ "/commits/" (commit) } { code { (commit) } } } }
            dt { "Session" } dd { a href={ "/sessions/" (hold.session) } { code { (hold.session) } } }
            @if !hold.reason.is_empty() { dt { "Reason" } dd.text { (reason.shown) @if reason.is_cut { "… the commit has all of it" } } }
            @for reply in &hold.replies { dt { "Of a peer" } dd { (reply.sentence()) } }
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

/// What every form of a decision brings back unchanged.
fn hidden(question: &QuestionView, form: &HoldForm) -> Markup {
    let fields = [
        ("request_hash", &question.hold.request_hash),
        ("shown", &question.shown),
        ("shown_at", &question.at),
        ("who", &form.who),
        ("token", &form.token),
    ];
    html! {
        @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
    }
}

fn answer_form(
    question: &QuestionView,
    decider: &DeciderView,
    form: &HoldForm,
    prefix: &str,
) -> Markup {
    let (hold, given) = (&question.hold, &form.given);
    let is_long = question.text.len() > TEXT_BYTES_MAX;
    let offered = hold.actions.iter().filter(|action| !is_long || *action == REJECT);
    let fields = ValueForm::of(hold).filter(|_| !is_long);
    let fault = given.refusal.as_ref().filter(|refusal| refusal.class == ErrorClass::Schema);
    html! {
        form.decision id={ (prefix) "decision" } method="post" action={ "/holds/" (hold.request) "/decision" } {
            (hidden(question, form))
            fieldset {
                legend { "Answer" }
                @for action in offered { (choice(action, hold, given)) }
            }
            @if let Some(covered) = hold.rest_of_session.as_ref().filter(|_| !is_long) {
                label.choice {
                    input type="checkbox" name="scope" value="rest-of-session" checked[given.is_lasting];
                    " an approval counts for the rest of the session: " (visible_line(covered))
                }
            }
            @match &fields {
                Some(fields) => {
                    (fields.show(hold, &given.value.clone().unwrap_or_else(|| fields.offered(hold)), fault, prefix))
                }
                None => @if let Some(fault) = fault { (why_refused(fault)) }
            }
            label for={ (prefix) "reason" } { "Reason" }
            textarea id={ (prefix) "reason" } name="reason" rows="2" { "\n" (given.reason) }
            (who(decider))
            @if is_long {
                p { "This text is too long to approve here: " code { "agentic decide " (hold.request) } "." }
            }
            button type="submit" { "Decide" }
        }
    }
}

/// Says who is deciding: whose decision it becomes, and what proves that.
fn who(decider: &DeciderView) -> Markup {
    html! {
        p.who {
            "Deciding as " strong { (visible_line(&decider.principal)) }
            @if let Some(login) = &decider.login {
                ", known by " code { (visible_line(login)) } "; the commit is made by"
            }
            " <" (visible_line(&decider.address)) ">, "
            @match &decider.key {
                Some(key) => { "signed " code { (visible_line(key)) } }
                None => "not signed"
            }
            "."
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

/// Offers to make one's own what a commit says that does not count.
fn acceptance(question: &QuestionView, claim: &DecisionClaim<'_>, form: &HoldForm) -> Markup {
    let (request, commit) = (&question.hold.request, claim.commit);
    html! {
        div.unverified {
            p { (claim.said) }
            @if let Some(why) = claim.why { details {
                summary { "accept…" }
                p { (why) }
                @if question.text.len() > TEXT_BYTES_MAX {
                    p { code { "agentic decide " (request) " --accept " (commit) } }
                } @else {
                    form method="post" action={ "/holds/" (request) "/decision" } {
                        (hidden(question, form))
                        input type="hidden" name="accept" value=(commit);
                        label for={ "why-" (commit) } { "Reason; else that of the commit" }
                        textarea id={ "why-" (commit) } name="reason" rows="2" {}
                        button type="submit" { "Accept as mine" }
                    }
                }
            } }
        }
    }
}

/// Shows what an edit changes, with the button that decides so.
pub fn edited(
    frame: &PageFrame,
    question: &QuestionView,
    form: &HoldForm,
    edited: &EditedValue<'_>,
) -> Markup {
    let hold = &question.hold;
    let changes = difference::lines(&pretty(subject(hold)), &pretty(edited.value));
    let value = edited.value.to_string();
    frame.around(&html! {
        (headline(hold, form))
        pre #shown { (question.text) }
        h2 { "What your edit changes" }
        pre #changes { (visible(&changes)) }
        form.decision #decision method="post" action={ "/holds/" (hold.request) "/decision" } {
            (hidden(question, form))
            input type="hidden" name="action" value=(form.given.action);
            input type="hidden" name="edited" value=(value);
            input type="hidden" name="confirmed" value=(edited.seal);
            input type="hidden" name="reason" value=(form.given.reason);
            @if !form.given.reason.is_empty() { p.text { "Reason: " (visible(&form.given.reason)) } }
            @if let Some(decider) = &form.decider { (who(decider)) }
            button type="submit" { "Decide with this value" }
        }
        p { a href={ "/holds/" (hold.request) } { "Begin again" } }
    })
}
