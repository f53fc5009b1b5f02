//! The inbox: what waits for a person, what they can answer first.

use agentic_api::Refusal;
use agentic_api::view::{InboxView, QuestionView, visible_line};
use maud::{Markup, html};

use super::clip::PageRoom;
use super::hold::{HoldForm, answers, claimed, claims_mark, until, why_unanswerable};
use super::{PageFrame, instant, left_out};

/// How many holds stand on a page.
pub const ROWS_MAX: usize = 50;
/// How many lines of a hold's text a list shows.
const LINES_MAX: usize = 12;
/// How many lines more may be unfolded in the list; what is longer has a page of its own.
const UNFOLDED_MAX: usize = 200;
/// How much of a text stands in the list at most, in bytes.
const UNFOLDED_BYTES_MAX: usize = 16 << 10;

/// How much of a page the forms of its rows may take, in bytes.
const FORMS_BYTES_MAX: usize = 48 << 10;

/// A hold in the list.
pub struct InboxRow {
    /// As it is put before whoever decides.
    pub question: QuestionView,
    /// Whether it is this person's turn.
    pub is_theirs: bool,
    /// What answers it here.
    pub form: Option<HoldForm>,
    /// Why no answer can be taken, if so: the agent has no branch here.
    pub gone: Option<Refusal>,
}

impl InboxRow {
    /// Shows it without a form where no answer can be taken: then it is nobody's turn.
    #[must_use]
    pub fn with_gone(self, gone: Option<Refusal>) -> InboxRow {
        match gone {
            None => self,
            Some(_) => InboxRow { is_theirs: false, form: None, gone, ..self },
        }
    }
}

/// Which part of the inbox is shown.
#[derive(Debug, Clone, Default)]
pub struct InboxFilter {
    /// Only of this agent.
    pub agent: Option<String>,
    /// Only of this kind.
    pub kind: Option<String>,
    /// Only for this reason.
    pub reason: Option<String>,
}

/// Shows open holds, and the forms that answer them as far as the page has room for them.
pub fn page(
    frame: &PageFrame,
    inbox: &InboxView,
    rows: &[InboxRow],
    filter: &InboxFilter,
) -> Markup {
    // Seals are always others: the page is the same that it is without its forms.
    let plain = main(inbox, rows, filter, None);
    let page = frame.around(&plain);
    if rows.iter().all(|row| row.form.is_none()) {
        return page;
    }
    let room = PageRoom { bytes: FORMS_BYTES_MAX, ..PageRoom::left_by(&page.0) };
    frame.around_as(&main(inbox, rows, filter, Some(room)), &plain)
}

fn main(
    inbox: &InboxView,
    rows: &[InboxRow],
    filter: &InboxFilter,
    mut room: Option<PageRoom>,
) -> Markup {
    html! {
        h1 { "Inbox" }
        (left_out(&inbox.left_out))
        @if inbox.decider.is_none() {
            p.refusal {
                "Git does not know who you are, so nobody decides here: set "
                code { "user.name" } " and " code { "user.email" } " by " code { "git config" } "."
            }
        }
        @if inbox.waiting == 0 {
            p { "Nothing waits for a person." }
            p {
                "A program that asks people, such as " code { "hold(\"Deploy?\")" }
                " in a flow, waits here until somebody answers."
            }
        } @else {
            p aria-live="polite" {
                (inbox.waiting) " " @if inbox.waiting == 1 { "waits" } @else { "wait" }
                " · mine " (inbox.mine)
                @if inbox.overdue > 0 { " · " strong { "overdue " (inbox.overdue) } }
            }
            (filters(inbox, filter))
            @if rows.is_empty() { p { "None of them is what you look for." } }
        }
        ul.holds {
            @for one in rows { (row(one, room.as_mut())) }
        }
        @if let Some(next) = &inbox.next {
            p { a rel="next" href=(address(filter, next)) { "next" } }
        }
    }
}

