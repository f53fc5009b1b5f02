//! Sessions: all of them, one of them at any of its records, and one request.

use agentic_api::view::{ForkView, ReplayedSessionView, RequestView, SessionPageView, SessionView};
use agentic_model::Instant;
use maud::{Markup, PreEscaped, html};
use serde_json::Value as Json;

use super::clip::{clip, page_bytes, short_line};
use super::{PageFrame, duration, instant, left_out, short};

/// How many requests stand on a page.
pub const REQUESTS_MAX: usize = 100;
/// How much of a payload or an answer a row shows, in bytes of the page.
const CELL_BYTES_MAX: usize = 140;
/// How much of a payload or an answer is shown by itself, in bytes of the page.
const WHOLE_BYTES_MAX: usize = 24 << 10;
/// How many forks are named.
const FORKS_MAX: usize = 20;
/// How wide the bars are.
const BAR_WIDTH: i64 = 120;
/// The states of sessions, for the filter.
const STATES: [&str; 8] =
    ["running", "held", "waiting", "done", "failed", "cancelled", "diverged", "corrupt"];

/// What a list of sessions is narrowed to.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// Only of this agent.
    pub agent: String,
    /// Only in this state.
    pub state: String,
    /// How many stand before.
    pub after: usize,
}

/// Which part of a session a page shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct SessionQuery {
    /// After how many records it is shown.
    pub at: Option<u64>,
    /// From which request on.
    pub from: usize,
}

/// Shows sessions, newest first.
pub fn list(frame: &PageFrame, page: &SessionPageView, filter: &SessionFilter) -> Markup {
    frame.around(&html! {
        h1 { "Sessions" }
        form.filter method="get" action="/sessions" {
            label { "Agent " input name="agent" value=(filter.agent) size="14"; }
            label {
                "State "
                select name="state" {
                    option value="" { "any" }
                    @for state in STATES { option value=(state) selected[filter.state == state] { (state) } }
                }
            }
            button type="submit" { "Show" }
        }
        (left_out(&page.left_out))
        @if page.items.is_empty() {
            p { "No session: " code { "agentic session start AGENT --flow FILE" } " begins one." }
        }
        (table(&page.items))
        @if filter.after > 0 {
            p { a rel="prev" href=(filter.address(filter.after.saturating_sub(50))) { "newer" } }
        }
        @if let Some(next) = page.next { p { a rel="next" href=(filter.address(next)) { "older" } } }
    })
}

impl SessionFilter {
    fn address(&self, after: usize) -> String {
        // What a name or a state is no part of ends in no address: it was refused before.
        let plain = |text: &str| -> String {
            text.chars().filter(|c| c.is_ascii_alphanumeric() || "._-/".contains(*c)).collect()
        };
        format!("/sessions?agent={}&state={}&after={after}", plain(&self.agent), plain(&self.state))
    }
}

/// Shows sessions in rows.
pub fn table(sessions: &[SessionView]) -> Markup {
    html! {
        @if !sessions.is_empty() {
            div.wide tabindex="0" role="region" aria-label="Sessions" {
                table {
                    thead { tr { th scope="col" { "Session" } th scope="col" { "Agent" } th scope="col" { "State" } th scope="col" { "Key" } th scope="col" { "Records" } th scope="col" { "Started" } } }
                    tbody { @for session in sessions { (row(session)) } }
                }
            }
        }
    }
}

fn row(session: &SessionView) -> Markup {
    html! {
        tr data-row id={ "session-" (session.session) } data-rev=(session.chain) {
            td { a href={ "/sessions/" (session.session) } { code { (short(&session.session)) } } }
            td { a href={ "/agents/" (session.agent) } { (short_line(&session.agent, 80)) } }
            td { (session.state) @if session.unattended { " · nobody drives it" } }
            td { (short_line(&session.key, 80)) }
            td.number { (session.records) }
            td { @if !session.started_at.is_empty() { (instant(&session.started_at)) } }
        }
    }
}

/// Shows a session as it stands, or stood after some of its records.
pub fn page(
    frame: &PageFrame,
    replayed: &ReplayedSessionView,
    query: SessionQuery,
    recent: &[SessionView],
) -> Markup {
    let session = &replayed.session;
    let requests = session.requests.as_deref().unwrap_or_default();
    let from = query.from.min(requests.len());
    let shown = &requests[from..requests.len().min(from + REQUESTS_MAX)];
    let at = |from: usize| match query.at {
        Some(at) => format!("/sessions/{}?at={at}&from={from}", session.session),
        None => format!("/sessions/{}?from={from}", session.session),
    };
    frame.around(&html! {
        (head(session))
        (scrubber(replayed, query.at))
        (outcome(session))
        @if requests.is_empty() { p { "It has asked nothing." } } @else {
            p.about {
                (requests.len()) @if requests.len() == 1 { " request" } @else { " requests" }
                @if shown.len() < requests.len() { ", " (from + 1) " to " (from + shown.len()) " here" }
            }
            (requests_table(session, shown, Instant::parse(&replayed.at).unwrap_or(Instant::from_millis(0))))
        }
        @if from > 0 { p { a rel="prev" href=(at(from.saturating_sub(REQUESTS_MAX))) { "earlier requests" } } }
        @if from + shown.len() < requests.len() {
            p { a rel="next" href=(at(from + shown.len())) { "later requests" } }
        }
        (forks(session, &replayed.forks))
        (comparison(session, &replayed.forks, recent))
    })
}

