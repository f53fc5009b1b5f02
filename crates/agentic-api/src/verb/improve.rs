//! Improving a behaviour: a model proposes a version, a trial compares it, a person decides. It is a
//! durable session of a flow that anybody can read; the same command again goes on where it was.
//!
//! The session never learns the tasks of the trial nor how they are scored. They stand in the command
//! alone, which runs the trial once a version is proposed, and tells the session what came of it.

mod excerpt;
mod figure;

use agentic_git::PrivacyChange;
use agentic_model::{
    AgentName, Cid, LibraryName, Map, Object, Oid, StoredBehaviour, Value, canonical, json,
};
use agentic_replay::{BEHAVIOUR_PROPOSE, RequestAnswer, SUSPEND, SessionId};
use agentic_session::Summary;
use agentic_session::behaviour::session_with_key;
use agentic_space::privacy::change_privacy;
use agentic_space::spawn::{SpawnOrigin, spawn};
use schemars::JsonSchema;
use serde::Deserialize;

use self::excerpt::{PrivateCases, ShownCases, SoughtCases, briefings};
use self::figure::{ImproveFigures, told};
use crate::behaviours::{BehaviourShelf, FoundBehaviour, behaviour_name};
use crate::caller::agent_name;
use crate::redaction::refuse_secrets;
use crate::verb::trial::spent_for;
use crate::verb::{
    BehaviourTrial, FlowSource, Reply, SessionDetail, SessionResume, SessionSignal, SessionStart,
    TrialDraft, Verb, VerbCompletion, session_reply,
};
use crate::view::{ImproveView, TrialView};
use crate::{Caller, Notice, Refusal};

/// The flow of an improvement.
const FLOW: &str = include_str!("../flows/improve.rhai");
/// The start key: an agent makes one improvement.
const KEY: &str = "improve";
/// The signal by which the session hears what came of the trial.
const TRIAL: &str = "trial";
/// How much of the name of a behaviour the agent and the trial bear.
const STEM_BYTES_MAX: usize = 20;
/// How many characters of the hash of what is asked they bear besides.
const HASH_CHARS: usize = 8;

/// Have a model propose a better version of a behaviour, try it, and put it before a person. The same
/// improvement again goes on where it was.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BehaviourImprove {
    /// The name of the behaviour.
    pub name: String,
    /// The model that proposes; else the one that is configured.
    pub model: Option<String>,
    /// Tasks that the model may see, as JSON text.
    pub tasks: Option<String>,
    /// Tasks of the trial, which the model never sees, as JSON text; no trial without.
    pub holdout: Option<String>,
    /// The behaviour that scores a run of the trial, or a person or role that does: `user:ada`, `role:lead`.
    pub scorer: String,
    /// How often each task of the trial is run with each version.
    pub runs: usize,
    /// Another number, another improvement.
    pub seed: i64,
    /// The kinds of effects that runs of the trial may perform, as far as their behaviour may.
    pub allow: Vec<String>,
    /// Show the model cases of private agents, too. What is made from them stays here.
    pub private: bool,
}

/// An improvement on its way.
struct Improvement<'c, 's> {
    caller: &'c Caller<'s>,
    asked: &'c BehaviourImprove,
    agent: AgentName,
    notices: Vec<Notice>,
}

/// What is in force when an improvement begins.
struct ImproveBase {
    name: LibraryName,
    found: FoundBehaviour,
    source: String,
    prior: Option<Oid>,
}

impl Verb for BehaviourImprove {
    type Answer = ImproveView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<ImproveView>, Refusal> {
        let name = behaviour_name(&self.name)?;
        let agent = agent_name(&self.label(name.as_str())?)?;
        let mut one = Improvement { caller, asked: &self, agent, notices: Vec::new() };
        let id = match session_with_key(caller.space, &one.agent, KEY)? {
            Some(id) => {
                SessionResume { session: id.to_string(), take_over: false }.drive(caller)?
            }
            None => one.begin()?,
        };
        if one.waits_for_trial(&caller.space.session(&id)?)
            && let Some(view) = one.tried(&id)?
        {
            return Ok(view);
        }
        one.reply(&id, None)
    }
}

