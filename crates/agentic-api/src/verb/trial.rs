//! Trials: two behaviours on the same tasks, as a durable session of a flow that anybody can read.

mod outcome;
mod task;

use agentic_model::kind::TRIAL;
use agentic_model::{BehaviourForm, Map, Object, Value};
use agentic_replay::SessionState;
use agentic_session::behaviour::session_with_key;
use agentic_space::spawn::{SpawnOrigin, spawn};
use agentic_statistics::trial::{attempt_alpha, can_show};
use schemars::JsonSchema;
use serde::Deserialize;

use self::outcome::judged;
use self::task::tasks;
use crate::behaviours::{BehaviourShelf, FoundBehaviour, named_behaviour};
use crate::caller::agent_name;
use crate::verb::{FlowSource, Reply, SessionStart, Verb};
use crate::view::{TrialPlanView, TrialView};
use crate::{Caller, Refusal};

/// The flow of a trial.
const FLOW: &str = include_str!("../flows/trial.rhai");
/// How the name of the agent of a trial begins.
const AGENT: &str = "trial-";
/// How long the name of a trial may be: those of its runs are longer.
const NAME_BYTES_MAX: usize = 40;
/// How many runs a trial has at most.
const RUNS_MAX: usize = 1_000;
/// The start key: an agent runs one trial.
const KEY: &str = "trial";

/// What a trial is of.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrialDraft {
    /// The name of the trial.
    pub name: String,
    /// The behaviours: the one that is there, and the one that may be better.
    pub arms: Vec<String>,
    /// The tasks: a list of `{"briefing","base","input"?,"protect"?,"edits_protected"?}` as JSON text.
    pub tasks: String,
    /// How often each task is run with each behaviour.
    pub runs: usize,
    /// The behaviour that scores a run.
    pub scorer: String,
    /// Another order of runs.
    pub seed: i64,
    /// The kinds of effects that runs may perform, as far as their behaviour may.
    pub allow: Vec<String>,
}

/// Say what a trial would do, and what it could show.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrialPlan {
    /// What it is of.
    pub trial: TrialDraft,
}

/// Try two behaviours on the same tasks. The same trial again goes on where it was.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BehaviourTrial {
    /// What it is of.
    pub trial: TrialDraft,
}

/// Show what a trial came to.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialShow {
    /// Its name.
    pub name: String,
}

/// List trials.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialList {}

/// A trial that may begin.
struct PreparedTrial {
    agent: String,
    plan: TrialPlanView,
    input: Value,
}

impl TrialDraft {
    fn prepare(&self, caller: &Caller<'_>) -> Result<PreparedTrial, Refusal> {
        let agent = agent_name(&format!("{AGENT}{}", self.name))?.to_string();
        if self.name.is_empty() || self.name.len() > NAME_BYTES_MAX {
            let message = format!("a trial has a name of at most {NAME_BYTES_MAX} bytes");
            return Err(Refusal::usage(&message, "give one with --name"));
        }
        let arms: Vec<FoundBehaviour> =
            self.arms.iter().map(|arm| runnable(caller, arm)).collect::<Result<_, _>>()?;
        let cids: Vec<String> = arms.iter().map(|arm| arm.cid().to_string()).collect();
        match cids.as_slice() {
            [first, second] if first != second => {}
            [_, _] => return Err(Refusal::usage("both arms are one behaviour", "name two")),
            _ => return Err(Refusal::usage("a trial has two arms", "give --arm twice")),
        }
        let scorer = runnable(caller, &self.scorer)?.cid().to_string();
        let tasks = tasks(caller, &self.tasks)?;
        let n_runs = tasks.len().saturating_mul(self.runs).saturating_mul(cids.len());
        if self.runs == 0 || n_runs > RUNS_MAX {
            let message = format!("{n_runs} runs are none, or more than {RUNS_MAX}");
            return Err(Refusal::usage(&message, "choose another number of --runs"));
        }
        let attempt = self.attempt(caller, &cids)?;
        let alpha = attempt_alpha(attempt);
        let plan = TrialPlanView {
            name: self.name.clone(),
            arms: cids.clone(),
            tasks: tasks.len(),
            runs: n_runs,
            attempt,
            alpha,
            can_show: can_show(tasks.len(), alpha),
        };
        let texts = |texts: &[String]| Value::List(texts.iter().map(Value::text).collect());
        let input = Value::map([
            ("agent", Value::text(&agent)),
            ("arms", texts(&cids)),
            ("tasks", Value::List(tasks)),
            ("runs", Value::Int(i64::try_from(self.runs).unwrap_or(i64::MAX))),
            ("scorer", Value::text(scorer)),
            ("seed", Value::Int(self.seed)),
            ("allow", texts(&self.allow)),
        ]);
        Ok(PreparedTrial { agent, plan, input })
    }

