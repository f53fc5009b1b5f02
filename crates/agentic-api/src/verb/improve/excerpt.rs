//! What a model is shown of cases: short pieces of traces, without secrets, as data.
//!
//! Traces are what others wrote, and hostile. What was purged is gone; what is private, or was not
//! granted, is not asked for; runs of trials are left out, so that nobody learns tasks by heart.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use agentic_model::{Cid, Value, json};
use agentic_query::QueryValue;
use agentic_session::trial::{KnownTrial, KnownTrials, TRIAL_FIXED};

use crate::caller::agent_name;
use crate::redaction::CallerRedactor;
use crate::verb::{AskQuery, QueryOutcome};
use crate::{Caller, Notice, Refusal};

/// Which cases went badly.
const CASES: &str = include_str!("../../flows/improve.dl");
/// Which runs of trials did.
const SCORES: &str = include_str!("../../flows/improve-scores.dl");
/// How much a run of a trial weighs that did not pass: as much as a session that failed.
const SCORE_WEIGHT: i64 = 2;
/// What is shown of one.
const ENTRIES: &str = "param $agent: text.
? (At, N, Text) trace(cid: T, agent: $agent), entry(trace: T, n: N, at: At, text: Text) order by At desc, N desc limit 50.";
/// How many cases are shown.
const CASES_MAX: usize = 8;
/// How much is shown of one, in bytes.
const EXCERPT_BYTES_MAX: usize = 2 << 10;
/// How the names of agents begin that are no cases by themselves.
const APART: [&str; 2] = ["trial-", "improve-"];
/// How the names of the trials of improvements begin, whose tasks no model ever sees.
const HIDDEN_TRIALS: &str = "trial-improve-";

/// Cases as a model is shown them.
pub(super) struct ShownCases {
    /// Them, as JSON.
    pub text: String,
    /// What was left out or redacted.
    pub notices: Vec<Notice>,
}

/// Whether a model is shown what private agents did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrivateCases {
    /// It is, and what it makes from that stays here.
    Shown,
    /// It is not.
    LeftOut,
}

/// Which cases are sought.
pub(super) struct SoughtCases<'a> {
    /// Whose.
    pub behaviour: Cid,
    /// Whether private agents are shown.
    pub private: PrivateCases,
    /// The tasks that no model sees, as JSON text.
    pub holdout: Option<&'a str>,
}

/// The trials whose tasks no model sees: those of improvements, and those that have a task of the one that
/// is to come.
struct HiddenTrials {
    agents: BTreeSet<String>,
}

impl HiddenTrials {
    fn of(caller: &Caller<'_>, holdout: Option<&str>) -> Result<HiddenTrials, Refusal> {
        let holdout = holdout.and_then(|text| json::from_text(text).ok());
        let briefings = |tasks: Option<&Value>| -> BTreeSet<String> {
            let tasks = tasks.and_then(Value::as_list).unwrap_or_default();
            let briefing = |task: &Value| task.get("briefing")?.as_text().map(str::to_owned);
            tasks.iter().filter_map(briefing).collect()
        };
        let unseen = briefings(holdout.as_ref());
        let known = KnownTrials::read(caller.space)?;
        let has_one = |trial: &&KnownTrial| {
            let fixed = trial.briefing.map().get(TRIAL_FIXED);
            let tasks = briefings(fixed.and_then(|fixed| fixed.get("tasks")));
            !tasks.is_disjoint(&unseen)
        };
        let agents = known.all().iter().filter(has_one);
        Ok(HiddenTrials { agents: agents.map(|trial| trial.agent.to_string()).collect() })
    }

    fn has(&self, trial: &str) -> bool {
        trial.starts_with(HIDDEN_TRIALS) || self.agents.contains(trial)
    }
}

/// A case that went badly.
#[derive(Debug)]
struct BadCase {
    agent: String,
    weight: i64,
    reasons: Vec<String>,
}

