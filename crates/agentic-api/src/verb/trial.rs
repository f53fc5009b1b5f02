//! Trials: behaviours on the same tasks, as a durable session of a flow that anybody can read.
//!
//! What is fixed before the first run stands in the briefing of the trial's agent. The flow draws the
//! order and asks this program for each step; a step has a repository of its own (`place.rs`), so that no
//! run finds what another did, and comes to the same however often it is asked (`step.rs`).

mod draft;
mod driving;
mod fixed;
mod look;
mod outcome;
mod past;
mod place;
mod present;
mod recorded;
mod run_files;
mod scorer;
mod shipped;
mod spent;
mod standing;
mod step;
mod task;

use agentic_git::PrivacyChange;
use agentic_model::kind::TRIAL;
use agentic_model::{AgentName, Map, Object, Value};
use agentic_session::SessionState;
use agentic_session::archive::archive;
use agentic_session::behaviour::session_with_key;
use agentic_session::trial::{
    KnownTrial, KnownTrials, TRIAL_AGENT, TRIAL_FIXED, TRIAL_KEY, TrialTerms, runs_of,
};
use agentic_space::archive::ArchiveWish;
use agentic_space::privacy::change_privacy;
use agentic_space::spawn::{SpawnOrigin, spawn};
use schemars::JsonSchema;
use serde::Deserialize;

use self::draft::PreparedTrial;
pub use self::draft::TrialDraft;
pub use self::look::TrialLook;
pub(crate) use self::outcome::figures_of;
use self::outcome::judged;
use self::place::TrialPlace;
pub use self::present::TrialPresent;
use self::recorded::recorded;
use self::shipped::TRIAL_FLOW;
pub use self::shipped::trial_flows;
pub(crate) use self::spent::{SpentCost, spent_for};
pub(crate) use self::standing::{agents_of_trials, tried};
pub use self::step::{TrialRun, TrialScore};
use crate::caller::agent_name;
use crate::redaction::refuse_secrets;
use crate::verb::{FlowSource, Reply, SessionResume, SessionStart, Verb, VerbCompletion};
use crate::view::{TrialPlanView, TrialView};
use crate::{Caller, Refusal};

/// Say what a trial would do, and what it could show.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrialPlan {
    /// What it is of.
    pub trial: TrialDraft,
}

/// Try behaviours on the same tasks. The same trial again goes on where it was.
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
        let agent = agent_name(&prepared.agent)?;
        let input = fixed_input(caller, &agent, &prepared)?;
        let mut allow = vec!["exec".to_owned()];
        allow.extend(self.trial.allow.iter().cloned());
        let start = SessionStart {
            agent: prepared.agent,
            flow: FlowSource::Script(TRIAL_FLOW.to_owned()),
            input,
            key: Some(TRIAL_KEY.to_owned()),
            allow,
        };
        // One that began goes on by its own flow, whichever ships by now.
        match session_with_key(caller.space, &agent, TRIAL_KEY)? {
            Some(id) => {
                SessionResume { session: id.to_string(), take_over: false }.drive(caller)?
            }
            None => start.drive(caller)?,
        };
        fold_away(caller, &agent)?;
        let mut reply = TrialShow { name: self.trial.name }.run(caller)?;
        if !reply.answer.waits.is_empty() {
            reply.completion = VerbCompletion::Held;
        }
        Ok(reply)
    }
}

/// Fixes what a trial is of before its first run, or finds it as it was fixed.
fn fixed_input(
    caller: &Caller<'_>,
    agent: &AgentName,
    prepared: &PreparedTrial,
) -> Result<Value, Refusal> {
    let plan = &prepared.plan;
    match caller.space.briefing(agent) {
        Ok((_, known)) => match known.map().get(TRIAL_FIXED).filter(|fixed| prepared.is(fixed)) {
            Some(fixed) => Ok(fixed.clone()),
            None => {
                let message = format!("`{}` is another trial", plan.name);
                Err(Refusal::conflict(&message, "give this one another name"))
            }
        },
        Err(_) if !plan.can_show => {
            let message = format!(
                "with {} tasks nothing can be shown: chance alone has one in {} ways, and α is {:.4}",
                plan.tasks,
                2_u64.saturating_pow(u32::try_from(plan.tasks).unwrap_or(u32::MAX)),
                plan.alpha
            );
            Err(Refusal::refused(&message, "give more tasks"))
        }
        Err(_) => {
            refuse_secrets(caller, "the trial", &prepared.input)?;
            if prepared.is_private {
                // Before there is anything that a push could take along.
                change_privacy(caller.space, std::slice::from_ref(agent), PrivacyChange::Private)?;
            }
            spawn(caller.space, agent, &prepared.briefing()?, &SpawnOrigin::Root)?;
            Ok(prepared.input.clone())
        }
    }
}

