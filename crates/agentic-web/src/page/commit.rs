//! One commit: what it says, who decided it, what it changed, and what its agent saw before.

use agentic_api::view::{
    CommitDetailView, CommitDiffView, LogView, TraceBindingView, TraceView, visible_line,
};
use maud::{Markup, html};
use serde_json::Value as Json;

use super::agent::address_of;
use super::clip::{PageRoom, clip, short_line};
use super::diff::{self, DiffPaint, DiffQuery};
use super::{PageFrame, duration, instant, short, trace};
use crate::colour::DiffColours;

/// How much of a message is shown, in bytes of the page.
const MESSAGE_BYTES_MAX: usize = 8 << 10;
/// How much of a field is shown, in bytes of the page.
const FIELD_BYTES_MAX: usize = 400;
/// How many fields are shown.
const FIELDS_MAX: usize = 20;
/// The kind of a person's decision.
const DECISION: &str = "decision";
/// What of a decision has a place of its own.
const DECIDED: [&str; 5] = ["action", "principal", "requested_at", "decided_at", "shown"];

/// A commit with what belongs to it.
pub struct CommitSight {
    /// The commit.
    pub detail: CommitDetailView,
    /// What it changed, or why that cannot be told.
    pub diff: Result<CommitDiffView, String>,
    /// The colours of what it changed.
    pub colours: DiffColours,
    /// Its trace, where it has one that can be read.
    pub trace: Option<TraceView>,
}

/// Which part of a commit a page shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct CommitQuery {
    /// Of the difference.
    pub diff: DiffQuery,
    /// From which entry on the trace is shown.
    pub entries: usize,
}

/// Shows a commit; its colours as far as the page has room for them.
pub fn page(frame: &PageFrame, sight: &CommitSight, query: CommitQuery) -> Markup {
    let plain = main(sight, query, None);
    let page = frame.around(&plain);
    if sight.colours.is_empty() {
        return page;
    }
    let paint = DiffPaint { colours: &sight.colours, room: PageRoom::left_by(&page.0) };
    frame.around_as(&main(sight, query, Some(paint)), &plain)
}

fn main(sight: &CommitSight, query: CommitQuery, paint: Option<DiffPaint<'_>>) -> Markup {
    let detail = &sight.detail;
    let commit = &detail.commit;
    html! {
        (head(detail))
        @if !commit.body.is_empty() {
            @let body = clip(&commit.body, MESSAGE_BYTES_MAX);
            pre { (body.shown) }
            @if body.is_cut { p.about { "… of " (commit.body.len()) " bytes" } }
        }
        @if commit.kind == DECISION { (decision(detail)) }
        (fields(detail))
        div.beside {
            @match &sight.diff {
                Ok(diff) => (diff::section(&commit.commit, diff, query.diff, paint)),
                Err(reason) => section { h2 { "Diff" } p.refusal { (short_line(reason, 500)) } },
            }
            // A file that is looked at by itself has the page for itself.
            @if query.diff.file.is_none() { (beside(sight, query)) }
        }
    }
}

/// Shows which traces a commit has had.
pub fn history_page(
    frame: &PageFrame,
    detail: &CommitDetailView,
    bindings: &[TraceBindingView],
) -> Markup {
    frame.around(&html! {
        (head(detail))
        nav.tabs aria-label="Trace" {
            a href={ "/commits/" (detail.commit.commit) "#trace" } { "trace" }
            " " a href={ "/commits/" (detail.commit.commit) "/history" } aria-current="page" { "trace history" }
        }
        (trace::history(bindings))
    })
}

fn head(detail: &CommitDetailView) -> Markup {
    let commit = &detail.commit;
    html! {
        h1 { "Commit " code { (short(&commit.commit)) } " · " (short_line(&commit.kind, 128)) }
        p.about {
            @if let Some(agent) = &commit.agent {
                @match detail.archived {
                    true => { (visible_line(agent)) ", archived · " }
                    false => { (agent_link(agent)) " · " }
                }
            }
            (short_line(&commit.author, 200)) " · " (instant(&commit.at))
        }
        h2 { (short_line(&commit.subject, 1_000)) }
        @if let Some(from) = &commit.copied_from {
            p.about { "It says that it is a commit of " (agent_link(from)) ", and does not stand on that branch: it was copied." }
        }
    }
}

fn agent_link(agent: &str) -> Markup {
    html! { a href=(address_of(agent)) { (visible_line(agent)) } }
}

