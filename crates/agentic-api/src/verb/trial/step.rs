//! The steps of a trial, which its flow asks for: one run, one score. Each is done in a repository apart,
//! and says the same however often it is asked.

use agentic_git::PrivacyChange;
use agentic_model::{AgentName, Briefing, Oid, Value};
use agentic_replay::SessionId;
use agentic_replay::record::CancelMode;
use agentic_session::trial::SCORER_END;
use agentic_session::{Begin, KeySource, SessionSpace, SessionState, Summary, cancel, record};
use agentic_space::privacy::change_privacy;
use agentic_space::spawn::{SpawnOrigin, spawn};
use schemars::JsonSchema;
use serde::Deserialize;

use super::driving::{RunNetwork, drive};
use super::fixed::{FixedTrial, GrantedFlow};
use super::place::{SeparateRepository, TrialPlace};
use super::run_files::RunFiles;
use super::spent::{spent_for, spent_in};
use crate::verb::{Reply, Verb};
use crate::view::{TrialStepOutcome, TrialStepView};
use crate::{Caller, Refusal};

/// The start key of runs, and of those that score one.
const STEP_KEY: &str = "trial";
/// Who stops a run that waits for somebody.
const STOPPED_BY: &str = "system:trial";

/// Run a task with one of the behaviours of a trial. Only the flow of the trial asks for this.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialRun {
    /// The name of the trial.
    pub trial: String,
    /// The number of the task.
    pub task: usize,
    /// The number of the behaviour.
    pub arm: usize,
    /// The name of the run, which says neither.
    pub run: String,
}

/// Score a run of a trial. Only the flow of the trial asks for this.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialScore {
    /// The name of the trial.
    pub trial: String,
    /// The number of the task.
    pub task: usize,
    /// The name of the run.
    pub run: String,
}

impl Verb for TrialRun {
    type Answer = TrialStepView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<TrialStepView>, Refusal> {
        let fixed = FixedTrial::read(caller, &self.trial)?;
        let run = fixed.step(&self.run)?;
        let place = TrialPlace::of(caller.space, &fixed.agent);
        let task = fixed.task(self.task)?;
        let draft = StepDraft {
            agent: run.clone(),
            briefing: task.briefing,
            at: task.base,
            program: fixed.arm(caller, self.arm)?,
            input: task.input,
        };
        if let Some(summary) = draft.recorded(caller)? {
            let view = TrialStepView {
                commit: Some(caller.space.head(&run)?.to_string()),
                ..TrialStepView::of_run(&summary).or_as_stopped(&summary, place.told(&run))
            };
            return recorded(caller, &summary, view).map(Reply::plain);
        }
        let repository = place.at_commit(caller, &run, task.base)?;
        let done = draft.perform(caller, &repository, RunNetwork::Open)?;
        let view = TrialStepView {
            commit: Some(done.space.head(&run)?.to_string()),
            ..TrialStepView::of_run(&done.summary)
        };
        finish(caller, &place, (repository, done), view).map(Reply::plain)
    }
}

impl Verb for TrialScore {
    type Answer = TrialStepView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<TrialStepView>, Refusal> {
        let fixed = FixedTrial::read(caller, &self.trial)?;
        let run = fixed.step(&self.run)?;
        let scorer = fixed.step(&format!("{run}{SCORER_END}"))?;
        let place = TrialPlace::of(caller.space, &fixed.agent);
        let task = fixed.task(self.task)?;
        let shown = match RunFiles::of(caller, &task, &run)? {
            RunFiles::Shown(shown) => shown,
            RunFiles::Tampered(touched) => {
                return Ok(Reply::plain(TrialStepView {
                    why: touched,
                    ..TrialStepView::of(TrialStepOutcome::Tampered)
                }));
            }
        };
        let (repository, [base, commit]) = place.of_trees(caller, &scorer, &shown)?;
        let input = Value::map([
            ("base", Value::text(base.to_string())),
            ("commit", Value::text(commit.to_string())),
            ("task", task.input),
        ]);
        let draft = StepDraft {
            agent: scorer,
            briefing: "Score a run".to_owned(),
            at: commit,
            program: fixed.scorer(caller)?,
            input,
        };
        let network = RunNetwork::hidden_if_possible();
        let score = |summary: &Summary| TrialStepView {
            network: Some(network.word().to_owned()),
            ..TrialStepView::of_score(summary)
        };
        if let Some(summary) = draft.recorded(caller)? {
            return recorded(caller, &summary, score(&summary)).map(Reply::plain);
        }
        let done = draft.perform(caller, &repository, network)?;
        let view = score(&done.summary);
        finish(caller, &place, (repository, done), view).map(Reply::plain)
    }
}

