//! Two behaviours beside each other: how far they differ, and how sure one may be of it.
//!
//! Nobody drew lots for who gets which behaviour. So cases are compared within strata, too, and no
//! winner is named where those say something else.

use std::collections::BTreeMap;

use agentic_model::Instant;
use agentic_statistics::{
    FigureInterval, MultipleViews, Proportion, RankSum, Stratum, SurvivalCurve, SurvivalTime,
    cases_a_side, difference_interval, log_rank, rank_sum, stratified_difference,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::by_case::metrics;
use super::case_figures::{CASES_MIN, CaseMetric, rate};
use super::cases::{CaseScope, CountedCase, CountedCases};
use crate::behaviours::named_behaviour;
use crate::verb::{Reply, Verb};
use crate::view::{
    CaseRateView, ComparedMetricView, ComparedSideView, ComparisonView, StratumView,
};
use crate::{Caller, Refusal};

/// The difference that is to be found where nobody says another: ten points.
const DETECT_USUAL: f64 = 0.1;
/// In how many comparisons it shall be found.
const POWER: f64 = 0.8;
/// How many digits of a month a day has: `2026-11`.
const MONTH_CHARS: usize = 7;
/// The word for several models.
const MIXED: &str = "mixed";

/// Compare what came of two behaviours.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompareBehaviours {
    /// The first: a name, `REMOTE/NAME`, or an id or its beginning.
    pub first: String,
    /// The second.
    pub second: String,
    /// The figure: landed, reverted, failed, rejected, first-commit, landing, duration or wait; else
    /// landed. `all` looks at every one, with wider intervals.
    pub metric: Option<String>,
    /// The difference of rates that it shall be told how many cases find it, from 0 to 1.
    pub detect: Option<f64>,
}

/// The cases of both sides.
struct ComparedCases<'c> {
    first: Vec<&'c CountedCase>,
    second: Vec<&'c CountedCase>,
    names: [&'c str; 2],
    views: MultipleViews,
    detect: f64,
}

impl Verb for CompareBehaviours {
    type Answer = ComparisonView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<ComparisonView>, Refusal> {
        let wanted = self.wanted()?;
        let detect = self.detect.unwrap_or(DETECT_USUAL);
        if !(detect > 0.0 && detect < 1.0) {
            let message = format!("{detect} is no difference of rates");
            return Err(Refusal::usage(&message, "a share between 0 and 1, such as 0.1"));
        }
        let (first, second) =
            (named_behaviour(caller, &self.first)?, named_behaviour(caller, &self.second)?);
        let cids = [first.cid().to_string(), second.cid().to_string()];
        if cids[0] == cids[1] {
            let message = format!("`{}` and `{}` are one behaviour", self.first, self.second);
            return Err(Refusal::usage(&message, "name two that differ"));
        }
        let found = CountedCases::read(caller, CaseScope { usage: true, strata: true })?;
        let of = |cid: &String| -> Vec<&CountedCase> {
            let is_own = |case: &&CountedCase| {
                case.apart.is_none() && case.behaviours.len() == 1 && case.behaviours.contains(cid)
            };
            found.cases.iter().filter(is_own).collect()
        };
        let views = MultipleViews(u32::try_from(wanted.len()).unwrap_or(u32::MAX));
        let cases = ComparedCases {
            first: of(&cids[0]),
            second: of(&cids[1]),
            names: [&self.first, &self.second],
            views,
            detect,
        };
        let side = |named: &str, cid: &str, cases: &[&CountedCase]| ComparedSideView {
            named: named.to_owned(),
            cid: cid.to_owned(),
            cases: cases.len(),
            closed: cases.iter().filter(|case| case.is_closed).count(),
        };
        Ok(Reply::plain(ComparisonView {
            first: side(&self.first, &cids[0], &cases.first),
            second: side(&self.second, &cids[1], &cases.second),
            metrics: wanted.iter().map(|metric| cases.compare(*metric)).collect(),
            views: views.0,
            certainty: 1.0 - views.alpha(),
            left_out: found.left_out.clone(),
        }))
    }
}

impl CompareBehaviours {
    fn wanted(&self) -> Result<Vec<CaseMetric>, Refusal> {
        let named = match self.metric.as_deref() {
            None => Some(CaseMetric::Landed.name()),
            Some("all") => None,
            Some(name) => Some(name),
        };
        let mut wanted = metrics(named)?;
        wanted.retain(|metric| *metric != CaseMetric::Usage);
        if wanted.is_empty() {
            let message = "what models cost is not compared";
            return Err(Refusal::usage(message, "`agentic stats --metric usage` sums it up"));
        }
        Ok(wanted)
    }
}