fn head(session: &SessionView) -> Markup {
    html! {
        h1 { "Session " code { (short(&session.session)) } " · " (session.state) }
        p.about {
            a href={ "/agents/" (session.agent) } { (short_line(&session.agent, 80)) }
            " · key " (short_line(&session.key, 120))
            " · started " (instant(&session.started_at))
            " · flow " a href={ "/objects/" (session.flow) } { code { (short(&session.flow)) } }
            @if session.unattended { " · nobody drives it" }
        }
        @if let Some(parent) = &session.parent {
            p.about {
                @match session.forked_at {
                    Some(at) => {
                        "⑂ forked at " (at) " from " a href={ "/sessions/" (parent) "?at=" (at.max(1)) } { code { (short(parent)) } }
                        " · " a href={ "/sessions/" (parent) "/diff/" (session.session) } { "compare" }
                    }
                    None => { "begun by " a href={ "/sessions/" (parent) } { code { (short(parent)) } } }
                }
            }
        }
    }
}

/// Leads from record to record: every step is a page of its own.
fn scrubber(replayed: &ReplayedSessionView, at: Option<u64>) -> Markup {
    let (last, id) = (replayed.records, &replayed.session.session);
    let here = at.unwrap_or(last);
    let filled = i64::try_from(here.saturating_mul(200) / last.max(1)).unwrap_or_default();
    let step = |word: &str, sign: &str, to: u64, is_there: bool| {
        html! {
            @if is_there {
                a href={ "/sessions/" (id) "?at=" (to) } aria-label=(word) { (sign) }
            } @else {
                span aria-hidden="true" { (sign) }
            }
        }
    };
    html! {
        nav.scrubber aria-label="Records" {
            (step("first record", "⏮", 1, here > 1))
            " " (step("one record back", "◀", here.saturating_sub(1).max(1), here > 1))
            " " svg viewBox="0 0 200 8" width="200" height="8" aria-hidden="true" {
                rect.ground width="200" height="8" {}
                rect.bar width=(filled) height="8" {}
            }
            " " span { (here) "/" (last) " records" }
            " " (step("one record on", "▶", here + 1, here < last))
            " " (step("last record", "⏭", last, here < last))
            @if at.is_some() { " " a href={ "/sessions/" (id) } { "as it stands now" } }
            form method="get" action={ "/sessions/" (id) } {
                label { "at " input type="number" name="at" min="1" max=(last) value=(here) required; }
                button.quiet type="submit" { "Go" }
            }
        }
        @if at.is_some() {
            p.about { "This is how it stood after " (here) @if here == 1 { " record" } @else { " records" } ", by replaying them, at " (instant(&replayed.at)) "; nothing is performed." }
        }
    }
}

/// Says what it gave, why it failed, or what it waits for.
fn outcome(session: &SessionView) -> Markup {
    html! {
        @if let Some(error) = &session.error {
            p.refusal { strong { (short_line(&error.code, 100)) } " " (short_line(&error.message, 1_000)) }
        }
        @if let Some(result) = &session.result {
            p { "Result: " code { (short_line(&result.to_string(), 1_000)) } }
        }
        @if let Some(until) = &session.until { p { "It waits until " (instant(until)) "." } }
        @for request in session.pending.iter().take(10) {
            p.hold { "It waits for a person: " a href={ "/holds/" (request) } { (short_line(session.question.as_deref().unwrap_or(request), 300)) } }
        }
    }
}

/// The span of time that bars show.
#[derive(Clone, Copy)]
struct BarSpan {
    begin: i64,
    length: i64,
    now: i64,
}

impl BarSpan {
    fn of(requests: &[RequestView], now: Instant) -> BarSpan {
        let at = |text: &str| Instant::parse(text).map(Instant::millis);
        let begin = requests.iter().filter_map(|one| at(&one.asked_at)).min();
        let end = requests.iter().map(|one| match &one.answered_at {
            Some(answered) => at(answered).unwrap_or_default(),
            None => now.millis(),
        });
        let (begin, end) = (begin.unwrap_or_default(), end.max().unwrap_or_default());
        BarSpan { begin, length: (end - begin).max(1), now: now.millis() }
    }

