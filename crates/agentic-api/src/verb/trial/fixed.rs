//! What was fixed of a trial before its first run: it stands in the briefing of its agent.

use agentic_model::{AgentName, Map, Object, Oid, Value};
use agentic_session::behaviour::{check_flow, within};
use agentic_session::trial::{TRIAL_AGENT, TRIAL_FIXED, is_asked_in_trial};

use crate::behaviours::FoundBehaviour;
use crate::caller::agent_name;
use crate::{Caller, Refusal};

/// What was fixed of a trial.
pub(super) struct FixedTrial {
    /// Its agent.
    pub agent: AgentName,
    fixed: Map,
}

/// A task, as it was fixed.
pub(super) struct FixedTask {
    /// What is asked.
    pub briefing: String,
    /// Where a run begins.
    pub base: Oid,
    /// What the program of a run gets.
    pub input: Value,
    /// What a run must not touch.
    pub protect: Vec<String>,
    /// Whether it may all the same.
    pub edits_protected: bool,
}

/// A program, and what it may do.
pub(super) struct GrantedFlow {
    /// Its object.
    pub flow: Object,
    /// The objects that it consists of besides.
    pub parts: Vec<Object>,
    /// The kinds of effects that it may perform unasked.
    pub allow: Vec<String>,
}

impl FixedTrial {
    /// Reads a trial by its name, for a step that its session asks for; nobody else may take one.
    pub fn read(caller: &Caller<'_>, name: &str) -> Result<FixedTrial, Refusal> {
        let agent = agent_name(&format!("{TRIAL_AGENT}{name}"))?;
        let known = caller.space.briefing(&agent).ok().and_then(|(_, briefing)| {
            let fixed = briefing.map().get(TRIAL_FIXED).and_then(Value::as_map).cloned()?;
            Some((FixedTrial { agent, fixed }, briefing))
        });
        let (fixed, briefing) = known.ok_or_else(|| {
            let message = format!("there is no trial `{name}`");
            Refusal::refused(&message, "`agentic behaviour trial list` lists them")
        })?;
        let request = caller.surroundings.request.as_deref();
        match request.is_some_and(|it| is_asked_in_trial(caller.space, &briefing, it)) {
            true => Ok(fixed),
            false => Err(Refusal::not_allowed(
                &format!("no request of the session of the trial `{name}` asks for this step"),
                "`agentic behaviour trial` runs a trial; its flow asks for the steps",
            )),
        }
    }

    /// Names a run of it, or one that scores one.
    pub fn step(&self, named: &str) -> Result<AgentName, Refusal> {
        let step = agent_name(named)?;
        let is_own = step.as_str().strip_prefix(self.agent.as_str());
        match is_own.is_some_and(|rest| rest.starts_with('-')) {
            true => Ok(step),
            false => Err(self.none("run", named)),
        }
    }

    /// Returns one of its tasks.
    pub fn task(&self, number: usize) -> Result<FixedTask, Refusal> {
        let none = || self.none("task", &number.to_string());
        let task = self.list("tasks").get(number).ok_or_else(none)?;
        let text = |name: &str| task.get(name).and_then(Value::as_text).ok_or_else(none);
        let protect = task.get("protect").and_then(Value::as_list).unwrap_or_default();
        Ok(FixedTask {
            briefing: text("briefing")?.to_owned(),
            base: Oid::parse(text("base")?).map_err(|_| none())?,
            input: task.get("input").cloned().unwrap_or(Value::Null),
            protect: protect.iter().filter_map(Value::as_text).map(str::to_owned).collect(),
            edits_protected: task.get("edits_protected").and_then(Value::as_bool) == Some(true),
        })
    }

    /// Returns one of its arms, which may do what both it and the trial allow.
    pub fn arm(&self, caller: &Caller<'_>, number: usize) -> Result<GrantedFlow, Refusal> {
        let arm = self.list("arms").get(number).and_then(Value::as_text);
        let arm = arm.ok_or_else(|| self.none("arm", &number.to_string()))?;
        let allow = self.list("allow").iter().filter_map(Value::as_text).map(str::to_owned);
        GrantedFlow::of(caller, arm, allow.collect())
    }

    /// Returns who scores: it may start programs.
    pub fn scorer(&self, caller: &Caller<'_>) -> Result<GrantedFlow, Refusal> {
        let scorer = self.fixed.get("scorer").and_then(Value::as_text).unwrap_or_default();
        GrantedFlow::of(caller, scorer, vec!["exec".to_owned()])
    }

    /// Returns a field that is a list.
    fn list(&self, name: &str) -> &[Value] {
        self.fixed.get(name).and_then(Value::as_list).unwrap_or_default()
    }

    fn none(&self, what: &str, named: &str) -> Refusal {
        let message = format!("`{}` has no {what} `{named}`", self.agent);
        Refusal::usage(&message, "the flow of a trial asks this; start one instead")
    }
}

impl GrantedFlow {
    fn of(caller: &Caller<'_>, cid: &str, allow: Vec<String>) -> Result<GrantedFlow, Refusal> {
        let object = caller.space.object(caller.space.find_object(cid)?)?;
        let flow = FoundBehaviour::of(object)?.object;
        let parts = check_flow(caller.space, &flow)?;
        let allow = within(&flow, allow)?;
        Ok(GrantedFlow { flow, parts, allow })
    }
}
