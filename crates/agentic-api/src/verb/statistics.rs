//! What was done over time, how long people were waited for, and what came of programs.
//!
//! Commits of very many agents are counted while they are read; of sessions only few things are held.

mod by_case;
mod case_facts;
mod case_figures;
mod case_landing;
mod case_told;
mod cases;
mod commits;
mod compare;
mod hold_place;
mod holds;
mod sessions;
mod since_adoption;
mod survival;

use std::collections::BTreeMap;

use agentic_model::{Cid, Instant, LibraryName};
use schemars::JsonSchema;
use serde::Deserialize;

pub use self::by_case::{CaseGrouping, CaseStatistics, TrialCases};
use self::commits::CountedCommits;
pub use self::compare::CompareBehaviours;
use self::holds::AskedFacts;
use crate::behaviours::BehaviourShelf;
use crate::caller::agent_name;
use crate::verb::{Reply, Verb};
use crate::view::{OutcomeView, StatisticsView};
use crate::{Caller, Refusal};

const DAY_MS: i64 = 24 * 3600 * 1000;
/// Where 1970 began, a week had had so many days since Monday.
const DAYS_SINCE_MONDAY: i64 = 3;
/// How many days or weeks are counted at once.
const BUCKETS_MAX: i64 = 1_000;
/// How far back one looks who says nothing, in days.
const DAYS_USUAL: i64 = 56;

/// What is counted.
#[derive(Debug, Clone, Copy)]
struct CountedSpan {
    from: Instant,
    to: Instant,
    by: StatisticsStep,
}

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

impl CountedSpan {
    /// Says whether an instant lies in it.
    fn has(&self, at: Instant) -> bool {
        self.from <= at && at < self.to
    }
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
        let span = CountedSpan { from, to, by: self.by };
        let asked = AskedFacts::read(caller, &span, agent.as_ref())?;
        let mut counted = CountedCommits::new(&span, &asked.sessions);
        let mut left_out = asked.left_out;
        left_out.extend(counted.count(caller, agent.as_ref())?);
        let mut outcomes = asked.sessions.outcomes(&counted.of_flows);
        match BehaviourShelf::new(caller.space).in_force() {
            Ok(names) => outcomes.iter_mut().for_each(|one| one.name = name_of(one, &names)),
            Err(refusal) => left_out.push(refusal.sentence()),
        }
        Ok(Reply::plain(StatisticsView {
            from: from.to_string(),
            to: to.to_string(),
            by: self.by.name().to_owned(),
            agent: agent.map(|agent| agent.to_string()),
            outcomes,
            commits: counted.view(),
            waits: asked.waits.view(),
            left_out,
        }))
    }
}

/// Finds what a program is called that is in force here; of several names the first.
fn name_of(outcome: &OutcomeView, names: &BTreeMap<Cid, Vec<LibraryName>>) -> Option<String> {
    let cid = Cid::parse(&outcome.behaviour).ok()?;
    names.get(&cid)?.first().map(LibraryName::to_string)
}

/// Reads a day or an instant.
fn instant(text: Option<&str>) -> Result<Option<Instant>, Refusal> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let found = Instant::parse(text).or_else(|| Instant::parse(&format!("{text}T00:00:00Z")));
    let wrong =
        || Refusal::usage(&format!("`{text}` is no day and no instant"), "such as 2026-11-01");
    found.map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::{StatisticsStep, instant};

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
