//! Figures of cases, and how sure one may be of them.

use std::collections::BTreeMap;

use agentic_statistics::{
    MultipleViews, Proportion, Quartiles, SurvivalCurve, SurvivalTime, median_interval, quartiles,
};

use super::cases::{CaseForm, CaseUsage, CountedCase};
use crate::view::{CaseRateView, CaseTimeView, CaseUsageView, CaseVolumeView};

/// Fewer cases than this are too few to say anything.
pub(super) const CASES_MIN: usize = 5;

/// What is figured out of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseMetric {
    /// Whether a branch of people has work of it.
    Landed,
    /// Whether something of it was reverted there, of those that have landed.
    Reverted,
    /// Whether a session failed.
    Failed,
    /// Whether a hold of it was rejected, of those with a decided hold.
    Rejected,
    /// How long until the first commit.
    FirstCommit,
    /// How long until a branch of people had work of it.
    Landing,
    /// How long a session took.
    Duration,
    /// How long people were waited for, in all holds of a case together.
    Wait,
    /// What models cost and tests gave.
    Usage,
}

/// One figure of one case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CaseFigure {
    /// Something is true of it, or not.
    Truth(bool),
    /// Something took so long.
    Time(SurvivalTime),
}

impl CaseMetric {
    /// All of them.
    pub(super) const ALL: [CaseMetric; 9] = [
        CaseMetric::Landed,
        CaseMetric::Reverted,
        CaseMetric::Failed,
        CaseMetric::Rejected,
        CaseMetric::FirstCommit,
        CaseMetric::Landing,
        CaseMetric::Duration,
        CaseMetric::Wait,
        CaseMetric::Usage,
    ];

    /// Finds one by its name.
    pub(super) fn parse(name: &str) -> Option<CaseMetric> {
        CaseMetric::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Returns its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            CaseMetric::Landed => "landed",
            CaseMetric::Reverted => "reverted",
            CaseMetric::Failed => "failed",
            CaseMetric::Rejected => "rejected",
            CaseMetric::FirstCommit => "first-commit",
            CaseMetric::Landing => "landing",
            CaseMetric::Duration => "duration",
            CaseMetric::Wait => "wait",
            CaseMetric::Usage => "usage",
        }
    }

    /// Returns what stands in the place of "landed" where a side has more of it.
    pub(super) fn more(self) -> &'static str {
        match self {
            CaseMetric::Landed => "landed more often",
            CaseMetric::Reverted => "was reverted more often",
            CaseMetric::Failed => "failed more often",
            CaseMetric::Rejected => "was rejected more often",
            CaseMetric::FirstCommit => "took longer to its first commit",
            CaseMetric::Landing => "took longer to land",
            CaseMetric::Duration => "took longer",
            CaseMetric::Wait => "made people wait longer",
            CaseMetric::Usage => "cost more",
        }
    }

    /// Figures it out of a case: nothing where the case has no such figure.
    pub(super) fn of(self, case: &CountedCase) -> Vec<CaseFigure> {
        let truth = |is_it: bool| vec![CaseFigure::Truth(is_it)];
        let time = |time: i64, is_over: bool| {
            // What clocks say before it began took no time.
            CaseFigure::Time(SurvivalTime { time: time.max(0) as f64, is_over })
        };
        match self {
            CaseMetric::Landed if case.is_closed => truth(case.landing.is_some()),
            CaseMetric::Reverted => {
                let reverted = case.landing.map(|landing| landing.is_reverted);
                reverted.map(CaseFigure::Truth).into_iter().collect()
            }
            CaseMetric::Failed if case.is_closed && case.form == CaseForm::Session => {
                truth(case.state.as_deref() == Some("failed"))
            }
            CaseMetric::Rejected
                if case.is_closed && case.holds.approved + case.holds.rejected > 0 =>
            {
                truth(case.holds.rejected > 0)
            }
            CaseMetric::FirstCommit => {
                let first = case.first_at.map(|at| time(at - case.began, true));
                let open = || case.last_seen.checked_sub(case.began).map(|so| time(so, false));
                first.or_else(open).into_iter().collect()
            }
            CaseMetric::Landing => {
                let landed = case.landing.map(|landing| time(landing.at - case.began, true));
                // One that has not landed by now may still do so.
                let open = || case.last_seen.checked_sub(case.began).map(|so| time(so, false));
                landed.or_else(open).into_iter().collect()
            }
            CaseMetric::Duration if case.form == CaseForm::Session => {
                let end = if case.is_closed { case.closed_at } else { None };
                let so_far = end.unwrap_or(case.last_seen).saturating_sub(case.began);
                vec![time(so_far, end.is_some())]
            }
            CaseMetric::Wait if !case.holds.waits.is_empty() => {
                // A case is one: those of its holds resemble each other.
                let waits = &case.holds.waits;
                let waited = waits.iter().fold(0_i64, |sum, (one, _)| sum.saturating_add(*one));
                vec![time(waited, waits.iter().all(|(_, is_over)| *is_over))]
            }
            CaseMetric::Landed
            | CaseMetric::Failed
            | CaseMetric::Rejected
            | CaseMetric::Duration
            | CaseMetric::Wait
            | CaseMetric::Usage => Vec::new(),
        }
    }

    /// Says whether it is a rate.
    pub(super) fn is_rate(self) -> bool {
        match self {
            CaseMetric::Landed
            | CaseMetric::Reverted
            | CaseMetric::Failed
            | CaseMetric::Rejected => true,
            CaseMetric::FirstCommit
            | CaseMetric::Landing
            | CaseMetric::Duration
            | CaseMetric::Wait
            | CaseMetric::Usage => false,
        }
    }

    /// Says whether it is a time.
    pub(super) fn is_time(self) -> bool {
        !self.is_rate() && self != CaseMetric::Usage
    }

    /// Counts of how many cases it is true.
    pub(super) fn proportion(self, cases: &[&CountedCase]) -> Proportion {
        let mut found = Proportion { n_true: 0, n: 0 };
        for figure in cases.iter().flat_map(|case| self.of(case)) {
            match figure {
                CaseFigure::Truth(is_it) => {
                    found.n += 1;
                    found.n_true += u64::from(is_it);
                }
                CaseFigure::Time(_) => {}
            }
        }
        found
    }

    /// Lists how long it took.
    pub(super) fn times(self, cases: &[&CountedCase]) -> Vec<SurvivalTime> {
        let time = |figure: CaseFigure| match figure {
            CaseFigure::Time(time) => Some(time),
            CaseFigure::Truth(_) => None,
        };
        cases.iter().flat_map(|case| self.of(case)).filter_map(time).collect()
    }
}