impl ComparedCases<'_> {
    fn compare(&self, metric: CaseMetric) -> ComparedMetricView {
        if metric.is_rate() { self.compare_rates(metric) } else { self.compare_times(metric) }
    }

    fn empty(&self, metric: CaseMetric) -> ComparedMetricView {
        ComparedMetricView {
            metric: metric.name().to_owned(),
            words: Vec::new(),
            warns: false,
            too_few: false,
            first: None,
            second: None,
            difference: None,
            low: None,
            high: None,
            pooled: None,
            one_sided_share: None,
            strata: Vec::new(),
            p: None,
            cases_a_side: None,
            detect: None,
        }
    }

    fn compare_rates(&self, metric: CaseMetric) -> ComparedMetricView {
        let (first, second) = (metric.proportion(&self.first), metric.proportion(&self.second));
        let mut view = self.empty(metric);
        view.first = Some(rate(metric, first, self.views));
        view.second = Some(rate(metric, second, self.views));
        if let Some(base) = first.rate() {
            // Above the best rate there is nothing to find, nor below none.
            let others = [base + self.detect, base - self.detect];
            let other = others.into_iter().find(|other| (0.0..=1.0).contains(other));
            view.cases_a_side =
                other.and_then(|other| cases_a_side(base, other, self.views.alpha(), POWER));
            view.detect = Some(self.detect);
        }
        if self.are_too_few(&mut view, first.n as usize, second.n as usize) {
            return view;
        }
        let Some((difference, interval)) = difference_interval(first, second, self.views.z())
        else {
            return view;
        };
        (view.difference, view.low, view.high) =
            (Some(difference), Some(interval.low), Some(interval.high));
        let strata = strata(metric, &self.first, &self.second);
        let sides: Vec<Stratum> = strata.values().copied().collect();
        if let Some(found) = stratified_difference(&sides) {
            (view.pooled, view.one_sided_share) = (found.pooled, Some(found.one_sided_share));
            view.warns = found.warns();
        }
        view.strata = strata_views(&strata);
        view.words = self.words_of_rates(metric, &view);
        view
    }

    fn words_of_rates(&self, metric: CaseMetric, view: &ComparedMetricView) -> Vec<String> {
        let (Some(difference), Some(low), Some(high)) = (view.difference, view.low, view.high)
        else {
            return Vec::new();
        };
        let span = format!("{} ({} … {})", signed_points(difference), points(low), points(high));
        let n_of = |side: &Option<CaseRateView>| side.as_ref().map_or(0, |rate| rate.n);
        let (n_first, n_second) = (n_of(&view.first), n_of(&view.second));
        let cases = format!("{n_first} and {n_second} cases, not assigned by chance");
        let mut words = Vec::new();
        if view.warns {
            let pooled = view.pooled.map_or("nothing".to_owned(), signed_points);
            words.push(format!(
                "Warning: no winner is named. Within strata the difference is {pooled}, and {} of \
                 the cases have nothing to be compared with.",
                percent(view.one_sided_share.unwrap_or(0.0))
            ));
            words.push(format!(
                "{} and {} differ by {span}, {cases}.",
                self.names[0], self.names[1]
            ));
        } else if low <= 0.0 && high >= 0.0 {
            words.push(format!("No difference is shown: {span}, {cases}."));
        } else {
            let winner = self.names[usize::from(difference > 0.0)];
            let (low, high) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
            words.push(format!(
                "{winner} {}: {} ({} … {}), {cases}.",
                metric.more(),
                signed_points(difference.abs()),
                points(low),
                points(high)
            ));
        }
        if let Some(detect) = view.detect.map(points_with_unit) {
            words.push(match view.cases_a_side {
                Some(n) => format!("To find a difference of {detect} takes {n} cases a side."),
                None => format!(
                    "No rate is {detect} from that of {}: no number of cases finds that.",
                    self.names[0]
                ),
            });
        }
        words
    }

    fn compare_times(&self, metric: CaseMetric) -> ComparedMetricView {
        let (first, second) = (metric.times(&self.first), metric.times(&self.second));
        let mut view = self.empty(metric);
        if self.are_too_few(&mut view, first.len(), second.len()) {
            return view;
        }
        let cases = format!("{} and {} cases, not assigned by chance", first.len(), second.len());
        let is_over = |times: &[SurvivalTime]| times.iter().all(|one| one.is_over);
        if is_over(&first) && is_over(&second) {
            let values =
                |times: &[SurvivalTime]| times.iter().map(|one| one.time).collect::<Vec<_>>();
            let found = rank_sum(&values(&first), &values(&second), self.views.alpha());
            let Some(found) = found else { return view };
            (view.difference, view.p) = (Some(found.shift), Some(found.p));
            view.words.push(self.words_of_shift(metric, found, &cases));
            (view.low, view.high) =
                (found.interval.map(|it| it.low), found.interval.map(|it| it.high));
            return view;
        }
        // Of some cases only the beginning is known: medians, and no interval.
        view.p = log_rank(&first, &second);
        let medians = [&first, &second].map(|times| {
            let median = SurvivalCurve::of(times).median();
            median.map_or("not reached".to_owned(), seconds)
        });
        let chance = view.p.map_or("unknown".to_owned(), |p| format!("{p:.3}"));
        view.words.push(format!(
            "Half of the cases are over after {} and {}; by chance alone as far apart with p = \
             {chance}, {cases}.",
            medians[0], medians[1]
        ));
        view
    }

    fn words_of_shift(&self, metric: CaseMetric, found: RankSum, cases: &str) -> String {
        let shift = seconds(found.shift);
        let Some(FigureInterval { low, high }) = found.interval else {
            return format!(
                "No difference is shown: {shift}, and so few cases bound it on no side, {cases}."
            );
        };
        let span = format!("{shift} ({} … {})", seconds(low), seconds(high));
        if low <= 0.0 && high >= 0.0 {
            return format!("No difference is shown: {span}, {cases}.");
        }
        let winner = self.names[usize::from(found.shift > 0.0)];
        format!("{winner} {}: by {span}, {cases}.", metric.more())
    }

    /// Says so where one side has too few cases.
    fn are_too_few(&self, view: &mut ComparedMetricView, n_first: usize, n_second: usize) -> bool {
        view.too_few = n_first < CASES_MIN || n_second < CASES_MIN;
        if view.too_few {
            view.words.push(format!(
                "Too few to compare: {n_first} and {n_second} cases, {CASES_MIN} a side are the least."
            ));
        }
        view.too_few
    }
}