fn filters(inbox: &InboxView, filter: &InboxFilter) -> Markup {
    let choices = [
        ("agent", &inbox.agents, &filter.agent),
        ("kind", &inbox.kinds, &filter.kind),
        ("reason", &inbox.reasons, &filter.reason),
    ];
    html! {
        form.filters method="get" action="/" {
            @for (name, words, chosen) in choices {
                label for={ "filter-" (name) } { (name) }
                select id={ "filter-" (name) } name=(name) {
                    option value="" { "all" }
                    @for word in words {
                        option value=(word) selected[chosen.as_ref() == Some(word)] { (visible_line(word)) }
                    }
                }
            }
            button.quiet type="submit" { "Show" }
        }
    }
}

/// Returns the address of the part behind a request.
fn address(filter: &InboxFilter, after: &str) -> String {
    let encode = |text: &str| {
        percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
    };
    let given = [("agent", &filter.agent), ("kind", &filter.kind), ("reason", &filter.reason)];
    let given = given.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
    let pairs = given.chain([("after", after)]);
    let pairs: Vec<String> =
        pairs.map(|(name, value)| format!("{name}={}", encode(value))).collect();
    format!("/?{}", pairs.join("&"))
}

/// Returns what answers a hold in its row: the forms if there is room, else a link to them.
fn decision(one: &InboxRow, room: Option<&mut PageRoom>) -> Markup {
    let request = &one.question.hold.request;
    let form = one.form.as_ref().zip(room).and_then(|(form, room)| {
        let decider = form.decider.as_ref()?;
        let forms = answers(&one.question, decider, form, &format!("{request}-"));
        room.take_markup(&forms.0).then_some(forms)
    });
    let word = if one.is_theirs { "Decide" } else { "Open" };
    form.unwrap_or_else(|| html! { p { a.button href={ "/holds/" (request) } { (word) } } })
}

fn row(one: &InboxRow, room: Option<&mut PageRoom>) -> Markup {
    let (hold, text) = (&one.question.hold, &one.question.text);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (first, rest) = lines.split_at(lines.len().min(LINES_MAX));
    let is_short = rest.len() <= UNFOLDED_MAX && text.len() <= UNFOLDED_BYTES_MAX;
    let first = first.concat();
    let cut = first.floor_char_boundary(first.len().min(UNFOLDED_BYTES_MAX));
    html! {
        li.hold data-row data-rev={ (hold.request_hash) (hold.overdue) (one.is_theirs) (one.gone.is_some()) (hold.voted.len()) (claims_mark(hold)) } id={ "hold-" (hold.request) } {
            h2 {
                a href={ "/holds/" (hold.request) } {
                    (visible_line(hold.question.as_deref().unwrap_or(&hold.kind)))
                }
            }
            (about(one))
            @if let Some(gone) = &one.gone { (why_unanswerable(gone)) }
            @if is_short && rest.is_empty() {
                div.answered { pre.shown { (text) } div { (decision(one, room)) } }
            } @else {
                pre.shown { (first[..cut]) }
                @if is_short {
                    details {
                        summary { (rest.len()) @if rest.len() == 1 { " line more" } @else { " lines more" } }
                        div.answered { pre.shown { (rest.concat()) } div { (decision(one, room)) } }
                    }
                } @else {
                    p { a href={ "/holds/" (hold.request) } { (rest.len()) " lines more" } }
                }
            }
            @if one.form.is_none() || !is_short {
                (claimed(hold))
            }
        }
    }
}

fn about(one: &InboxRow) -> Markup {
    let hold = &one.question.hold;
    html! {
        p.about {
            @if one.is_theirs { strong { "your turn" } " · " }
            (hold.agent) " asks · " (instant(&hold.asked_at))
            @if let Some(deadline) = &hold.deadline { " · until " (until(deadline)) }
            @if hold.overdue { " · " strong { "overdue" } }
            @if !hold.assignees.is_empty() { " · for " (visible_line(&hold.assignees.join(", "))) }
            @if let Some(role) = &hold.role { " · only with " (visible_line(role)) }
            @if let Some(votes) = &hold.votes { " · " (votes.have) " of " (votes.need) }
            " · requested by run " code { (hold.session.get(..8).unwrap_or(&hold.session)) }
            " › " (hold.path)
        }
    }
}
