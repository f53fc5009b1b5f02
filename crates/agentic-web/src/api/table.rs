//! Which address is the answer of which verb.

use std::sync::atomic::AtomicBool;

use agentic_api::verb::{
    AskQuery, CaseGrouping, CaseStatistics, CommitDiff, HoldQuestion, ListAgents, ListCommits,
    ListRelations, LogTraces, ObjectGet, PendingHolds, SEARCH_LIMIT_MAX, SearchTexts, SessionDiff,
    SessionList, SessionShow, Show, ShownReplies, Statistics, StatisticsStep, TraceHistory,
    TraceShow, Tree, TrialCases,
};
use agentic_api::view::{AnswerView, PendingRequestView, PendingView, ShowView};
use agentic_api::{Notice, Refusal, Reply, Verb};
use agentic_model::{Cid, Instant};
use agentic_session::hold::Filter;
use agentic_session::hold::book::BookedHold;
use agentic_session::outlook::Permanence;
use serde_json::{Map as JsonMap, Value as Json};

use super::answer::{ApiAnswer, SearchPageFacts, text};
use super::call::ApiCall;
use super::ground::GroundPart::{
    Agent, Commit, Journals, NamedSessions, OpenSessions, Refs, Sessions, Texts,
};
use super::page::{ListPageRequest, ListedItem as _, NumberedRow};
use super::route::{ApiRoute, list, one};

/// How long the token of a hold that was shown is not replaced, in milliseconds: half of its life.
const TOKEN_FRESH_MILLIS: i64 = 30 * 60 * 1000;

/// How long figures are the same while nothing is written, in milliseconds.
const STATS_FRESH_MILLIS: i64 = 60 * 1000;

/// All addresses that verbs answer, below `/api/v1`.
pub const ROUTES: &[ApiRoute] = &[
    list("/agents", agents).deriving(&[Refs]),
    one("/agents/{agent}", agent).deriving(&[Agent]),
    list("/agents/{agent}/log", log).taking(&["kind"]).deriving(&[Agent, OpenSessions]),
    list("/agents/{agent}/sessions", sessions)
        .deriving(&[Refs, Sessions])
        .lasting(as_open_sessions),
    list("/agents/{agent}/relations", relations).taking(&["kind"]).deriving(&[Refs]),
    list("/tree", tree).deriving(&[Refs, OpenSessions]).lasting(as_open_sessions),
    one("/commits/{commit}", commit).deriving(&[Commit, Refs, OpenSessions]),
    one("/commits/{commit}/diff", commit_diff)
        .taking(&["parent", "file", "line", "first"])
        .deriving(&[Commit, Refs]),
    one("/commits/{commit}/trace", commit_trace).deriving(&[Commit, Refs]),
    list("/commits/{commit}/trace-history", trace_history).deriving(&[Commit, Refs]),
    one("/traces/{cid}", trace).deriving(&[Refs]),
    one("/objects/{cid}", object).deriving(&[Refs]),
    list("/sessions", sessions)
        .taking(&["agent"])
        .deriving(&[Refs, Sessions])
        .lasting(as_open_sessions),
    one("/sessions/{session}", session)
        .taking(&["at"])
        .deriving(&[NamedSessions])
        .lasting(once_over),
    one("/sessions/{session}/diff/{other}", session_diff).deriving(&[NamedSessions]),
    one("/statistics", statistics)
        .taking(&["from", "to", "by", "agent"])
        .deriving(&[Refs, Sessions, Journals])
        .lasting(where_its_end_is_named),
    one("/stats", stats)
        .taking(&["by", "of", "agent", "from", "to", "metric", "trials"])
        .deriving(&[Refs, Sessions, Journals])
        .lasting(for_a_minute)
        .kept(),
    list("/search", search)
        .taking(&["q"])
        .asking()
        .deriving(&[Refs, Sessions, Journals, Texts])
        .lasting(where_no_age_is_named),
    list("/query", query)
        .taking(&["q"])
        .asking()
        .deriving(&[Refs, Sessions, Journals])
        .lasting(where_no_now_is_named),
    list("/pending", pending)
        .taking(&["agent", "kind", "assignee", "overdue"])
        .deriving(&[Refs, Sessions]),
    one("/pending/{request}", pending_request)
        .deriving(&[Refs, Sessions, Journals])
        .lasting(as_open_sessions),
];

/// As long as the open sessions stand as they do.
fn as_open_sessions(call: &ApiCall<'_>) -> Result<Permanence, Refusal> {
    let space = call.caller.space;
    Ok(call.index.holds().outlook(space, &Filter::default())?.permanence)
}

