//! What came of cases, by behaviour and by other things that they have in common.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::Instant;
use agentic_statistics::MultipleViews;
use schemars::JsonSchema;
use serde::Deserialize;

use super::case_figures::{CASES_MIN, CaseMetric, rate, time, volume};
use super::cases::{ApartReason, CaseScope, CountedCase, CountedCases};
use super::hold_place::holds_by_place;
use super::since_adoption::{AskedSince, since_adoption};
use super::survival::SurvivingLines;
use super::{StatisticsStep, instant};
use crate::behaviours::{BehaviourShelf, behaviour_name};
use crate::caller::agent_name;
use crate::verb::{Reply, Verb};
use crate::view::{CaseGroupView, CaseStatisticsView};
use crate::{Caller, Refusal};

/// The figures that are of holds.
const HOLD_METRICS: [CaseMetric; 2] = [CaseMetric::Rejected, CaseMetric::Wait];

/// By what cases are put together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CaseGrouping {
    /// By the behaviour that made their commits.
    #[default]
    Behaviour,
    /// By the field `kind` of briefings.
    Kind,
    /// By the agent.
    Agent,
    /// By the model.
    Model,
    /// By who spawned the agent. Nobody asks for that but at a command line: pages and tools show no figures
    /// of a person.
    #[serde(skip_deserializing)]
    Person,
    /// By the day on which they began.
    Day,
    /// By the week, which begins on Monday.
    Week,
}

impl CaseGrouping {
    /// All of them.
    pub const ALL: [CaseGrouping; 7] = [
        CaseGrouping::Behaviour,
        CaseGrouping::Kind,
        CaseGrouping::Agent,
        CaseGrouping::Model,
        CaseGrouping::Person,
        CaseGrouping::Day,
        CaseGrouping::Week,
    ];

    /// Finds one by its name.
    pub fn parse(name: &str) -> Option<CaseGrouping> {
        CaseGrouping::ALL.into_iter().find(|by| by.name() == name)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            CaseGrouping::Behaviour => "behaviour",
            CaseGrouping::Kind => "kind",
            CaseGrouping::Agent => "agent",
            CaseGrouping::Model => "model",
            CaseGrouping::Person => "person",
            CaseGrouping::Day => "day",
            CaseGrouping::Week => "week",
        }
    }

    /// Returns the group of a case; an error where it would be in several.
    fn key(self, case: &CountedCase) -> Result<Option<String>, MixedCase> {
        let only = |values: &BTreeSet<String>| match values.len() {
            0 | 1 => Ok(values.first().cloned()),
            _ => Err(MixedCase),
        };
        let bucket = |step: StatisticsStep| Some(step.bucket(Instant::from_millis(case.began)));
        match self {
            CaseGrouping::Behaviour => only(&case.behaviours),
            CaseGrouping::Model => only(&case.models),
            CaseGrouping::Kind => Ok(case.briefing_kind.clone()),
            CaseGrouping::Agent => Ok(Some(case.agent.clone())),
            CaseGrouping::Person => Ok(case.person.clone()),
            CaseGrouping::Day => Ok(bucket(StatisticsStep::Day)),
            CaseGrouping::Week => Ok(bucket(StatisticsStep::Week)),
        }
    }
}

/// A case is in several groups.
struct MixedCase;

/// Whether the agents of trials are in rates, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrialCases {
    /// They are apart.
    #[default]
    Apart,
    /// They count.
    Counted,
}

/// Tell what came of agents and sessions, by behaviour or by other things that they have in common.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CaseStatistics {
    /// By what they are put together.
    pub by: CaseGrouping,
    /// Only the versions of this name of behaviours.
    pub of: Option<String>,
    /// Only what this agent did.
    pub agent: Option<String>,
    /// Only cases that began from this day or instant on.
    pub from: Option<String>,
    /// Only cases that began before this day or instant.
    pub to: Option<String>,
    /// Only this figure: landed, reverted, failed, rejected, first-commit, landing, duration, wait or usage.
    pub metric: Option<String>,
    /// What becomes of the agents of trials.
    pub trials: TrialCases,
    /// How many of the lines that landed are still there after so many days; it takes long.
    pub survival: Option<u32>,
}

