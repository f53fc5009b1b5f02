//! What programs of any language ask of the store besides commits and agents: relations, open holds,
//! and the answers of queries.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Instant as Moment;

use agentic_diag::SourceText;
use agentic_model::edge::{EdgeEvent, Party};
use agentic_model::{AgentName, Kind, Map, Value, json};
use agentic_query::{
    AnswerSet, ConstantPushing, FactBase, QueryFinding, QueryInput, QueryLimits, QueryRun,
    QueryWatch, ReadProgress, compile,
};
use agentic_replay::{Performance, StartRecord};
use agentic_space::commit::Asker;
use agentic_space::facts::PeerNames;
use agentic_space::relate::{EdgeDraft, say_edge};

use crate::error::ProgramError;
use crate::facts::{QueriedSpace, with_facts};
use crate::hold::{Filter, HoldScope, PendingHold, pending as open_holds};
use crate::{Error, Result, SessionSpace};

/// How many bytes the answer of a query may have, as JSON, so that it can be recorded and passed on.
const ANSWER_BYTES_MAX: usize = 512 << 10;
/// How long the query of a program may take, in milliseconds.
const QUERY_MS_MAX: u64 = 5_000;
/// What findings call the text of a program's query.
const QUERY_NAME: &str = "query";

/// Asserts or retracts a relation, of the session's agent where nobody else is named.
pub(super) fn relate(
    space: &SessionSpace,
    start: &StartRecord,
    performance: &Performance,
    asker: Asker,
) -> Result<Value> {
    let text = |key: &str| performance.request.payload.get(key).and_then(Value::as_text);
    let party = |key: &str| {
        let named = text(key).ok_or_else(|| bad(format!("a relation needs a `{key}`")))?;
        Party::parse(named).map_err(|error| bad(error.to_string()))
    };
    let source = match text("source") {
        Some(_) => party("source")?,
        None => Party::Agent(start.agent.clone()),
    };
    let relation = text("relation").ok_or_else(|| bad("a relation needs a `relation`".into()))?;
    let relation =
        Kind::parse(relation).map_err(|_| bad(format!("`{relation}` cannot name a relation")))?;
    let event = match text("change") {
        None | Some("assert") => EdgeEvent::Assert,
        Some("retract") => EdgeEvent::Retract,
        Some(_) => return Err(bad("`change` is `assert` or `retract`".to_owned())),
    };
    let draft = EdgeDraft { source, relation, target: party("target")?, event, asker: Some(asker) };
    let said = say_edge(space, &draft)?;
    said.written.visible()?;
    Ok(Value::map([
        ("source", Value::text(draft.source.to_string())),
        ("relation", Value::text(draft.relation.as_str())),
        ("target", Value::text(draft.target.to_string())),
        ("edge", Value::text(said.cid.to_string())),
    ]))
}

/// Lists the open holds, oldest first; those of an agent and of all that descend from it, where one is
/// named.
pub(super) fn pending(space: &SessionSpace, performance: &Performance) -> Result<Value> {
    let agent = match performance.request.payload.get("agent") {
        None | Some(Value::Null) => None,
        Some(name) => {
            let name = name.as_text().ok_or_else(|| bad("`agent` is no name".to_owned()))?;
            Some(AgentName::parse(name).map_err(|error| bad(error.to_string()))?)
        }
    };
    let filter = Filter { agent, reach: HoldScope::Subtree, ..Filter::default() };
    let open = open_holds(space, &filter)?;
    Ok(Value::List(open.iter().map(hold_value).collect()))
}

fn hold_value(pending: &PendingHold) -> Value {
    let hold = &pending.hold;
    Value::map([
        ("request", Value::text(hold.session.short_request(&hold.id))),
        ("session", Value::text(hold.session.to_string())),
        ("agent", Value::text(hold.agent.as_str())),
        ("kind", Value::text(&hold.ask.kind)),
        ("question", pending.question().map_or(Value::Null, Value::text)),
        ("asked_at", Value::text(hold.asked_at.to_string())),
        ("overdue", Value::Bool(pending.overdue)),
    ])
}