impl BehaviourImprove {
    /// Names the agent, by what is asked: the same question has the same agent.
    fn label(&self, name: &str) -> Result<String, Refusal> {
        let text = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::text);
        let allow = self.allow.iter().map(Value::text).collect();
        let mut asked = vec![
            ("name", Value::text(name)),
            ("model", text(&self.model)),
            ("tasks", text(&self.tasks)),
            ("holdout", text(&self.holdout)),
            ("scorer", Value::text(&self.scorer)),
            ("runs", Value::Int(i64::try_from(self.runs).unwrap_or(i64::MAX))),
            ("seed", Value::Int(self.seed)),
            ("allow", Value::List(allow)),
        ];
        if self.private {
            asked.push(("private", Value::Bool(true)));
        }
        let asked = asked.into_iter().map(|(name, value)| (name.to_owned(), value));
        let asked = Value::Map(asked.collect());
        let bytes = canonical::encode(&asked)
            .map_err(|error| Refusal::usage(&error.to_string(), "give tasks as a list in JSON"))?;
        let hash = Cid::of(&bytes).to_string();
        let stem = name.get(..STEM_BYTES_MAX).unwrap_or(name).trim_end_matches('.');
        Ok(format!("improve-{stem}-{}", &hash[hash.len() - HASH_CHARS..]))
    }

    /// Says what the trial of a version is of.
    fn trial(&self, agent: &AgentName, arms: [String; 2]) -> TrialDraft {
        TrialDraft {
            name: agent.to_string(),
            arms: arms.into(),
            tasks: self.holdout.clone().unwrap_or_default(),
            runs: self.runs,
            scorer: self.scorer.clone(),
            seed: self.seed,
            allow: self.allow.clone(),
            ..TrialDraft::default()
        }
    }
}

impl Improvement<'_, '_> {
    /// Starts the session, with what a model may see of how it went so far.
    fn begin(&mut self) -> Result<SessionId, Refusal> {
        let base = self.base()?;
        self.check_trial(&base)?;
        let tasks = match &self.asked.tasks {
            None => "[]".to_owned(),
            Some(tasks) => briefings(tasks).ok_or_else(|| {
                let hint = "a list of {\"briefing\":TEXT}";
                Refusal::schema("the tasks are no list of briefings", hint)
            })?,
        };
        let sought = SoughtCases {
            behaviour: base.found.cid(),
            private: match self.asked.private {
                true => PrivateCases::Shown,
                false => PrivateCases::LeftOut,
            },
            holdout: self.asked.holdout.as_deref(),
        };
        let cases = ShownCases::of(self.caller, &sought)?;
        self.notices.extend(cases.notices);
        let given = self.input(&base, tasks, cases.text);
        // Before there is an agent: a refusal leaves nothing.
        refuse_secrets(self.caller, "the input", &given)?;
        if self.caller.space.head(&self.agent).is_err() {
            let briefing = self.briefing()?;
            if self.asked.private {
                // Before there is anything that a push could take along.
                let own = std::slice::from_ref(&self.agent);
                change_privacy(self.caller.space, own, PrivacyChange::Private)?;
            }
            drop(spawn(self.caller.space, &self.agent, &briefing, &SpawnOrigin::Root)?);
        }
        let start = SessionStart {
            agent: self.agent.to_string(),
            flow: FlowSource::Script(FLOW.to_owned()),
            input: given,
            key: Some(KEY.to_owned()),
            allow: ["behaviour-adopt", "behaviour-propose", "model"].map(str::to_owned).to_vec(),
        };
        start.drive(self.caller)
    }

    /// Makes what the session is given: nothing of the trial but whether there is one.
    fn input(&self, base: &ImproveBase, tasks: String, cases: String) -> Value {
        Value::map([
            ("name", Value::text(&self.asked.name)),
            ("cid", Value::text(base.found.cid().to_string())),
            ("prior", base.prior.map_or(Value::Null, |oid| Value::text(oid.to_string()))),
            ("model", self.asked.model.as_deref().map_or(Value::Null, Value::text)),
            ("source", Value::text(json::to_text(&Value::text(&base.source)))),
            ("tasks", Value::text(tasks)),
            ("cases", Value::text(cases)),
            ("is_tried", Value::Bool(self.asked.holdout.is_some())),
            ("may_skip", Value::Bool(self.caller.space.adopts_unasked(&base.name))),
        ])
    }

    /// Finds what is in force, and its text.
    fn base(&self) -> Result<ImproveBase, Refusal> {
        let name = behaviour_name(&self.asked.name)?;
        let shelf = BehaviourShelf::new(self.caller.space);
        let found = shelf.find(name.as_str())?;
        let in_force = self.caller.space.behaviour_in_force(&name)?;
        let prior = shelf.adoption(&in_force, in_force.pointer.as_ref())?;
        let StoredBehaviour { source, .. } = &found.read;
        let Some(source) = source.clone() else {
            let message = format!("`{name}` has no text of its own that could be changed");
            return Err(Refusal::refused(&message, "improve a script or a prompt"));
        };
        Ok(ImproveBase { name, found, source, prior })
    }

