//! What was done over time, how long people were waited for, and what came of programs: folds of facts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use agentic_model::Instant;
use agentic_query::QueryValue;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::caller::agent_name;
use crate::verb::{AskQuery, QueryOutcome, Reply, Verb};
use crate::view::{CommitCountView, OutcomeView, StatisticsView, WaitBucketView, WaitView};
use crate::{Caller, Refusal};

const DAY_MS: i64 = 24 * 3600 * 1000;
/// Where 1970 began, a week had had so many days since Monday.
const DAYS_SINCE_MONDAY: i64 = 3;
/// How many days or weeks are counted at once.
const BUCKETS_MAX: i64 = 1_000;
/// How far back one looks who says nothing, in days.
const DAYS_USUAL: i64 = 56;
/// The shortest wait that is told from none, in milliseconds.
const SHORTEST_WAIT_MS: i64 = 1_000;

/// Which commits, which holds and which sessions count: those of open agents in a span of time.
const FACTS: &str = r#"
param $from: instant.
param $to: instant.
? (C, K, At) commit(id: C, kind: K, agent: A, at: At), agent(name: A, place: open), At >= $from, At < $to, {A}.
? (R, Asked, At) hold(request: R, agent: A, at: Asked), decision(request: R, at: At, standing: counted), At >= $from, At < $to, {A}.
? (S, F, State) session(id: S, agent: A, flow: F, state: State, started: At), At >= $from, At < $to, {A}.
? (C, S) claim(commit: C, key: session, value: S), commit(id: C, agent: A), agent(name: A, place: open), {A}.
"#;

/// By what commits and waits are put together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StatisticsStep {
    /// By days.
    #[default]
    Day,
    /// By weeks that begin on Monday.
    Week,
}

/// Count what was done, how long people were waited for, and what came of programs.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Statistics {
    /// From which day or instant on; else eight weeks before the end.
    pub from: Option<String>,
    /// Until which, the day itself and the instant left out; else now.
    pub to: Option<String>,
    /// By days or weeks.
    pub by: StatisticsStep,
    /// Only of this agent.
    pub agent: Option<String>,
}

impl StatisticsStep {
    /// Finds it by its name.
    pub fn parse(name: &str) -> Option<StatisticsStep> {
        [StatisticsStep::Day, StatisticsStep::Week].into_iter().find(|step| step.name() == name)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            StatisticsStep::Day => "day",
            StatisticsStep::Week => "week",
        }
    }

    fn days(self) -> i64 {
        match self {
            StatisticsStep::Day => 1,
            StatisticsStep::Week => 7,
        }
    }

    /// Returns the first day of the day or week of an instant.
    pub fn bucket(self, at: Instant) -> String {
        day_of(self.begin(at))
    }

    /// Returns the first days of all days or weeks of a span.
    pub fn buckets(self, from: Instant, to: Instant) -> Vec<String> {
        let (mut begin, mut buckets) = (self.begin(from), Vec::new());
        while begin < to.millis() && buckets.len() < usize::try_from(BUCKETS_MAX).unwrap_or(0) {
            buckets.push(day_of(begin));
            begin += self.days() * DAY_MS;
        }
        buckets
    }

    fn begin(self, at: Instant) -> i64 {
        let day = at.millis().div_euclid(DAY_MS);
        let since = match self {
            StatisticsStep::Day => 0,
            StatisticsStep::Week => (day + DAYS_SINCE_MONDAY).rem_euclid(7),
        };
        (day - since) * DAY_MS
    }
}

fn day_of(millis: i64) -> String {
    let text = Instant::from_millis(millis).to_string();
    text.split('T').next().unwrap_or(&text).to_owned()
}

/// The facts of a span, as the queries answer them.
struct SpanFacts {
    answers: Vec<Vec<Vec<QueryValue>>>,
    left_out: Vec<String>,
}