impl Verb for CaseStatistics {
    type Answer = CaseStatisticsView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<CaseStatisticsView>, Refusal> {
        let metrics = metrics(self.metric.as_deref())?;
        let chosen = ChosenCases::of(caller, &self)?;
        let scope = CaseScope {
            usage: metrics.contains(&CaseMetric::Usage) || self.by == CaseGrouping::Model,
            strata: self.by == CaseGrouping::Kind,
        };
        let found = CountedCases::read(caller, scope)?;
        let (apart, counted): (Vec<&CountedCase>, Vec<&CountedCase>) = found
            .cases
            .iter()
            .filter(|case| chosen.has(case))
            .partition(|case| chosen.is_apart(case));
        let mut view = CaseStatisticsView {
            by: self.by.name().to_owned(),
            from: chosen.from.map(|at| at.to_string()),
            to: chosen.to.map(|at| at.to_string()),
            cases: counted.len(),
            closed: counted.iter().filter(|case| case.is_closed).count(),
            mixed: 0,
            apart: apart_by_reason(&apart),
            groups: Vec::new(),
            since_adoption: None,
            holds: Vec::new(),
            left_out: found.left_out.clone(),
        };
        if self.is_of_all() && metrics.iter().any(|metric| HOLD_METRICS.contains(metric)) {
            view.holds = holds_by_place(caller, &mut view.left_out)?;
        }
        if let Some(name) = &self.of {
            let asked = AskedSince { name, cases: &counted, metrics: &metrics };
            view.since_adoption = since_adoption(caller, &asked, &mut view.left_out)?;
        }
        let mut groups: BTreeMap<Option<String>, Vec<&CountedCase>> = BTreeMap::new();
        for case in counted {
            match self.by.key(case) {
                Ok(key) => groups.entry(key).or_default().push(case),
                Err(MixedCase) => view.mixed += 1,
            }
        }
        let names =
            if self.by == CaseGrouping::Behaviour { names(caller)? } else { BTreeMap::new() };
        let mut surviving = match self.survival {
            None => None,
            Some(days) => Some(SurvivingLines::find(caller, days, &mut view.left_out)?),
        };
        for (key, cases) in groups {
            let names = key.as_ref().and_then(|key| names.get(key)).cloned().unwrap_or_default();
            let mut group = group(key, names, &cases, &metrics);
            if let Some(lines) = &mut surviving {
                group.survival = Some(lines.view(&cases)?);
            }
            view.groups.push(group);
        }
        sort(self.by, &mut view.groups);
        Ok(Reply::plain(view))
    }
}

impl CaseStatistics {
    /// Says whether no case is left out by what was asked.
    fn is_of_all(&self) -> bool {
        let of = [&self.of, &self.agent, &self.from, &self.to];
        of.iter().all(|one| one.is_none())
    }
}

/// Which cases are wanted.
struct ChosenCases {
    behaviours: Option<BTreeSet<String>>,
    agent: Option<String>,
    from: Option<Instant>,
    to: Option<Instant>,
    trials: TrialCases,
}

impl ChosenCases {
    fn of(caller: &Caller<'_>, asked: &CaseStatistics) -> Result<ChosenCases, Refusal> {
        let (from, to) = (instant(asked.from.as_deref())?, instant(asked.to.as_deref())?);
        if let (Some(from), Some(to)) = (from, to)
            && from >= to
        {
            let message = format!("{from} is not before {to}");
            return Err(Refusal::usage(&message, "`from` comes before `to`"));
        }
        let agent = asked.agent.as_deref().map(agent_name).transpose()?;
        Ok(ChosenCases {
            behaviours: asked.of.as_deref().map(|name| versions(caller, name)).transpose()?,
            agent: agent.map(|agent| agent.to_string()),
            from,
            to,
            trials: asked.trials,
        })
    }

    fn has(&self, case: &CountedCase) -> bool {
        let began = Instant::from_millis(case.began);
        self.from.is_none_or(|from| from <= began)
            && self.to.is_none_or(|to| began < to)
            && self.agent.as_ref().is_none_or(|agent| *agent == case.agent)
            && self.behaviours.as_ref().is_none_or(|all| !all.is_disjoint(&case.behaviours))
    }

