//! The agents: all of them, one of them, and one commit with its trace.

use agentic_api::view::{
    EntryView, FamilyView, LogView, PendingView, TraceView, visible, visible_line,
};
use maud::{Markup, html};

use super::{PageFrame, instant};

/// How many agents or commits stand on a page.
pub const ROWS_MAX: usize = 50;
/// How many entries of a trace stand on a page.
pub const ENTRIES_MAX: usize = 200;
/// How many characters of an entry are shown.
const ENTRY_CHARS_MAX: usize = 4 << 10;
/// How many digits of an id are shown.
const ID_DIGITS: usize = 10;

/// An agent with what it did last.
pub struct AgentSight {
    /// Its name.
    pub agent: String,
    /// What it was asked to do, where that can be read.
    pub briefing: Option<String>,
    /// Its commits, newest first.
    pub commits: Vec<LogView>,
    /// The commit after which the next page goes on.
    pub next: Option<String>,
    /// What is not bound to a commit yet.
    pub pending: Vec<EntryView>,
    /// What of it waits for a person.
    pub holds: Vec<PendingView>,
}

/// A commit with its trace.
pub struct CommitSight {
    /// The commit.
    pub commit: LogView,
    /// Its trace, where it has one that can be read.
    pub trace: Option<TraceView>,
    /// From which entry on the trace is shown.
    pub from: usize,
}

/// Shows the agents, each below the one that it was forked from.
pub fn list(frame: &PageFrame, families: &[FamilyView], after: usize) -> Markup {
    let mut rows = Vec::new();
    for family in families {
        flatten(family, 0, &mut rows);
    }
    let shown = rows.iter().skip(after).take(ROWS_MAX);
    frame.around(&html! {
        h1 { "Agents" }
        p.about { (rows.len()) @if rows.len() == 1 { " agent" } @else { " agents" } }
        @if rows.is_empty() {
            p { "There is no agent yet: " code { "agentic spawn NAME -m BRIEFING" } " makes one." }
        } @else {
            table {
                thead {
                    tr { th scope="col" { "Agent" } th scope="col" { "State" } th scope="col" { "Commits" } th scope="col" { "Kinds" } }
                }
                tbody {
                    @for (depth, family) in shown { (row(*depth, family)) }
                }
            }
        }
        @if rows.len() > after.saturating_add(ROWS_MAX) {
            p { a rel="next" href={ "/agents?after=" (after.saturating_add(ROWS_MAX)) } { "next" } }
        }
    })
}

fn flatten<'f>(family: &'f FamilyView, depth: usize, rows: &mut Vec<(usize, &'f FamilyView)>) {
    rows.push((depth, family));
    family.children.iter().for_each(|child| flatten(child, depth + 1, rows));
}

fn row(depth: usize, family: &FamilyView) -> Markup {
    let kinds = family.kinds.iter().map(|(kind, count)| format!("{kind} {count}"));
    html! {
        tr data-rev={ (family.head) (family.state) } id={ "agent-" (family.agent) } {
            td {
                @for _ in 0..depth.min(8) { span.step aria-hidden="true" { "└ " } }
                a href={ "/agents/" (family.agent) } { (family.agent) }
            }
            td { (family.state) }
            td.number { (family.commits) }
            td { (kinds.collect::<Vec<String>>().join(", ")) }
        }
    }
}

/// Shows an agent.
pub fn one(frame: &PageFrame, sight: &AgentSight) -> Markup {
    frame.around(&html! {
        h1 { (sight.agent) }
        @if let Some(briefing) = &sight.briefing {
            details { summary { "Briefing" } pre { (visible(briefing)) } }
        }
        @for hold in &sight.holds {
            p.hold {
                "waits: "
                a href={ "/holds/" (hold.request) } {
                    (visible_line(hold.question.as_deref().unwrap_or(&hold.kind)))
                }
            }
        }
        h2 { "Log" }
        @if !sight.pending.is_empty() {
            p.about {
                "~ pending trace: " (sight.pending.len())
                @if sight.pending.len() == 1 { " entry" } @else { " entries" } " not bound yet"
            }
        }
        ol.log id="log" data-rev=(sight.commits.first().map_or("", |commit| &commit.commit)) {
            @for commit in &sight.commits { (line(commit)) }
        }
        @if let Some(next) = &sight.next {
            p { a rel="next" href={ "/agents/" (sight.agent) "?after=" (next) } { "older" } }
        }
    })
}

fn line(commit: &LogView) -> Markup {
    html! {
        li {
            a href={ "/commits/" (commit.commit) } { code { (short(&commit.commit)) } }
            " " span.kind { (visible_line(&commit.kind)) } " " (visible_line(&commit.subject))
            " " (instant(&commit.at))
            @if commit.trace.is_some() { " · trace" }
            @if commit.unverified { " · " strong { "unverified" } }
        }
    }
}

/// Shows a commit.
pub fn commit(frame: &PageFrame, sight: &CommitSight) -> Markup {
    let commit = &sight.commit;
    let fields = commit.fields.as_object().into_iter().flatten();
    frame.around(&html! {
        h1 { "Commit " code { (short(&commit.commit)) } " · " (visible_line(&commit.kind)) }
        p.about {
            @if let Some(agent) = &commit.agent { a href={ "/agents/" (agent) } { (agent) } " · " }
            (visible_line(&commit.author)) " · " (instant(&commit.at))
        }
        h2 { (visible_line(&commit.subject)) }
        @if !commit.body.is_empty() { pre { (visible(&commit.body)) } }
        dl {
            @for parent in &commit.parents {
                dt { "parent" }
                dd { a href={ "/commits/" (parent) } { code { (short(parent)) } } }
            }
            @for (name, value) in fields {
                dt { (visible_line(name)) }
                dd { (visible_line(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))) }
            }
        }
        @if let Some(trace) = &sight.trace { (entries(&commit.commit, trace, sight.from)) }
    })
}

fn entries(commit: &str, trace: &TraceView, from: usize) -> Markup {
    let shown = trace.entries.iter().skip(from).take(ENTRIES_MAX);
    html! {
        h2 { "Trace" }
        p.about { (trace.entries.len()) " entries · " code { (trace.cid) } }
        ol.trace start=(from.saturating_add(1)) {
            @for entry in shown {
                li {
                    (instant(&entry.at)) " " span.kind { (visible_line(&entry.kind)) }
                    (body(entry))
                }
            }
        }
        @if trace.entries.len() > from.saturating_add(ENTRIES_MAX) {
            p { a rel="next" href={ "/commits/" (commit) "?from=" (from.saturating_add(ENTRIES_MAX)) } { "later entries" } }
        }
    }
}

fn body(entry: &EntryView) -> Markup {
    let text = entry.text.as_deref().unwrap_or_default();
    let cut = text.char_indices().nth(ENTRY_CHARS_MAX).map(|(at, _)| at);
    html! {
        @match (&entry.text, &entry.base64) {
            (Some(_), _) => {
                pre { (visible(&text[..cut.unwrap_or(text.len())])) }
                @if cut.is_some() { p.about { "… of " (text.len()) " bytes" } }
            }
            (None, Some(bytes)) => p.about { "bytes: " (bytes.len() / 4 * 3) }
            (None, None) => p.about { "removed" }
        }
    }
}

/// Shortens an id.
fn short(id: &str) -> &str {
    id.get(..ID_DIGITS).unwrap_or(id)
}