impl Verb for Statistics {
    type Answer = StatisticsView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<StatisticsView>, Refusal> {
        let now = caller.space.now();
        // What was done just now counts.
        let to = instant(self.to.as_deref())?.unwrap_or_else(|| now.plus_millis(1));
        let usual = || to.plus_millis(-DAYS_USUAL * DAY_MS);
        let from = instant(self.from.as_deref())?.unwrap_or_else(usual);
        if from >= to {
            let message = format!("{from} is not before {to}");
            return Err(Refusal::usage(&message, "`from` comes before `to`"));
        }
        let n_days = to.millis().saturating_sub(from.millis()) / DAY_MS;
        if n_days / self.by.days() > BUCKETS_MAX {
            let message =
                format!("from {from} to {to} are more than {BUCKETS_MAX} {}s", self.by.name());
            return Err(Refusal::usage(&message, "ask for less at once, or by week"));
        }
        let agent = self.agent.as_deref().map(agent_name).transpose()?;
        let agent = agent.map(|agent| agent.to_string());
        let facts = SpanFacts::read(caller, from, to, agent.as_deref())?;
        Ok(Reply::plain(StatisticsView {
            from: from.to_string(),
            to: to.to_string(),
            by: self.by.name().to_owned(),
            agent,
            commits: commits(facts.rows(0), self.by),
            waits: waits(facts.rows(1), self.by),
            outcomes: outcomes(facts.rows(2), facts.rows(3)),
            left_out: facts.left_out,
        }))
    }
}

impl SpanFacts {
    fn read(
        caller: &Caller<'_>,
        from: Instant,
        to: Instant,
        agent: Option<&str>,
    ) -> Result<SpanFacts, Refusal> {
        let mut params = BTreeMap::from([
            ("from".to_owned(), from.to_string()),
            ("to".to_owned(), to.to_string()),
        ]);
        let (begin, of_agent) = match agent {
            Some(agent) => {
                params.insert("agent".to_owned(), agent.to_owned());
                ("param $agent: text.", ", A = $agent")
            }
            None => ("", ""),
        };
        let text = format!("{begin}{}", FACTS.replace(", {A}", of_agent));
        let query = AskQuery { text, params, ..AskQuery::default() };
        match query.ask(caller, &AtomicBool::new(false))? {
            QueryOutcome::Answered(answered) => {
                let report = answered.report;
                let answers = report.answers.into_iter().map(|answer| answer.rows).collect();
                Ok(SpanFacts { answers, left_out: report.notes })
            }
            QueryOutcome::Refused(findings) => Err(findings.refusal()),
        }
    }

    fn rows(&self, query: usize) -> &[Vec<QueryValue>] {
        self.answers.get(query).map_or(&[], Vec::as_slice)
    }
}

/// Reads a day or an instant.
fn instant(text: Option<&str>) -> Result<Option<Instant>, Refusal> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let found = Instant::parse(text).or_else(|| Instant::parse(&format!("{text}T00:00:00Z")));
    let wrong =
        || Refusal::usage(&format!("`{text}` is no day and no instant"), "such as 2026-11-01");
    found.map(Some).ok_or_else(wrong)
}

fn text(value: &QueryValue) -> &str {
    match value {
        QueryValue::Text(text) => text,
        QueryValue::Null | QueryValue::Bool(_) | QueryValue::Int(_) | QueryValue::Float(_) => "",
    }
}

fn millis(value: &QueryValue) -> Option<i64> {
    match value {
        QueryValue::Int(millis) => Some(*millis),
        QueryValue::Null | QueryValue::Bool(_) | QueryValue::Float(_) | QueryValue::Text(_) => None,
    }
}

fn commits(rows: &[Vec<QueryValue>], by: StatisticsStep) -> Vec<CommitCountView> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for row in rows {
        if let [_, kind, at] = row.as_slice()
            && let Some(at) = millis(at)
        {
            let bucket = by.bucket(Instant::from_millis(at));
            *counts.entry((bucket, text(kind).to_owned())).or_default() += 1;
        }
    }
    let view = |((bucket, kind), count)| CommitCountView { bucket, kind, count };
    counts.into_iter().map(view).collect()
}

fn waits(rows: &[Vec<QueryValue>], by: StatisticsStep) -> Vec<WaitView> {
    // Where several people must agree, the last of them decides.
    let mut decided: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for row in rows {
        if let [request, asked, at] = row.as_slice()
            && let Some((asked, at)) = millis(asked).zip(millis(at))
        {
            let known = decided.entry(text(request)).or_insert((asked, at));
            *known = (known.0.min(asked), known.1.max(at));
        }
    }
    let mut waits: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for (asked, at) in decided.into_values() {
        let bucket = by.bucket(Instant::from_millis(at));
        waits.entry(bucket).or_default().push((at - asked).max(0));
    }
    waits.into_iter().map(|(bucket, waits)| wait(bucket, waits)).collect()
}