    /// Returns where the bar of a request begins, how long it is, and for how long it lasted.
    fn bar(self, asked: &RequestView) -> (i64, i64, i64) {
        let begin = Instant::parse(&asked.asked_at).map_or(self.begin, Instant::millis);
        let end = asked.answered_at.as_deref().and_then(Instant::parse);
        let took = (end.map_or(self.now, Instant::millis) - begin).max(0);
        let place = |millis: i64| millis.saturating_mul(BAR_WIDTH) / self.length;
        let from = place(begin - self.begin).clamp(0, BAR_WIDTH - 2);
        (from, place(took).clamp(2, BAR_WIDTH - from), took)
    }
}

fn requests_table(session: &SessionView, shown: &[RequestView], now: Instant) -> Markup {
    let span = BarSpan::of(shown, now);
    html! {
        (hatch())
        div.wide tabindex="0" role="region" aria-label="Requests" {
            table.requests {
                thead { tr { th scope="col" { "Path" } th scope="col" { "Kind" } th scope="col" { "Asked" } th scope="col" { "Answer" } th scope="col" { "By" } th scope="col" { "Time" } } }
                tbody { @for asked in shown { (request_row(session, asked, span)) } }
            }
        }
    }
}

/// Defines what fills bars of what is still waiting.
pub fn hatch() -> Markup {
    html! {
        svg.defs width="0" height="0" aria-hidden="true" {
            (PreEscaped("<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path d=\"M0 0V6\" class=\"hatch\"/></pattern></defs>"))
        }
    }
}

fn request_row(session: &SessionView, asked: &RequestView, span: BarSpan) -> Markup {
    let (from, length, took) = span.bar(asked);
    let is_waiting = asked.answered_at.is_none();
    html! {
        tr {
            th scope="row" { a href={ "/sessions/" (session.session) "/requests/" (asked.seq) } { (short_line(&asked.path, 60)) } }
            td { (short_line(&asked.kind, 40)) }
            td { (short_line(&gist(&asked.payload), CELL_BYTES_MAX)) }
            td {
                (short_line(&answer(asked), CELL_BYTES_MAX))
                @if !asked.attempts.is_empty() { " · " (asked.attempts.len() + 1) " attempts" }
            }
            td { (by(asked)) }
            td {
                svg.time viewBox={ "0 0 " (BAR_WIDTH) " 10" } width=(BAR_WIDTH) height="10" aria-hidden="true" {
                    rect class=(if is_waiting { "waiting" } else { "bar" }) fill=[is_waiting.then_some("url(#hatch)")] x=(from) width=(length) height="10" {}
                }
                " " (duration(took)) @if is_waiting { " waiting" }
            }
        }
    }
}

/// Says in short what is asked.
fn gist(payload: &Json) -> String {
    let named = ["question", "command", "prompt", "path", "name", "text", "message", "url"];
    let text = named.iter().find_map(|name| payload.get(name)?.as_str());
    match (text, payload) {
        (Some(text), _) => text.to_owned(),
        (None, Json::String(text)) => text.clone(),
        (None, Json::Null) => String::new(),
        (None, other) => other.to_string(),
    }
}

/// Says in short what was answered.
fn answer(asked: &RequestView) -> String {
    match &asked.answer {
        None => "waiting".to_owned(),
        Some(Json::String(word)) => word.clone(),
        Some(answer) => {
            let failed = answer.get("failed");
            let word = if failed.is_some() { "failed " } else { "ok " };
            let said = failed.or_else(|| answer.get("ok")).unwrap_or(answer);
            let said = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
            format!("{word}{said}")
        }
    }
}

/// Says who answered, and leads there.
fn by(asked: &RequestView) -> Markup {
    let by = asked.by.as_deref().unwrap_or_default();
    let decided = asked.decision.as_ref();
    html! {
        @match (decided, by.split_once(' ')) {
            (Some(decided), _) => {
                a href={ "/commits/" (decided.commit) } { (short_line(&decided.principal, 80)) }
                " " (decided.action)
            }
            (None, Some(("decision", commit))) => a href={ "/commits/" (commit) } { "decision" },
            (None, Some(("child", child))) => a href={ "/sessions/" (child) } { "child" },
            (None, _) => (short_line(by, 80)),
        }
        @if asked.answer.is_none() && !asked.request.is_empty() && by.is_empty() && asked.kind == "hold" {
            a href={ "/holds/" (asked.request) } { "hold" }
        }
    }
}