/// Archives the runs of a trial that is over, and lets go of their repositories.
fn fold_away(caller: &Caller<'_>, trial: &AgentName) -> Result<(), Refusal> {
    let over = recorded(caller, trial)?.filter(|summary| summary.state.is_over());
    let Some(summary) = over else { return Ok(()) };
    let own = runs_of(&summary);
    let left = || -> Result<Vec<AgentName>, Refusal> {
        let names = caller.space.agent_names()?.into_iter().map(|(name, _)| name);
        Ok(names.filter(|name| own.contains(name.as_str())).collect())
    };
    let runs = left()?;
    if !runs.is_empty()
        && let Err(error) = archive(caller.space, ArchiveWish::by_program(&runs))
        // Another command for the same trial may have done it.
        && !left()?.is_empty()
    {
        return Err(error.into());
    }
    TrialPlace::of(caller.space, trial).remove();
    Ok(())
}

impl Verb for TrialShow {
    type Answer = TrialView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<TrialView>, Refusal> {
        let agent = agent_name(&format!("{TRIAL_AGENT}{}", self.name))?;
        let trials = KnownTrials::read(caller.space)?;
        let Some(known) = trials.here(agent.as_str()) else {
            let message = format!("there is no trial `{}`", self.name);
            return Err(Refusal::refused(&message, "`agentic behaviour trial list` lists them"));
        };
        shown(caller, known)
    }
}

/// Shows a trial of this clone; of one that is over its object is stored, if it is not yet.
fn shown(caller: &Caller<'_>, known: &KnownTrial) -> Result<Reply<TrialView>, Refusal> {
    let (agent, briefing) = (&known.agent, &known.briefing);
    let summary = recorded(caller, agent)?;
    let result = summary
        .as_ref()
        .filter(|summary| summary.state == SessionState::Done)
        .and_then(|summary| summary.result.as_ref());
    let name = agent.as_str();
    let name = name.strip_prefix(TRIAL_AGENT).unwrap_or(name);
    let mut view = judged(name, &TrialTerms::of(briefing), result);
    view.attempt = briefing.map().get("attempt").and_then(Value::as_int).unwrap_or(1);
    view.state = summary.as_ref().map_or("begun", |it| it.state.as_str()).to_owned();
    view.session = summary.as_ref().map(|it| it.id.to_string());
    let holds = summary.iter().flat_map(|it| it.holds.iter().map(|hold| (&it.id, &hold.id)));
    view.waits = holds.map(|(session, request)| session.short_request(request)).collect();
    if let Some(result) = result {
        let object = view.object(briefing, result)?;
        view.cid = Some(object.cid().to_string());
        if caller.space.object(object.cid()).is_err() {
            let written = caller.space.put_object(agent, &object)?;
            return Ok(Reply::written(view, &written));
        }
    }
    Ok(Reply::plain(view))
}

impl Verb for TrialList {
    type Answer = Vec<TrialView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<TrialView>>, Refusal> {
        let mut views = Vec::new();
        for known in KnownTrials::read(caller.space)?.all() {
            views.push(match known.is_here {
                true => shown(caller, known)?.answer,
                false => {
                    let mut view = judged(&known.label, &TrialTerms::of(&known.briefing), None);
                    "elsewhere".clone_into(&mut view.state);
                    view
                }
            });
        }
        Ok(Reply::plain(views))
    }
}

impl TrialView {
    /// Makes the object that speaks for or against an adoption: all that it takes to judge again.
    fn object(&self, briefing: &Object, result: &Value) -> Result<Object, Refusal> {
        let field = |name: &str| briefing.map().get(name).cloned().unwrap_or(Value::Null);
        let text = |text: Option<&String>| text.map_or(Value::Null, Value::text);
        Object::new(Map::from([
            ("type".to_owned(), Value::text(TRIAL)),
            ("name".to_owned(), Value::text(&self.name)),
            ("arms".to_owned(), field("arms")),
            ("attempt".to_owned(), field("attempt")),
            ("alpha".to_owned(), field("alpha")),
            ("input".to_owned(), field(TRIAL_FIXED)),
            ("session".to_owned(), text(self.session.as_ref())),
            ("blocks".to_owned(), result.get("blocks").cloned().unwrap_or(Value::Null)),
            ("out_of_budget".to_owned(), Value::Bool(self.out_of_budget)),
            ("p".to_owned(), self.figures.p.map_or(Value::Null, Value::Float)),
            ("cost".to_owned(), Value::Float(self.cost)),
            ("winner".to_owned(), text(self.winner.as_ref())),
            ("verdict".to_owned(), text(self.verdict.as_ref())),
        ]))
        .map_err(|error| Refusal::refused(&error.to_string(), "try fewer tasks or runs at once"))
    }
}
