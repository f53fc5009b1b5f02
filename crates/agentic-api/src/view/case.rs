//! What came of cases, and how sure one may be of it, as JSON.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::statistics::csv_line;
use super::trial::TrialArmView;

/// What came of cases, by what they have in common.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CaseStatisticsView {
    /// By what cases are put together.
    pub by: String,
    /// From when on they began, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Before when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// How many cases there are, those that are apart left out.
    pub cases: usize,
    /// Of how many nothing more is expected. Rates are over these.
    pub closed: usize,
    /// How many have several behaviours, or models: they are in no group.
    pub mixed: usize,
    /// How many are counted and in no rate, by why.
    pub apart: BTreeMap<String, usize>,
    /// The groups, the largest first.
    pub groups: Vec<CaseGroupView>,
    /// Of a name: what came of the version that it means, since it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_adoption: Option<SinceAdoptionView>,
    /// What people decided, by program and place in it; only where all cases are asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<HoldPlaceView>,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// What came of a version since a name means it, beside the trials that spoke for it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SinceAdoptionView {
    /// Since when.
    pub adopted: String,
    /// Its cases that began since, of this version alone.
    pub figures: CaseGroupView,
    /// What trials had said. They were chosen for being high: less is to be expected.
    pub trials: Vec<AdoptedTrialView>,
}

/// A trial that spoke for an adoption.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AdoptedTrialView {
    /// The object with its scores.
    pub cid: String,
    /// What it said of the version, against the one that was there.
    #[serde(flatten)]
    pub said: TrialArmView,
}

/// Cases that have something in common.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CaseGroupView {
    /// What they have in common; nothing of those that have none of it.
    pub key: Option<String>,
    /// What people call it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// How many there are.
    pub cases: usize,
    /// Of how many nothing more is expected.
    pub closed: usize,
    /// Whether they are too few to say anything.
    pub too_few: bool,
    /// How much was done.
    pub volume: CaseVolumeView,
    /// How often something is true of closed cases.
    pub rates: Vec<CaseRateView>,
    /// How long things took.
    pub times: Vec<CaseTimeView>,
    /// What is left of the lines that landed; missing where nobody asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub survival: Option<CaseSurvivalView>,
}

/// What is left of the lines that cases brought to branches of people.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct CaseSurvivalView {
    /// After so many days.
    pub days: u32,
    /// Of how many cases: those that landed as long ago.
    pub cases: usize,
    /// How many lines they added.
    pub added: u64,
    /// How many of them were still there.
    pub alive: u64,
    /// Half of the cases have kept no greater share of their lines.
    pub median: Option<f64>,
    /// A quarter has kept no more.
    pub lower: Option<f64>,
    /// Three quarters have kept no more.
    pub upper: Option<f64>,
}

/// What people decided at one place of a program.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HoldPlaceView {
    /// The program.
    pub behaviour: String,
    /// Where in it.
    pub path: String,
    /// How many holds were approved, edited or answered.
    pub approved: i64,
    /// How many were rejected.
    pub rejected: i64,
    /// How many wait now.
    pub open: i64,
    /// How long those that were decided had waited on average, in milliseconds.
    pub wait_ms: f64,
}

/// How much was done.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct CaseVolumeView {
    /// How many cases are agents.
    pub agents: usize,
    /// How many are sessions that no other began.
    pub sessions: usize,
    /// How many commits are work.
    pub commits: i64,
    /// How many commits there are of each kind; of agents alone.
    pub commits_by_kind: BTreeMap<String, i64>,
    /// How sessions ended, or stand.
    pub sessions_by_state: BTreeMap<String, usize>,
    /// How many holds were approved, edited or answered.
    pub approved: usize,
    /// How many were rejected.
    pub rejected: usize,
    /// Of how many effects nobody knew whether they had happened.
    pub in_doubt: usize,
    /// How many calls of models were told of; missing where nobody asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<CaseUsageView>,
}

/// What models cost, as far as it is known. What is unknown is not nothing.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct CaseUsageView {
    /// How many calls there were.
    pub calls: usize,
    /// Of how many the tokens are known.
    pub tokens_known: usize,
    /// Tokens read.
    pub input: i64,
    /// Tokens written.
    pub output: i64,
    /// Of how many the cost is known.
    pub cost_known: usize,
    /// What those cost.
    pub cost: f64,
    /// How many tests passed, as told.
    pub tests_passed: i64,
    /// How many failed.
    pub tests_failed: i64,
}