/// A session that is not over depends on who is at work on it, and on the files of its agent.
fn once_over(call: &ApiCall<'_>) -> Result<Permanence, Refusal> {
    let space = call.caller.space;
    let is_over = space.session(&space.find_session(&call.part("session"))?)?.state.is_over();
    Ok(if is_over { Permanence::Still } else { Permanence::Moves })
}

/// Until now is another span each time.
fn where_its_end_is_named(call: &ApiCall<'_>) -> Result<Permanence, Refusal> {
    match call.given("to").is_some_and(|to| !to.is_empty()) {
        true => as_open_sessions(call),
        false => Ok(Permanence::Moves),
    }
}

/// Of what is not over the times go on.
fn for_a_minute(call: &ApiCall<'_>) -> Result<Permanence, Refusal> {
    Ok(Permanence::Until(call.caller.space.now().plus_millis(STATS_FRESH_MILLIS)))
}

/// `after:2d` means another instant each time.
fn where_no_age_is_named(call: &ApiCall<'_>) -> Result<Permanence, Refusal> {
    let query = call.given("q").unwrap_or_default();
    let is_named = ["after:", "before:"].iter().any(|filter| query.contains(filter));
    Ok(if is_named { Permanence::Moves } else { Permanence::Still })
}

fn where_no_now_is_named(call: &ApiCall<'_>) -> Result<Permanence, Refusal> {
    match call.given("q").is_some_and(|query| query.contains("now") || query.contains("use")) {
        true => Ok(Permanence::Moves),
        false => as_open_sessions(call),
    }
}

/// Answers as a verb does that has nothing else to tell.
fn plain<V: Verb>(call: &ApiCall<'_>, verb: V) -> Result<ApiAnswer, Refusal> {
    Ok(ApiAnswer::one(&verb.run(call.caller)?.answer))
}

fn notes<A>(reply: &Reply<A>) -> Vec<String> {
    reply.notices.iter().map(Notice::sentence).collect()
}

fn agents(call: &ApiCall<'_>, page: &ListPageRequest) -> Result<ApiAnswer, Refusal> {
    let reply = ListAgents {}.among(call.caller, &call.index.ledger())?;
    let notes = notes(&reply);
    Ok(page.page(reply.answer.map(Ok))?.with_notes(notes))
}

fn tree(call: &ApiCall<'_>, page: &ListPageRequest) -> Result<ApiAnswer, Refusal> {
    let reply = Tree {}.among(call.caller, &call.index.ledger())?;
    let notes = notes(&reply);
    Ok(page.page(reply.answer.into_iter().map(Ok))?.with_notes(notes))
}

fn agent(call: &ApiCall<'_>) -> Result<ApiAnswer, Refusal> {
    let name = call.part("agent");
    let shown = Show { id: name.clone() }.among(call.caller, &call.index.ledger())?;
    match &shown {
        ShowView::Agent { .. } => Ok(ApiAnswer::one(&shown)),
        ShowView::Commit { .. } | ShowView::Object { .. } => {
            Err(Refusal::refused(&format!("`{name}` is no agent"), "`agents` lists them"))
        }
    }
}

fn log(call: &ApiCall<'_>, page: &ListPageRequest) -> Result<ApiAnswer, Refusal> {
    let (agent, kind) = (Some(call.part("agent")), call.given("kind"));
    let verb = ListCommits { agent, kind, limit: None };
    page.page(verb.commits(call.caller, LogTraces::Left)?.map(|commit| Ok(commit?.view)))
}

/// Lists sessions: of the agent that the address names, or that stands behind `?`, or all.
fn sessions(call: &ApiCall<'_>, page: &ListPageRequest) -> Result<ApiAnswer, Refusal> {
    let named = call.part("agent");
    let agent = if named.is_empty() { call.given("agent") } else { Some(named) };
    if let Some(agent) = &agent {
        // One that is not there has no sessions, and is told so.
        call.caller.branch(Some(agent))?;
    }
    let reply = SessionList { agent }.run(call.caller)?;
    let notes = notes(&reply);
    Ok(page.page(reply.answer.into_iter().map(Ok))?.with_notes(notes))
}

fn relations(call: &ApiCall<'_>, page: &ListPageRequest) -> Result<ApiAnswer, Refusal> {
    let verb = ListRelations { of: Some(call.part("agent")), kind: call.given("kind") };
    page.page(verb.run(call.caller)?.answer.into_iter().map(Ok))
}

/// Finds the commit that an address names: nothing else is shown there.
fn commit_view(call: &ApiCall<'_>) -> Result<(ShowView, String), Refusal> {
    let name = call.part("commit");
    let shown = Show { id: name.clone() }.run(call.caller)?.answer;
    match &shown {
        ShowView::Commit { commit, .. } => {
            let id = commit.commit.clone();
            Ok((shown, id))
        }
        ShowView::Agent { .. } | ShowView::Object { .. } => {
            let hint = "the log of an agent lists its commits";
            Err(Refusal::refused(&format!("`{name}` is no commit"), hint))
        }
    }
}