/// Names what was forked from a session, and offers to compare it.
fn forks(session: &SessionView, forks: &[ForkView]) -> Markup {
    html! {
        @if !forks.is_empty() {
            h2 { "Forks" }
            ul {
                @for fork in forks.iter().take(FORKS_MAX) {
                    li {
                        "⑂ forked at " (fork.forked_at) " → "
                        a href={ "/sessions/" (fork.session) } { (short_line(&fork.agent, 80)) }
                        " · " a href={ "/sessions/" (session.session) "/diff/" (fork.session) } { "compare" }
                    }
                }
                @if forks.len() > FORKS_MAX { li { (forks.len() - FORKS_MAX) " more" } }
            }
        }
    }
}

/// Offers to compare a session: with where it comes from, with what was forked from it, and with the
/// newest of all.
fn comparison(session: &SessionView, forks: &[ForkView], recent: &[SessionView]) -> Markup {
    let parent = session.parent.iter().map(|id| (id.as_str(), "where it comes from".to_owned()));
    let forks = forks.iter().take(FORKS_MAX).map(|fork| {
        (
            fork.session.as_str(),
            format!("{}, forked at {}", short_line(&fork.agent, 60), fork.forked_at),
        )
    });
    let recent = recent.iter().map(|one| {
        let (agent, key) = (short_line(&one.agent, 60), short_line(&one.key, 40));
        (one.session.as_str(), format!("{agent} {key}, {}", one.state))
    });
    let mut offered: Vec<(&str, String)> = Vec::new();
    for (id, words) in parent.chain(forks).chain(recent) {
        if id != session.session && offered.iter().all(|(other, _)| *other != id) {
            offered.push((id, words));
        }
    }
    html! {
        form.filter method="get" action={ "/sessions/" (session.session) "/compare" } {
            @if !offered.is_empty() {
                label {
                    "Compare with "
                    select name="with" {
                        @for (id, words) in &offered { option value=(id) { (short(id)) " " (words) } }
                    }
                }
            }
            label { "or with " input name="other" size="20" placeholder="session or agent"; }
            button.quiet type="submit" { "Compare" }
        }
    }
}

/// Shows one request with everything that belongs to it.
pub fn request_page(frame: &PageFrame, session: &SessionView, asked: &RequestView) -> Markup {
    frame.around(&html! {
        h1 { "Request " code { (short_line(&asked.path, 200)) } " · " (short_line(&asked.kind, 100)) }
        p.about {
            "of session " a href={ "/sessions/" (session.session) } { code { (short(&session.session)) } }
            " · record " (asked.seq)
            " · " a href={ "/sessions/" (session.session) "?at=" (asked.seq.max(1)) } { "as the session stood then" }
            @if let Some(line) = asked.line { " · line " (line) }
        }
        dl {
            dt { "asked" } dd { (instant(&asked.asked_at)) }
            @if let Some(at) = &asked.answered_at { dt { "answered" } dd { (instant(at)) } }
            @if let Some(took) = asked.took_ms { dt { "took" } dd { (duration(took)) } }
            dt { "by" } dd { (by(asked)) }
            @if asked.kind == "hold" || asked.decision.is_some() {
                dt { "hold" } dd { a href={ "/holds/" (asked.request) } { code { (asked.request) } } }
            }
            @if let Some(decided) = &asked.decision {
                dt { "decision" }
                dd {
                    (decided.action) " by " (short_line(&decided.principal, 200)) " "
                    a href={ "/commits/" (decided.commit) } { code { (short(&decided.commit)) } }
                    @if !decided.why.is_empty() { " " (short_line(&decided.why, 400)) }
                }
            }
            @for vote in asked.votes.iter().take(20) {
                dt { "vote" } dd { (short_line(&vote.principal, 200)) " " (vote.action) " " a href={ "/commits/" (vote.commit) } { code { (short(&vote.commit)) } } }
            }
            @for late in asked.overtaken.iter().take(20) {
                dt { "too late" } dd { (short_line(&late.principal, 200)) " " (late.action) " " a href={ "/commits/" (late.commit) } { code { (short(&late.commit)) } } }
            }
            @for attempt in asked.attempts.iter().take(20) {
                dt { "attempt " (attempt.n) } dd { (short_line(&attempt.error, 400)) }
            }
        }
        (value("Asked", Some(&asked.payload)))
        (value("Done in its place", asked.executed.as_ref()))
        (value("Answer", asked.answer.as_ref()))
    })
}

fn value(title: &str, value: Option<&Json>) -> Markup {
    html! {
        @if let Some(value) = value {
            @let text = serde_json::to_string_pretty(value).unwrap_or_default();
            @let clipped = clip(&text, WHOLE_BYTES_MAX);
            h2 { (title) }
            pre { (clipped.shown) }
            @if clipped.is_cut { p.about { "… of " (page_bytes(&text)) " bytes" } }
        }
    }
}