/// How often something is true of closed cases.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CaseRateView {
    /// What.
    pub metric: String,
    /// Of how many cases it is true.
    pub n_true: u64,
    /// Of how many it could be.
    pub n: u64,
    /// The rate; nothing without cases.
    pub rate: Option<f64>,
    /// Not below, with 95 % certainty (Wilson).
    pub low: Option<f64>,
    /// Not above.
    pub high: Option<f64>,
}

/// How long something took.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CaseTimeView {
    /// What.
    pub metric: String,
    /// Of how many cases.
    pub n: usize,
    /// How many of them are over; the others take longer than so far.
    pub n_over: usize,
    /// After how long half of them are over, in milliseconds; nothing where that was not reached.
    pub median_ms: Option<f64>,
    /// A quarter takes no longer.
    pub lower_ms: Option<f64>,
    /// Three quarters take no longer.
    pub upper_ms: Option<f64>,
    /// The median is not below, with 95 % certainty; only where all are over and they are enough.
    pub low_ms: Option<f64>,
    /// The median is not above.
    pub high_ms: Option<f64>,
}

/// Two behaviours beside each other.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparisonView {
    /// The first, A.
    pub first: ComparedSideView,
    /// The second, B.
    pub second: ComparedSideView,
    /// What was compared, one by one.
    pub metrics: Vec<ComparedMetricView>,
    /// How many figures were looked at: each interval is at 1 − 0.05 / that.
    pub views: u32,
    /// How sure each interval is.
    pub certainty: f64,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// One side of a comparison.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ComparedSideView {
    /// As it was named.
    pub named: String,
    /// The behaviour.
    pub cid: String,
    /// How many cases it has.
    pub cases: usize,
    /// How many are closed.
    pub closed: usize,
}

/// One figure of both sides.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedMetricView {
    /// Which.
    pub metric: String,
    /// What it comes to, in words; a warning stands first.
    pub words: Vec<String>,
    /// Whether no winner may be named.
    pub warns: bool,
    /// Whether one side has too few cases to compare.
    pub too_few: bool,
    /// The first side's rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<CaseRateView>,
    /// The second side's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<CaseRateView>,
    /// The second less the first: of rates a share, of times milliseconds.
    pub difference: Option<f64>,
    /// Not below.
    pub low: Option<f64>,
    /// Not above.
    pub high: Option<f64>,
    /// What strata agree on (Mantel and Haenszel).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pooled: Option<f64>,
    /// Which share of cases lies in strata that have one side alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_sided_share: Option<f64>,
    /// The strata, one by one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strata: Vec<StratumView>,
    /// Of times: how likely chance alone makes them differ as much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// How many cases a side it takes to find a difference of `detect`, in 80 of 100 comparisons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cases_a_side: Option<u64>,
    /// That difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detect: Option<f64>,
}

/// Cases of both sides that are alike in what may matter besides.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StratumView {
    /// The field `kind` of the briefing.
    pub kind: Option<String>,
    /// The model; `mixed` of several.
    pub model: Option<String>,
    /// The month in which they began.
    pub month: String,
    /// Of how many of the first side it is true, and how many there are.
    pub first: (u64, u64),
    /// The same of the second side.
    pub second: (u64, u64),
}

impl CaseStatisticsView {
    /// Writes the groups for spreadsheets: no cell is a formula there.
    pub fn csv(&self) -> String {
        let heads = "group,names,cases,closed,commits,metric,n_true,n,value,low,high";
        let mut lines = format!("{heads}\r\n");
        for group in &self.groups {
            let begin = [
                group.key.clone().unwrap_or_default(),
                group.names.join(" "),
                group.cases.to_string(),
                group.closed.to_string(),
                group.volume.commits.to_string(),
            ];
            let said = |number: Option<f64>| number.map_or_else(String::new, |it| it.to_string());
            let rates = group.rates.iter().map(|rate| {
                let counts = [rate.n_true.to_string(), rate.n.to_string()];
                (rate.metric.clone(), counts, [rate.rate, rate.low, rate.high].map(said))
            });
            let times = group.times.iter().map(|time| {
                let counts = [time.n_over.to_string(), time.n.to_string()];
                let figures = [time.median_ms, time.low_ms, time.high_ms].map(said);
                (format!("{}_ms", time.metric), counts, figures)
            });
            for (metric, counts, figures) in rates.chain(times) {
                let cells = begin.iter().cloned().chain([metric]).chain(counts).chain(figures);
                lines.push_str(&csv_line(&cells.collect::<Vec<_>>()));
            }
        }
        lines
    }
}