fn commit(call: &ApiCall<'_>) -> Result<ApiAnswer, Refusal> {
    Ok(ApiAnswer::one(&commit_view(call)?.0))
}

fn commit_diff(call: &ApiCall<'_>) -> Result<ApiAnswer, Refusal> {
    let (_, commit) = commit_view(call)?;
    let (line, first) = (call.place("line")?, call.place("first")?);
    let verb = CommitDiff {
        commit,
        parent: call.place("parent")?,
        file: call.place("file")?,
        line: line.unwrap_or_default(),
        first: first.unwrap_or_default(),
    };
    plain(call, verb)
}

fn commit_trace(call: &ApiCall<'_>) -> Result<ApiAnswer, Refusal> {
    let (_, id) = commit_view(call)?;
    plain(call, TraceShow { id })
}

fn trace_history(call: &ApiCall<'_>, page: &ListPageRequest) -> Result<ApiAnswer, Refusal> {
    let (_, commit) = commit_view(call)?;
    page.page(TraceHistory { commit }.run(call.caller)?.answer.into_iter().map(Ok))
}

fn trace(call: &ApiCall<'_>) -> Result<ApiAnswer, Refusal> {
    let id = call.part("cid");
    if !id.starts_with(Cid::PREFIX) {
        let hint = "the commit that it is bound to names it";
        return Err(Refusal::refused(&format!("`{id}` is the id of no trace"), hint));
    }
    plain(call, TraceShow { id })
}

fn object(call: &ApiCall<'_>) -> Result<ApiAnswer, Refusal> {
    plain(call, ObjectGet { cid: call.part("cid") })
}

fn session(call: &ApiCall<'_>) -> Result<ApiAnswer, Refusal> {
    let verb = SessionShow { session: call.part("session"), at: call.number("at")? };
    let mut shown = verb.run(call.caller)?.answer;
    let answer = text(&shown);
    shown.settle();
    Ok(ApiAnswer::aging(answer, &text(&shown)))
}

fn session_diff(call: &ApiCall<'_>) -> Result<ApiAnswer, Refusal> {
    plain(call, SessionDiff { left: call.part("session"), right: call.part("other") })
}

/// Lists what waits: in the order in which it is known, and only what is shown is read.
fn pending(call: &ApiCall<'_>, page: &ListPageRequest) -> Result<ApiAnswer, Refusal> {
    let verb = PendingHolds {
        agent: call.given("agent"),
        kind: call.given("kind"),
        assignee: call.given("assignee"),
        overdue: call.flag("overdue")?,
        peer: None,
    };
    let reply = verb.among(call.caller, &call.index.holds())?;
    let (notes, permanence) = (notes(&reply), reply.answer.permanence);
    let (space, now) = (call.caller.space, call.caller.space.now());
    let replies = ShownReplies::read(call.caller)?;
    // One that was answered meanwhile is not shown.
    let read = |hold: BookedHold| {
        let view = hold.read(space).map(|found| PendingView::new(&found, now));
        Ok(view.map(|mut view| {
            replies.add_to(&mut view);
            view
        }))
    };
    let answer = page.page_of(reply.answer.holds, BookedHold::request, read)?;
    Ok(answer.with_notes(notes).lasting(permanence))
}

fn pending_request(call: &ApiCall<'_>) -> Result<ApiAnswer, Refusal> {
    let verb = HoldQuestion { request: call.part("request"), node: None };
    let question = verb.run(call.caller)?.answer;
    // The token is good for an hour: whoever has this for longer is given another.
    let half_hour = call.caller.space.now().millis().div_euclid(TOKEN_FRESH_MILLIS);
    let end = Instant::from_millis((half_hour + 1).saturating_mul(TOKEN_FRESH_MILLIS));
    let hold = &question.hold;
    let claims = hold.unverified.iter().map(|claim| claim.commit.clone());
    let claims: Vec<String> = claims.chain(hold.replies.iter().map(text)).collect();
    let lasting = format!("{} {} {half_hour} {}", question.shown, hold.overdue, claims.join(" "));
    let token = (call.token)(&question);
    let answer = ApiAnswer::aging(text(&PendingRequestView::new(question, token)), &lasting);
    Ok(answer.lasting(Permanence::Until(end)))
}