/// Says who decided what, and leads to the hold and to the session.
fn decision(detail: &CommitDetailView) -> Markup {
    let fields = &detail.commit.fields;
    let text = |name: &str| fields.get(name).and_then(Json::as_str);
    html! {
        section aria-labelledby="decision-title" {
            h2 id="decision-title" { "Decision" }
            @if detail.commit.unverified {
                p.refusal { strong { "Unverified: " } "it looks like a decision, and no record here says that it is one." }
            }
            dl #decided {
                @if let Some(action) = text("action") { dt { "answer" } dd { (short_line(action, FIELD_BYTES_MAX)) } }
                @if let Some(principal) = text("principal") { dt { "by" } dd { (short_line(principal, FIELD_BYTES_MAX)) } }
                @if let Some(request) = &detail.request {
                    dt { "hold" } dd { a href={ "/holds/" (request.request) } { code { (request.request) } } }
                }
                @if let Some(at) = text("requested_at") { dt { "asked" } dd { (instant(at)) } }
                @if let Some(at) = text("decided_at") { dt { "decided" } dd { (instant(at)) } }
                @if let Some(waited) = detail.waited_ms { dt { "latency" } dd { (duration(waited)) } }
                @if let Some(shown) = text("shown") { dt { "shown" } dd { code { (short_line(shown, FIELD_BYTES_MAX)) } } }
            }
        }
    }
}

/// Shows where a commit comes from, and its open fields.
fn fields(detail: &CommitDetailView) -> Markup {
    let commit = &detail.commit;
    // What an agent of a remote or of the archive began with is not among the objects here.
    let is_here =
        !detail.archived && !commit.agent.as_ref().is_some_and(|agent| agent.contains('/'));
    let is_other = |name: &str| commit.kind != DECISION || !DECIDED.contains(&name);
    let fields: Vec<_> = commit.fields.as_object().into_iter().flatten().collect();
    let fields: Vec<_> = fields.into_iter().filter(|(name, _)| is_other(name)).collect();
    html! {
        dl {
            dt { "commit" } dd { code { (commit.commit) } }
            @for parent in commit.parents.iter().take(FIELDS_MAX) {
                dt { "parent" }
                dd { a href={ "/commits/" (parent) } { code { (short(parent)) } } }
            }
            @if let Some(merged) = &commit.merged { dt { "merged" } dd { (agent_link(merged)) } }
            @if let Some(session) = &detail.session { dt { "session" } dd { (session_link(session, detail)) } }
            @for (name, id) in [("briefing", &detail.briefing), ("behaviour", &detail.behaviour)] {
                @if let Some(id) = id {
                    dt { (name) }
                    dd {
                        @if is_here { a href={ "/objects/" (id) } { code { (short(id)) } } }
                        @else { code { (id) } }
                    }
                }
            }
            @for (name, value) in fields.iter().take(FIELDS_MAX) {
                dt { (short_line(name, 128)) }
                dd { (short_line(&shown(value), FIELD_BYTES_MAX)) }
            }
            @if fields.len() > FIELDS_MAX { dt { "…" } dd { (fields.len() - FIELDS_MAX) " fields more" } }
        }
    }
}

/// Leads to the session that a commit names; to the request in it where its records have that.
fn session_link(session: &str, detail: &CommitDetailView) -> Markup {
    let is_id = !session.is_empty() && session.bytes().all(|byte| byte.is_ascii_hexdigit());
    html! {
        @if !is_id {
            (short_line(session, FIELD_BYTES_MAX))
        } @else {
            a href={ "/sessions/" (session) } { code { (short(session)) } }
            @if let Some(request) = &detail.request {
                " / " a href={ "/sessions/" (session) "/requests/" (request.seq) } {
                    (short_line(&request.path, 128)) " " (short_line(&request.kind, 128))
                }
            }
        }
    }
}

fn shown(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Shows the trace beside the difference.
fn beside(sight: &CommitSight, query: CommitQuery) -> Markup {
    let commit = &sight.detail.commit.commit;
    let address = |from: usize| format!("/commits/{commit}?from={from}#trace");
    html! {
        section id="trace" aria-label="Trace" {
            nav.tabs aria-label="Trace" {
                a href={ "/commits/" (commit) "#trace" } aria-current="page" { "trace" }
                " " a href={ "/commits/" (commit) "/history" } { "trace history" }
            }
            @match &sight.trace {
                Some(found) => {
                    p.about { a href={ "/traces/" (found.cid) } { code { (short(&found.cid)) } } }
                    (trace::entries(found, query.entries, trace::BESIDE_ROOM, &address))
                }
                None => (no_trace(&sight.detail.commit)),
            }
        }
    }
}

fn no_trace(commit: &LogView) -> Markup {
    html! {
        p {
            @if commit.trace.is_some() { "Its trace cannot be read." } @else { "No trace is bound to it." }
        }
    }
}