impl ShownCases {
    /// Finds those of a behaviour, the worst first.
    pub fn of(caller: &Caller<'_>, sought: &SoughtCases<'_>) -> Result<ShownCases, Refusal> {
        let mut redactor = CallerRedactor::new(caller)?;
        let mut shown = Vec::new();
        for case in worst_cases(caller, sought)? {
            let params = BTreeMap::from([("agent".to_owned(), case.agent)]);
            let mut entries: Vec<String> = Vec::new();
            for row in rows(caller, ENTRIES, params)? {
                entries.extend(row.last().map(text).map(str::to_owned));
            }
            entries.reverse();
            let trace = redactor.text("a trace", entries.join("\n"));
            let why = redactor.text("a reason", case.reasons.join("\n"));
            shown.push(Value::map([
                ("why", Value::text(last_part(&why, EXCERPT_BYTES_MAX / 4))),
                ("trace", Value::text(last_part(&trace, EXCERPT_BYTES_MAX / 4 * 3))),
            ]));
        }
        Ok(ShownCases { text: json::to_text(&Value::List(shown)), notices: redactor.notices() })
    }
}

fn worst_cases(caller: &Caller<'_>, sought: &SoughtCases<'_>) -> Result<Vec<BadCase>, Refusal> {
    let mut found: BTreeMap<String, BadCase> = BTreeMap::new();
    let behaviour = sought.behaviour.to_string();
    let params = BTreeMap::from([("behaviour".to_owned(), behaviour)]);
    let is_left_out = |agent: &str| -> Result<bool, Refusal> {
        Ok(sought.private == PrivateCases::LeftOut
            && caller.space.repository().is_private(&agent_name(agent)?)?)
    };
    let mut add = |agent: &str, weight: i64, why: String| {
        let new = || BadCase { agent: agent.to_owned(), weight: 0, reasons: Vec::new() };
        let case = found.entry(agent.to_owned()).or_insert_with(new);
        case.weight += weight;
        case.reasons.push(why);
    };
    for row in rows(caller, CASES, params.clone())? {
        let [agent, QueryValue::Int(weight), why] = row.as_slice() else { continue };
        let agent = text(agent);
        if !APART.iter().any(|prefix| agent.starts_with(prefix)) && !is_left_out(agent)? {
            add(agent, *weight, text(why).to_owned());
        }
    }
    let hidden = HiddenTrials::of(caller, sought.holdout)?;
    for row in rows(caller, SCORES, params)? {
        let [agent, trial, value, verdict] = row.as_slice() else { continue };
        let agent = text(agent);
        if hidden.has(text(trial)) || is_left_out(agent)? {
            continue;
        }
        let score = match value {
            QueryValue::Float(score) => format!("it scored {score} in a trial: "),
            QueryValue::Null | QueryValue::Bool(_) | QueryValue::Int(_) | QueryValue::Text(_) => {
                "in a trial it was not scored: ".to_owned()
            }
        };
        add(agent, SCORE_WEIGHT, score + text(verdict));
    }
    let mut worst: Vec<BadCase> = found.into_values().collect();
    worst.sort_by_key(|case| std::cmp::Reverse(case.weight));
    worst.truncate(CASES_MAX);
    Ok(worst)
}

/// Lists what tasks ask, as JSON; of a text that is no list of them nothing.
pub(super) fn briefings(tasks: &str) -> Option<String> {
    let read = json::from_text(tasks).ok()?;
    let briefing = |task: &Value| {
        let text = task.get("briefing")?.as_text()?;
        Some(Value::text(first_part(text, EXCERPT_BYTES_MAX)))
    };
    let all: Option<Vec<Value>> =
        read.as_list()?.iter().take(CASES_MAX * 4).map(briefing).collect();
    Some(json::to_text(&Value::List(all?)))
}

fn rows(
    caller: &Caller<'_>,
    text: &str,
    params: BTreeMap<String, String>,
) -> Result<Vec<Vec<QueryValue>>, Refusal> {
    let query = AskQuery { text: text.to_owned(), params, ..AskQuery::default() };
    match query.ask(caller, &AtomicBool::new(false))? {
        QueryOutcome::Answered(answered) => {
            let last = answered.report.answers.into_iter().next_back();
            Ok(last.map(|answer| answer.rows).unwrap_or_default())
        }
        QueryOutcome::Refused(findings) => Err(findings.refusal()),
    }
}

fn text(value: &QueryValue) -> &str {
    match value {
        QueryValue::Text(text) => text,
        QueryValue::Null | QueryValue::Bool(_) | QueryValue::Int(_) | QueryValue::Float(_) => "",
    }
}

/// Returns the end of a text, so many bytes at most.
fn last_part(text: &str, bytes_max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes_max))..]
}

/// Returns the beginning of a text, so many bytes at most.
fn first_part(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