    fn is_apart(&self, case: &CountedCase) -> bool {
        match case.apart {
            None => false,
            Some(ApartReason::Trial) => self.trials == TrialCases::Apart,
            Some(ApartReason::Fork | ApartReason::Import) => true,
        }
    }
}

/// Finds which figures are wanted: one, or all.
pub(super) fn metrics(named: Option<&str>) -> Result<Vec<CaseMetric>, Refusal> {
    let Some(name) = named else { return Ok(CaseMetric::ALL.to_vec()) };
    CaseMetric::parse(name).map(|metric| vec![metric]).ok_or_else(|| {
        let all: Vec<&str> = CaseMetric::ALL.iter().map(|metric| metric.name()).collect();
        let message = format!("there is no figure `{name}`");
        Refusal::usage(&message, &format!("one of {}", all.join(", ")))
    })
}

/// Lists the behaviours that were added or adopted under a name.
fn versions(caller: &Caller<'_>, name: &str) -> Result<BTreeSet<String>, Refusal> {
    let name = behaviour_name(name)?;
    let shelf = BehaviourShelf::new(caller.space);
    let told = shelf.state()?.about_all()?.told;
    let added = told.iter().filter(|(_, about)| about.names.contains(&name));
    let mut found: BTreeSet<String> = added.map(|(cid, _)| cid.to_string()).collect();
    let in_force = caller.space.behaviour_in_force(&name)?.pointer;
    found.extend(in_force.map(|pointer| pointer.cid.to_string()));
    let changes = caller.space.behaviour_changes(&name)?;
    found.extend(changes.iter().filter_map(|change| change.cid).map(|cid| cid.to_string()));
    if found.is_empty() {
        return Err(shelf.unknown(name.as_str())?);
    }
    Ok(found)
}

/// Returns what people call behaviours.
fn names(caller: &Caller<'_>) -> Result<BTreeMap<String, Vec<String>>, Refusal> {
    let in_force = BehaviourShelf::new(caller.space).in_force()?;
    let named = in_force.into_iter().map(|(cid, names)| {
        (cid.to_string(), names.iter().map(ToString::to_string).collect::<Vec<_>>())
    });
    Ok(named.collect())
}

fn apart_by_reason(cases: &[&CountedCase]) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for reason in cases.iter().filter_map(|case| case.apart) {
        let word = match reason {
            ApartReason::Fork => "fork",
            ApartReason::Trial => "trial",
            ApartReason::Import => "import",
        };
        *found.entry(word.to_owned()).or_default() += 1;
    }
    found
}

pub(super) fn group(
    key: Option<String>,
    names: Vec<String>,
    cases: &[&CountedCase],
    metrics: &[CaseMetric],
) -> CaseGroupView {
    let rates = metrics.iter().filter(|metric| metric.is_rate());
    let times = metrics.iter().filter(|metric| metric.is_time());
    CaseGroupView {
        key,
        names,
        cases: cases.len(),
        closed: cases.iter().filter(|case| case.is_closed).count(),
        too_few: cases.len() < CASES_MIN,
        volume: volume(cases, metrics.contains(&CaseMetric::Usage)),
        rates: rates
            .map(|metric| rate(*metric, metric.proportion(cases), MultipleViews(1)))
            .filter(|rate| rate.n > 0)
            .collect(),
        times: times
            .map(|metric| time(*metric, &metric.times(cases)))
            .filter(|time| time.n > 0)
            .collect(),
        survival: None,
    }
}

/// Puts the largest group first, days and weeks in their order; those that have none of it last.
fn sort(by: CaseGrouping, groups: &mut [CaseGroupView]) {
    groups.sort_by(|left, right| {
        let size = match by {
            CaseGrouping::Day | CaseGrouping::Week => std::cmp::Ordering::Equal,
            CaseGrouping::Behaviour
            | CaseGrouping::Kind
            | CaseGrouping::Agent
            | CaseGrouping::Model
            | CaseGrouping::Person => right.cases.cmp(&left.cases),
        };
        left.key.is_none().cmp(&right.key.is_none()).then(size).then(left.key.cmp(&right.key))
    });
}
