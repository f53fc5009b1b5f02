//! The agents: as a table, as a drawing, and those that are elsewhere.

use agentic_api::roster::{RosterFilter, RosterPage, RosterRow};
use agentic_api::view::{ArchivedView, RemoteAgentView};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::agent_tree::{self, NODES_MAX, TreeRow};
use super::clip::short_line;
use super::{PageFrame, instant, left_out, short};

/// How many agents or commits stand on a page.
pub const ROWS_MAX: usize = 50;
/// How many kinds the filter offers.
const KINDS_MAX: usize = 60;
/// How agents may stand.
const STATES: [&str; 5] = ["held", "diverged", "waiting", "running", "idle"];

/// What a list of agents is narrowed to.
#[derive(Debug, Clone, Default)]
pub struct AgentFilter {
    /// Only those in this state.
    pub state: String,
    /// Only those that made a commit of this kind.
    pub kind: String,
    /// Only those whose name holds this.
    pub name: String,
    /// Whether they are drawn.
    pub is_tree: bool,
    /// How many stand before.
    pub after: usize,
}

/// The agents that a page shows.
pub struct AgentsSight {
    /// Those that stand on it, and how many there are.
    pub page: RosterPage,
    /// How many only a remote has.
    pub n_remote: usize,
    /// How many are archived.
    pub n_archived: usize,
}

impl AgentFilter {
    fn is_any(&self) -> bool {
        self.state.is_empty() && self.kind.is_empty() && self.name.is_empty()
    }

    fn address(&self, is_tree: bool, after: usize) -> String {
        let text = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let view = if is_tree { "tree" } else { "table" };
        let (state, kind, name) = (text(&self.state), text(&self.kind), text(&self.name));
        format!("/agents?view={view}&state={state}&kind={kind}&name={name}&after={after}")
    }

    /// Says which agents the page shows: in a drawing with those that they descend from, so that they
    /// hang together.
    pub fn roster(&self) -> RosterFilter {
        RosterFilter {
            state: self.state.clone(),
            kind: self.kind.clone(),
            name: self.name.clone(),
            with_ancestors: self.is_tree,
            after: self.after,
            limit: if self.is_tree { NODES_MAX } else { ROWS_MAX },
        }
    }
}

/// Shows the agents that are here.
pub fn list(frame: &PageFrame, sight: &AgentsSight, filter: &AgentFilter) -> Markup {
    let page = &sight.page;
    let most = filter.roster().limit;
    let begin = filter.after.min(page.n_rows);
    let n_left = page.n_rows - begin - page.rows.len();
    frame.around(&html! {
        h1 { "Agents" }
        (places("here", sight.n_remote, sight.n_archived))
        (filter_form(filter, &page.kinds))
        @if page.is_checking {
            p.notice role="status" { "Checking: the index of agents is compared with the repository, and some may be missing." }
        }
        (left_out(&page.left_out))
        p.about {
            (page.n_rows) @if page.n_rows == 1 { " agent" } @else { " agents" }
            " · " a href=(filter.address(false, 0)) aria-current=[(!filter.is_tree).then_some("true")] { "table" }
            " | " a href=(filter.address(true, 0)) aria-current=[filter.is_tree.then_some("true")] { "tree" }
        }
        @if page.n_agents == 0 {
            p { "There is no agent yet: " code { "agentic spawn NAME -m BRIEFING" } " makes one." }
        } @else if page.n_rows == 0 {
            p { "No agent is like that." @if !filter.is_any() { " " a href="/agents" { "All agents" } } }
        } @else if filter.is_tree {
            (agent_tree::markup(&drawn(page), &page.reviews))
        } @else {
            (table(&page.rows))
        }
        @if begin > 0 {
            p { a rel="prev" href=(filter.address(filter.is_tree, begin.saturating_sub(most))) { "previous" } }
        }
        @if n_left > 0 {
            p { a rel="next" href=(filter.address(filter.is_tree, begin + page.rows.len())) { "+" (n_left) " more" } }
        }
    })
}

fn places(here: &str, n_remote: usize, n_archived: usize) -> Markup {
    let current = |place: &str| (place == here).then_some("page");
    html! {
        nav.tabs aria-label="Where" {
            a href="/agents" aria-current=[current("here")] { "here" }
            @if n_remote > 0 || here == "remote" {
                a href="/agents?place=remote" aria-current=[current("remote")] { "on remotes " (n_remote) }
            }
            @if n_archived > 0 || here == "archived" {
                a href="/agents?place=archived" aria-current=[current("archived")] { "archived " (n_archived) }
            }
        }
    }
}

