//! What a trial is of, checked before anything runs.

use agentic_model::{Cid, Map, Object, Value};
use agentic_session::trial::{KnownTrials, TRIAL_AFTER, TRIAL_AGENT, TRIAL_FIXED, in_force_of};
use agentic_space::library::private_objects;
use agentic_statistics::trial::{PlannedTrial, TrialLooks, attempt_alpha, can_show};
use schemars::JsonSchema;
use serde::Deserialize;

use super::past::cost_of_runs;
use super::scorer::TrialScorer;
use super::task::tasks;
use crate::behaviours::{FoundBehaviour, behaviour_to_run, check_effects};
use crate::caller::agent_name;
use crate::view::TrialPlanView;
use crate::{Caller, Refusal};

/// How long the name of a trial may be: those of its runs are longer.
const NAME_BYTES_MAX: usize = 40;
/// How many runs a trial has at most.
const RUNS_MAX: usize = 1_000;
/// How many behaviours are tried at most.
const ARMS_MAX: usize = 8;
/// How often a trial is looked at, at most.
const LOOKS_MAX: usize = 4;
/// How many blocks run at once, at most.
const PARALLEL_MAX: usize = 16;

/// What a trial is of.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrialDraft {
    /// The name of the trial.
    pub name: String,
    /// The behaviours: the one that is there, and those that may be better.
    pub arms: Vec<String>,
    /// The tasks: a list of `{"briefing","base","input"?,"protect"?,"edits_protected"?,"seconds"?}` as
    /// JSON text.
    pub tasks: String,
    /// How often each task is run with each behaviour.
    pub runs: usize,
    /// The behaviour that scores a run, or a person or role that does: `user:ada`, `role:lead`.
    pub scorer: String,
    /// Another order of runs.
    pub seed: i64,
    /// How often it is looked at, the last time included; nothing for once.
    pub looks: Option<usize>,
    /// How many blocks run at once; nothing for one.
    pub parallel: Option<usize>,
    /// What all runs may cost together; nothing where only their number bounds that.
    pub budget: Option<f64>,
    /// The kinds of effects that runs may perform, as far as their behaviour may.
    pub allow: Vec<String>,
}

/// A trial that may begin.
pub(super) struct PreparedTrial {
    /// Its agent.
    pub agent: String,
    /// What it would do.
    pub plan: TrialPlanView,
    /// What is fixed before the first run.
    pub input: Value,
    /// The first commits of trials that it begins after.
    after: Vec<Value>,
    /// Whether a version that is tried is kept by private agents alone.
    pub is_private: bool,
}

impl TrialDraft {
    /// Checks it, and says what it would do.
    pub(super) fn prepare(&self, caller: &Caller<'_>) -> Result<PreparedTrial, Refusal> {
        self.prepare_of(caller, self.arms(caller)?)
    }

    /// Says what a trial of the first of its behaviours against any other would do.
    pub(crate) fn plan_against_any(&self, caller: &Caller<'_>) -> Result<TrialPlanView, Refusal> {
        let first = self.arms.first().map_or("", String::as_str);
        let cid = runnable(caller, first)?.cid().to_string();
        if TrialScorer::of(caller, &self.scorer)?.word() == cid {
            let message = "the behaviour would score itself";
            return Err(Refusal::usage(message, "name another one, or a person, with --score"));
        }
        Ok(self.prepare_of(caller, vec![cid, String::new()])?.plan)
    }