/// What cases of one stratum have in common: kind, model, person and month.
type StratumKey = (Option<String>, Option<String>, Option<String>, String);

fn strata(
    metric: CaseMetric,
    first: &[&CountedCase],
    second: &[&CountedCase],
) -> BTreeMap<StratumKey, Stratum> {
    let nothing = Proportion { n_true: 0, n: 0 };
    let mut found: BTreeMap<StratumKey, Stratum> = BTreeMap::new();
    let mut add = |case: &CountedCase, side: fn(&mut Stratum) -> &mut Proportion| {
        let told = metric.proportion(&[case]);
        let stratum = found.entry(stratum_of(case));
        let sum = side(stratum.or_insert(Stratum { first: nothing, second: nothing }));
        sum.n += told.n;
        sum.n_true += told.n_true;
    };
    first.iter().for_each(|case| add(case, |stratum| &mut stratum.first));
    second.iter().for_each(|case| add(case, |stratum| &mut stratum.second));
    found.retain(|_, stratum| stratum.first.n + stratum.second.n > 0);
    found
}

fn stratum_of(case: &CountedCase) -> StratumKey {
    let model = match case.models.len() {
        0 | 1 => case.models.first().cloned(),
        _ => Some(MIXED.to_owned()),
    };
    let began = Instant::from_millis(case.began).to_string();
    let month = began.chars().take(MONTH_CHARS).collect();
    (case.briefing_kind.clone(), model, case.person.clone(), month)
}

/// Shows strata without persons: those that differ in nothing else are one here.
fn strata_views(strata: &BTreeMap<StratumKey, Stratum>) -> Vec<StratumView> {
    let mut shown: BTreeMap<(&Option<String>, &Option<String>, &str), StratumView> =
        BTreeMap::new();
    for ((kind, model, _, month), stratum) in strata {
        let view = shown.entry((kind, model, month)).or_insert_with(|| StratumView {
            kind: kind.clone(),
            model: model.clone(),
            month: month.clone(),
            first: (0, 0),
            second: (0, 0),
        });
        let sum = |(n_true, n): (u64, u64), one: Proportion| (n_true + one.n_true, n + one.n);
        view.first = sum(view.first, stratum.first);
        view.second = sum(view.second, stratum.second);
    }
    shown.into_values().collect()
}

fn points(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

fn points_with_unit(share: f64) -> String {
    format!("{} points", points(share))
}

fn signed_points(share: f64) -> String {
    format!("{:+.0} points", share * 100.0)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn seconds(millis: f64) -> String {
    format!("{:.1} s", millis / 1000.0)
}