fn drawn(page: &RosterPage) -> Vec<TreeRow<'_>> {
    page.rows.iter().map(|row| TreeRow { depth: row.depth, family: &row.family }).collect()
}

fn filter_form(filter: &AgentFilter, kinds: &[String]) -> Markup {
    let option = |value: &str, chosen: &str| {
        html! { option value=(value) selected[value == chosen] { (short_line(value, 80)) } }
    };
    html! {
        form.filter method="get" action="/agents" {
            input type="hidden" name="view" value=(if filter.is_tree { "tree" } else { "table" });
            label {
                "State "
                select name="state" { option value="" { "any" } @for state in STATES { (option(state, &filter.state)) } }
            }
            label {
                "Kind "
                select name="kind" { option value="" { "any" } @for kind in kinds.iter().take(KINDS_MAX) { (option(kind, &filter.kind)) } }
            }
            label { "Name " input name="name" value=(filter.name) size="14"; }
            button type="submit" { "Show" }
        }
    }
}

fn table(rows: &[RosterRow]) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label="Agents" {
            table {
                thead {
                    tr { th scope="col" { "Agent" } th scope="col" { "State" } th scope="col" { "Commits" } th scope="col" { "Kinds" } th scope="col" { "Newest" } }
                }
                tbody { @for row in rows { (table_row(row)) } }
            }
        }
    }
}

fn table_row(row: &RosterRow) -> Markup {
    let (family, last) = (&row.family, &row.newest);
    let kinds = family.kinds.iter().map(|(kind, count)| format!("{kind} {count}"));
    let kinds = kinds.collect::<Vec<String>>().join(", ");
    html! {
        tr data-row data-rev={ (family.head) (family.state) } id={ "agent-" (family.agent) } {
            td {
                @if row.depth > 0 { span.step aria-hidden="true" { ("└ ".repeat(row.depth.min(8))) } }
                a href={ "/agents/" (family.agent) } { (family.agent) }
            }
            td { (family.state) }
            td.number { (family.commits) }
            td { (short_line(&kinds, 160)) }
            td { (short_line(&last.subject, 120)) " " (instant(&last.at)) }
        }
    }
}

/// Shows the agents that only a remote has.
pub fn remote(
    frame: &PageFrame,
    agents: &[RemoteAgentView],
    n_archived: usize,
    after: usize,
) -> Markup {
    let shown = agents.iter().skip(after).take(ROWS_MAX);
    frame.around(&html! {
        h1 { "Agents" }
        (places("remote", agents.len(), n_archived))
        p.about { "These have no branch here, and are only looked at: " code { "agentic fetch" } " brings what they did since." }
        ul {
            @for agent in shown {
                li {
                    a href={ "/agents/" (utf8_percent_encode(&agent.agent, NON_ALPHANUMERIC)) } { (short_line(&agent.agent, 200)) }
                    " " code { (short(&agent.head)) }
                    @if agent.unsigned { " (unsigned)" }
                }
            }
        }
        (further("remote", agents.len(), after))
    })
}

/// Shows the agents that are archived.
pub fn archived(
    frame: &PageFrame,
    agents: &[ArchivedView],
    n_remote: usize,
    after: usize,
) -> Markup {
    let shown = agents.iter().skip(after).take(ROWS_MAX);
    frame.around(&html! {
        h1 { "Agents" }
        (places("archived", n_remote, agents.len()))
        p.about { "These are folded away, and are only looked at: " code { "agentic archive --restore NAME" } " brings one back." }
        ul {
            @for agent in shown {
                li {
                    (short_line(&agent.agent, 200)) " "
                    a href={ "/commits/" (agent.head) } { code { (short(&agent.head)) } }
                    " archived " (instant(&agent.at))
                }
            }
        }
        (further("archived", agents.len(), after))
    })
}

fn further(place: &str, n: usize, after: usize) -> Markup {
    let (before, next) = (after.saturating_sub(ROWS_MAX), after.saturating_add(ROWS_MAX));
    html! {
        @if after > 0 { p { a rel="prev" href={ "/agents?place=" (place) "&after=" (before) } { "previous" } } }
        @if next < n { p { a rel="next" href={ "/agents?place=" (place) "&after=" (next) } { "+" (n - next) " more" } } }
    }
}