    /// Counts the trials with an arm that is in force, this one included: each has to be surer.
    fn attempt(&self, caller: &Caller<'_>, cids: &[String]) -> Result<u32, Refusal> {
        let in_force = BehaviourShelf::new(caller.space).in_force()?;
        let adopted: Vec<&String> =
            cids.iter().filter(|cid| in_force.keys().any(|it| it.to_string() == **cid)).collect();
        let mut attempt = 1;
        for (agent, _) in trial_agents(caller)? {
            let (_, briefing) = caller.space.briefing(&agent_name(&agent)?)?;
            let arms = briefing.map().get("arms").and_then(Value::as_list).unwrap_or_default();
            let has = |cid: &&String| arms.iter().any(|arm| arm.as_text() == Some(cid.as_str()));
            let is_other = agent != format!("{AGENT}{}", self.name);
            attempt += u32::from(is_other && adopted.iter().any(has));
        }
        Ok(attempt)
    }
}

/// Finds a behaviour that a session can run.
fn runnable(caller: &Caller<'_>, named: &str) -> Result<FoundBehaviour, Refusal> {
    let found = named_behaviour(caller, named)?;
    if found.read.form == BehaviourForm::Prompt {
        let message = format!("`{named}` is a prompt, and no session runs one");
        return Err(Refusal::usage(&message, "try flows"));
    }
    Ok(found)
}

/// Lists the agents of trials, those of their runs left out, with their briefings.
fn trial_agents(caller: &Caller<'_>) -> Result<Vec<(String, Object)>, Refusal> {
    let mut found = Vec::new();
    for (name, _) in caller.space.agent_names()? {
        if !name.as_str().starts_with(AGENT) {
            continue;
        }
        let Ok((_, briefing)) = caller.space.briefing(&name) else { continue };
        if briefing.map().contains_key("arms") {
            found.push((name.to_string(), briefing));
        }
    }
    Ok(found)
}

impl Verb for TrialPlan {
    type Answer = TrialPlanView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<TrialPlanView>, Refusal> {
        Ok(Reply::plain(self.trial.prepare(caller)?.plan))
    }
}

impl Verb for BehaviourTrial {
    type Answer = TrialView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<TrialView>, Refusal> {
        let prepared = self.trial.prepare(caller)?;
        let plan = &prepared.plan;
        if !plan.can_show {
            let message = format!(
                "with {} tasks nothing can be shown: chance alone has one in {} ways, and α is {:.4}",
                plan.tasks,
                2_u64.saturating_pow(u32::try_from(plan.tasks).unwrap_or(u32::MAX)),
                plan.alpha
            );
            return Err(Refusal::refused(&message, "give more tasks"));
        }
        let agent = agent_name(&prepared.agent)?;
        let briefing = prepared.briefing(&self.trial.name)?;
        match caller.space.briefing(&agent) {
            Err(_) => drop(spawn(caller.space, &agent, &briefing, &SpawnOrigin::Root)?),
            Ok((_, known)) if known.map().get("arms") == briefing.map().get("arms") => {}
            Ok(_) => {
                let message = format!("`{}` is another trial", self.trial.name);
                return Err(Refusal::conflict(&message, "give this one another name"));
            }
        }
        let mut allow = vec!["exec".to_owned()];
        allow.extend(self.trial.allow.iter().cloned());
        let start = SessionStart {
            agent: prepared.agent.clone(),
            flow: FlowSource::Script(FLOW.to_owned()),
            input: prepared.input,
            key: Some(KEY.to_owned()),
            allow,
        };
        start.drive(caller)?;
        TrialShow { name: self.trial.name }.run(caller)
    }
}

