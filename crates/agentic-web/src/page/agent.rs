//! One agent: what it was asked to do, did and saw, and to whom it is related.

use agentic_api::view::{
    EntryView, LogView, PendingView, RelationView, SessionPageView, visible_line,
};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::clip::{clip, short_line};
use super::{PageFrame, instant, session, short};

/// How much of a briefing is shown, in bytes of the page.
const BRIEFING_BYTES_MAX: usize = 16 << 10;
/// How many pending entries are shown.
const PENDING_MAX: usize = 20;
/// How much of one is shown, in bytes of the page.
const PENDING_BYTES_MAX: usize = 600;
/// How many names or relations are shown.
const RELATED_MAX: usize = 200;

/// The parts of an agent's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentTab {
    /// Its commits.
    Log,
    /// Those with traces, and what is not bound yet.
    Traces,
    /// The agents that were forked from it.
    SubAgents,
    /// Its sessions.
    Sessions,
    /// What holds between it and others.
    Relations,
}

impl AgentTab {
    /// All of them.
    const ALL: [AgentTab; 5] = [
        AgentTab::Log,
        AgentTab::Traces,
        AgentTab::SubAgents,
        AgentTab::Sessions,
        AgentTab::Relations,
    ];
    /// Those of an agent of a remote: what else there is of it, only that clone knows.
    const REMOTE: [AgentTab; 2] = [AgentTab::Log, AgentTab::Traces];

    /// Returns what it is called in an address.
    pub fn name(self) -> &'static str {
        match self {
            AgentTab::Log => "log",
            AgentTab::Traces => "traces",
            AgentTab::SubAgents => "sub-agents",
            AgentTab::Sessions => "sessions",
            AgentTab::Relations => "relations",
        }
    }

    /// Finds the part of a name.
    pub fn parse(name: &str) -> Option<AgentTab> {
        AgentTab::ALL.into_iter().find(|tab| tab.name() == name)
    }
}

/// An agent with what a page shows of it.
pub struct AgentSight {
    /// Its name.
    pub agent: String,
    /// The agent that it was forked from.
    pub parent: Option<String>,
    /// What it was asked to do, where that can be read.
    pub briefing: Option<String>,
    /// What is not bound to a commit yet.
    pub pending: Vec<EntryView>,
    /// What of it waits for a person.
    pub holds: Vec<PendingView>,
    /// The part that is shown.
    pub part: AgentPart,
}

/// A part of an agent's page with what stands in it.
pub enum AgentPart {
    /// Commits, newest first, and the one after which the next page goes on.
    Log(Vec<LogView>, Option<String>),
    /// Those of them that have traces.
    Traces(Vec<LogView>, Option<String>),
    /// Names.
    SubAgents(Vec<String>),
    /// Sessions, and how many stand before these.
    Sessions(SessionPageView, usize),
    /// Relations.
    Relations(Vec<RelationView>),
}

impl AgentPart {
    fn tab(&self) -> AgentTab {
        match self {
            AgentPart::Log(..) => AgentTab::Log,
            AgentPart::Traces(..) => AgentTab::Traces,
            AgentPart::SubAgents(_) => AgentTab::SubAgents,
            AgentPart::Sessions(..) => AgentTab::Sessions,
            AgentPart::Relations(_) => AgentTab::Relations,
        }
    }
}

/// Shows an agent.
pub fn page(frame: &PageFrame, sight: &AgentSight) -> Markup {
    let address = address_of(&sight.agent);
    let shown = sight.part.tab();
    let tabs = if sight.agent.contains('/') { &AgentTab::REMOTE[..] } else { &AgentTab::ALL };
    frame.around(&html! {
        h1 { (visible_line(&sight.agent)) @if !sight.holds.is_empty() { " · held" } }
        p.about {
            @if let Some(parent) = &sight.parent { "from " a href={ "/agents/" (parent) } { (visible_line(parent)) } }
            @else if sight.agent.contains('/') { "of a remote: it is only looked at" }
        }
        @if let Some(briefing) = &sight.briefing {
            @let clipped = clip(briefing, BRIEFING_BYTES_MAX);
            details { summary { "Briefing" } pre { (clipped.shown) } @if clipped.is_cut { p.about { "… of " (briefing.len()) " bytes" } } }
        }
        @for hold in sight.holds.iter().take(10) {
            p.hold {
                "waits: "
                a href={ "/holds/" (hold.request) } {
                    (short_line(hold.question.as_deref().unwrap_or(&hold.kind), 300))
                }
            }
        }
        nav.tabs aria-label="Parts" {
            @for &tab in tabs {
                a href=(tab_address(&address, tab)) aria-current=[(tab == shown).then_some("page")] { (tab.name()) }
                " "
            }
        }
        h2 { (title(shown)) }
        (part(sight, &address))
    })
}

