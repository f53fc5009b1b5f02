//! What was told of agents and sessions, and what cases it makes.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::Oid;

use super::case_landing::CaseLandings;
use super::cases::{ApartReason, CaseForm, CaseHolds, CaseUsage, CountedCase, QUIET_MS};

/// What was told of an agent.
#[derive(Debug, Default)]
pub(super) struct AgentTold {
    /// Whether a person archived it.
    pub is_put_away: bool,
    pub origin: String,
    pub person: Option<String>,
    pub began: i64,
    pub first_at: Option<i64>,
    pub last_at: i64,
    pub commits: i64,
    pub kinds: BTreeMap<String, i64>,
    pub pins: BTreeSet<String>,
    pub briefing_kind: Option<String>,
    pub models: BTreeSet<String>,
    pub usage: CaseUsage,
    pub tests: (i64, i64),
}

/// What was told of a session.
#[derive(Debug, Default)]
pub(super) struct SessionTold {
    pub agent: String,
    pub state: String,
    pub started: i64,
    pub ended: Option<i64>,
    pub programs: BTreeSet<String>,
    /// The session that began it, or that it continues.
    pub before: Option<String>,
    pub is_continuation: bool,
    pub is_fork: bool,
    pub made: Vec<(Oid, i64)>,
    pub holds: Vec<HoldTold>,
    pub models: BTreeSet<String>,
    pub usage: CaseUsage,
}

/// What was told of a hold.
#[derive(Debug)]
pub(super) struct HoldTold {
    pub request: String,
    pub is_in_doubt: bool,
    pub asked: i64,
    pub is_open: bool,
}

impl AgentTold {
    /// Adds a commit that it made with plain git.
    pub(super) fn add_linked(&mut self, at: i64) {
        self.commits += 1;
        self.first_at = Some(self.first_at.map_or(at, |first| first.min(at)));
        self.last_at = self.last_at.max(at);
    }

    pub(super) fn case(&self, name: &str, landed: &CaseLandings, now: i64) -> CountedCase {
        let landing = landed.by_agent.get(name).copied();
        let is_quiet = now.saturating_sub(self.last_at) >= QUIET_MS;
        let is_closed = landing.is_some() || is_quiet || self.is_put_away;
        CountedCase {
            form: CaseForm::Agent,
            agent: name.to_owned(),
            behaviours: self.pins.clone(),
            models: self.models.clone(),
            person: self.person.clone(),
            briefing_kind: self.briefing_kind.clone(),
            began: self.began,
            first_at: self.first_at,
            landing,
            commits: self.commits,
            made: BTreeSet::new(),
            kinds: self.kinds.clone(),
            closed_at: is_closed.then_some(self.last_at),
            is_closed,
            last_seen: now,
            state: None,
            holds: CaseHolds::default(),
            usage: self.usage.clone(),
            tests: self.tests,
            apart: ApartReason::of(&self.origin),
        }
    }
}

impl CountedCase {
    /// Adds a session: the root, what it continues as, or a child.
    pub(super) fn add_session(
        &mut self,
        told: &SessionTold,
        is_own_line: bool,
        landed: &CaseLandings,
    ) {
        if is_own_line {
            self.behaviours.extend(told.programs.iter().cloned());
            self.closed_at = self.closed_at.max(told.ended);
            self.is_closed &= told.ended.is_some();
            // Of a session that goes on as another one the last word counts.
            if self.state.is_none() || told.is_continuation {
                self.state = Some(told.state.clone());
            }
        }
        self.models.extend(told.models.iter().cloned());
        self.usage.merge(&told.usage);
        self.commits += told.made.len() as i64;
        self.made.extend(told.made.iter().map(|(commit, _)| *commit));
        let first = told.made.iter().map(|(_, at)| *at).min();
        self.first_at = match (self.first_at, first) {
            (Some(known), Some(first)) => Some(known.min(first)),
            (known, first) => known.or(first),
        };
        for landing in told.made.iter().filter_map(|(commit, _)| landed.by_commit.get(commit)) {
            self.landing = Some(self.landing.map_or(*landing, |known| known.joined(*landing)));
        }
    }
}

impl CountedCase {
    /// Adds what the traces of its agent tell.
    pub(super) fn add_told(&mut self, told: &AgentTold) {
        self.models.extend(told.models.iter().cloned());
        self.usage.merge(&told.usage);
        self.tests.0 = self.tests.0.saturating_add(told.tests.0);
        self.tests.1 = self.tests.1.saturating_add(told.tests.1);
    }
}

impl CaseHolds {
    /// Adds a hold, and what was decided of it.
    pub(super) fn add(
        &mut self,
        hold: &HoldTold,
        decided: &BTreeMap<String, (bool, i64)>,
        now: i64,
    ) {
        self.in_doubt += usize::from(hold.is_in_doubt);
        match decided.get(&hold.request) {
            Some((is_rejected, at)) => {
                self.rejected += usize::from(*is_rejected);
                self.approved += usize::from(!is_rejected);
                self.waits.push(((at - hold.asked).max(0), true));
            }
            None if hold.is_open => self.waits.push(((now - hold.asked).max(0), false)),
            None => {}
        }
    }
}

impl CaseUsage {
    /// Adds another one.
    pub(super) fn merge(&mut self, other: &CaseUsage) {
        self.calls += other.calls;
        self.tokens_known += other.tokens_known;
        self.cost_known += other.cost_known;
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cost += other.cost;
    }

    /// Adds a call of a model.
    pub(super) fn add(&mut self, input: Option<i64>, output: Option<i64>, cost: Option<f64>) {
        self.calls += 1;
        if let (Some(input), Some(output)) = (input, output) {
            self.tokens_known += 1;
            self.input = self.input.saturating_add(input);
            self.output = self.output.saturating_add(output);
        }
        if let Some(cost) = cost.filter(|cost| cost.is_finite() && *cost >= 0.0) {
            self.cost_known += 1;
            self.cost += cost;
        }
    }
}