    /// Checks the trial before anything costs anything: against any other flow it is the same.
    fn check_trial(&self, base: &ImproveBase) -> Result<(), Refusal> {
        if self.asked.holdout.is_none() {
            return Ok(());
        }
        if self.asked.scorer.is_empty() {
            let hint = "name a behaviour or a person with --score";
            return Err(Refusal::usage("nobody would score the runs of the trial", hint));
        }
        let arms = [base.found.cid().to_string(), String::new()];
        let plan = self.asked.trial(&self.agent, arms).plan_against_any(self.caller)?;
        if !plan.can_show {
            let message = format!("with {} tasks the trial could show nothing", plan.tasks);
            return Err(Refusal::refused(&message, "give more tasks with --holdout"));
        }
        Ok(())
    }

    fn briefing(&self) -> Result<Object, Refusal> {
        let fields = Map::from([
            ("type".to_owned(), Value::text("briefing")),
            ("text".to_owned(), Value::text(format!("Improve {}", self.asked.name))),
            ("improves".to_owned(), Value::text(&self.asked.name)),
        ]);
        Object::new(fields).map_err(|error| Refusal::of(&error))
    }

    /// Says whether the session waits to hear what came of the trial.
    fn waits_for_trial(&self, summary: &Summary) -> bool {
        let is_it = |tag: &Value| tag.as_text() == Some(TRIAL);
        let waits = summary
            .holds
            .iter()
            .any(|hold| hold.ask.kind == SUSPEND && hold.payload.get("tag").is_some_and(is_it));
        waits && self.asked.holdout.is_some()
    }

    /// Runs the trial as far as it goes, and tells the session what came of it. Where it is not over it
    /// says how the trial stands.
    fn tried(&mut self, id: &SessionId) -> Result<Option<Reply<ImproveView>>, Refusal> {
        let summary = self.caller.space.session(id)?;
        let Some((from, to, _)) = proposed(&summary) else { return Ok(None) };
        let trial = self.asked.trial(&self.agent, [from, to]);
        let reply = BehaviourTrial { trial }.run(self.caller)?;
        self.notices.extend(reply.notices);
        let view = reply.answer;
        let cid = view.cid.as_deref().and_then(|cid| Cid::parse(cid).ok());
        let (Some(_), Some(cid)) = (&view.verdict, cid) else {
            return self.reply(id, Some(&view)).map(Some);
        };
        let model = spent_for(self.caller, &self.agent)?;
        let of = ImproveFigures { seed: self.asked.seed, model };
        let value = told(&view, &self.caller.space.object(cid)?, of);
        let signal = SessionSignal { session: id.to_string(), name: TRIAL.to_owned(), value };
        signal.run(self.caller)?;
        Ok(None)
    }

    /// Tells what it came to.
    fn reply(
        &mut self,
        id: &SessionId,
        trial: Option<&TrialView>,
    ) -> Result<Reply<ImproveView>, Refusal> {
        let space = self.caller.space;
        let summary = space.session(id)?;
        let driven = session_reply(space, id, SessionDetail::Brief)?;
        let result = |field: &str| {
            let value = summary.result.as_ref()?.get(field)?;
            value.as_text().map(str::to_owned)
        };
        let mut view = ImproveView {
            name: self.asked.name.clone(),
            agent: self.agent.to_string(),
            session: id.to_string(),
            state: summary.state.as_str().to_owned(),
            verdict: result("verdict"),
            adoption: result("adoption"),
            request: match trial {
                Some(trial) => trial.waits.first().cloned(),
                None => summary.holds.first().map(|hold| summary.id.short_request(&hold.id)),
            },
            ..ImproveView::default()
        };
        if let Some((from, to, kept)) = proposed(&summary) {
            let news = kept.get("news").and_then(Value::as_list).unwrap_or_default();
            view.news = news.iter().filter_map(Value::as_text).map(str::to_owned).collect();
            view.trial = self.asked.holdout.as_ref().map(|_| self.agent.to_string());
            (view.from, view.proposal) = (from, Some(to));
            view.reason = reason(&summary);
        }
        let completion = match trial {
            Some(_) => VerbCompletion::Held,
            None => driven.completion,
        };
        let mut notices = std::mem::take(&mut self.notices);
        notices.extend(driven.notices);
        Ok(Reply { answer: view, notices, completion })
    }
}

/// Finds the version that was proposed: what it is made from, its id, and what is told about it.
fn proposed(summary: &Summary) -> Option<(String, String, &Value)> {
    let asked = summary.asked.iter().find(|asked| asked.kind == BEHAVIOUR_PROPOSE)?;
    let Some((_, RequestAnswer::Ok(kept), _)) = &asked.answer else { return None };
    let from = asked.payload.get("from")?.as_text()?.to_owned();
    Some((from, kept.get("cid")?.as_text()?.to_owned(), kept))
}

fn reason(summary: &Summary) -> Option<String> {
    let asked = summary.asked.iter().find(|asked| asked.kind == BEHAVIOUR_PROPOSE)?;
    asked.payload.get("reason")?.as_text().map(str::to_owned)
}
