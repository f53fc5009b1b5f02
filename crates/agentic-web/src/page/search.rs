//! What was said, by its words.

use agentic_api::verb::SEARCH_LIMIT_MAX;
use agentic_api::view::{IndexStateView, SearchHitView, SearchView, visible_line};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{PageFrame, instant};

/// How many digits of an id are shown.
const ID_DIGITS: usize = 10;
/// The places that a search can be narrowed to.
const PLACES: [&str; 5] = ["trace", "commit", "briefing", "decision", "session"];
/// How far back a search can be narrowed to.
const TIMES: [(&str, &str); 3] =
    [("1d", "last day"), ("1w", "last week"), ("4w", "last four weeks")];
/// How many agents and kinds of hits are offered to narrow a search to.
const NARROWER_MAX: usize = 8;

/// How many hits a page has.
pub const HITS_MAX: usize = 50;

/// A search, and what it found.
#[derive(Debug, Default)]
pub struct SearchSight {
    /// What was asked.
    pub query: String,
    /// How many hits stand on earlier pages.
    pub after: usize,
    /// What was found, if the query could be read.
    pub found: Option<SearchView>,
    /// Why the query cannot be read.
    pub findings: Option<String>,
    /// How the index is.
    pub index: IndexStateView,
}

/// Shows the field, and what was found.
pub fn page(frame: &PageFrame, sight: &SearchSight) -> Markup {
    frame.around(&html! {
        h1 { "Search" }
        form method="get" action="/search" role="search" {
            label for="search" { "Words, " code { "\"phrases\"" } ", " code { "-unwanted" } ", " code { "begin*" } ", filters such as " code { "agent:NAME" } }
            input id="search" type="search" name="q" value=(sight.query) maxlength="1000" autocomplete="off";
            button type="submit" { "Search" }
        }
        @if let (Some(done), Some(of)) = (sight.index.done, sight.index.of) {
            p.notice role="status" { "The index is being built: " (done) " of " (of) " agents and sessions are in it." }
        } @else if sight.index.state == "absent" {
            p.notice role="status" { "There is no index: everything is read for each search." }
        }
        @if let Some(findings) = &sight.findings {
            pre.refusal role="alert" { (findings) }
        }
        @if let Some(found) = &sight.found { (hits(sight, found)) }
    })
}

fn hits(sight: &SearchSight, found: &SearchView) -> Markup {
    let (query, after) = (&sight.query, sight.after);
    let shown = found.items.iter().skip(after).take(HITS_MAX);
    let end = after + shown.len();
    let has_next = found.more || found.items.len() > end;
    html! {
        (narrower(query, found))
        p.about role="status" {
            @if after > 0 && end > after {
                "Hits " (after + 1) " to " (end) ", newest first."
            } @else {
                @match (end, found.partial, has_next) {
                    (0, false, _) => { "Nothing found." }
                    (_, false, _) if after > 0 => { "There are no more." }
                    (n, true, _) => { (n) " found; not everything was looked at: further words or filters look at less." }
                    (n, false, true) => { "The newest " (n) "; there is more." }
                    (1, false, false) => { "1 found." }
                    (n, false, false) => { (n) " found." }
                }
            }
        }
        ol.hits id="hits" start=(after + 1) {
            @for hit in shown { (line(hit)) }
        }
        @if has_next && end < SEARCH_LIMIT_MAX {
            p { a rel="next" href={ (address(query)) "&after=" (end) } { "older hits" } }
        } @else if has_next {
            p.about { "Older ones are found by further words or filters." }
        }
    }
}

fn line(hit: &SearchHitView) -> Markup {
    html! {
        li {
            a href=(target(hit)) { code { (short(&hit.id)) } }
            " " a href=(agent_address(hit)) { (hit.agent) }
            " " span.kind { (visible_line(&hit.kind)) }
            " " @if hit.pending { "pending trace" } @else { (hit.place) }
            @if let Some(n) = hit.n { " " (n) }
            " " (instant(&hit.at))
            p {
                @for (is_marked, piece) in hit.pieces() {
                    @if is_marked { mark { (visible_line(&piece)) } } @else { (visible_line(&piece)) }
                }
            }
        }
    }
}

/// Leads to where a text stands.
fn target(hit: &SearchHitView) -> String {
    match (&hit.commit, hit.place.as_str()) {
        (Some(commit), _) => format!("/commits/{commit}"),
        (None, "commit" | "decision") => format!("/commits/{}", hit.id),
        (None, "session") => format!("/sessions/{}", hit.id),
        (None, _) => agent_address(hit),
    }
}

fn agent_address(hit: &SearchHitView) -> String {
    format!("/agents/{}", utf8_percent_encode(&hit.agent, NON_ALPHANUMERIC))
}

/// A filter that a search can be narrowed by.
struct NarrowerOffer {
    /// What people read.
    name: &'static str,
    /// What a query has it by.
    filter: &'static str,
    /// Its values, and what people read of them.
    values: Vec<(String, String)>,
}

/// Offers the same search, narrowed.
fn narrower(query: &str, found: &SearchView) -> Markup {
    let mut agents: Vec<&str> = found.items.iter().map(|hit| hit.agent.as_str()).collect();
    let mut kinds: Vec<&str> = found.items.iter().map(|hit| hit.kind.as_str()).collect();
    for names in [&mut agents, &mut kinds] {
        names.sort_unstable();
        names.dedup();
        names.truncate(NARROWER_MAX);
    }
    let times = TIMES.map(|(time, shown)| (time.to_owned(), shown.to_owned()));
    let offers = [
        NarrowerOffer { name: "in", filter: "in:", values: named(&PLACES) },
        NarrowerOffer { name: "since", filter: "after:", values: times.to_vec() },
        NarrowerOffer { name: "agent", filter: "agent:", values: named(&agents) },
        NarrowerOffer { name: "kind", filter: "kind:", values: named(&kinds) },
    ];
    let offered = offers.iter().filter(|offer| {
        // A list of one, or one that is there already, narrows nothing.
        offer.values.len() > 1
            && !query.split_whitespace().any(|part| part.starts_with(offer.filter))
    });
    html! {
        nav.filters aria-label="Narrow the search" {
            @for offer in offered {
                p {
                    (offer.name) ": "
                    @for (value, shown) in &offer.values {
                        a href=(address(&format!("{query} {}{value}", offer.filter))) { (visible_line(shown)) } " "
                    }
                }
            }
        }
    }
}

fn named(names: &[&str]) -> Vec<(String, String)> {
    names.iter().map(|name| ((*name).to_owned(), (*name).to_owned())).collect()
}

fn address(query: &str) -> String {
    format!("/search?q={}", utf8_percent_encode(query.trim(), NON_ALPHANUMERIC))
}

/// Shortens an id to what still names it.
fn short(id: &str) -> String {
    // All ids of objects begin alike.
    let begin = if id.starts_with("bafyr4i") { 7 } else { 0 };
    id.chars().take(begin + ID_DIGITS).collect()
}
