//! What models told of their cost: in the answers to requests, and in entries of traces.

use std::cell::OnceCell;

use agentic_model::{Map, Value};
use agentic_providers::model::{TASK_REQUEST, TOKENS_MAX};
use agentic_replay::record::Outcome;
use agentic_replay::{RecordChain, SessionId};

use super::price::ModelPrices;
use super::reading::{ReadSessions, SessionValues};
use super::request::{OwnAsk, own_asks, request_id};
use super::row::{ColumnValue, SessionRows};
use super::scope::SessionScope;
use super::trace;
use crate::Result;

/// The kind of a request that asks a model, without what is declared about repeating.
const MODEL_REQUEST: &str = "model";
/// The field of an answer, and of what a trace tells besides, that counts tokens.
const USAGE: &str = "usage";
/// What is counted: tokens read and written, and those read from a cache and written to it. By the name
/// that traces use, and by that of answers.
const COUNTS: [[&str; 2]; 4] = [
    ["in", "input_tokens"],
    ["out", "output_tokens"],
    ["cache_read", "cache_read_tokens"],
    ["cache_write", "cache_write_tokens"],
];
/// What a call costs at most. More is absurd.
const COST_MAX: f64 = 1e9;

/// What a model told of one call.
struct ToldUsage {
    tokens: [Option<i64>; 4],
    cost: Option<f64>,
    /// How many of these numbers nobody can believe.
    n_absurd: usize,
}

impl ToldUsage {
    /// Reads what was told.
    fn of(usage: &Map) -> ToldUsage {
        let mut n_absurd = 0;
        let tokens = COUNTS.map(|names| {
            let told = names.iter().find_map(|name| usage.get(*name))?;
            let count = told.as_int().filter(|count| (0..=TOKENS_MAX).contains(count));
            n_absurd += usize::from(count.is_none() && *told != Value::Null);
            count
        });
        let cost = usage.get("cost").and_then(|told| {
            let cost = told.as_number().filter(|cost| (0.0..=COST_MAX).contains(cost));
            n_absurd += usize::from(cost.is_none() && *told != Value::Null);
            cost
        });
        ToldUsage { tokens, cost, n_absurd }
    }

    /// Returns one of the columns that say how much.
    fn column<'c>(
        &self,
        column: &str,
        model: Option<&str>,
        prices: &dyn Fn() -> Option<&'c ModelPrices>,
    ) -> ColumnValue<'c> {
        let count = |at: usize| ColumnValue::maybe(self.tokens[at], ColumnValue::Int);
        match column {
            "input" => count(0),
            "output" => count(1),
            "cache_read" => count(2),
            "cache_write" => count(3),
            _ => {
                // Of what nobody can believe the cost is not known either.
                let is_sound = self.n_absurd == 0;
                let priced = || prices().filter(|_| is_sound)?.cost(model?, self.tokens);
                ColumnValue::maybe(self.cost.or_else(priced), ColumnValue::Float)
            }
        }
    }
}

/// Reads `usage` rows.
pub(super) fn usages(
    read: &ReadSessions<'_>,
    scope: &SessionScope,
    rows: &mut SessionRows<'_, '_>,
) -> Result<()> {
    let prices = OnceCell::new();
    let prices = || prices.get_or_init(|| ModelPrices::read(read.space).ok()).as_ref();
    if rows.wants("cost")
        && let Some(prices) = prices()
    {
        prices.flaws.iter().for_each(|flaw| rows.note(flaw.clone()));
    }
    let mut n_absurd = 0;
    if rows.may_be_null("request") {
        of_traces(read, scope, &prices, rows, &mut n_absurd)?;
    }
    if rows.may_be_null("trace") && rows.may_be_null("n") {
        let sessions: Vec<SessionId> = scope.sessions(read)?.into_iter().collect();
        for (n_done, id) in sessions.iter().enumerate() {
            if rows.is_over() || read.ahead(&sessions, n_done).is_break() {
                break;
            }
            if let Some(journal) = read.journal_or_note(id, rows) {
                n_absurd += of_requests(id, &journal, read, &prices, rows);
            }
        }
    }
    if n_absurd > 0 {
        rows.note(format!("{n_absurd} amounts of usage are negative or absurd, and left out"));
    }
    Ok(())
}

/// Reads what entries of traces tell.
fn of_traces<'c>(
    read: &ReadSessions<'_>,
    scope: &SessionScope,
    prices: &dyn Fn() -> Option<&'c ModelPrices>,
    rows: &mut SessionRows<'_, '_>,
    n_absurd: &mut usize,
) -> Result<()> {
    trace::entries(read, scope, rows, &mut |entry, rows| {
        let usage = entry.meta.and_then(|meta| meta.get(USAGE)?.as_map());
        let Some(told) = usage.map(ToldUsage::of) else { return };
        *n_absurd += told.n_absurd;
        let model = entry.meta.and_then(|meta| meta.get("model")?.as_text());
        rows.row(|column| match column {
            "trace" => ColumnValue::id(entry.trace),
            "request" => ColumnValue::Null,
            "n" => ColumnValue::count(entry.n),
            "agent" => ColumnValue::text(entry.agent),
            "model" => ColumnValue::maybe(model, ColumnValue::text),
            "at" => ColumnValue::at(entry.at),
            column => told.column(column, model, prices),
        });
    })
}

/// Reads what the answers to the requests of a session tell; returns how many amounts are absurd.
fn of_requests<'c>(
    id: &SessionId,
    journal: &RecordChain,
    read: &ReadSessions<'_>,
    prices: &dyn Fn() -> Option<&'c ModelPrices>,
    rows: &mut SessionRows<'_, '_>,
) -> usize {
    let values = read.values(journal);
    let agent = read.agent_of(id, &journal.start().agent);
    let mut n_absurd = 0;
    for asked in own_asks(journal) {
        let Some((at, told)) = told_by(&asked, &values) else { continue };
        n_absurd += told.n_absurd;
        let needs_model = rows.wants("model") || rows.wants("cost");
        let payload = needs_model.then(|| values.value(&asked.ask.payload).ok()).flatten();
        let model = payload.as_ref().and_then(|payload| payload.get("model")?.as_text());
        rows.row(|column| match column {
            "trace" | "n" => ColumnValue::Null,
            "request" => request_id(id, &asked),
            "agent" => ColumnValue::text(agent.as_ref()),
            "model" => ColumnValue::maybe(model, ColumnValue::text),
            "at" => ColumnValue::at(at),
            column => told.column(column, model, prices),
        });
    }
    n_absurd
}

/// Reads what the answer to a request told of its cost, if it asks a model, and when that was.
fn told_by(
    asked: &OwnAsk<'_>,
    values: &SessionValues<'_, '_>,
) -> Option<(agentic_model::Instant, ToldUsage)> {
    let kind = asked.ask.kind.split('.').next();
    if kind != Some(MODEL_REQUEST) && kind != Some(TASK_REQUEST) {
        return None;
    }
    let (record, outcome, _) = asked.answer()?;
    let (Outcome::Ok(value) | Outcome::Failed { details: value, .. }) = outcome else {
        return None;
    };
    let value = values.value(value).ok()?;
    Some((record.at, ToldUsage::of(value.get(USAGE)?.as_map()?)))
}