fn statistics(call: &ApiCall<'_>) -> Result<ApiAnswer, Refusal> {
    let (from, to, agent) = (call.given("from"), call.given("to"), call.given("agent"));
    let by = match call.given("by") {
        None => StatisticsStep::default(),
        Some(name) => StatisticsStep::parse(&name).ok_or_else(|| {
            Refusal::usage(&format!("nothing is counted by `{name}`"), "say `day` or `week`")
        })?,
    };
    plain(call, Statistics { from, to, by, agent })
}

/// Tells what came of cases. Figures of persons are told at a command line alone, and how much of the work
/// survived, too: that takes long.
fn stats(call: &ApiCall<'_>) -> Result<ApiAnswer, Refusal> {
    let by = match call.given("by") {
        None => CaseGrouping::default(),
        Some(name) => {
            let found = CaseGrouping::parse(&name).filter(|by| *by != CaseGrouping::Person);
            found.ok_or_else(|| {
                let hint = "say `behaviour`, `kind`, `agent`, `model`, `day` or `week`";
                Refusal::usage(&format!("nothing is told by `{name}` here"), hint)
            })?
        }
    };
    let trials = if call.flag("trials")? { TrialCases::Counted } else { TrialCases::Apart };
    let (of, agent, metric) = (call.given("of"), call.given("agent"), call.given("metric"));
    let (from, to, survival) = (call.given("from"), call.given("to"), None);
    plain(call, CaseStatistics { by, of, agent, from, to, metric, trials, survival })
}

/// Answers a query of somebody else: the rows as the command prints them.
fn query(call: &ApiCall<'_>, page: &ListPageRequest) -> Result<ApiAnswer, Refusal> {
    let Some(text) = call.given("q") else {
        let hint = "such as `?q=%3F+commit(agent%3A+A).`";
        return Err(Refusal::usage("`q` is missing: a query, or rules and queries", hint));
    };
    let query = AskQuery { text, ..AskQuery::default() };
    // One takes five seconds at most: who gives it up waits for no longer.
    let reply = call.queries.ask(call.asker, query, call.caller, &AtomicBool::new(false))?;
    let notes = reply.answer.notes.clone();
    let rows: Vec<Json> = match reply.answer.answers.as_slice() {
        [only] => rows(only),
        several => several.iter().map(|answer| Json::Array(rows(answer))).collect(),
    };
    let rows = rows.into_iter().enumerate();
    let rows = rows.map(|(number, row)| Ok(NumberedRow { row, number }));
    Ok(page.page(rows)?.with_notes(notes))
}

/// Finds what was said, newest first. Behind a page the first hits are found again, as many as there
/// may be.
fn search(call: &ApiCall<'_>, page: &ListPageRequest) -> Result<ApiAnswer, Refusal> {
    let query = call.given("q").unwrap_or_default();
    let verb = SearchTexts { query, limit: Some(page.n_read(SEARCH_LIMIT_MAX)) };
    let found = verb.among(call.caller, &|scope, most| call.index.find(scope, most))?.answer()?;
    let facts = SearchPageFacts { more: found.more, partial: found.partial };
    Ok(page.page(found.items.into_iter().map(Ok))?.with_search(facts))
}

fn rows(answer: &AnswerView) -> Vec<Json> {
    let row = |row: &Vec<Json>| {
        let named = answer.columns.iter().map(|column| column.name.clone());
        Json::Object(named.zip(row.iter().cloned()).collect::<JsonMap<String, Json>>())
    };
    answer.rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::ROUTES;
    use crate::gate::LOGIN_PATHS;

    const PAGE: &str = include_str!("../../../../docs/api.md");

    /// Writes an address as the page does.
    fn as_documented(path: &str) -> String {
        let names = [
            ("{agent}", "NAME"),
            ("{commit}", "OID"),
            ("{cid}", "CID"),
            ("{request}", "REQUEST"),
            ("{session}/diff", "A/diff"),
            ("{session}", "ID"),
            ("{other}", "B"),
        ];
        let path = path.trim_start_matches('/').to_owned();
        names.iter().fold(path, |path, (part, name)| path.replace(part, name))
    }

    #[test]
    fn every_address_stands_on_its_page() {
        let cells: Vec<&str> = PAGE.lines().flat_map(|line| line.split('`')).collect();
        for route in ROUTES {
            let address = as_documented(route.path);
            let is_it = |cell: &&&str| {
                let (path, query) = cell.split_once('?').unwrap_or((cell, ""));
                let is_taken = |name: &str| query.contains(&format!("{name}="));
                path == address && route.takes.iter().all(|name| is_taken(name))
            };
            assert!(cells.iter().any(|cell| is_it(&cell)), "{address} takes {:?}", route.takes);
        }
        for path in LOGIN_PATHS {
            assert!(cells.contains(&format!("POST {path}").as_str()), "{path}");
        }
    }
}