/// What is to be run in a repository apart.
struct StepDraft {
    agent: AgentName,
    briefing: String,
    at: Oid,
    program: GrantedFlow,
    input: Value,
}

/// A session that came to its end, or was brought to it.
struct PerformedStep {
    space: SessionSpace,
    agent: AgentName,
    /// As it stood before it was stopped, if it had to be.
    summary: Summary,
}

impl StepDraft {
    /// Finds its session among those that were brought back: its id says which program had which input.
    /// Whoever runs can write files of any kind, and so no file says what a step came to.
    fn recorded(&self, caller: &Caller<'_>) -> Result<Option<Summary>, Refusal> {
        if caller.space.head(&self.agent).is_err() {
            return Ok(None);
        }
        let id = self.start().session()?;
        let summary = caller.space.session(&id).ok();
        Ok(summary.filter(|summary| summary.agent == self.agent && summary.state.is_over()))
    }

    /// Runs it, or goes on where it was before a crash.
    fn perform(
        self,
        caller: &Caller<'_>,
        repository: &SeparateRepository,
        network: RunNetwork,
    ) -> Result<PerformedStep, Refusal> {
        let space = repository.open(caller)?;
        let agent = self.agent.clone();
        if space.head(&agent).is_err() {
            let object = Briefing::of_text(&self.briefing).to_object();
            let object = object.map_err(agentic_space::Error::Object)?;
            spawn(&space, &agent, &object, &SpawnOrigin::Commit(self.at))?;
        }
        repository.check_out(&agent)?;
        let id = self.begin(&space)?;
        // It may have been over before a crash.
        if !space.session(&id)?.state.is_over() {
            drive(&repository.folder, &id, network)?;
        }
        // What another process wrote is read anew.
        let space = repository.open(caller)?;
        let summary = space.session(&id)?;
        if !summary.state.is_over() {
            let why = "a trial waits for nobody";
            cancel(&space, &id, CancelMode::Kill, STOPPED_BY, why)?;
        }
        Ok(PerformedStep { space, agent, summary })
    }

    /// Records the session: whoever drives it finds everything there.
    fn begin(self, space: &SessionSpace) -> Result<SessionId, Refusal> {
        for part in &self.program.parts {
            space.put_object(&self.agent, part)?;
        }
        Ok(record(space, self.start())?)
    }

    /// Says what its session begins with.
    fn start(&self) -> Begin {
        let GrantedFlow { flow, parts, allow } = &self.program;
        Begin {
            agent: self.agent.clone(),
            flow: flow.clone(),
            parts: parts.clone(),
            input: self.input.clone(),
            key: STEP_KEY.to_owned(),
            key_source: KeySource::Named,
            allow: allow.clone(),
        }
    }
}

/// Brings back what a step made, and keeps what it came to.
fn finish(
    caller: &Caller<'_>,
    place: &TrialPlace,
    (repository, done): (SeparateRepository, PerformedStep),
    mut view: TrialStepView,
) -> Result<TrialStepView, Refusal> {
    let spent = spent_in(&done.space, &repository.folder)?;
    (view.cost, view.unpriced) = (spent.cost, spent.n_unpriced);
    view.session = Some(done.summary.id.to_string());
    if caller.space.repository().is_private(place.trial())? {
        let runs = std::slice::from_ref(&done.agent);
        change_privacy(caller.space, runs, PrivacyChange::Private)?;
    }
    repository.bring_back(caller, &done.agent)?;
    let text = serde_json::to_string(&view).unwrap_or_default();
    place.tell(&done.agent, &text)?;
    Ok(view)
}

/// Says what a step came to before, by the records that were brought back.
fn recorded(
    caller: &Caller<'_>,
    summary: &Summary,
    mut view: TrialStepView,
) -> Result<TrialStepView, Refusal> {
    let spent = spent_for(caller, &summary.agent)?;
    (view.cost, view.unpriced) = (spent.cost, spent.n_unpriced);
    view.session = Some(summary.id.to_string());
    Ok(view)
}