fn wait(bucket: String, mut waits: Vec<i64>) -> WaitView {
    waits.sort_unstable();
    let mut histogram: BTreeMap<i64, usize> = BTreeMap::new();
    for wait in &waits {
        let mut below = SHORTEST_WAIT_MS;
        while below <= *wait && below < i64::MAX / 2 {
            below *= 2;
        }
        *histogram.entry(below).or_default() += 1;
    }
    let count = |(below_ms, count)| WaitBucketView { below_ms, count };
    WaitView {
        bucket,
        count: waits.len(),
        p50_ms: quantile(&waits, 50),
        p90_ms: quantile(&waits, 90),
        histogram: histogram.into_iter().map(count).collect(),
    }
}

/// Returns the quantile of sorted values that lies on the line between its neighbours (type 7).
fn quantile(sorted: &[i64], percent: i64) -> i64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0 };
    let place = i64::try_from(last).unwrap_or(i64::MAX / 100) * percent;
    let at = usize::try_from(place / 100).unwrap_or(last).min(last);
    let next = sorted[(at + 1).min(last)];
    sorted[at]
        + (next - sorted[at]) / 100 * (place % 100)
        + (next - sorted[at]) % 100 * (place % 100) / 100
}

fn outcomes(sessions: &[Vec<QueryValue>], claims: &[Vec<QueryValue>]) -> Vec<OutcomeView> {
    let mut flows: BTreeMap<&str, OutcomeView> = BTreeMap::new();
    let mut flow_of: BTreeMap<&str, &str> = BTreeMap::new();
    for row in sessions {
        let [session, flow, state] = row.as_slice() else { continue };
        let (session, flow) = (text(session), text(flow));
        flow_of.insert(session, flow);
        let outcome = flows.entry(flow).or_default();
        let count = match text(state) {
            "done" => &mut outcome.done,
            "failed" | "diverged" => &mut outcome.failed,
            "cancelled" => &mut outcome.cancelled,
            "held" => &mut outcome.held,
            _ => &mut outcome.open,
        };
        *count += 1;
    }
    let mut seen = BTreeSet::new();
    for row in claims {
        let [commit, session] = row.as_slice() else { continue };
        let flow = flow_of.get(text(session)).and_then(|flow| flows.get_mut(flow));
        if let Some(outcome) = flow
            && seen.insert(text(commit))
        {
            outcome.commits += 1;
        }
    }
    let named = |(flow, outcome): (&str, OutcomeView)| OutcomeView {
        behaviour: flow.to_owned(),
        ..outcome
    };
    let mut outcomes: Vec<OutcomeView> = flows.into_iter().map(named).collect();
    let n = |one: &OutcomeView| one.done + one.failed + one.cancelled + one.held + one.open;
    outcomes
        .sort_by(|left, right| n(right).cmp(&n(left)).then(left.behaviour.cmp(&right.behaviour)));
    outcomes
}

#[cfg(test)]
mod tests {
    use super::{StatisticsStep, instant, quantile};

    #[test]
    fn quantiles_lie_between_their_neighbours() {
        for (sorted, percent, expected) in [
            (vec![], 50, 0),
            (vec![7], 90, 7),
            (vec![10, 20], 50, 15),
            (vec![10, 20, 30, 40], 50, 25),
            (vec![0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100], 90, 90),
            (vec![1, 2, 3, 4], 90, 3),
        ] {
            assert_eq!(quantile(&sorted, percent), expected, "{sorted:?} at {percent}");
        }
    }

    #[test]
    fn weeks_begin_on_monday() {
        for (at, day, week) in [
            ("1970-01-01T00:00:00Z", "1970-01-01", "1969-12-29"),
            ("2026-11-23T23:59:59Z", "2026-11-23", "2026-11-23"),
            ("2026-11-29T12:00:00Z", "2026-11-29", "2026-11-23"),
            ("2026-11-30T00:00:00Z", "2026-11-30", "2026-11-30"),
        ] {
            let at = instant(Some(at)).expect("an instant").expect("one");
            assert_eq!(StatisticsStep::Day.bucket(at), day);
            assert_eq!(StatisticsStep::Week.bucket(at), week);
        }
        let day = |text: &str| instant(Some(text)).expect("a day").expect("one");
        let (from, to) = (day("2026-11-20"), day("2026-12-01"));
        assert_eq!(
            StatisticsStep::Week.buckets(from, to),
            ["2026-11-16", "2026-11-23", "2026-11-30"]
        );
        assert!(instant(Some("next week")).is_err());
        assert!(instant(Some("")).expect("nothing is said").is_none());
    }
}
