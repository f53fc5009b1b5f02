//! How long holds waited for people, and what the facts say of sessions.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use agentic_model::{AgentName, Instant};
use agentic_query::QueryValue;

use super::sessions::CountedSessions;
use super::{CountedSpan, StatisticsStep};
use crate::verb::{AskQuery, QueryOutcome};
use crate::view::{WaitBucketView, WaitView};
use crate::{Caller, Refusal};

/// The shortest wait that is told from none, in milliseconds.
const SHORTEST_WAIT_MS: i64 = 1_000;

/// Which holds and which sessions count.
const FACTS: &str = r#"
param $from: instant.
param $to: instant.
? (A, R, Asked, At) hold(request: R, agent: A, at: Asked), decision(request: R, at: At, standing: counted), At >= $from, At < $to, {A}.
? (A, S, F, State) session(id: S, agent: A, flow: F, state: State, started: At), At >= $from, At < $to, {A}.
"#;

/// What queries answer about a span.
pub(super) struct AskedFacts {
    /// How long people were waited for.
    pub(super) waits: CountedWaits,
    /// What came of sessions.
    pub(super) sessions: CountedSessions,
    /// What could not be read.
    pub(super) left_out: Vec<String>,
}

/// How long each decided hold had waited, by when it was decided.
pub(super) struct CountedWaits(BTreeMap<String, Vec<i64>>);

impl AskedFacts {
    /// Asks about one agent, or about all.
    pub(super) fn read(
        caller: &Caller<'_>,
        span: &CountedSpan,
        agent: Option<&AgentName>,
    ) -> Result<AskedFacts, Refusal> {
        let mut params = BTreeMap::from([
            ("from".to_owned(), span.from.to_string()),
            ("to".to_owned(), span.to.to_string()),
        ]);
        let (begin, of_agent) = match agent {
            Some(agent) => {
                params.insert("agent".to_owned(), agent.to_string());
                ("param $agent: text.", ", A = $agent")
            }
            None => ("", ""),
        };
        let text = format!("{begin}{}", FACTS.replace(", {A}", of_agent));
        let query = AskQuery { text, params, ..AskQuery::default() };
        match query.ask(caller, &AtomicBool::new(false))? {
            QueryOutcome::Answered(answered) => {
                let report = answered.report;
                let rows = |n: usize| report.answers.get(n).map_or(&[][..], |one| &one.rows[..]);
                Ok(AskedFacts {
                    waits: CountedWaits::of(own_rows(rows(0)), span.by),
                    sessions: CountedSessions::of(own_rows(rows(1))),
                    left_out: report.notes,
                })
            }
            QueryOutcome::Refused(findings) => Err(findings.refusal()),
        }
    }
}

/// Leaves out rows about agents of remotes, whose commits are not counted either, and the agent of each.
fn own_rows(rows: &[Vec<QueryValue>]) -> impl Iterator<Item = &[QueryValue]> {
    rows.iter().filter_map(|row| {
        let (agent, rest) = row.split_first()?;
        AgentName::parse(text(agent)).is_ok().then_some(rest)
    })
}

impl CountedWaits {
    /// Counts by rows: request, when it was asked, and when somebody decided.
    fn of<'r>(rows: impl Iterator<Item = &'r [QueryValue]>, by: StatisticsStep) -> CountedWaits {
        // Where several people must agree, the last of them decides.
        let mut decided: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
        for row in rows {
            if let [request, asked, at] = row
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
        CountedWaits(waits)
    }

    /// Lists them by time.
    pub(super) fn view(self) -> Vec<WaitView> {
        self.0.into_iter().map(|(bucket, waits)| wait(bucket, waits)).collect()
    }
}

pub(super) fn text(value: &QueryValue) -> &str {
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

#[cfg(test)]
mod tests {
    use super::quantile;

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
}