/// Describes a rate with its interval.
pub(super) fn rate(metric: CaseMetric, found: Proportion, views: MultipleViews) -> CaseRateView {
    let interval = found.wilson(views.z());
    CaseRateView {
        metric: metric.name().to_owned(),
        n_true: found.n_true,
        n: found.n,
        rate: found.rate(),
        low: interval.map(|it| it.low),
        high: interval.map(|it| it.high),
    }
}

/// Describes how long something took.
pub(super) fn time(metric: CaseMetric, times: &[SurvivalTime]) -> CaseTimeView {
    let n_over = times.iter().filter(|one| one.is_over).count();
    let mut view = CaseTimeView {
        metric: metric.name().to_owned(),
        n: times.len(),
        n_over,
        median_ms: None,
        lower_ms: None,
        upper_ms: None,
        low_ms: None,
        high_ms: None,
    };
    if n_over == times.len() {
        let values: Vec<f64> = times.iter().map(|one| one.time).collect();
        if let Some(Quartiles { lower, median, upper }) = quartiles(&values) {
            (view.lower_ms, view.median_ms, view.upper_ms) =
                (Some(lower), Some(median), Some(upper));
        }
        let interval = median_interval(&values, MultipleViews(1).alpha());
        (view.low_ms, view.high_ms) = (interval.map(|it| it.low), interval.map(|it| it.high));
    } else {
        let curve = SurvivalCurve::of(times);
        view.lower_ms = curve.time_at(0.75);
        view.median_ms = curve.median();
        view.upper_ms = curve.time_at(0.25);
    }
    view
}

/// Adds up how much was done.
pub(super) fn volume(cases: &[&CountedCase], has_usage: bool) -> CaseVolumeView {
    let mut volume = CaseVolumeView::default();
    let (mut usage, mut tests) = (CaseUsage::default(), (0_i64, 0_i64));
    for case in cases {
        match case.form {
            CaseForm::Agent => volume.agents += 1,
            CaseForm::Session => volume.sessions += 1,
        }
        volume.commits = volume.commits.saturating_add(case.commits);
        add(&mut volume.commits_by_kind, &case.kinds);
        if let Some(state) = &case.state {
            *volume.sessions_by_state.entry(state.clone()).or_default() += 1;
        }
        volume.approved += case.holds.approved;
        volume.rejected += case.holds.rejected;
        volume.in_doubt += case.holds.in_doubt;
        usage.merge(&case.usage);
        tests.0 = tests.0.saturating_add(case.tests.0);
        tests.1 = tests.1.saturating_add(case.tests.1);
    }
    volume.usage = has_usage.then_some(CaseUsageView {
        calls: usage.calls,
        tokens_known: usage.tokens_known,
        input: usage.input,
        output: usage.output,
        cost_known: usage.cost_known,
        cost: usage.cost,
        tests_passed: tests.0,
        tests_failed: tests.1,
    });
    volume
}

fn add(sums: &mut BTreeMap<String, i64>, counts: &BTreeMap<String, i64>) {
    for (kind, n) in counts {
        let sum = sums.entry(kind.clone()).or_default();
        *sum = sum.saturating_add(*n);
    }
}