/// Answers a query, the last one of its text, as a list of maps by the names of the columns.
pub(super) fn query(space: &SessionSpace, performance: &Performance) -> Result<Value> {
    let payload = &performance.request.payload;
    let text = payload.get("text").and_then(Value::as_text);
    let text = text.ok_or_else(|| bad("a query needs a `text`".to_owned()))?;
    let params = params(payload.get("params"))?;
    let (cancel, begun) = (AtomicBool::new(false), Moment::now());
    let elapsed_ms = || u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let teller = |_: ReadProgress<'_>| match elapsed_ms() > QUERY_MS_MAX {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let source = SourceText::new(QUERY_NAME, text);
    let files = BTreeMap::new();
    let now = space.now().millis();
    let input = QueryInput { source: &source, files: &files, params: &params, now };
    let watch = QueryWatch { cancel: &cancel, elapsed_ms: &elapsed_ms, time_ms_max: QUERY_MS_MAX };
    // What peers have programs do not ask about.
    let peer_names = PeerNames::default();
    let reading = QueriedSpace { space, teller: &teller, peer_names, more: &[] };
    with_facts(reading, |facts| {
        let pushing = ConstantPushing::On;
        let compiled = compile(&input, facts.joined).map_err(|findings| refused(&findings))?;
        facts.begin(&compiled, pushing);
        let limits = QueryLimits { time_ms_max: QUERY_MS_MAX, ..QueryLimits::default() };
        let run = QueryRun { facts: facts.joined, limits, watch, pushing };
        let answered = compiled.answer_why(&mut FactBase::default(), &run, &[]);
        let report = answered.map_err(|error| bad(error.to_string()))?;
        let answer = report.answers.last();
        let answer = answer.ok_or_else(|| bad("the text asks no query".to_owned()))?;
        rows(answer)
    })
}

/// Reads the values of parameters: texts as they are, anything else as its JSON.
fn params(given: Option<&Value>) -> Result<BTreeMap<String, String>> {
    let given = match given {
        None | Some(Value::Null) => return Ok(BTreeMap::new()),
        Some(given) => given.as_map(),
    };
    let given = given.ok_or_else(|| bad("`params` is no map".to_owned()))?;
    let shown = |value: &Value| value.as_text().map_or_else(|| json::to_text(value), str::to_owned);
    Ok(given.iter().map(|(name, value)| (name.clone(), shown(value))).collect())
}

fn rows(answer: &AnswerSet) -> Result<Value> {
    let (mut rows, mut n_bytes) = (Vec::new(), 0);
    for row in &answer.rows {
        let mut fields = Map::new();
        for ((name, kind), value) in answer.columns.iter().zip(row) {
            let text = value.to_json(*kind);
            n_bytes += name.len() + text.len();
            let value = json::from_text(&text);
            let value = value.map_err(|error| bad(format!("`{name}`: {error}")))?;
            fields.insert(name.clone(), value);
        }
        rows.push(Value::Map(fields));
        if n_bytes > ANSWER_BYTES_MAX {
            let message =
                format!("the answer has more than {ANSWER_BYTES_MAX} bytes: ask for less");
            return Err(bad(message));
        }
    }
    Ok(Value::List(rows))
}

/// Says on one line why a text cannot be asked.
fn refused(findings: &[QueryFinding]) -> Error {
    let told = |finding: &QueryFinding| {
        format!("{} {}", finding.diagnostic.code, finding.diagnostic.message)
    };
    let told: Vec<String> = findings.iter().map(told).collect();
    bad(format!("the query cannot be asked: {}", told.join("; ")))
}

fn bad(reason: String) -> Error {
    Error::Program(ProgramError::BadRequest { reason })
}