impl TrialStepView {
    /// Of one that had to be stopped the records do not say why nobody could go on: a file does, which is
    /// believed in nothing else.
    fn or_as_stopped(self, summary: &Summary, told: Option<String>) -> TrialStepView {
        let told = told.and_then(|told| serde_json::from_str::<TrialStepView>(&told).ok());
        match told.filter(|told| told.outcome == TrialStepOutcome::Lost) {
            Some(told) if summary.state == SessionState::Cancelled => {
                TrialStepView { why: told.why, ..TrialStepView::of(TrialStepOutcome::Lost) }
            }
            Some(_) | None => self,
        }
    }

    fn of(outcome: TrialStepOutcome) -> TrialStepView {
        TrialStepView { outcome, ..TrialStepView::default() }
    }

    /// Says what a run came to. What nobody could answer, and what a crash left in doubt, is no fault of
    /// the behaviour.
    fn of_run(summary: &Summary) -> TrialStepView {
        let failure = summary.failure.as_ref();
        let (outcome, why) = match summary.state {
            SessionState::Done => (TrialStepOutcome::Done, String::new()),
            SessionState::Failed | SessionState::Waiting
                if failure.is_some_and(|it| LOST_BY.contains(&it.code.as_str())) =>
            {
                (TrialStepOutcome::Lost, told_failure(summary))
            }
            SessionState::Failed | SessionState::Cancelled => {
                (TrialStepOutcome::Failed, told_failure(summary))
            }
            SessionState::Held => held(summary),
            SessionState::Waiting => (TrialStepOutcome::Failed, "it waits".to_owned()),
            SessionState::Running | SessionState::Diverged => {
                (TrialStepOutcome::Lost, format!("it is {}", summary.state.as_str()))
            }
        };
        TrialStepView { why, ..TrialStepView::of(outcome) }
    }

    /// Says what a scorer said: a finite score and a verdict, or nothing that counts.
    fn of_score(summary: &Summary) -> TrialStepView {
        let field = |name: &str| summary.result.as_ref().and_then(|told| told.get(name));
        let score = field("score").and_then(Value::as_number).filter(|score| score.is_finite());
        let verdict = field("verdict").and_then(Value::as_text);
        let verdict = verdict.filter(|verdict| matches!(*verdict, "pass" | "fail"));
        match (summary.state, score, verdict) {
            (SessionState::Done, Some(score), Some(verdict)) => TrialStepView {
                score: Some(score),
                verdict: Some(verdict.to_owned()),
                ..TrialStepView::of(TrialStepOutcome::Scored)
            },
            (SessionState::Done, _, _) => TrialStepView {
                why: "it gave no finite score with a verdict".to_owned(),
                ..TrialStepView::of(TrialStepOutcome::Unscored)
            },
            (_, _, _) => TrialStepView {
                why: TrialStepView::of_run(summary).why,
                ..TrialStepView::of(TrialStepOutcome::Unscored)
            },
        }
    }
}

/// How failures are called that are no fault of the program: nobody could be reached.
const LOST_BY: [&str; 2] = ["transport", agentic_replay::UNANSWERED];

fn told_failure(summary: &Summary) -> String {
    match &summary.failure {
        Some(failure) => format!("{}: {}", failure.code, failure.message),
        None => summary.state.as_str().to_owned(),
    }
}

fn held(summary: &Summary) -> (TrialStepOutcome, String) {
    let in_doubt = |hold: &agentic_replay::OpenHold| match hold.reason {
        agentic_replay::HoldReason::InDoubt => true,
        agentic_replay::HoldReason::Asked | agentic_replay::HoldReason::NotAllowed => false,
    };
    if summary.holds.iter().any(in_doubt) {
        return (TrialStepOutcome::Lost, "what was under way in a crash is in doubt".to_owned());
    }
    let kinds: Vec<&str> = summary.holds.iter().map(|hold| hold.ask.kind.as_str()).collect();
    let why = format!("it waits for a person, who would answer: {}", kinds.join(", "));
    (TrialStepOutcome::Failed, why)
}