    fn prepare_of(&self, caller: &Caller<'_>, cids: Vec<String>) -> Result<PreparedTrial, Refusal> {
        let agent = agent_name(&format!("{TRIAL_AGENT}{}", self.name))?.to_string();
        if self.name.is_empty() || self.name.len() > NAME_BYTES_MAX {
            let message = format!("a trial has a name of at most {NAME_BYTES_MAX} bytes");
            return Err(Refusal::usage(&message, "give one with --name"));
        }
        let scorer = TrialScorer::of(caller, &self.scorer)?;
        let looks = bounded("looks", self.looks, LOOKS_MAX)?;
        let parallel = bounded("blocks at once", self.parallel, PARALLEL_MAX)?;
        if self.budget.is_some_and(|budget| !budget.is_finite() || budget < 0.0) {
            return Err(Refusal::usage("a budget is no less than nothing", "leave --budget out"));
        }
        let tasks = tasks(caller, &self.tasks)?;
        let n_runs = tasks.len().saturating_mul(self.runs).saturating_mul(cids.len());
        if self.runs == 0 || n_runs > RUNS_MAX {
            let message = format!("{n_runs} runs are none, or more than {RUNS_MAX}");
            return Err(Refusal::usage(&message, "choose another number of --runs"));
        }
        let known = KnownTrials::read(caller.space)?;
        let attempt = known.attempt(known.here(&agent), &in_force_of(caller.space, &cids)?);
        let alpha = attempt_alpha(attempt);
        let each = TrialLooks { alpha: alpha / (cids.len() - 1) as f64, n_looks: looks };
        let planned = PlannedTrial { n_tasks: tasks.len(), n_runs: self.runs, alpha: each.alpha };
        let run_cost = cost_of_runs(caller, &known, &cids)?;
        let plan = TrialPlanView {
            name: self.name.clone(),
            arms: cids.clone(),
            tasks: tasks.len(),
            runs: n_runs,
            looks,
            attempt,
            alpha,
            can_show: can_show(tasks.len(), each.alpha_at(looks)),
            finds: planned.looked_at(each).smallest_found(),
            decisions: scorer.n_decisions(n_runs),
            cost: run_cost.map(|cost| cost * n_runs as f64),
            budget: self.budget,
        };
        let texts = |texts: &[String]| Value::List(texts.iter().map(Value::text).collect());
        let whole = |number: usize| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
        let input = Value::map([
            ("agent", Value::text(&agent)),
            ("name", Value::text(&self.name)),
            ("arms", texts(&cids)),
            ("tasks", Value::List(tasks)),
            ("runs", whole(self.runs)),
            ("scorer", Value::text(scorer.word())),
            ("seed", Value::Int(self.seed)),
            ("looks", whole(looks)),
            ("parallel", whole(parallel)),
            ("budget", self.budget.map_or(Value::Null, Value::Float)),
            ("allow", texts(&self.allow)),
            ("attempt", Value::Int(i64::from(attempt))),
            ("alpha", Value::Float(alpha)),
        ]);
        let arms: Vec<Cid> = cids.iter().filter_map(|cid| Cid::parse(cid).ok()).collect();
        let is_private = !private_objects(caller.space, &arms)?.is_empty();
        let after = known.newest().iter().map(|oid| Value::text(oid.to_string())).collect();
        Ok(PreparedTrial { agent, plan, input, after, is_private })
    }

    /// Finds the behaviours that are tried, each another one.
    fn arms(&self, caller: &Caller<'_>) -> Result<Vec<String>, Refusal> {
        if self.arms.len() < 2 || self.arms.len() > ARMS_MAX {
            let message = format!("a trial has two arms at least, and {ARMS_MAX} at most");
            return Err(Refusal::usage(&message, "give --arm twice"));
        }
        let (mut cids, mut programs) = (Vec::new(), Vec::new());
        for named in &self.arms {
            let found = runnable(caller, named)?;
            let cid = found.cid().to_string();
            programs.push(found.object);
            if cids.contains(&cid) {
                let message = format!("two arms are one behaviour, {cid}");
                return Err(Refusal::usage(&message, "name others"));
            }
            cids.push(cid);
        }
        check_effects(&self.allow, &programs)?;
        Ok(cids)
    }
}

impl PreparedTrial {
    /// Makes the briefing of its agent, which says what was fixed before the first run.
    pub fn briefing(&self) -> Result<Object, Refusal> {
        let field = |name: &str| self.input.get(name).cloned().unwrap_or(Value::Null);
        let fields = Map::from([
            ("type".to_owned(), Value::text("briefing")),
            ("text".to_owned(), Value::text(format!("Trial {}", self.plan.name))),
            ("arms".to_owned(), field("arms")),
            ("attempt".to_owned(), field("attempt")),
            ("alpha".to_owned(), field("alpha")),
            (TRIAL_AFTER.to_owned(), Value::List(self.after.clone())),
            (TRIAL_FIXED.to_owned(), self.input.clone()),
        ]);
        Object::new(fields).map_err(|error| Refusal::refused(&error.to_string(), "try fewer tasks"))
    }

    /// Says whether what was fixed before is the same, whatever trials there have been since.
    pub fn is(&self, fixed: &Value) -> bool {
        let same = |name: &&str| self.input.get(name) == fixed.get(name);
        let names = ["arms", "tasks", "runs", "scorer", "seed", "looks", "budget", "allow"];
        names.iter().all(same)
    }
}

/// Finds a behaviour that a session can run.
pub(super) fn runnable(caller: &Caller<'_>, named: &str) -> Result<FoundBehaviour, Refusal> {
    behaviour_to_run(caller, named, "try flows")
}

/// Reads a number that is one where nobody says otherwise.
fn bounded(what: &str, wanted: Option<usize>, most: usize) -> Result<usize, Refusal> {
    let wanted = wanted.unwrap_or(1);
    if (1..=most).contains(&wanted) {
        return Ok(wanted);
    }
    let message = format!("{wanted} {what} are none, or more than {most}");
    Err(Refusal::usage(&message, "choose another number"))
}