/// Returns the address of the page of an agent.
pub fn address_of(agent: &str) -> String {
    // The name of a remote's agent has a slash.
    match agent.contains('/') {
        true => format!("/agents/{}", utf8_percent_encode(agent, NON_ALPHANUMERIC)),
        false => format!("/agents/{agent}"),
    }
}

fn tab_address(address: &str, tab: AgentTab) -> String {
    match tab {
        AgentTab::Log => address.to_owned(),
        AgentTab::Traces | AgentTab::SubAgents | AgentTab::Sessions | AgentTab::Relations => {
            format!("{address}/{}", tab.name())
        }
    }
}

fn title(tab: AgentTab) -> &'static str {
    match tab {
        AgentTab::Log => "Log",
        AgentTab::Traces => "Traces",
        AgentTab::SubAgents => "Sub-agents",
        AgentTab::Sessions => "Sessions",
        AgentTab::Relations => "Relations",
    }
}

fn part(sight: &AgentSight, address: &str) -> Markup {
    match &sight.part {
        AgentPart::Log(commits, next) => html! {
            (n_pending(sight, address))
            (log(commits))
            @if let Some(next) = next { p { a rel="next" href={ (address) "?after=" (next) } { "older" } } }
        },
        AgentPart::Traces(commits, next) => html! {
            (pending(&sight.pending))
            @if commits.is_empty() && sight.pending.is_empty() { p { "No trace here." } }
            (log(commits))
            @if let Some(next) = next { p { a rel="next" href={ (address) "/traces?after=" (next) } { "older" } } }
        },
        AgentPart::SubAgents(names) => html! {
            @if names.is_empty() { p { "No agent was forked from it." } }
            ul { @for name in names.iter().take(RELATED_MAX) { li { a href={ "/agents/" (name) } { (visible_line(name)) } } } }
            @if names.len() > RELATED_MAX { p { "+" (names.len() - RELATED_MAX) " more" } }
        },
        AgentPart::Sessions(page, after) => html! {
            @if page.items.is_empty() { p { "It has no session." } }
            (session::table(&page.items))
            @if *after > 0 { p { a rel="prev" href={ (address) "/sessions?skip=" (after.saturating_sub(page.items.len().max(50))) } { "newer" } } }
            @if let Some(next) = page.next { p { a rel="next" href={ (address) "/sessions?skip=" (next) } { "older" } } }
        },
        AgentPart::Relations(relations) => html! {
            @if relations.is_empty() { p { "Nothing holds between it and others." } }
            ul {
                @for one in relations.iter().take(RELATED_MAX) {
                    li { (party(&one.source)) " " (visible_line(&one.relation)) " " (party(&one.target)) @if one.derived { " · follows from commits" } }
                }
            }
            @if relations.len() > RELATED_MAX { p { "+" (relations.len() - RELATED_MAX) " more" } }
        },
    }
}

/// Names an agent with a link, and people and branches without.
fn party(name: &str) -> Markup {
    html! {
        @if name.contains(':') { (short_line(name, 200)) } @else { a href={ "/agents/" (name) } { (short_line(name, 200)) } }
    }
}

fn n_pending(sight: &AgentSight, address: &str) -> Markup {
    html! {
        @if !sight.pending.is_empty() {
            p.about {
                a href={ (address) "/traces" } {
                    "~ pending trace: " (sight.pending.len())
                    @if sight.pending.len() == 1 { " entry" } @else { " entries" } " not bound yet"
                }
            }
        }
    }
}

fn pending(entries: &[EntryView]) -> Markup {
    let begin = entries.len().saturating_sub(PENDING_MAX);
    html! {
        @if !entries.is_empty() {
            p.about { "~ " (entries.len()) @if entries.len() == 1 { " entry" } @else { " entries" } " not bound yet" @if begin > 0 { ", the newest " (PENDING_MAX) " here" } }
            ol.trace start=(begin + 1) {
                @for entry in &entries[begin..] {
                    li {
                        (instant(&entry.at)) " " b.kind { (short_line(&entry.kind, 64)) }
                        @match &entry.text {
                            Some(text) => pre { (clip(text, PENDING_BYTES_MAX).shown) },
                            None => { " bytes" }
                        }
                    }
                }
            }
        }
    }
}

fn log(commits: &[LogView]) -> Markup {
    html! {
        ol.log id="log" data-rev=(commits.first().map_or("", |commit| &commit.commit)) {
            @for commit in commits { (line(commit)) }
        }
    }
}

fn line(commit: &LogView) -> Markup {
    html! {
        li data-row id={ "commit-" (commit.commit) } {
            a href={ "/commits/" (commit.commit) } { code { (short(&commit.commit)) } }
            " " span.kind { (short_line(&commit.kind, 80)) } " " (short_line(&commit.subject, 300))
            " " (instant(&commit.at))
            @if let Some(trace) = &commit.trace { " · " a href={ "/traces/" (trace) } { "trace" } }
            @if let Some(from) = &commit.copied_from { " · copied from " (visible_line(from)) }
            @if commit.unverified { " · " strong { "unverified" } }
        }
    }
}