impl PreparedTrial {
    /// Makes the briefing of its agent, which says what was fixed before the first run.
    fn briefing(&self, name: &str) -> Result<Object, Refusal> {
        let arms = self.input.get("arms").cloned().unwrap_or(Value::Null);
        let fields = Map::from([
            ("type".to_owned(), Value::text("briefing")),
            ("text".to_owned(), Value::text(format!("Trial {name}"))),
            ("arms".to_owned(), arms),
            ("attempt".to_owned(), Value::Int(i64::from(self.plan.attempt))),
            ("alpha".to_owned(), Value::Float(self.plan.alpha)),
        ]);
        Object::new(fields).map_err(|error| Refusal::refused(&error.to_string(), "try fewer tasks"))
    }
}

impl Verb for TrialShow {
    type Answer = TrialView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<TrialView>, Refusal> {
        let agent = agent_name(&format!("{AGENT}{}", self.name))?;
        let known = trial_agents(caller)?.into_iter().find(|(name, _)| *name == agent.as_str());
        let Some((_, briefing)) = known else {
            let message = format!("there is no trial `{}`", self.name);
            return Err(Refusal::refused(&message, "`agentic behaviour trial list` lists them"));
        };
        let session = session_with_key(caller.space, &agent, KEY)?;
        let summary = session.map(|id| caller.space.session(&id)).transpose()?;
        let result = summary
            .as_ref()
            .filter(|summary| summary.state == SessionState::Done)
            .and_then(|summary| summary.result.as_ref());
        let mut view = judged(&self.name, &briefing, result);
        view.state = summary.as_ref().map_or("begun", |it| it.state.as_str()).to_owned();
        view.session = summary.as_ref().map(|it| it.id.to_string());
        if let Some(result) = result {
            let object = view.object(&briefing, result)?;
            view.cid = Some(object.cid().to_string());
            if caller.space.object(object.cid()).is_err() {
                let written = caller.space.put_object(&agent, &object)?;
                return Ok(Reply::written(view, &written));
            }
        }
        Ok(Reply::plain(view))
    }
}

impl Verb for TrialList {
    type Answer = Vec<TrialView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<TrialView>>, Refusal> {
        let mut views = Vec::new();
        for (agent, _) in trial_agents(caller)? {
            let name = agent.trim_start_matches(AGENT).to_owned();
            views.push(TrialShow { name }.run(caller)?.answer);
        }
        Ok(Reply::plain(views))
    }
}

impl TrialView {
    /// Makes the object that speaks for or against an adoption.
    fn object(&self, briefing: &Object, result: &Value) -> Result<Object, Refusal> {
        let field = |name: &str| briefing.map().get(name).cloned().unwrap_or(Value::Null);
        Object::new(Map::from([
            ("type".to_owned(), Value::text(TRIAL)),
            ("arms".to_owned(), field("arms")),
            ("attempt".to_owned(), field("attempt")),
            ("alpha".to_owned(), field("alpha")),
            ("session".to_owned(), self.session.as_deref().map_or(Value::Null, Value::text)),
            ("blocks".to_owned(), result.get("blocks").cloned().unwrap_or(Value::Null)),
            ("p".to_owned(), self.p.map_or(Value::Null, Value::Float)),
            ("verdict".to_owned(), Value::text(self.verdict.as_deref().unwrap_or_default())),
        ]))
        .map_err(|error| Refusal::refused(&error.to_string(), "try fewer tasks or runs at once"))
    }
}
